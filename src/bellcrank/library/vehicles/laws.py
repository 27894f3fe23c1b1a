"""Laws of stops and dampers, one text for numbers and for formulas of a model: `m` has the functions of both; and of
tyres at standstill."""

from __future__ import annotations

from typing import Any

import numpy as np

from bellcrank.describe.tyre_model import Math, Rolling
from bellcrank.library.tyres.steady import ARRAYS
from bellcrank.library.vehicles.sprung import Array
from bellcrank.linkage.pose import cross


def stop(m: Math, gap: Any, k: Any, cubic: Any, moved: Any) -> Any:
    """The push of an elastic stop that was moved against by so much from the drawn length."""
    d = m.max(0.0, moved - gap)
    return k * d + cubic * d**3


def two_way(m: Math, compression: Any, rebound: Any, v: Any) -> Any:
    """The push of a damper with two coefficients that lengthens with the speed v."""
    return -m.where(v > 0, rebound, compression) * v


def leaning(tyre: Any, load: float, axis: Array, up: Array) -> Array:
    """The moment by which a tyre at standstill resists the inclination of its wheel; `axis` of spin, to the left."""
    at = Rolling(load, 0.0, 0.0, float(np.arcsin(axis @ up)), tyre.usual[0], 0.0, 0.0, low=tyre.fades(ARRAYS, 0.0))
    ahead = cross(axis, up)
    with np.errstate(all="ignore"):  # of branches that are not taken
        size = float(tyre.steady(ARRAYS, at, tyre.scales)["Mx"])
    found: Array = size * ahead / np.linalg.norm(ahead)
    return found
