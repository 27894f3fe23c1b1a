"""The orientation of a body in its parent at zero coordinates, where it is given: a matrix, or
turns one after another.

In:  a `DescriptionChecker` and what stands in the record. Out: R_AB, whose columns are the axes of
the body in the parent.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bellcrank.core.numeric.tuning import RANKS
from bellcrank.model.checker import DescriptionChecker
from bellcrank.symbolic.expr import Expr, evaluate, expression, free_symbols
from bellcrank.symbolic.expr.formula_parser import axis_number
from bellcrank.symbolic.vector.basis import (
    IDENTITY,
    Mat3,
    cross3,
    dot3,
    matmul,
    rotation_about,
    transpose,
)

ORIENTATION_FORMS = "a 3 x 3 rotation matrix, a turn (axis, angle), or several turns"
ROTATION_TOLERANCE = 1e-6  # how far a matrix of numbers may be from a rotation; it is then made one


def read_orientation(checker: DescriptionChecker, orientation: Any, location: str) -> Mat3:
    """R_AB of a matrix whose columns are the axes of the body, or of turns about axes of the body
    as it is turned."""
    rows = list(orientation) if _is_sequence(orientation) else []
    if len(rows) == 2 and not _is_axis_angle_pair(rows[0]):
        rows = [rows]
    if len(rows) == 3 and all(_is_sequence(row) and len(row) == 3 for row in rows):
        return _check_rotation_matrix(checker, rows, location)
    if rows and all(map(_is_axis_angle_pair, rows)):
        R = IDENTITY
        for axis, angle in rows:
            about = checker.read_direction(axis, location, "orientation")
            turn_angle = checker.read_constant(angle, location, "orientation")
            R = R if about is None else matmul(R, _snap_rotation(rotation_about(about, turn_angle)))
        return R
    checker.add_problem(location, f"orientation={orientation!r} is not {ORIENTATION_FORMS}.")
    return IDENTITY


def _check_rotation_matrix(checker: DescriptionChecker, rows: list[Any], location: str) -> Mat3:
    x, y, z = (checker.read_vector(row, location, "orientation") for row in rows)
    R: Mat3 = x, y, z
    if any(free_symbols(*row) for row in R):
        products = matmul(transpose(R), R)
        is_orthogonal = all(
            _are_equal(products[i][j], IDENTITY[i][j]) for i in range(3) for j in range(3)
        )
        is_rotation = is_orthogonal and _are_equal(dot3(R[0], cross3(R[1], R[2])), IDENTITY[0][0])
        if not is_rotation:
            message = (
                "is not a rotation for all values of its parameters; turns (axis, angle) always are"
            )
            checker.add_problem(location, f"orientation: the matrix {message}.")
        return R
    numbers = np.array([evaluate(row, {}) for row in R])
    U, _, Vt = np.linalg.svd(numbers)
    closest_rotation = U @ Vt
    deviation = float(np.abs(closest_rotation - numbers).max())
    if deviation > ROTATION_TOLERANCE or np.linalg.det(closest_rotation) < 0:
        reason = f"off by {deviation:.2g}" if deviation > ROTATION_TOLERANCE else "a reflection"
        checker.add_problem(
            location,
            f"orientation: the matrix is no rotation ({reason}); its columns are the axes "
            f"of the body.",
        )
        return R
    x, y, z = (
        (expression(float(a)), expression(float(b)), expression(float(c)))
        for a, b, c in closest_rotation
    )
    return _snap_rotation((x, y, z))


def _snap_rotation(R: Mat3) -> Mat3:
    """A rotation in which sines and cosines that are -1, 0 or 1 but for rounding are so."""

    def snap_entry(e: Expr) -> Expr:
        if free_symbols(e):
            return e
        value = evaluate([e], {})[0]
        return expression(round(value)) if abs(value - round(value)) <= RANKS.digits else e

    x, y, z = ((snap_entry(a), snap_entry(b), snap_entry(c)) for a, b, c in R)
    return x, y, z


def _are_equal(a: Expr, b: Expr) -> bool:
    return a.fingerprint == b.fingerprint


def _is_sequence(value: Any) -> bool:
    return hasattr(value, "__len__") and not isinstance(value, str)


def _is_axis_angle_pair(value: Any) -> bool:
    """An axis and an angle."""
    return (
        _is_sequence(value)
        and len(value) == 2
        and (axis_number(value[0]) is not None or _is_sequence(value[0]))
    )
