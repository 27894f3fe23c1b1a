"""The sprung mass of a unit with its loads: mass, mass centre, inertia about it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bellcrank.library.vehicles.frame_records import FramePart
from bellcrank.library.vehicles.records import Body, Load, Trailer

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class Sprung:
    """A body with its loads: mass, mass centre, inertia about it."""

    mass: float
    cg: Array
    inertia: Array


def given_body(body: Body | FramePart | Trailer) -> Sprung:
    """A body as its section gives it."""
    inertia = np.diag(body.inertia)
    inertia[0, 2] = inertia[2, 0] = body.inertia_xz
    return Sprung(body.mass, np.array(body.cg), inertia)


def with_loads(body: Sprung, loads: Iterable[Load]) -> Sprung:
    """A body and the point masses that are fixed in it as one."""
    bodies = [body, *(Sprung(x.mass, np.array(x.at), np.zeros((3, 3))) for x in loads)]
    mass = sum(part.mass for part in bodies)
    cg = sum((part.mass * part.cg for part in bodies), np.zeros(3)) / mass
    inertia = np.zeros((3, 3))
    for part in bodies:
        r = part.cg - cg
        inertia = inertia + part.inertia + part.mass * (r @ r * np.eye(3) - np.outer(r, r))
    return Sprung(float(mass), cg, inertia)
