"""Units and names that nobody declared are deduced from where they stand; only definite conflicts
are problems."""

import time
from pathlib import Path
from runpy import run_path

import pytest

import bellcrank as bc
from bellcrank.core.units import parse_dimension
from bellcrank.mechanics.kinematics.analysis import analyse
from bellcrank.mechanics.kinematics.dimensions import infer_quantities
from bellcrank.mechanics.kinematics.dimensions.algebra import normalize_angle
from bellcrank.model.build_mechanism import build_mechanism
from tests.models import LONG_TO_DERIVE, rarely

EXAMPLES = Path(__file__).parents[3] / "examples"


def example(name, **options):
    return run_path(str(EXAMPLES / f"{name}.py"))["model"](**options)


def inferred(system, small=True):
    """Quantities and problems of a description."""
    return infer_quantities(analyse(*build_mechanism(system.description, small)))


def units_of(quantities):
    return {name: unit.text for name, unit in quantities.unit.items()}


def forget_units(system):
    """The same description with no unit declared."""
    for record in system.description.parameters.values():
        record.units = None
    return system


def cart(units="mks"):
    """A cart with a rod on it, of numbers only, so that every parameter is one that a test adds."""
    s = bc.System("cart", units=units)
    body = s.add_body("cart", translate=1, mass=2, inertia=0)
    rod = s.add_body(
        "rod", parent=body, rotate=3, cm=(0, -1, 0), mass=1, inertia=(1, 1, 1), label="long rod"
    )
    return s, body, rod


def force(text, units="mks", **declared):
    """The cart pushed by a force of the given magnitude."""
    s, body, _ = cart(units)
    s.add_force("push", magnitude=text, direction=body[1], at=body.origin)
    s.set_units(declared)
    return s


def moment(text, units="mks", **declared):
    """The rod turned by a moment of the given magnitude."""
    s, body, rod = cart(units)
    s.add_moment("turn", magnitude=text, direction=rod[3], on=rod, against=body)
    s.set_units(declared)
    return s


# ----------------------------------------------------------------------------------------------------- whole models

CAR = {  # Sayers (1990), section 9.1: user units of the passenger car
    "ca1": "lb/deg",
    "ca2": "lb/deg",
    "cam1": "in-lb/deg",
    "cam2": "in-lb/deg",
    "ccoef1": "-",
    "ce": "in",
    "cg1": "lb/deg",
    "croll": "in-lb-s/deg",
    "h": "in",
    "hra": "in",
    "ixx": "in-lb-s2",
    "ixz": "in-lb-s2",
    "iyy": "in-lb-s2",
    "izzr": "in-lb-s2",
    "kroll": "in-lb/deg",
    "krs2": "-",
    "l": "in",
    "nrbi33": "in-lb-s2",
    "nrbm": "lbm",
    "rbm": "lbm",
    "speed": "in/s",
    "steer": "deg",
    "thetar": "deg",
}


@pytest.mark.parametrize("small", [False, True])
def test_passenger_car_has_the_published_units(small):
    quantities, problems = inferred(example("passenger_car", small=small))
    assert problems == []
    found = units_of(quantities)
    assert {name: found[name] for name in CAR} == CAR
    shown = {name: unit.text for name, unit in quantities.output_unit.items()}
    assert shown == {
        "Ay": "g's",
        "r": "deg/s",
        "alpha f": "deg",
        "alpha r": "deg",
        "FY1": "lb",
        "FY2": "lb",
        "MZ1": "in-lb",
        "MZ2": "in-lb",
        "ROLLM": "in-lb",
    }


@pytest.mark.parametrize("small", [False, True])
def test_passenger_car_without_declared_units(small):
    """All follow but two: of cg1 and ccoef1 only the product is determined (Sayers 1990, Table
    9.1.1 prints "?")."""
    quantities, problems = inferred(forget_units(example("passenger_car", small=small)))
    assert problems == []
    found = units_of(quantities)
    expected = CAR | {"cg1": "?", "ccoef1": "?", "g": "g's"}
    assert {name: found[name] for name in expected} == expected
    assert "cg1" not in quantities.dimension


