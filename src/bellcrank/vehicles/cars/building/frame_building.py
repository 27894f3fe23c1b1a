"""The body of a car whose frame twists, as parts of a System.

Body `chassis` has no mass. It has the axes of the front part and the mass centre of the whole
sprung mass as drawn, so that channels, driver and controllers are those of a rigid car.
`chassis_front` is fixed to it. `frame` turns about the axis of torsion and carries `chassis_rear`,
whose axes are those of the car while the frame is not twisted.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from bellcrank.api.system import System
from bellcrank.model.describe.handles import BodyHandle
from bellcrank.model.formula import call_formula, dot
from bellcrank.vehicles.cars.design.car_data import CarData
from bellcrank.vehicles.cars.design.frame_data import FrameData
from bellcrank.vehicles.cars.design.mass_properties import Array, RigidMassProperties
from bellcrank.vehicles.cars.design.trailer_data import CHASSIS, CHASSIS_FRONT, CHASSIS_REAR
from bellcrank.vehicles.model_parameters import add_si_parameter

FRAME = "frame"
MOMENTS = {"roll": (0, 0), "pitch": (1, 1), "yaw": (2, 2), "xz": (0, 2), "xy": (0, 1), "yz": (1, 2)}
CENTRE = ("cg_x", "cg_y", "cg_z")  # parameters of the sprung mass


def chassis_parts(s: System, car: CarData, chassis: BodyHandle) -> Mapping[str, BodyHandle]:
    """The bodies that carry "front" and "rear": one, or two on a frame, which are added."""
    if car.frame is None:
        return {"front": chassis, "rear": chassis}
    rear = _add_frame_parts(s, car.frame, chassis)
    _add_torsion(s, car.frame, chassis, rear)
    return {"front": chassis, "rear": rear}


def inertia_parameters(
    s: System, inertia: Array, name: str, owner: str
) -> tuple[tuple[str | int, ...], ...]:
    """Parameters i_roll and so on, with `name` behind, for what is not zero; and the matrix of
    them."""
    names: dict[tuple[int, int], str | int] = {}
    for axis_name, (i, j) in MOMENTS.items():
        value = float(inertia[i, j])
        names[i, j] = names[j, i] = (
            add_si_parameter(
                s, f"i_{axis_name}{name}", value, "M*L**2", f"inertia of {owner}, {axis_name}"
            )
            if value
            else 0
        )
    return tuple(tuple(names[i, j] for j in range(3)) for i in range(3))


def _add_frame_parts(s: System, frame: FrameData, chassis: BodyHandle) -> BodyHandle:
    """Both parts by the sprung mass: their fractions of it and the distance of their mass
    centres."""
    front_fraction = add_si_parameter(
        s,
        "part_front",
        frame.front_mass_fraction,
        "1",
        "mass of the front part of the body over the sprung mass",
        (0, 1),
    )
    label = "mass centre of the front part of the body from that of the rear part"
    cg_offset = frame.front.cg - frame.rear.cg
    offsets = [
        add_si_parameter(s, f"apart_{a}", float(d), "L", f"{label}, {a}") if d else "0"
        for a, d in zip("xyz", cg_offset)
    ]
    part_formulas = {
        "front": (f"{front_fraction}*m_body", f"+ (1 - {front_fraction})*"),
        "rear": (f"(1 - {front_fraction})*m_body", f"- {front_fraction}*"),
    }

    def body(
        name: str, parent: BodyHandle, part_name: str, sprung: RigidMassProperties, position: Array
    ) -> BodyHandle:
        mass, cm_factor = part_formulas[part_name]
        cm = tuple(f"{c} {cm_factor}{d}" for c, d in zip(CENTRE, offsets, strict=True))
        inertia = inertia_parameters(
            s, sprung.inertia, f"_{part_name}", f"the {part_name} part of the body"
        )
        return s.add_body(
            name,
            parent=parent,
            joint_at=tuple(position.tolist()),
            mass=mass,
            cm=cm,
            inertia=inertia,
            label=f"{part_name} part of the body",
        )

    body(CHASSIS_FRONT, chassis, "front", frame.front, np.zeros(3))
    axis = s.add_body(
        FRAME,
        parent=chassis,
        rotate=1,
        joint_at=tuple(frame.joint.tolist()),
        mass=0,
        inertia=0,
        label="torsion of the frame",
    )
    return body(CHASSIS_REAR, axis, "rear", frame.rear, -frame.joint)


def _add_torsion(s: System, frame: FrameData, chassis: BodyHandle, rear: BodyHandle) -> None:
    k = add_si_parameter(s, "k_frame", frame.stiffness, "F*L/A", "torsional stiffness of the frame")
    c = add_si_parameter(s, "c_frame", frame.damping, "F*L*T/A", "torsional damping of the frame")
    s.define("frame_torsion", f"-{k}*q({FRAME}) - {c}*u({FRAME})")
    s.add_moment(
        "frame.torsion",
        magnitude="frame_torsion",
        direction=chassis[1],
        on=rear,
        against=chassis,
        label="torque of the frame on the rear part of the body",
    )
    label = "twist of the frame: roll of the rear part of the body against the front part"
    s.add_output("frame_twist", f"q({FRAME})", label=label, units="deg")
    s.add_output(
        "frame_torque",
        "frame_torsion",
        label="torque of the frame on the rear part of the body",
        units="F*L",
    )


def add_rear_roll(s: System, body_parts: Mapping[str, BodyHandle]) -> None:
    """The roll angle of the rear part of a body on a frame, and the name of that of the front
    part."""
    rear, vertical = body_parts["rear"], s.inertial[3]
    if rear.name == CHASSIS:
        return
    for output in s.description.outputs:
        if output.name == "roll":
            output.label = "roll angle of the front part of the body"
    angle = call_formula("atan2", dot(rear[2], vertical), dot(rear[3], vertical))
    s.add_output(
        "roll_rear", angle, label="roll angle of the rear part of the body", units="deg", body=rear
    )
