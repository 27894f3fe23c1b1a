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


def ignorable(plant: Plant, point: Point) -> set[str]:
    """Coordinates on which no acceleration, no constraint and no rate of a coordinate that is not ignorable depends."""
    names: set[str] = plant.once(("ignorable", point.p), lambda: _ignorable(plant, point))
    return names


def together(plant: Plant, point: Point) -> np.ndarray:
    """Directions (rows by coordinates) in which several coordinates may continue together: up a slope, or points of one
    mechanism that are described one by one; or in which coordinates continue with time, as drives q - W*t move them.
    Looked for where more moves than cyclic coordinates.
    """
    directions: np.ndarray = plant.once(("together", point.p), lambda: _together(plant, point))
    return directions


def onward(plant: Plant, point: Point) -> set[str]:
    """Coordinates that may continue, alone or together."""
    names = [q.name for q in plant.interface.coordinates]
    return ignorable(plant, point) | {names[i] for i in np.flatnonzero(together(plant, point).any(axis=0))}


def _together(plant: Plant, point: Point) -> np.ndarray:
    n_q, cyclic = plant.loaded.n_q, ignorable(plant, point)
    candidates = [i for i, q in enumerate(plant.interface.coordinates) if q.body and q.name not in cyclic]
    rates = _numbers(plant, point, point.q, point.u)[:n_q]
    no_directions = np.zeros((0, n_q))
    if not candidates or not np.any(np.abs(rates[candidates]) > NEAR):
        return no_directions
    noncyclic = [i for i, q in enumerate(plant.interface.coordinates) if q.name not in cyclic]
    rng, tables = np.random.default_rng(2), []
    probes = [point.q + NEAR * rng.uniform(-1, 1, n_q) for _ in range(PROBES)]
    shifts = [*np.eye(n_q + 1)[candidates], np.eye(n_q + 1)[-1]]  # of coordinates, and of time
    for q in probes:
        size = np.abs(_kept(plant, point, q, noncyclic)).max(initial=1.0)
        columns = [
            _shifted(plant, point, q, noncyclic, STEP * e) - _shifted(plant, point, q, noncyclic, -STEP * e)
            for e in shifts
        ]
        table = np.array(columns).T / (2 * STEP)
        tables.append(table / (np.abs(table).max(axis=1, keepdims=True, initial=0.0) + 1e-6 * size))
    stacked = np.vstack(tables)
    if not np.all(np.isfinite(stacked)):
        return no_directions
    _, s, Vt = np.linalg.svd(stacked)
    rank = int(np.sum(s > FLAT * s[0])) if s.size else 0
    directions = []
    for row in Vt[rank:]:
        d = np.zeros(n_q + 1)
        d[[*candidates, n_q]] = row / np.abs(row).max()
        d[np.abs(d) < FLAT] = 0.0
        if not d[:n_q].any():
            continue  # time alone: nothing depends on it
        shift = SHIFTS[0] * d
        residual_changes = [
            np.abs(_shifted(plant, point, q, noncyclic, shift) - _kept(plant, point, q, noncyclic)).max()
            for q in probes
        ]
        if max(residual_changes) <= FLAT * max(np.abs(_kept(plant, point, q, noncyclic)).max() for q in probes):
            directions.append(d[:n_q] / np.abs(d[:n_q]).max())
    return np.array(directions).reshape(len(directions), n_q)


def _shifted(plant: Plant, point: Point, q: np.ndarray, noncyclic: list[int], shift: np.ndarray) -> np.ndarray:
    """The same with coordinates, and at last time, shifted."""
    return _kept(plant, replace(point, t=point.t + float(shift[-1])), q + shift[:-1], noncyclic)


def _kept(plant: Plant, point: Point, q: np.ndarray, noncyclic: list[int]) -> np.ndarray:
    """Rates and constraints without the rates of cyclic coordinates."""
    values = _numbers(plant, point, q, point.u)
    return np.concatenate([values[noncyclic], values[plant.loaded.n_q :]])


def _ignorable(plant: Plant, point: Point) -> set[str]:
    coordinates = plant.interface.coordinates
    dependence: Dependence = plant.once("dependence", lambda: _in_symbols(plant))
    symbolic = _settled(dependence)
    undecided = [i for i, q in enumerate(coordinates) if i not in symbolic and q.body]
    cyclic = _settled({i: dependence[i] for i in symbolic} | _in_numbers(plant, point, undecided))
    return {coordinates[i].name for i in cyclic | {s.coordinate for s in spins(plant, point)}}


Dependence = dict[int, set[int]]  # coordinate -> what changes with it: rates of coordinates by number, -1 for more


def _settled(dependence: Dependence) -> set[int]:
    """The largest set of coordinates that change nothing but rates of each other."""
    closed_set = {i for i, affected in dependence.items() if -1 not in affected}
    while True:
        reduced = {i for i in closed_set if dependence[i] <= closed_set}
        if reduced == closed_set:
            return closed_set
        closed_set = reduced


def _in_symbols(plant: Plant) -> Dependence:
    coordinates = plant.loaded.program.coordinates
    rates, other_symbols = plant.derived.results.acting(len(coordinates))
    return {
        i: {j for j, symbols in enumerate(rates) if q in symbols} | ({-1} if q in other_symbols else set())
        for i, q in enumerate(coordinates)
    }


def _in_numbers(plant: Plant, point: Point, tried: list[int]) -> Dependence:
    """What changes when a coordinate is moved; one that its own rate depends on decays or grows, and does not count."""
    rng = np.random.default_rng(1)
    size = np.full(1, 1e-30)
    differences: dict[int, list[np.ndarray]] = {i: [] for i in tried}
    for _ in range(PROBES):
        q, u = (x + NEAR * np.maximum(np.abs(x), 1.0) * rng.uniform(-1, 1, len(x)) for x in (point.q, point.u))
        base_values = _numbers(plant, point, q, u)
        size = np.maximum(size, np.abs(base_values))
        for i, samples in differences.items():
            for shift in SHIFTS:
                shifted = q.copy()
                shifted[i] += shift
                samples.append(np.abs(_numbers(plant, point, shifted, u) - base_values))
    n_q = plant.loaded.n_q
    affected: Dependence = {}
    for i, samples in differences.items():
        rows = {int(r) for d in samples for r in np.flatnonzero(~(d <= SAME * size))}
        affected[i] = {r if r < n_q and r != i else -1 for r in rows}
    return affected


def is_driven(plant: Plant, point: Point) -> bool:
    """Do constraints move the model, whatever its speeds?"""
    loops = plant.loaded.program.loops
    if loops is None:
        return False
    residuals = _numbers(plant, point, point.q, np.zeros(len(point.u)))[-len(loops.names) :]
    return bool(np.any(np.abs(residuals) > SAME))


def _numbers(plant: Plant, point: Point, q: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Rates of all states, then what is left of constraints; nan where they have no value, which is never the same."""
    loaded, p = plant.loaded, list(point.p)
    arguments = point.t, q.tolist(), u.tolist(), p, loaded.constants(p), list(point.w)
    loops = loaded.program.loops
    rows = (0, 0) if loops is None else (len(loops.positions), len(loops.names))
    try:
        qdot, udot = loaded.model.calls().derivatives(*arguments)
        flat = loaded.python.calls().values("closure", *arguments) if loops is not None else []
    except NO_VALUE:
        return np.full(loaded.n_states + sum(rows), np.nan)
    offset = rows[0] * (1 + loaded.n_q)  # g, its derivatives, then v
    return np.array([*qdot, *udot, *flat[: rows[0]], *flat[offset : offset + rows[1]]])
