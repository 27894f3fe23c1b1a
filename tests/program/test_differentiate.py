"""Derivatives over shared intermediate results: all modes agree with each other, with term-wise
rules and with closed forms."""

import numpy as np
import pytest

from bellcrank.core.errors import ModelError
from bellcrank.program.differentiate import (
    MODES,
    Intermediates,
    LinearSystem,
    accumulate_derivatives,
    forward_derivatives,
    reverse_gradient,
    total_slopes,
)
from bellcrank.symbolic.expr import (
    ONE,
    ZERO,
    NamedSubexpression,
    Number,
    Symbol,
    apply_builtin,
    cos,
    div,
    evaluate,
    partial,
    sin,
    sqrt,
)
from bellcrank.symbolic.expr.table import table

X, Y, Z = (Symbol(n, "coordinate") for n in "xyz")
A, B = Symbol("a"), Symbol("b")
AT = {X: 0.3, Y: -0.7, Z: 1.1, A: 2.0, B: 0.5}


def shared():
    """Results with much in common: held products, roots, quotients, functions."""
    u = NamedSubexpression(sin(X) * Y + A * Z)
    v = NamedSubexpression(u * u + cos(u * Z) / (B + X * X))
    w = NamedSubexpression(sqrt(v * v + Y * Y + 1))
    return [u * w - Y, v / w + X, apply_builtin("atan2", v, w) * u, apply_builtin("exp", -w) * Z**3]


def values(rows, columns):
    return np.array(
        [[evaluate([row.get(j, ZERO)], AT)[0] for j in range(len(columns))] for row in rows]
    )


@pytest.mark.parametrize("mode", MODES)
def test_every_mode_agrees_with_the_rules_term_by_term(mode):
    columns = [X, Y, Z, A, B]
    found = values(total_slopes(shared(), columns, mode=mode), columns)
    expected = np.array([evaluate([partial(r, s) for s in columns], AT) for r in shared()])
    assert found == pytest.approx(expected, rel=1e-13)


def test_forward_along_a_direction_is_the_jacobian_times_it():
    direction = {X: Number(2), Y: Symbol("dy"), Z: Number(-1)}
    found = evaluate(forward_derivatives(shared(), direction), AT | {Symbol("dy"): 0.25})
    J = values(total_slopes(shared(), [X, Y, Z]), [X, Y, Z])
    assert found == pytest.approx(J @ [2, 0.25, -1], rel=1e-13)


def test_reverse_is_the_transposed_jacobian_times_the_weights():
    weights = [Symbol(f"w{i}", "variable") for i in range(4)]
    numbers = [0.5, -2.0, 1.5, 3.0]
    found = evaluate(
        reverse_gradient(shared(), weights, [X, Y, Z, A]),
        AT | dict(zip(weights, numbers, strict=True)),
    )
    J = values(total_slopes(shared(), [X, Y, Z, A]), [X, Y, Z, A])
    assert found == pytest.approx(np.array(numbers) @ J, rel=1e-13)


def linear_system():
    """M y = r with two unknowns, solved in symbols, and results that use the solution."""
    m11, m21, m22 = (
        NamedSubexpression(2 + X * X),
        NamedSubexpression(sin(Y)),
        NamedSubexpression(3 + cos(Z)),
    )
    r1, r2 = NamedSubexpression(A * Y), NamedSubexpression(X * Z)
    ratio = NamedSubexpression(div(m21, m11))
    y2 = NamedSubexpression(div(r2 - ratio * r1, m22 - ratio * m21))
    y1 = NamedSubexpression(div(r1, m11) - ratio * y2)
    linear = LinearSystem(
        {(0, 0): m11, (1, 0): m21, (1, 1): m22}, {0: r1, 1: r2}, {0: y1, 1: y2}, (0, 1)
    )
    return [y1 * X + Z, y2 - y1, Y * y2], linear


def test_solutions_of_linear_systems_are_differentiated_implicitly():
    results, linear = linear_system()
    columns = [X, Y, Z, A]
    explicit = values(total_slopes(results, columns), columns)
    assert values(total_slopes(results, columns, linear), columns) == pytest.approx(
        explicit, rel=1e-12
    )
    rates = dict(zip(columns, map(Number, (1, -2, 3, 4)), strict=True))
    assert evaluate(forward_derivatives(results, rates, linear), AT) == pytest.approx(
        explicit @ [1, -2, 3, 4], rel=1e-12
    )
    weights = [Number(n) for n in (2, -1, 5)]
    assert evaluate(reverse_gradient(results, weights, columns, linear), AT) == pytest.approx(
        np.array([2, -1, 5]) @ explicit, rel=1e-12
    )


def test_a_branch_that_is_not_taken_does_no_harm():
    """The slope of sqrt(x) does not exist where x < 0, but neither is it taken there."""
    root = apply_builtin("where", apply_builtin("gt", X, ZERO), sqrt(X) * Y, -Y)
    (row,) = total_slopes([root], [X, Y])
    assert evaluate([row[0], row[1]], {X: -1.0, Y: 2.0}) == [0.0, -1.0]
    assert evaluate([row[0], row[1]], {X: 4.0, Y: 2.0}) == [0.5, 2.0]


def test_what_cancels_is_no_entry():
    rows = total_slopes(
        [sin(X) ** 2 + cos(X) ** 2 * ONE + Y, NamedSubexpression(X + Y) - X], [X, Y]
    )
    assert [sorted(r) for r in rows] == [[1], [1]]


def test_tables_are_differentiated_along_their_arguments():
    spline = table([0, 1, 2, 3, 4], [0, 1, 4, 9, 16], 3)
    ((slope,),) = [list(r.values()) for r in total_slopes([spline(X)], [X])]
    assert evaluate([slope], {X: 1.7})[0] == pytest.approx(2 * 1.7, rel=1e-12)


def test_straight_tables_have_one_derivative_only():
    line = table([0, 1], [0, 2])
    (row,) = total_slopes([line(X)], [X])
    with pytest.raises(ModelError, match="no second derivative"):
        total_slopes([row[0]], [X])


def test_forward_and_reverse_differ_in_cost_as_they_should():
    """One source and many results is cheap forward, many sources and one result is cheap in
    reverse."""
    from bellcrank.program.operation_count import count_operations

    symbols = [Symbol(f"s{i}", "coordinate") for i in range(12)]
    product = symbols[0]
    for s in symbols[1:]:
        product = NamedSubexpression(product * (1 + s * s))
    cost = {}
    for mode in MODES:
        rows = accumulate_derivatives([{product: ONE}], symbols, Intermediates([product]), mode)
        cost[mode] = count_operations([e for row in rows for e in row.values()]).total
    assert cost["reverse"] < cost["forward"]
    assert cost["cheapest"] <= cost["reverse"]
