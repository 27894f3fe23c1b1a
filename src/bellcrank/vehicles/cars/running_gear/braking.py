"""Brakes of the wheels of a car, and ABS, also of trailers: a law in the compiled program that
holds the slip, not a valve that pulses.

ABS of a wheel lets the share p of the driver's moment through, p = clip(i + P (s0 - s), 0, 1), with
the slip s = 1 - omega R_e/V of the wheel and its aim s0; i is a state between 0 and 1, i' = I (s0 -
s). Near standstill it lets go.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from bellcrank.api.system import System
from bellcrank.model.describe.handles import BodyHandle
from bellcrank.vehicles.cars.design.car_data import CORNERS, CarData
from bellcrank.vehicles.cars.design.trailer_data import SIDES, SimpleAxle
from bellcrank.vehicles.cars.keys.controller_keys import AbsKeys
from bellcrank.vehicles.driver_inputs import RING, add_brake
from bellcrank.vehicles.model_parameters import add_si_parameter

STOPS = 0.01  # s, with which the state of ABS comes to rest at its ends


def add_brakes(
    s: System,
    car: CarData,
    wheels: dict[str, BodyHandle],
    carriers: dict[str, BodyHandle],
    body_parts: Mapping[str, BodyHandle],
    brake: str,
    controlled: Mapping[str, Sequence[str]],
) -> None:
    """Brake torques between wheels and carriers or parts of the body; `brake` is their sum as the
    driver asks for it,
    `controlled` what controllers add at wheels."""
    brakes = car.sections.brakes
    add_si_parameter(
        s,
        "brake_front",
        brakes.front_share,
        "1",
        "fraction of the brake torque on the front axle",
        (0, 1),
    )
    limit = f"max(0, {brake})"
    if brakes.torque is not None:
        max_torque = add_si_parameter(s, "brake_most", brakes.torque, "F*L", "largest brake torque")
        limit = f"min({max_torque}, {limit})"
    s.define("braking", limit)
    abs_factors = (
        {}
        if brakes.abs is None
        else add_abs(s, brakes.abs, "abs", "ABS", _brake_circuits(car, brakes.abs))
    )
    for axle in (car.front, car.rear):
        k = RING**2 * axle.record.wheel.spin_inertia
        add_si_parameter(s, f"k_brake_{axle.name}", k, "F*L/A", f"elasticity of {axle.name} brakes")
    ratios = {
        a.name: add_si_parameter(
            s,
            f"brake_ratio_{a.name}",
            a.car_axle_keys.brake_ratio,
            "1",
            f"brake torque of axle {a.name} over that of the rear axle",
        )
        for a in car.added_axles
    }
    rear = (
        f"(1 - brake_front)/(1 + {' + '.join(ratios.values())})" if ratios else "(1 - brake_front)"
    )
    for name, (axle_name, _) in CORNERS.items():
        fraction = "brake_front" if axle_name == "front" else rear
        wheel_demand = " + ".join([f"{name}.brake_torque", *controlled[name]])
        demand = f"max(0, braking*{fraction}/2 + {wheel_demand})"
        add_brake(
            s,
            name,
            f"u({name}.wheel)",
            f"{demand}{abs_factors.get(name, '')}",
            f"k_brake_{axle_name}",
        )
        s.add_moment(
            f"{name}.brake",
            magnitude=f"-{name}.held",
            direction=wheels[name][2],
            on=wheels[name],
            against=body_parts[axle_name] if brakes.react_on_body(axle_name) else carriers[name],
            label=f"brake of {name}",
        )

    for added_axle in car.added_axles:
        _add_added_axle_brakes(
            s, added_axle, f"braking*{rear}*{ratios[added_axle.name]}/2", abs_factors
        )


def _brake_circuits(car: CarData, abs_keys: AbsKeys) -> list[list[str]]:
    """Groups of wheels that get the same fraction of their brake torques."""
    axles = {
        axle: [name for name, (axle_name, _) in CORNERS.items() if axle_name == axle]
        for axle in ("front", "rear")
    }
    axles |= {axle.name: [axle.wheel_name(side) for side in SIDES] for axle in car.added_axles}
    low = list(axles) if abs_keys.select_low == "all" else [abs_keys.select_low]
    return [
        group
        for axle, wheels in axles.items()
        for group in ([wheels] if axle in low else [[w] for w in wheels])
    ]


def _add_added_axle_brakes(
    s: System, axle: SimpleAxle, demand: str, abs_factors: Mapping[str, str]
) -> None:
    """Brakes of one more axle than front and rear; `demand`: the torque that is asked of a
    wheel."""
    k = add_si_parameter(
        s,
        f"k_brake_{axle.name}",
        RING**2 * axle.record.wheel.spin_inertia,
        "F*L/A",
        f"elasticity of {axle.name} brakes",
    )
    for wheel in map(axle.wheel_name, SIDES):
        s.add_input(
            f"{wheel}.brake_torque",
            units="F*L",
            default=0.0,
            label=f"brake torque of {wheel}, added to its part of brake",
        )
        limit = f"max(0, {demand} + {wheel}.brake_torque){abs_factors.get(wheel, '')}"
        add_brake(s, wheel, f"u({wheel}.wheel)", limit, k)
        s.add_moment(
            f"{wheel}.brake",
            magnitude=f"-{wheel}.held",
            direction=f"[{wheel}.wheel2]",
            on=f"{wheel}.wheel",
            against=axle.full_name if axle.is_rigid else wheel,
            label=f"brake of {wheel}",
        )


def add_abs(
    s: System, abs_keys: AbsKeys, name: str, label: str, groups: Iterable[Sequence[str]]
) -> dict[str, str]:
    """ABS with the parameters <name>_on and others: the factor of the brake torque of each wheel.
    All wheels of a group get the smallest fraction that one of them asks for."""
    add_si_parameter(s, f"{name}_on", float(abs_keys.on), "1", f"{label}: 1 on, 0 off", (0, 1))
    add_si_parameter(s, f"{name}_slip", abs_keys.slip, "1", f"{label}: target slip")
    add_si_parameter(
        s, f"{name}_gain", abs_keys.gain, "1", f"{label}: fraction of the brake torque per slip"
    )
    add_si_parameter(
        s,
        f"{name}_rate",
        abs_keys.rate,
        "1/T",
        f"{label}: fraction of the brake torque per slip and time",
    )
    add_si_parameter(
        s, f"{name}_slow", abs_keys.slow, "L/T", f"{label}: speed below which it is off"
    )
    s.require_positive(f"{name}_slow")
    factors = {}
    for group in groups:
        fractions = [_add_abs_valve(s, wheel, name) for wheel in group]
        fraction = fractions[0] if len(fractions) == 1 else f"min({', '.join(fractions)})"
        for wheel in group:
            output_label = f"fraction of the brake torque that ABS applies at {wheel}"
            s.add_output(f"{wheel}.abs", fraction, label=output_label, units="1")
            factors[wheel] = f"*{fraction}"
    return factors


def _add_abs_valve(s: System, name: str, abs: str) -> str:
    """The state of ABS at a wheel, and the fraction of its brake torque that it asks for; `abs`:
    what parameters of the controller begin with."""
    v, prefix = f"abs({name}.tyre_vlong)", f"{name}.abs"
    slip = f"1 - {name}.tyre_spin*{name}.tyre_rolling*sign({name}.tyre_vlong)/max({v}, {abs}_slow)"
    s.define(f"{prefix}_slip", slip)
    s.define(f"{prefix}_on", f"{abs}_on*max(0, min(1, {v}/{abs}_slow - 1))")
    integral_rate = f"{abs}_rate*({abs}_slip - {prefix}_slip)"
    # it counts what was let go, so that a model begins with open valves
    rate = f"max(-{prefix}_less/{STOPS}, min((1 - {prefix}_less)/{STOPS}, -({integral_rate})))"
    s.add_state(
        f"{prefix}_less",
        rate=f"where({prefix}_on > 0, {rate}, -{prefix}_less/{STOPS})",
        units="1",
        label=f"ABS of {name}: fraction released by its integral",
    )
    fraction = f"max(0, min(1, 1 - {prefix}_less + {abs}_gain*({abs}_slip - {prefix}_slip)))"
    s.define(f"{prefix}_share", f"1 - {prefix}_on*(1 - {fraction})")
    return f"{prefix}_share"
