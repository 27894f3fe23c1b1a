"""Tyres of a wheel on the ground: one, or two next to each other (dual tyres).

The tyres of a pair turn with one wheel, at the same distance from its centre. So they have their
own loads and slips: on a curved path they roll different distances at one speed of the wheel, and
resist yaw. Contacts of a pair are <wheel>.outer and <wheel>.inner. Names of a single tyre,
<wheel>.tyre..., are the sums of forces and means of slips.
"""

from __future__ import annotations

from typing import Any

from bellcrank.api.system import System
from bellcrank.model.describe.handles import BodyHandle
from bellcrank.model.describe.tyre_patch import CHANNELS
from bellcrank.vehicles.terrain.terrain import Surface, Terrain
from bellcrank.vehicles.tyres.steady_tyre import ARRAYS

SUMS = ("load", "newtons", "stored", "fx", "fy", "fz", "my")
MEANS = ("vlong", "spin", "rolling", "depth", "kappa", "alpha_seen", "inclination")
SLIPS = {
    "kappa": ("{0}_kappa", "1", "slip over the speed"),
    "alpha": ("{0}_alpha_seen", "A", "slip angle"),
    "gamma": ("{0}_inclination", "A", "inclination"),
    "slip": ("{0}_kappa/max(abs(1 + {0}_kappa), 1e-3)", "1", "slip over the rolling speed"),
}
WORDS = {
    "load": ("F", "normal force"),
    "depth": ("L", "tyre deflection"),
    "stored": ("F*L", "energy of the tyre springs"),
}


def contact_names(name: str, dual: bool) -> tuple[str, ...]:
    """Names of the contacts of a wheel."""
    return (f"{name}.outer", f"{name}.inner") if dual else (f"{name}.tyre",)


def add_tyres(
    s: System,
    name: str,
    side: int,
    wheel: BodyHandle,
    ground: Terrain | Surface,
    tyre: Any,
    spacing: str | None,
) -> None:
    """The tyre of a wheel, or both at a `spacing`, the name of a parameter; `side`: 1 left, -1
    right."""
    law = tyre.on("left" if side > 0 else "right")
    names = contact_names(name, spacing is not None)
    if spacing is None:
        s.add_contact(names[0], at=wheel, terrain=ground, tyre=law, wheel=wheel)
        return
    side_signs = (side, -side)
    for contact, side_sign in zip(names, side_signs, strict=True):
        middle = s.add_point(f"{contact}_centre", body=wheel, at=(0, f"{side_sign}*{spacing}/2", 0))
        s.add_contact(contact, at=middle, terrain=ground, tyre=law, wheel=wheel)
    _add_dual_tyre_sums(s, f"{name}.tyre", names, side_signs, spacing)


def rolling_spin(axle: Any, load: float, speed: float) -> float:
    """Spin (rad/s) of a wheel with a load (N) that rolls freely at a speed (m/s); `axle`: of a car
    or a trailer."""
    spin, tyre_load = 0.0, load / len(axle.tyre_offsets)
    for _ in range(5):
        spin = speed / float(axle.tyre.rolling_radius(ARRAYS, tyre_load, spin, axle.tyre.usual[0]))
    return spin


def _add_dual_tyre_sums(
    s: System, name: str, pair: tuple[str, ...], side_signs: tuple[int, ...], spacing: str
) -> None:
    """What a pair does as one, at the contact of the wheel's middle."""
    for part in SUMS:
        s.define(f"{name}_{part}", " + ".join(f"{one}_{part}" for one in pair))
    for part in MEANS:
        s.define(f"{name}_{part}", f"({' + '.join(f'{one}_{part}' for one in pair)})/2")
    arms = [f"{side_sign}*{spacing}/2" for side_sign in side_signs]
    for moment, force, sign in (("mx", "fz", "+"), ("mz", "fx", "-")):
        terms = [
            f"{one}_{moment} {sign} {arm}*{one}_{force}"
            for one, arm in zip(pair, arms, strict=True)
        ]
        s.define(f"{name}_{moment}", " + ".join(terms))
    for channel, (_, units, label) in CHANNELS.items():
        s.add_output(
            f"{name}.{channel}", f"{name}_{channel}", label=f"{label} of {name}", units=units
        )
    for channel, (formula, units, label) in SLIPS.items():
        s.add_output(
            f"{name}.{channel}", formula.format(name), label=f"mean {label} of {name}", units=units
        )
    for part, (units, label) in WORDS.items():
        s.add_output(f"{name}_{part}", f"{name}_{part}", label=f"{label} of {name}", units=units)
