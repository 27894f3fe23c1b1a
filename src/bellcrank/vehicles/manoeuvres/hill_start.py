"""Hill start: the car stands on a grade, held by its brakes; they are released, and it drives off.

The grade is an inclination of gravity, so one compiled model serves all grades. Rolling back ends
where the car is furthest down the hill after the brakes are released.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bellcrank.core.signals import sampled
from bellcrank.vehicles.cars.car import Car
from bellcrank.vehicles.cars.design.car_data import GRAVITY
from bellcrank.vehicles.cars.design.powertrain_data import max_drive_torque
from bellcrank.vehicles.manoeuvres.compiled_car import OUTPUT_EVERY, SIGNAL_END, STEP
from bellcrank.vehicles.manoeuvres.manoeuvre_result import (
    Criterion,
    Manoeuvre,
    MetricCollector,
    Result,
    Setting,
)

INCLINED, RELEASED = 3.0, 8.0  # s, when the grade is reached, and when the brakes are released
HOLDS = 1.5  # brake torque over that which holds the weight on the grade, unless it is given
STARTS = 0.1  # of g, with which the car drives off unless a torque is given
CREEPS = 0.01  # m, by which a car that is held may move in the last second
LONGEST = 30.0  # s after the release


def hill_start_test(vehicle: Car, settings: dict[str, Any]) -> Result:
    """Held by the brakes, released, driven off."""
    grade, delay, rise = settings["grade"] / 100, settings["delay"], settings["rise"]
    car, values = vehicle.like or (vehicle, {})
    sim = car.system(speed=0.0, tilt=True).equations().compile()
    weight = vehicle.stand.total_mass * GRAVITY
    radius = float(
        np.mean([vehicle.data.axle(a).tyre.forces(3000.0, 0.0, 0.0).Re for a in ("front", "rear")])
    )
    angle = math.atan(grade)
    holding_torque = weight * abs(math.sin(angle)) * radius
    brake = HOLDS * holding_torque if settings["brake"] is None else settings["brake"]
    drive = (
        holding_torque + STARTS * weight * radius
        if settings["drive"] is None
        else settings["drive"]
    )
    brakes_off = RELEASED + settings["release"]
    drive_start, top = RELEASED + delay, settings["to"] / 3.6
    inputs = {
        "grade": sampled(
            [0.0, INCLINED, SIGNAL_END], [0.0, math.degrees(angle), math.degrees(angle)]
        ),
        "brake": sampled(
            [0.0, 0.2, RELEASED, brakes_off, SIGNAL_END], [0.0, brake, brake, 0.0, 0.0]
        ),
        "drive": sampled(
            [0.0, drive_start, drive_start + rise, SIGNAL_END], [0.0, 0.0, drive, drive]
        ),
    }
    run = sim.simulate(
        t_end=RELEASED + LONGEST,
        step=STEP,
        method=settings["method"],
        output_every=OUTPUT_EVERY,
        inputs=inputs,
        parameters={**values},
        events={"end": f"speed > {top!r}"},
        stop=("end",),
    )
    t, x = run.time, run["x"]
    creep = abs(float(np.interp(RELEASED, t, x) - np.interp(RELEASED - 1.0, t, x)))
    is_released = t >= RELEASED
    t, displacement = t[is_released] - RELEASED, x[is_released] - np.interp(RELEASED, run.time, x)
    furthest = int(np.argmin(displacement))
    recovered = np.flatnonzero(displacement[furthest:] >= 0)
    is_up_to_speed = bool(run["speed"][-1] > top - 0.05)
    metrics = MetricCollector()
    metrics.add("brake", brake, "N-m", "brake torque that holds, sum of all wheels")
    metrics.add("drive", drive, "N-m", "drive torque, sum of all wheels")
    metrics.add("creep", creep, "m", "distance moved in the last second before the release")
    metrics.add(
        "roll_back",
        max(0.0, -float(displacement[furthest])),
        "m",
        "roll-back distance after the release",
    )
    metrics.add("time_back", t[furthest], "s", "time of the largest roll-back after the release")
    metrics.add(
        "time_ahead",
        t[furthest + recovered[0]] if len(recovered) else math.nan,
        "s",
        "time until the car is again where it stood",
    )
    metrics.add(
        "time",
        t[-1] if is_up_to_speed else math.nan,
        "s",
        f"time to {settings['to']:g} km/h after the release",
    )
    slips = [
        float(run[f"{c}.tyre.slip"][is_released][run["speed"][is_released] > 1.0].max(initial=0.0))
        for c in ("fl", "rl")
    ]
    metrics.add("slip_max", max(slips), "", "largest slip of the left wheels while driving off")
    criteria = [
        Criterion(f"the brakes hold: it moves by {1000 * creep:.3g} mm in 1 s", creep < CREEPS),
        Criterion(f"it drives off: {3.6 * float(run['speed'][-1]):.3g} km/h", is_up_to_speed),
    ]
    limit = max_drive_torque(vehicle.data.sections)
    notes = (
        [f"the drive gives at most {limit:.5g} N m"] if limit is not None and drive > limit else []
    )
    return Result(
        "hill-start",
        vehicle.name,
        settings,
        {"hill": run},
        metrics.as_metrics(),
        criteria,
        notes,
        ("speed", "x", "brake", "drive", "*.tyre_load"),
    )


HILL = Manoeuvre(
    "hill-start",
    "held on a grade by the brakes, released and driven off",
    {
        "grade": Setting(12.0, "%", "grade of the road, uphill"),
        "brake": Setting(
            None,
            "N-m",
            "brake torque, sum of all wheels; 1.5 times what the weight needs if not given",
        ),
        "release": Setting(0.3, "s", "time in which the brakes are released"),
        "delay": Setting(
            0.5, "s", "time from the beginning of the release to that of the drive torque"
        ),
        "rise": Setting(0.5, "s", "time in which the drive torque rises"),
        "drive": Setting(
            None,
            "N-m",
            "drive torque, sum of all wheels; that of the grade and of 0.1 g if not given",
        ),
        "to": Setting(10.0, "km/h", "speed at the end"),
    },
    hill_start_test,
    first=("roll_back", "time"),
    in_all=False,
)
