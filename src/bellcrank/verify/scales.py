"""What counts as one in a check: the sizes that errors are measured against.

In:  an `ReferenceEvaluation` at states of a check. Out: `ErrorScales`: the largest lengths, speeds,
accelerations and loads met, which the report reports; and how much formulas vary there. All of it
comes from the description, so that neither a value that happens to be zero nor a wrong one of the
program makes an error look large or small.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bellcrank.core.units import (
    ACCELERATION,
    ANGLE,
    FORCE,
    LENGTH,
    MASS,
    TIME,
    Dimension,
    UnitSystem,
)
from bellcrank.verify import jets
from bellcrank.verify.formulas import CannotEvaluate
from bellcrank.verify.reference_evaluation import ReferenceEvaluation, inertia_forces, norm_of

VARIATION_FRACTION = 1e-6  # of what counts as one
NEIGHBOUR_COUNT = 2  # states next to one


@dataclass
class ErrorScales:
    """The largest of what was met, in equation units. Rates are of radians or of the machine's
    length."""

    length: float
    mass: float = 0.0
    rate: float = 0.0
    acceleration: float = 0.0
    force: float = 0.0
    moment: float = 0.0

    def update(
        self, evaluation: ReferenceEvaluation, q: np.ndarray, u: np.ndarray, udot: np.ndarray
    ) -> None:
        """What is met at a state, with accelerations of the evaluation's own."""
        motion = evaluation.motion(q, u, udot)
        bodies = evaluation.machine.bodies
        g = evaluation.mechanics_evaluator(motion).gravity()
        self.mass = max(self.mass, float(sum(jets.constant_term(b.mass) for b in bodies)))
        self.rate = max(self.rate, evaluation.largest_scaled_speed(evaluation.all_speeds(q, u)))
        units = evaluation.state_scales("u")[evaluation.free]
        self.acceleration = max(self.acceleration, float((np.abs(udot) / units).max(initial=0.0)))
        pushes = (*evaluation.applied_wrenches(motion), *evaluation.geared_rotor_wrenches(motion))
        loads = [(load.force, load.moment) for load in pushes]
        loads += [inertia_forces(motion, b) for b in bodies] + [
            (g * jets.constant_term(b.mass), np.zeros(3)) for b in bodies
        ]
        self.force = max([self.force, *(norm_of(force) for force, _ in loads)])
        self.moment = max([self.moment, *(norm_of(moment) for _, moment in loads)])

    def scale_of(self, dimension: Dimension) -> float:
        """What counts as one of a dimension: a product of length, mass and rate."""
        length, mass, time, _ = (float(x) for x in dimension.exponents)
        rate = max(self.rate, self.acceleration**0.5) or 1.0
        return float(self.length**length * (self.mass or 1.0) ** mass * rate**-time)

    def summary(self, system: UnitSystem) -> str:
        """All of them, with units."""
        values = (
            ("length", self.length, LENGTH),
            ("mass", self.mass, MASS),
            ("speed", self.rate * self.length, LENGTH / TIME),
            ("or", self.rate, ANGLE / TIME),
            ("acceleration", self.acceleration * self.length, ACCELERATION),
            ("or", self.acceleration, ANGLE / TIME**2),
            ("force", self.force, FORCE),
            ("moment", self.moment, FORCE * LENGTH),
        )
        words = [
            f"{name} {value:.2g} {system.equation_unit(dimension).text}"
            for name, value, dimension in values
        ]
        return ", ".join(words).replace(", or", " or")


def neighbouring_states(
    evaluation: ReferenceEvaluation, q: np.ndarray, u: np.ndarray, *accelerations: np.ndarray
) -> list[list[np.ndarray]]:
    """Two states next to one, by a little of what counts as one: the same ones with and without
    accelerations."""
    rate, joints = (
        evaluation.largest_scaled_speed(evaluation.all_speeds(q, u)),
        evaluation.state_scales("u")[evaluation.free],
    )
    units = [
        evaluation.state_scales("q"),
        rate * joints,
        *(np.maximum(rate**2 * joints, np.abs(x)) for x in accelerations),
    ]
    states = []
    for rng in map(np.random.default_rng, range(1, NEIGHBOUR_COUNT + 1)):
        pairs = zip((q, u, *accelerations), units, strict=True)
        states.append(
            [x + VARIATION_FRACTION * unit * rng.uniform(-1, 1, len(x)) for x, unit in pairs]
        )
    return states


def variation_scale(
    evaluation: ReferenceEvaluation,
    f: Callable[..., np.ndarray],
    q: np.ndarray,
    u: np.ndarray,
    *accelerations: np.ndarray,
) -> np.ndarray:
    """How much the values of a function would change, by their slopes, if all its arguments changed
    by what counts as one: the size of the terms of a formula, whatever its value is. Nothing where
    it has no value nearby."""
    base_values = f(q, u, *accelerations)
    largest = np.zeros(len(base_values))
    for state in neighbouring_states(evaluation, q, u, *accelerations):
        try:
            perturbed = f(*state)
        except (ArithmeticError, CannotEvaluate, ValueError, np.linalg.LinAlgError):
            continue
        variation = np.abs(perturbed - base_values) / VARIATION_FRACTION
        largest = np.maximum(largest, np.where(np.isfinite(variation), variation, 0.0))
    return largest
