"""Closed loops during a run that Python drives, away from singular configurations.

In regular positions rates come from the program and the state is corrected once per step. A step that starts near a
singular configuration (ratio of pivots below LOOPS.watched) takes its rates from the redundant equations, all its
stages are brought onto the constraints, and corrections are the smallest in the metric of M. A step that needs a large
correction is halved. What the kernel carries over a bridge, nearer than BRIDGES.zone, is rejected.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from .integrate import Advance, Rates, Times
from .null_space import SINGULAR
from .projection import Admitted, Closure, steadiness
from .redundant import Numbers
from .tuning import BRIDGES, LOOPS

System = Callable[[float, np.ndarray], Numbers]
Shift = Callable[[float, np.ndarray, np.ndarray], np.ndarray]  # how coordinates change with speeds, at a time and state


@dataclass(frozen=True)
class Passage:
    """A visit near a singular configuration: when it was nearest, and the ratio of pivots there.

    `loop`: the block that a curve carried, with the `residual` of the curve; did it leave where it came in? `missed`:
    two branches do not meet, and the residual says by how much. A ratio of DIVIDED: a halved step, no visit.
    """

    DIVIDED: ClassVar[float] = 2.0
    time: float
    ratio: float
    loop: str = ""
    residual: float = 0.0
    turned: bool = False
    missed: bool = False


class NotClosed(Exception):
    """A loop that cannot be kept closed: the correction that was needed, and what is left."""

    def __init__(self, state: Admitted) -> None:
        super().__init__(state.row, state.moved, state.residual)
        self.state = state


class NearSingular(Exception):
    """A position so near to a singular one that a bridge would have to carry it."""


@dataclass
class Keeper:
    """What a run remembers of its loops. `system` gives the redundant equations of a state."""

    closure: Closure
    system: System
    shift: Shift
    staged: bool = False  # are loops closed at every stage of a step?
    wary: bool = False  # does the present step take its rates from the redundant equations?
    near: bool = False  # are its stages closed too, in the metric of M?
    _over: list[Passage] = field(default_factory=list)
    _visit: Passage | None = None

    def afresh(self, t: float, y: np.ndarray) -> Keeper:
        """One that begins at a state of the run."""
        keeper = Keeper(self.closure, self.system, self.shift, self.staged)
        keeper.begin(t, y)
        return keeper

    def begin(self, t: float, y: np.ndarray) -> None:
        """Takes the start of a run."""
        n_q = self.closure.n_q
        _, _, _, J = self.closure.evaluate(t, y[:n_q], y[n_q:])
        self._take(t, self._ratio(J), steadiness(J, self.closure.scales))

    def rates(self, t: float, y: np.ndarray) -> np.ndarray:
        """Rates near a singular configuration."""
        if self.near:
            y = self._close(t, y)[0]
        return self.system(t, y).rates(self.closure.scales)[0]

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
            if self.near:
                state = self._close(t, y)[1]
            else:
                state = self.closure.admit(t, y[:n_q], y[n_q:], tight=self.wary)
        return np.concatenate([state.q, state.u]), state, _small(state, h) and state.residual < LOOPS.open

    def step(
        self, advance: Advance, inner: Rates, rates: Rates, times: Times, y: np.ndarray, h: float, k: np.ndarray,
        old: np.ndarray | None = None, depth: int = 0,
    ) -> tuple[np.ndarray, Admitted | None]:  # fmt: skip
        """The state after a step from y, where rates are k, brought onto the constraints; None if it is not finite.

        The step is taken again with care if it ends near a singular configuration, and halved if it has to be.
        """
        new = advance(inner, times, y, h, k, None if depth or self.near else old)
        if not np.all(np.isfinite(new)):
            return new, None
        admitted, state, is_accepted = self.admit(times[2], new, h)
        near_singular = self.near or state.ratio < LOOPS.near
        use_redundant = self.wary or near_singular or state.steady < LOOPS.near
        if (near_singular, use_redundant) != (self.near, self.wary):
            self.near, self.wary = near_singular, use_redundant
            return self.step(advance, inner, rates, times, y, h, k, old, depth)
        if is_accepted:
            return admitted, state
        if depth >= LOOPS.halvings:
            raise NotClosed(state)
        start, middle, end = times
        if not depth:
            self._over.append(Passage(start, Passage.DIVIDED))
        first = start, (start + middle) / 2, middle
        y_middle, middle_state = self.step(advance, inner, rates, first, y, h / 2, k, None, depth + 1)
        if middle_state is None:
            return y_middle, None
        self.wary = self.wary or min(middle_state.ratio, middle_state.steady) < LOOPS.watched
        self.near = self.near or middle_state.ratio < LOOPS.watched
        second = middle, (middle + end) / 2, end
        return self.step(advance, inner, rates, second, y_middle, h / 2, rates(middle, y_middle), None, depth + 1)

    def watch(self, states: Iterable[np.ndarray], t: float) -> bool:
        """Takes care if one of some states, the last at a time, is near a singular configuration. Does it?"""
        n_q, scales, correction = self.closure.n_q, self.closure.scales, self.closure.correction
        for y in states:
            if correction is not None and correction.is_good(t, y[:n_q], y[n_q:]):
                continue
            _, _, _, J = self.closure.evaluate(t, y[:n_q], y[n_q:])
            self.near = self.near or self._ratio(J) < LOOPS.near
            self.wary = self.wary or self.near or steadiness(J, scales) < LOOPS.near
        return self.near

    def accept(self, t: float, state: Admitted) -> None:
        """Takes the end of a step."""
        self._take(t, state.ratio, state.steady)

    def carried(self) -> tuple[Any, ...]:
        """What a run that continues takes over."""
        return self.wary, self.near, self._visit

    def take(self, snapshot: tuple[Any, ...]) -> None:
        """Continues from what another one carried."""
        self.wary, self.near, self._visit = snapshot

    @property
    def passages(self) -> list[Passage]:
        return [*self._over, *([self._visit] if self._visit else [])]

    def _ratio(self, J: np.ndarray) -> float:
        """How far a position is from a singular one; raises NearSingular where a bridge would have to carry it."""
        ratio = self.closure.ratio(J)
        if ratio < BRIDGES.zone:
            raise NearSingular
        return ratio

    def _take(self, t: float, ratio: float, steady: float) -> None:
        """What the next step begins with; keeps the book of visits."""
        self.near = ratio < LOOPS.watched
        self.wary = self.near or steady < LOOPS.watched
        visit = self._visit
        if ratio < LOOPS.near:
            if visit is None or ratio < visit.ratio:
                self._visit = Passage(t, ratio)
        else:
            if visit is not None:
                self._over.append(visit)
            self._visit = None

    def _close(self, t: float, y: np.ndarray) -> tuple[np.ndarray, Admitted]:
        """The nearest state on the constraints in the metric of M."""
        scales, n_q, zeros = self.closure.scales, self.closure.n_q, np.zeros(self.closure.n_u)
        y = self.closure.of_unit_size(t, y)
        n = self.system(t, y)
        row = self.closure.names[int(np.abs(n.g).argmax())] if len(n.g) else ""
        ratio, total_correction, last_size = self._ratio(n.J), 0.0, math.inf
        for _ in range(LOOPS.corrections):
            size = float(np.abs(n.g).max(initial=0.0))
            if size < LOOPS.tight or (size >= last_size and size < LOOPS.closed):
                break
            last_size = size
            correction = self.shift(t, y, n.solve(zeros, n.g, scales, SINGULAR)[0])
            total_correction += float(np.linalg.norm(correction))
            y = y.copy()
            y[:n_q] -= correction
            n = self.system(t, y)
            ratio = self._ratio(n.J)
        y = y.copy()
        y[n_q:] -= n.solve(zeros, n.v, scales, SINGULAR)[0]
        residual = float(np.abs(n.g).max(initial=0.0))
        return y, Admitted(y[:n_q], y[n_q:], total_correction, residual, ratio, steadiness(n.J, scales), row)


def _small(state: Admitted, h: float) -> bool:
    """Is a correction small against what a step moves?"""
    return state.moved <= LOOPS.share * h * float(np.linalg.norm(state.u)) + LOOPS.least
