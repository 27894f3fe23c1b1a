"""Formulas made of few symbols, so that much of them meets: what the creators build cannot be built
any simpler."""

import random
from fractions import Fraction
from itertools import accumulate

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bellcrank.core.errors import ModelError
from bellcrank.symbolic.expr import (
    ONE,
    ZERO,
    Func,
    Number,
    Product,
    Sum,
    Symbol,
    add,
    apply_builtin,
    construct,
    cos,
    mul,
    postorder,
    power,
    sin,
)
from bellcrank.symbolic.expr.node import PRIME, field_residue
from bellcrank.symbolic.expr.printing import to_text
from bellcrank.symbolic.expr.traversal import rebuild_node
from tests.symbolic.expr.reading import read

a, x = Symbol("a"), Symbol("x", "coordinate")
NUMBERS = [Number(v) for v in (0, 1, 2, -1, -2, 3, Fraction(1, 2), Fraction(-2, 3))]
EXPONENTS = [2, 3, 4, -1, -2, Fraction(1, 2), Fraction(-1, 2), Fraction(3, 2), Fraction(1, 3)]


def _compound(part):
    return st.one_of(
        st.lists(part, min_size=2, max_size=4).map(lambda p: lambda: add(*(q() for q in p))),
        st.lists(part, min_size=2, max_size=3).map(lambda p: lambda: mul(*(q() for q in p))),
        st.tuples(part, st.sampled_from(EXPONENTS)).map(
            lambda p: lambda: power(p[0](), Number(p[1]))
        ),
        st.tuples(st.sampled_from(["sin", "cos", "abs", "sign"]), part).map(
            lambda p: lambda: apply_builtin(p[0], p[1]())
        ),
        st.tuples(st.sampled_from(["min", "max", "atan2", "lt"]), part, part).map(
            lambda p: lambda: apply_builtin(p[0], p[1](), p[2]())
        ),
    )


_leaves = st.sampled_from([x, sin(x), cos(x), a, *NUMBERS]).map(lambda e: lambda: e)
recipes = st.recursive(_leaves, _compound, max_leaves=25)


@settings(max_examples=250)
@given(recipes)
def test_every_node_is_in_simplest_form(recipe):
    try:
        e = recipe()
    except ModelError:  # a division by zero, a root of a negative number
        assume(False)
    for node in postorder((e,)):
        if not (
            isinstance(node, Func) and node.name == "sqrt"
        ):  # which stands in whole powers alone
            assert rebuild_node(node, {p: p for p in node.parts}) is node
        if isinstance(node, Sum):
            assert_sum(node)
        if isinstance(node, Product):
            assert_product(node)
    assert read(to_text(e), {"x": x}) is e


def test_root_of_a_square_of_a_root_is_that_root():
    half = Number(Fraction(1, 2))
    root = power(x, half)
    assert power(mul(root, root), half) is root
    assert power(mul(root, root), Number(Fraction(3, 2))) is power(x, Number(Fraction(3, 2)))


def assert_sum(node):
    assert len(node.terms) > 1
    assert node.terms[0][1] > 0
    assert list(node.terms) == sorted(node.terms, key=lambda term: term[0].sort)
    for core, c in node.terms:
        assert c != 0
        assert type(c) is int or c.denominator > 1
        assert not isinstance(core, Sum) or abs(c) != 1
        assert not isinstance(core, Product) or core.coefficient == 1


def assert_product(node):
    assert node.factors
    assert list(node.factors) == sorted(node.factors, key=lambda factor: factor[0].sort)
    assert node.coefficient != 1 or len(node.factors) > 1 or node.factors[0][1] != 1
    for base, exponent in node.factors:
        assert exponent != 0
        assert type(exponent) is int or (exponent.denominator > 1)
        assert not isinstance(base, Number | Product) or isinstance(exponent, Fraction)


def test_many_squares_are_joined_as_few_are():
    """Of sums with many squares only those are tried that may go; fractions are noted by numerator
    and denominator."""
    angles = [Symbol(f"angle{i}") for i in range(30)]
    k = [Fraction(1, 3 + i) for i in range(30)]
    sines = sum(c * apply_builtin("sin", a) ** 2 for a, c in zip(angles, k, strict=True))
    assert isinstance(sines, Sum) and len(sines.terms) == 30
    assert sines is sum(
        (c * apply_builtin("sin", a) ** 2 for a, c in zip(angles[::-1], k[::-1], strict=True)), ZERO
    )
    assert sines + sum(
        c * apply_builtin("cos", a) ** 2 for a, c in zip(angles, k, strict=True)
    ) is Number(sum(k))
    assert k[7] - sines + 0 is k[7] * apply_builtin("cos", angles[7]) ** 2 - (
        sines - k[7] * apply_builtin("sin", angles[7]) ** 2
    )
    tangent = apply_builtin("sin", angles[0]) ** 2 / apply_builtin("cos", angles[0])
    assert sines + tangent + apply_builtin("cos", angles[0]) is sines + 1 / apply_builtin(
        "cos", angles[0]
    )


@pytest.mark.parametrize("seed", range(3))
def test_a_long_sum_that_grows_is_in_simplest_form_at_every_step(monkeypatch, seed):
    """Next to the same with a look at all terms in every step: squares of sines and cosines that
    meet, numbers that cancel, terms again, products with sums."""
    rng = random.Random(seed)
    angles = [Symbol(f"a{i}", "coordinate") for i in range(40)]
    m, small = Symbol("m", positive=True), Symbol("e", "coordinate", order=1)
    first = Number(
        -1 if seed == 2 else 1
    )  # of the first terms: a sum all of whose signs are changed is a product

    def term(i):
        a, b = rng.sample(angles, 2)
        plain = Number(Fraction(rng.randrange(1, 500), 11))
        if i < 50:  # nothing meets
            square = power(sin(angles[i % 40]), Number(2))
            return mul(first, plain, rng.choice([square, mul(m, square), mul(a, b), mul(m, m)]))
        square = power(rng.choice([sin, cos])(a), Number(2))
        number = rng.choice([plain, ONE, Number(-1), Number(3)])
        return mul(
            number,
            rng.choice([square, mul(m, square), a, mul(small, a), mul(add(a, b), square), ONE]),
        )

    terms, whole = [term(i) for i in range(75)], construct._insert_term
    taken = []

    def noted(*given):
        taken.append(whole(*given))
        return taken[-1]

    grown = {}
    for way in (noted, lambda *given: None):
        monkeypatch.setattr(construct, "_insert_term", way)
        grown[way] = list(accumulate(terms, add))
    one, other = grown.values()
    assert all(a is b for a, b in zip(one, other, strict=True))
    assert sum(x is not None for x in taken) > 10
    for e in (x for x in one if isinstance(x, Sum)):
        assert (
            e.fingerprint == sum(field_residue(c) * core.fingerprint for core, c in e.terms) % PRIME
        )
        signs = [core.sign if c > 0 else 0 for core, c in e.terms]
        expected = min(x.order for x in e.parts), False, max(signs) if min(signs) else 0
        assert (e.order, e.constant, e.sign) == expected
