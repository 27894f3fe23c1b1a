"""What is unusual about the design of a car: how its axles move and steer, where its wheels stand,
and how its masses, inertias, dampers and motor compare with each other."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from bellcrank.linkage.pose import Pose
from bellcrank.vehicles.cars.design.axles import AxleData
from bellcrank.vehicles.cars.design.car_data import GRAVITY, CarData
from bellcrank.vehicles.cars.keys.car_keys import AxleKeys, BodyKeys, Pairs
from bellcrank.vehicles.cars.statics.static_equilibrium import (
    CarStatics,
    corner_state,
    interpolate_table,
)
from bellcrank.vehicles.likely_slips import UNIT_SLIPS, likely_cause
from bellcrank.vehicles.tyres.steady_tyre import ARRAYS

LEAST_DENSITY, LARGEST_DENSITY = 25.0, 250.0  # kg/m3, body mass over length, width and height
LARGEST_PITCH = math.radians(2.5)  # of a car at rest
LARGEST_ROD_ANGLE = 25.0  # deg, of a tie rod seen from above
GYRATION = {  # radius of gyration over half of a dimension
    "roll": (0, "width", (0.3, 1.05)),
    "pitch": (1, "length", (0.35, 0.7)),
    "yaw": (2, "length", (0.35, 0.7)),
}
MOTOR_SPEEDS = (250.0, 2600.0)  # rad/s, the highest of a map
ARM_BASES, FARTHEST_LINK_CG = (0.06, 0.9), 0.2  # m
LONGEST_ROD, LEAST_CLEARANCE = 1.2, 0.02  # m, of rods of five links; of points above the road
LEAST_LOAD_HEIGHT = 0.1  # m, above the road
HEAVY, FASTEST_DAMPER = 10.0, 5.0  # upper ends of trucks over those of cars; m/s
MOST_REBOUND = 8.0  # of a damper, rebound over compression
SECANT_DAMPING = (100.0, 2.5e4)  # N s/m, force over speed of the points of a table
STRUT_LENGTHS, STRUT_RATIOS = (0.12, 0.95), (0.3, 1.4)  # m, 1
HEAVY_SHARE = 0.3  # lower end of ratios of trucks, loaded ones above all, over that of cars
SLOW_MOTORS = 0.5  # lower end of trucks over that of cars


class AxleMeasure(NamedTuple):
    """A measure of an axle at rest with its usual range; `points` may be the cause."""

    label: str
    value: float
    usual: tuple[float, float]
    unit: str
    points: str


def unusual_design(car: CarData, statics: CarStatics) -> Iterator[str]:
    """Messages about axles, wheels, masses, dampers and motor."""
    for axle in (car.front, car.rear):
        yield from _unusual_axle(axle, statics)
        yield from _unusual_damper(axle.name, axle.record, car.sections.kind == "truck")
        yield from _unusual_strut(axle, statics)
    yield from _unusual_heights(car, statics)
    yield from _unusual_body(car.sections.body, car.sections.kind)
    for name, load in (car.sections.loads or {}).items():
        height = statics.height + load.at[2]
        if height < LEAST_LOAD_HEIGHT:
            yield (
                f"loads.{name}.at is {_mm(height)} above the road at rest; usual is at least "
                f"{_mm(LEAST_LOAD_HEIGHT)}. Look at its unit and signs."
            )
    yield from _unusual_motor(car)
    yield from _unusual_ratios(car, statics)


# ---- axles


def _unusual_axle(axle: AxleData, statics: CarStatics) -> Iterator[str]:
    """Measures of an axle outside of what is usual, and hard points that lie oddly."""
    found = False
    for measure in _axle_measures(axle, statics):
        low, high = measure.usual
        if not low <= measure.value <= high:
            found = True
            yield (
                f"{axle.name}.suspension: {measure.label} at rest is {measure.value:.3g} "
                f"{measure.unit}; usual is {low:g} to {high:g} {measure.unit}. Look at the hard "
                f"points {measure.points}: digits swapped, a wrong sign or unit?"
            )
    points = {n: p.at for n, p in axle.linkage.chain.points.items()}
    hub = axle.linkage.chain.hub
    low_name = next((n for n in ("lower_ball", "strut_lower") if n in points), "")
    high_name = next((n for n in ("upper_ball", "strut_top") if n in points), "")
    if low_name and high_name and not points[low_name][2] < points[hub][2] < points[high_name][2]:
        found = True
        yield (
            f"{axle.name}.suspension: hard point '{hub}' at z = {_mm(points[hub][2])} does not lie "
            f"between '{low_name}' at {_mm(points[low_name][2])} and '{high_name}' at "
            f"{_mm(points[high_name][2])}. Is a digit missing?"
        )
    for arm in ("lower", "upper"):
        ends = f"{arm}_front", f"{arm}_rear"
        if all(end in points for end in ends):
            base = points[ends[0]][0] - points[ends[1]][0]
            low, high = ARM_BASES
            if base > 0 and not low <= base <= high:
                yield (
                    f"{axle.name}.suspension: '{ends[0]}' lies {_mm(base)} ahead of '{ends[1]}'; "
                    f"usual is {_mm(low)} to {_mm(high)}. Has one x a wrong sign or digit?"
                )
    yield from _odd_rods_and_low_points(axle, statics)
    yield from _remote_link_masses(axle)
    if "tie_base" in points and "tie_carrier" in points and not found:
        inner, outer = points["tie_base"], points["tie_carrier"]
        angle = math.degrees(math.atan2(abs(outer[0] - inner[0]), abs(outer[1] - inner[1])))
        if angle > LARGEST_ROD_ANGLE:
            yield (
                f"{axle.name}.suspension: the tie rod from 'tie_base' at x = {_mm(inner[0])} to "
                f"'tie_carrier' at {_mm(outer[0])} runs at {angle:.0f} deg to the axle, seen from "
                f"above; usual is up to {LARGEST_ROD_ANGLE:g} deg. Has one x the wrong sign?"
            )


def _remote_link_masses(axle: AxleData) -> Iterator[str]:
    """Mass centres of links that lie far from the hard points of the link."""
    points = axle.linkage.chain.points.values()
    for name, link in (axle.record.links or {}).items():
        places = np.array([p.at for p in points if p.body == name])
        if link.cg is None or not len(places):
            continue
        cg = np.array(link.cg)
        outside = float(np.max(np.maximum(places.min(0) - cg, cg - places.max(0))))
        if outside > FARTHEST_LINK_CG:
            yield (
                f"{axle.name}.links.{name}.cg lies {outside:.3g} m outside of the hard points of "
                f"this link; usual is up to {FARTHEST_LINK_CG:g} m. Look at its unit and signs."
            )


def _odd_rods_and_low_points(axle: AxleData, statics: CarStatics) -> Iterator[str]:
    """Rods of five links that are too long, and hard points at or below the road."""
    points = {n: p.at for n, p in axle.linkage.chain.points.items()}
    for i in range(1, 6):
        inner, outer = points.get(f"P{i}"), points.get(f"X{i}")
        if inner and outer and math.dist(inner, outer) > LONGEST_ROD:
            yield (
                f"{axle.name}.suspension: rod 'P{i}' to 'X{i}' is {math.dist(inner, outer):.3g} m "
                f"long; usual is up to {LONGEST_ROD:g} m. Is a digit too many?"
            )
    for name, place in points.items():
        clearance = statics.height + axle.record.at[2] + place[2]
        if clearance < LEAST_CLEARANCE:
            yield (
                f"{axle.name}.suspension: hard point '{name}' is {_mm(clearance)} above the road "
                f"at rest; usual is at least {_mm(LEAST_CLEARANCE)}. Is its z wrong?"
            )


def _axle_measures(axle: AxleData, statics: CarStatics) -> Iterator[AxleMeasure]:
    """Steer and camber over travel; of a steered axle its steering axis."""
    pose = axle.pose(statics.travel[0 if axle.name == "front" else 2])
    wheel_side = "'wheel_centre', of the arms and of the tie rod"
    toe, camber = -math.degrees(pose.delta[2]), -math.degrees(pose.delta[0])
    bound = 15.0 if axle.is_steered else 20.0
    yield AxleMeasure("bump steer (toe-in over travel)", toe, (-bound, bound), "deg/m", wheel_side)
    usual = (-80.0, 15.0)
    yield AxleMeasure("camber over travel", camber, usual, "deg/m", "of the arms or of the strut")
    if axle.is_steered:
        yield from _steering_axis_measures(axle, statics, pose)


def _steering_axis_measures(
    axle: AxleData, statics: CarStatics, pose: Pose
) -> Iterator[AxleMeasure]:
    """Caster, kingpin inclination, scrub radius and trail of the left wheel."""
    assert pose.delta_rack is not None and pose.d_rack is not None
    turn, shift = pose.delta_rack, pose.d_rack
    if not turn @ turn > 0 or turn[2] == 0:
        return
    axis = turn / turn[2]
    foot = pose.position + np.cross(turn, shift) / (turn @ turn)
    centre = pose.position
    ground = -statics.height - axle.record.at[2]  # z of the road in the axes of the hard points
    crossing = foot + axis * (ground - foot[2])
    radius = float(centre[2] - ground)
    points = "of the steering axis (ball joints, strut) and 'wheel_centre'"
    caster, inclination = math.degrees(math.atan(-axis[0])), math.degrees(math.atan(-axis[1]))
    yield AxleMeasure("caster", caster, (-3.0, 14.0), "deg", points)
    yield AxleMeasure("kingpin inclination", inclination, (-1.0, 20.0), "deg", points)
    scrub, trail = 1000 * (centre[1] - crossing[1]), 1000 * (crossing[0] - centre[0])
    usual = (round(-250 * radius), round(330 * radius))
    yield AxleMeasure("scrub radius", float(scrub), usual, "mm", points)
    usual = (round(-100 * radius), round(220 * radius))
    yield AxleMeasure("mechanical trail", float(trail), usual, "mm", points)


def _unusual_heights(car: CarData, statics: CarStatics) -> Iterator[str]:
    """Wheel centres of one axle far above those of the other, for tyres of their size."""
    if abs(statics.pitch) <= LARGEST_PITCH:
        return
    heights = [
        axle.linkage.chain.place(axle.linkage.chain.hub)[2] + axle.record.at[2]
        for axle in (car.front, car.rear)
    ]
    attitude = "down" if statics.pitch > 0 else "up"
    yield (
        f"at rest the car stands {abs(math.degrees(statics.pitch)):.1f} deg nose {attitude}; usual "
        f"is up to {math.degrees(LARGEST_PITCH):g} deg. The wheel centres are drawn at z = "
        f"{_mm(heights[0])} in front and {_mm(heights[1])} at the rear: do 'wheel_centre', "
        f"front.at, rear.at and the radii of the tyres agree?"
    )


def _damper_table_problem(table: Pairs, heavy: bool) -> str:
    """A force of a table that no damper has; empty if there is none."""
    low, high = SECANT_DAMPING[0], SECANT_DAMPING[1] * (HEAVY if heavy else 1.0)
    fastest = max(abs(table[0][0]), abs(table[-1][0]))
    if fastest > FASTEST_DAMPER:
        return f"it reaches to {fastest:.4g} m/s; usual is up to {FASTEST_DAMPER:g} m/s"
    for speed, force in table:
        if speed != 0 and not low <= force / speed <= high:
            return (
                f"{force:.4g} N at {speed:.4g} m/s is {force / speed:.4g} N s/m; usual is {low:g} "
                f"to {high:g} N s/m"
            )
    for (_, before), (speed, force) in pairwise(table):
        if force < before:
            return f"the force falls from {before:.4g} N to {force:.4g} N at {speed:.4g} m/s"
    return ""


def _unusual_strut(axle: AxleData, statics: CarStatics) -> Iterator[str]:
    """Length and motion ratio of the strut of the spring."""
    part = statics.body_attitude(axle.name)
    travel = statics.travel[0 if axle.name == "front" else 2]
    state = corner_state(axle, 1, travel, part.height, part.up)
    ratio = abs(sum(state.spring_motion_ratios))
    names = " and ".join(f"'{p}'" for p in axle.spring)
    for label, value, (low, high) in (
        ("length in m", state.length, STRUT_LENGTHS),
        ("motion ratio (spring over wheel travel)", ratio, STRUT_RATIOS),
    ):
        if not low <= value <= high:
            yield (
                f"{axle.name}.spring: {label} is {value:.3g} at rest; usual {low:g} to {high:g}. "
                f"Look at the hard points {names}: a wrong sign, digit or axis?"
            )


def _unusual_damper(name: str, record: AxleKeys, heavy: bool) -> Iterator[str]:
    """A damper that is harder in compression than in rebound."""
    damper = record.damper
    if damper.table is not None:
        problem = _damper_table_problem(damper.table, heavy)
        if problem:
            yield f"{name}.damper.table: {problem}. Is a number or unit of the table wrong?"
            return
        speed = min(damper.table[-1][0], -damper.table[0][0])
        if speed <= 0:
            return
        bump, rebound = (abs(interpolate_table(damper.table, s * speed)) for s in (1, -1))
        values = f"{bump:.4g} N and {rebound:.4g} N at {speed:g} m/s"
    elif damper.compression is not None and damper.rebound is not None:
        bump, rebound = damper.compression, damper.rebound
        values = f"{bump:.4g} and {rebound:.4g} N s/m"
    else:
        return
    if bump > 1.05 * rebound:
        yield (
            f"{name}.damper: compression is harder than rebound, {values}; usual is the other way "
            f"round. Are both interchanged (forces and speeds are positive in compression)?"
        )
    elif bump > 0 and rebound > MOST_REBOUND * bump:
        yield (
            f"{name}.damper: rebound is {rebound / bump:.3g} times as hard as compression, "
            f"{values}; usual is 1 to {MOST_REBOUND:g} times. Is the decimal point misplaced?"
        )


# ---- body


def _unusual_body(body: BodyKeys, kind: str) -> Iterator[str]:
    """Mass and moments of inertia against the size of the body and each other."""
    density = body.mass / (body.length * body.width * body.height)
    if not LEAST_DENSITY <= density <= LARGEST_DENSITY:
        cause = likely_cause(density, (LEAST_DENSITY, LARGEST_DENSITY))
        yield (
            f"body.mass = {body.mass:.4g} kg in a body of {body.length:g} m x {body.width:g} m x "
            f"{body.height:g} m is {density:.3g} kg/m3; usual is {LEAST_DENSITY:g} to "
            f"{LARGEST_DENSITY:g} kg/m3. {cause}".rstrip()
        )
    roll, pitch, yaw = body.inertia
    if roll > min(pitch, yaw) or (kind == "car" and pitch > 1.02 * yaw):
        yield (
            f"body.inertia = [{roll:.4g}, {pitch:.4g}, {yaw:.4g}] kg m2: of a "
            f"{kind} usual is {'roll < pitch < yaw' if kind == 'car' else 'roll the smallest'}. "
            f"The order is roll, pitch, yaw: are two interchanged?"
        )
        return
    for name, (i, dimension, (low, high)) in GYRATION.items():
        ratio = math.sqrt(body.inertia[i] / body.mass) / (getattr(body, dimension) / 2)
        if not low <= ratio <= high:
            bounds = (body.mass * (r * getattr(body, dimension) / 2) ** 2 for r in (low, high))
            least, largest = bounds
            cause = likely_cause(body.inertia[i], (least, largest))
            yield (
                f"body.inertia: {body.inertia[i]:.4g} kg m2 in {name} is a radius of gyration of "
                f"{ratio:.2f} times half the {dimension}; usual is {low:g} to {high:g}, "
                f"{least:.3g} to {largest:.3g} kg m2 for this mass. {cause}".rstrip()
            )


def _unusual_motor(car: CarData) -> Iterator[str]:
    """Speeds of the map of the motor."""
    drive = car.sections.drive
    if drive.map is None:
        return
    low, high = MOTOR_SPEEDS
    low = low * SLOW_MOTORS if car.sections.kind == "truck" else low
    top = drive.map[-1][0]
    if not low <= top <= high:
        cause = likely_cause(top, (low, high), UNIT_SLIPS["rotational speed"], "rad/s")
        rpm = 30 / math.pi
        yield (
            f"drive.map ends at {top * rpm:.4g} rpm ({top:.4g} rad/s); usual is "
            f"{low * rpm:.0f} to {high * rpm:.0f} rpm. {cause}".rstrip()
        )


def _unusual_ratios(car: CarData, statics: CarStatics) -> Iterator[str]:
    """Wheels, carriers, brakes and drive against mass and radius."""
    sections = car.sections
    least = HEAVY_SHARE if sections.kind == "truck" else 1.0
    for axle in (car.front, car.rear):
        radius, wheel = float(axle.tyre.free_radius(ARRAYS, 0.0)), axle.record.wheel
        yield from _unusual_ratio(
            f"{axle.name}.wheel.spin_inertia = {wheel.spin_inertia:.4g} kg m2",
            wheel.spin_inertia,
            wheel.mass * radius**2,
            (0.25, 1.0),
            f"of a wheel of {wheel.mass:.4g} kg and a radius of {radius:.3g} m",
        )
        carrier = axle.record.carrier
        for i, axis in zip(carrier.inertia, "xyz", strict=True):
            yield from _unusual_ratio(
                f"{axle.name}.carrier.inertia about {axis} = {i:.4g} kg m2",
                i,
                carrier.mass,
                (0.0015, 0.8),
                f"of a carrier of {carrier.mass:.4g} kg",
            )
    weight = statics.mass * GRAVITY
    lever = weight * float(car.front.tyre.free_radius(ARRAYS, 0.0))
    words = f"of a car of {statics.mass:.4g} kg"
    for name, value, scale, (low, high) in (
        ("brakes.torque", sections.brakes.torque, lever, (0.4, 3.5)),
        ("drive.torque", sections.drive.torque, lever, (0.06, 2.0)),
        ("drive.power", sections.drive.power, statics.mass, (12.0, 500.0)),
    ):
        if value is not None:
            bounds = low * least, high
            yield from _unusual_ratio(f"{name} = {value:.4g}", value, scale, bounds, words)


def _unusual_ratio(
    what: str, value: float, scale: float, usual: tuple[float, float], words: str
) -> Iterator[str]:
    """A number outside of what is usual over another one; zero counts as not given."""
    low, high = usual[0] * scale, usual[1] * scale
    if value and not low <= value <= high:
        cause = likely_cause(value, (low, high))
        yield f"{what}: {words} usual is {low:.3g} to {high:.3g}. {cause}".rstrip()


def _mm(x: float) -> str:
    return f"{1000 * x:.4g} mm"
