"""Runs whose step is too large: reported in `run.ended` where they break down, as a warning where they do not."""

from __future__ import annotations

import numpy as np

from bellcrank.model.records import External
from bellcrank.numeric.methods import ADAPTIVE
from bellcrank.numeric.run_spec import RunSpec
from bellcrank.run.closure import rates_near_singular
from bellcrank.run.dae_methods import DaeEvaluation
from bellcrank.run.diagnose import changes_of_loads
from bellcrank.run.jacobian import PUSH
from bellcrank.run.outcome import moment
from bellcrank.run.stability import LARGE, SQUARINGS, alarm_of, calm_below, sentence, too_large
from bellcrank.run.stepping import NO_VALUE, Evaluation

VIOLATED = 0.1  # fraction of the lengths in constraints, past which a run is in doubt
MOST_STATES = {"c": 150, "python": 30}  # of a model that is looked at


def step_too_large(spec: RunSpec, evaluation: Evaluation, rows: np.ndarray, is_complete: bool = False) -> str:
    """Return a message if a fixed step is too large at the start, in between, or where speeds change most; else "".

    `is_complete`: all states are finite, as in a run that came to its end.
    """
    loaded = evaluation.context.loaded
    n_q, n_s = evaluation.n_q, evaluation.n_s
    # routines that remember, or are given in Python alone, may count their calls: they are not called for this
    has_stateful = any(isinstance(r, External) and (r.memory or not r.known_in("c")) for r in loaded.program.routines)
    is_small = 0 < n_s <= MOST_STATES[evaluation.model.name]
    if spec.method in ADAPTIVE or has_stateful or not is_small or rows.ndim != 2 or not len(rows):
        return ""
    states, times = rows[:, 1 : 1 + n_s], rows[:, 0]
    if isinstance(evaluation, DaeEvaluation) and (message := _of_method(spec, evaluation, rows)):
        return message
    try:
        if is_complete and _goes_calmly(evaluation, spec, rows):
            return ""
        finite_states = states if is_complete else states[np.isfinite(states).all(axis=1)]
        indices = _looked_at(finite_states, n_q)
        if not is_complete and _are_calm(evaluation, spec, times[indices], finite_states[indices]):
            return ""
        bound = evaluation.bound
        if loaded.program.loops is not None:  # near singular configurations a run takes other equations
            near_singular = _near_singular(evaluation, times[indices], finite_states[indices])
            indices = [i for i, singular in zip(indices, near_singular, strict=True) if not singular]
            if any(near_singular) and _are_calm(evaluation, spec, times[indices], finite_states[indices]):
                return ""
        alarm_and_state, state_indices = None, loaded.felt
        for group in filter(None, [indices] if bound is not None else [[i] for i in indices]):
            two_sided = np.array([i == 0 or n_s <= LARGE for i in group])  # a start may have been put on a kink
            samples = times[group], finite_states[group]
            alarm_and_state = alarm_and_state or too_large(
                evaluation.rates_of_all, *samples, spec.step, spec.steps, spec.method, n_q, state_indices, two_sided
            )
    except (*NO_VALUE, np.linalg.LinAlgError):
        return ""
    if alarm_and_state is None:
        return ""
    alarm, y = alarm_and_state

    def culprit(mode: np.ndarray, t: float) -> str:
        return changes_of_loads(moment(evaluation, t, y), loaded.analysis.loads, mode)

    return sentence(alarm, spec.step, spec.method, culprit)


def _of_method(spec: RunSpec, e: DaeEvaluation, rows: np.ndarray) -> str:
    """The same for what a method for constraints does by itself: its feedback, and violations that it lets grow."""
    dae, loops = e.dae, e.model.program.loops
    alarm = alarm_of(dae.feedback, float(rows[0, 0]), spec.step, spec.steps, spec.method, 1)
    if alarm is not None:
        return sentence(alarm, spec.step, spec.method, lambda *_: f"of dae={dae.method!r} itself")
    if loops is None or dae.base != "index-1":
        return ""
    for i in [0, *_looked_at(rows[:, 1 : 1 + e.n_s], e.n_q)]:
        t, y = float(rows[i, 0]), rows[i, 1 : 1 + e.n_s]
        g = np.array(e.model.values("closure", *e.at(t, y))[: loops.paired]) * loops.scales.rows[: loops.paired]
        if (violation := float(np.abs(g).max(initial=0.0))) > VIOLATED:
            if not i:  # the start was given so
                return ""
            return (
                f"the step of {spec.step:g} s is too large for dae={dae.method!r}: at t = {t:g} s constraints of "
                f"positions are violated by {violation:.2g} of the lengths in them"
            )
    return ""


def _looked_at(states: np.ndarray, n_q: int) -> list[int]:
    """Rows at the start, after each third, and on both sides of the three largest changes of speeds."""
    speeds = np.ascontiguousarray(states.T[n_q:])  # long rows are found through sooner than short ones
    jolts = np.abs(speeds[:, 1:] - speeds[:, :-1]).max(axis=0, initial=0.0)
    hardest = np.argpartition(jolts, -3)[-3:].tolist() if len(jolts) > 3 else list(range(len(jolts)))
    hardest = _apart(hardest, jolts) if states.shape[1] > LARGE else hardest
    last = len(states) - 1
    return sorted({0, last // 3, 2 * last // 3, *hardest, *(i + 1 for i in hardest)})


def _apart(rows: list[int], jolts: np.ndarray) -> list[int]:
    """Rows without those next to a harder one: a jolt that lasts is looked at once."""
    separated: list[int] = []
    for i in sorted(rows, key=lambda i: -jolts[i]):
        if all(abs(i - row) > 1 for row in separated):
            separated.append(i)
    return separated


def _goes_calmly(evaluation: Evaluation, spec: RunSpec, rows: np.ndarray) -> bool:
    """Are motions of a whole run surely slow against the step? That is soon reported, where rates are compiled."""
    bound = evaluation.bound
    if bound is None or evaluation.n_s > LARGE:
        return False
    return bound.is_calm_run(rows, spec.step, PUSH, SQUARINGS, calm_below(spec.steps, spec.method))


def _are_calm(evaluation: Evaluation, spec: RunSpec, times: np.ndarray, states: np.ndarray) -> bool:
    """The same for some states."""
    bound = evaluation.bound
    if bound is None or evaluation.n_s > LARGE or not len(times):
        return False
    return bound.is_calm(times, states, spec.step, PUSH, SQUARINGS, calm_below(spec.steps, spec.method))


def _near_singular(evaluation: Evaluation, times: np.ndarray, states: np.ndarray) -> list[bool]:
    if evaluation.bound is not None:
        return [bool(x) for x in evaluation.bound.near_singular(times, states)]
    evaluations = (evaluation.at(float(t), y) for t, y in zip(times, states, strict=True))
    return [rates_near_singular(evaluation.model, program_arguments) is not None for program_arguments in evaluations]
