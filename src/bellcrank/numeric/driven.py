"""Runs that Python drives: how they continue, and how they end."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from .branch import NearSingular, Passage
from .run_spec import AT_REST, FINISHED, NOT_FINITE

NO_VALUE = (OverflowError, ValueError, ZeroDivisionError)  # of Python's arithmetic, where C has inf or nan


class Head(ABC):
    """The head of all of them: `evaluation` is the model with all that it is evaluated with."""

    no_way = ""  # what is said where closed loops come near a singular configuration

    def __init__(self, evaluation: Any, state: np.ndarray) -> None:
        self.evaluation = evaluation
        self.state = np.array(state, dtype=float)
        self.bad = np.full_like(self.state, math.nan)
        self.rates = np.empty(0)
        self.reached, self.status, self.problem = 0, FINISHED, ""

    def advance(self, last: int) -> np.ndarray:
        """Continues to step number `last`; the rows recorded on the way."""
        rows: list[np.ndarray] = []
        try:
            with np.errstate(all="ignore"):
                self._go_on(last, rows)
        except NO_VALUE as error:
            self.status, self.problem = NOT_FINITE, str(error)
        except NearSingular:
            self.status, self.problem = AT_REST, self.no_way
        return np.array(rows)

    @abstractmethod
    def _go_on(self, last: int, rows: list[np.ndarray]) -> None:
        """Continues to step number `last`; appends the rows recorded on the way."""

    @property
    def passages(self) -> list[Passage]:
        return self.evaluation.keeper.passages if self.evaluation.keeper else []
