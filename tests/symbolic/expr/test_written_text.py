"""What the algebra makes of a formula has the value of the text as it was written, wherever that
has one.

Every function of the language is tried at points that are negative, zero, large and outside of
principal ranges; the text is evaluated on its own, operator by operator, in floating point. What is
not defined must stay so.
"""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bellcrank.core.errors import ModelError
from bellcrank.symbolic.expr import (
    PI,
    Number,
    Symbol,
    add,
    apply_builtin,
    div,
    evaluate,
    expand,
    mul,
    power,
    sub,
)
from bellcrank.symbolic.expr.function_table import CALLED, FUNCTIONS
from bellcrank.symbolic.expr.node import to_rational
from bellcrank.symbolic.expr.sympy_exchange import from_sympy, to_sympy

NAMES = ("a", "b", "x", "y")
SYMBOLS = {n: Symbol(n, "parameter" if n in "ab" else "coordinate") for n in NAMES}
POINTS = [
    {"a": 0.7, "b": 1.9, "x": 0.4, "y": -1.2},
    {"a": -0.7, "b": -2.3, "x": 4.0, "y": 5.5},
    {"a": -1.6, "b": 0.3, "x": -7.7, "y": 0.9},
    {"a": 31.0, "b": -0.2, "x": 2.5, "y": -40.0},
    {"a": 1.4, "b": -31.4, "x": -0.35, "y": -3.0},
]
ONE_ARGUMENT = sorted(n for n, f in CALLED.items() if f.arity == 1)
TWO_ARGUMENTS = ["atan2", "hypot", "mod", "min", "max"]
OPERATIONS = {"+": add, "-": sub, "*": mul, "/": div, "**": power}
EXPONENTS = [to_rational(x) for x in (2, 3, -1, -2, 0.5, 1.5, -0.5, 0.25)]


class Unclear(Exception):
    """A value that rounding may have changed past recognition."""


def compound(part, operators="+-*/", exponents=EXPONENTS):
    one = st.tuples(st.sampled_from(ONE_ARGUMENT), part)
    inverse = st.tuples(
        st.sampled_from(sorted(n for n, f in FUNCTIONS.items() if f.inverse or f.domain)), part
    )
    return st.one_of(
        one,
        inverse,
        st.tuples(st.sampled_from(TWO_ARGUMENTS), part, part),
        st.tuples(st.sampled_from(operators), part, part),
        st.tuples(st.just("**"), part, st.sampled_from(exponents).map(lambda x: ("number", x))),
        part.map(lambda p: ("*", ("sqrt", p), ("sqrt", p))),
        part.map(lambda p: ("atan2", ("sin", p), ("cos", p))),
        st.tuples(part, part, part).map(lambda p: ("atan2", ("*", p[0], p[1]), ("*", p[0], p[2]))),
        st.tuples(part, part, part).map(lambda p: ("where", ("<", p[0], p[1]), p[2], p[0])),
    )


def leaves(*numbers):
    names = st.sampled_from([*NAMES, "pi"]).map(lambda n: ("name", n))
    return st.one_of(names, st.sampled_from(numbers).map(lambda v: ("number", to_rational(v))))


trees = st.recursive(leaves(2, -1, 0.5, -1.5, 3), compound, max_leaves=7)
# nothing that could cancel: what is not defined goes only with x - x, x/x, 0 x and with common
# factors in atan2
growing = st.recursive(
    leaves(2, 0.5, 3), lambda p: compound(p, "+*", [x for x in EXPONENTS if x > 0]), max_leaves=7
)


def build(tree):
    """The expression, through the creators."""
    kind, *parts = tree
    if kind == "number":
        return Number(parts[0])
    if kind == "name":
        return PI if parts[0] == "pi" else SYMBOLS[parts[0]]
    args = [build(p) for p in parts]
    if kind == "<":
        return apply_builtin("lt", *args)
    return OPERATIONS[kind](*args) if kind in OPERATIONS else apply_builtin(kind, *args)


