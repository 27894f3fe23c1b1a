"""Mass, inertia and armature of bodies: read, and rejected where no body could have them."""

from __future__ import annotations

import numpy as np

from bellcrank.core.errors import issue_warning
from bellcrank.core.numeric.real_numbers import display_text
from bellcrank.core.numeric.tuning import RANKS
from bellcrank.model.checker import DescriptionChecker
from bellcrank.model.records import BodyRecord
from bellcrank.symbolic.expr import ZERO, Expr, Number, evaluate, free_symbols
from bellcrank.symbolic.vector.basis import ZEROS, Mat3

Rows = tuple[tuple[Expr, ...], ...]


def read_mass(checker: DescriptionChecker, record: BodyRecord, location: str) -> Expr:
    if record.mass is None:
        return checker.scope.parameter(f"{record.name}m")
    mass = checker.read_constant(record.mass, location, "mass")
    if isinstance(mass, Number) and mass.value < 0:
        checker.add_problem(location, f"mass={display_text(record.mass)} is negative.")
    return mass


def read_armature(
    checker: DescriptionChecker, record: BodyRecord, speeds: int, location: str
) -> Expr:
    armature = checker.read_constant(record.armature, location, "armature")
    if armature is not ZERO and (speeds != 1 or record.joint is not None):
        motion_text = (
            f"it is carried by a {getattr(record.joint, 'carrier_kind', 'joint')}"
            if record.joint
            else f"it has {speeds}"
        )
        checker.add_problem(
            location,
            f"armature={record.armature!r} needs a joint with one rotation or one slide; "
            f"{motion_text}.",
        )
    if isinstance(armature, Number) and armature.value < 0:
        checker.add_problem(location, f"armature={record.armature!r} is negative.")
    return armature


def read_inertia(checker: DescriptionChecker, record: BodyRecord, location: str) -> Mat3:
    inertia = record.inertia
    if inertia is None:
        names = [[f"{record.name}i{min(r, c)}{max(r, c)}" for c in (1, 2, 3)] for r in (1, 2, 3)]
        return tuple(tuple(map(checker.scope.parameter, row)) for row in names)  # type: ignore[return-value]
    if isinstance(inertia, int | float) and inertia == 0:
        return ZEROS
    has_three_items = (
        not isinstance(inertia, str) and hasattr(inertia, "__len__") and len(inertia) == 3
    )
    rows = (
        [hasattr(r, "__len__") and not isinstance(r, str) for r in inertia]
        if has_three_items
        else []
    )
    if has_three_items and all(rows) and all(len(r) == 3 for r in inertia):
        matrix = tuple(
            tuple(checker.read_constant(x, location, "inertia") for x in row) for row in inertia
        )
    elif has_three_items and not any(rows):
        moments = [checker.read_constant(x, location, "inertia") for x in inertia]
        matrix = tuple(tuple(moments[r] if r == c else ZERO for c in range(3)) for r in range(3))
    else:
        expected = "must be 0, three moments, or a 3 x 3 matrix"
        plane = (
            " A body that moves in a plane takes its one moment three times: (i, i, i)."
            if not has_three_items
            else ""
        )
        checker.add_problem(location, f"inertia={display_text(inertia)} {expected}.{plane}")
        return ZEROS
    return _check_physical_inertia(checker, _symmetrized(checker, matrix, location), location)


def _symmetrized(checker: DescriptionChecker, matrix: Rows, location: str) -> Rows:
    """The matrix with its upper triangle in both; a problem if the two differ by more than
    rounding."""
    values = [_random_values(matrix, draw) for draw in range(2)]
    sizes = [np.abs(v).max(initial=0.0) for v in values]
    for r, c in ((0, 1), (1, 2), (0, 2)):
        if matrix[r][c].fingerprint == matrix[c][r].fingerprint:
            continue
        if not all(
            abs(v[r, c] - v[c, r]) <= RANKS.symmetric * size
            for v, size in zip(values, sizes, strict=True)
        ):
            difference = (
                f"element ({r + 1}, {c + 1}) is {matrix[r][c]}, element ({c + 1}, {r + 1}) is "
                f"{matrix[c][r]}."
            )
            checker.add_problem(location, f"inertia is not symmetric: {difference}")
            break
    return tuple(tuple(matrix[min(r, c)][max(r, c)] for c in range(3)) for r in range(3))


def _random_values(matrix: Rows, draw: int) -> np.ndarray:
    """The elements as numbers, parameters drawn at random; the same in every run."""
    parameters = {s for row in matrix for x in row for s in free_symbols(x) if s.kind != "constant"}
    values: dict[Expr, float] = {s: 0.5 + (s.fingerprint >> draw) % 10**9 / 1e9 for s in parameters}
    return np.array([evaluate(row, values) for row in matrix])


def _check_physical_inertia(checker: DescriptionChecker, matrix: Rows, location: str) -> Mat3:
    """The matrix; a problem if it has a negative principal value, a warning if no real body has
    it."""
    if any(s.kind != "constant" for row in matrix for x in row for s in free_symbols(x)):
        return matrix  # type: ignore[return-value]
    principal = np.linalg.eigvalsh(_random_values(matrix, 0))
    moments_text = ", ".join(f"{p:.6g}" for p in principal)
    if principal[0] < -1e-12 * max(abs(principal[2]), 1e-300):
        checker.add_problem(
            location,
            f"inertia is not physical: its principal values are {moments_text}; none may be "
            f"negative.",
        )
    elif message := unphysical_inertia_reason(principal):
        issue_warning(f"{location}: {message}")
    return matrix  # type: ignore[return-value]


def unphysical_inertia_reason(principal: np.ndarray) -> str:
    """Why no real body has these principal moments of inertia, which are in order; nothing if one
    could."""
    if principal[0] + principal[1] >= principal[2] * (1 - 1e-9):
        return ""
    moments_text = ", ".join(f"{p:.6g}" for p in principal)
    plane = (
        ". For planar motion only one of them matters: give it three times, (i, i, i)"
        if principal[1] == 0
        else ""
    )
    return (
        f"principal moments of inertia {moments_text} violate the triangle inequality (no real "
        f"body has them){plane}"
    )
