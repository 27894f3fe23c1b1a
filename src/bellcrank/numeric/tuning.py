"""Thresholds, ratios and limits of algorithms that stand in several languages: one table, printed into C and Fortran.

A threshold of rounding grows with the rounding of the numbers a program computes in: by the ratio of their epsilon to
that of double precision, to a power of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any


def _of(value: float, note: str, power: float = 0.0) -> Any:
    return field(default=value, metadata={"note": note, "power": power})


@dataclass(frozen=True)
class Constant:
    """A line of the table."""

    name: str
    value: float
    note: str
    power: float

    def at(self, rounding: float) -> float:
        """Its value where numbers are rounded more than in double precision."""
        return self.value * rounding**self.power if rounding != 1.0 and self.power else self.value


@dataclass(frozen=True)
class Elimination:
    """Linear systems: which pivots vanish."""

    singular: float = _of(1e-4, "ratio of the last pivot to the first, against its usual value, in a singular position")
    vanishing: float = _of(1e-12, "a scaled pivot in fixed order that is none", 0.75)
    dependent: float = _of(1e-15, "a pivot of a symmetric matrix that is none, against its largest entry", 1.0)


@dataclass(frozen=True)
class Ranks:
    """What counts as zero when a model is read and derived: rounding of what was given."""

    digits: float = _of(1e-14, "a component of a direction that is none, against the largest")
    symmetric: float = _of(1e-12, "difference of elements of an inertia that are equal, against the largest")
    rounding: float = _of(1e-9, "what is left of a row that follows from others, against what rows of its kind are")
    rank: float = _of(1e-6, "a singular value of closed loops against the largest, rows and columns of one size")


@dataclass(frozen=True)
class Loops:
    """How closed loops are kept closed."""

    closed: float = _of(1e-13, "largest residual of a closed loop, in units of its equations ...", 1.0)
    tight: float = _of(1e-15, "... near a singular position, where residuals are magnified", 1.0)
    open: float = _of(1e-9, "... and of a loop that is not closed", 0.5)
    settled: float = _of(1e-7, "a correction of q below this leaves a residual of rounding only", 0.5)
    near: float = _of(0.1, "ratio of pivots below which stages are brought onto the constraints too")
    watched: float = _of(0.3, "ratio below which the next step takes its rates from `singular_rates`")
    corrections: int = _of(4, "most corrections of q at a step")
    halvings: int = _of(10, "of a step that needs a large correction")
    share: float = _of(0.1, "a correction is large above this share of what a step moves ...")
    least: float = _of(1e-6, "... and this length", 0.5)
    short: float = _of(1e-10, "a row that vanishes against the longest", 0.5)
    repeated: float = _of(1e-12, "a pivot of a row that repeats others, against the largest", 0.75)


@dataclass(frozen=True)
class Assembly:
    """How loops are closed at the start, and the metric in which they are kept closed."""

    tries: int = _of(60, "most Newton steps of an assembly")
    stride: float = _of(0.5, "length of the longest of them")
    cuts: int = _of(12, "most halvings of one that leads away ...")
    crumb: float = _of(1e-3, "... down to this share of it")
    locked: float = _of(1e-6, "sine of the angle between two axes of rotation that lock each other", 0.5)
    opposite: float = _of(1e-12, "1 + the cosine of an angle: a direction that points the wrong way altogether", 0.5)
    nudges: int = _of(6, "starts beside the given one from which that is mended ...")
    nudge: float = _of(0.2, "... each further away by this")
    assembled: float = _of(1e-10, "largest residual that may be left", 0.5)
    carried: float = _of(1e-9, "... and of speeds, against the largest of them", 0.5)
    told: float = _of(1e-9, "a change of a given value that is reported", 0.5)
    light: float = _of(1e-3, "share of the largest inertia: smaller ones count as this")


@dataclass(frozen=True)
class Multipliers:
    """Methods for differential-algebraic equations."""

    newton: int = _of(10, "most iterations of a projection")
    closed: float = _of(Loops.closed, "largest residual of a closed loop, in units of its equations", 1.0)
    repeats: float = _of(1e-9, "a pivot that means that rows repeat others", 0.5)


@dataclass(frozen=True)
class RigidWheels:
    """Rigid wheels on rigid ground."""

    touch: float = _of(1e-11, "length by which a wheel may be in ground that it rolls on", 0.5)
    bent: float = _of(0.003, "rad by which the normal may turn in a step of a wheel that rolls on curved ground")
    fine: float = _of(0.3, "what curved ground turns at least, in a radius, for this")
    ahead: float = _of(1e-7, "s, to see into which part of the ground a wheel moves", 0.5)
    narrow: float = _of(-20.0, "turn of the normal in a radius from which on a valley is a notch")
    shortest: float = _of(1e-4, "share of a step that is taken at least where the normal turns quickly")
    soon: float = _of(0.01, "share of a step within which a wheel in a notch goes back to its other side ...")
    flips: int = _of(8, "... so many times in a row before it is held")
    impacts: int = _of(50, "at one instant")
    halvings: int = _of(60, "of a step, to find an event")


@dataclass(frozen=True)
class Implicit:
    """Newton's method of a function given by equations."""

    turns: int = _of(20, "most iterations")
    settled: float = _of(1e-12, "a change that ends them", 0.75)
    small: float = _of(1e-4, "square of half an angle below which its sine is a series")


@dataclass(frozen=True)
class Steps:
    """Steps of a run."""

    gap: float = _of(1e-9, "share of a step: nearer to its end, a break of an input lies at it", 0.5)


ELIMINATION, RANKS, LOOPS, ASSEMBLY, MULTIPLIERS = Elimination(), Ranks(), Loops(), Assembly(), Multipliers()
RIGID_WHEELS, IMPLICIT, STEPS = RigidWheels(), Implicit(), Steps()


def constants(group: Any) -> list[Constant]:
    """The lines of a part of the table."""
    return [Constant(f.name, getattr(group, f.name), f.metadata["note"], f.metadata["power"]) for f in fields(group)]
