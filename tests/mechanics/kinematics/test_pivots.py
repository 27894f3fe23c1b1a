"""Speed constraints are solved for a speed only where its coefficient cannot vanish in motion."""

import pytest

import bellcrank as bc
from bellcrank.mechanics.kinematics.pivots import never_zero, value_bounds
from bellcrank.symbolic.expr import Symbol, apply_builtin
from bellcrank.symbolic.expr.node import Number

Q, T, W = Symbol("q", "coordinate"), Symbol("t", "time"), Symbol("w", "variable")
A, B = Symbol("a"), Symbol("b")
P, R = Symbol("p", positive=True), Symbol("r", positive=True)
SMALL = Symbol("s", "coordinate", 1)


def cos(x):
    return apply_builtin("cos", x)


@pytest.mark.parametrize(
    "e",
    [
        Number(3),
        A,
        A - B,
        A * B,
        -A,
        2 + cos(Q),
        A * (3 + cos(Q) ** 2),
        -2 - cos(T),
        P + R * Q**2,
        P + R * cos(Q) ** 2,
        -P - R * Q**2,
        apply_builtin("exp", Q),
        A * apply_builtin("cosh", W),
        apply_builtin("sqrt", P + Q**2),
        1 / (2 + cos(Q)),
        apply_builtin("max", Q, P),
        apply_builtin("min", Q, -P),
        apply_builtin("where", Q, P, R),
        apply_builtin("abs", A),
        A + SMALL,
        1 - SMALL * Q,
        apply_builtin("abs", Q) + P,
        4 - apply_builtin("atan", Q) * 2,
    ],
)
def test_coefficients_that_cannot_vanish(e):
    assert never_zero(e)


@pytest.mark.parametrize(
    "e",
    [
        Number(0),
        Q,
        T,
        W,
        cos(Q),
        1 + cos(Q),
        A + cos(Q),
        P - R * Q**2,
        P * cos(Q),
        Q**2,
        A + B * Q,
        SMALL,
        A * SMALL,
        apply_builtin("max", Q, A),
        apply_builtin("where", Q, P, Q),
        apply_builtin("abs", Q),
        1 / Q,
        A + T,
        apply_builtin("tan", Q),
        A + Q**2,
        apply_builtin("sqrt", Q),
        SMALL * (2 + cos(Q)),
    ],
)
def test_coefficients_that_may_vanish(e):
    assert not never_zero(e)


def test_bounds_hold_what_functions_give():
    found = value_bounds(3 * cos(Q) - 2 * apply_builtin("tanh", W) ** 2)
    assert (found.low, found.high) == (-5, 3)


# ---- what becomes of descriptions


def skate(eliminate=None, **more):
    """A blade at the end of two slides."""
    s = bc.System("skate", units="mks")
    x = s.add_body("x", translate=1, mass=1, inertia=0)
    y = s.add_body("y", parent=x, translate=2, mass=2, inertia=0)
    s.add_body("s", parent=y, rotate=3, mass=0.5, inertia=(0.5, 0.5, 0.5), **more)
    s.add_constraint("dot(vel(s.origin), [s2])", eliminate=eliminate, label="blade")
    return s


def two_discs():
    s = bc.System("two discs", units="mks")
    for name in ("a", "b"):
        s.add_body(name, rotate=3, mass=1, inertia=(1, 1, 1))
    return s


def names(symbols):
    return [str(x) for x in symbols]


def test_all_speeds_stay_where_every_coefficient_may_vanish():
    eom = skate().equations(optimise="none")
    assert names(eom.speeds) == ["u(x)", "u(y)", "u(s)"]
    assert len(eom.independent_speeds) == 2
    why, cost = eom.notes
    assert "'blade'" in why
    assert "cos(q(s))" in why
    assert "operations instead of" in cost


def test_cost_in_the_note_is_that_of_both_forms():
    s = skate()
    auto, forced = s.equations(), s.equations(constraints="eliminate")
    kept, removed = (eom.operation_count()["total"] for eom in (auto, forced))
    assert f"at {kept} operations instead of {removed}" in auto.notes[1]


def test_named_speed_is_the_dependent_one_and_results_hold_everywhere():
    eom = skate(eliminate="u(x)").equations()
    assert names(eom.speeds) == ["u(x)", "u(y)", "u(s)"]
    assert names(eom.independent_speeds) == ["u(y)", "u(s)"]


def test_elimination_can_be_forced_with_a_note():
    eom = skate().equations(constraints="eliminate", optimise="none")
    assert names(eom.speeds) == ["u(x)", "u(s)"]
    (note,) = eom.notes
    assert "cos(q(s))" in note


def test_small_angles_keep_the_elimination():
    eom = skate(small_angles=True).equations()
    assert names(eom.speeds) == ["u(x)", "u(s)"]
    assert eom.notes == []


def test_another_speed_is_taken_if_its_coefficient_cannot_vanish():
    s = two_discs()
    s.add_constraint("(2 + cos(q(a)))*u(a) + (1 + q(b))*u(b)")
    eom = s.equations()
    assert names(r.speed for r in eom.constraints) == ["u(a)"]
    assert eom.notes == []


@pytest.mark.parametrize("coefficient", ["q(b)", "w*t - 1", "sin(w*t)", "z"])
def test_coefficients_of_time_and_inputs_are_not_trusted(coefficient):
    s = two_discs()
    s.add_input("z", units="1")
    s.add_constraint(f"({coefficient})*u(a) + cos(q(a))*u(b)")
    s.set_defaults(**({"w": 1.0} if "w" in coefficient else {}))
    assert len(s.equations().speeds) == 2


def test_positive_parameters_prove_a_sum():
    def model(positive):
        s = two_discs()
        s.add_constraint("(c + d*q(a)**2)*u(a) + q(b)*u(b)")
        s.set_defaults(c=1, d=2)
        if positive:
            s.require_positive("c", "d")
        return s.equations()

    assert len(model(True).speeds) == 1
    assert len(model(False).speeds) == 2


def test_an_unknown_form_is_refused():
    with pytest.raises(bc.ModelError, match="'auto', 'multipliers', 'eliminate'"):
        skate().equations(constraints="eliminated")


def test_a_way_to_solve_that_needs_elimination_is_refused_with_advice():
    with pytest.raises(bc.ModelError, match="constraints='eliminate'"):
        skate().equations(solve="implicit")
    assert names(skate().equations(solve="implicit", constraints="eliminate").speeds) == [
        "u(x)",
        "u(s)",
    ]
