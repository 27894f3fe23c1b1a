"""Vehicle files as models: a motorcycle file has a section [frame] and neither a section [body] nor
a car to change."""

from __future__ import annotations

from pathlib import Path

from bellcrank.core.files.text_files import read_toml
from bellcrank.vehicles.cars.building.car_model import Ground
from bellcrank.vehicles.cars.car import CARS, CarSystem, car_system
from bellcrank.vehicles.motorcycles.motorcycle import MotorcycleSystem, motorcycle_system


def is_motorcycle(path: str | Path) -> bool:
    """Is it a motorcycle file?"""
    return (
        Path(path).suffix == ".toml"
        and Path(path).is_file()
        and CARS.is_foreign(read_toml(Path(path)))
    )


def vehicle_system(
    path: str | Path, *, speed: float = 20.0, exact: bool = True, terrain: Ground | None = None
) -> CarSystem | MotorcycleSystem:
    """The model of a car or motorcycle file; options as of `Car.system`. `exact` is for cars
    alone."""
    if is_motorcycle(path):
        return motorcycle_system(path, speed=speed, terrain=terrain)
    return car_system(path, speed=speed, exact=exact, terrain=terrain)
