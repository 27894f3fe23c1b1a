"""What a driver acts on: steering, drive and brakes of wheels that turn, as inputs `steer`, `drive`
and `brake`.

Signs as in ISO 8855: x forward, y to the left, z up; a positive steering angle turns to the left.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from bellcrank.api.system import System
from bellcrank.core.units import unit_system
from bellcrank.model.describe.handles import BodyHandle
from bellcrank.model.describe.patch import MIN_MAGNITUDE, is_law
from bellcrank.model.describe.slip import SLIDING_TIME_CONSTANT
from bellcrank.model.describe.tyre_model import is_tyre
from bellcrank.vehicles.vehicle_parts import is_number

LAG = 0.02  # s, of the rack behind the driver and of each wheel behind the rack
RING = 250.0  # rad/s, of a wheel on the elasticity of its brake
HELD = 0.004  # s, damping of that elasticity
FADES = 20.0  # s, with which friction of leaves and of hitches vanishes at rest
# N m: what is less is rounding of a state, such as lagging brakes, and must not press pads on
LEAST = 1e-3
FACTORS = {
    "mu": "friction",
    "friction": "friction",
    "longitudinal": "longitudinal slip stiffness",
    "cornering": "cornering stiffness",
    "camber": "camber stiffness",
    "c_slip": "longitudinal slip stiffness",
    "c_alpha": "cornering stiffness",
    "umax": "friction without slip",
    "umin": "friction in full sliding",
    "LFZO": "factor of nominal load",
    **{
        key: f"factor of {words}"
        for key, words in {
            "LMUX": "longitudinal friction",
            "LMUY": "lateral friction",
            "LKX": "longitudinal slip stiffness",
            "LKY": "cornering stiffness",
            "LTR": "pneumatic trail",
            "LMY": "rolling resistance",
            "LMX": "overturning moment",
            "LVMX": "shift of the overturning moment",
            "LKYC": "camber stiffness",
            "LKZC": "aligning moment by camber",
            "LSGKP": "longitudinal relaxation length",
            "LSGAL": "lateral relaxation length",
            "LCX": "longitudinal shape",
            "LCY": "lateral shape",
            "LEX": "longitudinal curvature",
            "LEY": "lateral curvature",
            "LHX": "shift of longitudinal slip",
            "LHY": "shift of the slip angle",
            "LVX": "shift of the longitudinal force",
            "LVY": "shift of the lateral force",
            "LRES": "residual aligning moment",
            "LXAL": "longitudinal force by slip angle",
            "LYKA": "lateral force by longitudinal slip",
            "LVYKA": "lateral force by driving and braking",
            "LS": "lever of the longitudinal force",
            "LMP": "moment of parking",
            "LMUV": "friction by sliding speed",
            "LGAX": "longitudinal force by camber",
            "LGAY": "lateral force by camber",
            "LGAZ": "aligning moment by camber",
            "LGYR": "gyroscopic moment",
            "LCZ": "vertical stiffness",
            "LIP": "pressure",
        }.items()
    },
}  # of tyre models, by their names there
USUAL = {"steer": (-4.0, 4.0), "drive": (-1000.0, 2000.0), "brake": (0.0, 6400.0)}  # deg, N m
INPUTS = {
    "steer": ("deg", "steering angle"),
    "drive": ("F*L", "drive torque"),
    "brake": ("F*L", "brake torque"),
}


def add_steering_lag(s: System) -> None:
    """The steering angle as it reaches the wheels: a lag, so that an input may jump."""
    s.add_state(
        "rack", rate="(steer - rack)/t_steer", units="A", label="steering angle after a lag"
    )
    s.set_defaults(t_steer=LAG)
    s.set_units(t_steer="T")
    s.require_positive("t_steer")
    s.set_labels(t_steer="lag of rack and wheels")


def add_knuckle(
    s: System, name: str, rim: BodyHandle, x: str, y: str, axis: str, first: str
) -> BodyHandle:
    """A carrier that turns a wheel at (x, y) about z so that all go round a point of x = `axis`
    (Ackermann).

    A wheel in the middle at x = `first` would have the angle of the rack. The wheel follows with a
    lag, by a speed that is removed: it adds no degree of freedom.
    """
    knuckle = s.add_body(f"{name}.knuckle", rim, rotate=3, mass=0, inertia=0)
    arm = f"({first} - ({axis}))"
    ackermann_angle = f"atan2(({x} - ({axis}))/{arm}*sin(rack), cos(rack) - ({y})/{arm}*sin(rack))"
    lag = f"u({knuckle.name}) - ({ackermann_angle} - q({knuckle.name}))/t_steer"
    s.add_constraint(lag, eliminate=knuckle.u[1], label=f"steering of {name}")
    return knuckle


def add_wheel(
    s: System, name: str, carrier: BodyHandle, drive: str | None, brake: str
) -> BodyHandle:
    """A wheel that turns in its carrier, with its part of the driving and of the brake torque."""
    wheel = s.add_body(
        f"{name}.wheel", carrier, rotate=2, mass=0, inertia=("i_spin/2", "i_spin", "i_spin/2")
    )
    add_brake(s, name, f"u({wheel.name})", f"max(0, {brake})")
    for suffix, moment, label in (("driven", drive, "drive"), ("braked", f"-{name}.held", "brake")):
        if moment is not None:
            s.add_moment(
                f"{name}.{suffix}",
                magnitude=moment,
                direction=carrier[2],
                on=wheel,
                against=carrier,
                label=f"{label} of {name}",
            )
    return wheel


def add_brake(s: System, name: str, spin: str, limit: str, k: str = "k_brake") -> None:
    """A brake with a moment of at most `limit`, called <name>.held."""
    add_dry_friction(s, name, spin, limit, k, f"brake of {name}")
    s.add_output(f"{name}.held", f"{name}.held", label=f"brake torque of {name}", units="F*L")


def add_dry_friction(
    s: System, name: str, spin: str, limit: str, k: str, label: str, damping: float = HELD
) -> None:
    """Dry friction of at most `limit` that sticks: elastic below it with the stiffness `k`, as the
    tyre is on the ground; `damping` is that of the elasticity over `k` (s). The moment is called
    <name>.held."""
    pad, max_torque, elastic_torque = f"{name}.pad", f"{name}.most", f"{name}.hold"
    s.define(max_torque, limit)
    s.define(elastic_torque, f"sqrt(({k}*{pad})**2 + {MIN_MAGNITUDE**2})")
    slip_rate = (
        f"{spin} - max(0, {elastic_torque} - "
        f"{max_torque})/{elastic_torque}/{SLIDING_TIME_CONSTANT}*{pad}"
    )
    s.define(
        f"{pad}_rate", f"where({max_torque} > {LEAST}, {slip_rate}, -{pad}/{SLIDING_TIME_CONSTANT})"
    )
    s.add_state(pad, rate=f"{pad}_rate", units="A", label=f"elastic turn of the {label}")
    s.define(
        f"{name}.held", f"min({max_torque}, max(-{max_torque}, {k}*({pad} + {damping}*{pad}_rate)))"
    )


def slip_with_parameters(s: System, slip: Any, index: int | str, words: str = "") -> Any:
    """The slip of an axle with parameters in place of its numbers; of a tyre model, in place of its
    scale factors.
    `words`: the tyres of a tyre model in labels."""
    if is_tyre(slip):
        names = {key: f"{key}_{index}" for key in slip.scales}
        for key, value in slip.scales.items():
            label = f"{FACTORS.get(key, key)} of {words or f'the {index} tyres'}"
            s.add_parameter(
                names[key], value, units=_tyre_parameter_unit(s, slip, key), label=label
            )
        return tyre_with_parameter_names(slip, names, index)

    def parameter(key: str, value: Any, units: str) -> str:
        name = f"{key}_{index}"
        s.set_defaults({name: value})
        s.set_units({name: units})
        s.require_positive(name)
        return name

    return slip.with_parameters(parameter)


def _tyre_parameter_unit(s: System, tyre: Any, key: str) -> str:
    """The unit of a parameter of a tyre model, where the model computes in SI units, as tyres
    do."""
    unit = getattr(tyre, "units_of_scales", {}).get(key, "1")
    return unit if unit_system(s.description.units).parse_unit(unit).factor == 1.0 else "1"


def tyre_with_parameter_names(tyre: Any, names: Mapping[str, str], index: int | str) -> Any:
    """A tyre with the names of its parameters, and of the table of its coefficients, in a model."""
    table_name = {"named_numbers": f"tyre_{index}"} if hasattr(tyre, "with_formulas") else {}
    return replace(tyre, named_scales=names, **table_name)


def slip_per_axle(slip: Any, axles: int, space: bool) -> tuple[list[Any], list[str]]:
    """One slip or tyre model per axle, and what is wrong with them."""
    slips: Sequence[Any] = [slip] * axles if is_law(slip) or is_tyre(slip) else slip
    if (
        not isinstance(slips, tuple | list)
        or len(slips) != axles
        or not all(is_law(x) or is_tyre(x) for x in slips)
    ):
        return [], [f"slip={slip!r} must be one bc.Slip, or one for each of the {axles} axles"]
    problems = [f"slip: {p}" for x in slips for p in x.problems()]
    if space and not all(x.has_side_force for x in slips):
        problems.append(
            "slip: cornering=None has no lateral force; a vehicle in space needs a "
            "cornering stiffness"
        )
    if not space and any(x.has_side_force for x in slips):
        problems.append("slip: a vehicle in the plane has no lateral force; leave cornering out")
    return list(slips), list(dict.fromkeys(problems))


def spin_and_brake_problems(spin: Any, fractions: Any, axles: int) -> list[str]:
    problems = (
        []
        if is_number(spin) and spin > 0
        else [f"spin={spin!r}: the moment of inertia must be positive"]
    )
    are_fractions = (
        isinstance(fractions, tuple | list)
        and len(fractions) == axles
        and all(is_number(x) and x >= 0 for x in fractions)
    )
    if not are_fractions or abs(sum(fractions) - 1) > 1e-9:
        problems.append(
            f"brakes={fractions!r} must be {axles} shares, none negative, that add up to 1"
        )
    return problems


def add_driver_inputs(s: System, spin: float, shares: Sequence[float], *inputs: str) -> None:
    """Inputs of the driver, zero unless given, and the parameters of wheels and brakes."""
    for name in inputs:
        units, label = INPUTS[name]
        s.add_input(name, units=units, label=label, range=USUAL[name])
    s.set_run(inputs=dict.fromkeys(inputs, 0.0))
    s.set_defaults(i_spin=spin, k_brake=RING**2 * spin)
    s.set_units(i_spin="M*L**2", k_brake="F*L/A")
    s.require_positive("i_spin", "k_brake")
    s.set_labels(
        i_spin="moment of inertia of a wheel about its axis", k_brake="elasticity of a brake"
    )
    for i, x in enumerate(shares, 1):
        s.add_parameter(
            f"share_{i}", float(x), label=f"fraction of the brake torque on axle {i}", range=(0, 1)
        )
