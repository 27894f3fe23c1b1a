"""From a car as data to a System: body, four corners, steering, brakes, drive, air; inputs steer,
drive and brake, and brake and drive torques of single wheels.

Corners are called fl, fr, rl, rr: bodies <corner> (the carrier, with the travel as coordinate) and
<corner>.wheel. A solid axle is one body, <axle>.axle, a twist beam has <axle>.left_arm and
<axle>.right_arm; coordinates of the first are the mean travel and the roll of the wheels. What is
worth changing between runs is a parameter, those of an axle end in _front or _rear.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bellcrank.api.system import System
from bellcrank.core.errors import ModelError, did_you_mean
from bellcrank.model.describe.handles import BodyHandle
from bellcrank.model.describe.tyre_patch import FORMULAS, formula_for_name
from bellcrank.model.formula import Formula, call_formula
from bellcrank.model.records import StartSpeed
from bellcrank.symbolic.expr.table import table
from bellcrank.vehicles.cars.building.added_axles import added_axle_initial_state, build_added_axles
from bellcrank.vehicles.cars.building.aerodynamics import add_aerodynamic_forces
from bellcrank.vehicles.cars.building.channels import (
    FIRST,
    add_axle_channels,
    add_car_channels,
    add_corner_channels,
)
from bellcrank.vehicles.cars.building.frame_building import (
    FRAME,
    add_rear_roll,
    chassis_parts,
    inertia_parameters,
)
from bellcrank.vehicles.cars.building.trailer_building import (
    FOLLOWING,
    add_trailers,
    trailer_initial_state,
)
from bellcrank.vehicles.cars.control.controller_building import add_controllers, add_cruise_control
from bellcrank.vehicles.cars.design.axles import AxleData
from bellcrank.vehicles.cars.design.car_data import CORNER_WORDS, CORNERS, GRAVITY, CarData
from bellcrank.vehicles.cars.design.powertrain_data import (
    front_drive_fraction,
    has_clutch,
    has_independent_motor,
    light_load_gear,
    max_drive_torque,
    motor_speed,
)
from bellcrank.vehicles.cars.driveline.clutch_and_converter import MOTOR
from bellcrank.vehicles.cars.driveline.driveline import add_drive
from bellcrank.vehicles.cars.driveline.gearbox import CLUTCH, GEAR
from bellcrank.vehicles.cars.metrics.handling_metrics import rack_steers_left
from bellcrank.vehicles.cars.running_gear.air_springs import (
    add_air_parameters,
    add_self_levelling,
    air_spring_force,
)
from bellcrank.vehicles.cars.running_gear.braking import add_brakes
from bellcrank.vehicles.cars.running_gear.compliance import (
    add_compliance_knuckles,
    add_compliance_parameters,
)
from bellcrank.vehicles.cars.running_gear.standstill_friction import (
    add_parking_torque,
    add_rolling_friction,
)
from bellcrank.vehicles.cars.running_gear.tyre_cams import effective_road
from bellcrank.vehicles.cars.running_gear.wheel_carriers import (
    WheelCarrier,
    add_dependent_suspension,
    add_independent_suspension,
    axle_coordinates,
)
from bellcrank.vehicles.cars.running_gear.wheel_tyres import add_tyres, rolling_spin
from bellcrank.vehicles.cars.statics.bush_compliance import AxleCompliance, axle_compliance
from bellcrank.vehicles.cars.statics.static_equilibrium import (
    CarStatics,
    rack_centre,
    static_spring_state,
)
from bellcrank.vehicles.driver_inputs import FADES, slip_with_parameters, tyre_with_parameter_names
from bellcrank.vehicles.force_laws import bump_stop_force, two_way_damper_force
from bellcrank.vehicles.model_parameters import add_si_parameter
from bellcrank.vehicles.terrain.terrain import Surface, Terrain, flat
from bellcrank.vehicles.tyres.steady_tyre import ARRAYS

Ground = Terrain | Surface
CENTRE = "wheel_centre"
OVERHANG = (
    0.47  # fraction of the length outside the wheelbase that lies before the front axle, as drawn
)
PAINT, SHELL = "#b3392f", 0.35  # colour and opacity of the body as drawn
ROLLING_SPEEDS = (
    5.0,
    10.0,
    20.0,
    30.0,
    45.0,
    60.0,
    80.0,
)  # m/s, by which a start at any speed is known
RACK = 0.45  # length of the rack as drawn, over the track
MOVED = 0.2  # of the wheelbase, by which the slider of a page moves the mass centre
SLIDES = 0.005  # m/s, at which the friction of the rack is nearly whole
INPUTS = {
    "steer": ("deg", "steering-wheel angle, positive to the left"),
    "drive": ("F*L", "drive torque, sum of all wheels"),
    "brake": ("F*L", "brake torque, sum of all wheels"),
}


WHEEL_TURN, DRIVE, BRAKE = (
    90.0,
    2000.0,
    5000.0,
)  # deg, N m: usual inputs of a car that does not give them


TORQUES = {
    "brake_torque": "brake torque of {}, added to its part of brake",
    "drive_torque": "drive torque of {}, added to its part of drive",
}
WHEEL_TORQUES = [f"{corner}.{kind}" for corner in CORNERS for kind in TORQUES]


class CarSystem(System):
    """The model of a car, with its data, how it stands, the speed (m/s) with which it begins, and
    the `ground` below its left and right wheels."""

    _caches_equations = True
    car: Any = None  # the Car whose model it is
    made: Any = None  # what it contained when that had made it

    def __init__(
        self, data: CarData, statics: CarStatics, speed: float, ground: tuple[Ground, Ground]
    ) -> None:
        super().__init__(data.sections.name, axes="ISO 8855")
        self.data, self.at_rest, self.speed, self.ground = data, statics, speed, ground

    def control(self, torque: str, formula: Any) -> None:
        """Let a controller in the model give the torque of a wheel, which is an input otherwise.

        Parameters
        ----------
        torque : str
            ``"<corner>.brake_torque"`` or ``"<corner>.drive_torque"``, with the corners fl, fr, rl
            and rr.
        formula : str or expression
            The torque (N m), of anything that formulas may contain, such as user-defined states and
            the driver's inputs.
        """
        if torque not in WHEEL_TORQUES:
            raise ModelError(
                f"control: no torque of a wheel is called "
                f"'{torque}'.{did_you_mean(str(torque), WHEEL_TORQUES)} There "
                f"are {', '.join(WHEEL_TORQUES)}.",
                self.name,
            )
        if torque in self.description.definitions:
            raise ModelError(
                f"control: '{torque}' is given by a controller already; give the sum of both",
                self.name,
            )
        self.description.variables[:] = [v for v in self.description.variables if v.name != torque]
        self.description.run.inputs.pop(torque, None)
        self.define(torque, formula)


def build_car_system(
    car: CarData,
    statics: CarStatics,
    *,
    speed: float = 0.0,
    exact: bool = True,
    terrain: Ground | tuple[Ground, Ground] | None = None,
    driver: Any = None,
    posts: bool = False,
    road_inputs: bool = False,
    tilt: bool = False,
) -> CarSystem:
    """The model of a car that rolls ahead at `speed` (m/s) from where it stands; `terrain` may be
    one for the left wheels and one for the right; with `posts` the ground of each wheel is moved up
    and down, with `road_inputs` its height and its friction are inputs; with `tilt` the road is
    inclined sideways and ahead by inputs."""
    tracks = terrain if isinstance(terrain, tuple) else (terrain or flat(),) * 2
    s = CarSystem(car, statics, speed, tracks)
    torques = {
        f"{name}.{kind}": ("F*L", label.format(name))
        for kind, label in TORQUES.items()
        for name in CORNERS
    }
    usual = _driver_input_ranges(car)
    for name, (units, label) in (INPUTS | torques).items():
        s.add_input(name, units=units, label=label, range=usual[name.rpartition(".")[2]])
    s.set_run(inputs=dict.fromkeys(INPUTS | torques, 0.0))
    chassis = _add_car_body(s, car)
    body_parts = chassis_parts(s, car, chassis)
    _add_shapes(s, car, chassis)
    if tilt:
        tilt_label = "inclination of the road about its direction, left side up"
        s.add_input("tilt", units="deg", label=tilt_label, default=0.0, range=(0, 60))
        s.add_input(
            "grade",
            units="deg",
            label="inclination of the road ahead, uphill",
            default=0.0,
            range=(-20, 20),
        )
    inclined = "-sin(grade)*[n1] - cos(grade)*(sin(tilt)*[n2] + cos(tilt)*[n3])"
    s.add_gravity(inclined if tilt else None)
    commands = {name: name for name in INPUTS}
    if driver is not None:
        commands |= driver.add_to_system(s, car, statics, chassis)
        s.set_run(inputs={"speed_set": speed})
    else:
        commands = add_cruise_control(s, car, statics, commands, speed)
    rack = _add_steering(s, car, chassis, commands["steer"])
    wheels, mounts = {}, {}
    compliances = {axle.name: axle_compliance(car, statics, axle) for axle in (car.front, car.rear)}
    for axle in (car.front, car.rear):
        _add_axle_parameters(s, axle, statics)
        add_compliance_parameters(s, axle.name, compliances[axle.name].compliance)

    def ground_of(wheel: str, side: int) -> Ground:
        ground = tracks[0 if side > 0 else 1]
        if posts:
            ground = _add_post(s, wheel, ground)
        return _add_road_inputs(s, wheel, ground) if road_inputs else ground

    for (name, (axle_name, side)), travel in zip(CORNERS.items(), statics.travel, strict=True):
        axle = car.axle(axle_name)
        axle_loads = [
            load
            for load, (load_axle, _) in zip(statics.wheel_load, CORNERS.values(), strict=True)
            if load_axle == axle_name
        ]
        ground = effective_road(axle, sum(axle_loads) / 2, ground_of(name, side))
        if not axle.carries_both_wheels:
            mounts[name] = add_independent_suspension(
                s, name, axle, side, body_parts[axle_name], rack, exact
            )
        elif side > 0:
            mounts |= add_dependent_suspension(s, axle, body_parts[axle_name], exact)
        wheels[name] = _add_corner_forces(
            s, name, axle, side, body_parts[axle_name], mounts[name], ground, compliances[axle_name]
        )
        if car.axle(axle_name).bushes:
            _add_bush_rate(
                s,
                name,
                car.axle(axle_name),
                body_parts[axle_name],
                compliances[axle_name].rate,
                travel,
            )
    for (name, (axle_name, _)), load in zip(CORNERS.items(), statics.wheel_load, strict=True):
        add_rolling_friction(s, name, car.axle(axle_name), wheels[name], load)
        if axle_name == "front" and car.front.is_steered:
            add_parking_torque(s, name, car.front)
    for axle in (car.front, car.rear):
        _add_anti_roll_bar(s, axle, body_parts[axle.name], statics.bar_stiffness[axle.name], mounts)
    build_added_axles(s, car, statics, body_parts, ground_of, mounts)
    for axle in (car.front, car.rear):
        add_self_levelling(s, axle, mounts)
    carriers = {name: mount.carrier for name, mount in mounts.items()}
    controls = add_controllers(s, car, statics)
    add_brakes(s, car, wheels, carriers, body_parts, commands["brake"], controls.brake)
    add_drive(
        s,
        car,
        wheels,
        carriers,
        body_parts,
        commands["drive"],
        _weight_torque(car, statics),
        controls,
    )
    add_aerodynamic_forces(s, car, body_parts, statics)
    add_trailers(s, car, statics, body_parts["rear"], tracks)
    add_car_channels(s, car, statics, chassis, commands["steer"])
    add_rear_roll(s, body_parts)
    start = rolling_initial_state(car, statics, speed, plane_below_wheels(statics, tracks)) | (
        {} if driver is None else driver.initial_state(car, statics)
    )
    s.set_run(t_end=5, step=0.001, output_every=10, method="rk4", initial=start)
    s.description.run.shown = FIRST[:6]
    s.description.run.start_speed = StartSpeed(float(speed), _rolling_speed_terms(car, statics))
    return s


def _rolling_speed_terms(car: CarData, statics: CarStatics) -> dict[str, tuple[float, ...]]:
    """Speeds of a car that rolls ahead, by powers of its speed: of the wheels a fit, as tyres grow
    with it."""
    speeds = np.array(ROLLING_SPEEDS)
    rows = [rolling_initial_state(car, statics, v) for v in ROLLING_SPEEDS]
    coefficients = {}
    for name in (x for x in rows[0] if x.startswith("u(") or x.endswith(FOLLOWING)):
        powers = speeds[:, None] ** [1, 2, 3] if name.endswith(".wheel)") else speeds[:, None]
        coefficients[name] = tuple(
            np.linalg.lstsq(powers, np.array([r[name] for r in rows]), rcond=None)[0].tolist()
        )
    return coefficients


def _weight_torque(car: CarData, statics: CarStatics) -> float:
    """The weight of the car times the mean radius of its wheels, N m."""
    radius = sum(unloaded_tyre_radius(car.axle(a)) for a, _ in CORNERS.values()) / 4
    return statics.mass * GRAVITY * radius


def _driver_input_ranges(car: CarData) -> dict[str, tuple[float, float]]:
    """What a driver does with a car: deg of the steering wheel, N m; torques of one wheel are a
    quarter."""
    drive, brake = max_drive_torque(car.sections) or DRIVE, car.sections.brakes.torque or BRAKE
    all_wheels = {
        "steer": (-WHEEL_TURN, WHEEL_TURN),
        "drive": (-drive / 2, drive),
        "brake": (0.0, brake),
    }
    return all_wheels | {"drive_torque": (-drive / 4, drive / 4), "brake_torque": (0.0, brake / 4)}


def _add_car_body(s: System, car: CarData) -> BodyHandle:
    sprung = car.sprung
    add_si_parameter(s, "m_body", sprung.mass, "M", "sprung mass with loads")
    front, rear = _drawn_wheel_centres(car)
    max_shift = abs(float(front[0] - rear[0])) * MOVED
    for axis, value, shift in zip("xyz", sprung.cg, (max_shift, max_shift / 4, max_shift)):
        usual = (
            value - (min(shift, value / 2) if axis == "z" and value > 0 else shift),
            value + shift,
        )
        add_si_parameter(
            s, f"cg_{axis}", value, "L", f"mass centre of the sprung mass, {axis}", usual
        )
    mass: Any = "m_body"
    inertia: Any = 0
    if car.frame is None:
        inertia = inertia_parameters(s, sprung.inertia, "", "the sprung mass")
    else:
        mass = 0  # its parts have it
    return s.add_body(
        "chassis",
        translate=(1, 2, 3),
        rotate=(3, 2, 1),
        mass=mass,
        cm=("cg_x", "cg_y", "cg_z"),
        inertia=inertia,
        label="body of the car",
    )


def _add_shapes(s: System, car: CarData, chassis: BodyHandle) -> None:
    """The shell of the car by its size, through which its suspensions are seen."""
    front, rear = _drawn_wheel_centres(car)
    position = (float(front[0]), 0, float((front[2] + rear[2]) / 2))
    style: Any = car.sections.body.style
    s.add_shape(
        body=chassis,
        kind=style,
        size=shell_size(car),
        at=position,
        color=PAINT,
        label="body",
        opacity=SHELL,
    )


def shell_size(car: CarData) -> tuple[float, ...]:
    """Length, width, height, wheelbase, radius of the wheels and front overhang of the shell, m."""
    front, rear = _drawn_wheel_centres(car)
    body, wheelbase = car.sections.body, float(front[0] - rear[0])
    overhang = max(0.1, (body.length - wheelbase) * OVERHANG)
    return (
        body.length,
        body.width,
        body.height,
        wheelbase,
        unloaded_tyre_radius(car.front),
        overhang,
    )


def _drawn_wheel_centres(car: CarData) -> tuple[np.ndarray, np.ndarray]:
    """The centres of the left wheels as drawn, front and rear, m."""
    front, rear = (
        np.add(a.linkage.points[a.linkage.chain.hub], a.record.at) for a in (car.front, car.rear)
    )
    return front, rear


def unloaded_tyre_radius(axle: AxleData) -> float:
    """The radius of a tyre without load, m."""
    return float(axle.tyre.free_radius(ARRAYS, 0.0))


def tyre_width(axle: AxleData) -> float:
    """The width of a tyre, m; of one that does not say, a usual fraction of its radius."""
    tyre: Any = axle.tyre
    width = getattr(tyre, "width", None) or getattr(tyre, "coefficients", {}).get("WIDTH")
    return float(width) if width else 0.65 * unloaded_tyre_radius(axle)


def _add_steering(s: System, car: CarData, chassis: BodyHandle, steer: str) -> BodyHandle:
    """A rack on the elasticity of column and assistance, which follows the steering wheel."""
    steering = car.sections.steering
    position = tuple(float(x) for x in rack_centre(car))
    rack = s.add_body(
        "rack",
        parent=chassis,
        translate=2,
        joint_at=position,
        mass=add_si_parameter(s, "m_rack", steering.rack_mass, "M", "mass of the rack"),
        inertia=0,
        label="steering rack",
    )
    rack_length = 2 * RACK * abs(float(_drawn_wheel_centres(car)[0][1]))
    s.add_shape(
        body=rack,
        kind="cylinder",
        size=(0.018, rack_length),
        axis=2,
        color="#5f6a75",
        label="steering rack",
    )
    sign = 1 if rack_steers_left(car) else -1
    add_si_parameter(
        s,
        "rack_per_turn",
        sign * steering.rack_per_turn,
        "L",
        "rack travel of one turn, to the left",
    )
    add_si_parameter(s, "k_steer", steering.stiffness, "F*L/A", "stiffness of the column")
    add_si_parameter(
        s,
        "assist",
        steering.assist,
        "1",
        "torque of the assistance over that of the driver",
        (0.0, max(10.0, 2 * steering.assist)),
    )
    add_si_parameter(
        s, "t_steer", steering.damping_time, "T", "damping over stiffness of column and assistance"
    )
    add_si_parameter(s, "f_rack", steering.friction, "F", "friction of the rack")
    s.require_positive("k_steer")
    s.define("pinion", "rack_per_turn/(2*pi)")
    s.define("column", f"k_steer*(({steer}) - q(rack)/pinion)")
    rack_force = "(1 + assist)*(column - t_steer*k_steer*u(rack)/pinion)/pinion"
    if steering.friction > 0:
        rack_force += f" - f_rack*tanh(u(rack)/{SLIDES})"
    s.add_force(
        "rack.push",
        magnitude=rack_force,
        direction=chassis[2],
        at=rack.origin,
        against=rack.joint,
        label="force of column and assistance on the rack",
    )
    return rack


def _add_post(s: System, name: str, ground: Ground) -> Ground:
    """The ground of a wheel on a post: how high it is is a state, how fast it rises an input."""
    s.add_input(f"{name}.post_speed", units="L/T", label=f"speed of the post below {name}, up")
    s.set_run(inputs={f"{name}.post_speed": 0.0})
    s.add_state(
        f"{name}.post",
        rate=f"{name}.post_speed",
        units="L",
        label=f"height of the post below {name}",
    )
    return ground.lifted_by(f"{name}.post", f"{name}.post_speed")


def _add_road_inputs(s: System, name: str, ground: Ground) -> Ground:
    """The ground of a wheel as another program gives it."""
    height, friction = f"{name}.road", f"{name}.friction"
    s.add_input(
        height, units="L", label=f"height of the road below {name} over the terrain", default=0.0
    )
    s.add_input(
        friction,
        units="1",
        label=f"friction of the road below {name} over that of the tyre data",
        default=1.0,
    )
    return ground.lifted_by(height, f"dxdt({height})").with_friction_factor(f"max(0, {friction})")


def _add_axle_parameters(s: System, axle: AxleData, statics: CarStatics) -> None:
    name, record = axle.name, axle.record
    add_si_parameter(s, f"toe_{name}", record.toe, "A", f"toe of the {name} wheels as built")
    add_si_parameter(
        s, f"camber_{name}", record.camber, "A", f"camber of the {name} wheels as built"
    )
    if record.dual_spacing is not None:
        add_si_parameter(
            s,
            f"dual_{name}",
            record.dual_spacing,
            "L",
            f"distance of the dual tyres of a {name} wheel",
        )
    length, force = static_spring_state(axle, statics)
    add_si_parameter(s, f"l_static_{name}", length, "L", f"static length of the {name} springs")
    add_si_parameter(s, f"f_static_{name}", force, "F", f"static force of the {name} springs")
    add_si_parameter(
        s,
        f"perch_{name}",
        record.spring.perch,
        "L",
        f"spring perch offset, left up and right down, {name}",
    )
    if record.spring.friction > 0:
        add_si_parameter(
            s,
            f"f_leaves_{name}",
            record.spring.friction,
            "F",
            f"friction of the {name} leaf springs",
        )
        label = f"deflection over which the friction of the {name} leaf springs turns round to 1/e"
        add_si_parameter(s, f"l_leaves_{name}", record.spring.friction_travel, "L", label)
        s.require_positive(f"l_leaves_{name}")
    if record.spring.air is not None:
        add_air_parameters(s, axle, length)
    elif record.spring.stiffness is not None:
        add_si_parameter(
            s, f"k_{name}", record.spring.stiffness, "F/L", f"stiffness of the {name} springs"
        )
    else:
        assert record.spring.table is not None
        s.define(f"spring_{name}", table(*zip(*record.spring.table)))
        add_si_parameter(
            s, f"l_{name}", statics.free_length[name], "L", f"free length of the {name} springs"
        )
        add_si_parameter(s, f"k_{name}", 1.0, "1", f"factor of the {name} springs")
    for word, stop_keys in (("bump", record.bump_stop), ("rebound", record.rebound_stop)):
        if stop_keys is not None:
            add_si_parameter(
                s,
                f"gap_{word}_{name}",
                stop_keys.gap,
                "L",
                f"gap of the {name} {word} stops from the drawn length",
            )
            add_si_parameter(
                s,
                f"k_{word}_{name}",
                stop_keys.stiffness,
                "F/L",
                f"stiffness of the {name} {word} stops",
            )
            add_si_parameter(
                s,
                f"k3_{word}_{name}",
                stop_keys.cubic,
                "F/L**3",
                f"cubic stiffness of the {name} {word} stops",
            )
    damper = record.damper
    if damper.table is not None:
        s.define(f"damper_{name}", table(*zip(*damper.table)))
        add_si_parameter(s, f"c_{name}", 1.0, "1", f"factor of the {name} dampers")
    elif damper.coefficient is not None:
        add_si_parameter(
            s, f"c_{name}", damper.coefficient, "F*T/L", f"damping of the {name} dampers"
        )
    else:
        assert damper.compression is not None and damper.rebound is not None
        add_si_parameter(
            s,
            f"c_bump_{name}",
            damper.compression,
            "F*T/L",
            f"damping of the {name} dampers in compression",
        )
        add_si_parameter(
            s,
            f"c_rebound_{name}",
            damper.rebound,
            "F*T/L",
            f"damping of the {name} dampers in rebound",
        )


def _add_corner_forces(
    s: System,
    name: str,
    axle: AxleData,
    side: int,
    chassis: BodyHandle,
    mount: WheelCarrier,
    ground: Ground,
    compliance: AxleCompliance,
) -> BodyHandle:
    """Spring, stops, damper, wheel and tyre of a corner, on its carrier."""
    record = axle.record
    lateral_sign = "" if side > 0 else "-"
    toe, camber = f"toe_{axle.name}", f"camber_{axle.name}"
    axis = (
        f"{lateral_sign}sin({toe})*cos({camber})",
        f"cos({toe})*cos({camber})",
        f"{'-' if side > 0 else ''}sin({camber})",
    )
    cross = record.wheel.cross_inertia or record.wheel.spin_inertia / 2
    hub, middle = add_compliance_knuckles(
        s, name, axle.name, compliance, side, mount.carrier, mount.centre
    )
    wheel = s.add_body(
        f"{name}.wheel",
        parent=hub,
        rotate=2,
        rotation_axis=axis,
        joint_at=middle,
        mass=record.wheel.mass,
        inertia=(cross, record.wheel.spin_inertia, cross),
        label=f"{CORNER_WORDS[name]} wheel",
    )
    _add_spring(s, name, axle, mount)
    if record.anti_roll_bar is not None:
        mount.hard_point(record.anti_roll_bar.at)
    if axle.bushes and (record.anti_roll_bar is None or record.anti_roll_bar.at != CENTRE):
        mount.hard_point(CENTRE)
    tyre = slip_with_parameters(s, axle.tyre, axle.name) if side > 0 else _opposite_side_tyre(axle)
    spacing = None if record.dual_spacing is None else f"dual_{axle.name}"
    add_tyres(s, name, side, wheel, ground, tyre, spacing)
    for y in axle.tyre_offsets:
        size = (unloaded_tyre_radius(axle), tyre_width(axle))
        s.add_shape(
            body=wheel, kind="wheel", size=size, at=(0, y, 0), axis=2, label=f"wheel {name}"
        )
    add_corner_channels(s, name, side, chassis, wheel, mount, axle)
    return wheel


def _opposite_side_tyre(axle: AxleData) -> Any:
    """The tyre of the other side, with the parameters that the first has already."""
    return tyre_with_parameter_names(
        axle.tyre, {key: f"{key}_{axle.name}" for key in axle.tyre.scales}, axle.name
    )


def _add_spring(s: System, name: str, axle: AxleData, mount: WheelCarrier) -> None:
    m, record = FORMULAS, axle.record
    x, x0, v = (formula_for_name(n) for n in ("x", "x0", "v"))
    spring_force = _spring_law(axle, CORNERS[name][1] * formula_for_name(f"perch_{axle.name}") - x)
    for word, stop_keys, sign in (
        ("bump", record.bump_stop, 1),
        ("rebound", record.rebound_stop, -1),
    ):
        if stop_keys is not None:
            gap, k, k3 = (
                formula_for_name(f"{symbol}_{word}_{axle.name}") for symbol in ("gap", "k", "k3")
            )
            spring_force = spring_force + sign * bump_stop_force(m, gap, k, k3, sign * (x0 - x))
    end_points = mount.hard_point(axle.spring[0]), mount.hard_point(axle.spring[1])
    if record.spring.friction > 0:
        spring_force = spring_force + formula_for_name(
            _add_leaf_friction(s, name, axle, [end.name for end in end_points])
        )
    s.add_strut(
        f"{name}.spring",
        magnitude=spring_force,
        between=end_points,
        label=f"spring and stops {name}",
    )
    end_points = mount.hard_point(axle.damper[0]), mount.hard_point(axle.damper[1])
    damper, c = record.damper, f"c_{axle.name}"
    if damper.table is not None:
        force: Any = f"{c}*damper_{axle.name}(-v)"
    elif damper.coefficient is not None:
        force = f"-{c}*v"
    else:
        force = two_way_damper_force(
            m,
            formula_for_name(f"c_bump_{axle.name}"),
            formula_for_name(f"c_rebound_{axle.name}"),
            v,
        )
    s.add_strut(f"{name}.damper", magnitude=force, between=end_points, label=f"damper {name}")


def _add_leaf_friction(s: System, name: str, axle: AxleData, end_names: Sequence[str]) -> str:
    """The friction of the leaves of a spring, a state: it nears its largest value in the sense of
    motion exponentially over the deflection (Fancher, Ervin, MacAdam & Winkler, SAE 800905, 1980).
    At rest it fades slowly: any friction would do there, and steady states of the car would not be
    unique."""
    friction, shortens = f"{name}.leaves", f"{name}.shortens"
    s.define(shortens, f"-dxdt(mag(pos({end_names[0]}) - pos({end_names[1]})))")
    rate = (
        f"(f_leaves_{axle.name}*{shortens} - {friction}*abs({shortens}))/l_leaves_{axle.name} - "
        f"{friction}/{FADES}"
    )
    s.add_state(
        friction,
        rate=rate,
        units="F",
        label=f"friction of the leaf spring of {name}, compression positive",
    )
    return friction


def _spring_law(axle: AxleData, shorter: Formula) -> Any:
    """The force of a spring whose length is `-shorter`. Another rate turns its law about the force
    with which the car stands, so that the car keeps its height."""
    k, length, force = (
        formula_for_name(f"{symbol}_{axle.name}") for symbol in ("k", "l_static", "f_static")
    )
    if axle.record.spring.air is not None:
        return air_spring_force(axle, force, length + shorter)
    if axle.record.spring.stiffness is not None:
        return force + k * (length + shorter)
    free_length, law = formula_for_name(f"l_{axle.name}"), f"spring_{axle.name}"
    return force + k * (
        call_formula(law, free_length + shorter) - call_formula(law, free_length - length)
    )


def _add_bush_rate(
    s: System, name: str, axle: AxleData, chassis: BodyHandle, rate: float, travel: float
) -> None:
    """What bushes add to the spring of a wheel, as they are turned by its travel from where it
    stands."""
    k = add_si_parameter(
        s, f"k_bushes_{axle.name}", rate, "F/L", f"rate of the {axle.name} bushes at a wheel"
    )
    zero_travel = add_si_parameter(
        s,
        f"z_bushes_{name}",
        travel,
        "L",
        f"wheel travel of {name} at which its bushes do not push",
    )
    s.add_force(
        f"{name}.bushes",
        magnitude=f"-{k}*(q({name}) - {zero_travel})",
        direction=chassis[3],
        at=f"{name}.{CENTRE}",
        against=chassis.origin,
        label=f"bushes of {name}, at the wheel",
    )


def _add_anti_roll_bar(
    s: System,
    axle: AxleData,
    chassis: BodyHandle,
    stiffness: float,
    mounts: Mapping[str, WheelCarrier],
) -> None:
    """Forces of the anti-roll bar on its ends, across the chassis, from the difference of their
    heights."""
    bar = axle.record.anti_roll_bar
    if bar is None:
        return
    k = add_si_parameter(
        s,
        f"k_bar_{axle.name}",
        stiffness,
        "F/L",
        f"stiffness of the {axle.name} anti-roll bar between its ends",
    )
    left_corner, right_corner = (f"{axle.name[0]}{side}" for side in "lr")
    end_names = {c: mounts[c].hard_point(bar.at).name for c in (left_corner, right_corner)}
    s.define(
        f"bar_{axle.name}",
        f"{k}*dot(pos({end_names[left_corner]}) - pos({end_names[right_corner]}), "
        f"[{chassis.name}3])",
    )
    for corner, sign in ((left_corner, "-"), (right_corner, "")):
        s.add_force(
            f"{corner}.bar",
            magnitude=f"{sign}bar_{axle.name}",
            direction=chassis[3],
            at=end_names[corner],
            against=chassis.origin,
            label=f"anti-roll bar on {corner}",
        )
    add_axle_channels(s, axle.name)


@dataclass(frozen=True)
class RoadPlane:
    """The plane below a car that begins at the origin: its height there, and its rise per distance
    ahead and to the left."""

    height: float = 0.0
    ahead: float = 0.0
    left: float = 0.0


def plane_below_wheels(statics: CarStatics, tracks: tuple[Ground, Ground]) -> RoadPlane:
    """The plane through the ground below the four wheels."""
    heights = []
    for (x, y, _), (_, side) in zip(statics.contact_points, CORNERS.values(), strict=True):
        ground = tracks[0 if side > 0 else 1]
        height = (
            ground.height(float(x))
            if isinstance(ground, Terrain)
            else ground.height(float(x), float(y))
        )
        heights.append(float(height))
    rows = np.column_stack([np.ones(4), statics.contact_points[:, :2]])
    return RoadPlane(*np.linalg.lstsq(rows, np.array(heights), rcond=None)[0].tolist())


def rolling_initial_state(
    car: CarData, statics: CarStatics, speed: float, ground: RoadPlane | None = None
) -> dict[str, float]:
    """Initial values: as it stands, parallel to the ground, ahead at a speed."""
    pitch, roll = statics.pitch, statics.roll
    plane = ground or RoadPlane()
    slope_factor = np.sqrt(1 + plane.ahead**2 + plane.left**2)
    start = {
        "q(chassis, 3)": plane.height + statics.height * slope_factor,
        "q(chassis, 5)": pitch - np.arctan(plane.ahead),
        "q(chassis, 6)": roll + np.arctan(plane.left / np.sqrt(1 + plane.ahead**2)),
    }
    start |= {
        "u(chassis, 1)": speed * np.cos(pitch),
        "u(chassis, 3)": speed * np.sin(pitch) * np.cos(roll),
    }
    start["u(chassis, 2)"] = speed * np.sin(pitch) * np.sin(roll)
    for (name, (axle_name, _)), travel, load in zip(
        CORNERS.items(), statics.travel, statics.wheel_load, strict=True
    ):
        spin = rolling_spin(car.axle(axle_name), load, speed)
        start |= {f"u({name}.wheel)": spin} | (
            {} if car.axle(axle_name).carries_both_wheels else {f"q({name})": travel}
        )
    for axle, i in ((car.front, 0), (car.rear, 2)):
        start |= (
            axle_coordinates(axle, statics.travel[i], statics.travel[i + 1])
            if axle.carries_both_wheels
            else {}
        )
    drive = car.sections.drive
    front_fraction = front_drive_fraction(drive)
    spins = front_fraction * start["u(fl.wheel)"] + (1 - front_fraction) * start["u(rl.wheel)"]
    if drive.map is not None and len(drive.gears or ()) > 1:
        start[GEAR] = light_load_gear(drive, spins)
    if has_independent_motor(drive):
        start[MOTOR] = motor_speed(drive, spins)
    if drive.clutch is not None or (has_clutch(drive) and speed * np.sign(drive.gear + 0.5) > 0):
        start[CLUTCH] = 1.0
    if car.frame is not None:
        start[f"q({FRAME})"] = statics.twist
    start |= added_axle_initial_state(car, statics, speed) | trailer_initial_state(
        car, statics, speed
    )
    return {key: float(value) for key, value in start.items() if value != 0}
