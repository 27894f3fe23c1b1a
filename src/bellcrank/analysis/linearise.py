"""Linear models of a model: exact slopes at a point, constraints removed, names and units put on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from bellcrank.analysis.evaluate import evaluator
from bellcrank.analysis.find_equilibrium import find_equilibrium, ignorable
from bellcrank.analysis.linear import LinearModel, Signal
from bellcrank.analysis.plant import CHANNELS, PARAMETERS, STATES, Plant
from bellcrank.analysis.point import Point, point_at
from bellcrank.analysis.reduce import Constraints, Reduction, Singular, reduce_states
from bellcrank.analysis.slope_runner import Find
from bellcrank.errors import ModelError, RunError
from bellcrank.expr import symbols
from bellcrank.interface.interface import Interface, Quantity

CLOSED = 1e-8  # residual of constraints at a point given by its states
DRIVING = ("input", *PARAMETERS)
REST = 1e-7  # rates below this share of their slopes are rest


def linear_model(
    plant: Plant,
    at: Any = None,
    inputs: Iterable[Any] | Mapping[str, float] | str | None = None,
    outputs: Iterable[Any] | str | None = None,
    parameters: Mapping[str, float] | None = None,
    signals: Mapping[str, Any] | None = None,
    t: float = 0.0,
    states: Iterable[Any] | None = None,
) -> LinearModel:
    """A, B, C, D about a point; `inputs` may name parameters (with their values there), `outputs` states."""
    plant.refuse_kept()
    interface = plant.interface
    if isinstance(inputs, Mapping):
        found = {plant.find(k, DRIVING, "input"): v for k, v in inputs.items()}
        signals = {**(signals or {}), **{q.name: v for q, v in found.items() if q.kind == "input"}}
        parameters = {**(parameters or {}), **{q.name: v for q, v in found.items() if q.kind != "input"}}
    chosen_in = _with_rates(_chosen(inputs, plant, DRIVING, "input", interface.inputs), interface)
    chosen_out = _chosen(outputs, plant, CHANNELS, "output", interface.outputs or interface.states)
    if isinstance(at, str) and at.lower() == "equilibrium":
        at = find_equilibrium(plant, None, None, None, None, parameters, signals, t)
        parameters = signals = None
    here = point_at(plant.loaded, at, parameters, signals, t)
    columns = [q.symbol for q in (*interface.states, *chosen_in) if q.symbol is not None]
    groups = ("rates", "positions", "speeds", *(("outputs",) if any(q.kind == "output" for q in chosen_out) else ()))
    find = evaluator(plant, groups, columns)
    values, slopes = find(here)
    chosen = None if states is None else {plant.find(x, STATES, "state").name for x in states}
    reduction = _reduction(plant, values, slopes, chosen)
    return _assembled(plant, here, chosen_in, chosen_out, find, values, slopes, reduction)


def _chosen(given: Any, plant: Plant, kinds: Sequence[str], what: str, default: Sequence[Quantity]) -> list[Quantity]:
    if given is None:
        return list(default)
    listed = [given] if isinstance(given, str) or hasattr(given, "kind") else list(given)
    return list(dict.fromkeys(plant.find(x, kinds, what) for x in listed))


def _with_rates(chosen: list[Quantity], interface: Interface) -> list[Quantity]:
    """Inputs together with their own rates, where the model uses these."""
    found = list(chosen)
    for q in chosen:
        name = f"dxdt({q.name})"
        while extra := interface.get(name, ("input",)):
            if extra not in found:
                found.append(extra)
            name = f"dxdt({name})"
    return found


def _reduction(
    plant: Plant, values: Mapping[str, np.ndarray], slopes: Mapping[str, np.ndarray], chosen: set[str] | None
) -> Reduction:
    """Independent states and how the others follow."""
    states = plant.interface.states
    n_q, n = plant.loaded.n_q, len(states)
    g, v = slopes["positions"], slopes["speeds"]
    results = plant.derived.results
    rows = [name for name, _ in results.positions], [name for name, _ in results.speeds]
    residual = max((float(np.abs(values[k]).max(initial=0.0)) for k in ("positions", "speeds")), default=0.0)
    if residual > CLOSED:
        raise RunError(
            f"the state given does not satisfy the constraints of '{plant.name}': a residual of {residual:.2g} is "
            "left. "
            "Give it by names (at={...}), so that it is completed, or take it from sim.complete()."
        )
    if chosen is None:
        analysis = plant.derived.analysis
        free = {u.name for u in analysis.independent_speeds}
        bound = {s.name for _, norm in analysis.mechanism.norms for s in symbols(norm)}
        prefer = [
            s.name not in bound and ("u" + s.name[1:] if s.kind == "coordinate" else s.name) in free for s in states
        ]
    else:
        prefer = [s.name in chosen for s in states]
    c = Constraints(g[:, :n_q], g[:, n:], v[:, :n_q], v[:, n_q:n], v[:, n:], *rows)
    try:
        return reduce_states(c, prefer, _ranks(plant))
    except Singular as error:
        raise RunError(
            f"'{plant.name}' is in a singular configuration: the constraint {error.rows[0]} does not restrict any "
            "movement "
            f"here that others do not restrict already (pivot {error.pivot:.1e}), so the independent states are not "
            "determined"
        ) from None


def _ranks(plant: Plant) -> tuple[int, int]:
    """Rows of positions and speeds that are independent in regular positions."""
    loops, results = plant.loaded.program.loops, plant.derived.results
    return (loops.scales.rank_g, loops.scales.rank_v) if loops else (len(results.positions), len(results.speeds))


def _assembled(
    plant: Plant,
    here: Point,
    chosen_in: Sequence[Quantity],
    chosen_out: Sequence[Quantity],
    find: Find,
    values: Mapping[str, np.ndarray],
    slopes: Mapping[str, np.ndarray],
    r: Reduction,
) -> LinearModel:
    every = plant.interface.states
    n = len(every)
    x_rates, w_rates = slopes["rates"][:, :n], slopes["rates"][:, n:]
    A = (x_rates @ r.N)[r.independent]
    B = (x_rates @ r.N_w + w_rates)[r.independent]
    C, D, y = _outputs(n, here, chosen_out, values, slopes, r)
    states = [every[i] for i in r.independent]
    f_x, f_w, f_y = (np.array([q.unit.factor for q in g]) for g in (states, chosen_in, chosen_out))
    drift = values["rates"][r.independent]
    notes = list(find.notes)
    lost = [q.name for q, row in zip(chosen_out, np.hstack([C, D]), strict=True) if not np.all(np.isfinite(row))]
    if lost:
        notes.append(f"slopes of the outputs {', '.join(lost)} do not exist here")
    gone = ignorable(plant)
    rest, words = _at_rest(every, values["rates"], slopes["rates"][:, :n], here, gone)
    if not rest:
        notes.append(words)
    left = [i for i in range(n) if i not in set(r.independent.tolist())]
    dependent = {
        every[i].name: {
            s.name: float(x * s.unit.factor / every[i].unit.factor) for s, x in zip(states, r.N[i], strict=True) if x
        }
        for i in left
    }
    if dependent:
        notes.append(f"dependent states follow from the others: {', '.join(dependent)}")
    return LinearModel(
        plant.name,
        A * f_x[None, :] / f_x[:, None],
        B * f_w[None, :] / f_x[:, None],
        C * f_x[None, :] / f_y[:, None],
        D * f_w[None, :] / f_y[:, None],
        tuple(_signal(q, here.x[i]) for q, i in zip(states, r.independent, strict=True)),
        tuple(_signal(q, here.of(q)) for q in chosen_in),
        tuple(_signal(q, v) for q, v in zip(chosen_out, y, strict=True)),
        drift / f_x,
        rest,
        tuple(notes),
        dependent,
        here,
    )


def _outputs(
    n: int,
    here: Point,
    chosen: Sequence[Quantity],
    values: Mapping[str, np.ndarray],
    slopes: Mapping[str, np.ndarray],
    r: Reduction,
) -> tuple[np.ndarray, np.ndarray, list[float]]:
    C, D, y = [], [], []
    for q in chosen:
        if q.kind == "output":
            row = slopes["outputs"][q.place]
            y.append(float(values["outputs"][q.place]))
        else:
            row = np.zeros(n + r.N_w.shape[1])
            row[q.column - 1] = 1.0
            y.append(here.of(q))
        C.append(row[:n] @ r.N)
        D.append(row[:n] @ r.N_w + row[n:])
    shape = (len(chosen), r.N.shape[1]), (len(chosen), r.N_w.shape[1])
    return np.array(C).reshape(shape[0]), np.array(D).reshape(shape[1]), y


def _signal(q: Quantity, value: float) -> Signal:
    return Signal(
        q.name, q.unit.text, q.label, float(q.unit.from_equation(value)), q.unit.factor, q.kind == "coordinate"
    )


def _at_rest(
    states: Sequence[Quantity], rates: np.ndarray, slopes: np.ndarray, here: Point, gone: set[str]
) -> tuple[bool, str]:
    """Is the point an equilibrium or a steady motion? If not, the fastest rates in words."""
    size = np.abs(slopes * np.maximum(np.abs(here.x), 1.0)).max(axis=1, initial=0.0)
    moving = [
        (q, rate)
        for q, rate, s in zip(states, rates, size, strict=True)
        if q.name not in gone and abs(rate) > REST * (s + 1e-3)
    ]
    if not moving:
        return True, ""
    listed = ", ".join(f"{q.name}' = {q.unit.from_equation(rate):.4g} {q.unit.text}/s" for q, rate in moving[:4])
    more = f" and {len(moving) - 4} more" if len(moving) > 4 else ""
    return (
        False,
        f"the point is no equilibrium ({listed}{more}): the model holds for a short time about the motion through it",
    )


def check_frequencies(f: Any) -> np.ndarray:
    """Frequencies in Hz as an array."""
    values = np.atleast_1d(np.asarray(f, dtype=float))
    if values.ndim != 1 or not values.size or not np.all(np.isfinite(values)) or np.any(values < 0):
        raise ModelError("f must be frequencies in Hz: finite numbers that are not negative")
    return values
