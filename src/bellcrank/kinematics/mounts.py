"""Frames that bodies on one parent have in common but for rounding.

A planar linkage may stand in any plane: the frames of its bodies are then given by numbers, and share an axis only but
for their last digits. Bodies of one parent whose frames share an axis with that of the first of them are placed in the
frame of the first; what is rounding there is none. So the algebra sees the plane, wherever it lies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from bellcrank.expr import ONE, Expr, evaluate, expression, symbols
from bellcrank.expr.node import MINUS_ONE, ZERO
from bellcrank.model.joints.joint import Joint
from bellcrank.model.joints.plain import PlainJoint
from bellcrank.model.mechanism import Mechanism
from bellcrank.numeric.tuning import RANKS
from bellcrank.vector.basis import IDENTITY, Mat3, Vec3


@dataclass(frozen=True)
class Mount:
    """Where a body is placed: the number of the body whose nominal frame it shares, the axes of that frame in those
    of the parent, and the joint as seen from there."""

    first: int
    R: Mat3
    joint: Joint


def mounts(mechanism: Mechanism) -> dict[int, Mount]:
    """The bodies that are placed in a common frame of several."""
    groups: dict[int, dict[int, list[int]]] = {}
    frames = {b.index: C for b in mechanism.bodies if (C := _numbers(b.joint)) is not None}
    for b in mechanism.bodies:
        if b.index in frames:
            known = groups.setdefault(b.parent, {})
            first = next((i for i in known if _shares_axis(frames[i].T @ frames[b.index])), b.index)
            known.setdefault(first, []).append(b.index)
    found: dict[int, Mount] = {}
    for known in groups.values():
        for first, members in known.items():
            if len(members) > 1:
                R = mechanism.bodies[first].joint.C
                found |= {i: Mount(first, R, _seen_from(frames[first], mechanism.bodies[i].joint)) for i in members}
    return found


def _numbers(joint: Joint) -> np.ndarray | None:
    """The nominal frame of a joint that is given by numbers and is not parallel to that of the parent; else None."""
    if not isinstance(joint, PlainJoint) or joint.C is IDENTITY:
        return None
    if any(symbols(x) for v in (*joint.C, joint.at, *joint.slides) for x in v):
        return None
    C = _matrix(joint.C)
    return None if np.abs(C).max(axis=0).min() > 1 - RANKS.digits else C


def _matrix(rows: Sequence[Sequence[Expr]]) -> np.ndarray:
    return np.array([evaluate(row, {}) for row in rows])


def _shares_axis(D: np.ndarray) -> bool:
    """Is an axis of one frame an axis of the other, but for rounding?"""
    tiny = np.abs(D) <= 10 * RANKS.digits
    return any(tiny[i].sum() == 2 and tiny[:, int(np.argmin(tiny[i]))].sum() == 2 for i in range(3))


def _seen_from(K: np.ndarray, joint: Joint) -> Joint:
    assert isinstance(joint, PlainJoint)
    C = _clean(K.T @ _matrix(joint.C))
    slides = tuple(_vector(_clean(K.T @ _matrix([slide])[0])) for slide in joint.slides)
    at = K.T @ _matrix([joint.at])[0]
    rows = _vector(C[0]), _vector(C[1]), _vector(C[2])
    own = IDENTITY if rows == IDENTITY else rows
    return replace(joint, C=own, at=_vector(_without_rounding(at)), slides=slides)


def _clean(x: np.ndarray) -> np.ndarray:
    """Directions in which what is rounding beside 0 and 1 is none."""
    near = np.round(x)
    return np.where(np.abs(x - near) <= 10 * RANKS.digits, near, x)


def _without_rounding(v: np.ndarray) -> np.ndarray:
    return np.where(np.abs(v) <= 10 * RANKS.digits * np.abs(v).max(initial=0.0), 0.0, v)


def _vector(v: np.ndarray) -> Vec3:
    named = {0.0: ZERO, 1.0: ONE, -1.0: MINUS_ONE}
    x, y, z = (named.get(float(c)) or expression(float(c)) for c in v)
    return x, y, z