def test_stanford_arm_controller():
    quantities, problems = inferred(example("stanford_arm", controlled=True))
    assert problems == []
    found = units_of(quantities)
    expected = dict.fromkeys(("k1", "k3", "k5", "k7", "k9"), "N-m/rad")
    expected |= dict.fromkeys(("k2", "k4", "k6", "k8", "k10"), "N-m-s/rad")
    expected |= {
        "k11": "N/m",
        "k12": "N-s/m",
        "cdisp": "m",
        "arot": "rad",
        "frot": "rad",
        "l5": "m",
        "mc": "kg",
        "a2": "kg-m2",
    }
    assert {name: found[name] for name in expected} == expected


def test_spacecraft_externals_may_be_anything():
    quantities, problems = inferred(example("spacecraft_1"))
    assert problems == []
    found = units_of(quantities)
    expected = {
        "kb": "N-m/rad",
        "bb": "N-m-s/rad",
        "kclock": "N-m/rad",
        "bclock": "N-m-s/rad",
        "gyro": "s",
        "ltt1": "?",
    }
    assert {name: found[name] for name in expected} == expected


def test_cart_with_rolling_wheels():
    """Sayers (1990), section 9.2: the radius follows from constraints alone."""
    s = bc.System("cart", units="mks")
    b = s.add_body("b", translate=(1, 2), rotate=3, label="body of cart", cm=("cmb1", 0, 0))
    f = s.add_body(
        "f",
        parent=b,
        rotate=3,
        label="front axle",
        joint_at=("l1", 0, 0),
        cm=("-(eps - cmf1)", 0, 0),
    )
    s.add_body(
        "rrw", parent=b, rotate=2, joint_at=(0, "trk2", 0), mass="mw", inertia=("it", "ia", "it")
    )
    s.add_body(
        "rfw",
        parent=f,
        rotate=2,
        joint_at=("-eps", "trk2", 0),
        mass="mw",
        inertia=("it", "ia", "it"),
    )
    s.add_force("thrust", magnitude="f", direction=b[1], at=b.origin)
    s.add_constraint("r*dot([b2], rot(rrw) - rot(b)) - dot(vel(rrw0), [b1])")
    s.add_constraint("dot([b2], vel(rrw0))")
    s.add_output("r", "dot(rot(b), [n3])")
    quantities, problems = inferred(s)
    assert problems == []
    found = units_of(quantities)
    expected = {
        "r": "m",
        "f": "N",
        "eps": "m",
        "cmf1": "m",
        "cmb1": "m",
        "l1": "m",
        "trk2": "m",
        "mw": "kg",
        "ia": "kg-m2",
    }
    assert {name: found[name] for name in expected} == expected
    assert quantities.output_unit["r"].text == "rad/s"
    expected = {
        "bm": "mass of the body of cart",
        "bi33": "moment of inertia of the body of cart (33)",
        "bi12": "product of inertia of the body of cart (12)",
        "cmb1": "coordinate of center of mass of the body of cart in dir 1",
        "cmf1": "term in coordinate of center of mass of the front axle in dir 1",
        "l1": "coordinate of attachment point for the front axle in dir 1",
        "mw": "mass of rrw",
        "ia": "moment of inertia of rrw (22)",
        "f": "thrust",
        "r": "coefficient in constraint #1",
    }
    assert {name: quantities.label[name] for name in expected} == expected


def test_four_bar_strut():
    """Sayers (1990), section 9.3 (without its constraints)."""
    s = bc.System("four bar", units="mks")
    a = s.add_body("a", rotate=3, mass=0, inertia=0)
    b = s.add_body("b", parent=a, rotate=3, joint_at=("l1", 0, 0), cm=(0, "l3", 0))
    s.add_point("s1", body=b, at=(0, "l2", 0), label="strut pt 1")
    s.add_point("s2", at=("l6", "l7", 0))
    s.add_strut("f", magnitude="-k*(x - x0) - v*d", between=("s1", "s2"), label="strut force")
    quantities, problems = inferred(s)
    assert problems == []
    found = units_of(quantities)
    assert {name: found[name] for name in ("k", "d", "l2", "l7", "bm")} == {
        "k": "N/m",
        "d": "N-s/m",
        "l2": "m",
        "l7": "m",
        "bm": "kg",
    }
    expected = {
        "k": "stiffness coefficient in strut force",
        "d": "damping coefficient in strut force",
        "l2": "coordinate of strut pt 1 in dir 2",
        "l7": "coordinate of s2 in dir 2",
    }
    assert {name: quantities.label[name] for name in expected} == expected


