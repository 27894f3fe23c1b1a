"""Brakes of the wheels of a car, and ABS, also of trailers: a law in the compiled program that holds the slip, not a
valve that pulses.

ABS of a wheel lets the share p of the driver's moment through, p = clip(i + P (s0 - s), 0, 1), with the slip s = 1 -
omega R_e/V of the wheel and its aim s0; i is a state between 0 and 1, i' = I (s0 - s). Near standstill it lets go.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from bellcrank.api.system import System
from bellcrank.describe.handles import BodyHandle
from bellcrank.library.driven import RING, add_brake
from bellcrank.library.vehicles.controllers.records import Antilock
from bellcrank.library.vehicles.data import CORNERS, CarData
from bellcrank.library.vehicles.parameters import put
from bellcrank.library.vehicles.trailers import SIDES, TowedAxle

STOPS = 0.01  # s, with which the state of ABS comes to rest at its ends


def add_brakes(
    s: System,
    car: CarData,
    wheels: dict[str, BodyHandle],
    carriers: dict[str, BodyHandle],
    parts: Mapping[str, BodyHandle],
    brake: str,
    controlled: Mapping[str, Sequence[str]],
) -> None:
    """Brake torques between wheels and carriers or parts of the body; `brake` is their sum as the driver asks for it,
    `controlled` what controllers add at wheels."""
    given = car.sections.brakes
    put(s, "brake_front", given.front_share, "1", "fraction of the brake torque on the front axle", (0, 1))
    limit = f"max(0, {brake})"
    if given.torque is not None:
        limit = f"min({put(s, 'brake_most', given.torque, 'F*L', 'largest brake torque')}, {limit})"
    s.define("braking", limit)
    through = {} if given.abs is None else add_antilock(s, given.abs, "abs", "ABS", _channels(car, given.abs))
    for axle in (car.front, car.rear):
        k = RING**2 * axle.record.wheel.spin_inertia
        put(s, f"k_brake_{axle.name}", k, "F*L/A", f"elasticity of {axle.name} brakes")
    ratios = {a.name: put(s, f"brake_ratio_{a.name}", a.own.brake_ratio, "1",
                          f"brake torque of axle {a.name} over that of the rear axle") for a in car.added}  # fmt: skip
    rear = f"(1 - brake_front)/(1 + {' + '.join(ratios.values())})" if ratios else "(1 - brake_front)"
    for name, (which, _) in CORNERS.items():
        share = "brake_front" if which == "front" else rear
        own = " + ".join([f"{name}.brake_torque", *controlled[name]])
        asked = f"max(0, braking*{share}/2 + {own})"
        add_brake(s, name, f"u({name}.wheel)", f"{asked}{through.get(name, '')}", f"k_brake_{which}")
        s.add_moment(
            f"{name}.brake", magnitude=f"-{name}.held", direction=wheels[name][2], on=wheels[name],
            against=parts[which] if given.react_on_body(which) else carriers[name],
            label=f"brake of {name}",
        )  # fmt: skip

    for other in car.added:
        _add_added(s, other, f"braking*{rear}*{ratios[other.name]}/2", through)


def _channels(car: CarData, given: Antilock) -> list[list[str]]:
    """Groups of wheels that get the same fraction of their brake torques."""
    axles = {axle: [name for name, (which, _) in CORNERS.items() if which == axle] for axle in ("front", "rear")}
    axles |= {axle.name: [axle.wheel(side) for side in SIDES] for axle in car.added}
    low = list(axles) if given.select_low == "all" else [given.select_low]
    return [group for axle, both in axles.items() for group in ([both] if axle in low else [[w] for w in both])]


def _add_added(s: System, axle: TowedAxle, part: str, through: Mapping[str, str]) -> None:
    """Brakes of one more axle than front and rear; `part`: the torque that is asked of a wheel."""
    k = put(s, f"k_brake_{axle.name}", RING**2 * axle.record.wheel.spin_inertia, "F*L/A",
            f"elasticity of {axle.name} brakes")  # fmt: skip
    for wheel in map(axle.wheel, SIDES):
        s.add_input(f"{wheel}.brake_torque", units="F*L", default=0.0,
                    label=f"brake torque of {wheel}, added to its part of brake")  # fmt: skip
        limit = f"max(0, {part} + {wheel}.brake_torque){through.get(wheel, '')}"
        add_brake(s, wheel, f"u({wheel}.wheel)", limit, k)
        s.add_moment(f"{wheel}.brake", magnitude=f"-{wheel}.held", direction=f"[{wheel}.wheel2]", on=f"{wheel}.wheel",
                     against=axle.full_name if axle.rigid else wheel, label=f"brake of {wheel}")  # fmt: skip


def add_antilock(s: System, given: Antilock, name: str, label: str, groups: Iterable[Sequence[str]]) -> dict[str, str]:
    """ABS with the parameters <name>_on and others: the factor of the brake torque of each wheel. All wheels of a group
    get the smallest fraction that one of them asks for."""
    put(s, f"{name}_on", float(given.on), "1", f"{label}: 1 on, 0 off", (0, 1))
    put(s, f"{name}_slip", given.slip, "1", f"{label}: target slip")
    put(s, f"{name}_gain", given.gain, "1", f"{label}: fraction of the brake torque per slip")
    put(s, f"{name}_rate", given.rate, "1/T", f"{label}: fraction of the brake torque per slip and time")
    put(s, f"{name}_slow", given.slow, "L/T", f"{label}: speed below which it is off")
    s.require_positive(f"{name}_slow")
    factors = {}
    for group in groups:
        asked = [_add_valve(s, wheel, name) for wheel in group]
        fraction = asked[0] if len(asked) == 1 else f"min({', '.join(asked)})"
        for wheel in group:
            words = f"fraction of the brake torque that ABS applies at {wheel}"
            s.add_output(f"{wheel}.abs", fraction, label=words, units="1")
            factors[wheel] = f"*{fraction}"
    return factors


def _add_valve(s: System, name: str, abs: str) -> str:
    """The state of ABS at a wheel, and the fraction of its brake torque that it asks for; `abs`: what parameters of the
    controller begin with."""
    v, held = f"abs({name}.tyre_vlong)", f"{name}.abs"
    slip = f"1 - {name}.tyre_spin*{name}.tyre_rolling*sign({name}.tyre_vlong)/max({v}, {abs}_slow)"
    s.define(f"{held}_slip", slip)
    s.define(f"{held}_on", f"{abs}_on*max(0, min(1, {v}/{abs}_slow - 1))")
    wanted = f"{abs}_rate*({abs}_slip - {held}_slip)"
    # it counts what was let go, so that a model begins with open valves
    rate = f"max(-{held}_less/{STOPS}, min((1 - {held}_less)/{STOPS}, -({wanted})))"
    s.add_state(f"{held}_less", rate=f"where({held}_on > 0, {rate}, -{held}_less/{STOPS})", units="1",
                label=f"ABS of {name}: fraction released by its integral")  # fmt: skip
    share = f"max(0, min(1, 1 - {held}_less + {abs}_gain*({abs}_slip - {held}_slip)))"
    s.define(f"{held}_share", f"1 - {held}_on*(1 - {share})")
    return f"{held}_share"
