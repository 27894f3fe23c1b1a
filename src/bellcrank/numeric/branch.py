"""Closed loops during a run: through singular positions without leaving the branch.

In regular positions rates come from the fast program and the state is corrected once per step. A step that starts near
a singular position (ratio of pivots below LOOPS.watched) takes its rates from the redundant equations, all its stages
are brought onto the constraints, and corrections are the smallest in the metric of M, so that errors across the branch
do not become errors along it. Blocks within their zone go over a bridge (`bridge`). Where there can be none,
accelerations in the singular position (below SINGULAR) are extrapolated from the steps before. A step that needs a
large correction is halved, and where branches miss each other, one that is long against the distance or turns far.
Compiled models have the same rules in C (`emit/c/runtime/projection.c`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from .bridge import LEAST, Block, Curve, Refused
from .integrate import Advance, Rates, Times
from .null_space import SINGULAR
from .projection import Admitted, Closure, steadiness
from .redundant import Numbers
from .tuning import BRIDGES, LOOPS

System = Callable[[float, np.ndarray], Numbers]
Shift = Callable[[float, np.ndarray, np.ndarray], np.ndarray]  # how coordinates change with speeds, at a time and state


@dataclass(frozen=True)
class Passage:
    """A visit near a singular position: when it was nearest, and the ratio of pivots there.

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


