"""Bounds that spare a look at eigenvalues: where they are sure of a step, eigenvalues say the
same."""

import numpy as np
import pytest

from bellcrank.core.numeric.fixed_step_methods import METHODS
from bellcrank.simulation.run import step_size_check, step_stability
from bellcrank.simulation.run.state_jacobian import PUSH, difference_jacobian
from bellcrank.simulation.run.step_stability import (
    amplification_factors,
    amplification_matrix,
    certainly_stable,
)
from tests.models import example, needs_compiler


def systems(seed, count, n_q):
    """Random systems of second order, stiff and soft, damped and growing, in units of all sizes,
    and any matrices."""
    rng = np.random.default_rng(seed)
    found = []
    for i in range(count):
        n = 2 * n_q
        A = rng.normal(size=(n, n)) * 10.0 ** rng.uniform(-2, 2)
        if i % 4:
            modes = rng.normal(size=(n_q, n_q))
            stiff = modes @ np.diag(10.0 ** rng.uniform(-2, 5, n_q)) @ np.linalg.inv(modes)
            soft = modes @ np.diag(rng.choice([-0.1, 0.0, 1.0, 100.0], n_q)) @ np.linalg.inv(modes)
            A = np.block([[np.zeros((n_q, n_q)), np.eye(n_q)], [-stiff, -soft]])
        sizes = 10.0 ** rng.uniform(-3, 3, n)
        found.append(A * sizes[:, None] / sizes)
    return np.array(found)


@pytest.mark.parametrize("method", METHODS)
def test_what_is_sure_raises_no_alarm(method):
    sure = alarms = 0
    for h, steps in ((1e-3, 50), (1e-2, 1000), (0.02, 100_000), (0.1, 300)):
        A = systems(1, 60, 3)
        with np.errstate(all="ignore"):
            stable = certainly_stable(A, h, steps, method, 3)
            found = [step_stability.unstable_mode_of_matrix(a, 0.0, h, steps, method, 3) for a in A]
        assert not any(
            alarm is not None and good for alarm, good in zip(found, stable, strict=True)
        )
        sure += stable.sum()
        alarms += sum(x is not None for x in found)
    assert sure > 30
    assert alarms > 30  # both are met


def test_states_that_move_no_others_are_left_out():
    """Eigenvalues of what is left are those of the whole, but for zeros."""
    A = systems(3, 4, 3)
    whole = np.zeros((4, 9, 9))
    places = [0, 2, 3, 5, 6, 8]
    whole[:, np.array(places)[:, None], places] = A
    whole[:, 1, :] = 3.0  # depends on all
    whole[:, 1, 1] = 0.0
    whole[:, 7, 2] = 5.0
    whole[:, 1, 7], whole[:, 1, 4] = 2.0, 1.0  # moves one that moves none
    left, n_q = step_stability._drop_ignorable_states(whole, 4)
    assert n_q == 3
    np.testing.assert_array_equal(left, A)


@pytest.mark.parametrize("method", METHODS)
def test_the_matrix_of_a_step_is_what_the_method_does(method):
    from bellcrank.core.numeric.integrate import step_function

    A = systems(2, 5, 2)
    one = step_function(method, 2)
    for a, step in zip(A, amplification_matrix(A, 0.01, method, 2), strict=True):
        rates = lambda _, y, a=a: a @ y  # noqa: E731
        columns = [one(rates, (0.0, 0.0, 0.0), e, 0.01, a @ e) for e in np.eye(4)]
        if METHODS[method].two_step:  # of the state and the one before
            both = [(e[:4], e[4:]) for e in np.eye(8)]
            columns = [
                [*one(rates, (0.0, 0.0, 0.0), y, 0.01, a @ y, a @ old), *y] for y, old in both
            ]
        np.testing.assert_allclose(
            step, np.array(columns).T, rtol=1e-12, atol=1e-12 * np.abs(step).max()
        )


