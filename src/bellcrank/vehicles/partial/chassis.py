"""Vehicles with a rigid chassis on any number of axles, in space: with tyres that glide, or driven,
steered and braked.

Rims slide along the chassis' z axis. x is forward, y to the left, z up (ISO 8855).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from bellcrank.api.system import System
from bellcrank.core.errors import ModelError, did_you_mean
from bellcrank.model.describe.handles import BodyHandle
from bellcrank.model.describe.patch import SlipLaw
from bellcrank.model.describe.tyre_model import TyreModel, is_tyre
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
from bellcrank.vehicles.driver_inputs import (
    add_driver_inputs,
    add_knuckle,
    add_steering_lag,
    add_wheel,
    slip_per_axle,
    slip_with_parameters,
    spin_and_brake_problems,
)
from bellcrank.vehicles.labels import write_plain_labels
from bellcrank.vehicles.terrain.terrain import Terrain
from bellcrank.vehicles.vehicle_parts import (
    PartialVehicle,
    add_tyre_contact,
    is_number,
    mass_and_pair_problems,
    set_suspension_defaults,
    strut_force_formula,
)


@dataclass(frozen=True, kw_only=True)
class Design:
    """Rigid chassis on axles with two wheels each: what `car` and `truck` accept besides their
    axles.

    Parameters
    ----------
    axles : sequence of float
        Distance of each axle in front of the mass centre of the chassis (length).
    track : float
        Track width (length).
    mass : float
        Mass of the chassis.
    inertia : sequence of float
        Its roll, pitch and yaw moments of inertia.
    height : float
        Height of its mass centre above the ground in the reference configuration.
    rim : float
        Mass of each wheel.
    k, c, length : pair of float
        Stiffness, damping and free length of tyre and suspension.
    rolling_resistance : float, default 0.0
        Resistance per rolling speed (force per speed).
    terrain : Terrain, optional
        The ground. Default: flat.
    slip : Slip, tyre or sequence of these, optional
        Tyre forces along the ground, the same for all axles or one for each. The wheels then
        rotate, and the vehicle is driven, steered and braked. Default: none.
    spin : float, default 1.0
        Moment of inertia of a wheel about its axis.
    steered, driven : sequence of int, default (1,)
        Axles, counted from 1.
    brakes : sequence of float, optional
        Distribution of the brake torque over the axles. Default: equal.
    speed : float, default 0.0
        Initial speed.

    Examples
    --------
    >>> import bellcrank as bc
    >>> design = bc.vehicles.Design(
    ...     axles=(1.2, -1.4), track=1.5, mass=1200, inertia=(500, 1800, 2000), height=0.55,
    ...     rim=40, k=(200e3, 25e3), c=(200, 2000), length=(0.3, 0.4),
    ... )
    >>> design.problems()
    []
    """

    axles: Sequence[float]
    track: float
    mass: float
    inertia: Sequence[float]
    height: float
    rim: float
    k: Sequence[float]
    c: Sequence[float]
    length: Sequence[float]
    rolling_resistance: float = 0.0
    terrain: Terrain | None = None
    slip: SlipLaw | TyreModel | Sequence[SlipLaw | TyreModel] | None = None
    spin: float = 1.0
    steered: Sequence[int] = (1,)
    driven: Sequence[int] = (1,)
    brakes: Sequence[float] | None = None
    speed: float = 0.0

    def problems(self) -> list[str]:
        """List what is not allowed.

        Returns
        -------
        list of str
            Messages; empty if the design is valid.
        """
        problems = mass_and_pair_problems(
            {"rim": self.rim, "mass": self.mass}, {"k": self.k, "c": self.c, "length": self.length}
        )
        if (
            not _are_numbers(self.axles)
            or len(self.axles) < 2
            or len(set(self.axles)) < len(self.axles)
        ):
            return [*problems, f"axles={self.axles!r} must be at least two different numbers"]
        if (
            not _are_numbers(self.inertia)
            or len(self.inertia) != 3
            or not all(i > 0 for i in self.inertia)
        ):
            problems.append(f"inertia={self.inertia!r} must be three positive moments")
        for key, value in (("track", self.track), ("height", self.height)):
            if not is_number(value) or not value > 0:
                problems.append(f"{key}={value!r} must be positive")
        if not is_number(self.speed) or not math.isfinite(self.speed):
            problems.append(f"speed={self.speed!r} must be a finite number")
        return problems + (self._driveline_problems() if self.slip is not None else [])

    def _driveline_problems(self) -> list[str]:
        n = len(self.axles)
        is_loaded = all(is_number(x) and x > 0 for x in self.k)
        problems = [] if is_loaded else [f"k={self.k!r} must be positive to carry its weight"]
        problems += slip_per_axle(self.slip, n, space=True)[1] + spin_and_brake_problems(
            self.spin, self.shares, n
        )
        for key in ("steered", "driven"):
            value = getattr(self, key)
            axles = value if isinstance(value, tuple | list) else (0,)
            if not set(axles) <= set(range(1, n + 1)) or len(set(axles)) < len(axles):
                problems.append(f"{key}={value!r} must be different axles, counted from 1 to {n}")
            elif key == "steered" and len(value) == n:
                problems.append(f"steered={value!r}: at least one axle must not be steered")
        return problems

    @property
    def shares(self) -> Sequence[float]:
        """Of the axles in the brake torque."""
        return [1 / len(self.axles)] * len(self.axles) if self.brakes is None else self.brakes


def _are_numbers(values: Any) -> bool:
    return isinstance(values, tuple | list) and all(is_number(x) for x in values)


DRIVEN = ("spin", "steered", "driven", "brakes", "speed")  # what needs slip
TRUCK = Design(
    axles=(2.5, -1.0, -2.3),
    track=1.8,
    mass=6000.0,
    inertia=(4000.0, 20000.0, 20000.0),
    height=1.0,
    rim=200.0,
    k=(800e3, 200e3),
    c=(2000.0, 10e3),
    length=(0.5, 0.5),
    spin=10.0,
    driven=(2,),
)
CAR = Design(
    axles=(1.2, -1.4),
    track=1.5,
    mass=1200.0,
    inertia=(500.0, 1800.0, 2000.0),
    height=0.55,
    rim=40.0,
    k=(200e3, 25e3),
    c=(200.0, 2000.0),
    length=(0.3, 0.4),
)


def make_rigid_vehicle(
    name: str, usual: Design, axles: Any, overrides: dict[str, Any], axes_label: str = "axles"
) -> System:
    """The vehicle of a design with its axles, which were `axes_label`, and some of its other fields
    changed."""
    field_names = [f.name for f in fields(Design) if f.name != "axles"]
    unknown = [
        f"{name}: {k}={v!r} is not known.{did_you_mean(k, field_names)}"
        for k, v in overrides.items()
        if k not in field_names
    ]
    if unknown:
        raise ModelError(
            [*unknown[:-1], f"{unknown[-1]} It takes {axes_label}, {', '.join(field_names)}."]
        )
    design = replace(usual, axles=axles, **overrides)
    problems = design.problems()
    slip_keys = [key for key in overrides if key in DRIVEN] if design.slip is None else []
    if slip_keys:
        reason = "without slip tyres glide; steering, drive and brakes need slip=bc.Slip(...)"
        problems.append(f"{', '.join(slip_keys)}: {reason}")
    if problems:
        raise ModelError(f"{name}: " + "; ".join(problems))
    s = System(name, axes="ISO 8855")
    i_roll, i_pitch, i_yaw = design.inertia
    s.set_defaults(
        m=design.mass,
        i_roll=i_roll,
        i_pitch=i_pitch,
        i_yaw=i_yaw,
        track=design.track,
        h=design.height,
    )
    set_suspension_defaults(
        s, design.rim, design.k, design.c, design.length, design.rolling_resistance
    )
    s.set_defaults({f"x_{i}": float(x) for i, x in enumerate(design.axles, 1)})
    s.add_gravity()
    joint_options: dict[str, Any] = {
        "translate": (1, 2, 3),
        "rotate": (3, 2, 1),
        "joint_at": (0, 0, "h"),
    }
    chassis = s.add_body(
        "chassis", mass="m", inertia=("i_roll", "i_pitch", "i_yaw"), **joint_options
    )
    _add_body_shapes(s, chassis, len(design.axles))
    corners = (
        _add_rolling_wheels(s, chassis, design)
        if design.slip is not None
        else _add_frictionless_wheels(s, chassis, design)
    )
    height = dot(pos(chassis.origin), s.inertial[3])
    s.add_output("height", height, label="height of the mass centre", units="L", body=chassis)
    strain = " + ".join(
        f"{w.contact.stored} + k_strut*(l_strut - {w.name}.stroke)**2/2" for w in corners
    )
    s.add_output("strain", strain, label="energy of all springs", units="F*L")
    s.add_outputs("energy")
    s.set_run(t_end=3, step=0.001, method="rk4")
    sides = {"l": "left", "r": "right"}
    write_plain_labels(
        s, {w.name: f"the {sides[w.name[-1]]} {{}} of axle {w.name[1:-1]}" for w in corners}
    )
    return s


def _add_body_shapes(s: System, chassis: BodyHandle, axles: int) -> None:
    """The body as pictures show it: of a car, or a floor over all axles and a cabin; heights above
    the ground, from that of the wheels at rest."""
    first, last = "x_1", f"x_{axles}"
    if axles == 2:
        wheelbase = f"({first} - {last})"
        size = (
            f"1.62*{wheelbase}",
            "1.11*track",
            "4.7*l_tyre",
            wheelbase,
            "l_tyre",
            f"0.3*{wheelbase}",
        )
        s.add_shape(
            body=chassis,
            kind="car",
            size=size,
            at=(first, 0, "l_tyre - h + m*g/(4*k_strut)"),
            label="body",
        )
        return
    floor = (f"{first} - {last} + 2.6*l_tyre", "0.62*track", "0.8*l_tyre")
    s.add_shape(
        body=chassis,
        kind="box",
        size=floor,
        at=(f"({first} + {last})/2", 0, "1.3*l_tyre - h"),
        label="chassis",
    )
    cabin = (f"0.55*({first} - {last})", "0.6*track", "1.5*l_tyre")
    cabin_x = f"{first} - 0.2*({first} - {last})"
    s.add_shape(
        body=chassis,
        kind="box",
        size=cabin,
        at=(cabin_x, 0, "2.4*l_tyre - h"),
        color="#7d99b8",
        label="cabin",
    )


def _add_frictionless_wheels(
    s: System, chassis: BodyHandle, design: Design
) -> list[PartialVehicle]:
    """Wheels without slip, each pushed by a force."""
    corners = []
    for _, name, x, y in _wheel_positions(design):
        s.add_input(f"{name}.drive", units="F", label=f"driving force, wheel {name}")
        rim = _add_rim(s, chassis, name, x, y)
        corners.append(
            add_tyre_contact(s, name, rim, chassis, design.terrain, drive=f"{name}.drive")
        )
    s.set_run(inputs={f"{w.name}.drive": 0.0 for w in corners})
    return corners


def _add_rolling_wheels(s: System, chassis: BodyHandle, design: Design) -> list[PartialVehicle]:
    """Wheels that turn, steered, driven and braked."""
    axles = range(1, len(design.axles) + 1)
    slips = [
        slip_with_parameters(s, x, i)
        for i, x in enumerate(slip_per_axle(design.slip, len(axles), space=True)[0], 1)
    ]
    straight = [f"x_{i}" for i in axles if i not in design.steered]
    middle = f"({' + '.join(straight)})/{len(straight)}"
    has_input = {"steer": design.steered, "drive": design.driven, "brake": True}
    add_driver_inputs(
        s, design.spin, design.shares, *(key for key, value in has_input.items() if value)
    )
    if design.steered:
        add_steering_lag(s)
    corners = []
    for axle, name, x, y in _wheel_positions(design):
        rim = carrier = _add_rim(s, chassis, name, x, y)
        if axle in design.steered:
            carrier = add_knuckle(s, name, rim, x, y, middle, f"x_{design.steered[0]}")
        drive = f"drive/{2 * len(design.driven)}" if axle in design.driven else None
        wheel = add_wheel(s, name, carrier, drive, f"brake*share_{axle}/2")
        slip = slips[axle - 1]
        if is_tyre(slip):
            slip = slip.on("left" if y.startswith("track") else "right")
        corners.append(add_tyre_contact(s, name, rim, chassis, design.terrain, slip, wheel=wheel))
    _add_motion_outputs(s, chassis)
    s.set_run(initial=_static_initial_state(design))
    return corners


def _wheel_positions(design: Design) -> Iterator[tuple[int, str, str, str]]:
    """Axle, name, x and y of every wheel."""
    for i in range(1, len(design.axles) + 1):
        for side, sign in (("l", ""), ("r", "-")):
            yield i, f"w{i}{side}", f"x_{i}", f"{sign}track/2"


def _add_rim(s: System, chassis: BodyHandle, name: str, x: str, y: str) -> BodyHandle:
    """A rim that slides in the chassis, with its suspension."""
    rim = s.add_point_mass(
        f"{name}.rim", chassis, mass="m_rim", translate=3, joint_at=(x, y, "l_tyre - h")
    )
    top = s.add_point(f"{name}.top", body=chassis, at=(x, y, "l_tyre + l_strut - h"))
    strut_force = strut_force_formula("k_strut", "c_strut", "l_strut")
    s.add_force(
        f"{name}.strut", magnitude=strut_force, direction=chassis[3], at=top, against=rim.origin
    )
    s.define(f"{name}.stroke", dot(pos(top, rim.origin), chassis[3]))
    return rim


def _add_motion_outputs(s: System, chassis: BodyHandle) -> None:
    """What a driver feels, in the horizontal plane along and across the chassis."""
    vertical, (e1, e2, e3) = s.inertial[3], (chassis[1], chassis[2], chassis[3])
    forward = direction(project(e1, vertical))
    lateral = cross(vertical, forward)
    v = vel(chassis.cm)
    for name, value, label, units in (
        ("speed", dot(v, forward), "forward speed", "L/T"),
        ("ax", dot(dxdt(v), forward), "longitudinal acceleration", "L/T**2"),
        ("ay", dot(dxdt(v), lateral), "lateral acceleration", "L/T**2"),
        ("yaw_rate", dot(rot(chassis), vertical), "yaw rate", "deg/s"),
        (
            "pitch",
            call_formula("atan2", -dot(e1, vertical), dot(e3, vertical)),
            "pitch, positive with the nose down",
            "deg",
        ),
        (
            "roll",
            call_formula("atan2", dot(e2, vertical), dot(e3, vertical)),
            "roll, positive with the left side up",
            "deg",
        ),
    ):
        s.add_output(name, value, label=label, units=units, body=chassis)


def _static_initial_state(design: Design, g: float = 9.80665) -> dict[str, float]:
    """Initial values of a vehicle that rolls straight ahead on level ground at its static
    equilibrium.

    Heave and pitch of the chassis follow from two linear equations: springs in series under the
    chassis carry its weight without moment.
    """
    x = np.array(design.axles, dtype=float)
    k = 2 / (1 / design.k[0] + 1 / design.k[1])  # of an axle
    rim_sag = design.rim * g / design.k[0]  # sag of a tyre under its rim
    matrix = k * np.array([[len(x), x.sum()], [x.sum(), (x * x).sum()]])
    sag, pitch = np.linalg.solve(
        matrix, np.array([design.mass * g, 0.0])
    )  # of a chassis without rims
    initial = {"q(chassis, 3)": -sag - rim_sag, "q(chassis, 5)": pitch}
    initial |= {
        "u(chassis, 1)": design.speed * math.cos(pitch),
        "u(chassis, 3)": design.speed * math.sin(pitch),
    }
    for i, name, _, _ in _wheel_positions(design):
        load = k / 2 * (sag + x[i - 1] * pitch)
        initial[f"q({name}.rim)"] = load / design.k[1]
        initial[f"u({name}.wheel)"] = design.speed / (
            design.length[0] - load / design.k[0] - rim_sag
        )
    return {key: float(value) for key, value in initial.items()}
