"""From the motor to the wheels: what drives at most, gears, shares of the axles, differentials.

The drive torque that is asked for is the sum at the wheels; it is limited by the largest moment and power of the
file, and by the map of the motor in its gear: the lowest in which the motor stays below `shift_at`. The ratio goes over
to that of another gear with a lag. A differential halves the moment of its axle; a limited-slip one adds a friction
that sticks, elastic below its limit as brakes are; a locked one an elastic shaft between the wheels.
"""

from __future__ import annotations

from bellcrank.api.system import System
from bellcrank.describe.handles import BodyHandle
from bellcrank.expr.table import table
from bellcrank.library.driven import HELD, RING, add_friction
from bellcrank.library.vehicles.axles import FittedAxle
from bellcrank.library.vehicles.data import CarData
from bellcrank.library.vehicles.motor import drive_share, shifts_at
from bellcrank.library.vehicles.parameters import put
from bellcrank.library.vehicles.records import Drive, Pairs

BEYOND = 1.02  # of the highest speed of a map, where nothing is left


def add_drive(s: System, car: CarData, wheels: dict[str, BodyHandle], chassis: BodyHandle, drive: str) -> None:
    """Moments of the drive on the wheels; `drive` is what is asked for."""
    given = car.sections.drive
    share = drive_share(given)
    put(s, "drive_front", share, "1", "fraction of the drive torque on the front axle")
    parts = {"front": ("drive_front", share), "rear": ("(1 - drive_front)", 1 - share)}
    driven = [axle for axle in (car.front, car.rear) if parts[axle.name][1] > 0]
    spins = [f"{parts[a.name][0]}*(u({a.name[0]}l.wheel) + u({a.name[0]}r.wheel))/2" for a in driven]
    s.define("driven_spin", " + ".join(spins))
    _add_limits(s, given, drive)
    for axle in driven:
        part = f"driving*{parts[axle.name][0]}"
        held = _add_differential(s, axle, part)
        for side, sign in (("l", "-"), ("r", "+")):
            name = f"{axle.name[0]}{side}"
            against = chassis if given.reaction == "body" else name
            s.add_moment(
                f"{name}.drive", magnitude=f"{part}/2" + (f" {sign} {held}" if held else ""),
                direction=wheels[name][2], on=wheels[name], against=against, label=f"drive of {name}",
            )  # fmt: skip
    if given.map is not None and given.inertia > 0:
        _add_rotor(s, given, chassis, spins)


def _add_limits(s: System, given: Drive, drive: str) -> None:
    """Defines driving: what is asked for, between what the motor drives and brakes with at most."""
    most, least = [], []
    if given.torque is not None:
        most.append(put(s, "drive_most", given.torque, "F*L", "largest drive torque"))
    if given.power is not None:
        put(s, "power_most", given.power, "F*L/T", "largest power at the wheels")
        most.append("power_most/max(abs(driven_spin), 1)")
    least = list(most)
    if given.map is not None:
        drives, brakes = _add_motor(s, given)
        most, least = [*most, drives], [*least, brakes]
    if not most:
        s.define("driving", drive)
        return
    upper, lower = (listed[0] if len(listed) == 1 else f"min({', '.join(listed)})" for listed in (most, least))
    s.define("drive_limit", upper)
    s.define("drag_limit", lower)
    s.define("driving", f"max(-drag_limit, min(drive_limit, {drive}))")


def _add_motor(s: System, given: Drive) -> tuple[str, str]:
    """What the motor drives and brakes with at most in its gear, at the wheels."""
    assert given.map is not None
    _add_gears(s, given)
    put(s, "efficiency", given.efficiency, "1", "efficiency from motor to wheels")
    s.require_positive("efficiency")
    s.define("motor_spin", "abs(driven_spin)*ratio")
    s.add_output("motor_spin", "motor_speed", label="speed of the motor", units="rpm")
    s.add_output("ratio", "gear_ratio", label="ratio of motor over wheels", units="1")
    full = _add_map(s, "motor_full", given.map)
    drag = full if given.drag is None else _add_map(s, "motor_drag", given.drag)
    s.add_output("driving/ratio/where(driving > 0, efficiency, 1/efficiency)", "motor_torque",
                 label="motor torque", units="F*L")  # fmt: skip
    return f"efficiency*ratio*{full}", f"ratio*{drag}/efficiency"


