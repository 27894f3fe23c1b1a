"""Checks of a finished run: tables left, gimbal locks, a step too large. Found from its rows afterwards,
so that runs cost no more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from bellcrank.run.dae_runs import Piece
from bellcrank.run.gimbal import INSTEAD, Lock
from bellcrank.run.loaded import Loaded
from bellcrank.run.poles import poles_passed


def post_run_checks(
    loaded: Loaded, pieces: Sequence[Piece], rows: np.ndarray, locks: Sequence[Lock], told: Sequence[str]
) -> Iterator[str]:
    """A message for each problem that states and inputs show; `pieces`: rows with their parameters; `told`: others."""
    asked = (told for x in pieces for told in loaded.table_watch.asked_beyond(x.rows, x.p, x.c))
    yield from dict.fromkeys(asked)
    yield from (f"results are unreliable after {x.text} at t = {x.time:.6g} s; {INSTEAD}" for x in locks)
    yield from poles_passed(loaded, pieces)
    yield from told
    if rows.shape[1] < 2:  # not even the first row could be evaluated
        return

    def column(state: str) -> np.ndarray:  # few joints ask for one
        return rows[:, next(x.column for x in loaded.interface.states if x.name == state)]

    for b in loaded.analysis.mechanism.bodies:  # linkages whose tables were extended because the run left them
        yield from b.joint.passed(b.name, column)
