"""Reactions of joints and loops: against closed forms, against each other on another tree, and
against rolling bodies."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.verify.check import check
from tests.models import rarely

pytestmark = pytest.mark.filterwarnings(
    "ignore:the initial values contradict"
)  # guesses that choose an assembly


def outputs(s, initial, parameters=None):
    sim = s.equations().compile(backend="python")
    q, u = sim.assemble(initial)
    return sim.outputs(0.0, q, u)


def test_tension_of_a_pendulum():
    s = bc.System("pendulum", units="mks")
    s.add_body("a", rotate=3, cm=("l", 0, 0), mass="m", inertia=0)
    s.add_gravity(direction=-s.inertial[2])
    s.add_outputs("reactions")
    s.set_defaults(l=2.0, m=3.0, g=9.81)
    q, w = -0.7, 1.3
    found = outputs(s, {"q(a)": q, "u(a)": w})
    assert found["F1(a)"] == pytest.approx(-3.0 * (2.0 * w**2 - 9.81 * np.sin(q)), rel=1e-12)
    assert found["F2(a)"] == pytest.approx(0.0, abs=1e-12)  # a point mass: no force across the rod
    assert "M3(a)" not in found  # a pin carries no moment


def four_bar(cut):
    """Crank, coupler, rocker in space, tilted axis; cut at the coupler's pin on the rocker or on
    the crank."""
    s = bc.System("four-bar", units="mks")
    inertia = (0.1, 0.2, 0.3)
    s.add_body("crank", rotate=3, cm=(0.3, 0.1, 0.2), mass=2, inertia=inertia)
    s.add_body(
        "rocker", rotate=3, joint_at=(1.5, 0, 0), cm=(0.2, -0.1, 0.1), mass=3, inertia=inertia
    )
    parent, at = ("crank", (0.6, 0, 0)) if cut == "rocker" else ("rocker", (0.8, 0, 0))
    start = (
        (0, 0, 0) if cut == "rocker" else (-1.4, 0, 0)
    )  # the coupler's origin is at the joint that is kept
    coupler = s.add_body(
        "coupler",
        parent=parent,
        rotate=3,
        joint_at=at,
        cm=(0.5 + start[0], 0.2, -0.3),
        mass=4,
        inertia=inertia,
    )
    ends = {
        "crank": (
            s.add_point("c1", body=coupler, at=start),
            s.add_point("a1", body="crank", at=(0.6, 0, 0)),
        ),
        "rocker": (
            s.add_point("c2", body=coupler, at=(1.4 + start[0], 0, 0)),
            s.add_point("b2", body="rocker", at=(0.8, 0, 0)),
        ),
    }
    s.add_loop_joint("pin", between=ends[cut], directions=(s.inertial[1], s.inertial[2]))
    s.add_gravity(direction=-s.inertial[2])
    s.add_strut(
        "spring", magnitude="-50*(x - 1)", between=(coupler.cm, s.add_point("wall", at=(1, 2, 1)))
    )
    s.add_outputs("reactions")
    return s


def test_the_force_in_a_pin_does_not_depend_on_where_the_loop_is_cut():
    """What is a loop in one description is a joint in the other, and the other way round."""
    at_rocker = four_bar("rocker").equations().compile(backend="python")
    q, u = at_rocker.assemble(
        {"q(crank)": 0.9, "u(crank)": 2.0, "q(rocker)": 1.6, "q(coupler)": -0.6}
    )
    one = at_rocker.outputs(0.0, q, u)
    names = [c.name for c in at_rocker.interface.coordinates]
    value = dict(zip(names, q, strict=True))
    turn = value["q(crank)"] + value["q(coupler)"]  # of the coupler against the ground
    at_crank = four_bar("crank").equations().compile(backend="python")
    p, v = at_crank.assemble(
        {
            "q(crank)": value["q(crank)"],
            "q(rocker)": value["q(rocker)"],
            "q(coupler)": turn - value["q(rocker)"],
            "u(crank)": 2.0,
        }
    )
    two = at_crank.outputs(0.0, p, v)
    for i in (1, 2):
        # joint with the crank: kept in one, cut in the other (force on the coupler in both)
        assert one[f"F{i}(coupler)"] == pytest.approx(two[f"F{i}(pin)"], rel=1e-9, abs=1e-9)
        assert one[f"F{i}(pin)"] == pytest.approx(two[f"F{i}(coupler)"], rel=1e-9, abs=1e-9)
        assert one[f"F{i}(crank)"] == pytest.approx(two[f"F{i}(crank)"], rel=1e-9, abs=1e-9)


def test_ground_reactions_balance_the_whole_mechanism():
    """Forces of the ground on crank and rocker are mass times acceleration of everything, less
    gravity and spring."""
    s = four_bar("rocker")
    for i in (1, 2):
        total = " + ".join(
            f"{m}*dot(dxdt(vel({b}.cm)), [n{i}])"
            for b, m in (("crank", 2), ("rocker", 3), ("coupler", 4))
        )
        s.add_output(f"ma{i}", total)
        s.add_output(
            f"s{i}", f"dot(pos(coupler.cm, wall), [n{i}])*fm(spring)/mag(pos(coupler.cm, wall))"
        )
    s.set_defaults(g=9.81)
    sim = s.equations().compile(backend="python")
    q, u = sim.assemble({"q(crank)": 0.9, "u(crank)": 2.0, "q(rocker)": 1.6, "q(coupler)": -0.6})
    o = sim.outputs(0.0, q, u)
    value = dict(zip([c.name for c in sim.interface.coordinates], q, strict=True))

    def in_ground(body):
        c, si = np.cos(value[f"q({body})"]), np.sin(value[f"q({body})"])
        return np.array([[c, -si], [si, c]]) @ [o[f"F1({body})"], o[f"F2({body})"]]

    ground = in_ground("crank") + in_ground("rocker")
    assert ground[0] == pytest.approx(o["ma1"] - o["s1"], rel=1e-9)
    assert ground[1] == pytest.approx(o["ma2"] - o["s2"] + 9 * 9.81, rel=1e-9)


def test_friction_under_a_rolling_disc():
    """On a slope the friction is a third of the weight along it (2/3 of it accelerates the
    disc)."""
    s = bc.System("disc", units="mks")
    s.add_body("disc", translate=1, rotate=3, mass="m", inertia=(1, 1, "m*r*r/2"))
    s.add_constraint("dot(vel(disc.origin), [n1]) + r*dot(rot(disc), [n3])")
    s.add_gravity(direction=(s.inertial[1] * 0.6 - s.inertial[2] * 0.8))
    s.add_outputs("reactions")
    s.add_output("a", "dot(dxdt(vel(disc.origin)), [n1])")
    s.set_defaults(m=2.0, r=0.3, g=10.0)
    found = outputs(s, {})
    assert found["a"] == pytest.approx(2 / 3 * 6.0, rel=1e-12)
    assert abs(found["lambda1"]) == pytest.approx(2.0 * 6.0 / 3, rel=1e-12)
    assert found["F2(disc)"] == pytest.approx(2.0 * 8.0, rel=1e-12)


def test_drive_moment():
    """A prescribed angle needs the moment of the pendulum's own equation."""
    s = bc.System("driven", units="mks")
    s.add_body("a", rotate=3, cm=(1, 0, 0), mass=2, inertia=(0.5, 0.5, 0.5))
    s.add_body("free", rotate=3, mass=1, inertia=(1, 1, 1))
    s.add_constraint("q(a) - 0.3*sin(4*t)")
    s.add_gravity(direction=-s.inertial[2], g=9.81)
    s.add_outputs("reactions")
    found = outputs(s, {})
    assert found["M3(a)"] == pytest.approx(
        2 * 9.81, rel=1e-9
    )  # at t = 0: no acceleration, level arm


