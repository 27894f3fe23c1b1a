"""Many runs from what a user asks for to their result: `Loaded` -> `Many`."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bellcrank.backend.c_lanes import LaneDriver, Lanes
from bellcrank.backend.c_many import Driver, Results, Wanted
from bellcrank.backend.cuda import Gpu, no_gpu
from bellcrank.choices import ManyBackend, choices_of
from bellcrank.emit.c.events import EventsText
from bellcrank.emit.c.lanes import not_in_lanes
from bellcrank.emit.c.many import LEFT, NO_CONSTANTS, STOPPED
from bellcrank.emit.number import DOUBLE, FLOAT, Number
from bellcrank.errors import ModelError, ModelWarning, check_called, counted, warn
from bellcrank.interface.interface import Quantity
from bellcrank.many.cores import Goes, Remaining, on_cores
from bellcrank.many.figures import Figure, channel_of, names_channels, read_figures
from bellcrank.many.given import Given, read_given
from bellcrank.many.initial_states import (
    NO_VALUES,
    USUAL_ERRORS,
    Allowed,
    Starts,
    any_run,
    compiled_run,
    first_step_check,
    starts_of,
)
from bellcrank.many.result import Many
from bellcrank.many.single_runs import SingleRuns
from bellcrank.many.watching import Watching, watching_of
from bellcrank.metrics.weighting import filters_of
from bellcrank.numeric.methods import ADAPTIVE, OWN
from bellcrank.numeric.run_spec import EXTERNAL_FAILED, FINISHED, NOT_CLOSED, NOT_FINITE, RunSpec
from bellcrank.numeric.tuning import EVENTS, STEPS
from bellcrank.run import memory
from bellcrank.run.actions import read_events, stops_of
from bellcrank.run.dae_methods import USUAL as PROJECTED
from bellcrank.run.dae_methods import Dae, as_dae
from bellcrank.run.dae_runs import check_dae
from bellcrank.run.loaded import Loaded
from bellcrank.run.result import Run
from bellcrank.run.rigid import check_rigid
from bellcrank.run.session import Progress, known_to
from bellcrank.run.simulate import simulate
from bellcrank.run.tolerances import USUAL, Absolute, tolerances_of
from bellcrank.run.values import check_parameters, run_spec

BACKENDS = choices_of(ManyBackend)
SIDE_BY_SIDE = ("lanes", "cuda")
PRECISIONS = {"double": DOUBLE, "single": FLOAT}


@dataclass(frozen=True)
class Asked:
    """Runs that are asked for, and what of them."""

    loaded: Loaded
    spec: RunSpec
    given: Given
    kept: list[Quantity]
    figures: list[Figure]
    columns: tuple[int, ...] = ()  # of rows, kept in equation units besides
    allowed: Allowed = USUAL_ERRORS
    events: Any = None
    stop: Any = ()
    number: Number = DOUBLE  # what vectorised runs compute in
    watching: Watching | None = None  # for events that stop or act: of vectorised runs

    @property
    def wanted(self) -> Wanted:
        histories = [(x.column, x.unit.factor) for x in self.kept] + [(column, 1.0) for column in self.columns]
        figures = [(f.channel.column, f.channel.unit.factor, f.kind.name, f.number or 0.0) for f in self.figures]
        return Wanted.of(histories, figures, filters_of(self.times))

    @property
    def times(self) -> np.ndarray:
        """When rows are recorded."""
        spec = self.spec
        if spec.method in ADAPTIVE:
            return spec.output_times()
        steps = np.arange(0, spec.steps, spec.every)
        return np.append(spec.t_start + steps * spec.step, spec.t_end)

    @property
    def near(self) -> float:
        """How near to a row, s, an event leaves no step to it: a run continues from there."""
        return max(STEPS.gap * self.spec.step, EVENTS.instant * max(1.0, abs(self.spec.t_end)))

    @property
    def of_model(self) -> Given:
        """What the model is given: parameters that stand in events alone, or nowhere, are omitted."""
        return self.given.without({x.key for x in self.loaded.interface.unused})

    @property
    def watched_text(self) -> EventsText | None:
        """Events as vectorised runs look for them."""
        return None if self.watching is None else self.watching.text

    def run(self, number: int) -> Run:
        """One of the runs by itself."""
        p, values = self.spec, self.given.of(number)
        return simulate(
            self.loaded, p.t_end, p.step, p.method, p.every, values["parameters"], values["initial"], values["inputs"],
            self.allowed.rtol, self.allowed.atol, self.events, self.stop, dae=self.allowed.dae,
        )  # fmt: skip


def simulate_many(
    loaded: Loaded,
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
    for name, value, choices in (("backend", backend, BACKENDS), ("precision", precision, PRECISIONS)):
        if value not in choices:
            raise ModelError(f"{name}={value!r} is not known; it is one of {', '.join(map(repr, choices))}")
    check_called(progress, "progress", "the share done")
    spec = run_spec(loaded.interface, t_end, step, method, output_every)
    groups = {"parameters": parameters, "initial": initial, "inputs": inputs}
    batch_values = read_given(loaded.interface, n, groups, sampling, seed)
    dae_method = PROJECTED if dae is None else as_dae(dae)
    stop = stops_of(stop, loaded.interface.model)
    request = replace(
        _asked(loaded, spec, batch_values, channels, metrics, PRECISIONS[precision]),
        allowed=Allowed(rtol, atol, dae_method)
        if spec.method in ADAPTIVE
        else Allowed(dae=dae_method),  # which is reported once, below
        events=events,
        stop=stop,
    )
    _check_room(request)
    tolerances_of(loaded.interface, spec.method, rtol, atol, USUAL)
    first = batch_values.of(0)["parameters"]
    event_keys = read_events(loaded.interface, events, stop, first).used
    check_parameters(loaded.interface, known_to(loaded, first, event_keys) or ())  # what is not used is reported once
    if loaded.analysis.mechanism.description.contacts:
        check_rigid(loaded, spec, dae_method.usual)
    check_dae(dae_method, spec, loaded)
    results = Results(request.given.n, len(request.times), loaded.n_states, request.wanted)
    began = time.perf_counter()
    request, precision_note = _in_numbers(request)
    end_messages, backend_settings, notes = _done(request, backend, results, progress)
    settings = {"t_end": spec.t_end, "step": spec.step, "method": spec.method, "output_every": spec.every}
    if request.number is not DOUBLE and backend_settings["backend"] not in SIDE_BY_SIDE:
        precision_note = "single precision is for vectorised runs"
    if precision_note:
        notes.append(f"the runs were computed in double precision: {precision_note}")
        precision = "double"
    settings |= {**backend_settings, "precision": precision, "seconds": time.perf_counter() - began}
    if message := first_step_check(request.loaded, spec, request.of_model, _sizes(results)):
        warn(message)
    return _result(request, results, end_messages, settings, notes)


def _in_numbers(request: Asked) -> tuple[Asked, str]:
    """What is asked for, in double precision if its runs be vectorised in no other; then also why."""
    obstacle = not_in_lanes(request.loaded.program, request.number)
    if not obstacle or request.number is DOUBLE or not_in_lanes(request.loaded.program):
        return request, ""
    return replace(request, number=DOUBLE), obstacle


def _sizes(results: Results) -> np.ndarray:
    """Of every run, how large its figures and last rows are compared with those of the others; inf if it left all
    numbers."""
    sizes = np.where(results.status == NOT_FINITE, np.inf, 0.0)
    for values in (*results.figures, *results.kept[:, :, -1]):
        magnitudes = np.abs(values)
        finite_values = magnitudes[np.isfinite(magnitudes)]
        typical = np.median(finite_values) if len(finite_values) else 1.0
        with np.errstate(over="ignore"):
            np.fmax(sizes, magnitudes / max(typical, np.finfo(float).tiny), out=sizes)
    return sizes


def _done(
    request: Asked, backend: str, results: Results, progress: Progress | None
) -> tuple[list[str], dict[str, Any], list[str]]:
    """Does all runs by the best way there is: how each ended, by which way, and why not by a better one."""
    end_messages = [""] * request.given.n
    single_runs = SingleRuns(
        request.run, request.times, request.near, request.kept, request.figures, results, end_messages
    )
    adaptive, lane_obstacle = request.spec.method in ADAPTIVE, ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)  # of single runs: `many.run(i)` reports them
        request, obstacle = _watched(request, backend)
        obstacle = obstacle or not_in_c(request)
        initial_states = None if obstacle else _starts(request)
        if initial_states is not None:
            obstacle = not_driven(request, initial_states)
            lane_obstacle = _not_side_by_side(request, initial_states) if not adaptive and backend != "cores" else ""
            obstacle = obstacle or (
                f"events are looked for, and {lane_obstacle}" if lane_obstacle and request.watching is not None else ""
            )
        if initial_states is None or obstacle:
            any_run(request.loaded, request.spec, request.of_model, request.allowed)  # or an error
            on_cores(lambda: single_runs, results, progress, 1)
            return end_messages, {"backend": "python"}, [f"the runs were driven one by one by Python: {obstacle}"]
    if adaptive:
        run_on_cores(request, initial_states, results, progress)
        notes = [_otherwise(backend, f"the method {request.spec.method} adapts its steps")]
        return _rest(request, results, single_runs, end_messages, notes if backend in SIDE_BY_SIDE else [])
    notes = []
    backend_settings: dict[str, Any] = {"backend": "cores" if lane_obstacle or backend == "cores" else "lanes"}
    missing = (lane_obstacle or no_gpu()) if backend == "cuda" else ""
    if missing or lane_obstacle:
        notes.append(_otherwise(backend, missing or lane_obstacle))
    if backend == "cuda" and not missing:
        backend_settings = {"backend": "cuda", "launched": _on_gpu(request, initial_states, results, progress)}
    else:
        (_in_lanes if backend_settings["backend"] == "lanes" else run_on_cores)(
            request, initial_states, results, progress
        )
    notes += _alone(request, initial_states, results, single_runs, progress)
    for run in initial_states.unable:
        single_runs.go(run, run + 1)
    return _ended(request, results, end_messages), backend_settings, notes


def _otherwise(backend: str, reason: str) -> str:
    """Says that runs were not vectorised, as they were asked to."""
    if backend == "cuda":
        return f"the runs were not done on a GPU: {reason}"
    return f"the runs went one after another on every core, not vectorised: {reason}"


def _starts(request: Asked) -> Starts:
    values = NO_VALUES if request.watching is None else request.watching.values
    return starts_of(request.loaded, request.spec, request.of_model, request.allowed, values)


def _watched(request: Asked, backend: str) -> tuple[Asked, str]:
    """What is asked for, with what compiled code watches its runs for; and why it cannot."""
    if not (request.events or request.stop or request.loaded.interface.run.events):
        return request, ""
    speeds = request.loaded.analysis.independent_speeds
    batch_events = watching_of(request.loaded.interface, request.events, request.stop, request.given, speeds)
    if batch_events is None:  # nothing comes of them
        return request, ""
    if request.spec.method in ADAPTIVE:
        return request, f"events are looked for, and the method {request.spec.method} adapts its steps"
    obstacle = ""
    if backend == "cores":
        obstacle = "events are looked for, which only vectorised runs do (backend='lanes')"
    elif batch_events.text.sets_parameters and request.loaded.interface.entered:
        obstacle = "events set parameters, and user functions give others"
    return replace(request, watching=batch_events), obstacle


def _alone(
    request: Asked, initial_states: Starts, results: Results, single_runs: SingleRuns, progress: Progress | None
) -> list[str]:
    """Does those runs alone that were left: near singular configurations, or where events need more than compiled code
    does."""
    run_numbers = np.flatnonzero(results.status == LEFT).tolist()
    if not run_numbers:
        return []
    if request.watching is None:
        run_on_cores(request, initial_states, results, progress, only_left=True)
        return [f"{counted(len(run_numbers), 'run')} came near singular configurations of closed loops and went alone"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        for run in run_numbers:
            single_runs.go(run, run + 1)
    loops = "" if request.loaded.program.loops is None else ", or closed loops near singular configurations,"
    return [f"{counted(len(run_numbers), 'run')} met events that chatter or cannot be done{loops} and went alone"]


def _asked(loaded: Loaded, spec: RunSpec, batch_values: Given, channels: Any, metrics: Any, number: Number) -> Asked:
    interface = loaded.interface
    if channels is None:
        histories = [] if metrics is not None and names_channels(metrics) else list(interface.channels)
    else:
        listed = [channels] if isinstance(channels, str) or not isinstance(channels, Iterable) else list(channels)
        histories = list({x.name: x for x in (channel_of(interface, name, "channels=") for name in listed)}.values())
    figures = read_figures(interface, metrics, histories)
    if metrics is not None and not names_channels(metrics):
        histories = []  # metrics alone
    return Asked(loaded, spec, batch_values, histories, figures, number=number)


def _check_room(request: Asked) -> None:
    """Rejects results that cannot be held, and says what could be."""
    spec, n, channels, figures = request.spec, request.given.n, len(request.kept), len(request.figures)
    rows = -(-spec.steps // spec.every) + 1  # counted, for their times alone may be too many to be held

    def size(history: int, figures: int) -> int:
        return n * 8 * (history + request.loaded.n_states + figures)

    required_bytes = size(rows * channels, figures)
    if required_bytes <= memory.SMALL or required_bytes <= (available := memory.available_memory()):
        memory.check_memory(f"times of {counted(rows, 'row')}", memory.TIMES * rows, "keep fewer rows (output_every=)")
        return
    contents, hints = [f"{counted(rows, 'row')} of {counted(channels, 'channel')}"] * bool(channels), []
    contents += [counted(figures, "metric")] * bool(figures)
    if channels and size(min(rows, 2), figures) <= available:
        hints += ["keep fewer channels (channels=)"] * (channels > 1) + ["keep fewer rows (output_every=)"] * (rows > 2)
    if channels and size(0, figures or 1) <= available:
        hints.append(
            "keep metrics of each run alone (metrics=)" if not figures else "keep the metrics alone (no channels=)"
        )
    if not channels and figures > 1 and size(0, 1) <= available:
        hints.append("ask for fewer metrics (metrics=)")
    helps = ", ".join([*hints, "or do fewer runs"] if hints else ["do fewer runs"])
    memory.check_memory(f"{counted(n, 'run')} with {' and '.join(contents)} each", required_bytes, helps)


def _rest(
    request: Asked, results: Results, single_runs: SingleRuns, end_messages: list[str], notes: list[str]
) -> tuple[list[str], dict[str, Any], list[str]]:
    """Runs whose method adapts its steps and that did not finish in C: Python does them again, or continues."""
    unfinished = np.flatnonzero(results.status != FINISHED).tolist()
    end_messages[:] = ["finished"] * len(end_messages)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        for run in unfinished:
            single_runs.go(run, run + 1)
    alone = f"{counted(len(unfinished), 'run')} went on with stiff steps or did not finish: driven by Python"
    return end_messages, {"backend": "cores"}, [*notes, alone] if unfinished else notes


def not_in_c(request: Asked) -> str:
    """Why compiled code cannot drive such runs alone; nothing if it can."""
    loaded, method = request.loaded, request.spec.method
    if loaded.model.compiler is None and loaded.model.name != "wasm":
        return "the model is not compiled"
    if method in ADAPTIVE and method not in OWN:
        return f"the method {method} is one of SciPy"
    if method in ADAPTIVE and (loaded.remembers or loaded.interface.kept):
        return f"user functions remember or keep values, and the method {method} adapts its steps"
    return ""


def not_driven(request: Asked, initial_states: Starts) -> str:
    """Why compiled code cannot drive these runs alone; nothing if it can."""
    first = compiled_run(any_run(request.loaded, request.spec, request.of_model, request.allowed))
    if first is None:
        return "Python drives its steps"
    if first.calls.compiled.called_back:
        return "user functions are given in Python"
    each = initial_states.others or [initial_states.inputs]
    return "an input is a function of Python" if any(i.kind == "function" for x in each for i in x) else ""


def _not_side_by_side(request: Asked, initial_states: Starts) -> str:
    """Why these runs cannot be vectorised, in lanes or on a GPU; nothing if they can."""
    if request.loaded.model.compiler is None:
        return "the model is not compiled"
    if request.loaded.analysis.mechanism.description.contacts:
        return "rigid wheels hit and roll at times of their own"
    if request.allowed.dae != PROJECTED:
        return f"dae={request.allowed.dae.method!r} keeps constraints run by run"
    if len(initial_states.begin.first_breaks) > 2 and len({*initial_states.breaks}) > 1:
        return "inputs jump or have kinks at other times in every run"
    return not_in_lanes(request.loaded.program, request.number)


def run_on_cores(
    request: Asked,
    initial_states: Starts,
    results: Results,
    progress: Progress | None,
    threads: int | None = None,
    only_left: bool = False,
) -> None:
    """Do all runs as `simulate` does them; with `only_left`, those that vectorised code has left."""
    compiler, selection = request.loaded.model.compiler, request.wanted

    def make() -> Goes:
        run = compiled_run(any_run(request.loaded, request.spec, request.of_model, request.allowed))
        assert run is not None
        if compiler is None:
            from bellcrank.backend.wasm_many import WasmDriver  # few need it

            driver: Goes = WasmDriver(
                run, initial_states.begin, initial_states.others or [initial_states.inputs], selection, results
            )
        else:
            driver = Driver(run, compiler, initial_states.begin, selection, results)
        return Remaining(driver, results.status) if only_left else driver

    on_cores(make, results, progress, 1, threads)


def _in_lanes(request: Asked, initial_states: Starts, results: Results, progress: Progress | None) -> None:
    """Does all runs, several in lanes of every thread."""
    selection, spec, programs = request.wanted, request.spec, request.loaded.side_by_side
    compiler, kind = request.loaded.model.compiler, (request.number, request.watched_text)
    assert compiler is not None
    if kind not in programs:
        programs[kind] = Lanes(request.loaded.program, compiler, *kind)
    lanes = programs[kind]
    on_cores(lambda: LaneDriver(lanes, spec, initial_states.begin, selection, results), results, progress, lanes.count)


def _on_gpu(request: Asked, initial_states: Starts, results: Results, progress: Progress | None) -> float:
    """Does all runs on a GPU, each in a thread of its own; how long its launches took, s."""
    spec, inputs = request.spec, initial_states.others or [initial_states.inputs]
    events, programs = request.watched_text, request.loaded.side_by_side
    shared = len(initial_states.begin.p) == 1 and not (events is not None and events.sets_parameters)
    kind = spec.method, shared, request.number, events
    if kind not in programs:
        programs[kind] = Gpu(request.loaded.program, *kind)
    return float(
        programs[kind].go(spec, initial_states.begin, request.wanted, results, [i for x in inputs for i in x], progress)
    )


def _ended(request: Asked, results: Results, known_messages: list[str]) -> list[str]:
    """A message for each run, unless it is known."""
    end_messages = [x or "finished" for x in known_messages]
    for run in (x for x in np.flatnonzero(results.status != FINISHED).tolist() if not known_messages[x]):
        end_messages[run] = _sentence(request, results, run)
    return end_messages


def _sentence(request: Asked, results: Results, run: int) -> str:
    status, spec = int(results.status[run]), request.spec
    if status == STOPPED:
        assert request.watching is not None
        name, t = request.watching.names[results.stopped_by[run]], results.stopped_at[run]
        return f"stopped by event '{name}' at t = {t:.6g} s"
    if status == NO_CONSTANTS:
        return "not begun: the constants of the model cannot be computed with these parameters"
    t = spec.t_end if results.reached[run] == spec.steps else spec.t_start + results.reached[run] * spec.step
    states = request.loaded.interface.states
    nonfinite = [x.name for x, v in zip(states, results.bad[run], strict=True) if not np.isfinite(v)]
    reasons = {
        NOT_FINITE: f"{', '.join(nonfinite[:4])} {'is' if len(nonfinite) == 1 else 'are'} no longer finite",
        NOT_CLOSED: "a closed loop cannot be kept closed: the step is too large, or the constraints lock there",
        EXTERNAL_FAILED: "a user function failed",
    }
    return f"stopped at t = {t:g} s: {reasons.get(status, 'it cannot continue')}"


def _result(
    request: Asked, results: Results, end_messages: list[str], settings: dict[str, Any], notes: list[str]
) -> Many:
    metrics: dict[str, dict[str, np.ndarray]] = {}
    for f, values in zip(request.figures, results.figures, strict=True):
        metrics.setdefault(f.channel.name, {})[f.words] = values
    interface = request.loaded.interface
    quantities = [x for x in interface if x.name]
    return Many(
        interface.model, request.times, {x.name: k for x, k in zip(request.kept, results.kept, strict=True)}, metrics,
        request.given.columns, end_messages, {x.name: str(x.unit) for x in quantities},
        {x.name: x.label for x in quantities}, settings, notes, request.run,
    )  # fmt: skip
