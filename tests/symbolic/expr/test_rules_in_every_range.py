"""Rules of the algebra hold for every value: inverse functions, factors of atan2 and roots cancel
within their range only."""

import math

import pytest

import bellcrank as bc

VALUES = {"h": -1.0, "a": 0.3, "b": 0.7, "p": 1.7}
INPUT = 4.0
# as written, with math.* for the functions
FORMULAS = {
    "asin(sin(z))": math.asin(math.sin(INPUT)),
    "acos(cos(z))": math.acos(math.cos(INPUT)),
    "atan(tan(z))": math.atan(math.tan(INPUT)),
    "atan2(sin(z), cos(z))": math.atan2(math.sin(INPUT), math.cos(INPUT)),
    "atan2(h*b, h*a)": math.atan2(-0.7, -0.3),
    "atan2(h*sin(z), h*cos(z))": math.atan2(-math.sin(INPUT), -math.cos(INPUT)),
    "atan2(p*sin(z), p*cos(z))": math.atan2(math.sin(INPUT), math.cos(INPUT)),
    "atan2(0, h)": math.pi,
    "atan2(h, h)": -3 * math.pi / 4,
    "sqrt(h*z)**2": math.nan,
    "sqrt(h*a*z)*sqrt(h*a*z)": math.nan,
    "sqrt(a - z)**2": math.nan,
    "sqrt(z - a)**2": INPUT - 0.3,
    "sqrt(h*h)": 1.0,
    "sin(asin(z))": math.nan,
    "exp(log(h*z))": math.nan,
    "tanh(atanh(z))": math.nan,
    "cosh(acosh(h*z))": math.nan,
    "acosh(cosh(h))": 1.0,
    "((h*z)**3)**(1/3)": math.nan,
    "0**(a - 0.3)": 1.0,
    "log(exp(z)) + tan(atan(z)) + asinh(sinh(z))": 3 * INPUT,
}


def machine():
    """A sliding body with every formula as an output; only p is known to be positive."""
    s = bc.System("formulas", units="mks")
    s.add_body("body", translate=1, mass=1, inertia=0)
    s.add_input("z")
    for i, text in enumerate(FORMULAS):
        s.add_output(f"value{i}", text)
    s.set_defaults(**VALUES)
    s.require_positive("p")
    return s


@pytest.mark.parametrize("backend", ["c", "python"])
def test_formulas_have_the_value_of_what_is_written(backend):
    """asin(sin z), atan2(sin z, cos z) and the like were z for every z; atan2 dropped factors of
    any sign; sqrt(h)**2 was h for negative h."""
    found = (
        machine()
        .equations()
        .compile(backend=backend)
        .outputs(0.0, [0.0], [0.0], inputs={"z": INPUT})
    )
    assert list(found.values())[-len(FORMULAS) :] == pytest.approx(
        list(FORMULAS.values()), nan_ok=True
    )


def test_what_is_known_to_be_positive_is_cancelled():
    values = {o.name: str(o.value) for o in machine().equations().analysis.outputs}
    assert values["value6"] == "atan2(sin(z), cos(z))"
    assert values["value5"] == "atan2(h*sin(z), h*cos(z))"


def test_angle_of_a_hinge_counts_turns_and_any_other_does_not():
    s = bc.System("turns", units="mks")
    arm = s.add_body("arm", rotate=3, mass=1, inertia=(1, 1, 1))
    s.add_output("turned", bc.angle(s.inertial[1], arm[1], s.inertial[3]), units="A")
    s.add_output("heading", "atan2(dot([arm1], [n2]), dot([arm1], [n1]))", units="A")
    found = s.equations().compile(backend="python").outputs(0.0, [4.0], [0.0])
    assert found["turned"] == pytest.approx(4.0)
    assert found["heading"] == pytest.approx(4.0 - 2 * math.pi)


# ---- deep and long formulas


@pytest.mark.parametrize("inside", ["q(body)", "p", "sin(q(body))", "sqrt(2 + q(body))"])
def test_formulas_may_be_deep(inside):
    """199 nested 1/(1 + ...) ended in a SyntaxError of Python's own parser."""
    text = inside
    for _ in range(400):
        text = f"1/(1 + {text})"
    s = bc.System("deep", units="mks")
    s.add_body("body", translate=1, mass=1, inertia=0)
    s.add_output("golden", text)
    if inside == "p":
        s.set_defaults(p=0.3)
    found = s.equations().compile(backend="python").outputs(0.0, [0.4], [0.0])
    assert found["golden"] == pytest.approx((math.sqrt(5) - 1) / 2)


@pytest.mark.parametrize("count", [210, pytest.param(1500, marks=pytest.mark.campaign)])
def test_formulas_may_be_long(count):
    """A magnitude of 1,500 terms took over 40 s: terms were added one by one, and all pairs of them
    compared."""
    s = bc.System("long", units="mks")
    body = s.add_body("body", translate=1, mass=1, inertia=0)
    text = " ".join(f"{'-' if i % 3 else '+'} k{i}*cos({i}*x/l)" for i in range(count))
    s.add_force("f", magnitude=text, direction=s.inertial[1], at=body.cm)
    s.set_defaults({"l": 1.0, **{f"k{i}": 1 / (1 + i) for i in range(count)}})
    x = 0.7
    terms = [(1, -1)[i % 3 > 0] / (1 + i) * math.cos(i * x) for i in range(count)]
    (found,) = s.equations().compile(backend="python").derivatives(0.0, [x], [0.0])[1]
    assert found == pytest.approx(sum(terms))


# ---- what a person reads


def test_mass_matrices_show_no_terms_that_cancel():
    """Entries held sin^2 (a - b) twice, once with each sign, and doubled brackets."""
    s = bc.System("double pendulum", units="mks")
    a = s.add_body("a", rotate=3, cm=("la", 0, 0), mass="ma", inertia=(0, 0, "ia3"))
    s.add_body(
        "b",
        parent=a,
        rotate=3,
        joint_at=("2*la", 0, 0),
        cm=("lb", 0, 0),
        mass="mb",
        inertia=(0, 0, "ib3"),
    )
    M = s.equations().mass_matrix
    assert str(M[1][1]) == "ib3 + lb**2*mb"
    assert "sin" not in str(M[0][0]) and len(str(M[0][0])) < 80


def test_expand_and_simplify():
    x, y = (bc.System("m").parameter(n) for n in "xy")
    assert str(bc.expand((x + y) ** 2)) == "x**2 + 2*x*y + y**2"
    assert bc.simplify((x + y) ** 2 - x**2 - 2 * x * y) is y**2
    assert bc.simplify(
        [[(x + y) * bc.sin(x) ** 2 + (x + y) * bc.cos(x) ** 2], [x * (1 + y) - x]]
    ) == [[x + y], [x * y]]
    assert bc.simplify((x + y) ** 9) is (x + y) ** 9
    assert bc.simplify(2) == bc.expand(2)
    with pytest.raises(bc.ModelError, match="expected a number or a scalar expression"):
        bc.simplify("x")
