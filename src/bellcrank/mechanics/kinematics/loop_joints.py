"""Closed loops as equations g(q, t) = 0: one row per direction that two points, or two bodies, may
not move along.

In:  loop records and the language of the model. Out: rows of text and expression.
"""

from __future__ import annotations

from dataclasses import dataclass

from bellcrank.core.errors import ModelError, did_you_mean
from bellcrank.core.numeric.tuning import RANKS
from bellcrank.mechanics.kinematics.language import FormulaLanguage
from bellcrank.model.loads.load import BodyPoint
from bellcrank.model.records import LoopRecord
from bellcrank.symbolic.expr import (
    ONE,
    Expr,
    apply_builtin,
    div,
    evaluate,
    expression,
    free_symbols,
    mul,
    sub,
)
from bellcrank.symbolic.vector.basis import Frame, Vector, cross, dot, magnitude

# joint: translations locked (along axis, across it), turns of the axis locked, turn about the axis
# locked
JOINTS = {
    "spherical": (True, True, False, False),
    "revolute": (True, True, True, False),
    "prismatic": (False, True, True, True),
    "cylindrical": (False, True, True, False),
    "planar": (True, False, True, False),
    "universal": (True, True, False, False),
}
NEAR = expression(0.81)  # square of the fraction of an axis in another that is nearly the same


@dataclass(frozen=True)
class LoopRow:
    """One equation of a loop: a . b = 0 (rods: a . a = length squared).

    a is the vector from point r to point p (`turns` False), or fixed in the body of p; b is fixed
    in the body of r, or, where directions were given, in the bodies they were taken from. For rods
    b is None.
    """

    text: str
    g: Expr
    loop: str
    p: BodyPoint
    r: BodyPoint
    a: Vector
    b: Vector | None
    turns: bool = False
    directed: bool = False  # is b a direction that was given?
    side: Expr | None = (
        # 1 where a direction points as drawn, -1 where it points the other way: rows hold in both
        None
    )
    joint: str = ""  # its kind, if one was given
    axis: Vector | None = None  # of the joint


def loop_joint_rows(record: LoopRecord, language: FormulaLanguage) -> list[LoopRow]:
    """The equations of one loop."""
    k = language.k
    p, r = language.point(record.first), language.point(record.second)
    name = record.label or f"{p.name} to {r.name}"
    if p.body == r.body:
        raise ModelError(
            f"the loop {name} closes on one body: its points {p.name} and {r.name} both "
            f"belong to it"
        )
    if _moving_ancestor(p.body, language) == _moving_ancestor(r.body, language):
        raise ModelError(
            f"the loop {name} closes between {p.name} and {r.name}, whose bodies are rigidly joined"
        )
    offset = k.position(p) - k.position(r)
    if record.joint is None:
        if not record.directions:
            raise ModelError(f"the loop {name} needs a kind or directions=(...)")
        directions = enumerate(
            (_without_rounding(language.vector(d)) for d in record.directions), 1
        )
        texts = ((f"{name}, direction {i}", v) for i, v in directions)
        return [
            LoopRow(text, dot(offset, v), name, p, r, offset, v, directed=True) for text, v in texts
        ]
    joint = str(record.joint).lower()
    if joint == "distance":
        length = (
            k.with_drawn_values(magnitude(offset))
            if record.length is None
            else language.to_scalar(record.length)
        )
        g = sub(dot(offset, offset), mul(length, length))
        return [LoopRow(f"rod {name}", g, name, p, r, offset, None, joint=joint)]
    if joint not in JOINTS:
        kinds = [*JOINTS, "distance"]
        advice = f"{did_you_mean(joint, kinds)} It is one of {', '.join(kinds)}."
        raise ModelError(f"the loop {name}: kind={joint!r} is not known.{advice}")
    return _joint_rows(record, joint, name, offset, p, r, language)


def _moving_ancestor(body: int, language: FormulaLanguage) -> int:
    """The first body towards the ground that can move against its parent."""
    bodies = language.k.mechanism.bodies
    while body >= 0 and not bodies[body].coordinates:
        body = bodies[body].parent
    return body


