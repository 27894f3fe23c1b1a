"""Forces of the air: drag, lift over the axles, and of a car that knows them, side force and yaw
moment of a side wind.

With side coefficients the air comes at the car with its velocity against the wind (input `wind`,
across the ground to the left). V is its size in the plane of the car and v its part across: side
force -rho/2 A c_side V v at mid-wheelbase and a height of its own, yaw moment -rho/2 A l c_yaw V v:
both in proportion to the sine of the angle of the flow, as coefficients are measured to some 20
deg. Reference point and length: the middle of the wheelbase l (SAE J1594).

Maps over the ride heights or over the flow angle b take the place of coefficients. A ride height is
the height of a point of the body over the road between both wheels of its axle. Tables over b =
atan(v/V_x) are over rho/2 V^2.
"""

from __future__ import annotations

from collections.abc import Mapping

from bellcrank.api.system import System
from bellcrank.model.describe.handles import BodyHandle
from bellcrank.vehicles.cars.design.air_maps import flow_angle_table, ride_height_table
from bellcrank.vehicles.cars.design.car_data import CORNERS, CarData
from bellcrank.vehicles.cars.keys.car_keys import AerodynamicsKeys, RideHeightMapKeys
from bellcrank.vehicles.cars.running_gear.wheel_tyres import contact_names
from bellcrank.vehicles.cars.statics.static_equilibrium import CarStatics
from bellcrank.vehicles.model_parameters import add_si_parameter

SIDE = "lateral_air"  # force on both parts of a frame that twists
STILL = 1e-6  # m/s: in still air the speed has a slope, too


def add_aerodynamic_forces(
    s: System, car: CarData, body_parts: Mapping[str, BodyHandle], statics: CarStatics
) -> None:
    air, chassis = car.sections.aerodynamics, body_parts["front"]
    if air is None:
        return
    add_si_parameter(s, "rho", air.density, "M/L**3", "density of the air")
    add_si_parameter(s, "area", air.area, "L**2", "frontal area")
    if air.has_side_wind:
        s.add_input("wind", units="L/T", label="side wind across the ground, to the left")
        s.set_run(inputs={"wind": 0.0})
    s.define(
        "ahead",
        "dot(vel(chassis.cm), [chassis1])"
        + (" - wind*dot([n2], [chassis1])" if air.has_side_wind else ""),
    )
    pressure = "rho/2*area*airspeed" if air.has_side_wind else "rho/2*area*abs(ahead)"
    if air.has_side_wind:
        s.define("aside", "dot(vel(chassis.cm), [chassis2]) - wind*dot([n2], [chassis2])")
        s.define("airspeed", f"sqrt(ahead**2 + aside**2 + {STILL**2!r})")
    if air.flow is not None:
        s.define("air_ahead", f"sqrt(ahead**2 + {STILL**2!r})")
        s.define("air_angle", "atan2(aside, air_ahead)")
        s.add_output(
            "air_angle", "air_angle", label="air-flow angle, positive from the left", units="deg"
        )
    if air.ride is not None:
        _add_ride_heights(s, car, air.ride, body_parts)
    s.define("stagnation", f"{pressure}*ahead")
    drag, uses_airspeed = _coefficient_formula(s, air, "drag")
    drag_load = "rho/2*area*airspeed**2*ahead/air_ahead" if uses_airspeed else "stagnation"
    s.add_force(
        "drag", magnitude=f"-{drag}*{drag_load}", direction=chassis[1], at=chassis.cm, label="drag"
    )
    lift_positions = [float(statics.contact_points[i][0]) for i in (0, 2)]
    for axle, x in (("front", lift_positions[0]), ("rear", lift_positions[1])):
        add_si_parameter(
            s,
            f"x_lift_{axle}",
            x,
            "L",
            f"x of the lift over the {axle} axle, above its contacts at rest",
        )
        point = s.add_point(
            f"{axle}.lift_at", body=body_parts[axle], at=(f"x_lift_{axle}", 0, "cg_z")
        )
        lift, uses_airspeed = _coefficient_formula(s, air, f"lift_{axle}")
        speed = "airspeed" if uses_airspeed else "ahead"
        s.add_force(
            f"{axle}.lift",
            magnitude=f"{lift}*rho/2*area*{speed}**2",
            direction=body_parts[axle][3],
            at=point,
            label=f"lift over the {axle} axle",
        )
    if air.has_side_wind:
        _add_side_wind_forces(s, air, body_parts, statics)
    if air.ride is not None or air.flow is not None:
        forces = {force: f"fm({force})" for force in ("drag", "front.lift", "rear.lift")}
        side = "fm(side_wind)" if body_parts["rear"] is chassis else SIDE
        for name, force in (forces | ({"side": side} if air.has_side_wind else {})).items():
            s.add_output(f"{name}_force", force, label=f"aerodynamic force: {name}", units="F")


