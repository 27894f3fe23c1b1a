"""All controllers of a car file, added to its model."""

from __future__ import annotations

from bellcrank.api.system import System
from bellcrank.vehicles.cars.control.controller_context import ControllerContext, ControllerOutputs
from bellcrank.vehicles.cars.control.cruise import add_cruise
from bellcrank.vehicles.cars.control.esc import add_esc
from bellcrank.vehicles.cars.control.traction import add_traction
from bellcrank.vehicles.cars.control.vectoring import add_vectoring
from bellcrank.vehicles.cars.design.car_data import CarData
from bellcrank.vehicles.cars.statics.static_equilibrium import CarStatics


def add_controllers(s: System, car: CarData, statics: CarStatics) -> ControllerOutputs:
    """What the controllers of the file ask of the brakes and the drive of single wheels."""
    keys, controls = car.sections.controllers, ControllerOutputs()
    if keys is None:
        return controls
    context = ControllerContext(s, car, statics)
    if keys.esc is not None:
        add_esc(context, keys.esc, controls)
    if keys.traction is not None:
        add_traction(context, keys.traction, controls)
    if keys.vectoring is not None:
        add_vectoring(context, keys.vectoring, controls)
    return controls


def add_cruise_control(
    s: System, car: CarData, statics: CarStatics, commands: dict[str, str], speed: float
) -> dict[str, str]:
    """What is asked of drive and brakes, with cruise control; `speed`: at the beginning (m/s)."""
    keys = car.sections.controllers
    if keys is None or keys.cruise is None:
        return commands
    return add_cruise(ControllerContext(s, car, statics), keys.cruise, commands, speed)
