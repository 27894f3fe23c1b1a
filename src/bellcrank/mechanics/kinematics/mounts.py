"""Frames that bodies on one parent have in common but for rounding.

A planar linkage may stand in any plane: the frames of its bodies are then given by numbers, and
share an axis only but for their last digits. Bodies of one parent whose frames share an axis with
that of the first of them are placed in the frame of the first; what is rounding there is none. So
the algebra sees the plane, wherever it lies.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from bellcrank.core.numeric.tuning import RANKS
from bellcrank.model.joints.joint import Joint
from bellcrank.model.mechanism import Mechanism
from bellcrank.symbolic.expr import MINUS_ONE, ONE, ZERO, evaluate, expression
from bellcrank.symbolic.vector.basis import IDENTITY, Mat3, Vec3


@dataclass(frozen=True)
class SharedFrame:
    """Where a body is placed: the number of the body whose nominal frame it shares, the axes of
    that frame in those of the parent, and the joint as seen from there."""

    first: int
    R: Mat3
    joint: Joint


def shared_frames(mechanism: Mechanism) -> dict[int, SharedFrame]:
    """The bodies that are placed in a common frame of several."""
    groups: dict[int, dict[int, list[int]]] = {}
    frames = {b.index: C for b in mechanism.bodies if (C := _numeric_frame(b.joint)) is not None}
    for b in mechanism.bodies:
        if b.index in frames:
            frame_groups = groups.setdefault(b.parent, {})
            first = next(
                (i for i in frame_groups if _shares_axis(frames[i].T @ frames[b.index])), b.index
            )
            frame_groups.setdefault(first, []).append(b.index)
    mounts_by_body: dict[int, SharedFrame] = {}
    for frame_groups in groups.values():
        for first, members in ((i, x) for i, x in frame_groups.items() if len(x) > 1):
            R, rotate = mechanism.bodies[first].joint.C, partial(_rotate_and_snap, frames[first])
            joints = {
                i: joint
                for i in members
                if (joint := mechanism.bodies[i].joint.seen_from(rotate)) is not None
            }
            mounts_by_body |= {i: SharedFrame(first, R, joint) for i, joint in joints.items()}
    return mounts_by_body


def _numeric_frame(joint: Joint) -> np.ndarray | None:
    """The nominal frame of a joint that is given by numbers and is not parallel to that of the
    parent; else None."""
    if joint.C is IDENTITY or joint.seen_from(lambda v: v) is None:
        return None
    C = np.array([evaluate(row, {}) for row in joint.C])
    return None if np.abs(C).max(axis=0).min() > 1 - RANKS.digits else C


def _shares_axis(D: np.ndarray) -> bool:
    """Is an axis of one frame an axis of the other, but for rounding?"""
    tiny = np.abs(D) <= 10 * RANKS.digits
    return any(tiny[i].sum() == 2 and tiny[:, int(np.argmin(tiny[i]))].sum() == 2 for i in range(3))


def _rotate_and_snap(K: np.ndarray, v: Vec3) -> Vec3:
    """A vector of numbers in the axes K, without what is rounding compared with its largest
    component or next to 1."""
    components = K.T @ np.array(evaluate(v, {}))
    small = 10 * RANKS.digits
    components = np.where(
        np.abs(components) <= small * np.abs(components).max(initial=0.0), 0.0, components
    )
    exact_values = {0.0: ZERO, 1.0: ONE, -1.0: MINUS_ONE}
    rounded = [
        float(np.round(c)) if abs(c - np.round(c)) <= small else float(c) for c in components
    ]
    x, y, z = (exact_values[c] if c in exact_values else expression(c) for c in rounded)
    return x, y, z
