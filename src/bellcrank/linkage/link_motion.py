"""From a solved state to the motion of carrier and links, over arrays or expressions.

In:  `BodyFrames` along the directions of motion, and the second derivatives of the unknowns. Out:
for every body and rod rotation, position and their derivatives along each direction. Used by
`solver` (arrays) and by the printed program (expressions).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bellcrank.linkage.chain import BASE, Chain, Point, unit_vector, vector_between
from bellcrank.linkage.pose import rod_rotation
from bellcrank.linkage.solution_plan import BodyFrames, SolutionPlan
from bellcrank.linkage.vector_jets import Mat, Vec, add_jets3, constant_vector, scale_jet3


@dataclass(frozen=True)
class LinkMotion:
    """Rotation and position of a link, and along each direction d, delta, dd, ddelta."""

    R: Mat
    position: Vec
    d: tuple[Vec, ...]
    delta: tuple[Vec, ...]
    dd: tuple[Vec, ...]
    ddelta: tuple[Vec, ...]


def drawn_origins(plan: SolutionPlan) -> dict[str, Point]:
    """Drawn reference points: of the carrier the wheel centre, of a body its placing joint, of a
    rod its first end."""
    chain, reference_points = plan.chain, {p.body: p.origin for p in plan.placings}
    reference_points[chain.carrier] = chain.place(chain.wheel_centre)
    reference_points.update({r.name: chain.place(r.first) for r in chain.rods})
    return reference_points


def _body_motion(frames: BodyFrames, body: str, drawn_point: Point, second: Any) -> LinkMotion:
    """Motion of a body, its position that of the point drawn at `drawn_point`."""
    frame = frames.frames[body]
    p = frames.point_drawn_at(body, drawn_point)
    ddelta = tuple(
        add_jets3(frame.alpha[j], *(scale_jet3(y[k], v) for k, v in frame.turn.items()))
        for j, y in enumerate(second)
    )
    dd = tuple(p.acceleration(j, y) for j, y in enumerate(second))
    return LinkMotion(frame.R, p.value, p.rate, frame.w, dd, ddelta)


def _rod_motion(frames: BodyFrames, name: str, second: Any) -> LinkMotion:
    """Motion of a rod, its position that of its first end; it does not spin about itself."""
    chain = frames.plan.chain
    rod = next(r for r in chain.rods if r.name == name)
    a, b = frames.point(rod.first), frames.point(rod.second)
    line = b - a
    drawn = constant_vector(
        unit_vector(vector_between(chain.place(rod.first), chain.place(rod.second)))
    )
    length = frames.plan.lengths[name]
    rotations = [
        rod_rotation(drawn, line.value, line.rate[j], line.acceleration(j, y), length)
        for j, y in enumerate(second)
    ]
    R, delta, ddelta = zip(*rotations, strict=True)
    dd = tuple(a.acceleration(j, y) for j, y in enumerate(second))
    return LinkMotion(R[-1], a.value, a.rate, delta, dd, ddelta)


def internal_link_names(chain: Chain) -> list[str]:
    """Names of the internal links: bodies other than the carrier, then rods."""
    return [b for b in chain.bodies if b not in (chain.carrier, BASE)] + [
        r.name for r in chain.rods
    ]


def link_motion(frames: BodyFrames, name: str, drawn_point: Point, second: Any) -> LinkMotion:
    """Motion of a body or rod by name."""
    return (
        _body_motion(frames, name, drawn_point, second)
        if name in frames.frames
        else _rod_motion(frames, name, second)
    )
