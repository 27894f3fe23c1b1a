"""Gears, clutch and rotor of a motor with a map.

The gear follows speed and load: the next one follows at `shift_low` without load and at `shift_at`
with all the power of the motor; it is left again at KEPT of that speed. Ratios change over within
`shift_time` while the motor is brought to its new speed by its own torque, so a shift adds no
thrust. A motor with `drag` has a clutch, open below `idle` and while the brakes are applied hard:
then neither drag nor rotor inertia act on the wheels. While the car starts to move the clutch slips
and passes the torque on.
"""

from __future__ import annotations

from bellcrank.api.system import System
from bellcrank.model.describe.handles import BodyHandle
from bellcrank.vehicles.cars.design.powertrain_data import (
    clutch_opening_speed,
    has_clutch,
    light_load_upshift_speed,
    max_motor_power,
    upshift_speed,
)
from bellcrank.vehicles.cars.keys.car_keys import DrivelineKeys
from bellcrank.vehicles.model_parameters import add_si_parameter

# of a gear, from which on a change is completed, even if the driven wheels turn slower meanwhile
STARTED = 0.05
KEPT = 0.75  # of the speed at which a gear was taken, where it is left again
HARD = 0.25  # of the weight, as braking force at which the clutch is open
SOFT = 0.2  # of idle speed and of hard braking, within which it opens
SLOW = 1.0  # rad/s of a wheel, within which the direction of power changes
GEAR, CLUTCH = "driveline.gear", "driveline.clutch"


def power_flow_sign(torque: str, spin: str) -> str:
    """1 where a torque drives wheels that turn with `spin`, -1 where it brakes them, continuous in
    between: gears of an efficiency multiply the torque by that to the power of it, and never gain
    energy."""
    return f"max(-1, min(1, sign({torque})*({spin})/{SLOW}))"


def add_gears(s: System, driveline: DrivelineKeys, drive: str) -> None:
    """Defines `ratio` of motor over wheels, `gear_sign`, and how the ratio changes; `drive` is the
    torque asked for."""
    ratios = driveline.gears or (1.0,)
    names = [
        add_si_parameter(s, f"gear_{i}", r, "1", f"ratio of gear {i}")
        for i, r in enumerate(ratios, 1)
    ]
    add_si_parameter(s, "final_ratio", driveline.final, "1", "ratio behind the gears")
    add_si_parameter(
        s,
        "gear_held",
        float(driveline.gear),
        "1",
        "gear that is held; 0: by speed and load, -1: reverse",
        (-1.0, float(len(names))),
    )
    add_si_parameter(
        s, "reverse_ratio", driveline.reverse or ratios[0], "1", "ratio of the reverse gear"
    )
    s.define("gear_sign", "where(gear_held < 0, -1, 1)")
    forward_ratio = names[0]
    if len(names) > 1:
        _add_shifts(s, driveline, names, drive)
        forward_ratio = " + ".join(
            f"{name}*max(0, 1 - abs({GEAR} - {i}))" for i, name in enumerate(names, 1)
        )
    s.define("ratio", f"final_ratio*where(gear_held < 0, reverse_ratio, {forward_ratio})")
    number = GEAR if len(names) > 1 else "1"
    s.add_output(
        "gear", f"where(gear_held < 0, -1, {number})", label="gear; -1 is reverse", units="1"
    )


def _add_shifts(s: System, driveline: DrivelineKeys, names: list[str], drive: str) -> None:
    """The gear as a state: a whole number but while it changes."""
    add_si_parameter(
        s,
        "shift_at",
        upshift_speed(driveline),
        "A/T",
        "speed of the motor at which the next gear follows at full load",
    )
    add_si_parameter(
        s,
        "shift_low",
        light_load_upshift_speed(driveline),
        "A/T",
        "speed of the motor at which the next gear follows without load",
    )
    add_si_parameter(s, "t_shift", driveline.shift_time, "T", "lag of the ratio behind the gear")
    s.require_positive("t_shift")
    s.define("motor_load", f"max(0, min(1, ({drive})*driven_spin/{max_motor_power(driveline)!r}))")
    s.define("shifts_up", "shift_low + (shift_at - shift_low)*motor_load")
    automatic_gear = "1"
    for i, name in enumerate(names[:-1], 1):
        limit = f"shifts_up*where({GEAR} > {i + STARTED}, {KEPT}, 1)"
        automatic_gear += f" + where(abs(driven_spin)*final_ratio*{name} > {limit}, 1, 0)"
    gear_formula = (
        f"where(gear_held > 0, min({len(names)}, gear_held), where(gear_held < 0, 1, "
        f"{automatic_gear}))"
    )
    s.define("gear_wanted", gear_formula)
    s.add_state(GEAR, rate=f"(gear_wanted - {GEAR})/t_shift", units="1", label="gear")


def define_clutch_engagement(s: System, driveline: DrivelineKeys, weight: float) -> None:
    """Defines `clutch`, the fraction by which the motor is coupled, and `unbraked`; `weight`: that
    of the car times the radius of its wheels."""
    if not has_clutch(driveline):
        s.define("clutch", "1")
        s.define("unbraked", "1")
        return
    add_si_parameter(
        s,
        "idle",
        clutch_opening_speed(driveline),
        "A/T",
        "speed of the motor below which the clutch is open",
    )
    s.require_positive("idle")
    add_pedal(
        s, driveline, weight, f"max(0, min(1, (gear_sign*driven_spin*ratio - idle)/({SOFT}*idle)))"
    )
    s.define("clutch", CLUTCH)


def add_pedal(s: System, driveline: DrivelineKeys, weight: float, closed: str) -> None:
    """The state of the clutch, which follows the formula `closed` with a lag and opens for hard
    braking."""
    add_si_parameter(
        s,
        "clutch_brake",
        HARD * weight,
        "F*L",
        "brake torque, sum of all wheels, at which the clutch is open",
    )
    add_si_parameter(s, "t_clutch", driveline.shift_time, "T", "lag of the clutch")
    s.require_positive("clutch_brake", "t_clutch")
    s.define("unbraked", f"max(0, min(1, (clutch_brake - braking)/({SOFT}*clutch_brake)))")
    s.add_state(
        CLUTCH,
        rate=f"({closed}*unbraked - {CLUTCH})/t_clutch",
        units="1",
        label="clutch: 0 open, 1 closed",
    )


def add_rotor(s: System, driveline: DrivelineKeys, chassis: BodyHandle, spins: list[str]) -> None:
    """The turning parts of the motor, geared to the wheels through the clutch. What a changing
    ratio or clutch asks for to turn faster or slower is torque of the motor itself, not of the
    wheels."""
    add_si_parameter(s, "i_motor", driveline.inertia, "M*L**2", "moment of inertia of the motor")
    rotor = s.add_body(
        "motor",
        parent=chassis,
        rotate=2,
        mass=0,
        inertia=(0, "i_motor", 0),
        label="rotor of the motor",
    )
    geared_speed = f"clutch*ratio*({' + '.join(spins)})"
    s.add_constraint(f"u({rotor.name}) - {geared_speed}", eliminate=rotor.u[1], label="gears")
    if not has_clutch(driveline) and len(driveline.gears or ()) < 2:
        return
    s.define("motor_synchronising", f"i_motor*dxdt(clutch*ratio)*({' + '.join(spins)})")
    s.add_moment(
        "motor.synchronising",
        magnitude="motor_synchronising",
        direction=chassis[2],
        on=rotor,
        against=chassis,
        label="torque that brings the motor to the speed of its gear",
    )
