"""Manoeuvres straight ahead: braking and acceleration."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from bellcrank.core.errors import ModelError
from bellcrank.core.signals import sampled, step
from bellcrank.simulation.run.result import Run
from bellcrank.vehicles.cars.car import Car
from bellcrank.vehicles.cars.design.car_data import GRAVITY
from bellcrank.vehicles.cars.design.powertrain_data import max_drive_torque
from bellcrank.vehicles.manoeuvres.channel_metrics import distance_travelled
from bellcrank.vehicles.manoeuvres.compiled_car import (
    SIGNAL_END,
    THROTTLE_CLOSED,
    THROTTLE_FIXED,
    CompiledCar,
    abs_note,
    compiled_car,
)
from bellcrank.vehicles.manoeuvres.manoeuvre_result import (
    Criterion,
    Manoeuvre,
    MetricCollector,
    Result,
    Setting,
)

APPLIED = 0.2  # s, in which the brakes reach their torque
LOCKED = -0.5  # slip of a wheel that counts as locked
SLOW = 5.0  # m/s: below, slips say nothing
LONGEST = 180.0  # s, of an acceleration: heavy combinations take two minutes to 100 km/h
TURNS = 8  # of a search by halving


def braking_test(vehicle: Car, settings: dict[str, Any]) -> Result:
    """From a speed to standstill; without a torque the largest at which no wheel locks."""
    car, v0 = compiled_car(vehicle, settings), settings["speed"] / 3.6
    start = car.straight_running_state(v0)
    torque_set = settings["torque"]
    weight = car.at_rest.total_mass * GRAVITY * car.mean_rolling_radius
    max_torque = vehicle.data.sections.brakes.torque or 2 * weight
    if torque_set is None:
        low, high = 0.0, max_torque
        run = _braking_run(car, start, high)
        if _has_locked_wheel(run, car):
            for _ in range(TURNS):
                middle = (low + high) / 2
                low, high = (
                    (low, middle)
                    if _has_locked_wheel(_braking_run(car, start, middle), car)
                    else (middle, high)
                )
            run = _braking_run(car, start, low)
        torque = low if low else high
    else:
        torque = float(torque_set)
        run = _braking_run(car, start, torque)
    metrics = MetricCollector()
    v = run["ground_speed"]
    x = distance_travelled(run)
    metrics.add("torque", torque, "N-m", "brake torque, sum of all wheels")
    metrics.add("distance", x[-1], "m", f"stopping distance from {settings['speed']:g} km/h")
    metrics.add("time", run.time[-1], "s", "time to standstill")
    distances = [float(np.interp(-fraction * v0, -v, x)) for fraction in (0.8, 0.1)]
    metrics.add(
        "mfdd",
        v0**2 * (0.8**2 - 0.1**2) / (2 * (distances[1] - distances[0])),
        "m/s2",
        "mean fully developed deceleration",
    )
    metrics.add("deceleration_max", -run["ax"].min(), "m/s2", "largest deceleration")
    metrics.add("pitch_max", run["pitch"].max(), "deg", "largest pitch, nose down")
    i = int(np.argmin(run["ax"]))
    loads = [float(run[f"{c}.tyre_load"][i]) for c in car.data.wheels]
    metrics.add(
        "front_share",
        sum(loads[:2]) / sum(loads),
        "",
        "fraction of the load on the front axle at that time",
    )
    above_text = f"above {3.6 * SLOW:g} km/h"
    metrics.add(
        "slip_min",
        _min_wheel_slip(run, car.data.all_wheels),
        "",
        f"smallest slip of a wheel {above_text}; -1 is locked",
    )
    metrics.add("lateral_displacement", np.abs(run["y"]).max(), "m", "largest lateral displacement")
    criteria = [
        Criterion(f"it stops: the speed at the end is {3.6 * v[-1]:.3g} km/h", bool(v[-1] < 0.2))
    ]
    limits = (
        f"the brake torque is the largest at which no wheel locks {above_text}"
        if torque < max_torque
        or not any(name.startswith("abs") and is_on for name, is_on in vehicle.controllers.items())
        else "the slip is limited"
    )
    notes = [f"{abs_note(vehicle)}; {limits}"] if torque_set is None else []
    return Result(
        "braking",
        vehicle.name,
        settings,
        {"braking": run},
        metrics.as_metrics(),
        criteria,
        notes,
        ("speed", "ax", "pitch", "*.tyre_load", "*.tyre.kappa"),
    )


def _braking_run(car: CompiledCar, start: dict[str, float], torque: float) -> Run:
    signal = sampled([0.0, APPLIED, SIGNAL_END], [0.0, torque, torque])
    return car.simulate(
        60.0,
        start,
        {"brake": signal, "drive": car.throttle_release(start)},
        THROTTLE_FIXED,
        until="ground_speed < 0.1",
    )


def _has_locked_wheel(run: Run, car: CompiledCar) -> bool:
    return _min_wheel_slip(run, car.data.all_wheels) < LOCKED


def _min_wheel_slip(run: Run, wheels: Iterable[str]) -> float:
    fast = run["ground_speed"] > SLOW
    return min(float(run[f"{c}.tyre.kappa"][fast].min(initial=0.0)) for c in wheels)


def acceleration_test(vehicle: Car, settings: dict[str, Any]) -> Result:
    """From standstill with all the drive has."""
    drive = vehicle.data.sections.drive
    if (
        max_drive_torque(vehicle.data.sections) is None
        and drive.power is None
        and drive.map is None
    ):
        raise ModelError(
            "acceleration: the file states no drive.torque, drive.power, drive.map or motor "
            "of each driven axle",
            vehicle.name,
        )
    car, top = compiled_car(vehicle, settings), settings["to"] / 3.6
    start = car.straight_running_state(0.0)
    geared = settings["gear"] is None and len(drive.gears or ()) > 1
    automatic = THROTTLE_CLOSED | ({"gear_held": 0.0} if geared else {})
    max_torque = 1e7 if drive.torque is None else drive.torque
    run = car.simulate(
        LONGEST, start, {"drive": step(0.5, max_torque)}, automatic, until=f"speed > {top!r}"
    )
    metrics = MetricCollector()
    t, v = run.time - 0.5, run["speed"]
    is_up_to_speed = bool(v[-1] > top - 0.05)
    metrics.add(
        "time", t[-1] if is_up_to_speed else float("nan"), "s", f"time to {settings['to']:g} km/h"
    )
    metrics.add("distance", run["x"][-1] - run["x"][0], "m", "distance until then")
    metrics.add("acceleration_max", run["ax"].max(), "m/s2", "largest acceleration")
    metrics.add("pitch_min", run["pitch"].min(), "deg", "largest pitch, nose up")
    slips = [run[f"{c}.tyre.slip"][v > 1.0].max(initial=0.0) for c in car.data.wheels]
    metrics.add("slip_max", max(slips), "", "largest slip of a wheel over its rolling speed")
    if settings["to"] >= 120:
        a, b = (float(np.interp(x / 3.6, v, t)) for x in (80, 120))
        metrics.add("time_80_120", b - a, "s", "time from 80 to 120 km/h")
    criteria = [
        Criterion(f"it reaches {settings['to']:g} km/h: {3.6 * v[-1]:.4g} km/h", is_up_to_speed)
    ]
    return Result(
        "acceleration",
        vehicle.name,
        settings,
        {"acceleration": run},
        metrics.as_metrics(),
        criteria,
        [],
        ("speed", "ax", "pitch", "*.tyre_load", "*.tyre.kappa"),
    )


BRAKING = Manoeuvre(
    "braking",
    "straight braking to standstill",
    {
        "speed": Setting(100.0, "km/h", "speed at the start", truck=60.0),
        "torque": Setting(
            None, "N-m", "brake torque, sum of all wheels; the largest without locking if not given"
        ),
    },
    braking_test,
    "mean fully developed deceleration from 0.8 to 0.1 of the speed, as in ISO 21994 and UN R13-H",
    first=("distance", "mfdd"),
)
ACCELERATION = Manoeuvre(
    "acceleration",
    "full acceleration from standstill",
    {"to": Setting(100.0, "km/h", "speed at the end")},
    acceleration_test,
    first=("time",),
)
