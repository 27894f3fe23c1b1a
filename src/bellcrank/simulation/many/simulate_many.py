"""Many runs from what a user asks for to their result: `LoadedModel` -> `Many`."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bellcrank.choices import ManyBackend, choice_values
from bellcrank.codegen.c.batch_driver import LEFT, NO_CONSTANTS, STOPPED
from bellcrank.codegen.c.events import EmittedEvents
from bellcrank.codegen.c.lanes import lanes_obstacle
from bellcrank.codegen.number_type import DOUBLE, FLOAT, NumberType
from bellcrank.core.errors import (
    ModelError,
    ModelWarning,
    issue_warning,
    pluralize,
    require_callback,
)
from bellcrank.core.metrics.frequency_weighting import filter_coefficients
from bellcrank.core.numeric.fixed_step_methods import ADAPTIVE, OWN
from bellcrank.core.numeric.run_spec import (
    EXTERNAL_FAILED,
    FINISHED,
    NOT_CLOSED,
    NOT_FINITE,
    RunSpec,
)
from bellcrank.core.numeric.tuning import EVENTS, STEPS
from bellcrank.mechanics.interface.interface import Quantity
from bellcrank.simulation.backend.c_batch import BatchBuffers, CompiledBatchWorker, OutputSelection
from bellcrank.simulation.backend.c_lanes import LaneDriver, LaneLibrary
from bellcrank.simulation.backend.gpu_batch import GpuProgram, gpu_obstacle
from bellcrank.simulation.many.batch_events import BatchEvents, make_batch_events
from bellcrank.simulation.many.batch_metrics import (
    BatchMetric,
    find_channel,
    metrics_name_channels,
    read_batch_metrics,
)
from bellcrank.simulation.many.batch_values import BatchValues, read_batch_values
from bellcrank.simulation.many.initial_states import (
    NO_VALUES,
    USUAL_ERRORS,
    BatchInitialStates,
    StartTolerances,
    first_step_message,
    first_valid_session,
    kernel_run,
    make_initial_states,
)
from bellcrank.simulation.many.result import Many
from bellcrank.simulation.many.single_runs import SingleRuns
from bellcrank.simulation.many.worker_threads import BatchWorker, PendingRuns, run_on_threads
from bellcrank.simulation.run import memory_limits
from bellcrank.simulation.run.argument_checks import check_parameter_names, resolve_run_spec
from bellcrank.simulation.run.dae_methods import USUAL as PROJECTED
from bellcrank.simulation.run.dae_methods import Dae, to_dae
from bellcrank.simulation.run.dae_runs import check_dae
from bellcrank.simulation.run.event_specs import make_event_specs, stop_event_names
from bellcrank.simulation.run.loaded import LoadedModel
from bellcrank.simulation.run.result import Run
from bellcrank.simulation.run.rigid import check_rigid_run
from bellcrank.simulation.run.session import Progress, without_event_parameters
from bellcrank.simulation.run.simulate import simulate
from bellcrank.simulation.run.tolerances import USUAL, Absolute, resolve_tolerances

if TYPE_CHECKING:
    from numpy.typing import NDArray

BACKENDS = choice_values(ManyBackend)
SIDE_BY_SIDE = ("lanes", "cuda")
PRECISIONS = {"double": DOUBLE, "single": FLOAT}


@dataclass(frozen=True)
class BatchRequest:
    """Runs that are asked for, and what of them."""

    loaded: LoadedModel
    spec: RunSpec
    values: BatchValues
    channels: list[Quantity]
    metrics: list[BatchMetric]
    columns: tuple[int, ...] = ()  # of rows, kept in equation units besides
    tolerances: StartTolerances = USUAL_ERRORS
    events: Any = None
    stop: tuple[str, ...] = ()
    number: NumberType = DOUBLE  # what vectorised runs compute in
    events_in_c: BatchEvents | None = None  # for events that stop or act: of vectorised runs

    @property
    def output_selection(self) -> OutputSelection:
        histories = [(x.column, x.unit.factor) for x in self.channels] + [
            (column, 1.0) for column in self.columns
        ]
        figures = [
            (f.channel.column, f.channel.unit.factor, f.kind.name, f.number or 0.0)
            for f in self.metrics
        ]
        return OutputSelection.from_columns(histories, figures, filter_coefficients(self.times))

    @property
    def times(self) -> NDArray[np.float64]:
        """When rows are recorded."""
        spec = self.spec
        if spec.method in ADAPTIVE:
            return spec.output_times()
        steps = np.arange(0, spec.n_steps, spec.output_every)
        return np.append(spec.t_start + steps * spec.step, spec.t_end)

    @property
    def time_tolerance(self) -> float:
        """How near to a row, s, an event leaves no step to it: a run continues from there."""
        return max(STEPS.gap * self.spec.step, EVENTS.instant * max(1.0, abs(self.spec.t_end)))

    @property
    def model_values(self) -> BatchValues:
        """What the model is given: parameters that stand in events alone, or nowhere, are
        omitted."""
        return self.values.without_parameters(
            {x.key for x in self.loaded.interface.unreferenced_parameters}
        )

    @property
    def event_source(self) -> EmittedEvents | None:
        """Events as vectorised runs look for them."""
        return None if self.events_in_c is None else self.events_in_c.source

    def simulate_one(self, number: int) -> Run:
        """One of the runs by itself."""
        p, values = self.spec, self.values.values_of_run(number)
        return simulate(
            self.loaded,
            p.t_end,
            p.step,
            p.method,
            p.output_every,
            values["parameters"],
            values["initial"],
            values["inputs"],
            self.tolerances.rtol,
            self.tolerances.atol,
            self.events,
            self.stop,
            dae=self.tolerances.dae,
        )


def simulate_many(
    loaded: LoadedModel,
    n: int | None = None,
    parameters: Mapping[str, Any] | None = None,
    initial: Mapping[Any, Any] | None = None,
    inputs: Mapping[str, Any] | None = None,
    t_end: float | None = None,
    step: float | None = None,
    method: str | None = None,
    channels: Iterable[str] | str | None = None,
    output_every: int | None = None,
    metrics: Any = None,
    backend: str = "auto",
    precision: str = "double",
    progress: Progress | None = None,
    sampling: str = "latin-hypercube",
    seed: int = 0,
    rtol: float | None = None,
    atol: Absolute | None = None,
    events: Any = None,
    stop: Iterable[str] | str | None = (),
    dae: str | Dae | None = None,
) -> Many:
    """Runs a model many times; arguments as of `Simulation.simulate_many`."""
    for name, value, choices in (
        ("backend", backend, BACKENDS),
        ("precision", precision, PRECISIONS),
    ):
        if value not in choices:
            raise ModelError(
                f"{name}={value!r} is not known; it is one of {', '.join(map(repr, choices))}"
            )
    require_callback(progress, "progress", "the share done")
    spec = resolve_run_spec(loaded.interface, t_end, step, method, output_every)
    groups = {"parameters": parameters, "initial": initial, "inputs": inputs}
    batch_values = read_batch_values(loaded.interface, n, groups, sampling, seed)
    dae_method = PROJECTED if dae is None else to_dae(dae)
    stop = stop_event_names(stop, loaded.interface.model)
    request = replace(
        _make_request(loaded, spec, batch_values, channels, metrics, PRECISIONS[precision]),
        tolerances=StartTolerances(rtol, atol, dae_method)
        if spec.method in ADAPTIVE
        else StartTolerances(dae=dae_method),  # which is reported once, below
        events=events,
        stop=stop,
    )
    _check_result_memory(request)
    resolve_tolerances(loaded.interface, spec.method, rtol, atol, USUAL)
    first = batch_values.values_of_run(0)["parameters"]
    event_keys = make_event_specs(loaded.interface, events, stop, first).parameter_keys
    check_parameter_names(
        loaded.interface, without_event_parameters(loaded, first, event_keys) or ()
    )  # what is not used is reported once
    if loaded.analysis.mechanism.description.rigid_contacts:
        check_rigid_run(loaded, spec, dae_method.usual)
    check_dae(dae_method, spec, loaded)
    results = BatchBuffers(
        request.values.n_runs, len(request.times), loaded.n_states, request.output_selection
    )
    began = time.perf_counter()
    request, precision_note = _supported_precision(request)
    end_messages, backend_settings, notes = _run_all(request, backend, results, progress)
    settings: dict[str, str | float] = {
        "t_end": spec.t_end,
        "step": spec.step,
        "method": spec.method,
        "output_every": spec.output_every,
    }
    if request.number is not DOUBLE and backend_settings["backend"] not in SIDE_BY_SIDE:
        precision_note = "single precision is for vectorised runs"
    if precision_note:
        notes.append(f"the runs were computed in double precision: {precision_note}")
        precision = "double"
    settings |= {**backend_settings, "precision": precision, "seconds": time.perf_counter() - began}
    if message := first_step_message(
        request.loaded, spec, request.model_values, _relative_sizes(results)
    ):
        issue_warning(message)
    return _make_batch_result(request, results, end_messages, settings, notes)


def _supported_precision(request: BatchRequest) -> tuple[BatchRequest, str]:
    """What is asked for, in double precision if its runs be vectorised in no other; then also
    why."""
    obstacle = lanes_obstacle(request.loaded.program, request.number)
    if not obstacle or request.number is DOUBLE or lanes_obstacle(request.loaded.program):
        return request, ""
    return replace(request, number=DOUBLE), obstacle


def _relative_sizes(results: BatchBuffers) -> NDArray[np.float64]:
    """Of every run, how large its figures and last rows are compared with those of the others; inf
    if it left all numbers."""
    sizes = np.where(results.status == NOT_FINITE, np.inf, 0.0)
    for values in (*results.metrics, *results.histories[:, :, -1]):
        magnitudes = np.abs(values)
        finite_values = magnitudes[np.isfinite(magnitudes)]
        typical = np.median(finite_values) if len(finite_values) else 1.0
        with np.errstate(over="ignore"):
            np.fmax(sizes, magnitudes / max(typical, np.finfo(float).tiny), out=sizes)
    return sizes


def _run_all(
    request: BatchRequest, backend: str, results: BatchBuffers, progress: Progress | None
) -> tuple[list[str], dict[str, str | float], list[str]]:
    """Does all runs by the best way there is: how each ended, by which way, and why not by a better
    one."""
    end_messages = [""] * request.values.n_runs
    single_runs = SingleRuns(
        request.simulate_one,
        request.times,
        request.time_tolerance,
        request.channels,
        request.metrics,
        results,
        end_messages,
    )
    adaptive, lane_obstacle = request.spec.method in ADAPTIVE, ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)  # of single runs: `many.run(i)` reports them
        request, obstacle = _with_events_in_c(request, backend)
        obstacle = obstacle or compiled_obstacle(request)
        initial_states = None if obstacle else _initial_states(request)
        if initial_states is not None:
            obstacle = driver_obstacle(request, initial_states)
            lane_obstacle = (
                _vectorization_obstacle(request, initial_states)
                if not adaptive and backend != "cores"
                else ""
            )
            obstacle = obstacle or (
                f"events are looked for, and {lane_obstacle}"
                if lane_obstacle and request.events_in_c is not None
                else ""
            )
        if initial_states is None or obstacle:
            first_valid_session(
                request.loaded, request.spec, request.model_values, request.tolerances
            )  # or an error
            run_on_threads(lambda: single_runs, results, progress, 1)
            return (
                end_messages,
                {"backend": "python"},
                [f"the runs were driven one by one by Python: {obstacle}"],
            )
    if adaptive:
        run_compiled(request, initial_states, results, progress)
        notes = [_fallback_message(backend, f"the method {request.spec.method} adapts its steps")]
        return _finish_adaptive_runs(
            request, results, single_runs, end_messages, notes if backend in SIDE_BY_SIDE else []
        )
    notes = []
    backend_settings: dict[str, str | float] = {
        "backend": "cores" if lane_obstacle or backend == "cores" else "lanes"
    }
    missing = (lane_obstacle or gpu_obstacle()) if backend == "cuda" else ""
    if missing or lane_obstacle:
        notes.append(_fallback_message(backend, missing or lane_obstacle))
    if backend == "cuda" and not missing:
        backend_settings = {
            "backend": "cuda",
            "launched": _run_on_gpu(request, initial_states, results, progress),
        }
    else:
        (_run_in_lanes if backend_settings["backend"] == "lanes" else run_compiled)(
            request, initial_states, results, progress
        )
    notes += _run_deferred(request, initial_states, results, single_runs, progress)
    for run in initial_states.failed_runs:
        single_runs.run_range(run, run + 1)
    return _end_messages(request, results, end_messages), backend_settings, notes


def _fallback_message(backend: str, reason: str) -> str:
    """Says that runs were not vectorised, as they were asked to."""
    if backend == "cuda":
        return f"the runs were not done on a GPU: {reason}"
    return f"the runs went one after another on every core, not vectorised: {reason}"


def _initial_states(request: BatchRequest) -> BatchInitialStates:
    values = NO_VALUES if request.events_in_c is None else request.events_in_c.values
    return make_initial_states(
        request.loaded, request.spec, request.model_values, request.tolerances, values
    )


def _with_events_in_c(request: BatchRequest, backend: str) -> tuple[BatchRequest, str]:
    """What is asked for, with what compiled code watches its runs for; and why it cannot."""
    if not (request.events or request.stop or request.loaded.interface.run.events):
        return request, ""
    speeds = request.loaded.analysis.independent_speeds
    batch_events = make_batch_events(
        request.loaded.interface, request.events, request.stop, request.values, speeds
    )
    if batch_events is None:  # nothing comes of them
        return request, ""
    if request.spec.method in ADAPTIVE:
        return (
            request,
            f"events are looked for, and the method {request.spec.method} adapts its steps",
        )
    obstacle = ""
    if backend == "cores":
        obstacle = "events are looked for, which only vectorised runs do (backend='lanes')"
    elif batch_events.source.sets_parameters and request.loaded.interface.function_parameters:
        obstacle = "events set parameters, and user functions give others"
    return replace(request, events_in_c=batch_events), obstacle


def _run_deferred(
    request: BatchRequest,
    initial_states: BatchInitialStates,
    results: BatchBuffers,
    single_runs: SingleRuns,
    progress: Progress | None,
) -> list[str]:
    """Does those runs alone that were left: near singular configurations, or where events need more
    than compiled code does."""
    run_numbers = np.flatnonzero(results.status == LEFT).tolist()
    if not run_numbers:
        return []
    if request.events_in_c is None:
        run_compiled(request, initial_states, results, progress, only_left=True)
        return [
            f"{pluralize(len(run_numbers), 'run')} came near singular configurations of "
            f"closed loops and went alone"
        ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        for run in run_numbers:
            single_runs.run_range(run, run + 1)
    loops = (
        ""
        if request.loaded.program.loops is None
        else ", or closed loops near singular configurations,"
    )
    return [
        f"{pluralize(len(run_numbers), 'run')} met events that chatter or cannot be "
        f"done{loops} and went alone"
    ]


def _make_request(
    loaded: LoadedModel,
    spec: RunSpec,
    batch_values: BatchValues,
    channels: Any,
    metrics: Any,
    number: NumberType,
) -> BatchRequest:
    interface = loaded.interface
    if channels is None:
        histories = (
            []
            if metrics is not None and metrics_name_channels(metrics)
            else list(interface.channels)
        )
    else:
        listed = (
            [channels]
            if isinstance(channels, str) or not isinstance(channels, Iterable)
            else list(channels)
        )
        histories = list(
            {
                x.name: x for x in (find_channel(interface, name, "channels=") for name in listed)
            }.values()
        )
    figures = read_batch_metrics(interface, metrics, histories)
    if metrics is not None and not metrics_name_channels(metrics):
        histories = []  # metrics alone
    return BatchRequest(loaded, spec, batch_values, histories, figures, number=number)


def _check_result_memory(request: BatchRequest) -> None:
    """Rejects results that cannot be held, and says what could be."""
    spec, n, channels, figures = (
        request.spec,
        request.values.n_runs,
        len(request.channels),
        len(request.metrics),
    )
    rows = (
        -(-spec.n_steps // spec.output_every) + 1
    )  # counted, for their times alone may be too many to be held

    def size(history: int, figures: int) -> int:
        return n * 8 * (history + request.loaded.n_states + figures)

    required_bytes = size(rows * channels, figures)
    if required_bytes <= memory_limits.SMALL or required_bytes <= (
        available := memory_limits.available_memory()
    ):
        memory_limits.check_memory(
            f"times of {pluralize(rows, 'row')}",
            memory_limits.TIMES * rows,
            "keep fewer rows (output_every=)",
        )
        return
    contents, hints = (
        [f"{pluralize(rows, 'row')} of {pluralize(channels, 'channel')}"] * bool(channels),
        [],
    )
    contents += [pluralize(figures, "metric")] * bool(figures)
    if channels and size(min(rows, 2), figures) <= available:
        hints += ["keep fewer channels (channels=)"] * (channels > 1) + [
            "keep fewer rows (output_every=)"
        ] * (rows > 2)
    if channels and size(0, figures or 1) <= available:
        hints.append(
            "keep metrics of each run alone (metrics=)"
            if not figures
            else "keep the metrics alone (no channels=)"
        )
    if not channels and figures > 1 and size(0, 1) <= available:
        hints.append("ask for fewer metrics (metrics=)")
    helps = ", ".join([*hints, "or do fewer runs"] if hints else ["do fewer runs"])
    memory_limits.check_memory(
        f"{pluralize(n, 'run')} with {' and '.join(contents)} each", required_bytes, helps
    )


def _finish_adaptive_runs(
    request: BatchRequest,
    results: BatchBuffers,
    single_runs: SingleRuns,
    end_messages: list[str],
    notes: list[str],
) -> tuple[list[str], dict[str, str | float], list[str]]:
    """Runs whose method adapts its steps and that did not finish in C: Python does them again, or
    continues."""
    unfinished = np.flatnonzero(results.status != FINISHED).tolist()
    end_messages[:] = ["finished"] * len(end_messages)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        for run in unfinished:
            single_runs.run_range(run, run + 1)
    alone = (
        f"{pluralize(len(unfinished), 'run')} went on with stiff steps or did not finish: "
        f"driven by Python"
    )
    return end_messages, {"backend": "cores"}, [*notes, alone] if unfinished else notes


def compiled_obstacle(request: BatchRequest) -> str:
    """Why compiled code cannot drive such runs alone; nothing if it can."""
    loaded, method = request.loaded, request.spec.method
    if loaded.model.compiler is None and loaded.model.name != "wasm":
        return "the model is not compiled"
    if method in ADAPTIVE and method not in OWN:
        return f"the method {method} is one of SciPy"
    if method in ADAPTIVE and (loaded.stateful_routine_names or loaded.interface.sampled_inputs):
        return f"user functions remember or keep values, and the method {method} adapts its steps"
    return ""


def driver_obstacle(request: BatchRequest, initial_states: BatchInitialStates) -> str:
    """Why compiled code cannot drive these runs alone; nothing if it can."""
    first = kernel_run(
        first_valid_session(request.loaded, request.spec, request.model_values, request.tolerances)
    )
    if first is None:
        return "Python drives its steps"
    if first.calls.compiled.python_functions:
        return "user functions are given in Python"
    each = initial_states.inputs_by_run or [initial_states.inputs]
    return (
        "an input is a function of Python"
        if any(i.kind == "function" for x in each for i in x)
        else ""
    )


def _vectorization_obstacle(request: BatchRequest, initial_states: BatchInitialStates) -> str:
    """Why these runs cannot be vectorised, in lanes or on a GPU; nothing if they can."""
    if request.loaded.model.compiler is None:
        return "the model is not compiled"
    if request.loaded.analysis.mechanism.description.rigid_contacts:
        return "rigid wheels hit and roll at times of their own"
    if request.tolerances.dae != PROJECTED:
        return f"dae={request.tolerances.dae.method!r} keeps constraints run by run"
    if len(initial_states.initial_data.break_offsets) > 2 and len({*initial_states.breaks}) > 1:
        return "inputs jump or have kinks at other times in every run"
    return lanes_obstacle(request.loaded.program, request.number)


def run_compiled(
    request: BatchRequest,
    initial_states: BatchInitialStates,
    results: BatchBuffers,
    progress: Progress | None,
    threads: int | None = None,
    only_left: bool = False,
) -> None:
    """Do all runs as `simulate` does them; with `only_left`, those that vectorised code has
    left."""
    compiler, selection = request.loaded.model.compiler, request.output_selection

    def make_worker() -> BatchWorker:
        run = kernel_run(
            first_valid_session(
                request.loaded, request.spec, request.model_values, request.tolerances
            )
        )
        assert run is not None
        if compiler is None:
            from bellcrank.simulation.backend.wasm import WasmRun
            from bellcrank.simulation.backend.wasm_batch import WasmBatchWorker

            assert isinstance(run, WasmRun)
            driver: BatchWorker = WasmBatchWorker(
                run,
                initial_states.initial_data,
                initial_states.inputs_by_run or [initial_states.inputs],
                selection,
                results,
            )
        else:
            driver = CompiledBatchWorker(
                run, compiler, initial_states.initial_data, selection, results
            )
        return PendingRuns(driver, results.status) if only_left else driver

    run_on_threads(make_worker, results, progress, 1, threads)


def _run_in_lanes(
    request: BatchRequest,
    initial_states: BatchInitialStates,
    results: BatchBuffers,
    progress: Progress | None,
) -> None:
    """Does all runs, several in lanes of every thread."""
    selection, spec, programs = (
        request.output_selection,
        request.spec,
        request.loaded.vectorized_programs,
    )
    compiler, kind = request.loaded.model.compiler, (request.number, request.event_source)
    assert compiler is not None
    if kind not in programs:
        programs[kind] = LaneLibrary(request.loaded.program, compiler, *kind)
    lanes: LaneLibrary = programs[kind]
    run_on_threads(
        lambda: LaneDriver(lanes, spec, initial_states.initial_data, selection, results),
        results,
        progress,
        lanes.count,
    )


def _run_on_gpu(
    request: BatchRequest,
    initial_states: BatchInitialStates,
    results: BatchBuffers,
    progress: Progress | None,
) -> float:
    """Does all runs on a GPU, each in a thread of its own; how long its launches took, s."""
    spec, inputs = request.spec, initial_states.inputs_by_run or [initial_states.inputs]
    events, programs = request.event_source, request.loaded.vectorized_programs
    shared = len(initial_states.initial_data.p) == 1 and not (
        events is not None and events.sets_parameters
    )
    kind = spec.method, shared, request.number, events
    if kind not in programs:
        programs[kind] = GpuProgram(request.loaded.program, *kind)
    gpu: GpuProgram = programs[kind]
    return gpu.run_batch(
        spec,
        initial_states.initial_data,
        request.output_selection,
        results,
        [i for x in inputs for i in x],
        progress,
    )


def _end_messages(
    request: BatchRequest, results: BatchBuffers, known_messages: list[str]
) -> list[str]:
    """A message for each run, unless it is known."""
    end_messages = [x or "finished" for x in known_messages]
    for run in (
        x for x in np.flatnonzero(results.status != FINISHED).tolist() if not known_messages[x]
    ):
        end_messages[run] = _end_message(request, results, run)
    return end_messages


def _end_message(request: BatchRequest, results: BatchBuffers, run: int) -> str:
    status, spec = int(results.status[run]), request.spec
    if status == STOPPED:
        assert request.events_in_c is not None
        name, t = request.events_in_c.names[results.stopped_by[run]], results.stopped_at[run]
        return f"stopped by event '{name}' at t = {t:.6g} s"
    if status == NO_CONSTANTS:
        return "not begun: the constants of the model cannot be computed with these parameters"
    t = (
        spec.t_end
        if results.steps_done[run] == spec.n_steps
        else spec.t_start + results.steps_done[run] * spec.step
    )
    states = request.loaded.interface.states
    nonfinite = [
        x.name
        for x, v in zip(states, results.nonfinite_states[run], strict=True)
        if not np.isfinite(v)
    ]
    reasons = {
        NOT_FINITE: f"{', '.join(nonfinite[:4])} {'is' if len(nonfinite) == 1 else 'are'} no "
        f"longer "
        f"finite",
        NOT_CLOSED: "a closed loop cannot be kept closed: the step is too large, or the "
        "constraints "
        "lock there",
        EXTERNAL_FAILED: "a user function failed",
    }
    return f"stopped at t = {t:g} s: {reasons.get(status, 'it cannot continue')}"


def _make_batch_result(
    request: BatchRequest,
    results: BatchBuffers,
    end_messages: list[str],
    settings: dict[str, str | float],
    notes: list[str],
) -> Many:
    metrics: dict[str, dict[str, NDArray[np.float64]]] = {}
    for f, values in zip(request.metrics, results.metrics, strict=True):
        metrics.setdefault(f.channel.name, {})[f.label] = values
    interface = request.loaded.interface
    quantities = [x for x in interface if x.name]
    return Many(
        interface.model,
        request.times,
        {x.name: k for x, k in zip(request.channels, results.histories, strict=True)},
        metrics,
        request.values.varied_numbers,
        end_messages,
        {x.name: str(x.unit) for x in quantities},
        {x.name: x.label for x in quantities},
        settings,
        notes,
        request.simulate_one,
    )
