"""Steering about straight ahead: the weave, with its loops of torque, angle and lateral
acceleration."""

from __future__ import annotations

from typing import Any

import numpy as np

from bellcrank.core.errors import RunError
from bellcrank.core.signals import sampled
from bellcrank.simulation.run.result import Run
from bellcrank.vehicles.cars.car import Car
from bellcrank.vehicles.manoeuvres.channel_metrics import (
    channel_deviation,
    derivative_at,
    zero_crossings,
)
from bellcrank.vehicles.manoeuvres.compiled_car import compiled_car
from bellcrank.vehicles.manoeuvres.manoeuvre_result import (
    Curve,
    Manoeuvre,
    MetricCollector,
    Result,
    Setting,
)

Array = np.ndarray[Any, Any]


def on_centre_weave_test(vehicle: Car, settings: dict[str, Any]) -> Result:
    """A slow small sine: how steering wheel, torque and lateral acceleration hang together."""
    car, v, f = compiled_car(vehicle, settings), settings["speed"] / 3.6, settings["frequency"]
    angle, cycles = car.steering_angle_at(v, settings["ay"]), max(2, round(settings["cycles"]))
    t = np.linspace(0.0, cycles / f, 200 * cycles + 1)
    y = angle * np.sin(2 * np.pi * f * t) * np.clip(2 * f * t, 0.0, 1.0)
    run = car.simulate(
        cycles / f,
        car.straight_running_state(v),
        {"steer": sampled(t.tolist(), y.tolist()), "speed_set": v},
    )
    last = run.time >= (cycles - 1) / f - 1e-9
    wheel, torque, ay, yaw = (
        channel_deviation(run, n)[last]
        for n in ("steering_wheel", "steering_torque", "ay", "yaw_rate")
    )
    metrics = MetricCollector()
    metrics.add("angle", angle, "deg", "amplitude of the steering-wheel angle")
    metrics.add("ay_max", np.abs(ay).max(), "m/s2", "largest lateral acceleration")
    small, small_ay = 0.15 * angle, 0.15 * float(np.abs(ay).max())
    metrics.add(
        "stiffness",
        derivative_at(wheel, torque, 0.0, small),
        "N-m/deg",
        "steering torque over angle, at zero angle",
    )
    metrics.add(
        "torque_at_zero",
        _half_loop_height(wheel, torque),
        "N-m",
        "steering torque at zero angle: friction",
    )
    metrics.add(
        "angle_at_zero",
        _half_loop_height(torque, wheel),
        "deg",
        "steering-wheel angle at zero torque",
    )
    metrics.add(
        "dead_band",
        2 * _half_loop_height(ay, wheel),
        "deg",
        "width of the loop of angle over lateral acceleration, at zero",
    )
    metrics.add(
        "torque_at_zero_ay",
        _half_loop_height(ay, torque),
        "N-m",
        "steering torque at zero lateral acceleration",
    )
    metrics.add(
        "ay_at_zero_torque",
        _half_loop_height(torque, ay),
        "m/s2",
        "lateral acceleration at zero torque: returnability",
    )
    metrics.add(
        "torque_gradient",
        derivative_at(ay, torque, 0.0, small_ay),
        "N-m/(m/s2)",
        "torque over lateral acceleration, at zero",
    )
    metrics.add(
        "sensitivity",
        derivative_at(wheel, ay, 0.0, small),
        "m/s2/deg",
        "lateral acceleration over angle, at zero",
    )
    angle_at_1 = (
        float(np.interp(1.0, *_rising_half_cycle(ay, wheel)))
        if np.abs(ay).max() > 1.2
        else float("nan")
    )
    metrics.add(
        "sensitivity_1",
        derivative_at(wheel, ay, angle_at_1, small),
        "m/s2/deg",
        "lateral acceleration over angle, at 1 m/s2",
    )
    metrics.add(
        "yaw_gain",
        derivative_at(wheel, yaw, 0.0, small),
        "1/s",
        "yaw rate over steering-wheel angle, at zero",
    )
    loops = (
        ("steering_wheel", "steering_torque"),
        ("steering_wheel", "ay"),
        ("ay", "steering_torque"),
        ("steering_wheel", "yaw_rate"),
    )
    curves = tuple(_hysteresis_curve(run, last, x, y) for x, y in loops)
    return Result(
        "iso13674-1",
        vehicle.name,
        settings,
        {"weave": run},
        metrics.as_metrics(),
        [],
        [
            f"of {cycles} cycles the last is taken",
            "hysteresis of the torque needs friction of the rack",
        ],
        ("steering_wheel", "ay"),
        curves,
    )


def _hysteresis_curve(run: Run, last: Array, x: str, y: str) -> Curve:
    def words(channel: str) -> str:
        return f"{run.labels[channel]}, {run.units[channel]}"

    return Curve(words(x), words(y), (("weave", run[x][last], run[y][last]),))


def _half_loop_height(x: Array, y: Array) -> float:
    """Half the height of a loop of y over x at x = 0."""
    heights = [float(y[i] + fraction * (y[i + 1] - y[i])) for i, fraction in zero_crossings(x)]
    if len(heights) < 2:
        raise RunError("weave: a channel does not pass zero twice within a cycle; take more cycles")
    return abs(max(heights) - min(heights)) / 2


def _rising_half_cycle(ay: Array, wheel: Array) -> tuple[Array, Array]:
    """The part of a cycle in which the lateral acceleration grows, as a table of the wheel over
    it."""
    is_rising = np.gradient(ay) > 0
    order = np.argsort(ay[is_rising])
    return ay[is_rising][order], wheel[is_rising][order]


WEAVE = Manoeuvre(
    "iso13674-1",
    "weave: a slow small sine about straight ahead",
    {
        "speed": Setting(100.0, "km/h", "speed, kept", truck=80.0),
        "ay": Setting(2.0, "m/s2", "lateral acceleration that the amplitude makes in steady state"),
        "frequency": Setting(0.2, "Hz", "frequency"),
        "cycles": Setting(4.0, "", "cycles"),
    },
    on_centre_weave_test,
    "ISO 13674-1, from memory; ten cycles there, for their mean",
    first=("stiffness", "dead_band", "sensitivity"),
)
