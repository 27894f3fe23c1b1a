"""Channels that people expect of every car (ISO 15037-1), with the names of docs/car.md."""

from __future__ import annotations

from bellcrank.api.system import System
from bellcrank.model.describe.handles import BodyHandle
from bellcrank.model.formula import (
    call_formula,
    cross,
    direction,
    dot,
    dxdt,
    magnitude,
    pos,
    project,
    vel,
)
from bellcrank.vehicles.cars.design.axles import AxleData
from bellcrank.vehicles.cars.design.car_data import CarData
from bellcrank.vehicles.cars.metrics.handling_metrics import steering_ratio
from bellcrank.vehicles.cars.running_gear.wheel_carriers import WheelCarrier
from bellcrank.vehicles.cars.statics.static_equilibrium import CarStatics

FIRST = (
    "speed",
    "ax",
    "ay",
    "yaw_rate",
    "roll",
    "pitch",
    "az",
    "height",
)  # what plots show unasked


def add_car_channels(
    s: System, car: CarData, statics: CarStatics, chassis: BodyHandle, steer: str
) -> None:
    """Motion of the body at its mass centre, and what the driver does."""
    s.add_attitude("", body=chassis)
    vertical = s.inertial[3]
    forward = direction(project(chassis[1], vertical))
    lateral = cross(vertical, forward)
    v = vel(chassis.cm)
    for name, value, label, units in (
        ("ax", dot(dxdt(v), forward), "longitudinal acceleration", "L/T**2"),
        ("ay", dot(dxdt(v), lateral), "lateral acceleration", "L/T**2"),
        ("az", dot(dxdt(v), vertical), "vertical acceleration", "L/T**2"),
        (
            "ground_speed",
            magnitude(project(v, vertical)),
            "speed over ground, in any direction",
            "L/T",
        ),
        ("x", dot(pos(chassis.cm), s.inertial[1]), "x of the mass centre", "L"),
        ("y", dot(pos(chassis.cm), s.inertial[2]), "y of the mass centre", "L"),
        ("height", dot(pos(chassis.cm), vertical), "height of the mass centre", "L"),
    ):
        s.add_output(name, value, label=label, units=units, body=chassis)
    s.define("steering_wheel", steer)
    s.add_output("steering_wheel", "steering_wheel", label="steering-wheel angle", units="deg")
    s.add_output(
        "steering_torque", "column", label="torque of the driver at the steering wheel", units="F*L"
    )
    base = float(statics.contact_points[0][0] - statics.contact_points[2][0])
    s.add_parameter("wheelbase", base, units="L", label="wheelbase in the understeer angle")
    s.add_parameter(
        "steering_ratio",
        steering_ratio(car),
        units="1",
        label="steering ratio in the understeer angle",
    )
    s.define("forward", dot(v, forward))
    ackermann_angle = call_formula(
        "atan2",
        "where(forward < 0, -1, 1)*wheelbase*dot(rot(chassis), [n3])",
        "max(abs(forward), 0.1)",
    )
    s.add_output(
        "steer_angle",
        "steering_wheel/steering_ratio",
        label="mean steer angle of the front wheels",
        units="deg",
    )
    s.define("turning", ackermann_angle)
    s.add_output(
        "understeer",
        "steering_wheel/steering_ratio - turning",
        label="understeer angle",
        units="deg",
    )
    s.description.outputs.sort(key=lambda o: FIRST.index(o.name) if o.name in FIRST else len(FIRST))


def add_corner_channels(
    s: System,
    name: str,
    side: int,
    chassis: BodyHandle,
    wheel: BodyHandle,
    mount: WheelCarrier,
    axle: AxleData,
) -> None:
    """What a wheel does; its loads and slips are those of its tyre, <corner>.tyre.fz and so on."""
    s.add_wheel_angles(f"{name}.", wheel=wheel, side="left" if side > 0 else "right")
    toe = call_formula("atan2", side * dot(wheel[2], chassis[1]), dot(wheel[2], chassis[2]))
    s.add_output(
        f"{name}.toe",
        toe,
        label=f"toe of {name} in the body, toe-in positive",
        units="deg",
        body=wheel,
    )
    s.add_output(f"{name}.travel", mount.travel, label=f"wheel travel of {name}, up", units="L")
    end_names = [mount.hard_point(end).name for end in axle.damper]
    speed = f"-dxdt(mag(pos({end_names[0]}) - pos({end_names[1]})))"
    s.add_output(
        f"{name}.damper_speed",
        speed,
        label=f"damper speed of {name}, compression positive",
        units="L/T",
    )
    s.add_output(
        f"{name}.spring_force",
        f"fm({name}.spring)",
        label=f"force of spring and bump stops of {name}, compression positive",
        units="F",
    )
    s.add_output(
        f"{name}.damper_force",
        f"fm({name}.damper)",
        label=f"damper force of {name}, compression positive",
        units="F",
    )


def add_axle_channels(s: System, axle: str) -> None:
    s.add_output(
        f"{axle}.bar_force",
        f"bar_{axle}",
        label=f"force of the {axle} anti-roll bar at its ends",
        units="F",
    )
