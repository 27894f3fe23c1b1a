"""What a run is asked to do: times, method, tolerances, values, inputs, events; and what it hands
to the next."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np

from bellcrank.core.numeric.tuning import CONTROL, PLANS, STEPS

(
    FINISHED,
    NOT_FINITE,
    EXTERNAL_FAILED,
    INPUT_FAILED,
    NOT_CLOSED,
    AT_REST,
    STEP_TOO_SMALL,
    TOO_MANY_STEPS,
) = range(8)
DAE_METHODS = ("projection", "dlmm", "clmm", "baumgarte", "stabilised", "post", "half-explicit")
Weights = tuple[np.ndarray, np.ndarray]
# t, q, u, p, c, w: time, coordinates, speeds, parameters, constants that follow from them, inputs;
# all in equation units
At = tuple[
    float, Sequence[float], Sequence[float], Sequence[float], Sequence[float], Sequence[float]
]


@dataclass(frozen=True)
class ProgramInput:
    """One input of a program over time, in equation units.

    `function` gives its value. Where C knows the signal too, `kind` and `coefficients` (or `points`
    and cubic `pieces`, in contiguous arrays) describe it, in user units: the value, differentiated
    `derivative` times, is scale * signal.
    """

    function: Callable[[float], float]
    kind: str = "function"
    coefficients: tuple[float, ...] = ()
    points: np.ndarray | None = None
    pieces: np.ndarray | None = None
    derivative: int = 0
    scale: float = 1.0
    breaks: tuple[float, ...] = ()  # times of jumps and kinks


@dataclass(frozen=True)
class EventData:
    """Events of a run as the kernel reads them (`kernel/events.h`): what is watched, what is set,
    steps of formulas, and values of parameters in user units. `moves_first`: the states that closed
    loops move first where an event sets others.

    `apply_parameters` takes changed values into a run, and raises what is wrong with them;
    `swap_user_memory` marks the internal states of routines in Python and brings them back;
    `project_state` closes loops after an event, where the kernel does not. `step`, `run_length` and
    `end_time`: of the run, s; does it continue another one?
    """

    conditions: Sequence[tuple[int, ...]]
    settings: Sequence[tuple[int | float, ...]]
    formula_steps: Sequence[tuple[int | float, ...]]
    moves_first: Sequence[bool]
    values: Sequence[float]
    apply_parameters: Callable[[Any, list[float]], None]
    swap_user_memory: Callable[[int], None] | None
    project_state: Callable[[int, np.ndarray], np.ndarray] | None
    step: float
    run_length: float
    end_time: float
    continues_run: bool = False


@dataclass(frozen=True, eq=False)
class RunSpec:
    """A run as it is asked for: times and step in s, every n-th step recorded and the last; values
    in equation units.

    Steps count from `t_start`; the last one ends at `t_end` and may be shorter. A run that
    continues another has its
    `first_step` steps behind it and may begin `mid_step_time` the next, at that time. At `breaks`,
    times in order at which inputs jump or have a kink, steps are split; those nearer than a
    billionth of a step to its end lie at it.

    Adaptive methods have output `output_time_grid`, `tolerances` (`simulation.run.tolerances`) and
    the `max_steps` steps that they may take; the breaks of those are the ends of what is integrated
    in one go. `stiffness_check`: 1, note whether a fast mode holds the steps; 2, and pause there.

    With loops: `weights` of coordinates and speeds, the metric in which they are closed; are they
    at every stage (`closes_every_stage`)? `dae`: another method that keeps constraints. With rigid
    `wheels`, by name: `wheel_callback` gets name and time of what they do. `events`: what the run
    is watched for (`simulation.backend.event_monitor`).
    """

    t_end: float
    step: float
    method: str
    output_every: int = 1
    t_start: float = 0.0
    first_step: int = 0
    mid_step_time: float | None = None
    breaks: tuple[float, ...] = ()
    state: Sequence[float] | np.ndarray = ()
    p: Sequence[float] = ()
    c: Sequence[float] = ()
    inputs: Sequence[ProgramInput] = ()
    weights: Weights | None = None
    closes_every_stage: bool = False
    dae: Any = None
    wheels: Sequence[str] = ()
    wheel_callback: Callable[[str, float], None] | None = None
    events: Any = None
    output_time_grid: np.ndarray | None = None
    tolerances: Any = None
    max_steps: int = 0
    stiffness_check: int = 0

    @property
    def begin_time(self) -> float:
        """The time from which the run goes."""
        return (
            self.t_start + self.first_step * self.step
            if self.mid_step_time is None
            else self.mid_step_time
        )

    @cached_property
    def n_steps(self) -> int:
        """How many there are; of adaptive methods: those from one output time to the next."""
        if self.output_time_grid is not None:
            return len(self.output_time_grid) - 1
        span = self.t_end - self.t_start
        n = span / self.step
        return round(n) if abs(round(n) * self.step - span) < PLANS.at_end * span else math.ceil(n)

    def step_breaks(self, inputs: Sequence[ProgramInput]) -> tuple[float, ...]:
        """Times in order at which steps are to be split. An input with more kinks than steps is
        taken as smooth."""
        if not any([i.breaks for i in inputs]):
            return ()
        split_times: set[float] = set()
        for i in inputs:
            inner = [b for b in i.breaks if self.t_start < b <= self.t_end + STEPS.gap * self.step]
            if len(inner) <= self.n_steps:
                split_times.update(inner)
        return tuple(sorted(split_times))

    def output_times(self) -> np.ndarray:
        """All from where the run begins, of an adaptive method."""
        span = (self.t_end - self.t_start) * (1 - PLANS.at_end)
        times = np.append(
            self.t_start + np.arange(0.0, span, self.step * self.output_every), self.t_end
        )
        tail = times[times > self.begin_time + STEPS.gap * self.step]
        return (
            np.array([self.begin_time, *tail])
            if len(tail)
            else np.array([self.begin_time, self.t_end])
        )

    def step_end(self, i: int) -> float:
        """The end of step i."""
        return (
            self.t_end
            if i == self.n_steps and self.t_end > self.t_start
            else self.t_start + i * self.step
        )

    def step_start(self, i: int) -> float:
        """The beginning of step i."""
        if i == self.first_step + 1 and self.mid_step_time is not None:
            return self.mid_step_time
        return self.t_start + (i - 1) * self.step

    def step_segments(self, i: int) -> Iterator[StepSegment]:
        """Step i in the parts it is taken in, as in `run.c`."""
        h, gap, full_end = self.step, STEPS.gap * self.step, self.t_start + i * self.step
        t, end = self.step_start(i), self.step_end(i)
        if abs(end - full_end) <= gap:
            end = full_end  # as in a run that continues from here
        first = bisect_right(self.breaks, t + gap)
        inner = list(self.breaks[first : bisect_right(self.breaks, end + gap)])
        if not inner and end == full_end and abs(t - (self.t_start + (i - 1) * h)) <= gap:
            yield StepSegment(h, t, self.t_start + (i - 0.5) * h, end, end, end, whole=True)
            return
        while t < end:
            t_next = t_before = t_after = end
            if inner:
                first_break = last = inner.pop(0)
                while inner and inner[0] <= last + gap:
                    last = inner.pop(0)
                t_next = first_break if first_break < end - gap else end
                t_before, t_after = (
                    math.nextafter(min(first_break, t_next), -math.inf),
                    max(last, t_next),
                )
            yield StepSegment(
                t_next - t, t, 0.5 * (t + t_next), t_next, t_before, t_after, t_next >= end
            )
            t = t_next

    def input_time(self, i: int) -> float:
        """The time at which inputs are read at the beginning of step i: after all jumps there."""
        t, gap = self.step_start(i), STEPS.gap * self.step
        return max(
            [
                t,
                *self.breaks[
                    bisect_left(self.breaks, t - gap) : bisect_right(self.breaks, t + gap)
                ],
            ]
        )


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """What a run hands to one that continues it, and `save` to `restore`: values of routines that
    hold, memories of those in C, the metric of loops. `integrator_state`: the internal values of
    what takes the steps, for a run that continues as if there had been no end; None if the state or
    anything else was changed in between, so that derivatives are to be found again.

    Below: what a session adds. `spec`: of a run that continues from there; `row`: the last one;
    values in equation units, but for `parameters` and `inputs`, which are as a user gave them.
    """

    sampled_values: np.ndarray
    memory: np.ndarray
    weights: Weights | None = None
    integrator_state: Mapping[str, Any] | None = None
    source: str = ""  # of the program
    spec: Any = None
    dae: Any = None
    tolerances: Any = None
    row: Any = ()
    state: Any = ()
    p: tuple[float, ...] = ()
    parameters: Mapping[str, float] = field(default_factory=dict)
    inputs: Mapping[str, Any] = field(default_factory=dict)
    user_memories: tuple[np.ndarray, ...] = ()  # of user functions in Python
    events: Any = None  # what events have done, of a run taken step by step
    event_states: Any = None  # how their conditions stand (`simulation.backend.event_monitor`)


class StepSegment(NamedTuple):
    """A step, or a part of one, of length h from t to end. Inputs are read `before` a jump at its
    end, and `after` it for what follows."""

    h: float
    t: float
    middle: float
    end: float
    before: float
    after: float
    last: bool = True  # of its step
    whole: bool = False  # is it all of a step that has the full length?


Record = TypeVar("Record", RunSpec, Checkpoint)


def fast_replace(record: Record, **fields: Any) -> Record:
    """As `dataclasses.replace`, at a fraction of its cost."""
    new = object.__new__(type(record))
    attributes = new.__dict__
    attributes.update(record.__dict__)
    if not fields.keys() <= attributes.keys():
        raise TypeError(
            f"{type(record).__name__} has no field {', '.join(fields.keys() - attributes.keys())}"
        )
    attributes.update(fields)
    attributes.pop("n_steps", None)  # found again when it is asked for
    return new


def segment_ends(breaks: Iterable[float], times: np.ndarray) -> tuple[float, ...]:
    """Where an adaptive method must end a step; breaks that nearly coincide are one, the later."""
    t_start, t_end = float(times[0]), float(times[-1])
    gap = CONTROL.near_breaks * max(t_end - t_start, abs(t_start), abs(t_end))
    end_times = [*(b for b in sorted(breaks) if t_start + gap < b < t_end - gap), t_end]
    return (*(b for b, following in pairwise(end_times) if following - b > gap), t_end)


def loop_open_message(row: str, correction: float, residual: float) -> str:
    """What ends a run whose loops had to be moved too far to stay closed."""
    residual_text = f", and a residual of {residual:.2g} is left" if residual > 1e-9 else ""
    return (
        f"the loop '{row}' cannot be kept closed: a correction of {correction:.2g} was "
        f"needed{residual_text}"
    )
