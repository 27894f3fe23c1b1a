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


def add_controllers(s: System, car: CarData, statics: Stand) -> Controls:
    """What the controllers of the file ask of the brakes and the drive of single wheels."""
    keys, controls = car.sections.controllers, Controls()
    if keys is None:
        return controls
    context = Place(s, car, statics)
    if keys.esc is not None:
        add_esc(context, keys.esc, controls)
    if keys.traction is not None:
        add_traction(context, keys.traction, controls)
    if keys.vectoring is not None:
        add_vectoring(context, keys.vectoring, controls)
    return controls


def with_cruise(s: System, car: CarData, statics: Stand, commands: dict[str, str], speed: float) -> dict[str, str]:
    """What is asked of drive and brakes, with cruise control; `speed`: at the beginning (m/s)."""
    keys = car.sections.controllers
    if keys is None or keys.cruise is None:
        return commands
    return add_cruise(Place(s, car, statics), keys.cruise, commands, speed)
