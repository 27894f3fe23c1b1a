"""A bad description gets an error that names the place, the value and what is allowed; all problems
at once."""

import warnings

import numpy as np
import pytest

import bellcrank as bc


def start():
    """A sound pendulum on a cart, to be spoiled."""
    s = bc.System("spoiled", units="mks")
    cart = s.add_body("cart", translate=1, mass=2)
    rod = s.add_body("rod", parent=cart, rotate=3, cm=(0, -1, 0), mass=1, inertia=(0.1, 0.1, 0.1))
    return s, cart, rod


def unknown_parent(s, cart, rod):
    s.add_body("bob", parent="rodd", rotate=3, mass=1, inertia=(1, 1, 1))


def unknown_body_of_a_moment(s, cart, rod):
    s.add_moment("drive", magnitude=1, direction=rod[3], on="crat")


def unknown_point_of_a_force(s, cart, rod):
    s.add_force("push", magnitude=1, direction=cart[1], at="handel")
    s.add_point("handle", body=cart, at=(1, 0, 0))


def duplicate_name(s, cart, rod):
    s.add_body("rod", parent=cart, rotate=3, mass=1, inertia=(1, 1, 1))


def reserved_name(s, cart, rod):
    s.add_parameter("t", 1.0)


def reserved_function_name(s, cart, rod):
    s.add_parameter("sin", 1.0)


def short_vector(s, cart, rod):
    s.add_body("bob", parent=rod, rotate=3, cm=(0, 1), mass=1, inertia=(1, 1, 1))


def long_vector(s, cart, rod):
    s.add_point("handle", body=cart, at=(1, 2, 3, 4))


def asymmetric_inertia(s, cart, rod):
    s.add_body("bob", parent=rod, rotate=3, mass=1, inertia=((1, 0.1, 0), (0.2, 1, 0), (0, 0, 1)))


def negative_inertia(s, cart, rod):
    s.add_body("bob", parent=rod, rotate=3, mass=1, inertia=(1, -2, 1))


def negative_principal_inertia(s, cart, rod):
    s.add_body("bob", parent=rod, rotate=3, mass=1, inertia=((1, 2, 0), (2, 1, 0), (0, 0, 1)))


def unknown_function(s, cart, rod):
    s.add_moment("drive", magnitude="k*sni(q(rod))", direction=rod[3], on=rod)


def unbalanced_parenthesis(s, cart, rod):
    s.add_moment("drive", magnitude="k*(q(rod) - 1", direction=rod[3], on=rod)


def unit_conflict(s, cart, rod):
    s.add_parameter("k", 3.0, units="F/L")
    s.add_parameter("f", 3.0, units="F")
    s.add_force("push", magnitude="f + k", direction=cart[1], at=cart.origin)


def vector_for_scalar(s, cart, rod):
    s.add_force("push", magnitude="[cart1]", direction=cart[1], at=cart.origin)


def scalar_for_vector(s, cart, rod):
    s.add_force("push", magnitude=1, direction="2*q(cart)", at=cart.origin)


def parallel_axes(s, cart, rod):
    s.add_body(
        "bob",
        parent=rod,
        rotate=1,
        rotation_axis=(1, 1, 0),
        reference_axis=(2, 2, 0),
        mass=1,
        inertia=(1, 1, 1),
    )


def nearly_parallel_axes(s, cart, rod):
    axis, reference = (
        (1.0, -1.0, 2.0),
        (0.12247448713915891, -0.12247448713915891, 0.24494897427831783),
    )
    s.add_body(
        "bob",
        parent=rod,
        rotate=3,
        rotation_axis=axis,
        reference_axis=reference,
        mass=1,
        inertia=(1, 1, 1),
    )


def small_euler_parameters(s, cart, rod):
    s.add_body(
        "bob", parent=rod, rotate="euler-parameters", small_angles=True, mass=1, inertia=(1, 1, 1)
    )


def acceleration_in_magnitude(s, cart, rod):
    s.add_force(
        "push", magnitude="3*dot(dxdt(vel(rod.cm)), [n1])", direction=cart[1], at=cart.origin
    )


def nonlinear_constraint(s, cart, rod):
    s.add_constraint("u(cart)*u(rod) - 1")


def constraint_without_motion(s, cart, rod):
    s.add_parameter("k", 3.0)
    s.add_constraint("k - 1")


def massless_leaf(s, cart, rod):
    s.add_body("bob", parent=rod, rotate=3, mass=0, inertia=0)


