"""Steps of the methods that choose them (`embedded`), over one state array; compiled models have the same in C.

A `Stretch` goes over a piece of time in which rates are smooth; where it ends, another one begins. It is called as the
solvers of SciPy are: `step`, `status`, `t`, `y`, `f`, `dense_output`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from .embedded import Embedded
from .integrate import Rates
from .tuning import CONTROL

TOO_SMALL, TOO_MANY, NOT_FINITE = "too small", "too many", "not finite"


@dataclass
class Count:
    """What the steps of a run took, and how many it may take."""

    most: int = CONTROL.most_steps
    steps: int = 0
    rejected: int = 0
    rates: int = 0
    shortest: float = math.inf
    longest: float = 0.0
    slopes: int = 0  # of stiff methods: how often slopes of the rates were found ...
    factors: int = 0  # ... and linear systems factored ...
    failures: int = 0  # ... and Newton's method did not converge
    fastest: float = 0.0  # rate of a mode that holds the steps, 1/s: the run is stiff ...
    slowed: int = 0  # ... and how many it held ...
    held: bool = False  # ... and does it now? ...
    pace: float = 0.0  # ... time that an evaluation of rates gained in these steps, s ...
    backs: int = 0  # ... and how often explicit steps were better than the stiff ones for it ...
    went_back: float = 0.0  # ... at last when
    culprit: int = 0  # the state whose error was the largest in the last step tried ...
    excess: float = 0.0  # ... against what is allowed
    bad: np.ndarray = field(default_factory=lambda: np.empty(0))  # what is not finite
    solved: int = 0  # linear systems, for Newton's method
    largest: np.ndarray | None = None  # values of the states of one unit so far

    def add(self, length: float) -> None:
        """A step that was taken."""
        self.steps += 1
        self.shortest, self.longest = min(self.shortest, length), max(self.longest, length)

    @property
    def told(self) -> dict[str, float]:
        """Figures of a run, by what they are called in its settings."""
        lengths = {"smallest_step": self.shortest, "largest_step": self.longest} if self.steps else {}
        stiff = {"jacobians": self.slopes, "factorisations": self.factors, "newton_failures": self.failures}
        found = {"steps": self.steps, "rejected": self.rejected, "rates": self.rates, **lengths}
        return {**found, **(stiff if self.slopes else {})}


class Control:
    """The head of all that choose steps from t to an end. `failed`: why it cannot go on, else ""."""

    _h: float  # of the next step

    def __init__(
        self, rates: Rates, t: float, y: np.ndarray, end: float, rtol: float, atol: float | np.ndarray, count: Count,
        caps: float | np.ndarray = math.inf, f: np.ndarray | None = None, groups: np.ndarray | None = None,
    ) -> None:  # fmt: skip
        self.t, self.y, self.end, self.count = t, np.array(y, dtype=float), end, count
        self._rtol, self._atol, self._caps, self._rates = rtol, np.asarray(atol), caps, rates
        self._groups, self._grouped = groups, np.empty(0, dtype=int) if groups is None else np.flatnonzero(groups >= 0)
        self._small = False  # are there states for which the absolute tolerance would be too large?
        if count.largest is None:
            count.largest = np.zeros(len(self.y))
        self.status, self.failed = "running", ""
        self.f = rates(t, self.y) if f is None else f

    def _size(self, x: np.ndarray, weights: np.ndarray) -> float:
        return float(np.sqrt(np.mean(np.square(x / weights)))) if len(x) else 0.0

    def _note_sizes(self, h: float = 0.0) -> None:
        """Notes how large the states of each unit were so far, with what a time makes of them."""
        largest, at = self.count.largest, self._grouped
        if largest is None or self._groups is None or not len(at):
            return
        np.maximum.at(largest, self._groups[at], np.maximum(np.abs(self.y), np.abs(h * self.f))[at])
        self._small = not bool(np.all(self._rtol * largest[self._groups[at]] >= self._usual[at]))

    @property
    def _usual(self) -> np.ndarray:
        return np.broadcast_to(self._atol, self.y.shape)

    def _absolute(self) -> np.ndarray:
        """The error that a state may have: as told, or what is usual, but not more than a small motion allows."""
        if not self._small or self.count.largest is None or self._groups is None:
            return self._atol
        found, at = np.array(self._usual, dtype=float), self._grouped
        largest = self.count.largest[self._groups[at]]
        found[at] = np.where(largest > 0, np.minimum(found[at], self._rtol * largest), found[at])
        return found

    def _weights(self, new: np.ndarray) -> np.ndarray:
        size = np.maximum(np.abs(self.y), np.abs(new))
        return np.asarray(
            self._absolute() + np.maximum(self._rtol * np.minimum(size, self._caps), CONTROL.finest * size)
        )

    def _first(self, order: int) -> float:
        """The first step, by the usual absolute tolerance; small motions show themselves there."""
        self._small = False
        h = self._first_step(order)
        self._note_sizes(CONTROL.outlook * h)
        return h

    def _first_step(self, order: int) -> float:
        """The first step (Hairer, Norsett & Wanner II.4)."""
        c, weights, longest = CONTROL, self._weights(self.y), self.end - self.t
        state, slope = self._size(self.y, weights), self._size(self.f, weights)
        vague = not (state >= c.vague and slope >= c.vague)
        guess = min(c.guess if vague else c.opening * state / slope, longest)
        change = self._rates(self.t + guess, self.y + guess * self.f) - self.f
        most = max(slope, self._size(change, weights) / guess)
        if most <= c.flat:
            found = max(c.guess, c.opening * guess)
        else:
            found = (c.opening / most) ** (1 / (order + 1)) if math.isfinite(most) else guess
        return min(c.leap_most * guess, found, longest)

    def _hindered(self, tenths: int) -> str:
        """Why no step can be tried any more, after so many tenths of one, else ""."""
        if self.count.steps + self.count.rejected >= self.count.most:
            return self._fail(TOO_MANY)
        shortest = CONTROL.shortest * abs(self.t)
        if not (
            self._h >= min(shortest, self.end - self.t) and self._h > 0
        ):  # what is left after an event may be shorter
            return self._fail(NOT_FINITE if tenths else TOO_SMALL)
        return ""

    def _fitted(self) -> tuple[float, bool]:
        """The length of the next step, and whether it is the last: no tiny one is left over at the end."""
        left = self.end - self.t
        last = CONTROL.fitted * self._h >= left
        return left if last else 0.5 * left if 2 * self._h > left else self._h, last

    def _blame(self, parts: np.ndarray) -> None:
        """Notes the state with the largest of errors, as shares of what is allowed."""
        self.count.culprit = int(np.argmax(np.abs(parts))) if len(parts) else 0
        self.count.excess = float(np.abs(parts[self.count.culprit])) if len(parts) else 0.0

    def _fail(self, why: str) -> str:
        self.status, self.failed = "failed", why
        return why


class Stretch(Control):
    """Steps of an explicit method from t to an end."""

    def __init__(
        self, method: Embedded, rates: Rates, t: float, y: np.ndarray, end: float, rtol: float,
        atol: float | np.ndarray, count: Count, first_step: float | None = None, look: bool = False,
        caps: float | np.ndarray = math.inf, f: np.ndarray | None = None, groups: np.ndarray | None = None,
    ) -> None:  # fmt: skip
        super().__init__(rates, t, y, end, rtol, atol, count, caps, f, groups)
        self.method, self._look = method, look
        self._held = self._free = 0
        self._gained = 0.0  # length of the steps that were held
        self._stage = self.y
        self._rows = [np.array(row) for row in method.rows]
        self._k = np.empty((len(method.rows), len(self.y)))
        self._memory, self._rejected = CONTROL.calm, False
        self._h = self._first(method.order) if first_step is None else first_step
        self._last: tuple[float, float, np.ndarray, np.ndarray] = (t, 0.0, self.y, self.y)

    def step(self) -> str:
        """One step that is accepted; "" or, if there is none, why."""
        c, m, count = CONTROL, self.method, self.count
        tenths = 0
        while True:
            if hindered := self._hindered(tenths):
                return hindered
            h, last = self._fitted()
            new, error, parts = self._tried(h)
            self._blame(parts)
            if error <= 1 and np.all(np.isfinite(new)):
                break
            count.rejected += 1
            self._rejected = True
            if np.isfinite(error):
                tenths = 0
                self._h = h * max(c.shrink, c.safety * error ** (-1 / m.exponent))
            else:
                count.bad = new + parts
                tenths += 1
                self._h = h * c.tenth if tenths <= c.tenths else 0.0
        factor = c.safety * max(error, c.smooth) ** (0.75 * m.damping - 1 / m.exponent) * self._memory**m.damping
        self._h = h * min(1.0 if self._rejected else m.growth, max(c.shrink, factor))
        self._memory, self._rejected = max(error, c.calm), False
        if self._look and m.same_as_last:
            self._look_for_stiffness(h, new)
        self._last = self.t, h, self.y, new
        self.t, self.y = self.end if last else self.t + h, new
        if self._small:
            self._note_sizes()
        if m.same_as_last:
            self.f = self._k[m.result].copy()
        else:
            self.f = self._k[m.result] = self._rates(self.t, new)
            if self._look:
                self._look_for_stiffness(h, new)
        count.add(h)
        self.status = "finished" if last else "running"
        return ""

    def _look_for_stiffness(self, h: float, new: np.ndarray) -> None:
        """Is the step held by a fast mode? Its rate follows from two stages at the end of the step."""
        c, m, weights = CONTROL, self.method, self._weights(new)
        size = self._size(new - self._stage, weights)
        rate = self._size(self._k[m.result] - self._k[m.result - 1], weights) / size if size > 0 else 0.0
        if h * rate > m.held:
            self._gained = self._gained + h if self._held else h
            self._free, self._held = 0, self._held + 1
            self.count.slowed += 1
            if self._held >= c.stiff_steps << min(self.count.backs, c.trials) and not self.count.held:
                self.count.held, self.count.fastest = True, rate
                self.count.pace = self._gained / (self._held * m.result)
        else:
            self._free += 1
            self._held = 0 if self._free == c.free_steps else self._held

    def _tried(self, h: float) -> tuple[np.ndarray, float, np.ndarray]:
        """The state after a step, its error against the tolerance, and that of each state."""
        m, k, y = self.method, self._k, self.y
        k[0] = self.f
        new = y
        for i in range(1, m.result + 1):
            new = y + h * (self._rows[i] @ k[:i])
            if i == m.result - 1:
                self._stage = new
            if i < len(m.error):
                k[i] = self._rates(self.t + m.nodes[i] * h, new)
        weights = self._weights(new)
        parts = h * (np.array(m.error) @ k[: len(m.error)]) / weights
        error = self._size(parts, np.ones_like(parts))
        if m.second:
            other = self._size(h * (np.array(m.second) @ k[: len(m.second)]), weights)
            both = math.sqrt(error * error + CONTROL.lower * other * other)
            error = error * error / both if both != 0 else 0.0
        return new, error, parts

    def dense_output(self) -> Callable[[float], np.ndarray]:
        """States within the last step."""
        t, h, y, new = self._last
        m, k = self.method, self._k.copy()
        found: list[np.ndarray] = []

        def at(time: float) -> np.ndarray:
            if not found:
                for i in range(m.result + 1, len(m.rows)):
                    k[i] = self._rates(t + m.nodes[i] * h, y + h * (self._rows[i] @ k[:i]))
                rise = new - y
                found.extend([rise, h * k[0] - rise, 2 * rise - h * (k[m.result] + k[0])])
                found.extend(h * (np.array(row) @ k[: len(row)]) for row in m.dense)
            x = (time - t) / h
            total = found[-1]
            for i in range(len(found) - 2, -1, -1):
                total = found[i] + (x if i % 2 else 1 - x) * total
            return np.asarray(y + x * total)

        return at
