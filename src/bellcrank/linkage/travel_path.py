"""The way of a linkage through its travel: followed by arc length from the drawn position to the
folds at either end.

At a fold the travel turns back (d travel / d arc = 0); past it lies another assembly. The nodes of
the way are the starting points of every later solution, so that none can land on another branch
unseen.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bellcrank.linkage.solver import LinkageSolver

Array = np.ndarray[Any, Any]

MAX_ARC_STEP = 0.12  # of a step along the way, m and rad together
MAX_NODES = 3000  # steps
MAX_ARC_LENGTH = 12.0  # length of the way after which a linkage counts as free to go round


@dataclass
class Way:
    """Nodes from the lower to the upper end: arc length, travel and states (nodes, size), and their
    slopes by arc."""

    arc: Array
    travel: Array
    slope: Array
    state: Array
    rate: Array
    ends: tuple[str, str]

    @property
    def low(self) -> float:
        return float(self.travel[0])

    @property
    def high(self) -> float:
        return float(self.travel[-1])

    def mirrored(self, signs: Array) -> Way:
        """The same way of a linkage on the other side, with the signs that the numbers of its
        states have there."""
        return replace(self, state=self.state * signs, rate=self.rate * signs)

    def start(self, travel: Array) -> Array:
        """States (size, n) near the given travel, inside the range: cubic pieces along the arc."""
        inner = np.clip(travel, self.low, self.high)
        i = np.clip(np.searchsorted(self.travel, inner, side="right") - 1, 0, len(self.travel) - 2)
        h = self.arc[i + 1] - self.arc[i]
        s = _arc_fraction(self, i, h, inner)
        a, b, c, d = _hermite_weights(s)
        state = a[:, None] * self.state[i] + b[:, None] * self.state[i + 1]
        state = state + (h * c)[:, None] * self.rate[i] + (h * d)[:, None] * self.rate[i + 1]
        return state.T


def _hermite_weights(s: Array) -> tuple[Array, Array, Array, Array]:
    return (1 + 2 * s) * (1 - s) ** 2, s * s * (3 - 2 * s), s * (1 - s) ** 2, s * s * (s - 1)


def _arc_fraction(way: Way, i: Array, h: Array, travel: Array) -> Array:
    """The fraction of interval i at which the travel (a rising cubic there) has the given value:
    bisection."""
    low, high = np.zeros(len(travel)), np.ones(len(travel))
    for _ in range(50):
        s = 0.5 * (low + high)
        a, b, c, d = _hermite_weights(s)
        value = (
            a * way.travel[i]
            + b * way.travel[i + 1]
            + h * (c * way.slope[i] + d * way.slope[i + 1])
        )
        low, high = np.where(value < travel, s, low), np.where(value < travel, high, s)
    return 0.5 * (low + high)


@dataclass
class _PathNode:
    arc: float
    travel: float
    slope: float
    state: Array  # (size,)
    rate: Array
    tangent: Array


def trace_travel_path(solver: LinkageSolver, start: Array, fixed: dict[int, float]) -> Way:
    """The way through the travel (input 0) from an assembled state (size,), the inputs `fixed` at
    their values."""
    walker = _PathTracer(solver, fixed)
    first = walker.node(0.0, start, None)
    if first is None or abs(first.slope) < 1e-9:
        raise ArithmeticError("the drawn position is singular")
    upper_nodes, top = walker.trace_to_end(first, 1)
    lower_nodes, bottom = walker.trace_to_end(first, -1)
    nodes = [*lower_nodes[::-1], first, *upper_nodes]
    columns = ("arc", "travel", "slope", "state", "rate")
    return Way(**{c: np.array([getattr(n, c) for n in nodes]) for c in columns}, ends=(bottom, top))


class _PathTracer:
    def __init__(self, solver: LinkageSolver, fixed: dict[int, float]) -> None:
        self.solver, self.held = solver, fixed

    def node(self, arc: float, state: Array, direction: Array | None) -> _PathNode | None:
        """A node with its unit tangent, towards `direction` (or rising travel); None where two ways
        cross."""
        point = self.solver.path_point(state, self.held)
        _, sizes, V = np.linalg.svd(point.J)
        if len(sizes) and sizes[-1] < 1e-9 * sizes[0]:
            return None
        t: Array = V[-1]
        t = t if t @ (point.slope if direction is None else direction) >= 0 else -t
        return _PathNode(
            arc,
            point.travel,
            float(point.slope @ t),
            state,
            self.solver.plan.state_rate(state, t),
            t,
        )

    def advance(self, node: _PathNode, h: float) -> _PathNode | None:
        """The node at arc length h further on, or None if the corrector does not settle."""
        solver = self.solver
        state = solver.update_state(node.state[:, None], h * node.tangent[:, None])
        for _ in range(8):
            point = solver.path_point(state[:, 0], self.held)
            square = np.vstack([point.J, node.tangent])
            try:
                correction = -np.linalg.solve(square, np.append(point.g, 0.0))
            except np.linalg.LinAlgError:
                return None
            state = solver.update_state(state, correction[:, None])
            size = np.abs(correction).max()
            if not np.isfinite(size) or size > 0.5 * abs(h) + 1e-9:
                return None
            if size < 1e-9:  # the next change would be its square
                break
        else:
            return None
        new = self.node(node.arc + h, state[:, 0], node.tangent)
        # the direction may not turn by more than about 20 degrees in one step
        return new if new is not None and new.tangent @ node.tangent > 0.94 else None

    def trace_to_end(self, first: _PathNode, sense: int) -> tuple[list[_PathNode], str]:
        """Nodes up to the fold (or until the linkage has gone round), and what ends them."""
        nodes: list[_PathNode] = []
        node, h = first, MAX_ARC_STEP / 3
        while len(nodes) < MAX_NODES:
            new = self.advance(node, sense * h)
            if new is None or (new.slope > 0 and (new.travel - node.travel) * sense <= 0):
                h *= 0.5
                if h < 1e-9:
                    return nodes, "singular configuration"
                continue
            if new.slope * first.slope <= 0:
                nodes.append(self.locate_fold(node, new, sense))
                return nodes, "fold"
            nodes.append(new)
            if abs(new.arc) > MAX_ARC_LENGTH:
                return nodes, "limit of search"
            node, h = new, min(MAX_ARC_STEP, 1.5 * h)
        return nodes, "limit of search"

    def locate_fold(self, node_before: _PathNode, node_after: _PathNode, sense: int) -> _PathNode:
        """The node where d travel/d arc is zero, between two nodes."""
        low, high = 0.0, abs(node_after.arc - node_before.arc)
        best, slope_low, slope_high = node_before, abs(node_before.slope), -abs(node_after.slope)
        for k in range(60):
            middle = (
                0.5 * (low + high)
                if k % 3 == 2
                else low + (high - low) * slope_low / (slope_low - slope_high)
            )
            new = self.advance(node_before, sense * middle)
            if new is None:
                high, slope_high = middle, 0.5 * slope_high
                continue
            if new.slope > 0:
                low, slope_low, best = middle, new.slope, new
            else:
                high, slope_high = middle, new.slope
                if abs(new.slope) < abs(best.slope):
                    best = new
            if (
                high - low < 1e-12 or abs(best.slope) < 1e-9
            ):  # the travel there is off by the square of it
                break
        return best
