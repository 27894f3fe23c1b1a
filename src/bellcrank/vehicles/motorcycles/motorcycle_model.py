"""From a motorcycle as data to a System: frame, rider, steering, fork, swing arm, wheels, chain,
brakes, air.

Bodies: frame (six degrees of freedom: yaw, roll, pitch), rider, steer, fork, front.wheel, arm,
rear.wheel. All coordinates are zero at rest. Inputs: steer_torque on the handlebar, drive torque of
the rear wheel, brake torque of both wheels, lean_torque of a rider who rolls against the frame.

The chain has no mass. Its tension T = |drive|/r acts along the common tangent of both sprockets,
the upper one when the engine drives and the lower one when it brakes, on the wheel, and against it
on the frame, along the same line. With d the unit vector from the wheel's axle to the engine
sprocket at the distance D, u across it upwards and s = (r_wheel - r_engine)/D, the upper run has
the direction sqrt(1 - s^2) d - s u, the lower one the opposite sign of s.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bellcrank.api.system import System
from bellcrank.model.describe.handles import BodyHandle
from bellcrank.model.describe.tyre_patch import FORMULAS, formula_for_name
from bellcrank.model.formula import (
    call_formula,
    cross,
    direction,
    dot,
    dxdt,
    pos,
    project,
    rot,
    vel,
)
from bellcrank.vehicles.cars.keys.car_keys import DIRECTIONS, WheelKeys
from bellcrank.vehicles.driver_inputs import RING, add_brake, slip_with_parameters
from bellcrank.vehicles.force_laws import bump_stop_force, two_way_damper_force
from bellcrank.vehicles.model_parameters import add_si_parameter
from bellcrank.vehicles.motorcycles.motorcycle_data import MotorcycleData
from bellcrank.vehicles.motorcycles.motorcycle_keys import ForkStrutKeys, MotorcycleBodyKeys
from bellcrank.vehicles.motorcycles.motorcycle_shapes import add_shapes
from bellcrank.vehicles.terrain.terrain import Surface, Terrain, flat
from bellcrank.vehicles.tyres.steady_tyre import ARRAYS

Ground = Terrain | Surface
INPUTS = {
    "steer_torque": ("F*L", "torque of the rider on the handlebar, to the left", (-40.0, 40.0)),
    "drive": ("F*L", "drive torque of the rear wheel", (-200.0, 600.0)),
    "brake": ("F*L", "brake torque, sum of both wheels", (0.0, 1000.0)),
}
LEAN = ("F*L", "torque between rider and frame, to the right", (-100.0, 100.0))
FALLEN = 1.2  # rad of roll, from which on nothing is to be saved
SHOWN = ("speed", "roll", "steer", "yaw_rate", "ay")  # by plots, unasked


class MotorcycleSystem(System):
    """The model of a motorcycle, with its data and the speed (m/s) with which it begins."""

    _caches_equations = True

    def __init__(self, data: MotorcycleData, speed: float) -> None:
        super().__init__(data.sections.name, axes="ISO 8855")
        self.data, self.speed = data, speed


def build_motorcycle_system(
    data: MotorcycleData, speed: float, terrain: Ground | None = None, rider: Any = None
) -> MotorcycleSystem:
    """The model of a motorcycle that rolls ahead at a speed (m/s), upright; `rider` steers and
    drives, if there is one."""
    s, keys = MotorcycleSystem(data, speed), data.sections
    inputs = INPUTS | (
        {"lean_torque": LEAN} if keys.rider is not None and keys.rider.lean is not None else {}
    )
    for name, (units, label, usual) in inputs.items():
        s.add_input(name, units=units, label=label, range=usual)
    s.set_run(inputs=dict.fromkeys(inputs, 0.0))
    s.add_gravity()
    frame = _add_rigid_body(s, "frame", keys.frame, "frame", translate=(1, 2, 3), rotate=(3, 1, 2))
    _add_rider(s, data, frame)
    acting = {name: name for name in INPUTS}
    if rider is not None:
        acting |= rider.add(s, data)
    steer, fork = _add_front_assembly(s, data, frame, acting["steer_torque"])
    arm = _add_rear_assembly(s, data, frame)
    wheels = {"front": fork, "rear": arm}
    ground = terrain or flat()
    for end, carrier in wheels.items():
        _add_motorcycle_wheel(s, data, end, carrier, ground, acting["brake"])
    _add_chain_drive(s, data, frame, arm, acting["drive"])
    _add_aerodynamics(s, data, frame)
    add_shapes(s, data)
    _add_motorcycle_channels(s, data, frame, steer, acting)
    events = keys.events or {}
    if "fallen" not in events:
        s.add_event("fallen", f"abs(q(frame, 5)) - {FALLEN!r}", stop=True)
    for name, x in events.items():
        s.add_event(name, x.when, action=x.action, stop=x.stop, direction=DIRECTIONS[x.direction])
    start = motorcycle_initial_state(data, speed) | ({} if rider is None else rider.start(data))
    s.set_run(t_end=5, step=0.001, method="rk4", output_every=10, initial=start)
    s.description.run.shown = SHOWN
    return s


def motorcycle_initial_state(data: MotorcycleData, speed: float) -> dict[str, float]:
    """Initial values: as it stands, ahead at a speed (m/s)."""
    start = {"u(frame, 1)": speed}
    for end, tyre, load in zip(
        ("front", "rear"), (data.front_tyre, data.rear_tyre), data.loads, strict=True
    ):
        spin = 0.0
        for _ in range(5):
            spin = speed / float(tyre.rolling_radius(ARRAYS, load, spin, tyre.usual[0]))
        start[f"u({end}.wheel)"] = spin
    return start


def _add_rigid_body(
    s: System,
    name: str,
    part: MotorcycleBodyKeys,
    label: str,
    parent: BodyHandle | None = None,
    rake: float = 0.0,
    **joint: Any,
) -> BodyHandle:
    """A body with its mass as a parameter; its own axes are inclined rearward by the rake."""
    ixx, iyy, izz = part.inertia
    inertia = np.array([[ixx, 0, part.inertia_xz], [0, iyy, 0], [part.inertia_xz, 0, izz]])
    c, k = math.cos(rake), math.sin(rake)
    axes = np.array([[c, 0, k], [0, 1, 0], [-k, 0, c]])  # its axes in rows
    rotated = axes @ inertia @ axes.T
    rotated[abs(rotated) < 1e-15 * abs(rotated).max()] = 0.0
    mass = add_si_parameter(s, f"m_{name}", part.mass, "M", f"mass of the {label}")
    return s.add_body(
        name,
        parent=parent,
        mass=mass,
        cm=part.cg,
        coordinates_of=s.inertial,
        inertia=rotated.tolist(),
        label=label,
        **joint,
    )


def _add_rider(s: System, data: MotorcycleData, frame: BodyHandle) -> None:
    rider = data.sections.rider
    if rider is None:
        return
    if rider.lean is None:
        _add_rigid_body(s, "rider", rider, "rider", frame)
        return
    position = (rider.cg[0], 0.0, rider.lean.height)
    body = _add_rigid_body(s, "rider", rider, "rider", frame, rotate=1, joint_at=position)
    k = add_si_parameter(
        s, "k_rider", rider.lean.stiffness, "F*L/A", "stiffness of the rider against the frame"
    )
    c = add_si_parameter(
        s, "c_rider", rider.lean.damping, "F*L*T/A", "damping of the rider against the frame"
    )
    s.add_moment(
        "rider.lean",
        magnitude=f"lean_torque - {k}*q(rider) - {c}*u(rider)",
        direction=frame[1],
        on=body,
        against=frame,
        label="torque between rider and frame",
    )
    s.add_output(
        "rider_lean",
        "q(rider)",
        label="angle of the rider against the frame, to the right",
        units="deg",
    )


def _add_front_assembly(
    s: System, data: MotorcycleData, frame: BodyHandle, torque: str
) -> tuple[BodyHandle, BodyHandle]:
    """The steered part, and what carries the front wheel."""
    front = data.sections.front
    sin, cos = math.sin(front.rake), math.cos(front.rake)
    foot = (data.wheelbase + data.trail, 0.0, 0.0)
    steer = _add_rigid_body(
        s,
        "steer",
        front.steer,
        "steered part",
        frame,
        front.rake,
        rotate=3,
        rotation_axis=(-sin, 0, cos),
        reference_axis=(cos, 0, sin),
        joint_at=foot,
    )
    c = add_si_parameter(s, "c_steer", front.damper, "F*L*T/A", "steering damper")
    s.define("steering", torque)
    s.add_moment(
        "handlebar",
        magnitude=f"steering - {c}*u(steer)",
        direction=steer[3],
        on=steer,
        against=frame,
        label="torque of rider and steering damper",
    )
    if front.spring is None or front.slider is None:
        return steer, steer
    fork = _add_rigid_body(
        s,
        "fork",
        front.slider,
        "fork sliders",
        steer,
        front.rake,
        translate=3,
        joint_at=(data.wheelbase, 0.0, data.heights[0]),
    )
    strut_force = _strut_force(
        s, "front", front.spring, data.preloads[0], "q(fork)", "u(fork)", "fork"
    )
    s.add_force(
        "front.strut",
        magnitude=-strut_force,
        direction=steer[3],
        at=fork.origin,
        against=fork.joint,
        label="spring, damper and stops of the fork",
    )
    s.add_output("front.travel", "q(fork)", label="travel of the fork, in compression", units="L")
    return steer, fork


def _strut_force(
    s: System,
    end: str,
    strut: ForkStrutKeys,
    preload: float,
    shorter: str,
    rate: str,
    strut_label: str,
) -> Any:
    """The push of a strut that is shorter by so much than at rest."""
    m, x = FORMULAS, formula_for_name(shorter)
    force = formula_for_name(
        add_si_parameter(s, f"f_{end}", preload, "F", f"static force of the {strut_label} strut")
    )
    k = formula_for_name(
        add_si_parameter(
            s, f"k_{end}", strut.stiffness, "F/L", f"stiffness of the {strut_label} strut"
        )
    )
    damping = (("bump", strut.compression, "compression"), ("rebound", strut.rebound, "rebound"))
    c = [
        add_si_parameter(
            s, f"c_{w}_{end}", value, "F*T/L", f"damping of the {strut_label} in {label}"
        )
        for w, value, label in damping
    ]
    strut_force = (
        force
        + k * x
        + two_way_damper_force(
            m, formula_for_name(c[0]), formula_for_name(c[1]), -formula_for_name(rate)
        )
    )
    for stop_keys, sign in ((strut.bump_stop, 1), (strut.rebound_stop, -1)):
        if stop_keys is not None:
            strut_force = strut_force + sign * bump_stop_force(
                m, stop_keys.gap, stop_keys.stiffness, stop_keys.cubic, sign * x
            )
    return strut_force


def _add_rear_assembly(s: System, data: MotorcycleData, frame: BodyHandle) -> BodyHandle:
    """What carries the rear wheel."""
    rear = data.sections.rear
    if rear.arm is None or rear.spring is None:
        return frame
    arm = _add_rigid_body(s, "arm", rear.arm, "swing arm", frame, rotate=2, joint_at=rear.arm.pivot)
    end_points = [
        s.add_point(f"rear.strut_{name}", body=body, at=position, coordinates_of=s.inertial)
        for name, body, position in (
            ("frame", frame, rear.spring.frame),
            ("arm", arm, rear.spring.arm),
        )
    ]
    strut_force = _strut_force(
        s, "rear", rear.spring, data.preloads[1], "(x0 - x)", "(-v)", "swing arm"
    )
    s.add_strut(
        "rear.strut",
        magnitude=strut_force,
        between=tuple(end_points),
        label="spring, damper and stops of the swing arm",
    )
    rises = dot(pos("rear.wheel.origin") - pos(arm.origin), frame[3]) - (
        data.heights[1] - rear.arm.pivot[2]
    )
    s.add_output("rear.travel", rises, label="travel of the rear wheel, in compression", units="L")
    return arm


def _add_motorcycle_wheel(
    s: System, data: MotorcycleData, end: str, carrier: BodyHandle, ground: Ground, brake: str
) -> None:
    first = end == "front"
    wheel_keys: WheelKeys = (data.sections.front if first else data.sections.rear).wheel
    tyre = data.front_tyre if first else data.rear_tyre
    position = (data.wheelbase if first else 0.0, 0.0, data.heights[0 if first else 1])
    cross_inertia = wheel_keys.cross_inertia or wheel_keys.spin_inertia / 2
    wheel = s.add_body(
        f"{end}.wheel",
        parent=carrier,
        rotate=2,
        joint_at=position,
        cm=position,
        coordinates_of=s.inertial,
        mass=add_si_parameter(
            s, f"m_wheel_{end}", wheel_keys.mass, "M", f"mass of the {end} wheel"
        ),
        inertia=(cross_inertia, wheel_keys.spin_inertia, cross_inertia),
        label=f"{end} wheel",
    )
    tyre = slip_with_parameters(s, tyre, end)
    s.add_contact(f"{end}.tyre", at=wheel, terrain=ground, tyre=tyre.on("left"), wheel=wheel)
    k = add_si_parameter(
        s,
        f"k_brake_{end}",
        RING**2 * wheel_keys.spin_inertia,
        "F*L/A",
        f"elasticity of the {end} brake",
    )
    if first:
        fraction = data.sections.brakes.front_share
        add_si_parameter(
            s,
            "brake_front",
            fraction,
            "1",
            "fraction of the brake torque on the front wheel",
            (0, 1),
        )
    add_brake(
        s,
        end,
        f"u({end}.wheel)",
        f"max(0, {brake})*{'brake_front' if first else '(1 - brake_front)'}",
        k,
    )
    s.add_moment(
        f"{end}.braked",
        magnitude=f"-{end}.held",
        direction=carrier[2],
        on=wheel,
        against=carrier,
        label=f"brake of the {end} wheel",
    )
    radius, width = float(tyre.free_radius(ARRAYS, 0.0)), getattr(tyre, "width", 0.12)
    s.add_shape(body=wheel, kind="wheel", size=(radius, width), axis=2, label=f"{end} wheel")


def _add_chain_drive(
    s: System, data: MotorcycleData, frame: BodyHandle, arm: BodyHandle, drive: str
) -> None:
    chain = data.sections.chain
    s.define("driving", drive)
    if chain is None:
        s.add_moment(
            "driven",
            magnitude="driving",
            direction=arm[2],
            on="rear.wheel",
            against=arm,
            label="drive torque",
        )
        return
    engine = s.add_point("sprocket", body=frame, at=chain.sprocket, coordinates_of=s.inertial)
    r1 = add_si_parameter(
        s, "r_engine", chain.front_radius, "L", "pitch radius of the engine sprocket"
    )
    r2 = add_si_parameter(
        s, "r_sprocket", chain.rear_radius, "L", "pitch radius of the sprocket on the wheel"
    )
    s.require_positive(r1, r2)
    chain_line = pos(engine, "rear.wheel.origin")
    for name, axis in (("x", frame[1]), ("z", frame[3])):
        s.define(f"chain.{name}", dot(chain_line, axis))
    s.define("chain.far", "sqrt(chain.x**2 + chain.z**2)")
    s.define("chain.sin", f"({r2} - {r1})/chain.far")
    s.define("chain.cos", "sqrt(1 - chain.sin**2)")
    for run, sign, tension in (
        ("upper", "-", f"max(0, driving)/{r2}"),
        ("lower", "+", f"max(0, -driving)/{r2}"),
    ):
        s.define(f"chain.{run}", tension)
        opposite_sign = "+" if sign == "-" else "-"
        s.define(
            f"chain.{run}_x",
            f"chain.{run}*(chain.cos*chain.x {opposite_sign} chain.sin*chain.z)/chain.far",
        )
        s.define(
            f"chain.{run}_z", f"chain.{run}*(chain.cos*chain.z {sign} chain.sin*chain.x)/chain.far"
        )
    for name, axis in (("x", frame[1]), ("z", frame[3])):
        s.add_force(
            f"chain.pull_{name}",
            magnitude=f"chain.upper_{name} + chain.lower_{name}",
            direction=axis,
            at="rear.wheel.origin",
            against=frame.origin,
            label=f"pull of the chain, {name}",
        )
    s.add_moment(
        "driven",
        magnitude="driving",
        direction=frame[2],
        on="rear.wheel",
        against=frame,
        label="torque of the chain on the wheel",
    )
    s.add_output(
        "chain_tension", "chain.upper + chain.lower", label="tension of the chain", units="F"
    )


def _add_aerodynamics(s: System, data: MotorcycleData, frame: BodyHandle) -> None:
    air = data.sections.aerodynamics
    if air is None:
        return
    add_si_parameter(s, "rho", air.density, "M/L**3", "density of the air")
    add_si_parameter(s, "drag_area", air.drag_area, "L**2", "drag coefficient times frontal area")
    add_si_parameter(s, "lift_area", air.lift_area, "L**2", "lift coefficient times frontal area")
    point = s.add_point("pressure_centre", body=frame, at=air.at, coordinates_of=s.inertial)
    s.define("air.ahead", dot(vel(point), frame[1]))
    s.add_force(
        "drag",
        magnitude="-rho/2*drag_area*abs(air.ahead)*air.ahead",
        direction=frame[1],
        at=point,
        label="drag",
    )
    s.add_force(
        "lift", magnitude="rho/2*lift_area*air.ahead**2", direction=frame[3], at=point, label="lift"
    )


def _add_motorcycle_channels(
    s: System, data: MotorcycleData, frame: BodyHandle, steer: BodyHandle, acting: dict[str, str]
) -> None:
    vertical, (e1, e2) = s.inertial[3], (frame[1], frame[2])
    forward = direction(project(e1, vertical))
    lateral, v = cross(vertical, forward), vel(frame.cm)
    base = s.add_point("rear.foot", body=frame, at=(0, 0, 0), coordinates_of=s.inertial)
    for name, value, label, units in (
        ("speed", dot(v, forward), "forward speed", "L/T"),
        (
            "roll",
            call_formula("asin", dot(e2, vertical)),
            "roll of the frame, positive to the right",
            "deg",
        ),
        ("steer", "q(steer)", "steering angle about the steering axis, to the left", "deg"),
        ("steering_torque", "steering", "torque that acts on the handlebar, to the left", "F*L"),
        ("yaw_rate", dot(rot(frame), vertical), "yaw rate, to the left", "deg/s"),
        ("ay", dot(dxdt(v), lateral), "lateral acceleration, to the left", "L/T**2"),
        ("ax", dot(dxdt(v), forward), "longitudinal acceleration", "L/T**2"),
        (
            "pitch",
            call_formula("atan2", -dot(e1, vertical), dot(frame[3], vertical)),
            "pitch, positive with the nose down",
            "deg",
        ),
        (
            "yaw",
            call_formula("atan2", dot(e1, s.inertial[2]), dot(e1, s.inertial[1])),
            "yaw angle, to the left",
            "deg",
        ),
        ("x", dot(pos(base), s.inertial[1]), "x of the rear contact", "L"),
        ("y", dot(pos(base), s.inertial[2]), "y of the rear contact", "L"),
        ("drive_torque", "driving", "torque that drives the rear wheel", "F*L"),
    ):
        s.add_output(name, value, label=label, units=units, body=frame)
    s.add_outputs("energy")
