"""Wheels of an axle under loads: what their parts carry at a travel, and the travels at which
springs hold them.

In: forces at the contacts, an axle as data. Out: `LinkForces` of each wheel on its own linkage
(`WheelStatics`), or of the one linkage of both wheels (`DependentAxleStatics`: solid axle, twist
beam).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bellcrank.core.errors import ModelError
from bellcrank.linkage.axle_sides import beam_twist_angle, name_on_side
from bellcrank.linkage.link_forces import BodyLoad, LinkForces, solve_link_forces
from bellcrank.linkage.pose import Pose
from bellcrank.model.describe.tyre_model import Rolling
from bellcrank.vehicles.cars.design.axles import AxleData
from bellcrank.vehicles.cars.design.car_data import GRAVITY, Array, CarData
from bellcrank.vehicles.cars.statics.static_equilibrium import (
    CarStatics,
    drawn_length,
    pitched_road_axes,
    spin_axis,
    spring_and_stop_force,
)
from bellcrank.vehicles.force_laws import WheelStaticLoad, wheel_static_load
from bellcrank.vehicles.tyres.steady_tyre import ARRAYS

SPRING = "spring"
MAX_ITERATIONS = 40  # of Newton's method for the travels
MAX_TRAVEL_STEP = 0.02  # m, of a step
FORCE_TOLERANCE = 1e-6  # N of the springs
MIRROR_FORCE, MIRROR_MOMENT = (
    np.array([1.0, -1.0, 1.0]),
    np.array([-1.0, 1.0, -1.0]),
)  # forces, moments on the other side


@dataclass(frozen=True)
class WheelLoad:
    """What acts on a wheel that is looked at as the left one: ahead, left, up; acceleration of the
    car in m/s^2.
    `resists_camber`: its tyre resists inclination in addition to the moment given."""

    force: Array
    moment: Array
    acceleration: Array
    torque: str
    resists_camber: bool = True


def wheel_load_on_carrier(
    force: Array, moment: Array, arm: Array, axis: Array, torque: str
) -> tuple[Array, Array]:
    """Force and moment on the carrier; a moment about the axis of the wheel that the body takes is
    omitted."""
    if torque == "body":
        moment = moment - (np.cross(arm, force) @ axis) * axis
    return force, moment


def solve_loaded_radius(axle: AxleData, fz: float, camber: float) -> float:
    """Distance of a wheel centre and the ground, in the plane of the wheel, under a load."""
    tyre, offsets = axle.tyre, axle.tyre_offsets
    free_radius = float(tyre.free_radius(ARRAYS, 0.0))
    rolling = Rolling(0.0, 0.0, 0.0, camber, tyre.usual[0], tyre.usual[1], 0.0)

    def excess_load(radius: float) -> float:
        return (
            sum(
                float(tyre.radial_load(ARRAYS, rolling, radius + y * np.tan(camber))[0])
                for y in offsets
            )
            - fz
        )

    if fz <= 0.0:
        return free_radius
    if excess_load(free_radius / 2) < 0:
        raise ModelError(f"the tyre is pressed to half of its radius by {fz:.0f} N")
    from scipy.optimize import brentq

    return float(brentq(excess_load, free_radius / 2, 1.1 * free_radius, xtol=1e-14))


def static_tyre_load(
    axle: AxleData, side: int, fz: float, axis: Array, vertical: Array
) -> WheelStaticLoad:
    """The tyres of a wheel under a load, from its centre."""
    sine = float(axis @ vertical)
    radius = solve_loaded_radius(axle, fz, float(np.arcsin(sine)))
    return wheel_static_load(
        axle, side, np.zeros(3), axis, vertical, radius * float(np.sqrt(1 - sine**2))
    )


@dataclass(frozen=True)
class BushingRates:
    """Bushes of an axle: their rate at a wheel, and their stiffnesses along the axes of hinges,
    N/m."""

    rate: float
    axial: Mapping[str, float]


@dataclass(frozen=True)
class WheelStatics:
    car: CarData
    at_rest: CarStatics
    axle: AxleData
    rack: float
    side: WheelLoad
    bushings: BushingRates

    def part_forces(self, travel: float, bar: float) -> LinkForces:
        """What the parts carry; `bar`: push of the anti-roll bar on its end, down."""
        axle, record, chain = self.axle, self.axle.record, self.axle.linkage.chain
        pose = self._pose(travel)
        road_axes = pitched_road_axes(self.at_rest.pitch)
        vertical = road_axes[2]
        axis = pose.rotation @ spin_axis(record.toe, record.camber)
        ground = static_tyre_load(axle, 1, float(self.side.force[2]), axis, vertical)
        arm = ground.contact
        force, moment = wheel_load_on_carrier(
            self.side.force @ road_axes, self.side.moment @ road_axes, arm, axis, self.side.torque
        )
        if self.side.resists_camber:
            moment = moment + ground.moment
        loads = [BodyLoad(chain.carrier, force, pose.position + arm, moment)]
        field = -(self.side.acceleration @ road_axes) - GRAVITY * vertical
        bodies = [
            (record.carrier, chain.carrier),
            *((m, name) for name, m in (record.links or {}).items()),
        ]
        for part, name in bodies:
            body_pose = pose if name == chain.carrier else pose.link[name]
            origin = np.array(axle.linkage.origins[name])
            position = body_pose.carried(
                (origin if part.cg is None else np.array(part.cg)) - origin
            ).position
            loads.append(BodyLoad(name, part.mass * field, position))
        loads.append(BodyLoad(chain.carrier, record.wheel.mass * field, pose.position))
        if axle.bushes:
            i = 0 if axle.name == "front" else 2
            bush_force = -self.bushings.rate * (travel - self.at_rest.travel[i])
            loads.append(BodyLoad(chain.carrier, np.array([0.0, 0.0, bush_force]), pose.position))
        if record.anti_roll_bar is not None and bar:
            bar_end = record.anti_roll_bar.at
            loads.append(
                BodyLoad(
                    chain.points[bar_end].body,
                    np.array([0.0, 0.0, -bar]),
                    pose.point(bar_end).position,
                )
            )
        return solve_link_forces(
            axle.linkage, pose, loads, {SPRING: axle.spring}, self.bushings.axial
        )

    def _pose(self, travel: float) -> Any:
        linkage = self.axle.linkage
        return linkage.solve(travel, self.rack) if self.rack else self.axle.pose(travel)

    def spring_length(self, travel: float) -> float:
        a, b = (self._pose(travel).point(p).position for p in self.axle.spring)
        return float(np.linalg.norm(a - b))

    def missing_spring_force(self, travel: float, bar: float) -> float:
        """How much more the spring would have to push than it does at a travel."""
        law = spring_and_stop_force(
            self.axle,
            self.at_rest.free_length[self.axle.name],
            self.spring_length(travel),
            drawn_length(self.axle, self.axle.spring),
        )
        return self.part_forces(travel, bar).parts[SPRING].magnitude - law

    def bar_end_height(self, travel: float) -> float:
        """Height of the end of the anti-roll bar."""
        bar = self.axle.record.anti_roll_bar
        return 0.0 if bar is None else float(self._pose(travel).point(bar.at).position[2])


def anti_roll_bar_force(wheels: Sequence[WheelStatics], travels: Sequence[float]) -> float:
    """Push of the anti-roll bar on its end outside, down."""
    if len(wheels) == 1:
        return 0.0
    first, second = (w.bar_end_height(z) for w, z in zip(wheels, travels, strict=True))
    return wheels[0].at_rest.bar_stiffness[wheels[0].axle.name] * (first - second)


def equilibrium_travels(wheels: Sequence[WheelStatics]) -> list[float]:
    """Travels at which springs, stops and anti-roll bar hold the wheels of an axle."""
    axle, statics = wheels[0].axle, wheels[0].at_rest
    z = np.full(len(wheels), statics.travel[0 if axle.name == "front" else 2])

    def missing_forces(travels: Array) -> Array:
        bar = anti_roll_bar_force(wheels, list(travels))
        return np.array(
            [
                w.missing_spring_force(float(x), bar * (1 - 2 * i))
                for i, (w, x) in enumerate(zip(wheels, travels, strict=True))
            ]
        )

    return _solve_travels(missing_forces, z)


def _solve_travels(residual: Callable[[Array], Array], z: Array) -> list[float]:
    """Travels at which no spring lacks anything."""
    h = 1e-6
    try:
        for _ in range(MAX_ITERATIONS):
            r = residual(z)
            if float(np.abs(r).max()) < FORCE_TOLERANCE:
                return [float(x) for x in z]
            J = np.array([(residual(z + h * e) - r) / h for e in np.eye(len(z))]).T
            step = np.linalg.solve(J, -r)
            z = z + step * min(1.0, MAX_TRAVEL_STEP / max(float(np.abs(step).max()), 1e-12))
        reason = (
            f"{float(np.abs(r).max()):.4g} N are left open at travels "
            f"{np.round(1000 * z, 1).tolist()} mm"
        )
    except (ModelError, np.linalg.LinAlgError) as error:
        reason = (
            error.problems[0] if isinstance(error, ModelError) else "the equations are singular"
        )
    raise ModelError(f"springs and stops do not hold the wheel: {reason}")


@dataclass(frozen=True)
class DependentAxleStatics:
    """An axle whose linkage carries both wheels, under what acts on them; `sides`: the left wheel,
    and the right one looked at as the left one."""

    car: CarData
    at_rest: CarStatics
    axle: AxleData
    sides: tuple[WheelLoad, WheelLoad]

    def part_forces(self, travels: Sequence[float]) -> LinkForces:
        """What the parts carry at travels of both wheels."""
        axle, record, chain = self.axle, self.axle.record, self.axle.linkage.chain
        pose = axle.pose(float(travels[0]), float(travels[1]))
        body_poses = {chain.carrier: pose, **pose.link}
        road_axes = pitched_road_axes(self.at_rest.pitch)
        vertical = road_axes[2]
        field = -(self.sides[0].acceleration @ road_axes) - GRAVITY * vertical
        loads = []
        for side, wheel_load in zip((1, -1), self.sides, strict=True):
            hub = name_on_side(chain.hub, side)
            body, centre = chain.points[hub].body, pose.point(hub).position
            axis = body_poses[body].rotation @ (
                spin_axis(record.toe, record.camber) * [side, 1.0, side]
            )
            ground = static_tyre_load(axle, side, float(wheel_load.force[2]), axis, vertical)
            arm = ground.contact
            force, moment = (
                (wheel_load.force, wheel_load.moment)
                if side > 0
                else (wheel_load.force * MIRROR_FORCE, wheel_load.moment * MIRROR_MOMENT)
            )
            force, moment = wheel_load_on_carrier(
                force @ road_axes, moment @ road_axes, arm, axis, wheel_load.torque
            )
            if wheel_load.resists_camber:
                moment = moment + ground.moment
            loads += [
                BodyLoad(body, force, centre + arm, moment),
                BodyLoad(body, record.wheel.mass * field, centre),
            ]
            for part, name, fraction in axle.unsprung_parts(side):
                origin = np.array(axle.linkage.origins[name])
                position = (
                    body_poses[name]
                    .carried((origin if part.cg is None else np.array(part.cg)) - origin)
                    .position
                )
                loads.append(BodyLoad(name, fraction * part.mass * field, position))
        loads += [*self._bar_loads(pose), *self._cross_beam_loads(pose)]
        return solve_link_forces(axle.linkage, pose, loads, self._spring_end_points())

    def _spring_end_points(self) -> dict[str, tuple[str, str]]:
        a, b = self.axle.spring
        return {
            name_on_side("spring_left", side): (name_on_side(a, side), name_on_side(b, side))
            for side in (1, -1)
        }

    def _bar_loads(self, pose: Pose) -> list[BodyLoad]:
        bar, chain = self.axle.record.anti_roll_bar, self.axle.linkage.chain
        if bar is None:
            return []
        names = [name_on_side(bar.at, side) for side in (1, -1)]
        end_positions = [pose.point(name).position for name in names]
        force = np.array(
            [
                0.0,
                0.0,
                -self.at_rest.bar_stiffness[self.axle.name]
                * float(end_positions[0][2] - end_positions[1][2]),
            ]
        )
        return [
            BodyLoad(chain.points[n].body, s * force, e)
            for n, e, s in zip(names, end_positions, (1.0, -1.0), strict=True)
        ]

    def _cross_beam_loads(self, pose: Pose) -> list[BodyLoad]:
        k = self.axle.record.twist_stiffness
        if not k:
            return []
        moment = -k * beam_twist_angle(pose) * pose.rotation[:, 1]
        pairs = (("left_arm", 1.0), ("right_arm", -1.0))
        return [BodyLoad(body, np.zeros(3), np.zeros(3), sign * moment) for body, sign in pairs]

    def equilibrium_travels(self) -> list[float]:
        """Travels at which springs, stops, anti-roll bar and cross beam hold the wheels."""
        axle, i = self.axle, 0 if self.axle.name == "front" else 2
        drawn, free_length = drawn_length(axle, axle.spring), self.at_rest.free_length[axle.name]

        def missing_forces(z: Array) -> Array:
            link_forces, pose = self.part_forces(z.tolist()), axle.pose(float(z[0]), float(z[1]))
            residuals = []
            for side, (name, end_names) in zip(
                (1, -1), self._spring_end_points().items(), strict=True
            ):
                a, b = (pose.point(p).position for p in end_names)
                law = spring_and_stop_force(
                    axle,
                    free_length + side * axle.record.spring.perch,
                    float(np.linalg.norm(a - b)),
                    drawn,
                )
                residuals.append(link_forces.parts[name].magnitude - law)
            return np.array(residuals)

        return _solve_travels(missing_forces, np.array(self.at_rest.travel[i : i + 2]))
