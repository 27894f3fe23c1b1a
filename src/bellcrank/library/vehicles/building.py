"""From a car as data to a System: body, four corners, steering, brakes, drive, air; inputs steer, drive and brake, and
brake and drive torques of single wheels.

Corners are called fl, fr, rl, rr: bodies <corner> (the carrier, with the travel as coordinate) and <corner>.wheel. A
solid axle is one body, <axle>.axle, a twist beam has <axle>.left_arm and <axle>.right_arm; coordinates of the first are
the mean travel and the roll of the wheels. What is worth changing between runs is a parameter, those of an axle end in
_front or _rear.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bellcrank.api.system import System
from bellcrank.describe.handles import BodyHandle
from bellcrank.describe.tyre_patch import FORMULAS, name_of
from bellcrank.errors import ModelError, did_you_mean
from bellcrank.expr.table import table
from bellcrank.library.driven import FADES, named_slip, with_names
from bellcrank.library.terrain import Surface, Terrain, flat
from bellcrank.library.tyres.steady import ARRAYS
from bellcrank.library.vehicles.added_axles import add_added_axles, rolling_axles
from bellcrank.library.vehicles.air import add_air
from bellcrank.library.vehicles.air_springs import add_air_parameters, add_levelling, air_law
from bellcrank.library.vehicles.axles import FittedAxle
from bellcrank.library.vehicles.braking import add_brakes
from bellcrank.library.vehicles.bushes import Gives, gives
from bellcrank.library.vehicles.channels import FIRST, add_axle_channels, add_car_channels, add_corner_channels
from bellcrank.library.vehicles.controllers.adding import add_controllers, with_cruise
from bellcrank.library.vehicles.coupling import MOTOR
from bellcrank.library.vehicles.data import CORNER_WORDS, CORNERS, GRAVITY, CarData
from bellcrank.library.vehicles.driveline import add_drive
from bellcrank.library.vehicles.enveloping import effective_road
from bellcrank.library.vehicles.figures import turns_left
from bellcrank.library.vehicles.frame_building import FRAME, add_rear_roll, chassis_parts, inertia_parameters
from bellcrank.library.vehicles.gearbox import CLUTCH, GEAR
from bellcrank.library.vehicles.giving import add_compliance_parameters, add_knuckles
from bellcrank.library.vehicles.laws import stop, two_way
from bellcrank.library.vehicles.motor import drive_share, gear_at, has_clutch, is_coupled, largest_torque, spins_at
from bellcrank.library.vehicles.mounts import Mount, add_axle, add_independent, axle_start
from bellcrank.library.vehicles.parameters import put
from bellcrank.library.vehicles.rest import Stand, rack_place, spring_at_rest
from bellcrank.library.vehicles.standstill import add_parking_torque, add_rolling_friction
from bellcrank.library.vehicles.trailer_building import FOLLOWING, add_trailers, rolling_trailers
from bellcrank.library.vehicles.wheel_tyres import add_tyres, rolling_spin
from bellcrank.model.formula import Formula, call
from bellcrank.model.records import StartSpeed

Ground = Terrain | Surface
CENTRE = "wheel_centre"
OVERHANG = 0.47  # fraction of the length outside the wheelbase that lies before the front axle, as drawn
PAINT, SHELL = "#b3392f", 0.35  # colour and opacity of the body as drawn
ROLLING_SPEEDS = (5.0, 10.0, 20.0, 30.0, 45.0, 60.0, 80.0)  # m/s, by which a start at any speed is known
RACK = 0.45  # length of the rack as drawn, over the track
MOVED = 0.2  # of the wheelbase, by which the slider of a page moves the mass centre
SLIDES = 0.005  # m/s, at which the friction of the rack is nearly whole
INPUTS = {
    "steer": ("deg", "steering-wheel angle, positive to the left"),
    "drive": ("F*L", "drive torque, sum of all wheels"),
    "brake": ("F*L", "brake torque, sum of all wheels"),
}


WHEEL_TURN, DRIVE, BRAKE = 90.0, 2000.0, 5000.0  # deg, N m: usual inputs of a car that does not give them


TORQUES = {
    "brake_torque": "brake torque of {}, added to its part of brake",
    "drive_torque": "drive torque of {}, added to its part of drive",
}
WHEEL_TORQUES = [f"{corner}.{kind}" for corner in CORNERS for kind in TORQUES]


class CarSystem(System):
    """The model of a car, with its data, how it stands, the speed (m/s) with which it begins, and the `ground` below
    its left and right wheels."""

    keeps = True
    car: Any = None  # the Car whose model it is
    made: Any = None  # what it contained when that had made it

    def __init__(self, data: CarData, at_rest: Stand, speed: float, ground: tuple[Ground, Ground]) -> None:
        super().__init__(data.sections.name, axes="ISO 8855")
        self.data, self.at_rest, self.speed, self.ground = data, at_rest, speed, ground

    def control(self, torque: str, formula: Any) -> None:
        """Let a controller in the model give the torque of a wheel, which is an input otherwise.

        Parameters
        ----------
        torque : str
            ``"<corner>.brake_torque"`` or ``"<corner>.drive_torque"``, with the corners fl, fr, rl and rr.
        formula : str or expression
            The torque (N m), of anything that formulas may contain, such as user-defined states and the driver's
            inputs.
        """
        if torque not in WHEEL_TORQUES:
            raise ModelError(
                f"control: no torque of a wheel is called '{torque}'.{did_you_mean(str(torque), WHEEL_TORQUES)} There "
                f"are {', '.join(WHEEL_TORQUES)}.",
                self.name,
            )
        if torque in self.description.definitions:
            raise ModelError(f"control: '{torque}' is given by a controller already; give the sum of both", self.name)
        self.description.variables[:] = [v for v in self.description.variables if v.name != torque]
        self.description.run.inputs.pop(torque, None)
        self.define(torque, formula)


def build(
    car: CarData,
    at_rest: Stand,
    *,
    speed: float = 0.0,
    exact: bool = True,
    terrain: Ground | tuple[Ground, Ground] | None = None,
    driver: Any = None,
    posts: bool = False,
    road_inputs: bool = False,
    tilt: bool = False,
) -> CarSystem:
    """The model of a car that rolls ahead at `speed` (m/s) from where it stands; `terrain` may be one for the left
    wheels and one for the right; with `posts` the ground of each wheel is moved up and down, with `road_inputs` its
    height and its friction are inputs; with `tilt` the road is inclined sideways and ahead by inputs."""
    tracks = terrain if isinstance(terrain, tuple) else (terrain or flat(),) * 2
    s = CarSystem(car, at_rest, speed, tracks)
    torques = {f"{name}.{kind}": ("F*L", label.format(name)) for kind, label in TORQUES.items() for name in CORNERS}
    usual = _usual_inputs(car)
    for name, (units, label) in (INPUTS | torques).items():
        s.add_input(name, units=units, label=label, range=usual[name.rpartition(".")[2]])
    s.set_run(inputs=dict.fromkeys(INPUTS | torques, 0.0))
    chassis = _add_body(s, car)
    parts = chassis_parts(s, car, chassis)
    _add_shapes(s, car, chassis)
    if tilt:
        words = "inclination of the road about its direction, left side up"
        s.add_input("tilt", units="deg", label=words, default=0.0, range=(0, 60))
        s.add_input("grade", units="deg", label="inclination of the road ahead, uphill", default=0.0, range=(-20, 20))
    inclined = "-sin(grade)*[n1] - cos(grade)*(sin(tilt)*[n2] + cos(tilt)*[n3])"
    s.add_gravity(inclined if tilt else None)
    asked = {name: name for name in INPUTS}
    if driver is not None:
        asked |= driver.add(s, car, at_rest, chassis)
        s.set_run(inputs={"speed_set": speed})
    else:
        asked = with_cruise(s, car, at_rest, asked, speed)
    rack = _add_steering(s, car, chassis, asked["steer"])
    wheels, mounts = {}, {}
    giving = {axle.name: gives(car, at_rest, axle) for axle in (car.front, car.rear)}
    for axle in (car.front, car.rear):
        _add_axle_parameters(s, axle, at_rest)
        add_compliance_parameters(s, axle.name, giving[axle.name].compliance)

    def ground_of(wheel: str, side: int) -> Ground:
        ground = tracks[0 if side > 0 else 1]
        if posts:
            ground = _add_post(s, wheel, ground)
        return _add_road_inputs(s, wheel, ground) if road_inputs else ground

    for (name, (which, side)), travel in zip(CORNERS.items(), at_rest.travel, strict=True):
        axle = car.axle(which)
        carried = [load for load, (own, _) in zip(at_rest.load, CORNERS.values(), strict=True) if own == which]
        ground = effective_road(axle, sum(carried) / 2, ground_of(name, side))
        if not axle.both:
            mounts[name] = add_independent(s, name, axle, side, parts[which], rack, exact)
        elif side > 0:
            mounts |= add_axle(s, axle, parts[which], exact)
        wheels[name] = _add_corner(s, name, axle, side, parts[which], mounts[name], ground, giving[which])
        if car.axle(which).bushes:
            _add_bushes(s, name, car.axle(which), parts[which], giving[which].rate, travel)
    for (name, (which, _)), load in zip(CORNERS.items(), at_rest.load, strict=True):
        add_rolling_friction(s, name, car.axle(which), wheels[name], load)
        if which == "front" and car.front.steered:
            add_parking_torque(s, name, car.front)
    for axle in (car.front, car.rear):
        _add_bar(s, axle, parts[axle.name], at_rest.bar[axle.name], mounts)
    add_added_axles(s, car, at_rest, parts, ground_of, mounts)
    for axle in (car.front, car.rear):
        add_levelling(s, axle, mounts)
    carriers = {name: mount.carrier for name, mount in mounts.items()}
    controls = add_controllers(s, car, at_rest)
    add_brakes(s, car, wheels, carriers, parts, asked["brake"], controls.brake)
    add_drive(s, car, wheels, carriers, parts, asked["drive"], _weight(car, at_rest), controls)
    add_air(s, car, parts, at_rest)
    add_trailers(s, car, at_rest, parts["rear"], tracks)
    add_car_channels(s, car, at_rest, chassis, asked["steer"])
    add_rear_roll(s, parts)
    start = rolling(car, at_rest, speed, ground_below(at_rest, tracks)) | (
        {} if driver is None else driver.start(car, at_rest)
    )
    s.set_run(t_end=5, step=0.001, output_every=10, method="rk4", initial=start)
    s.description.run.shown = FIRST[:6]
    s.description.run.start_speed = StartSpeed(float(speed), _by_speed(car, at_rest))
    return s


def _by_speed(car: CarData, at_rest: Stand) -> dict[str, tuple[float, ...]]:
    """Speeds of a car that rolls ahead, by powers of its speed: of the wheels a fit, as tyres grow with it."""
    given = np.array(ROLLING_SPEEDS)
    rows = [rolling(car, at_rest, v) for v in ROLLING_SPEEDS]
    found = {}
    for name in (x for x in rows[0] if x.startswith("u(") or x.endswith(FOLLOWING)):
        powers = given[:, None] ** [1, 2, 3] if name.endswith(".wheel)") else given[:, None]
        found[name] = tuple(np.linalg.lstsq(powers, np.array([r[name] for r in rows]), rcond=None)[0].tolist())
    return found


def _weight(car: CarData, at_rest: Stand) -> float:
    """The weight of the car times the mean radius of its wheels, N m."""
    radius = sum(tyre_radius(car.axle(a)) for a, _ in CORNERS.values()) / 4
    return at_rest.mass * GRAVITY * radius


def _usual_inputs(car: CarData) -> dict[str, tuple[float, float]]:
    """What a driver does with a car: deg of the steering wheel, N m; torques of one wheel are a quarter."""
    drive, brake = largest_torque(car.sections) or DRIVE, car.sections.brakes.torque or BRAKE
    all_wheels = {"steer": (-WHEEL_TURN, WHEEL_TURN), "drive": (-drive / 2, drive), "brake": (0.0, brake)}
    return all_wheels | {"drive_torque": (-drive / 4, drive / 4), "brake_torque": (0.0, brake / 4)}


def _add_body(s: System, car: CarData) -> BodyHandle:
    sprung = car.sprung
    put(s, "m_body", sprung.mass, "M", "sprung mass with loads")
    front, rear = _axle_places(car)
    reach = abs(float(front[0] - rear[0])) * MOVED
    for axis, value, far in zip("xyz", sprung.cg, (reach, reach / 4, reach)):
        usual = value - (min(far, value / 2) if axis == "z" and value > 0 else far), value + far
        put(s, f"cg_{axis}", value, "L", f"mass centre of the sprung mass, {axis}", usual)
    mass: Any = "m_body"
    inertia: Any = 0
    if car.frame is None:
        inertia = inertia_parameters(s, sprung.inertia, "", "the sprung mass")
    else:
        mass = 0  # its parts have it
    return s.add_body(
        "chassis", translate=(1, 2, 3), rotate=(3, 2, 1), mass=mass, cm=("cg_x", "cg_y", "cg_z"), inertia=inertia,
        label="body of the car",
    )  # fmt: skip


def _add_shapes(s: System, car: CarData, chassis: BodyHandle) -> None:
    """The shell of the car by its size, through which its suspensions are seen."""
    front, rear = _axle_places(car)
    at = (float(front[0]), 0, float((front[2] + rear[2]) / 2))
    style: Any = car.sections.body.style
    s.add_shape(body=chassis, kind=style, size=shell_size(car), at=at, color=PAINT, label="body", opacity=SHELL)


def shell_size(car: CarData) -> tuple[float, ...]:
    """Length, width, height, wheelbase, radius of the wheels and front overhang of the shell, m."""
    front, rear = _axle_places(car)
    body, long = car.sections.body, float(front[0] - rear[0])
    ahead = max(0.1, (body.length - long) * OVERHANG)
    return body.length, body.width, body.height, long, tyre_radius(car.front), ahead


def _axle_places(car: CarData) -> tuple[np.ndarray, np.ndarray]:
    """The centres of the left wheels as drawn, front and rear, m."""
    front, rear = (np.add(a.linkage.points[a.linkage.chain.hub], a.record.at) for a in (car.front, car.rear))
    return front, rear


def tyre_radius(axle: FittedAxle) -> float:
    """The radius of a tyre without load, m."""
    return float(axle.tyre.free_radius(ARRAYS, 0.0))


def tyre_width(axle: FittedAxle) -> float:
    """The width of a tyre, m; of one that does not say, a usual fraction of its radius."""
    tyre: Any = axle.tyre
    given = getattr(tyre, "width", None) or getattr(tyre, "coefficients", {}).get("WIDTH")
    return float(given) if given else 0.65 * tyre_radius(axle)


def _add_steering(s: System, car: CarData, chassis: BodyHandle, steer: str) -> BodyHandle:
    """A rack on the elasticity of column and assistance, which follows the steering wheel."""
    given = car.sections.steering
    at = tuple(float(x) for x in rack_place(car))
    rack = s.add_body("rack", parent=chassis, translate=2, joint_at=at, mass=put(
        s, "m_rack", given.rack_mass, "M", "mass of the rack"), inertia=0, label="steering rack")  # fmt: skip
    long = 2 * RACK * abs(float(_axle_places(car)[0][1]))
    s.add_shape(body=rack, kind="cylinder", size=(0.018, long), axis=2, color="#5f6a75", label="steering rack")
    sign = 1 if turns_left(car) else -1
    put(s, "rack_per_turn", sign * given.rack_per_turn, "L", "rack travel of one turn, to the left")
    put(s, "k_steer", given.stiffness, "F*L/A", "stiffness of the column")
    put(
        s,
        "assist",
        given.assist,
        "1",
        "torque of the assistance over that of the driver",
        (0.0, max(10.0, 2 * given.assist)),
    )
    put(s, "t_steer", given.damping_time, "T", "damping over stiffness of column and assistance")
    put(s, "f_rack", given.friction, "F", "friction of the rack")
    s.require_positive("k_steer")
    s.define("pinion", "rack_per_turn/(2*pi)")
    s.define("column", f"k_steer*(({steer}) - q(rack)/pinion)")
    push = "(1 + assist)*(column - t_steer*k_steer*u(rack)/pinion)/pinion"
    if given.friction > 0:
        push += f" - f_rack*tanh(u(rack)/{SLIDES})"
    s.add_force("rack.push", magnitude=push, direction=chassis[2], at=rack.origin, against=rack.joint,
                label="force of column and assistance on the rack")  # fmt: skip
    return rack


def _add_post(s: System, name: str, ground: Ground) -> Ground:
    """The ground of a wheel on a post: how high it is is a state, how fast it rises an input."""
    s.add_input(f"{name}.post_speed", units="L/T", label=f"speed of the post below {name}, up")
    s.set_run(inputs={f"{name}.post_speed": 0.0})
    s.add_state(f"{name}.post", rate=f"{name}.post_speed", units="L", label=f"height of the post below {name}")
    return ground.lifted_by(f"{name}.post", f"{name}.post_speed")


def _add_road_inputs(s: System, name: str, ground: Ground) -> Ground:
    """The ground of a wheel as another program gives it."""
    height, friction = f"{name}.road", f"{name}.friction"
    s.add_input(height, units="L", label=f"height of the road below {name} over the terrain", default=0.0)
    s.add_input(friction, units="1", label=f"friction of the road below {name} over that of the tyre data", default=1.0)
    return ground.lifted_by(height, f"dxdt({height})").with_friction_factor(f"max(0, {friction})")


def _add_axle_parameters(s: System, axle: FittedAxle, at_rest: Stand) -> None:
    name, record = axle.name, axle.record
    put(s, f"toe_{name}", record.toe, "A", f"toe of the {name} wheels as built")
    put(s, f"camber_{name}", record.camber, "A", f"camber of the {name} wheels as built")
    if record.dual_spacing is not None:
        put(s, f"dual_{name}", record.dual_spacing, "L", f"distance of the dual tyres of a {name} wheel")
    length, force = spring_at_rest(axle, at_rest)
    put(s, f"l_static_{name}", length, "L", f"static length of the {name} springs")
    put(s, f"f_static_{name}", force, "F", f"static force of the {name} springs")
    put(s, f"perch_{name}", record.spring.perch, "L", f"spring perch offset, left up and right down, {name}")
    if record.spring.friction > 0:
        put(s, f"f_leaves_{name}", record.spring.friction, "F", f"friction of the {name} leaf springs")
        words = f"deflection over which the friction of the {name} leaf springs turns round to 1/e"
        put(s, f"l_leaves_{name}", record.spring.friction_travel, "L", words)
        s.require_positive(f"l_leaves_{name}")
    if record.spring.air is not None:
        add_air_parameters(s, axle, length)
    elif record.spring.stiffness is not None:
        put(s, f"k_{name}", record.spring.stiffness, "F/L", f"stiffness of the {name} springs")
    else:
        assert record.spring.table is not None
        s.define(f"spring_{name}", table(*zip(*record.spring.table)))
        put(s, f"l_{name}", at_rest.free_length[name], "L", f"free length of the {name} springs")
        put(s, f"k_{name}", 1.0, "1", f"factor of the {name} springs")
    for word, stopped in (("bump", record.bump_stop), ("rebound", record.rebound_stop)):
        if stopped is not None:
            put(s, f"gap_{word}_{name}", stopped.gap, "L", f"gap of the {name} {word} stops from the drawn length")
            put(s, f"k_{word}_{name}", stopped.stiffness, "F/L", f"stiffness of the {name} {word} stops")
            put(s, f"k3_{word}_{name}", stopped.cubic, "F/L**3", f"cubic stiffness of the {name} {word} stops")
    damper = record.damper
    if damper.table is not None:
        s.define(f"damper_{name}", table(*zip(*damper.table)))
        put(s, f"c_{name}", 1.0, "1", f"factor of the {name} dampers")
    elif damper.coefficient is not None:
        put(s, f"c_{name}", damper.coefficient, "F*T/L", f"damping of the {name} dampers")
    else:
        assert damper.compression is not None and damper.rebound is not None
        put(s, f"c_bump_{name}", damper.compression, "F*T/L", f"damping of the {name} dampers in compression")
        put(s, f"c_rebound_{name}", damper.rebound, "F*T/L", f"damping of the {name} dampers in rebound")


def _add_corner(
    s: System,
    name: str,
    axle: FittedAxle,
    side: int,
    chassis: BodyHandle,
    mount: Mount,
    ground: Ground,
    giving: Gives,
) -> BodyHandle:
    """Spring, stops, damper, wheel and tyre of a corner, on its carrier."""
    record = axle.record
    out = "" if side > 0 else "-"
    toe, camber = f"toe_{axle.name}", f"camber_{axle.name}"
    axis = (f"{out}sin({toe})*cos({camber})", f"cos({toe})*cos({camber})", f"{'-' if side > 0 else ''}sin({camber})")
    cross = record.wheel.cross_inertia or record.wheel.spin_inertia / 2
    hub, middle = add_knuckles(s, name, axle.name, giving, side, mount.carrier, mount.centre)
    wheel = s.add_body(
        f"{name}.wheel", parent=hub, rotate=2, rotation_axis=axis, joint_at=middle, mass=record.wheel.mass,
        inertia=(cross, record.wheel.spin_inertia, cross), label=f"{CORNER_WORDS[name]} wheel",
    )  # fmt: skip
    _add_spring(s, name, axle, mount)
    if record.anti_roll_bar is not None:
        mount.point(record.anti_roll_bar.at)
    if axle.bushes and (record.anti_roll_bar is None or record.anti_roll_bar.at != CENTRE):
        mount.point(CENTRE)
    tyre = named_slip(s, axle.tyre, axle.name) if side > 0 else _named_again(axle)
    spacing = None if record.dual_spacing is None else f"dual_{axle.name}"
    add_tyres(s, name, side, wheel, ground, tyre, spacing)
    for y in axle.tyre_offsets:
        size = (tyre_radius(axle), tyre_width(axle))
        s.add_shape(body=wheel, kind="wheel", size=size, at=(0, y, 0), axis=2, label=f"wheel {name}")
    add_corner_channels(s, name, side, chassis, wheel, mount, axle)
    return wheel


def _named_again(axle: FittedAxle) -> Any:
    """The tyre of the other side, with the parameters that the first has already."""
    return with_names(axle.tyre, {key: f"{key}_{axle.name}" for key in axle.tyre.scales}, axle.name)


def _add_spring(s: System, name: str, axle: FittedAxle, mount: Mount) -> None:
    m, record = FORMULAS, axle.record
    x, x0, v = (name_of(n) for n in ("x", "x0", "v"))
    push = _spring_law(axle, CORNERS[name][1] * name_of(f"perch_{axle.name}") - x)
    for word, given, way in (("bump", record.bump_stop, 1), ("rebound", record.rebound_stop, -1)):
        if given is not None:
            gap, k, k3 = (name_of(f"{what}_{word}_{axle.name}") for what in ("gap", "k", "k3"))
            push = push + way * stop(m, gap, k, k3, way * (x0 - x))
    ends = mount.point(axle.spring[0]), mount.point(axle.spring[1])
    if record.spring.friction > 0:
        push = push + name_of(_add_leaves(s, name, axle, [end.name for end in ends]))
    s.add_strut(f"{name}.spring", magnitude=push, between=ends, label=f"spring and stops {name}")
    ends = mount.point(axle.damper[0]), mount.point(axle.damper[1])
    damper, c = record.damper, f"c_{axle.name}"
    if damper.table is not None:
        force: Any = f"{c}*damper_{axle.name}(-v)"
    elif damper.coefficient is not None:
        force = f"-{c}*v"
    else:
        force = two_way(m, name_of(f"c_bump_{axle.name}"), name_of(f"c_rebound_{axle.name}"), v)
    s.add_strut(f"{name}.damper", magnitude=force, between=ends, label=f"damper {name}")


def _add_leaves(s: System, name: str, axle: FittedAxle, ends: Sequence[str]) -> str:
    """The friction of the leaves of a spring, a state: it nears its largest value in the sense of motion exponentially
    over the deflection (Fancher, Ervin, MacAdam & Winkler, SAE 800905, 1980). At rest it fades slowly: any friction
    would do there, and steady states of the car would not be unique."""
    friction, shortens = f"{name}.leaves", f"{name}.shortens"
    s.define(shortens, f"-dxdt(mag(pos({ends[0]}) - pos({ends[1]})))")
    rate = f"(f_leaves_{axle.name}*{shortens} - {friction}*abs({shortens}))/l_leaves_{axle.name} - {friction}/{FADES}"
    s.add_state(friction, rate=rate, units="F", label=f"friction of the leaf spring of {name}, compression positive")
    return friction


def _spring_law(axle: FittedAxle, shorter: Formula) -> Any:
    """The force of a spring whose length is `-shorter`. Another rate turns its law about the force with which the car
    stands, so that the car keeps its height."""
    k, length, force = (name_of(f"{what}_{axle.name}") for what in ("k", "l_static", "f_static"))
    if axle.record.spring.air is not None:
        return air_law(axle, force, length + shorter)
    if axle.record.spring.stiffness is not None:
        return force + k * (length + shorter)
    free, law = name_of(f"l_{axle.name}"), f"spring_{axle.name}"
    return force + k * (call(law, free + shorter) - call(law, free - length))


def _add_bushes(s: System, name: str, axle: FittedAxle, chassis: BodyHandle, rate: float, travel: float) -> None:
    """What bushes add to the spring of a wheel, as they are turned by its travel from where it stands."""
    k = put(s, f"k_bushes_{axle.name}", rate, "F/L", f"rate of the {axle.name} bushes at a wheel")
    at = put(s, f"z_bushes_{name}", travel, "L", f"wheel travel of {name} at which its bushes do not push")
    s.add_force(
        f"{name}.bushes", magnitude=f"-{k}*(q({name}) - {at})", direction=chassis[3], at=f"{name}.{CENTRE}",
        against=chassis.origin, label=f"bushes of {name}, at the wheel",
    )  # fmt: skip


def _add_bar(s: System, axle: FittedAxle, chassis: BodyHandle, stiffness: float, mounts: Mapping[str, Mount]) -> None:
    """Forces of the anti-roll bar on its ends, across the chassis, from the difference of their heights."""
    given = axle.record.anti_roll_bar
    if given is None:
        return
    k = put(s, f"k_bar_{axle.name}", stiffness, "F/L", f"stiffness of the {axle.name} anti-roll bar between its ends")
    left, right = (f"{axle.name[0]}{side}" for side in "lr")
    ends = {c: mounts[c].point(given.at).name for c in (left, right)}
    s.define(f"bar_{axle.name}", f"{k}*dot(pos({ends[left]}) - pos({ends[right]}), [{chassis.name}3])")
    for corner, sign in ((left, "-"), (right, "")):
        s.add_force(
            f"{corner}.bar", magnitude=f"{sign}bar_{axle.name}", direction=chassis[3], at=ends[corner],
            against=chassis.origin, label=f"anti-roll bar on {corner}",
        )  # fmt: skip
    add_axle_channels(s, axle.name)


@dataclass(frozen=True)
class Plane:
    """The plane below a car that begins at the origin: its height there, and its rise per distance ahead and to the
    left."""

    height: float = 0.0
    ahead: float = 0.0
    left: float = 0.0


def ground_below(at_rest: Stand, tracks: tuple[Ground, Ground]) -> Plane:
    """The plane through the ground below the four wheels."""
    heights = []
    for (x, y, _), (_, side) in zip(at_rest.contact, CORNERS.values(), strict=True):
        ground = tracks[0 if side > 0 else 1]
        found = ground.height(float(x)) if isinstance(ground, Terrain) else ground.height(float(x), float(y))
        heights.append(float(found))
    rows = np.column_stack([np.ones(4), at_rest.contact[:, :2]])
    return Plane(*np.linalg.lstsq(rows, np.array(heights), rcond=None)[0].tolist())


def rolling(car: CarData, at_rest: Stand, speed: float, ground: Plane | None = None) -> dict[str, float]:
    """Initial values: as it stands, parallel to the ground, ahead at a speed."""
    pitch, roll = at_rest.pitch, at_rest.roll
    plane = ground or Plane()
    steep = np.sqrt(1 + plane.ahead**2 + plane.left**2)
    start = {
        "q(chassis, 3)": plane.height + at_rest.height * steep,
        "q(chassis, 5)": pitch - np.arctan(plane.ahead),
        "q(chassis, 6)": roll + np.arctan(plane.left / np.sqrt(1 + plane.ahead**2)),
    }
    start |= {"u(chassis, 1)": speed * np.cos(pitch), "u(chassis, 3)": speed * np.sin(pitch) * np.cos(roll)}
    start["u(chassis, 2)"] = speed * np.sin(pitch) * np.sin(roll)
    for (name, (which, _)), travel, load in zip(CORNERS.items(), at_rest.travel, at_rest.load, strict=True):
        spin = rolling_spin(car.axle(which), load, speed)
        start |= {f"u({name}.wheel)": spin} | ({} if car.axle(which).both else {f"q({name})": travel})
    for axle, i in ((car.front, 0), (car.rear, 2)):
        start |= axle_start(axle, at_rest.travel[i], at_rest.travel[i + 1]) if axle.both else {}
    drive = car.sections.drive
    share = drive_share(drive)
    spins = share * start["u(fl.wheel)"] + (1 - share) * start["u(rl.wheel)"]
    if drive.map is not None and len(drive.gears or ()) > 1:
        start[GEAR] = gear_at(drive, spins)
    if is_coupled(drive):
        start[MOTOR] = spins_at(drive, spins)
    if drive.clutch is not None or (has_clutch(drive) and speed * np.sign(drive.gear + 0.5) > 0):
        start[CLUTCH] = 1.0
    if car.frame is not None:
        start[f"q({FRAME})"] = at_rest.twist
    start |= rolling_axles(car, at_rest, speed) | rolling_trailers(car, at_rest, speed)
    return {key: float(value) for key, value in start.items() if value != 0}
