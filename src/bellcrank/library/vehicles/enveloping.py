"""Wheels that envelop short obstacles: the cams of their tyres, and the effective road of such a wheel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bellcrank.errors import warn
from bellcrank.library.enveloping import EXPONENT, SHIFT, Cams, contact_length, over_cams
from bellcrank.library.terrain import Surface, Terrain
from bellcrank.library.tyres.steady import ARRAYS
from bellcrank.library.vehicles.held_wheels import loaded_radius
from bellcrank.library.vehicles.records import Enveloping

KEYS = ("ELLIPS_LENGTH", "ELLIPS_HEIGHT", "ELLIPS_ORDER", "ELLIPS_SHIFT")  # of .tir files; zero where missing


def cams_of(axle: Any, load: float) -> Cams | None:
    """The cams of the tyres of an axle whose wheel carries a load (N) at rest; None where they touch at a point."""
    given: Enveloping | None = axle.record.tyre.enveloping
    if given is None:
        return None
    tyre, free = axle.tyre, float(axle.tyre.free_radius(ARRAYS, 0.0))
    listed: Mapping[str, float] = getattr(tyre, "coefficients", {})
    radius = listed.get("UNLOADED_RADIUS", free)
    along, upright, order, shift = (listed.get(key) or usual for key, usual in zip(KEYS, (1, 1, EXPONENT, SHIFT)))
    rolls = loaded_radius(axle, load, 0.0)
    own = 2 * float(tyre.forces(load / len(axle.tyre_offsets), 0.0, 0.0).get("a", 0.0))
    base = shift * (own or contact_length(radius, free - rolls)) if given.base is None else given.base
    half = (along * radius, upright * radius) if given.ellipse is None else given.ellipse
    return Cams(base, half[0], half[1], order if given.exponent is None else given.exponent, rolls)


def effective_road(axle: Any, load: float, ground: Terrain | Surface) -> Terrain | Surface:
    """The effective road of the tyres of an axle."""
    cams = cams_of(axle, load)
    if cams is None:
        return ground
    if isinstance(ground, Surface):
        warn(f"'{ground.name}' is ground over x and y: tyres envelop obstacles of profiles along x alone, and touch it "
             "at one point")  # fmt: skip
        return ground
    return over_cams(ground, cams)
