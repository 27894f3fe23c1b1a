"""Methods for differential-algebraic equations: M u' = f + J' lambda with g(q, t) = 0 and v = J u +
b = 0.

Every step of every method is a solution of M x = f + J' lambda with J x = r, in which only f and r
differ: accelerations, stabilised accelerations, and corrections, which are then the smallest ones
in the metric of M (X = M^-1). Links may be massless and rows may repeat others. Corrections of q
obey all rows of v, so wheels that roll do not slip in them. Van Iwaarden, Vehicle dynamics from
partial vehicles (2003), chapters 1 and 3; Hairer, Lubich & Roche, The numerical solution of
differential-algebraic systems by Runge-Kutta methods (1989), for half-explicit methods. Runs by
them are those of the kernel (`kernel/dae.c`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np

from bellcrank.choices import DaeBase, DaeMethod, DaeMetric, choice_values
from bellcrank.core.errors import ModelError, did_you_mean
from bellcrank.core.numeric.redundant_system import RedundantSystem
from bellcrank.core.numeric.run_spec import DAE_METHODS, At
from bellcrank.simulation.backend.protocol import ProgramCalls
from bellcrank.simulation.run.stepping import RunEvaluation

MINIMAL = "minimal"  # coordinates: dependent ones follow at every stage
KNOWN = (*DAE_METHODS, MINIMAL)
BASES = choice_values(DaeBase)
METRICS = choice_values(DaeMetric)
WITH_BASE: tuple[DaeMethod, ...] = ("projection", "stabilised", "post")


@dataclass(frozen=True)
class Dae:
    """A method that keeps constraints in a run, with its settings, for `simulate(dae=...)`.

    Parameters
    ----------
    method : str, default "projection"
        "projection", "dlmm", "clmm", "baumgarte", "stabilised", "post", "half-explicit", or
        "minimal", which integrates independent coordinates and speeds only (docs/dae_methods.md).
    alpha, beta : float, default 10.0
        Of "baumgarte", in 1/s: J u' = gamma - 2 alpha v - beta^2 g.
    gamma : float, default 10.0
        Of "stabilised", in 1/s.
    base : {"index-1", "free fall"}, default "index-1"
        Accelerations that "projection", "stabilised" and "post" correct: with multipliers, or
        without, which is wrong and shows the effect.
    metric : {"cheapest", "mass"}, default "cheapest"
        Of "projection": corrections move dependent coordinates where possible, or all of them.

    Raises
    ------
    ModelError
        If a choice is unknown or a value is negative.

    Examples
    --------
    >>> import bellcrank as bc
    >>> bc.Dae("baumgarte", alpha=20, beta=20).alpha
    20
    """

    method: DaeMethod = "projection"
    alpha: float = 10.0
    beta: float = 10.0
    gamma: float = 10.0
    base: DaeBase = "index-1"
    metric: DaeMetric = "cheapest"

    def __post_init__(self) -> None:
        problems = []
        for name, choices in (("method", KNOWN), ("base", BASES), ("metric", METRICS)):
            value = getattr(self, name)
            if value not in choices:
                suggestion = did_you_mean(str(value), choices)
                problems.append(
                    f"dae: {name}={value!r} is not known.{suggestion} It is one of "
                    f"{', '.join(choices)}."
                )
        for name in ("alpha", "beta", "gamma"):
            value = getattr(self, name)
            if (
                isinstance(value, bool)
                or not isinstance(value, int | float)
                or not 0 <= value < np.inf
            ):
                problems.append(f"dae: {name}={value!r} must be a number of at least 0 (1/s)")
        if not problems and self.base != "index-1" and self.method not in WITH_BASE:
            problems.append(
                f"dae: base={self.base!r} belongs to {', '.join(WITH_BASE)}, not to {self.method!r}"
            )
        if problems:
            raise ModelError(problems)

    @property
    def usual(self) -> bool:
        """Is it the default, or in minimal coordinates, so that no multipliers are needed?"""
        plain = self.method == "projection" and self.base == "index-1" and self.metric == "cheapest"
        return plain or self.staged

    @property
    def feedback(self) -> np.ndarray:
        """What a method makes of violations of positions and speeds by itself: their rates are this
        matrix times them."""
        if self.method == "baumgarte":
            return np.array([[0.0, 1.0], [-(self.beta**2), -2 * self.alpha]])
        return -self.gamma * np.eye(2) if self.method == "stabilised" else np.zeros((2, 2))

    @property
    def staged(self) -> bool:
        """Are the equations those of minimal coordinates, with loops closed at every stage of a
        step?"""
        return self.method == MINIMAL


USUAL = Dae()


def to_dae(dae: str | Dae) -> Dae:
    """A method by its name, or as it is."""
    return dae if isinstance(dae, Dae) else Dae(cast(DaeMethod, str(dae).lower()))


class RedundantEquations:
    """The redundant equations of a model as functions of what programs are called with; `model`:
    the one in Python."""

    def __init__(self, model: ProgramCalls) -> None:
        program, loops = model.program, model.program.loops
        assert loops is not None
        self.values, self.paired_row_count, self.scales = (
            model.values,
            loops.paired_row_count,
            loops.scales,
        )
        self.sizes = loops.system_sizes(len(program.coordinates))
        self.n_q, self.n_u, self.n_g, self.n_v = map(
            len, (program.coordinates, program.speeds, loops.g, loops.v)
        )

    def evaluate_system(self, program_arguments: At) -> RedundantSystem:
        return self.sizes.unpack(self.values("system", *program_arguments))

    def evaluate_constraints(self, program_arguments: At) -> tuple[np.ndarray, np.ndarray]:
        """v and J."""
        first = self.n_g * (1 + self.n_q)
        flat = np.array(self.values("closure", *program_arguments))
        return flat[first : first + self.n_v], flat[first + self.n_v :].reshape(self.n_v, self.n_u)


@dataclass(frozen=True)
class DaeRunEvaluation(RunEvaluation):
    """An evaluation in a run by such a method."""

    dae: Dae = USUAL
