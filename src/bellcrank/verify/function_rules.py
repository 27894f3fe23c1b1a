"""The functions of the model language for numbers and time series: the independent evaluation's own
table.

Values and slopes are stated here anew, none are taken from the table of the derivation: that a name
has the same meaning in both is what a check finds out.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from bellcrank.verify import jets
from bellcrank.verify.jets import Jet, JetBatch, Value, constant_jets

Rule = Callable[..., Value]


def smooth_rule(start: Callable[[Any], Any], slope: Callable[[Value], Value]) -> Rule:
    """A function by its value and its slope."""
    return lambda x: jets.compose_function(x, start, slope)


def step_rule(start: Callable[..., Any]) -> Rule:
    """A function that is constant between its jumps."""

    def rule(*xs: Value) -> Value:
        values = start(*map(jets.constant_term, xs))
        return constant_jets(values) if jets.jet_class(*xs) is JetBatch else values

    return rule


def _comparison_rule(relation: Callable[[Any, Any], Any]) -> Rule:
    return step_rule(lambda a, b: np.asarray(relation(a, b), dtype=float)[()])


def _tan(x: Value) -> Value:
    s, c = jets.sincos(x)
    return s / c


def _absolute(x: Value) -> Value:
    return type(x)(x.c * np.sign(x.c[0])) if isinstance(x, Jet) else np.abs(x)


def _mod(x: Value, y: Value) -> Value:
    """x less as many whole y as leave something of the sign of y."""
    return x - y * _whole(x, y)


def _reference_smooth_step(x: Value, a: Value, b: Value) -> Value:
    s = (x - a) / (b - a)
    if isinstance(s, JetBatch):
        inside = s * s * s * (s * (s * 6.0 - 15.0) + 10.0)
        return _select_by_state(
            jets.constant_term(s) >= 1.0,
            1.0,
            _select_by_state(jets.constant_term(s) <= 0.0, 0.0, inside),
        )
    if jets.constant_term(s) <= 0.0:
        return 0.0
    return s * s * s * (s * (s * 6.0 - 15.0) + 10.0) if jets.constant_term(s) < 1.0 else 1.0


def _select_by_state(condition: np.ndarray, a: Value, b: Value) -> Value:
    """In each of several states one of two values."""
    if isinstance(a, Jet) or isinstance(b, Jet):
        return JetBatch(np.where(condition, *jets.common_coefficients(a, b)))
    return constant_jets(np.where(condition, a, b))


def _where(c: Value, a: Value, b: Value) -> Value:
    if isinstance(c, JetBatch):
        return _select_by_state(jets.constant_term(c) != 0, a, b)
    return a if jets.constant_term(c) != 0 else b


def _extremum_rule(extreme: Callable[..., Value], index_of: Callable[..., Any]) -> Rule:
    """The least or the largest of several values."""

    def rule(*xs: Value) -> Value:
        if jets.jet_class(*xs) is not JetBatch:
            return extreme(xs, key=lambda x: float(jets.constant_term(x)))
        best = index_of(np.stack(np.broadcast_arrays(*map(jets.constant_term, xs))), axis=0)
        result = xs[0]
        for i, x in enumerate(xs[1:], 1):
            result = _select_by_state(best == i, x, result)
        return result

    return rule


_whole = step_rule(lambda x, y: np.floor(np.divide(x, y)))
OPERATORS: Mapping[str, Rule] = {
    "neg": operator.neg,
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": lambda a, b: a * jets.reciprocal(b),
    "**": jets.power,
    "<": _comparison_rule(operator.lt),
    "<=": _comparison_rule(operator.le),
    ">": _comparison_rule(operator.gt),
    ">=": _comparison_rule(operator.ge),
}
FUNCTIONS: Mapping[str, Rule] = {
    "sin": lambda x: jets.sincos(x)[0],
    "cos": lambda x: jets.sincos(x)[1],
    "tan": _tan,
    "asin": smooth_rule(np.arcsin, lambda x: 1.0 / jets.sqrt(1.0 - x * x)),
    "acos": smooth_rule(np.arccos, lambda x: -1.0 / jets.sqrt(1.0 - x * x)),
    "atan": smooth_rule(np.arctan, lambda x: 1.0 / (1.0 + x * x)),
    "atan2": jets.atan2,
    "sqrt": jets.sqrt,
    "exp": jets.exp,
    "log": jets.log,
    "log10": smooth_rule(np.log10, lambda x: jets.reciprocal(x) * (1.0 / np.log(10.0))),
    "log2": smooth_rule(np.log2, lambda x: jets.reciprocal(x) * (1.0 / np.log(2.0))),
    "log1p": smooth_rule(np.log1p, lambda x: jets.reciprocal(1.0 + x)),
    "expm1": smooth_rule(np.expm1, jets.exp),
    "exp2": smooth_rule(np.exp2, lambda x: jets.exp(x * np.log(2.0)) * np.log(2.0)),
    "cbrt": smooth_rule(np.cbrt, lambda x: (1.0 / 3.0) / jets.power(FUNCTIONS["cbrt"](x), 2.0)),
    "pow": jets.power,
    "hypot": lambda x, y: jets.sqrt(x * x + y * y),
    "sinh": smooth_rule(np.sinh, lambda x: FUNCTIONS["cosh"](x)),
    "cosh": smooth_rule(np.cosh, lambda x: FUNCTIONS["sinh"](x)),
    "tanh": smooth_rule(np.tanh, lambda x: 1.0 - jets.power(FUNCTIONS["tanh"](x), 2.0)),
    "asinh": smooth_rule(np.arcsinh, lambda x: 1.0 / jets.sqrt(1.0 + x * x)),
    "acosh": smooth_rule(np.arccosh, lambda x: 1.0 / jets.sqrt(x * x - 1.0)),
    "atanh": smooth_rule(np.arctanh, lambda x: 1.0 / (1.0 - x * x)),
    "abs": _absolute,
    "sign": step_rule(np.sign),
    "floor": step_rule(np.floor),
    "ceil": step_rule(np.ceil),
    "mod": _mod,
    "smooth_step": _reference_smooth_step,
    "min": _extremum_rule(min, np.argmin),
    "max": _extremum_rule(max, np.argmax),
    "where": _where,
    "lt": OPERATORS["<"],
    "le": OPERATORS["<="],
    "gt": OPERATORS[">"],
    "ge": OPERATORS[">="],
}


# ---- formulas that are one thing here and another there


def _saturation_region(x: Any, a: Any, b: Any) -> int:
    share = (x - a) / (b - a) if b != a else 0.0
    return int(share > 0.0) + int(share >= 1.0)


CHOICES: Mapping[
    str, Callable[..., Any]
] = {  # which of its pieces a function is, for plain numbers
    "abs": lambda x: x > 0,
    "sign": lambda x: x > 0,
    "min": lambda *xs: int(np.argmin(xs)),
    "max": lambda *xs: int(np.argmax(xs)),
    "where": lambda c, a, b: c != 0,
    "smooth_step": _saturation_region,
    **{name: lambda a, b, rule=FUNCTIONS[name]: rule(a, b) for name in ("lt", "le", "gt", "ge")},
    **{name: lambda a, b, rule=OPERATORS[name]: rule(a, b) for name in ("<", "<=", ">", ">=")},
}
