"""Closed loops as equations g(q, t) = 0: one row per direction that two points, or two bodies, may not move along.

In:  loop records and the language of the model. Out: rows of text and expression.
"""

from __future__ import annotations

from bellcrank.errors import ModelError, did_you_mean
from bellcrank.expr import Expr, mul, sub
from bellcrank.kinematics.language import Language
from bellcrank.kinematics.motion import Point
from bellcrank.model.records import LoopRecord
from bellcrank.vector import Vector, cross, dot, magnitude
from bellcrank.vector.basis import Frame

# joint: translations locked (along axis, across it), turns of the axis locked, turn about the axis locked
JOINTS = {
    "ball": (True, True, False, False),
    "pin": (True, True, True, False),
    "slider": (False, True, True, True),
    "cylindrical": (False, True, True, False),
    "planar": (True, False, True, False),
    "universal": (True, True, False, False),
}
Row = tuple[str, Expr]


def loop_rows(record: LoopRecord, language: Language) -> list[Row]:
    """The equations of one loop."""
    k = language.k
    p, r = language.point(record.first), language.point(record.second)
    name = record.label or f"{p.name} to {r.name}"
    if p.body == r.body:
        raise ModelError(f"the loop {name} closes on one body: its points {p.name} and {r.name} both belong to it")
    between = k.position(p) - k.position(r)
    if record.joint is None:
        if not record.directions:
            raise ModelError(f"the loop {name} needs directions=(...) or joint=...")
        vectors = [language.vector(d) for d in record.directions]
        return [(f"{name}, direction {i}", dot(between, v)) for i, v in enumerate(vectors, 1)]
    joint = record.joint.lower()
    if joint == "rod":
        length = k.nominal(magnitude(between)) if record.length is None else language.scalar(record.length)
        return [(f"rod {name}", sub(dot(between, between), mul(length, length)))]
    if joint not in JOINTS:
        known = [*JOINTS, "rod"]
        raise ModelError(
            f"the loop {name}: joint={joint!r} is not known.{did_you_mean(joint, known)} It is one of {', '.join(known)}."
        )
    return _joint_rows(record, joint, name, between, p, r, language)


def _joint_rows(
    record: LoopRecord, joint: str, name: str, between: Vector, p: Point, r: Point, language: Language
) -> list[Row]:
    along, across, lean, turn = JOINTS[joint]
    frames = language.k.frames
    base, moving = frames[r.body], frames[p.body]
    if joint == "ball":
        return [(f"{name}, axis {i + 1}", dot(between, e)) for i, e in enumerate(base.axes)]
    if record.axis is None:
        raise ModelError(f"the loop {name}: a {joint} joint needs axis=, a vector fixed in the body of {p.name}")
    axis = language.vector(record.axis)
    carried = _nominal_in(axis, moving, base, language)
    first, second = _normals(carried, base)
    rows: list[Row] = []
    if along:
        rows.append((f"{name}, along the axis", dot(between, carried)))
    if across:
        rows += [(f"{name}, across the axis", dot(between, e)) for e in (first, second)]
    if lean:
        rows += [(f"{name}, lean of the axis", dot(axis, e)) for e in (first, second)]
    if turn or joint == "universal":
        other = _nominal_in(first, base, moving, language)
        rows.append((f"{name}, turn about the axis", dot(other, second) if turn else dot(axis, first)))
    return rows


def _nominal_in(v: Vector, source: Frame, target: Frame, language: Language) -> Vector:
    """The vector fixed in the target frame that coincides with v in the nominal position."""
    return target.vector(language.k.nominal(c) for c in target.coordinates(v))


def _normals(axis: Vector, frame: Frame) -> tuple[Vector, Vector]:
    """Two directions of a frame normal to an axis and to each other; their lengths do not matter."""
    shares = [abs(float(x.value)) if hasattr(x, "value") else 0.5 for x in frame.coordinates(axis)]
    least = frame.axes[min(range(3), key=lambda i: shares[i])]
    first = cross(axis, least)
    return first, cross(axis, first)
