"""The check of models with closed loops: what is right passes, and every wrong equation is
found."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.simulation.run.dae_methods import RedundantEquations
from bellcrank.verify.bodies import ReferenceMechanism
from bellcrank.verify.check import check
from bellcrank.verify.formulas import CannotEvaluate, ParameterValues
from bellcrank.verify.model_under_test import ModelUnderTest
from bellcrank.verify.redundant import system_error
from bellcrank.verify.reference_evaluation import ReferenceEvaluation
from tests.models import rarely
from tests.verify.test_check import corrupted

EXAMPLES = Path(__file__).parents[2] / "examples"
CLOSING = [f"constraint residuals ({level})" for level in ("position", "speed", "acceleration")]
MOTION = "equations of motion (Newton-Euler)"
POWER = "equations of motion (virtual power)"


@cache
def four_bar():
    system = bc.System.read(EXAMPLES / "four_bar.py")
    return system, system.equations()


def wrong_lines(report):
    return {line.name for line in report.lines if not line.passed}


@pytest.mark.campaign
def test_four_bar_passes():
    system, eom = four_bar()
    report = check(system, states=6, equations=eom, backend="python")
    assert report.passed, str(report)
    assert [line.name for line in report.lines][:3] == CLOSING
    assert "energy balance" in [line.name for line in report.lines]


@pytest.mark.parametrize("i", rarely(range(6), (1, 3, 5)))
def test_one_wrong_rate_of_the_four_bar_is_found(i):
    system, eom = four_bar()
    report = check(system, states=2, equations=corrupted(eom, i), backend="python", run=False)
    expected = {"rates of coordinates"} if i < 3 else {CLOSING[2]}
    assert expected <= wrong_lines(report), str(report)


def test_wrong_accelerations_that_keep_the_loop_closed_are_found():
    """All three speed rates wrong along the one motion that the loop allows: only the laws of
    mechanics can report."""
    system, eom = four_bar()
    program = eom.program
    n = len(program.coordinates)
    results = list(program.derivatives.results)
    for i, u in enumerate(program.speeds):  # admissible speeds are a multiple of that motion
        results[n + i] = results[n + i] + 1e-3 * u
    program = replace(program, derivatives=replace(program.derivatives, results=tuple(results)))
    wrong = bc.Equations(replace(eom.derived, program=program))
    report = check(system, states=2, equations=wrong, backend="python")
    assert wrong_lines(report) == {MOTION, POWER, "energy balance"}, str(report)


def test_wrong_right_sides_weigh_the_same_at_every_speed(monkeypatch):
    """Of rows of loops, whose right sides grow with the square of speeds as accelerations do."""
    system, eom = four_bar()
    subject = ModelUnderTest(system, eom, {"backend": "python"}, None, 0)
    (s,) = subject.samples(1)
    numbers = RedundantEquations.evaluate_system

    def wrong(self, at):
        n = numbers(self, at)
        return replace(n, gamma=1.001 * n.gamma)

    monkeypatch.setattr(RedundantEquations, "evaluate_system", wrong)
    fast, faster = (system_error(subject, replace(s, u=x * s.u)) for x in (1e3, 1e5))
    assert 1e-5 < fast == pytest.approx(faster, rel=1e-3)


def test_loop_closed_at_another_point_is_found():
    system, _ = four_bar()
    other = bc.System.read(EXAMPLES / "four_bar.py")
    other.set_defaults(l5=0.12)
    moved = bc.System.read(EXAMPLES / "four_bar.py")
    moved.add_point("dp", body="c", at=(0.5, 0.31, 0), coordinates_of="n")
    moved.description.loops[0].second = "dp"
    report = check(system, states=2, equations=moved.equations(), backend="python", run=False)
    assert CLOSING[0] in wrong_lines(report), str(report)
    assert check(other, states=2, backend="python", run=False).passed


def two_bodies(rotate=(1, 2, 3)):
    """Two bodies on ball joints, under gravity."""
    s = bc.System("two bodies", axes="ISO 8855")
    a = s.add_body("a", rotate=rotate, cm=(0.4, 0.1, 0), mass=2, inertia=(0.1, 0.2, 0.25))
    b = s.add_body(
        "b",
        rotate=(3, 1, 2),
        joint_at=(1.2, 0, 0.3),
        cm=(-0.5, 0, 0.1),
        mass=1,
        inertia=(0.1, 0.15, 0.2),
    )
    p = s.add_point("p", body=a, at=("l", 0.1, 0))
    r = s.add_point("r", body=b, at=(-0.8, 0.2, 0.1))
    s.add_gravity()
    s.add_moment("m", magnitude="-c*dot(rot(a) - rot(b), [a3])", direction=a[3], on=a, against=b)
    s.set_defaults(l=0.9, c=0.4)
    return s, p, r


@pytest.mark.campaign
@pytest.mark.parametrize(
    "rotate",
    [(1, 2, 3), pytest.param("euler-parameters", marks=pytest.mark.campaign)],
    ids=["angles", "euler"],
)
@pytest.mark.parametrize("length", [None, pytest.param("rod_length", marks=pytest.mark.campaign)])
def test_two_bodies_joined_by_a_rod_pass(rotate, length):
    s, p, r = two_bodies(rotate)
    s.add_loop_joint("loop", "distance", between=(p, r), length=length)
    if length:
        s.set_defaults(rod_length=0.6)
    report = check(s, states=3, backend="python")
    assert report.passed, str(report)


@pytest.mark.campaign
def test_ball_closure_passes():
    s, p, r = two_bodies()
    s.add_loop_joint("loop_2", "spherical", between=(p, r))
    report = check(s, states=3, backend="python")
    assert report.passed, str(report)


JOINTS = {"revolute": 5, "prismatic": 5, "cylindrical": 4, "universal": 4, "planar": 3}  # rows


@pytest.mark.campaign  # five rows of a spatial loop, eliminated in symbols, take their time
@pytest.mark.parametrize("joint", JOINTS)
@pytest.mark.parametrize(
    ("axis", "rotation_axis"),
    [("[b2]", (1, 0, 1)), ("[b1] + 2*[b3]", None)],
    ids=["turned", "oblique"],
)
def test_every_joint_passes(joint, axis, rotation_axis):
    """A free body, turned in the reference configuration or with an oblique axis, joined to one
    that stands on a ball joint."""
    s = bc.System(joint)
    a = s.add_body("a", rotate=(1, 2, 3), cm=(0.4, 0.1, 0), mass=2, inertia=(0.1, 0.2, 0.25))
    b = s.add_body(
        "b", translate=(1, 2, 3), rotate=(3, 1, 2), rotation_axis=rotation_axis, joint_at=(1, 0.2, 0.3), mass=1,
        cm=(0.1, 0, 0.2), inertia=(0.1, 0.15, 0.2),
    )  # fmt: skip
    p = s.add_point("p", body=b, at=(0.1, 0.2, 0.3), coordinates_of=s.inertial)
    r = s.add_point("r", body=a, at=(0.1, 0.2, 0.3))
    s.add_loop_joint("loop_3", joint, between=(p, r), axis=axis)
    s.add_gravity()
    eom = s.equations()
    assert len(eom.independent_speeds) == 9 - JOINTS[joint]
    report = check(s, states=2, equations=eom, backend="python", run=joint == "revolute")
    assert report.passed, str(report)


@pytest.mark.campaign
@pytest.mark.parametrize("parts", [("0.8", "0.1", "0.6"), ("ax", "ay", "az")])
def test_a_universal_joint_turns_about_the_axis_with_the_smallest_part(parts):
    """In the equations and in the check, each for itself: the second one. Of parts that only values
    report it is the first, which gives way as it is nearly all."""
    s = bc.System("universal")
    b = s.add_body(
        "b",
        translate=(1, 2, 3),
        rotate=(3, 1, 2),
        mass=1,
        cm=(0.1, 0, 0.2),
        inertia=(0.1, 0.15, 0.2),
    )
    p = s.add_point("p", body=b, at=(0.1, 0.2, 0.3))
    r = s.add_point("r", body=s.inertial, at=(0.1, 0.2, 0.3))
    s.add_loop_joint(
        "loop_4", "universal", between=(p, r), axis="{}*[b1] + {}*[b2] + {}*[b3]".format(*parts)
    )
    s.set_defaults(
        **{
            name: value
            for name, value in zip(parts, (0.96, 0.2, 0.1), strict=True)
            if name.isidentifier()
        }
    )
    report = check(s, states=1, backend="python", run=False)
    assert report.passed, str(report)


@pytest.mark.parametrize("direction", ["[e2]", "[e1] + [n2]"])
def test_reactions_of_a_slot_are_borne_by_the_body_that_has_it(direction):
    """A pin in a slot of a body that slides on another and turns with it; or in one that two bodies
    hold."""
    s = bc.System("slot")
    f = s.add_body("f", rotate=3, mass=1, cm=(0.1, 0, 0), inertia=(0.1, 0.15, 0.2))
    e = s.add_body("e", f, translate=1, joint_at=(0.4, 0.1, 0), mass=1, inertia=(0.1, 0.15, 0.2))
    d = s.add_body(
        "d", rotate=3, joint_at=(1, 0, 0), mass=1, cm=(0.2, 0.1, 0), inertia=(0.1, 0.15, 0.2)
    )
    p, r = s.add_point("p", body=e, at=(0.2, 0.1, 0)), s.add_point("r", body=d, at=(-0.3, 0.2, 0))
    s.add_loop_joint("pin", between=(p, r), directions=(direction,))
    s.add_outputs("reactions")
    s.add_gravity(direction="[n1]")
    report = check(s, states=1, backend="python", run=False)
    assert report.passed and "reactions of joints and loops" in [
        line.name for line in report.lines
    ], str(report)


def driven_wheel():
    """A wheel that rolls along a line, driven from the ground by a crank and a coupler."""
    s = bc.System("driven wheel")
    n = s.inertial
    w = s.add_body(
        "w", translate=1, rotate=3, joint_at=(2, "r", 0), mass=3, inertia=(0.1, 0.1, 0.2)
    )
    c = s.add_body(
        "c", rotate=3, joint_at=(0, "r", 0), cm=(0, 0.15, 0), mass=1, inertia=(0.02, 0.02, 0.03)
    )
    s.add_constraint("u(w, 1) + r*u(w, 2)", label="rolling")
    tip = s.add_point("tip", body=c, at=(0, 0.3, 0))
    s.add_loop_joint("coupler", "distance", between=(tip, w.origin))
    s.add_gravity(direction=-n[2])
    s.add_moment("drive", magnitude="2 - 0.1*u(c)", direction=n[3], on=c)
    s.set_defaults(r=0.5)
    s.set_run(initial={"q(c)": 0.4}, t_end=0.5)
    return s


def test_loop_and_rolling_pass():
    s = driven_wheel()
    eom = s.equations()
    assert len(eom.speeds) == 3
    assert len(eom.independent_speeds) == 1
    report = check(s, states=4, equations=eom, backend="python")
    assert report.passed, str(report)


@pytest.mark.parametrize("i", range(3, 6))
def test_wrong_rate_with_loop_and_rolling_is_found(i):
    s = driven_wheel()
    report = check(s, states=2, equations=corrupted(s.equations(), i), backend="python", run=False)
    assert CLOSING[2] in wrong_lines(report), str(report)


def led_pendulum():
    """A pendulum on a slide that is led."""
    s = bc.System("led pendulum")
    a = s.add_body("a", translate=1, mass=1, inertia=0)
    s.add_body("b", parent=a, rotate=3, cm=(0, -0.5, 0), mass=2, inertia=(0.1, 0.1, 0.1))
    s.add_constraint("q(a) - h*sin(3*t)")
    s.add_gravity(direction="-[n2]")
    s.set_defaults(h=0.2)
    return s


def test_constraint_that_moves_with_time_passes():
    """The guide does work, and the energy balance counts it."""
    report = check(led_pendulum(), states=3, backend="python")
    assert report.passed, str(report)
    assert [line.name for line in report.lines][:3] == CLOSING


def test_dependent_choice_of_free_speeds_is_told():
    machine = ReferenceMechanism.from_description(
        led_pendulum().description, ParameterValues(h=0.2)
    )
    e = ReferenceEvaluation(machine, ["u(a)", "u(b)"], lambda *_: [], freedoms=["u(a)"])
    with pytest.raises(CannotEvaluate, match="depend on each other"):
        e.closed.null_space(np.array([0.0, 0.3]), e.freedoms)


def test_redundant_rows_pass():
    """A planar linkage closed by a ball joint: one of its three rows holds anyway."""
    s = bc.System.read(EXAMPLES / "four_bar.py")
    s.description.loops[0] = replace(s.description.loops[0], directions=(), joint="spherical")
    report = check(s, states=3, backend="python")
    assert report.passed, str(report)


@pytest.mark.campaign
def test_free_linkage_keeps_its_momentum():
    """Three bodies in space, closed to a ring by a rod."""
    s = bc.System("ring")
    a = s.add_body(
        "a", translate=(1, 2, 3), rotate="euler-parameters", mass=2, inertia=(0.3, 0.4, 0.5)
    )
    b = s.add_body(
        "b", parent=a, rotate=3, joint_at=(1, 0, 0), cm=(0, 0.4, 0), mass=1, inertia=(0.1, 0.1, 0.1)
    )
    c = s.add_body(
        "c",
        parent=a,
        rotate=2,
        joint_at=(-1, 0, 0),
        cm=(0.2, 0.4, 0),
        mass=1,
        inertia=(0.1, 0.1, 0.1),
    )
    s.add_loop_joint("loop_5", "distance", between=(b.cm, c.cm))
    report = check(s, states=2, backend="python")
    assert report.passed, str(report)
    assert {"linear momentum", "angular momentum"} <= {line.name for line in report.lines}


@pytest.mark.campaign
def test_dropped_row_is_found():
    """Equations derived without a second loop leave one degree of freedom too many."""
    s, p, r = two_bodies()
    s.add_loop_joint("loop_6", "distance", between=(p, r))
    eom = s.equations()
    s.add_loop_joint("second", "distance", between=("a.cm", "b.cm"))
    report = check(s, states=1, equations=eom, backend="python", run=False)
    lines = [x for x in report.lines if x.name in (MOTION, POWER)]
    assert len(lines) == 2
    for line in lines:
        assert np.isnan(line.value)
        assert "degrees of freedom" in line.note
