"""Runs made ready by their method, and the loop that takes their steps."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from bellcrank.errors import RunError
from bellcrank.numeric.methods import ADAPTIVE
from bellcrank.numeric.run_spec import FINISHED, Carried, RunSpec
from bellcrank.run.adaptive import adaptive_run
from bellcrank.run.memory import COPIES, check_memory
from bellcrank.run.stepping import Advancing, Evaluation, PythonRun
from bellcrank.run.tolerances import Tolerances

Progress = Callable[[float], None]
LARGER = "use a larger output_every (--output-every), a shorter run, or segments continued with start="
BLOCK_SECONDS = 0.1  # between two looks at progress, events and the keyboard


class Prepared(NamedTuple):
    """A run of `total` steps of length h (s), every n-th recorded; of adaptive methods those between outputs."""

    run: Advancing
    total: int
    every: int
    h: float
    begins: float  # s
    first_row: bool  # is there a row of the state at the beginning, or does the run go on from another?
    behind: float = 0.0  # share of the run that its steps do not count
    told: Callable[[], dict[str, Any]] = dict  # figures of the run, when it is over
    done: Callable[[], float] | None = None  # the share done, where the number of steps does not tell it
    happened: Callable[[], bool] | None = None  # takes what the kernel tells of events; do steps end there?


def prepare(
    spec: RunSpec,
    e: Evaluation,
    y: np.ndarray,
    tolerances: Tolerances,
    carried: Carried | None = None,
    watching: Any = None,
) -> Prepared:
    """A run that has not begun, from the state y; `carried`: what it takes over from another. `watching`: its
    events, if the kernel looks for them."""
    if spec.method in ADAPTIVE:
        adaptive = adaptive_run(e, spec, y, tolerances, watching)
        if carried is not None:
            adaptive.take(carried)
        h, last = spec.step * spec.every, len(adaptive.times) - 1
        behind = (spec.begins - spec.t_start) / (spec.t_end - spec.t_start)
        return Prepared(
            adaptive, last, 1, h, spec.begins, carried is None, behind=behind, told=lambda: adaptive.told,
            done=lambda: (adaptive.time - spec.begins) / (spec.t_end - spec.begins),
        )  # fmt: skip
    spec = e.spec(spec, y, events=watching)
    run = e.model.start(spec) or PythonRun(e, spec)
    if carried is not None:
        run.take(carried)
    return Prepared(run, spec.steps, spec.every, spec.step, spec.begins, carried is None)


def take_steps(prepared: Prepared, progress: Progress | None = None) -> tuple[np.ndarray, bool]:
    """Takes all steps of a run, or as many as can be taken; the rows of every n-th step and of the last. True if that
    was interrupted from the keyboard: rows are then those of the blocks of steps that were finished.

    In between, the keyboard is heard and `progress` gets the share done.
    """
    run, total, every, taken = prepared.run, prepared.total, prepared.every, _Taken()
    try:
        if not prepared.first_row:
            run.advance(run.reached)  # takes the start
        block, first = 64, prepared.first_row
        while first or (run.reached < total and run.status == FINISHED):
            before, start = run.reached, time.perf_counter()
            rows = run.advance(min(before + block, total))
            seconds = time.perf_counter() - start
            block = max(1, min(int(block * min(BLOCK_SECONDS / max(seconds, 1e-6), 8.0)), 10_000_000))
            first = False
            taken.take(rows, (total - before) // every + 4)
            if prepared.happened is not None and prepared.happened():
                break
            if progress is not None:
                done = run.reached / total if prepared.done is None else prepared.done()
                progress(prepared.behind + (1 - prepared.behind) * done)
    except KeyboardInterrupt:
        return taken.rows, True
    return taken.rows, False


class _Taken:
    """Rows of a run as they come."""

    def __init__(self) -> None:
        self._room = np.empty((0, 1))
        self._filled = 0

    def take(self, rows: np.ndarray, expected: int) -> None:
        """Takes rows; so many are `expected` in all when the first come."""
        if len(rows):
            if not len(self._room):
                self._room = _room(expected, rows.shape[1])
            filled = self._filled + len(rows)
            if filled > len(self._room):  # events add rows
                self._room = np.vstack([self.rows, _room(filled, rows.shape[1])])
            self._room[self._filled : filled] = rows
            self._filled = filled

    @property
    def rows(self) -> np.ndarray:
        return self._room[: self._filled]


def check_room(spec: RunSpec, width: int) -> None:
    """Refuses a run whose result cannot be held."""
    rows = (spec.steps - spec.first) // spec.every + 2
    check_memory(f"{rows} samples of {width} channels", COPIES * rows * width * 8, LARGER)


def _room(rows: int, width: int) -> np.ndarray:
    try:
        return np.empty((rows, width))
    except MemoryError:
        size = rows * width * 8 / 2**30
        raise RunError(f"{rows} samples of {width} channels need {size:.1f} GiB of memory: {LARGER}") from None
