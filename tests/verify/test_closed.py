"""What loop joints lock, by the motions that they allow: a free body on the ground, about an axis
that points anywhere."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import bellcrank as bc
from bellcrank.verify.bodies import ReferenceMechanism
from bellcrank.verify.formulas import ParameterValues
from bellcrank.verify.jets import constant_term
from bellcrank.verify.reference_constraints import _least_aligned_axis
from bellcrank.verify.reference_evaluation import ReferenceEvaluation

AXIS, AT = np.array([1.0, 2.0, -2.0]) / 3, np.array([0.1, 0.2, 0.3])
ACROSS = np.cross(AXIS, [1, 0, 0]) / np.linalg.norm(np.cross(AXIS, [1, 0, 0]))
OTHER = np.cross(AXIS, ACROSS)
JOINTS = {  # what it leaves: slides along, turns about
    "revolute": ([], [AXIS]),
    "prismatic": ([AXIS], []),
    "cylindrical": ([AXIS], [AXIS]),
    "planar": ([ACROSS, OTHER], [AXIS]),
    "spherical": ([], list(np.eye(3))),
}


def closed(joint):
    s = bc.System("one body", units="mks")
    body = s.add_body("b", translate=(1, 2, 3), rotate=(1, 2, 3), mass=1, inertia=(1, 1, 1))
    ends = s.add_point("p", body=body, at=tuple(AT)), s.add_point("r", at=tuple(AT))
    axis = (
        {}
        if joint in ("spherical", "distance")
        else {"axis": sum((a * e for a, e in zip(AXIS[1:], (body[2], body[3]))), AXIS[0] * body[1])}
    )
    if joint == "distance":
        ends = ends[0], s.add_point("far", at=tuple(AT + 2 * AXIS))
    s.add_loop_joint("loop", joint, between=ends, **axis)
    machine = ReferenceMechanism.from_description(s.description, ParameterValues())
    names = [*machine.u_names]
    return ReferenceEvaluation(machine, names, lambda *_: [], freedoms=names[:1])


def twist(slide, turn):
    """Speeds of the body: of its origin, and its angular velocity."""
    return np.concatenate([slide - np.cross(turn, AT), turn])


def moved(slide, turn):
    """Coordinates after a turn about the point, and a slide."""
    R = Rotation.from_rotvec(turn)
    return np.concatenate([AT + slide - R.apply(AT), R.as_euler("XYZ")])


@pytest.mark.parametrize("joint", JOINTS)
def test_a_joint_allows_its_motions_and_no_others(joint):
    e = closed(joint)
    slides, turns = JOINTS[joint]
    none = np.zeros(3)
    allowed = [*(twist(x, none) for x in slides), *(twist(none, w) for w in turns)]
    J = e.closed.jacobian(np.zeros(6)).J
    assert np.linalg.matrix_rank(J) == 6 - len(allowed) == 6 - e.closed.dof_count(np.zeros(6))
    assert max(abs(J @ x).max() for x in allowed) < 1e-14
    far = moved(sum((0.3 * x for x in slides), none), 0.7 * turns[0] if turns else none)
    assert e.closed.errors(far, np.zeros(6))[0] < 1e-14
    rows = [constant_term(x) for x in e.closed.residuals(e.machine.motion(far, np.zeros(6)))]
    assert max(map(abs, rows)) < 1e-14
    for slide in (AXIS, ACROSS, OTHER):  # rows are those of positions: linear in slides
        wrong = moved(0.1 * slide, none)
        found = [constant_term(x) for x in e.closed.residuals(e.machine.motion(wrong, np.zeros(6)))]
        assert found == pytest.approx(list(J @ wrong), abs=1e-14)


@pytest.mark.parametrize(
    ("joint", "turn"),
    [("revolute", ACROSS), ("cylindrical", OTHER), ("planar", ACROSS), ("prismatic", AXIS)],
)
def test_a_joint_that_is_turned_over_is_seen(joint, turn):
    """Its rows hold, its axis or its body points the other way."""
    e = closed(joint)
    assert e.closed.has_reference_orientation(
        e.machine.motion(moved(np.zeros(3), np.zeros(3)), np.zeros(6))
    )
    over = moved(np.zeros(3), np.pi * turn)
    assert e.closed.errors(over, np.zeros(6))[0] < 1e-14
    assert not e.closed.has_reference_orientation(e.machine.motion(over, np.zeros(6)))


def test_a_universal_joint_keeps_two_axes_square():
    """Four rows; its own axis may turn, and the other one, which stands in the ground, too."""
    e = closed("universal")
    J = e.closed.jacobian(np.zeros(6)).J
    assert len(J) == np.linalg.matrix_rank(J) == 4
    record = e.machine.description.loops[0]
    met = AXIS
    least = np.eye(3)[
        _least_aligned_axis(
            record, -1, met, e.mechanics_evaluator(e.machine.motion(np.zeros(6), np.zeros(6)))
        )
    ]
    assert least.tolist() == [1, 0, 0]  # the smallest part
    held = np.cross(AXIS, least)
    held /= np.linalg.norm(held)
    for free in (AXIS, held):
        assert abs(J @ twist(np.zeros(3), free)).max() < 1e-14
    assert abs(J @ twist(np.zeros(3), np.cross(AXIS, held))).max() > 0.5


def test_a_rod_of_the_drawn_length():
    e = closed("distance")
    J = e.closed.jacobian(np.zeros(6)).J
    assert np.linalg.matrix_rank(J) == 1
    assert J[0] == pytest.approx(-2 * 2 * twist_row(AXIS), rel=1e-12)
    far = moved(np.zeros(3), 0.7 * ACROSS)  # about its end
    assert e.closed.errors(far, np.zeros(6))[0] < 1e-14


def twist_row(a):
    """a . v of the point, by the speeds."""
    return np.concatenate([a, np.cross(AT, a)])
