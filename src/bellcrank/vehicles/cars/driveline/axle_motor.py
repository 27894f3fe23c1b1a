"""Electric motors of single axles: a torque within the largest torque, power and speed, through a
fixed ratio."""

from __future__ import annotations

from bellcrank.api.system import System
from bellcrank.model.describe.handles import BodyHandle
from bellcrank.vehicles.cars.driveline.gearbox import power_flow_sign
from bellcrank.vehicles.cars.keys.car_keys import AxleMotorKeys
from bellcrank.vehicles.model_parameters import add_si_parameter

FADES = 0.02  # of the largest speed, below it, within which the drive torque vanishes


def add_axle_motor(
    s: System, axle: str, keys: AxleMotorKeys, torque_demand: str, chassis: BodyHandle
) -> str:
    """The torque of an axle at its wheels, by name; `torque_demand` is what the driver asks of
    it."""
    motor = f"{axle}.motor"
    torque = add_si_parameter(
        s, f"torque_motor_{axle}", keys.torque, "F*L", f"largest torque of the {axle} motor"
    )
    ratio = add_si_parameter(
        s,
        f"ratio_motor_{axle}",
        keys.ratio,
        "1",
        f"speed of the {axle} motor over that of the wheels",
    )
    eta = add_si_parameter(
        s,
        f"efficiency_motor_{axle}",
        keys.efficiency,
        "1",
        f"efficiency of the {axle} motor to the wheels",
    )
    regeneration = add_si_parameter(
        s,
        f"regeneration_{axle}",
        keys.regeneration,
        "1",
        f"braking over drive torque of the {axle} motor",
    )
    s.require_positive(ratio, eta)
    spin = f"(u({axle[0]}l.wheel) + u({axle[0]}r.wheel))/2"
    s.define(f"{motor}_spin", f"{ratio}*{spin}")
    s.define(f"{motor}_asked", f"({torque_demand})/{ratio}")
    s.define(f"{motor}_sign", power_flow_sign(f"{motor}_asked", spin))
    s.define(f"{motor}_efficiency", f"{eta}**{motor}_sign")
    torque_limit = torque
    if keys.power is not None:
        power = add_si_parameter(
            s, f"power_motor_{axle}", keys.power, "F*L/T", f"largest power of the {axle} motor"
        )
        torque_limit = f"min({torque}, {power}/max(abs({motor}_spin), 1))"
    limit = f"{torque_limit}*(1 + (1 - {regeneration})*min(0, {motor}_sign))"
    if keys.speed is not None:
        top_speed = add_si_parameter(
            s, f"speed_motor_{axle}", keys.speed, "A/T", f"largest speed of the {axle} motor"
        )
        s.require_positive(top_speed)
        # what accelerates the motor fades at its largest speed, what brakes it does not
        fade_factor = f"max(0, min(1, ({top_speed} - abs({motor}_spin))/({FADES}*{top_speed})))"
        limit += f"*where({motor}_sign > 0, {fade_factor}, 1)"
    s.define(f"{motor}_limit", limit)
    s.define(
        f"{motor}_torque",
        f"max(-{motor}_limit, min({motor}_limit, {motor}_asked/{motor}_efficiency))",
    )
    s.define(f"{axle}.drive", f"{ratio}*{motor}_torque*{motor}_efficiency")
    s.add_output(
        f"{motor}_torque", f"{motor}_torque", label=f"torque of the {axle} motor", units="F*L"
    )
    s.add_output(f"{motor}_speed", f"{motor}_spin", label=f"speed of the {axle} motor", units="rpm")
    s.add_output(
        f"{motor}_power",
        f"{motor}_torque*{motor}_spin",
        label=f"power of the {axle} motor",
        units="F*L/T",
    )
    loss = f"{motor}_torque*{motor}_spin*(1 - {motor}_efficiency)"
    s.add_output(
        f"{motor}_loss", loss, label=f"power lost between {axle} motor and wheels", units="F*L/T"
    )
    if keys.inertia > 0:
        add_si_parameter(
            s, f"i_motor_{axle}", keys.inertia, "M*L**2", f"moment of inertia of the {axle} motor"
        )
        rotor = s.add_body(
            motor,
            parent=chassis,
            rotate=2,
            mass=0,
            inertia=(0, f"i_motor_{axle}", 0),
            label=f"rotor of the {axle} motor",
        )
        s.add_constraint(
            f"u({motor}) - {ratio}*{spin}", eliminate=rotor.u[1], label=f"gears of the {axle} motor"
        )
    return f"{axle}.drive"
