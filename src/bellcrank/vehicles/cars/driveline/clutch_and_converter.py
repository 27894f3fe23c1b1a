"""Friction clutch or torque converter between the gears and a motor whose speed is independent of
the wheels.

The speed w of the motor is a state, J w' = T - T_in. Its torque T is what is asked for, between
drag and full load of the maps; a governor keeps the idle speed. A clutch transmits a friction
torque that sticks. It closes as the motor turns faster than idle; for a gear change and for hard
braking it is opened, and the motor gives no torque. A torque converter takes T_in = k(n) w^2 and
gives T_out = m(n) T_in, with the speed ratio n of turbine and pump; above n = 1 the turbine drives
the pump by the same law, without multiplication. A lock-up clutch is parallel to it.
"""

from __future__ import annotations

from collections.abc import Sequence

from bellcrank.api.system import System
from bellcrank.symbolic.expr.table import table
from bellcrank.vehicles.cars.design.powertrain_data import clutch_opening_speed, gear_ratios
from bellcrank.vehicles.cars.driveline.gearbox import CLUTCH, GEAR, add_pedal, power_flow_sign
from bellcrank.vehicles.cars.keys.car_keys import DrivelineKeys
from bellcrank.vehicles.driver_inputs import RING, add_dry_friction
from bellcrank.vehicles.model_parameters import add_si_parameter

MOTOR = "driveline.motor"
GOVERNOR = 0.05  # of idle speed, below it, within which the governor gives all torque
CLOSES = 0.5  # of idle speed, above it, within which a clutch closes
LOCKS = 0.1  # of its speed, above it, within which a lock-up clutch closes
SHIFTS = 0.1  # of a gear, outside which a clutch is opened for its change


def add_clutch_or_converter(
    s: System,
    driveline: DrivelineKeys,
    drive: str,
    weight: float,
    spin_inertia: float,
    factors: Sequence[str],
) -> None:
    """Defines driving, the drive torque at the wheels, and what the motor does; `drive` is what is
    asked for there,
    `weight` that of the car times the radius of its wheels, `spin_inertia` that of the driven
    wheels (kg m^2),
    `factors` what controllers reduce the motor torque by."""
    idle = add_si_parameter(
        s, "idle", clutch_opening_speed(driveline), "A/T", "idle speed of the motor"
    )
    add_si_parameter(s, "i_motor", driveline.inertia, "M*L**2", "moment of inertia of the motor")
    add_si_parameter(
        s, "efficiency", driveline.efficiency, "1", "efficiency from gears to wheels", (0.5, 1.0)
    )
    s.require_positive("idle", "i_motor", "efficiency")
    s.define("gear_spin", "gear_sign*driven_spin*ratio")
    has_gears = len(driveline.gears or ()) > 1
    s.define("engaged", f"max(0, 1 - abs(gear_wanted - {GEAR})/{SHIFTS})" if has_gears else "1")
    s.define("motor_wanted", f"gear_sign*({drive})/ratio")
    at_motor = "motor_wanted/where(motor_wanted > 0, efficiency, 1/efficiency)"
    s.define("motor_asked", f"max(-motor_drags, min(motor_most, {at_motor}))")
    by_driver = f"motor_asked*where(motor_asked > 0, {'*'.join(factors) or '1'}, 1)"
    if driveline.clutch is not None:
        input_torque = output_torque = _add_clutch(s, driveline, weight, spin_inertia)
        by_driver = f"({CLUTCH}*{by_driver} - (1 - {CLUTCH})*motor_drags)"
    else:
        input_torque, output_torque = _add_torque_converter(s, driveline, spin_inertia)
    s.define("governor", f"max(0, min(1, ({idle} - {MOTOR})/({GOVERNOR}*{idle})))")
    s.define("motor_gives", f"governor*motor_most + (1 - governor)*{by_driver}")
    s.define("motor_takes", input_torque)
    s.add_state(
        MOTOR, rate="(motor_gives - motor_takes)/i_motor", units="A/T", label="speed of the motor"
    )
    s.define("gear_torque", output_torque)
    s.define(
        "gear_efficiency",
        f"efficiency**({power_flow_sign('gear_torque', 'gear_sign*driven_spin')})",
    )
    s.define("driving", "gear_sign*ratio*gear_torque*gear_efficiency")
    s.add_output("motor_torque", "motor_gives", label="motor torque", units="F*L")
    s.add_output("motor_power", f"motor_gives*{MOTOR}", label="power of the motor", units="F*L/T")
    s.add_output(
        "coupling_loss",
        f"motor_takes*{MOTOR} - gear_torque*gear_spin",
        units="F*L/T",
        label="power lost in clutch or torque converter",
    )
    s.add_output(
        "gear_loss",
        "gear_torque*gear_spin*(1 - gear_efficiency)",
        label="power lost in the gears",
        units="F*L/T",
    )


