"""What is unusual about a car: values outside of what a person expects, by name, number and range.

What cannot be is rejected when the file is read; what is reported here runs, but is more often a
slip of the pen, a wrong unit above all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from bellcrank.vehicles.cars.design.car_data import CORNERS, CarData
from bellcrank.vehicles.cars.design.geometry_checks import unusual_points
from bellcrank.vehicles.cars.keys.car_keys import AerodynamicsKeys
from bellcrank.vehicles.cars.metrics.handling_metrics import Figures, VehicleMetric
from bellcrank.vehicles.cars.metrics.unusual_design import unusual_design
from bellcrank.vehicles.cars.statics.static_equilibrium import CarStatics, corner_state
from bellcrank.vehicles.file_keys import format_value, key_of
from bellcrank.vehicles.likely_slips import UNIT_SLIPS, as_sentence, likely_cause

UP = np.array([0.0, 0.0, 1.0])
ASTRAY = 0.05  # m, from where wheels of simple axles are drawn to where they rest
HEAVY, LIGHT = 10.0, 0.5  # upper and lower ends of usual ranges of trucks over those of cars

UNIT_SLIPS_OF = {  # units that are confused and the one meant, by the dimension of a key
    "L": (UNIT_SLIPS["length"], "m"),
    "F": (UNIT_SLIPS["force"], "N"),
    "F/L": (UNIT_SLIPS["stiffness"], "N/m"),
    "F*T/L": (UNIT_SLIPS["damping"], "N s/m"),
    "F/L**2": (UNIT_SLIPS["pressure"], "Pa"),
    "A": (UNIT_SLIPS["angle"], "rad"),
    "A/T": (UNIT_SLIPS["rotational speed"], "rad/s"),
    "F*L/A": (UNIT_SLIPS["torsional stiffness"], "N m/rad"),
    "F*L": (UNIT_SLIPS["torque"], "N m"),
    "F*L/T": (UNIT_SLIPS["power"], "W"),
    "M": (UNIT_SLIPS["mass"], "kg"),
}


def plausibility_warnings(car: CarData, statics: CarStatics, figures: Figures) -> list[str]:
    """Messages about unusual keys, figures, tyres and travels."""
    heavy = heavy_vehicle_factor(car)
    messages = list(unusual_keys(car.sections, "", heavy))
    messages += unusual_metrics(figures, heavy)
    for name, load, (axle_name, _) in zip(
        CORNERS, statics.wheel_load, CORNERS.values(), strict=True
    ):
        axle = car.axle(axle_name)
        low, high = axle.tyre.static_load_range
        tyre_load = load / len(axle.tyre_offsets)
        if not low <= tyre_load <= high:
            messages.append(
                f"load of {name} at rest, {tyre_load:.0f} N, lies outside of its tyre's "
                f"range {low:g} to {high:g} N."
            )
    for axle in (car.front, car.rear):
        messages += unusual_points(axle.name, axle.record, axle.linkage.chain)
        for note in axle.tyre.notes:
            messages.append(as_sentence(f"{axle.name}.tyre: {note}"))
        low, high = axle.linkage.range()
        travel = statics.travel[0 if axle.name == "front" else 2]
        c = corner_state(axle, 1, travel, statics.height, UP)
        for stop_keys, stroke in (
            (axle.record.bump_stop, c.drawn - c.length),
            (axle.record.rebound_stop, c.length - c.drawn),
        ):
            if stop_keys is not None and stroke > stop_keys.gap:
                messages.append(
                    f"{axle.name}: at rest the strut of the spring is {1000 * stroke:.0f} "
                    f"mm from its drawn length, on "
                    f"its stop, which begins at {1000 * stop_keys.gap:.0f} mm."
                )
        if c.length > statics.free_length[axle.name]:
            points = " and ".join(f"'{p}'" for p in axle.spring)
            messages.append(
                f"{axle.name}.spring: it pulls, as the hard points {points} move apart when "
                f"the wheel rises. Are they "
                "interchanged?"
            )
        if not low + 0.03 < travel < high - 0.03:
            messages.append(
                f"{axle.name}: the car stands at a travel of {1000 * travel:.0f} mm, the "
                f"suspension reaches from "
                f"{1000 * low:.0f} to {1000 * high:.0f} mm."
            )
    messages += unusual_design(car, statics)
    messages += ride_height_warnings(car.sections.aerodynamics, statics)
    units = [statics.added, *statics.trailers]
    loads = {wheel: load for unit in units if unit is not None for wheel, load in unit.load.items()}
    travels = {
        wheel: travel for unit in units if unit is not None for wheel, travel in unit.travel.items()
    }
    for simple in car.simple_axles:
        prefix = f"trailers.{simple.unit}." if simple.unit else ""
        travel = travels[simple.wheel_name("l")]
        if abs(travel) > ASTRAY:
            messages.append(
                f"{prefix}axles.{simple.name}: at rest its wheels are {1000 * abs(travel):.0f} mm "
                f"{'above' if travel > 0 else 'below'} where they are drawn. Do the height "
                f"of 'at', the radius of the "
                "tyre and the height of the hitch agree?"
            )
        low, high = simple.tyre.static_load_range
        load = loads[simple.wheel_name("l")] / len(simple.tyre_offsets)
        if not low <= load <= high:
            messages.append(
                f"load of a wheel of {simple.full_name} at rest, {load:.0f} N, lies outside "
                f"of its tyre's range "
                f"{low:g} to {high:g} N."
            )
        tyre = f"{prefix}axles.{simple.name}.tyre"
        messages += [as_sentence(f"{tyre}: {note}") for note in simple.tyre.notes]
    return messages


def heavy_vehicle_factor(car: CarData) -> float:
    """By how much the upper ends of usual ranges are higher than those of cars."""
    return HEAVY if car.sections.kind == "truck" else 1.0


def is_metric_unusual(f: VehicleMetric, heavy: float = 1.0) -> bool:
    """Whether a figure lies outside of its usual range, whose upper end is `heavy` times as
    high."""
    if not f.is_unusual or f.usual is None:
        return False
    low, high = usual_range(f.usual, heavy, ratio=not f.unit)
    return not low <= f.value <= high


def usual_range(usual: tuple[float, float], heavy: float, ratio: bool) -> tuple[float, float]:
    """A usual range of a vehicle whose upper end is `heavy` times as high, but for ratios, such as
    friction and fractions; one of both signs is twice as wide."""
    low, high = usual
    if heavy == 1.0:
        return usual
    return (
        (low / LIGHT, high / LIGHT) if low < 0 else (low * LIGHT, high if ratio else high * heavy)
    )


def unusual_metrics(figures: Figures, heavy: float = 1.0) -> list[str]:
    """Messages about figures outside of their usual range."""
    messages = []
    for name, f in figures.details.items():
        if f.usual is not None and is_metric_unusual(f, heavy):
            low, high = usual_range(f.usual, heavy, ratio=not f.unit)
            unit = f" {f.unit}" if f.unit else ""
            messages.append(
                f"{f.label} ({name}) is {f.value:.4g}{unit}; usual is {low:g} to {high:g}{unit}."
            )
    return messages


def unusual_keys(record: Any, prefix: str, heavy: float = 1.0) -> Iterator[str]:
    """Numbers of all keys outside of their usual range, whose upper end is `heavy` times as high,
    and moments of inertia that no body has."""
    for f in fields(record):
        value, path = getattr(record, f.name), f"{prefix}{f.name}"
        if is_dataclass(value):
            yield from unusual_keys(value, f"{path}.", heavy)
        elif isinstance(value, Mapping):
            for name, each in value.items():
                if is_dataclass(each):
                    yield from unusual_keys(each, f"{path}.{name}.", heavy)
        elif (
            f.name == "inertia"
            and isinstance(value, tuple)
            and 2 * max(value) > (1 + 1e-9) * sum(value)
        ):
            yield (
                f"{path} = {[float(f'{i:.4g}') for i in value]} kg m2: one exceeds the sum of "
                f"the others."
            )
        elif "key" in f.metadata and isinstance(value, float):
            k = key_of(f)
            if k.typical_range is None:
                continue
            lower, upper = usual_range(k.typical_range, heavy, ratio=k.dimensions == ("1",))
            if not lower <= value <= upper:
                low, high = (format_value(k, x) for x in (lower, upper))
                unit_slips, unit = UNIT_SLIPS_OF.get(k.dimensions[0], ({}, ""))
                cause = likely_cause(value, (lower, upper), unit_slips, unit)
                yield (
                    f"{path} = {format_value(k, value)}: {k.label}; usual is {low} to {high}. "
                    f"{cause}".rstrip()
                )


def ride_height_warnings(air: AerodynamicsKeys | None, statics: CarStatics) -> Iterator[str]:
    """Ride heights at rest outside of their map."""
    if air is None or air.ride is None:
        return
    for axle, point in (("front", air.ride.front_at), ("rear", air.ride.rear_at)):
        heights = getattr(air.ride, axle)
        attitude = statics.body_attitude(axle)
        h = attitude.height + float(np.array(point) @ attitude.up)
        if not heights[0] <= h <= heights[-1]:
            yield (
                f"aerodynamics.ride: at rest the {axle} ride height is {1000 * h:.0f} mm, "
                f"outside of its map, "
                f"{1000 * heights[0]:.4g} to {1000 * heights[-1]:.4g} mm; the edge of the "
                f"map applies there."
            )
