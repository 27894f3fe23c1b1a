"""Linear models of a simulation: exact slopes at a point, constraints removed, names and units put on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bellcrank.analysis.evaluate import Find, evaluator
from bellcrank.analysis.find_equilibrium import find_equilibrium, ignorable
from bellcrank.analysis.linear import LinearModel, Signal
from bellcrank.analysis.point import Names, Point, Quantity, point_at
from bellcrank.analysis.reduce import Constraints, Reduction, Singular, reduce_states
from bellcrank.errors import ModelError, RunError
from bellcrank.expr import symbols

if TYPE_CHECKING:
    from bellcrank.api.simulation import Simulation

CLOSED = 1e-8  # residual of constraints at a point given by its states
REST = 1e-7  # rates below this share of their slopes are rest


def linear_model(
    sim: Simulation,
    at: Any = None,
    inputs: Iterable[Any] | Mapping[str, float] | str | None = None,
    outputs: Iterable[Any] | str | None = None,
    parameters: Mapping[str, float] | None = None,
    signals: Mapping[str, Any] | None = None,
    t: float = 0.0,
    states: Iterable[Any] | None = None,
) -> LinearModel:
    """A, B, C, D about a point; `inputs` may name parameters (with their values there), `outputs` states."""
    names = Names(sim)
    if isinstance(inputs, Mapping):
        found = {names.find(k, ("input", "parameter"), "input"): v for k, v in inputs.items()}
        signals = {**(signals or {}), **{q.name: v for q, v in found.items() if q.kind == "input"}}
        parameters = {**(parameters or {}), **{q.name: v for q, v in found.items() if q.kind == "parameter"}}
    chosen_in = _chosen(inputs, names, ("input", "parameter"), "input", names.inputs)
    chosen_in = _with_rates(chosen_in, names)
    default = names.outputs or names.states
    chosen_out = _chosen(outputs, names, ("output", "coordinate", "speed"), "output", default)
    if isinstance(at, str) and at.lower() == "equilibrium":
        at = find_equilibrium(sim, None, None, None, None, parameters, signals, t)
        parameters = signals = None
    here = point_at(sim, at, parameters, signals, t)
    columns = [q.symbol for q in (*names.states, *chosen_in) if q.symbol is not None]
    groups = (
        ("rates", "positions", "speeds", "outputs")
        if any(q.kind == "output" for q in chosen_out)
        else ("rates", "positions", "speeds")
    )
    find = evaluator(sim, groups, columns)
    values, slopes = find(here)
    chosen = None if states is None else {names.find(x, ("coordinate", "speed"), "state").name for x in states}
    reduction = _reduction(sim, names, values, slopes, chosen)
    return _assembled(sim, names, here, chosen_in, chosen_out, find, values, slopes, reduction)


def _chosen(given: Any, names: Names, kinds: Sequence[str], what: str, default: Sequence[Quantity]) -> list[Quantity]:
    if given is None:
        return list(default)
    listed = [given] if isinstance(given, str) or hasattr(given, "kind") else list(given)
    return list(dict.fromkeys(names.find(x, kinds, what) for x in listed))


def _with_rates(chosen: list[Quantity], names: Names) -> list[Quantity]:
    """Inputs together with their own rates, where the model uses these."""
    found = list(chosen)
    for q in chosen:
        name = f"dxdt({q.name})"
        while extra := next((x for x in names.inputs if x.name.lower() == name.lower()), None):
            if extra not in found:
                found.append(extra)
            name = f"dxdt({name})"
    return found


def _reduction(
    sim: Simulation,
    names: Names,
    values: Mapping[str, np.ndarray],
    slopes: Mapping[str, np.ndarray],
    chosen: set[str] | None,
) -> Reduction:
    """Independent states and how the others follow."""
    n_q, n = len(sim.program.coordinates), len(names.states)
    g, v = slopes["positions"], slopes["speeds"]
    results = sim.equations.derived.results
    rows = [name for name, _ in results.positions], [name for name, _ in results.speeds]
    residual = max((float(np.abs(values[k]).max(initial=0.0)) for k in ("positions", "speeds")), default=0.0)
    if residual > CLOSED:
        raise RunError(
            f"the state given does not satisfy the constraints of '{sim.equations.name}': a residual of {residual:.2g} is left. "
            "Give it by names (at={...}), so that it is completed, or take it from sim.complete()."
        )
    if chosen is None:
        free = {u.name for u in sim.equations.independent_speeds}
        bound = {s.name for _, norm in sim.equations.analysis.mechanism.norms for s in symbols(norm)}
        prefer = [
            s.name not in bound and ("u" + s.name[1:] if s.kind == "coordinate" else s.name) in free
            for s in names.states
        ]
    else:
        prefer = [s.name in chosen for s in names.states]
    c = Constraints(g[:, :n_q], g[:, n:], v[:, :n_q], v[:, n_q:n], v[:, n:], *rows)
    try:
        return reduce_states(c, prefer, _ranks(sim))
    except Singular as error:
        raise RunError(
            f"'{sim.equations.name}' is in a singular configuration: the constraint {error.rows[0]} does not restrict any movement "
            f"here that others do not restrict already (pivot {error.pivot:.1e}), so the independent states are not determined"
        ) from None


def _ranks(sim: Simulation) -> tuple[int, int]:
    """Rows of positions and speeds that are independent in regular positions."""
    loops, results = sim.program.loops, sim.equations.derived.results
    return (loops.scales.rank_g, loops.scales.rank_v) if loops else (len(results.positions), len(results.speeds))


def _assembled(
    sim: Simulation,
    names: Names,
    here: Point,
    chosen_in: Sequence[Quantity],
    chosen_out: Sequence[Quantity],
    find: Find,
    values: Mapping[str, np.ndarray],
    slopes: Mapping[str, np.ndarray],
    r: Reduction,
) -> LinearModel:
    n = len(names.states)
    x_rates, w_rates = slopes["rates"][:, :n], slopes["rates"][:, n:]
    A = (x_rates @ r.N)[r.independent]
    B = (x_rates @ r.N_w + w_rates)[r.independent]
    C, D, y = _outputs(names, here, chosen_out, values, slopes, r)
    states = [names.states[i] for i in r.independent]
    f_x, f_w, f_y = (np.array([q.unit.factor for q in g]) for g in (states, chosen_in, chosen_out))
    drift = values["rates"][r.independent]
    notes = list(find.notes)
    lost = [q.name for q, row in zip(chosen_out, np.hstack([C, D]), strict=True) if not np.all(np.isfinite(row))]
    if lost:
        notes.append(f"slopes of the outputs {', '.join(lost)} do not exist here")
    gone = ignorable(sim)
    rest, words = _at_rest(names, values["rates"], slopes["rates"][:, :n], here, gone)
    if not rest:
        notes.append(words)
    left = [i for i in range(n) if i not in set(r.independent.tolist())]
    dependent = {
        names.states[i].name: {
            s.name: float(x * s.unit.factor / names.states[i].unit.factor)
            for s, x in zip(states, r.N[i], strict=True)
            if x
        }
        for i in left
    }
    if dependent:
        notes.append(f"dependent states follow from the others: {', '.join(dependent)}")
    return LinearModel(
        sim.equations.name,
        A * f_x[None, :] / f_x[:, None],
        B * f_w[None, :] / f_x[:, None],
        C * f_x[None, :] / f_y[:, None],
        D * f_w[None, :] / f_y[:, None],
        tuple(_signal(q, here.x[i]) for q, i in zip(states, r.independent, strict=True)),
        tuple(_signal(q, _given(names, here, q)) for q in chosen_in),
        tuple(_signal(q, v) for q, v in zip(chosen_out, y, strict=True)),
        drift / f_x,
        rest,
        tuple(notes),
        dependent,
        here,
    )


def _outputs(
    names: Names,
    here: Point,
    chosen: Sequence[Quantity],
    values: Mapping[str, np.ndarray],
    slopes: Mapping[str, np.ndarray],
    r: Reduction,
) -> tuple[np.ndarray, np.ndarray, list[float]]:
    n = len(names.states)
    C, D, y = [], [], []
    for q in chosen:
        if q.kind == "output":
            i = names.outputs.index(q)
            row = slopes["outputs"][i]
            y.append(float(values["outputs"][i]))
        else:
            i = names.states.index(q)
            row = np.zeros(n + r.N_w.shape[1])
            row[i] = 1.0
            y.append(float(here.x[i]))
        C.append(row[:n] @ r.N)
        D.append(row[:n] @ r.N_w + row[n:])
    shape = (len(chosen), r.N.shape[1]), (len(chosen), r.N_w.shape[1])
    return np.array(C).reshape(shape[0]), np.array(D).reshape(shape[1]), y


def _given(names: Names, here: Point, q: Quantity) -> float:
    return here.p[names.parameters.index(q)] if q.kind == "parameter" else here.w[names.inputs.index(q)]


def _signal(q: Quantity, value: float) -> Signal:
    return Signal(
        q.name, q.unit.text, q.label, float(q.unit.from_equation(value)), q.unit.factor, q.kind == "coordinate"
    )


def _at_rest(names: Names, rates: np.ndarray, slopes: np.ndarray, here: Point, gone: set[str]) -> tuple[bool, str]:
    """Is the point an equilibrium or a steady motion? If not, the fastest rates in words."""
    size = np.abs(slopes * np.maximum(np.abs(here.x), 1.0)).max(axis=1, initial=0.0)
    moving = [
        (q, rate)
        for q, rate, s in zip(names.states, rates, size, strict=True)
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
