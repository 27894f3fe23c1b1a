"""The functions of the model language for numbers and time series: the independent evaluation's own table.

Values and slopes are stated here anew, none are taken from the table of the derivation: that a name has the same
meaning in both is what a check finds out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from bellcrank.verify import jets
from bellcrank.verify.jets import Jet, Value

Rule = Callable[..., Value]


def smooth(start: Callable[[Any], Any], slope: Callable[[Value], Value]) -> Rule:
    """A function by its value and its slope."""
    return lambda x: jets.from_rate(x, start, slope)


def steps(start: Callable[..., Any]) -> Rule:
    """A function that is constant between its jumps."""
    return lambda *xs: start(*map(jets.value, xs))


def _tan(x: Value) -> Value:
    s, c = jets.sincos(x)
    return s / c


def _absolute(x: Value) -> Value:
    return x * np.sign(x.c[0]) if isinstance(x, Jet) else np.abs(x)


FUNCTIONS: Mapping[str, Rule] = {
    "sin": jets.sin,
    "cos": jets.cos,
    "tan": _tan,
    "asin": smooth(np.arcsin, lambda x: 1.0 / jets.sqrt(1.0 - x * x)),
    "acos": smooth(np.arccos, lambda x: -1.0 / jets.sqrt(1.0 - x * x)),
    "atan": smooth(np.arctan, lambda x: 1.0 / (1.0 + x * x)),
    "atan2": jets.atan2,
    "sqrt": jets.sqrt,
    "exp": jets.exp,
    "log": jets.log,
    "pow": jets.power,
    "abs": _absolute,
    "sign": steps(np.sign),
    "min": lambda *xs: min(xs, key=lambda x: float(jets.value(x))),
    "max": lambda *xs: max(xs, key=lambda x: float(jets.value(x))),
    "where": lambda c, a, b: a if jets.value(c) != 0 else b,
    "lt": steps(lambda a, b: float(a < b)),
    "le": steps(lambda a, b: float(a <= b)),
    "gt": steps(lambda a, b: float(a > b)),
    "ge": steps(lambda a, b: float(a >= b)),
}
