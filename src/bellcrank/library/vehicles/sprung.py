"""The sprung mass of a unit with its loads: mass, mass centre, inertia about it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bellcrank.library.vehicles.records import Body, Load, Trailer

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class Sprung:
    """A body with its loads: mass, mass centre, inertia about it."""

    mass: float
    cg: Array
    inertia: Array


def with_loads(body: Body | Trailer, loads: Iterable[Load]) -> Sprung:
    """A body and the point masses that are fixed in it as one."""
    inertia = np.diag(body.inertia)
    inertia[0, 2] = inertia[2, 0] = body.inertia_xz
    parts = [(body.mass, np.array(body.cg), inertia)]
    parts += [(x.mass, np.array(x.at), np.zeros((3, 3))) for x in loads]
    mass = sum(m for m, _, _ in parts)
    cg = sum((m * at for m, at, _ in parts), np.zeros(3)) / mass
    about = np.zeros((3, 3))
    for m, at, own in parts:
        r = at - cg
        about = about + own + m * (r @ r * np.eye(3) - np.outer(r, r))
    return Sprung(float(mass), cg, about)
