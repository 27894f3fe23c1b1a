"""Suspensions in a picture, by their hard points: rods, arms as triangles, carriers as stars,
wheels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bellcrank.linkage.chain import BASE, Chain, ChainJoint
from bellcrank.mechanics.kinematics.poses import AttachedPart
from bellcrank.mechanics.kinematics.results import KinematicAnalysis
from bellcrank.model.mechanism import Body
from bellcrank.scene.draft import DARK, PALETTE, STEEL, TYRE, DistanceFraction, SceneDraft
from bellcrank.symbolic.expr import ZERO, expression, mul
from bellcrank.symbolic.vector.basis import IDENTITY, Vec3, add3, neg3

ARM = 0.04  # radius of a rod or arm, of its length
BUSH = 0.022  # m, radius of a joint
WIDE = 0.62  # width of a tyre that is not given, of its radius


def draw_linkages(d: SceneDraft) -> None:
    """Suspensions by their hard points: rods, arms as triangles, carriers as stars."""
    for b in d.analysis.mechanism.bodies:
        joint: Any = b.joint
        chain = getattr(getattr(joint.functions, "linkage", None), "chain", None)
        if joint.guided and chain is not None and joint.part == chain.carrier:
            _add_linkage(d, b, joint, chain)


def _add_linkage(d: SceneDraft, b: Body, joint: Any, chain: Chain) -> None:
    color = PALETTE[b.index % len(PALETTE)]
    linkage = joint.guide.linkage
    homes: dict[str, tuple[int, Vec3]] = {
        BASE: (b.parent, joint.datum)
    }  # body, and the origin of drawn points in it
    drawn = _in_equation_units(linkage.origins[chain.carrier], joint)
    homes[chain.carrier] = (b.index, neg3(add3(drawn, joint.offset)))
    for name in chain.bodies:
        if name not in homes and name in linkage.links:
            part = replace(joint, part=name)
            motion = part.motion([ZERO for _ in part.driving_speeds])
            index = len(d.analysis.mechanism.bodies) + len(d.parts)
            d.parts.append(
                AttachedPart(f"{b.name}.{name}", b.parent, motion.R, add3(joint.datum, motion.p))
            )
            homes[name] = (index, neg3(_in_equation_units(linkage.origins[name], joint)))
    marks = {}
    for name, point in chain.points.items():
        if point.body in homes:
            body, origin = homes[point.body]
            marks[name] = d.add_mark(body, add3(origin, _in_equation_units(point.at, joint)))
    for rod in chain.rods:
        if rod.first in marks and rod.second in marks:
            d.add_item(
                "rod",
                (marks[rod.first], marks[rod.second]),
                [DistanceFraction(ARM)],
                STEEL,
                "body",
                rod.name,
            )
    for name in (x for x in homes if x != BASE):
        body_points = [n for n in _body_hard_points(chain, name) if n in marks]
        hub = (
            chain.wheel_centre
            if name == chain.carrier and chain.wheel_centre in body_points
            else None
        )
        pairs = (
            [(hub, n) for n in body_points if n != hub]
            if hub
            else [(x, y) for i, x in enumerate(body_points) for y in body_points[:i]]
        )
        shade = color if name == chain.carrier else STEEL
        for x, y in pairs:
            d.add_item(
                "rod",
                (marks[x], marks[y]),
                [DistanceFraction(ARM)],
                shade,
                "body",
                b.label if hub else name,
            )
    for j in chain.joints:
        if j.at in marks:
            d.add_item(
                "sphere",
                (marks[j.at],),
                [mul(joint.metre, expression(BUSH))],
                DARK,
                "joint",
                j.name,
            )
    radius = chain.vehicle.get("tyre_radius")
    if radius and not any(_is_carried_by(d.analysis, b.index, w.body) for w in d.analysis.wheels):
        centre = add3(
            homes[chain.carrier][1], _in_equation_units(chain.place(chain.wheel_centre), joint)
        )
        size = [mul(joint.metre, expression(x * float(radius))) for x in (1.0, WIDE)]
        d.add_item(
            "wheel", (d.add_mark(b.index, centre),), size, TYRE, "wheel", b.label, IDENTITY[1]
        )


def _body_hard_points(chain: Chain, name: str) -> list[str]:
    """Hard points of a body, those of its joints among them, and others on the axes of these."""
    position_of = {n: p.at for n, p in chain.points.items() if p.body == name}
    for j in chain.joints:
        if name in (j.first, j.second):
            position_of[j.at] = chain.place(j.at)
            if j.kind == "revolute" and j.axis is not None:
                position_of |= {
                    n: p.at
                    for n, p in chain.points.items()
                    if p.body == BASE and _is_on_axis(p.at, j, chain)
                }
    return list(position_of)


def _is_on_axis(position: Sequence[float], j: ChainJoint, chain: Chain) -> bool:
    """Does a point lie on the axis of a joint?"""
    offset, axis = np.subtract(position, chain.place(j.at)), np.array(j.axis)
    return bool(np.linalg.norm(np.cross(offset, axis)) < 1e-6 * np.linalg.norm(axis))


def _is_carried_by(a: KinematicAnalysis, body: int, descendant: int) -> bool:
    """Does a body carry another, or is it that?"""
    while descendant >= 0 and descendant != body:
        descendant = a.mechanism.bodies[descendant].parent
    return descendant == body


def _in_equation_units(coordinates: Sequence[float], joint: Any) -> Vec3:
    x, y, z = (mul(joint.metre, expression(float(c))) for c in coordinates)
    return x, y, z
