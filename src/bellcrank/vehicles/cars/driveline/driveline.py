"""From the motor to the wheels: largest drive torque, distribution to the axles, differentials.

The drive torque that is asked for is the sum at the wheels; it is limited by the largest torque and
power of the file, and by the map of the motor in its gear (`gearbox`), behind a clutch or a torque
converter (`coupling`), or by motors of the axles. A differential halves the torque of its axle; a
limited-slip one adds a friction that sticks, elastic below its limit as brakes are; a locked one an
elastic shaft between the wheels. A centre differential or coupling does the same between the front
and the rear axle.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bellcrank.api.system import System
from bellcrank.model.describe.handles import BodyHandle
from bellcrank.symbolic.expr.table import table
from bellcrank.vehicles.cars.control.controller_context import ControllerOutputs
from bellcrank.vehicles.cars.design.axles import AxleData
from bellcrank.vehicles.cars.design.car_data import CarData
from bellcrank.vehicles.cars.design.powertrain_data import (
    front_drive_fraction,
    has_clutch,
    has_independent_motor,
)
from bellcrank.vehicles.cars.design.trailer_data import SIDES
from bellcrank.vehicles.cars.driveline.axle_motor import add_axle_motor
from bellcrank.vehicles.cars.driveline.clutch_and_converter import MOTOR, add_clutch_or_converter
from bellcrank.vehicles.cars.driveline.gearbox import add_gears, add_rotor, define_clutch_engagement
from bellcrank.vehicles.cars.keys.car_keys import DifferentialKeys, DrivelineKeys, Pairs
from bellcrank.vehicles.driver_inputs import HELD, RING, add_dry_friction
from bellcrank.vehicles.model_parameters import add_si_parameter

BEYOND = 1.02  # of the highest speed of a map, where nothing is left


def add_drive(
    s: System,
    car: CarData,
    wheels: dict[str, BodyHandle],
    carriers: dict[str, BodyHandle],
    bodies: Mapping[str, BodyHandle],
    drive: str,
    weight: float,
    controls: ControllerOutputs,
) -> None:
    """Torques of the drive on the wheels; `drive` is what is asked for, `controls` what controllers
    make of it."""
    driveline = car.sections.drive
    front_fraction = front_drive_fraction(driveline)
    add_si_parameter(
        s,
        "drive_front",
        front_fraction,
        "1",
        "fraction of the drive torque on the front axle",
        (0, 1),
    )
    added_ratios = {
        a: add_si_parameter(
            s,
            f"drive_ratio_{a.name}",
            a.car_axle_keys.drive_ratio,
            "1",
            f"drive torque of axle {a.name} over that of the rear axle",
        )
        for a in car.added_axles
        if a.car_axle_keys.drive_ratio > 0 and front_fraction < 1
    }
    rear_fraction = (
        f"(1 - drive_front)/(1 + {' + '.join(added_ratios.values())})"
        if added_ratios
        else "(1 - drive_front)"
    )
    axle_fractions = {
        "front": ("drive_front", front_fraction),
        "rear": (rear_fraction, 1 - front_fraction),
    }
    driven = [axle for axle in (car.front, car.rear) if axle_fractions[axle.name][1] > 0]
    spins = [
        f"{axle_fractions[a.name][0]}*(u({a.name[0]}l.wheel) + u({a.name[0]}r.wheel))/2"
        for a in driven
    ]
    spins += [
        f"{rear_fraction}*{r}*(u({a.wheel_name('l')}.wheel) + u({a.wheel_name('r')}.wheel))/2"
        for a, r in added_ratios.items()
    ]
    s.define("driven_spin", " + ".join(spins))
    if has_independent_motor(driveline):
        wheel_keys = [
            *(axle.record.wheel for axle in driven),
            *(added_axle.record.wheel for added_axle in added_ratios),
        ]
        inertia = sum(2 * wheel.spin_inertia for wheel in wheel_keys)
        _add_coupled_motor(s, driveline, drive, weight, inertia, controls.factors)
    else:
        _add_drive_torque_limits(s, driveline, drive, weight, controls.factors)
    centre = _add_centre_differential(s, car, driveline.centre)
    driven_axles = driven if centre is None else [car.front, car.rear]
    for axle, sign in ((car.front, "-"), (car.rear, "+")):
        axle_torque = f"driving*{axle_fractions[axle.name][0]}"
        if axle.record.motor is not None:
            axle_torque = add_axle_motor(
                s, axle.name, axle.record.motor, axle_torque, bodies[axle.name]
            )
        if centre is not None:
            axle_torque = f"({axle_torque} {sign} {centre})"
        lock_torque = _add_differential(s, axle, axle_torque) if axle in driven_axles else None
        for side, lock_sign in (("l", "-"), ("r", "+")):
            name = f"{axle.name[0]}{side}"
            against = bodies[axle.name] if driveline.reaction == "body" else carriers[name]
            torque = " + ".join(
                [
                    f"{name}.drive_torque",
                    *controls.drive[name],
                    *([f"{axle_torque}/2"] if axle in driven_axles else []),
                ]
            )
            s.add_moment(
                f"{name}.drive",
                magnitude=torque + (f" {lock_sign} {lock_torque}" if lock_torque else ""),
                direction=wheels[name][2],
                on=wheels[name],
                against=against,
                label=f"drive of {name}",
            )
    for added_axle, ratio in added_ratios.items():
        for name in map(added_axle.wheel_name, SIDES):
            carrier = added_axle.full_name if added_axle.is_rigid else name
            body = bodies[car.body_part_at(added_axle.record.at[0])]
            s.add_moment(
                f"{name}.drive",
                magnitude=f"driving*{rear_fraction}*{ratio}/2",
                direction=f"[{name}.wheel2]",
                on=f"{name}.wheel",
                against=body if driveline.reaction == "body" else carrier,
                label=f"drive of {name}",
            )
    if driveline.map is not None and driveline.inertia > 0 and not has_independent_motor(driveline):
        add_rotor(s, driveline, bodies["front"], spins)


def _add_drive_torque_limits(
    s: System, driveline: DrivelineKeys, drive: str, weight: float, factors: Sequence[str]
) -> None:
    """Defines driving: what is asked for, between what the motor drives and brakes with at most;
    controllers reduce what accelerates the wheels by `factors`."""
    upper_limits = _add_wheel_limits(s, driveline)
    lower_limits = list(upper_limits)
    if driveline.map is not None:
        motor_limit, drag_limit = _add_motor_torque_limits(s, driveline, drive, weight)
        upper_limits, lower_limits = [*upper_limits, motor_limit], [*lower_limits, drag_limit]
    torque_name = "driving_asked" if factors else "driving"
    if factors:
        s.define(
            "driving",
            f"{torque_name}*where({torque_name}*driven_spin >= 0, {'*'.join(factors)}, 1)",
        )
    if not upper_limits:
        s.define(torque_name, drive)
        return
    upper, lower = (
        limits[0] if len(limits) == 1 else f"min({', '.join(limits)})"
        for limits in (upper_limits, lower_limits)
    )
    s.define("drive_limit", upper)
    s.define("drag_limit", lower)
    sign = "" if driveline.map is None else "gear_sign*"
    s.define(torque_name, f"{sign}max(-drag_limit, min(drive_limit, {sign}({drive})))")


def _add_wheel_limits(s: System, driveline: DrivelineKeys) -> list[str]:
    """Largest drive torques of the file at the wheels."""
    limits = []
    if driveline.torque is not None:
        limits.append(
            add_si_parameter(s, "drive_most", driveline.torque, "F*L", "largest drive torque")
        )
    if driveline.power is not None:
        add_si_parameter(s, "power_most", driveline.power, "F*L/T", "largest power at the wheels")
        limits.append("power_most/max(abs(driven_spin), 1)")
    return limits


def _add_coupled_motor(
    s: System,
    driveline: DrivelineKeys,
    drive: str,
    weight: float,
    inertia: float,
    factors: Sequence[str],
) -> None:
    """Defines driving by a motor behind a clutch or a torque converter; `inertia`: of the driven
    wheels (kg m^2)."""
    assert driveline.map is not None and driveline.drag is not None
    for limit in _add_wheel_limits(s, driveline):
        drive = f"max(-{limit}, min({limit}, {drive}))"
    add_gears(s, driveline, drive)
    s.define("motor_spin", MOTOR)
    s.define("motor_most", _add_torque_map(s, "motor_full", driveline.map))
    s.define("motor_drags", _add_torque_map(s, "motor_drag", driveline.drag))
    add_clutch_or_converter(s, driveline, drive, weight, inertia, factors)
    s.define("drive_limit", "efficiency*ratio*motor_most")
    s.add_output("motor_speed", "motor_spin", label="speed of the motor", units="rpm")
    s.add_output("gear_ratio", "ratio", label="ratio of motor over wheels", units="1")


def _add_motor_torque_limits(
    s: System, driveline: DrivelineKeys, drive: str, weight: float
) -> tuple[str, str]:
    """What the motor drives and brakes with at most in its gear, at the wheels."""
    assert driveline.map is not None
    add_gears(s, driveline, drive)
    define_clutch_engagement(s, driveline, weight)
    add_si_parameter(
        s, "efficiency", driveline.efficiency, "1", "efficiency from motor to wheels", (0.5, 1.0)
    )
    s.require_positive("efficiency")
    if has_clutch(driveline):
        s.define("motor_spin", "clutch*gear_sign*driven_spin*ratio + (1 - clutch)*idle")
    else:
        s.define("motor_spin", "abs(driven_spin)*ratio")
    s.add_output("motor_speed", "motor_spin", label="speed of the motor", units="rpm")
    s.add_output("gear_ratio", "ratio", label="ratio of motor over wheels", units="1")
    full = _add_torque_map(s, "motor_full", driveline.map)
    drag = full if driveline.drag is None else _add_torque_map(s, "motor_drag", driveline.drag)
    s.add_output(
        "motor_torque",
        "gear_sign*driving/ratio/where(gear_sign*driving > 0, efficiency, 1/efficiency)",
        label="motor torque",
        units="F*L",
    )
    return f"unbraked*efficiency*ratio*{full}", f"clutch*ratio*{drag}/efficiency"


def _add_torque_map(s: System, name: str, points: Pairs) -> str:
    """A table over the speed of the motor: as its first point below it, nothing past the last."""
    speeds, moments = (list(column) for column in zip(*points))
    end = BEYOND * speeds[-1]
    s.define(name, table([*speeds, end, end + 1.0], [*moments, 0.0, 0.0]))
    return f"{name}(min({end + 1.0!r}, max({speeds[0]!r}, motor_spin)))"


def _add_differential(s: System, axle: AxleData, axle_torque: str) -> str | None:
    """Defines the moment that a differential moves from the left wheel to the right one; None if it
    is open."""
    name = axle.name
    left_spin, right_spin = (f"u({name[0]}{side}.wheel)" for side in "lr")
    lock_torque = _add_differential_lock(
        s,
        axle.record.differential,
        name,
        f"({left_spin} - {right_spin})",
        axle_torque,
        axle.record.wheel.spin_inertia,
    )
    if lock_torque is not None:
        label = f"right minus left wheel torque, {name} differential"
        s.add_output(f"{name}.locking", f"2*{lock_torque}", label=label, units="F*L")
    return lock_torque


def _add_centre_differential(
    s: System, car: CarData, differential: DifferentialKeys | None
) -> str | None:
    """Defines the moment that a centre differential moves from the front axle to the rear one; None
    if it is open."""
    front, rear = (f"(u({axle[0]}l.wheel) + u({axle[0]}r.wheel))/2" for axle in ("front", "rear"))
    inertia = 2 * min(axle.record.wheel.spin_inertia for axle in (car.front, car.rear))
    lock_torque = _add_differential_lock(
        s, differential, "centre", f"({front} - {rear})", "driving", inertia
    )
    if lock_torque is not None:
        label = "rear minus front axle torque, centre differential"
        s.add_output("centre.locking", f"2*{lock_torque}", label=label, units="F*L")
    return lock_torque


def _add_differential_lock(
    s: System,
    differential: DifferentialKeys | None,
    name: str,
    faster: str,
    torque: str,
    inertia: float,
) -> str | None:
    """Defines the moment between two shafts, one `faster` by a speed than the other, under the
    torque `torque`."""
    if differential is None or differential.kind == "open":
        return None
    label = f"{name} differential"
    k = add_si_parameter(
        s, f"k_shaft_{name}", RING**2 * inertia, "F*L/A", f"elasticity of the {label}"
    )
    prefix = f"{name}.differential"
    if differential.kind == "locked":
        s.add_state(f"{prefix}.turn", rate=faster, units="A", label=f"twist of the {label}")
        s.define(f"{prefix}.held", f"{k}*({prefix}.turn + {HELD}*{faster})")
    else:
        preload = add_si_parameter(
            s,
            f"preload_{name}",
            differential.preload,
            "F*L",
            f"{label}: torque between the wheels without drive",
        )
        lock = add_si_parameter(
            s,
            f"lock_{name}",
            differential.lock,
            "1",
            f"{label}: locking fraction of the drive torque",
        )
        coast = differential.lock if differential.lock_coast is None else differential.lock_coast
        add_si_parameter(
            s, f"lock_coast_{name}", coast, "1", f"{label}: locking fraction of the overrun torque"
        )
        fraction = f"where({torque} > 0, {lock}, lock_coast_{name})"
        limit = f"({preload} + {fraction}*abs({torque}))/2"
        add_dry_friction(s, prefix, faster, limit, k, label)
    return f"{prefix}.held"
