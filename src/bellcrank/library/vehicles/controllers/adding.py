"""All controllers of a car file, added to its model."""

from __future__ import annotations

from bellcrank.api.system import System
from bellcrank.library.vehicles.controllers.cruise import add_cruise
from bellcrank.library.vehicles.controllers.esc import add_esc
from bellcrank.library.vehicles.controllers.parts import Controls, Place
from bellcrank.library.vehicles.controllers.traction import add_traction
from bellcrank.library.vehicles.controllers.vectoring import add_vectoring
from bellcrank.library.vehicles.data import CarData
from bellcrank.library.vehicles.rest import Stand


def add_controllers(s: System, car: CarData, at_rest: Stand) -> Controls:
    """What the controllers of the file ask of the brakes and the drive of single wheels."""
    given, controls = car.sections.controllers, Controls()
    if given is None:
        return controls
    at = Place(s, car, at_rest)
    if given.esc is not None:
        add_esc(at, given.esc, controls)
    if given.traction is not None:
        add_traction(at, given.traction, controls)
    if given.vectoring is not None:
        add_vectoring(at, given.vectoring, controls)
    return controls


def with_cruise(s: System, car: CarData, at_rest: Stand, asked: dict[str, str], speed: float) -> dict[str, str]:
    """What is asked of drive and brakes, with cruise control; `speed`: at the beginning (m/s)."""
    given = car.sections.controllers
    if given is None or given.cruise is None:
        return asked
    return add_cruise(Place(s, car, at_rest), given.cruise, asked, speed)