@pytest.mark.parametrize(
    "name",
    rarely(
        sorted(p.stem for p in EXAMPLES.glob("*.py")),
        ("suspension_car", "driven_car", *LONG_TO_DERIVE),
    ),
)
def test_examples_have_no_conflicts(name):
    model = run_path(str(EXAMPLES / f"{name}.py")).get("model")
    if model is None:
        pytest.skip("not a model")
    system = model()
    if not isinstance(system, bc.System):
        pytest.skip("derived by hand: units are labels")
    quantities, problems = inferred(system)
    assert problems == []
    assert set(quantities.states) == set(quantities.state_label)
    assert "?" not in {unit.text for unit in quantities.output_unit.values()}


# ------------------------------------------------------------------------------------------------------ single rules


@pytest.mark.parametrize(
    ("system", "expected"),
    [
        (force("f0 - k*(x - x0) - c*v"), {"f0": "N", "k": "N/m", "c": "N-s/m"}),
        (force("-2*k*x/3"), {"k": "N/m"}),
        (force("k*(x - xs)"), {"k": "N/m", "xs": "m"}),
        (force("p*sqrt(x**2 + e)"), {"p": "N/m", "e": "m2"}),
        (force("c*v*abs(v)"), {"c": "kg/m"}),
        (force("a*sin(w*t + phase)", "in-lb"), {"a": "lb", "w": "deg/s", "phase": "deg"}),
        (force("a*sin(2*pi*hz*t)", "in-lb"), {"a": "lb", "hz": "1/s"}),
        (force("a*exp(-t/tau)"), {"a": "N", "tau": "s"}),
        (force("p*pi*r**2", r="L"), {"p": "N/m2"}),
        (force("where(t > t1, f1, min(f2, f3))"), {"t1": "s", "f1": "N", "f2": "N", "f3": "N"}),
        (force("d*sin(c*atan(b*v))"), {"d": "N", "c": "-", "b": "s/m"}),
        (force("ca*atan2(v, vx)", "in-lb"), {"ca": "lb/deg", "vx": "in/s"}),
        (force("mu*dot(vel(rod.cm), [n1])"), {"mu": "N-s/m"}),
        (force("mu*magnitude(pos(rod.cm, cart.origin))"), {"mu": "N/m"}),
        (force("ma*r*dot(rot(rod), [n3])**2", r="L"), {"ma": "kg"}),
        (force("ma*dxdt(vs)", vs="L/T"), {"ma": "kg"}),
        (force("f0*(abs(v)/v0)**n"), {"n": "-"}),
        (force("f0 + delta/compliance", "in-lb", delta="A"), {"compliance": "deg/lb"}),
        (force("s*h + s*h*x"), {"s": "?", "h": "?"}),
        (moment("-k*q(rod) - c*u(rod)", "in-lb"), {"k": "in-lb/deg", "c": "in-lb-s/deg"}),
        (moment("(k - m1*g1*h1)*q(rod)", "in-lb", m1="M", g1="L/T**2", h1="L"), {"k": "in-lb/deg"}),
        (moment("m0*sin(2*(q(rod) - q0))", "in-lb"), {"m0": "in-lb", "q0": "deg"}),
    ],
    ids=lambda case: case.description.forces[0].magnitude if isinstance(case, bc.System) else "",
)
def test_rule(system, expected):
    quantities, problems = inferred(system)
    assert problems == []
    found = units_of(quantities)
    assert {name: found[name] for name in expected} == expected


