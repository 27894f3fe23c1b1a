"""Rigid wheels: what `add_contact` without a tyre adds to a description.

The model gets inputs for what the ground exerts and outputs for what a run has to know; flight,
impact and rolling happen in the run.
"""

from __future__ import annotations

import math
from typing import Any

from bellcrank.core.errors import ModelError
from bellcrank.model.describe.builder import Builder
from bellcrank.model.describe.contacts import NearestGroundProvider, _contact_point
from bellcrank.model.describe.patch import is_z_up, road_axes
from bellcrank.model.formula import cross, dot, dxdt, pos, rot, vel
from bellcrank.model.loads.contact import INPUTS, OUTPUTS, RigidContact


def add_rigid_contact(
    s: Builder,
    name: str,
    at: Any,
    rim: Any,
    terrain: NearestGroundProvider,
    restitution: Any,
    rolling_resistance: Any,
    wheel: Any,
    below: str,
) -> RigidContact:
    """A rigid wheel: inputs for what the ground exerts, outputs for what the run has to know."""
    point = _contact_point(s, name, at)
    problems = []
    if not hasattr(terrain, "nearest") or not hasattr(terrain, "shape"):
        problems.append(f"terrain={terrain!r} is not one of bc.vehicles.terrain")
    if getattr(terrain, "spatial", False):
        problems = [
            f"terrain={terrain!r}: rigid wheels need ground that does not change across the road"
        ]
    if getattr(terrain, "lifted", None) is not None:
        problems.append("rigid wheels need ground that does not move")
    if not isinstance(rim, int | float) or not rim > 0:
        problems.append(f"radius={rim!r}: the radius of a rigid wheel must be a positive number")
    pair = restitution if isinstance(restitution, tuple | list) else ()
    normal, tangential = pair if len(pair) == 2 else (math.nan, None)
    if not (0 <= normal <= 1 and (tangential is None or -1 <= tangential <= 1)):
        problems.append(
            f"restitution={restitution!r} must be (normal from 0 to 1, tangential from -1 to 1 "
            f"or None)"
        )
    if not isinstance(rolling_resistance, int | float) or not 0 <= rolling_resistance < math.inf:
        problems.append(
            f"rolling_resistance={rolling_resistance!r}: that of a rigid wheel must be a "
            f"number of at least 0"
        )
    if below not in ("raise", "error"):
        problems.append(f"below={below!r} must be 'raise' or 'error'")
    if problems:
        raise ModelError(f"contact '{name}': " + "; ".join(problems), s.name)
    along, vertical = road_axes(s)
    axis = cross(vertical, along)
    input_names = INPUTS if wheel is not None else INPUTS[:2]
    for part, units in zip(input_names, ("F", "F", "F*L"), strict=False):
        s.add_input(f"{name}.{part}", units=units, label=f"of the ground on {name}: {part}")
    s.add_force(
        f"{name}.x",
        magnitude=f"{name}.fx",
        direction=along,
        at=point,
        label=f"horizontal force on {name}",
    )
    s.add_force(
        f"{name}.z",
        magnitude=f"{name}.fz",
        direction=vertical,
        at=point,
        label=f"vertical force on {name}",
    )
    spin: Any = 0
    if wheel is not None:
        s.add_moment(
            f"{name}.moment",
            magnitude=f"{name}.m",
            direction=axis,
            on=wheel,
            label=f"moment on {name}",
        )
        spin = rim * dot(rot(wheel), axis)
    v = vel(point)
    values = (
        dot(pos(point), along),
        dot(pos(point), vertical),
        dot(v, along),
        dot(v, vertical),
        spin,
        dot(dxdt(v), along),
        dot(dxdt(v), vertical),
        dxdt(spin) if wheel is not None else 0,
    )
    for part, value in zip(OUTPUTS, values, strict=True):
        s.add_output(f"{name}.{part}", value, label=f"{part} of {name}")
    s.set_run(inputs={f"{name}.{part}": 0.0 for part in input_names})
    e = float(normal), None if tangential is None else float(tangential)
    impact_options = e, below, float(rolling_resistance)
    contact = RigidContact(name, point, float(rim), wheel, terrain, is_z_up(s), *impact_options)
    s.description.wheels.append(contact)
    return contact
