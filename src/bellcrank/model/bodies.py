"""Bodies and their joints: parents, coordinates and speeds, directions, and the pose at zero
coordinates.

In:  a `DescriptionChecker` whose names are checked. Out: its drafts, resolved; `make_joint` makes
the joints once all are known.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bellcrank.core.units import unit_system
from bellcrank.model.checker import AXIS, BodyDraft, DescriptionChecker, normalized
from bellcrank.model.inertia import read_armature, read_inertia, read_mass
from bellcrank.model.joints.joint import Joint, JointContext, JointRecord
from bellcrank.model.joints.plain import PlainJoint
from bellcrank.model.joints.rotation import EulerParameters
from bellcrank.model.orientation import read_orientation
from bellcrank.model.records import BodyRecord, Description
from bellcrank.symbolic.expr import ONE, Expr, Symbol, evaluate, expression, free_symbols
from bellcrank.symbolic.expr.formula_parser import axis_number
from bellcrank.symbolic.vector.basis import (
    IDENTITY,
    NULL,
    Vec3,
    add3,
    cross3,
    dot3,
    matmul,
    matvec,
    transpose,
)


def resolve_bodies(checker: DescriptionChecker) -> None:
    bodies = checker.description.bodies
    for position, record in enumerate(bodies):
        checker.index.setdefault(record.name, position)
    checker.drafts += [BodyDraft(record, _resolve_parent(checker, record)) for record in bodies]
    for draft in checker.drafts:  # before any formula is read
        _create_states(checker, draft)
    for draft in checker.drafts:
        _resolve_joint(checker, draft)


def joint_states(record: BodyRecord) -> tuple[list[Symbol], list[Symbol]]:
    """Coordinates and speeds of a body as its joint stands in the record, whatever is wrong with it
    otherwise."""
    checker = DescriptionChecker(Description("", bodies=[record]))
    _create_states(checker, BodyDraft(record, -1))
    return checker.scope.by_body[str(record.name)]


def _resolve_parent(checker: DescriptionChecker, record: BodyRecord) -> int:
    location = f"body '{record.name}'"
    parent_index = checker.body_index(record.parent, location, "parent")
    own_index = checker.index[record.name]
    if parent_index is None or (
        parent_index >= own_index and checker.description.bodies[own_index] is record
    ):
        if parent_index is not None:
            late = f"parent '{record.parent}' must be added before it."
            checker.add_problem(
                location, "a body cannot be its own parent." if parent_index == own_index else late
            )
        return -1
    return parent_index


# ---- what moves


def _create_states(checker: DescriptionChecker, draft: BodyDraft) -> None:
    """Coordinates and speeds of a body."""
    record, location = draft.record, draft.message_label
    slides = _axis_list(checker, record.translate, location, "translate")
    has_parameters = isinstance(record.rotate, str) and record.rotate.lower() in (
        "euler-parameters",
        "euler parameters",
    )
    axes = [] if has_parameters else _axis_list(checker, record.rotate, location, "rotate")
    if not has_parameters and not axes and record.rotation_axis is not None:
        axes = [record.rotation_axis]
    if len(axes) == 2:
        message = "0, 1 or 3 rotations are allowed; use a massless body between two."
        checker.add_problem(location, f"rotate={record.rotate!r}: {message}")
        axes = axes[:1]
    joint_dof = 0
    if record.joint is not None and not isinstance(record.joint, JointRecord):
        checker.add_problem(location, f"joint={record.joint!r} is not a joint.")
    elif record.joint is not None:
        joint_dof = record.joint.coordinate_count
        if (
            slides
            or axes
            or has_parameters
            or record.reference_axis is not None
            or record.orientation is not None
        ):
            carrier_text = f"it is carried by a {record.joint.carrier_kind}"
            checker.add_problem(
                location, f"{carrier_text}, so it can have no translate, rotate or axes of its own."
            )
            slides, axes, has_parameters = [], [], False
    k = len(slides) + joint_dof
    scope, angles, spins = checker.scope, *((4, 3) if has_parameters else (len(axes), len(axes)))
    q, u = _state_names("q", record.name, k + angles), _state_names("u", record.name, k + spins)
    states = [scope.symbol(x, "coordinate") for x in q], [scope.symbol(x, "speed") for x in u]
    scope.by_body.setdefault(record.name, states)
    draft.slides, draft.axes = tuple(slides), tuple(axes)
    if has_parameters:
        draft.rotation = EulerParameters


def _state_names(letter: str, body: str, count: int) -> list[str]:
    return (
        [f"{letter}({body})"]
        if count == 1
        else [f"{letter}({body}, {i})" for i in range(1, count + 1)]
    )


def _axis_list(checker: DescriptionChecker, axes: Any, location: str, option: str) -> list[Any]:
    """A bare axis, one vector, or a sequence of axes."""
    if axes is None or (
        isinstance(axes, Sequence) and not isinstance(axes, str) and len(axes) == 0
    ):
        return []
    if (isinstance(axes, int) and not isinstance(axes, bool)) or axis_number(axes) is not None:
        axes = (axes,)
    elif isinstance(axes, str) or not hasattr(axes, "__len__"):
        checker.add_problem(location, f"{option}={axes!r}: {AXIS}; several are given as a tuple.")
        return []
    axes = list(axes)
    vectors = [hasattr(a, "__len__") and not isinstance(a, str) for a in axes]
    if len(axes) == 3 and not all(
        axis_number(a) is not None or v for a, v in zip(axes, vectors, strict=True)
    ):
        axes = [tuple(axes)]  # three components of one vector
    if len(axes) > 3:
        checker.add_problem(
            location, f"{option}={axes!r} has {len(axes)} axes; at most 3 are allowed."
        )
    return axes[:3]


# ---- where it stands


def _resolve_joint(checker: DescriptionChecker, draft: BodyDraft) -> None:
    record, location = draft.record, draft.message_label
    problem_count = len(checker.problems)
    slides = [checker.read_direction(a, location, "translate") for a in draft.slides]
    axes = [checker.read_direction(a, location, "rotate") for a in draft.axes]
    draft.slides = tuple(s for s in slides if s is not None)
    draft.axes = tuple(a for a in axes if a is not None)
    if len(draft.axes) == 3:
        _three_rotations(checker, draft)
    small = record.small_angles
    if draft.rotation is EulerParameters and (any(small) if hasattr(small, "__len__") else small):
        instead = "use rotate=(1, 2, 3) for small angles."
        checker.add_problem(
            location, f"small_angles cannot be used with Euler parameters; {instead}"
        )
    if len(checker.problems) == problem_count:
        _resolve_orientation(checker, draft)
    R_A, p_A = checker.nominal_pose(draft.parent)
    draft.R_N = matmul(R_A, draft.C)
    joint = checker.read_vector(record.joint_at, location, "joint_at")
    draft.joint_at = checker.transform_coordinates(joint, record.coordinates_of, R_A, p_A, location)
    draft.p_N = add3(p_A, matvec(R_A, draft.joint_at))
    cm = checker.read_vector(record.cm, location, "cm")
    draft.cm = checker.transform_coordinates(
        cm, record.coordinates_of, draft.R_N, draft.p_N, location
    )
    draft.mass = read_mass(checker, record, location)
    draft.inertia = read_inertia(checker, record, location)
    draft.armature = read_armature(
        checker, record, len(checker.scope.by_body[record.name][1]), location
    )


def _three_rotations(checker: DescriptionChecker, draft: BodyDraft) -> None:
    numbers = [_coordinate_axis(a) for a in draft.axes]
    if any(n is None for n in numbers):
        checker.add_problem(
            draft.message_label, "three rotations need coordinate axes: 'x', 'y', 'z' (or 1, 2, 3)."
        )
    elif numbers[0] == numbers[1] or numbers[1] == numbers[2]:
        axis_numbers = tuple(n + 1 for n in numbers)  # type: ignore[operator]
        message = (
            f"rotate={axis_numbers}: two rotations in a row about the same axis are one rotation."
        )
        checker.add_problem(draft.message_label, message)


def _resolve_orientation(checker: DescriptionChecker, draft: BodyDraft) -> None:
    """R_AB at zero coordinates (Sayers 1990, eq. 8.1.4 to 8.1.10)."""
    record, location, axis_input = draft.record, draft.message_label, draft.record.rotation_axis
    if record.orientation is not None:
        if axis_input is not None or record.reference_axis is not None:
            checker.add_problem(
                location, "orientation stands in place of rotation_axis and reference_axis."
            )
        draft.C = read_orientation(checker, record.orientation, location)
        return
    if axis_input is None and record.reference_axis is None:
        return
    body_axis = draft.axes[0] if draft.axes else IDENTITY[2]
    axis = (
        body_axis
        if axis_input is None
        else checker.read_direction(axis_input, location, "rotation_axis")
    )
    if axis is None:
        return
    if not record.rotate and draft.rotation is not EulerParameters and axis_input is not None:
        body_axis = axis if _coordinate_axis(axis) is None else body_axis
        draft.axes = (body_axis,)
    k = _coordinate_axis(body_axis)
    if k is None:
        if record.reference_axis is not None or any(
            a is not b for a, b in zip(axis, body_axis, strict=True)
        ):
            checker.add_problem(
                location,
                "rotation_axis and reference_axis need a rotate axis 1, 2 or 3 of the new body.",
            )
        return
    i, j = (k + 1) % 3, (k + 2) % 3
    axis_input = record.reference_axis
    reference = (
        IDENTITY[i]
        if axis_input is None
        else checker.read_direction(axis_input, location, "reference_axis")
    )
    if reference is None:
        return
    b_j = cross3(axis, reference)
    size = dot3(b_j, b_j)
    if _is_zero_length(size):
        if record.reference_axis is not None:
            axis_text = (
                f"{tuple(map(str, axis))} is parallel to the reference axis "
                f"{record.reference_axis!r}"
            )
            checker.add_problem(
                location,
                f"the rotation axis {axis_text}; the reference_axis must point another way.",
            )
            return
        b_j = cross3(
            axis, IDENTITY[j]
        )  # the default reference happens to be the axis: the next one is taken
        size = dot3(b_j, b_j)
    b_j = normalized(b_j, size)
    columns: list[Vec3] = [NULL, NULL, NULL]
    columns[i], columns[j], columns[k] = cross3(b_j, axis), b_j, axis
    draft.C = transpose((columns[0], columns[1], columns[2]))


def _is_zero_length(size: Expr) -> bool:
    """Is the square of a length zero, exactly or but for rounding?"""
    return size.fingerprint == 0 or (not free_symbols(size) and evaluate([size], {})[0] < 1e-20)


def _coordinate_axis(axis: Vec3) -> int | None:
    return next((k for k in range(3) if axis[k] is ONE), None)


# ---- the joint


def make_joint(checker: DescriptionChecker, draft: BodyDraft) -> Joint:
    scope, location, C = checker.scope, draft.message_label, draft.C
    q, u = map(tuple, scope.by_body[draft.record.name])
    C = IDENTITY if all(C[i][j] is IDENTITY[i][j] for i in range(3) for j in range(3)) else C
    if not isinstance(draft.record.joint, JointRecord):
        k = len(draft.slides)
        return PlainJoint(
            q, u, C, draft.joint_at, draft.rotation(q[k:], u[k:], draft.axes), draft.slides
        )
    site = JointContext(
        q,
        u,
        C,
        draft.joint_at,
        metre=expression(
            float(unit_system(checker.description.units).parse_unit("m").to_equation_units(1.0))
        ),
        problem=lambda text: checker.add_problem(location, text),
        scalar=scope.to_scalar,
        constant=lambda given, what: checker.read_constant(given, location, what),
        direction=lambda given, what: checker.read_direction(given, location, what),
        states=lambda body: scope.by_body.get(body, ([], [])),
    )
    return draft.record.joint.make_joint(site)
