"""Algebra of dimensions, and what becomes of the angle in them.

In:  dimensions of factors and terms. Out: that of their product or sum; the dimension an engineer
would give. Angles count as numbers wherever dimensions are compared and matter for the unit alone:
see `normalize_angle`.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache

from bellcrank.core.units import ANGLE, FORCE, LENGTH, MASS, TIME, Dimension
from bellcrank.core.units import ONE as PURE

SPEED, SPIN, MOMENT, INERTIA = LENGTH / TIME, ANGLE / TIME, FORCE * LENGTH, MASS * LENGTH**2


@lru_cache(maxsize=4096)
def multiply_power(a: Dimension, b: Dimension, power: Fraction) -> Dimension:
    """a * b**power"""
    return a * b**power


def product_dimension(factors: Iterable[tuple[Dimension | None, Fraction]]) -> Dimension:
    """The dimension of a product of powers, all known."""
    result = PURE
    for dimension, power in factors:
        assert dimension is not None
        result = (
            dimension if result is PURE and power == 1 else multiply_power(result, dimension, power)
        )
    return result


def common_dimension(dimensions: list[Dimension]) -> Dimension:
    """The dimension of a sum of different angles: that of a term which has one."""
    if len(dimensions) == 1:
        return dimensions[0]
    candidates = [normalize_angle(d) for d in dimensions]
    return next((d for d in candidates if d.angle), candidates[0])


def normalize_angle(d: Dimension) -> Dimension:
    """A deduced dimension as a quantity has it.

    The angle stays in angles and their rates, and where force is per angle or angle per force
    (F*L/A, F/A, F*L*T/A, A/F). Elsewhere it goes: a radius found from r*u = v is a length, a mass
    found from m*r*u**2 a mass.
    """
    if not d.angle:
        return d
    if d.mass:
        keeps_angle = d.time != 0 and (d.mass > 0) != (d.angle > 0)
    else:
        keeps_angle = d.angle == 1 and not d.length and d.time in (0, -1, -2)
    return d if keeps_angle else without_angle(d)


def without_angle(d: Dimension) -> Dimension:
    """The same dimension with angles as pure numbers."""
    return Dimension(d.length, d.mass, d.time)
