"""Aerodynamic coefficients over ride heights and over the air-flow angle: what files may say, and
tables of models.

A map of ride heights is bilinear between its points, and holds its edge outside. Tables over the
flow angle are for one side; the other is the mirror image, so lateral force and yaw moment vanish
at angle 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise

from bellcrank.symbolic.expr.table import Table, table
from bellcrank.vehicles.cars.keys.car_keys import AerodynamicsKeys, Pairs, RideHeightMapKeys

WHERE = "aerodynamics"
RIDE = ("drag", "lift_front", "lift_rear")
ODD = ("side", "yaw")
WIDEST = 90.0  # deg
SQUARE = math.radians(
    WIDEST + 1.0
)  # no flow angle is larger, so a table to here holds its last value


def air_problems(air: AerodynamicsKeys | None) -> Iterator[str]:
    """Maps that contradict themselves or other keys."""
    if air is None:
        return
    ride, flow = air.ride, air.flow
    if air.drag is None and (ride is None or ride.drag is None):
        yield (
            f"{WHERE}.drag is missing: the drag coefficient, here or as {WHERE}.ride.drag over "
            f"the ride heights."
        )
    if ride is not None:
        yield from _ride_map_problems(air, ride)
    for name in (*ODD, *RIDE) if flow is not None else ():
        pairs: Pairs | None = getattr(flow, name)
        key = f"{WHERE}.flow.{name}"
        if pairs is None:
            continue
        if name in ODD and getattr(air, name) != 0:
            yield (
                f"{WHERE}.{name} and {key} are both given; the table takes the place of the "
                f"coefficient."
            )
        first, last = (math.degrees(pairs[i][0]) for i in (0, -1))
        if first != 0 or last > WIDEST:
            yield (
                f"{key}: angles must begin at 0 and end at {WIDEST:g} deg at most, given "
                f"{first:g} to {last:g} deg."
            )
        expected = 0.0 if name in ODD else 1.0
        if pairs[0][1] != expected:
            kind = "coefficient" if name in ODD else "factor"
            yield f"{key}: the {kind} at angle 0 must be {expected:g}, given {pairs[0][1]:g}."


def _ride_map_problems(air: AerodynamicsKeys, ride: RideHeightMapKeys) -> Iterator[str]:
    for name in ("front", "rear"):
        heights = getattr(ride, name)
        if len(heights) < 2 or any(b <= a for a, b in pairwise(heights)) or heights[0] < 0:
            heights_mm = [round(1000 * h, 3) for h in heights]
            yield (
                f"{WHERE}.ride.{name} must be at least two increasing heights, none negative, "
                f"given {heights_mm} mm."
            )
    map_names = [name for name in RIDE if getattr(ride, name) is not None]
    if not map_names:
        yield f"{WHERE}.ride has no map: {', '.join(RIDE)}."
    for name in map_names:
        rows = getattr(ride, name)
        if (len(rows), len(rows[0])) != (len(ride.front), len(ride.rear)):
            yield (
                f"{WHERE}.ride.{name} has {len(rows)} rows of {len(rows[0])} numbers; it "
                f"must have {len(ride.front)} "
                f"rows, one for each front height, of {len(ride.rear)} numbers, one for "
                f"each rear height."
            )
        if getattr(air, name) not in (None, 0.0):
            yield (
                f"{WHERE}.{name} and {WHERE}.ride.{name} are both given; the map takes the "
                f"place of the coefficient."
            )
        if name == "drag" and min(map(min, rows)) < 0:
            yield f"{WHERE}.ride.drag = {min(map(min, rows)):g} must not be negative."


def ride_height_table(ride: RideHeightMapKeys, rows: tuple[tuple[float, ...], ...]) -> Table:
    """A map over front and rear ride height, m."""
    return table(ride.front, ride.rear, rows)


def flow_angle_table(pairs: Pairs, odd: bool) -> Table:
    """A table over the angle (rad) to both sides, constant outside."""
    angles, values = [a for a, _ in pairs], [c for _, c in pairs]
    angles, values = [*angles, SQUARE], [*values, values[-1]]
    sign = -1.0 if odd else 1.0
    return table(
        [*(-a for a in angles[:0:-1]), *angles], [*(sign * c for c in values[:0:-1]), *values]
    )
