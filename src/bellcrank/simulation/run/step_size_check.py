"""Runs whose step is too large: reported in `run.ended` where they break down, as a warning where
they do not."""

from __future__ import annotations

import numpy as np

from bellcrank.core.numeric.fixed_step_methods import ADAPTIVE
from bellcrank.core.numeric.run_spec import RunSpec
from bellcrank.model.records import UserFunction
from bellcrank.simulation.run.dae_methods import DaeRunEvaluation
from bellcrank.simulation.run.failure_diagnosis import most_changed_load
from bellcrank.simulation.run.loop_closure import rates_near_singular
from bellcrank.simulation.run.outcome import failure_point
from bellcrank.simulation.run.state_jacobian import PUSH
from bellcrank.simulation.run.step_stability import (
    LARGE,
    SQUARINGS,
    first_unstable_state,
    instability_message,
    stable_norm_bound,
    unstable_mode_of_matrix,
)
from bellcrank.simulation.run.stepping import NO_VALUE, RunEvaluation

VIOLATED = 0.1  # fraction of the lengths in constraints, past which a run is in doubt
MOST_STATES = {"c": 150, "python": 30}  # of a model that is looked at


def step_size_message(
    spec: RunSpec, evaluation: RunEvaluation, rows: np.ndarray, is_complete: bool = False
) -> str:
    """Return a message if a fixed step is too large at the start, in between, or where speeds
    change most; else "".

    `is_complete`: all states are finite, as in a run that came to its end.
    """
    loaded = evaluation.context.loaded
    n_q, n_s = evaluation.n_q, evaluation.n_states
    # routines that remember, or are given in Python alone, may count their calls: they are not
    # called for this
    has_stateful = any(
        isinstance(r, UserFunction) and (r.memory or not r.known_in("c"))
        for r in loaded.program.routines
    )
    is_small = 0 < n_s <= MOST_STATES[evaluation.model.name]
    if spec.method in ADAPTIVE or has_stateful or not is_small or rows.ndim != 2 or not len(rows):
        return ""
    states, times = rows[:, 1 : 1 + n_s], rows[:, 0]
    if isinstance(evaluation, DaeRunEvaluation) and (
        message := _constraint_step_message(spec, evaluation, rows)
    ):
        return message
    try:
        if is_complete and _run_is_stable(evaluation, spec, rows):
            return ""
        finite_states = states if is_complete else states[np.isfinite(states).all(axis=1)]
        if not len(finite_states):
            return ""
        indices = _probe_rows(finite_states, n_q)
        if not is_complete and _states_are_stable(
            evaluation, spec, times[indices], finite_states[indices]
        ):
            return ""
        bound = evaluation.bound_rhs
        if (
            loaded.program.loops is not None
        ):  # near singular configurations a run takes other equations
            near_singular = _singular_mask(evaluation, times[indices], finite_states[indices])
            indices = [
                i for i, singular in zip(indices, near_singular, strict=True) if not singular
            ]
            if any(near_singular) and _states_are_stable(
                evaluation, spec, times[indices], finite_states[indices]
            ):
                return ""
        alarm_and_state, state_indices = None, loaded.rate_state_indices
        for group in filter(None, [indices] if bound is not None else [[i] for i in indices]):
            two_sided = np.array(
                [i == 0 or n_s <= LARGE for i in group]
            )  # a start may have been put on a kink
            samples = times[group], finite_states[group]
            alarm_and_state = alarm_and_state or first_unstable_state(
                evaluation.batch_rates,
                *samples,
                spec.step,
                spec.n_steps,
                spec.method,
                n_q,
                state_indices,
                two_sided,
            )
    except (*NO_VALUE, np.linalg.LinAlgError):
        return ""
    if alarm_and_state is None:
        return ""
    alarm, y = alarm_and_state

    def culprit(mode: np.ndarray, t: float) -> str:
        return most_changed_load(failure_point(evaluation, t, y), loaded.analysis.loads, mode)

    return instability_message(alarm, spec.step, spec.method, culprit)