def test_slopes_of_many_states_are_those_of_each():
    rng = np.random.default_rng(0)
    t, y = rng.uniform(size=5), rng.normal(size=(5, 3)) * [1e-3, 1.0, 1e3]

    def rates(t, y):
        return np.stack(
            [np.sin(y[:, 0]) * y[:, 1] + t, y[:, 2] ** 2, y[:, 0] - 3 * y[:, 2]], axis=1
        )

    found = difference_jacobian(rates, t, y)
    for i in range(5):
        np.testing.assert_array_equal(
            found[i], difference_jacobian(rates, t[i : i + 1], y[i : i + 1])[0]
        )
        a, b, c = y[i]
        exact = [[np.cos(a) * b, np.sin(a), 0], [0, 0, 2 * c], [1, 0, -3]]
        np.testing.assert_allclose(found[i], exact, rtol=1e-7, atol=1e-7 * abs(c))


@needs_compiler
@pytest.mark.parametrize("name", ["quarter_car", "double_pendulum", "four_bar"])
def test_what_c_calls_calm_is_what_the_slopes_say(name):
    """The bound of C is that of the slopes by differences: true just above their norm, false just
    below."""
    sim = example(name).compile(backend="c")
    bound = sim.rhs()._bound
    q, u = sim.assemble()
    states = np.concatenate([q, u]) + 0.01 * np.random.default_rng(0).normal(
        size=(3, len(q) + len(u))
    )
    times, h = np.array([0.0, 0.1, 0.2]), 0.01
    power = h * difference_jacobian(
        lambda t, y: bound.batch_rates(t, y, afresh=False), times, states
    )
    for _ in range(step_stability.SQUARINGS):
        power = power @ power
    worst = float((power**2).sum(axis=(1, 2)).max())
    given = times, states, h, PUSH, step_stability.SQUARINGS
    assert bound.is_stable_step(*given, worst * 1.01)
    assert not bound.is_stable_step(*given, worst * 0.99)
    assert not bound.is_stable_step(times, states * np.nan, *given[2:], np.inf)


@pytest.mark.parametrize("method", METHODS)
def test_what_is_calm_is_sure(method):
    for steps in (1, 10, 1000, 10**7):
        below, h = step_stability.stable_norm_bound(steps, method), 0.01
        A = systems(3, 60, 2) * 10.0 ** np.linspace(-6, 1, 60)[:, None, None]
        with np.errstate(all="ignore"):
            power = h * A
            for _ in range(step_stability.SQUARINGS):
                power = power @ power
            calm = (power**2).sum(axis=(1, 2)) < below
        with np.errstate(all="ignore"):
            sure = certainly_stable(A, h, steps, method, 2)
        assert calm.any() != METHODS[method].semi_implicit
        assert sure[calm].all()


@needs_compiler
@pytest.mark.parametrize("name", ["quarter_car", "double_pendulum", "four_bar"])
def test_what_c_calls_calm_of_a_run_is_what_it_says_of_the_rows_that_are_looked_at(name):
    """The start, both thirds, and the sides of the three largest jolts: those of Python, by all
    bounds about them."""
    sim = example(name).compile(backend="c")
    bound, n_q = sim.rhs()._bound, sim.loaded.n_q
    rng, n_s = np.random.default_rng(1), sim.loaded.n_states
    start = np.asarray(sim.assemble())
    for count in (1, 2, 3, 4, 30):
        rows = np.column_stack(
            [np.arange(count) * 0.01, start + 0.1 * rng.normal(size=(count, n_s)), np.ones(count)]
        )
        looked = step_size_check._probe_rows(rows[:, 1:-1], n_q)
        given = 0.01, PUSH, step_stability.SQUARINGS
        told = []
        for most in 10.0 ** np.arange(-300, 300, 4.0):
            told.append(bound.is_stable_run(rows, *given, most))
            assert told[-1] == bound.is_stable_step(
                rows[looked, 0], rows[looked, 1:-1], *given, most
            )
        assert {True, False} == {*told}


