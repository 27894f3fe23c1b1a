"""Random formulas for the tests of the algebra: one tree, read as an expression and, on its own, as
plain numbers."""

import math
from fractions import Fraction

from hypothesis import strategies as st

from bellcrank.symbolic.expr import Number, Symbol, add, apply_builtin, div, mul, neg, power

PARAMETERS = ("a", "b", "c")
VARIABLES = ("x", "y", "z")
SYMBOLS = {
    **{name: Symbol(name) for name in PARAMETERS},
    **{name: Symbol(name, "coordinate") for name in VARIABLES},
}
KINDS = {name: "coordinate" for name in VARIABLES}
POINTS = (
    {"a": 0.731, "b": 1.377, "c": 2.213, "x": 0.417, "y": -0.883, "z": 1.291},
    {"a": 1.913, "b": 0.359, "c": 0.877, "x": -1.103, "y": 0.637, "z": -0.271},
)

_numbers = st.one_of(
    st.integers(-4, 4).map(Fraction),
    st.fractions(Fraction(-3), Fraction(3), max_denominator=7),
    st.sampled_from([Fraction("0.1"), Fraction("2.5"), Fraction("1e-3")]),
)
_leaves = st.one_of(
    _numbers.map(lambda v: ("number", v)),
    st.sampled_from(sorted(SYMBOLS)).map(lambda n: ("name", n)),
)


def _compound(part):
    several = st.lists(part, min_size=2, max_size=4)
    return st.one_of(
        several.map(lambda p: ("add", *p)),
        several.map(lambda p: ("mul", *p)),
        part.map(lambda p: ("neg", p)),
        st.tuples(st.just("power"), part, st.integers(2, 3)),
        st.sampled_from(
            ["sin", "cos", "atan", "abs", "positive root", "reciprocal", "exponential"]
        ).flatmap(lambda name: part.map(lambda p: (name, p))),
        st.tuples(st.sampled_from(["min", "max", "angle"]), part, part),
        st.tuples(st.just("where"), st.sampled_from(sorted(SYMBOLS)), part, part),
    )


formulas = st.recursive(_leaves, _compound, max_leaves=14)
polynomials = st.recursive(
    _leaves,
    lambda part: st.one_of(
        st.lists(part, min_size=2, max_size=3).map(lambda p: ("add", *p)),
        st.lists(part, min_size=2, max_size=3).map(lambda p: ("mul", *p)),
        part.map(lambda p: ("neg", p)),
        st.tuples(st.just("power"), part, st.integers(2, 3)),
        part.map(lambda p: ("sin", p)),
        part.map(lambda p: ("cos", p)),
    ),
    max_leaves=9,
)


def build(tree):
    """The expression of a tree, through the creators."""
    kind, *parts = tree
    if kind == "number":
        return Number(parts[0])
    if kind == "name":
        return SYMBOLS[parts[0]]
    if kind == "power":
        return power(build(parts[0]), Number(parts[1]))
    if kind == "where":
        return apply_builtin(
            "where",
            apply_builtin("lt", SYMBOLS[parts[0]], Number(Fraction(1, 3))),
            *map(build, parts[1:]),
        )
    args = [build(p) for p in parts]
    square = mul(args[0], args[0])
    match kind:
        case "add":
            return add(*args)
        case "mul":
            return mul(*args)
        case "neg":
            return neg(args[0])
        case "positive root":
            return apply_builtin("sqrt", add(Number(1), square))
        case "reciprocal":
            return div(Number(1), add(Number(2), square))
        case "exponential":
            return apply_builtin("exp", apply_builtin("sin", args[0]))
        case "angle":
            return apply_builtin("atan2", args[0], add(Number(1), mul(args[1], args[1])))
    return apply_builtin(kind, *args)


class TooLarge(Exception):
    """An intermediate value so large that rounding would hide the result."""


def value(tree, point, m=math):
    """The number a tree stands for, by the functions of a module (math or mpmath.mp), without the
    algebra."""
    kind, *parts = tree
    if kind == "number":
        return (
            m.mpf(parts[0].numerator) / parts[0].denominator if m is not math else float(parts[0])
        )
    if kind == "name":
        return point[parts[0]]
    if kind == "power":
        result = value(parts[0], point, m) ** parts[1]
    elif kind == "where":
        third = value(("number", Fraction(1, 3)), point, m)
        result = value(parts[1] if point[parts[0]] < third else parts[2], point, m)
    else:
        result = _apply(kind, [value(p, point, m) for p in parts], m)
    if abs(result) > 1e5:
        raise TooLarge
    return result


def _apply(kind, args, m):
    match kind:
        case "add":
            return sum(args)
        case "mul":
            return m.prod(args) if m is math else m.fprod(args)
        case "neg":
            return -args[0]
        case "abs":
            return abs(args[0])
        case "min" | "max":
            return min(args) if kind == "min" else max(args)
        case "positive root":
            return m.sqrt(1 + args[0] ** 2)
        case "reciprocal":
            return 1 / (2 + args[0] ** 2)
        case "exponential":
            return m.exp(m.sin(args[0]))
        case "angle":
            return m.atan2(args[0], 1 + args[1] ** 2)
    return getattr(m, kind)(*args)