@pytest.mark.parametrize(
    ("deduced", "kept"),
    [
        ("F*L/A", "F*L/A"),
        ("F/A", "F/A"),
        ("F*L*T/A", "F*L*T/A"),
        ("A/F", "A/F"),
        ("F*L/A**2", "F*L/A**2"),
        ("A", "A"),
        ("A/T", "A/T"),
        ("A/T**2", "A/T**2"),
        ("L/A", "L"),
        ("L*A/T", "L/T"),
        ("1/A", "1"),
        ("T/A", "T"),
        ("A**2", "1"),
        ("M/A**2", "M"),
        ("F*A", "F"),
    ],
)
def test_angle_stays_where_an_engineer_expects_it(deduced, kept):
    assert normalize_angle(parse_dimension(deduced)) == parse_dimension(kept)


def test_definitions_and_python_expressions_carry_units():
    s, body, rod = cart("in-lb")
    s.define("swing", "q(rod) - rest")
    s.define("twice", "gain*swing")
    k, c = s.parameter("k"), s.parameter("c")
    s.add_moment(
        "spring",
        magnitude=-k * (rod.q[1] - s.parameter("q0")) - c * rod.u[1],
        direction=rod[3],
        on=rod,
    )
    s.add_moment("drive", magnitude="kt*twice", direction=rod[3], on=rod)
    s.add_force(
        "drag",
        magnitude=bc.dot(bc.vel(rod.cm), body[1]) * s.parameter("cd"),
        direction=body[1],
        at=body.origin,
    )
    s.add_force("lift", magnitude="fm(drag)*ratio", direction=body[1], at=body.origin)
    s.set_units(gain="1")
    quantities, problems = inferred(s)
    assert problems == []
    found = units_of(quantities)
    expected = {
        "k": "in-lb/deg",
        "c": "in-lb-s/deg",
        "q0": "deg",
        "rest": "deg",
        "kt": "in-lb/deg",
        "cd": "lb-s/in",
        "ratio": "-",
    }
    assert {name: found[name] for name in expected} == expected
    assert quantities.label["rest"] == "angle in swing"


def test_labels_belong_to_names_as_they_are_spelled():
    s = bc.System("mass on a spring", units="mks")
    s.add_body("b", translate=1, mass="M")
    s.add_force("f", magnitude="-k*q(b)", direction="[n1]", at="b.cm")
    s.add_parameter("K")
    s.set_labels(k="stiffness of the spring", K="another stiffness")
    label = inferred(s)[0].label
    assert label["k"] == "stiffness of the spring" and label["K"] == "another stiffness"


def test_variables_have_units_too():
    s, body, _ = cart()
    s.add_input("road", label="road height")
    s.add_force(
        "tyre", magnitude="-k*(x - road) - c*(v - dxdt(road))", direction=body[1], at=body.origin
    )
    quantities, problems = inferred(s)
    assert problems == []
    assert units_of(quantities) == {"k": "N/m", "c": "N-s/m", "road": "m"}
    assert quantities.label["road"] == "road height"


def test_declared_real_units_are_kept():
    quantities, problems = inferred(force("k*x", k="N/mm"))
    assert problems == []
    assert quantities.unit["k"].text == "N/mm"
    assert quantities.unit["k"].to_equation_units(3) == pytest.approx(3000)
    assert str(quantities.dimension["k"]) == "F/L"


def test_an_arm_of_length_one_does_not_hide_a_unit():
    """The rod's mass centre is 1 m from the hinge: in the velocity u(cart) + 1*u(rod)*cos(q) the
    length is not seen."""
    quantities, _ = inferred(force("c*dot(vel(rod.cm), [n1])", "in-lb"))
    assert quantities.unit["c"].text == "lb-s/in"


def test_external_arguments_and_tables():
    s, body, rod = cart()
    s.add_external(
        "motor", arguments=("t - start", "q(rod)"), returns=("volts",), python=lambda t, q: 0.0
    )
    s.define("curve", bc.table([0, 1, 2], [0, 1, 4]))
    s.add_moment("drive", magnitude="gain*volts + m0*1", direction=rod[3], on=rod)
    s.add_force("bump", magnitude="curve(x - gap) + f0", direction=body[1], at=body.origin)
    quantities, problems = inferred(s)
    assert problems == []
    assert units_of(quantities) == {"start": "s", "gain": "?", "m0": "N-m", "gap": "m", "f0": "N"}