def _constraint_step_message(spec: RunSpec, e: DaeRunEvaluation, rows: np.ndarray) -> str:
    """The same for what a method for constraints does by itself: its feedback, and violations that
    it lets grow."""
    dae, loops = e.dae, e.model.program.loops
    alarm = unstable_mode_of_matrix(
        dae.feedback, float(rows[0, 0]), spec.step, spec.n_steps, spec.method, 1
    )
    if alarm is not None:
        return instability_message(
            alarm, spec.step, spec.method, lambda *_: f"of dae={dae.method!r} itself"
        )
    if loops is None or dae.base != "index-1":
        return ""
    for i in [0, *_probe_rows(rows[:, 1 : 1 + e.n_states], e.n_q)]:
        t, y = float(rows[i, 0]), rows[i, 1 : 1 + e.n_states]
        g = (
            np.array(
                e.model.values("closure", *e.program_arguments(t, y))[: loops.paired_row_count]
            )
            * loops.scales.rows[: loops.paired_row_count]
        )
        if (violation := float(np.abs(g).max(initial=0.0))) > VIOLATED:
            if not i:  # the start was given so
                return ""
            return (
                f"the step of {spec.step:g} s is too large for dae={dae.method!r}: at t = "
                f"{t:g} s constraints of "
                f"positions are violated by {violation:.2g} of the lengths in them"
            )
    return ""


def _probe_rows(states: np.ndarray, n_q: int) -> list[int]:
    """Rows at the start, after each third, and on both sides of the three largest changes of
    speeds."""
    speeds = np.ascontiguousarray(
        states.T[n_q:]
    )  # long rows are found through sooner than short ones
    jolts = np.abs(speeds[:, 1:] - speeds[:, :-1]).max(axis=0, initial=0.0)
    hardest = (
        np.argpartition(jolts, -3)[-3:].tolist() if len(jolts) > 3 else list(range(len(jolts)))
    )
    hardest = _drop_adjacent(hardest, jolts) if states.shape[1] > LARGE else hardest
    last = len(states) - 1
    return sorted({0, last // 3, 2 * last // 3, *hardest, *(i + 1 for i in hardest)})


def _drop_adjacent(rows: list[int], jolts: np.ndarray) -> list[int]:
    """Rows without those next to a harder one: a jolt that lasts is looked at once."""
    separated: list[int] = []
    for i in sorted(rows, key=lambda i: -jolts[i]):
        if all(abs(i - row) > 1 for row in separated):
            separated.append(i)
    return separated


def _run_is_stable(evaluation: RunEvaluation, spec: RunSpec, rows: np.ndarray) -> bool:
    """Are motions of a whole run surely slow against the step? That is soon reported, where rates
    are compiled."""
    bound = evaluation.bound_rhs
    if bound is None or evaluation.n_states > LARGE:
        return False
    return bound.is_stable_run(
        rows, spec.step, PUSH, SQUARINGS, stable_norm_bound(spec.n_steps, spec.method)
    )


def _states_are_stable(
    evaluation: RunEvaluation, spec: RunSpec, times: np.ndarray, states: np.ndarray
) -> bool:
    """The same for some states."""
    bound = evaluation.bound_rhs
    if bound is None or evaluation.n_states > LARGE or not len(times):
        return False
    return bound.is_stable_step(
        times, states, spec.step, PUSH, SQUARINGS, stable_norm_bound(spec.n_steps, spec.method)
    )


def _singular_mask(evaluation: RunEvaluation, times: np.ndarray, states: np.ndarray) -> list[bool]:
    if evaluation.bound_rhs is not None:
        return [bool(x) for x in evaluation.bound_rhs.near_singular_mask(times, states)]
    evaluations = (
        evaluation.program_arguments(float(t), y) for t, y in zip(times, states, strict=True)
    )
    return [
        rates_near_singular(evaluation.model, program_arguments) is not None
        for program_arguments in evaluations
    ]
