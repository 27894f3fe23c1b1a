"""A wheel on the ground: what the loads that act on it, which are named after it, have in common.

A tyre's forces and moments are formulas. Those of a rigid wheel are inputs, which a run determines
from outputs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bellcrank.model.loads.load import BodyPoint, LoadContext
from bellcrank.symbolic.expr import Expr

INPUTS = ("fx", "fz", "m")
SLIDES, RUBS_AT_IMPACT, DOES_NOT_SLIP = range(3)  # on the ground, as in rigid.c
OUTPUTS = ("x", "z", "vx", "vz", "spin", "ax", "az", "turn")


@dataclass(frozen=True)
class Wheel:
    """A wheel on the ground, for pictures: `body` turns about its second axis."""

    name: str
    centre: BodyPoint
    radius: Expr
    body: int
    terrain: Any
    upwards: bool  # does the third axis of the ground point up?


@dataclass(frozen=True)
class ContactRecord:
    """A contact as it was given: the wheel's centre, its radius (user units), the body that turns
    about its second axis (None: that of the centre), and the ground."""

    name: str
    point: Any
    radius: Any
    body: Any
    terrain: Any
    upwards: bool

    def build_wheel(self, reading: LoadContext) -> Wheel:
        centre = reading.point(self.point)
        body = centre.body if self.body is None else reading.body(self.body)
        return Wheel(
            self.name, centre, reading.scalar(self.radius), body, self.terrain, self.upwards
        )


@dataclass(frozen=True)
class RigidContact(ContactRecord):
    """A rigid wheel: `restitution` of its normal speed and its slip (None: not given), what to do
    where it starts `below` ground, and its rolling `resistance`."""

    restitution: tuple[float, float | None]
    below: str
    resistance: float

    @property
    def has_wheel_body(self) -> bool:
        return self.body is not None

    @property
    def restitution_factors(self) -> tuple[float, float]:
        """Factors of the normal speed, and of the slip or the speed along the ground."""
        normal, tangential = self.restitution
        return normal, 0.0 if tangential is None else tangential

    @property
    def grip(self) -> int:
        """Action of the ground along itself, as in rigid.c."""
        if self.has_wheel_body:
            return DOES_NOT_SLIP
        return SLIDES if self.restitution[1] is None else RUBS_AT_IMPACT
