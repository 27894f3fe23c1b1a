"""Braking over a jump of the friction of the road, onto a road that holds and onto a slippery one.

The brakes are applied so early before the jump that the front axle passes it at the speed that is
asked for: a first run on the friction before the jump finds the distance. The other axles meet the
jump one after another.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from bellcrank.core.errors import RunError
from bellcrank.core.signals import sampled
from bellcrank.simulation.run.result import Run
from bellcrank.simulation.run.status import RunStatus
from bellcrank.vehicles.cars.car import Car
from bellcrank.vehicles.cars.design.car_data import GRAVITY
from bellcrank.vehicles.manoeuvres.car_trailer_tests import axle_paths
from bellcrank.vehicles.manoeuvres.channel_metrics import distance_travelled, first_crossing_time
from bellcrank.vehicles.manoeuvres.compiled_car import (
    SIGNAL_END,
    THROTTLE_FIXED,
    CompiledCar,
    abs_note,
)
from bellcrank.vehicles.manoeuvres.manoeuvre_result import (
    Criterion,
    Curve,
    Manoeuvre,
    MetricCollector,
    Result,
    Setting,
)
from bellcrank.vehicles.manoeuvres.road_tests import (
    ONTO_HIGH,
    ONTO_LOW,
    STRETCH,
    RoadCourse,
    compiled_car_on_course,
)
from bellcrank.vehicles.manoeuvres.straight_line_tests import APPLIED, LOCKED

Array = np.ndarray[Any, Any]
SLOW = 15 / 3.6  # m/s, below which wheels may lock
COUNTS = 0.3  # s before the jump, over which the deceleration is averaged
SMOOTH = 0.1  # s, over which the deceleration is averaged where it rises
RISEN = 0.9  # of the change of the deceleration
SAME = 0.1  # change of the deceleration, relative, below which there is no rise
STRAIGHT = 15.0  # deg of yaw
ENDS = 1.0  # m/s, where a run ends
LONGEST = 60.0  # m, room for the vehicle behind its front axle
TIME = 60.0  # s, of a run at most


@dataclass(frozen=True, eq=False)
class FrictionJumpRun:
    """A run over a jump: when the first and the last axle pass it (s), how many axles never do,
    mean decelerations before and after (m/s2), the time from the first axle until the deceleration
    has changed (NaN: it does not), and the longest time of a locked wheel (s)."""

    run: Run
    first: float
    last: float
    missing: int
    before: float
    after: float
    rise: float
    locked: float


def friction_jump_test(vehicle: Car, settings: dict[str, Any]) -> Result:
    """Onto the road that holds, then onto the slippery one."""
    car = compiled_car_on_course(vehicle, settings, high=settings["high"], low=settings["low"])
    max_torque = (
        vehicle.data.sections.brakes.torque
        or 2 * car.at_rest.total_mass * GRAVITY * car.mean_rolling_radius
    )
    deceleration = settings["deceleration"]
    torque = (
        max_torque
        if deceleration is None
        else deceleration * car.at_rest.total_mass * car.mean_rolling_radius
    )
    metrics, runs, criteria, lines = MetricCollector(), {}, [], []
    notes = [
        abs_note(vehicle),
        "full brakes"
        if deceleration is None
        else f"the brake torque asks for {deceleration:g} m/s2",
        "tyres touch at one point; friction over that of the tyres' data",
    ]
    for direction, x_jump in (("high", ONTO_HIGH), ("low", ONTO_LOW)):
        speed, mu = (
            settings[f"onto_{direction}"],
            settings["low" if direction == "high" else "high"],
        )
        excess_speed = settings["lead"] * min(mu * GRAVITY, deceleration or math.inf)
        jump = _run_over_jump(car, x_jump, speed / 3.6, excess_speed, torque)
        run, case, name = jump.run, f"onto {direction} friction", f"onto_{direction}"
        x = distance_travelled(run)
        distance = x[-1] - np.interp(jump.first, run.time, x)
        locked = f"longest time that a wheel is locked after the jump, above {3.6 * SLOW:g} km/h"
        for key, value, unit, label in (
            ("before", jump.before, "m/s2", "mean deceleration before the jump"),
            ("after", jump.after, "m/s2", "mean deceleration after the last axle has passed"),
            ("passage", jump.last - jump.first, "s", "time from the first to the last axle"),
            (
                "rise",
                jump.rise,
                "s",
                f"time from the first axle until {RISEN:.0%} of the change of deceleration",
            ),
            ("locked", jump.locked, "s", locked),
            ("distance", distance, "m", "distance from the jump until the end"),
            ("lateral_displacement", np.abs(run["y"]).max(), "m", "largest lateral displacement"),
        ):
            metrics.add(f"{name}_{key}", value, unit, f"{case}: {label}")
        yaw = metrics.add(
            f"{name}_yaw", np.abs(run["yaw"]).max(), "deg", f"{case}: largest yaw angle"
        )
        if math.isnan(jump.rise):
            notes.append(
                f"{case}, the deceleration does not change: the brakes are below the "
                f"friction of both roads"
            )
        elif direction == "high":
            late, limit = max(0.0, jump.first + jump.rise - jump.last), settings["within"]
            criteria.append(
                Criterion(
                    f"the deceleration rises to {jump.after:.3g} m/s2 within {limit:g} s "
                    f"after the last axle has passed: "
                    f"{late:.2g} s",
                    jump.after > jump.before and late <= limit,
                )
            )
        criteria += [
            Criterion(
                f"{case}, wheels lock for {settings['brief']:g} s at most: {jump.locked:.2g} s",
                jump.locked <= settings["brief"],
            ),
            Criterion(
                f"{case}, the vehicle keeps its course: yaw angle up to {yaw:.2f} deg",
                yaw < STRAIGHT,
            ),
        ]
        if jump.missing:
            notes.append(
                f"{case}, the vehicle stops before {jump.missing} of its axles reach the jump"
            )
        runs[case] = run
        since = run.time - jump.first
        inside = since > -COUNTS
        lines.append((case, since[inside], _deceleration(run)[inside]))
    curves = (
        Curve("time from the passage of the first axle, s", "deceleration, m/s2", tuple(lines)),
    )
    return Result(
        "mu-jump",
        vehicle.name,
        settings,
        runs,
        metrics.as_metrics(),
        criteria,
        notes,
        ("speed", "*.tyre.kappa", "yaw", "y"),
        curves,
    )


def _run_over_jump(
    car: CompiledCar, x_jump: float, speed: float, excess_speed: float, torque: float
) -> FrictionJumpRun:
    """Braking over the jump at x = `x_jump`, which the front axle passes at a speed (m/s)."""
    start = car.straight_running_state(speed + excess_speed, x_jump - STRETCH + LONGEST)
    approach = _friction_jump_run(car, start, torque, speed)
    distance = float(distance_travelled(approach)[-1])
    if approach.status is not RunStatus.STOPPED_BY_EVENT or distance > STRETCH - LONGEST:
        raise RunError(
            f"mu-jump: {car.data.sections.name} does not slow down from "
            f"{3.6 * (speed + excess_speed):.4g} to "
            f"{3.6 * speed:.4g} km/h within {STRETCH - LONGEST:g} m before the jump: brake "
            f"harder (deceleration) or "
            "begin less early (lead)"
        )
    front = float(car.at_rest.contact_points[:2, 0].mean())
    run = _friction_jump_run(
        car, start | {"q(chassis, 1)": x_jump - distance - front}, torque, ENDS
    )
    first, *other_times = (
        first_crossing_time(run.time, x, x_jump) for x, _ in axle_paths(car, run).values()
    )
    last = float(np.nanmax([first, *other_times]))
    v = run["ground_speed"]
    v_first, v_last = (float(np.interp(t, run.time, v)) for t in (first, last))
    decel_before = (float(np.interp(first - COUNTS, run.time, v)) - v_first) / COUNTS
    decel_after = (v_last - float(v[-1])) / (float(run.time[-1]) - last)
    rise = math.nan
    if abs(decel_after - decel_before) > SAME * decel_before:
        progress = (_deceleration(run) - decel_before) / (decel_after - decel_before)
        rise = (
            first_crossing_time(run.time, np.where(run.time > first, progress, 0.0), RISEN) - first
        )
    locked = [_longest_lock_time(run, f"{c}.tyre.kappa", first) for c in car.data.all_wheels]
    return FrictionJumpRun(
        run,
        first,
        last,
        int(np.isnan(other_times).sum()),
        decel_before,
        decel_after,
        rise,
        max(locked),
    )


def _friction_jump_run(
    car: CompiledCar, start: dict[str, float], torque: float, until: float
) -> Run:
    pedals = {
        "brake": sampled([0.0, APPLIED, SIGNAL_END], [0.0, torque, torque]),
        "drive": car.throttle_release(start),
    }
    return car.simulate(TIME, start, pedals, THROTTLE_FIXED, until=f"ground_speed < {until!r}")


def _deceleration(run: Run) -> Array:
    """Mean deceleration around each time, m/s2."""
    v, t = run["ground_speed"], run.time
    t_after, t_before = (np.clip(t + d, t[0], t[-1]) for d in (SMOOTH / 2, -SMOOTH / 2))
    return np.asarray((np.interp(t_before, t, v) - np.interp(t_after, t, v)) / (t_after - t_before))


def _longest_lock_time(run: Run, slip: str, since: float) -> float:
    """Longest time that a wheel is locked after a time and above the speed where it may be, s."""
    locked = (run[slip] < LOCKED) & (run.time > since) & (run["ground_speed"] > SLOW)
    longest = count = 0
    for is_locked in locked:
        count = count + 1 if is_locked else 0
        longest = max(longest, count)
    return longest * float(run.time[1] - run.time[0])


MU_JUMP = Manoeuvre(
    "mu-jump",
    "braking over a jump of friction: onto a road that holds, and onto a slippery one",
    {
        "onto_high": Setting(
            50.0, "km/h", "speed at which the front axle passes onto the road that holds"
        ),
        "onto_low": Setting(
            80.0, "km/h", "speed at which the front axle passes onto the slippery road", truck=40.0
        ),
        "high": Setting(RoadCourse.high, "", "friction of the road that holds"),
        "low": Setting(RoadCourse.low, "", "friction of the slippery road"),
        "deceleration": Setting(
            None, "m/s2", "deceleration that the brake torque asks for; full brakes if not given"
        ),
        "lead": Setting(1.0, "s", "time of braking before the jump, at the friction there"),
        "within": Setting(
            0.5, "s", "time in which the deceleration must rise after the last axle has passed"
        ),
        "brief": Setting(0.5, "s", "time for which a wheel may lock after the jump"),
    },
    friction_jump_test,
    "UN R13 annex 13, from memory; it states no times",
    first=("onto_high_rise", "onto_low_locked"),
)
