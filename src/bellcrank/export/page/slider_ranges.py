"""Ends of sliders where nobody gave any: from values, and for inputs that are zero from the size of
the machine."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from bellcrank.core.errors import ModelError
from bellcrank.core.units import ANGLE
from bellcrank.mechanics.derive.derived import DerivedModel
from bellcrank.mechanics.interface.interface import Quantity
from bellcrank.simulation.run.loaded import LoadedModel
from bellcrank.symbolic.expr import evaluate

WEIGHT = 9.81  # m/s2
# of what the machine as a whole would take: of its weight as a force, of its reach as a length
SHARE = 0.1
TURN = 0.5  # rad
MARGIN = 1.2
TIMES = 4.0  # of masses, inertias, lengths and stiffnesses, and one over it


@dataclass(frozen=True)
class ModelScales:
    """How large a machine is, in equation units: reach, mass, and about the time in which it falls
    by its reach."""

    reach: float
    mass: float
    time: float

    def typical_value(self, x: Quantity) -> float:
        """A value that moves the machine and does not throw it away, in user units: 1, 2 or 5 times
        a power of ten."""
        dimension = x.unit.dimension
        if dimension == ANGLE:
            size = TURN
        else:
            length, mass, time, _ = (float(e) for e in dimension.exponents)
            size = self.reach**length * self.mass**mass * self.time**time
            size *= SHARE if length + time or mass else 1.0  # a speed: that of the fall
        return _round_down_125(abs(float(x.unit.from_equation_units(size))))


def model_scales(derived: DerivedModel, loaded: LoadedModel, size: float) -> ModelScales:
    """The size of a machine with its default values."""
    values = zip(loaded.program.parameters, loaded.parameter_values(None), strict=True)
    values_by_name = {symbol.name: value for symbol, value in values}
    mass = 0.0
    for body in derived.analysis.mechanism.bodies:
        try:
            mass += max(0.0, evaluate([body.mass], values_by_name)[0])
        except (ModelError, KeyError):  # a mass that the equations do not hold
            continue
    return ModelScales(
        size, mass or 1.0, math.sqrt(size / (WEIGHT * derived.interface.metre_factor))
    )


def _round_down_125(value: float) -> float:
    """The next smaller of 1, 2, 5, 10, 20 ..."""
    if not (math.isfinite(value) and value > 0):
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return max(x for x in (1, 2, 5) if x <= value / power * (1 + 1e-9)) * power


@dataclass(frozen=True)
class SliderRange:
    """The two ends of a slider, the lower first, and whether it is logarithmic."""

    low: float
    high: float
    log: bool = False

    @property
    def limits(self) -> tuple[float, float]:
        return self.low, self.high

    @property
    def widened_limits(self) -> tuple[float, float]:
        """Values a bit outside, with which a model shall still run."""
        if not self.log:
            return self.limits
        factors = (1 / MARGIN, MARGIN) if self.high > 0 else (MARGIN, 1 / MARGIN)
        return self.low * factors[0], self.high * factors[1]

    def narrowed(self, value: float, low: bool, high: bool) -> SliderRange:
        """With ends that are half as far from a value, by ratio where it is logarithmic."""

        def halfway(end: float) -> float:
            return math.copysign(math.sqrt(end * value), value) if self.log else (end + value) / 2

        return SliderRange(
            halfway(self.low) if low else self.low,
            halfway(self.high) if high else self.high,
            self.log,
        )


def parameter_range(x: Quantity, machine: ModelScales | None, mixed: bool = False) -> SliderRange:
    """Those that the model gives; else by the kind of quantity: masses, inertias, lengths and
    stiffnesses keep their sign and are multiplied, as is what must be positive; all else goes from
    zero. `mixed`: a product of inertia, which the moments of inertia bound."""
    if x.range is not None:
        return SliderRange(*x.range)
    value = 0.0 if x.default is None else float(x.default)
    length, mass, time, angle = (float(e) for e in x.unit.dimension.exponents)
    unknown = x.unit.text in ("", "?")
    is_rate = mass == 1 and time < 0  # of a force or moment by something: stiffness, damping
    stiff = mass == 1 and time == -2 and (length, angle) not in ((1, 0), (2, 0))
    if value == 0.0:
        limit = 1.0 if machine is None or unknown else machine.typical_value(x)
        return (
            SliderRange(0.0, limit)
            if (mass and not is_rate) or time == -1 or x.positive
            else SliderRange(-limit, limit)
        )
    if not mixed and (
        unknown
        or stiff
        or x.positive
        or (mass == 1 and time == 0)
        or (length == 1 and time == mass == 0)
    ):
        return _ordered_range(value / TIMES, value * TIMES, log=True)
    return _ordered_range(0.0, (TIMES if is_rate and time == -1 else 2) * value)


def _ordered_range(first: float, second: float, log: bool = False) -> SliderRange:
    return SliderRange(min(first, second), max(first, second), log)


def input_range(x: Quantity, values: Sequence[float], machine: ModelScales | None) -> SliderRange:
    """Those that the model gives; else twice its values in the run, from zero for a force that is
    never negative."""
    if x.range is not None:
        return SliderRange(*x.range)
    finite = [v for v in values if math.isfinite(v)]
    limit = 2 * max(map(abs, finite), default=0.0) or (
        1.0 if machine is None else machine.typical_value(x)
    )
    one_way = x.unit.dimension.mass > 0 and min(finite, default=0.0) >= 0 < max(finite, default=0.0)
    return SliderRange(0.0 if one_way else -limit, limit)
