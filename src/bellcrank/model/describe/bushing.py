"""Bushings: six springs and dampers between two bodies, along and about the axes of one of them, as
forces and moments.

Deflections are those of a point p of the first body from where it lies in the second one nominally,
and the rotation vector phi of the first body in the second from the nominal rotation, both on axes
of the second. With the stiffness K the energy is (d, phi) K (d, phi)/2, whose slopes are the loads
at any angle below half a turn: the rotation vector changes with J w, J = 1 - [phi]/2 + k [phi]^2,
so the moment is J^T times what K says (Bullo and Murray 1995, Proportional derivative control on
the Euclidean group, eq. 3).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bellcrank.core.errors import ModelError
from bellcrank.model.describe.builder import Builder, check_name
from bellcrank.model.formula import Formula, call_formula, dot, dxdt, nominal, pos, rot, to_syntax
from bellcrank.model.scope import referenced_name

SERIES = 1e-3  # of 1 - cos(angle), below which series are taken: their next terms are rounding
OWN = (".origin", ".cm")
Row = list[Any]


def add_bushing(
    s: Builder,
    name: str,
    at: Any,
    against: Any,
    stiffness: Any,
    damping: Any,
    label: str | None = None,
) -> None:
    """Loads of a bushing on the body of the point `at`, the opposite ones on `against`, through the
    same point."""
    check_name(name, "bushing")
    K, C = (
        _as_6x6_rows(s, name, "stiffness", stiffness),
        _as_6x6_rows(s, name, "damping", 0 if damping is None else damping),
    )
    point, body = _point_and_body(s, name, at)
    other_body = s.inertial.name if against is None else referenced_name(against)
    if not isinstance(other_body, str):
        raise ModelError(f"bushing '{name}': against={against!r} must be a body", s.name)
    if other_body == body:
        raise ModelError(f"bushing '{name}' would act between '{body}' and itself", s.name)
    axes = [Formula(to_syntax(f"[{other_body}{i}]")) for i in (1, 2, 3)]
    offsets = [dot(pos(point, f"{other_body}.origin"), a) for a in axes]
    deflection, rates = [], []
    for i, x in enumerate(offsets, 1):
        s.define(f"{name}_x{i}", x - nominal(x))
        deflection.append(_formula_for_name(f"{name}_x{i}"))
        rates.append(dxdt(x))
    rates += [dot(rot(body) - rot(other_body), a) for a in axes]
    turning = any(
        not _is_zero(x)
        for rows in (K, C)
        for i in range(6)
        for x in (*rows[i][3:], *rows[3 + i % 3])
    )
    if turning:
        deflection += _rotation_vector(s, name, body, axes)
    elastic_loads = [_weighted_sum(row, deflection) for row in K]
    if turning:
        for i, g in enumerate(elastic_loads[3:], 1):
            s.define(f"{name}_m{i}", g)
        elastic_loads[3:] = _apply_tangent_map(
            s, name, deflection[3:], [_formula_for_name(f"{name}_m{i}") for i in (1, 2, 3)]
        )
    base_label = label or f"bushing {name}"
    for i, axis in enumerate(axes):
        force = -(elastic_loads[i] + _weighted_sum(C[i], rates))
        s.add_force(
            f"{name}.f{i + 1}",
            magnitude=force,
            direction=axis,
            at=point,
            against=f"{other_body}.origin",
            label=f"{base_label}, force along axis {i + 1}",
        )
        if turning:
            moment = -(elastic_loads[3 + i] + _weighted_sum(C[3 + i], rates))
            s.add_moment(
                f"{name}.m{i + 1}",
                magnitude=moment,
                direction=axis,
                on=body,
                against=other_body,
                label=f"{base_label}, moment about axis {i + 1}",
            )


def _rotation_vector(s: Builder, name: str, body: str, axes: Sequence[Formula]) -> list[Formula]:
    """The rotation vector: the axis times the angle, from sine and cosine of it."""
    body_axes = [Formula(to_syntax(f"[{body}{i}]")) for i in (1, 2, 3)]
    drawn = [[nominal(dot(a, b)) for b in body_axes] for a in axes]

    def relative_rotation_entry(i: int, j: int) -> Formula:
        return sum(
            (dot(axes[i], b) * drawn[j][k] for k, b in enumerate(body_axes)), Formula(to_syntax(0))
        )

    sines = [
        (relative_rotation_entry(k, j) - relative_rotation_entry(j, k)) / 2
        for j, k in ((1, 2), (2, 0), (0, 1))
    ]
    for i, x in enumerate(sines, 1):
        s.define(f"{name}_s{i}", x)
    s1, s2, s3 = (_formula_for_name(f"{name}_s{i}") for i in (1, 2, 3))
    s.define(
        f"{name}_c",
        (
            relative_rotation_entry(0, 0)
            + relative_rotation_entry(1, 1)
            + relative_rotation_entry(2, 2)
            - 1
        )
        / 2,
    )
    c = _formula_for_name(f"{name}_c")
    e, square = 1 - c, s1**2 + s2**2 + s3**2
    s.define(
        f"{name}_sine", call_formula("sqrt", call_formula("max", square, SERIES))
    )  # of no use where it is not the sine
    series = 1 + e / 3 * (1 + e * 2 / 5 * (1 + e * 3 / 7 * (1 + e * 4 / 9)))  # angle over sine
    large = call_formula("atan2", _formula_for_name(f"{name}_sine"), c) / _formula_for_name(
        f"{name}_sine"
    )
    s.define(f"{name}_over", call_formula("where", e < SERIES, series, large))
    angle_over_sine = _formula_for_name(f"{name}_over")
    for i, x in enumerate((s1, s2, s3), 1):
        s.define(f"{name}_turn{i}", angle_over_sine * x)
    square = angle_over_sine**2 * square
    series = (1 + square / 60 * (1 + square / 42 * (1 + square / 40))) / 12
    large = (1 - angle_over_sine * (1 + c) / 2) / call_formula("max", square, SERIES)
    s.define(f"{name}_bend", call_formula("where", e < SERIES, series, large))
    return [_formula_for_name(f"{name}_turn{i}") for i in (1, 2, 3)]


def _apply_tangent_map(
    s: Builder, name: str, phi: Sequence[Formula], g: Sequence[Formula]
) -> list[Formula]:
    """g + phi x g/2 + k phi x (phi x g)."""
    for i, x in enumerate(_cross_product(phi, g), 1):
        s.define(f"{name}_n{i}", x)
    single_cross = [_formula_for_name(f"{name}_n{i}") for i in (1, 2, 3)]
    double_cross = _cross_product(phi, single_cross)
    return [
        a + b / 2 + _formula_for_name(f"{name}_bend") * c
        for a, b, c in zip(g, single_cross, double_cross, strict=True)
    ]


def _cross_product(a: Sequence[Any], b: Sequence[Any]) -> list[Any]:
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def _formula_for_name(name: str) -> Formula:
    return Formula(to_syntax(name))


def _is_zero(value: Any) -> bool:
    return isinstance(value, int | float) and value == 0


def _weighted_sum(row: Row, values: Sequence[Any]) -> Formula:
    terms = [Formula(to_syntax(k)) * x for k, x in zip(row, values) if not _is_zero(k)]
    return sum(terms[1:], terms[0]) if terms else Formula(to_syntax(0))


def _as_6x6_rows(s: Builder, name: str, kind: str, values: Any) -> list[Row]:
    """Six rows: of one value for all, of six, or as they are."""
    items = values.tolist() if isinstance(values, np.ndarray) else values
    if _is_zero(items):
        items = [0] * 6
    rows = list(items) if isinstance(items, tuple | list) else []
    is_matrix = len(rows) == 6 and all(isinstance(r, tuple | list) and len(r) == 6 for r in rows)
    if not is_matrix and (len(rows) != 6 or any(isinstance(r, tuple | list) for r in rows)):
        raise ModelError(
            f"bushing '{name}': {kind}={values!r:.80} must be six values, three along and "
            f"three about the axes, or six "
            "rows of six",
            s.name,
        )
    matrix = (
        [list(r) for r in rows]
        if is_matrix
        else [[x if i == j else 0 for j in range(6)] for i, x in enumerate(rows)]
    )
    if all(isinstance(x, int | float) for r in matrix for x in r):
        A = np.array(matrix, float)
        size = float(np.abs(A).max()) if np.isfinite(A).all() else np.nan
        if np.isnan(size):
            raise ModelError(f"bushing '{name}': {kind} must be finite numbers", s.name)
        if kind == "stiffness" and np.abs(A - A.T).max() > 1e-9 * size:
            raise ModelError(
                f"bushing '{name}': stiffness must be symmetric, or it would make energy", s.name
            )
        lowest_eigenvalue = float(np.linalg.eigvalsh((A + A.T) / 2)[0])
        if lowest_eigenvalue < -1e-9 * size:
            raise ModelError(
                f"bushing '{name}': {kind} has the eigenvalue {lowest_eigenvalue:.4g}; none "
                f"may be negative",
                s.name,
            )
    return matrix


def _point_and_body(s: Builder, name: str, reference: Any) -> tuple[str, str]:
    """A point and the body that it belongs to."""
    point = referenced_name(reference)
    if isinstance(point, str):
        for record in s.description.points:
            if record.name == point:
                body = s.inertial.name if record.body is None else referenced_name(record.body)
                return record.name, str(body)
        for end in OWN:
            if point.endswith(end):
                return point, point[: -len(end)]
    raise ModelError(
        f"bushing '{name}': at={reference!r} must be a point of s.add_point, or origin or "
        f"cm of a body",
        s.name,
    )
