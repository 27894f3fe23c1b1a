"""Vehicles: partial vehicles, rigid cars, trucks and motorcycles; and cars from hard points, read from a file."""

from bellcrank.library.vehicles.car import Car, cars, template
from bellcrank.library.vehicles.partial import (
    Design,
    PartialVehicle,
    Slip,
    Tyre,
    car,
    motorcycle,
    partial_vehicle,
    point_mass_car,
    truck,
)  # fmt: skip

__all__ = [
    "Car", "Design", "PartialVehicle", "Slip", "Tyre", "car", "cars", "motorcycle", "partial_vehicle", "point_mass_car",
    "template", "truck",
]  # fmt: skip
