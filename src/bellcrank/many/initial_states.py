"""What many runs begin with: parameters, states, inputs and their breaks, as compiled programs read them.

What the equations of a tree begin with is found for all runs at once; closed loops are closed run by run, by the same
compiled code as in `simulate` but without preparing a run; with rigid wheels and speeds that constraints determine, run
by run as `simulate` does it.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bellcrank.backend.c_job import InputSignal
from bellcrank.backend.c_many import Beginnings
from bellcrank.backend.c_runs import CRun, signal_of
from bellcrank.errors import BellcrankError, ModelError, ModelWarning, RunError
from bellcrank.many.given import Given
from bellcrank.numeric.methods import ADAPTIVE
from bellcrank.numeric.run_spec import Input, RunSpec, Weights
from bellcrank.run.actions import no_events
from bellcrank.run.adaptive import CompiledRun
from bellcrank.run.assembly import STATES, start_state
from bellcrank.run.checkpoint import initial_conditions
from bellcrank.run.closure import closure_of
from bellcrank.run.dae_methods import USUAL, Dae
from bellcrank.run.loaded import Context, Loaded
from bellcrank.run.session import Session
from bellcrank.run.step_limit import step_too_large
from bellcrank.run.tolerances import Absolute, tolerances_of
from bellcrank.run.values import check_all_masses


@dataclass(frozen=True)
class Starts:
    """`begin` as C reads it; `inputs` of the first run, and all `others`, whose arrays must live as long; `breaks` of
    each run, or those of all. Runs that are `unable` to begin have no state: `simulate` says why."""

    begin: Beginnings
    inputs: Sequence[Input]
    others: Sequence[Sequence[Input]]
    breaks: Sequence[tuple[float, ...]]
    unable: Sequence[int] = ()


@dataclass(frozen=True)
class Allowed:
    """Errors that a user allows in the steps of a method that chooses them, and how constraints are kept."""

    rtol: float | None = None
    atol: Absolute | None = None
    dae: Dae = USUAL


USUAL_ERRORS = Allowed()
TRIED = 100  # if so many runs cannot begin, and none before, what keeps the first from it is reported of all


def ready_run(
    loaded: Loaded, spec: RunSpec, batch_values: Given, number: int, start_tolerances: Allowed = USUAL_ERRORS
) -> Session:
    """One of the runs, ready to begin as it does in `simulate`."""
    run_values = batch_values.of(number)
    initial = initial_conditions(
        loaded, None, None, *(run_values[x] or None for x in ("initial", "parameters", "inputs"))
    )
    tolerances = tolerances_of(
        loaded.interface, spec.method, start_tolerances.rtol, start_tolerances.atol, initial.tolerances
    )
    return Session(loaded, initial, spec, no_events(), start_tolerances.dae, tolerances)


def any_run(loaded: Loaded, spec: RunSpec, batch_values: Given, start_tolerances: Allowed = USUAL_ERRORS) -> Session:
    """The first of the runs that can begin, ready to do so; an error if none can."""
    problem: BellcrankError | None = None
    for number in range(min(_different(batch_values), TRIED)):
        try:
            return ready_run(loaded, spec, batch_values, number, start_tolerances)
        except BellcrankError as error:
            problem = problem or error
    assert problem is not None
    raise problem


def _different(batch_values: Given) -> int:
    """How many runs differ from each other."""
    return batch_values.n if any(batch_values.varied.values()) else 1


def compiled_run(session: Session) -> CRun | None:
    """The run of the kernel that a run consists of; None if Python drives it."""
    run = session.run.compiled if isinstance(session.run, CompiledRun) else session.run
    return run if isinstance(run, CRun) else None


NO_VALUES = np.zeros((1, 1))


def starts_of(
    loaded: Loaded,
    spec: RunSpec,
    batch_values: Given,
    start_tolerances: Allowed = USUAL_ERRORS,
    values: np.ndarray = NO_VALUES,
) -> Starts:
    """What all runs begin with; `values` of parameters in events."""
    inputs, signals, breaks, inputs_by_run = _inputs(loaded, spec, batch_values)
    p = _parameters(loaded, batch_values)
    errors = np.ones((1, 1))
    unable: list[int] = []
    if spec.method in ADAPTIVE or _run_by_run(loaded, batch_values):
        y, roots, errors, breaks, unable = _each_start(loaded, spec, batch_values, start_tolerances, breaks, p)
    else:
        y, roots = _states(loaded, spec, batch_values, p, inputs), np.ones((1, 1))
    first = np.cumsum([0, *map(len, breaks)])
    flat = np.array([*(t for run_breaks in breaks for t in run_breaks), 0.0])
    initial = Beginnings(p, y, signals, flat, first.astype(np.int64), roots, errors, values)
    return Starts(initial, inputs, inputs_by_run, breaks, unable)


def _parameters(loaded: Loaded, batch_values: Given) -> np.ndarray:
    """Parameters in equation units: a row for each run, or one for all."""
    interface, varied = loaded.interface, batch_values.varied["parameters"]
    first = loaded.parameter_values(batch_values.of(0)["parameters"] or None)
    base = np.array([first], dtype=float)
    if not varied:
        check_all_masses(loaded.analysis.mechanism.bodies, interface, base)
        return base if base.size else np.zeros((1, 1))
    p = np.repeat(base, batch_values.n, axis=0)
    for name, values in varied.items():
        x = interface.get(name, ("parameter",))
        if x is None:
            continue  # it has no effect on the equations
        if x.positive and not (np.asarray(values) > 0).all():
            run = int(np.flatnonzero(~(np.asarray(values) > 0))[0])
            raise ModelError(f"parameter '{x.name}' is {values[run]:g} in run {run}; it must be positive", loaded.name)
        p[:, x.place] = x.unit.to_equation(np.asarray(values))
    if interface.entered:
        p = np.array([loaded.parameter_values(batch_values.of(run)["parameters"]) for run in range(batch_values.n)])
    check_all_masses(loaded.analysis.mechanism.bodies, interface, p)
    return p


def _run_by_run(loaded: Loaded, batch_values: Given) -> bool:
    """Do the states at the beginning follow from more than what is given for them?"""
    names = (*loaded.interface.run.initial, *batch_values.shared["initial"], *batch_values.varied["initial"])
    kinds = [x.kind for name in names if (x := loaded.interface.get(name, STATES)) is not None]
    contacts = loaded.analysis.mechanism.description.contacts
    return loaded.program.loops is not None or bool(contacts) or "removed" in kinds


def _states(loaded: Loaded, spec: RunSpec, batch_values: Given, p: np.ndarray, inputs: list[Input]) -> np.ndarray:
    """States that a tree begins with: a row for each run, or one for all."""
    values = batch_values.of(0)["initial"]
    y = np.concatenate(start_state(loaded, values or None, None, p[0].tolist(), inputs, spec.begins))[None, :]
    varied = batch_values.varied["initial"]
    if varied:
        y = np.repeat(y, batch_values.n, axis=0)
    for name, column in varied.items():
        x = loaded.interface.find(name, STATES, "initial value for")
        y[:, x.place + (loaded.n_q if x.kind == "speed" else 0)] = x.unit.to_equation(np.asarray(column))
    return y if y.size else np.zeros((1, 1))


def _each_start(
    loaded: Loaded,
    spec: RunSpec,
    batch_values: Given,
    start_tolerances: Allowed,
    breaks: list[tuple[float, ...]],
    p: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[tuple[float, ...]], list[int]]:
    """States, roots of inverse inertias, errors allowed, and ends of segments, as `simulate` finds them run by run;
    and the runs that cannot begin, whose states are no numbers."""
    closing = _closing(loaded, spec) if start_tolerances.dae == USUAL else None
    run_starts: dict[int, _Start] = {}
    unable: dict[int, BellcrankError] = {}
    count = _different(batch_values)
    for run in range(count):
        try:
            run_starts[run] = _own_start(
                loaded, spec, batch_values, start_tolerances, run, p[run % len(p)].tolist(), closing
            )
        except BellcrankError as error:
            unable[run] = error
            if not run_starts and len(unable) == min(count, TRIED):
                raise unable[0] from None
    first_start = next(iter(run_starts.values()))
    no_start = replace(first_start, state=np.full_like(first_start.state, np.nan))
    each = [run_starts.get(run, no_start) for run in range(count)]
    states, roots, errors = (np.array(x) for x in zip(*((x.state, x.roots, x.errors) for x in each), strict=True))
    segment_ends = [x.ends for x in each]
    return states, roots, errors, segment_ends if any(segment_ends) else breaks, list(unable)


@dataclass(frozen=True)
class _Start:
    """What one run begins with."""

    state: np.ndarray
    roots: np.ndarray
    errors: np.ndarray
    ends: tuple[float, ...] = ()


def _own_start(
    loaded: Loaded,
    spec: RunSpec,
    batch_values: Given,
    start_tolerances: Allowed,
    run: int,
    p: list[float],
    closing: Context | None,
) -> _Start:
    closed = None if closing is None else _closed_start(loaded, spec, batch_values, run, p, closing)
    if closed is not None:
        return _Start(closed[0], np.sqrt(np.concatenate(closed[1])), np.ones(1))
    session = ready_run(loaded, spec, batch_values, run, start_tolerances)
    compiled = compiled_run(session) if spec.method in ADAPTIVE else None
    errors = (
        np.ones(1) if compiled is None else np.concatenate([compiled.arrays["atol"][:-1], compiled.arrays["caps"][:-1]])
    )
    weights = session.evaluation.weights
    roots = np.ones(1) if weights is None else np.sqrt(np.concatenate(weights))
    return _Start(session.run.state.copy(), roots, errors, () if compiled is None else compiled.spec.breaks)


def _closing(loaded: Loaded, spec: RunSpec) -> Context | None:
    """What closes loops at starts in C, where a run consists of nothing else before its first step; None elsewhere."""
    contacts, sampled = loaded.analysis.mechanism.description.contacts, loaded.interface.kept
    if spec.method in ADAPTIVE or loaded.program.loops is None or contacts or sampled or loaded.remembers:
        return None
    return loaded.context()


def _closed_start(
    loaded: Loaded, spec: RunSpec, batch_values: Given, run: int, p: list[float], closing: Context
) -> tuple[np.ndarray, Weights] | None:
    """The state of a run with its loops closed, and its metric; None where `simulate` has to say what is wrong.

    Masses have been looked at, for all runs at once.
    """
    constants, t = closing.model.constants(p), spec.begins
    if not np.isfinite(constants).all():
        return None
    signals = loaded.inputs(batch_values.of(run)["inputs"] or None, (t, spec.t_end))
    closure = closure_of(closing.python, p, signals, closing.model, constants, loaded.starts.spare)
    if closure is None or closure.compiled is None:
        return None
    y = np.concatenate(start_state(loaded, batch_values.of(run)["initial"] or None, closure, p, signals, t))
    weights, start = closure.compiled.begun(t, y)
    return None if start is None else (start, weights)


def _inputs(
    loaded: Loaded, spec: RunSpec, batch_values: Given
) -> tuple[list[Input], np.ndarray, list[tuple[float, ...]], Any]:
    """Inputs of the first run, those of all as structures of C, and the breaks of each run, or those of all."""
    span, varied = (spec.begins, spec.t_end), batch_values.varied["inputs"]
    first = (
        _inputs_of(loaded, batch_values, 0, span)
        if varied
        else loaded.inputs(batch_values.of(0)["inputs"] or None, span)
    )
    row = _structures(first)
    if not varied:
        return first, row, [spec.breaks_of(first)], ()
    if all(isinstance(values, np.ndarray) for values in varied.values()):  # numbers
        signals = np.repeat(row, batch_values.n, axis=0)
        for name, values in varied.items():
            for x in loaded.interface.inputs:
                if loaded.interface.get(name, ("input",)) is loaded.interface.get(x.base, ("input",)):
                    signals["a"][:, x.place, 0] = values
        return first, signals, [spec.breaks_of(first)], ()
    each = [_inputs_of(loaded, batch_values, run, span) for run in range(batch_values.n)]
    return first, np.concatenate([_structures(x) for x in each]), [spec.breaks_of(x) for x in each], each


def _inputs_of(loaded: Loaded, batch_values: Given, run: int, span: tuple[float, float]) -> list[Input]:
    """Inputs of a run, whose number is reported where they are wrong."""
    try:
        return loaded.inputs(batch_values.of(run)["inputs"], span)
    except RunError as error:
        raise RunError(f"run {run}: {error}") from error


def _structures(inputs: Sequence[Input]) -> np.ndarray:
    """A row of structures."""
    listed = (InputSignal * max(len(inputs), 1))(*map(signal_of, inputs))
    return np.frombuffer(listed, dtype=np.dtype(InputSignal)).reshape(1, -1).copy()


def first_step_check(loaded: Loaded, spec: RunSpec, batch_values: Given, sizes: np.ndarray) -> str:
    """What `simulate` says of a step that is too large where a run begins, with its number; else "".

    `sizes`: how large the results of every run are compared with those of the others. Growing errors show there.
    """
    if spec.method in ADAPTIVE or loaded.remembers or loaded.analysis.mechanism.description.contacts:
        return ""
    for run in dict.fromkeys([int(np.argmax(sizes)), 0]):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ModelWarning)  # `many.run(i)` reports them
                session = ready_run(loaded, spec, batch_values, run)
        except BellcrankError:  # it cannot begin, and reports it
            continue
        row = np.concatenate([[spec.begins], session.run.state])[None, :]
        if message := step_too_large(spec, session.evaluation, row):
            return f"run {run}: {message}"
    return ""
