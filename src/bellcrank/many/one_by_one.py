"""Many runs one by one, by `simulate`: whatever compiled code cannot drive alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bellcrank.backend.c_many import PENDING, Results
from bellcrank.backend.start import FINISHED
from bellcrank.errors import BellcrankError
from bellcrank.interface.interface import Quantity
from bellcrank.many.figures import Figure
from bellcrank.run.result import Run


class OneByOne:
    """One thread's part of many runs."""

    def __init__(
        self, run: Callable[[int], Run], kept: list[Quantity], figures: list[Figure], results: Results, ended: list[str]
    ) -> None:
        self._run, self._kept, self._figures, self._results, self._ended = run, kept, figures, results, ended

    def go(self, first: int, last: int) -> None:
        """Runs from number `first` to before `last`."""
        r: Any = self._results
        for number in range(first, last):
            if r.stop[0]:
                return
            try:
                run = self._run(number)
            except BellcrankError as error:
                self._ended[number] = "; ".join(getattr(error, "problems", [])) or str(error)
                r.status[number] = PENDING - 1
                continue
            rows = min(len(run.time), r.kept.shape[2])
            for place, x in enumerate(self._kept):
                r.kept[place, number, :rows] = run[x.name][:rows]
            for place, f in enumerate(self._figures):
                r.figures[place, number] = f.found(run.time, np.asarray(run[f.channel.name]))
            self._ended[number] = run.ended
            r.status[number] = FINISHED
