"""Short turns of the steering wheel: one sine, and a pulse from which the frequency response
follows."""

from __future__ import annotations

from typing import Any

import numpy as np

from bellcrank.core.errors import ModelError
from bellcrank.core.signals import sampled
from bellcrank.vehicles.cars.car import Car
from bellcrank.vehicles.manoeuvres.channel_metrics import channel_deviation, find_peak
from bellcrank.vehicles.manoeuvres.compiled_car import (
    OUTPUT_EVERY,
    SIGNAL_END,
    STEP,
    THROTTLE_FIXED,
    compiled_car,
)
from bellcrank.vehicles.manoeuvres.manoeuvre_result import (
    Manoeuvre,
    MetricCollector,
    Result,
    Setting,
)
from bellcrank.vehicles.manoeuvres.steering_tests import (
    BEGINS,
    COUNTED,
    RESPONSES,
    SPEED,
    add_frequency_metrics,
    bode_curves,
    frequency_response,
)

EXCITED = 1.6  # times one over the width: highest frequency that a triangle excites
PULSE_SAMPLES = 5  # that a pulse has at least


def single_sine_test(vehicle: Car, settings: dict[str, Any]) -> Result:
    """One period of a sine: how late and how strong the answers are."""
    car, v, f = compiled_car(vehicle, settings), settings["speed"] / 3.6, settings["frequency"]
    angle = car.steering_angle_at(v, settings["ay"])
    t = np.linspace(0.0, 1 / f, 201)
    wheel = sampled(
        [0.0, *(BEGINS + t), SIGNAL_END], [0.0, *(angle * np.sin(2 * np.pi * f * t)), 0.0]
    )
    run = car.simulate(
        BEGINS + 1 / f + 3.0,
        car.straight_running_state(v),
        {"steer": wheel, "speed_set": v},
        THROTTLE_FIXED,
    )
    metrics = MetricCollector()
    metrics.add("angle", angle, "deg", "amplitude of the steering-wheel angle")
    first, second = BEGINS + 0.25 / f, BEGINS + 0.75 / f
    for name, words in RESPONSES.items():
        y = channel_deviation(run, name)
        (t1, first_peak), (t2, second_peak) = find_peak(run.time, y), find_peak(run.time, -y)
        metrics.add(
            f"{name}_lag_1",
            t1 - first,
            "s",
            f"{words}: first peak behind that of the steering wheel",
        )
        metrics.add(
            f"{name}_lag_2",
            t2 - second,
            "s",
            f"{words}: second peak behind that of the steering wheel",
        )
        metrics.add(f"{name}_peak_1", first_peak, run.units[name], f"{words}: first peak")
        metrics.add(
            f"{name}_peaks", second_peak / first_peak, "", f"{words}: second peak over the first"
        )
        metrics.add(
            f"{name}_gain",
            first_peak / angle,
            f"{run.units[name]}/deg",
            f"{words}: first peak over the amplitude",
        )
    return Result(
        "iso7401-sine",
        vehicle.name,
        settings,
        {"sine": run},
        metrics.as_metrics(),
        [],
        [f"amplitude for {settings['ay']:g} m/s2 in steady state; the throttle is fixed", COUNTED],
    )


def pulse_steer_test(vehicle: Car, settings: dict[str, Any]) -> Result:
    """A short triangle of the steering wheel: frequency response from one run."""
    car, v, width = compiled_car(vehicle, settings), settings["speed"] / 3.6, settings["width"]
    top_frequency = _check_pulse(vehicle, settings)
    angle = car.steering_angle_at(v, settings["ay"])
    wheel = sampled(
        [0.0, BEGINS, BEGINS + width / 2, BEGINS + width, SIGNAL_END], [0.0, 0.0, angle, 0.0, 0.0]
    )
    run = car.simulate(
        BEGINS + 14.5,
        car.straight_running_state(v),
        {"steer": wheel, "speed_set": v},
        THROTTLE_FIXED,
    )
    f, responses = frequency_response(run, tuple(RESPONSES), settings["from"], top_frequency)
    metrics = MetricCollector()
    metrics.add("angle", angle, "deg", "height of the pulse")
    for name, words in RESPONSES.items():
        metrics.add(
            f"{name}_max",
            np.abs(channel_deviation(run, name)).max(),
            run.units[name],
            f"largest {words}",
        )
    add_frequency_metrics(metrics, f, responses, run.units)
    return Result(
        "iso7401-pulse",
        vehicle.name,
        settings,
        {"pulse": run},
        metrics.as_metrics(),
        [],
        [f"height for {settings['ay']:g} m/s2 in steady state; the throttle is fixed", COUNTED],
        more=bode_curves(f, responses, run.units),
    )


def _check_pulse(vehicle: Car, settings: dict[str, Any]) -> float:
    """Highest frequency (Hz) of a response. Raise ModelError for a pulse that a run does not
    resolve, or that does not excite the lowest frequency."""
    width, lowest = settings["width"], settings["from"]
    shortest = PULSE_SAMPLES * STEP * OUTPUT_EVERY
    longest = EXCITED / lowest
    if not shortest <= width < longest:
        raise ModelError(
            f"iso7401-pulse: width={width:g} s must lie between {shortest:g} s, {PULSE_SAMPLES} "
            f"samples of the run, and {longest:.3g} s, above which the pulse does not excite "
            f"from={lowest:g} Hz",
            vehicle.name,
        )
    if lowest >= settings["to"]:
        raise ModelError(
            f"iso7401-pulse: from={lowest:g} Hz must be below to={settings['to']:g} Hz",
            vehicle.name,
        )
    return float(min(settings["to"], EXCITED / width))


SINE = Manoeuvre(
    "iso7401-sine",
    "one period of a sine of the steering wheel",
    {
        "speed": SPEED,
        "ay": Setting(
            4.0, "m/s2", "lateral acceleration that the amplitude makes in steady state", truck=2.0
        ),
        "frequency": Setting(0.5, "Hz", "frequency"),
    },
    single_sine_test,
    "ISO 7401; figures from secondary texts",
    first=("yaw_rate_lag_1", "ay_lag_1"),
)
PULSE = Manoeuvre(
    "iso7401-pulse",
    "a short pulse of the steering wheel: frequency response",
    {
        "speed": SPEED,
        "ay": Setting(
            4.0, "m/s2", "lateral acceleration that its height makes in steady state", truck=2.0
        ),
        "width": Setting(0.4, "s", "width of the triangle"),
        "from": Setting(0.2, "Hz", "lowest frequency"),
        "to": Setting(3.0, "Hz", "highest frequency, at most 1.6 over the width"),
    },
    pulse_steer_test,
    "ISO 7401: triangle or half sine of 0.3 to 0.5 s, from memory",
    first=("yaw_rate_bandwidth",),
)
