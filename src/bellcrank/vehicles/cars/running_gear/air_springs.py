"""Air springs in models: a polytropic law about the position at rest, and self-levelling of an
axle.

The force of a spring that is shorter by s than at rest is (F0 + p A) g (V/(V - A s))^n - p A, with
the force F0 and the volume V at rest, the effective area A and the pressure p of the atmosphere. So
its stiffness at rest is n (F0 + p A) A/V. g is the mass of air over that at rest: 1, or with
self-levelling one more than a state. A valve feeds air in proportion to the mean s of both springs:
g' = n A/(V T) s. Under a constant load s then vanishes with the time constant T. Gillespie,
Fundamentals of Vehicle Dynamics (1992), ch. 5.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bellcrank.api.system import System
from bellcrank.model.describe.tyre_patch import FORMULAS, formula_for_name
from bellcrank.vehicles.cars.design.axles import AxleData
from bellcrank.vehicles.cars.running_gear.wheel_carriers import WheelCarrier
from bellcrank.vehicles.cars.statics.static_equilibrium import air_volume, drawn_length
from bellcrank.vehicles.force_laws import ATMOSPHERE, SMALLEST, polytropic_air_force
from bellcrank.vehicles.model_parameters import add_si_parameter


def add_air_parameters(s: System, axle: AxleData, length: float) -> None:
    """Numbers of the air springs of an axle, whose static length is given (m)."""
    air, name = axle.record.spring.air, axle.name
    assert air is not None
    volume = air_volume(air, length, drawn_length(axle, axle.spring))
    add_si_parameter(
        s, f"a_air_{name}", air.area, "L**2", f"effective area of the {name} air springs"
    )
    add_si_parameter(s, f"v_air_{name}", volume, "L**3", f"volume of a {name} air spring at rest")
    add_si_parameter(
        s, f"n_air_{name}", air.exponent, "1", f"polytropic exponent of the {name} air springs"
    )
    s.require_positive(f"a_air_{name}", f"v_air_{name}", f"n_air_{name}")


def air_spring_force(axle: AxleData, force: Any, shorter: Any) -> Any:
    """Force of an air spring that is shorter than at rest."""
    assert axle.record.spring.air is not None
    area, volume, n = (formula_for_name(f"{symbol}_air_{axle.name}") for symbol in "avn")
    remaining_volume = FORMULAS.max(SMALLEST * volume, volume - area * shorter)
    if axle.record.spring.air.levelling_time is not None:
        force = force + formula_for_name(f"{axle.name}.level") * (force + ATMOSPHERE * area)
    return polytropic_air_force(force, area, n, volume / remaining_volume)


def add_self_levelling(s: System, axle: AxleData, mounts: Mapping[str, WheelCarrier]) -> None:
    """The valve of an axle, a state: it feeds air until both springs have their mean length at
    rest."""
    air, name = axle.record.spring.air, axle.name
    if air is None or air.levelling_time is None:
        return
    time = add_si_parameter(
        s,
        f"t_level_{name}",
        air.levelling_time,
        "T",
        f"time constant of the self-levelling, {name}",
    )
    s.require_positive(time)
    lengths = []
    for corner in (f"{name[0]}l", f"{name[0]}r"):
        a, b = (mounts[corner].hard_point(end).name for end in axle.spring)
        lengths.append(f"mag(pos({a}) - pos({b}))")
    s.define(f"{name}.lowered", f"l_static_{name} - ({' + '.join(lengths)})/2")
    rate = f"n_air_{name}*a_air_{name}/(v_air_{name}*{time})*{name}.lowered"
    s.add_state(
        f"{name}.level",
        rate=rate,
        units="1",
        label=f"air fed into the {name} springs over that at rest",
    )
