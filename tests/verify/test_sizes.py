"""Errors that the check reports, and what it holds them against, for machines whose terms can be
written down."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.core.units import ACCELERATION, FORCE, LENGTH, TIME, unit_system
from bellcrank.verify.divisor_zeros import _find_sign_changes
from bellcrank.verify.jacobian_check import _match_rows, _row_error, constraint_errors
from bellcrank.verify.kane_residual import PartialVelocityMotions, accelerations, virtual_power
from bellcrank.verify.model_under_test import CheckSample, ModelUnderTest, substitute_user_function
from bellcrank.verify.reactions import newton_euler, reactions_error
from bellcrank.verify.redundant import _max_scaled_error, correction_error, projection_order
from bellcrank.verify.scales import ErrorScales, variation_scale
from bellcrank.verify.state_checks import kinematic_error, user_state_error
from bellcrank.verify.truncation import scaled_sample
from tests.models import system

M0, M1, L, H, F, G = (
    3.0,
    2.0,
    0.5,
    0.4,
    7.0,
    10.0,
)  # cart, rod: masses, arm of the rod, height of its hinge, push, gravity
INERTIA = (0.1, 0.2, 0.3)
Q, U = np.array([0.3, 0.7]), np.array([1.1, -2.0])


def cart():
    """A cart that is pushed along n1 with a rod on a hinge about n3; a state z of the user's
    own."""
    s = bc.System("cart", units="mks")
    body = s.add_body("cart", translate=1, mass=M0, inertia=0)
    s.add_body(
        "rod", parent=body, rotate=3, joint_at=(0, H, 0), cm=(L, 0, 0), mass=M1, inertia=INERTIA
    )
    s.add_gravity(direction=(0, -1, 0))
    s.add_force("push", magnitude="f", direction=s.inertial[1], at=body.origin)
    s.add_outputs("reactions", "energy", "momentum")
    s.set_defaults(f=F, g=G)
    return s


@pytest.fixture(scope="module")
def subject():
    s = cart()
    return ModelUnderTest(s, s.equations(), {"backend": "python"}, None, 0)


@pytest.fixture(scope="module")
def evaluation(subject):
    return subject.evaluation(CheckSample(0.0, Q, U, {}))


def mass_matrix(q=Q):
    s = math.sin(q[1])
    return np.array([[M0 + M1, -M1 * L * s], [-M1 * L * s, M1 * L**2 + INERTIA[2]]])


def by_hand(q=Q, u=U):
    c = math.cos(q[1])
    return np.linalg.solve(mass_matrix(q), [F + M1 * L * c * u[1] ** 2, -M1 * G * L * c])


def acceleration_of_rod(udot):
    s, c = math.sin(Q[1]), math.cos(Q[1])
    e1, e2 = np.array([c, s]), np.array([-s, c])
    return np.array([udot[0], 0]) + L * udot[1] * e2 - L * U[1] ** 2 * e1


def test_accelerations_and_masses(evaluation):
    assert accelerations(evaluation, Q, U) == pytest.approx(by_hand(), rel=1e-13)
    assert PartialVelocityMotions(evaluation, Q).mass_matrix() == pytest.approx(
        mass_matrix(), rel=1e-13
    )


def test_virtual_power_beside_the_sum_of_its_terms(evaluation):
    own, off = by_hand(), np.array([0.2, -0.3])
    found = virtual_power(evaluation, Q, U, own + off, own)
    assert found.left == pytest.approx(-mass_matrix() @ off, rel=1e-12)
    s, c = math.sin(Q[1]), math.cos(Q[1])
    a = acceleration_of_rod(own)
    slide = F + M0 * abs(own[0]) + M1 * abs(a[0])
    turn = M1 * G * L * c + L * M1 * abs(a @ (-s, c)) + INERTIA[2] * abs(own[1])
    single = abs(mass_matrix()) @ abs(own)
    assert found.size == pytest.approx(np.maximum([slide, turn], single), rel=1e-12)
    assert found.relative == pytest.approx(abs(found.left) / found.size)


def test_terms_that_cancel_count_a_thousandth(evaluation):
    """The rod hangs and nothing moves: gravity has no moment about the hinge, but could have."""
    q = np.array([0.0, -math.pi / 2])
    rest = np.zeros(2)
    sizes = PartialVelocityMotions(evaluation, q).power_scales(evaluation.motion(q, rest, rest))
    assert sizes == pytest.approx([F, 1e-3 * M1 * G * L], rel=1e-6)
    fast = np.array(
        [0.0, 9.0]
    )  # terms of the usual rate are larger than gravity: its square by the system's size
    sizes = PartialVelocityMotions(evaluation, q).power_scales(evaluation.motion(q, fast, rest))
    assert sizes[1] == pytest.approx(1e-3 * 81 * M1 * L * L, rel=1e-6)


def test_newton_euler_beside_the_largest_term(evaluation):
    own, off = by_hand(), np.array([0.2, -0.3])
    found = newton_euler(evaluation, Q, U, own + off, own)
    assert found.left == pytest.approx(mass_matrix() @ off, rel=1e-12)
    force = max(M1 * np.linalg.norm(acceleration_of_rod(own)), M1 * G)
    arm = math.hypot(Q[0] + L * math.cos(Q[1]), H + L * math.sin(Q[1]))
    turning = np.linalg.norm(INERTIA) * (abs(own[1]) + U[1] ** 2)
    of_cart = max(M0 * abs(own[0]), F, M0 * G, force)
    assert found.size == pytest.approx(
        [of_cart, max(max(H, Q[0]) * force, turning, force * arm)], rel=1e-12
    )


def test_wrong_reactions_are_a_share_of_the_largest_term(subject, evaluation):
    udot = by_hand()
    right = subject.outputs(CheckSample(0.0, Q, U, {}))
    assert reactions_error(evaluation, Q, U, udot, right) < 1e-14
    s, c = math.sin(Q[1]), math.cos(Q[1])
    told = {
        b: np.array([right.get(f"{x}{i}({b})", 0.0) for x in "FM" for i in (1, 2, 3)])
        for b in ("rod", "cart")
    }
    R = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    at = {"rod": np.array([Q[0], H, 0]), "cart": np.array([Q[0], 0, 0])}
    turning = {
        "rod": np.linalg.norm(np.cross(at["rod"], R @ told["rod"][:3]) + told["rod"][3:]),
        "cart": np.linalg.norm(np.cross(at["cart"], told["cart"][:3]) + told["cart"][3:]),
    }
    force = max(
        M1 * np.linalg.norm(acceleration_of_rod(udot)), M1 * G, np.linalg.norm(told["rod"][:3])
    )
    weight = max(M1 * np.linalg.norm(acceleration_of_rod(udot)), M1 * G)
    arm = math.hypot(Q[0] + L * c, H + L * s)
    of_rod = max(np.linalg.norm(INERTIA) * (abs(udot[1]) + U[1] ** 2), weight * arm, turning["rod"])
    of_cart = max(max(M0 * abs(udot[0]), F, M0 * G) * Q[0], turning["rod"], turning["cart"])
    off = 1e-6

    def wrong(name):
        return (
            reactions_error(evaluation, Q, U, udot, {**right, name: right.get(name, 0.0) + off})
            / off
        )

    assert wrong("M3(rod)") == pytest.approx(1 / min(of_rod, of_cart), rel=1e-5)
    assert wrong("M3(cart)") == pytest.approx(1 / of_cart, rel=1e-5)
    moved = abs(Q[0] * s - H * c)
    assert wrong("F1(rod)") == pytest.approx(max(c / force, moved / min(of_rod, of_cart)), rel=1e-5)


def test_rates_of_coordinates_are_shares_of_speeds(evaluation):
    for off in ((0.01, 0.0), (0.0, 0.01), (-0.02, 0.03)):
        expected = np.abs(off / U).max()
        assert kinematic_error(evaluation, Q, U, U + off) == pytest.approx(expected, rel=1e-9)
    slow = np.array(
        [0.0, 4.0]
    )  # the slide rests: a thousandth of the usual rate, 4 rad/s of a machine of 0.5 m
    assert kinematic_error(evaluation, Q, slow, slow + (1e-4, 0)) == pytest.approx(
        1e-4 / (1e-3 * 4 * L), rel=1e-9
    )
    assert user_state_error(evaluation, Q, U, U) == 0


def test_scales(evaluation):
    own = by_hand()
    found = ErrorScales(L)
    found.update(evaluation, Q, U, own)
    rod = M1 * np.linalg.norm(acceleration_of_rod(own))
    assert (found.mass, found.rate) == (M0 + M1, max(U[0] / L, -U[1]))
    assert found.acceleration == pytest.approx(max(abs(own[0]) / L, abs(own[1])), rel=1e-12)
    assert found.force == pytest.approx(max(F, M0 * G, M0 * abs(own[0]), rod), rel=1e-12)
    assert found.moment == pytest.approx(INERTIA[2] * abs(own[1]), rel=1e-12)
    per_second = max(found.rate, math.sqrt(found.acceleration))
    assert found.scale_of(FORCE) == pytest.approx((M0 + M1) * L * per_second**2)
    assert found.scale_of(LENGTH / TIME) == pytest.approx(L * per_second)
    assert ErrorScales(0.5).scale_of(ACCELERATION) == 0.5
    told = ErrorScales(0.5, 4.0, 3.0, 6.0, 70.0, 8.0).summary(unit_system("mks"))
    assert told == (
        "length 0.5 m, mass 4 kg, speed 1.5 m/s or 3 rad/s, acceleration 3 m/s2 or 6 "
        "rad/s2, force 70 N, moment 8 N-m"
    )


def test_how_much_formulas_vary(evaluation):
    """By their slopes, over what counts as one: the system's size or a radian, and the rates that
    go with them."""
    rate = max(abs(U / (L, 1)))
    steps = [
        [rng.uniform(-1, 1, 2) for _ in range(3)] for rng in map(np.random.default_rng, (1, 2))
    ]
    own = np.array([30.0, 1.0])
    slopes = [np.array([2.0, 3.0]), np.array([5.0, -7.0]), np.array([0.1, 0.2])]
    units = [
        np.array([L, 1.0]),
        rate * np.array([L, 1]),
        np.maximum(rate**2 * np.array([L, 1]), own),
    ]

    def f(*given):
        return np.array([sum(s @ x for s, x in zip(slopes, given, strict=True)), 4.0])

    expected = max(
        abs(sum(s @ (x * unit) for s, x, unit in zip(slopes, step, units, strict=True)))
        for step in steps
    )
    assert variation_scale(evaluation, f, Q, U, own) == pytest.approx([expected, 0], rel=1e-6)


def test_energies(evaluation):
    found = evaluation.energies(Q, U, by_hand())
    s, c = math.sin(Q[1]), math.cos(Q[1])
    v = np.array([U[0] - L * U[1] * s, L * U[1] * c])
    kinetic = 0.5 * (M0 * U[0] ** 2 + M1 * v @ v + INERTIA[2] * U[1] ** 2)
    assert (found.kinetic, found.power) == pytest.approx((kinetic, F * U[0]), rel=1e-13)
    assert found.gravity == pytest.approx(M1 * G * (H + L * s), rel=1e-13)


def test_shares():
    """Where nothing counts as one, of the largest; rows that are all rounding count little."""
    assert _max_scaled_error(np.array([0.1, -0.4]), np.array([2.0, 4.0])) == pytest.approx(0.1)
    assert _max_scaled_error(np.array([0.1, -4e-7]), np.array([2.0, 0.0])) == pytest.approx(0.2)
    assert _max_scaled_error(np.array([0.3]), np.array([0.0])) == 0.3
    assert _row_error(
        np.array([[1.0, 2.2], [0, 1e-4]]), np.array([[1.0, 2.0], [0, 0]])
    ) == pytest.approx(0.1)
    assert _row_error(
        np.array([[1.0, 2.0], [0, 1e-3]]), np.array([[1.0, 2.0], [0, 0]])
    ) == pytest.approx(0.5)
    assert _row_error(np.array([[0.5, 0]]), np.zeros((1, 2))) == 0.5
    assert _match_rows(["a", "b", "b"], ["x", "a", "b", "y", "b"]) == [(0, 1), (1, 2), (2, 4)]
    assert _match_rows(["a", "c", "b"], ["a", "b"]) == [(0, 0), (2, 1)]


# ---- a loop: the bob of a pendulum on a rod, x^2 + y^2 = l^2

AT, FAST = np.array([0.6, -0.9]), np.array([2.0, 0.5])


@pytest.fixture(scope="module")
def pendulum():
    s = system("planar_pendulum")
    return ModelUnderTest(s, s.equations(), {"backend": "python"}, None, 0)


@pytest.fixture(scope="module")
def bob(pendulum):
    return pendulum.evaluation(CheckSample(0.0, AT, FAST, {}))


def test_rows_of_a_rod(bob):
    found = bob.closed.jacobian(AT)
    assert found.J.tolist() == [pytest.approx(2 * AT)]
    assert (found.c, found.sizes, found.positions) == ([0], pytest.approx([1.8]), [True])
    assert (bob.length, bob.closed.dof_count(AT)) == (1, 1)
    T = bob.closed.null_space(AT, bob.freedoms)
    assert T[bob.freedoms] == pytest.approx(1)
    assert abs(AT @ T) < 1e-14
    assert not bob.closed.drift_speeds(AT).any()
    assert bob.closed.is_regular(AT, bob.freedoms) and bob.closed.has_reference_orientation(
        bob.motion(AT, FAST)
    )


def test_residuals_of_a_rod(bob):
    """As fractions of the row that unit speeds make, and of the largest speed or its square."""
    own = accelerations(bob, AT, FAST)
    tension = (FAST @ FAST - 9.81 * AT[1]) / (AT @ AT)  # x'' = -tension x, y'' = -tension y - g
    assert own == pytest.approx(-tension * AT - (0, 9.81), rel=1e-12)
    position, speed = bob.closed.errors(AT, FAST)
    assert position == pytest.approx((AT @ AT - 1) / 1.8)
    assert speed == pytest.approx(abs(2 * AT @ FAST) / 1.8 / 2)
    assert bob.closed.errors(AT, np.array([0.0, 1e-4]))[1] == pytest.approx(
        2 * 0.9 * 1e-4 / 1.8 / 1e-3
    )
    off = own + (0, 0.1)
    largest = max(abs(own).max(), 4)
    assert bob.closed.acceleration_error(AT, FAST, off, own) == pytest.approx(
        2 * 0.9 * 0.1 / 1.8 / largest
    )
    assert bob.closed.acceleration_error(AT, FAST, off, 0 * own) == pytest.approx(
        2 * 0.9 * 0.1 / 1.8 / 4
    )
    left = virtual_power(bob, AT, FAST, off, own)
    T = bob.closed.null_space(AT, bob.freedoms)[:, 0]
    assert left.left == pytest.approx(-0.1 * T[1])
    assert newton_euler(bob, AT, FAST, own, own).left == pytest.approx(0, abs=1e-12)


def test_wrong_slopes_are_shares_of_their_row(pendulum, monkeypatch):
    """dg/dx, v and dv/dy wrong by a thousandth: as fractions of the largest slope, and of the
    largest rate of the row."""
    right, sample = pendulum.closure, CheckSample(0.0, AT, FAST, {})
    share = abs(AT[0] / AT[1])
    rate = abs(AT @ FAST) / (abs(AT[1]) * FAST[0])
    order = ("positions", "speeds", "rate")
    parts = {  # g, dg/dx, dg/dy, v, dv/dx, dv/dy: what is wrong, and the errors that follow
        1: (share, 0, 1e-3 * abs(AT[0] * FAST[0]) / (abs(AT[1]) * FAST[0])),
        3: (0, 1 / 1.001, rate),
        5: (0, 1, 0),
    }
    for place, expected in parts.items():

        def closure(s, place=place):
            flat = np.array(right(s))
            assert len(flat) == 6
            flat[place] *= 1.001
            return flat.tolist()

        monkeypatch.setattr(pendulum, "closure", closure)
        found = constraint_errors(pendulum, sample)
        wanted = [1e-3 * x if k < 2 or place == 3 else x for k, x in enumerate(expected)]
        assert [found[x] for x in order] == pytest.approx(wanted, rel=1e-6, abs=1e-9), place


@pytest.mark.parametrize(("whole", "order"), [(1.0, 2.0), (0.9, 1.0), (1.1, 1.0)])
def test_order_of_a_correction(pendulum, monkeypatch, whole, order):
    """A whole Newton step leaves what is of second order; one that is too short or too long a
    share."""
    (s,) = pendulum.samples(1)
    right = pendulum.function_values

    def section(name, s):
        return right(name, s) * (whole if name.startswith("correct") else 1.0)

    monkeypatch.setattr(pendulum, "function_values", section)
    assert projection_order(pendulum, s) == pytest.approx(order, abs=0.05)
    wrong = s.u + np.random.default_rng(3).uniform(-1, 1, 2)
    moved = wrong.copy()
    moved[list(pendulum.eom.program.loops.correction.u)] -= (
        whole * right("correct_u", CheckSample(0.0, s.q, wrong, {}))[:1]
    )
    share = abs(whole - 1) * abs(s.q @ wrong) / (abs(s.q) @ np.maximum(abs(moved), 1))
    assert correction_error(pendulum, s) == pytest.approx(share, rel=1e-9, abs=1e-15)


# ---- what is drawn


def test_states_are_drawn_about_the_initial_one(subject):
    """Slides by the size of the machine, angles by a radian, speeds alike; smaller by the share
    asked for."""
    drawn = [subject.draw_sample(0.5) for _ in range(200)]
    for x, size in (("q", (L / 2, 0.5)), ("u", (L / 2, 0.5))):
        found = np.array([getattr(s, x) for s in drawn])
        assert (abs(found) <= size).all() and abs(found).max(axis=0) == pytest.approx(
            size, rel=0.05
        )
        assert found.mean(axis=0) == pytest.approx((0, 0), abs=0.1)
    assert 0 <= min(s.time for s in drawn) < 0.05 and 0.95 < max(s.time for s in drawn) <= 1


def test_stand_ins_for_routines():
    """0.7 sin(0.3 + i/2 + phase) with arguments weighted 0.4, 0.6 ...; one that remembers adds what
    it kept."""
    plain = SimpleNamespace(returns=("a", "b"), memory=0)
    phase = 0.4 * math.atan(2.0) + 0.6 * math.atan(-1.0)
    assert substitute_user_function(plain)(2.0, -1.0) == pytest.approx(
        (0.7 * math.sin(0.3 + phase), 0.7 * math.sin(0.8 + phase))
    )
    kept, memory = SimpleNamespace(returns=(), memory=2), np.zeros(2)
    first = substitute_user_function(kept)(2.0, -1.0, memory)
    assert first == pytest.approx(0.7 * math.sin(0.3 + phase))
    assert substitute_user_function(kept)(2.0, -1.0, memory) == pytest.approx(first + 2 * 0.37)


def test_small_quantities_are_scaled_by_their_order(subject):
    s = CheckSample(
        0.5,
        np.array([2.0, 3.0]),
        np.array([4.0, 5.0]),
        {"a": (1.0, 2.0, 3.0), "b": (4.0, 5.0, 6.0)},
    )
    orders = {"q(cart)": 1, "u(rod)": 2, "a": 3}
    found = scaled_sample(subject, s, 0.1, orders)
    assert (found.time, [*found.q], [*found.u]) == (0.5, [0.2, 3.0], pytest.approx([4, 0.05]))
    assert found.inputs == {"a": pytest.approx((1e-3, 2e-3, 3e-3)), "b": (4, 5, 6)}


def test_zeros_on_lines_between_states():
    """Of x - 0.3 on lines of the plane; bisected to the last digit."""
    rng = np.random.default_rng(5)
    found = _find_sign_changes(
        [None], lambda roots, q: np.array([q[0] - 0.3]), lambda: rng.uniform(-1, 1, 2), 4
    )
    assert len(found) == 4
    assert [q[0] for q, _ in found] == pytest.approx([0.3] * 4, abs=1e-14)
    assert (
        _find_sign_changes(
            [None], lambda roots, q: np.array([q[0] + 2]), lambda: rng.uniform(-1, 1, 2), 4
        )
        == []
    )
