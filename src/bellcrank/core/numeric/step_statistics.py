"""What the steps of a run took whose method chooses them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from bellcrank.core.numeric.tuning import CONTROL


@dataclass
class StepStatistics:
    """What the steps of a run took, and how many it may take."""

    max_steps: int = CONTROL.most_steps
    n_accepted: int = 0
    n_rejected: int = 0
    n_rhs: int = 0
    shortest: float = math.inf
    longest: float = 0.0
    n_jacobians: int = (
        0  # of stiff methods: how often derivatives of the state derivatives were found ...
    )
    n_factorizations: int = 0  # ... and linear systems factored ...
    n_newton_failures: int = 0  # ... and Newton's method did not converge
    fastest_rate: float = 0.0  # rate of a mode that holds the steps, 1/s: the run is stiff ...
    n_limited_steps: int = 0  # ... and how many it held ...
    is_limited: bool = False  # ... and does it now? ...
    time_per_rhs: float = 0.0  # ... time that an evaluation of rates gained in these steps, s ...
    n_returns_to_explicit: int = (
        0  # ... and how often explicit steps were better than the stiff ones for it ...
    )
    returned_to_explicit_at: float = 0.0  # ... at last when
    worst_state: int = 0  # the state whose error was the largest in the last step tried ...
    error_ratio: float = 0.0  # ... against what is allowed
    nonfinite_state: np.ndarray = field(default_factory=lambda: np.empty(0))  # what is not finite

    def add_step(self, length: float) -> None:
        """A step that was taken."""
        self.n_accepted += 1
        self.shortest, self.longest = min(self.shortest, length), max(self.longest, length)

    @property
    def reported_settings(self) -> dict[str, float]:
        """Figures of a run, by what they are called in its settings."""
        lengths = (
            {"smallest_step": self.shortest, "largest_step": self.longest}
            if self.n_accepted
            else {}
        )
        stiff = {
            "jacobians": self.n_jacobians,
            "factorisations": self.n_factorizations,
            "newton_failures": self.n_newton_failures,
        }
        totals = {
            "steps": self.n_accepted,
            "rejected": self.n_rejected,
            "rates": self.n_rhs,
            **lengths,
        }
        return {**totals, **(stiff if self.n_jacobians else {})}
