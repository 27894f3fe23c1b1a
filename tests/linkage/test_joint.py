"""Linkages as joints of a system: published runs, independent evaluation, another joint for the
same machine, bad input."""

from functools import cache

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.core.errors import ModelError, ModelWarning
from bellcrank.linkage import Linkage
from bellcrank.mechanics.derive import results
from bellcrank.mechanics.dynamics import accelerations
from examples import formula_student_corner, madymo_five_link
from tests.linkage.machines import linkage

FALL = {0.05: 0.255567, 0.10: 0.225985, 0.15: 0.173006, 0.20: 0.094155, 0.25: -0.006536}
SPRING = {0.1: -0.030235, 0.2: -0.047309, 0.5: -0.033527, 1.0: -0.029159, 2.0: -0.028552}


@cache
def five_link(exact):
    return madymo_five_link.model(exact).equations().compile(backend="c")


@pytest.mark.parametrize("exact", [True, pytest.param(False, marks=pytest.mark.campaign)])
def test_free_motion_of_the_five_link(exact):
    """Kruijt (1993), appendix B.2: 1.92 J published, 1.9194208 J recomputed; after 1 s z = 0.268370
    m, z' = 0.211053 m/s."""
    run = five_link(exact).simulate(step=0.0005)
    assert run.ended == "finished"
    assert run["q(wheel)"][-1] == pytest.approx(0.268370, abs=1e-6)
    assert run["u(wheel)"][-1] == pytest.approx(0.211053, abs=1e-6)
    kinetic = run["kinetic"]
    assert kinetic[0] == pytest.approx(1.9194207698, rel=1e-9 if exact else 1e-7)
    assert np.ptp(kinetic) < (1e-9 if exact else 1e-7) * kinetic[0]


def runs(**case):
    models = [formula_student_corner.model(exact=e, **case) for e in (True, False)]
    return [m.equations(optimise="none").compile(backend="c").simulate() for m in models]


def largest_differences(a, b):
    turning = max(np.abs(a[f"w{i}"] - b[f"w{i}"]).max() for i in (1, 2, 3))
    return np.abs(a["z"] - b["z"]).max(), turning


@pytest.mark.campaign
@pytest.mark.parametrize(
    ("case", "channel", "expected"),
    [
        ({"case": "drop"}, "z", FALL),
        ({}, "q(wheel)", SPRING),
        ({"pushrod": "upper_arm", "arms": True}, "q(wheel)", {}),
    ],
)
def test_formula_student_exact_and_table(case, channel, expected):
    """Houdek (2020), chapter 5, recomputed; exact joint and table agree to 1e-7 m and 1e-5
    rad/s."""
    exact, table = runs(**case)
    assert exact.ended == table.ended == "finished"
    dz, dw = largest_differences(exact, table)
    assert dz < 1e-7 and dw < 1e-5
    for t, value in expected.items():
        assert exact[channel][round(t / 0.0005)] == pytest.approx(value, abs=2e-6)


def corner(name, *, moving=True, rack=False, exact=True, units="mks", arm=None):
    """A linkage on a body that turns and moves."""
    s = bc.System("corner", units=units, axes="ISO 8855")
    chain = linkage(name)
    base = (
        s.add_body(
            "base",
            translate=3,
            rotate=(3, 2, 1),
            mass=400,
            inertia=(90, 200, 220),
            cm=(0.3, 0, 0.5),
        )
        if moving
        else None
    )
    steer = s.add_body("rack", parent=base, translate=2, mass=3, inertia=0) if rack else None
    wheel = s.add_body(
        "wheel", parent=base, mass=38, inertia=(0.9, 1.4, 0.9), cm=chain.points["wheel_centre"]
    )
    given = chain
    if not exact:
        given = chain.table(step=0.01, range=(-0.08, 0.08), rack=(-0.04, 0.04) if rack else None)
    joint = s.add_linkage("c", given, base=base, carrier=wheel, exact=exact, rack=steer)
    if arm:
        joint.link(arm, mass=6, inertia=(0.12, 0.08, 0.18))
    s.add_gravity()
    return s, joint


