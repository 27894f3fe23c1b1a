"""What the keys of motor, gears and differentials mean, as numbers; and what of them cannot be."""

from __future__ import annotations

from itertools import pairwise

from bellcrank.library.vehicles.keys import Problems
from bellcrank.library.vehicles.records import Axle, AxleMotor, Drive, Pairs, Sections

LOW = 0.4  # of the motor speed at which the next gear follows at full load: without load
IDLE = 80.0  # rad/s


def drive_share(given: Drive) -> float:
    """Fraction of the front axle in the drive torque."""
    return {"front": 1.0, "rear": 0.0, "all": given.front_share}[given.driven]


def largest_torque(sections: Sections) -> float | None:
    """Largest drive torque, sum of all wheels (N m): that of the file, else of the motors of all driven axles."""
    given, share = sections.drive, drive_share(sections.drive)
    if given.torque is not None:
        return given.torque
    motors = [axle.motor for axle, part in ((sections.front, share), (sections.rear, 1 - share)) if part > 0]
    found = [motor.torque * motor.ratio for motor in motors if motor is not None]
    return sum(found) if len(found) == len(motors) else None


def gears(given: Drive) -> list[float]:
    """Ratios of motor over wheels, from the first gear."""
    return [given.final * ratio for ratio in given.gears or (1.0,)]


def shifts_at(given: Drive) -> float:
    """Speed of the motor at which the next gear follows (rad/s)."""
    assert given.map is not None
    return given.map[-1][0] if given.shift_at is None else given.shift_at


def shifts_low(given: Drive) -> float:
    """The same without load (rad/s)."""
    return LOW * shifts_at(given) if given.shift_low is None else given.shift_low


def has_clutch(given: Drive) -> bool:
    """Whether the motor has a clutch: one with drag of its own, so a combustion engine."""
    return given.map is not None and given.drag is not None


def idles_at(given: Drive) -> float:
    """Speed of the motor below which the clutch is open (rad/s)."""
    return IDLE if given.idle is None else given.idle


def most_power(given: Drive) -> float:
    """Largest power of the motor (W), on the straight lines between the points of its map."""
    assert given.map is not None
    if len(given.map) == 1:
        return given.map[0][0] * given.map[0][1]
    found = 0.0
    for (n0, t0), (n1, t1) in pairwise(given.map):
        for share in (k / 20 for k in range(21)):
            found = max(found, (n0 + share * (n1 - n0)) * (t0 + share * (t1 - t0)))
    return found


def gear_at(given: Drive, spin: float) -> float:
    """The gear, from 1 on, in which the motor drives wheels that turn with `spin` (rad/s) with little load."""
    if given.gear > 0:
        return float(given.gear)
    return 1.0 + sum(abs(spin) * ratio > shifts_low(given) for ratio in gears(given)[:-1])


def gear_up_to(given: Drive, spin: float) -> float:
    """The lowest gear, from 1 on, in which the motor drives wheels up to `spin` (rad/s), so with all its power."""
    if given.gear > 0:
        return float(given.gear)
    return 1.0 + sum(abs(spin) * ratio > shifts_at(given) for ratio in gears(given)[:-1])


def drive_problems(sections: Sections, problems: Problems) -> None:
    """What of the keys of drive and differentials cannot be."""
    given = sections.drive
    if not 0 <= given.front_share <= 1:
        problems.append(f"drive.front_share = {given.front_share:g} must lie between 0 and 1.")
    if not 0 < given.efficiency <= 1:
        problems.append(f"drive.efficiency = {given.efficiency:g} must lie between 0 and 1.")
    only = ("gears", "gear", "reverse", "final", "efficiency", "shift_at", "shift_low", "idle", "drag", "inertia")
    if given.map is None:
        usual = Drive(driven=given.driven)
        for key in only:
            if getattr(given, key) != getattr(usual, key):
                problems.append(f"drive.{key} needs drive.map, the motor torque over its speed.")
    for key in ("map", "drag"):
        listed: Pairs | None = getattr(given, key)
        if listed is not None and (listed[0][0] < 0 or min(t for _, t in listed) < 0):
            problems.append(f"drive.{key}: speeds and torques must not be negative.")
    if given.gears is not None and any(b >= a for a, b in pairwise(given.gears)):
        problems.append("drive.gears: the ratios must fall from the first gear to the last.")
    if given.gear not in range(-1, len(given.gears or (1.0,)) + 1):
        problems.append(f"drive.gear = {given.gear:g} must be a gear from 1 to {len(given.gears or (1.0,))}, 0 for "
                        "gears by speed and load, or -1 for reverse.")  # fmt: skip
    if given.map is not None and not shifts_low(given) <= shifts_at(given):
        problems.append(f"drive.shift_low = {shifts_low(given):.4g} rad/s must not exceed shift_at, "
                        f"{shifts_at(given):.4g} rad/s.")  # fmt: skip
    share = drive_share(given)
    for name, part in (("front", share), ("rear", 1 - share)):
        axle: Axle = getattr(sections, name)
        if axle.motor is not None:
            _motor_problems(name, axle.motor, part, given, problems)
        found = axle.differential
        if found is None:
            continue
        if part == 0:
            problems.append(f"{name}.differential: the {name} axle is not driven (drive.driven = '{given.driven}').")
        for key in ("lock", "lock_coast"):
            value = getattr(found, key)
            if value is not None and not value <= 1:
                problems.append(f"{name}.differential.{key} = {value:g} must lie between 0 and 1.")
        if found.kind != "limited-slip" and (found.preload or found.lock or found.lock_coast):
            problems.append(f"{name}.differential: preload and lock are those of kind = 'limited-slip'.")


def _motor_problems(name: str, given: AxleMotor, part: float, drive: Drive, problems: Problems) -> None:
    if part == 0:
        problems.append(f"{name}.motor: the {name} axle is not driven (drive.driven = '{drive.driven}').")
    if drive.map is not None:
        problems.append(f"{name}.motor and drive.map: a car has the motor of [drive] or motors of its axles.")
    for key in ("efficiency", "regeneration"):
        if not getattr(given, key) <= 1:
            problems.append(f"{name}.motor.{key} = {getattr(given, key):g} must lie between 0 and 1.")
