"""Models of cars that users extend: what begins to roll with the car, and what was added
afterwards."""

from __future__ import annotations

from typing import Any

from bellcrank.model.records import StartSpeed
from bellcrank.vehicles.cars.building.car_model import CarSystem


def add_rolling_start(s: CarSystem) -> None:
    """Initial speeds of additional wheels on tyres, such as those of a trailer, that roll at the
    speed of the car."""
    for wheel in s.description.wheels:
        speed = f"u({getattr(wheel.body, 'name', wheel.body)})"
        start_speed = s.description.run.start_speed
        assert start_speed is not None
        initial_names = {*map(str, s.description.run.initial), *start_speed.states}
        if (
            wheel.body is not None
            and isinstance(wheel.radius, int | float)
            and speed not in initial_names
        ):
            s.set_run(initial={speed: s.speed / wheel.radius} if s.speed else {})
            s.description.run.start_speed = StartSpeed(
                start_speed.value, {**start_speed.states, speed: (1 / wheel.radius,)}
            )


def model_content(s: CarSystem) -> tuple[Any, ...]:
    """What a model consists of, to be compared later: names of its parts and values of its
    parameters."""
    d = s.description
    groups = (d.bodies, d.forces, d.states, d.variables)
    return (
        *(tuple(x.name for x in group) for group in groups),
        tuple(d.definitions),
        (len(d.constraints), len(d.loops), len(d.outputs), len(d.wheels)),
        {name: p.value for name, p in d.parameters.items()},
    )