@pytest.mark.parametrize(
    ("name", "options"),
    [
        pytest.param("five_link", {}, marks=pytest.mark.campaign),
        pytest.param(
            "double_wishbone", {"rack": True, "arm": "lower_arm"}, marks=pytest.mark.campaign
        ),
        pytest.param(
            "double_wishbone",
            {"rack": True, "exact": False, "arm": "upper_arm"},
            marks=pytest.mark.campaign,
        ),
        pytest.param("solid_axle", {}, marks=pytest.mark.campaign),
        pytest.param("macpherson", {"arm": "strut"}, marks=pytest.mark.campaign),
        pytest.param(
            "formula_student", {"exact": False, "arm": "pushrod"}, marks=pytest.mark.campaign
        ),
        ("trailing_arm", {"units": "in-lb"}),
    ],
)
def test_equations_agree_with_newton_and_euler(name, options):
    s, joint = corner(name, **options)
    if joint.linkage.chain.struts:
        joint.add_spring(
            "spring", joint.linkage.chain.struts[0].name, stiffness=20000, damping=900, preload=1000
        )
    s.add_output("az", "dot(dxdt(vel(wheel.cm)), [n3])")
    report = bc.check(
        s, states=2, backend="python", run=False, equations=s.equations(optimise="none")
    )
    assert report.passed, str(report)


def arm_on(base, s):
    chain = linkage("trailing_arm")
    wheel = s.add_body(
        "wheel", parent=base, mass=10, inertia=(1, 1, 1), cm=chain.points["wheel_centre"]
    )
    return s.add_linkage("rear", chain, base=base, carrier=wheel)


@pytest.mark.campaign
def test_constraints_on_linkages():
    """A speed constraint that couples travel and body, and a closed loop through the wheel
    centre."""
    s = bc.System("coupled", units="mks", axes="ISO 8855")
    base = s.add_body("base", translate=3, mass=100, inertia=(1, 1, 1))
    arm_on(base, s)
    s.add_constraint("u(wheel) - 0.5*u(base)")
    s.add_gravity()
    report = bc.check(s, states=2, backend="python", run=False)
    assert report.passed, str(report)

    s = bc.System("loop", units="mks", axes="ISO 8855")
    joint = arm_on(None, s)
    rocker = s.add_body(
        "rocker",
        rotate=2,
        joint_at=(0.3, 0.72, 0.8),
        mass=3,
        inertia=(0.1, 0.1, 0.1),
        cm=(0, 0, -0.2),
    )
    end = s.add_point("end", body=rocker, at=(-0.1, 0, -0.3))
    s.add_loop_joint("loop", "distance", between=(end, joint.point("wheel_centre")))
    s.add_gravity()
    s.add_outputs("energy")
    run = s.equations(optimise="none").compile(backend="c").simulate(t_end=1.0, step=0.001)
    assert np.ptp(run["energy"]) < 1e-8 * abs(run["energy"][0]) and np.ptp(run["q(wheel)"]) > 0.01


def test_trailing_arm_is_a_hinge():
    """The same arm as a linkage and as a revolute joint, on a moving body, with the same spring:
    the same accelerations."""
    chain = linkage("trailing_arm")
    p = chain.points
    found = []
    for hinge in (True, False):
        s = bc.System("arm", units="mks", axes="ISO 8855")
        base = s.add_body("base", translate=3, rotate=2, mass=300, inertia=(50, 80, 90))
        if hinge:
            arm = s.add_body(
                "arm",
                parent=base,
                rotate=2,
                joint_at=p["pivot_inner"],
                mass=20,
                inertia=(1, 2, 1.5),
                cm=p["wheel_centre"],
                coordinates_of=base,
            )
            lower = s.add_point("lower", body=arm, at=p["spring_arm"], coordinates_of=base)
            upper = s.add_point("upper", body=base, at=p["spring_base"])
            s.add_strut("spring", magnitude="30000*(x0 - x) - 800*v", between=(lower, upper))
        else:
            arm = s.add_body("arm", parent=base, mass=20, inertia=(1, 2, 1.5), cm=p["wheel_centre"])
            joint = s.add_linkage("rear", chain, base=base, carrier=arm)
            joint.add_spring("spring", "spring", stiffness=30000, damping=800, preload=0)
        s.add_gravity()
        s.add_output("az", "dot(dxdt(vel(arm.cm)), [n3])")
        s.add_output("spin", "dot(dxdt(rot(arm)), [n2])")
        s.add_output("vx", "dot(vel(arm.cm), [n1])")
        sim = s.equations().compile(backend="python")
        z, rate = 0.04, 0.7
        pose = chain.solve(z)
        angle = np.arcsin(pose.rotation[0, 2])
        own = (angle, rate * pose.delta[1]) if hinge else (z, rate)
        q, u = sim.assemble(
            {
                "q(base, 2)": 0.1,
                "u(base, 2)": 0.9,
                "u(base, 1)": 0.3,
                "q(arm)": own[0],
                "u(arm)": own[1],
            }
        )
        _, udot = sim.derivatives(0.0, q, u)
        found.append([*udot[:2], *(sim.outputs(0.0, q, u)[c] for c in ("az", "spin", "vx"))])
    assert found[1] == pytest.approx(found[0], rel=1e-11)


