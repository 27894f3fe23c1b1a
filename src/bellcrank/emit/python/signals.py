"""Signals of inputs in Python, for written programs."""

from __future__ import annotations

import math
import re

from bellcrank.signals import KINDS

HEAD = '''"""Kinds of signals that an input may be: value, rate and second rate at a time, and times at which they are not smooth."""

from collections import namedtuple
from math import {functions}, pi

two_pi = 2 * pi

# names of the numbers, value(rate, t, numbers...), breaks(numbers...), how often it can be differentiated, what must be
# positive
Kind = namedtuple("Kind", "names value breaks smooth positive")


'''


def python_signals() -> str:
    """A module with all kinds."""
    text = "\n\n".join(k.python for k in KINDS.values())
    called = sorted(set(re.findall(r"\w+(?=\()", text)) & vars(math).keys())
    rows = [
        f"    {k.name!r}: Kind({k.names!r}, {k.name}, {k.name}_breaks, {len(k.orders) - 1}, "
        f"{[n.name for n in k.numbers if n.positive]!r}),"
        for k in KINDS.values()
    ]
    return HEAD.format(functions=", ".join(called)) + text + "\n\n" + "\n".join(["KINDS = {", *rows, "}", ""])
