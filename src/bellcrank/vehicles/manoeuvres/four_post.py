"""A four-post rig: the standing car on posts that rise and fall together, against each other, and
crosswise."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.signal import find_peaks

from bellcrank.core.errors import ModelError
from bellcrank.core.signals import sampled
from bellcrank.simulation.run.result import Run
from bellcrank.vehicles.cars.car import Car
from bellcrank.vehicles.manoeuvres.channel_metrics import channel_deviation
from bellcrank.vehicles.manoeuvres.compiled_car import THROTTLE_CLOSED, CompiledCar
from bellcrank.vehicles.manoeuvres.manoeuvre_result import (
    Curve,
    Manoeuvre,
    MetricCollector,
    Result,
    Setting,
)
from bellcrank.vehicles.manoeuvres.road_tests import AXLES, compiled_car_on_course
from bellcrank.vehicles.manoeuvres.steering_tests import BEGINS

Array = np.ndarray[Any, Any]
MODES = ("heave", "pitch", "roll", "warp")
BODY = 5.0  # Hz, at least, below which the body swings on its springs, above which the wheels do
FASTEST = 40.0  # Hz, that rows of a run can report
FINE = 0.002  # s between points of the signal
SOFT = 0.05  # fraction of the signal in which it grows, and fades
REST = 3.0  # s after it
# height of a peak over its surroundings, as a fraction of the peak, below which it is none
FLAT = 0.02


def post_signal(speed: float, f0: float, f1: float, duration: float) -> tuple[Any, float]:
    """The speed of posts whose frequency grows by equal shares, with one amplitude of the speed
    (m/s); and when all has come to rest. Heights begin and end at zero."""
    t = np.arange(0.0, duration + FINE / 2, FINE)
    rate = np.log(f1 / f0) / duration
    f, phase = f0 * np.exp(rate * t), 2 * np.pi * f0 * np.expm1(rate * t) / rate
    z = (
        speed
        / (2 * np.pi * f)
        * _smooth_ramp(np.minimum(t, duration - t) / (SOFT * duration))
        * np.sin(phase)
    )
    v = np.gradient(z, FINE)
    end = BEGINS + duration
    return sampled([0.0, *(BEGINS + t), end + REST], [0.0, *v, 0.0]), end + REST


def _smooth_ramp(x: Array) -> Array:
    """From 0 to 1 with x, smoothly."""
    x = np.clip(x, 0.0, 1.0)
    return x**2 * (3 - 2 * x)


def four_post_test(vehicle: Car, settings: dict[str, Any]) -> Result:
    """Every mode of the posts, and what body and wheels do."""
    f0, f1 = settings["from"], settings["to"]
    if not f0 < BODY < f1 <= FASTEST:
        raise ModelError(
            f"manoeuvre four-post: from={f0:g} to={f1:g} Hz must begin below {BODY:g} Hz, "
            f"where the body "
            f"swings, and end above it, at {FASTEST:g} Hz or less"
        )
    car = compiled_car_on_course(vehicle, settings)
    start, split_frequency = car.straight_running_state(0.0), _body_wheel_split_frequency(car)
    runs: dict[str, Run] = {}
    for mode in MODES:
        signals = {
            c: post_signal(size * settings["speed"], f0, f1, settings["duration"])
            for c, size in _post_displacements(car, mode).items()
        }
        end = signals["fl"][1]
        runs[mode] = car.simulate(
            end,
            start,
            {f"{c}.post_speed": signal for c, (signal, _) in signals.items()},
            THROTTLE_CLOSED,
        )
    base, track = (
        car.metrics["wheelbase"],
        (car.metrics["track_front"] + car.metrics["track_rear"]) / 2,
    )
    # of the body, and what the posts would turn it by per height of the left ones (rear ones in
    # pitch)
    channels = {
        "heave": ("height", "fl.post", 1.0, "height of the mass centre over that of the posts"),
        "pitch": ("pitch", "rl.post", np.degrees(2 / base), "pitch over that of the posts"),
        "roll": ("roll", "fl.post", np.degrees(2 / track), "roll over that of the posts"),
    }
    metrics, curves = MetricCollector(), []
    for mode, (channel, post_channel, scale, label) in channels.items():
        f, gain = _response_gain(runs[mode], channel, post_channel, settings)
        gain = gain / scale
        curves.append(Curve("frequency, Hz", f"{label}, -", ((mode, f, gain),)))
        slow = f < split_frequency
        top = int(np.argmax(gain[slow]))
        metrics.add(
            f"{mode}_frequency", f[slow][top], "Hz", f"frequency of the largest {mode} of the body"
        )
        metrics.add(f"{mode}_gain", gain[slow][top], "", f"largest {label}")
        gain_at_twice = gain[np.argmin(np.abs(f - 2 * f[slow][top]))]
        metrics.add(f"{mode}_twice", gain_at_twice, "", f"{label} at twice that frequency")
    static_loads = car.at_rest.wheel_loads
    for axle, corners in car.data.axle_wheels.items():
        names, post = tuple(f"{c}.tyre_load" for c in corners), f"{corners[0]}.post"
        f, lifts = _response_gain(runs["heave"], names[0], post, settings)
        _, twists = _response_gain(runs["warp"], names[0], post, settings)
        speed = 2 * np.pi * f  # gains over the speed of the post, N s/m
        lines = (("heave", f, lifts / speed), ("warp", f, twists / speed))
        curves.append(
            Curve("frequency, Hz", f"load of {corners[0]} over the speed of its post, N s/m", lines)
        )
        metrics.add(
            f"hop_{axle}",
            _wheel_hop_frequency(f, lifts / speed, split_frequency),
            "Hz",
            f"wheel hop: frequency of the peak of {axle} wheel loads, if there is one",
        )
        metrics.add(
            f"warp_{axle}",
            np.median(twists[f < 2 * f0]) / 1000,
            "N/mm",
            f"load of a {axle} wheel over its post in warp, slowly",
        )
        heave = np.concatenate([runs["heave"][f"{c}.tyre_load"] / static_loads[c] for c in corners])
        metrics.add(
            f"load_{axle}",
            100 * np.abs(heave - 1).max(),
            "%",
            f"largest change of the {axle} wheel loads in heave",
        )
    lift_fractions = [
        float(np.mean(run[f"{c}.tyre_load"] <= 0))
        for run in runs.values()
        for c in car.data.all_wheels
    ]
    metrics.add(
        "lifted",
        100 * max(lift_fractions),
        "%",
        "largest fraction of time that a wheel is off its post",
    )
    return Result(
        "four-post",
        vehicle.name,
        settings,
        runs,
        metrics.as_metrics(),
        [],
        [
            "the posts are rigid in the plane of the ground and hold wheels that move sideways",
            *(["axles of trailers stand on still ground"] if vehicle.data.trailers else []),
            "one amplitude of the speed of posts, as of a road with the slope of its spectrum",
        ],
        ("fl.post", "height", "fl.tyre_load", "rl.tyre_load", "fl.travel", "rl.travel"),
        tuple(curves),
    )


def _post_displacements(car: CompiledCar, mode: str) -> dict[str, float]:
    """Movement of the post below each wheel of the car, over that below a front wheel. In pitch the
    posts are on a plane that turns about the middle of the wheelbase; in warp all axles behind the
    front axle move alike."""
    contact = car.at_rest.contact_points[:, 0]
    middle, half_base = float(np.mean(contact)), float(np.ptp(contact)) / 2
    x = {"front": middle + half_base, "rear": middle - half_base} | {
        axle.name: axle.record.at[0] for axle in car.data.added_axles
    }
    right_sign = -1.0 if mode in ("roll", "warp") else 1.0
    movements: dict[str, float] = {}
    for axle, wheels in car.data.axle_wheels.items():
        left_movement = {
            "pitch": (middle - x[axle]) / half_base,
            "warp": 1.0 if axle == "front" else -1.0,
        }.get(mode, 1.0)
        movements |= {wheels[0]: left_movement, wheels[1]: left_movement * right_sign}
    return movements


def _body_wheel_split_frequency(car: CompiledCar) -> float:
    """Frequency (Hz) between the motions of the body and those of the wheels, of quarter cars."""
    return max(
        BODY,
        *(math.sqrt(car.metrics[f"ride_{axle}"] * car.metrics[f"hop_{axle}"]) for axle in AXLES),
    )


def _wheel_hop_frequency(f: Array, gain: Array, lower: float) -> float:
    """Frequency of the largest peak above the motion of the body; NaN if there is none."""
    tops = find_peaks(gain, prominence=FLAT * gain)[0]
    tops = tops[f[tops] > lower]
    return float(f[max(tops, key=gain.__getitem__)]) if len(tops) else math.nan


def _response_gain(
    run: Run, name: str, post_channel: str, settings: dict[str, Any]
) -> tuple[Array, Array]:
    """Size of a response between the first frequency and where the signal begins to fade.

    Dampers that differ in both directions answer at twice the frequency, too, which the posts reach
    a fixed time later. In the impulse response this comes as much too early: all of it before half
    that time is set to zero. A. Farina, Simultaneous measurement of impulse response and distortion
    with a swept-sine technique, AES 108, 2000.
    """
    rows, dt = (
        2 * len(run.time),
        float(run.time[1] - run.time[0]),
    )  # high harmonics come early by most of the run
    f, growth = np.fft.rfftfreq(rows, dt), math.log(settings["to"] / settings["from"])
    lead_time = min(settings["duration"] * math.log(2) / growth, rows * dt / 2)
    with np.errstate(divide="ignore"):
        log_fraction = (
            np.log(f / settings["from"]) / growth
        )  # 0 at the first, 1 at the last frequency
    window = _smooth_ramp(1 + log_fraction / (2 * SOFT)) * _smooth_ramp((1 - log_fraction) / SOFT)
    in_band = window > 0
    ratio = np.zeros(len(f), complex)
    spectrum, post = (
        np.fft.rfft(channel_deviation(run, channel), rows)[in_band]
        for channel in (name, post_channel)
    )
    ratio[in_band] = window[in_band] * spectrum / post
    time = np.fft.fftfreq(rows, 1 / (rows * dt))
    gate = _smooth_ramp(1.5 + 2 * time / lead_time) * _smooth_ramp(
        (rows * dt - 2 * time) / lead_time
    )
    response, rigid = (np.fft.rfft(np.fft.irfft(x, rows) * gate) for x in (ratio, window))
    inside = (log_fraction >= 0) & (log_fraction <= 1 - SOFT)
    return f[inside], np.abs(response[inside] / rigid[inside])


FOUR_POST = Manoeuvre(
    "four-post",
    "standing on four posts that move up and down",
    {
        "speed": Setting(0.1, "m/s", "amplitude of the speed of the posts"),
        "from": Setting(0.5, "Hz", "frequency at the begin"),
        "to": Setting(25.0, "Hz", "frequency at the end"),
        "duration": Setting(20.0, "s", "of the signal"),
    },
    four_post_test,
    "usual on rigs; the signal is our choice",
    first=("heave_frequency", "heave_gain", "hop_front"),
)