def test_reactions_cost_nothing_when_not_asked_for():
    with_, without = four_bar("rocker"), four_bar("rocker")
    without.description.output_groups.clear()
    assert with_.equations().operation_count() == without.equations().operation_count()


def test_a_ball_joint_carries_no_moment():
    s = bc.System("ball", units="mks")
    s.add_body("b", rotate=(3, 2, 1), mass=1, inertia=(0.1, 0.2, 0.3), cm=(0.1, 0.2, 0.3))
    s.add_gravity(direction="-[n3]")
    s.add_outputs("reactions")
    names = [x.name for x in s.equations().interface.outputs]
    assert names == ["F1(b)", "F2(b)", "F3(b)"]


DIRECTIONS = [
    ("[hand1]", "[n2]"),
    ("[hand1]", "[float3]"),
    ("[slide1]", "[float3]"),
    ("[n2]", "[base1]"),
]
LOOPS = [
    *DIRECTIONS,
    "revolute",
    "spherical",
    "prismatic",
    "cylindrical",
    "universal",
    "planar",
    "distance",
]


@pytest.mark.parametrize("joint", rarely(LOOPS, LOOPS))
def test_every_body_obeys_newton_under_the_reactions_told(joint):
    """Loads between moving bodies at points next to their mass centres, geared rotors on moving
    parents, every loop."""
    s = bc.System("machine", units="mks")
    size = (0.3, 0.4, 0.5)
    base = s.add_body("base", translate=1, rotate=2, mass=5, inertia=(1, 2, 3), cm=(0.1, 0.2, -0.1))
    arm = s.add_body(
        "arm",
        base,
        rotate=3,
        joint_at=(0.5, 0.1, 0),
        mass=2,
        inertia=size,
        cm=(0.3, 0.1, 0),
        armature=0.7,
    )
    slide = s.add_body(
        "slide", arm, translate=1, joint_at=(0.2, 0, 0.1), mass=1, inertia=size, armature="ms"
    )
    hand = s.add_body(
        "hand", slide, rotate=2, joint_at=(0.3, 0, 0), mass=1, inertia=size, cm=(0.2, -0.1, 0.1)
    )
    float_ = s.add_body(
        "float", translate=(1, 2, 3), rotate=(3, 2, 1), mass=1, inertia=size, cm=(0, 0.1, 0.2)
    )
    p, r = s.add_point("p", hand, at=(0.4, 0.1, 0)), s.add_point("r", float_, at=(-0.2, 0, 0.1))
    if joint in DIRECTIONS:  # of either body, or of a third one, which bears a moment
        s.add_loop_joint("loop", between=(p, r), directions=joint)
    elif joint in ("spherical", "distance"):
        s.add_loop_joint(
            "loop", joint, between=(p, r), **{"length": 0.8} if joint == "distance" else {}
        )
    else:
        s.add_loop_joint("loop", joint, between=(p, r), axis="[hand2]")
    s.add_gravity(direction="-[n3]", g=9.81)
    s.add_force(
        "push",
        magnitude="3 + 2*x",
        direction="[arm1]",
        at=p,
        against=s.add_point("b", base, at=(0.1, 1, 0)),
    )
    s.add_strut(
        "spring",
        magnitude="-20*(x - 0.3)",
        between=(s.add_point("h", hand, at=(0, 0.5, 0)), float_.cm),
    )
    s.add_moment("twist", magnitude=4, direction="[slide2]", on=hand, against=base)
    s.add_outputs("reactions")
    s.set_defaults(ms=0.4)
    (line,) = (
        x
        for x in check(s, states=2, backend="python", run=False).lines
        if x.name == "reactions of joints and loops"
    )
    assert line.passed, line


