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
        kept = [(x.column, x.unit.factor) for x in self.kept] + [(column, 1.0) for column in self.columns]
        figures = [(f.channel.column, f.channel.unit.factor, f.kind.name, f.number or 0.0) for f in self.figures]
        return Wanted.of(kept, figures, filters_of(self.times))

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
        p, own = self.spec, self.given.of(number)
        return simulate(
            self.loaded, p.t_end, p.step, p.method, p.every, own["parameters"], own["initial"], own["inputs"],
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
    for name, value, allowed in (("backend", backend, BACKENDS), ("precision", precision, PRECISIONS)):
        if value not in allowed:
            raise ModelError(f"{name}={value!r} is not known; it is one of {', '.join(map(repr, allowed))}")
    check_called(progress, "progress", "the share done")
    spec = run_spec(loaded.interface, t_end, step, method, output_every)
    groups = {"parameters": parameters, "initial": initial, "inputs": inputs}
    read = read_given(loaded.interface, n, groups, sampling, seed)
    kept = PROJECTED if dae is None else as_dae(dae)
    stop = stops_of(stop, loaded.interface.model)
    asked = replace(
        _asked(loaded, spec, read, channels, metrics, PRECISIONS[precision]),
        allowed=Allowed(rtol, atol, kept)
        if spec.method in ADAPTIVE
        else Allowed(dae=kept),  # which is reported once, below
        events=events,
        stop=stop,
    )
    _check_room(asked)
    tolerances_of(loaded.interface, spec.method, rtol, atol, USUAL)
    first = read.of(0)["parameters"]
    used = read_events(loaded.interface, events, stop, first).used
    check_parameters(loaded.interface, known_to(loaded, first, used) or ())  # what is not used is reported once
    if loaded.analysis.mechanism.description.contacts:
        check_rigid(loaded, spec, kept.usual)
    check_dae(kept, spec, loaded)
    results = Results(asked.given.n, len(asked.times), loaded.n_states, asked.wanted)
    began = time.perf_counter()
    asked, longer = _in_numbers(asked)
    ended, how, notes = _done(asked, backend, results, progress)
    settings = {"t_end": spec.t_end, "step": spec.step, "method": spec.method, "output_every": spec.every}
    if asked.number is not DOUBLE and how["backend"] not in SIDE_BY_SIDE:
        longer = "single precision is for vectorised runs"
    if longer:
        notes.append(f"the runs were computed in double precision: {longer}")
        precision = "double"
    settings |= {**how, "precision": precision, "seconds": time.perf_counter() - began}
    if doubt := first_step_check(asked.loaded, spec, asked.of_model, _sizes(results)):
        warn(doubt)
    return _result(asked, results, ended, settings, notes)


def _in_numbers(asked: Asked) -> tuple[Asked, str]:
    """What is asked for, in double precision if its runs be vectorised in no other; then also why."""
    why = not_in_lanes(asked.loaded.program, asked.number)
    if not why or asked.number is DOUBLE or not_in_lanes(asked.loaded.program):
        return asked, ""
    return replace(asked, number=DOUBLE), why


def _sizes(results: Results) -> np.ndarray:
    """Of every run, how large its figures and last rows are compared with those of the others; inf if it left all
    numbers."""
    sizes = np.where(results.status == NOT_FINITE, np.inf, 0.0)
    for values in (*results.figures, *results.kept[:, :, -1]):
        found = np.abs(values)
        known = found[np.isfinite(found)]
        usual = np.median(known) if len(known) else 1.0
        with np.errstate(over="ignore"):
            np.fmax(sizes, found / max(usual, np.finfo(float).tiny), out=sizes)
    return sizes


def _done(
    asked: Asked, backend: str, results: Results, progress: Progress | None
) -> tuple[list[str], dict[str, Any], list[str]]:
    """Does all runs by the best way there is: how each ended, by which way, and why not by a better one."""
    ended = [""] * asked.given.n
    single_runs = SingleRuns(asked.run, asked.times, asked.near, asked.kept, asked.figures, results, ended)
    adaptive, alone = asked.spec.method in ADAPTIVE, ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)  # of single runs: `many.run(i)` reports them
        asked, why = _watched(asked, backend)
        why = why or not_in_c(asked)
        starts = None if why else _starts(asked)
        if starts is not None:
            why = not_driven(asked, starts)
            alone = _not_side_by_side(asked, starts) if not adaptive and backend != "cores" else ""
            why = why or (f"events are looked for, and {alone}" if alone and asked.watching is not None else "")
        if starts is None or why:
            any_run(asked.loaded, asked.spec, asked.of_model, asked.allowed)  # or an error
            on_cores(lambda: single_runs, results, progress, 1)
            return ended, {"backend": "python"}, [f"the runs were driven one by one by Python: {why}"]
    if adaptive:
        run_on_cores(asked, starts, results, progress)
        notes = [_otherwise(backend, f"the method {asked.spec.method} adapts its steps")]
        return _rest(asked, results, single_runs, ended, notes if backend in SIDE_BY_SIDE else [])
    notes = []
    how: dict[str, Any] = {"backend": "cores" if alone or backend == "cores" else "lanes"}
    missing = (alone or no_gpu()) if backend == "cuda" else ""
    if missing or alone:
        notes.append(_otherwise(backend, missing or alone))
    if backend == "cuda" and not missing:
        how = {"backend": "cuda", "launched": _on_gpu(asked, starts, results, progress)}
    else:
        (_in_lanes if how["backend"] == "lanes" else run_on_cores)(asked, starts, results, progress)
    notes += _alone(asked, starts, results, single_runs, progress)
    for run in starts.unable:
        single_runs.go(run, run + 1)
    return _ended(asked, results, ended), how, notes


