"""Joints whose motion is given by functions of coordinates: the protocol, and what a body knows of it.

A guided body has no slides and axes. Its attitude R and the position p of its reference point in the parent are functions of one or two
coordinates z, with partial velocities d and delta (all in the parent's axes): v = d z', w = delta z', and accelerations
d z'' + a(z, z'), delta z'' + alpha(z, z'). The coordinates belong to the body itself or to others: all links of a suspension follow
the wheel's travel. The last of them may be given as a function of time instead (a rack that is led): what it moves is then known, and so are the
rates of that. Dynamics sees nothing else of a linkage.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from bellcrank.expr import ONE, ZERO, Expr, Symbol, add, mul
from bellcrank.vector.basis import NULL, Mat3, Vec3


@dataclass(frozen=True)
class GuidedMotion:
    """R, p, and per coordinate d and delta, over the coordinates; a and alpha over coordinates and speeds; v and w, what moves with all
    speeds zero; parent's axes."""

    R: Mat3
    p: Vec3
    d: tuple[Vec3, ...]
    delta: tuple[Vec3, ...]
    a: Vec3
    alpha: Vec3
    v: Vec3 = NULL
    w: Vec3 = NULL


class Guide(Protocol):
    """What a joint given by functions offers."""

    def motion(self, part: str, coordinates: Sequence[Expr], speeds: Sequence[Expr], metre: Expr) -> GuidedMotion:
        """Motion of a part as expressions; `metre` is one metre in the length unit of the equations."""

    def nominal(self, e: Expr) -> Expr:
        """e with all values of the functions at zero coordinates as numbers."""

    def numbers(self, part: str, values: Sequence[float], metre: float) -> Mapping[str, Any]:
        """For checks, from the functions themselves: p, R, d, delta, dd, ddelta as arrays; lists of them by coordinate or pair."""

    def reach(self) -> Sequence[tuple[float, float]]:
        """Lowest and highest value of every coordinate that may be asked for, m or rad."""

    def kinds(self) -> Sequence[str]:
        """length or angle, for every coordinate."""


@dataclass(frozen=True)
class GuideRecord:
    """How a body of a description is guided: `own` of the coordinates are new ones of this body; `follows` names the bodies whose (first,
    second ...) coordinate each function argument is, and `given` is the formula over time, inputs and parameters of a last argument that is none;
    `at` is the reference point of the functions' origin in the parent, and `drawn` the part's reference point at zero coordinates from there, m."""

    guide: Guide
    part: str
    own: int
    follows: tuple[tuple[str, int], ...]
    at: tuple[float, float, float] = (0.0, 0.0, 0.0)
    drawn: tuple[float, float, float] = (0.0, 0.0, 0.0)
    given: Any = None


@dataclass(frozen=True)
class Guided:
    """The guide of a checked body: its own coordinates and speeds, those it depends on, its motion, and the constant vector from the
    reference point to the body's origin (body axes). `given`: the last argument of the functions, with its first and second rate."""

    guide: Guide
    part: str
    q: tuple[Symbol, ...]
    u: tuple[Symbol, ...]
    coordinates: tuple[Symbol, ...]
    speeds: tuple[Symbol, ...]
    metre: Expr
    at: Vec3
    offset: Vec3
    kinds: tuple[str, ...] = field(default=())
    given: tuple[Expr, Expr, Expr] | None = None

    def motion(self, speeds: Sequence[Expr]) -> GuidedMotion:
        if self.given is None:
            return self.guide.motion(self.part, self.coordinates, speeds, self.metre)
        r, rate, second = self.given
        m = self.guide.motion(self.part, (*self.coordinates, r), (*speeds, rate), self.metre)
        d, delta = m.d[-1], m.delta[-1]
        a, alpha = _plus(m.a, second, d), _plus(m.alpha, second, delta)
        return GuidedMotion(m.R, m.p, m.d[:-1], m.delta[:-1], a, alpha, _plus(NULL, rate, d), _plus(NULL, rate, delta))


def _plus(v: Vec3, k: Expr, e: Vec3) -> Vec3:
    """v + k e"""
    x, y, z = (add(a, mul(k, b)) for a, b in zip(v, e, strict=True))
    return x, y, z


def given_rate(s: Symbol) -> Expr:
    """The rate of a symbol that is given from outside: time, an input, or the rate of one; zero of a parameter."""
    if s.kind == "time":
        return ONE
    if s.kind == "variable" or (s.kind == "rate" and not s.name.startswith("dxdt(dxdt(")):
        return Symbol(f"dxdt({s.name})", "rate", s.order)
    return ZERO
