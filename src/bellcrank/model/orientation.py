"""The orientation of a body in its parent at zero coordinates, where it is given: a matrix, or turns one after another.

In:  a `Checker` and what stands in the record. Out: R_AB, whose columns are the axes of the body in the parent.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bellcrank.expr import Expr, evaluate, expression, symbols
from bellcrank.expr.text import axis_number
from bellcrank.model.reading import Checker
from bellcrank.numeric.tuning import RANKS
from bellcrank.vector.basis import IDENTITY, Mat3, cross3, dot3, matmul, transpose, turn_about

ALLOWED = "a 3 x 3 rotation matrix, a turn (axis, angle), or several turns"
CLOSE = 1e-6  # how far a matrix of numbers may be from a rotation; it is then made one


def orientation_of(checker: Checker, orientation: Any, location: str) -> Mat3:
    """R_AB of a matrix whose columns are the axes of the body, or of turns about axes of the body as it is turned."""
    rows = list(orientation) if _listed(orientation) else []
    if len(rows) == 2 and not _is_turn(rows[0]):
        rows = [rows]
    if len(rows) == 3 and all(_listed(row) and len(row) == 3 for row in rows):
        return _matrix(checker, rows, location)
    if rows and all(map(_is_turn, rows)):
        R = IDENTITY
        for axis, angle in rows:
            about = checker.direction(axis, location, "orientation")
            turn_angle = checker.constant(angle, location, "orientation")
            R = R if about is None else matmul(R, _exact(turn_about(about, turn_angle)))
        return R
    checker.problem(location, f"orientation={orientation!r} is not {ALLOWED}.")
    return IDENTITY


def _matrix(checker: Checker, rows: list[Any], location: str) -> Mat3:
    x, y, z = (checker.vector(row, location, "orientation") for row in rows)
    R: Mat3 = x, y, z
    if any(symbols(*row) for row in R):
        products = matmul(transpose(R), R)
        is_orthogonal = all(_same(products[i][j], IDENTITY[i][j]) for i in range(3) for j in range(3))
        is_rotation = is_orthogonal and _same(dot3(R[0], cross3(R[1], R[2])), IDENTITY[0][0])
        if not is_rotation:
            message = "is not a rotation for all values of its parameters; turns (axis, angle) always are"
            checker.problem(location, f"orientation: the matrix {message}.")
        return R
    numbers = np.array([evaluate(row, {}) for row in R])
    U, _, Vt = np.linalg.svd(numbers)
    closest_rotation = U @ Vt
    deviation = float(np.abs(closest_rotation - numbers).max())
    if deviation > CLOSE or np.linalg.det(closest_rotation) < 0:
        reason = f"off by {deviation:.2g}" if deviation > CLOSE else "a reflection"
        checker.problem(
            location, f"orientation: the matrix is no rotation ({reason}); its columns are the axes of the body."
        )
        return R
    x, y, z = ((expression(float(a)), expression(float(b)), expression(float(c))) for a, b, c in closest_rotation)
    return _exact((x, y, z))


def _exact(R: Mat3) -> Mat3:
    """A rotation in which sines and cosines that are -1, 0 or 1 but for rounding are so."""

    def exact(e: Expr) -> Expr:
        if symbols(e):
            return e
        value = evaluate([e], {})[0]
        return expression(round(value)) if abs(value - round(value)) <= RANKS.digits else e

    x, y, z = ((exact(a), exact(b), exact(c)) for a, b, c in R)
    return x, y, z


def _same(a: Expr, b: Expr) -> bool:
    return a.fingerprint == b.fingerprint


def _listed(value: Any) -> bool:
    return hasattr(value, "__len__") and not isinstance(value, str)


def _is_turn(value: Any) -> bool:
    """An axis and an angle."""
    return _listed(value) and len(value) == 2 and (axis_number(value[0]) is not None or _listed(value[0]))
