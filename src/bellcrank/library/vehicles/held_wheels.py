"""Wheels of an axle under loads: what their parts carry at a travel, and the travels at which springs hold them.

In: forces at the contacts, an axle as data. Out: `Held` of each wheel on its own linkage (`HeldWheel`), or of the one
linkage of both wheels (`HeldAxle`: solid axle, twist beam).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bellcrank.describe.tyre_model import Rolling
from bellcrank.errors import ModelError
from bellcrank.library.tyres.steady import ARRAYS
from bellcrank.library.vehicles.axles import FittedAxle
from bellcrank.library.vehicles.data import GRAVITY, Array, CarData
from bellcrank.library.vehicles.laws import Stood, stands
from bellcrank.library.vehicles.rest import Stand, drawn_length, push_of, road, spin_axis
from bellcrank.linkage.pose import Pose
from bellcrank.linkage.sides import on_side, twist_angle
from bellcrank.linkage.statics import Held, Load, held

SPRING = "spring"
TURNS = 40  # of Newton's method for the travels
LONGEST = 0.02  # m, of a step
FOUND = 1e-6  # N of the springs
MIRROR, TURNED = np.array([1.0, -1.0, 1.0]), np.array([-1.0, 1.0, -1.0])  # forces, moments on the other side


@dataclass(frozen=True)
class WheelLoad:
    """What acts on a wheel that is looked at as the left one: ahead, left, up; acceleration of the car in m/s^2.
    `leans`: its tyre resists inclination in addition to the moment given."""

    force: Array
    moment: Array
    acceleration: Array
    torque: str
    leans: bool = True


def at_wheel(force: Array, moment: Array, arm: Array, axis: Array, torque: str) -> tuple[Array, Array]:
    """Force and moment on the carrier; a moment about the axis of the wheel that the body takes is omitted."""
    if torque == "body":
        moment = moment - (np.cross(arm, force) @ axis) * axis
    return force, moment


def loaded_radius(axle: FittedAxle, fz: float, camber: float) -> float:
    """Distance of a wheel centre and the ground, in the plane of the wheel, under a load."""
    tyre, offsets = axle.tyre, axle.tyre_offsets
    free_radius = float(tyre.free_radius(ARRAYS, 0.0))
    rolling = Rolling(0.0, 0.0, 0.0, camber, tyre.usual[0], tyre.usual[1], 0.0)

    def more(radius: float) -> float:
        return sum(float(tyre.press(ARRAYS, rolling, radius + y * np.tan(camber))[0]) for y in offsets) - fz

    if fz <= 0.0:
        return free_radius
    if more(free_radius / 2) < 0:
        raise ModelError(f"the tyre is pressed to half of its radius by {fz:.0f} N")
    from scipy.optimize import brentq

    return float(brentq(more, free_radius / 2, 1.1 * free_radius, xtol=1e-14))


def on_ground(axle: FittedAxle, side: int, fz: float, axis: Array, vertical: Array) -> Stood:
    """The tyres of a wheel under a load, from its centre."""
    sine = float(axis @ vertical)
    radius = loaded_radius(axle, fz, float(np.arcsin(sine)))
    return stands(axle, side, np.zeros(3), axis, vertical, radius * float(np.sqrt(1 - sine**2)))


@dataclass(frozen=True)
class Rubber:
    """Bushes of an axle: their rate at a wheel, and their stiffnesses along the axes of hinges, N/m."""

    rate: float
    axial: Mapping[str, float]


@dataclass(frozen=True)
class HeldWheel:
    car: CarData
    at_rest: Stand
    axle: FittedAxle
    rack: float
    side: WheelLoad
    rubber: Rubber

    def held(self, travel: float, bar: float) -> Held:
        """What the parts carry; `bar`: push of the anti-roll bar on its end, down."""
        axle, record, chain = self.axle, self.axle.record, self.axle.linkage.chain
        pose = self._pose(travel)
        road_axes = road(self.at_rest.pitch)
        vertical = road_axes[2]
        axis = pose.rotation @ spin_axis(record.toe, record.camber)
        ground = on_ground(axle, 1, float(self.side.force[2]), axis, vertical)
        arm = ground.contact
        force, moment = at_wheel(self.side.force @ road_axes, self.side.moment @ road_axes, arm, axis, self.side.torque)
        if self.side.leans:
            moment = moment + ground.moment
        loads = [Load(chain.carrier, force, pose.position + arm, moment)]
        field = -(self.side.acceleration @ road_axes) - GRAVITY * vertical
        bodies = [(record.carrier, chain.carrier), *((m, name) for name, m in (record.links or {}).items())]
        for part, name in bodies:
            body_pose = pose if name == chain.carrier else pose.link[name]
            origin = np.array(axle.linkage.origins[name])
            position = body_pose.carried((origin if part.cg is None else np.array(part.cg)) - origin).position
            loads.append(Load(name, part.mass * field, position))
        loads.append(Load(chain.carrier, record.wheel.mass * field, pose.position))
        if axle.bushes:
            i = 0 if axle.name == "front" else 2
            bush_force = -self.rubber.rate * (travel - self.at_rest.travel[i])
            loads.append(Load(chain.carrier, np.array([0.0, 0.0, bush_force]), pose.position))
        if record.anti_roll_bar is not None and bar:
            bar_end = record.anti_roll_bar.at
            loads.append(Load(chain.points[bar_end].body, np.array([0.0, 0.0, -bar]), pose.point(bar_end).position))
        return held(axle.linkage, pose, loads, {SPRING: axle.spring}, self.rubber.axial)

    def _pose(self, travel: float) -> Any:
        linkage = self.axle.linkage
        return linkage.solve(travel, self.rack) if self.rack else self.axle.pose(travel)

    def length(self, travel: float) -> float:
        a, b = (self._pose(travel).point(p).position for p in self.axle.spring)
        return float(np.linalg.norm(a - b))

    def lacks(self, travel: float, bar: float) -> float:
        """How much more the spring would have to push than it does at a travel."""
        law = push_of(
            self.axle, self.at_rest.free_length[self.axle.name], self.length(travel),
            drawn_length(self.axle, self.axle.spring),
        )  # fmt: skip
        return self.held(travel, bar).parts[SPRING].size - law

    def end(self, travel: float) -> float:
        """Height of the end of the anti-roll bar."""
        bar = self.axle.record.anti_roll_bar
        return 0.0 if bar is None else float(self._pose(travel).point(bar.at).position[2])


def bar_push(wheels: Sequence[HeldWheel], travels: Sequence[float]) -> float:
    """Push of the anti-roll bar on its end outside, down."""
    if len(wheels) == 1:
        return 0.0
    first, second = (w.end(z) for w, z in zip(wheels, travels, strict=True))
    return wheels[0].at_rest.bar[wheels[0].axle.name] * (first - second)


def settled(wheels: Sequence[HeldWheel]) -> list[float]:
    """Travels at which springs, stops and anti-roll bar hold the wheels of an axle."""
    axle, statics = wheels[0].axle, wheels[0].at_rest
    z = np.full(len(wheels), statics.travel[0 if axle.name == "front" else 2])

    def lacks(travels: Array) -> Array:
        bar = bar_push(wheels, list(travels))
        return np.array(
            [w.lacks(float(x), bar * (1 - 2 * i)) for i, (w, x) in enumerate(zip(wheels, travels, strict=True))]
        )

    return _balanced(lacks, z)


def _balanced(residual: Callable[[Array], Array], z: Array) -> list[float]:
    """Travels at which no spring lacks anything."""
    h = 1e-6
    try:
        for _ in range(TURNS):
            r = residual(z)
            if float(np.abs(r).max()) < FOUND:
                return [float(x) for x in z]
            J = np.array([(residual(z + h * e) - r) / h for e in np.eye(len(z))]).T
            step = np.linalg.solve(J, -r)
            z = z + step * min(1.0, LONGEST / max(float(np.abs(step).max()), 1e-12))
        reason = f"{float(np.abs(r).max()):.4g} N are left open at travels {np.round(1000 * z, 1).tolist()} mm"
    except (ModelError, np.linalg.LinAlgError) as error:
        reason = error.problems[0] if isinstance(error, ModelError) else "the equations are singular"
    raise ModelError(f"springs and stops do not hold the wheel: {reason}")


@dataclass(frozen=True)
class HeldAxle:
    """An axle whose linkage carries both wheels, under what acts on them; `sides`: the left wheel, and the right one
    looked at as the left one."""

    car: CarData
    at_rest: Stand
    axle: FittedAxle
    sides: tuple[WheelLoad, WheelLoad]

    def held(self, travels: Sequence[float]) -> Held:
        """What the parts carry at travels of both wheels."""
        axle, record, chain = self.axle, self.axle.record, self.axle.linkage.chain
        pose = axle.pose(float(travels[0]), float(travels[1]))
        body_poses = {chain.carrier: pose, **pose.link}
        road_axes = road(self.at_rest.pitch)
        vertical = road_axes[2]
        field = -(self.sides[0].acceleration @ road_axes) - GRAVITY * vertical
        loads = []
        for side, wheel_load in zip((1, -1), self.sides, strict=True):
            hub = on_side(chain.hub, side)
            body, centre = chain.points[hub].body, pose.point(hub).position
            axis = body_poses[body].rotation @ (spin_axis(record.toe, record.camber) * [side, 1.0, side])
            ground = on_ground(axle, side, float(wheel_load.force[2]), axis, vertical)
            arm = ground.contact
            force, moment = (
                (wheel_load.force, wheel_load.moment)
                if side > 0
                else (wheel_load.force * MIRROR, wheel_load.moment * TURNED)
            )
            force, moment = at_wheel(force @ road_axes, moment @ road_axes, arm, axis, wheel_load.torque)
            if wheel_load.leans:
                moment = moment + ground.moment
            loads += [Load(body, force, centre + arm, moment), Load(body, record.wheel.mass * field, centre)]
            for part, name, fraction in axle.parts(side):
                origin = np.array(axle.linkage.origins[name])
                position = (
                    body_poses[name].carried((origin if part.cg is None else np.array(part.cg)) - origin).position
                )
                loads.append(Load(name, fraction * part.mass * field, position))
        loads += [*self._bar(pose), *self._beam(pose)]
        return held(axle.linkage, pose, loads, self._springs())

    def _springs(self) -> dict[str, tuple[str, str]]:
        a, b = self.axle.spring
        return {on_side("spring_left", side): (on_side(a, side), on_side(b, side)) for side in (1, -1)}

    def _bar(self, pose: Pose) -> list[Load]:
        bar, chain = self.axle.record.anti_roll_bar, self.axle.linkage.chain
        if bar is None:
            return []
        names = [on_side(bar.at, side) for side in (1, -1)]
        end_positions = [pose.point(name).position for name in names]
        force = np.array(
            [0.0, 0.0, -self.at_rest.bar[self.axle.name] * float(end_positions[0][2] - end_positions[1][2])]
        )
        return [
            Load(chain.points[n].body, s * force, e) for n, e, s in zip(names, end_positions, (1.0, -1.0), strict=True)
        ]

    def _beam(self, pose: Pose) -> list[Load]:
        k = self.axle.record.twist_stiffness
        if not k:
            return []
        moment = -k * twist_angle(pose) * pose.rotation[:, 1]
        pairs = (("left_arm", 1.0), ("right_arm", -1.0))
        return [Load(body, np.zeros(3), np.zeros(3), sign * moment) for body, sign in pairs]

    def settled(self) -> list[float]:
        """Travels at which springs, stops, anti-roll bar and cross beam hold the wheels."""
        axle, i = self.axle, 0 if self.axle.name == "front" else 2
        drawn, free_length = drawn_length(axle, axle.spring), self.at_rest.free_length[axle.name]

        def lacks(z: Array) -> Array:
            link_forces, pose = self.held(z.tolist()), axle.pose(float(z[0]), float(z[1]))
            residuals = []
            for side, (name, end_names) in zip((1, -1), self._springs().items(), strict=True):
                a, b = (pose.point(p).position for p in end_names)
                law = push_of(axle, free_length + side * axle.record.spring.perch, float(np.linalg.norm(a - b)), drawn)
                residuals.append(link_forces.parts[name].size - law)
            return np.array(residuals)

        return _balanced(lacks, np.array(self.at_rest.travel[i : i + 2]))
