"""What the keys of motor, gears and differentials mean, as numbers; and what of them cannot be."""

from __future__ import annotations

from itertools import pairwise

from bellcrank.vehicles.cars.keys.car_keys import (
    AxleKeys,
    AxleMotorKeys,
    CarFileKeys,
    DifferentialKeys,
    DrivelineKeys,
    Pairs,
)
from bellcrank.vehicles.file_keys import ProblemList

LOW = 0.4  # of the motor speed at which the next gear follows at full load: without load
IDLE = 80.0  # rad/s


def front_drive_fraction(drive: DrivelineKeys) -> float:
    """Fraction of the front axle in the drive torque."""
    return {"front": 1.0, "rear": 0.0, "all": drive.front_share}[drive.driven]


def max_drive_torque(sections: CarFileKeys) -> float | None:
    """Largest drive torque, sum of all wheels (N m): that of the file, else of the motors of all
    driven axles."""
    drive, share = sections.drive, front_drive_fraction(sections.drive)
    if drive.torque is not None:
        return drive.torque
    motors = [
        axle.motor
        for axle, part in ((sections.front, share), (sections.rear, 1 - share))
        if part > 0
    ]
    torques = [motor.torque * motor.ratio for motor in motors if motor is not None]
    return sum(torques) if len(torques) == len(motors) else None


def gear_ratios(drive: DrivelineKeys) -> list[float]:
    """Ratios of motor over wheels, from the first gear."""
    return [drive.final * ratio for ratio in drive.gears or (1.0,)]


def upshift_speed(drive: DrivelineKeys) -> float:
    """Speed of the motor at which the next gear follows (rad/s)."""
    assert drive.map is not None
    return drive.map[-1][0] if drive.shift_at is None else drive.shift_at


def light_load_upshift_speed(drive: DrivelineKeys) -> float:
    """The same without load (rad/s)."""
    return LOW * upshift_speed(drive) if drive.shift_low is None else drive.shift_low


def has_independent_motor(drive: DrivelineKeys) -> bool:
    """Whether the motor speed is independent of the wheels, behind a friction clutch or a torque
    converter."""
    return drive.clutch is not None or drive.converter is not None


def has_clutch(drive: DrivelineKeys) -> bool:
    """Whether a motor that follows the wheels has a clutch: one with drag of its own, so a
    combustion engine."""
    return drive.map is not None and drive.drag is not None and not has_independent_motor(drive)


def clutch_opening_speed(drive: DrivelineKeys) -> float:
    """Speed of the motor below which the clutch is open (rad/s)."""
    return IDLE if drive.idle is None else drive.idle


def motor_speed(drive: DrivelineKeys, spin: float) -> float:
    """Speed of a motor behind clutch or converter in the gear of wheels that turn with `spin`;
    rad/s, of both."""
    ratios = gear_ratios(drive)
    reverse_ratio = drive.final * drive.reverse if drive.reverse else ratios[0]
    ratio = -reverse_ratio if drive.gear < 0 else ratios[round(light_load_gear(drive, spin)) - 1]
    return max(clutch_opening_speed(drive), ratio * spin)


def max_motor_power(drive: DrivelineKeys) -> float:
    """Largest power of the motor (W), on the straight lines between the points of its map."""
    assert drive.map is not None
    if len(drive.map) == 1:
        return drive.map[0][0] * drive.map[0][1]
    power = 0.0
    for a, b in pairwise(drive.map):
        power = max(power, *(speed * torque for speed, torque in _interpolate_points(a, b)))
    return power


def light_load_gear(drive: DrivelineKeys, spin: float) -> float:
    """The gear, from 1 on, in which the motor drives wheels that turn with `spin` (rad/s) with
    little load."""
    if drive.gear > 0:
        return float(drive.gear)
    return 1.0 + sum(
        abs(spin) * ratio > light_load_upshift_speed(drive) for ratio in gear_ratios(drive)[:-1]
    )


def lowest_gear_reaching(drive: DrivelineKeys, spin: float) -> float:
    """The lowest gear, from 1 on, in which the motor drives wheels up to `spin` (rad/s), so with
    all its power."""
    if drive.gear > 0:
        return float(drive.gear)
    return 1.0 + sum(abs(spin) * ratio > upshift_speed(drive) for ratio in gear_ratios(drive)[:-1])


