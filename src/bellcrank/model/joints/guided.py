"""Joints given by the functions of a linkage: the protocol of these, the record, and the joint.

The coordinates belong to the body itself or to others: all links of a suspension follow the wheel's
travel. The last of them may be given as a function of time instead (a rack that is led): what it
moves is then known, and so are the rates of that. Dynamics sees nothing else of a linkage.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

from bellcrank.core.errors import BellcrankError, ModelError
from bellcrank.core.units import ANGLE, LENGTH, Dimension
from bellcrank.model.joints.functions import FunctionJoint, JointMotion
from bellcrank.model.joints.joint import Joint, JointContext, MotionFunctions
from bellcrank.model.joints.labels import SPEED, SPIN, BodyLabels, StateLabel
from bellcrank.symbolic.expr import (
    ONE,
    ZERO,
    Expr,
    Symbol,
    derivative,
    evaluate,
    expression,
    free_symbols,
    mul,
)
from bellcrank.symbolic.vector.basis import NULL, Vec3, add3, add_scaled3, neg3


class LinkageFunctions(MotionFunctions, Protocol):
    """What the functions of a linkage offer."""

    def motion(
        self, part: str, coordinates: Sequence[Expr], speeds: Sequence[Expr], metre: Expr
    ) -> JointMotion:
        """Motion of a part as expressions; `metre` is one metre in the length unit of the
        equations."""

    def numeric_motion(self, part: str, values: Sequence[float], metre: float) -> Mapping[str, Any]:
        """For checks, by the functions themselves: arrays p, R, d, delta, dd, ddelta, by coordinate
        or pair."""

    def presolve(self, several: Sequence[Sequence[float]], metre: float) -> None:
        """Solves at several values of the coordinates at once what `numeric_motion` may be asked
        for next."""

    def coordinate_ranges(self) -> Sequence[tuple[float, float]]:
        """Lowest and highest value of every coordinate that may be asked for, m or rad."""

    def coordinate_kinds(self) -> Sequence[str]:
        """length or angle, for every coordinate."""


@dataclass(frozen=True)
class GuideRecord:
    """How a body of a description is guided: `coordinate_count` of the coordinates are new ones of
    this body; `follows` names the bodies whose (first, second ...) coordinate each function
    argument is, and `given` is the formula over time, inputs and parameters of a last argument that
    is none; `at` is the reference point of the functions' origin in the parent, and `drawn` the
    part's reference point at zero coordinates from there, m."""

    guide: LinkageFunctions
    part: str
    coordinate_count: int
    follows: tuple[tuple[str, int], ...]
    at: tuple[float, float, float] = (0.0, 0.0, 0.0)
    drawn: tuple[float, float, float] = (0.0, 0.0, 0.0)
    given: Any = None

    carrier_kind: ClassVar[str] = "linkage"

    def make_joint(self, site: JointContext) -> Joint:
        pairs = []
        for name, index in self.follows:
            q, u = site.states(name)
            if index >= len(q):
                site.problem(f"it follows '{name}', which has no coordinate {index + 1}.")
            elif index < len(u):
                pairs.append((q[index], u[index]))
        metre = site.metre
        datum: Vec3 = tuple(mul(metre, expression(x)) for x in self.at)  # type: ignore[assignment]
        drawn: Vec3 = tuple(mul(metre, expression(x)) for x in self.drawn)  # type: ignore[assignment]
        return GuidedJoint(
            site.q,
            site.u,
            site.C,
            site.at,
            datum,
            add3(site.at, neg3(add3(datum, drawn))),
            self.guide,
            self.part,
            tuple(q for q, _ in pairs),
            tuple(u for _, u in pairs),
            metre,
            None if self.given is None else self._prescribed_motion(site),
        )

    def _prescribed_motion(self, site: JointContext) -> tuple[Expr, Expr, Expr]:
        """The function of time that moves the body, with its first and second rate."""
        try:
            r = site.scalar(self.given)
            moving = [
                s.name for s in free_symbols(r) if s.kind not in ("time", "variable", "parameter")
            ]
            if moving:
                raise ModelError(
                    f"it depends on {', '.join(moving)}; a rack that moves by itself is "
                    f"given as a body"
                )
            rate = derivative(r, prescribed_rate)
            return r, rate, derivative(rate, prescribed_rate)
        except ModelError as error:
            site.problem(f"rack: {error}")
            return ZERO, ZERO, ZERO

    def given_formulas(self, body: str) -> Iterator[tuple[Any, str, str, Dimension]]:
        if self.given is not None:
            yield self.given, f"rack travel of {body}", "rack", LENGTH


