"""The sprung mass of a unit with its loads: mass, mass centre, inertia about it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bellcrank.vehicles.cars.keys.car_keys import BodyKeys, LoadKeys, TrailerKeys
from bellcrank.vehicles.cars.keys.frame_records import FramePartKeys

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class RigidMassProperties:
    """A body with its loads: mass, mass centre, inertia about it."""

    mass: float
    cg: Array
    inertia: Array


def body_mass_properties(body: BodyKeys | FramePartKeys | TrailerKeys) -> RigidMassProperties:
    """A body as its section gives it."""
    inertia = np.diag(body.inertia)
    inertia[0, 2] = inertia[2, 0] = body.inertia_xz
    return RigidMassProperties(body.mass, np.array(body.cg), inertia)


def add_point_loads(body: RigidMassProperties, loads: Iterable[LoadKeys]) -> RigidMassProperties:
    """A body and the point masses that are fixed in it as one."""
    bodies = [body, *(RigidMassProperties(x.mass, np.array(x.at), np.zeros((3, 3))) for x in loads)]
    mass = sum(part.mass for part in bodies)
    cg = sum((part.mass * part.cg for part in bodies), np.zeros(3)) / mass
    inertia = np.zeros((3, 3))
    for part in bodies:
        r = part.cg - cg
        inertia = inertia + part.inertia + part.mass * (r @ r * np.eye(3) - np.outer(r, r))
    return RigidMassProperties(float(mass), cg, inertia)