# --------------------------------------------------------------------------------------------------------- conflicts


@pytest.mark.parametrize(
    ("system", "problem"),
    [
        (
            force("f + k", f="F", k="F/L"),
            "force 'push': f + k adds quantities of different units: f is N, k is N/m",
        ),
        (
            force("f0 - k*x - k*v", k="F/L"),
            "force 'push': f0 - k*x - k*v adds quantities of different units: f0 - k*x is "
            "N, k*v is N/s",
        ),
        (
            force("k*(x + v)"),
            "force 'push': x + v adds quantities of different units: x is m, v is m/s",
        ),
        (
            force("k*x", k="F"),
            "force 'push': the units of its magnitude k*x are N-m, but N is needed",
        ),
        (
            force("f*sin(x/a)", f="F", a="T"),
            "force 'push': sin(x/a) needs an angle, but the units of x/a are m/s",
        ),
        (
            force("where(x > a, f, 0)", a="T"),
            "force 'push': gt(x, a) compares quantities of different units: x is m, a is s",
        ),
        (
            moment("m0 - k*(q(rod) + x1)", k="F*L/A", x1="L"),
            "moment 'turn': q(rod) + x1 adds quantities of different units: q(rod) is rad, x1 is m",
        ),
        (force("f", f="furlong"), "parameter 'f': no unit is named 'furlong'."),
    ],
)
def test_definite_conflict(system, problem):
    _, problems = inferred(system)
    assert len(problems) == 1
    assert problems[0].startswith(problem)


def test_conflicts_of_facts_name_the_place():
    s = bc.System("facts", units="mks")
    b = s.add_body(
        "b", translate=1, rotate=3, mass="m1", inertia=("i1", "i1", "i1"), cm=("l1", 0, 0)
    )
    s.add_point("p", body=b, at=("m1", 0, 0))
    s.add_constraint("u(b, 1) - l1*q(b, 2)")
    s.add_output("shift", "q(b, 1)", units="A")
    s.set_units(i1="M")
    _, problems = inferred(s)
    assert problems == [
        "constraint 'u(b, 1) - l1*q(b, 2)': u(b, 1) - l1*q(b, 2) adds quantities of "
        "different units: "
        "u(b, 1) is m/s, l1*q(b, 2) is m-rad (l1 is m by body 'b')",
        "body 'b': the units of its moment of inertia i1 are kg, but kg-m2 is needed",
        "point 'p': the units of its coordinate m1 are kg (by body 'b'), but m is needed",
        "output 'shift': the units of its value q(b, 1) are m, but rad is needed",
    ]


def test_place_that_told_the_units_of_a_name_is_named_too():
    """One of the two uses is wrong; which one, only the modeller knows."""
    s = bc.System("twice", units="mks")
    b = s.add_body("b", translate=1, mass=1)
    s.add_force("spring", magnitude="-k*x", direction=b[1], at=b.origin)
    s.add_force("damper", magnitude="-k*v", direction=b[1], at=b.origin)
    (problem,) = inferred(s)[1]
    places = {"force 'spring': ", "force 'damper': "}
    assert sum(problem.startswith(p) for p in places) == 1
    assert " by force 'spring')" in problem or " by force 'damper')" in problem


@pytest.mark.parametrize(
    "system",
    [
        force("f + 2*k", f="F", k="F/L"),  # 2 may be a length
        force("f + 5", f="F"),
        force("-x - 0.1*v"),
        force("-x"),  # a factor 1 that nobody writes
        force("3*sin(t)"),
        force("f*sin(t)"),
        force("k*(x - 0.3)", k="F/L"),
        force("f*q(rod)", f="F"),  # an angle counts as a number
        force("m1*dot(pos(rod.cm), [n1])*u(rod)**2", m1="M"),
        moment("k*(q(rod) - sin(q(rod)))"),
    ],
    ids=lambda s: s.description.forces[0].magnitude,
)
def test_what_may_be_meant_is_no_conflict(system):
    assert inferred(system)[1] == []


