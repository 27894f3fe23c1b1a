"""Time series against closed forms, and against finite differences of themselves."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import bellcrank as bc
from bellcrank.program.statements import NullSpaceSolve
from bellcrank.symbolic.expr import ZERO, Symbol
from bellcrank.verify import jets
from bellcrank.verify.formulas import evaluate_table
from bellcrank.verify.function_rules import CHOICES, FUNCTIONS
from bellcrank.verify.jets import Jet, NoDerivative
from bellcrank.verify.mechanics import angle
from bellcrank.verify.reference_joints import euler_rates, euler_rotation, reference_rotation_about
from bellcrank.verify.taylor import TaylorInterpreter, central_difference

T = Jet([0.7, 1.0, 0.0, 0.0])  # time at 0.7


def derivatives(x):
    return [c * math.factorial(n) for n, c in enumerate(x.c)]


@pytest.mark.parametrize(
    ("series", "expected"),
    [
        (FUNCTIONS["sin"](T), [math.sin(0.7), math.cos(0.7), -math.sin(0.7), -math.cos(0.7)]),
        (jets.exp(T * 2), [math.exp(1.4) * 2**n for n in range(4)]),
        (jets.log(T), [math.log(0.7), 1 / 0.7, -1 / 0.7**2, 2 / 0.7**3]),
        (jets.power(T, 3), [0.7**3, 3 * 0.7**2, 6 * 0.7, 6.0]),
        (jets.power(T, -2.0), [0.7**-2, -2 * 0.7**-3, 6 * 0.7**-4, -24 * 0.7**-5]),
        (jets.sqrt(T), [0.7**0.5, 0.5 * 0.7**-0.5, -0.25 * 0.7**-1.5, 0.375 * 0.7**-2.5]),
        (FUNCTIONS["abs"](-T), [0.7, 1.0, 0.0, 0.0]),
    ],
)
def test_derivatives_of_elementary_functions(series, expected):
    assert derivatives(series) == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize(
    ("inverse", "function"), [("asin", "sin"), ("acos", "cos"), ("atan", "tan"), ("log", "exp")]
)
def test_inverse_functions_undo_each_other(inverse, function):
    assert FUNCTIONS[function](FUNCTIONS[inverse](T)).c == pytest.approx(T.c, abs=1e-14)


def test_angle_of_a_turning_vector():
    assert jets.atan2(FUNCTIONS["sin"](T * 3), FUNCTIONS["cos"](T * 3)).c == pytest.approx(
        [2.1, 3.0, 0.0, 0.0], abs=1e-13
    )


def test_products_of_vectors_and_matrices():
    v, w = (
        jets.stack_jets([T, FUNCTIONS["sin"](T), 1.0]),
        jets.stack_jets([FUNCTIONS["cos"](T), T * T, T]),
    )
    assert (v @ jets.cross(v, w)).c == pytest.approx(np.zeros(4), abs=1e-14)
    A = jets.stack_jets([v, w, jets.stack_jets([1.0, T, 5.0])])
    assert (A @ jets.solve(A, v)).c == pytest.approx(v.c, abs=1e-13)


def test_rate_and_integral_are_inverse():
    x = FUNCTIONS["sin"](T) * jets.exp(T)
    assert jets.integrate_jet(x.c[0], jets.jet_time_derivative(x), 4).c == pytest.approx(x.c)


def test_rate_beyond_what_is_known_is_an_error():
    with pytest.raises(NoDerivative):
        jets.jet_time_derivative(Jet([1.0]))
    assert jets.jet_time_derivative(3.0) == 0.0


@pytest.mark.parametrize(
    ("x", "value"), [(-1.0, 0.0), (0.8, 0.5), (1.39, 1.0 - 5.5e-6), (1.5, 1.0), (9.0, 1.0)]
)
def test_smooth_step_is_level_on_both_sides(x, value):
    assert FUNCTIONS["smooth_step"](x, 0.2, 1.4) == pytest.approx(value, abs=2e-6)


@pytest.mark.parametrize("size", [0.1, 1.0, 7.0])
def test_an_angle_does_not_depend_on_the_length_of_the_axis(size):
    a, b, axis = np.array([1.0, 0.0, 0.0]), np.array([2.0, 1.0, 0.0]), np.array([0.0, 0.0, size])
    assert angle(a, b, axis) == pytest.approx(math.atan(0.5), rel=1e-14)
    assert angle(b, a, axis) == pytest.approx(-math.atan(0.5), rel=1e-14)


def test_a_scalar_and_a_vector_are_added_order_by_order():
    """Two orders and two components: the axis of orders is not taken for that of the vector."""
    total = Jet([1.0, 10.0]) + Jet([[1.0, 2.0], [3.0, 4.0]])
    assert total.c.tolist() == [[2.0, 3.0], [13.0, 14.0]]


def test_rotations_of_joints_as_of_scipy():
    """With their rates: R' = R [w] for w on the axes of the turned body; an axis that may move is
    one that does not."""
    rng = np.random.default_rng(8)
    e, w = rng.normal(size=4), rng.normal(size=3)
    e /= np.linalg.norm(e)
    expected = Rotation.from_quat([*e[1:], e[0]]).as_matrix()
    R = euler_rotation([Jet([x, dx]) for x, dx in zip(e, euler_rates(list(e), w), strict=True)])
    assert np.abs(jets.constant_term(R) - expected).max() < 1e-14
    assert (
        np.abs(
            jets.constant_term(jets.jet_time_derivative(R)) - expected @ np.cross(np.eye(3), w)
        ).max()
        < 1e-14
    )
    axis = e[1:] / np.linalg.norm(e[1:])
    for given in (axis, Jet([axis, 0 * axis])):
        found = jets.constant_term(reference_rotation_about(given, Jet([0.7, 1.3])))
        assert np.abs(found - Rotation.from_rotvec(0.7 * axis).as_matrix()).max() < 1e-14


@pytest.mark.parametrize("order", [1, 3])
def test_rates_of_a_table_of_two_arguments(order):
    """Of a + b x + c y + d x y, which both interpolations have exactly; x and y move."""
    axes = np.array([0.0, 1.0, 2.5, 3.0, 5.0]), np.array([-2.0, -1.0, 0.5, 1.0])
    x, y = np.meshgrid(*axes, indexing="ij")
    table = bc.table(*axes, 1 + 2 * x + 3 * y + 4 * x * y, order)
    found = evaluate_table(table, [Jet([1.2, 0.7, 0.0]), Jet([-0.3, 1.1, 0.0])])
    rate = (2 + 4 * -0.3) * 0.7 + (3 + 4 * 1.2) * 1.1
    assert derivatives(found) == pytest.approx([1 + 2.4 - 0.9 - 1.44, rate, 8 * 0.7 * 1.1])


PLAIN = {  # functions of one or several arguments, a place, and how the arguments move
    "asin": (math.asin, [0.4], [1.0]), "acos": (math.acos, [-0.4], [1.0]), "atan": (math.atan, [0.7], [1.0]),
    "tan": (math.tan, [0.6], [1.0]), "cos": (math.cos, [0.7], [1.0]), "log10": (math.log10, [1.3], [1.0]),
    "log2": (math.log2, [1.3], [1.0]), "log1p": (math.log1p, [0.3], [1.0]), "expm1": (math.expm1, [0.3], [1.0]),
    "exp2": (lambda x: 2.0**x, [0.7], [1.0]), "cbrt": (lambda x: x ** (1 / 3), [0.7], [1.0]),
    "pow": (math.pow, [1.7, 0.6], [1.0, 0.5]), "hypot": (math.hypot, [0.3, -0.7], [1.0, 2.0]),
    "atan2": (math.atan2, [0.3, -0.7], [1.0, 2.0]), "sinh": (math.sinh, [0.7], [1.0]),
    "cosh": (math.cosh, [0.7], [1.0]), "tanh": (math.tanh, [0.7], [1.0]), "asinh": (math.asinh, [0.7], [1.0]),
    "acosh": (math.acosh, [1.7], [1.0]), "atanh": (math.atanh, [0.4], [1.0]), "mod": (math.fmod, [7.3, 2.2], [1.0, 0.3]),
    "smooth_step": (lambda x, a, b: ((s := (x - a) / (b - a)) ** 3) * (10 - 15 * s + 6 * s * s),
                    [0.9, 0.5, 2.5], [1.0, -0.5, 0.25]),
    "min": (min, [0.3, 0.2, 0.9], [1.0, 2.0, 3.0]), "max": (max, [0.3, 0.2, 0.9], [1.0, 2.0, 3.0]),
    "where": (lambda c, a, b: a, [1.0, 0.2, 0.9], [0.0, 2.0, 3.0]),
}  # fmt: skip


@pytest.mark.parametrize("name", PLAIN)
def test_functions_have_their_value_slope_and_bend(name):
    """Against differences of what Python has under the name, along a line of the arguments."""
    plain, x, rates = PLAIN[name]
    series = FUNCTIONS[name](*(Jet([a, r, 0.0]) for a, r in zip(x, rates, strict=True)))

    def moved(h):
        return plain(*(a + h * r for a, r in zip(x, rates, strict=True)))

    def slope(h):
        return float(central_difference(lambda k: moved(h + k), 5e-3))

    assert derivatives(series) == pytest.approx(
        [moved(0.0), slope(0.0), float(central_difference(slope, 1e-2))], rel=1e-7, abs=1e-8
    )
    assert FUNCTIONS[name](*x) == pytest.approx(moved(0.0), rel=1e-14)


@pytest.mark.parametrize(
    ("name", "arguments", "value", "piece"),
    [
        ("abs", (-2.0,), 2, False),
        ("abs", (2.0,), 2, True),
        ("sign", (-2.0,), -1, False),
        ("sign", (0.0,), 0, False),
        ("min", (3.0, 1.0, 2.0), 1, 1),
        ("max", (3.0, 1.0, 2.0), 3, 0),
        ("where", (0.0, 5.0, 6.0), 6, False),
        ("where", (2.0, 5.0, 6.0), 5, True),
        ("smooth_step", (1.0, 1.0, 3.0), 0, 0),
        ("smooth_step", (1.5, 1.0, 3.0), 0.103515625, 1),
        ("smooth_step", (3.0, 1.0, 3.0), 1, 2),
        ("smooth_step", (2.0, 3.0, 1.0), 0.5, 1),
        ("lt", (1.0, 1.0), 0, 0),
        ("le", (1.0, 1.0), 1, 1),
        ("gt", (2.0, 1.0), 1, 1),
        ("gt", (1.0, 1.0), 0, 0),
        ("ge", (1.0, 1.0), 1, 1),
        ("ge", (0.0, 1.0), 0, 0),
        ("lt", (0.0, 1.0), 1, 1),
    ],
)
def test_functions_made_of_pieces(name, arguments, value, piece):
    assert FUNCTIONS[name](*arguments) == value
    assert CHOICES[name](*arguments) == piece


def test_slopes_of_a_system_with_constraints():
    """M u' = f + J' lambda with J u' = gamma along a line of its numbers, against differences; one
    row repeats another."""
    rng = np.random.default_rng(6)
    names = ["a", "b", "c", "d", "e", "f0", "f1", "f2", "j0", "j1", "j2", "g"]
    s = {name: Symbol(name, "variable") for name in names}
    start, move = rng.normal(size=len(names)) + 0.1, rng.normal(size=len(names))
    start[[0, 2, 4]] = 5.0, 6.0, 7.0  # the diagonal of M

    def system(x):
        a, b, c, d, e, *rest = x
        M = np.array([[a, b, d], [b, c, 0.0], [d, 0.0, e]])
        J = np.array(rest[3:6])
        K = np.block([[M, -J[:, None]], [J[None], np.zeros((1, 1))]])
        return np.linalg.solve(K, [*rest[:3], rest[6]])[:3]

    targets = [Symbol(f"x{i}", "variable") for i in range(4)]
    rows = [[s["j0"], s["j1"], s["j2"]]] * 2
    mass = [[s["a"]], [s["b"], s["c"]], [s["d"], ZERO, s["e"]]]
    reduce = NullSpaceSolve(
        tuple(targets),
        tuple(map(tuple, mass)),
        (s["f0"], s["f1"], s["f2"]),
        tuple(map(tuple, rows)),
        (s["g"],) * 2,
        None,
    )
    taylor = TaylorInterpreter(SimpleNamespace(routines=()), ())
    taylor.set_values(
        [s[name] for name in names], [Jet(pair) for pair in zip(start, move, strict=True)]
    )
    taylor.run_section(SimpleNamespace(statements=[reduce]))
    found = [taylor.values[x].c for x in targets[:3]]
    assert [c[0] for c in found] == pytest.approx(system(start), rel=1e-10)
    assert [c[1] for c in found] == pytest.approx(
        central_difference(lambda h: system(start + h * move), 1e-3), rel=1e-7
    )
