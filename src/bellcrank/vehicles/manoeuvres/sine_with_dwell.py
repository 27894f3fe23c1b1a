"""Manoeuvres to the limit: sine with dwell and fishhook, series of runs scaled by the angle at 0.3
g."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from bellcrank.core.errors import RunError
from bellcrank.core.signals import sampled
from bellcrank.simulation.run.result import Run
from bellcrank.vehicles.cars.car import Car
from bellcrank.vehicles.cars.design.car_data import GRAVITY
from bellcrank.vehicles.manoeuvres.channel_metrics import (
    channel_deviation,
    channel_value_at,
    first_crossing_time,
    peak_indices,
)
from bellcrank.vehicles.manoeuvres.compiled_car import (
    ROLLOVER_ANGLE,
    SIGNAL_END,
    THROTTLE_FIXED,
    CompiledCar,
    compiled_car,
)
from bellcrank.vehicles.manoeuvres.manoeuvre_result import (
    Criterion,
    Curve,
    Manoeuvre,
    MetricCollector,
    Result,
    Setting,
)
from bellcrank.vehicles.manoeuvres.steering_tests import BEGINS

SHOWN = 6  # runs of a series that are kept to look at
BEGUN = 5.0  # deg, at which steering counts as begun
OVERTURNED = "abs(roll) > 60"
HEAVY, HEAVIEST = 3500.0, 4536.0  # kg, above which FMVSS 126 asks for less, and for nothing
SIDES = {"left": 1.0, "right": -1.0}


def min_lateral_displacement(mass: float) -> float:
    """Lateral displacement (m) that FMVSS 126 asks for of a vehicle with a mass (kg)."""
    return 1.83 if mass <= HEAVY else 1.52


def format_percent(ratio: float) -> str:
    """A ratio in percent, with three digits, but no smaller ones than hundredths."""
    return f"{100 * ratio:.3g}" if not 100 * ratio < 1 else f"{100 * ratio:.2f}"


def steering_angle_at_03g(car: CompiledCar, speed: float, rate: float) -> float:
    """Steering-wheel angle (deg) at 0.3 g, by slow ramps to the left and to the right (rate in
    deg/s, speed in m/s) at that speed: straight lines through angles over lateral accelerations
    from 0.1 to 0.375 g, the mean of both sides."""
    return float(np.mean([_ramp_steer_angle(car, speed, sign * rate) for sign in SIDES.values()]))


def _ramp_steer_angle(car: CompiledCar, speed: float, rate: float) -> float:
    """The size of the angle on one side."""
    wheel = sampled([0.0, BEGINS, SIGNAL_END], [0.0, 0.0, rate * (SIGNAL_END - BEGINS)])
    run = car.simulate(
        30.0,
        car.straight_running_state(speed),
        {"steer": wheel, "speed_set": speed},
        None,
        until="abs(ay) > 5",
    )
    ay, angle = (np.sign(rate) * channel_deviation(run, name) for name in ("ay", "steering_wheel"))
    inside = (ay > 0.1 * GRAVITY) & (ay < 0.375 * GRAVITY)
    if ay.max() < 0.375 * GRAVITY:
        raise RunError(f"{car.data.sections.name} does not reach 0.375 g at {3.6 * speed:.4g} km/h")
    slope, zero = np.polyfit(ay[inside], angle[inside], 1)
    return float(slope * 0.3 * GRAVITY + zero)


# ---- sine with dwell


@dataclass(frozen=True)
class DwellRun:
    """One run of a sine with dwell: amplitude (deg), yaw rate left 1.00 and 1.75 s after the end
    over its peak, and lateral displacement (m)."""

    side: str
    amplitude: float
    yaw_ratio_1s: float
    yaw_ratio_1_75s: float
    lateral_displacement: float
    run: Run


def sine_with_dwell_signal(amplitude: float, frequency: float, dwell: float) -> tuple[Any, float]:
    """The steering-wheel angle from BEGINS on, and the time of its end."""
    T = 1 / frequency
    t_before, t_after = np.linspace(0.0, 0.75 * T, 151), np.linspace(0.75 * T, T, 51)
    t = BEGINS + np.concatenate([t_before, dwell + t_after])
    y = amplitude * np.sin(2 * np.pi * frequency * np.concatenate([t_before, t_after]))
    return sampled([0.0, *t, SIGNAL_END], [0.0, *y, 0.0]), BEGINS + T + dwell


def sine_with_dwell_test(vehicle: Car, settings: dict[str, Any]) -> Result:
    """A sine with a pause at its second peak, coasting, to both sides, larger from run to run."""
    car, v = compiled_car(vehicle, settings), settings["speed"] / 3.6
    A = steering_angle_at_03g(car, v, settings["rate"])
    max_angle = min(max(6.5 * A, settings["least"]), settings["most"])
    sizes = [x * A for x in np.arange(1.5, max_angle / A, 0.5)]
    sizes = [*(x for x in sizes if x < max_angle - 1e-9), max_angle]
    trials, missing = _run_amplitudes(car, v, sizes, settings)
    required = min_lateral_displacement(car.at_rest.mass)
    early, late = (
        max(trials, key=lambda x: getattr(x, key)) for key in ("yaw_ratio_1s", "yaw_ratio_1_75s")
    )
    worst = min(
        (x for x in trials if x.amplitude >= 5 * A - 1e-9),
        key=lambda x: x.lateral_displacement,
        default=None,
    )
    offset = math.nan if worst is None else worst.lateral_displacement
    criteria = []
    if car.at_rest.mass > HEAVIEST:
        missing.append(f"no criteria: FMVSS 126 is for vehicles of up to {HEAVIEST:.0f} kg")
    else:
        criteria = [
            Criterion(
                f"1.00 s after the end the yaw rate is at most 35 % of its peak: "
                f"{format_percent(early.yaw_ratio_1s)} "
                f"% "
                f"({early.side}, {early.amplitude:.0f} deg)",
                early.yaw_ratio_1s <= 0.35,
            ),
            Criterion(
                f"1.75 s after the end it is at most 20 %: "
                f"{format_percent(late.yaw_ratio_1_75s)} % ({late.side}, "
                f"{late.amplitude:.0f} deg)",
                late.yaw_ratio_1_75s <= 0.20,
            ),
        ]
        if worst is not None:
            criteria.append(
                Criterion(
                    f"from 5 A on the lateral displacement after 1.07 s is at least "
                    f"{required} m: {offset:.3g} m "
                    f"({worst.side}, {worst.amplitude:.0f} deg)",
                    offset >= required,
                )
            )
    if worst is None:
        missing.append(f"no lateral displacement: no run has 5 A = {5 * A:.0f} deg or more")
    overturned = [x.amplitude for x in trials if math.isinf(x.yaw_ratio_1_75s)]
    if overturned:
        missing.append(
            f"infinite yaw rates: the vehicle overturns or does not turn back, from "
            f"{min(overturned):.0f} deg on"
        )
    metrics = MetricCollector()
    metrics.add("angle", A, "deg", "A, steering-wheel angle at 0.3 g")
    metrics.add("largest", max(x.amplitude for x in trials), "deg", "largest amplitude")
    metrics.add("runs", len(trials), "", "runs")
    metrics.add(
        "yaw_early",
        100 * early.yaw_ratio_1s,
        "%",
        "largest yaw rate 1.00 s after the end over its peak",
    )
    metrics.add(
        "yaw_late",
        100 * late.yaw_ratio_1_75s,
        "%",
        "largest yaw rate 1.75 s after the end over its peak",
    )
    metrics.add("lateral_displacement", offset, "m", "smallest lateral displacement from 5 A on")
    failing_sizes = [
        x.amplitude for x in trials if x.yaw_ratio_1s > 0.35 or x.yaw_ratio_1_75s > 0.20
    ]
    metrics.add(
        "unstable_from",
        min(failing_sizes, default=math.nan),
        "deg",
        "smallest amplitude that fails for its yaw rate",
    )
    metrics.add(
        "side_slip_max",
        max(np.abs(x.run["side_slip"]).max() for x in trials),
        "deg",
        "largest side slip",
    )
    lifted = [x.amplitude for x in trials if _has_side_lift(car, x.run)]
    metrics.add(
        "lifts_from", min(lifted, default=math.nan), "deg", "smallest amplitude with two-wheel lift"
    )
    left_trials = [x for x in trials if x.side == "left"]
    plotted = [
        left_trials[i] for i in np.unique(np.linspace(0, len(left_trials) - 1, SHOWN).astype(int))
    ]
    curves = tuple(
        Curve(
            "amplitude, deg",
            words,
            tuple(
                (
                    side,
                    np.array([x.amplitude for x in trials if x.side == side]),
                    np.array([factor * getattr(x, key) for x in trials if x.side == side]),
                )
                for side in SIDES
            ),
        )
        for key, factor, words in (
            ("yaw_ratio_1s", 100, "yaw rate after 1.00 s over its peak, %"),
            ("yaw_ratio_1_75s", 100, "yaw rate after 1.75 s over its peak, %"),
            ("lateral_displacement", 1, "lateral displacement after 1.07 s, m"),
        )
    )
    stable = vehicle.is_extended or vehicle.controllers.get("esc")
    return Result(
        "sine-with-dwell",
        vehicle.name,
        settings,
        {f"{x.amplitude:.0f} deg": x.run for x in plotted},
        metrics.as_metrics(),
        criteria,
        [
            *([] if stable else ["no stability control: a car without one usually fails"]),
            *missing,
            "channels are not filtered; the lateral displacement is that of the mass centre "
            "of the body",
            "plots show some runs to the left",
        ],
        ("steering_wheel", "yaw_rate", "side_slip", "ay", "roll", ("y", "x")),
        curves,
    )


def _run_amplitudes(
    car: CompiledCar, v: float, sizes: list[float], settings: dict[str, Any]
) -> tuple[list[DwellRun], list[str]]:
    """Runs to both sides, each until one cannot be driven to its end, such as past the lock of the
    steering."""
    trials: list[DwellRun] = []
    notes = []
    for side in SIDES:
        for size in sizes:
            try:
                trials.append(_run_sine_with_dwell(car, v, side, size, settings))
            except RunError as error:
                notes.append(f"no runs to the {side} from {size:.0f} deg on: {error}")
                break
    if not trials:
        raise RunError("; ".join(notes))
    return trials, notes


def _run_sine_with_dwell(
    car: CompiledCar, v: float, side: str, size: float, settings: dict[str, Any]
) -> DwellRun:
    sign = SIDES[side]
    wheel, end = sine_with_dwell_signal(sign * size, settings["frequency"], settings["dwell"])
    start = car.straight_running_state(v)
    inputs = {"steer": wheel, "drive": car.throttle_release(start)}
    run = car.simulate(end + 2.0, start, inputs, THROTTLE_FIXED, until=OVERTURNED)
    is_after = run.time > BEGINS + 0.5 / settings["frequency"]
    yaw_back = -sign * run["yaw_rate"][is_after]  # positive as the car is to turn back
    top = next((i for i in peak_indices(yaw_back) if yaw_back[i] > 0), int(np.argmax(yaw_back)))
    peak = float(yaw_back[top])
    yaw_ratios = [
        abs(channel_value_at(run, "yaw_rate", end + late)) / peak if peak > 0 else math.inf
        for late in (1.00, 1.75)
    ]
    if run.time[-1] < end + 1.75:
        yaw_ratios = [math.inf, math.inf]  # it overturned
    steer_start = first_crossing_time(
        run.time, sign * channel_deviation(run, "steering_wheel"), min(BEGUN, 0.5 * size)
    )
    displacement = sign * (
        channel_value_at(run, "y", steer_start + 1.07) - channel_value_at(run, "y", steer_start)
    )
    return DwellRun(side, size, yaw_ratios[0], yaw_ratios[1], displacement, run)


# ---- fishhook


def fishhook_test(vehicle: Car, settings: dict[str, Any]) -> Result:
    """Steering to one side and, when the car stops rolling, over to the other, coasting, faster
    from run to run."""
    car = compiled_car(vehicle, settings)
    A = steering_angle_at_03g(car, settings["at"] / 3.6, settings["slow"])
    size, rate = settings["factor"] * A, settings["rate"]
    runs: dict[str, Run] = {}
    lifts, loads = set(), []
    for speed in settings["speeds"]:
        for side, sign in SIDES.items():
            run = _run_fishhook(car, speed / 3.6, sign * size, rate)
            runs[f"{speed:g} km/h {side}"] = run
            loads.append(_min_side_load(car, run))
            if _has_side_lift(car, run):
                lifts.add(speed)
    metrics = MetricCollector()
    metrics.add("angle", A, "deg", "A, steering-wheel angle at 0.3 g")
    metrics.add("amplitude", size, "deg", "amplitude of the steering wheel")
    metrics.add(
        "lift_speed", min(lifts, default=math.nan), "km/h", "lowest speed with two-wheel lift"
    )
    for name, label in (
        ("roll", "roll"),
        ("ay", "lateral acceleration"),
        ("side_slip", "side slip"),
    ):
        largest = max(
            float(np.abs(run[name][_before_rollover(run) if name != "roll" else slice(None)]).max())
            for run in runs.values()
        )
        metrics.add(
            f"{name}_max", largest, next(iter(runs.values())).units[name], f"largest {label}"
        )
    metrics.add(
        "inner_load_min", min(loads), "N", "smallest load of all inner wheels of a unit together"
    )
    for key, stability in car.metrics.details.items():
        if key.startswith("static_stability"):
            metrics.add(key, stability.value, stability.unit, stability.label)
    criteria = [
        Criterion(
            f"no two-wheel lift up to {max(settings['speeds']):g} km/h"
            + (f": it occurs at {min(lifts):g} km/h" if lifts else ""),
            not lifts,
        )
    ]
    fastest = {n: r for n, r in runs.items() if n.endswith("left")}
    return Result(
        "fishhook",
        vehicle.name,
        settings,
        fastest,
        metrics.as_metrics(),
        criteria,
        [
            "the steering wheel turns over when the roll rate has fallen below 1.5 deg/s",
            "two-wheel lift: all wheels on one side of the car or of a trailer carry nothing",
            "plots show runs to the left",
        ],
        (
            "steering_wheel",
            "roll",
            "ay",
            "yaw_rate",
            "side_slip",
            "fl.tyre_load",
            "rl.tyre_load",
            ("y", "x"),
        ),
    )


def _before_rollover(run: Run) -> slice:
    """The part of a run before the vehicle overturns: what it meets then is no lateral acceleration
    of a turn."""
    overturned = np.flatnonzero(np.abs(run["roll"]) > ROLLOVER_ANGLE)
    return slice(None, max(int(overturned[0]), 1) if len(overturned) else None)


def _run_fishhook(car: CompiledCar, v: float, size: float, rate: float) -> Run:
    """The first part says when the car stops rolling; then the whole is driven."""
    rise_time = abs(size) / rate
    start = car.straight_running_state(v)
    released_drive = car.throttle_release(start)
    first = sampled([0.0, BEGINS, BEGINS + rise_time, SIGNAL_END], [0.0, 0.0, size, size])
    run = car.simulate(
        BEGINS + 3.0,
        start,
        {"steer": first, "drive": released_drive},
        THROTTLE_FIXED,
        until=OVERTURNED,
    )
    roll_rate = np.gradient(run["roll"], run.time)
    is_steered = run.time > BEGINS + rise_time
    slow = np.flatnonzero(is_steered & (np.abs(roll_rate) < 1.5))
    t_reversal = float(run.time[slow[0]]) if len(slow) else BEGINS + rise_time + 0.25
    times = [
        0.0,
        BEGINS,
        BEGINS + rise_time,
        t_reversal,
        t_reversal + 2 * rise_time,
        t_reversal + 2 * rise_time + 3.0,
        t_reversal + 2 * rise_time + 5.0,
        SIGNAL_END,
    ]
    wheel = sampled(times, [0.0, 0.0, size, size, -size, -size, 0.0, 0.0])
    return car.simulate(
        times[-2],
        start,
        {"steer": wheel, "drive": released_drive},
        THROTTLE_FIXED,
        until=OVERTURNED,
    )


def _min_side_load(car: CompiledCar, run: Run) -> float:
    """Smallest sum of the loads of all wheels on a side of the car or of a trailer."""
    sides = [unit[i::2] for unit in car.data.wheels_of_units for i in (0, 1)]
    return min(float(np.sum([run[f"{c}.tyre_load"] for c in side], axis=0).min()) for side in sides)


def _has_side_lift(car: CompiledCar, run: Run) -> bool:
    """Whether all wheels of a side of a unit carry nothing at some time, or the car overturns."""
    return _min_side_load(car, run) <= 0 or bool(np.abs(run["roll"]).max() > 59)


SINE_WITH_DWELL = Manoeuvre(
    "sine-with-dwell",
    "sine with dwell, a series to both sides",
    {
        "speed": Setting(80.0, "km/h", "speed, from which the car coasts"),
        "rate": Setting(13.5, "deg/s", "of the steering wheel in the slow ramp that finds A"),
        "frequency": Setting(0.7, "Hz", "of the sine"),
        "dwell": Setting(0.5, "s", "pause at the second peak"),
        "least": Setting(270.0, "deg", "amplitude that is reached at least"),
        "most": Setting(300.0, "deg", "amplitude that is not passed"),
    },
    sine_with_dwell_test,
    "49 CFR 571.126, UN R140, from memory",
    first=("yaw_early", "yaw_late", "lateral_displacement"),
)
FISHHOOK = Manoeuvre(
    "fishhook",
    "fishhook, a series of speeds",
    {
        "speeds": Setting((56.3, 64.4, 72.4, 76.4, 80.5), "km/h", "speeds at the start"),
        "at": Setting(80.5, "km/h", "speed of the slow ramp that finds A"),
        "slow": Setting(13.5, "deg/s", "of the steering wheel in it"),
        "factor": Setting(6.5, "", "amplitude over A"),
        "rate": Setting(720.0, "deg/s", "of the steering wheel"),
    },
    fishhook_test,
    "NHTSA's test for its roll-over rating, from memory but for 6.5 A and the speeds",
    first=("lift_speed", "roll_max"),
)
