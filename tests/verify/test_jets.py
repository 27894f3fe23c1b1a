"""Time series against closed forms, and against finite differences of themselves."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import bellcrank as bc
from bellcrank.verify import jets
from bellcrank.verify.formulas import look_up
from bellcrank.verify.functions import FUNCTIONS
from bellcrank.verify.jets import Jet, NoDerivative
from bellcrank.verify.joints import euler_rates, euler_rotation, rotation_about
from bellcrank.verify.mechanics import angle

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


@pytest.mark.parametrize(("inverse", "function"), [("asin", "sin"), ("acos", "cos"), ("atan", "tan"), ("log", "exp")])
def test_inverse_functions_undo_each_other(inverse, function):
    assert FUNCTIONS[function](FUNCTIONS[inverse](T)).c == pytest.approx(T.c, abs=1e-14)


def test_angle_of_a_turning_vector():
    assert jets.atan2(FUNCTIONS["sin"](T * 3), FUNCTIONS["cos"](T * 3)).c == pytest.approx(
        [2.1, 3.0, 0.0, 0.0], abs=1e-13
    )


def test_products_of_vectors_and_matrices():
    v, w = jets.stack([T, FUNCTIONS["sin"](T), 1.0]), jets.stack([FUNCTIONS["cos"](T), T * T, T])
    assert (v @ jets.cross(v, w)).c == pytest.approx(np.zeros(4), abs=1e-14)
    A = jets.stack([v, w, jets.stack([1.0, T, 5.0])])
    assert (A @ jets.solve(A, v)).c == pytest.approx(v.c, abs=1e-13)


def test_rate_and_integral_are_inverse():
    x = FUNCTIONS["sin"](T) * jets.exp(T)
    assert jets.integral(x.c[0], jets.rate(x), 4).c == pytest.approx(x.c)


def test_rate_beyond_what_is_known_is_an_error():
    with pytest.raises(NoDerivative):
        jets.rate(Jet([1.0]))
    assert jets.rate(3.0) == 0.0


@pytest.mark.parametrize(("x", "value"), [(-1.0, 0.0), (0.8, 0.5), (1.39, 1.0 - 5.5e-6), (1.5, 1.0), (9.0, 1.0)])
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
    """With their rates: R' = R [w] for w on the axes of the turned body; an axis that may move is one that does not."""
    rng = np.random.default_rng(8)
    e, w = rng.normal(size=4), rng.normal(size=3)
    e /= np.linalg.norm(e)
    expected = Rotation.from_quat([*e[1:], e[0]]).as_matrix()
    R = euler_rotation([Jet([x, dx]) for x, dx in zip(e, euler_rates(list(e), w), strict=True)])
    assert np.abs(jets.value(R) - expected).max() < 1e-14
    assert np.abs(jets.value(jets.rate(R)) - expected @ np.cross(np.eye(3), w)).max() < 1e-14
    axis = e[1:] / np.linalg.norm(e[1:])
    for given in (axis, Jet([axis, 0 * axis])):
        found = jets.value(rotation_about(given, Jet([0.7, 1.3])))
        assert np.abs(found - Rotation.from_rotvec(0.7 * axis).as_matrix()).max() < 1e-14


@pytest.mark.parametrize("order", [1, 3])
def test_rates_of_a_table_of_two_arguments(order):
    """Of a + b x + c y + d x y, which both interpolations have exactly; x and y move."""
    axes = np.array([0.0, 1.0, 2.5, 3.0, 5.0]), np.array([-2.0, -1.0, 0.5, 1.0])
    x, y = np.meshgrid(*axes, indexing="ij")
    table = bc.table(*axes, 1 + 2 * x + 3 * y + 4 * x * y, order)
    found = look_up(table, [Jet([1.2, 0.7, 0.0]), Jet([-0.3, 1.1, 0.0])])
    rate = (2 + 4 * -0.3) * 0.7 + (3 + 4 * 1.2) * 1.1
    assert derivatives(found) == pytest.approx([1 + 2.4 - 0.9 - 1.44, rate, 8 * 0.7 * 1.1])
