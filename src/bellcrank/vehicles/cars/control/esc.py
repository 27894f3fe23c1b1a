"""Electronic stability control: brake torques at single wheels from the errors of yaw rate and side
slip.

The reference is the steady yaw rate of a single-track car, V delta/(l + K V^2), within mu g/V,
behind a lag: van Zanten, Erhardt & Pfaff, VDC, the vehicle dynamics control system of Bosch, SAE
950759. The yaw moment is proportional to what the errors exceed their dead zones by. A moment
against the rotation of the car, as in oversteer, is braked at the outer front wheel; one that adds
to it, as in understeer, at the inner rear wheel. The brake of a wheel is released as its slip
approaches a limit.
"""

from __future__ import annotations

from bellcrank.vehicles.cars.control.controller_context import (
    ACTIVE,
    YAW_RATE,
    ControllerContext,
    ControllerOutputs,
    brake_slip_formula,
    clip_formula,
    dead_zone_formula,
    reference_yaw_rate,
)
from bellcrank.vehicles.cars.design.car_data import CORNERS
from bellcrank.vehicles.cars.keys.controller_keys import EscKeys

FULL = 1500.0  # N m of yaw moment, at which the drive torque is cut as far as the file says


def add_esc(context: ControllerContext, keys: EscKeys, controls: ControllerOutputs) -> None:
    """States, channels and brake torques of ESC."""
    s = context.s
    context.add_parameters(
        "esc", "ESC", keys, understeer=max(0.0, context.single_track_model.understeer)
    )
    s.require_positive("esc_lag", "esc_actuator_lag", "esc_slip", "esc_slow")
    s.add_state(
        "esc.reference",
        rate=f"({reference_yaw_rate(s, 'esc')} - esc.reference)/esc_lag",
        units="A/T",
        label="ESC: reference yaw rate",
    )
    s.define(
        "esc.beta",
        "atan2(dot(vel(chassis.cm), cross([n3], direction(project([chassis1], [n3])))), "
        "max(abs(forward), esc_slow))",
    )
    s.define("esc.on", "esc_on*max(0, min(1, forward/esc_slow - 1))")
    yaw = dead_zone_formula(f"({YAW_RATE} - esc.reference)", "esc_dead_zone")
    slips = dead_zone_formula("esc.beta", "esc_side_slip")
    s.define("esc.moment", f"esc.on*(esc_side_slip_gain*{slips} - esc_gain*{yaw})")
    s.define("esc.against", f"where(esc.moment*{YAW_RATE} < 0, 1, 0)")
    for corner, (axle, side) in CORNERS.items():
        factor = "esc.against" if axle == "front" else "(1 - esc.against)"
        lever = context.rolling_radius(axle) / context.half_track(axle)
        demand = f"{lever!r}*{factor}*max(0, {'' if side > 0 else '-'}esc.moment)"
        release = clip_formula(f"2 - 2*{brake_slip_formula(corner, 'esc_slow')}/esc_slip", "0", "1")
        torque = f"esc.{corner}"
        s.add_state(
            torque,
            rate=f"(min(esc_torque, {demand})*{release} - {torque})/esc_actuator_lag",
            units="F*L",
            label=f"ESC: brake torque of {corner}",
        )
        controls.brake[corner].append(torque)
    s.add_state(
        "esc.cut",
        rate=f"(esc_cut*min(1, abs(esc.moment)/{FULL}) - esc.cut)/esc_actuator_lag",
        units="1",
        label="ESC: fraction by which the drive torque is reduced",
    )
    controls.factors.append("(1 - esc.cut)")
    largest = "max(" + ", ".join(f"esc.{corner}" for corner in CORNERS) + ")"
    s.add_output(
        "esc.active",
        f"where({largest} > {ACTIVE}, 1, 0)",
        label="ESC: 1 while it brakes",
        units="1",
    )
    s.add_output(
        "esc.yaw_moment",
        "esc.moment",
        label="ESC: requested yaw moment, positive to the left",
        units="F*L",
    )
