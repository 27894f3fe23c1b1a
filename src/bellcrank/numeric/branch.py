"""Closed loops during a run: through singular positions without leaving the branch.

In regular positions rates come from the fast program and the state is corrected once per step. Near a singular position
(ratio of pivots below LOOPS.near) they come from `singular_rates`, after the stage has been corrected as well; in it
(below SINGULAR) accelerations are extrapolated from the steps before. A step that needs a large correction is halved.
Compiled models have the same rules in C (`emit/c/runtime/projection.c`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from .null_space import SINGULAR
from .projection import Admitted, Closure, steadiness
from .tuning import LOOPS

Rates = Callable[[float, np.ndarray], np.ndarray]
Passage = tuple[float, float]  # a visit near a singular position: the time when it was nearest, and the ratio of pivots


@dataclass
class Keeper:
    """What a run remembers of its loops. `singular_rates` gives rates of all states and the ratio of pivots."""

    closure: Closure
    singular_rates: Rates
    staged: bool = False  # are loops closed at every stage of a step?
    wary: bool = False  # does the present step take its rates from `singular_rates`?
    _over: list[Passage] = field(default_factory=list)
    _past: list[tuple[float, np.ndarray]] = field(default_factory=list)
    _visit: Passage | None = None

    def begin(self, t: float, y: np.ndarray) -> None:
        """Takes the start of a run."""
        _, _, _, J = self.closure.evaluate(t, y[: self.closure.n_q], y[self.closure.n_q :])
        self._note(t, self.closure.ratio(J), steadiness(J, self.closure.scales))

    def rates(self, t: float, y: np.ndarray) -> np.ndarray:
        """Rates near a singular position."""
        n_q = self.closure.n_q
        found = self.singular_rates(t, y)
        if SINGULAR < found[-1] < LOOPS.near:
            state = self.closure.admit(t, y[:n_q], y[n_q:], tight=True)
            found = self.singular_rates(t, np.concatenate([state.q, state.u]))
        if not found[-1] > SINGULAR and self._past:
            found[n_q:-1] = self._extrapolated(t)
        return found[:-1]

    def closed_stage(self, t: float, y: np.ndarray) -> np.ndarray:
        """The state with dependent coordinates and speeds from the others; as it is where they cannot be found."""
        correction, n_q = self.closure.correction, self.closure.n_q
        state = None if correction is None else correction.admit(t, y[:n_q], y[n_q:])
        return y if state is None else np.concatenate([state.q, state.u])

    def admit(self, t: float, y: np.ndarray, h: float) -> tuple[np.ndarray, Admitted, bool]:
        """A new state brought onto the constraints, and whether it may be taken."""
        n_q = self.closure.n_q
        correction = self.closure.correction
        state = None if correction is None or self.wary else correction.admit(t, y[:n_q], y[n_q:])
        if state is None or not _small(state, h):
            state = self.closure.admit(t, y[:n_q], y[n_q:], tight=self.wary)
        return np.concatenate([state.q, state.u]), state, _small(state, h) and state.residual < LOOPS.open

    def remember(self, t: float, rates: np.ndarray) -> None:
        """Rates from which accelerations are extrapolated: those of the last three regular steps, or of the start."""
        self._past = [*self._past[-2:], (t, rates[self.closure.n_q :].copy())]

    def accept(self, t: float, rates: np.ndarray, state: Admitted) -> None:
        """Takes the end of a step."""
        if state.ratio > SINGULAR:
            self.remember(t, rates)
        self._note(t, state.ratio, state.steady)

    @property
    def passages(self) -> list[Passage]:
        return [*self._over, *([self._visit] if self._visit else [])]

    def _note(self, t: float, ratio: float, steady: float) -> None:
        self.wary = min(ratio, steady) < LOOPS.watched
        if ratio < LOOPS.near:
            if self._visit is None or ratio < self._visit[1]:
                self._visit = (t, ratio)
        elif self._visit is not None:
            self._over.append(self._visit)
            self._visit = None

    def _extrapolated(self, t: float) -> np.ndarray:
        """The parabola, line or constant through the last regular accelerations."""
        total = np.zeros_like(self._past[0][1])
        for at, value in self._past:
            total += math.prod((t - other) / (at - other) for other, _ in self._past if other != at) * value
        return total


def _small(state: Admitted, h: float) -> bool:
    """Is a correction small against what a step moves?"""
    return state.moved <= LOOPS.share * h * float(np.linalg.norm(state.u)) + LOOPS.least
