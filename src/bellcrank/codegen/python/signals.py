"""Signals of inputs in Python, for written programs."""

from __future__ import annotations

import math
import re

from bellcrank.codegen.python.runtime_files import fill_runtime_file
from bellcrank.core.numeric.tuning import INPUTS
from bellcrank.core.signals import SIGNAL_KINDS


def python_signals() -> str:
    """A module with all kinds, and inputs from files."""
    text = "\n\n".join(k.python_source for k in SIGNAL_KINDS.values())
    math_functions = sorted(set(re.findall(r"\w+(?=\()", text)) & vars(math).keys())
    rows = [
        f"{k.name!r}: ({k.parameter_names!r}, {k.name}, {k.name}_breaks, "
        f"{len(k.derivative_formulas) - 1}, "
        f"{[n.name for n in k.numbers if n.positive]!r}),"
        for k in SIGNAL_KINDS.values()
    ]
    return fill_runtime_file(
        "signals.py.in",
        FUNCTIONS=", ".join(math_functions),
        SPLINE=fill_runtime_file("spline.py"),
        FORMULAS=text,
        KINDS="\n".join(rows),
        KNOWN=repr(INPUTS.known),
        KINK=repr(INPUTS.kink),
    )
