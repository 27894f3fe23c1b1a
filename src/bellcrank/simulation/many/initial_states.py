"""What many runs begin with: parameters, states, inputs and their breaks, as compiled programs read
them.

What the equations of a tree begin with is found for all runs at once; closed loops are closed run
by run, by the same compiled code as in `simulate` but without preparing a run; with rigid wheels
and speeds that constraints determine, run by run as `simulate` does it.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from bellcrank.core.errors import BellcrankError, ModelError, ModelWarning, RunError
from bellcrank.core.numeric.fixed_step_methods import ADAPTIVE
from bellcrank.core.numeric.run_spec import ProgramInput, RunSpec, Weights
from bellcrank.simulation.backend.c_batch import BatchInitialData
from bellcrank.simulation.backend.c_runs import CRun, to_input_struct
from bellcrank.simulation.backend.c_structures import InputSignal
from bellcrank.simulation.many.batch_values import BatchValues
from bellcrank.simulation.run.adaptive import CompiledRun
from bellcrank.simulation.run.argument_checks import check_batch_inertias
from bellcrank.simulation.run.checkpoint import initial_conditions
from bellcrank.simulation.run.dae_methods import USUAL, Dae
from bellcrank.simulation.run.event_specs import empty_event_specs
from bellcrank.simulation.run.initial_assembly import STATES, resolve_initial_state
from bellcrank.simulation.run.loaded import EvaluationContext, LoadedModel
from bellcrank.simulation.run.loop_closure import make_loop_constraints
from bellcrank.simulation.run.session import RunSession
from bellcrank.simulation.run.step_size_check import step_size_message
from bellcrank.simulation.run.tolerances import Absolute, resolve_tolerances

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class BatchInitialStates:
    """`initial_data` as C reads it; `inputs` of the first run, and all `inputs_by_run`, whose
    arrays must live as long;
    `breaks` of each run, or those of all. Runs that are `failed_runs` to begin have no state:
    `simulate` says why."""

    initial_data: BatchInitialData
    inputs: Sequence[ProgramInput]
    inputs_by_run: Sequence[Sequence[ProgramInput]]
    breaks: Sequence[tuple[float, ...]]
    failed_runs: Sequence[int] = ()


@dataclass(frozen=True)
class StartTolerances:
    """Errors that a user allows in the steps of a method that chooses them, and how constraints are
    kept."""

    rtol: float | None = None
    atol: Absolute | None = None
    dae: Dae = USUAL


USUAL_ERRORS = StartTolerances()
# if so many runs cannot begin, and none before, what keeps the first from it is reported of all
TRIED = 100


def new_run_session(
    loaded: LoadedModel,
    spec: RunSpec,
    batch_values: BatchValues,
    number: int,
    start_tolerances: StartTolerances = USUAL_ERRORS,
) -> RunSession:
    """One of the runs, ready to begin as it does in `simulate`."""
    run_values = batch_values.values_of_run(number)
    initial = initial_conditions(
        loaded, None, None, *(run_values[x] or None for x in ("initial", "parameters", "inputs"))
    )
    tolerances = resolve_tolerances(
        loaded.interface,
        spec.method,
        start_tolerances.rtol,
        start_tolerances.atol,
        initial.tolerances,
    )
    return RunSession(loaded, initial, spec, empty_event_specs(), start_tolerances.dae, tolerances)


def first_valid_session(
    loaded: LoadedModel,
    spec: RunSpec,
    batch_values: BatchValues,
    start_tolerances: StartTolerances = USUAL_ERRORS,
) -> RunSession:
    """The first of the runs that can begin, ready to do so; an error if none can."""
    problem: BellcrankError | None = None
    for number in range(min(_count_distinct_runs(batch_values), TRIED)):
        try:
            return new_run_session(loaded, spec, batch_values, number, start_tolerances)
        except BellcrankError as error:
            problem = problem or error
    assert problem is not None
    raise problem


def _count_distinct_runs(batch_values: BatchValues) -> int:
    """How many runs differ from each other."""
    return batch_values.n_runs if any(batch_values.varied.values()) else 1


def kernel_run(session: RunSession) -> CRun | None:
    """The run of the kernel that a run consists of; None if Python drives it."""
    run = session.run.kernel_run if isinstance(session.run, CompiledRun) else session.run
    return run if isinstance(run, CRun) else None


NO_VALUES = np.zeros((1, 1))


def make_initial_states(
    loaded: LoadedModel,
    spec: RunSpec,
    batch_values: BatchValues,
    start_tolerances: StartTolerances = USUAL_ERRORS,
    values: NDArray[np.float64] = NO_VALUES,
) -> BatchInitialStates:
    """What all runs begin with; `values` of parameters in events."""
    inputs, signals, breaks, inputs_by_run = _input_rows(loaded, spec, batch_values)
    p = _parameter_rows(loaded, batch_values)
    errors = np.ones((1, 1))
    unable: list[int] = []
    if spec.method in ADAPTIVE or _needs_individual_start(loaded, batch_values):
        y, roots, errors, breaks, unable = _start_each_run(
            loaded, spec, batch_values, start_tolerances, breaks, p
        )
    else:
        y, roots = _state_rows(loaded, spec, batch_values, p, inputs), np.ones((1, 1))
    first = np.cumsum([0, *map(len, breaks)])
    flat = np.array([*(t for run_breaks in breaks for t in run_breaks), 0.0])
    initial = BatchInitialData(p, y, signals, flat, first.astype(np.int64), roots, errors, values)
    return BatchInitialStates(initial, inputs, inputs_by_run, breaks, unable)


def _parameter_rows(loaded: LoadedModel, batch_values: BatchValues) -> NDArray[np.float64]:
    """Parameters in equation units: a row for each run, or one for all."""
    interface, varied = loaded.interface, batch_values.varied["parameters"]
    first = loaded.parameter_values(batch_values.values_of_run(0)["parameters"] or None)
    base = np.array([first], dtype=float)
    if not varied:
        check_batch_inertias(loaded.analysis.mechanism.bodies, interface, base)
        return base if base.size else np.zeros((1, 1))
    p = np.repeat(base, batch_values.n_runs, axis=0)
    for name, values in varied.items():
        x = interface.find_or_none(name, ("parameter",))
        if x is None:
            continue  # it has no effect on the equations
        if x.positive and not (np.asarray(values) > 0).all():
            run = int(np.flatnonzero(~(np.asarray(values) > 0))[0])
            raise ModelError(
                f"parameter '{x.name}' is {values[run]:g} in run {run}; it must be positive",
                loaded.name,
            )
        p[:, x.index] = x.unit.to_equation_units(np.asarray(values))
    if interface.function_parameters:
        p = np.array(
            [
                loaded.parameter_values(batch_values.values_of_run(run)["parameters"])
                for run in range(batch_values.n_runs)
            ]
        )
    check_batch_inertias(loaded.analysis.mechanism.bodies, interface, p)
    return p


def _needs_individual_start(loaded: LoadedModel, batch_values: BatchValues) -> bool:
    """Do the states at the beginning follow from more than what is given for them?"""
    names = (
        *loaded.interface.run.initial,
        *batch_values.shared["initial"],
        *batch_values.varied["initial"],
    )
    kinds = [
        x.kind for name in names if (x := loaded.interface.find_or_none(name, STATES)) is not None
    ]
    contacts = loaded.analysis.mechanism.description.rigid_contacts
    return loaded.program.loops is not None or bool(contacts) or "removed" in kinds


def _state_rows(
    loaded: LoadedModel,
    spec: RunSpec,
    batch_values: BatchValues,
    p: NDArray[np.float64],
    inputs: list[ProgramInput],
) -> NDArray[np.float64]:
    """States that a tree begins with: a row for each run, or one for all."""
    values = batch_values.values_of_run(0)["initial"]
    y = np.concatenate(
        resolve_initial_state(loaded, values or None, None, p[0].tolist(), inputs, spec.begin_time)
    )[None, :]
    varied = batch_values.varied["initial"]
    if varied:
        y = np.repeat(y, batch_values.n_runs, axis=0)
    for name, column in varied.items():
        x = loaded.interface.find_or_raise(name, STATES, "initial value for")
        y[:, x.index + (loaded.n_q if x.kind == "speed" else 0)] = x.unit.to_equation_units(
            np.asarray(column)
        )
    return y if y.size else np.zeros((1, 1))


def _start_each_run(
    loaded: LoadedModel,
    spec: RunSpec,
    batch_values: BatchValues,
    start_tolerances: StartTolerances,
    breaks: list[tuple[float, ...]],
    p: NDArray[np.float64],
) -> tuple[
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.float64],
    list[tuple[float, ...]],
    list[int],
]:
    """States, roots of inverse inertias, errors allowed, and ends of segments, as `simulate` finds
    them run by run; and the runs that cannot begin, whose states are no numbers."""
    closing = _assembly_context(loaded, spec) if start_tolerances.dae == USUAL else None
    run_starts: dict[int, _RunStart] = {}
    unable: dict[int, BellcrankError] = {}
    count = _count_distinct_runs(batch_values)
    for run in range(count):
        try:
            run_starts[run] = _start_run(
                loaded, spec, batch_values, start_tolerances, run, p[run % len(p)].tolist(), closing
            )
        except BellcrankError as error:
            unable[run] = error
            if not run_starts and len(unable) == min(count, TRIED):
                raise unable[0] from None
    first_start = next(iter(run_starts.values()))
    no_start = replace(first_start, state=np.full_like(first_start.state, np.nan))
    each = [run_starts.get(run, no_start) for run in range(count)]
    states, roots, errors = (
        np.array(x)
        for x in zip(*((x.state, x.weight_roots, x.tolerances) for x in each), strict=True)
    )
    segment_ends = [x.segment_ends for x in each]
    return states, roots, errors, segment_ends if any(segment_ends) else breaks, list(unable)


@dataclass(frozen=True)
class _RunStart:
    """What one run begins with."""

    state: NDArray[np.float64]
    weight_roots: NDArray[np.float64]
    tolerances: NDArray[np.float64]
    segment_ends: tuple[float, ...] = ()


def _start_run(
    loaded: LoadedModel,
    spec: RunSpec,
    batch_values: BatchValues,
    start_tolerances: StartTolerances,
    run: int,
    p: list[float],
    closing: EvaluationContext | None,
) -> _RunStart:
    closed = (
        None if closing is None else _assembled_start(loaded, spec, batch_values, run, p, closing)
    )
    if closed is not None:
        return _RunStart(closed[0], np.sqrt(np.concatenate(closed[1])), np.ones(1))
    session = new_run_session(loaded, spec, batch_values, run, start_tolerances)
    compiled = kernel_run(session) if spec.method in ADAPTIVE else None
    errors = (
        np.ones(1)
        if compiled is None
        else np.concatenate([compiled.arrays["atol"][:-1], compiled.arrays["caps"][:-1]])
    )
    weights = session.evaluation.weights
    roots = np.ones(1) if weights is None else np.sqrt(np.concatenate(weights))
    return _RunStart(
        session.run.state.copy(), roots, errors, () if compiled is None else compiled.spec.breaks
    )


def _assembly_context(loaded: LoadedModel, spec: RunSpec) -> EvaluationContext | None:
    """What closes loops at starts in C, where a run consists of nothing else before its first step;
    None elsewhere."""
    contacts, sampled = (
        loaded.analysis.mechanism.description.rigid_contacts,
        loaded.interface.sampled_inputs,
    )
    if (
        spec.method in ADAPTIVE
        or loaded.program.loops is None
        or contacts
        or sampled
        or loaded.stateful_routine_names
    ):
        return None
    return loaded.new_context()


def _assembled_start(
    loaded: LoadedModel,
    spec: RunSpec,
    batch_values: BatchValues,
    run: int,
    p: list[float],
    closing: EvaluationContext,
) -> tuple[NDArray[np.float64], Weights] | None:
    """The state of a run with its loops closed, and its metric; None where `simulate` has to say
    what is wrong.

    Masses have been looked at, for all runs at once.
    """
    constants, t = closing.model.constants(p), spec.begin_time
    if not np.isfinite(constants).all():
        return None
    signals = loaded.inputs(batch_values.values_of_run(run)["inputs"] or None, (t, spec.t_end))
    closure = make_loop_constraints(
        closing.python_calls,
        p,
        signals,
        closing.model,
        constants,
        loaded.initial_state_cache.spare_jobs,
    )
    if closure is None or closure.compiled is None:
        return None
    y = np.concatenate(
        resolve_initial_state(
            loaded, batch_values.values_of_run(run)["initial"] or None, closure, p, signals, t
        )
    )
    weights, start = closure.compiled.weights_and_branch(t, y)
    return None if start is None else (start, weights)


def _input_rows(
    loaded: LoadedModel, spec: RunSpec, batch_values: BatchValues
) -> tuple[
    list[ProgramInput], np.ndarray, list[tuple[float, ...]], Sequence[Sequence[ProgramInput]]
]:
    """Inputs of the first run, those of all as structures of C, and the breaks of each run, or
    those of all."""
    span, varied = (spec.begin_time, spec.t_end), batch_values.varied["inputs"]
    first = (
        _inputs_of_run(loaded, batch_values, 0, span)
        if varied
        else loaded.inputs(batch_values.values_of_run(0)["inputs"] or None, span)
    )
    row = _to_structures(first)
    if not varied:
        return first, row, [spec.step_breaks(first)], ()
    if all(isinstance(values, np.ndarray) for values in varied.values()):  # numbers
        signals = np.repeat(row, batch_values.n_runs, axis=0)
        for name, values in varied.items():
            for x in loaded.interface.inputs:
                if loaded.interface.find_or_none(name, ("input",)) is loaded.interface.find_or_none(
                    x.base_input, ("input",)
                ):
                    signals["a"][:, x.index, 0] = values
        return first, signals, [spec.step_breaks(first)], ()
    each = [_inputs_of_run(loaded, batch_values, run, span) for run in range(batch_values.n_runs)]
    return (
        first,
        np.concatenate([_to_structures(x) for x in each]),
        [spec.step_breaks(x) for x in each],
        each,
    )


def _inputs_of_run(
    loaded: LoadedModel, batch_values: BatchValues, run: int, span: tuple[float, float]
) -> list[ProgramInput]:
    """Inputs of a run, whose number is reported where they are wrong."""
    try:
        return loaded.inputs(batch_values.values_of_run(run)["inputs"], span)
    except RunError as error:
        raise RunError(f"run {run}: {error}") from error


def _to_structures(inputs: Sequence[ProgramInput]) -> np.ndarray:
    """A row of structures."""
    listed = (InputSignal * max(len(inputs), 1))(*map(to_input_struct, inputs))
    return np.frombuffer(listed, dtype=np.dtype(InputSignal)).reshape(1, -1).copy()


def first_step_message(
    loaded: LoadedModel, spec: RunSpec, batch_values: BatchValues, sizes: NDArray[np.float64]
) -> str:
    """What `simulate` says of a step that is too large where a run begins, with its number; else
    "".

    `sizes`: how large the results of every run are compared with those of the others. Growing
    errors show there.
    """
    if (
        spec.method in ADAPTIVE
        or loaded.stateful_routine_names
        or loaded.analysis.mechanism.description.rigid_contacts
    ):
        return ""
    for run in dict.fromkeys([int(np.argmax(sizes)), 0]):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ModelWarning)  # `many.run(i)` reports them
                session = new_run_session(loaded, spec, batch_values, run)
        except BellcrankError:  # it cannot begin, and reports it
            continue
        row = np.concatenate([[spec.begin_time], session.run.state])[None, :]
        if message := step_size_message(spec, session.evaluation, row):
            return f"run {run}: {message}"
    return ""
