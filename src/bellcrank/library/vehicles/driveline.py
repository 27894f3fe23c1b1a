"""From the motor to the wheels: largest drive torque, distribution to the axles, differentials.

The drive torque that is asked for is the sum at the wheels; it is limited by the largest torque and power of the file,
and by the map of the motor in its gear (`gearbox`), behind a clutch or a torque converter (`coupling`), or by motors of
the axles. A differential halves the torque of its axle; a limited-slip one adds a friction that sticks, elastic below
its limit as brakes are; a locked one an elastic shaft between the wheels. A centre differential or coupling does the
same between the front and the rear axle.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bellcrank.api.system import System
from bellcrank.describe.handles import BodyHandle
from bellcrank.expr.table import table
from bellcrank.library.driven import HELD, RING, add_friction
from bellcrank.library.vehicles.axle_motor import add_axle_motor
from bellcrank.library.vehicles.axles import FittedAxle
from bellcrank.library.vehicles.controllers.parts import Controls
from bellcrank.library.vehicles.coupling import MOTOR, add_coupled
from bellcrank.library.vehicles.data import CarData
from bellcrank.library.vehicles.gearbox import add_clutch, add_gears, add_rotor
from bellcrank.library.vehicles.motor import drive_share, has_clutch, is_coupled
from bellcrank.library.vehicles.parameters import put
from bellcrank.library.vehicles.records import Differential, Drive, Pairs
from bellcrank.library.vehicles.trailers import SIDES

BEYOND = 1.02  # of the highest speed of a map, where nothing is left


def add_drive(
    s: System,
    car: CarData,
    wheels: dict[str, BodyHandle],
    carriers: dict[str, BodyHandle],
    bodies: Mapping[str, BodyHandle],
    drive: str,
    weight: float,
    controls: Controls,
) -> None:
    """Torques of the drive on the wheels; `drive` is what is asked for, `controls` what controllers make of it."""
    given = car.sections.drive
    share = drive_share(given)
    put(s, "drive_front", share, "1", "fraction of the drive torque on the front axle", (0, 1))
    more = {a: put(s, f"drive_ratio_{a.name}", a.own.drive_ratio, "1",
                   f"drive torque of axle {a.name} over that of the rear axle") for a in car.added
            if a.own.drive_ratio > 0 and share < 1}  # fmt: skip
    behind = f"(1 - drive_front)/(1 + {' + '.join(more.values())})" if more else "(1 - drive_front)"
    parts = {"front": ("drive_front", share), "rear": (behind, 1 - share)}
    driven = [axle for axle in (car.front, car.rear) if parts[axle.name][1] > 0]
    spins = [f"{parts[a.name][0]}*(u({a.name[0]}l.wheel) + u({a.name[0]}r.wheel))/2" for a in driven]
    spins += [f"{behind}*{r}*(u({a.wheel('l')}.wheel) + u({a.wheel('r')}.wheel))/2" for a, r in more.items()]
    s.define("driven_spin", " + ".join(spins))
    if is_coupled(given):
        turning = [*(axle.record.wheel for axle in driven), *(added.record.wheel for added in more)]
        inertia = sum(2 * wheel.spin_inertia for wheel in turning)
        _add_coupled_motor(s, given, drive, weight, inertia, controls.factors)
    else:
        _add_limits(s, given, drive, weight, controls.factors)
    centre = _add_centre(s, car, given.centre)
    fed = driven if centre is None else [car.front, car.rear]
    for axle, sign in ((car.front, "-"), (car.rear, "+")):
        part = f"driving*{parts[axle.name][0]}"
        if axle.record.motor is not None:
            part = add_axle_motor(s, axle.name, axle.record.motor, part, bodies[axle.name])
        if centre is not None:
            part = f"({part} {sign} {centre})"
        held = _add_differential(s, axle, part) if axle in fed else None
        for side, moves in (("l", "-"), ("r", "+")):
            name = f"{axle.name[0]}{side}"
            against = bodies[axle.name] if given.reaction == "body" else carriers[name]
            torque = " + ".join(
                [f"{name}.drive_torque", *controls.drive[name], *([f"{part}/2"] if axle in fed else [])]
            )
            s.add_moment(
                f"{name}.drive", magnitude=torque + (f" {moves} {held}" if held else ""),
                direction=wheels[name][2], on=wheels[name], against=against, label=f"drive of {name}",
            )  # fmt: skip
    for added, ratio in more.items():
        for name in map(added.wheel, SIDES):
            carrier = added.full_name if added.rigid else name
            body = bodies[car.part(added.record.at[0])]
            s.add_moment(f"{name}.drive", magnitude=f"driving*{behind}*{ratio}/2", direction=f"[{name}.wheel2]",
                         on=f"{name}.wheel", against=body if given.reaction == "body" else carrier,
                         label=f"drive of {name}")  # fmt: skip
    if given.map is not None and given.inertia > 0 and not is_coupled(given):
        add_rotor(s, given, bodies["front"], spins)


def _add_limits(s: System, given: Drive, drive: str, weight: float, factors: Sequence[str]) -> None:
    """Defines driving: what is asked for, between what the motor drives and brakes with at most; controllers reduce
    what accelerates the wheels by `factors`."""
    most = _add_wheel_limits(s, given)
    least = list(most)
    if given.map is not None:
        drives, brakes = _add_motor(s, given, drive, weight)
        most, least = [*most, drives], [*least, brakes]
    within = "driving_asked" if factors else "driving"
    if factors:
        s.define("driving", f"{within}*where({within}*driven_spin >= 0, {'*'.join(factors)}, 1)")
    if not most:
        s.define(within, drive)
        return
    upper, lower = (listed[0] if len(listed) == 1 else f"min({', '.join(listed)})" for listed in (most, least))
    s.define("drive_limit", upper)
    s.define("drag_limit", lower)
    sign = "" if given.map is None else "gear_sign*"
    s.define(within, f"{sign}max(-drag_limit, min(drive_limit, {sign}({drive})))")


def _add_wheel_limits(s: System, given: Drive) -> list[str]:
    """Largest drive torques of the file at the wheels."""
    most = []
    if given.torque is not None:
        most.append(put(s, "drive_most", given.torque, "F*L", "largest drive torque"))
    if given.power is not None:
        put(s, "power_most", given.power, "F*L/T", "largest power at the wheels")
        most.append("power_most/max(abs(driven_spin), 1)")
    return most


def _add_coupled_motor(
    s: System, given: Drive, drive: str, weight: float, inertia: float, factors: Sequence[str]
) -> None:
    """Defines driving by a motor behind a clutch or a torque converter; `inertia`: of the driven wheels (kg m^2)."""
    assert given.map is not None and given.drag is not None
    for most in _add_wheel_limits(s, given):
        drive = f"max(-{most}, min({most}, {drive}))"
    add_gears(s, given, drive)
    s.define("motor_spin", MOTOR)
    s.define("motor_most", _add_map(s, "motor_full", given.map))
    s.define("motor_drags", _add_map(s, "motor_drag", given.drag))
    add_coupled(s, given, drive, weight, inertia, factors)
    s.define("drive_limit", "efficiency*ratio*motor_most")
    s.add_output("motor_speed", "motor_spin", label="speed of the motor", units="rpm")
    s.add_output("gear_ratio", "ratio", label="ratio of motor over wheels", units="1")


def _add_motor(s: System, given: Drive, drive: str, weight: float) -> tuple[str, str]:
    """What the motor drives and brakes with at most in its gear, at the wheels."""
    assert given.map is not None
    add_gears(s, given, drive)
    add_clutch(s, given, weight)
    put(s, "efficiency", given.efficiency, "1", "efficiency from motor to wheels", (0.5, 1.0))
    s.require_positive("efficiency")
    if has_clutch(given):
        s.define("motor_spin", "clutch*gear_sign*driven_spin*ratio + (1 - clutch)*idle")
    else:
        s.define("motor_spin", "abs(driven_spin)*ratio")
    s.add_output("motor_speed", "motor_spin", label="speed of the motor", units="rpm")
    s.add_output("gear_ratio", "ratio", label="ratio of motor over wheels", units="1")
    full = _add_map(s, "motor_full", given.map)
    drag = full if given.drag is None else _add_map(s, "motor_drag", given.drag)
    s.add_output(
        "motor_torque",
        "gear_sign*driving/ratio/where(gear_sign*driving > 0, efficiency, 1/efficiency)",
        label="motor torque",
        units="F*L",
    )
    return f"unbraked*efficiency*ratio*{full}", f"clutch*ratio*{drag}/efficiency"


def _add_map(s: System, name: str, points: Pairs) -> str:
    """A table over the speed of the motor: as its first point below it, nothing past the last."""
    speeds, moments = (list(column) for column in zip(*points))
    end = BEYOND * speeds[-1]
    s.define(name, table([*speeds, end, end + 1.0], [*moments, 0.0, 0.0]))
    return f"{name}(min({end + 1.0!r}, max({speeds[0]!r}, motor_spin)))"


def _add_differential(s: System, axle: FittedAxle, part: str) -> str | None:
    """Defines the moment that a differential moves from the left wheel to the right one; None if it is open."""
    name = axle.name
    left, right = (f"u({name[0]}{side}.wheel)" for side in "lr")
    held = _add_lock(s, axle.record.differential, name, f"({left} - {right})", part, axle.record.wheel.spin_inertia)
    if held is not None:
        label = f"right minus left wheel torque, {name} differential"
        s.add_output(f"{name}.locking", f"2*{held}", label=label, units="F*L")
    return held


def _add_centre(s: System, car: CarData, given: Differential | None) -> str | None:
    """Defines the moment that a centre differential moves from the front axle to the rear one; None if it is open."""
    front, rear = (f"(u({axle[0]}l.wheel) + u({axle[0]}r.wheel))/2" for axle in ("front", "rear"))
    inertia = 2 * min(axle.record.wheel.spin_inertia for axle in (car.front, car.rear))
    held = _add_lock(s, given, "centre", f"({front} - {rear})", "driving", inertia)
    if held is not None:
        label = "rear minus front axle torque, centre differential"
        s.add_output("centre.locking", f"2*{held}", label=label, units="F*L")
    return held


def _add_lock(s: System, given: Differential | None, name: str, faster: str, part: str, inertia: float) -> str | None:
    """Defines the moment between two shafts, one `faster` by a speed than the other, under the torque `part`."""
    if given is None or given.kind == "open":
        return None
    words = f"{name} differential"
    k = put(s, f"k_shaft_{name}", RING**2 * inertia, "F*L/A", f"elasticity of the {words}")
    moved = f"{name}.differential"
    if given.kind == "locked":
        s.add_state(f"{moved}.turn", rate=faster, units="A", label=f"twist of the {words}")
        s.define(f"{moved}.held", f"{k}*({moved}.turn + {HELD}*{faster})")
    else:
        preload = put(s, f"preload_{name}", given.preload, "F*L", f"{words}: torque between the wheels without drive")
        lock = put(s, f"lock_{name}", given.lock, "1", f"{words}: locking fraction of the drive torque")
        coast = given.lock if given.lock_coast is None else given.lock_coast
        put(s, f"lock_coast_{name}", coast, "1", f"{words}: locking fraction of the overrun torque")
        share = f"where({part} > 0, {lock}, lock_coast_{name})"
        limit = f"({preload} + {share}*abs({part}))/2"
        add_friction(s, moved, faster, limit, k, words)
    return f"{moved}.held"
