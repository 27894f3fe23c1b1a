"""Armature: the inertia of a rotor behind a gear as it acts on a joint."""

import pytest

import bellcrank as bc
from bellcrank.symbolic.expr import Symbol
from tests.models import WASM, needs_compiler, rarely, relative

RATIO, ROTOR = 10.0, 0.02


def arm(explicit=False, units="mks", armature=RATIO**2 * ROTOR):
    """An arm of two links on the ground whose first joint is geared: with its rotor, or with
    armature."""
    s = bc.System("arm", units=units)
    a = s.add_body(
        "a",
        rotate=3,
        mass=1,
        inertia=(0.1, 0.1, 0.1),
        cm=(0.2, 0, 0),
        armature=0 if explicit else armature,
    )
    s.add_body(
        "b", a, rotate=1, mass=2, inertia=(0.2, 0.2, 0.3), cm=(0.5, 0.1, 0), joint_at=(0.4, 0, 0)
    )
    if explicit:
        s.add_body("rotor", rotate=3, mass=0, inertia=(ROTOR / 2, ROTOR / 2, ROTOR))
        s.add_constraint(f"u(rotor) - {RATIO}*u(a)", eliminate="u(rotor)")
    s.add_gravity(direction="-[n2]")
    s.add_outputs("energy")
    s.set_run(t_end=0.5, step=0.002, initial={"q(a)": 1.0})
    return s


def test_armature_is_the_geared_rotor():
    geared, short = (arm(explicit).equations() for explicit in (True, False))
    first, second = (eom.compile(backend="python").simulate() for eom in (geared, short))
    for name in ("q(a)", "q(b)", "u(a)", "energy", "kinetic"):
        assert relative(second[name], first[name]) < 1e-10


def test_armature_adds_to_the_diagonal_and_costs_next_to_nothing():
    free, geared = (
        arm(False, armature=0).equations(solve="explicit"),
        arm(False, armature="ar").equations(solve="explicit"),
    )
    M, G = free.mass_matrix, geared.mass_matrix
    added = [
        [(g - m).fingerprint for g, m in zip(*rows, strict=True)] for rows in zip(G, M, strict=True)
    ]
    assert added == [[Symbol("ar", "parameter").fingerprint, 0], [0, 0]]
    assert geared.operation_count()["total"] <= free.operation_count()["total"] + 3


def linkage():
    """A four-bar with rotors on two joints."""
    s = bc.System("linkage", units="mks")
    a = s.add_body("crank", rotate=3, mass=1, inertia=(0.1, 0.1, 0.1), cm=(0.2, 0, 0), armature=0.7)
    b = s.add_body(
        "coupler",
        a,
        rotate=3,
        mass=2,
        inertia=(0.2, 0.2, 0.3),
        cm=(0.5, 0, 0),
        joint_at=(0.4, 0, 0),
    )
    c = s.add_body(
        "rocker",
        rotate=3,
        mass=1,
        inertia=(0.1, 0.1, 0.2),
        cm=(0.3, 0, 0),
        joint_at=(1, 0, 0),
        armature="ar",
    )
    ends = s.add_point("p", b, at=(1, 0, 0)), s.add_point("r", c, at=(0.8, 0, 0))
    s.add_loop_joint("loop", "revolute", between=ends, axis=s.inertial[3])
    s.add_gravity(direction="-[n2]")
    s.add_outputs("energy", "reactions")
    s.set_defaults(ar=0.4)
    s.set_run(t_end=0.4, step=0.002, initial={"q(crank)": 1.0})
    return s


