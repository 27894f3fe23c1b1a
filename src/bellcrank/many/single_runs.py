"""Many runs one by one, by `simulate`: whatever compiled code cannot drive alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bellcrank.backend.c_many import PENDING, Results
from bellcrank.errors import BellcrankError
from bellcrank.interface.interface import Quantity
from bellcrank.many.figures import Figure
from bellcrank.metrics.weighting import WEIGHTINGS
from bellcrank.numeric.run_spec import FINISHED
from bellcrank.run.result import Run


class SingleRuns:
    """One thread's part of many runs."""

    def __init__(
        self,
        run: Callable[[int], Run],
        times: np.ndarray,
        near: float,
        kept: list[Quantity],
        figures: list[Figure],
        results: Results,
        ended: list[str],
    ) -> None:
        self._run, self._kept, self._figures, self._results, self._ended = run, kept, figures, results, ended
        self._times, self._near = times, near

    def _rows(self, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rows of a run at the times of all of them, the last of several, and the places of these times: events add
        rows, and may end a run. One so `near` before a time (s) that no step is left to it has the row of that time."""
        rows = np.searchsorted(times, self._times, side="right") - 1
        there = rows >= 0
        there[there] = self._times[there] - times[rows[there]] <= self._near
        return rows[there], there

    def go(self, first: int, last: int) -> None:
        """Runs from number `first` to before `last`."""
        r: Any = self._results
        for number in range(first, last):
            if r.stop[0]:
                return
            r.kept[:, number], r.figures[:, number] = np.nan, np.nan
            try:
                run = self._run(number)
            except BellcrankError as error:
                self._ended[number] = "; ".join(getattr(error, "problems", [])) or str(error)
                r.status[number] = PENDING - 1
                continue
            rows, there = self._rows(run.time)
            for place, x in enumerate(self._kept):
                r.kept[place, number, there] = run[x.name][rows]
            for place, f in enumerate(self._figures):
                even = f.kind.name in WEIGHTINGS  # a filter takes rows as far apart as they are asked
                of = rows if even else slice(None)
                r.figures[place, number] = f.found(run.time[of], np.asarray(run[f.channel.name])[of])
            self._ended[number] = run.ended
            r.status[number] = FINISHED
