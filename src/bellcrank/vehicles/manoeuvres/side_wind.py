"""A side wind that sets in while the car runs straight, the steering wheel held."""

from __future__ import annotations

from typing import Any

import numpy as np

from bellcrank.core.errors import ModelError
from bellcrank.core.signals import sampled
from bellcrank.vehicles.cars.car import Car
from bellcrank.vehicles.manoeuvres.channel_metrics import channel_value_at
from bellcrank.vehicles.manoeuvres.compiled_car import SIGNAL_END, THROTTLE_FIXED, compiled_car
from bellcrank.vehicles.manoeuvres.manoeuvre_result import (
    Manoeuvre,
    MetricCollector,
    Result,
    Setting,
)
from bellcrank.vehicles.manoeuvres.steering_tests import BEGINS

SOON = 0.1  # s, in which the wind sets in or ends


def side_wind_test(vehicle: Car, settings: dict[str, Any]) -> Result:
    """Wind from the right for some time: how far the car is blown aside."""
    air = vehicle.data.sections.aerodynamics
    if air is None or not air.has_side_wind:
        raise ModelError(
            "side wind: the file states no aerodynamics.side, .yaw or .flow", vehicle.name
        )
    car, v = compiled_car(vehicle, settings), settings["speed"] / 3.6
    wind, duration = settings["wind"], settings["duration"]
    times = [0.0, BEGINS, BEGINS + SOON, BEGINS + duration, BEGINS + duration + SOON, SIGNAL_END]
    signal = sampled(times, [0.0, 0.0, wind, wind, 0.0, 0.0])
    run = car.simulate(
        BEGINS + duration + 2.0,
        car.straight_running_state(v),
        {"wind": signal, "speed_set": v},
        THROTTLE_FIXED,
    )
    metrics = MetricCollector()
    for delay in (1.0, 2.0):
        if delay <= duration:
            metrics.add(
                f"lateral_displacement_{delay:g}",
                channel_value_at(run, "y", BEGINS + delay),
                "m",
                f"lateral displacement after {delay:g} s",
            )
    metrics.add(
        "lateral_displacement_end",
        run["y"][-1],
        "m",
        f"lateral displacement after {run.time[-1] - BEGINS:g} s",
    )
    for name, label in (("yaw_rate", "yaw rate"), ("ay", "lateral acceleration"), ("roll", "roll")):
        metrics.add(f"{name}_max", np.abs(run[name]).max(), run.units[name], f"largest {label}")
    metrics.add("yaw_end", run["yaw"][-1], "deg", "yaw angle at the end")
    metrics.add(
        "steering_torque_max",
        np.abs(run["steering_torque"]).max(),
        "N-m",
        "largest steering torque",
    )
    return Result(
        "side-wind",
        vehicle.name,
        settings,
        {"wind": run},
        metrics.as_metrics(),
        [],
        ["the steering wheel and the throttle are fixed"],
        ("wind", "ay", "yaw_rate", "roll", "steering_torque", ("y", "x")),
    )


WIND = Manoeuvre(
    "side-wind",
    "side wind from the right, the steering wheel fixed",
    {
        "speed": Setting(100.0, "km/h", "speed"),
        "wind": Setting(20.0, "m/s", "speed of the wind"),
        "duration": Setting(2.0, "s", "how long it blows"),
    },
    side_wind_test,
    "ISO 12021, from memory",
    first=("lateral_displacement_1", "yaw_rate_max"),
)
