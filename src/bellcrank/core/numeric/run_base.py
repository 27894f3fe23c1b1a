"""Runs that Python drives: how they continue, and how they end."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from bellcrank.core.numeric.loop_projector import NearSingularError, SingularityPassage
from bellcrank.core.numeric.run_spec import AT_REST, FINISHED, NOT_FINITE

NO_VALUE = (
    OverflowError,
    ValueError,
    ZeroDivisionError,
)  # of Python's arithmetic, where C has inf or nan


class RunBase(ABC):
    """The head of all of them: `evaluation` is the model with all that it is evaluated with."""

    not_available_message = ""  # what is said where closed loops come near a singular configuration

    def __init__(self, evaluation: Any, state: Sequence[float] | np.ndarray) -> None:
        self.evaluation = evaluation
        self.state = np.array(state, dtype=float)
        self.nonfinite_state = np.full_like(self.state, math.nan)
        self.rates = np.empty(0)
        self.steps_done, self.status, self.problem = 0, FINISHED, ""

    def advance(self, last: int) -> np.ndarray:
        """Continues to step number `last`; the rows recorded on the way."""
        rows: list[np.ndarray] = []
        try:
            with np.errstate(all="ignore"):
                self._advance_to(last, rows)
        except NO_VALUE as error:
            self.status, self.problem = NOT_FINITE, str(error)
        except NearSingularError:
            self.status, self.problem = AT_REST, self.not_available_message
        return np.array(rows)

    @abstractmethod
    def _advance_to(self, last: int, rows: list[np.ndarray]) -> None:
        """Continues to step number `last`; appends the rows recorded on the way."""

    @property
    def singular_passages(self) -> list[SingularityPassage]:
        return self.evaluation.projector.singular_passages if self.evaluation.projector else []
