"""Cyclic coordinates: those that may continue for ever in a steady motion, because nothing depends
on them.

Found in symbols where the equations show it. Where they do not, because the ground is a routine
that is the same everywhere or forces are written along axes of the road, it is tried in numbers: a
coordinate of a body is moved at states near the start, and no rate may change. What a road does
past the reach of `SHIFTS` is not seen: a steady motion is that of the place where it was found.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bellcrank.analysis.plant import AnalysisModel
from bellcrank.analysis.point import EvaluationPoint
from bellcrank.analysis.rotating_frame import symmetric_spins
from bellcrank.simulation.run.stepping import NO_VALUE

SHIFTS = (0.37, -0.83)  # of a coordinate, in equation units
SAMPLE_DISTANCE = 1e-3  # distance of the states that are tried from the start, against their size
SAMPLE_COUNT = 3
DIFFERENCE_STEP = 1e-5  # of differences, in equation units
ZERO_SLOPE_FRACTION = 1e-6  # derivative along a direction below this fraction of the steepest: none
RATE_TOLERANCE = 1e-9  # difference of rates below this fraction of their size: rounding


def ignorable_coordinates(plant: AnalysisModel, point: EvaluationPoint) -> set[str]:
    """Coordinates on which no acceleration, no constraint and no rate of a coordinate that is not
    ignorable depends."""
    names: set[str] = plant.cached(
        ("ignorable", point.p), lambda: _ignorable_coordinates(plant, point)
    )
    return names


def cyclic_directions(plant: AnalysisModel, point: EvaluationPoint) -> np.ndarray:
    """Directions (rows by coordinates) in which several coordinates may continue together: up a
    slope, or points of one mechanism that are described one by one; or in which coordinates
    continue with time, as drives q - W*t move them. Looked for where more moves than cyclic
    coordinates.
    """
    directions: np.ndarray = plant.cached(
        ("together", point.p), lambda: _cyclic_directions(plant, point)
    )
    return directions


def continuing_coordinates(plant: AnalysisModel, point: EvaluationPoint) -> set[str]:
    """Coordinates that may continue, alone or together."""
    names = [q.name for q in plant.interface.coordinates]
    return ignorable_coordinates(plant, point) | {
        names[i] for i in np.flatnonzero(cyclic_directions(plant, point).any(axis=0))
    }


def _cyclic_directions(plant: AnalysisModel, point: EvaluationPoint) -> np.ndarray:
    n_q, cyclic = plant.loaded.n_q, ignorable_coordinates(plant, point)
    candidates = [
        i for i, q in enumerate(plant.interface.coordinates) if q.body and q.name not in cyclic
    ]
    rates = _rates_and_residuals(plant, point, point.q, point.u)[:n_q]
    no_directions = np.zeros((0, n_q))
    if not candidates or not np.any(np.abs(rates[candidates]) > SAMPLE_DISTANCE):
        return no_directions
    noncyclic = [i for i, q in enumerate(plant.interface.coordinates) if q.name not in cyclic]
    rng, tables = np.random.default_rng(2), []
    probes = [point.q + SAMPLE_DISTANCE * rng.uniform(-1, 1, n_q) for _ in range(SAMPLE_COUNT)]
    shifts = [*np.eye(n_q + 1)[candidates], np.eye(n_q + 1)[-1]]  # of coordinates, and of time
    for q in probes:
        size = np.abs(_noncyclic_residuals(plant, point, q, noncyclic)).max(initial=1.0)
        columns = [
            _residuals_after_shift(plant, point, q, noncyclic, DIFFERENCE_STEP * e)
            - _residuals_after_shift(plant, point, q, noncyclic, -DIFFERENCE_STEP * e)
            for e in shifts
        ]
        table = np.array(columns).T / (2 * DIFFERENCE_STEP)
        tables.append(table / (np.abs(table).max(axis=1, keepdims=True, initial=0.0) + 1e-6 * size))
    stacked = np.vstack(tables)
    if not np.all(np.isfinite(stacked)):
        return no_directions
    _, s, Vt = np.linalg.svd(stacked)
    rank = int(np.sum(s > ZERO_SLOPE_FRACTION * s[0])) if s.size else 0
    directions = []
    for row in Vt[rank:]:
        d = np.zeros(n_q + 1)
        d[[*candidates, n_q]] = row / np.abs(row).max()
        d[np.abs(d) < ZERO_SLOPE_FRACTION] = 0.0
        if not d[:n_q].any():
            continue  # time alone: nothing depends on it
        shift = SHIFTS[0] * d
        residual_changes = [
            np.abs(
                _residuals_after_shift(plant, point, q, noncyclic, shift)
                - _noncyclic_residuals(plant, point, q, noncyclic)
            ).max()
            for q in probes
        ]
        if max(residual_changes) <= ZERO_SLOPE_FRACTION * max(
            np.abs(_noncyclic_residuals(plant, point, q, noncyclic)).max() for q in probes
        ):
            directions.append(d[:n_q] / np.abs(d[:n_q]).max())
    return np.array(directions).reshape(len(directions), n_q)


def _residuals_after_shift(
    plant: AnalysisModel,
    point: EvaluationPoint,
    q: np.ndarray,
    noncyclic: list[int],
    shift: np.ndarray,
) -> np.ndarray:
    """The same with coordinates, and at last time, shifted."""
    return _noncyclic_residuals(
        plant, replace(point, t=point.t + float(shift[-1])), q + shift[:-1], noncyclic
    )


def _noncyclic_residuals(
    plant: AnalysisModel, point: EvaluationPoint, q: np.ndarray, noncyclic: list[int]
) -> np.ndarray:
    """Rates and constraints without the rates of cyclic coordinates."""
    values = _rates_and_residuals(plant, point, q, point.u)
    return np.concatenate([values[noncyclic], values[plant.loaded.n_q :]])


def _ignorable_coordinates(plant: AnalysisModel, point: EvaluationPoint) -> set[str]:
    coordinates = plant.interface.coordinates
    dependence: Dependence = plant.cached("dependence", lambda: _symbolic_dependence(plant))
    symbolic = _largest_closed_set(dependence)
    undecided = [i for i, q in enumerate(coordinates) if i not in symbolic and q.body]
    cyclic = _largest_closed_set(
        {i: dependence[i] for i in symbolic} | _numeric_dependence(plant, point, undecided)
    )
    return {
        coordinates[i].name for i in cyclic | {s.coordinate for s in symmetric_spins(plant, point)}
    }


Dependence = dict[
    int, set[int]
]  # coordinate -> what changes with it: rates of coordinates by number, -1 for more


def _largest_closed_set(dependence: Dependence) -> set[int]:
    """The largest set of coordinates that change nothing but rates of each other."""
    closed_set = {i for i, affected in dependence.items() if -1 not in affected}
    while True:
        reduced = {i for i in closed_set if dependence[i] <= closed_set}
        if reduced == closed_set:
            return closed_set
        closed_set = reduced


def _symbolic_dependence(plant: AnalysisModel) -> Dependence:
    coordinates = plant.loaded.program.coordinates
    rates, other_symbols = plant.derived.results.dependencies(len(coordinates))
    return {
        i: {j for j, symbols in enumerate(rates) if q in symbols}
        | ({-1} if q in other_symbols else set())
        for i, q in enumerate(coordinates)
    }


def _numeric_dependence(
    plant: AnalysisModel, point: EvaluationPoint, tried: list[int]
) -> Dependence:
    """What changes when a coordinate is moved; one that its own rate depends on decays or grows,
    and does not count."""
    rng = np.random.default_rng(1)
    size = np.full(1, 1e-30)
    differences: dict[int, list[np.ndarray]] = {i: [] for i in tried}
    for _ in range(SAMPLE_COUNT):
        q, u = (
            x + SAMPLE_DISTANCE * np.maximum(np.abs(x), 1.0) * rng.uniform(-1, 1, len(x))
            for x in (point.q, point.u)
        )
        base_values = _rates_and_residuals(plant, point, q, u)
        size = np.maximum(size, np.abs(base_values))
        for i, samples in differences.items():
            for shift in SHIFTS:
                shifted = q.copy()
                shifted[i] += shift
                samples.append(np.abs(_rates_and_residuals(plant, point, shifted, u) - base_values))
    n_q = plant.loaded.n_q
    affected: Dependence = {}
    for i, samples in differences.items():
        rows = {int(r) for d in samples for r in np.flatnonzero(~(d <= RATE_TOLERANCE * size))}
        affected[i] = {r if r < n_q and r != i else -1 for r in rows}
    return affected


def is_driven(plant: AnalysisModel, point: EvaluationPoint) -> bool:
    """Do constraints move the model, whatever its speeds?"""
    loops = plant.loaded.program.loops
    if loops is None:
        return False
    residuals = _rates_and_residuals(plant, point, point.q, np.zeros(len(point.u)))[
        -len(loops.names) :
    ]
    return bool(np.any(np.abs(residuals) > RATE_TOLERANCE))


def _rates_and_residuals(
    plant: AnalysisModel, point: EvaluationPoint, q: np.ndarray, u: np.ndarray
) -> np.ndarray:
    """Rates of all states, then what is left of constraints; nan where they have no value, which is
    never the same."""
    loaded, p = plant.loaded, list(point.p)
    arguments = point.t, q.tolist(), u.tolist(), p, loaded.constants(p), list(point.w)
    loops = loaded.program.loops
    rows = (0, 0) if loops is None else (len(loops.positions), len(loops.names))
    try:
        qdot, udot = loaded.model.new_calls().derivatives(*arguments)
        flat = (
            loaded.python_model.new_calls().values("closure", *arguments)
            if loops is not None
            else []
        )
    except NO_VALUE:
        return np.full(loaded.n_states + sum(rows), np.nan)
    offset = rows[0] * (1 + loaded.n_q)  # g, its derivatives, then v
    return np.array([*qdot, *udot, *flat[: rows[0]], *flat[offset : offset + rows[1]]])
