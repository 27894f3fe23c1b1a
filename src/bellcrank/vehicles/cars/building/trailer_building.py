"""From trailers as data to parts of a System: bodies behind the car, axles, wheels on tyres,
hitches, brakes, channels.

Body <trailer> turns about its hitch by yaw, pitch and roll against the unit that tows it. Wheels
are <trailer>.<axle>_l and _r, with the bodies <wheel>.wheel; a rigid axle is the body
<trailer>.<axle>, which moves up and rolls.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np

from bellcrank.api.system import System
from bellcrank.model.describe.handles import BodyHandle
from bellcrank.model.describe.tyre_patch import formula_for_name
from bellcrank.model.formula import (
    Formula,
    cross,
    direction,
    dot,
    dxdt,
    pos,
    project,
    rot,
    to_syntax,
    vel,
)
from bellcrank.vehicles.cars.design.car_data import CarData
from bellcrank.vehicles.cars.design.trailer_data import (
    CHASSIS,
    SIDES,
    SimpleAxle,
    TrailerData,
    trailer_with_towed_units,
)
from bellcrank.vehicles.cars.keys.car_keys import OverrunBrakeKeys
from bellcrank.vehicles.cars.keys.controller_keys import TrailerAbsKeys
from bellcrank.vehicles.cars.running_gear.braking import add_abs
from bellcrank.vehicles.cars.running_gear.tyre_cams import effective_road
from bellcrank.vehicles.cars.running_gear.wheel_tyres import add_tyres, contact_names, rolling_spin
from bellcrank.vehicles.cars.statics.static_equilibrium import CarStatics
from bellcrank.vehicles.cars.statics.trailer_statics import TrailerStatics
from bellcrank.vehicles.driver_inputs import (
    FADES,
    RING,
    add_brake,
    add_dry_friction,
    slip_with_parameters,
    tyre_with_parameter_names,
)
from bellcrank.vehicles.model_parameters import add_si_parameter
from bellcrank.vehicles.terrain.terrain import Surface, Terrain
from bellcrank.vehicles.tyres.steady_tyre import ARRAYS

STICKS = np.radians(0.3)  # articulation angle to which a hitch with friction is elastic
FOLLOWING = ".following"  # what names of states of overrun brakes end in
REVERSES = 0.3  # m/s backwards, at which overrun brakes are released
# s, in which steered wheels come to the angle that is asked for, where they begin at another one
CLOSES = 0.003
PAINT = "#d8d4c6"
WIDE = 0.65  # width of a tyre as drawn, over its radius
AXES = {"x": 1, "y": 2, "z": 3}
COORDINATES = {"l": 1, "r": 2}  # of an axle: of independent wheels that of each side
Place = tuple[float, float, float]


def add_trailers(
    s: System,
    car: CarData,
    statics: CarStatics,
    towing: BodyHandle,
    ground: tuple[Terrain | Surface, Terrain | Surface],
) -> None:
    """All trailers behind the body of the car, or its rear part, `towing`."""
    trailers = [
        replace(t, towed_by=towing.name) if t.towed_by == CHASSIS else t for t in car.trailers
    ]
    for trailer, trailer_statics in zip(trailers, statics.trailers, strict=True):
        _add_trailer(s, trailer, trailer_statics, ground)
    for trailer in trailers:
        units = trailer_with_towed_units(trailers, trailer.name)
        _add_hitch_forces(s, units)
        _add_brakes(s, trailer, units)


def trailer_initial_state(car: CarData, statics: CarStatics, speed: float) -> dict[str, float]:
    """Initial values of trailers that roll behind the car at a speed (m/s)."""
    start: dict[str, float] = {}
    for trailer, trailer_statics in zip(car.trailers, statics.trailers, strict=True):
        start |= {
            f"q({trailer.name}, {i})": x for i, x in enumerate(trailer_statics.articulation, 1)
        } | trailer_statics.axle_coordinates
        if trailer.record.brakes is not None and trailer.record.brakes.overrun is not None:
            start[f"{trailer.name}{FOLLOWING}"] = speed
        for axle in trailer.axles:
            start |= wheel_spins(axle, trailer_statics.load, speed)
            if axle.record.steering is not None:
                angle = (axle.record.steering.ratio or 0.0) * trailer_statics.articulation[0]
                start |= {f"q({knuckle_name(axle, side)})": angle for side in SIDES}
    return {key: float(value) for key, value in start.items() if value != 0}


def wheel_spins(axle: SimpleAxle, load: Mapping[str, float], speed: float) -> dict[str, float]:
    """Spins of the wheels of an axle that roll at a speed (m/s) under their loads (N)."""
    return {
        f"u({w}.wheel)": rolling_spin(axle, load[w], speed) for w in map(axle.wheel_name, SIDES)
    }


def _add_trailer(
    s: System, trailer: TrailerData, trailer_statics: TrailerStatics, ground: tuple[Any, Any]
) -> None:
    name, record = trailer.name, trailer.record
    body = _add_trailer_body(s, trailer)
    _add_hitch(s, trailer, body)
    add_si_parameter(
        s,
        f"f_static_{name}",
        trailer_statics.spring_force,
        "F",
        f"force of each spring of {name} at no travel",
    )
    if record.equalisation:
        add_si_parameter(
            s,
            f"equal_{name}",
            record.equalisation,
            "1",
            f"load equalisation of the axles of {name}",
            (0, 1),
        )
    for axle in trailer.axles:
        add_axle_parts(s, axle, body, ground, trailer_statics.load)
    _add_springs(s, trailer, body)
    if record.drag_area:
        add_si_parameter(
            s,
            f"drag_{name}",
            record.drag_area,
            "L**2",
            f"drag coefficient times frontal area of {name}",
        )
        s.define(f"{name}.ahead", f"dot(vel({name}.cm), [{name}1])")
        rho = (
            "rho"
            if "rho" in s.description.parameters
            else add_si_parameter(s, "rho", 1.206, "M/L**3", "density of the air")
        )
        s.add_force(
            f"{name}.drag",
            magnitude=f"-{rho}/2*drag_{name}*abs({name}.ahead)*{name}.ahead",
            direction=body[1],
            at=body.cm,
            label=f"drag of {name}",
        )
    _add_trailer_channels(s, trailer, body)


def _add_trailer_body(s: System, trailer: TrailerData) -> BodyHandle:
    name, record, sprung = trailer.name, trailer.record, trailer.sprung
    add_si_parameter(s, f"m_{name}", sprung.mass, "M", f"sprung mass of {name}")
    cm: list[Any] = []
    for axis, value in zip("xyz", sprung.cg, strict=True):
        label = f"{axis} of the mass centre of {name}, from its hitch"
        cm.append(
            add_si_parameter(s, f"cg_{axis}_{name}", float(value), "L", label) if value else 0
        )
    moments = {
        "roll": (0, 0),
        "pitch": (1, 1),
        "yaw": (2, 2),
        "xz": (0, 2),
        "xy": (0, 1),
        "yz": (1, 2),
    }
    inertia: list[list[Any]] = [[0, 0, 0] for _ in range(3)]
    for word, (i, j) in moments.items():
        if value := float(sprung.inertia[i, j]):
            inertia[i][j] = inertia[j][i] = add_si_parameter(
                s, f"i_{word}_{name}", value, "M*L**2", f"inertia of {name}, {word}"
            )
    body = s.add_body(
        name,
        parent=trailer.towed_by,
        rotate=(3, 2, 1),
        joint_at=record.hitch.at,
        mass=f"m_{name}",
        cm=tuple(cm),
        inertia=tuple(map(tuple, inertia)),
        label=name.replace("_", " "),
    )
    position = (
        record.body_centre_x,
        0,
        record.height / 2,
    )  # its floor is about as high as the hitch
    s.add_shape(
        body=body,
        kind="box",
        size=(record.length, record.width, record.height),
        at=position,
        color=PAINT,
        label=name,
        opacity=0.5,
    )
    s.add_shape(
        body=body,
        kind="box",
        size=(-float(record.cg[0]), 0.1, 0.1),
        at=(float(record.cg[0]) / 2, 0, 0),
        label=f"drawbar of {name}",
    )
    return body


def _add_hitch(s: System, trailer: TrailerData, body: BodyHandle) -> None:
    """Roll stiffness, damping and friction between a trailer and the unit that tows it."""
    name, towing, hitch = trailer.name, trailer.towed_by, trailer.record.hitch
    s.define(f"{name}.articulates", f"dot(rot({name}) - rot({towing}), [{towing}3])")
    if hitch.roll_stiffness is not None:
        k = add_si_parameter(
            s,
            f"k_roll_{name}",
            hitch.roll_stiffness,
            "F*L/A",
            f"roll stiffness of the hitch of {name}",
        )
        c = add_si_parameter(
            s,
            f"c_roll_{name}",
            hitch.roll_damping,
            "F*L*T/A",
            f"roll damping of the hitch of {name}",
        )
        s.define(
            f"{name}.twist", f"-{k}*q({name}, 3) - {c}*dot(rot({name}) - rot({towing}), [{name}1])"
        )
        s.add_moment(
            f"{name}.hitch_roll",
            magnitude=f"{name}.twist",
            direction=body[1],
            on=name,
            against=towing,
            label=f"roll moment on the hitch of {name}",
        )
        s.add_output(
            f"{name}.hitch_mx",
            f"{name}.twist",
            label=f"roll moment of the hitch on {name}",
            units="F*L",
        )
    yaws: list[str] = []
    if hitch.yaw_damping:
        c = add_si_parameter(
            s, f"c_yaw_{name}", hitch.yaw_damping, "F*L*T/A", f"yaw damping of the hitch of {name}"
        )
        yaws.append(f"-{c}*{name}.articulates")
    if hitch.yaw_friction:
        max_torque = add_si_parameter(
            s,
            f"friction_{name}",
            hitch.yaw_friction,
            "F*L",
            f"yaw friction torque of the hitch of {name}",
        )
        k = add_si_parameter(
            s,
            f"k_friction_{name}",
            hitch.yaw_friction / STICKS,
            "F*L/A",
            f"elasticity of that friction of {name}",
        )
        # fades at rest, so that steady motions are unique
        hitch_speed = f"({name}.articulates - {name}.hitch.pad/{FADES})"
        add_dry_friction(
            s, f"{name}.hitch", hitch_speed, max_torque, k, f"friction of the hitch of {name}"
        )
        yaws.append(f"-{name}.hitch.held")
    if yaws:
        s.define(f"{name}.resists", " + ".join(yaws))
        s.add_moment(
            f"{name}.hitch_yaw",
            magnitude=f"{name}.resists",
            direction=f"[{towing}3]",
            on=name,
            against=towing,
            label=f"yaw torque on the hitch of {name}",
        )
        s.add_output(
            f"{name}.hitch_mz",
            f"{name}.resists",
            label=f"yaw torque of the hitch on {name}",
            units="F*L",
        )


def add_axle_parts(
    s: System,
    axle: SimpleAxle,
    body: BodyHandle,
    ground: tuple[Any, Any],
    loads: Mapping[str, float],
) -> None:
    """Carriers or the axle, wheels and tyres; `loads` of wheels at rest."""
    load = sum(loads[axle.wheel_name(side)] for side in SIDES) / 2
    ground = effective_road(axle, load, ground[0]), effective_road(axle, load, ground[1])
    record, index = axle.record, axle.parameter_suffix
    _, half_track, z = record.at
    axle_label = axle.label
    x = add_si_parameter(
        s,
        f"x_{index}",
        record.at[0],
        "L",
        f"x of axle {axle_label}" + (", from the hitch" if axle.unit else ""),
    )
    add_si_parameter(
        s, f"k_{index}", record.stiffness, "F/L", f"stiffness of a spring of axle {axle_label}"
    )
    add_si_parameter(
        s, f"c_{index}", record.damping, "F*T/L", f"damping of a damper of axle {axle_label}"
    )
    if axle.is_rigid or record.roll_stiffness:
        add_si_parameter(
            s,
            f"k_bar_{index}",
            record.roll_stiffness,
            "F*L/A",
            f"roll stiffness of the bar of axle {axle_label}",
        )
    if record.dual_spacing is not None:
        add_si_parameter(
            s,
            f"dual_{index}",
            record.dual_spacing,
            "L",
            f"distance of the dual tyres of a wheel of axle {axle_label}",
        )
    tyre = slip_with_parameters(s, axle.tyre, index, f"the tyres of axle {axle_label}")
    right_tyre = tyre_with_parameter_names(
        axle.tyre, {key: f"{key}_{index}" for key in axle.tyre.scales}, index
    )
    if axle.is_rigid:
        add_si_parameter(
            s,
            f"y_spring_{index}",
            record.spring_y or half_track,
            "L",
            f"distance of a spring of axle {axle_label} from the middle",
        )
        carriers = dict.fromkeys(
            SIDES,
            s.add_body(
                axle.full_name,
                parent=body,
                translate=3,
                rotate=1,
                joint_at=(x, 0, axle.roll_centre_z),
                mass=record.mass,
                cm=(0, 0, z - axle.roll_centre_z),
                inertia=record.inertia,
                label=f"axle {axle_label}",
            ),
        )
    for side, sign in SIDES.items():
        name = axle.wheel_name(side)
        if not axle.is_rigid:
            carrier = s.add_body(
                name,
                parent=body,
                translate=3,
                joint_at=(x, sign * half_track, z),
                mass=record.mass,
                inertia=0,
                label=f"carrier {name}",
            )
        else:
            carrier = carriers[side]
        centre: Place = (
            (0, sign * half_track, z - axle.roll_centre_z) if axle.is_rigid else (0, 0, 0)
        )
        if record.steering is not None:
            carrier, centre = _add_knuckle(s, axle, side, carrier, centre)
        cross_inertia = record.wheel.cross_inertia or record.wheel.spin_inertia / 2
        wheel = s.add_body(
            f"{name}.wheel",
            parent=carrier,
            rotate=2,
            mass=record.wheel.mass,
            joint_at=centre,
            inertia=(cross_inertia, record.wheel.spin_inertia, cross_inertia),
            label=f"wheel {name}",
        )
        spacing = None if record.dual_spacing is None else f"dual_{index}"
        add_tyres(
            s,
            name,
            sign,
            wheel,
            ground[0 if sign > 0 else 1],
            tyre if sign > 0 else right_tyre,
            spacing,
        )
        radius = float(axle.tyre.free_radius(ARRAYS, 0.0))
        for y in axle.tyre_offsets:
            s.add_shape(
                body=wheel,
                kind="wheel",
                size=(radius, WIDE * radius),
                at=(0, y, 0),
                axis=2,
                label=f"wheel {name}",
            )
        s.add_output(
            f"{name}.travel",
            wheel_travel(axle, side),
            label=f"wheel travel of {name}, up",
            units="L",
        )


def wheel_travel(axle: SimpleAxle, side: str) -> str:
    """Formula of the travel of a wheel, up."""
    if not axle.is_rigid:
        return f"q({axle.wheel_name(side)})"
    name, (_, half_track, z) = axle.full_name, axle.record.at
    rises = f"{z - axle.roll_centre_z!r}*(cos(q({name}, 2)) - 1)"
    return f"q({name}, 1) + {SIDES[side] * half_track!r}*sin(q({name}, 2)) + {rises}"


def knuckle_name(axle: SimpleAxle, side: str) -> str:
    return f"{axle.wheel_name(side)}.knuckle"


def _add_knuckle(
    s: System, axle: SimpleAxle, side: str, carrier: BodyHandle, centre: Place
) -> tuple[BodyHandle, Place]:
    """What turns a wheel about z: its body without mass, and where the wheel's centre is in that.
    Its speed is eliminated, but for the left wheel of a self-steering axle; a track rod turns the
    right wheel by the same angle."""
    steering, index = axle.record.steering, axle.parameter_suffix
    assert steering is not None
    (x, y, z), trail = centre, steering.trail or 0.0
    knuckle = s.add_body(
        knuckle_name(axle, side),
        parent=carrier,
        rotate=3,
        joint_at=(x + trail, y, z),
        mass=0,
        inertia=0,
        label=f"knuckle of {axle.wheel_name(side)}",
    )
    angle = f"q({knuckle.name})"
    label = f"steer angle of {axle.wheel_name(side)} against its axle, to the left"
    s.add_output(f"{axle.wheel_name(side)}.steer", angle, label=label, units="deg")
    target_angle = f"q({knuckle_name(axle, 'l')})"
    if steering.ratio is not None:
        ratio_label = f"steer angle of the wheels of axle {axle.label} per articulation angle"
        ratio = (
            add_si_parameter(s, f"steer_ratio_{index}", steering.ratio, "1", ratio_label)
            if side == "l"
            else f"steer_ratio_{index}"
        )
        target_angle = f"{ratio}*q({axle.unit}, 1)"
    if steering.ratio is not None or side != "l":
        rate = target_angle.replace("q(", "dxdt(q(") + ")"
        s.add_constraint(
            f"u({knuckle.name}) - {rate} - ({target_angle} - {angle})/{CLOSES}",
            eliminate=knuckle.u[1],
            label=f"steering of {axle.wheel_name(side)}",
        )
    else:
        k = add_si_parameter(
            s,
            f"k_steer_{index}",
            steering.stiffness,
            "F*L/A",
            f"centring stiffness of axle {axle.label}",
        )
        c = add_si_parameter(
            s,
            f"c_steer_{index}",
            steering.damping,
            "F*L*T/A",
            f"steering damping of axle {axle.label}",
        )
        s.add_moment(
            f"{axle.full_name}.centring",
            magnitude=f"-{k}*{angle} - {c}*u({knuckle.name})",
            direction=carrier[3],
            on=knuckle,
            against=carrier,
            label=f"centring torque of {axle.full_name}",
        )
    return knuckle, (-trail, 0, 0)


def _add_springs(s: System, trailer: TrailerData, body: BodyHandle) -> None:
    """Springs and dampers; with load equalisation the springs of one side follow the mean of its
    travels."""
    name = trailer.name

    def shared(terms: list[str], term: str) -> str:
        if not trailer.record.equalisation or len(terms) < 2:
            return term
        return f"((1 - equal_{name})*{term} + equal_{name}*({' + '.join(terms)})/{len(terms)})"

    for axle in trailer.axles:
        coords = {
            c: shared(
                [axle_coordinate_name(a, c) for a in trailer.axles], axle_coordinate_name(axle, c)
            )
            for c in COORDINATES
        }
        add_axle_springs(s, axle, body, f"f_static_{name}", coords)


def axle_coordinate_name(axle: SimpleAxle, side: str) -> str:
    """The first or second coordinate of an axle: lift and roll of a rigid one, travels of
    independent wheels."""
    return (
        f"q({axle.full_name}, {COORDINATES[side]})"
        if axle.is_rigid
        else f"q({axle.wheel_name(side)})"
    )


def add_axle_springs(
    s: System, axle: SimpleAxle, body: BodyHandle, static: str, coords: Mapping[str, str]
) -> None:
    """Springs, dampers and the bar of an axle; `static`: force of a spring at no travel; `coords`:
    coordinates by which springs are moved."""
    index, full = axle.parameter_suffix, axle.full_name
    if axle.is_rigid:
        force = f"-2*({static} + k_{index}*{coords['l']} + c_{index}*u({full}, 1))"
        s.add_force(
            f"{full}.springs",
            magnitude=force,
            direction=body[3],
            at=f"{full}.origin",
            against=body.origin,
            label=f"springs and dampers of {full}",
        )
        arm = f"2*y_spring_{index}**2"
        moment = (
            f"-{arm}*k_{index}*{coords['r']} - k_bar_{index}*q({full}, 2) - "
            f"{arm}*c_{index}*u({full}, 2)"
        )
        s.add_moment(
            f"{full}.roll",
            magnitude=moment,
            direction=body[1],
            on=full,
            against=body,
            label=f"roll moment of the springs of {full}",
        )
        return
    for side in SIDES:
        wheel, other_wheel = axle.wheel_name(side), axle.wheel_name("r" if side == "l" else "l")
        force = f"-{static} - k_{index}*{coords[side]} - c_{index}*u({wheel})"
        if axle.record.roll_stiffness:
            force += (
                f" - k_bar_{index}*{1 / (4 * axle.record.at[1] ** 2)!r}*(q({wheel}) - "
                f"q({other_wheel}))"
            )
        s.add_force(
            f"{wheel}.spring",
            magnitude=force,
            direction=body[3],
            at=f"{wheel}.origin",
            against=body.origin,
            label=f"spring and damper of {wheel}",
        )


def _add_brakes(s: System, trailer: TrailerData, units: Sequence[TrailerData]) -> None:
    """Brakes that follow those of the car or the thrust of the hitch; each wheel has its own input
    besides, <wheel>.brake_torque. `units`: the trailer and all that hangs on it."""
    name, brakes = trailer.name, trailer.record.brakes
    if brakes is None:
        return
    if brakes.overrun is not None:
        demand = _add_overrun(s, name, brakes.overrun, units)
    else:
        assert brakes.gain is not None
        gain = add_si_parameter(
            s,
            f"brake_gain_{name}",
            brakes.gain,
            "1",
            f"brake torque of {name} per brake torque of the car",
        )
        demand = f"{gain}*braking"
    if brakes.torque is not None:
        max_torque = add_si_parameter(
            s, f"brake_most_{name}", brakes.torque, "F*L", f"largest brake torque of {name}"
        )
        demand = f"min({max_torque}, {demand})"
    s.define(f"{name}.asked", demand)
    brake_torque = f"{name}.asked"
    if brakes.lag:
        lag = add_si_parameter(
            s, f"brake_lag_{name}", brakes.lag, "T", f"lag of the brakes of {name}"
        )
        s.require_positive(lag)
        brake_torque = f"{name}.braking"
        s.add_state(
            brake_torque,
            rate=f"({name}.asked - {brake_torque})/{lag}",
            units="F*L",
            label=f"brake torque of {name} asked for",
        )
    wheels = [(axle, axle.wheel_name(side)) for axle in trailer.axles for side in SIDES]
    abs_factors = {}
    if brakes.abs is not None:
        abs_factors = add_abs(
            s,
            brakes.abs,
            trailer.abs_name,
            f"ABS of {name}",
            _trailer_brake_circuits(trailer, brakes.abs),
        )
    for axle, wheel in wheels:
        k = f"k_brake_{axle.parameter_suffix}"
        if k not in s.description.parameters:
            add_si_parameter(
                s,
                k,
                RING**2 * axle.record.wheel.spin_inertia,
                "F*L/A",
                f"elasticity of the brakes of {axle.full_name}",
            )
        s.add_input(
            f"{wheel}.brake_torque",
            units="F*L",
            label=f"brake torque of {wheel}, added to its part of brake",
            default=0.0,
        )
        limit = (
            f"max(0, {brake_torque}/{len(wheels)} + "
            f"{wheel}.brake_torque){abs_factors.get(wheel, '')}"
        )
        add_brake(s, wheel, f"u({wheel}.wheel)", limit, k)
        s.add_moment(
            f"{wheel}.brake",
            magnitude=f"-{wheel}.held",
            direction=f"[{wheel}.wheel2]",
            on=f"{wheel}.wheel",
            against=axle.full_name if axle.is_rigid else wheel,
            label=f"brake of {wheel}",
        )


def _trailer_brake_circuits(trailer: TrailerData, abs_keys: TrailerAbsKeys) -> list[list[str]]:
    """Groups of wheels that get the same fraction of their brake torques."""
    axles = [[axle.wheel_name(side) for side in SIDES] for axle in trailer.axles]
    each = [[wheel] for pair in axles for wheel in pair]
    return {"none": each, "axle": axles, "side": [list(side) for side in zip(*axles, strict=True)]}[
        abs_keys.select_low
    ]


def _add_overrun(
    s: System, name: str, overrun: OverrunBrakeKeys, units: Sequence[TrailerData]
) -> str:
    """The brake torque that an overrun device asks for; it is lagging behind the thrust of the
    hitch.

    With the momentum P of all that hangs on the hitch and the other forces G on it, both along the
    trailer, the force of the hitch is F = P' - G. The lagging force h, h' = (F - h)/T, follows
    without accelerations from the speed s: h = (P - m s)/T, s' = (G + h)/m."""
    gain = add_si_parameter(
        s,
        f"overrun_gain_{name}",
        overrun.gain,
        "L",
        f"brake torque of {name} per thrust of its hitch",
    )
    threshold = add_si_parameter(
        s,
        f"overrun_threshold_{name}",
        overrun.threshold,
        "F",
        f"thrust of the hitch at which {name} brakes",
    )
    lag = add_si_parameter(
        s, f"overrun_lag_{name}", overrun.lag, "T", f"lag of the overrun brakes of {name}"
    )
    s.require_positive(lag)
    forward, masses = (
        Formula(to_syntax(f"[{name}1]")),
        [x for unit in units for x in _trailer_masses(unit)],
    )
    momentum, mass = (
        _sum_of_formulas(m * vel(f"{part}.cm") for m, part in masses),
        _sum_of_formulas(m for m, _ in masses),
    )
    other_forces = _sum_of_formulas(_non_hitch_forces(s, unit) for unit in units)
    speed, hitch_force = f"{name}{FOLLOWING}", f"{name}.pulled"
    s.define(f"{name}.hanging", mass)
    s.define(
        hitch_force,
        (dot(momentum, forward) - formula_for_name(f"{name}.hanging") * formula_for_name(speed))
        / formula_for_name(lag),
    )
    force_along = dot(other_forces, forward) + dot(momentum, cross(rot(name), forward))
    s.add_state(
        speed,
        rate=(force_along + formula_for_name(hitch_force)) / formula_for_name(f"{name}.hanging"),
        units="L/T",
        label=f"speed of {name} by its lagging hitch force",
    )
    s.add_output(
        f"{name}.thrust",
        f"-{hitch_force}",
        units="F",
        label=f"thrust of {name}, as its overrun brakes follow it",
    )
    s.define(f"{name}.release", f"max(0, min(1, 1 + dot(vel({name}.cm), [{name}1])/{REVERSES}))")
    return f"{gain}*max(0, -{hitch_force} - {threshold})*{name}.release"


