"""Wheels that envelop short obstacles: the cams of their tyres, and the effective road of such a
wheel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bellcrank.core.errors import issue_warning
from bellcrank.vehicles.cars.keys.car_keys import EnvelopingKeys
from bellcrank.vehicles.cars.statics.wheel_statics import solve_loaded_radius
from bellcrank.vehicles.terrain.tandem_cams import (
    EXPONENT,
    SHIFT,
    TandemCams,
    contact_length,
    envelop_with_cams,
)
from bellcrank.vehicles.terrain.terrain import Surface, Terrain
from bellcrank.vehicles.tyres.steady_tyre import ARRAYS

KEYS = (
    "ELLIPS_LENGTH",
    "ELLIPS_HEIGHT",
    "ELLIPS_ORDER",
    "ELLIPS_SHIFT",
)  # of .tir files; zero where missing


def axle_cams(axle: Any, load: float) -> TandemCams | None:
    """The cams of the tyres of an axle whose wheel carries a load (N) at rest; None where they
    touch at a point."""
    enveloping: EnvelopingKeys | None = axle.record.tyre.enveloping
    if enveloping is None:
        return None
    tyre, free_radius = axle.tyre, float(axle.tyre.free_radius(ARRAYS, 0.0))
    coefficients: Mapping[str, float] = getattr(tyre, "coefficients", {})
    radius = coefficients.get("UNLOADED_RADIUS", free_radius)
    length_factor, height_factor, order, shift = (
        coefficients.get(key) or default for key, default in zip(KEYS, (1, 1, EXPONENT, SHIFT))
    )
    radius_loaded = solve_loaded_radius(axle, load, 0.0)
    tyre_contact = 2 * float(tyre.forces(load / len(axle.tyre_offsets), 0.0, 0.0).get("a", 0.0))
    base = (
        shift * (tyre_contact or contact_length(radius, free_radius - radius_loaded))
        if enveloping.base is None
        else enveloping.base
    )
    half_axes = (
        (length_factor * radius, height_factor * radius)
        if enveloping.ellipse is None
        else enveloping.ellipse
    )
    return TandemCams(
        base,
        half_axes[0],
        half_axes[1],
        order if enveloping.exponent is None else enveloping.exponent,
        radius_loaded,
    )


def effective_road(axle: Any, load: float, ground: Terrain | Surface) -> Terrain | Surface:
    """The effective road of the tyres of an axle."""
    cams = axle_cams(axle, load)
    if cams is None:
        return ground
    if isinstance(ground, Surface):
        issue_warning(
            f"'{ground.name}' is ground over x and y: tyres envelop obstacles of profiles "
            f"along x alone, and touch it "
            "at one point"
        )
        return ground
    return envelop_with_cams(ground, cams)