def door(joint):
    s = bc.System("door", units="mks", axes="ISO 8855")
    d = s.add_body("d", rotate=3, cm=(0.5, 0, 1), mass=20, inertia=(7, 9, 2))
    axis = {} if joint == "spherical" else {"axis": d[3]}
    top, ground = s.add_point("p", body=d, at=(0, 0, 2)), s.add_point("gp", at=(0, 0, 2))
    s.add_loop_joint("upper hinge", joint, between=(top, ground), **axis)
    s.add_gravity()
    s.add_outputs("reactions")
    s.set_run(t_end=0.1, step=0.01, initial={"u(d)": 1.0})
    return s


@pytest.mark.parametrize("joint", ["revolute", "spherical", "cylindrical"])
def test_a_door_on_two_hinges(joint):
    """Loads of both hinges: those of least norm among all that balance weight and centrifugal
    force."""
    s = door(joint)
    eom = s.equations()
    assert "F1(d)" in eom.notes[-1]
    assert "least norm" in eom.notes[-1]
    run = eom.compile(backend="python").simulate()
    assert run["q(d)"][-1] == pytest.approx(0.1)
    assert "indeterminate: least-norm" in run.labels["F1(upper hinge)"]
    weight, force = 20 * 9.80665, -20 * 0.5
    # F1, F3, M2 of the lower and of the upper hinge; balance along 1 and 3 and about axis 2 of the
    # lower hinge
    balance = np.array([[1, 0, 0, 1, 0, 0], [0, 1, 0, 0, 1, 0], [0, 0, 1, 2, 0, 1.0]])
    carried = [True] * 3 + [True, joint != "cylindrical", joint != "spherical"]
    expected = np.zeros(6)
    expected[carried] = np.linalg.pinv(balance[:, carried]) @ [
        force,
        weight,
        force * 1 - weight * 0.5,
    ]
    names = [f"{x}({y})" for y in ("d", "upper hinge") for x in ("F1", "F3", "M2")]
    assert [run[n][-1] if n in run else 0.0 for n in names] == pytest.approx(expected, abs=1e-6)
    assert bc.check(s).passed


