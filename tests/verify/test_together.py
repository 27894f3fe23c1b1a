"""Several states in one pass give what each of them gives alone."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.verify import jets
from bellcrank.verify.formulas import evaluate_table
from bellcrank.verify.function_rules import FUNCTIONS
from bellcrank.verify.jets import Jet, JetBatch
from bellcrank.verify.mechanics import angle
from bellcrank.verify.model_under_test import ModelUnderTest
from tests.verify.machines import free_body, linkage, routines, words

EXACT = 1e-12
X = np.array([[0.3, -0.4, 0.7], [1.1, 0.2, -0.5], [0.4, 0.6, 0.1]])  # three orders of three states
Y = np.array([[0.6, 0.2, 0.5], [-0.3, 0.8, 1.2], [0.2, -0.1, 0.9]])
FREE = ("hypot", "atan2", "pow", "min", "max", "lt", "le", "gt", "ge", "mod")

# the model with every word of the language has loads that do no work
pytestmark = pytest.mark.filterwarnings("ignore:.*does no work:bellcrank.ModelWarning")


def nonholonomic():
    """A body that cannot slide sideways, one that follows it, and an output of accelerations."""
    s = bc.System("nonholonomic")
    a = s.add_body("a", translate=(1, 2), rotate=3, mass=2, inertia=(2, 2, 3), cm=(0.2, 0, 0))
    s.add_body("c", parent=a, rotate=2, joint_at=(-0.5, 0, 0), mass=1, inertia=(1, 2, 3))
    s.add_constraint("dot(vel(a.origin), [a2])")
    s.add_constraint("u(c) - 0.3*u(a, 3)*cos(q(a, 3))")
    s.add_input("push", units="F")
    s.add_force("aside", magnitude="push*where(push > 0, 1, q(c))", direction=a[1], at=a.origin)
    s.add_output("gained", "dot(dxdt(vel(c.cm)), [c1])")
    return s


def jet_of(x, i):
    return Jet(np.asarray(x.c)[..., i])


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_functions_of_several_states(name):
    rule = FUNCTIONS[name]
    shift = 1.5 if name == "acosh" else 0.0
    x = JetBatch(
        np.abs(X) + shift if name in ("log", "log10", "log2", "sqrt", "cbrt", "pow", "acosh") else X
    )
    args = [x] + [JetBatch(Y)] * (name in FREE)
    args = (
        [JetBatch(X), JetBatch(Y - 1), JetBatch(Y + 0.5)]
        if name in ("where", "smooth_step")
        else args
    )
    found = rule(*args)
    for i in range(3):
        alone = rule(*(jet_of(a, i) for a in args))
        known = len(alone) if isinstance(alone, Jet) else len(found)
        assert jets.coefficients(found, known)[..., i] == pytest.approx(
            jets.coefficients(alone, known), rel=EXACT
        )


def test_vectors_and_matrices_of_several_states():
    rng = np.random.default_rng(5)
    A, B = (JetBatch(rng.uniform(-1, 1, (3, 3, 3, 4))) for _ in "AB")
    v, w = (JetBatch(rng.uniform(-1, 1, (3, 3, 4))) for _ in "vw")
    fixed = rng.uniform(-1, 1, 3)
    cases = [
        (lambda A, B, v, w: A @ B, "AB"),
        (lambda A, B, v, w: A.T @ v, "Av"),
        (lambda A, B, v, w: v @ A, "vA"),
        (lambda A, B, v, w: v * (v @ w) + fixed, "dot"),
        (lambda A, B, v, w: fixed @ w + 2.0, "constant"),
        (lambda A, B, v, w: jets.cross(fixed, jets.cross(v, w)), "cross"),
        (lambda A, B, v, w: jets.solve(A, v), "solve"),
        (lambda A, B, v, w: jets.stack_jets([v[0], 2.0, w[1] / jets.norm(v)]), "stack"),
        (lambda A, B, v, w: angle(v, w, A[:, 0]), "angle"),
    ]
    for make, name in cases:
        found = make(A, B, v, w)
        for i in range(4):
            alone = make(*(jet_of(x, i) for x in (A, B, v, w)))
            assert found.c[..., i] == pytest.approx(alone.c, rel=1e-10, abs=1e-12), name


@pytest.mark.parametrize("order", [1, 3])
def test_tables_of_several_states(order):
    from bellcrank.symbolic.expr.table import Table

    table = Table("t", ((0.0, 0.25, 0.5, 1.0),), (1.0, 3.0, 2.0, 5.0), order)
    found = evaluate_table(table, [JetBatch(X)])
    for i in range(3):
        assert found.c[:, i] == pytest.approx(evaluate_table(table, [Jet(X[:, i])]).c, rel=EXACT)


def close(found, alone, size=1.0):
    assert type(found) is type(alone)
    if isinstance(found, Jet):
        found, alone = found.c, alone.c
    np.testing.assert_allclose(found, alone, rtol=1e-11, atol=1e-11 * size)


@pytest.mark.parametrize("make", [free_body, linkage, words, routines, nonholonomic])
def test_evaluations_of_several_states(make):
    system = make()
    with np.errstate(all="ignore"):
        several_against_each(
            ModelUnderTest(system, system.equations(), {"backend": "python"}, None, 0)
        )


def several_against_each(subject):
    samples = [subject.draw_sample(0.6) for _ in range(5)]
    (states,) = subject.evaluate_together(samples, pieces=True)
    assert len(states.each) == 5
    rates = [subject.rates(s)[1] for s in samples]
    states.motions(rates)
    states.outputs(rates)
    for s, udot in zip(samples, rates, strict=True):
        together, alone = subject.evaluation(s), subject._evaluation(s)
        motions = (
            together.values(s.q, s.u),
            together.with_rates(together.values(s.q, s.u)),
            together.motion(s.q, s.u, udot),
        )
        known = set(together.plain_formulas(motions[0]).known).union(
            *(together.mechanics_evaluator(m).known for m in motions[1:])
        )
        asked = {("output", x.name) for x in subject.description.outputs}
        asked |= {("pushes", x.name) for x in subject.description.forces}
        assert asked <= known
        for motion in ("values", "motion"):
            at = (s.q, s.u, udot) if motion == "motion" else (s.q, s.u)
            one, other = (getattr(e, motion)(*at) for e in (together, alone))
            for letter in "Rpwv":
                for b, x in getattr(one, letter).items():
                    close(x, getattr(other, letter)[b])
        close(*(e.unit_motions(s.q).v[0] for e in (together, alone)))
        for x, y in zip(*(e.constraint_slopes(s.q) for e in (together, alone)), strict=True):
            close(x, y)
        for x, y in zip(
            *(e.applied_wrenches(e.values(s.q, s.u)) for e in (together, alone)), strict=True
        ):
            assert x.body == y.body
            close(x.force, y.force, 10)
            close(x.moment, y.moment, 10)
        assert together.outputs(s.q, s.u, udot) == pytest.approx(
            alone.outputs(s.q, s.u, udot), rel=1e-10, abs=1e-10
        )
        close(*(e.user_state_rates(s.q, s.u) for e in (together, alone)))
        assert together.active_branches(s.q, s.u) == alone.active_branches(s.q, s.u)


def test_states_without_a_value_are_left_to_themselves():
    """A root of a negative number in one state is no number in that one alone; the others are found
    together."""
    s = bc.System("root")
    mass = s.add_body("mass", translate="x", mass=2, inertia=0)
    s.add_force("pull", magnitude="-sqrt(0.2 + q(mass))", direction=s.inertial.x, at=mass.origin)
    with np.errstate(all="ignore"):
        subject = ModelUnderTest(s, s.equations(), {"backend": "python"}, None, 0)
        samples = [subject.draw_sample(1.0) for _ in range(6)]
        subject.evaluate_together(samples)
        found = [
            subject.evaluation(x)
            .applied_wrenches(subject.evaluation(x).values(x.q, x.u))[0]
            .force[0]
            for x in samples
        ]
        expected = [-np.sqrt(0.2 + x.q[0]) for x in samples]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert 0 < np.isnan(expected).sum() < 6
