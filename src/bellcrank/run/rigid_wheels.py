"""Rigid wheels on the ground: flight, impact, rolling, with the time of every change found within the step.

A run driven by Python; compiled models have the same rules in C (`kernel/rigid.c`). The
model has for each wheel the inputs fx, fz, m (force of the ground on its centre, moment on the wheel) and the outputs
x, z, vx, vz, spin, ax, az, turn (place, velocity and acceleration of the centre; speed and acceleration of its rim).
Since rates depend linearly on the inputs, what the ground has to exert follows from the response to unit forces.

Impact: the normal speed v_n becomes -e_n v_n, the slip v_t becomes e_t v_t. A wheel that would bounce for less than a
step rolls: its normal speed and, if it turns, its slip stay zero until the ground would have to pull. Impact steps:
van Iwaarden (2003), section 4.3; response to forces: Pfeiffer & Glocker (1996), Multibody Dynamics with Unilateral
Contacts, ch. 5 and 8.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bellcrank.backend.start import Carried
from bellcrank.model.contact import RigidContact
from bellcrank.numeric.course import Course, Part
from bellcrank.numeric.events import Event, Rows, Watch
from bellcrank.numeric.tuning import RIGID_WHEELS as RULES
from bellcrank.run.stepping import Evaluation, PythonRun


@dataclass
class Wheel:
    """A wheel of a run: where its inputs and outputs stand, and whether it rolls."""

    contact: RigidContact
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    rolls: bool = False
    part: Any = None  # of the ground that it rolls on
    near: Any = None  # its place there
    held: bool = False  # in a notch, between the side of `near` and one with the normal `other`
    other: tuple[float, float] = (0.0, 0.0)
    turned: int = 0  # how often it went to and fro between two sides, and when for the last time
    turned_at: float = 0.0

    def over(self, x: float, z: float) -> tuple[Any, float, bool]:
        """The part of the ground that it rolls on; how the normal turns there; is it still over it?"""
        return self.contact.terrain.on_part(self.part, self.near, x, z)

    @property
    def normal(self) -> tuple[float, float]:
        return (0.0, 1.0) if self.near is None else (self.near.normal_x, self.near.normal_z)


NEAR = ("distance", "normal_x", "normal_z", "foot_x", "foot_z")


def as_numbers(w: Wheel) -> list[float]:
    """How a wheel stands, in numbers."""
    near = [0.0, 0.0, 1.0, 0.0, 0.0] if w.near is None else [getattr(w.near, name) for name in NEAR]
    return [float(w.rolls) + float(w.held), float(w.part or 0), *near, *w.other, float(w.turned), w.turned_at]


def as_wheels(wheels: Sequence[Wheel], modes: Sequence[Sequence[float]]) -> list[Wheel]:
    """Wheels that stand as numbers say."""
    found = []
    for w, (rolls, part, *near, ox, oz, turned, turned_at) in zip(wheels, modes, strict=True):
        place = w.contact.terrain.nearest(0.0, 0.0)._replace(**dict(zip(NEAR, near, strict=True)))
        now = replace(w, rolls=rolls > 0, held=rolls > 1, part=int(part), near=place, other=(ox, oz))
        found.append(replace(now, turned=int(turned), turned_at=turned_at))
    return found


class RigidRun(PythonRun):
    """A run with a fixed step, shortened where wheels touch, roll off or come to another part of the ground."""

    def __init__(
        self, evaluation: Evaluation, course: Course, state: np.ndarray, wheels: Sequence[Wheel], watch: Watch
    ) -> None:
        super().__init__(evaluation, course, state)
        self.wheels, self.watch = list(wheels), watch
        self.t = course.t_start
        self.modes: list[Any] = []  # of the wheels at every recorded step
        self.looked = self  # the run at the last row within a step

    def _begin(self, t: float, live: int = 1) -> None:
        self.t = t
        self._land()

    def _step(self, i: int) -> bool:
        for part in self.course.parts(i):
            self.move(part)
            if not np.all(np.isfinite(self.state)):
                self.bad = self.state
                return False
            if part.last:
                self.evaluation.hold(part.after, self.state)
        return True

    def carried(self) -> Carried:
        found = super().carried()
        return replace(found, inside={**(found.inside or {}), "wheels": [replace(w) for w in self.wheels], "t": self.t})

    def take(self, carried: Carried) -> None:
        super().take(carried)
        if self._begun and carried.inside is not None:
            self.wheels, self.t = [replace(w) for w in carried.inside["wheels"]], carried.inside["t"]
        elif carried.wheels is not None:
            self.wheels = as_wheels(self.wheels, carried.wheels)
        self.modes.append([replace(w) for w in self.wheels])

    def move(self, part: Part) -> None:
        """A step, or a part of one."""
        left = part.h
        while left > 0 and np.all(np.isfinite(self.state)):
            left = self._go(part, left)
        self.t = part.after

    # ---- a state that was changed

    def changed_to(self, e: Evaluation, y: np.ndarray) -> tuple[np.ndarray, list[tuple[str, float]]]:
        """Takes another state: wheels that roll do so on if they still can, all others land or fly. The state then,
        and which wheels were moved out of the ground, how far."""
        self.evaluation, self.state = e, np.array(y)
        base = self._outputs(self.t, self.state)
        for i, wheel in enumerate(self.wheels):
            if wheel.rolls:
                x, z, vx, vz = base[i, :4]
                near = wheel.near if wheel.held else wheel.over(x, z)[0]
                slip = self._measure(base[:, 2:5], [(i, d) for d in self._held_by(i, near)])
                off = abs(near.distance - wheel.contact.radius) > RULES.touch and not wheel.held
                if off or np.abs(slip).max() > RULES.creep * (1 + math.hypot(vx, vz)):
                    wheel.rolls = wheel.held = False
        raised = self.raise_wheels()
        self._land()
        return self.state, raised

    def slope(self, t: float, y: np.ndarray) -> np.ndarray:
        """Rates with the forces of the ground."""
        return self._slope(t, y)

    def row_of(self, t: float, y: np.ndarray) -> np.ndarray:
        """The row of a state with wheels as they stand."""
        at = self._at(t, y, self._ground(t, y))
        return np.array([t, *y, *self.evaluation.model.outputs(*at), *at[5]])

    def modes_now(self) -> list[list[float]]:
        """How wheels stand, in numbers: as in `rigid.c`."""
        return [as_numbers(w) for w in self.wheels]

    # ---- the model with forces of the ground

    def _at(self, t: float, y: np.ndarray, forces: np.ndarray | None = None) -> Any:
        at = self.evaluation.at(t, y)
        if forces is not None:
            for wheel, values in zip(self.wheels, forces, strict=True):
                for place, value in zip(wheel.inputs, values, strict=False):  # no moment on a wheel that does not turn
                    at[5][place] = value  # type: ignore[index]
        return at

    def _outputs(self, t: float, y: np.ndarray, forces: np.ndarray | None = None) -> np.ndarray:
        """One row per wheel: x, z, vx, vz, spin, ax, az, turn."""
        values = np.asarray(self.evaluation.model.outputs(*self._at(t, y, forces)))
        return np.array([values[list(w.outputs)] for w in self.wheels])

    def _row(self, t: float) -> np.ndarray:
        self.modes.append([replace(w) for w in self.wheels])
        return np.array([t, *self.row_of(self.t, self.state)[1:]])

    def row_again(self) -> np.ndarray:
        return self._row(self.time)

    def _near(self, wheel: Wheel, x: float, z: float) -> Any:
        return wheel.contact.terrain.nearest(x, z, wheel.contact.radius + 1.0)

    # ---- rolling

    def _directions(self, i: int, near: Any) -> list[np.ndarray]:
        """Forces (fx, fz, m) of unit size along the normal and, for wheels that turn, along the ground at the rim."""
        n = np.array([near.normal_x, near.normal_z, 0.0])
        t = np.array([near.normal_z, -near.normal_x, -self.wheels[i].contact.radius])
        return [n, t] if self.wheels[i].contact.turns else [n]

    def _held_by(self, i: int, near: Any) -> list[np.ndarray]:
        """The same for a wheel in its present mode: one that is held moves in no way."""
        if not self.wheels[i].held:
            return self._directions(i, near)
        return list(np.diag([1.0, 1.0, -self.wheels[i].contact.radius]))[: 3 if self.wheels[i].contact.turns else 2]

    def _units(self, rolling: Sequence[int], nears: dict[int, Any]) -> list[tuple[int, np.ndarray]]:
        return [(i, d) for i in rolling for d in self._held_by(i, nears.get(i))]

    def _spread(self, units: Sequence[tuple[int, np.ndarray]], sizes: Any) -> np.ndarray:
        forces = np.zeros((len(self.wheels), 3))
        for (i, d), size in zip(units, sizes, strict=True):
            forces[i] += size * d
        return forces

    def _measure(self, values: np.ndarray, units: Sequence[tuple[int, np.ndarray]]) -> np.ndarray:
        """Components of velocity or acceleration (x, z, rim) that the unit forces work on."""
        return np.array([d[0] * values[i, 0] + d[1] * values[i, 1] + np.sign(d[2]) * values[i, 2] for i, d in units])

    def _ground(self, t: float, y: np.ndarray) -> np.ndarray | None:
        """Forces of the ground on the wheels that roll."""
        rolling = [i for i, w in enumerate(self.wheels) if w.rolls]
        if not rolling:
            return None
        base = self._outputs(t, y)
        free_to_roll = [i for i in rolling if not self.wheels[i].held]
        over = {i: self.wheels[i].over(base[i, 0], base[i, 1]) for i in free_to_roll}
        nears = {i: near for i, (near, _, _) in over.items()}
        units = self._units(rolling, nears)
        target = np.zeros(len(units))
        for k, (i, d) in enumerate(units):
            if self.wheels[i].held:
                continue
            n, bend, _ = over[i]
            along = n.normal_z * base[i, 2] - n.normal_x * base[i, 3]
            rise = n.normal_x * base[i, 2] + n.normal_z * base[i, 3]
            # rates of the unit vectors: n' = bend*along*t, t' = -bend*along*n
            target[k] = -bend * along**2 if d[2] == 0 else bend * along * rise
        matrix, free = self._response(t, y, units, base[:, 5:8])
        braking = self._braking(free_to_roll, nears, base)
        if braking is not None:
            free = self._measure(self._outputs(t, y, braking)[:, 5:8], units)
        forces = self._spread(units, _solved(matrix, target - free))
        return forces if braking is None else forces + braking

    def _braking(self, rolling: Sequence[int], nears: dict[int, Any], base: np.ndarray) -> np.ndarray | None:
        """Forces of rolling resistance, if there are any."""
        forces = np.zeros((len(self.wheels), 3))
        for i in rolling:
            n = nears[i]
            size = -self.wheels[i].contact.resistance * (n.normal_z * base[i, 2] - n.normal_x * base[i, 3])
            forces[i, :2] = size * n.normal_z, -size * n.normal_x
        return forces if forces.any() else None

    def _response(
        self, t: float, y: np.ndarray, units: Sequence[tuple[int, np.ndarray]], base: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Accelerations along the units per unit force, and without forces."""
        free = self._measure(base, units)
        columns = [self._measure(self._outputs(t, y, self._spread([u], [1.0]))[:, 5:8], units) - free for u in units]
        return np.array(columns).T, free

    def _slope(self, t: float, y: np.ndarray) -> np.ndarray:
        qdot, udot = self.evaluation.model.derivatives(*self._at(t, y, self._ground(t, y)))
        return np.array([*qdot, *udot])

    def _after(self, h: float, end: float) -> np.ndarray:
        """The state after a step of length h, which ends at a time."""
        times = self.t, self.t + h / 2, end
        with np.errstate(all="ignore"):
            return self._advance(self._slope, times, self.state, h, self._slope(self.t, self.state), None)

    # ---- a step

    def _go(self, part: Part, left: float) -> float:
        """Goes on to the end of a part of a step, or to the first change on the way; what is left of it then."""
        self._release()
        floors = self._floors()
        h = min(left, self._longest())
        end = part.before if h == left else self.t + h
        new = self._after(h, end)
        if np.all(np.isfinite(new)) and self._changed(end, new, floors):
            good, bad = 0.0, h
            for _ in range(RULES.halvings):
                middle = 0.5 * (good + bad)
                if not good < middle < bad or bad - good < RULES.instant * max(1.0, self.t):
                    break
                trial = self._after(middle, self.t + middle)
                if self._changed(self.t + middle, trial, floors):
                    bad, new = middle, trial
                else:
                    good = middle
            h = bad
        self.t = part.before if h == left else self.t + h
        self.state = new
        if np.all(np.isfinite(new)):
            self._land()
        return left - h if h < left else 0.0

    def _longest(self) -> float:
        """A step in which wheels on curved ground turn their normal by a small angle."""
        h = math.inf
        if any(w.rolls for w in self.wheels):
            for wheel, row in zip(self.wheels, self._outputs(self.t, self.state), strict=True):
                if wheel.rolls and not wheel.held:
                    _, bend, _ = wheel.over(row[0], row[1])
                    if bend:  # which may be small here and large a little farther on
                        turn = max(abs(bend), RULES.fine / wheel.contact.radius)
                        h = min(h, RULES.bent / max(turn * math.hypot(row[2], row[3]), RULES.creep))
        return max(h, RULES.shortest * self.course.step)

    def _floors(self) -> list[float]:
        """How near to the ground wheels may come in a step; one that got into it, in a narrow place, may leave it."""
        found = []
        for wheel, row in zip(self.wheels, self._outputs(self.t, self.state), strict=True):
            usual = wheel.contact.radius - (RULES.touch if wheel.rolls else 0.0)
            now = self._near(wheel, row[0], row[1]).distance
            found.append(min(now - RULES.deeper, usual) if now < usual else usual)
        return found

    def _changed(self, t: float, y: np.ndarray, floors: Sequence[float]) -> bool:
        """Has a wheel in flight entered the ground, or a wheel that rolls come to another part of it?"""
        for wheel, row, floor in zip(self.wheels, self._outputs(t, y), floors, strict=True):
            if wheel.held:
                continue
            x, z = row[:2]
            if self._near(wheel, x, z).distance < floor or (wheel.rolls and not wheel.over(x, z)[2]):
                return True
        return min(self._loads(t, y), default=(0.0, 0))[0] < 0

    def _loads(self, t: float, y: np.ndarray) -> list[tuple[float, int]]:
        """Normal forces on the wheels that roll, and which these are."""
        forces = self._ground(t, y)
        if forces is None:
            return []
        rows = self._outputs(t, y)
        found = []
        for i, wheel in enumerate(self.wheels):
            if wheel.held:
                found.append((min(_sides(wheel, forces[i])), i))
            elif wheel.rolls:
                near, _, _ = wheel.over(rows[i, 0], rows[i, 1])
                found.append((float(forces[i, 0] * near.normal_x + forces[i, 1] * near.normal_z), i))
        return found

    def _release(self) -> None:
        """Lets go of wheels that the ground would have to pull."""
        for _ in range(len(self.wheels) + 1):
            least = min(self._loads(self.t, self.state), default=(0.0, 0))
            if least[0] >= 0:
                return
            lifted = self.wheels[least[1]]
            if lifted.held:
                self._let_go(least[1])
                continue
            lifted.rolls = False
            self._tell(lifted, "leaves the ground")

    def _let_go(self, i: int) -> None:
        """Lets a wheel in a notch roll on the side that carries it."""
        wheel, forces = self.wheels[i], self._ground(self.t, self.state)
        assert forces is not None
        one, other = _sides(wheel, forces[i])
        nx, nz = wheel.normal if other < one else wheel.other
        x, z = self._outputs(self.t, self.state)[i, :2]
        off = RULES.aside * wheel.contact.radius
        wheel.near = self._near(wheel, x - off * nx, z - off * nz)  # deeper in that side than in the other
        wheel.held, wheel.turned, wheel.part = False, 0, wheel.contact.terrain.shape(wheel.near)[0]

    def _tell(self, wheel: Wheel, what: str) -> None:
        self.watch.events.append(Event(f"{wheel.contact.name} {what}", self.t))

    # ---- impact

    def _land(self) -> None:
        """Deals with all wheels that touch the ground: impacts, begin of rolling; those that roll stay on it."""
        for count in range(RULES.impacts):
            hits = [(i, near) for i in range(len(self.wheels)) if (near := self._hit(i, count)) is not None]
            if not hits:
                break
            for i, near in hits:
                self._strike(i, near, count)
        self._keep()

    def _hit(self, i: int, count: int) -> Any:
        """The ground that a wheel is on and moves into, if any."""
        wheel = self.wheels[i]
        if wheel.held:
            return None
        x, z, vx, vz, _, ax, az, _ = self._outputs(self.t, self.state)[i]
        here = self._near(wheel, x, z)
        if here.distance - wheel.contact.radius > RULES.touch:
            return None
        reach = RULES.ahead
        if wheel.rolls and wheel.over(x, z)[1] * wheel.contact.radius < RULES.narrow:
            reach = RULES.peek * wheel.contact.radius / max(math.hypot(vx, vz), RULES.creep)
        ahead = self._near(wheel, x + reach * vx, z + reach * vz)
        for near in (here, ahead):
            speed = near.normal_x * vx + near.normal_z * vz
            if speed < -RULES.creep * (1 + math.hypot(vx, vz)) * (1 + RULES.after * count):
                return near
        rise, pull = (here.normal_x * a + here.normal_z * b for a, b in ((vx, vz), (-ax, -az)))
        # one that lies on the ground, or would come back to it at once
        return here if not wheel.rolls and pull > 0 and 4 * rise <= pull * self.course.step else None

    def _strike(self, i: int, near: Any, count: int) -> None:
        wheel = self.wheels[i]
        base = self._outputs(self.t, self.state)
        units = [(i, d) for d in self._directions(i, near)]
        before = self._measure(base[:, 2:5], units)
        e_n, e_t = wheel.contact.restitution
        pull = -(near.normal_x * base[i, 5] + near.normal_z * base[i, 6])  # towards the ground, without its force
        rebound = -e_n * before[0]
        rolls = pull > 0 and 2 * rebound <= pull * self.course.step
        if rolls or count > RULES.impacts // 2:
            after = np.zeros_like(before)
        else:
            after = np.array([rebound, *(e_t * before[1:])])
        matrix, _ = self._response(self.t, self.state, units, base[:, 5:8])
        impulse = _solved(matrix, after - before)
        if impulse @ (before + after) > 0:  # its work is half of this: unequal restitution must not add energy
            after = -e_n * before
            impulse = _solved(matrix, after - before)
        self._push(units, impulse)
        if rolls and not wheel.rolls:
            self._tell(wheel, "rolls")
        elif not rolls and count == 0:
            self._tell(wheel, "impact")
        wheel.rolls = bool(rolls)
        wheel.part = wheel.contact.terrain.shape(near)[0]
        if rolls:
            self._note_turn(wheel, near)
            wheel.near = near

    def _push(self, units: Sequence[tuple[int, np.ndarray]], impulse: np.ndarray) -> None:
        """Changes the speeds by impulses along unit forces."""
        y, n_q = self.state, self.evaluation.n_q
        self.state = np.concatenate([y[:n_q], y[n_q:] + self._change(units, impulse)])

    def _change(self, units: Sequence[tuple[int, np.ndarray]], impulse: np.ndarray) -> np.ndarray:
        """What impulses along unit forces change of the speeds."""
        with_it, without = (
            self.evaluation.model.derivatives(*self._at(self.t, self.state, forces))[1]
            for forces in (self._spread(units, impulse), None)
        )
        return np.asarray(with_it) - np.asarray(without)

    def _keep(self) -> None:
        """Takes wheels that roll back onto the ground, and stops what moves them off it."""
        rolling = [i for i, w in enumerate(self.wheels) if w.rolls]
        if not rolling:
            return
        for moves in (False, True):
            base = self._outputs(self.t, self.state)
            nears = {}
            for i in (i for i in rolling if not self.wheels[i].held):
                wheel, (x, z, vx, vz) = self.wheels[i], base[i, :4]
                nears[i] = self._roll_on(wheel, x, z, vx, vz) if moves else wheel.over(x, z)[0]
                if wheel.turned >= RULES.flips:
                    wheel.held = True
                    self._tell(wheel, "is held in a notch")
            units = self._units(rolling, nears)
            matrix, _ = self._response(self.t, self.state, units, base[:, 5:8])
            right = -self._measure(base[:, 2:5], units) if moves else self._gaps(units, nears)
            (self._push if moves else self.shift)(units, _solved(matrix, right))

    def _gaps(self, units: Sequence[tuple[int, np.ndarray]], nears: dict[int, Any]) -> np.ndarray:
        """How far wheels that roll are to be moved along each unit."""
        gaps = {i: self.wheels[i].contact.radius - near.distance for i, near in nears.items()}
        return np.array([gaps.get(i, 0.0) if d[2] == 0 and not self.wheels[i].held else 0.0 for i, d in units])

    def _roll_on(self, wheel: Wheel, x: float, z: float, vx: float, vz: float) -> Any:
        """The ground of a wheel that rolls on: where it leaves its part, the one that it moves along."""
        near, _, _ = wheel.over(x, z)
        place = x + RULES.ahead * vx, z + RULES.ahead * vz
        ahead, _, stays = wheel.over(*place)
        if not stays:
            wheel.part, ahead = wheel.contact.terrain.next_part(wheel.part, ahead, *place)
            near, _, _ = wheel.contact.terrain.on_part(wheel.part, ahead, x, z)
            self._note_turn(wheel, near)
        wheel.near = near
        return near

    def _note_turn(self, wheel: Wheel, near: Any) -> None:
        """A new normal of a wheel that rolls: how often has it gone to and fro between the sides of a notch?"""

        def turn(normal: tuple[float, float]) -> float:
            return abs(normal[0] * near.normal_z - normal[1] * near.normal_x)

        if turn(wheel.normal) < RULES.bent:
            return
        back = turn(wheel.other) < RULES.bent and self.t - wheel.turned_at < RULES.soon * self.course.step
        wheel.turned = wheel.turned + 1 if back else 0
        wheel.turned_at, wheel.other = self.t, wheel.normal

    def shift(self, units: Sequence[tuple[int, np.ndarray]], sizes: np.ndarray) -> None:
        """Changes the coordinates as impulses would change the speeds."""
        y, n_q = self.state, self.evaluation.n_q
        moving = np.concatenate([y[:n_q], self._change(units, sizes)])
        qdot = np.asarray(self.evaluation.model.derivatives(*self._at(self.t, moving))[0])
        self.state = np.concatenate([y[:n_q] + qdot, y[n_q:]])

    def raise_wheels(self) -> list[tuple[str, float]]:
        """Moves wheels that start below ground out of it; which, and how deep they were."""
        found: dict[str, float] = {}
        for _ in range(20):
            base = self._outputs(self.t, self.state)
            deep = []
            for i, w in enumerate(self.wheels):
                near = self._near(w, base[i, 0], base[i, 1])
                if near.distance < w.contact.radius - RULES.touch:
                    deep.append((i, near, w.contact.radius - near.distance))
                    found.setdefault(w.contact.name, w.contact.radius - near.distance)
            if not deep:
                break
            for i, near, depth in deep:
                unit = (i, np.array([near.normal_x, near.normal_z, 0.0]))
                matrix, _ = self._response(self.t, self.state, [unit], base[:, 5:8])
                self.shift([unit], np.array([depth / matrix[0, 0]]))
        return list(found.items())

    def within_as(self, wheels: Sequence[Wheel], i: int, row: np.ndarray) -> Rows:
        """Rows at times within step i, which starts from the row given with wheels as they were then."""
        start = row[1 : 1 + self.evaluation.n_s]

        def row_at(t: float) -> np.ndarray:
            run = RigidRun(self.evaluation, self.course, start, [replace(w) for w in wheels], Watch())
            run.t = self.course.begin(i)
            for part in self.course.parts(i, until=t):
                run.move(part)
            self.looked = run
            return run._row(t)

        return row_at


def _solved(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    return np.asarray(np.linalg.lstsq(matrix, right, rcond=RULES.stuck)[0])


def _sides(wheel: Wheel, force: np.ndarray) -> tuple[float, float]:
    """Loads of the two sides of a notch; friction, which takes the moment, is shared by them."""
    (nx, nz), (ox, oz) = wheel.normal, wheel.other
    share = -0.5 * force[2] / wheel.contact.radius
    x, z, det = force[0] - share * (nz + oz), force[1] + share * (nx + ox), nx * oz - nz * ox
    return float((x * oz - z * ox) / det), float((nx * z - nz * x) / det)
