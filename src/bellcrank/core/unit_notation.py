"""Units as other readers write them: Modelica's syntax for tools, raised dots and exponents for
people.

In:  text that `units` reads, such as "N-m/s2". Out: "N.m/s2" (Modelica), "N·m/s²" (typeset).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from bellcrank.core.errors import ModelError
from bellcrank.core.units import preferred_name, read_unit

# units that are products of others, and those whose name means something else in Modelica or has
# other characters
_PRODUCTS = {
    "Nm": "N-m",
    "Nmm": "N-mm",
    "kNm": "kN-m",
    "Ns": "N-s",
    "Nms": "N-m-s",
    "kph": "km/h",
}
_MODELICA = {
    "g's": "g_n",
    "lb": "lbf",
    "gram": "g",
    "tonne": "t",
    "mile": "mi",
    "%": "percent",
    "counts": "1",
}
_DERIVED = {"N-m/s": "W", "N/m2": "Pa"}  # the names that tools look for
_NAMES = re.compile(r"([A-Za-z]+)(?:(?:\*\*|\^)(?=\d))?(\d*)")  # of units, with an exponent
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class _UnitPowers:
    """Names of units with their exponents, in the order in which they are met."""

    items: tuple[tuple[str, Fraction], ...] = ()

    @property
    def exponents(self) -> tuple[Fraction, ...]:
        return tuple(e for _, e in self.items) or (Fraction(0),)

    def __mul__(self, other: _UnitPowers) -> _UnitPowers:
        total: dict[str, Fraction] = dict(self.items)
        for name, exponent in other.items:
            total[name] = total.get(name, Fraction(0)) + exponent
        return _UnitPowers(tuple((name, e) for name, e in total.items() if e))

    def __truediv__(self, other: _UnitPowers) -> _UnitPowers:
        return self * other ** Fraction(-1)

    def __pow__(self, power: Fraction | int) -> _UnitPowers:
        return _UnitPowers(tuple((name, e * Fraction(power)) for name, e in self.items))


def _unit_powers(text: str) -> _UnitPowers:
    def lookup_unit(word: str, text: str, position: int) -> tuple[_UnitPowers, float]:
        name = preferred_name(word, text, position)
        return (
            _unit_powers(_PRODUCTS[name])
            if name in _PRODUCTS
            else _UnitPowers(((name, Fraction(1)),))
        ), 1.0

    return read_unit(text, lookup_unit, _UnitPowers())[0]


def _format_fraction(
    powers: _UnitPowers, names: Mapping[str, str], product: str, raised: bool
) -> str:
    """One numerator over one denominator, in parentheses if it has several factors."""

    def format_factor(name: str, exponent: Fraction) -> str:
        name = names.get(name, name)
        if exponent == 1:
            return name
        return name + (str(exponent).translate(_RAISED) if raised else str(exponent))

    above = [format_factor(name, e) for name, e in powers.items if e > 0]
    below = [format_factor(name, -e) for name, e in powers.items if e < 0]
    denominator = product.join(below)
    numerator = product.join(above) or "1"
    return (
        numerator
        if not below
        else f"{numerator}/({denominator})"
        if len(below) > 1
        else f"{numerator}/{denominator}"
    )


@cache
def modelica_unit(text: str) -> str | None:
    """A unit by the grammar of unit expressions of the Modelica language; None where it has none
    (powers of 1/2).

    Parameters
    ----------
    text : str
        A unit as `bellcrank.core.units` reads it, such as "N-m/s2".

    Returns
    -------
    str or None
        "N.m/s2". A pure number is "1". A pound force is "lbf", the acceleration of free fall "g_n".
    """
    powers = _unit_powers(text)
    for derived_unit, name in _DERIVED.items():
        if dict(powers.items) == dict(_unit_powers(derived_unit).items):
            return name
    if any(e.denominator != 1 for e in powers.exponents):
        return None
    named_powers = _UnitPowers(
        tuple((name, e) for name, e in powers.items if _MODELICA.get(name) != "1")
    )
    return _format_fraction(named_powers, _MODELICA, ".", raised=False)


@cache
def typeset_unit(text: str) -> str:
    """A unit as it is printed: "N·m/s²", "rad/(N·m)", "N·m/(m/s²)"; text that is no unit keeps its
    form."""
    try:
        powers = _unit_powers(text)
    except ModelError:
        return _typeset_unit(text)
    if dict(powers.items) == dict(_unit_powers("N-m/s").items):
        return "W"
    names = [name for name, _ in _NAMES.findall(text)]
    if "(" in text or len(set(names)) < len(names):  # a quotient of quantities, as its parts say it
        return _typeset_unit(text)
    return _format_fraction(powers, {"g's": "g"}, "·", raised=True) if powers.items else text


def _typeset_unit(text: str) -> str:
    """Dots for hyphens, raised exponents; nothing is put together."""
    dotted = re.sub(r"(?<=[A-Za-z\d])-(?=[A-Za-z])", "·", text)
    return _NAMES.sub(lambda found: found[1] + found[2].translate(_RAISED), dotted)
