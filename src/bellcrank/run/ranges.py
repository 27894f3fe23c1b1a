"""What of a run lay outside the ranges that a model knows: a message for each, once per run."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bellcrank.interface.interface import Interface
from bellcrank.model.records import RangeRecord

ROUNDING = 1e-6  # of a range: a locked wheel has a slip of -1 but for rounding


def outside(ranges: Sequence[RangeRecord], interface: Interface, rows: np.ndarray) -> list[str]:
    """Messages about recorded outputs outside their ranges; rows are in units of the equations."""
    if not ranges:
        return []
    outputs, found = {x.name: x for x in interface.outputs}, []
    for r in ranges:
        known = outputs.get(r.output)
        if known is None or rows.shape[1] <= known.column:
            continue
        values = rows[:, known.column]
        little = ROUNDING * (r.high - r.low if np.isfinite(r.high - r.low) else max(abs(r.high), 1.0))
        beyond = (values < r.low - little) | (values > r.high + little)
        if np.any(beyond):
            worst = int(np.argmax(np.where(beyond, np.maximum(values - r.high, r.low - values), -np.inf)))
            unit = f" {known.unit.text}" if known.unit.text not in ("", "1", "-") else ""
            value, low, high = (x / known.unit.factor for x in (values[worst], r.low, r.high))
            found.append(
                f"{r.output}: {r.words} {value:.4g}{unit} at t = {rows[worst, 0]:.6g} s lies outside {low:.4g} to "
                f"{high:.4g}{unit} ({int(np.sum(beyond))} of {len(rows)} rows): the nearest end was used"
            )
    return found
