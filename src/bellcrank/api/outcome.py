"""What a run is watched for, how it ended in a sentence, and its rows as channels in user units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bellcrank.build.c import NOT_CLOSED, Input
from bellcrank.errors import ModelError, RunError, did_you_mean
from bellcrank.run.diagnose import left_range, likely_term
from bellcrank.run.result import Run
from bellcrank.run.stepping import Stepper
from bellcrank.run.watch import Watch, read_condition

if TYPE_CHECKING:
    from bellcrank.api.equations import Equations


def watch_for(
    equations: Equations, events: Mapping[str, Any], stop: set[str], parameters: Mapping[str, float] | None
) -> Watch:
    """The events to look for; conditions may use channels and parameters, in user units."""
    program, quantities = equations.program, equations.quantities
    for name in stop:
        if name not in events:
            raise ModelError(f"stop={name!r}: no event has that name.{did_you_mean(name, events)}", equations.name)
    columns = {"t": (0, 1.0)}
    states = (*program.coordinates, *program.speeds)
    columns.update({s.name: (i, quantities.states[s.name].factor) for i, s in enumerate(states, 1)})
    names = program.output_names
    columns.update({n: (i, quantities.output_unit[n].factor) for i, n in enumerate(names, 1 + len(states))})
    records = equations.analysis.mechanism.description.parameters.values()
    values = {r.name: float(r.value) for r in records if r.value is not None}
    values.update({str(k): float(v) for k, v in (parameters or {}).items()})
    return Watch({n: read_condition(c, columns, values, n) for n, c in events.items()}, sorted(stop))


def how_ended(
    equations: Equations,
    externals: Sequence[Any],
    run: Stepper,
    watch: Watch,
    h: float,
    p: list[float],
    signals: Sequence[Input],
) -> str:
    """The sentence that says how a run ended."""
    if watch.stopped is not None:
        return f"stopped by event '{watch.stopped.name}' at t = {watch.stopped.time:.6g} s"
    if run.status == 0:
        return "finished"
    t = run.reached * h
    program = equations.program
    states = (*program.coordinates, *program.speeds)
    bad = [s.name for s, v in zip(states, run.bad, strict=True) if not np.isfinite(v)]
    problem = getattr(run, "problem", "")
    numbers = {s.name: float(v) for s, v in zip(states, run.state, strict=True)}
    if gone := left_range(equations.analysis.mechanism.bodies, numbers, h):
        return f"stopped at t = {t:g} s: {gone}"
    if run.status == NOT_CLOSED:
        return f"stopped at t = {t:g} s: {problem}. A position where the constraints lock? Else try a smaller step"
    if problem:
        what = f"the rates of the states cannot be evaluated any more ({problem})"
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
    try:
        w = [i.function(before) for i in signals]
    except RunError:
        return ""
    values = dict(zip((s.name for s in program.parameters), p, strict=True))
    user = {r.name: f for r, f in zip(program.routines, externals, strict=True) if f is not None}
    loads = equations.analysis.loads
    return likely_term(program, loads, before, run.state[:n_q].tolist(), run.state[n_q:].tolist(), values, w, user)


def as_run(equations: Equations, rows: np.ndarray, ended: str, watch: Watch, settings: dict[str, Any]) -> Run:
    """Rows of time, states and outputs as a result in user units."""
    program, quantities = equations.program, equations.quantities
    channels: dict[str, np.ndarray] = {}
    units: dict[str, str] = {}
    labels: dict[str, str] = {}
    states = (*program.coordinates, *program.speeds)
    if rows.shape[1] < 2:  # not even the first row could be evaluated
        rows = np.empty((0, 1 + len(states) + len(program.output_names)))
    for i, s in enumerate(states, 1):
        unit = quantities.states[s.name]
        channels[s.name] = np.asarray(unit.from_equation(rows[:, i]))
        units[s.name], labels[s.name] = unit.text, quantities.state_label.get(s.name, s.name)
    by_name = {o.name: o for o in equations.analysis.outputs}
    for i, name in enumerate(program.output_names, 1 + len(states)):
        unit = quantities.output_unit[name]
        channels[name] = np.asarray(unit.from_equation(rows[:, i]))
        units[name], labels[name] = unit.text, by_name[name].label
    return Run(equations.name, rows[:, 0].copy(), channels, units, labels, ended, list(watch.events), settings)
