"""Random formulas: simplification, derivatives, substitution and storage leave the value alone."""

import mpmath
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bellcrank.symbolic.expr import (
    dump_nodes,
    evaluate,
    inline_named,
    load_nodes,
    partial,
    substitute,
)
from tests.symbolic.expr.formulas import (
    POINTS,
    SYMBOLS,
    VARIABLES,
    TooLarge,
    build,
    formulas,
    value,
)

relaxed = settings(max_examples=100)


def number(tree, point):
    try:
        return value(tree, point)
    except TooLarge:
        assume(False)


@settings(relaxed, max_examples=200)
@given(formulas)
def test_simplification_keeps_the_value(tree):
    e = build(tree)
    for point in POINTS:
        assert evaluate([e], point)[0] == pytest.approx(number(tree, point), rel=1e-9, abs=1e-9)


@relaxed
@given(formulas, st.sampled_from(VARIABLES))
def test_derivative_agrees_with_central_differences(tree, name):
    """Differences taken with 60 digits, so that only the derivative can be wrong."""
    slope = partial(build(tree), SYMBOLS[name])
    with mpmath.workdps(60):
        h = mpmath.mpf(10) ** -20
        for point in POINTS:
            number(tree, point)
            exact = {n: mpmath.mpf(v) for n, v in point.items()}
            plus, minus = (
                value(tree, {**exact, name: exact[name] + s}, mpmath.mp) for s in (h, -h)
            )
            expected = float((plus - minus) / (2 * h))
            assert evaluate([slope], point)[0] == pytest.approx(expected, rel=1e-8, abs=1e-8)


@relaxed
@given(formulas)
def test_rows_give_the_same_object_back(tree):
    e = build(tree)
    assert load_nodes(dump_nodes([e])) == [e]
    assert inline_named(e) is e


@relaxed
@given(formulas, formulas)
def test_substitution_is_evaluation_of_the_parts(tree, inner):
    e, part = build(tree), build(inner)
    replaced = substitute(e, {SYMBOLS["x"]: part})
    for point in POINTS:
        within = number(inner, point)
        expected = number(tree, {**point, "x": within})
        assert evaluate([replaced], point)[0] == pytest.approx(expected, rel=1e-7, abs=1e-7)


@relaxed
@given(formulas)
def test_rebuilding_changes_nothing(tree):
    e = build(tree)
    there = substitute(e, {SYMBOLS["x"]: SYMBOLS["y"], SYMBOLS["y"]: SYMBOLS["x"]})
    back = substitute(there, {SYMBOLS["x"]: SYMBOLS["y"], SYMBOLS["y"]: SYMBOLS["x"]})
    assert back.fingerprint == e.fingerprint