def _friction_clutch_torque(
    s: System, name: str, limit: str, driveline: DrivelineKeys, spin_inertia: float, label: str
) -> str:
    """The torque of a friction clutch between motor and gears, elastic by the inertias that it
    joins in first gear."""
    wheels = spin_inertia / gear_ratios(driveline)[0] ** 2
    k = RING**2 * driveline.inertia * wheels / (driveline.inertia + wheels)
    add_si_parameter(s, f"k_{name}", k, "F*L/A", f"elasticity of {label} and shafts")
    add_dry_friction(s, f"driveline.{name}", f"({MOTOR} - gear_spin)", limit, f"k_{name}", label)
    s.add_output(
        f"{name}_torque", f"driveline.{name}.held", label=f"torque of the {label}", units="F*L"
    )
    return f"driveline.{name}.held"


def _add_clutch(s: System, driveline: DrivelineKeys, weight: float, spin_inertia: float) -> str:
    """The torque of a clutch; its pedal is pressed in gear changes and for hard braking."""
    assert driveline.clutch is not None
    add_si_parameter(
        s, "clutch_most", driveline.clutch.torque, "F*L", "largest torque of the clutch"
    )
    add_pedal(s, driveline, weight, "engaged")
    s.define("clutch", f"{CLUTCH}*max(0, min(1, ({MOTOR} - idle)/({CLOSES}*idle)))")
    s.add_output("clutch", "clutch", label="clutch: 0 open, 1 closed", units="1")
    return _friction_clutch_torque(
        s, "clutch", "clutch_most*clutch**2", driveline, spin_inertia, "clutch"
    )


def _add_torque_converter(
    s: System, driveline: DrivelineKeys, spin_inertia: float
) -> tuple[str, str]:
    """What a torque converter with its lock-up clutch takes from the motor, and gives to the
    gears."""
    converter = driveline.converter
    assert converter is not None
    for name, points in (
        ("converter_ratio", converter.torque_ratio),
        ("converter_capacity", converter.capacity),
    ):
        s.define(name, table(*(list(column) for column in zip(*points))))
    s.define("speed_ratio", f"max(0, gear_spin)/max({MOTOR}, 1)")
    s.define("slower", "where(speed_ratio > 1, 1/max(speed_ratio, 1), speed_ratio)")
    s.define(
        "pump", f"where(speed_ratio > 1, -gear_spin**2, {MOTOR}**2)*converter_capacity(slower)"
    )
    s.define("turbine", "pump*where(speed_ratio > 1, 1, converter_ratio(slower))")
    s.add_output("speed_ratio", "speed_ratio", label="speed of turbine over pump", units="1")
    s.add_output("pump_torque", "pump", label="torque of the pump of the converter", units="F*L")
    s.add_output(
        "turbine_torque", "turbine", label="torque of the turbine of the converter", units="F*L"
    )
    if converter.lock_speed is None:
        return "pump", "turbine"
    add_si_parameter(
        s,
        "lock_speed",
        converter.lock_speed,
        "A/T",
        "speed of the turbine at which the lock-up clutch closes",
    )
    add_si_parameter(
        s, "lock_most", converter.lock_torque, "F*L", "largest torque of the lock-up clutch"
    )
    s.require_positive("lock_speed")
    lock_factor = f"engaged*max(0, min(1, (gear_spin - lock_speed)/({LOCKS}*lock_speed)))"
    lock_torque = _friction_clutch_torque(
        s, "lock_up", f"lock_most*{lock_factor}", driveline, spin_inertia, "lock-up clutch"
    )
    return f"pump + {lock_torque}", f"turbine + {lock_torque}"
