"""A new joint or load, as docs/architecture.md says: what it leaves out is the safe choice, and a
check names what is not written."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import bellcrank as bc
from bellcrank.core.units import LENGTH
from bellcrank.model.joints.functions import FunctionJoint, JointMotion
from bellcrank.model.joints.labels import SPEED, StateLabel
from bellcrank.model.joints.rotation import JointRotation
from bellcrank.model.loads.force import Force
from bellcrank.symbolic.expr import ZERO
from bellcrank.symbolic.vector.basis import NULL, magnitude, scale3
from bellcrank.verify import jets, reference_joints
from bellcrank.verify.jets import multiply_columns
from bellcrank.verify.reference_joints import (
    E,
    MovingPose,
    ReferenceJoint,
    reference_rotation_about,
)


@dataclass(frozen=True)
class PinSlotJoint(FunctionJoint):
    """A pin that slides in a slot of the parent; what others do not need is left out."""

    slot: Any = NULL
    rotation: JointRotation = field(default_factory=lambda: JointRotation((), ()))
    text: ClassVar[str] = "pin in slot"

    def motion(self, speeds):
        (axis,) = self.rotation.axes
        offset = scale3(self.q[0], self.slot)
        return JointMotion(self.rotation.matrix(), offset, (self.slot, NULL), (NULL, axis))

    def turns(self, u):
        return u is self.u[1]

    def coordinate_words(self, c) -> Iterator[tuple[Any, StateLabel]]:
        yield self.q[0], StateLabel(LENGTH, "travel", f"travel of {c.body}")
        yield from self.rotation.coordinate_labels(c)

    def speed_words(self, c):
        yield self.u[0], StateLabel(SPEED, "speed", f"speed of {c.body}")
        yield from self.rotation.speed_labels(c)


@dataclass(frozen=True)
class PinSlot:
    slot: Any
    pin: Any
    coordinate_count: ClassVar[int] = 2
    carrier_kind: ClassVar[str] = "pin slot"

    def make_joint(self, site):
        slot, pin = site.direction(self.slot, "slot"), site.direction(self.pin, "pin")
        rotation = JointRotation(site.q[1:], site.u[1:], (pin,))
        return PinSlotJoint(site.q, site.u, site.C, site.at, site.at, NULL, slot, rotation)

    def given_formulas(self, body):
        return iter(())


class ReferencePinSlot(ReferenceJoint):
    """The counterpart, which does not say how many coordinates it has."""

    def __init__(self, slot, pin, at):
        self.slot, self.pin, self.at, self.C = slot, pin, at, E

    def motion(self, q, u, A):
        slot, pin = A.R @ self.slot, A.R @ self.pin
        arm = A.R @ self.at + slot * q[0]
        w = A.w + multiply_columns(pin, u[1])
        v = A.v + jets.cross(A.w, arm) + multiply_columns(slot, u[0])
        return MovingPose(A.R @ reference_rotation_about(self.pin, q[1]), A.p + arm, w, v)


def slotted():
    s = bc.System("slot")
    b = s.add_body("b", joint=PinSlot(1, 3), cm=("l", 0, 0), mass=2, inertia=(1, 1, 0.1))
    s.add_body("c", b, rotate=2, joint_at=(1, 0, 0), cm=(0, 0, 1), mass=1, inertia=(0.1, 0.2, 0.1))
    s.add_gravity(direction="[n2]")
    s.set_defaults(l=0.5)
    return s


def test_a_joint_that_does_not_say_so_is_not_taken_by_the_articulated_form():
    s = slotted()
    assert "articulated" not in s.equations().summary()
    with pytest.raises(bc.ModelError, match=r"a joint of a kind that the recursion .* not know"):
        s.equations(solve="order-n")
    run = s.equations().compile().simulate(1, step=0.001, initial={"q(b,2)": 0.3, "u(c)": 2})
    assert run.ok


def test_a_joint_without_counterpart_is_named():
    with pytest.raises(
        bc.ModelError, match=r"body 'b': .*'pin slot'.* verify/reference_joints\.py"
    ):
        bc.check(slotted(), states=2)


def test_a_counterpart_has_the_coordinates_of_the_record(monkeypatch):
    monkeypatch.setitem(
        reference_joints.REFERENCE_JOINTS,
        "pin slot",
        lambda record, at: ReferencePinSlot(at.axis(record.slot), at.axis(record.pin), at.origin),
    )
    report = bc.check(slotted(), states=4)
    assert report.passed, str(report)


@dataclass
class Drag(Force):
    """Against the velocity of a point, so that it has no direction of its own."""

    kind = "drag"

    def _line_of_action(self, reading, p, r):
        _, velocity = reading.relative_motion(p, r)
        speed = magnitude(velocity)
        return velocity / speed, lambda: ZERO, lambda: ZERO, lambda: speed


def falling_ball():
    s = bc.System("ball")
    ball = s.add_point_mass("b", translate=(1, 3), mass=1)
    s.add_gravity(direction="-[n3]")
    s._add_load(Drag("air", "-c*v**2", None, ball.origin))
    s.set_defaults(c=0.1)
    return s


def test_a_new_load_runs_and_its_missing_counterpart_is_named():
    run = (
        falling_ball()
        .equations()
        .compile()
        .simulate(1, step=0.001, initial={"u(b,1)": 10, "u(b,2)": 5})
    )

    def rates(t, y):
        drag = -0.1 * np.hypot(y[2], y[3])
        return [y[2], y[3], drag * y[2], drag * y[3] - 9.80665]

    exact = solve_ivp(rates, (0, 1), [0, 0, 10, 5], rtol=1e-11, atol=1e-12).y[:2, -1]
    assert [run["q(b, 1)"][-1], run["q(b, 2)"][-1]] == pytest.approx(exact, abs=1e-8)
    with pytest.raises(bc.ModelError, match=r"drag 'air': .*'drag'.* verify/mechanics\.py"):
        bc.check(falling_ball(), states=2)