@needs_compiler
def test_slopes_to_one_side_of_the_states_that_rates_depend_on():
    sim = example("passenger_car").compile(backend="c")
    f, loaded = sim.rhs(), sim.loaded
    y = np.asarray(sim.assemble())[None, :]
    t = np.zeros(1)
    rates = lambda t, y: f._bound.batch_rates(t, y, afresh=False)  # noqa: E731
    whole = difference_jacobian(rates, t, y)[0]
    idle = np.setdiff1d(np.arange(loaded.n_states), loaded.rate_state_indices)
    assert 0 < len(idle) < loaded.n_states
    assert not whole[:, idle].any()
    np.testing.assert_array_equal(
        difference_jacobian(rates, t, y, state_indices=loaded.rate_state_indices)[0], whole
    )
    one = difference_jacobian(
        rates, t, y, state_indices=loaded.rate_state_indices, is_central=False
    )[0]
    np.testing.assert_allclose(one, whole, rtol=1e-3, atol=1e-5 * np.abs(whole).max())


def oscillators(*given):
    """Uncoupled ones of given frequency and damping ratio; coordinates first."""
    n = len(given)
    A = np.zeros((2 * n, 2 * n))
    for i, (w, d) in enumerate(given):
        A[i, n + i], A[n + i, i], A[n + i, n + i] = 1.0, -w * w, -2 * d * w
    return A


@pytest.mark.parametrize("method", METHODS)
def test_each_motion_grows_by_what_the_method_makes_of_it_alone(method):
    """Of three oscillators each has the growth of its own step; modes are those of the
    eigenvalues."""
    own, h = [(1.0, 0.01), (5.0, 0.3), (12.0, -0.02)], 0.05
    values, grown, modes = amplification_factors(oscillators(*own), h, method, 3)
    assert oscillators(*own) @ modes == pytest.approx(modes * values)
    for w, d in own:
        alone = oscillators((w, d))
        step = np.abs(np.linalg.eigvals(amplification_matrix(alone, h, method, 1)))
        step.sort()
        found = np.sort(grown[np.isclose(abs(values), w)])
        assert found == pytest.approx(step[-2:], rel=1e-12)


@pytest.mark.parametrize(("method", "limit"), [("rk4", np.sqrt(8)), ("euler", 2.0)])
def test_the_step_of_an_alarm_is_the_largest_stable_one(method, limit):
    """Of an undamped oscillator of 10 rad/s: by less than a tenth smaller than what is known; what
    grows by itself is no alarm."""
    A, h = oscillators((10.0, 0.0)), 1.2 * limit / 10
    found = step_stability.unstable_mode_of_matrix(A, 3.0, h, 10**6, method, 1)
    assert 0.88 * limit / 10 < found.stable_step <= limit / 10 * (1 + 1e-3)
    assert (found.time, abs(found.eigenvalue), found.motion_growth) == (3.0, pytest.approx(10), 0)
    assert found.growth == pytest.approx(
        np.abs(np.linalg.eigvals(amplification_matrix(A, h, method, 1))).max()
    )
    assert (
        step_stability.unstable_mode_of_matrix(A, 3.0, 0.95 * limit / 10, 1000, method, 1) is None
    )
    assert (
        step_stability.unstable_mode_of_matrix(oscillators((1.0, -0.5)), 0.0, 0.01, 1000, method, 1)
        is None
    )


def test_excess_is_what_errors_grow_more_than_the_fastest_motion():
    values, h = np.array([2.0, -1.0 + 3j, -5.0]), 0.1
    found = step_stability._excess_growth(values, np.array([1.3, 1.1, 0.9]), h)
    assert found == pytest.approx([np.log(1.3) - 0.2, np.log(1.1) - 0.2, -np.inf])
    assert step_stability._excess_growth(values - 3, np.array([1.3, 1.1, 0.9]), h) == pytest.approx(
        [np.log(1.3), np.log(1.1), -np.inf]
    )


def test_jumps_are_taken_out_of_slopes():
    """A jump at the state is ten times as steep with a tenth of the push; just next to it the finer
    push does not meet it."""
    push = PUSH

    def rates(t, y):
        x = y[:, 0]
        return np.column_stack([3 * x + 50 * np.sign(x), 2 * x + 40 * (x > push / 2), 7 * x])

    y = np.array([0.0, 0.0, 0.0])
    coarse = difference_jacobian(rates, np.zeros(1), y[None, :], push)[0]
    assert step_stability.smooth_jacobian(rates, 0.0, y, coarse)[:, 0] == pytest.approx(
        [3, 2, 7], rel=1e-3
    )
