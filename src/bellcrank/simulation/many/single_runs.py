"""Many runs one by one, by `simulate`: whatever compiled code cannot drive alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from bellcrank.core.errors import BellcrankError
from bellcrank.core.metrics.frequency_weighting import WEIGHTINGS
from bellcrank.core.numeric.run_spec import FINISHED
from bellcrank.mechanics.interface.interface import Quantity
from bellcrank.simulation.backend.c_batch import PENDING, BatchBuffers
from bellcrank.simulation.many.batch_metrics import BatchMetric
from bellcrank.simulation.run.result import Run

if TYPE_CHECKING:
    from numpy.typing import NDArray


class SingleRuns:
    """One thread's part of many runs."""

    def __init__(
        self,
        run: Callable[[int], Run],
        times: NDArray[np.float64],
        time_tolerance: float,
        histories: list[Quantity],
        figures: list[BatchMetric],
        results: BatchBuffers,
        messages: list[str],
    ) -> None:
        self._run, self._kept, self._figures, self._results, self._ended = (
            run,
            histories,
            figures,
            results,
            messages,
        )
        self._times, self._near = times, time_tolerance

    def _rows_at_times(
        self, times: NDArray[np.float64]
    ) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """Rows of a run at the times of all of them, the last of several, and the places of these
        times: events add rows, and may end a run. A row at most `time_tolerance` (s) before one of
        these times stands for it."""
        rows = np.searchsorted(times, self._times, side="right") - 1
        is_present = rows >= 0
        is_present[is_present] = self._times[is_present] - times[rows[is_present]] <= self._near
        return rows[is_present], is_present

    def run_range(self, first: int, last: int) -> None:
        """Runs from number `first` to before `last`."""
        r = self._results
        for number in range(first, last):
            if r.stop_request[0]:
                return
            r.histories[:, number], r.metrics[:, number] = np.nan, np.nan
            try:
                run = self._run(number)
            except BellcrankError as error:
                self._ended[number] = "; ".join(getattr(error, "problems", [])) or str(error)
                r.status[number] = PENDING - 1
                continue
            rows, is_present = self._rows_at_times(run.time)
            for index, x in enumerate(self._kept):
                r.histories[index, number, is_present] = run[x.name][rows]
            for index, f in enumerate(self._figures):
                is_filter = (
                    f.kind.name in WEIGHTINGS
                )  # a filter takes rows as far apart as they are asked
                selection = rows if is_filter else slice(None)
                r.metrics[index, number] = f.evaluate(
                    run.time[selection], np.asarray(run[f.channel.name])[selection]
                )
            self._ended[number] = run.ended
            r.status[number] = FINISHED