# -------------------------------------------------------------------------------------------------
# states and outputs


def test_states_of_the_passenger_car():
    """Sayers (1990), Table 9.1.4."""
    quantities, _ = inferred(example("passenger_car"))
    assert {
        name: (quantities.state_label[name], unit.text) for name, unit in quantities.states.items()
    } == {
        "q(nrb, 1)": ("Translation of nrb0 relative to the fixed origin along [n1]", "in"),
        "q(nrb, 2)": ("Translation of nrb0 relative to the fixed origin along [n2]", "in"),
        "q(nrb, 3)": (
            "Rotation of the non-rolling body relative to the inertial reference about axis #3",
            "deg",
        ),
        "q(rb)": (
            "Rotation of the rolling body relative to the non-rolling body about axis #1",
            "deg",
        ),
        "u(nrb, 1)": ("Abs. trans. speed of nrb* along axis 1", "in/s"),
        "u(nrb, 2)": ("Abs. trans. speed of nrb* along axis 2", "in/s"),
        "u(nrb, 3)": ("Abs. rot. of nrb, axis 3", "deg/s"),
        "u(rb)": ("Rot. of rb relative to nrb, axis 1", "deg/s"),
    }


def test_states_of_the_other_joints():
    """Three rotations and a slide from a mass centre as in Sayers (1990), sections 9.4 and 9.6."""
    labels = inferred(example("spacecraft_1"))[0].state_label
    assert labels["q(b, 4)"] == "Rotation of bpp relative to n about axis #1"
    assert labels["q(b, 6)"] == "Rotation of b relative to bp about axis #3"
    assert labels["u(b, 5)"] == "Abs. rotation of b about axis #2"
    assert labels["q(f)"] == "Rotation of the boom relative to e about axis #1"
    labels = inferred(example("stanford_arm"))[0].state_label
    assert labels["q(c)"] == "Translation of c0 relative to the center of mass of b along [b2]"
    assert labels["u(c)"] == "Trans. speed of c0 relative to center of mass of b along [b2]"
    assert labels["u(a)"] == "Abs. rot. of a, axis 2"


def test_states_with_euler_parameters_and_skew_slides():
    s = bc.System("others", units="in-lb")
    a = s.add_body("a", rotate="euler-parameters", label="the ship")
    s.add_point("deck", body=a, at=("h", 0, 0), label="deck centre")
    s.add_body("b", parent=a, translate=(0, "cos(th)", "sin(th)"), joint_at=("h", 0, 0))
    s.add_body("c", parent=a, translate=(-1, 0, 0), joint_at=(0, "h", 0))
    quantities, problems = inferred(s)
    assert problems == []
    assert [quantities.states[f"q(a, {i})"].text for i in (1, 2, 3, 4)] == ["-"] * 4
    assert quantities.states["u(a, 1)"].text == "deg/s"
    labels = quantities.state_label
    assert labels["q(a, 1)"] == "Euler parameter e0 of the ship relative to the inertial reference"
    assert (
        labels["q(b)"]
        == "Translation of b0 relative to deck centre along (0, cos(th), sin(th)) of a"
    )
    assert labels["q(c)"] == "Translation of c0 relative to the attachment point for c along -[a1]"
    assert units_of(quantities)["th"] == "deg"
    assert quantities.label["th"] == "angle in translation axis of b"


def test_generic_names():
    """Sayers (1990), Table 9.2.1 and Appendix C."""
    quantities, _ = inferred(example("passenger_car"))
    generic = quantities.generic
    expected = {
        "Ay": "Translational Acceleration",
        "r": "Angular Speed",
        "alpha f": "Slip Angle",
        "FY1": "Force",
        "MZ1": "Moment",
        "q(nrb, 1)": "Translation",
        "q(rb)": "Rotation",
        "u(nrb, 2)": "Translational Speed",
        "u(rb)": "Angular Speed",
    }
    assert {name: generic[name] for name in expected} == expected