def _otherwise(backend: str, why: str) -> str:
    """Says that runs were not vectorised, as they were asked to."""
    if backend == "cuda":
        return f"the runs were not done on a GPU: {why}"
    return f"the runs went one after another on every core, not vectorised: {why}"


def _starts(asked: Asked) -> Starts:
    values = NO_VALUES if asked.watching is None else asked.watching.values
    return starts_of(asked.loaded, asked.spec, asked.of_model, asked.allowed, values)


def _watched(asked: Asked, backend: str) -> tuple[Asked, str]:
    """What is asked for, with what compiled code watches its runs for; and why it cannot."""
    if not (asked.events or asked.stop or asked.loaded.interface.run.events):
        return asked, ""
    speeds = asked.loaded.analysis.independent_speeds
    watching = watching_of(asked.loaded.interface, asked.events, asked.stop, asked.given, speeds)
    if watching is None:  # nothing comes of them
        return asked, ""
    if asked.spec.method in ADAPTIVE:
        return asked, f"events are looked for, and the method {asked.spec.method} adapts its steps"
    why = ""
    if backend == "cores":
        why = "events are looked for, which only vectorised runs do (backend='lanes')"
    elif watching.text.sets_parameters and asked.loaded.interface.entered:
        why = "events set parameters, and user functions give others"
    return replace(asked, watching=watching), why


