"""Poses of bodies as expressions: origin and rotation matrix of each in the inertial frame.

In:  the kinematics of a mechanism, and parts that are no bodies, such as the links of a suspension.
Out: for each 12 expressions: three coordinates of its origin, and R_NB by rows. Each pose follows
from that of the parent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bellcrank.mechanics.kinematics.body_motion import Kinematics
from bellcrank.symbolic.expr import Expr
from bellcrank.symbolic.vector.basis import (
    IDENTITY,
    NULL,
    Frame,
    Mat3,
    Vec3,
    Vector,
    add_scaled3,
    matmul,
    transpose,
)
from bellcrank.symbolic.vector.derivation_workspace import DerivationWorkspace


@dataclass(frozen=True)
class AttachedPart:
    """Something that moves with a body (-1: the ground) and is none: R and p are its pose in that
    body."""

    name: str
    body: int
    R: Mat3
    p: Vec3


def pose_expressions(k: Kinematics, attached_parts: Sequence[AttachedPart] = ()) -> list[Expr]:
    """12 expressions for every body, then for every part."""
    work = DerivationWorkspace()
    attitudes: dict[Frame, Mat3] = {k.frames[-1]: IDENTITY}
    origins: dict[int, Vec3] = {-1: NULL}
    expressions: list[Expr] = []
    for b in k.mechanism.bodies:
        R = _frame_rotation(k.frames[b.index], attitudes, work)
        displacement = k.origin[b.index] - k.origin[b.parent]
        origins[b.index] = work.bind3(
            _add_in_inertial_axes(origins[b.parent], displacement, attitudes, work)
        )
        expressions += [*origins[b.index], *(x for row in R for x in row)]
    for part in attached_parts:
        R = attitudes[k.frames[part.body]]
        p = work.bind3(
            _add_in_inertial_axes(
                origins[part.body], k.frames[part.body].vector(part.p), attitudes, work
            )
        )
        expressions += [*p, *(x for row in matmul(R, part.R) for x in row)]
    return expressions


def _frame_rotation(frame: Frame, attitudes: dict[Frame, Mat3], work: DerivationWorkspace) -> Mat3:
    """R_NB of a frame; frames below it first, as there may be some between a body and its
    parent."""
    pending = []
    ancestor = frame
    while ancestor not in attitudes:
        pending.append(ancestor)
        assert ancestor.parent is not None
        ancestor = ancestor.parent
    for child in reversed(pending):
        assert child.parent is not None
        attitudes[child] = work.bind_matrix(matmul(attitudes[child.parent], child.R))
    return attitudes[frame]


def _add_in_inertial_axes(
    start: Vec3, displacement: Vector, attitudes: dict[Frame, Mat3], work: DerivationWorkspace
) -> Vec3:
    """start + moved, in inertial axes."""
    for e, c in displacement.terms.items():
        start = add_scaled3(start, c, transpose(_frame_rotation(e.frame, attitudes, work))[e.axis])
    return start
