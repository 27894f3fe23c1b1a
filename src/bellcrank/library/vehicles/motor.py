"""What the keys of motor, gears and differentials mean, as numbers; and what of them cannot be."""

from __future__ import annotations

from itertools import pairwise

from bellcrank.library.vehicles.keys import Problems
from bellcrank.library.vehicles.records import Axle, AxleMotor, Differential, Drive, Pairs, Sections

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


def is_coupled(given: Drive) -> bool:
    """Whether the motor speed is independent of the wheels, behind a friction clutch or a torque converter."""
    return given.clutch is not None or given.converter is not None


def has_clutch(given: Drive) -> bool:
    """Whether a motor that follows the wheels has a clutch: one with drag of its own, so a combustion engine."""
    return given.map is not None and given.drag is not None and not is_coupled(given)


def idles_at(given: Drive) -> float:
    """Speed of the motor below which the clutch is open (rad/s)."""
    return IDLE if given.idle is None else given.idle


def spins_at(given: Drive, spin: float) -> float:
    """Speed of a motor behind clutch or converter in the gear of wheels that turn with `spin`; rad/s, of both."""
    ratios = gears(given)
    back = given.final * given.reverse if given.reverse else ratios[0]
    ratio = -back if given.gear < 0 else ratios[round(gear_at(given, spin)) - 1]
    return max(idles_at(given), ratio * spin)


def most_power(given: Drive) -> float:
    """Largest power of the motor (W), on the straight lines between the points of its map."""
    assert given.map is not None
    if len(given.map) == 1:
        return given.map[0][0] * given.map[0][1]
    found = 0.0
    for a, b in pairwise(given.map):
        found = max(found, *(speed * torque for speed, torque in _between(a, b)))
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
    only = ("gears", "gear", "reverse", "final", "efficiency", "shift_at", "shift_low", "idle", "drag", "inertia",
            "clutch", "converter")  # fmt: skip
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
    _coupling_problems(given, problems)
    share = drive_share(given)
    for name, part in (("front", share), ("rear", 1 - share)):
        axle: Axle = getattr(sections, name)
        if axle.motor is not None:
            _motor_problems(name, axle.motor, part, given, problems)
        found = axle.differential
        if found is None:
            continue
        if part == 0 and given.centre is None:
            problems.append(f"{name}.differential: the {name} axle is not driven (drive.driven = '{given.driven}').")
        _lock_problems(f"{name}.differential", found, problems)
    if given.centre is not None:
        _lock_problems("drive.centre", given.centre, problems)
        for name in ("front", "rear"):
            if getattr(sections, name).motor is not None:
                problems.append(f"drive.centre and {name}.motor: axles with motors of their own are not coupled.")
        if any(axle.drive_ratio > 0 for axle in (sections.axles or {}).values()):
            problems.append("drive.centre couples the front and the rear axle; no other axle may be driven.")


def _lock_problems(where: str, found: Differential, problems: Problems) -> None:
    for key in ("lock", "lock_coast"):
        value = getattr(found, key)
        if value is not None and not value <= 1:
            problems.append(f"{where}.{key} = {value:g} must lie between 0 and 1.")
    if found.kind != "limited-slip" and (found.preload or found.lock or found.lock_coast):
        problems.append(f"{where}: preload and lock are those of kind = 'limited-slip'.")


def _coupling_problems(given: Drive, problems: Problems) -> None:
    which = "clutch" if given.converter is None else "converter"
    if given.clutch is not None and given.converter is not None:
        problems.append("drive.clutch and drive.converter: give one of them.")
    if is_coupled(given) and (given.drag is None or not given.inertia > 0):
        problems.append(f"drive.{which} needs drive.drag and drive.inertia: the speed of the motor is a state.")
    if given.converter is None:
        return
    ratio, capacity = given.converter.torque_ratio, given.converter.capacity
    for key, points in (("torque_ratio", ratio), ("capacity", capacity)):
        if points[0][0] != 0 or points[-1][0] != 1 or min(y for _, y in points) < 0:
            problems.append(f"drive.converter.{key}: speed ratios must go from 0 to 1, and no value be negative.")
    if capacity[-1][1] != 0:
        problems.append("drive.converter.capacity: the last value must be 0, as equal speeds transmit no torque.")
    efficiency = [(n, n * m) for a, b in pairwise(ratio) for n, m in _between(a, b) if n * m > 1 + 1e-9]
    if efficiency:
        n, most = max(efficiency, key=lambda x: x[1])
        problems.append(f"drive.converter.torque_ratio: at the speed ratio {n:.3g} the efficiency is {most:.3g}; speed "
                        "ratio times torque ratio must not exceed 1.")  # fmt: skip


def _between(a: tuple[float, float], b: tuple[float, float]) -> list[tuple[float, float]]:
    """Points of the straight line between two points of a table."""
    return [(a[0] + k / 20 * (b[0] - a[0]), a[1] + k / 20 * (b[1] - a[1])) for k in range(21)]


def _motor_problems(name: str, given: AxleMotor, part: float, drive: Drive, problems: Problems) -> None:
    if part == 0:
        problems.append(f"{name}.motor: the {name} axle is not driven (drive.driven = '{drive.driven}').")
    if drive.map is not None:
        problems.append(f"{name}.motor and drive.map: a car has the motor of [drive] or motors of its axles.")
    for key in ("efficiency", "regeneration"):
        if not getattr(given, key) <= 1:
            problems.append(f"{name}.motor.{key} = {getattr(given, key):g} must lie between 0 and 1.")
