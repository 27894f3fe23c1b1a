"""What the steps of a run took whose method chooses them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from .tuning import CONTROL


@dataclass
class Count:
    """What the steps of a run took, and how many it may take."""

    most: int = CONTROL.most_steps
    steps: int = 0
    rejected: int = 0
    rates: int = 0
    shortest: float = math.inf
    longest: float = 0.0
    slopes: int = 0  # of stiff methods: how often derivatives of the state derivatives were found ...
    factors: int = 0  # ... and linear systems factored ...
    failures: int = 0  # ... and Newton's method did not converge
    fastest: float = 0.0  # rate of a mode that holds the steps, 1/s: the run is stiff ...
    slowed: int = 0  # ... and how many it held ...
    held: bool = False  # ... and does it now? ...
    pace: float = 0.0  # ... time that an evaluation of rates gained in these steps, s ...
    backs: int = 0  # ... and how often explicit steps were better than the stiff ones for it ...
    went_back: float = 0.0  # ... at last when
    culprit: int = 0  # the state whose error was the largest in the last step tried ...
    excess: float = 0.0  # ... against what is allowed
    bad: np.ndarray = field(default_factory=lambda: np.empty(0))  # what is not finite

    def add(self, length: float) -> None:
        """A step that was taken."""
        self.steps += 1
        self.shortest, self.longest = min(self.shortest, length), max(self.longest, length)

    @property
    def told(self) -> dict[str, float]:
        """Figures of a run, by what they are called in its settings."""
        lengths = {"smallest_step": self.shortest, "largest_step": self.longest} if self.steps else {}
        stiff = {"jacobians": self.slopes, "factorisations": self.factors, "newton_failures": self.failures}
        totals = {"steps": self.steps, "rejected": self.rejected, "rates": self.rates, **lengths}
        return {**totals, **(stiff if self.slopes else {})}
