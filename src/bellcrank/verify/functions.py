"""The functions of the model language for numbers and time series: the independent evaluation's own table.

Values and slopes are stated here anew, none are taken from the table of the derivation: that a name has the same
meaning in both is what a check finds out.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from bellcrank.verify import jets
from bellcrank.verify.jets import Jet, Jets, Value, steady

Rule = Callable[..., Value]


def smooth(start: Callable[[Any], Any], slope: Callable[[Value], Value]) -> Rule:
    """A function by its value and its slope."""
    return lambda x: jets.from_rate(x, start, slope)


def steps(start: Callable[..., Any]) -> Rule:
    """A function that is constant between its jumps."""

    def rule(*xs: Value) -> Value:
        values = start(*map(jets.value, xs))
        return steady(values) if jets.kind(*xs) is Jets else values

    return rule


def _compared(relation: Callable[[Any, Any], Any]) -> Rule:
    return steps(lambda a, b: np.asarray(relation(a, b), dtype=float)[()])


def _tan(x: Value) -> Value:
    s, c = jets.sincos(x)
    return s / c


def _absolute(x: Value) -> Value:
    return type(x)(x.c * np.sign(x.c[0])) if isinstance(x, Jet) else np.abs(x)


def _mod(x: Value, y: Value) -> Value:
    """x less as many whole y as leave something of the sign of y."""
    return x - y * _whole(x, y)


def _smooth_step(x: Value, a: Value, b: Value) -> Value:
    s = (x - a) / (b - a)
    if isinstance(s, Jets):
        inside = s * s * s * (s * (s * 6.0 - 15.0) + 10.0)
        return _pick(jets.value(s) >= 1.0, 1.0, _pick(jets.value(s) <= 0.0, 0.0, inside))
    if jets.value(s) <= 0.0:
        return 0.0
    return s * s * s * (s * (s * 6.0 - 15.0) + 10.0) if jets.value(s) < 1.0 else 1.0


def _pick(condition: np.ndarray, a: Value, b: Value) -> Value:
    """In each of several states one of two values."""
    if isinstance(a, Jet) or isinstance(b, Jet):
        return Jets(np.where(condition, *jets.together(a, b)))
    return steady(np.where(condition, a, b))


def _where(c: Value, a: Value, b: Value) -> Value:
    if isinstance(c, Jets):
        return _pick(jets.value(c) != 0, a, b)
    return a if jets.value(c) != 0 else b


def _extreme(extreme: Callable[..., Value], index_of: Callable[..., Any]) -> Rule:
    """The least or the largest of several values."""

    def rule(*xs: Value) -> Value:
        if jets.kind(*xs) is not Jets:
            return extreme(xs, key=lambda x: float(jets.value(x)))
        best = index_of(np.stack(np.broadcast_arrays(*map(jets.value, xs))), axis=0)
        result = xs[0]
        for i, x in enumerate(xs[1:], 1):
            result = _pick(best == i, x, result)
        return result

    return rule


_whole = steps(lambda x, y: np.floor(np.divide(x, y)))
OPERATORS: Mapping[str, Rule] = {
    "neg": operator.neg,
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": lambda a, b: a * jets.reciprocal(b),
    "**": jets.power,
    "<": _compared(operator.lt),
    "<=": _compared(operator.le),
    ">": _compared(operator.gt),
    ">=": _compared(operator.ge),
}
FUNCTIONS: Mapping[str, Rule] = {
    "sin": lambda x: jets.sincos(x)[0],
    "cos": lambda x: jets.sincos(x)[1],
    "tan": _tan,
    "asin": smooth(np.arcsin, lambda x: 1.0 / jets.sqrt(1.0 - x * x)),
    "acos": smooth(np.arccos, lambda x: -1.0 / jets.sqrt(1.0 - x * x)),
    "atan": smooth(np.arctan, lambda x: 1.0 / (1.0 + x * x)),
    "atan2": jets.atan2,
    "sqrt": jets.sqrt,
    "exp": jets.exp,
    "log": jets.log,
    "log10": smooth(np.log10, lambda x: jets.reciprocal(x) * (1.0 / np.log(10.0))),
    "log2": smooth(np.log2, lambda x: jets.reciprocal(x) * (1.0 / np.log(2.0))),
    "log1p": smooth(np.log1p, lambda x: jets.reciprocal(1.0 + x)),
    "expm1": smooth(np.expm1, jets.exp),
    "exp2": smooth(np.exp2, lambda x: jets.exp(x * np.log(2.0)) * np.log(2.0)),
    "cbrt": smooth(np.cbrt, lambda x: (1.0 / 3.0) / jets.power(FUNCTIONS["cbrt"](x), 2.0)),
    "pow": jets.power,
    "hypot": lambda x, y: jets.sqrt(x * x + y * y),
    "sinh": smooth(np.sinh, lambda x: FUNCTIONS["cosh"](x)),
    "cosh": smooth(np.cosh, lambda x: FUNCTIONS["sinh"](x)),
    "tanh": smooth(np.tanh, lambda x: 1.0 - jets.power(FUNCTIONS["tanh"](x), 2.0)),
    "asinh": smooth(np.arcsinh, lambda x: 1.0 / jets.sqrt(1.0 + x * x)),
    "acosh": smooth(np.arccosh, lambda x: 1.0 / jets.sqrt(x * x - 1.0)),
    "atanh": smooth(np.arctanh, lambda x: 1.0 / (1.0 - x * x)),
    "abs": _absolute,
    "sign": steps(np.sign),
    "floor": steps(np.floor),
    "ceil": steps(np.ceil),
    "mod": _mod,
    "smooth_step": _smooth_step,
    "min": _extreme(min, np.argmin),
    "max": _extreme(max, np.argmax),
    "where": _where,
    "lt": OPERATORS["<"],
    "le": OPERATORS["<="],
    "gt": OPERATORS[">"],
    "ge": OPERATORS[">="],
}


# ---- formulas that are one thing here and another there


def _region(x: Any, a: Any, b: Any) -> int:
    share = (x - a) / (b - a) if b != a else 0.0
    return int(share > 0.0) + int(share >= 1.0)


CHOICES: Mapping[str, Callable[..., Any]] = {  # which of its pieces a function is, for plain numbers
    "abs": lambda x: x > 0,
    "sign": lambda x: x > 0,
    "min": lambda *xs: int(np.argmin(xs)),
    "max": lambda *xs: int(np.argmax(xs)),
    "where": lambda c, a, b: c != 0,
    "smooth_step": _region,
    **{name: lambda a, b, rule=FUNCTIONS[name]: rule(a, b) for name in ("lt", "le", "gt", "ge")},
    **{name: lambda a, b, rule=OPERATORS[name]: rule(a, b) for name in ("<", "<=", ">", ">=")},
}