CASES = [  # spoiler, patterns that the message must hold
    (unknown_parent, "bob", "rodd", "Did you mean 'rod'"),
    (unknown_body_of_a_moment, "drive", "crat", "'cart'"),
    (unknown_point_of_a_force, "push", "handel", "'handle'"),
    (duplicate_name, "rod", "twice|already|duplicate"),
    (reserved_name, r"\bt\b", "reserved"),
    (reserved_function_name, "sin", "reserved"),
    (short_vector, "bob", r"\bcm\b", r"\b(3|three)\b"),
    (long_vector, "handle", r"\bat\b", r"\b(3|three)\b"),
    (asymmetric_inertia, "bob", "symmetric", r"0\.1", r"0\.2"),
    (negative_inertia, "bob", "-2"),
    (negative_principal_inertia, "bob", "-1"),
    (unknown_function, "drive", "sni", r"\bsin\b", r"\^|position|column"),
    (unbalanced_parenthesis, "drive", r"k\*\(q\(rod\) - 1", r"\^|position|column"),
    (unit_conflict, "push", "unit|dimension", r"\bk\b"),
    (vector_for_scalar, "push", "vector", "scalar"),
    (scalar_for_vector, "push", "vector", "scalar"),
    (parallel_axes, "bob", "parallel", "reference_axis|reference axis"),
    (nearly_parallel_axes, "bob", "parallel"),
    (small_euler_parameters, "bob", "small_angles|small angles", "(?i)euler"),
    (acceleration_in_magnitude, "push", "acceleration|algebraic"),
    (nonlinear_constraint, r"u\(cart\)", "linear"),
    (constraint_without_motion, "k - 1", "speed", "coordinate"),
    (massless_leaf, "bob", r"rotation|[qu]\(bob\)", "mass|inertia|singular"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_error_names_the_problem(case):
    spoil, *patterns = case
    s, cart, rod = start()
    spoil(s, cart, rod)
    with pytest.raises(bc.ModelError) as caught:
        s.equations()
    assert len(caught.value.problems) == 1
    for pattern in patterns:
        caught.match(pattern)


def test_all_problems_at_once():
    s, cart, rod = start()
    for spoil in (
        unknown_parent,
        reserved_name,
        unknown_function,
        vector_for_scalar,
        small_euler_parameters,
    ):
        if spoil is small_euler_parameters:
            s.add_body(
                "bob2",
                parent=rod,
                rotate="euler-parameters",
                small_angles=True,
                mass=1,
                inertia=(1, 1, 1),
            )
        else:
            spoil(s, cart, rod)
    with pytest.raises(bc.ModelError, match=r"spoiled.*5 problems") as caught:
        s.equations()
    assert len(caught.value.problems) == 5
    for word in ("rodd", "reserved", "sni", "vector", "bob2"):
        caught.match(word)


def test_broken_triangle_inequality_only_warns():
    s, _, rod = start()
    s.add_body("bob", parent=rod, rotate=3, mass=1, inertia=(1, 1, 3))
    with pytest.warns(UserWarning, match=r"(?s)bob.*triangle"):
        s.equations()


@pytest.mark.parametrize(("values", "noted"), [((1, 1, 3), True), ((1, 2, 3), False)])
def test_inertia_by_default_values_is_a_note(values, noted):
    """Published models have such values: no warning."""
    s, _, rod = start()
    s.add_body("bob", parent=rod, rotate=(1, 2, 3), mass=1, inertia=("ix", "iy", "2*iz"))
    s.set_defaults(ix=values[0], iy=values[1], iz=values[2] / 2, g=9.81)
    sim = s.equations().compile(backend="python")
    told = (
        "body 'bob': principal moments of inertia 1, 1, 3 violate the triangle inequality (no "
        "real body has them)"
    )
    assert (told in sim.notes) is noted
    assert any("triangle" in x for x in sim.notes) is noted


def test_one_moment_of_inertia_in_a_plane_is_usual():
    s, _, rod = start()
    s.add_body("bob", parent=rod, rotate=3, mass=1, inertia=(0, 0, "iz"))
    s.set_defaults(iz=1, g=9.81)
    assert not any("triangle" in x for x in s.equations().compile(backend="python").notes)


def test_missing_parameter_values_are_listed_together():
    s, cart, rod = start()
    s.add_moment(
        "drive", magnitude="-k*q(rod) - c*u(rod) + m0", direction=rod[3], on=rod, against=cart
    )
    s.set_defaults(c=1)
    eom = s.equations()  # deriving needs no values
    with pytest.raises(bc.ModelError, match=r"(?s)\bk\b.*\bm0\b") as caught:
        eom.compile(backend="python").derivatives(0.0, [0, 0], [0, 0])
    assert "'c'" not in str(caught.value)
    _, udot = eom.compile(backend="python").derivatives(
        0.0, [0, 0], [0, 0], parameters={"k": 1, "m0": 0}
    )
    assert abs(udot).max() < 1e-14


def test_value_for_unknown_parameter_warns_with_near_names():
    s, cart, rod = start()
    s.add_moment("drive", magnitude="-stiffness*q(rod)", direction=rod[3], on=rod, against=cart)
    s.set_defaults(stiffness=1, stifness=2)
    with pytest.warns(UserWarning, match=r"(?s)stifness.*stiffness"):
        s.equations().compile(backend="python")


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("import bellcrank as bc\n", r"model\(\)"),
        ("def model():\n    return 3\n", "(?s)System.*int|int.*System"),
        ("model = 3\n", r"model\(\)|callable|function"),
    ],
)
def test_model_file_without_a_model(tmp_path, text, pattern):
    path = tmp_path / "empty_model.py"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(bc.ModelError, match="empty_model") as caught:
        bc.System.read(path)
    caught.match(pattern)


def test_sound_model_is_silent():
    s, *_ = start()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        s.equations().compile(backend="python").derivatives(0.0, [0, 0], [0, 0])


def test_an_array_without_components_is_no_axis():
    s = bc.System("arrays", units="mks")
    s.add_body("b", translate=np.ma.masked_array([1.0, 2.0], [False, True]), mass=1, inertia=0)
    with pytest.raises(bc.ModelError, match="is not an axis; an axis is 'x', 'y' or 'z'"):
        s.equations()
