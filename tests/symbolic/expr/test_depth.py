"""Depth does not matter: every walk is a loop."""

import gc
import pickle

import pytest

from bellcrank.symbolic.expr import (
    ZERO,
    NamedSubexpression,
    Symbol,
    constant_part,
    depends_on,
    dump_nodes,
    evaluate,
    expand,
    free_symbols,
    inline_named,
    load_nodes,
    nominal,
    partial,
    postorder,
    sin,
    substitute,
)

DEPTH = 3_000  # three times what Python may call
a, b = Symbol("a"), Symbol("b")
x, y = Symbol("x", "coordinate"), Symbol("y", "coordinate")


def polynomial():
    """Horner's form: sums in products in sums."""
    e = x
    for _ in range(DEPTH // 2):
        e = e * x + a
    return e


def nested_functions():
    e = x
    for _ in range(DEPTH // 2):
        e = sin(e) + b
    return e


def nested_results():
    e = x
    for _ in range(DEPTH // 2):
        e = NamedSubexpression(e + b) * a
    return e


def test_walks_and_values():
    e = nested_functions()
    assert sum(1 for _ in postorder((e,))) >= DEPTH
    assert free_symbols(e) == [b, x]
    assert depends_on(e, lambda s: s is x)
    assert constant_part(e) is b
    assert abs(evaluate([e], {"b": 0.0, "x": 1.0})[0]) < 0.1


def test_derivative_and_nominal_value():
    e = polynomial()
    assert partial(e, y) is ZERO
    assert nominal(e) is a
    h, point = 1e-6, {"a": 0.7, "x": 0.4}
    plus, minus = (evaluate([e], {"a": 0.7, "x": 0.4 + s})[0] for s in (h, -h))
    assert evaluate([partial(e, x)], point)[0] == pytest.approx((plus - minus) / (2 * h), rel=1e-8)


def test_substitution():
    e = nested_functions()
    assert substitute(substitute(e, {x: y}), {y: x}) is e


def test_rows_and_pickles():
    e = polynomial()
    assert load_nodes(dump_nodes([e])) == [e]
    assert pickle.loads(pickle.dumps(e)) is e


def test_held_results_are_released_and_all_is_forgotten():
    e = nested_results()
    assert not any(isinstance(n, NamedSubexpression) for n in postorder((inline_named(e),)))
    del e
    gc.collect()  # a recursion limit met here would be a warning


def test_expansion():
    e = x
    for _ in range(100):
        e = e * x + a
    assert len(expand(e).terms) == 101
    e = nested_functions()
    assert expand(e) is e