def _add_trailer_channels(s: System, trailer: TrailerData, body: BodyHandle) -> None:
    name, vertical = trailer.name, s.inertial[3]
    s.add_attitude(f"{name}.", body=body)
    lateral = cross(vertical, direction(project(body[1], vertical)))
    label = f"lateral acceleration of {name}"
    s.add_output(
        f"{name}.ay", dot(dxdt(vel(body.cm)), lateral), label=label, units="L/T**2", body=body
    )
    label = f"articulation angle: yaw of {name} against the unit that tows it, to the left"
    s.add_output(f"{name}.articulation", f"q({name}, 1)", label=label, units="deg")
    label = f"articulation rate of {name}"
    s.add_output(f"{name}.articulation_rate", f"{name}.articulates", label=label, units="deg/s")
    for axle in trailer.axles:
        add_axle_path_outputs(s, axle, body)


def add_axle_path_outputs(s: System, axle: SimpleAxle, body: BodyHandle) -> None:
    """Where the middle of an axle is."""
    point = s.add_point(
        f"{axle.full_name}_middle",
        body=body,
        at=(f"x_{axle.parameter_suffix}", 0, axle.record.at[2]),
    )
    for letter in "xy":
        label = f"{letter} of the middle of axle {axle.label}"
        value = dot(pos(point), s.inertial[AXES[letter]])
        s.add_output(f"{axle.full_name}_{letter}", value, label=label, units="L", body=body)


