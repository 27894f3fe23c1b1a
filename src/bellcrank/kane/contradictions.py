"""Givens that contradict each other: angular velocities against orientations, accelerations against
velocities.

In:  what is known of the motion. Out: `Contradiction`s; none where it cannot be reported yet.
Auxiliary speeds are zero in the real motion, so they do not count. Euler parameters have unit size
only in the real motion, so what rests on them is left to `check`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from bellcrank.core.errors import ModelError
from bellcrank.kane.equality import are_equal
from bellcrank.kane.frames import Frame, are_connected, frames_of
from bellcrank.kane.motion import NOTHING, KaneMotion
from bellcrank.symbolic.expr import ZERO, sub
from bellcrank.symbolic.expr.traversal import free_symbols
from bellcrank.symbolic.vector.basis import IDENTITY, Vector, dot, matmul, transpose


@dataclass(frozen=True)
class Contradiction:
    """What was given for a frame or point, in a frame, and what follows from the rest."""

    kind: str  # of WAYS: w, alf, a
    of: Any
    frame: Frame
    given: Vector
    derived: Vector

    def __str__(self) -> str:
        if self.kind == "w":
            subject_w = (
                f"the angular velocity of {self.of} in {self.frame}, {self.given}, contradicts "
                f"the orientation of"
            )
            return f"{subject_w} {self.of} in {self.frame}, whose rates give {self.derived}"
        prefix = "" if self.kind == "a" else "angular "
        subject = (
            f"the {prefix}acceleration of {self.of} in {self.frame}, {self.given}, is not the "
            f"derivative of its"
        )
        return f"{subject} {prefix}velocity, which is {self.derived}"


def find_contradictions(motion: KaneMotion, euler: Collection[Frame]) -> Iterator[Contradiction]:
    """All that can be reported by now. What was found to agree is remembered and not looked at
    again."""
    autoz, motion.scalars.autoz = (
        motion.scalars.autoz,
        False,
    )  # a comparison leaves no intermediate symbols
    try:
        for kind, subject, frame, entered in _given_motions(motion):
            try:
                derived = _derived_vector(motion, kind, subject, frame, euler)
                differs = None if derived is None else _vectors_differ(motion, entered, derived)
            except ModelError:  # a rate that is not known yet
                continue
            if differs and derived is not None:
                yield Contradiction(kind, subject, frame, entered, derived)
            elif differs is False:
                motion.agreed.add((kind, subject, frame))
    finally:
        motion.scalars.autoz = autoz


def _given_motions(motion: KaneMotion) -> list[tuple[str, Any, Frame, Vector]]:
    tables: list[tuple[str, dict[Any, Vector]]] = [
        ("w", motion.w),
        ("alf", motion.alf),
        ("a", motion.a),
    ]
    listed = [
        (kind, subject, frame, entered)
        for kind, table in tables
        for (subject, frame), entered in table.items()
    ]
    return [x for x in listed if x[:3] not in motion.agreed]


def _derived_vector(
    motion: KaneMotion, kind: str, subject: Any, frame: Frame, euler: Collection[Frame]
) -> Vector | None:
    if kind == "w":
        return _angular_velocity_from_rotation(motion, subject, frame, euler)
    rate = motion.w.get((subject, frame)) if kind == "alf" else motion.v.get((subject, frame))
    return None if rate is None else motion.derivative(rate, frame)


def _vectors_differ(motion: KaneMotion, a: Vector, b: Vector) -> bool | None:
    """Do two vectors differ? None: that cannot be reported yet."""
    frames = frames_of(a, b)
    if not frames:
        return False
    if not are_connected(*frames):
        return None
    components = motion.scalars.resolve(dot(e, a - b) for e in frames[0].axes)
    if any(s.kind in ("rate", "control", "defined") for s in free_symbols(*components)):
        return None
    return not all(are_equal(x, ZERO) for x in components)


def _angular_velocity_from_rotation(
    motion: KaneMotion, b: Frame, a: Frame, euler: Collection[Frame]
) -> Vector | None:
    """The angular velocity of B in A from the rates of the orientation alone."""
    if not are_connected(a, b):
        return None
    frame_chain, base_chain = _frame_ancestors(b), _frame_ancestors(a)
    links = [(f, 1) for f in frame_chain if f not in base_chain] + [
        (f, -1) for f in base_chain if f not in frame_chain
    ]
    if any(f in euler or f.parent in euler or not _is_orthogonal(motion, f) for f, _ in links):
        return None
    return sum((motion.link_w(f) * sign for f, sign in links), NOTHING)


def _frame_ancestors(frame: Frame | None) -> list[Frame]:
    chain: list[Frame] = []
    while frame is not None:
        chain.append(frame)
        frame = frame.parent
    return chain


def _is_orthogonal(motion: KaneMotion, frame: Frame) -> bool:
    """Are direction cosines a rotation whatever the values of their symbols?"""
    if frame.turn is not None:
        return True
    square = matmul(frame.R, transpose(frame.R))
    residuals = [sub(square[i][j], IDENTITY[i][j]) for i in range(3) for j in range(i + 1)]
    return all(are_equal(x, ZERO) for x in motion.scalars.resolve(residuals))
