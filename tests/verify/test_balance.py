"""Energy and momentum over a run: what is exchanged, and the lines that follow, for a cart with a
rod (test_sizes)."""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from bellcrank.verify.conservation import EnergyAccount, RigidMotions, ShortRun, _momentum_lines
from bellcrank.verify.model_under_test import CheckSample, ModelUnderTest
from bellcrank.verify.reference_evaluation import EnergyRates
from bellcrank.verify.taylor import central_difference
from tests.verify.test_sizes import INERTIA, M0, M1, F, G, H, L, Q, U, cart


@pytest.fixture(scope="module")
def subject():
    s = cart()
    return ModelUnderTest(s, s.equations(), {"backend": "python"}, None, 0)


START = CheckSample(0.25, Q, U, {})


def test_inputs_swing_once_over_the_run(subject):
    """From the value and rate drawn; rates are those of the value."""
    window = ShortRun(subject, START)
    window.start = replace(START, inputs={"a": (2.0, 3.0, 9.0)})
    assert window.t_end == 1.25
    y = np.arange(4.0)
    sample = window.sample_at(0.25, y)
    assert (sample.time, [*sample.q], [*sample.u], sample.inputs) == (
        0.25,
        [0, 1],
        [2, 3],
        {"a": (2, 3, 0)},
    )
    for t in (0.3, 0.55, 1.1):
        value, rate, second = window.sample_at(t, y).inputs["a"]
        assert value == pytest.approx(2 + 3 / (2 * math.pi) * math.sin(2 * math.pi * (t - 0.25)))
        assert rate == pytest.approx(
            central_difference(lambda h, t=t: window.sample_at(t + h, y).inputs["a"][0], 1e-2),
            rel=1e-9,
        )
        assert second == pytest.approx(
            central_difference(lambda h, t=t: window.sample_at(t + h, y).inputs["a"][1], 1e-2),
            rel=1e-9,
        )
    # speeds count by the usual rate
    assert window.units == pytest.approx([L, 1, 2.2 * L, 2.2])


def by_hand():
    """Velocity and place of the rod's mass centre."""
    s, c = math.sin(Q[1]), math.cos(Q[1])
    return np.array([U[0] - L * U[1] * s, L * U[1] * c]), np.array([Q[0] + L * c, H + L * s])


def test_momenta_and_loads_of_the_machine_as_one_body(subject):
    rigid = RigidMotions(subject.evaluation(START), START)
    v, r = by_hand()
    spin = INERTIA[2] * U[1]
    total, size = rigid.momenta()
    expected = [M0 * U[0] + M1 * v[0], M1 * v[1], 0, 0, 0, M1 * (r[0] * v[1] - r[1] * v[0]) + spin]
    assert total == pytest.approx(expected, abs=1e-13)
    parts = [
        M0 * U[0] + M1 * abs(v[0]),
        M1 * abs(v[1]),
        0,
        0,
        0,
        M1 * (abs(r[0] * v[1]) + abs(r[1] * v[0])) + abs(spin),
    ]
    assert size == pytest.approx(parts, abs=1e-13)
    assert rigid.loads() == pytest.approx(
        [F, -(M0 + M1) * G, 0, 0, 0, -M0 * G * Q[0] - M1 * G * r[0]], abs=1e-12
    )
    assert rigid.allowed_motions().tolist() == [True, False, False, False, False, False]


def test_what_is_exchanged_in_a_step(subject):
    """The cart moves evenly, turning back in the middle: the push does no work, but exchanges
    it."""
    window = ShortRun(subject, START)
    path = SimpleNamespace(t_old=1.0, t=1.5)

    def at(t):
        speed = 4.0 if t < 1.25 else -4.0
        return np.array([Q[0], Q[1], speed, 0.0])

    path.dense_output = lambda: at
    window._note_nodes(path)
    window._note_nodes(path)
    window._integrate_exchange()
    account = window.account
    assert (account.work, account.exchanged) == pytest.approx((0, 2 * 0.5 * F * 4), abs=1e-12)
    turning = -M0 * G * Q[0] - M1 * G * (Q[0] + L * math.cos(Q[1]))
    assert account.impulse == pytest.approx([F, -(M0 + M1) * G, 0, 0, 0, turning])
    assert account.pushed == pytest.approx(abs(account.impulse))
    assert account.free.tolist() == [True, False, False, False, False, False]


@pytest.mark.parametrize(
    ("exchanged", "last", "error"),
    [
        (10.0, (4.0, 7.0), 0.2),
        (0.5, (4.0, 7.0), 1.0),
        (0.5, (8.0, 6.0), 1.0),
        (1e-9, (3.0, 5.0), 1.0 / 3e-3),
    ],
)
def test_a_balance_is_a_share_of_what_went_to_and_fro(subject, monkeypatch, exchanged, last, error):
    """Work of 1 against a gain of energy; next to the work, the largest change, or a thousandth of
    the kinetic energy."""
    window = ShortRun(subject, START)
    found = iter([EnergyRates(3.0, 5.0, 0.0), EnergyRates(*last, 0.0)])
    monkeypatch.setattr(window, "_energies", lambda s: next(found))
    window.account.work, window.account.exchanged = 1.0, exchanged
    monkeypatch.setattr(window, "_integrate_exchange", lambda: None)
    gained = last[0] - 3 + last[1] - 5
    line, *_ = window.check_lines(" x")
    assert line.name == "energy balance x" and line.note.startswith("from t = 0.25 s on, for ")
    size = max(exchanged, last[0] - 3, last[1] - 5, 1e-3 * last[0])
    assert line.value == pytest.approx(abs(gained - 1) / size)
    assert line.value == pytest.approx(error)


def test_lines_of_momentum():
    """Along what is free: the change less the impulse, as a fraction of the largest momentum or
    impulse of its kind."""
    account = EnergyAccount(free=np.array([True, False, True, False, False, True]))
    account.impulse = np.array([1.0, 0, 0.5, 0, 0, 0])
    account.pushed = np.array([1.0, 50.0, 0.5, 0, 0, 0])
    before, after = np.array([2.0, 3, 4, 5, 6, 7]), np.array([3.0, 9, 4.25, 0, 0, 7.5])
    linear, angular = _momentum_lines(
        account, [(before, abs(before)), (after, 2 * abs(after))], " y"
    )
    assert (linear.name, linear.value) == ("linear momentum y", pytest.approx(0.25 / 50))
    assert linear.note == "along n1, n3, with the impulse of loads"
    assert (angular.value, angular.note) == (pytest.approx(0.5 / 15), "about n3, conserved")
    account.free[:] = False
    assert _momentum_lines(account, [(before, before), (after, after)], "") == []
