"""Poses of bodies as expressions: origin and rotation matrix of each in the inertial frame.

In:  the kinematics of a mechanism, and parts that are no bodies, such as the links of a suspension. Out: for each 12
expressions: three coordinates of its origin, and R_NB by rows. Each pose follows from that of the parent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bellcrank.expr import Expr
from bellcrank.kinematics.body_motion import Kinematics
from bellcrank.vector.basis import IDENTITY, NULL, Frame, Mat3, Vec3, Vector, matmul, plus3, transpose
from bellcrank.vector.work import Work


@dataclass(frozen=True)
class Part:
    """Something that moves with a body (-1: the ground) and is none: R and p are its pose in that body."""

    name: str
    body: int
    R: Mat3
    p: Vec3


def pose_expressions(k: Kinematics, parts: Sequence[Part] = ()) -> list[Expr]:
    """12 expressions for every body, then for every part."""
    work = Work()
    attitudes: dict[Frame, Mat3] = {k.frames[-1]: IDENTITY}
    places: dict[int, Vec3] = {-1: NULL}
    found: list[Expr] = []
    for b in k.mechanism.bodies:
        R = _attitude(k.frames[b.index], attitudes, work)
        moved = k.origin[b.index] - k.origin[b.parent]
        places[b.index] = work.hold3(_along(places[b.parent], moved, attitudes, work))
        found += [*places[b.index], *(x for row in R for x in row)]
    for part in parts:
        R = attitudes[k.frames[part.body]]
        p = work.hold3(_along(places[part.body], k.frames[part.body].vector(part.p), attitudes, work))
        found += [*p, *(x for row in matmul(R, part.R) for x in row)]
    return found


def _attitude(frame: Frame, known: dict[Frame, Mat3], work: Work) -> Mat3:
    """R_NB of a frame; frames below it first, as there may be some between a body and its parent."""
    waiting = []
    here = frame
    while here not in known:
        waiting.append(here)
        assert here.parent is not None
        here = here.parent
    for one in reversed(waiting):
        assert one.parent is not None
        known[one] = work.hold_matrix(matmul(known[one.parent], one.R))
    return known[frame]


def _along(start: Vec3, moved: Vector, attitudes: dict[Frame, Mat3], work: Work) -> Vec3:
    """start + moved, in inertial axes."""
    for e, c in moved.terms.items():
        start = plus3(start, c, transpose(_attitude(e.frame, attitudes, work))[e.axis])
    return start
