"""Cruise control: a proportional-integral law of the speed error, within an acceleration and a
deceleration.

A model with a driver has none: the driver keeps the speed there. Cruise control waits while the
brake pedal is pressed.
"""

from __future__ import annotations

from dataclasses import replace

from bellcrank.vehicles.cars.control.controller_context import (
    ACTIVE,
    ControllerContext,
    clip_formula,
)
from bellcrank.vehicles.cars.keys.controller_keys import CruiseControlKeys

COASTS = 0.05  # of the weight, as a force of the drive that decelerates; more is left to the brakes


def add_cruise(
    context: ControllerContext, keys: CruiseControlKeys, commands: dict[str, str], speed: float
) -> dict[str, str]:
    """What the model takes for drive and brake; `speed`: that with which the model begins (m/s)."""
    s = context.s
    context.add_parameters("cruise", "cruise control", replace(keys, speed=None))
    s.add_input("cruise_speed", units="L/T", label="speed that cruise control keeps")
    s.set_run(inputs={"cruise_speed": speed if keys.speed is None else keys.speed})
    mass_radius = (
        context.at_rest.mass
        * (context.rolling_radius("front") + context.rolling_radius("rear"))
        / 2
    )
    s.add_parameter(
        "cruise_reach",
        mass_radius,
        units="M*L",
        label="cruise control: mass times radius of the wheels",
    )
    s.define("cruise.on", f"cruise_on*where(({commands['brake']}) > {ACTIVE}, 0, 1)")
    s.define("cruise.error", "cruise_speed - forward")
    acceleration = "cruise_gain*cruise.error + cruise.sum"
    s.define(
        "cruise.wanted", clip_formula(acceleration, "-cruise_deceleration", "cruise_acceleration")
    )
    # the integral waits at the limits
    unlimited = f"where(abs(cruise.wanted - ({acceleration})) > 0, 0, 1)"
    s.add_state(
        "cruise.sum",
        rate=f"cruise.on*{unlimited}*cruise_rate*cruise.error",
        units="L/T**2",
        label="cruise control: integral part of the acceleration",
    )
    s.define("cruise.torque", "cruise.on*cruise_reach*cruise.wanted")
    coasting_torque = f"{COASTS}*g*cruise_reach"
    s.define("cruise.drive", f"max(-{coasting_torque}, cruise.torque)")
    s.define("cruise.brake", f"max(0, -cruise.torque - {coasting_torque})")
    for name, label in (("drive", "drive torque"), ("brake", "brake torque")):
        s.add_output(
            f"cruise.{name}",
            f"cruise.{name}",
            label=f"cruise control: {label}, all wheels",
            units="F*L",
        )
    s.add_output(
        "cruise.active", "cruise.on", label="cruise control: 1 while it keeps the speed", units="1"
    )
    return commands | {
        "drive": f"({commands['drive']} + cruise.drive)",
        "brake": f"({commands['brake']} + cruise.brake)",
    }
