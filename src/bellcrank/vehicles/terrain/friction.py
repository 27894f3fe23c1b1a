"""Friction of a road over that for which tyres are given: along x, to the left and to the right."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from bellcrank.core.errors import ModelError

Grip = Sequence[tuple[float, float]]  # from which x on, and the friction there


def side_frictions(friction: Any, left: Any, right: Any) -> tuple[Grip, Grip]:
    """Left and right of a road, from one friction for all or from those of its sides."""
    if (friction is None) == (left is None and right is None):
        raise ModelError("terrain with_friction: give one friction for all, or left= and right=")
    sides = (
        (friction, friction)
        if friction is not None
        else (1.0 if left is None else left, 1.0 if right is None else right)
    )
    return _friction_along_x(sides[0]), _friction_along_x(sides[1])


def _friction_along_x(friction: Any) -> Grip:
    """Friction along x, checked."""
    pairs = friction if isinstance(friction, tuple | list) else [(0.0, friction)]
    if not pairs or not all(isinstance(pair, tuple | list) and len(pair) == 2 for pair in pairs):
        raise ModelError(
            f"terrain with_friction: {friction!r:.80} must be a number or pairs (x, friction)"
        )
    profile = [(_check_finite(x, "x"), _check_finite(mu, "friction")) for x, mu in pairs]
    if any(b[0] <= a[0] for a, b in pairwise(profile)) or any(mu < 0 for _, mu in profile):
        raise ModelError(
            f"terrain with_friction: {friction!r:.80}: x must increase and friction must "
            f"not be negative"
        )
    return tuple(profile)


def _check_finite(value: Any, name: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise ModelError(f"terrain with_friction: {name}={value!r} must be a finite number")
    return number