def constrained():
    """Speeds that follow others, with rotors on all of them, and one that is driven."""
    s = bc.System("constrained", units="mks")
    s.add_input("w", units="A/T")
    a = s.add_body("a", rotate=3, mass=1, inertia=(0.1, 0.1, 0.1), cm=(0.2, 0, 0), armature=0.7)
    b = s.add_body(
        "b",
        a,
        translate=1,
        mass=2,
        inertia=(0.2, 0.2, 0.3),
        cm=(0.5, 0, 0),
        joint_at=(0.4, 0, 0),
        armature=0.3,
    )
    c = s.add_body("c", b, rotate=2, mass=2, inertia=(0.1, 0.2, 0.15), armature=0.2)
    s.add_body("d", c, rotate=1, mass=1, inertia=(0.1, 0.1, 0.1), cm=(0, 0, 0.2), armature=0.1)
    s.add_constraint("u(b) - 0.3*u(a) - 0.1*sin(q(c))*u(c)", eliminate="u(b)")
    s.add_constraint("u(d) - w", eliminate="u(d)")
    s.add_gravity(direction="-[n2]")
    s.add_outputs("energy", "reactions")
    s.set_run(
        t_end=0.4, step=0.002, initial={"q(a)": 1.0}, inputs={"w": bc.signals.sine(30.0, 2.0)}
    )
    return s


@pytest.mark.parametrize(
    "make",
    rarely([linkage, constrained, arm], (linkage, constrained)),
    ids=["loop", "constraints", "tree"],
)
def test_the_check_knows_armature(make):
    """Virtual power, Newton-Euler, reactions, energy and momentum, each by its own way."""
    report = bc.check(make(), states=1, backend="python")
    assert report.passed, report


@pytest.mark.parametrize(
    "backend", [WASM, pytest.param("c", marks=[needs_compiler, pytest.mark.campaign])]
)
def test_methods_for_loops_agree(backend):
    """Compiled, outputs that need accelerations once lacked a routine in the program of the other
    methods."""
    sim = linkage().equations().compile(backend=backend)
    usual, other = (sim.simulate(t_end=0.1, dae=dae) for dae in ("projection", "dlmm"))
    assert relative(other["u(crank)"], usual["u(crank)"]) < 1e-8


def test_a_spinning_leaf_with_armature():
    """Balanced wheels are taken by their absolute spin, which armature does not resist."""
    s = bc.System("wheel", units="mks")
    a = s.add_body("a", rotate=3, mass=1, inertia=(0.1, 0.1, 0.1))
    s.add_body("wheel", a, rotate=3, mass=1, inertia=(0.1, 0.1, 0.2), armature=0.3)
    s.add_moment("push", magnitude=2, direction=a[3], on=a)
    sim = s.equations().compile(backend="python")
    _, (first, second) = sim.derivatives(0.0, [0.0, 0.0], [0.0, 0.0])
    assert (0.1 + 0.2) * first + 0.2 * second == pytest.approx(2)
    assert 0.2 * first + (0.2 + 0.3) * second == pytest.approx(0, abs=1e-15)


def test_units_of_armature():
    s = arm(False, armature="ar")
    s.add_body("slide", "b", translate=1, mass=1, inertia=0, armature="as_")
    units = {x.name: x.unit.text for x in s.equations().interface.parameters}
    assert units["ar"] == "kg-m2" and units["as_"] == "kg"


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (
            {"rotate": (3, 2, 1), "armature": 1},
            "needs a joint with one rotation or one slide; it has 3",
        ),
        ({"armature": 1}, "needs a joint with one rotation or one slide; it has 0"),
        ({"joint": bc.Screw(pitch=1), "armature": 1}, "it is carried by a screw"),
        ({"rotate": 3, "armature": -1}, "armature=-1 is negative"),
    ],
)
def test_what_cannot_have_armature_is_told(options, told):
    s = bc.System("m", units="mks")
    base = s.add_body("base", rotate=3, mass=1, inertia=(1, 1, 1))
    s.add_body("b", base, mass=1, inertia=(1, 1, 1), **options)
    with pytest.raises(bc.ModelError, match=told):
        s.equations()


def test_a_negative_armature_from_parameters_is_refused():
    s = arm(False, armature="ar")
    s.set_defaults(ar=-1)
    with pytest.raises(bc.ModelError, match="the armature of body 'a' is negative: ar = -1"):
        s.equations().compile(backend="python").simulate()
