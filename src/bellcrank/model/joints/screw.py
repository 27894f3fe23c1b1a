"""The screw: one degree of freedom that turns a body about an axis and moves it along."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from bellcrank.core.units import LENGTH, Dimension
from bellcrank.model.joints.functions import FunctionJoint, JointMotion
from bellcrank.model.joints.joint import Joint, JointContext
from bellcrank.model.joints.labels import BodyLabels, StateLabel
from bellcrank.model.joints.rotation import JointRotation
from bellcrank.symbolic.expr import ZERO, Expr, Symbol, div, mul
from bellcrank.symbolic.expr.node import PI, TWO
from bellcrank.symbolic.vector.basis import NULL, scale3


@dataclass(frozen=True)
class Screw:
    """A screw joint, for `add_body(joint=...)`.

    Parameters
    ----------
    pitch : ScalarLike
        Travel per revolution (length); a negative one is a left-hand thread.
    axis : AxisLike, default 3
        Axis: 1, 2, 3 or three components, the same in parent and body.

    Examples
    --------
    >>> import bellcrank as bc
    >>> s = bc.System("nut")
    >>> nut = s.add_body(
    ...     "nut", joint=bc.Screw(pitch="2 mm", axis=3), mass=0.1, inertia=(1e-6, 1e-6, 1e-6)
    ... )
    >>> s.equations().coordinates
    [q(nut)]
    """

    pitch: Any
    axis: Any = 3

    internals: ClassVar[tuple[str, ...]] = (
        "given_formulas",
        "make_joint",
        "carrier_kind",
        "coordinate_count",
    )
    coordinate_count: ClassVar[int] = 1
    carrier_kind: ClassVar[str] = "screw"

    def make_joint(self, site: JointContext) -> Joint:
        axis = site.direction(self.axis, "axis of the screw") or NULL
        lead = div(site.constant(self.pitch, "pitch"), mul(TWO, PI))
        rotation = JointRotation(site.q, site.u, (axis,))
        return ScrewJoint(site.q, site.u, site.C, site.at, site.at, NULL, lead, rotation)

    def given_formulas(self, body: str) -> Iterator[tuple[Any, str, str, Dimension]]:
        yield self.pitch, f"pitch of the screw of {body}", "pitch", LENGTH


@dataclass(frozen=True)
class ScrewJoint(FunctionJoint):
    """`lead` is the travel per radian."""

    lead: Expr = ZERO
    rotation: JointRotation = field(default_factory=lambda: JointRotation((), ()))
    text: ClassVar[str] = "screw"
    by_recursion: ClassVar[str] = (
        "models with screws: the recursion takes turns and slides, but a screw is both at once"
    )

    def motion(self, speeds: Sequence[Expr]) -> JointMotion:
        (axis,) = self.rotation.axes
        d = scale3(self.lead, axis)
        return JointMotion(self.rotation.matrix(), scale3(self.q[0], d), (d,), (axis,))

    def turns(self, u: Symbol) -> bool:
        return True

    def coordinate_words(self, c: BodyLabels) -> Iterator[tuple[Symbol, StateLabel]]:
        return self.rotation.coordinate_labels(c)

    def speed_words(self, c: BodyLabels) -> Iterator[tuple[Symbol, StateLabel]]:
        return self.rotation.speed_labels(c)