@pytest.mark.campaign
def test_generated_c_is_the_python_solver():
    for name, options in (
        ("double_wishbone", {"rack": True}),
        ("formula_student", {"exact": False}),
    ):
        s, _ = corner(name, moving=False, **options)
        eom = s.equations()
        python, c = (eom.compile(backend=b) for b in ("python", "c"))
        rng = np.random.default_rng(1)
        for _ in range(5):
            q, u = (
                0.03 * rng.uniform(-1, 1, len(eom.coordinates)),
                rng.uniform(-1, 1, len(eom.speeds)),
            )
            a, b = (sim.derivatives(0.0, q.tolist(), u.tolist())[1] for sim in (python, c))
            assert b == pytest.approx(a, rel=1e-9)


@pytest.mark.parametrize(
    ("exact", "words"),
    [
        (True, "the linkage of body 'wheel' leaves its range: q(wheel) = 0.28"),
        pytest.param(False, "allowed -0.205 to 0.275 m", marks=pytest.mark.campaign),
    ],
)
def test_the_end_of_the_range_ends_a_run_with_a_message(exact, words):
    run = five_link(exact).simulate(t_end=2.0)
    assert "leaves its range" in run.ended and words in run.ended


@pytest.mark.parametrize(
    "backends", [("python",), pytest.param(("c", "python"), marks=pytest.mark.campaign)]
)
def test_a_table_may_be_extended_by_choice(backends):
    s = bc.System("extended", units="mks", axes="ISO 8855")
    wheel = s.add_body("wheel", mass=12, inertia=(1, 1, 1), cm=(0, 0.768, 0))
    table = linkage("five_link").table(step=0.01, range=(-0.05, 0.05))
    joint = s.add_linkage("rear", table, carrier=wheel, exact=False, extend=True)
    s.add_gravity()
    eom = s.equations()
    with pytest.warns(
        ModelWarning,
        match=r"goes from -0\.05 to 0\.05 m, but q\(wheel\) went from .* it was extrapolated "
        r"linearly",
    ):
        runs = [
            eom.compile(backend=b).simulate(t_end=0.15, step=0.005, initial={joint.q: 0.0})
            for b in backends
        ]
    assert runs[0].ended == "finished" and runs[0]["q(wheel)"][-1] < -0.08
    assert runs[-1]["q(wheel)"][-1] == pytest.approx(runs[0]["q(wheel)"][-1], rel=1e-12)


def test_spring_by_ride_height_holds_the_wheel():
    s = bc.System("ride", units="mks", axes="ISO 8855")
    chain = linkage("double_wishbone")
    wheel = s.add_body("wheel", mass=40, inertia=(1, 1, 1), cm=chain.points["wheel_centre"])
    joint = s.add_linkage("front", chain, carrier=wheel)
    s.add_gravity(
        direction=s.inertial[3]
    )  # upward, so that the wheel presses on the spring with 40 g
    joint.add_spring("spring", "spring", stiffness=45000, damping=3000, ride=(0.02, 40 * 9.80665))
    _, udot = s.equations().compile(backend="python").derivatives(0.0, [0.02], [0.0])
    assert udot[0] == pytest.approx(0.0, abs=1e-9)