def _joint_rows(
    record: LoopRecord,
    joint: str,
    name: str,
    offset: Vector,
    p: BodyPoint,
    r: BodyPoint,
    language: FormulaLanguage,
) -> list[LoopRow]:
    def direction_row(text: str, a: Vector, b: Vector, drawn: Vector | None = None) -> LoopRow:
        """Of directions a and b; where a body may not turn, a is to point as `drawn`."""
        side = None if drawn is None else div(dot(a, drawn), mul(magnitude(a), magnitude(drawn)))
        is_rotational = a is not offset
        return LoopRow(
            f"{name}, {text}",
            dot(a, b),
            name,
            p,
            r,
            a,
            b,
            is_rotational,
            side=side,
            joint=joint,
            axis=axis,
        )

    axis: Vector | None = None
    blocks_along, blocks_across, blocks_tilt, blocks_rotation = JOINTS[joint]
    frames = language.k.frames
    base, moving = frames[r.body], frames[p.body]
    if joint == "spherical":
        return [
            direction_row(f"axis {i + 1}", offset, Vector({e: ONE}))
            for i, e in enumerate(base.axes)
        ]
    if record.axis is None:
        raise ModelError(
            f"the loop {name}: a {joint} joint needs axis=, a vector fixed in the body of {p.name}"
        )
    axis = _without_rounding(language.vector(record.axis))
    base_axis = _fixed_vector_at_reference(axis, base, language)
    first, second = _normal_directions(base_axis, base)
    rows: list[LoopRow] = []
    if blocks_along:
        rows.append(direction_row("along the axis", offset, base_axis))
    if blocks_across:
        rows += [direction_row("across the axis", offset, e) for e in (first, second)]
    if blocks_tilt:
        rows += [
            direction_row("tilt of the axis", axis, e, drawn=base_axis) for e in (first, second)
        ]
    if blocks_rotation:
        rows.append(
            direction_row(
                "turn about the axis",
                _fixed_vector_at_reference(first, moving, language),
                second,
                drawn=first,
            )
        )
    if joint == "universal":
        rows.append(direction_row("turn about the axis", axis, first))
    return rows


def _fixed_vector_at_reference(v: Vector, target: Frame, language: FormulaLanguage) -> Vector:
    """The vector fixed in the target frame that coincides with v in the reference configuration."""
    return _without_rounding(
        target.vector(language.k.with_drawn_values(c) for c in target.coordinates(v))
    )


def _without_rounding(v: Vector) -> Vector:
    """The vector without components that are rounding compared with others, where all are
    numbers."""
    if any(s.kind != "constant" for c in v.terms.values() for s in free_symbols(c)):
        return v
    sizes = dict(zip(v.terms, map(abs, evaluate(v.terms.values(), {})), strict=True))
    return Vector(
        {e: c for e, c in v.terms.items() if sizes[e] > RANKS.digits * max(sizes.values())}
    )


def _normal_directions(axis: Vector, frame: Frame) -> tuple[Vector, Vector]:
    """Two directions of a frame normal to an axis and to each other; their lengths do not matter.

    The first is normal to the axis of the frame that has the smallest component along it; a
    component that depends on parameters counts half. Where parameters bring the axis near that one,
    the next is taken instead, when their values are known.
    """
    c = frame.coordinates(axis)
    fixed = [all(s.kind == "constant" for s in free_symbols(x)) for x in c]
    fractions = [
        abs(evaluate([x], {})[0]) if is_constant else 0.5
        for x, is_constant in zip(c, fixed, strict=True)
    ]
    k = next(
        i for i in range(3) if fractions[i] <= min(fractions) + RANKS.rounding * max(fractions)
    )
    first = cross(axis, Vector({frame.axes[k]: ONE}))
    if not fixed[k]:
        alternative = cross(axis, Vector({frame.axes[(k + 1) % 3]: ONE}))
        usual = apply_builtin("lt", mul(c[k], c[k]), mul(NEAR, dot(axis, axis)))
        pairs = zip(frame.coordinates(first), frame.coordinates(alternative), strict=True)
        first = frame.vector(apply_builtin("where", usual, a, b) for a, b in pairs)
    return first, cross(axis, first)
