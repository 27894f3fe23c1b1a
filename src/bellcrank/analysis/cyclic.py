"""Cyclic coordinates: those that may continue for ever in a steady motion, because nothing depends on them.

Found in symbols where the equations show it. Where they do not, because the ground is a routine that is the same
everywhere or forces are written along axes of the road, it is tried in numbers: a coordinate of a body is moved at
states near the start, and no rate may change. What a road does past the reach of `SHIFTS` is not seen: a steady
motion is that of the place where it was found.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bellcrank.analysis.plant import Plant
from bellcrank.analysis.point import Point
from bellcrank.analysis.spin import spins
from bellcrank.run.stepping import NO_VALUE

SHIFTS = (0.37, -0.83)  # of a coordinate, in equation units
NEAR = 1e-3  # distance of the states that are tried from the start, against their size
PROBES = 3
STEP = 1e-5  # of differences, in equation units
FLAT = 1e-6  # derivative along a direction below this fraction of the steepest: none
SAME = 1e-9  # difference of rates below this fraction of their size: rounding


def ignorable(plant: Plant, at: Point) -> set[str]:
    """Coordinates on which no acceleration, no constraint and no rate of a coordinate that is not ignorable depends."""
    found: set[str] = plant.once(("ignorable", at.p), lambda: _ignorable(plant, at))
    return found


def together(plant: Plant, at: Point) -> np.ndarray:
    """Directions (rows by coordinates) in which several coordinates may continue together: up a slope, or points of one
    mechanism that are described one by one; or in which coordinates continue with time, as drives q - W*t move them.
    Looked for where more moves than cyclic coordinates.
    """
    found: np.ndarray = plant.once(("together", at.p), lambda: _together(plant, at))
    return found


def onward(plant: Plant, at: Point) -> set[str]:
    """Coordinates that may continue, alone or together."""
    names = [q.name for q in plant.interface.coordinates]
    return ignorable(plant, at) | {names[i] for i in np.flatnonzero(together(plant, at).any(axis=0))}


def _together(plant: Plant, at: Point) -> np.ndarray:
    n_q, alone = plant.loaded.n_q, ignorable(plant, at)
    listed = [i for i, q in enumerate(plant.interface.coordinates) if q.body and q.name not in alone]
    rates = _numbers(plant, at, at.q, at.u)[:n_q]
    nothing = np.zeros((0, n_q))
    if not listed or not np.any(np.abs(rates[listed]) > NEAR):
        return nothing
    kept = [i for i, q in enumerate(plant.interface.coordinates) if q.name not in alone]
    rng, tables = np.random.default_rng(2), []
    probes = [at.q + NEAR * rng.uniform(-1, 1, n_q) for _ in range(PROBES)]
    shifts = [*np.eye(n_q + 1)[listed], np.eye(n_q + 1)[-1]]  # of coordinates, and of time
    for q in probes:
        size = np.abs(_kept(plant, at, q, kept)).max(initial=1.0)
        columns = [_shifted(plant, at, q, kept, STEP * e) - _shifted(plant, at, q, kept, -STEP * e) for e in shifts]
        table = np.array(columns).T / (2 * STEP)
        tables.append(table / (np.abs(table).max(axis=1, keepdims=True, initial=0.0) + 1e-6 * size))
    stacked = np.vstack(tables)
    if not np.all(np.isfinite(stacked)):
        return nothing
    _, s, right = np.linalg.svd(stacked)
    rank = int(np.sum(s > FLAT * s[0])) if s.size else 0
    found = []
    for row in right[rank:]:
        d = np.zeros(n_q + 1)
        d[[*listed, n_q]] = row / np.abs(row).max()
        d[np.abs(d) < FLAT] = 0.0
        if not d[:n_q].any():
            continue  # time alone: nothing depends on it
        by = SHIFTS[0] * d
        moved = [np.abs(_shifted(plant, at, q, kept, by) - _kept(plant, at, q, kept)).max() for q in probes]
        if max(moved) <= FLAT * max(np.abs(_kept(plant, at, q, kept)).max() for q in probes):
            found.append(d[:n_q] / np.abs(d[:n_q]).max())
    return np.array(found).reshape(len(found), n_q)


def _shifted(plant: Plant, at: Point, q: np.ndarray, kept: list[int], by: np.ndarray) -> np.ndarray:
    """The same with coordinates, and at last time, shifted."""
    return _kept(plant, replace(at, t=at.t + float(by[-1])), q + by[:-1], kept)


def _kept(plant: Plant, at: Point, q: np.ndarray, kept: list[int]) -> np.ndarray:
    """Rates and constraints without the rates of cyclic coordinates."""
    found = _numbers(plant, at, q, at.u)
    return np.concatenate([found[kept], found[plant.loaded.n_q :]])


def _ignorable(plant: Plant, at: Point) -> set[str]:
    coordinates = plant.interface.coordinates
    known: Dependence = plant.once("dependence", lambda: _in_symbols(plant))
    shown = _settled(known)
    others = [i for i, q in enumerate(coordinates) if i not in shown and q.body]
    found = _settled({i: known[i] for i in shown} | _in_numbers(plant, at, others))
    return {coordinates[i].name for i in found | {s.coordinate for s in spins(plant, at)}}


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


def is_driven(plant: Plant, at: Point) -> bool:
    """Do constraints move the model, whatever its speeds?"""
    loops = plant.loaded.program.loops
    if loops is None:
        return False
    left = _numbers(plant, at, at.q, np.zeros(len(at.u)))[-len(loops.names) :]
    return bool(np.any(np.abs(left) > SAME))


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
    after = rows[0] * (1 + loaded.n_q)  # g, its derivatives, then v
    return np.array([*qdot, *udot, *flat[: rows[0]], *flat[after : after + rows[1]]])
