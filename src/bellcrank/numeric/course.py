"""What programs are called with: a time and state with parameters, and the course of a run."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .tuning import STEPS

# t, q, u, p, c, w: time, coordinates, speeds, parameters, constants that follow from them, inputs; all in equation
# units
At = tuple[float, Sequence[float], Sequence[float], Sequence[float], Sequence[float], Sequence[float]]


class Course(NamedTuple):
    """`total` steps of one length (s) with a fixed-step method; every n-th is recorded, and the last of all.

    Steps count from `t_start`. The last one ends at `t_end` (`t_start`: after all steps), so it may be shorter. At
    `breaks`, times in order at which inputs jump or have a kink, steps are split; those nearer than a billionth of a
    step to its end lie at it. A run that goes on has its `first` steps behind it and may begin within the next, at
    the time `begins`.
    """

    method: str
    step: float
    total: int
    every: int = 1
    t_end: float = 0.0
    breaks: tuple[float, ...] = ()
    t_start: float = 0.0
    first: int = 0
    begins: float | None = None

    def time(self, i: int) -> float:
        """The end of step i."""
        return self.t_end if i == self.total and self.t_end > self.t_start else self.t_start + i * self.step

    def start(self, i: int) -> float:
        """The beginning of step i."""
        if i == self.first + 1 and self.begins is not None:
            return self.begins
        return self.t_start + (i - 1) * self.step

    def parts(self, i: int, until: float = math.inf) -> Iterator[Part]:
        """Step i in the parts it is taken in, as in `run.c`; the last one ends at `until` if that lies within."""
        h, near, whole = self.step, STEPS.gap * self.step, self.t_start + i * self.step
        t, end = self.start(i), self.time(i)
        if abs(end - whole) <= near:
            end = whole  # as in a run that goes on from here
        end = min(end, until)
        first = bisect_right(self.breaks, t + near)
        inner = list(self.breaks[first : bisect_right(self.breaks, end + near)])
        if not inner and end == whole and abs(t - (self.t_start + (i - 1) * h)) <= near:
            yield Part(h, t, self.t_start + (i - 0.5) * h, end, end, end, whole=True)
            return
        while t < end:
            to = before = after = end
            if inner:
                at = last = inner.pop(0)
                while inner and inner[0] <= last + near:
                    last = inner.pop(0)
                to = at if at < end - near else end
                before, after = math.nextafter(min(at, to), -math.inf), max(last, to)
            yield Part(to - t, t, 0.5 * (t + to), to, before, after, to >= end)
            t = to

    def begin(self, i: int) -> float:
        """The time at which inputs are read at the beginning of step i: after all jumps there."""
        t, near = self.start(i), STEPS.gap * self.step
        return max([t, *self.breaks[bisect_left(self.breaks, t - near) : bisect_right(self.breaks, t + near)]])


class Part(NamedTuple):
    """A step, or a part of one, of length h from t to end. Inputs are read `before` a jump at its end, and `after` it
    for what follows."""

    h: float
    t: float
    middle: float
    end: float
    before: float
    after: float
    last: bool = True  # of its step
    whole: bool = False  # is it all of a step that has the full length?
