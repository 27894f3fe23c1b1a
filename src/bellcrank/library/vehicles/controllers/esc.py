"""Electronic stability control: brake torques at single wheels from the errors of yaw rate and side slip.

The reference is the steady yaw rate of a single-track car, V delta/(l + K V^2), within mu g/V, behind a lag: van
Zanten, Erhardt & Pfaff, VDC, the vehicle dynamics control system of Bosch, SAE 950759. The yaw moment is proportional
to what the errors exceed their dead zones by. A moment against the rotation of the car, as in oversteer, is braked at
the outer front wheel; one that adds to it, as in understeer, at the inner rear wheel. The brake of a wheel is released
as its slip approaches a limit.
"""

from __future__ import annotations

from bellcrank.library.vehicles.controllers.parts import YAW_RATE, Controls, Place, clip, outside, slip_of
from bellcrank.library.vehicles.controllers.records import Stability
from bellcrank.library.vehicles.data import CORNERS
from bellcrank.library.vehicles.parameters import put

FULL = 1500.0  # N m of yaw moment, at which the drive torque is cut as far as the file says
ACTIVE = 1.0  # N m of brake torque at a wheel, from which on ESC counts as active


def add_esc(at: Place, given: Stability, controls: Controls) -> None:
    """States, channels and brake torques of ESC."""
    s = at.s
    at.switch("esc", "ESC", given.on)
    gradient = max(0.0, at.known.understeer) if given.understeer is None else given.understeer
    for name, value, dimension, label in (
        ("gain", given.gain, "F*L*T/A", "yaw moment per yaw-rate error"),
        ("dead_zone", given.dead_zone, "A/T", "yaw-rate error without intervention"),
        ("side_slip_gain", given.side_slip_gain, "F*L/A", "yaw moment per side-slip angle"),
        ("side_slip", given.side_slip, "A", "side-slip angle without intervention"),
        ("friction", given.friction, "1", "friction that limits the reference yaw rate"),
        ("understeer", gradient, "A*T**2/L", "understeer gradient of the reference car"),
        ("lag", given.lag, "T", "lag of the reference yaw rate"),
        ("actuator_lag", given.actuator_lag, "T", "lag of the brake torques"),
        ("torque", given.torque, "F*L", "largest brake torque at a wheel"),
        ("slip", given.slip, "1", "wheel slip at which the brake is released"),
        ("cut", given.cut, "1", "fraction by which the drive torque is reduced"),
        ("slow", given.slow, "L/T", "speed below which it is off"),
    ):
        put(s, f"esc_{name}", value, dimension, f"ESC: {label}")
    s.require_positive("esc_lag", "esc_actuator_lag", "esc_slip", "esc_slow")
    steady = "forward*steering_wheel/steering_ratio/(wheelbase + esc_understeer*forward**2)"
    s.define("esc.limit", "esc_friction*g/max(abs(forward), esc_slow)")
    s.add_state("esc.reference", rate=f"({clip(steady, '-esc.limit', 'esc.limit')} - esc.reference)/esc_lag",
                units="A/T", label="ESC: reference yaw rate")  # fmt: skip
    s.define("esc.beta", "atan2(dot(vel(chassis.cm), cross([n3], direction(project([chassis1], [n3])))), "
                         "max(abs(forward), esc_slow))")  # fmt: skip
    s.define("esc.on", "esc_on*max(0, min(1, forward/esc_slow - 1))")
    yaw = outside(f"({YAW_RATE} - esc.reference)", "esc_dead_zone")
    slips = outside("esc.beta", "esc_side_slip")
    s.define("esc.moment", f"esc.on*(esc_side_slip_gain*{slips} - esc_gain*{yaw})")
    s.define("esc.against", f"where(esc.moment*{YAW_RATE} < 0, 1, 0)")
    for corner, (axle, side) in CORNERS.items():
        where = "esc.against" if axle == "front" else "(1 - esc.against)"
        lever = at.radius(axle) / at.half_track(axle)
        wanted = f"{lever!r}*{where}*max(0, {'' if side > 0 else '-'}esc.moment)"
        release = clip(f"2 - 2*{slip_of(corner, 'esc_slow')}/esc_slip", "0", "1")
        torque = f"esc.{corner}"
        s.add_state(torque, rate=f"(min(esc_torque, {wanted})*{release} - {torque})/esc_actuator_lag", units="F*L",
                    label=f"ESC: brake torque of {corner}")  # fmt: skip
        controls.brake[corner].append(torque)
    s.add_state("esc.cut", rate=f"(esc_cut*min(1, abs(esc.moment)/{FULL}) - esc.cut)/esc_actuator_lag", units="1",
                label="ESC: fraction by which the drive torque is reduced")  # fmt: skip
    controls.factors.append("(1 - esc.cut)")
    largest = "max(" + ", ".join(f"esc.{corner}" for corner in CORNERS) + ")"
    s.add_output("esc.active", f"where({largest} > {ACTIVE}, 1, 0)", label="ESC: 1 while it brakes", units="1")
    s.add_output("esc.yaw_moment", "esc.moment", label="ESC: requested yaw moment, positive to the left", units="F*L")
