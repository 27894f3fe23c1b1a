"""Manoeuvres round a circle: steady at constant radius or steering-wheel angle; braking and
power-off in a turn.

The circle is kept by the driver's own curvature control until it is steady, and then, where the
standard requires it, the steering wheel is held.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from bellcrank.core.errors import RunError
from bellcrank.core.signals import sampled
from bellcrank.simulation.run.result import Run
from bellcrank.vehicles.cars.car import Car
from bellcrank.vehicles.cars.design.car_data import GRAVITY
from bellcrank.vehicles.manoeuvres.channel_metrics import (
    ACROSS,
    channel_deviation,
    channel_value_at,
    derivative_at,
    limit_message,
    path_lateral_acceleration,
    reachable_accelerations,
    speed_loss_notes,
    steady_circle_plots,
)
from bellcrank.vehicles.manoeuvres.compiled_car import (
    CURVATURE_GAIN,
    SIGNAL_END,
    THROTTLE_FIXED,
    CompiledCar,
    abs_note,
    compiled_car,
)
from bellcrank.vehicles.manoeuvres.linear_handling import (
    add_equivalent_wheelbase,
    equivalent_wheelbase,
)
from bellcrank.vehicles.manoeuvres.manoeuvre_result import (
    Criterion,
    Curve,
    Manoeuvre,
    MetricCollector,
    Result,
    Setting,
)
from bellcrank.vehicles.manoeuvres.steady_motion import SteadyMotion
from bellcrank.vehicles.manoeuvres.steering_tests import STRAY, STRAYS

SLOWLY = 0.5  # m/s2, lateral acceleration at which the slow runs begin
LOST = 0.15  # of a curvature
AT_LIMIT = 90 / 3.6  # m/s, at which a fixed steering wheel brings the car to its limit
AT_LEAST = 1.2  # of the lateral acceleration of that limit, to which the speed on a circle grows
PAST = 1.1  # of the steering-wheel angle at the limit
# m/s2, lateral acceleration to which a slow run goes at least, if the car does not leave the circle
FASTEST = 12.0
Series = dict[float, Run]


def _rising_lateral_acceleration(run: Run) -> tuple[int, np.ndarray[Any, Any]]:
    """Until where the lateral acceleration grows, and that acceleration."""
    ay = path_lateral_acceleration(run)
    return int(np.argmax(ay)) + 1, ay


def constant_radius_test(vehicle: Car, settings: dict[str, Any]) -> Result:
    """A circle at a speed that grows slowly: the steering-wheel angle that keeps it."""
    car, R = compiled_car(vehicle, settings), settings["radius"]
    ay_limit = max(
        FASTEST, AT_LEAST * _limit_lateral_acceleration(car.with_gear_for(AT_LIMIT), AT_LIMIT)
    )  # a car with downforce has more
    rate, v0, top = settings["acceleration"], math.sqrt(SLOWLY * R), math.sqrt(ay_limit * R)
    duration = (top - v0) / rate
    speed = sampled([0.0, duration, SIGNAL_END], [v0, top, top])
    car = car.with_gear_for(top)
    start = car.steady_turn_state(v0, 1 / R)
    stop_condition = (
        f"max(abs({math.radians(R)!r}*yaw_rate/speed - 1)/{LOST}, abs(side_slip)/{STRAYS}) > 1"
    )
    run = car.simulate(
        duration,
        start,
        {"speed_set": speed, "curve_set": 1 / R},
        {"k_turn": CURVATURE_GAIN},
        until=stop_condition,
    )
    last, ay = _rising_lateral_acceleration(run)
    metrics = MetricCollector()
    ratio = car.metrics["steering_ratio"]
    add_equivalent_wheelbase(metrics, car)
    ay_rising = ay[:last]
    gradients, missing = reachable_accelerations(settings["at"], float(ay_rising[-1]))
    for a in gradients:
        at_text = f"at {a:g} m/s2"
        K = derivative_at(ay_rising, run["steering_wheel"][:last], a) / ratio
        metrics.add(f"understeer_{a:g}", K * GRAVITY, "deg/g", f"understeer gradient {at_text}")
        for name, label in (("roll", "roll"), ("side_slip", "side-slip")):
            gradient = derivative_at(ay_rising, run[name][:last], a) * GRAVITY
            metrics.add(f"{name}_gradient_{a:g}", gradient, "deg/g", f"{label} gradient {at_text}")
        metrics.add(
            f"wheel_{a:g}",
            float(np.interp(a, ay_rising, run["steering_wheel"][:last])),
            "deg",
            f"steering-wheel angle {at_text}",
        )
    metrics.add("ay_max", ay_rising[-1], "m/s2", "largest lateral acceleration")
    curvature = float(np.radians(run["yaw_rate"][last - 1]) / run["speed"][last - 1])
    metrics.add("speed_max", 3.6 * run["speed"][last - 1], "km/h", "speed there")
    return Result(
        "iso4138-radius",
        vehicle.name,
        settings,
        {"circle": run},
        metrics.as_metrics(),
        [],
        [
            f"the speed grows by {rate:g} m/s2, in place of separate circles; at the "
            f"largest lateral "
            f"acceleration the curvature is {100 * abs(curvature * R - 1):.2g} % from that "
            f"of the circle",
            limit_message(run, ay),
            *speed_loss_notes(run, v0 + rate * float(run.time[-1])),
            *missing,
        ],
        steady_circle_plots(),
    )


def constant_steer_angle_test(vehicle: Car, settings: dict[str, Any]) -> Result:
    """The steering wheel held from a slow circle on, the speed growing slowly: how the radius
    grows."""
    car = compiled_car(vehicle, settings)
    R = settings["radius"] or _radius_to_reach_limit(car)
    v0, rate = math.sqrt(SLOWLY * R), settings["acceleration"]
    car = car.with_gear_for(v0 + settings["to"] / 3.6)
    start = car.steady_turn_state(v0, 1 / R)
    duration = settings["to"] / 3.6 / rate
    speed = sampled([0.0, duration, SIGNAL_END], [v0, v0 + rate * duration, v0 + rate * duration])
    run = car.simulate(duration, start, {"speed_set": speed}, None, until=STRAY)
    last, ay = _rising_lateral_acceleration(run)
    ay_rising, curvature = ay[:last], np.radians(run["yaw_rate"][:last]) / run["speed"][:last]
    metrics = MetricCollector()
    base = add_equivalent_wheelbase(metrics, car)
    metrics.add("angle", run["steering_wheel"][-1], "deg", "steering-wheel angle, fixed")
    gradients, missing = reachable_accelerations(settings["at"], float(ay_rising[-1]))
    for a in gradients:
        K = -base * derivative_at(ay_rising, curvature, a)
        metrics.add(
            f"understeer_{a:g}",
            math.degrees(K) * GRAVITY,
            "deg/g",
            f"understeer gradient at {a:g} m/s2",
        )
        metrics.add(
            f"radius_{a:g}",
            1 / float(np.interp(a, ay_rising, curvature)),
            "m",
            f"radius at {a:g} m/s2",
        )
    metrics.add("ay_max", ay_rising[-1], "m/s2", "largest lateral acceleration")
    metrics.add("speed_there", 3.6 * run["speed"][last - 1], "km/h", "speed there")
    axis = f"{run.labels[ACROSS]}, {run.units[ACROSS]}"
    curves = (Curve(axis, "curvature of the path, 1/m", (("fixed wheel", ay_rising, curvature),)),)
    return Result(
        "iso4138-wheel",
        vehicle.name,
        settings,
        {"circle": run},
        metrics.as_metrics(),
        [],
        [
            f"the speed grows by {rate:g} m/s2",
            limit_message(run, ay, partial(_limit_lateral_acceleration, car)),
            *speed_loss_notes(run, v0 + rate * float(run.time[-1])),
            *missing,
        ],
        steady_circle_plots()[1:],
        curves,
    )


def _radius_to_reach_limit(car: CompiledCar) -> float:
    """Radius (m) of a slow circle whose steering-wheel angle takes the car past its limit: at a
    fixed angle the lateral acceleration of an understeering car approaches a value that grows with
    the angle, however fast it goes."""
    limit = car.with_gear_for(AT_LIMIT).steady_turn_limit(AT_LIMIT)
    angle = math.radians(PAST * limit.angle) / car.metrics["steering_ratio"]
    return equivalent_wheelbase(car) / math.tan(angle)


def _limit_lateral_acceleration(car: CompiledCar, speed: float) -> float:
    """Lateral acceleration (m/s2) of the limit at a speed (m/s); NaN where it was not found."""
    try:
        limit = car.steady_turn_limit(speed)
    except RunError:
        return math.nan
    return math.nan if limit.failure else float(limit.ay)


# ---- out of a turn


def brake_in_turn_test(vehicle: Car, settings: dict[str, Any]) -> Result:
    """From a steady circle, the steering wheel held: the brakes, harder from run to run."""
    car = compiled_car(vehicle, settings)
    unit = car.at_rest.total_mass * car.mean_rolling_radius

    def brakes(deceleration: float) -> dict[str, Any]:
        moment = deceleration * unit
        return {"brake": sampled([0.0, settings["rise"], SIGNAL_END], [0.0, moment, moment])}

    result = _run_from_steady_turn(
        "iso7975", vehicle, settings, {x: brakes(x) for x in settings["decelerations"]}
    )
    result.notes.append(abs_note(vehicle))
    return result


def power_off_test(vehicle: Car, settings: dict[str, Any]) -> Result:
    """From a steady circle, the steering wheel held: the foot off the throttle."""
    car = compiled_car(vehicle, settings)
    start = car.nearest_turn_state(
        math.sqrt(settings["ay"] * settings["radius"]), 1 / settings["radius"]
    )
    engine = settings["engine"]
    return _run_from_steady_turn(
        "iso9816", vehicle, settings, {engine: {"drive": car.throttle_release(start, engine)}}
    )


def _run_from_steady_turn(
    name: str, vehicle: Car, settings: dict[str, Any], inputs: dict[float, dict[str, Any]]
) -> Result:
    car, duration = compiled_car(vehicle, settings), settings["seen"]
    speed_set = math.sqrt(settings["ay"] * settings["radius"])
    start = car.nearest_turn_state(speed_set, 1 / settings["radius"])
    circle = car.motion_of(start)
    v, R = circle.ground_speed, circle.radius
    released_drive = car.throttle_release(start)
    runs: Series = {
        x: car.simulate(
            duration + 2.0,
            start,
            {"drive": released_drive} | run_inputs,
            THROTTLE_FIXED,
            until="ground_speed < 1",
        )
        for x, run_inputs in inputs.items()
    }
    metrics = MetricCollector()
    metrics.add("speed", 3.6 * v, "km/h", "speed in the steady circle")
    metrics.add(
        "ay_circle",
        circle.lateral_acceleration,
        "m/s2",
        "lateral acceleration in the steady circle",
    )
    rows = []
    for x, run in runs.items():
        suffix = f"_{x:g}" if len(runs) > 1 else ""
        condition = f" at {x:g} m/s2" if len(runs) > 1 else ""
        t = min(duration, float(run.time[-1]))
        speed_after, slip0 = channel_value_at(run, "ground_speed", t), float(run["side_slip"][0])
        steady = math.degrees(speed_after / R)
        ratio = channel_value_at(run, "yaw_rate", t) / steady
        metrics.add(
            f"deceleration{suffix}", (v - speed_after) / t, "m/s2", f"mean deceleration{condition}"
        )
        metrics.add(
            f"yaw_ratio{suffix}",
            ratio,
            "",
            f"yaw rate after {duration:g} s over that of the same circle{condition}",
        )
        metrics.add(
            f"ay_ratio{suffix}",
            channel_value_at(run, "ay", t) / (speed_after**2 / R),
            "",
            f"lateral acceleration after {duration:g} s over that of the same circle{condition}",
        )
        inside = run.time <= t
        metrics.add(
            f"side_slip{suffix}",
            np.abs(run["side_slip"][inside] - slip0).max(),
            "deg",
            f"largest change of side slip until then{condition}",
        )
        yaw_acceleration = np.abs(np.diff(run["yaw_rate"][inside])).max() / float(
            run.time[1] - run.time[0]
        )
        metrics.add(
            f"yaw_acceleration{suffix}",
            yaw_acceleration,
            "deg/s2",
            f"largest yaw acceleration until then{condition}",
        )
        radial_deviation = (
            math.hypot(
                channel_deviation(run, "x")[inside][-1], channel_deviation(run, "y")[inside][-1] - R
            )
            - R
        )
        metrics.add(
            f"outwards{suffix}",
            radial_deviation,
            "m",
            f"radial deviation from the circle until then{condition}",
        )
        rows.append((metrics[f"deceleration{suffix}"].value, ratio))
    labelled_runs = {f"{x:g} m/s2" if len(runs) > 1 else "released": run for x, run in runs.items()}
    spins = [x for x, run in runs.items() if np.abs(run["side_slip"]).max() > 30]
    criteria = [
        Criterion(
            "the car does not spin" + (f": it does at {min(spins):g} m/s2" if spins else ""),
            not spins,
        )
    ]
    decelerations, ratios = np.array(sorted(rows)).T
    curves = (
        (
            Curve(
                "mean deceleration, m/s2",
                "yaw rate over that of the circle, -",
                (("ratio", decelerations, ratios),),
            ),
        )
        if len(rows) > 1
        else ()
    )
    return Result(
        name,
        vehicle.name,
        settings,
        labelled_runs,
        metrics.as_metrics(),
        criteria,
        [f"the steering wheel is fixed; values {duration:g} s after the pedal moves"],
        ("yaw_rate", "side_slip", "ay", "speed", "roll", ("y", "x")),
        curves,
        _slower_circle_reasons(circle, speed_set, settings),
    )


def _slower_circle_reasons(
    circle: SteadyMotion, speed_set: float, settings: dict[str, Any]
) -> list[str]:
    """Why a run out of a turn is not valid: the circle is driven more slowly than requested."""
    if circle.keeps_speed(speed_set):
        return []
    return [
        f"the steady circle before the pedal moves has {circle.lateral_acceleration:.3g} m/s2 at "
        f"{3.6 * circle.ground_speed:.4g} km/h in place of {settings['ay']:g} m/s2 at "
        f"{3.6 * speed_set:.4g} km/h: the drive lacks power or grip"
    ]


RADIUS = Manoeuvre(
    "iso4138-radius",
    "steady circle of constant radius, slowly faster",
    {
        "radius": Setting(100.0, "m", "radius"),
        "acceleration": Setting(0.2, "m/s2", "how fast the speed grows"),
        "at": Setting((2.0, 4.0), "m/s2", "where gradients are taken", truck=(1.0, 2.0)),
    },
    constant_radius_test,
    "ISO 4138, constant radius; text of the standard not at hand",
    first=("understeer_2", "ay_max"),
)
WHEEL = Manoeuvre(
    "iso4138-wheel",
    "constant steering-wheel angle, slowly faster",
    {
        "radius": Setting(
            None,
            "m",
            "radius of the slow circle at which the steering wheel is fixed; one that leads "
            "to the limit",
        ),
        "acceleration": Setting(0.2, "m/s2", "how fast the speed grows"),
        "to": Setting(100.0, "km/h", "how much faster it becomes, at most"),
        "at": Setting((2.0, 4.0), "m/s2", "where gradients are taken", truck=(1.0, 2.0)),
    },
    constant_steer_angle_test,
    "ISO 4138, constant steering-wheel angle; text of the standard not at hand",
    first=("understeer_2",),
)
TURN = {
    "radius": Setting(100.0, "m", "radius of the steady circle"),
    "ay": Setting(5.0, "m/s2", "lateral acceleration in it", truck=2.5),
    "seen": Setting(1.0, "s", "after which values are taken"),
}
BRAKE_IN_TURN = Manoeuvre(
    "iso7975",
    "braking in a turn",
    TURN
    | {
        "decelerations": Setting(
            (2.0, 3.0, 4.0, 5.0, 6.0), "m/s2", "deceleration that the brake torques ask for"
        ),
        "rise": Setting(0.4, "s", "rise time of the brake torque"),
    },
    brake_in_turn_test,
    "ISO 7975, from memory",
    first=("yaw_ratio_4", "side_slip_4"),
)
POWER_OFF = Manoeuvre(
    "iso9816",
    "power-off in a turn",
    TURN | {"engine": Setting(0.5, "m/s2", "deceleration by the engine")},
    power_off_test,
    "ISO 9816, from memory",
    first=("yaw_ratio", "outwards"),
)
