"""Speeds that constraints were solved for although a coefficient may vanish: where a run came near such a zero.

Found afterwards at recorded rows, so that runs cost no more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from bellcrank.errors import BellcrankError
from bellcrank.expr import evaluate
from bellcrank.kinematics.speed_constraints import Removed
from bellcrank.run.dae_runs import Piece
from bellcrank.run.loaded import Loaded
from bellcrank.run.values import at_row, known_symbols

NEAR = 1e-2  # of the largest value of a divisor in a run
ROWS = 1000  # that are looked at


def poles_passed(loaded: Loaded, pieces: Sequence[Piece]) -> Iterator[str]:
    """A message for each dependent speed whose divisor changed its sign in a run or came near zero."""
    for r in loaded.analysis.removed:
        if not r.holds_everywhere:
            values = [x for piece in pieces for x in _values(loaded, r, piece)]
            at = _near_zero(np.array([x for _, x in values]))
            if at is not None:
                what = f"{r.speed} follows from the constraint {r.text} by division by {r.pivot}, which is near zero"
                advice = "results are unreliable from there on. Keep all speeds as states (constraints='auto')"
                yield f"{what} at t = {values[at][0]:.6g} s: {advice}"


def _values(loaded: Loaded, r: Removed, piece: Piece) -> list[tuple[float, float]]:
    """Times with the values of the divisor."""
    program, found = loaded.program, []
    if piece.rows.shape[1] < 2:
        return []
    for row in piece.rows[:: max(1, len(piece.rows) // ROWS)]:
        t, q, u, p, _, w = at_row(program, row, piece.p, piece.c)
        try:
            found.append((t, evaluate([r.pivot], known_symbols(program, t, q, u, p, w))[0]))
        except (BellcrankError, ArithmeticError, KeyError, ValueError):  # a user function
            return []
    return found


def _near_zero(values: np.ndarray) -> int | None:
    """The first place at which values pass zero or are small compared with the largest."""
    if not len(values):
        return None
    size = np.abs(values)
    doubtful = size <= NEAR * size.max()
    doubtful[1:] |= values[1:] * values[:-1] < 0
    return int(np.argmax(doubtful)) if doubtful.any() else None
