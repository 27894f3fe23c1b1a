"""Compliance of an axle as K&C rigs measure it: steer, toe and camber of a wheel over tyre forces and
moments.

Between carrier and wheel stand knuckles without mass that turn by what the forces ask for. They follow a state with the
angle, and that the forces, each with a short lag; the speeds of the knuckles are removed, so no degree of freedom is
added.
"""

from __future__ import annotations

from bellcrank.api.system import System
from bellcrank.describe.handles import BodyHandle
from bellcrank.library.vehicles.parameters import put
from bellcrank.library.vehicles.records import Compliance

LAG = 0.003  # s
TURNS = {  # knuckle: the axis of the carrier it turns about; its keys, with their cause at a corner and their dimension
    "steer": (3, {"steer_by_lateral_force": ("tyre_fy", "A/F"), "steer_by_aligning_moment": ("tyre_mz", "A/(F*L)"),
                  "toe_by_longitudinal_force": ("tyre_fx", "A/F"), "toe_by_brake_torque": ("held", "A/(F*L)")}),
    "tilt": (1, {"camber_by_lateral_force": ("tyre_fy", "A/F")}),
}  # fmt: skip
Place = tuple[float, float, float]


def add_compliance_parameters(s: System, axle: str, given: Compliance | None) -> None:
    for _, keys in TURNS.values():
        for key, (_, dimension) in keys.items():
            if given is not None and getattr(given, key) != 0:
                words = key.replace("_", " ")
                put(s, f"{key}_{axle}", getattr(given, key), dimension, f"{axle} compliance: {words}")


def add_knuckles(
    s: System, name: str, axle: str, given: Compliance | None, side: int, carrier: BodyHandle, centre: Place
) -> tuple[BodyHandle, Place]:
    """What carries the wheel, and where the wheel's centre is in that body: the carrier itself if nothing gives."""
    carries = carrier, centre
    for what, (axis, keys) in TURNS.items():
        terms = [
            f"{_sign(key, side)}{key}_{axle}*{name}.{cause}"
            for key, (cause, _) in keys.items()
            if given is not None and getattr(given, key) != 0
        ]
        if not terms:
            continue
        gives = f"{name}.{what}_give"
        s.add_state(gives, rate=f"({' + '.join(terms)} - {gives})/{LAG}", units="A",
                    label=f"{what} of {name} by compliance")  # fmt: skip
        knuckle = s.add_body(f"{name}.{what}", parent=carries[0], rotate=axis, joint_at=carries[1], mass=0, inertia=0)
        u, q = f"u({knuckle.name})", f"q({knuckle.name})"
        s.add_constraint(f"{u} - ({gives} - {q})/{LAG}", eliminate=knuckle.u[1], label=f"{what} of {name} that gives")
        carries = knuckle, (0.0, 0.0, 0.0)
    return carries


def _sign(key: str, side: int) -> str:
    """Steer and tilt have the sense of forces on both sides; toe-in turns the left wheel to the right."""
    return "-" if key.startswith("toe") and side > 0 else ""