def test_equilibrium_of_a_long_model_with_a_linkage(monkeypatch):
    """Models with many degrees of freedom are taken by recursion, where joints allow it; here one
    does not."""
    for module in (accelerations, results):
        monkeypatch.setattr(module, "MAX_DOF_FACTORIZATION", 3)
    s = bc.System("row", axes="ISO 8855")
    chain = linkage("double_wishbone")
    wheel = s.add_body("wheel", mass=40, inertia=(1, 1, 1), cm=chain.points["wheel_centre"])
    s.add_linkage("front", chain, carrier=wheel)
    s.add_gravity()
    s.add_force("spring", magnitude="-20000*(x - x0) - 500*v", direction=s.inertial[3], at=wheel.cm)
    for i in range(4):
        b = s.add_body(f"b{i}", translate=3, mass=1 + i)
        s.add_force(
            f"k{i}", magnitude="-1000*(x - x0) - 10*v", direction=s.inertial[3], at=b.origin
        )
    s.add_output("travel", "q(wheel)*1000", units="1")
    found = s.equations(optimise="none").compile(backend="python").equilibrium()
    assert found["q(b3)"] == pytest.approx(-4 * 9.80665 / 1000, rel=1e-9)
    assert (
        found["travel"] == pytest.approx(1000 * found["q(wheel)"], rel=1e-12)
        and found["travel"] < -1
    )
    assert found.outputs.keys() == {"travel"}


def bad(call, *arguments, **options):
    with pytest.raises(ModelError) as caught:
        call(*arguments, **options)
    return str(caught.value)


def test_bad_input():
    five = linkage("five_link")
    s = bc.System("bad", units="mks", axes="ISO 8855")
    base = s.add_body("base", translate=3, mass=1, inertia=(1, 1, 1))
    wheel = s.add_body("wheel", parent=base, mass=1, inertia=(1, 1, 1))
    s.add_body("rack", parent=base, translate=1, mass=1, inertia=0)
    assert "must be added with parent='n'" in bad(s.add_linkage, "l", five, carrier=wheel)
    assert "no body is called 'weel'. Did you mean 'wheel'?" in bad(
        s.add_linkage, "l", five, base=base, carrier="weel"
    )
    assert "has no rack" in bad(s.add_linkage, "l", five, base=base, carrier=wheel, rack="rack")
    assert "slides along (1.0, 0.0, 0.0)" in bad(
        s.add_linkage, "l", linkage("double_wishbone"), base=base, carrier=wheel, rack="rack"
    )
    assert "a Linkage or a Table is needed" in bad(
        s.add_linkage, "l", "five_link.toml", base=base, carrier=wheel
    )
    joint = s.add_linkage("l", five, base=base, carrier=wheel)
    assert "has a linkage already" in bad(s.add_linkage, "m", five, base=base, carrier=wheel)
    assert "no hard point 'X6'" in bad(joint.point, "X6")
    assert "no link 'rod_6'" in bad(joint.link, "rod_6")
    assert "give one of free_length=, preload= and ride=" in bad(
        joint.add_spring, "k", "spring", stiffness=1
    )
    assert "has no strut 'sprig'. Did you mean 'spring'?" in bad(
        joint.add_spring, "k", "sprig", stiffness=1, preload=0
    )
    other = bc.System("moving carrier", units="mks")
    turning = other.add_body("wheel", rotate=2, mass=1, inertia=(1, 1, 1))
    other.add_linkage("l", five, carrier=turning)
    assert (
        "it is carried by a linkage, so it can have no translate, rotate or axes of its own"
        in bad(other.equations)
    )
    assert Linkage.read("five_link").inputs == ("travel",)


@pytest.mark.parametrize("on_body", [False, True])
@pytest.mark.parametrize("point", ["X1", "wheel_centre", "spring_base"])
def test_points_stay_where_they_are_drawn(on_body, point):
    """A hard point does not depend on where the carrier has its origin, or whether a base is named."""
    five = Linkage.read("five_link")
    drawn = five.points[point]
    for joint_at in (None, five.points["wheel_centre"], (0.3, -0.2, 0.1)):
        s = bc.System("points", units="mks", axes="ISO 8855")
        base = s.add_body("base", translate=3, mass=1) if on_body else None
        origin = {} if joint_at is None else {"joint_at": joint_at}
        wheel = s.add_body("wheel", base, mass=12, inertia=(0.74, 1.46, 0.74), **origin)
        joint = s.add_linkage("rear", five, base=base, carrier=wheel)
        position = bc.pos(joint.point(point), s.inertial.origin)
        for k in (1, 2, 3):
            s.add_output(f"p{k}", bc.dot(position, s.inertial[k]))
        sim = s.equations().compile(backend="python")
        n = 1 + on_body
        outputs = sim.outputs(0.0, [0.0] * n, [0.0] * n)
        assert [outputs[f"p{k}"] for k in (1, 2, 3)] == pytest.approx(drawn, abs=1e-12)