def _alone(
    asked: Asked, starts: Starts, results: Results, single_runs: SingleRuns, progress: Progress | None
) -> list[str]:
    """Does those runs alone that were left: near singular configurations, or where events need more than compiled code
    does."""
    left = np.flatnonzero(results.status == LEFT).tolist()
    if not left:
        return []
    if asked.watching is None:
        run_on_cores(asked, starts, results, progress, left=True)
        return [f"{counted(len(left), 'run')} came near singular configurations of closed loops and went alone"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        for run in left:
            single_runs.go(run, run + 1)
    loops = "" if asked.loaded.program.loops is None else ", or closed loops near singular configurations,"
    return [f"{counted(len(left), 'run')} met events that chatter or cannot be done{loops} and went alone"]


def _asked(loaded: Loaded, spec: RunSpec, given: Given, channels: Any, metrics: Any, number: Number) -> Asked:
    interface = loaded.interface
    if channels is None:
        kept = [] if metrics is not None and names_channels(metrics) else list(interface.channels)
    else:
        listed = [channels] if isinstance(channels, str) or not isinstance(channels, Iterable) else list(channels)
        kept = list({x.name: x for x in (channel_of(interface, name, "channels=") for name in listed)}.values())
    figures = read_figures(interface, metrics, kept)
    if metrics is not None and not names_channels(metrics):
        kept = []  # metrics alone
    return Asked(loaded, spec, given, kept, figures, number=number)


def _check_room(asked: Asked) -> None:
    """Rejects results that cannot be held, and says what could be."""
    spec, n, channels, figures = asked.spec, asked.given.n, len(asked.kept), len(asked.figures)
    rows = -(-spec.steps // spec.every) + 1  # counted, for their times alone may be too many to be held

    def size(history: int, figures: int) -> int:
        return n * 8 * (history + asked.loaded.n_states + figures)

    needed = size(rows * channels, figures)
    if needed <= memory.SMALL or needed <= (room := memory.available_memory()):
        memory.check_memory(f"times of {counted(rows, 'row')}", memory.TIMES * rows, "keep fewer rows (output_every=)")
        return
    what, ways = [f"{counted(rows, 'row')} of {counted(channels, 'channel')}"] * bool(channels), []
    what += [counted(figures, "metric")] * bool(figures)
    if channels and size(min(rows, 2), figures) <= room:
        ways += ["keep fewer channels (channels=)"] * (channels > 1) + ["keep fewer rows (output_every=)"] * (rows > 2)
    if channels and size(0, figures or 1) <= room:
        ways.append(
            "keep metrics of each run alone (metrics=)" if not figures else "keep the metrics alone (no channels=)"
        )
    if not channels and figures > 1 and size(0, 1) <= room:
        ways.append("ask for fewer metrics (metrics=)")
    helps = ", ".join([*ways, "or do fewer runs"] if ways else ["do fewer runs"])
    memory.check_memory(f"{counted(n, 'run')} with {' and '.join(what)} each", needed, helps)


def _rest(
    asked: Asked, results: Results, single_runs: SingleRuns, ended: list[str], notes: list[str]
) -> tuple[list[str], dict[str, Any], list[str]]:
    """Runs whose method adapts its steps and that did not finish in C: Python does them again, or continues."""
    others = np.flatnonzero(results.status != FINISHED).tolist()
    ended[:] = ["finished"] * len(ended)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        for run in others:
            single_runs.go(run, run + 1)
    alone = f"{counted(len(others), 'run')} went on with stiff steps or did not finish: driven by Python"
    return ended, {"backend": "cores"}, [*notes, alone] if others else notes


def not_in_c(asked: Asked) -> str:
    """Why compiled code cannot drive such runs alone; nothing if it can."""
    loaded, method = asked.loaded, asked.spec.method
    if loaded.model.compiler is None and loaded.model.name != "wasm":
        return "the model is not compiled"
    if method in ADAPTIVE and method not in OWN:
        return f"the method {method} is one of SciPy"
    if method in ADAPTIVE and (loaded.remembers or loaded.interface.kept):
        return f"user functions remember or keep values, and the method {method} adapts its steps"
    return ""


def not_driven(asked: Asked, starts: Starts) -> str:
    """Why compiled code cannot drive these runs alone; nothing if it can."""
    first = compiled_run(any_run(asked.loaded, asked.spec, asked.of_model, asked.allowed))
    if first is None:
        return "Python drives its steps"
    if first.calls.compiled.called_back:
        return "user functions are given in Python"
    each = starts.others or [starts.inputs]
    return "an input is a function of Python" if any(i.kind == "function" for x in each for i in x) else ""


def _not_side_by_side(asked: Asked, starts: Starts) -> str:
    """Why these runs cannot be vectorised, in lanes or on a GPU; nothing if they can."""
    if asked.loaded.model.compiler is None:
        return "the model is not compiled"
    if asked.loaded.analysis.mechanism.description.contacts:
        return "rigid wheels hit and roll at times of their own"
    if asked.allowed.dae != PROJECTED:
        return f"dae={asked.allowed.dae.method!r} keeps constraints run by run"
    if len(starts.begin.first_breaks) > 2 and len({*starts.breaks}) > 1:
        return "inputs jump or have kinks at other times in every run"
    return not_in_lanes(asked.loaded.program, asked.number)


def run_on_cores(
    asked: Asked,
    starts: Starts,
    results: Results,
    progress: Progress | None,
    threads: int | None = None,
    left: bool = False,
) -> None:
    """Does all runs as `simulate` does them, or those that were `left`."""
    compiler, wanted = asked.loaded.model.compiler, asked.wanted

    def make() -> Goes:
        run = compiled_run(any_run(asked.loaded, asked.spec, asked.of_model, asked.allowed))
        assert run is not None
        if compiler is None:
            from bellcrank.backend.wasm_many import WasmDriver  # few need it

            driver: Goes = WasmDriver(run, starts.begin, starts.others or [starts.inputs], wanted, results)
        else:
            driver = Driver(run, compiler, starts.begin, wanted, results)
        return Remaining(driver, results.status) if left else driver

    on_cores(make, results, progress, 1, threads)


def _in_lanes(asked: Asked, starts: Starts, results: Results, progress: Progress | None) -> None:
    """Does all runs, several in lanes of every thread."""
    wanted, spec, made = asked.wanted, asked.spec, asked.loaded.side_by_side
    compiler, kind = asked.loaded.model.compiler, (asked.number, asked.watched_text)
    assert compiler is not None
    if kind not in made:
        made[kind] = Lanes(asked.loaded.program, compiler, *kind)
    lanes = made[kind]
    on_cores(lambda: LaneDriver(lanes, spec, starts.begin, wanted, results), results, progress, lanes.count)


def _on_gpu(asked: Asked, starts: Starts, results: Results, progress: Progress | None) -> float:
    """Does all runs on a GPU, each in a thread of its own; how long its launches took, s."""
    spec, inputs = asked.spec, starts.others or [starts.inputs]
    events, made = asked.watched_text, asked.loaded.side_by_side
    shared = len(starts.begin.p) == 1 and not (events is not None and events.sets_parameters)
    kind = spec.method, shared, asked.number, events
    if kind not in made:
        made[kind] = Gpu(asked.loaded.program, *kind)
    return float(made[kind].go(spec, starts.begin, asked.wanted, results, [i for x in inputs for i in x], progress))


def _ended(asked: Asked, results: Results, known: list[str]) -> list[str]:
    """A message for each run, unless it is known."""
    ended = [x or "finished" for x in known]
    for run in (x for x in np.flatnonzero(results.status != FINISHED).tolist() if not known[x]):
        ended[run] = _sentence(asked, results, run)
    return ended


def _sentence(asked: Asked, results: Results, run: int) -> str:
    status, spec = int(results.status[run]), asked.spec
    if status == STOPPED:
        assert asked.watching is not None
        name, t = asked.watching.names[results.stopped_by[run]], results.stopped_at[run]
        return f"stopped by event '{name}' at t = {t:.6g} s"
    if status == NO_CONSTANTS:
        return "not begun: the constants of the model cannot be computed with these parameters"
    t = spec.t_end if results.reached[run] == spec.steps else spec.t_start + results.reached[run] * spec.step
    states = asked.loaded.interface.states
    bad = [x.name for x, v in zip(states, results.bad[run], strict=True) if not np.isfinite(v)]
    words = {
        NOT_FINITE: f"{', '.join(bad[:4])} {'is' if len(bad) == 1 else 'are'} no longer finite",
        NOT_CLOSED: "a closed loop cannot be kept closed: the step is too large, or the constraints lock there",
        EXTERNAL_FAILED: "a user function failed",
    }
    return f"stopped at t = {t:g} s: {words.get(status, 'it cannot continue')}"


def _result(asked: Asked, results: Results, ended: list[str], settings: dict[str, Any], notes: list[str]) -> Many:
    metrics: dict[str, dict[str, np.ndarray]] = {}
    for f, values in zip(asked.figures, results.figures, strict=True):
        metrics.setdefault(f.channel.name, {})[f.words] = values
    interface = asked.loaded.interface
    named = [x for x in interface if x.name]
    return Many(
        interface.model, asked.times, {x.name: k for x, k in zip(asked.kept, results.kept, strict=True)}, metrics,
        asked.given.columns, ended, {x.name: str(x.unit) for x in named}, {x.name: x.label for x in named}, settings,
        notes, asked.run,
    )  # fmt: skip
