"""Givens that contradict each other: angular velocities against orientations, accelerations against velocities.

In:  what is known of the motion. Out: `Contradiction`s; none where it cannot be reported yet.
Auxiliary speeds are zero in the real motion, so they do not count. Euler parameters have unit size only in the real
motion, so what rests on them is left to `check`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from bellcrank.errors import ModelError
from bellcrank.expr import ZERO, sub
from bellcrank.expr.walk import symbols
from bellcrank.kane.frames import Frame, connected, frames_of
from bellcrank.kane.motion import NOTHING, Motion
from bellcrank.kane.same import same_value
from bellcrank.vector.basis import IDENTITY, Vector, dot, matmul, transpose


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
            turns = f"the angular velocity of {self.of} in {self.frame}, {self.given}, contradicts the orientation of"
            return f"{turns} {self.of} in {self.frame}, whose rates give {self.derived}"
        turn = "" if self.kind == "a" else "angular "
        moves = f"the {turn}acceleration of {self.of} in {self.frame}, {self.given}, is not the derivative of its"
        return f"{moves} {turn}velocity, which is {self.derived}"


def contradictions(motion: Motion, euler: Collection[Frame]) -> Iterator[Contradiction]:
    """All that can be reported by now. What was found to agree is remembered and not looked at again."""
    named, motion.scalars.autoz = motion.scalars.autoz, False  # a comparison leaves no intermediate symbols
    try:
        for kind, of, frame, given in _givens(motion):
            try:
                derived = _derived(motion, kind, of, frame, euler)
                differs = None if derived is None else _differ(motion, given, derived)
            except ModelError:  # a rate that is not known yet
                continue
            if differs and derived is not None:
                yield Contradiction(kind, of, frame, given, derived)
            elif differs is False:
                motion.agreed.add((kind, of, frame))
    finally:
        motion.scalars.autoz = named


def _givens(motion: Motion) -> list[tuple[str, Any, Frame, Vector]]:
    tables: list[tuple[str, dict[Any, Vector]]] = [("w", motion.w), ("alf", motion.alf), ("a", motion.a)]
    listed = [(kind, of, frame, given) for kind, table in tables for (of, frame), given in table.items()]
    return [x for x in listed if x[:3] not in motion.agreed]


def _derived(motion: Motion, kind: str, of: Any, frame: Frame, euler: Collection[Frame]) -> Vector | None:
    if kind == "w":
        return _turned(motion, of, frame, euler)
    moved = motion.w.get((of, frame)) if kind == "alf" else motion.v.get((of, frame))
    return None if moved is None else motion.derivative(moved, frame)


def _differ(motion: Motion, a: Vector, b: Vector) -> bool | None:
    """Do two vectors differ? None: that cannot be reported yet."""
    frames = frames_of(a, b)
    if not frames:
        return False
    if not connected(*frames):
        return None
    parts = motion.scalars.resolve(dot(e, a - b) for e in frames[0].axes)
    if any(s.kind in ("rate", "control", "defined") for s in symbols(*parts)):
        return None
    return not all(same_value(x, ZERO) for x in parts)


def _turned(motion: Motion, b: Frame, a: Frame, euler: Collection[Frame]) -> Vector | None:
    """The angular velocity of B in A from the rates of the orientation alone."""
    if not connected(a, b):
        return None
    up, down = _ancestry(b), _ancestry(a)
    links = [(f, 1) for f in up if f not in down] + [(f, -1) for f in down if f not in up]
    if any(f in euler or f.parent in euler or not _orthogonal(motion, f) for f, _ in links):
        return None
    return sum((motion.link_w(f) * sign for f, sign in links), NOTHING)


def _ancestry(frame: Frame | None) -> list[Frame]:
    chain: list[Frame] = []
    while frame is not None:
        chain.append(frame)
        frame = frame.parent
    return chain


def _orthogonal(motion: Motion, frame: Frame) -> bool:
    """Are direction cosines a rotation whatever the values of their symbols?"""
    if frame.turn is not None:
        return True
    square = matmul(frame.R, transpose(frame.R))
    rest = [sub(square[i][j], IDENTITY[i][j]) for i in range(3) for j in range(i + 1)]
    return all(same_value(x, ZERO) for x in motion.scalars.resolve(rest))
