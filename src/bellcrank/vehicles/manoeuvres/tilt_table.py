"""A tilt table: the road below the standing car is inclined sideways, slowly, until a unit
overturns.

The tangent of the inclination stands for lateral acceleration over g. A rail keeps wheels from
sliding: tyres have several times their friction.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bellcrank.core.errors import ModelError, did_you_mean
from bellcrank.core.signals import sampled
from bellcrank.vehicles.cars.car import Car
from bellcrank.vehicles.cars.design.car_data import GRAVITY
from bellcrank.vehicles.manoeuvres.compiled_car import OUTPUT_EVERY, STEP
from bellcrank.vehicles.manoeuvres.manoeuvre_result import (
    Manoeuvre,
    MetricCollector,
    Result,
    Setting,
)

Array = np.ndarray[Any, Any]
RAIL = 4.0  # factor of the friction of tyres, in place of a rail
FRICTION = ("mu_", "umax_", "umin_", "LMUX_", "LMUY_")  # how parameters of friction begin
QUICK = 10.0  # s, in which the table is inclined to where the slow part begins
OVER = 25.0  # deg of roll against the table: overturned
GROWN = 4.0, 8.0  # roll rates of a unit that overturns, over that of the table
HOLDS = 0.5  # of the weight times the radius of the wheels, as brake torque
SIDES = {
    "right": (1.0, "l"),
    "left": (-1.0, "r"),
}  # that the table lowers: sign of its inclination, upper wheels
EVEN = 0.01  # of the weight, by which the wheels of both sides may differ without a note


def tilt_table_test(vehicle: Car, settings: dict[str, Any]) -> Result:
    """The standing car on a table that is inclined to a side."""
    if settings["side"] not in SIDES:
        suggestion = did_you_mean(settings["side"], SIDES)
        raise ModelError(
            f"manoeuvre tilt-table: side={settings['side']!r} must be right or left.{suggestion}"
        )
    sign, upper = SIDES[settings["side"]]
    car, values = vehicle.like or (vehicle, {})
    sim = car.system(speed=0.0, tilt=True).equations().compile()
    start_angle, max_angle, rate = settings["begin"], settings["most"], settings["rate"]
    duration = QUICK + (max_angle - start_angle) / rate
    radius = float(
        np.mean([vehicle.data.axle(a).tyre.forces(3000.0, 0.0, 0.0).Re for a in ("front", "rear")])
    )
    inputs = {
        "tilt": sampled([0.0, QUICK, duration], [0.0, sign * start_angle, sign * max_angle]),
        "brake": HOLDS * vehicle.stand.total_mass * GRAVITY * radius,
    }
    rolls = {"car": "roll", **{t.name: f"{t.name}.roll" for t in vehicle.data.trailers}}
    events = {f"{name} overturns": f"abs({channel}) > {OVER}" for name, channel in rolls.items()}
    grips = {
        p.name: RAIL * float(values.get(p.name, p.default or 1.0))
        for p in sim.interface.parameters
        if p.name.startswith(FRICTION) and "parking" not in p.name
    }
    run = sim.simulate(
        t_end=duration,
        step=STEP,
        method=settings["method"],
        output_every=OUTPUT_EVERY,
        inputs=inputs,
        parameters={**values, **grips},
        events=events,
        stop=tuple(events),
    )
    tilt, metrics = (
        np.interp(run.time, [0.0, QUICK, duration], [0.0, start_angle, max_angle]),
        MetricCollector(),
    )
    axles = {axle: f"{axle[0]}{upper}" for axle in ("front", "rear")}
    axles |= {a.parameter_suffix: a.wheel_name(upper) for a in vehicle.data.simple_axles}
    lifted = {}
    for name, wheel in axles.items():
        inclination = lifted[name] = _first_lasting_inclination(
            tilt, run[f"{wheel}.tyre_load"] <= 0
        )
        metrics.add(
            f"lift_{name}",
            inclination,
            "deg",
            f"inclination at which the upper wheel of axle {name} lifts",
        )
    is_overturned = len(run.time) > 1 and run.time[-1] < duration - 1e-9
    angle = _rollover_inclination(run, tilt, rolls) if is_overturned else math.nan
    metrics.add("rollover_angle", angle, "deg", "inclination at which a unit overturns")
    metrics.add(
        "rollover_threshold",
        math.tan(math.radians(angle)),
        "g",
        "rollover threshold: lateral acceleration over g, tangent of that inclination",
    )
    for name, channel in rolls.items():
        end_roll = np.interp(angle if is_overturned else tilt[-1], tilt, run[channel])
        metrics.add(f"roll_{name}", abs(end_roll), "deg", f"roll of {name} against the table there")
    notes = [
        f"friction of the tyres is {RAIL:g} times as high, in place of a rail that keeps "
        f"wheels from sliding",
        f"{run.ended}" if is_overturned else f"no unit overturns up to {max_angle:g} deg",
        *_heavier_side_note(vehicle, settings["side"]),
    ]
    not_lifted = [name for name, inclination in lifted.items() if math.isnan(inclination)]
    if not_lifted:
        notes.append(f"until then no wheel lifts for good of {', '.join(not_lifted)}")
    channels = ("tilt", *rolls.values(), *(f"{wheel}.tyre_load" for wheel in axles.values()))
    return Result(
        "tilt-table",
        vehicle.name,
        settings,
        {"tilt": run},
        metrics.as_metrics(),
        [],
        notes,
        channels,
    )


def _heavier_side_note(vehicle: Car, lowered: str) -> list[str]:
    """A note for vehicles that overturn earlier to the other side, whose wheels carry more at
    rest."""
    statics = vehicle.stand
    wheels = dict(zip(("fl", "fr", "rl", "rr"), statics.wheel_load, strict=True))
    for unit in (statics.added, *statics.trailers):
        wheels |= {} if unit is None else unit.load
    opposite = "left" if lowered == "right" else "right"
    fraction = sum(load for wheel, load in wheels.items() if wheel.endswith(opposite[0])) / sum(
        wheels.values()
    )
    if 2 * fraction - 1 < EVEN:
        return []
    return [
        f"the {opposite} wheels carry {100 * fraction:.3g} % of the weight: it overturns "
        f"earlier with side={opposite}"
    ]


def _first_lasting_inclination(tilt: Array, condition: Array) -> float:
    """The inclination at which a condition is met for good."""
    unmet = np.flatnonzero(~condition)
    i = int(unmet[-1]) + 1 if len(unmet) else 0
    return float(tilt[i]) if i < len(tilt) else math.nan


def _rollover_inclination(run: Any, tilt: Array, rolls: dict[str, str]) -> float:
    """The inclination at which the roll that ends the run begins to grow by itself.

    A unit whose upper wheels have lifted lacks a moment that grows as the table moves on, so its
    roll rate is that of the table times cosh(w t) - 1. It takes some time until that is seen: when
    the rate is 4 and 8 times that of the table, for good, says how long.
    """
    fastest = max(
        (np.abs(np.gradient(run[channel], run.time)) for channel in rolls.values()),
        key=lambda x: x[-1],
    )
    table = np.gradient(tilt, run.time)
    tilt_1, tilt_2 = (_first_lasting_inclination(tilt, fastest > times * table) for times in GROWN)
    phase_1, phase_2 = (math.acosh(1 + times) for times in GROWN)
    return tilt_1 - phase_1 / (phase_2 - phase_1) * (tilt_2 - tilt_1)


TILT = Manoeuvre(
    "tilt-table",
    "standing on a tilt table until a unit overturns",
    {
        "begin": Setting(8.0, "deg", "inclination at which the slow part begins"),
        "rate": Setting(0.25, "deg/s", "how fast the table is inclined from there on"),
        "most": Setting(60.0, "deg", "largest inclination"),
        "side": Setting("right", "", "side that the table lowers: right or left"),
    },
    tilt_table_test,
    "SAE J2180, from memory",
    first=("rollover_threshold",),
    in_all=False,
)
