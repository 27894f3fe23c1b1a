"""Traction control: brake torques at spinning wheels, and less drive torque when the driven wheels
spin together.

The slip speed of a wheel is omega R_e - V; its target is a fraction of the speed, and at least a
speed of its own. A wheel that spins faster than its target and than the other wheel of its axle is
braked by a proportional-integral law, so that an open differential drives the other wheel as well.
The drive torque is reduced by such a law of the mean slip speed of the driven wheels.
"""

from __future__ import annotations

from bellcrank.vehicles.cars.control.controller_context import (
    ACTIVE,
    ControllerContext,
    ControllerOutputs,
    add_bounded_state,
    clip_formula,
)
from bellcrank.vehicles.cars.design.car_data import CORNERS
from bellcrank.vehicles.cars.design.powertrain_data import front_drive_fraction
from bellcrank.vehicles.cars.keys.controller_keys import TractionControlKeys

FADES = 0.2  # of `fast`, within which the brakes of spinning wheels fade
LEAST = 0.001  # reduction of the drive torque, from which on traction control counts as active


def add_traction(
    context: ControllerContext, keys: TractionControlKeys, controls: ControllerOutputs
) -> None:
    """States, channels, brake torques and the reduction of the drive torque."""
    s = context.s
    context.add_parameters("traction", "traction control", keys)
    s.require_positive("traction_slip_speed", "traction_fast")
    front_fraction = front_drive_fraction(context.car.sections.drive)
    axle_fractions = {
        "front": ("drive_front", front_fraction),
        "rear": ("(1 - drive_front)", 1 - front_fraction),
    }
    s.define("traction.target", "max(traction_slip*abs(forward), traction_slip_speed)")
    fade = clip_formula(f"(traction_fast - forward)/({FADES}*traction_fast)", "0", "1")
    s.define("traction.brakes", f"traction_on*{fade}")
    driven = [corner for corner, (axle, _) in CORNERS.items() if axle_fractions[axle][1] > 0]
    for corner in driven:
        s.define(
            f"traction.{corner}_speed",
            f"{corner}.tyre_spin*{corner}.tyre_rolling - {corner}.tyre_vlong",
        )
    for corner in driven:
        name, other_speed = (
            f"traction.{corner}",
            f"traction.{corner[0]}{'r' if corner[1] == 'l' else 'l'}_speed",
        )
        s.define(f"{name}_above", f"{name}_speed - max(traction.target, {other_speed})")
        add_bounded_state(
            s,
            f"{name}_sum",
            f"traction_brake_rate*{name}_above",
            "traction_torque",
            "F*L",
            f"traction control: integral part of the brake torque of {corner}",
        )
        demand = clip_formula(
            f"{name}_sum + traction_brake_gain*max(0, {name}_above)", "0", "traction_torque"
        )
        s.define(name, f"traction.brakes*{demand}")
        s.add_output(name, name, label=f"traction control: brake torque of {corner}", units="F*L")
        controls.brake[corner].append(name)
    mean_speeds = [
        f"{axle_fractions[CORNERS[corner][0]][0]}/2*traction.{corner}_speed" for corner in driven
    ]
    s.define("traction.above", f"{' + '.join(mean_speeds)} - traction.target")
    add_bounded_state(
        s,
        "traction.cut_sum",
        "traction_cut_rate*traction.above",
        "1",
        "1",
        "traction control: integral part of the reduction of the drive torque",
    )
    cut = clip_formula("traction.cut_sum + traction_cut_gain*max(0, traction.above)", "0", "1")
    s.define("traction.cut", f"traction_on*{cut}")
    controls.factors.append("(1 - traction.cut)")
    s.add_output(
        "traction.cut",
        "traction.cut",
        label="traction control: reduction of the drive torque",
        units="1",
    )
    largest = (
        f"max({', '.join(f'traction.{corner}' for corner in driven)}, "
        f"{ACTIVE / LEAST!r}*traction.cut)"
    )
    s.add_output(
        "traction.active",
        f"where({largest} > {ACTIVE}, 1, 0)",
        units="1",
        label="traction control: 1 while it brakes a wheel or reduces the drive torque",
    )
