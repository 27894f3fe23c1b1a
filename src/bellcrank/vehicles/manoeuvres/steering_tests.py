"""Manoeuvres with a given steering-wheel angle: steady circle, step, frequency response.

Amplitudes are found, not given: those of a lateral acceleration in steady state, by runs that are
scaled.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from bellcrank.core.errors import ModelError
from bellcrank.core.signals import sampled
from bellcrank.simulation.run.result import Run
from bellcrank.vehicles.cars.car import Car
from bellcrank.vehicles.cars.design.car_data import GRAVITY
from bellcrank.vehicles.manoeuvres.channel_metrics import (
    channel_deviation,
    derivative_at,
    find_peak,
    first_crossing_time,
    limit_message,
    path_lateral_acceleration,
    reachable_accelerations,
    steady_circle_plots,
    steady_state_deviation,
)
from bellcrank.vehicles.manoeuvres.compiled_car import (
    SIGNAL_END,
    THROTTLE_FIXED,
    CompiledCar,
    compiled_car,
)
from bellcrank.vehicles.manoeuvres.linear_handling import add_equivalent_wheelbase
from bellcrank.vehicles.manoeuvres.manoeuvre_result import (
    Criterion,
    Curve,
    Manoeuvre,
    MetricCollector,
    Result,
    Setting,
)

Array = np.ndarray[Any, Any]
BEGINS = 0.5  # s, of steering
BEYOND = 1.3  # of the steering-wheel angle at the limit, to which a slow ramp goes
STRAYS = 15  # deg of side slip, from which on a car is not in a steady turn
STRAY = f"abs(side_slip) > {STRAYS}"
KEPT = 0.05  # of the speed, by which it may differ in a circle of constant speed
SPEED = Setting(80.0, "km/h", "speed")
SETTLES = 0.5  # s, at least, from the end of a step to its steady values
LARGEST_ACKERMANN_GRADIENT = 10.0  # deg/g, l/V^2 from which understeer gradients are subtracted
FREQUENCY_STEP = 0.01  # Hz, largest distance of frequencies of a response
COUNTED = "metrics count from the steady motion before the steering wheel turns, plots from zero"
RESPONSES = {"yaw_rate": "yaw rate", "ay": "lateral acceleration", "roll": "roll"}


# ---- steady circle


def slowly_increasing_steer_test(vehicle: Car, settings: dict[str, Any]) -> Result:
    """Constant speed, the steering wheel turned slowly until the car turns no tighter, or its drive
    does not keep the speed: near the limit tyres take more power than some motors have, or an
    unloaded driven wheel spins."""
    car, v = compiled_car(vehicle, settings), settings["speed"] / 3.6
    _require_small_steering_angles(vehicle, settings)
    start, limit = car.straight_running_state(v), car.steady_turn_limit(v)
    rate = car.linear_steering_angle_at(v, settings["growth"])
    duration = BEYOND * limit.angle / rate
    wheel = sampled(
        [0.0, BEGINS, BEGINS + duration, SIGNAL_END], [0.0, 0.0, rate * duration, rate * duration]
    )
    stop_condition = f"max(abs(side_slip)/{STRAYS}, abs(speed - {v!r})/{KEPT * v!r}) > 1"
    run = car.simulate(
        BEGINS + duration, start, {"steer": wheel, "speed_set": v}, None, until=stop_condition
    )
    ay = path_lateral_acceleration(run)
    last = int(np.argmax(ay)) + 1
    ay_rising, wheel_angle = ay[:last], channel_deviation(run, "steering_wheel")[:last]
    metrics = MetricCollector()
    ratio, base = car.metrics["steering_ratio"], add_equivalent_wheelbase(metrics, car)
    gradients, missing = reachable_accelerations(settings["at"], float(ay_rising[-1]))
    for a in gradients:
        gradient = {
            n: derivative_at(ay_rising, y, a)
            for n, y in (
                ("wheel", wheel_angle),
                ("roll", run["roll"][:last]),
                ("slip", run["side_slip"][:last]),
                ("torque", run["steering_torque"][:last]),
            )
        }
        at_text = f"at {a:g} m/s2"
        K = gradient["wheel"] / ratio - math.degrees(base / v**2)
        metrics.add(f"understeer_{a:g}", K * GRAVITY, "deg/g", f"understeer gradient {at_text}")
        metrics.add(
            f"roll_gradient_{a:g}", gradient["roll"] * GRAVITY, "deg/g", f"roll gradient {at_text}"
        )
        metrics.add(
            f"side_slip_gradient_{a:g}",
            gradient["slip"] * GRAVITY,
            "deg/g",
            f"side-slip gradient {at_text}",
        )
        metrics.add(
            f"torque_gradient_{a:g}",
            gradient["torque"],
            "N-m/(m/s2)",
            f"steering torque gradient {at_text}",
        )
        metrics.add(
            f"wheel_{a:g}",
            float(np.interp(a, ay_rising, wheel_angle)),
            "deg",
            f"steering-wheel angle {at_text}",
        )
    metrics.add("ay_max", ay_rising[-1], "m/s2", "largest lateral acceleration")
    metrics.add(
        "ay_steady",
        math.nan if limit.failure else limit.ay,
        "m/s2",
        "largest lateral acceleration of steady turns, by continuation",
    )
    drift = float(np.abs(run["speed"][:last] - v).max())
    has_lost_speed = drift > 0.999 * KEPT * v  # the event that ends the run is found to far less
    criteria = [Criterion(f"the speed was kept: within {3.6 * drift:.3g} km/h", not has_lost_speed)]
    if has_lost_speed:
        ay_kept = ay[np.abs(run["speed"] - v) < KEPT * v / 5].max()
        missing = [
            *missing,
            f"above {ay_kept:.3g} m/s2 the drive does not keep the speed: it lacks power, "
            f"or a wheel spins",
        ]
    if limit.failure:
        missing = [
            *missing,
            f"steady turns were followed up to {limit.ay:.3g} m/s2: {limit.failure}",
        ]
    return Result(
        "iso4138",
        vehicle.name,
        settings,
        {"circle": run},
        metrics.as_metrics(),
        criteria,
        [
            f"steering-wheel angle grows by {rate:.3g} deg/s, {settings['growth']:g} m/s2 "
            f"per s of a linear "
            "car, in place of separate circles",
            limit_message(run, ay),
            *missing,
        ],
        steady_circle_plots("*.tyre_load"),
    )


def _require_small_steering_angles(vehicle: Car, settings: dict[str, Any]) -> None:
    """Raise ModelError at a speed so low that the steering angle without slip, l/V^2 per lateral
    acceleration, exceeds the understeer gradient by far: what remains of their difference is the
    changing ratio of the steering."""
    base = vehicle.metrics["wheelbase"]
    lowest = math.sqrt(math.degrees(base) * GRAVITY / LARGEST_ACKERMANN_GRADIENT)
    gradient = math.degrees(base) * GRAVITY / (settings["speed"] / 3.6) ** 2
    if gradient > LARGEST_ACKERMANN_GRADIENT:
        raise ModelError(
            f"iso4138: speed={settings['speed']:g} km/h is too low for understeer gradients: the "
            f"steering angle without slip grows by {gradient:.3g} deg/g there, and the changing "
            f"ratio of the steering counts as understeer. At least {math.ceil(3.6 * lowest)} km/h; "
            f"iso4138-radius drives circles of a given radius",
            vehicle.name,
        )


# ---- step


def step_steer_test(vehicle: Car, settings: dict[str, Any]) -> Result:
    """A fast turn of the steering wheel, held: how quickly and how far yaw rate and lateral
    acceleration follow."""
    car, v = compiled_car(vehicle, settings), settings["speed"] / 3.6
    start = car.straight_running_state(v)
    rise = settings["rise"] / 0.8  # of the whole ramp, 10 to 90 % of it within `rise`
    plateau = settings["plateau"]
    longest_rise = 0.8 * (plateau - SETTLES)
    if settings["rise"] > longest_rise:
        raise ModelError(
            f"iso7401-step: with rise={settings['rise']:g} s the steering wheel turns for "
            f"{rise:.3g} s, and steady values are taken from {plateau:g} s on. "
            + (f"rise is at most {longest_rise:.3g} s, or " if longest_rise > 0 else "")
            + f"plateau is at least {rise + SETTLES:.3g} s",
            vehicle.name,
        )
    angle = (
        car.steering_angle_at(v, settings["ay"]) if settings["angle"] is None else settings["angle"]
    )
    run = _run_step_steer(car, start, v, angle, rise, plateau)
    metrics, t0 = MetricCollector(), BEGINS + rise / 2
    metrics.add("angle", angle, "deg", "steering-wheel angle")
    for name, words in RESPONSES.items():
        y, level = np.abs(channel_deviation(run, name)), abs(steady_state_deviation(run, name))
        metrics.add(
            f"{name}_steady",
            steady_state_deviation(run, name),
            run.units[name],
            f"{words} in steady state",
        )
        metrics.add(
            f"{name}_response",
            first_crossing_time(run.time, y, 0.9 * level) - t0,
            "s",
            f"{words}: time to 90 %",
        )
        peak = int(np.argmax(y))
        metrics.add(f"{name}_peak_time", run.time[peak] - t0, "s", f"{words}: time to the peak")
        metrics.add(f"{name}_overshoot", 100 * (y[peak] / level - 1), "%", f"{words}: overshoot")
    metrics.add(
        "yaw_gain",
        metrics["yaw_rate_steady"].value / angle,
        "1/s",
        "yaw rate over steering-wheel angle",
    )
    metrics.add(
        "side_slip_steady",
        steady_state_deviation(run, "side_slip"),
        "deg",
        "side slip in steady state",
    )
    metrics.add(
        "tb",
        metrics["yaw_rate_peak_time"].value * abs(metrics["side_slip_steady"].value),
        "s deg",
        "TB factor",
    )
    return Result(
        "iso7401-step",
        vehicle.name,
        settings,
        {"step": run},
        metrics.as_metrics(),
        [],
        ["times count from half of the steering-wheel angle; the throttle is fixed", COUNTED],
    )


def _run_step_steer(
    car: CompiledCar, start: dict[str, float], v: float, angle: float, rise: float, plateau: float
) -> Run:
    """A run that ends with the second of its steady values."""
    wheel = sampled([0.0, BEGINS, BEGINS + rise, SIGNAL_END], [0.0, 0.0, angle, angle])
    end = BEGINS + plateau + 1.0
    return car.simulate(end, start, {"steer": wheel, "speed_set": v}, THROTTLE_FIXED)


# ---- frequency response


def chirp_steer_test(vehicle: Car, settings: dict[str, Any]) -> Result:
    """A sine of growing frequency: frequency response of yaw rate, lateral acceleration and
    roll."""
    car, v = compiled_car(vehicle, settings), settings["speed"] / 3.6
    start = car.straight_running_state(v)
    angle = car.steering_angle_at(v, settings["ay"])
    f0, f1, T = settings["from"], settings["to"], settings["duration"]
    if f0 >= f1:
        raise ModelError(
            f"iso7401-frequency: from={f0:g} Hz must be below to={f1:g} Hz", vehicle.name
        )
    signal, end = _chirp_signal(angle, f0, f1, T)
    run = car.simulate(end, start, {"steer": signal, "speed_set": v}, THROTTLE_FIXED)
    f, responses = frequency_response(run, tuple(RESPONSES), f0, f1)
    metrics = MetricCollector()
    metrics.add("angle", angle, "deg", "amplitude of the steering-wheel angle")
    add_frequency_metrics(metrics, f, responses, run.units)
    note = f"amplitude for {settings['ay']:g} m/s2 in steady state; the throttle is fixed"
    return Result(
        "iso7401-frequency",
        vehicle.name,
        settings,
        {"chirp": run},
        metrics.as_metrics(),
        [],
        [note],
        more=bode_curves(f, {n: responses[n] for n in RESPONSES}, run.units),
    )


def add_frequency_metrics(
    metrics: MetricCollector, f: Array, responses: Mapping[str, Array], units: Mapping[str, str]
) -> None:
    """Gains, bandwidths and phases of responses to the steering wheel."""
    for name, label in RESPONSES.items():
        H = responses[name]
        gain, phase = np.abs(H), np.degrees(np.unwrap(np.angle(H)))
        unit = f"{units[name]}/deg"
        first_gain = metrics.add(
            f"{name}_gain", gain[0], unit, f"{label} over steering wheel at {f[0]:.2g} Hz"
        )
        peak_at, peak_gain = find_peak(f, gain)
        metrics.add(
            f"{name}_peak", peak_gain / first_gain, "", f"{label}: peak gain over the first"
        )
        metrics.add(f"{name}_peak_at", peak_at, "Hz", f"{label}: frequency of the peak gain")
        metrics.add(
            f"{name}_bandwidth",
            _bandwidth(f, gain),
            "Hz",
            f"{label}: bandwidth (-3 dB)",
        )
        for frequency in (0.5, 1.0):
            if f[0] <= frequency <= f[-1]:
                metrics.add(
                    f"{name}_phase_{frequency:g}",
                    float(np.interp(frequency, f, phase)),
                    "deg",
                    f"{label}: phase at {frequency:g} Hz",
                )


def _bandwidth(f: Array, gain: Array) -> float:
    """Frequency behind the peak at which the gain is 1/sqrt(2) of the first, between two samples by
    a straight line; NaN if it stays above."""
    peak = int(np.argmax(gain))
    return first_crossing_time(f[peak:], -gain[peak:], -gain[0] / math.sqrt(2))


def _chirp_signal(amplitude: float, f0: float, f1: float, T: float) -> tuple[Any, float]:
    """A chirp that begins and ends softly, and the time when all has come to rest."""
    t = np.arange(0.0, T, 0.002)
    phase = 2 * np.pi * (f0 * t + (f1 - f0) / (2 * T) * t**2)
    soft = np.clip(np.minimum(t * f0, (T - t) * 1.0), 0.0, 1.0)
    y = amplitude * np.sin(phase) * (0.5 - 0.5 * np.cos(np.pi * soft))
    times = np.concatenate([[0.0], BEGINS + t, [BEGINS + T, SIGNAL_END]])
    return sampled(times.tolist(), [0.0, *y.tolist(), 0.0, 0.0]), BEGINS + T + 4.0


def frequency_response(
    run: Run, names: tuple[str, ...], f0: float, f1: float
) -> tuple[Array, dict[str, Array]]:
    """Responses to the steering wheel, of a run that begins and ends in one motion: ratios of whole
    Fourier transforms, which such a run has at every frequency. The frequencies go from f0 to f1
    (Hz) in steps of at most FREQUENCY_STEP."""
    f = np.linspace(f0, f1, 1 + math.ceil((f1 - f0) / FREQUENCY_STEP))
    waves = np.exp(-2j * np.pi * np.outer(f, run.time))
    X = waves @ channel_deviation(run, "steering_wheel")
    return f, {n: (waves @ channel_deviation(run, n)) / X for n in names}


def bode_curves(
    f: Array, responses: dict[str, Array], units: Mapping[str, str]
) -> tuple[Curve, ...]:
    """Gains and phases over the steering wheel, to look at."""
    curves = []
    for name, H in responses.items():
        gain, phase = np.abs(H), np.degrees(np.unwrap(np.angle(H)))
        label = f"{RESPONSES[name]} over steering-wheel angle"
        curves.append(
            Curve("frequency, Hz", f"gain of {label}, {units[name]}/deg", (("gain", f, gain),))
        )
        curves.append(Curve("frequency, Hz", f"phase of {label}, deg", (("phase", f, phase),)))
    return tuple(curves)


CIRCLE = Manoeuvre(
    "iso4138",
    "steady circle at constant speed, slowly tighter",
    {
        "speed": Setting(100.0, "km/h", "speed, kept", truck=80.0),
        "growth": Setting(0.2, "m/s2/s", "how fast the lateral acceleration grows"),
        "at": Setting((2.0, 4.0), "m/s2", "where gradients are taken", truck=(1.0, 2.0)),
    },
    slowly_increasing_steer_test,
    "ISO 4138, constant speed; text of the standard not at hand",
    first=("understeer_2", "roll_gradient_2", "ay_max"),
)
STEP = Manoeuvre(
    "iso7401-step",
    "step of the steering wheel",
    {
        "speed": SPEED,
        "ay": Setting(4.0, "m/s2", "lateral acceleration in steady state", truck=2.0),
        "rise": Setting(0.15, "s", "from 10 to 90 % of the steering-wheel angle"),
        "angle": Setting(None, "deg", "steering-wheel angle, in place of ay"),
        "plateau": Setting(
            3.5,
            "s",
            "from the first turn of the steering wheel to the second whose mean is the steady "
            "value; the run ends with it",
        ),
    },
    step_steer_test,
    "ISO 7401; figures from secondary texts",
    first=("yaw_rate_response", "yaw_rate_overshoot", "ay_response", "tb"),
)
FREQUENCY = Manoeuvre(
    "iso7401-frequency",
    "sine of growing frequency: frequency response",
    {
        "speed": SPEED,
        "ay": Setting(2.0, "m/s2", "lateral acceleration that the amplitude makes in steady state"),
        "from": Setting(0.2, "Hz", "lowest frequency"),
        "to": Setting(4.0, "Hz", "highest frequency"),
        "duration": Setting(40.0, "s", "how long it grows"),
    },
    chirp_steer_test,
    "ISO 7401; figures from secondary texts",
    first=("yaw_rate_gain", "yaw_rate_bandwidth", "ay_phase_1"),
)