def test_a_joint_carries_the_moments_that_act_on_its_body():
    """A prismatic joint of a body at rest: the reaction is opposite to every applied moment and to
    its couple."""
    for sign in (1, -1):
        s = bc.System("slider", units="mks")
        base = s.add_body("a", translate=1, mass=2, inertia=(1, 2, 3))
        b = s.add_body("b", parent=base, translate=1, mass=3, inertia=(1, 2, 3))
        moments = {1: 5.0, 2: -7.0, 3: 11.0}
        for axis, size in moments.items():
            s.add_moment(f"m{axis}", magnitude=sign * size, direction=s.inertial[axis], on=b)
        s.add_moment("between", magnitude=2.0, direction=s.inertial[2], on=b, against=base)
        s.add_outputs("reactions")
        found = outputs(s, {})
        expected = {1: -5.0 * sign, 2: 7.0 * sign - 2.0, 3: -11.0 * sign}
        for axis in (1, 2, 3):
            assert found[f"M{axis}(b)"] == pytest.approx(expected[axis], rel=1e-12), axis
            carried = expected[axis] + (
                2.0 if axis == 2 else 0.0
            )  # the couple does not reach the ground
            assert found[f"M{axis}(a)"] == pytest.approx(carried, rel=1e-12), axis


def test_a_geared_rotor_of_a_slide_pushes_at_its_joint():
    """A slide on a slide, each next to the mass centre of the other: the rotor's push has an arm on
    both."""
    h, c, rotor, force = 0.7, 0.4, 0.9, 5.0
    s = bc.System("slides", units="mks")
    base = s.add_body("a", translate=1, mass=2, inertia=(1, 2, 3))
    b = s.add_body(
        "b",
        base,
        translate=1,
        joint_at=(0, h, 0),
        cm=(0, c, 0),
        mass=3,
        inertia=(1, 2, 3),
        armature=rotor,
    )
    s.add_force("push", magnitude=force, direction=s.inertial[1], at=b.cm)
    s.add_outputs("reactions")
    found = outputs(s, {})
    _, relative = np.linalg.solve([[5, 3], [3, 3 + rotor]], [force, force])
    assert found["M3(b)"] == pytest.approx(c * rotor * relative, rel=1e-12)
    assert found["M3(a)"] == pytest.approx((c + h) * rotor * relative, rel=1e-12)
