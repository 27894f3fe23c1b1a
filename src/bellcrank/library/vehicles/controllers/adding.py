"""All controllers of a car file, added to its model."""

from __future__ import annotations

from bellcrank.api.system import System
from bellcrank.library.vehicles.controllers.esc import add_esc
from bellcrank.library.vehicles.controllers.parts import Controls, Place
from bellcrank.library.vehicles.data import CarData
from bellcrank.library.vehicles.rest import Stand


def add_controllers(s: System, car: CarData, at_rest: Stand) -> Controls:
    """What the controllers of the file ask of brakes and drive."""
    given, controls = car.sections.controllers, Controls()
    if given is None:
        return controls
    at = Place(s, car, at_rest)
    if given.esc is not None:
        add_esc(at, given.esc, controls)
    return controls
