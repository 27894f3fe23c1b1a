"""Closed loops in Python: the routines that a program calls."""

from __future__ import annotations

import inspect
from functools import cache

from bellcrank.emit.python.runtime_files import definitions
from bellcrank.numeric import null_space as routines
from bellcrank.numeric.tuning import ELIMINATION


@cache
def null_space() -> str:
    """How rows of loops are eliminated in numbers: as this package does it."""
    functions = routines.pivoted, routines.fixed_ratio, routines.null_space, routines.constrained_rates
    texts = [inspect.getsource(f) for f in functions]
    return "\n\n".join([f"import numpy as np\n\n{definitions(ELIMINATION)}", *texts])
