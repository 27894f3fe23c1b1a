"""What a run of a program starts from, and the codes that say how it ended."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bellcrank.numeric.course import Course
from bellcrank.numeric.driven import AT_REST as AT_REST
from bellcrank.numeric.driven import EXTERNAL_FAILED as EXTERNAL_FAILED
from bellcrank.numeric.driven import FINISHED as FINISHED
from bellcrank.numeric.driven import INPUT_FAILED as INPUT_FAILED
from bellcrank.numeric.driven import NOT_CLOSED as NOT_CLOSED
from bellcrank.numeric.driven import NOT_FINITE as NOT_FINITE
from bellcrank.numeric.driven import STEP_TOO_SMALL as STEP_TOO_SMALL
from bellcrank.numeric.driven import TOO_MANY_STEPS as TOO_MANY_STEPS

DAE_METHODS = ("projection", "dlmm", "clmm", "baumgarte", "stabilised", "post", "half-explicit")
Weights = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Input:
    """One input of a program over time, in equation units.

    `function` gives its value. Where C knows the signal too, `kind` and `numbers` (or `points` and cubic `pieces`, in
    contiguous arrays) tell it, in user units: the value, differentiated `rate` times, is scale * signal.
    """

    function: Callable[[float], float]
    kind: str = "function"
    numbers: tuple[float, ...] = ()
    points: np.ndarray | None = None
    pieces: np.ndarray | None = None
    rate: int = 0
    scale: float = 1.0
    breaks: tuple[float, ...] = ()  # times of jumps and kinks


@dataclass(frozen=True)
class Carried:
    """What a run hands to one that goes on from it: values of routines that hold, memories of those in C, the metric of
    loops. `inside`: what the stepper itself had, for a run that
    goes on as if there had been no end; None if the state or anything else was changed in between, so that its rates
    are to be found again."""

    kept: np.ndarray
    memory: np.ndarray
    weights: Weights | None = None
    inside: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Pace:
    """A run whose method chooses its steps: output times, relative and absolute tolerance (of each state), sizes of
    states that count at most for the relative one, a number for the unit of each state (-1: its absolute one was
    given), and how many steps it may take. The breaks of its course are the ends of stretches, the last of them that of
    the run."""

    times: np.ndarray
    rtol: float
    atol: np.ndarray
    caps: np.ndarray
    groups: np.ndarray
    most: int
    look: int = 0  # 1: it notes whether a fast mode holds its steps; 2: and pauses there


@dataclass(frozen=True)
class EventData:
    """Events of a run as the kernel reads them (`kernel/events.h`): what is watched, what is set, steps of formulas,
    and values of parameters in user units. `follows`: the states that closed loops move first where an event sets
    others.

    `use_values` takes changed values into a run, and raises what is wrong with them; `hold` marks what routines in
    Python remember and brings it back; `close` closes loops after an event, where the kernel does not. `step`, `span`
    and `until`: of the run, s; does it go on from another one (`continued`)?
    """

    watched: Sequence[tuple[int, ...]]
    settings: Sequence[tuple[int | float, ...]]
    steps: Sequence[tuple[int | float, ...]]
    follows: Sequence[bool]
    values: Sequence[float]
    use_values: Callable[[Any, list[float]], None]
    hold: Callable[[int], None] | None
    close: Callable[[int, np.ndarray], np.ndarray] | None
    step: float
    span: float
    until: float
    continued: bool = False


class Start(NamedTuple):
    """A run that has not begun: its steps, the state, parameters, constants and inputs, all in equation units.

    With loops: `weights` of coordinates and speeds, the metric in which they are closed; are they at every stage
    (`staged`)? `dae`: another method that keeps constraints. With rigid `wheels`, by name: `tell` gets name and time of
    events. `pace`: of methods that choose their steps. `events`:
    what the run is watched for.
    """

    course: Course
    state: np.ndarray
    p: Sequence[float]
    c: Sequence[float]
    inputs: Sequence[Input]
    weights: Weights | None = None
    staged: bool = False
    dae: Any = None
    wheels: Sequence[str] = ()
    tell: Callable[[str, float], None] | None = None
    pace: Pace | None = None
    events: Any = None  # `Watching`


def not_closed(row: str, moved: float, residual: float) -> str:
    """What ends a run whose loops had to be moved too far to stay closed."""
    left = f", and a residual of {residual:.2g} is left" if residual > 1e-9 else ""
    return f"the loop {row} cannot be kept closed: a correction of {moved:.2g} was needed{left}"
