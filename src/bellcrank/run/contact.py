"""Rigid wheels on the ground: flight, impact, rolling, with the time of every change found within the step.

A run like `PythonRun`, of a model that has for each wheel the inputs fx, fz, m (force of the ground on its centre, moment on the
wheel) and the outputs x, z, vx, vz, spin, ax, az, turn (place, velocity and acceleration of the centre; speed and acceleration of
its rim). Since rates depend linearly on the inputs, what the ground has to exert follows from the response to unit forces.

Impact: the normal speed v_n becomes -e_n v_n, the slip v_t becomes e_t v_t. A wheel that would bounce for less than a step
rolls: its normal speed and, if it turns, its slip stay zero until the ground would have to pull.
Impact steps: van Iwaarden (2003), section 4.3; response to forces: Pfeiffer & Glocker (1996), Multibody Dynamics with Unilateral
Contacts, ch. 5 and 8.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bellcrank.build.arguments import Course
from bellcrank.build.c import FINISHED, NOT_FINITE
from bellcrank.run.stepping import Evaluation
from bellcrank.run.watch import Event, Watch

TOUCH = 1e-10  # length by which a wheel may be off the ground that it rolls on
BENT = 0.003  # rad by which the normal may turn in a step of a wheel that rolls on curved ground
FINE = 0.3  # what curved ground turns at least, in a radius, for this
AHEAD = 1e-7  # s, to see into which part of the ground a wheel moves
NARROW = -20.0  # turn of the normal in a radius from which on a valley is a notch: the wheel hits its other side
IMPACTS = 50  # at one instant
HALVINGS = 60


@dataclass
class Wheel:
    """A wheel of a run: where its inputs and outputs stand, and whether it rolls."""

    name: str
    terrain: Any
    radius: float
    restitution: tuple[float, float]
    turns: bool  # can it roll without slipping?
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    rolls: bool = field(default=False)
    part: Any = None  # of the ground that it rolls on
    normal: tuple[float, float] = (0.0, 1.0)  # there


class RigidRun:
    """A run with a fixed step, shortened where wheels touch, roll off or come to another part of the ground."""

    def __init__(
        self, evaluation: Evaluation, course: Course, state: np.ndarray, wheels: Sequence[Wheel], watch: Watch
    ) -> None:
        self.e, self.course, self.wheels, self.watch = evaluation, course, list(wheels), watch
        self.state = np.array(state, dtype=float)
        self.bad = np.full_like(self.state, math.nan)
        self.rates = np.empty(0)
        self.reached, self.status, self.problem = 0, FINISHED, ""
        self.t = 0.0
        self.passages: list[Any] = []
        self._rough = False  # did a stage of the last step see another side of a valley?

    @property
    def time(self) -> float:
        return self.course.time(self.reached)

    def advance(self, last: int) -> np.ndarray:
        rows: list[np.ndarray] = []
        if self.reached == 0:
            self._land()
            rows.append(self._row())
        while self.reached < last:
            self.reached += 1
            end = self.course.time(self.reached)
            while self.t < end:
                self._go(end)
                if not np.all(np.isfinite(self.state)):
                    self.bad, self.status = self.state, NOT_FINITE
                    return np.array(rows)
            if self.reached % self.course.every == 0 or self.reached == self.course.total:
                rows.append(self._row())
        return np.array(rows)

    # ---- the model with forces of the ground

    def _at(self, t: float, y: np.ndarray, forces: np.ndarray | None = None) -> Any:
        at = self.e.at(t, y)
        if forces is not None:
            for wheel, values in zip(self.wheels, forces, strict=True):
                for place, value in zip(wheel.inputs, values, strict=False):  # no moment on a wheel that does not turn
                    at[5][place] = value  # type: ignore[index]
        return at

    def _outputs(self, t: float, y: np.ndarray, forces: np.ndarray | None = None) -> np.ndarray:
        """One row per wheel: x, z, vx, vz, spin, ax, az, turn."""
        values = np.asarray(self.e.model.outputs(*self._at(t, y, forces)))
        return np.array([values[list(w.outputs)] for w in self.wheels])

    def _speeds(self, t: float, y: np.ndarray, forces: np.ndarray | None = None) -> np.ndarray:
        return np.asarray(self.e.model.derivatives(*self._at(t, y, forces))[1])

    def _row(self) -> np.ndarray:
        at = self._at(self.t, self.state, self._ground(self.t, self.state))
        return np.array([self.t, *self.state, *self.e.model.outputs(*at), *at[5]])

    def _near(self, wheel: Wheel, x: float, z: float) -> Any:
        return wheel.terrain.nearest(x, z, wheel.radius + 1.0)

    # ---- rolling

    def _directions(self, i: int, near: Any) -> list[np.ndarray]:
        """Forces (fx, fz, m) of unit size along the normal and, for wheels that turn, along the ground at the rim."""
        n = np.array([near.normal_x, near.normal_z, 0.0])
        t = np.array([near.normal_z, -near.normal_x, -self.wheels[i].radius])
        return [n, t] if self.wheels[i].turns else [n]

    def _units(self, rolling: Sequence[int], nears: dict[int, Any]) -> list[tuple[int, np.ndarray]]:
        return [(i, d) for i in rolling for d in self._directions(i, nears[i])]

    def _spread(self, units: Sequence[tuple[int, np.ndarray]], sizes: Sequence[float]) -> np.ndarray:
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
        nears = {i: self._near(self.wheels[i], base[i, 0], base[i, 1]) for i in rolling}
        self._rough = self._rough or any(self._jumped(self.wheels[i], nears[i]) for i in rolling)
        units = self._units(rolling, nears)
        target = np.zeros(len(units))
        for k, (i, d) in enumerate(units):
            _, bend = self.wheels[i].terrain.shape(nears[i])
            n = nears[i]
            along = n.normal_z * base[i, 2] - n.normal_x * base[i, 3]
            rise = n.normal_x * base[i, 2] + n.normal_z * base[i, 3]
            # rates of the unit vectors: n' = bend*along*t, t' = -bend*along*n
            target[k] = -bend * along**2 if d[2] == 0 else bend * along * rise
        matrix, free = self._response(t, y, units, base[:, 5:8])
        return self._spread(units, np.linalg.lstsq(matrix, target - free, rcond=1e-12)[0])

    def _response(
        self, t: float, y: np.ndarray, units: Sequence[tuple[int, np.ndarray]], base: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Accelerations along the units per unit force, and without forces."""
        free = self._measure(base, units)
        columns = [self._measure(self._outputs(t, y, self._spread([u], [1.0]))[:, 5:8], units) - free for u in units]
        return np.array(columns).T, free

    def _slope(self, t: float, y: np.ndarray) -> np.ndarray:
        qdot, udot = self.e.model.derivatives(*self._at(t, y, self._ground(t, y)))
        return np.array([*qdot, *udot])

    def _moved(self, h: float) -> np.ndarray:
        """The state after a step of length h by the classical Runge-Kutta method."""
        t, y = self.t, self.state
        self._rough = False
        k1 = self._slope(t, y)
        k2 = self._slope(t + h / 2, y + h / 2 * k1)
        k3 = self._slope(t + h / 2, y + h / 2 * k2)
        k4 = self._slope(t + h, y + h * k3)
        return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)

    # ---- a step

    def _go(self, end: float) -> None:
        """Goes on to `end`, or to the first change on the way."""
        self._release()
        h = min(end - self.t, self._longest())
        whole = h == end - self.t
        new = self._moved(h)
        if self._changed(h, new):
            good, bad = 0.0, h
            before, rough = self.state, self._rough
            for _ in range(HALVINGS):
                middle = 0.5 * (good + bad)
                if not good < middle < bad or bad - good < 1e-14 * max(1.0, self.t):
                    break
                trial = self._moved(middle)
                if self._changed(middle, trial):
                    bad, new, rough = middle, trial, self._rough
                else:
                    good, before = middle, trial
            if rough and good > 0:  # the last state before the other side is touched; `_hit` looks ahead
                bad, new = good, before
            h, whole = bad, bad == end - self.t
        self.t = end if whole else self.t + h
        self.state = new
        self._land()

    def _longest(self) -> float:
        """A step in which wheels on curved ground turn their normal by a small angle."""
        h = math.inf
        if any(w.rolls for w in self.wheels):
            for wheel, row in zip(self.wheels, self._outputs(self.t, self.state), strict=True):
                if wheel.rolls:
                    _, bend = wheel.terrain.shape(self._near(wheel, row[0], row[1]))
                    if bend:
                        turn = max(
                            abs(bend), FINE / wheel.radius
                        )  # the bend may be small here and large a little farther on
                        h = min(h, BENT / max(turn * math.hypot(row[2], row[3]), 1e-9))
        return h

    def _changed(self, h: float, y: np.ndarray) -> bool:
        """Has a wheel in flight entered the ground, or a wheel that rolls come to another part of it?"""
        if self._rough:
            return True
        for wheel, row in zip(self.wheels, self._outputs(self.t + h, y), strict=True):
            near = self._near(wheel, row[0], row[1])
            if near.distance < wheel.radius - (TOUCH if wheel.rolls else 0.0):
                return True
            if wheel.rolls and (wheel.terrain.shape(near)[0] != wheel.part or self._jumped(wheel, near)):
                return True
        return min(self._loads(self.t + h, y), default=(0.0, 0))[0] < 0

    def _jumped(self, wheel: Wheel, near: Any) -> bool:
        """Does a wheel in a narrow valley touch its other side?"""
        turned = wheel.normal[0] * near.normal_z - wheel.normal[1] * near.normal_x
        return abs(turned) > 10 * BENT

    def _loads(self, t: float, y: np.ndarray) -> list[tuple[float, int]]:
        """Normal forces on the wheels that roll, and which these are."""
        forces = self._ground(t, y)
        if forces is None:
            return []
        rows = self._outputs(t, y)
        found = []
        for i, wheel in enumerate(self.wheels):
            if wheel.rolls:
                near = self._near(wheel, rows[i, 0], rows[i, 1])
                found.append((float(forces[i, 0] * near.normal_x + forces[i, 1] * near.normal_z), i))
        return found

    def _release(self) -> None:
        """Lets go of wheels that the ground would have to pull."""
        for _ in range(len(self.wheels) + 1):
            least = min(self._loads(self.t, self.state), default=(0.0, 0))
            if least[0] >= 0:
                return
            lifted = self.wheels[least[1]]
            lifted.rolls = False
            self._tell(lifted, "leaves the ground")

    def _tell(self, wheel: Wheel, what: str) -> None:
        self.watch.events.append(Event(f"{wheel.name} {what}", self.t))

    # ---- impact

    def _land(self) -> None:
        """Deals with all wheels that touch the ground: impacts, begin of rolling; those that roll stay on it."""
        for count in range(IMPACTS):
            hits = [(i, near) for i in range(len(self.wheels)) if (near := self._hit(i, count)) is not None]
            if not hits:
                break
            for i, near in hits:
                self._strike(i, near, count)
        self._keep()

    def _hit(self, i: int, count: int) -> Any:
        """The ground that a wheel is on and moves into, if any."""
        wheel = self.wheels[i]
        x, z, vx, vz, _, ax, az, _ = self._outputs(self.t, self.state)[i]
        here = self._near(wheel, x, z)
        if here.distance - wheel.radius > TOUCH:
            return None
        reach = AHEAD
        if wheel.rolls and wheel.terrain.shape(here)[1] * wheel.radius < NARROW:
            reach = 0.02 * wheel.radius / max(math.hypot(vx, vz), 1e-9)
        ahead = self._near(wheel, x + reach * vx, z + reach * vz)
        for near in (here, ahead):
            speed = near.normal_x * vx + near.normal_z * vz
            if speed < -1e-9 * (1 + math.hypot(vx, vz)) * (1 + 10 * count):
                return near
        rise, pull = (here.normal_x * a + here.normal_z * b for a, b in ((vx, vz), (-ax, -az)))
        # one that lies on the ground, or would come back to it at once
        return here if not wheel.rolls and pull > 0 and 4 * rise <= pull * self.course.step else None

    def _strike(self, i: int, near: Any, count: int) -> None:
        wheel = self.wheels[i]
        base = self._outputs(self.t, self.state)
        units = [(i, d) for d in self._directions(i, near)]
        before = self._measure(base[:, 2:5], units)
        e_n, e_t = wheel.restitution
        pull = -(near.normal_x * base[i, 5] + near.normal_z * base[i, 6])  # towards the ground, without its force
        rebound = -e_n * before[0]
        rolls = pull > 0 and 2 * rebound <= pull * self.course.step
        if rolls or count > IMPACTS // 2:
            after = np.zeros_like(before)
        else:
            after = np.array([rebound, e_t * before[1]][: len(before)])
        matrix, _ = self._response(self.t, self.state, units, base[:, 5:8])
        impulse = np.linalg.lstsq(matrix, after - before, rcond=1e-12)[0]
        if impulse @ (before + after) > 0:  # its work is half of this: unequal restitution must not add energy
            after = -e_n * before
            impulse = np.linalg.lstsq(matrix, after - before, rcond=1e-12)[0]
        self._push(units, impulse)
        if rolls and not wheel.rolls:
            self._tell(wheel, "rolls")
        elif not rolls and count == 0:
            self._tell(wheel, "impact")
        wheel.rolls = rolls
        wheel.part = wheel.terrain.shape(near)[0]

    def _push(self, units: Sequence[tuple[int, np.ndarray]], impulse: np.ndarray) -> None:
        """Changes the speeds by impulses along unit forces."""
        t, y = self.t, self.state
        change = self._speeds(t, y, self._spread(units, list(impulse))) - self._speeds(t, y)
        self.state = np.concatenate([y[: self.e.n_q], y[self.e.n_q :] + change])

    def _keep(self) -> None:
        """Takes wheels that roll back onto the ground, and stops what moves them off it."""
        rolling = [i for i, w in enumerate(self.wheels) if w.rolls]
        if not rolling:
            return
        base = self._outputs(self.t, self.state)
        nears = {i: self._near(self.wheels[i], base[i, 0], base[i, 1]) for i in rolling}
        units = self._units(rolling, nears)
        matrix, _ = self._response(self.t, self.state, units, base[:, 5:8])
        gaps = [nears[i].distance - self.wheels[i].radius if d[2] == 0 else 0.0 for i, d in units]
        self.shift(units, np.linalg.lstsq(matrix, -np.array(gaps), rcond=1e-12)[0])
        base = self._outputs(self.t, self.state)
        for i in rolling:
            near = self._near(self.wheels[i], base[i, 0], base[i, 1])
            self.wheels[i].part = self.wheels[i].terrain.shape(near)[0]
            self.wheels[i].normal = near.normal_x, near.normal_z
            nears[i] = near
        units = self._units(rolling, nears)
        before = self._measure(base[:, 2:5], units)
        self._push(units, np.linalg.lstsq(matrix, -before, rcond=1e-12)[0])

    def shift(self, units: Sequence[tuple[int, np.ndarray]], sizes: np.ndarray) -> None:
        """Changes the coordinates as impulses would change the speeds."""
        t, y, n_q = self.t, self.state, self.e.n_q
        change = self._speeds(t, y, self._spread(units, list(sizes))) - self._speeds(t, y)
        moving = np.concatenate([y[:n_q], change])
        qdot = np.asarray(self.e.model.derivatives(*self._at(t, moving))[0])
        self.state = np.concatenate([y[:n_q] + qdot, y[n_q:]])

    def raise_wheels(self) -> list[tuple[str, float]]:
        """Moves wheels that start below ground out of it; which, and how deep they were."""
        found: dict[str, float] = {}
        for _ in range(20):
            base = self._outputs(0.0, self.state)
            deep = []
            for i, w in enumerate(self.wheels):
                near = self._near(w, base[i, 0], base[i, 1])
                if near.distance < w.radius - TOUCH:
                    deep.append((i, near, w.radius - near.distance))
                    found.setdefault(w.name, w.radius - near.distance)
            if not deep:
                break
            for i, near, depth in deep:
                unit = (i, np.array([near.normal_x, near.normal_z, 0.0]))
                matrix, _ = self._response(0.0, self.state, [unit], base[:, 5:8])
                self.shift([unit], np.array([depth / matrix[0, 0]]))
        return list(found.items())
