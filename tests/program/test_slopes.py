"""Derivatives of state derivatives as programs print them, against complex steps and differences of
high order."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.program.derivatives import with_rhs_jacobian
from bellcrank.program.statements import AssignStatement, count_section
from bellcrank.simulation.run.state_jacobian import analytic_jacobian
from tests.analysis.complex_step import jacobian
from tests.models import EXAMPLES, example, needs_compiler, pendulum, random_state, relative, system
from tests.verify.test_random_models import machine

QUICK = ("double_pendulum", "stanford_arm", "rolling_disc", "four_bar", "quarter_car")


def given(sim):
    """The rest of what a program is called with, inputs all 0.1."""
    p = sim.parameter_values()
    return p, sim.loaded.constants(p), [0.1] * len(sim.loaded.program.inputs)


def differences(sim, t, x, h=2e-3):
    """Of eighth order."""
    weights = (4 / 5, -1 / 5, 4 / 105, -1 / 280)
    (p, c, w), n_q, calls = given(sim), sim.loaded.n_q, sim.loaded.model.new_calls()

    def rates(y):
        q, u = calls.derivatives(t, y[:n_q].tolist(), y[n_q:].tolist(), p, c, w)
        return np.array([*q, *u])

    steps = h * np.diag(np.maximum(1.0, np.abs(x)))
    return np.array(
        [
            sum(w * (rates(x + k * e) - rates(x - k * e)) for k, w in enumerate(weights, 1))
            / e.sum()
            for e in steps
        ]
    ).T


def with_rates(sim, states):
    """The first of some states around which rates exist, and their differences there."""
    for x in states:
        try:
            found = differences(sim, 0.3, x)
        except (ValueError, ArithmeticError):
            continue
        if np.isfinite(found).all():
            return x, found
    raise AssertionError("there are no rates at any state")


def slopes(sim, t, x):
    p, c, w = given(sim)
    n = sim.loaded.n_q
    return analytic_jacobian(
        sim.loaded.new_context().stiff_calls, (t, x[:n].tolist(), x[n:].tolist(), p, c, w)
    )


@pytest.mark.parametrize(
    "name",
    [
        n if n in QUICK else pytest.param(n, marks=pytest.mark.campaign)
        for n in EXAMPLES
        if n != "demo"
    ],
)
def test_slopes_of_every_example(name):
    eom = example(name)
    sim = eom.compile(backend="python")
    x = 0.3 * np.concatenate(random_state(eom, 4)) + np.asarray(sim.assemble())
    found = slopes(sim, 0.2, x)
    known = np.isfinite(found).all(axis=0)
    assert known.all() == all(
        r.rule is not None and r.formulas is None for r in eom.program.externals
    )  # no linkage
    if (
        all(isinstance(s, AssignStatement) for s in eom.program.derivatives.statements)
        and name in QUICK
    ):
        p, _, w = given(sim)
        n = sim.loaded.n_q
        expected = jacobian(eom.program, p, x[:n], x[n:], w, t=0.2)[: len(x)]
        assert relative(found, expected) < 1e-12
    assert relative(found[:, known], differences(sim, 0.2, x)[:, known]) < 1e-7


@pytest.mark.filterwarnings("ignore:model .* jumps where:bellcrank.ModelWarning")
@pytest.mark.parametrize(
    "seed", [6, *(pytest.param(n, marks=pytest.mark.campaign) for n in (26, 43, *range(30, 42)))]
)
def test_slopes_of_random_models(seed):
    """All joints, frames turned by any rotation, all unit systems, tables, states of one's own."""
    eom = machine(seed).equations()
    sim = eom.compile(backend="python")
    x, expected = with_rates(
        sim, (np.concatenate(random_state(eom, n)) for n in range(seed, seed + 2000, 100))
    )
    found = slopes(sim, 0.3, x)
    near = [
        relative(a, b) for a, b in zip(found, expected, strict=True)
    ]  # row by row: a kink lies within one
    assert np.median(near) < 1e-8 and max(near) < 1e-4


def test_they_cost_a_few_rates_and_share_constants():
    for name, most in (("stanford_arm", 7), ("passenger_car", 3)):
        program = example(name).program
        sloped = with_rhs_jacobian(program)
        assert sloped.constants is program.constants and sloped.parameters is program.parameters
        total = count_section(sloped.slopes.statements, sloped.slopes.results).total
        assert total < most * program.count.total


def test_states_that_act_through_a_routine_without_slopes_are_left_out():
    s = pendulum("-push(q(rod)) - curve(u(rod))")
    s.add_external("push", arguments=["x"], python=lambda x: x**3)
    s.define("curve", bc.table([-1, 0, 2], [-2, 0, 6], 1))
    sim = s.equations().compile(backend="python")
    found = slopes(sim, 0.0, np.array([0.4, 0.5]))
    assert np.isnan(found[:, 0]).all()
    np.testing.assert_allclose(found[:, 1], [1.0, -3 / 2.1], rtol=1e-12)
    jacobian = sim.rhs().jacobian(0.0, [0.4, 0.5])
    np.testing.assert_allclose(jacobian, [[0.0, 1.0], [-3 * 0.16 / 2.1, -3 / 2.1]], atol=1e-9)


def test_where_a_slope_has_no_value_it_is_found_by_differences():
    sim = (
        pendulum("-k*sqrt(q(rod)**2 + u(rod)**2*tau**2)", k=3.0, tau=1.0)
        .equations()
        .compile(backend="python")
    )
    assert not np.isfinite(slopes(sim, 0.0, np.zeros(2))).all()
    np.testing.assert_allclose(sim.rhs().jacobian(0.0, [0.0, 0.0]), [[0, 1], [0, 0]], atol=1e-5)


@needs_compiler
@pytest.mark.parametrize(
    "name", ["four_bar", pytest.param("suspension_car", marks=pytest.mark.campaign)]
)
def test_compiled_slopes_are_those_of_python(name):
    sims = [system(name).equations().compile(backend=backend) for backend in ("c", "python")]
    x = np.concatenate(sims[0].assemble())
    one, other = (slopes(sim, 0.1, x) for sim in sims)
    assert np.array_equal(np.isfinite(one), np.isfinite(other)) and np.isfinite(one).any()
    assert relative(np.nan_to_num(one), np.nan_to_num(other)) < 1e-11
