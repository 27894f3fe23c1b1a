"""Laws of stops and dampers, one text for numbers and for formulas of a model: `m` has the
functions of both; and of tyres at standstill."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bellcrank.linkage.pose import cross_last_axis
from bellcrank.model.describe.tyre_model import MathFunctions, Rolling
from bellcrank.vehicles.tyres.steady_tyre import ARRAYS

Array = np.ndarray[Any, Any]

ATMOSPHERE = 101325.0  # Pa
SMALLEST = (
    0.05  # of the volume of an air spring at rest: what is left when it is compressed to its end
)


def bump_stop_force(m: MathFunctions, gap: Any, k: Any, cubic: Any, displacement: Any) -> Any:
    """The push of an elastic stop that was moved against by so much from the drawn length."""
    d = m.max(0.0, displacement - gap)
    return k * d + cubic * d**3


def two_way_damper_force(m: MathFunctions, compression: Any, rebound: Any, v: Any) -> Any:
    """The push of a damper with two coefficients that lengthens with the speed v."""
    return -m.where(v > 0, rebound, compression) * v


def dual_tyre_offsets(spacing: float | None) -> tuple[float, ...]:
    """Distances of the tyres of a wheel from its centre, along its axis to the left, m: one tyre,
    or two (dual)."""
    return (0.0,) if spacing is None else (spacing / 2, -spacing / 2)


class WheelStaticLoad(NamedTuple):
    """What the ground does to a wheel at rest: load of its tyres (N), where it acts, and the moment
    by which they resist inclination."""

    load: float
    contact: Array
    moment: Array


def wheel_static_load(
    wheel: Any, side: int, centre: Array, axis: Array, vertical: Array, height: float
) -> WheelStaticLoad:
    """The tyres of a left (1) or right (-1) wheel at rest. `wheel`: what has `tyre` and
    `dual_tyre_offsets`, an axle;
    `axis`: of spin, to the left; `height`: of the origin of positions above the ground, along
    `vertical`."""
    tyre = wheel.tyre.on("left" if side > 0 else "right")
    tilt = float(axis @ vertical)
    upright = float(np.sqrt(1 - tilt**2))
    rolling = Rolling(0.0, 0.0, 0.0, float(np.arcsin(tilt)), tyre.usual[0], tyre.usual[1], 0.0)
    loads, points, moment = [], [], np.zeros(3)
    for offset in wheel.tyre_offsets:
        middle = centre + offset * axis
        centre_height = (height + float(vertical @ middle)) / upright
        loads.append(float(tyre.radial_load(ARRAYS, rolling, centre_height)[0]))
        points.append(middle + centre_height * (tilt * axis - vertical) / upright)
        moment = moment + static_overturning_moment(tyre, loads[-1], axis, vertical)
    load = sum(loads)
    fractions = [x / load if load > 0 else 1 / len(loads) for x in loads]
    return WheelStaticLoad(
        load,
        sum((x * point for x, point in zip(fractions, points, strict=True)), np.zeros(3)),
        moment,
    )


def polytropic_air_force(force: Any, area: Any, exponent: Any, ratio: Any) -> Any:
    """Force of an air spring whose volume is that at `force` over `ratio`, by p V^n = const."""
    return (force + ATMOSPHERE * area) * ratio**exponent - ATMOSPHERE * area


def static_overturning_moment(tyre: Any, load: float, axis: Array, vertical: Array) -> Array:
    """The moment by which a tyre at standstill resists the inclination of its wheel; `axis` of
    spin, to the left."""
    state = Rolling(
        load,
        0.0,
        0.0,
        float(np.arcsin(axis @ vertical)),
        tyre.usual[0],
        0.0,
        0.0,
        low=tyre.standstill_weight(ARRAYS, 0.0),
    )
    forward = cross_last_axis(axis, vertical)
    with np.errstate(all="ignore"):  # of branches that are not taken
        size = float(tyre.steady_state_forces(ARRAYS, state, tyre.scales)["Mx"])
    moment: Array = size * forward / np.linalg.norm(forward)
    return moment
