"""Vehicles: partial vehicles, rigid cars, trucks and motorcycles; cars from hard points and motorcycles in space, from
files."""

from bellcrank.library.vehicles.car import Car, cars, template
from bellcrank.library.vehicles.motorcycles.motorcycle import Motorcycle, motorcycles
from bellcrank.library.vehicles.motorcycles.motorcycle_modes import SpeedModes
from bellcrank.library.vehicles.motorcycles.ride import Ride
from bellcrank.library.vehicles.motorcycles.rider import Rider
from bellcrank.library.vehicles.motorcycles.steady_cornering import Cornering
from bellcrank.library.vehicles.planar_vehicles import (
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
    "Car", "Cornering", "Design", "Motorcycle", "PartialVehicle", "Ride", "Rider", "Slip", "SpeedModes", "Tyre", "car",
    "cars", "motorcycle", "motorcycles", "partial_vehicle", "point_mass_car", "template", "truck",
]  # fmt: skip


def __dir__() -> list[str]:
    return sorted(__all__)