@dataclass(frozen=True)
class GuidedJoint(FunctionJoint):
    """The functions of a linkage over `coordinates`, own or others', and `given`: a last argument
    with two rates."""

    guide: LinkageFunctions = None  # type: ignore[assignment]
    part: str = ""
    coordinates: tuple[Symbol, ...] = ()
    speeds: tuple[Symbol, ...] = ()
    metre: Expr = ONE
    given: tuple[Expr, Expr, Expr] | None = None
    _known: dict[tuple[Expr, ...], JointMotion] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )

    guided: ClassVar[bool] = True
    by_recursion: ClassVar[str] = (
        "models with linkages: the recursion passes from body to body along joints of their own,"
        " but one travel moves several links at once"
    )

    @property
    def functions(self) -> LinkageFunctions:  # type: ignore[override]
        return self.guide

    @property
    def driving_speeds(self) -> tuple[Symbol, ...]:
        return self.speeds

    def motion(self, speeds: Sequence[Expr]) -> JointMotion:
        """Several ways of derivation ask for the same motion, which takes long to write down."""
        joint_motion = self._known.get(tuple(speeds))
        if joint_motion is None:
            joint_motion = self._known[tuple(speeds)] = self._motion(speeds)
        return joint_motion

    def _motion(self, speeds: Sequence[Expr]) -> JointMotion:
        if self.given is None:
            return self.guide.motion(self.part, self.coordinates, speeds, self.metre)
        r, rate, second = self.given
        m = self.guide.motion(self.part, (*self.coordinates, r), (*speeds, rate), self.metre)
        d, delta = m.d[-1], m.delta[-1]
        a, alpha = add_scaled3(m.a, second, d), add_scaled3(m.alpha, second, delta)
        return JointMotion(
            m.R,
            m.p,
            m.d[:-1],
            m.delta[:-1],
            a,
            alpha,
            add_scaled3(NULL, rate, d),
            add_scaled3(NULL, rate, delta),
        )

    def _is_length(self) -> list[bool]:
        return [kind == "length" for kind in self.guide.coordinate_kinds()]

    def turns(self, u: Symbol) -> bool:
        return not self._is_length()[self.u.index(u)]

    # ---- the range of the functions

    def _scaled_ranges(self) -> Iterator[tuple[Symbol, Symbol, float, str, float, float]]:
        """Coordinate, speed, what divides them, unit, lowest and highest value."""
        metre = float(evaluate((self.metre,), {})[0])
        for q, u, long, limits in zip(
            self.coordinates,
            self.speeds,
            self._is_length(),
            self.guide.coordinate_ranges(),
            strict=False,
        ):
            yield (q, u, metre, "m", *limits) if long else (q, u, 1.0, "rad", *limits)

    def left(
        self, name: str, states: Mapping[str, float], h: float, inputs: Mapping[str, float]
    ) -> str:
        if not self.q:
            return ""
        q, u, scale, unit, low, high = next(self._scaled_ranges())
        position, rate = states[q.name] / scale, states.get(u.name, 0.0) / scale
        message = f"the linkage of body '{name}' leaves its range: "
        if not all(low <= x <= high for x in (position, position + rate * h)):
            return (
                f"{message}{q.name} = {position:.6g} {unit}, allowed {low:.6g} to {high:.6g} {unit}"
            )
        if len(self.coordinates) == 1 and self.given is None:
            return ""
        # a second argument, a coordinate or given from outside, for which the functions have no
        # value
        try:
            metre = float(evaluate((self.metre,), {})[0])
            led = [] if self.given is None else [evaluate((self.given[0],), inputs)[0]]
            for time_ahead in (0.0, h):
                pairs = zip(self.coordinates, self.speeds, strict=True)
                values = [states[q.name] + time_ahead * states.get(u.name, 0.0) for q, u in pairs]
                self.guide.numeric_motion(self.part, [*values, *led], metre)
        except ModelError as error:
            return f"{message}{error}"
        except (ArithmeticError, BellcrankError, KeyError, TypeError, ValueError):
            return ""
        return ""

    def passed(self, name: str, history: Callable[[str], Any]) -> list[str]:
        if not self.q or not getattr(self.guide, "extend", False):
            return []
        message = []
        for q, _, scale, unit, low, high in self._scaled_ranges():
            values = history(q.name) / scale
            lowest, highest = values.min(), values.max()
            if lowest < low or highest > high:
                message.append(
                    f"the table of the linkage of body '{name}' goes from {low:.6g} to "
                    f"{high:.6g} {unit}, "
                    f"but {q.name} went from {lowest:.6g} to {highest:.6g} {unit}: it was "
                    f"extrapolated linearly"
                )
        return message

    # ---- words

    def coordinate_words(self, c: BodyLabels) -> Iterator[tuple[Symbol, StateLabel]]:
        for q, long in zip(self.q, self._is_length(), strict=False):
            dimension, movement = (LENGTH, "Travel") if long else (ANGLE, "Roll")
            yield q, StateLabel(dimension, movement, f"{movement} of {c.body} relative to {c.base}")

    def speed_words(self, c: BodyLabels) -> Iterator[tuple[Symbol, StateLabel]]:
        for u, long in zip(self.u, self._is_length(), strict=False):
            label = (
                f"{'Speed of travel' if long else 'Roll rate'} of {c.symbol} relative to {c.parent}"
            )
            yield (
                u,
                StateLabel(SPEED, "Translational Speed", label)
                if long
                else StateLabel(SPIN, "Angular Speed", label),
            )

    @property
    def text(self) -> str:
        return "linkage"


def prescribed_rate(s: Symbol) -> Expr:
    """The rate of a symbol that is given from outside: time, an input, or the rate of one; zero of
    a parameter."""
    if s.kind == "time":
        return ONE
    if s.kind == "variable" or (s.kind == "rate" and not s.name.startswith("dxdt(dxdt(")):
        return Symbol(f"dxdt({s.name})", "rate", s.order)
    return ZERO