def value(tree, point):
    """The number that the tree stands for, as written."""
    kind, *parts = tree
    if kind == "number":
        return float(parts[0])
    if kind == "name":
        return math.pi if parts[0] == "pi" else point[parts[0]]
    args = [value(p, point) for p in parts]
    if kind == "where":
        return args[1] if args[0] else args[2]
    if any(math.isnan(x) for x in args):
        clear(
            kind not in ("<", "min", "max", "sign")
        )  # which choose: of what is not defined, something
        clear(
            kind != "*" or not any(abs(x) < 1e-9 for x in args)
        )  # nothing, times what is not defined
        return math.nan
    match kind:
        case "+" | "-" | "<":
            clear(
                abs(args[0] - args[1] if kind != "+" else args[0] + args[1]) > 1e-9 * abs(args[0])
            )
            return {"+": args[0] + args[1], "-": args[0] - args[1], "<": args[0] < args[1]}[kind]
        case "*":
            result = args[0] * args[1]
        case "/":
            clear(abs(args[1]) > 1e-9)
            result = args[0] / args[1]
        case "**":
            clear(abs(args[0]) > 1e-9)
            result = FUNCTIONS["pow"].value(*args)
        case _:
            near_the_edge(kind, args)
            result = FUNCTIONS[kind].value(*args)
    clear(not abs(result) > 1e6)
    return result


def clear(condition):
    if not condition:
        raise Unclear


def near_the_edge(kind, args):
    """Where rounding decides: at jumps, at branch cuts, at the ends of domains, at poles."""
    x = args[0]
    match kind:
        case "floor" | "ceil":
            clear(abs(x - round(x)) > 1e-9)
        case "mod":
            clear(abs(args[1]) > 1e-9 and abs(x / args[1] - round(x / args[1])) > 1e-9)
        case "sign" | "sqrt" | "log" | "log2" | "log10":
            clear(abs(x) > 1e-9)
        case "asin" | "acos" | "atanh" | "acosh" | "log1p":
            clear(abs(abs(x) - 1) > 1e-9)
        case "tan":
            clear(abs(math.cos(x)) > 1e-6)
        case "atan2":
            clear(abs(x) > 1e-9 and abs(args[1]) > 1e-9)
        case "sin" | "cos":
            clear(abs(x) < 1e4)


def read(tree):
    """The expression, None where a number in it is rejected (a division by zero, the root of a
    negative number)."""
    try:
        return build(tree)
    except ModelError:
        return None


def holds(tree, kind):
    return tree[0] == kind or any(isinstance(p, tuple) and holds(p, kind) for p in tree[1:])


def compare(e, tree, point, may_cancel=True, rel=1e-7):
    try:
        wanted = value(tree, point)
    except (Unclear, OverflowError):
        return
    (found,) = evaluate([e], point)
    if math.isnan(wanted):
        assert math.isnan(found) or may_cancel or holds(tree, "atan2"), (str(e), found)
    else:
        assert found == pytest.approx(wanted, rel=rel, abs=1e-7), (str(e), found, wanted)


quick = settings(max_examples=120)


@quick
@given(trees)
def test_simplest_form_has_the_value_of_the_text(tree):
    e = read(tree)
    if e is not None:
        for point in POINTS:
            compare(e, tree, point)


@quick
@given(growing)
def test_what_is_not_defined_stays_so(tree):
    e = read(tree)
    if e is not None:
        for point in POINTS:
            compare(e, tree, point, may_cancel=False)


@settings(quick, max_examples=50)
@given(trees)
def test_expansion_has_the_value_of_the_text(tree):
    e = read(tree)
    if e is not None and (plain := read_expanded(e)) is not None:
        for point in POINTS:
            compare(plain, tree, point, rel=1e-5)


def read_expanded(e):
    try:
        return expand(e)
    except ModelError:  # a zero below a fraction bar came to light
        return None


@settings(quick, max_examples=8)
@given(st.recursive(leaves(2, 0.5, -1), compound, max_leaves=4))
def test_exchange_with_sympy_has_the_value_of_the_text(tree):
    pytest.importorskip("sympy")
    e = read(tree)
    if e is None:
        return
    try:
        back = from_sympy(to_sympy(e), SYMBOLS)
    except ModelError:  # it found what has no real value
        return
    for point in POINTS:
        compare(back, tree, point)


@pytest.mark.campaign
@settings(max_examples=4000, derandomize=False)
@given(st.one_of(trees.map(lambda t: (t, True)), growing.map(lambda t: (t, False))))
def test_many_more_texts(case):
    tree, may_cancel = case
    e = read(tree)
    if e is not None:
        for point in POINTS:
            compare(e, tree, point, may_cancel)
