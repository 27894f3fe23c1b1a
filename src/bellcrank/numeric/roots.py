"""The zero of a function between two arguments at which it has different signs.

Regula falsi as in the Illinois method (Dowell & Jarratt 1971, BIT 11, 168), halved where the bracket shrinks slowly.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from .tuning import EVENTS

MOST = EVENTS.tries  # evaluations


def zero_between(
    f: Callable[[float], float], ends: tuple[float, float], values: tuple[float, float], small: float
) -> float:
    """Where f changes its sign, to within `small`; `values` are those at the ends."""
    (a, b), (fa, fb) = ends, values
    width = abs(b - a)
    for count in range(MOST):
        c = b - fb * (b - a) / (fb - fa)
        if count % 2:
            if abs(b - a) > 0.5 * width:
                c = a + 0.5 * (b - a)
            width = abs(b - a)
        if abs(c - b) < 0.5 * small:  # a little beyond: the zero may lie just there
            c = b + math.copysign(0.5 * small, a - b)
        if not min(a, b) < c < max(a, b):
            c = a + 0.5 * (b - a)
        fc = f(c)
        if (fc > 0) == (fb > 0):
            fa *= 0.5
        else:
            a, fa = b, fb
        b, fb = c, fc
        if fc == 0 or abs(b - a) <= small:
            return b
    return b