def _add_map(s: System, name: str, points: Pairs) -> str:
    """A table over the speed of the motor: as its first point below it, nothing beyond the last."""
    speeds, moments = (list(column) for column in zip(*points))
    end = BEYOND * speeds[-1]
    s.define(name, table([*speeds, end, end + 1.0], [*moments, 0.0, 0.0]))
    return f"{name}(min({end + 1.0!r}, max({speeds[0]!r}, motor_spin)))"


def _add_gears(s: System, given: Drive) -> None:
    ratios = given.gears or (1.0,)
    names = [put(s, f"gear_{i}", r, "1", f"ratio of gear {i}") for i, r in enumerate(ratios, 1)]
    put(s, "final_ratio", given.final, "1", "ratio behind the gears")
    if len(names) == 1:
        s.define("ratio", f"final_ratio*{names[0]}")
        return
    put(s, "shift_at", shifts_at(given), "A/T", "speed of the motor at which the next gear follows")
    put(s, "t_shift", given.shift_time, "T", "lag of the ratio behind the gear")
    s.require_positive("t_shift")
    gear = names[-1]
    for name in reversed(names[:-1]):
        gear = f"where(abs(driven_spin)*final_ratio*{name} < shift_at, {name}, {gear})"
    s.add_state("ratio", rate=f"(final_ratio*{gear} - ratio)/t_shift", units="1", label="ratio of motor over wheels")


def _add_differential(s: System, axle: FittedAxle, part: str) -> str | None:
    """Defines the moment that a differential moves from the left wheel to the right one; None if it is open."""
    given, name = axle.record.differential, axle.name
    if given is None or given.kind == "open":
        return None
    left, right = (f"u({name[0]}{side}.wheel)" for side in "lr")
    words = f"{name} differential"
    k = put(s, f"k_shaft_{name}", RING**2 * axle.record.wheel.spin_inertia, "F*L/A", f"elasticity of the {words}")
    moved = f"{name}.differential"
    if given.kind == "locked":
        s.add_state(f"{moved}.turn", rate=f"{left} - {right}", units="A", label=f"twist of the {words}")
        s.define(f"{moved}.held", f"{k}*({moved}.turn + {HELD}*({left} - {right}))")
    else:
        preload = put(s, f"preload_{name}", given.preload, "F*L", f"{words}: torque between the wheels without drive")
        lock = put(s, f"lock_{name}", given.lock, "1", f"{words}: locking fraction of the drive torque")
        coast = given.lock if given.lock_coast is None else given.lock_coast
        put(s, f"lock_coast_{name}", coast, "1", f"{words}: locking fraction of the overrun torque")
        share = f"where({part} > 0, {lock}, lock_coast_{name})"
        limit = f"({preload} + {share}*abs({part}))/2"
        add_friction(s, moved, f"({left} - {right})", limit, k, words)
    s.add_output(f"2*{moved}.held", f"{name}.locking", label=f"right minus left wheel torque, {words}",
                 units="F*L")  # fmt: skip
    return f"{moved}.held"


def _add_rotor(s: System, given: Drive, chassis: BodyHandle, spins: list[str]) -> None:
    """The turning parts of the motor, geared to the wheels."""
    put(s, "i_motor", given.inertia, "M*L**2", "moment of inertia of the motor")
    rotor = s.add_body("motor", parent=chassis, rotate=2, mass=0, inertia=(0, "i_motor", 0), label="rotor of the motor")
    s.add_constraint(f"u({rotor.name}) - ratio*({' + '.join(spins)})", eliminate=rotor.u[1], label="gears")
