"""Rows of constraints in numbers, at positions drawn at random: which are there by rounding alone.

Frames that are parallel but for the last digit of their components leave rows, and entries of rows,
that are zero but for that digit, and algebra alone takes them for real ones. Here they are
measured: against the size that rows of their kind have, and against each other. Positions need not
close the loops, so default values are not needed either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from bellcrank.core.errors import BellcrankError, ModelError
from bellcrank.core.numeric.tuning import RANKS
from bellcrank.mechanics.kinematics.body_motion import Kinematics
from bellcrank.mechanics.kinematics.constraint_rows import ConstraintRow
from bellcrank.mechanics.kinematics.loop_joints import LoopRow
from bellcrank.symbolic.expr import Expr, Func, Symbol, postorder
from bellcrank.symbolic.expr.evaluate import node_value
from bellcrank.symbolic.expr.node import field_digest

SAMPLE_COUNT = 3
ROUTINE_FAILS = (
    BellcrankError,
    ArithmeticError,
    ValueError,
    KeyError,
    TypeError,
    IndexError,
)  # of users, of linkages
Values = Callable[[Iterable[Expr]], list[float]]


class UndefinedValue(Exception):
    """Something has no value at a position: a user function fails there, or a linkage is outside
    its range."""


class RandomPosition:
    """Values of expressions at one position, with parameters, inputs and states drawn at random
    (the same every time).

    What has been evaluated once is kept.
    """

    def __init__(self, kinematics: Kinematics, number: int) -> None:
        self._number = number
        self._value: dict[Expr, float] = {}
        for body in kinematics.mechanism.bodies:
            if body.joint.norms(body.name):
                parameters = [q for q in body.joint.q if q not in body.joint.slide_coordinates]
                e = np.array([self._random(q) for q in parameters])
                self._value |= dict(zip(parameters, (e / np.linalg.norm(e)).tolist(), strict=True))

    def _random(self, s: Symbol) -> float:
        return 0.5 + field_digest("draw", self._number, s.kind, s.name) % 10**9 / 1e9

    def evaluate(self, roots: Iterable[Expr]) -> list[float]:
        roots = list(roots)
        for node in postorder(roots, known=self._value.keys()):
            if isinstance(node, Symbol) and node.kind != "constant":
                self._value[node] = self._random(node)
            else:
                self._value[node] = self._node_value(node)
        return [self._value[r] for r in roots]

    def _node_value(self, node: Expr) -> float:
        failures = ROUTINE_FAILS if isinstance(node, Func) else (ModelError,)
        try:
            return node_value(node, self._value, {})
        except failures as error:
            raise UndefinedValue(f"{node} has no value") from error


def usual_sizes(
    rows: Sequence[ConstraintRow], kinematics: Kinematics, values: Values
) -> tuple[np.ndarray, float]:
    """The size that partial derivatives by speeds of rotation have in rows of that kind, and a
    length of the mechanism.

    Zero stands for a row whose kind reports nothing.
    """
    sizes_and_powers, length = [], 0.0
    for row in rows:
        x = row.source
        if not isinstance(x, LoopRow):
            sizes_and_powers.append((0.0, 0))
            continue
        vectors = [y for y in ((x.a, x.b) if x.turns else (x.b,)) if y is not None]
        size = float(np.prod([np.linalg.norm(values(y.terms.values())) for y in vectors]))
        sizes_and_powers.append((size, 0 if x.turns else 2 if x.b is None else 1))
        points = [kinematics.position(point) for point in (x.p, x.r)]
        length = max(length, *(float(np.linalg.norm(values(y.terms.values()))) for y in points))
    length = length or 1.0
    return np.array([size * length**power for size, power in sizes_and_powers]), length


def column_sizes(kinematics: Kinematics, length: float) -> np.ndarray:
    """What brings partial derivatives by speeds of translation to the size of those by speeds of
    rotation."""
    bodies = kinematics.mechanism.bodies
    return np.array(
        [1.0 if body.joint.turns(u) else length for body in bodies for u in body.speeds]
    )


def vanishing_rows(J: np.ndarray, usual: np.ndarray, length: float) -> np.ndarray:
    """Which rows of partial derivatives are zero but for rounding; of rows of no known kind, only
    what no unit could make of one."""
    size = np.abs(J).max(axis=1, initial=0.0)
    return size <= np.where(usual > 0, RANKS.rounding * usual, RANKS.digits * min(1.0, length))


class NumericRank:
    """Rows of a model at some positions drawn at random."""

    def __init__(self, kinematics: Kinematics) -> None:
        self.kinematics = kinematics
        self.draws = [RandomPosition(kinematics, i) for i in range(SAMPLE_COUNT)]

    def constant_rows(self, rows: Sequence[ConstraintRow]) -> dict[ConstraintRow, bool]:
        """The rows that no motion changes but for rounding; True: they are redundant, False:
        never."""
        if not rows:
            return {}
        try:
            draw_results = [self._constant_rows_at(rows, draw) for draw in self.draws]
        except UndefinedValue:
            return {}
        constant, satisfied = (np.all(x, axis=0) for x in zip(*draw_results, strict=True))
        return {row: bool(h) for row, x, h in zip(rows, constant, satisfied, strict=True) if x}

    def _constant_rows_at(
        self, rows: Sequence[ConstraintRow], draw: RandomPosition
    ) -> tuple[np.ndarray, np.ndarray]:
        usual, length = usual_sizes(rows, self.kinematics, draw.evaluate)
        g, b, J = self._residuals_and_jacobian(rows, draw, length)
        zero = [vanishing_rows(x.reshape(len(rows), -1), usual, length) for x in (J, b, g)]
        return zero[0], zero[1] & zero[2]

    def redundant_rows(
        self, rows: Sequence[ConstraintRow], with_bias: bool = False
    ) -> list[ConstraintRow]:
        """The rows whose partial derivatives, but for rounding, follow from those of the rows
        before in every position;
        `with_bias`: and what they are with all speeds zero too."""
        try:
            row_blocks = [self._normalized_rows(rows, draw, with_bias) for draw in self.draws]
        except UndefinedValue:
            return []
        repeated = []
        for i, row in enumerate(rows):
            residuals = [float(np.linalg.norm(x[i])) for x in row_blocks]
            if max(residuals) <= RANKS.rounding:
                repeated.append(row)
                continue
            for x, size in zip(row_blocks, residuals, strict=True):
                e = x[i] / (size or 1.0)
                x[i + 1 :] -= np.outer(x[i + 1 :] @ e, e)
        return repeated

    def _normalized_rows(
        self, rows: Sequence[ConstraintRow], draw: RandomPosition, with_bias: bool
    ) -> np.ndarray:
        """Partial derivatives, and what is left at rest, in rows of length one."""
        _, length = usual_sizes(rows, self.kinematics, draw.evaluate)
        _, b, J = self._residuals_and_jacobian(rows, draw, length)
        columns = np.column_stack([J, b]) if with_bias else J
        return columns / np.maximum(np.linalg.norm(J, axis=1), np.finfo(float).tiny)[:, None]

    def _residuals_and_jacobian(
        self, rows: Sequence[ConstraintRow], draw: RandomPosition, length: float
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """g, b and J of v = J u + b; J by speeds of one size."""
        speeds = self.kinematics.mechanism.speeds
        index_of_speed = {u: i for i, u in enumerate(speeds)}
        J = np.zeros((len(rows), len(speeds)))
        for row, x in zip(rows, J, strict=True):
            x[[index_of_speed[u] for u, _ in row.partials]] = draw.evaluate(
                a for _, a in row.partials
            )
        g = np.array([0.0 if row.g is None else draw.evaluate([row.g])[0] for row in rows])
        b = np.array(draw.evaluate(row.v for row in rows)) - J @ np.array(draw.evaluate(speeds))
        if not all(np.isfinite(x).all() for x in (g, b, J)):
            raise UndefinedValue("a row is not finite")
        return g, b, J * column_sizes(self.kinematics, length)

    def significant_speeds(self, partials: Mapping[Symbol, Expr]) -> list[Symbol]:
        """The speeds with partial derivatives that are more than rounding compared with the
        largest."""
        try:
            sizes = np.abs([draw.evaluate(partials.values()) for draw in self.draws])
        except UndefinedValue:
            return list(partials)
        acts = (sizes > RANKS.rounding * sizes.max(axis=1, initial=0.0)[:, None]).any(axis=0)
        return [u for u, x in zip(partials, acts, strict=True) if x] or list(partials)
