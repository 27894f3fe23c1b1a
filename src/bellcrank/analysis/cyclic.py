"""Cyclic coordinates: those that may go on for ever in a steady motion, because nothing depends on them.

Found in symbols where the equations show it. Where they do not, because the ground is a routine that is the same
everywhere or forces are written along axes of the road, it is tried in numbers: a coordinate of a body is moved at
states near the start, and no rate may change. What a road does beyond the reach of `SHIFTS` is not seen: a steady
motion is that of the place where it was found.
"""

from __future__ import annotations

import numpy as np

from bellcrank.analysis.plant import Plant
from bellcrank.analysis.point import Point
from bellcrank.run.stepping import NO_VALUE

SHIFTS = (0.37, -0.83)  # of a coordinate, in equation units
NEAR = 1e-3  # distance of the states that are tried from the start, against their size
PROBES = 3
SAME = 1e-9  # difference of rates below this share of their size: rounding


def ignorable(plant: Plant, at: Point) -> set[str]:
    """Coordinates on which no acceleration, no constraint and no rate of a coordinate that is not ignorable depends."""
    found: set[str] = plant.once(("ignorable", at.p), lambda: _ignorable(plant, at))
    return found


def _ignorable(plant: Plant, at: Point) -> set[str]:
    coordinates = plant.interface.coordinates
    known: Dependence = plant.once("dependence", lambda: _in_symbols(plant))
    shown = _settled(known)
    others = [i for i, q in enumerate(coordinates) if i not in shown and q.body]
    found = _settled({i: known[i] for i in shown} | _in_numbers(plant, at, others))
    return {coordinates[i].name for i in found}


Dependence = dict[int, set[int]]  # coordinate -> what changes with it: rates of coordinates by number, -1 for more


def _settled(dependence: Dependence) -> set[int]:
    """The largest set of coordinates that change nothing but rates of each other."""
    found = {i for i, changed in dependence.items() if -1 not in changed}
    while True:
        kept = {i for i in found if dependence[i] <= found}
        if kept == found:
            return found
        found = kept


def _in_symbols(plant: Plant) -> Dependence:
    coordinates = plant.loaded.program.coordinates
    rates, others = plant.derived.results.acting(len(coordinates))
    return {
        i: {j for j, acting in enumerate(rates) if q in acting} | ({-1} if q in others else set())
        for i, q in enumerate(coordinates)
    }


def _in_numbers(plant: Plant, at: Point, tried: list[int]) -> Dependence:
    """What changes when a coordinate is moved; one that its own rate depends on decays or grows, and does not count."""
    rng = np.random.default_rng(1)
    size = np.full(1, 1e-30)
    differences: dict[int, list[np.ndarray]] = {i: [] for i in tried}
    for _ in range(PROBES):
        q, u = (x + NEAR * np.maximum(np.abs(x), 1.0) * rng.uniform(-1, 1, len(x)) for x in (at.q, at.u))
        here = _numbers(plant, at, q, u)
        size = np.maximum(size, np.abs(here))
        for i, found in differences.items():
            for shift in SHIFTS:
                moved = q.copy()
                moved[i] += shift
                found.append(np.abs(_numbers(plant, at, moved, u) - here))
    n_q = plant.loaded.n_q
    changed: Dependence = {}
    for i, found in differences.items():
        rows = {int(r) for d in found for r in np.flatnonzero(~(d <= SAME * size))}
        changed[i] = {r if r < n_q and r != i else -1 for r in rows}
    return changed


def _numbers(plant: Plant, at: Point, q: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Rates of all states, then what is left of constraints; nan where they have no value, which is never the same."""
    loaded, p = plant.loaded, list(at.p)
    here = at.t, q.tolist(), u.tolist(), p, loaded.constants(p), list(at.w)
    loops = loaded.program.loops
    rows = (0, 0) if loops is None else (len(loops.positions), len(loops.names))
    try:
        qdot, udot = loaded.model.calls().derivatives(*here)
        flat = loaded.python.calls().values("closure", *here) if loops is not None else []
    except NO_VALUE:
        return np.full(loaded.n_states + sum(rows), np.nan)
    after = rows[0] * (1 + loaded.n_q)  # g, its slopes, then v
    return np.array([*qdot, *udot, *flat[: rows[0]], *flat[after : after + rows[1]]])