def drive_problems(sections: CarFileKeys, problems: ProblemList) -> None:
    """What of the keys of drive and differentials cannot be."""
    drive = sections.drive
    if not 0 <= drive.front_share <= 1:
        problems.append(f"drive.front_share = {drive.front_share:g} must lie between 0 and 1.")
    if not 0 < drive.efficiency <= 1:
        problems.append(f"drive.efficiency = {drive.efficiency:g} must lie between 0 and 1.")
    map_keys = (
        "gears",
        "gear",
        "reverse",
        "final",
        "efficiency",
        "shift_at",
        "shift_low",
        "idle",
        "drag",
        "inertia",
        "clutch",
        "converter",
    )
    if drive.map is None:
        defaults = DrivelineKeys(driven=drive.driven)
        for key in map_keys:
            if getattr(drive, key) != getattr(defaults, key):
                problems.append(f"drive.{key} needs drive.map, the motor torque over its speed.")
    for key in ("map", "drag"):
        points: Pairs | None = getattr(drive, key)
        if points is not None and (points[0][0] < 0 or min(t for _, t in points) < 0):
            problems.append(f"drive.{key}: speeds and torques must not be negative.")
    if drive.gears is not None and any(b >= a for a, b in pairwise(drive.gears)):
        problems.append("drive.gears: the ratios must fall from the first gear to the last.")
    if drive.gear not in range(-1, len(drive.gears or (1.0,)) + 1):
        problems.append(
            f"drive.gear = {drive.gear:g} must be a gear from 1 to "
            f"{len(drive.gears or (1.0,))}, 0 for "
            "gears by speed and load, or -1 for reverse."
        )
    if drive.map is not None and not light_load_upshift_speed(drive) <= upshift_speed(drive):
        problems.append(
            f"drive.shift_low = {light_load_upshift_speed(drive):.4g} rad/s must not exceed "
            f"shift_at, "
            f"{upshift_speed(drive):.4g} rad/s."
        )
    _coupling_problems(drive, problems)
    share = front_drive_fraction(drive)
    for name, part in (("front", share), ("rear", 1 - share)):
        axle: AxleKeys = getattr(sections, name)
        if axle.motor is not None:
            _motor_problems(name, axle.motor, part, drive, problems)
        differential = axle.differential
        if differential is None:
            continue
        if part == 0 and drive.centre is None:
            problems.append(
                f"{name}.differential: the {name} axle is not driven (drive.driven = "
                f"'{drive.driven}')."
            )
        _lock_problems(f"{name}.differential", differential, problems)
    if drive.centre is not None:
        _lock_problems("drive.centre", drive.centre, problems)
        for name in ("front", "rear"):
            if getattr(sections, name).motor is not None:
                problems.append(
                    f"drive.centre and {name}.motor: axles with motors of their own are not "
                    f"coupled."
                )
        if any(axle.drive_ratio > 0 for axle in (sections.axles or {}).values()):
            problems.append(
                "drive.centre couples the front and the rear axle; no other axle may be driven."
            )


def _lock_problems(section: str, differential: DifferentialKeys, problems: ProblemList) -> None:
    for key in ("lock", "lock_coast"):
        value = getattr(differential, key)
        if value is not None and not value <= 1:
            problems.append(f"{section}.{key} = {value:g} must lie between 0 and 1.")
    if differential.kind != "limited-slip" and (
        differential.preload or differential.lock or differential.lock_coast
    ):
        problems.append(f"{section}: preload and lock are those of kind = 'limited-slip'.")


def _coupling_problems(drive: DrivelineKeys, problems: ProblemList) -> None:
    coupling = "clutch" if drive.converter is None else "converter"
    if drive.clutch is not None and drive.converter is not None:
        problems.append("drive.clutch and drive.converter: give one of them.")
    if has_independent_motor(drive) and (drive.drag is None or not drive.inertia > 0):
        problems.append(
            f"drive.{coupling} needs drive.drag and drive.inertia: the speed of the motor "
            f"is a state."
        )
    if drive.converter is None:
        return
    ratio, capacity = drive.converter.torque_ratio, drive.converter.capacity
    for key, points in (("torque_ratio", ratio), ("capacity", capacity)):
        if points[0][0] != 0 or points[-1][0] != 1 or min(y for _, y in points) < 0:
            problems.append(
                f"drive.converter.{key}: speed ratios must go from 0 to 1, and no value be "
                f"negative."
            )
    if capacity[-1][1] != 0:
        problems.append(
            "drive.converter.capacity: the last value must be 0, as equal speeds transmit "
            "no torque."
        )
    efficiency = [
        (n, n * m)
        for a, b in pairwise(ratio)
        for n, m in _interpolate_points(a, b)
        if n * m > 1 + 1e-9
    ]
    if efficiency:
        n, peak = max(efficiency, key=lambda x: x[1])
        problems.append(
            f"drive.converter.torque_ratio: at the speed ratio {n:.3g} the efficiency is "
            f"{peak:.3g}; speed "
            "ratio times torque ratio must not exceed 1."
        )


def _interpolate_points(
    a: tuple[float, float], b: tuple[float, float]
) -> list[tuple[float, float]]:
    """Points of the straight line between two points of a table."""
    return [(a[0] + k / 20 * (b[0] - a[0]), a[1] + k / 20 * (b[1] - a[1])) for k in range(21)]


def _motor_problems(
    name: str, motor: AxleMotorKeys, part: float, drive: DrivelineKeys, problems: ProblemList
) -> None:
    if part == 0:
        problems.append(
            f"{name}.motor: the {name} axle is not driven (drive.driven = '{drive.driven}')."
        )
    if drive.map is not None:
        problems.append(
            f"{name}.motor and drive.map: a car has the motor of [drive] or motors of its axles."
        )
    for key in ("efficiency", "regeneration"):
        if not getattr(motor, key) <= 1:
            problems.append(
                f"{name}.motor.{key} = {getattr(motor, key):g} must lie between 0 and 1."
            )