@dataclass
class Keeper:
    """What a run remembers of its loops. `system` gives the redundant equations of a state."""

    closure: Closure
    system: System
    shift: Shift
    staged: bool = False  # are loops closed at every stage of a step?
    wary: bool = False  # does the present step take its rates from the redundant equations?
    near: bool = False  # are its stages closed too, in the metric of M?
    _curves: dict[int, Curve] = field(default_factory=dict)
    _missed: dict[int, float] = field(default_factory=dict)
    start: np.ndarray = field(default_factory=lambda: np.empty(0))  # of the present step
    _over: list[Passage] = field(default_factory=list)
    _past: list[tuple[float, np.ndarray]] = field(default_factory=list)
    _visit: Passage | None = None
    _portions: int = 0  # of the present step

    @cached_property
    def blocks(self) -> list[Block]:
        """Those of the model in numbers; compiled runs do not ask for them."""
        return [Block(i, self.closure, self.system) for i in range(len(self.closure.scales.blocks))]

    def afresh(self, t: float, y: np.ndarray) -> Keeper:
        """One that begins at a state of the run, with its curves."""
        keeper = Keeper(self.closure, self.system, self.shift, self.staged)
        keeper._curves, keeper._missed = dict(self._curves), dict(self._missed)
        keeper.begin(t, y)
        return keeper

    def begin(self, t: float, y: np.ndarray) -> np.ndarray:
        """Takes the start of a run: its state, brought onto its branch if it is in a singular position."""
        n_q = self.closure.n_q
        self.start = y
        _, _, _, J = self.closure.evaluate(t, y[:n_q], y[n_q:])
        ratio, steady = self.closure.ratio(J), steadiness(J, self.closure.scales)
        self._set(ratio, steady)
        if self.near:
            n = self.system(t, y)
            self._bridge(t, y, n)
            if self._within(y):
                y = self._close(t, y, LOOPS.tight)[0]
                self.start = y
        self._note(t, y, ratio)
        return y

    def at_rest(self, t: float, y: np.ndarray) -> bool:
        """Is a state singular, without a speed that tells its branch?"""
        n_q = self.closure.n_q
        _, _, _, J = self.closure.evaluate(t, y[:n_q], y[n_q:])
        return any(
            b.ratio(J) <= BRIDGES.sure and not np.linalg.norm(b.scaled(y)[1]) > BRIDGES.still for b in self.blocks
        )

    def rates(self, t: float, y: np.ndarray) -> np.ndarray:
        """Rates near a singular position."""
        if self.near:
            y = self._close(t, y, LOOPS.tight)[0]
        n, bridged = self._look(t, y)
        rates, ratio = n.rates(self.closure.scales, self._least(bridged))
        if not bridged and not self._missed and not ratio > SINGULAR and self._past:
            rates[self.closure.n_q :] = self._extrapolated(t)
        return rates

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
                state = self._close(t, y, LOOPS.tight)[1]
            else:
                state = self.closure.admit(t, y[:n_q], y[n_q:], tight=self.wary)
        return np.concatenate([state.q, state.u]), state, _small(state, h) and state.residual < LOOPS.open

    def step(
        self, advance: Advance, inner: Rates, rates: Rates, times: Times, y: np.ndarray, h: float, k: np.ndarray,
        old: np.ndarray | None = None, depth: int = 0,
    ) -> tuple[np.ndarray, Admitted | None]:  # fmt: skip
        """The state after a step from y, where rates are k, brought onto the constraints; None if it is not finite.

        The step is taken again with care if it ends near a singular position, and halved if it has to be.
        """
        self.start = y
        self._portions = self._portions + 1 if depth else 0
        new = advance(inner, times, y, h, k, None if depth or self.near else old)
        if not np.all(np.isfinite(new)):
            return new, None
        admitted, state, good = self.admit(times[2], new, h)
        near = self.near or state.ratio < LOOPS.near
        wary = self.wary or near or state.steady < LOOPS.near
        if (near, wary) != (self.near, self.wary):
            self.near, self.wary = near, wary
            return self.step(advance, inner, rates, times, y, h, k, old, depth)
        may = depth < BRIDGES.divisions and self._portions < BRIDGES.portions
        divide = may and self.too_far(times[2], y, admitted, h)
        if good and not divide:
            return admitted, state
        if not divide and depth >= LOOPS.halvings:
            raise NotClosed(state)
        start, middle, end = times
        if not divide and not depth:
            self._over.append(Passage(start, Passage.DIVIDED))
        first = start, (start + middle) / 2, middle
        half, between = self.step(advance, inner, rates, first, y, h / 2, k, None, depth + 1)
        if between is None:
            return half, None
        self.start = half
        self.wary = self.wary or min(between.ratio, between.steady) < LOOPS.watched
        self.near = self.near or between.ratio < LOOPS.watched
        second = middle, (middle + end) / 2, end
        return self.step(advance, inner, rates, second, half, h / 2, rates(middle, half), None, depth + 1)

    def ratio(self, t: float, y: np.ndarray) -> float:
        """How far a state is from a singular position: the ratio of pivots there."""
        n_q = self.closure.n_q
        return self.closure.ratio(self.closure.evaluate(t, y[:n_q], y[n_q:])[3])

    def watch(self, states: Iterable[np.ndarray], t: float) -> bool:
        """Takes care if one of some states, the last at a time, is near a singular position. Does it?"""
        n_q, scales, correction = self.closure.n_q, self.closure.scales, self.closure.correction
        for y in states:
            if correction is not None and correction.is_good(t, y[:n_q], y[n_q:]):
                continue
            _, _, _, J = self.closure.evaluate(t, y[:n_q], y[n_q:])
            self.near = self.near or self.closure.ratio(J) < LOOPS.near
            self.wary = self.wary or self.near or steadiness(J, scales) < LOOPS.near
        return self.near

    def too_far(self, t: float, y: np.ndarray, new: np.ndarray, h: float) -> bool:
        """Near branches that miss each other: is a step long against the distance, or do speeds turn far in it?"""
        if not self.near or not self._missed:
            return False
        n_q = self.closure.n_q
        M, J = self.system(t, new).M, self.system(t, y).J
        for i in self._missed:
            block = self.blocks[i]
            if h * np.linalg.norm(block.scaled(y)[1]) > BRIDGES.leap * block.ratio(J):
                return True
            speeds = np.array(block.speeds)
            if _turn(M[np.ix_(speeds, speeds)], y[n_q + speeds], new[n_q + speeds]):
                return True
        return False

    def remember(self, t: float, rates: np.ndarray) -> None:
        """Rates from which accelerations are extrapolated: those of the last three regular steps, or of the start."""
        self._past = [*self._past[-2:], (t, rates[self.closure.n_q :].copy())]

    def accept(self, t: float, y: np.ndarray, rates: np.ndarray, state: Admitted) -> None:
        """Takes the end of a step."""
        if state.ratio > SINGULAR:
            self.remember(t, rates)
        self._set(state.ratio, state.steady)
        self.start = y
        self._note(t, y, state.ratio)

    def carried(self) -> tuple[Any, ...]:
        """What a run that goes on takes over."""
        books = dict(self._curves), dict(self._missed), self.start.copy(), list(self._past)
        return (self.wary, self.near, *books, self._visit)

    def take(self, carried: tuple[Any, ...]) -> None:
        """Goes on from what another one carried."""
        self.wary, self.near, curves, missed, self.start, past, self._visit = carried
        self._curves, self._missed, self._past = dict(curves), dict(missed), list(past)

    @property
    def passages(self) -> list[Passage]:
        return [*self._over, *([self._visit] if self._visit else [])]

    def _set(self, ratio: float, steady: float) -> None:
        self.near = ratio < LOOPS.watched
        self.wary = self.near or steady < LOOPS.watched

    def _note(self, t: float, y: np.ndarray, ratio: float) -> None:
        """Keeps the book of visits; forgets curves that lie behind."""
        visit = self._visit
        if ratio < LOOPS.near:
            if visit is None:
                visit = Passage(t, ratio)
            elif ratio < visit.ratio:
                visit = replace(visit, time=t, ratio=ratio)
            for i, curve in self._curves.items():
                back = curve.approached and curve.place(self.blocks[i].scaled(y)[0]) < 0
                visit = replace(visit, loop=self.blocks[i].name, residual=curve.residual, turned=back)
            for i, gap in self._missed.items():
                visit = replace(visit, loop=self.blocks[i].name, residual=gap, missed=True)
            self._visit = visit
        else:
            if visit is not None:
                self._over.append(visit)
            self._visit = None
            self._curves.clear()
        if not self.near:
            self._missed.clear()

    def _inside(self, i: int, y: np.ndarray) -> bool:
        return i in self._curves and 0.0 <= self._curves[i].place(self.blocks[i].scaled(y)[0]) <= 1.0

    def _within(self, y: np.ndarray) -> list[int]:
        return [i for i in range(len(self.blocks)) if self._inside(i, y)]

    def _bridge(self, t: float, y: np.ndarray, n: Numbers) -> None:
        """Builds the curves that a state needs, from the start of the step."""
        for i, block in enumerate(self.blocks):
            if self._inside(i, y) or i in self._missed or block.ratio(n.J) >= BRIDGES.zone:
                continue
            try:
                self._curves[i] = block.build(t, self.start)
            except Refused as refused:
                if not refused.unknown:
                    self._missed[i] = refused.gap

    def _look(self, t: float, y: np.ndarray) -> tuple[Numbers, bool]:
        """The redundant equations of a state, with those of curves where it is on them."""
        n = self.system(t, y)
        within = self._within(y) if self.near else []
        for i in within:
            self.blocks[i].replace(n, self._curves[i], y)
        return n, bool(within)

    def _least(self, bridged: bool) -> float:
        return LEAST if bridged or self._missed else SINGULAR

    def _close(self, t: float, y: np.ndarray, small: float) -> tuple[np.ndarray, Admitted]:
        """The nearest state on the constraints and curves in the metric of M."""
        scales, n_q = self.closure.scales, self.closure.n_q
        y = self.closure.of_unit_size(t, y)
        n = self.system(t, y)
        self._bridge(t, y, n)
        row = self.closure.names[int(np.abs(n.g).argmax())] if len(n.g) else ""
        ratio, steady = self.closure.ratio(n.J), steadiness(n.J, scales)
        bridged = self._within(y)
        if not ratio > SINGULAR and not bridged and not self._missed:
            return y, Admitted(y[:n_q], y[n_q:], 0.0, 0.0, ratio, steady)
        n, within = self._look(t, y)
        moved, before, none = 0.0, math.inf, np.zeros(self.closure.n_u)
        for _ in range(LOOPS.corrections):
            size = float(np.abs(n.g).max(initial=0.0))
            if size < small or (size >= before and size < LOOPS.closed):
                break
            before = size
            x, _ = n.solve(none, n.g, scales, self._least(within))
            change = self.shift(t, y, x)
            moved += float(np.linalg.norm(change))
            y = y.copy()
            y[:n_q] -= change
            n = self.system(t, y)
            ratio, steady = self.closure.ratio(n.J), steadiness(n.J, scales)
            n, within = self._look(t, y)
        x, _ = n.solve(none, n.v, scales, self._least(within))
        y = y.copy()
        y[n_q:] -= x
        residual = float(np.abs(n.g).max(initial=0.0))
        return y, Admitted(y[:n_q], y[n_q:], moved, residual, ratio, steady, row)

    def _extrapolated(self, t: float) -> np.ndarray:
        """The parabola, line or constant through the last regular accelerations."""
        total = np.zeros_like(self._past[0][1])
        for at, value in self._past:
            total += math.prod((t - other) / (at - other) for other, _ in self._past if other != at) * value
        return total


def _small(state: Admitted, h: float) -> bool:
    """Is a correction small against what a step moves?"""
    return state.moved <= LOOPS.share * h * float(np.linalg.norm(state.u)) + LOOPS.least


def _turn(M: np.ndarray, a: np.ndarray, b: np.ndarray) -> bool:
    """Do speeds turn far, in the metric of the masses? Those that reverse do not turn."""
    size = (a @ M @ a) * (b @ M @ b)
    return bool(size > 0 and abs(a @ M @ b) < math.cos(BRIDGES.turn) * math.sqrt(size))