def _coefficient_formula(s: System, air: AerodynamicsKeys, name: str) -> tuple[str, bool]:
    """A coefficient as a formula, and whether it is over the whole speed of the air. With a map of
    ride heights its parameter is a factor of the map."""
    label = {"drag": "drag coefficient"}.get(name, f"lift coefficient over the {name[5:]} axle")
    rows = None if air.ride is None else getattr(air.ride, name)
    over_angle = None if air.flow is None else getattr(air.flow, name)
    formula = f"c_{name}"
    if rows is None:
        add_si_parameter(s, formula, getattr(air, name), "1", label)
    else:
        add_si_parameter(s, formula, 1.0, "1", f"factor of the map: {label}")
        s.define(f"{name}_map", ride_height_table(air.ride, rows))  # type: ignore[arg-type]
        formula += f"*{name}_map(front.ride_height, rear.ride_height)"
    if over_angle is not None:
        s.define(f"{name}_flow", flow_angle_table(over_angle, odd=False))
        formula += f"*{name}_flow(air_angle)"
    return formula, over_angle is not None


def _add_ride_heights(
    s: System, car: CarData, ride: RideHeightMapKeys, body_parts: Mapping[str, BodyHandle]
) -> None:
    """Ride heights, over the road below the wheels of each axle."""
    for axle, position in (("front", ride.front_at), ("rear", ride.rear_at)):
        point = s.add_point(f"{axle}.ride_at", body=body_parts[axle], at=position)
        dual = car.axle(axle).record.dual_spacing is not None
        wheels = [name for name, (axle_name, _) in CORNERS.items() if axle_name == axle]
        distances = [
            f"{contact}_distance/{1 + dual}"
            for name in wheels
            for contact in contact_names(name, dual)
        ]
        heights = [f"dot(pos({point.name}) - pos({name}.wheel.cm), [n3])" for name in wheels]
        s.define(f"{axle}.ride_height", f"({' + '.join([*distances, *heights])})/2")
        s.add_output(
            f"{axle}.ride_height",
            f"{axle}.ride_height",
            label=f"ride height of the {axle} axle",
            units="L",
        )


def _add_side_wind_forces(
    s: System, air: AerodynamicsKeys, body_parts: Mapping[str, BodyHandle], statics: CarStatics
) -> None:
    flow, chassis = air.flow, body_parts["front"]
    formulas = {}
    for name, label in (("side", "lateral force coefficient"), ("yaw", "yaw moment coefficient")):
        pairs = None if flow is None else getattr(flow, name)
        if pairs is None:
            add_si_parameter(
                s, f"c_{name}", getattr(air, name), "1", f"{label}, per sine of the air-flow angle"
            )
            formulas[name] = f"-c_{name}*rho/2*area*airspeed*aside"
        else:
            add_si_parameter(s, f"c_{name}", 1.0, "1", f"factor of the table: {label}")
            s.define(f"{name}_flow", flow_angle_table(pairs, odd=True))
            formulas[name] = f"-c_{name}*{name}_flow(air_angle)*rho/2*area*airspeed**2"
    height = (
        float(statics.mass_centre[2])
        if air.side_height is None
        else air.side_height - statics.height
    )
    add_si_parameter(s, "z_air", height, "L", "z of the aerodynamic lateral force")
    bodies = [chassis] if body_parts["rear"] is chassis else [chassis, body_parts["rear"]]
    if len(bodies) > 1:
        s.define(SIDE, formulas["side"])
        formulas["side"] = f"{SIDE}/2"  # half on each part of a frame that twists
    for body, end in zip(bodies, ("", "_rear"), strict=False):
        point = s.add_point(
            f"air_centre{end}", body=body, at=("(x_lift_front + x_lift_rear)/2", 0, "z_air")
        )
        s.add_force(
            f"side_wind{end}",
            magnitude=formulas["side"],
            direction=body[2],
            at=point,
            label="aerodynamic lateral force",
        )
    s.define("air_base", "x_lift_front - x_lift_rear")
    s.add_moment(
        "yaw_wind",
        magnitude=formulas["yaw"].replace("-c_yaw*", "-c_yaw*air_base*", 1),
        direction=chassis[3],
        on=chassis,
        label="aerodynamic yaw moment",
    )