def _add_hitch_forces(s: System, trailers: Sequence[TrailerData]) -> None:
    """Force of the towing unit on the first of some trailers, along axes of the towing unit: by
    Newton's law of all that hangs on the hitch."""
    first = trailers[0]
    inertia = _sum_of_formulas(
        m * dxdt(vel(f"{part}.cm")) for t in trailers for m, part in _trailer_masses(t)
    )
    force = inertia - _sum_of_formulas(_non_hitch_forces(s, t) for t in trailers)
    for letter, direction_label in (("x", "longitudinal"), ("y", "lateral"), ("z", "vertical")):
        label = f"{direction_label} force of the hitch on {first.name}, in axes of the towing unit"
        component = dot(force, f"[{first.towed_by}{AXES[letter]}]")
        s.add_output(f"{first.name}.hitch_f{letter}", component, label=label, units="F")


def _sum_of_formulas(terms: Iterable[Any]) -> Any:
    first, *tail = terms
    return sum(tail, first)


def _trailer_masses(trailer: TrailerData) -> list[tuple[Any, str]]:
    """All masses of a trailer and the bodies that have them."""
    name = trailer.name
    masses: list[tuple[Any, str]] = [(formula_for_name(f"m_{name}"), name)]
    for axle in trailer.axles:
        masses += [(axle.record.wheel.mass, f"{axle.wheel_name(side)}.wheel") for side in SIDES]
        carriers = [axle.full_name] if axle.is_rigid else [axle.wheel_name(side) for side in SIDES]
        masses += [(axle.record.mass, carrier) for carrier in carriers if axle.record.mass]
    return masses


def _non_hitch_forces(s: System, trailer: TrailerData) -> Any:
    """Weight, forces of tyres and air of a trailer: all but those of hitches."""
    name, gravity = trailer.name, cast(Any, s.description.gravity)
    magnitude = {force.name: force.magnitude for force in s.description.forces}
    resultant = _sum_of_formulas(m for m, _ in _trailer_masses(trailer)) * (
        formula_for_name("g") * gravity.direction
    )
    for axle in trailer.axles:
        for side in SIDES:
            for contact in contact_names(
                axle.wheel_name(side), axle.record.dual_spacing is not None
            ):
                for letter, i in AXES.items():
                    resultant = resultant + magnitude[f"{contact}.{letter}"] * s.inertial[i]
    forward = Formula(to_syntax(f"[{name}1]"))
    return (
        resultant + Formula(to_syntax(magnitude[f"{name}.drag"])) * forward
        if trailer.record.drag_area
        else resultant
    )
