"""Compliance of an axle as K&C rigs measure it: steer, toe and camber of a wheel over tyre forces
and moments.

Between carrier and wheel stand knuckles without mass that turn by what the forces ask for. They
follow a state with the angle, and that the forces, each with a short lag; the speeds of the
knuckles are removed, so no degree of freedom is added. Bushes with curves have their deflections as
further states, which near the balance of forces with the same lag: d' = (B F - E p(d) - d)/(T (1 +
E_jj p_j')), by `linkage.elastokinematics`.
"""

from __future__ import annotations

from bellcrank.api.system import System
from bellcrank.model.describe.handles import BodyHandle
from bellcrank.vehicles.cars.keys.car_keys import ComplianceKeys
from bellcrank.vehicles.cars.statics.bush_compliance import AxleCompliance
from bellcrank.vehicles.model_parameters import add_si_parameter

COMPLIANCE_LAG = 0.003  # s
# knuckle: the axis of the carrier it turns about; its keys, with their cause at a corner and their
# dimension
KNUCKLE_AXES = {
    "steer": (
        3,
        {
            "steer_by_lateral_force": ("tyre_fy", "A/F"),
            "steer_by_aligning_moment": ("tyre_mz", "A/(F*L)"),
            "toe_by_longitudinal_force": ("tyre_fx", "A/F"),
            "toe_by_brake_torque": ("held", "A/(F*L)"),
        },
    ),
    "tilt": (1, {"camber_by_lateral_force": ("tyre_fy", "A/F")}),
}
COMPLIANCE_LOADS = ("tyre_fy", "tyre_mz", "tyre_fx", "held")  # as of `bushes.causes`
Place = tuple[float, float, float]


def add_compliance_parameters(s: System, axle: str, compliance: ComplianceKeys | None) -> None:
    for _, keys in KNUCKLE_AXES.values():
        for key, (_, dimension) in keys.items():
            if compliance is not None and getattr(compliance, key) != 0:
                label = key.replace("_", " ")
                add_si_parameter(
                    s,
                    f"{key}_{axle}",
                    getattr(compliance, key),
                    dimension,
                    f"{axle} compliance: {label}",
                )


def add_compliance_knuckles(
    s: System,
    name: str,
    axle: str,
    axle_compliance: AxleCompliance,
    side: int,
    carrier: BodyHandle,
    centre: Place,
) -> tuple[BodyHandle, Place]:
    """What carries the wheel, and where the wheel's centre is in that body: the carrier itself if
    nothing gives."""
    mounting, compliance = (carrier, centre), axle_compliance.compliance
    curve_terms = _add_bush_curve_states(s, name, axle_compliance, side)
    for angle, (axis, keys) in KNUCKLE_AXES.items():
        terms = [
            f"{_toe_sign(key, side)}{key}_{axle}*{name}.{cause}"
            for key, (cause, _) in keys.items()
            if compliance is not None and getattr(compliance, key) != 0
        ] + curve_terms.get(angle, [])
        if not terms:
            continue
        angle_state = f"{name}.{angle}_give"
        s.add_state(
            angle_state,
            rate=f"({' + '.join(terms)} - {angle_state})/{COMPLIANCE_LAG}",
            units="A",
            label=f"{angle} of {name} by compliance",
        )
        knuckle = s.add_body(
            f"{name}.{angle}",
            parent=mounting[0],
            rotate=axis,
            joint_at=mounting[1],
            mass=0,
            inertia=0,
        )
        u, q = f"u({knuckle.name})", f"q({knuckle.name})"
        s.add_constraint(
            f"{u} - ({angle_state} - {q})/{COMPLIANCE_LAG}",
            eliminate=knuckle.u[1],
            label=f"{angle} of {name} that gives",
        )
        mounting = knuckle, (0.0, 0.0, 0.0)
    return mounting


def _add_bush_curve_states(
    s: System, name: str, axle_compliance: AxleCompliance, side: int
) -> dict[str, list[str]]:
    """States of bushes with curves, and what they add to the angles of the knuckles. The right
    wheel is the mirror image of the left one: lateral forces, aligning moments and both angles
    change their signs."""
    curved = axle_compliance.curved
    if curved is None:
        return {}
    loads = [
        f"{name}.{cause}" if sign > 0 else f"(-{name}.{cause})"
        for cause, sign in zip(COMPLIANCE_LOADS, (side, side, 1, 1), strict=True)
    ]
    states = [f"{name}.{point}_{axis}" for point, axis in curved.names]
    for state, hinges in zip(states, curved.curves, strict=True):
        excess = [f"max(0, {h.side}*({state} - {h.at!r}))" for h in hinges]
        force = " + ".join(
            f"{h.side * h.stiffness!r}*{x}" for h, x in zip(hinges, excess, strict=True)
        )
        stiffness = " + ".join(
            f"where({x} > 0, {h.stiffness!r}, 0)" for h, x in zip(hinges, excess, strict=True)
        )
        s.define(f"{state}_push", force or "0")
        s.define(f"{state}_stiffness", stiffness or "0")
    bends = curved.curve_deflections @ axle_compliance.loads.T
    for j, (state, (point, axis)) in enumerate(zip(states, curved.names, strict=True)):
        load_terms = [
            f"{b!r}*{load}" for b, load in zip(bends[j].tolist(), loads, strict=True) if b
        ]
        bush_terms = [
            f"{-e!r}*{other_state}_push"
            for e, other_state in zip(curved.curve_compliance[j].tolist(), states, strict=True)
        ]
        softness = float(curved.curve_compliance[j, j])
        rate = (
            f"({' + '.join([*load_terms, *bush_terms])} - {state})/({COMPLIANCE_LAG}*(1 + "
            f"{softness!r}*{state}_stiffness))"
        )
        s.add_state(
            state,
            rate=rate,
            units="L",
            label=f"deflection of bushing {point} of {name}, axis {axis}",
        )
    tilts = (curved.compliance @ axle_compliance.loads.T)[3].tolist()
    tilt_terms = [f"{side * c!r}*{load}" for c, load in zip(tilts[1:], loads[1:], strict=True) if c]
    return {
        angle: [
            f"{-side * b!r}*{state}_push"
            for b, state in zip(curved.curve_deflections[:, i].tolist(), states, strict=True)
        ]
        + (tilt_terms if angle == "tilt" else [])
        for angle, i in (("steer", 5), ("tilt", 3))
    }


def _toe_sign(key: str, side: int) -> str:
    """Steer and tilt have the sense of forces on both sides; toe-in turns the left wheel to the
    right."""
    return "-" if key.startswith("toe") and side > 0 else ""
