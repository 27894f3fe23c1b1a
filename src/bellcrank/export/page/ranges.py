"""Ends of sliders where nobody gave any: from values, and for inputs that are zero from the size of the machine."""

from __future__ import annotations

import math
from dataclasses import dataclass

from bellcrank.derive.derived import Derived
from bellcrank.errors import ModelError
from bellcrank.expr import evaluate
from bellcrank.interface.interface import Quantity
from bellcrank.run.loaded import Loaded
from bellcrank.units import ANGLE

WEIGHT = 9.81  # m/s2
SHARE = 0.1  # of what the machine as a whole would take: of its weight as a force, of its reach as a length
TURN = 0.5  # rad


@dataclass(frozen=True)
class Machine:
    """How large a machine is, in equation units: reach, mass, and about the time in which it falls by its reach."""

    reach: float
    mass: float
    time: float

    def usual(self, x: Quantity) -> float:
        """A value that moves the machine and does not throw it away, in user units: 1, 2 or 5 times a power of ten."""
        dimension = x.unit.dimension
        if dimension == ANGLE:
            size = TURN
        else:
            length, mass, time, _ = (float(e) for e in dimension.exponents)
            size = self.reach**length * self.mass**mass * self.time**time
            size *= SHARE if length + time or mass else 1.0  # a speed: that of the fall
        return _round(abs(float(x.unit.from_equation(size))))


def machine_of(derived: Derived, loaded: Loaded, reach: float) -> Machine:
    """The size of a machine with its default values."""
    values = zip(loaded.program.parameters, loaded.parameter_values(None), strict=True)
    known = {symbol.name: value for symbol, value in values}
    mass = 0.0
    for body in derived.analysis.mechanism.bodies:
        try:
            mass += max(0.0, evaluate([body.mass], known)[0])
        except (ModelError, KeyError):  # a mass that the equations do not hold
            continue
    return Machine(reach, mass or 1.0, math.sqrt(reach / (WEIGHT * derived.interface.metre)))


def _round(value: float) -> float:
    """The next smaller of 1, 2, 5, 10, 20 ..."""
    if not (math.isfinite(value) and value > 0):
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return max(x for x in (1, 2, 5) if x <= value / power * (1 + 1e-9)) * power


def parameter_ends(value: float) -> tuple[float, float]:
    """From zero to twice the value; to one where it is zero."""
    return (2 * value, 0.0) if value < 0 else (0.0, 2 * value or 1.0)
