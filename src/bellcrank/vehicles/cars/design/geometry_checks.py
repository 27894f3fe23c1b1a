"""Geometry of a car before statics: hard points, axles, mass centre and loads that cannot be where
they are.

Slips of the pen (points interchanged, signs, units) otherwise end in statics without a solution,
which names no point.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from bellcrank.linkage.chain import BASE, Chain, Point
from bellcrank.vehicles.cars.keys.car_keys import AxleKeys, CarFileKeys

SHORTEST, LONGEST = 0.5, 15.0  # m, wheelbases that are taken for real
NARROWEST, WIDEST = 0.3, 5.0  # m, tracks
FARTHEST = 3.0  # m, of a hard point from the wheel centre
STEPPED = 1.0  # m, of the wheel centres of one axle above those of the other
ASIDE = 5.0  # m, of a mass from the middle of the car across and up; along it in wheelbases
ARMS = ("lower", "upper")
UNITS = "Are units missing or wrong (plain numbers are in the `units` of their section)?"


def axle_problems(name: str, record: AxleKeys, chain: Chain) -> Iterator[str]:
    """Hard points of the left suspension of an axle that cannot be where they are."""
    points = {n: p.at for n, p in chain.points.items()}
    prefix = f"{name}.suspension: hard point"
    hub = chain.hub
    centre = points[hub]
    y = centre[1] + record.at[1]
    if y <= 0:
        yield (
            f"{prefix} '{hub}' has y = {_format_mm(y)}, but wheels of the left side have y "
            f"> 0 (ISO 8855: y points to "
            "the left). Mirror the points, give side = 'right', or state their axes (axes = "
            "'ADAMS' or 'SAE')."
        )
        return
    remote = [n for n, position in points.items() if math.dist(position, centre) > FARTHEST]
    if remote:
        names = ", ".join(f"'{n}'" for n in remote[:4]) + (" and others" if len(remote) > 4 else "")
        yield (
            f"{prefix} {names}: {math.dist(points[remote[0]], centre):.4g} m from the wheel "
            f"centre; at most "
            f"{FARTHEST:g} m are taken for real. {UNITS}"
        )
        return
    outside = [
        n for n, p in chain.points.items() if p.body == BASE and n != hub and p.at[1] > centre[1]
    ]
    if outside:
        names = ", ".join(f"'{n}' ({_format_mm(points[n][1] + record.at[1])})" for n in outside)
        yield (
            f"{prefix} '{hub}' has y = {_format_mm(y)}, but these of the body lie outside "
            f"of it: {names}. Are two hard "
            "points interchanged, or is a digit missing?"
        )
        return
    for inner, outer in _inner_outer_pairs(points):
        a, b = points[inner], points[outer]
        if math.dist(b, centre) > math.dist(a, centre):
            yield (
                f"{prefix} '{outer}' on the wheel side, {_format_point(b)}, is farther from "
                f"the wheel centre than "
                f"'{inner}' "
                f"on the body side, {_format_point(a)}. Are they interchanged, or has one a "
                f"wrong sign?"
            )
    for low, high in _lower_upper_pairs(points):
        if points[low][2] >= points[high][2]:
            yield (
                f"{prefix} '{low}' at z = {_format_mm(points[low][2])} is not below '{high}' at "
                f"{_format_mm(points[high][2])}. Are "
                "they interchanged, or does z point down (axes = 'SAE')?"
            )


def car_problems(sections: CarFileKeys, front: Chain, rear: Chain) -> Iterator[str]:
    """Axles, mass centre and loads that cannot be where they are."""
    centres = [
        [a + b for a, b in zip(chain.place(chain.hub), axle.at, strict=True)]
        for chain, axle in ((front, sections.front), (rear, sections.rear))
    ]
    (front_x, *_), (rear_x, *_) = centres
    if not front_x > rear_x:
        yield (
            f"front wheels stand at x = {front_x:g} m, rear wheels at {rear_x:g} m: x "
            f"points forward; `at` of an axle "
            "moves its hard points."
        )
        return
    if not SHORTEST <= front_x - rear_x <= LONGEST:
        yield (
            f"the wheelbase would be {front_x - rear_x:.4g} m: front.at moves the front "
            f"wheels to x = {front_x:g} m, "
            f"rear.at the rear wheels to {rear_x:g} m. It lies between {SHORTEST:g} and "
            f"{LONGEST:g} m; are units "
            'missing ("1450 mm"; plain numbers are m)?'
        )
        return
    hubs = (front.hub, rear.hub)
    for name, hub, (_, y, _) in zip(("front", "rear"), hubs, centres, strict=True):
        if not NARROWEST <= 2 * y <= WIDEST:
            yield (
                f"{name}: hard point '{hub}' and {name}.at give a track of {2 * y:.4g} m; "
                f"it lies between "
                f"{NARROWEST:g} and {WIDEST:g} m. {UNITS}"
            )
    if abs(centres[0][2] - centres[1][2]) > STEPPED:
        yield (
            f"hard point '{hubs[0]}' with front.at lies at z = {centres[0][2]:.4g} m, "
            f"'{hubs[1]}' with rear.at at "
            f"{centres[1][2]:.4g} m: wheel centres of the axles differ by at most "
            f"{STEPPED:g} m in height. {UNITS}"
        )
        return
    yield from _check_masses(sections, front_x, rear_x, centres[0][2])


def _check_masses(
    sections: CarFileKeys, front_x: float, rear_x: float, hub_z: float
) -> Iterator[str]:
    wheelbase, loads = front_x - rear_x, sections.loads or {}
    masses = [("body.cg", sections.body.mass, sections.body.cg)]
    masses += [(f"loads.{n}.at", x.mass, x.at) for n, x in loads.items()]
    has_remote = False
    for name, _, (x, y, z) in masses:
        if (
            not rear_x - 2 * wheelbase <= x <= front_x + 2 * wheelbase
            or max(abs(y), abs(z - hub_z)) > ASIDE
        ):
            has_remote = True
            yield (
                f"{name} = {_format_point((x, y, z))} lies outside of the car, whose wheels "
                f"stand at x = {rear_x:g} m "
                f"and "
                f"{front_x:g} m. {UNITS}"
            )
    mass = sum(m for _, m, _ in masses)
    x = sum(m * position[0] for _, m, position in masses) / mass
    if not has_remote and not rear_x < x < front_x:
        yield (
            f"body.cg and loads give a mass centre at x = {x:.4g} m, not between the axles "
            f"at {rear_x:g} m and "
            f"{front_x:g} m: the car would tip. x points forward."
        )


def unusual_points(name: str, record: AxleKeys, chain: Chain) -> Iterator[str]:
    """What is possible, but mostly a slip."""
    points = {n: p.at for n, p in chain.points.items()}
    prefix = f"{name}.suspension: hard point"
    for arm in ARMS:
        first, second = f"{arm}_front", f"{arm}_rear"
        if first in points and second in points and points[first][0] <= points[second][0]:
            yield (
                f"{prefix} '{first}' at x = {_format_mm(points[first][0])} is not ahead of "
                f"'{second}' at "
                f"{_format_mm(points[second][0])}; x points forward (ISO 8855; axes = "
                f"'ADAMS' has x rearward)."
            )
    for n, p in chain.points.items():
        if p.at[1] + record.at[1] < 0 and not chain.both:
            yield (
                f"{prefix} '{n}' has y = {_format_mm(p.at[1] + record.at[1])}: it lies on the "
                f"other side of the car."
            )


def _inner_outer_pairs(points: dict[str, Point]) -> Iterator[tuple[str, str]]:
    """Body side and wheel side of arms and rods."""
    pairs = [(f"{arm}_{end}", f"{arm}_ball") for arm in ARMS for end in ("front", "rear")]
    pairs += [
        ("tie_base", "tie_carrier"),
        ("strut_top", "strut_lower"),
        *((f"P{i}", f"X{i}") for i in range(1, 6)),
    ]
    return ((a, b) for a, b in pairs if a in points and b in points)


def _lower_upper_pairs(points: dict[str, Point]) -> Iterator[tuple[str, str]]:
    pairs = (
        ("lower_ball", "upper_ball"),
        ("lower_ball", "strut_top"),
        ("strut_lower", "strut_top"),
        ("lower_front", "upper_front"),
        ("lower_rear", "upper_rear"),
    )
    return ((a, b) for a, b in pairs if a in points and b in points)


def _format_mm(x: float) -> str:
    return f"{1000 * x:.4g} mm"


def _format_point(point: Point) -> str:
    return f"({', '.join(f'{1000 * x:.4g}' for x in point)}) mm"
