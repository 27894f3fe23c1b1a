"""Closed loops in Python: the routines that a program calls, and the numbers that keep loops closed."""

from __future__ import annotations

import inspect
from dataclasses import asdict
from functools import cache
from typing import Any

from bellcrank.emit.python.runtime_files import definitions
from bellcrank.numeric import null_space as routines
from bellcrank.numeric.tuning import ELIMINATION
from bellcrank.program.loops import Loops


@cache
def null_space() -> str:
    """How rows of loops are eliminated in numbers: as this package does it."""
    functions = routines.pivoted, routines.fixed_ratio, routines.null_space, routines.constrained_rates
    texts = [inspect.getsource(f) for f in functions]
    return "\n\n".join([f"import numpy as np\n\n{definitions(ELIMINATION)}", *texts])


def scales(loops: Loops) -> dict[str, Any]:
    """Rows, what brings them to entries of about one, what corrections of regular positions move, sides."""
    c = loops.correction
    moved = None if c is None else tuple(map(list, (c.q, c.u, c.pivot_scales)))
    return {
        "names": loops.names,
        "positions": loops.positions,
        "scales": asdict(loops.scales),
        "correction": moved,
        "sided": list(loops.sided) if loops.sides else None,
    }
