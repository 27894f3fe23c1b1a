"""What a run is watched for, how it ended in a sentence, and its rows as channels in user units."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bellcrank.backend.c import FINISHED, NOT_CLOSED, CRun, Input
from bellcrank.errors import ModelError, RunError, did_you_mean, mapping
from bellcrank.run.adaptive import AdaptiveRun
from bellcrank.run.diagnose import Moment, broken_term, likely_term
from bellcrank.run.events import Watch, is_strict, read_condition
from bellcrank.run.prepare import Trip
from bellcrank.run.result import Run
from bellcrank.run.stepping import Stepper

if TYPE_CHECKING:
    from bellcrank.api.equations import Equations


def watch_for(
    equations: Equations, events: Mapping[str, Any] | None, stop: Any, parameters: Mapping[str, float] | None
) -> Watch:
    """The events to look for; conditions may use channels and parameters, in user units."""
    program, quantities = equations.program, equations.quantities
    events = mapping(events, "events")
    if not isinstance(stop, str | Iterable):
        raise ModelError(f"stop={stop!r} must name events", equations.name)
    stop = {stop} if isinstance(stop, str) else {str(s) for s in stop}
    for name in stop:
        if name not in events:
            raise ModelError(f"stop={name!r}: no event has that name.{did_you_mean(name, events)}", equations.name)
    columns = {"t": (0, 1.0)}
    states = (*program.coordinates, *program.speeds)
    columns.update({s.name: (i, quantities.states[s.name].factor) for i, s in enumerate(states, 1)})
    names = program.output_names
    columns.update({n: (i, quantities.output_unit[n].factor) for i, n in enumerate(names, 1 + len(states))})
    for i, s in enumerate(program.inputs, 1 + len(states) + len(names)):
        if s.kind == "variable":
            columns.setdefault(s.name, (i, quantities.unit[s.name.lower()].factor))
    records = equations.analysis.mechanism.description.parameters.values()
    values = {r.name: float(r.value) for r in records if r.value is not None}
    values.update({str(k): float(v) for k, v in (parameters or {}).items()})
    conditions = {n: read_condition(c, columns, values, n) for n, c in events.items()}
    return Watch(conditions, sorted(stop), [n for n, c in events.items() if is_strict(c)])


def how_ended(
    equations: Equations,
    externals: Sequence[Any],
    trip: Trip,
    watch: Watch,
    p: list[float],
    signals: Sequence[Input],
) -> str:
    """The sentence that says how a run ended."""
    if watch.stopped is not None:
        return f"stopped by event '{watch.stopped.name}' at t = {watch.stopped.time:.6g} s"
    run, h = trip.run, trip.h
    if run.status == FINISHED:
        return "finished"
    t = run.time
    if run.status == NOT_CLOSED:
        return f"stopped at t = {t:g} s: {run.problem}. A position where the constraints lock? Else try a smaller step"
    program = equations.program
    states = (*program.coordinates, *program.speeds)
    bad = [s.name for s, v in zip(states, run.bad, strict=True) if not np.isfinite(v)]
    numbers = {s.name: float(v) for s, v in zip(states, run.state, strict=True)}
    given = _given(equations, t, p, signals)
    told = (b.joint.left(b.name, numbers, h, given) for b in equations.analysis.mechanism.bodies)
    if gone := next(filter(None, told), ""):
        return f"stopped at t = {t:g} s: {gone}"
    if run.problem:
        what = f"the rates of the states cannot be evaluated any more ({run.problem})"
    else:
        listed = ", ".join(bad[:4]) + (f" and {len(bad) - 4} more" if len(bad) > 4 else "")
        what = f"{listed} {'is no longer a finite number' if len(bad) == 1 else 'are no longer finite numbers'}"
    return "; ".join(
        x
        for x in (
            f"stopped at t = {t:g} s: {what}",
            _likely(equations, externals, run, t, h, p, signals),
            "try a smaller step",
        )
        if x
    )


def _given(equations: Equations, t: float, p: Sequence[float], signals: Sequence[Input]) -> dict[str, float]:
    """Parameters, inputs and time by name, in equation units."""
    program = equations.program
    values = dict(zip((s.name for s in program.parameters), p, strict=True)) | {"t": t}
    for s, signal in zip(program.inputs, signals, strict=False):
        try:
            values[s.name] = signal.function(t)
        except RunError:
            continue
    return values


def _likely(
    equations: Equations,
    externals: Sequence[Any],
    run: Stepper,
    t: float,
    h: float,
    p: list[float],
    signals: Sequence[Input],
) -> str:
    program = equations.program
    n_q = len(program.coordinates)
    before = max(t - h, 0.0)
    values = dict(zip((s.name for s in program.parameters), p, strict=True))
    user = {r.name: f for r, f in zip(program.routines, externals, strict=True) if f is not None}
    loads = equations.analysis.loads
    kept = run.kept[:-1].tolist() if isinstance(run, CRun) else []
    state = run.state[:n_q].tolist(), run.state[n_q:].tolist()
    found = ""
    after = t + 1e-9 * max(t, h) if isinstance(run, AdaptiveRun) else t  # where its steps became too small
    for time in (before, (before + t) / 2, t, after):  # what breaks may do so within the step
        try:
            w = [*(i.function(time) for i in signals), *kept]
        except RunError:
            break
        at = Moment(program, time, *state, values, w, user)
        if broken := broken_term(at):
            return broken
        found = found or likely_term(at, loads)
    return found


def left_tables(run: Run, equations: Equations) -> list[str]:
    """Linkages whose tables were extended because the run left them."""

    def history(s: str) -> np.ndarray:
        return np.asarray(equations.quantities.states[s].to_equation(run[s]))

    return [told for b in equations.analysis.mechanism.bodies for told in b.joint.passed(b.name, history)]


def not_finite(run: Run, outputs: Sequence[str]) -> list[str]:
    """A sentence for each output that has no value somewhere."""
    found = []
    for name in outputs:
        bad = np.flatnonzero(~np.isfinite(run[name]))
        if len(bad):
            times = f"t = {run.time[bad[0]]:.6g} s" + (f" and {len(bad) - 1} more times" if len(bad) > 1 else "")
            found.append(f"output '{name}' is no finite number at {times}: {run[name][bad[0]]}")
    return found


def as_run(equations: Equations, rows: np.ndarray, ended: str, watch: Watch, settings: dict[str, Any]) -> Run:
    """Rows of time, states and outputs as a result in user units."""
    program, quantities = equations.program, equations.quantities
    channels: dict[str, np.ndarray] = {}
    units: dict[str, str] = {}
    labels: dict[str, str] = {}
    states = (*program.coordinates, *program.speeds)
    if rows.shape[1] < 2:  # not even the first row could be evaluated
        rows = np.empty((0, 1 + len(states) + len(program.output_names) + len(program.inputs)))
    for i, s in enumerate(states, 1):
        unit = quantities.states[s.name]
        channels[s.name] = np.asarray(unit.from_equation(rows[:, i]))
        units[s.name], labels[s.name] = unit.text, quantities.state_label.get(s.name, s.name)
    by_name = {o.name: o for o in equations.analysis.outputs}
    for i, name in enumerate(program.output_names, 1 + len(states)):
        unit = quantities.output_unit[name]
        channels[name] = np.asarray(unit.from_equation(rows[:, i]))
        units[name], labels[name] = unit.text, by_name[name].label
    for i, s in enumerate(program.inputs, 1 + len(states) + len(program.output_names)):
        if s.kind == "variable" and s.name not in channels:
            unit = quantities.unit[s.name.lower()]
            channels[s.name] = np.asarray(unit.from_equation(rows[:, i]))
            units[s.name], labels[s.name] = unit.text, quantities.label.get(s.name.lower()) or s.name
    bodies = {s.name: b.name for b in equations.analysis.mechanism.bodies for s in (*b.coordinates, *b.speeds)}
    bodies |= {name: by_name[name].body or "" for name in program.output_names}
    bodies = {name: bodies.get(name, "") for name in channels}
    generic = {name: quantities.generic.get(name, "") for name in channels}
    time = rows[:, 0].copy()
    return Run(equations.name, time, channels, units, labels, ended, list(watch.events), settings, generic, bodies)
