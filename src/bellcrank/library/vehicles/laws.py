"""Laws of stops and dampers, one text for numbers and for formulas of a model: `m` has the functions of both."""

from __future__ import annotations

from typing import Any

from bellcrank.describe.tyre_model import Math


def stop(m: Math, gap: Any, k: Any, cubic: Any, moved: Any) -> Any:
    """The push of an elastic stop that was moved against by so much from the drawn length."""
    d = m.max(0.0, moved - gap)
    return k * d + cubic * d**3


def two_way(m: Math, compression: Any, rebound: Any, v: Any) -> Any:
    """The push of a damper with two coefficients that lengthens with the speed v."""
    return -m.where(v > 0, rebound, compression) * v
