"""Units: dimensions, unit names and unit systems, used where a description is read and where
results are shown.

In:  text such as "L/T**2" (dimension words over L F M T A and 1, capitals or not) or "N/mm" (real
units).
Out: `Unit`: a dimension, the text a person reads, and the factor from that unit to equation units.
Equations always use the consistent units of a system (radians, mass = force * time**2 / length);
conversions happen at the boundary and nowhere after it.

How text is read:

- Text whose words are all L, F, M, T or A (either case) is a dimension: "M" is a mass and "t" a
  time. Anything else is real units: "m/s" is metres per second, "t-mm2" tonne millimetres squared.
  A lone "m" is a metre, with or without a power ("m2", "1/m"). A lone tonne is "tonne"; where only
  real units can occur, `UnitSystem.parse_unit("t")` is one.
- "*" and "/" go from left to right, as in Python. A hyphen, a raised dot or a space makes one
  compound unit and binds tighter: "N-m/rad" is (N m)/rad and "N/m-s" is N/(m s).
- Powers: "s**2", "s^2", "s2", "s**-2", "s-2", "m^(1/2)".
- "g" and "g's" are the acceleration of the unit system, never grams ("gram"). "lb" is a force,
  "lbm" a mass, which in the pound systems is 1 lb divided by their g. All other units are converted
  by their exact definitions.
- "Hz" is 1/T (cycles are not angles); "rpm" and "rev/s" are angular speeds. "d" is a degree, as in
  printed echo files.
- Spelling counts ("MPa", "kN"), but a word in capitals matches any case ("KG", "RAD/S"), except
  "T".
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Generic, Protocol, Self, TypeVar

from bellcrank.core.errors import ExpressionError, ModelError, did_you_mean

DEGREES = 180 / math.pi
"""Degrees in one radian."""

WITH_UNIT = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*([^\s\d.].*?)\s*")
"""A number followed by its unit, such as "-122 mm": groups 1 and 2."""

_MAX_POWER = 99
_MAX_TEXT = 100


@dataclass(frozen=True)
class Dimension:
    """Exponents of length, mass, time and angle; force is mass * length / time**2."""

    length: Fraction = Fraction(0)
    mass: Fraction = Fraction(0)
    time: Fraction = Fraction(0)
    angle: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        for name in ("length", "mass", "time", "angle"):
            object.__setattr__(self, name, Fraction(getattr(self, name)))

    @property
    def exponents(self) -> tuple[Fraction, Fraction, Fraction, Fraction]:
        return self.length, self.mass, self.time, self.angle

    def __mul__(self, other: Dimension) -> Dimension:
        return Dimension(*(a + b for a, b in zip(self.exponents, other.exponents)))

    def __truediv__(self, other: Dimension) -> Dimension:
        return Dimension(*(a - b for a, b in zip(self.exponents, other.exponents)))

    def __pow__(self, power: Fraction | int) -> Dimension:
        return Dimension(*(a * Fraction(power) for a in self.exponents))

    def same_kind(self, other: Dimension) -> bool:
        """Whether quantities of both dimensions may be added: an angle counts as a pure number."""
        return self.exponents[:3] == other.exponents[:3]

    def __str__(self) -> str:
        """Dimension words, as `parse_dimension` reads them: "F*L/A", "L/T**2", "M*L**2"."""
        return _format_unit(_unit_exponents(self, "M", "F", "L", "T", "A"), "*", "**") or "1"


ONE = Dimension()
LENGTH = Dimension(length=Fraction(1))
MASS = Dimension(mass=Fraction(1))
TIME = Dimension(time=Fraction(1))
ANGLE = Dimension(angle=Fraction(1))
ACCELERATION = LENGTH / TIME**2
FORCE = MASS * ACCELERATION

_DIMENSION_WORDS = {"l": LENGTH, "f": FORCE, "m": MASS, "t": TIME, "a": ANGLE}


@dataclass(frozen=True)
class Unit:
    """A unit of some unit system: one of it is `factor` equation units."""

    dimension: Dimension
    factor: float
    text: str

    def to_equation_units(self, value: Any) -> Any:
        """A number or array in this unit, in equation units."""
        return value * self.factor

    def from_equation_units(self, value: Any) -> Any:
        """A number or array in equation units, in this unit."""
        return value / self.factor

    def __str__(self) -> str:
        return self.text


_SPEED, _TORQUE, _PRESSURE = LENGTH / TIME, FORCE * LENGTH, FORCE / LENGTH**2
_TABLE = (  # dimension; names, the first preferred, and the SI value by exact definition
    (LENGTH, "m metre meter metres meters: 1, mm: 1e-3, cm: 1e-2, dm: 0.1, km: 1e3"),
    (LENGTH, "in inch inches: 0.0254, ft foot feet: 0.3048, mile miles: 1609.344"),
    (
        FORCE,
        "N newton: 1, daN: 10, kN: 1e3, kgf: 9.80665, lb lbf lbs: 4.4482216152605, kip: "
        "4448.2216152605",
    ),
    (
        MASS,
        "kg: 1, gram grams: 1e-3, tonne t tonnes: 1e3, lbm: 0.45359237, slug slugs: "
        "14.593902937206362",
    ),
    (TIME, "s sec second seconds: 1, ms msec: 1e-3, us usec: 1e-6, ns: 1e-9"),
    (TIME, "min minute minutes: 60, h hr hour hours: 3600"),
    (
        ANGLE,
        f"rad radian radians: 1, mrad: 1e-3, deg degree degrees d °: {1 / DEGREES}, rev "
        f"revs: {2 * math.pi}",
    ),
    (ONE / TIME, "Hz: 1"),
    (ANGLE / TIME, f"rpm: {2 * math.pi / 60}"),
    (ACCELERATION, "g's g gee gees: 9.80665"),
    (_SPEED, f"mph: 0.44704, kph kmh: {1 / 3.6}"),
    (_TORQUE, "Nm: 1, Nmm: 1e-3, kNm: 1e3, J: 1, kJ: 1e3"),
    (FORCE * TIME, "Ns: 1"),
    (_TORQUE * TIME, "Nms: 1"),
    (_TORQUE / TIME, "W: 1, kW: 1e3, hp: 745.6998715822702, PS: 735.49875"),
    (LENGTH**3, "litre liter litres liters: 1e-3"),
    (_PRESSURE, "Pa: 1, kPa: 1e3, MPa: 1e6, GPa: 1e9, bar: 1e5, psi: 6894.757293168361"),
    (ONE, "%: 0.01, counts count: 1"),
)
_ROWS = [
    (row.split(":")[0].split(), d, float(row.split(":")[1]))
    for d, rows in _TABLE
    for row in rows.split(",")
]
_UNITS = {name: (names[0], dimension, si) for names, dimension, si in _ROWS for name in names}
_CAPITALS = {
    name.upper(): name for name in reversed(_UNITS) if name != "t"
}  # reversed: the preferred name wins


@dataclass(frozen=True)
class UnitSystem:
    """User units of one system and the consistent equation units behind them. Time is in seconds
    everywhere."""

    name: str
    length: str
    force: str
    mass: str
    angle: str
    gees: float
    """One g in equation units (length/s2): a constant of the system, apart from a model's gravity
    parameter."""
    acceleration: str | None = None
    """Name of the user unit of acceleration where it is not length/s2."""

    def user_unit(self, dimension: Dimension) -> Unit:
        """The user unit of a dimension: what parameters of that dimension are given in, and
        channels shown in."""
        if dimension == ACCELERATION and self.acceleration is not None:
            return Unit(dimension, self.gees, self.acceleration)
        if dimension == MASS:
            return Unit(dimension, self._unit_factor(self.mass)[1], self.mass)
        factor = _float_power(DEGREES, -dimension.angle) if self.angle == "deg" else 1.0
        return Unit(dimension, factor, self._unit_text(dimension, self.angle))

    def equation_unit(self, dimension: Dimension) -> Unit:
        """The equation unit of a dimension, with factor 1: "rad", and "lb-s2/in" for a mass in the
        in-lb system."""
        return Unit(dimension, 1.0, self._unit_text(dimension, "rad"))

    def parse(self, text: str) -> Unit:
        """Read dimension words (and give their user unit) or real units; see the docstring of the
        module."""
        words = {word for word, _ in _WORD.findall(_normalize_unit_text(text))}
        if words != {"m"} and all(word.lower() in _DIMENSION_WORDS for word in words):
            return self.user_unit(parse_dimension(text))
        return self.parse_unit(text)

    def parse_unit(self, text: str) -> Unit:
        """Read real units only, so that "m" is a metre and "t" a tonne."""
        dimension, factor = read_unit(text, self._lookup_unit, ONE)
        return Unit(dimension, factor, text.strip())

    def _lookup_unit(self, word: str, text: str, position: int) -> tuple[Dimension, float]:
        return self._unit_factor(preferred_name(word, text, position))

    def _unit_factor(self, name: str) -> tuple[Dimension, float]:
        """Dimension of a known unit and its factor to equation units."""
        preferred, dimension, si = _UNITS[name]
        if preferred == "g's":
            return dimension, self.gees
        if preferred == "lbm" and self.force == "lb":
            return dimension, 1 / self.gees
        return dimension, si / self.si_factor(dimension)

    def si_factor(self, dimension: Dimension) -> float:
        """One equation unit of a dimension in SI units, by way of force and length."""
        scale = _float_power(_UNITS[self.force][2], dimension.mass)
        length, power = _UNITS[self.length][2], dimension.length - dimension.mass
        return (
            scale * _float_power(length, power)
            if power >= 0
            else scale / _float_power(length, -power)
        )

    def _unit_text(self, dimension: Dimension, angle: str) -> str:
        mass = (
            None if self.mass == "lbm" else self.mass
        )  # lbm is not consistent, so it stands only for itself
        factors = _unit_exponents(dimension, mass, self.force, self.length, "s", angle)
        if self.force == "lb":  # in-lb, but N-m
            factors.sort(key=lambda part: part[0] == self.force)
            factors.sort(key=lambda part: part[0] in ("s", angle))
        return _format_unit(factors, "-", "") or "-"


UNIT_SYSTEMS = {
    system.name: system
    for system in (
        UnitSystem("mks", length="m", force="N", mass="kg", angle="rad", gees=9.80665),
        UnitSystem(
            "in-lb",
            length="in",
            force="lb",
            mass="lbm",
            angle="deg",
            gees=386.2,
            acceleration="g's",
        ),
        UnitSystem("ft-lb", length="ft", force="lb", mass="slug", angle="deg", gees=32.174),
        UnitSystem("mm-tonne", length="mm", force="N", mass="tonne", angle="deg", gees=9806.65),
    )
}


def unit_system(name: str | UnitSystem) -> UnitSystem:
    """The unit system of a name, capitals or not; "SI" is another name of mks."""
    if isinstance(name, UnitSystem):
        return name
    key = str(name).strip().lower()
    system = UNIT_SYSTEMS.get("mks" if key == "si" else key)
    if system is None:
        system_names = ", ".join(["SI", *UNIT_SYSTEMS])
        raise ModelError(
            f"no unit system is named '{name}'.{did_you_mean(str(name), UNIT_SYSTEMS)} "
            f"Systems: {system_names}."
        )
    return system


def parse_quantity(text: Any) -> tuple[float, str] | None:
    """Number and unit of a text such as "90 deg"; None for anything else."""
    match = WITH_UNIT.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        return None
    try:
        UNIT_SYSTEMS["mks"].parse_unit(match[2])
    except ModelError:
        return None
    return float(match[1]), match[2]


def preferred_name(word: str, text: str, position: int) -> str:
    """The first of the names of a unit, for one of them; `text` and `position` are for the error of
    an unknown one."""
    name = word if word in _UNITS else _CAPITALS.get(word)
    if name is None:
        if word.lower() in _DIMENSION_WORDS:
            problem = (
                f"the dimension word '{word}' stands among real units; write one kind or the other."
            )
        else:
            problem = f"no unit is named '{word}'.{did_you_mean(word, _UNITS)}"
        unit_list = (
            f"Units: {', '.join(names[0] for names, *_ in _ROWS)}; or dimensions: words over L "
            f"F M T A and 1."
        )
        raise ExpressionError(f"{problem}\n{unit_list}", text, position)
    return _UNITS[name][0]


def parse_dimension(text: str) -> Dimension:
    """Read dimension words: "L/T**2", "l*f/a", "1"."""

    def lookup_dimension(word: str, text: str, position: int) -> tuple[Dimension, float]:
        if word.lower() not in _DIMENSION_WORDS:
            dimension_list = "L (length), F (force), M (mass), T (time), A (angle) and 1"
            raise ExpressionError(
                f"'{word}' is not a dimension. Dimensions are words over {dimension_list}.",
                text,
                position,
            )
        return _DIMENSION_WORDS[word.lower()], 1.0

    return read_unit(text, lookup_dimension, ONE)[0]


def _unit_exponents(
    dimension: Dimension, mass: str | None, force: str, length: str, time: str, angle: str
) -> list[tuple[str, Fraction]]:
    """Words and exponents of a dimension: with mass where no time enters (kg-m2), otherwise with
    force (N-s/m)."""
    l, m, t, a = dimension.exponents
    if t == 0 and mass is not None:
        return [(mass, m), (length, l), (angle, a)]
    return [(force, m), (length, l - m), (time, t + 2 * m), (angle, a)]


def _format_unit(factors: Iterable[tuple[str, Fraction]], product: str, power: str) -> str:
    """Words with exponents as text: "in-lb-s/deg", "F*L/A", "1/s"; "" for a pure number."""

    def format_unit_factor(name: str, exponent: Fraction) -> str:
        if exponent.denominator != 1:
            return f"{name}{power or '^'}({exponent})"
        return name if exponent == 1 else f"{name}{power}{exponent}"

    factors = list(factors)
    above = product.join(
        format_unit_factor(name, exponent) for name, exponent in factors if exponent > 0
    )
    below = "".join(
        "/" + format_unit_factor(name, -exponent) for name, exponent in factors if exponent < 0
    )
    return (above or "1") + below if above or below else ""


def _float_power(base: float, exponent: Fraction) -> float:
    return float(base ** (exponent.numerator if exponent.denominator == 1 else float(exponent)))


_PLAIN = str.maketrans(
    "¹²³⁴⁻−–·⋅×’", "1234---  *'"
)  # one character for one, so that positions stay
_WORD = re.compile(r"([A-Za-z°%]+(?:'s)?)(-?[0-9]+)?")
_NUMBER = r"[0-9]+(?:\.[0-9]+)?"
_POWER = rf"(?:\*\*|\^)\s*(?:(-?{_NUMBER})|\(\s*(-?{_NUMBER})\s*(?:/\s*({_NUMBER})\s*)?\))"
_TOKEN = re.compile(
    rf"(?P<word>{_WORD.pattern})|(?P<number>{_NUMBER})|(?P<power>{_POWER})"
    r"|(?P<operator>\*\*|[-*/^()])"
)


def _normalize_unit_text(text: object) -> str:
    if not isinstance(text, str):
        raise ModelError(f'units are given as text, such as "N/mm" or "L/T**2", not as {text!r}')
    return text.translate(_PLAIN)


class UnitMeaning(Protocol):
    """What words of a unit stand for: something with products, quotients and powers."""

    @property
    def exponents(self) -> tuple[Fraction, ...]: ...
    def __mul__(self, other: Self) -> Self: ...
    def __truediv__(self, other: Self) -> Self: ...
    def __pow__(self, power: Fraction | int) -> Self: ...


K = TypeVar("K", bound=UnitMeaning)


def read_unit(
    text: str, lookup: Callable[[str, str, int], tuple[K, float]], one: K
) -> tuple[K, float]:
    """Read a product of powers of words; `lookup` knows the words and complains with their
    position; `one` is that of a pure number."""
    if _normalize_unit_text(text).strip() == "-":  # the usual mark of a pure number
        return one, 1.0
    reader = _UnitParser(text, lookup, one)
    try:
        dimension, factor = reader.parse_quotient()
    except (OverflowError, ZeroDivisionError):
        factor = math.inf
    if not 0 < factor < math.inf:
        raise ExpressionError("this unit is too large or too small for a number", text, 0)
    if reader.kind != "end":
        raise reader.error("expected '*', '/' or the end here")
    return dimension, factor


class _UnitParser(Generic[K]):
    """Recursive descent over a unit text: quotient -> compound -> factor -> atom."""

    def __init__(
        self, text: str, lookup: Callable[[str, str, int], tuple[K, float]], one: K
    ) -> None:
        self.text, self.plain, self.find, self.one = (
            text,
            _normalize_unit_text(text).rstrip(),
            lookup,
            one,
        )
        self.position = self.next_position = 0
        if not self.plain:
            raise ExpressionError('the units are empty; write "1" for a pure number', text, 0)
        if len(self.plain) > _MAX_TEXT:
            raise ExpressionError(f"units may have {_MAX_TEXT} characters", text, _MAX_TEXT)
        self.advance()

    def advance(self) -> None:
        """Step to the next token: its `kind` is "word", "number", "power", "end" or the operator
        itself."""
        tail = self.plain[self.next_position :]
        self.position = len(self.plain) - len(tail.lstrip())
        self.kind = "end"
        if self.position < len(self.plain):
            match = _TOKEN.match(self.plain, self.position)
            if match is None:
                raise self.error(f"units have no '{self.text[self.position]}'")
            self.match, self.next_position = match, match.end()
            self.kind = match["operator"] or match.lastgroup or ""

    def error(self, message: str) -> ExpressionError:
        return ExpressionError(message, self.text, self.position)

    def parse_quotient(self) -> tuple[K, float]:
        dimension, factor = self.parse_compound()
        while self.kind in ("*", "/"):
            divide = self.kind == "/"
            self.advance()
            d, f = self.parse_compound()
            dimension, factor = (
                (dimension / d, factor / f) if divide else (dimension * d, factor * f)
            )
        return dimension, factor

    def parse_compound(self) -> tuple[K, float]:
        dimension, factor = self.parse_factor()
        while self.kind in ("-", "word", "("):
            if self.kind == "-":
                self.advance()
                if self.kind == "number":  # "s2-1", "s -1": would silently lose the power
                    raise self.error("a number cannot follow a hyphen here; write a power as s**-1")
            d, f = self.parse_factor()
            dimension, factor = dimension * d, factor * f
        return dimension, factor

    def parse_factor(self) -> tuple[K, float]:
        if self.kind == "number":
            if self.match["number"] != "1":
                raise self.error("the only number in units, other than powers, is 1")
            self.advance()
            return self.one, 1.0
        if self.kind == "word":
            word, digits = self.match[2], self.match[3]
            base = self.find(word, self.text, self.position)
            base = self.raise_to_power(base, Fraction(digits or 1))
        elif self.kind == "(":
            self.advance()
            base = self.parse_quotient()
            if self.kind != ")":
                raise self.error("expected ')' here")
        else:
            raise self.error(
                "expected a unit or a dimension here"
                + (', as in "1/s"' if self.kind == "/" else "")
            )
        self.advance()
        if self.kind in ("**", "^"):
            raise self.error("expected a power after this, such as 2, -1 or (1/2)")
        if self.kind == "power":
            bare, above, below = self.match.groups()[-4:-1]
            if below is not None and Fraction(below) == 0:
                raise self.error("a power cannot have the denominator 0")
            base = self.raise_to_power(base, Fraction(bare or above) / Fraction(below or 1))
            self.advance()
        return base

    def raise_to_power(self, base: tuple[K, float], power: Fraction) -> tuple[K, float]:
        dimension = base[0] ** power
        if max(map(abs, (*dimension.exponents, power))) > _MAX_POWER:
            raise self.error(f"powers in units go up to {_MAX_POWER}")
        return dimension, _float_power(base[1], power)
