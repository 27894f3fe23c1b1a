"""Exchange with SymPy: the same value over there, the same object back."""

import builtins

import pytest
from hypothesis import given, settings

from bellcrank.core.errors import ModelError
from bellcrank.symbolic.expr import (
    PI,
    Func,
    NamedSubexpression,
    Number,
    Symbol,
    apply_builtin,
    cos,
    evaluate,
    from_sympy,
    partial,
    sin,
    sqrt,
    to_sympy,
)
from tests.late import Late
from tests.symbolic.expr.formulas import KINDS, POINTS, SYMBOLS, build, formulas

a, b = Symbol("a"), Symbol("b")
x, y = Symbol("x", "coordinate"), Symbol("y", "coordinate")
sympy = Late("sympy")


@pytest.fixture(scope="module", autouse=True)
def letters():
    """Symbols of SymPy."""
    global A, B, X, Y
    A, B, X, Y = sympy.symbols("a b x y", real=True)


SAME = [
    (Number(2) / 3, lambda: sympy.Rational(2, 3)),
    (PI, lambda: sympy.pi),
    (a, lambda: A),
    (a * x + 2 * b, lambda: A * X + 2 * B),
    (a / (b + x) ** 2, lambda: A / (B + X) ** 2),
    (sqrt(x) * a, lambda: sympy.sqrt(X) * A),
    (sin(x) * cos(a + x), lambda: sympy.sin(X) * sympy.cos(A + X)),
    (apply_builtin("atan2", x, y), lambda: sympy.atan2(X, Y)),
    (apply_builtin("abs", x), lambda: sympy.Abs(X)),
    (apply_builtin("sign", x), lambda: sympy.sign(X)),
    (apply_builtin("min", x, y, a), lambda: sympy.Min(X, Y, A)),
    (apply_builtin("max", x, y), lambda: sympy.Max(X, Y)),
    (apply_builtin("log", x), lambda: sympy.log(X)),
    (apply_builtin("exp", x), lambda: sympy.exp(X)),
    (x**y, lambda: X**Y),
    (
        apply_builtin("where", apply_builtin("lt", x, a), x, y),
        lambda: sympy.Piecewise((X, X < A), (Y, True)),
    ),
    (apply_builtin("where", x, a, y), lambda: sympy.Piecewise((A, sympy.Ne(X, 0)), (Y, True))),
    (2 * apply_builtin("ge", x, a), lambda: 2 * sympy.Piecewise((1, X >= A), (0, True))),
]


@pytest.mark.parametrize(("ours", "theirs"), SAME, ids=[str(ours) for ours, _ in SAME])
def test_both_ways(ours, theirs):
    assert to_sympy(ours) == theirs()
    assert from_sympy(theirs(), {"x": "coordinate", "y": "coordinate"}) is ours


def test_symbols_are_parameters_unless_said():
    assert from_sympy(X + A) is Symbol("x") + a
    small = Symbol("x", "coordinate", order=1)
    assert from_sympy(X, {"x": small}) is small


def test_held_results_are_written_out():
    assert to_sympy(NamedSubexpression(a + x) * b) == B * (A + X)


def test_derivatives_agree():
    e = sin(a * x) ** 2 / (1 + x**2) + apply_builtin("atan2", x, a) * sqrt(1 + x**2)
    theirs = from_sympy(sympy.diff(to_sympy(e), X), {"x": "coordinate"})
    point = {"a": 0.7, "x": 1.3}
    assert evaluate([theirs], point) == pytest.approx(evaluate([partial(e, x)], point), rel=1e-13)


def test_numbers_of_sympy():
    assert from_sympy(sympy.Float("0.1")) is Number(1) / 10
    assert from_sympy(3) is Number(3)
    assert evaluate([from_sympy(sympy.E)], {})[0] == pytest.approx(2.718281828459045)


def test_other_functions_of_sympy():
    point = {"x": 0.4}
    for theirs in (sympy.cot(X), sympy.sec(X), sympy.csc(X), sympy.tan(X), sympy.acos(X)):
        assert evaluate([from_sympy(theirs)], point)[0] == pytest.approx(float(theirs.subs(X, 0.4)))
    assert evaluate(
        [from_sympy(sympy.Piecewise((X, sympy.Eq(X, 2)), (1, X > 3), (0, True)))], {"x": 2.0}
    ) == [2.0]


def test_functions_of_time_become_states():
    q = sympy.Function("q")(sympy.Symbol("t"))
    assert from_sympy(sympy.sin(q) * A, {"q": "coordinate"}) is sin(Symbol("q", "coordinate")) * a


def test_user_functions_keep_their_owner():
    def tyre(slip):
        return 2 * slip

    e = Func("tyre", (a * x,), tyre)
    assert from_sympy(to_sympy(e), {"x": "coordinate"}, {"tyre": tyre}) is e


@pytest.mark.parametrize(
    ("theirs", "message"),
    [
        (lambda: sympy.gamma(X), r"gamma\(\) of SymPy has no counterpart"),
        (lambda: sympy.oo, "oo of SymPy has no counterpart"),
        (lambda: sympy.I * X, "I of SymPy has no counterpart"),
        (lambda: sympy.Function("f")(X), r"f\(\) is an unknown function"),
        (lambda: sympy.Piecewise((X, X > 0)), "needs a last value"),
        (lambda: sympy.Derivative(sympy.Function("f")(X), X), "unknown function|no counterpart"),
    ],
    ids=lambda x: x if isinstance(x, str) else "",
)
def test_what_has_no_counterpart_is_refused(theirs, message):
    with pytest.raises(ModelError, match=message):
        from_sympy(theirs())


def test_missing_package_is_named(monkeypatch):
    real = builtins.__import__

    def without_sympy(name, *args, **kwargs):
        if name == "sympy":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without_sympy)
    for exchange in (lambda: to_sympy(x), lambda: from_sympy(1)):
        with pytest.raises(ModelError, match="needs the package 'sympy'"):
            exchange()


@pytest.mark.campaign
def test_depth_does_not_matter():
    e = x
    for _ in range(600):
        e = sin(e) * a + b
    assert from_sympy(to_sympy(e), {"x": "coordinate"}) is e


def test_shared_parts_are_met_once():
    e = x
    for _ in range(40):
        e = sin(e) * cos(e)
    assert from_sympy(to_sympy(e), {"x": "coordinate"}) is e


@settings(max_examples=40)
@given(formulas)
def test_random_formulas_keep_their_value(tree):
    e = build(tree)
    back = from_sympy(to_sympy(e), KINDS)
    for point in POINTS:
        assert evaluate([back], point)[0] == pytest.approx(
            evaluate([e], point)[0], rel=1e-9, abs=1e-9
        )
    assert set(SYMBOLS.values()) >= {s for s in back.parts if isinstance(s, Symbol)}
