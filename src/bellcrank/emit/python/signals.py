"""Signals of inputs in Python, for written programs."""

from __future__ import annotations

import math
import re

from bellcrank.emit.python.runtime_files import runtime
from bellcrank.numeric.tuning import INPUTS
from bellcrank.signals import KINDS


def python_signals() -> str:
    """A module with all kinds, and inputs from files."""
    text = "\n\n".join(k.python for k in KINDS.values())
    math_functions = sorted(set(re.findall(r"\w+(?=\()", text)) & vars(math).keys())
    rows = [
        f"{k.name!r}: ({k.names!r}, {k.name}, {k.name}_breaks, {len(k.orders) - 1}, "
        f"{[n.name for n in k.numbers if n.positive]!r}),"
        for k in KINDS.values()
    ]
    return runtime(
        "signals.py.in",
        FUNCTIONS=", ".join(math_functions),
        SPLINE=runtime("spline.py"),
        FORMULAS=text,
        KINDS="\n".join(rows),
        KNOWN=repr(INPUTS.known),
        KINK=repr(INPUTS.kink),
    )