def test_outputs_without_declared_units():
    s, _, rod = cart("in-lb")
    s.add_output("turn", "angle([n1], [rod1], [n3])")
    s.add_output("ax", "dot(dxdt(vel(rod.cm)), [n1])")
    s.add_output("rim speed", "u(rod)*l")
    s.add_output("rim acceleration", "dxdt(u(rod))*l")
    s.add_output("e", "0.5*i*u(rod)**2", label="spin energy")
    s.add_output("what", "mystery")
    s.add_output("same", rod.q[1])
    s.add_outputs("energy", "momentum")
    s.set_units(l="L", i="M*L**2")
    quantities, problems = inferred(s)
    assert problems == []
    shown = {
        name: (unit.text, quantities.generic[name]) for name, unit in quantities.output_unit.items()
    }
    rims = ("rim speed", "rim acceleration")
    assert {
        name: shown[name] for name in ("turn", "ax", *rims, "e", "what", "same", "kinetic", "p1")
    } == {
        "turn": ("deg", "Rotation Angle"),
        "ax": ("g's", "Translational Acceleration"),
        "rim speed": ("in/s", "Translational Speed"),
        "rim acceleration": ("g's", "Translational Acceleration"),
        "e": ("in-lb", "Energy"),
        "what": ("?", "what"),
        "same": ("deg", "Rotation Angle"),
        "kinetic": ("in-lb", "Energy"),
        "p1": ("lb-s", "Momentum"),
    }


# --------------------------------------------------------------------------------------------------------------- size


def test_shared_expressions_are_met_once():
    """An expression that would have 2**60 terms if written out."""
    s, body, _ = cart()
    e = s.parameter("k") * body.q[1]
    for i in range(60):
        e = bc.sin(e / s.parameter("f0")) * s.parameter("f0") + e * bc.cos(s.parameter(f"a{i}"))
    s.add_force("push", magnitude=e, direction=body[1], at=body.origin)
    s.add_force("bad", magnitude=e + s.parameter("wrong"), direction=body[1], at=body.origin)
    s.set_units(wrong="L", f0="F")
    quantities, problems = inferred(s)
    assert units_of(quantities)["k"] == "N/m"
    assert len(problems) == 1
    assert "force 'bad'" in problems[0]
    assert len(problems[0]) < 1000


def test_chain_of_links_takes_milliseconds():
    analysis = analyse(*build_mechanism(example("n_link_chain", n=32).description))
    infer_quantities(analysis)
    times = []
    for _ in range(5):
        start = time.process_time()
        quantities, problems = infer_quantities(analysis)
        times.append(time.process_time() - start)
    assert problems == []
    assert quantities.unit["c32"].text == "m"
    assert min(times) < 0.05  # some 6 ms on a desktop machine


def test_a_coordinate_in_a_formula_has_the_units_of_its_own_kind():
    """Of a body that slides twice and turns once, each by its number."""
    s = bc.System("plate", units="mks")
    s.add_body("b", translate=(1, 2), rotate=3, mass=1, inertia=(1, 1, 1))
    for i in (1, 2, 3):
        s.add_output(f"q{i}", f"2*q(b, {i})")
        s.add_output(f"u{i}", f"2*u(b, {i})")
    units = {x.name: x.unit.text for x in s.equations().interface.outputs}
    assert units == {"q1": "m", "u1": "m/s", "q2": "m", "u2": "m/s", "q3": "rad", "u3": "rad/s"}


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("q(b)**(1 + 2)", "m3"),
        ("q(b)**(3 - 1)", "m2"),
        ("q(b)*(1 + 2)", "m"),
        ("q(b)**(2 - 4 + 3)", "m"),
        ("u(b)/(7 - 5)", "m/s"),
    ],
)
def test_sums_of_numbers(text, unit):
    s = bc.System("sums")
    s.add_body("b", translate=1, mass=1)
    s.add_output("out", text)
    assert str(s.equations().interface.outputs[0].unit) == unit
