"""Depth does not matter: every walk is a loop."""

import gc
import pickle

import pytest

from bellcrank.expr import (
    ZERO,
    Held,
    Symbol,
    constant_part,
    depends_on,
    dump,
    evaluate,
    expand,
    load,
    nominal,
    partial,
    postorder,
    release,
    sin,
    substitute,
    symbols,
)

DEPTH = 20_000
a, b = Symbol("a"), Symbol("b")
x, y = Symbol("x", "coordinate"), Symbol("y", "coordinate")


def nested_functions():
    e = x
    for _ in range(DEPTH // 2):
        e = sin(e) * a + b
    return e


def nested_products():
    e = x
    for _ in range(DEPTH // 2):
        e = (e + b) * a
    return e


def nested_results():
    e = x
    for _ in range(DEPTH // 2):
        e = Held(e + b) * a
    return e


@pytest.fixture(params=[nested_functions, nested_products, nested_results], ids=lambda f: f.__name__)
def deep(request):
    return request.param()


def test_walks(deep):
    assert sum(1 for _ in postorder((deep,))) >= DEPTH
    assert symbols(deep) == [a, b, x]
    assert depends_on(deep, lambda s: s is x)


def test_value(deep):
    (value,) = evaluate([deep], {"a": 0.5, "b": 0.25, "x": 1.0})
    assert abs(value) < 1


def test_derivative(deep):
    assert partial(deep, y) is ZERO
    (slope,) = evaluate([partial(deep, x)], {"a": 0.999, "b": 0.0, "x": 0.0})
    assert slope == pytest.approx(0.999 ** (DEPTH // 2))


def test_substitution(deep):
    changed = substitute(deep, {x: y})
    assert substitute(changed, {y: x}) is deep
    assert nominal(deep).constant


def test_rows_and_pickles(deep):
    assert load(dump([deep])) == [deep]
    assert pickle.loads(pickle.dumps(deep)) is deep


def test_release():
    assert not any(isinstance(n, Held) for n in postorder((release(nested_results()),)))


def test_parts():
    assert constant_part(nested_functions()) is b


def test_expansion():
    e = x
    for _ in range(200):
        e = (e + b) * a
    assert len(expand(e).terms) == 201
    f = x
    for _ in range(DEPTH // 2):
        f = sin(f + b)
    assert expand(f) is f


def test_unused_deep_expressions_are_forgotten():
    e = nested_products()
    e = nested_functions()
    del e
    gc.collect()
