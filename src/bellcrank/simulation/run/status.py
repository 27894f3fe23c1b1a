"""How a run ended."""

from __future__ import annotations

from enum import Enum

from bellcrank.core.numeric import run_spec


class RunStatus(Enum):
    """How a run ended, `run.status`. The value is a description; `run.message` has time
    and cause.

    Examples
    --------
    >>> import bellcrank as bc
    >>> bc.RunStatus.FINISHED.value, bc.RunStatus.FINISHED.ok
    ('finished', True)
    """

    FINISHED = "finished"
    STOPPED_BY_EVENT = "stopped by an event"
    NOT_FINITE = "a state or its rate is no longer a finite number"
    ROUTINE_FAILED = "a user function failed"
    INPUT_FAILED = "an input has no value"
    NOT_CLOSED = "a closed loop cannot be kept closed"
    AT_REST = "the way on from a singular configuration is not determined"
    STEP_TOO_SMALL = "the step became too small"
    TOO_MANY_STEPS = "more steps were needed than allowed"
    INTERRUPTED = "interrupted"
    ACTION_FAILED = "the action of an event cannot be taken"
    RUNNING = "it can continue"  # of a stepper
    UNKNOWN = "not known"  # of a file that does not say

    @property
    def ok(self) -> bool:
        """Did the run end as it was asked to?"""
        return self in (RunStatus.FINISHED, RunStatus.STOPPED_BY_EVENT)


OF_CODE = {
    run_spec.FINISHED: RunStatus.FINISHED,
    run_spec.NOT_FINITE: RunStatus.NOT_FINITE,
    run_spec.EXTERNAL_FAILED: RunStatus.ROUTINE_FAILED,
    run_spec.INPUT_FAILED: RunStatus.INPUT_FAILED,
    run_spec.NOT_CLOSED: RunStatus.NOT_CLOSED,
    run_spec.AT_REST: RunStatus.AT_REST,
    run_spec.STEP_TOO_SMALL: RunStatus.STEP_TOO_SMALL,
    run_spec.TOO_MANY_STEPS: RunStatus.TOO_MANY_STEPS,
}


def parse_run_status(words: str) -> RunStatus:
    """That whose words a file has; UNKNOWN if they are none."""
    return next((x for x in RunStatus if x.value == words), RunStatus.UNKNOWN)
