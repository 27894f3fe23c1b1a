"""More axles of a car than front and rear, as parts of a System: a truck with three axles or more.

They are simple axles as trailers have them, on the body `chassis`. Wheels are <axle>_l and
<axle>_r. Equalisation with the rear axle takes from the springs of both what makes one axle carry
more than the other: with wheel rates k and k_r, a force e k k_r/(k + k_r) per difference of their
travels from rest acts against them. With e = 1 forces of both change in the ratio k : k_r, however
the axles lie, as on a walking beam or with connected air springs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bellcrank.api.system import System
from bellcrank.model.describe.handles import BodyHandle
from bellcrank.vehicles.cars.building.trailer_building import (
    COORDINATES,
    add_axle_parts,
    add_axle_path_outputs,
    add_axle_springs,
    axle_coordinate_name,
    wheel_spins,
    wheel_travel,
)
from bellcrank.vehicles.cars.design.car_data import CarData
from bellcrank.vehicles.cars.design.trailer_data import SIDES, SimpleAxle
from bellcrank.vehicles.cars.metrics.handling_metrics import spring_rates
from bellcrank.vehicles.cars.running_gear.wheel_carriers import WheelCarrier
from bellcrank.vehicles.cars.statics.static_equilibrium import CarStatics
from bellcrank.vehicles.model_parameters import add_si_parameter


def build_added_axles(
    s: System,
    car: CarData,
    statics: CarStatics,
    body_parts: Mapping[str, BodyHandle],
    ground: Any,
    mounts: Mapping[str, WheelCarrier],
) -> None:
    """All axles but front and rear, on the parts of the body; `ground(wheel, side)`: what is below
    a wheel."""
    for axle in car.added_axles:
        assert statics.added is not None
        chassis = body_parts[car.body_part_at(axle.record.at[0])]
        grounds = ground(axle.wheel_name("l"), 1), ground(axle.wheel_name("r"), -1)
        add_axle_parts(s, axle, chassis, grounds, statics.added.load)
        label = f"force of each spring of axle {axle.name} at no travel"
        static = add_si_parameter(
            s, f"f_static_{axle.name}", statics.added.spring_force[axle.name], "F", label
        )
        add_axle_springs(
            s, axle, chassis, static, {c: axle_coordinate_name(axle, c) for c in COORDINATES}
        )
        add_axle_path_outputs(s, axle, chassis)
        if axle.car_axle_keys.equalisation:
            _add_equaliser(s, car, statics, axle, chassis, mounts)


def added_axle_initial_state(car: CarData, statics: CarStatics, speed: float) -> dict[str, float]:
    """Initial values of axles that roll with the car at a speed (m/s)."""
    if statics.added is None:
        return {}
    spins = (wheel_spins(axle, statics.added.load, speed) for axle in car.added_axles)
    return {
        **statics.added.axle_coordinates,
        **{name: value for one in spins for name, value in one.items()},
    }


def _add_equaliser(
    s: System,
    car: CarData,
    statics: CarStatics,
    axle: SimpleAxle,
    chassis: BodyHandle,
    mounts: Mapping[str, WheelCarrier],
) -> None:
    assert statics.added is not None
    name, corners = axle.name, ("rl", "rr")
    stiffness, rear_rate = axle.record.stiffness, spring_rates(car.rear, statics).heave
    k = add_si_parameter(
        s,
        f"k_equal_{name}",
        axle.car_axle_keys.equalisation * stiffness * rear_rate / (stiffness + rear_rate),
        "F/L",
        f"equalisation of axle {name} with the rear axle: force of a wheel per difference "
        f"of travels",
    )
    travel_difference = sum(statics.travel[2:]) - sum(
        statics.added.travel[axle.wheel_name(side)] for side in SIDES
    )
    z = add_si_parameter(
        s,
        f"z_equal_{name}",
        travel_difference / 2,
        "L",
        f"travel of the rear axle less that of axle {name} at rest",
    )
    sums = [
        " + ".join(f"({x})" for x in travels)
        for travels in (
            [mounts[c].travel for c in corners],
            [wheel_travel(axle, side) for side in SIDES],
        )
    ]
    force = f"{name}.equalises"
    s.define(force, f"{k}*(({sums[0]} - ({sums[1]}))/2 - {z})")
    hub = car.rear.linkage.chain.hub
    loads = [(f"{c}.{name}_equaliser", force, mounts[c].hard_point(hub)) for c in corners]
    if axle.is_rigid:
        loads.append((f"{name}.equaliser", f"-2*{force}", f"{name}.origin"))
    else:
        loads += [
            (f"{axle.wheel_name(i)}.equaliser", f"-{force}", f"{axle.wheel_name(i)}.origin")
            for i in SIDES
        ]
    for load, magnitude, point in loads:
        s.add_force(
            load,
            magnitude=magnitude,
            direction=chassis[3],
            at=point,
            against=chassis.origin,
            label=f"equalisation of axle {name} with the rear axle",
        )
    s.add_output(
        f"{name}.equaliser_force",
        force,
        units="F",
        label=f"force by which equalisation relieves a wheel of the rear axle for axle {name}",
    )
