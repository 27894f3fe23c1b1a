"""Closed loops during a run that Python drives, away from singular configurations.

In regular positions rates come from the program and the state is corrected once per step. A step
that starts near a singular configuration (ratio of pivots below LOOPS.watched) takes its rates from
the redundant equations, all its stages are brought onto the constraints, and corrections are the
smallest in the metric of M. A step that needs a large correction is halved. What the kernel carries
over a bridge, nearer than BRIDGES.zone, is rejected.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from bellcrank.core.numeric.integrate import Advance, Rates, Times
from bellcrank.core.numeric.loop_constraints import (
    LoopConstraints,
    ProjectedState,
    fixed_pivot_ratio,
)
from bellcrank.core.numeric.null_space import SINGULAR
from bellcrank.core.numeric.redundant_system import RedundantSystem
from bellcrank.core.numeric.tuning import BRIDGES, LOOPS

System = Callable[[float, np.ndarray], RedundantSystem]
Shift = Callable[
    [float, np.ndarray, np.ndarray], np.ndarray
]  # how coordinates change with speeds, at a time and state


@dataclass(frozen=True)
class SingularityPassage:
    """A visit near a singular configuration: when it was nearest, and the ratio of pivots there.

    `loop`: the block that a curve carried, with the `residual` of the curve; did it leave where it
    came in? `missed`: two branches do not meet, and the residual says by how much. A ratio of
    DIVIDED: a halved step, no visit.
    """

    DIVIDED: ClassVar[float] = 2.0
    time: float
    ratio: float
    loop: str = ""
    residual: float = 0.0
    turned: bool = False
    missed: bool = False


class LoopNotClosedError(Exception):
    """A loop that cannot be kept closed: the correction that was needed, and what is left."""

    def __init__(self, state: ProjectedState) -> None:
        super().__init__(state.row, state.correction, state.residual)
        self.state = state


class NearSingularError(Exception):
    """A position so near to a singular one that a bridge would have to carry it."""


@dataclass
class LoopProjector:
    """What a run remembers of its loops. `system` gives the redundant equations of a state."""

    loop_constraints: LoopConstraints
    system: System
    coordinate_shift: Shift
    closes_every_stage: bool = False  # are loops closed at every stage of a step?
    use_redundant_rates: bool = (
        False  # does the present step take its rates from the redundant equations?
    )
    near_singular: bool = False  # are its stages closed too, in the metric of M?
    _over: list[SingularityPassage] = field(default_factory=list)
    _visit: SingularityPassage | None = None

    def restarted_at(self, t: float, y: np.ndarray) -> LoopProjector:
        """One that begins at a state of the run."""
        keeper = LoopProjector(
            self.loop_constraints, self.system, self.coordinate_shift, self.closes_every_stage
        )
        keeper.start(t, y)
        return keeper

    def start(self, t: float, y: np.ndarray) -> None:
        """Takes the start of a run."""
        n_q = self.loop_constraints.n_q
        _, _, _, J = self.loop_constraints.evaluate(t, y[:n_q], y[n_q:])
        self._update_visit(
            t, self._pivot_ratio(J), fixed_pivot_ratio(J, self.loop_constraints.scales)
        )

    def rates_near_singular(self, t: float, y: np.ndarray) -> np.ndarray:
        """Rates near a singular configuration."""
        if self.near_singular:
            y = self._project_near_singular(t, y)[0]
        return self.system(t, y).rates(self.loop_constraints.scales)[0]

    def project_stage(self, t: float, y: np.ndarray) -> np.ndarray:
        """The state with dependent coordinates and speeds from the others; as it is where they
        cannot be found."""
        correction, n_q = self.loop_constraints.correction, self.loop_constraints.n_q
        state = None if correction is None else correction.project(t, y[:n_q], y[n_q:])
        return y if state is None else np.concatenate([state.q, state.u])

    def project(self, t: float, y: np.ndarray, h: float) -> tuple[np.ndarray, ProjectedState, bool]:
        """A new state brought onto the constraints, and whether it may be taken."""
        n_q = self.loop_constraints.n_q
        correction = self.loop_constraints.correction
        state = (
            None
            if correction is None or self.use_redundant_rates
            else correction.project(t, y[:n_q], y[n_q:])
        )
        if state is None or not _is_small_correction(state, h):
            if self.near_singular:
                state = self._project_near_singular(t, y)[1]
            else:
                state = self.loop_constraints.project(
                    t, y[:n_q], y[n_q:], tight=self.use_redundant_rates
                )
        return (
            np.concatenate([state.q, state.u]),
            state,
            _is_small_correction(state, h) and state.residual < LOOPS.open,
        )

    def step(
        self,
        advance: Advance,
        inner: Rates,
        rates: Rates,
        times: Times,
        y: np.ndarray,
        h: float,
        k: np.ndarray,
        old: np.ndarray | None = None,
        depth: int = 0,
    ) -> tuple[np.ndarray, ProjectedState | None]:
        """The state after a step from y, where rates are k, brought onto the constraints; None if
        it is not finite.

        The step is taken again with care if it ends near a singular configuration, and halved if it
        has to be.
        """
        new = advance(inner, times, y, h, k, None if depth or self.near_singular else old)
        if not np.all(np.isfinite(new)):
            return new, None
        admitted, state, is_accepted = self.project(times[2], new, h)
        near_singular = self.near_singular or state.pivot_ratio < LOOPS.near
        use_redundant = (
            self.use_redundant_rates or near_singular or state.fixed_pivot_ratio < LOOPS.near
        )
        if (near_singular, use_redundant) != (self.near_singular, self.use_redundant_rates):
            self.near_singular, self.use_redundant_rates = near_singular, use_redundant
            return self.step(advance, inner, rates, times, y, h, k, old, depth)
        if is_accepted:
            return admitted, state
        if depth >= LOOPS.halvings:
            raise LoopNotClosedError(state)
        start, middle, end = times
        if not depth:
            self._over.append(SingularityPassage(start, SingularityPassage.DIVIDED))
        first = start, (start + middle) / 2, middle
        y_middle, middle_state = self.step(
            advance, inner, rates, first, y, h / 2, k, None, depth + 1
        )
        if middle_state is None:
            return y_middle, None
        self.use_redundant_rates = (
            self.use_redundant_rates
            or min(middle_state.pivot_ratio, middle_state.fixed_pivot_ratio) < LOOPS.watched
        )
        self.near_singular = self.near_singular or middle_state.pivot_ratio < LOOPS.watched
        second = middle, (middle + end) / 2, end
        return self.step(
            advance, inner, rates, second, y_middle, h / 2, rates(middle, y_middle), None, depth + 1
        )

    def check_singularity(self, states: Iterable[np.ndarray], t: float) -> bool:
        """Takes care if one of some states, the last at a time, is near a singular configuration.
        Does it?"""
        n_q, scales, correction = (
            self.loop_constraints.n_q,
            self.loop_constraints.scales,
            self.loop_constraints.correction,
        )
        for y in states:
            if correction is not None and correction.has_large_pivots(t, y[:n_q], y[n_q:]):
                continue
            _, _, _, J = self.loop_constraints.evaluate(t, y[:n_q], y[n_q:])
            self.near_singular = self.near_singular or self._pivot_ratio(J) < LOOPS.near
            self.use_redundant_rates = (
                self.use_redundant_rates
                or self.near_singular
                or fixed_pivot_ratio(J, scales) < LOOPS.near
            )
        return self.near_singular

    def accept_step(self, t: float, state: ProjectedState) -> None:
        """Takes the end of a step."""
        self._update_visit(t, state.pivot_ratio, state.fixed_pivot_ratio)

    def snapshot(self) -> tuple[Any, ...]:
        """What a run that continues takes over."""
        return self.use_redundant_rates, self.near_singular, self._visit

    def restore(self, snapshot: tuple[Any, ...]) -> None:
        """Continues from what another one carried."""
        self.use_redundant_rates, self.near_singular, self._visit = snapshot

    @property
    def singular_passages(self) -> list[SingularityPassage]:
        return [*self._over, *([self._visit] if self._visit else [])]

    def _pivot_ratio(self, J: np.ndarray) -> float:
        """How far a position is from a singular one; raises NearSingular where a bridge would have
        to carry it."""
        ratio = self.loop_constraints.pivot_ratio(J)
        if ratio < BRIDGES.zone:
            raise NearSingularError
        return ratio

    def _update_visit(self, t: float, ratio: float, steady: float) -> None:
        """What the next step begins with; keeps the book of visits."""
        self.near_singular = ratio < LOOPS.watched
        self.use_redundant_rates = self.near_singular or steady < LOOPS.watched
        visit = self._visit
        if ratio < LOOPS.near:
            if visit is None or ratio < visit.ratio:
                self._visit = SingularityPassage(t, ratio)
        else:
            if visit is not None:
                self._over.append(visit)
            self._visit = None

    def _project_near_singular(self, t: float, y: np.ndarray) -> tuple[np.ndarray, ProjectedState]:
        """The nearest state on the constraints in the metric of M."""
        scales, n_q, zeros = (
            self.loop_constraints.scales,
            self.loop_constraints.n_q,
            np.zeros(self.loop_constraints.n_u),
        )
        y = self.loop_constraints.normalize_euler_parameters(t, y)
        n = self.system(t, y)
        row = self.loop_constraints.constraint_names[int(np.abs(n.g).argmax())] if len(n.g) else ""
        ratio, total_correction, last_size = self._pivot_ratio(n.J), 0.0, math.inf
        for _ in range(LOOPS.corrections):
            size = float(np.abs(n.g).max(initial=0.0))
            if size < LOOPS.tight or (size >= last_size and size < LOOPS.closed):
                break
            last_size = size
            correction = self.coordinate_shift(t, y, n.solve(zeros, n.g, scales, SINGULAR)[0])
            total_correction += float(np.linalg.norm(correction))
            y = y.copy()
            y[:n_q] -= correction
            n = self.system(t, y)
            ratio = self._pivot_ratio(n.J)
        y = y.copy()
        y[n_q:] -= n.solve(zeros, n.v, scales, SINGULAR)[0]
        residual = float(np.abs(n.g).max(initial=0.0))
        return y, ProjectedState(
            y[:n_q], y[n_q:], total_correction, residual, ratio, fixed_pivot_ratio(n.J, scales), row
        )


def _is_small_correction(state: ProjectedState, h: float) -> bool:
    """Is a correction small against what a step moves?"""
    return state.correction <= LOOPS.share * h * float(np.linalg.norm(state.u)) + LOOPS.least
