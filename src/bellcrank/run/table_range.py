"""Tables asked outside of their points during a run: found afterwards at recorded rows, so that runs cost no more."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bellcrank.backend.protocol import Model
from bellcrank.expr.table import Table
from bellcrank.run.values import at_row

ROWS = 200  # that are looked at


def asked_beyond(model: Model, rows: np.ndarray, p: Sequence[float]) -> list[str]:
    """A sentence for each table asked beyond its points. What depends on external routines is not looked at."""
    program = model.program
    if not program.tables or rows.shape[1] < 2:
        return []
    farthest: dict[str, tuple[float, str]] = {}
    looking = model.calls([_recorder(r, farthest) if isinstance(r, Table) else _unknown(r) for r in program.routines])
    c = looking.constants(p)
    for i in np.unique(np.linspace(0, len(rows) - 1, min(len(rows), ROWS)).astype(int)):
        at = at_row(program, rows[i], p, c)
        for function in (looking.derivatives, looking.outputs):
            try:
                function(*at)
            except (ArithmeticError, ValueError):
                continue
    return [sentence for _, sentence in farthest.values()]


def _recorder(table: Table, farthest: dict[str, tuple[float, str]]) -> Callable[..., float]:
    goes_on = "end slope" if len(table.axes) == 1 else "end value"
    name = table.name.split("_d")[0]

    def value(*args: float) -> float:
        for x, axis in zip(args, table.axes, strict=True):
            beyond = max(axis[0] - x, x - axis[-1])
            if beyond > 1e-9 * (axis[-1] - axis[0]) and beyond > farthest.get(name, (0.0, ""))[0]:
                told = f"table '{name}' was asked at {x:.6g}, but its points go from {axis[0]:g} to {axis[-1]:g}"
                farthest[name] = (beyond, f"{told}: beyond them it goes on with its {goes_on}")
        return table.value(*args)

    return value


def _unknown(routine: Any) -> Callable[..., Any]:
    """In place of an external routine, which is not called again."""
    count = len(routine.returns)
    return lambda *_: math.nan if count <= 1 else (math.nan,) * count
