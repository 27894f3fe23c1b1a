"""The draft of a scene: what a picture of an analysed model shows, lengths still expressions of parameters.

In:  an `Analysis`. Out: `Draft`: marks and items. A body that was given shapes is drawn by them; any other by rods from
its joint to those of its children and to points where loops close or forces act, and a ball at its mass centre. Forces
that depend on a distance are coils, wheels on the ground cylinders, links of a suspension rods by its hard points.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from bellcrank.expr import ONE, ZERO, Expr, expression, mul
from bellcrank.files.stl import Mesh
from bellcrank.kinematics.body_motion import Point
from bellcrank.kinematics.loop_joints import LoopRow
from bellcrank.kinematics.poses import Part
from bellcrank.kinematics.results import Analysis, Load, Wheel
from bellcrank.linkage.chain import BASE, Chain, Joint
from bellcrank.model.formula import names_in
from bellcrank.model.mechanism import Body
from bellcrank.vector.basis import IDENTITY, NULL, Vec3, add3, dot, neg3

PALETTE = ("#3b6ea5", "#c8553d", "#4f8a5b", "#8a6bb1", "#c98b2b", "#3d8f95", "#a94f7a", "#6f6a3f")
GREY, DARK, PALE, STEEL = "#8b8f94", "#2f3338", "#b9bec4", "#5f6a75"
ROD, BALL, PIN, RAIL, THIN = 0.016, 0.034, 0.024, 0.007, 0.004  # sizes as shares of the reach
COIL = (0.03, 0.005)
RIM = 33  # points of the outline of a wheel


@dataclass(frozen=True)
class Share:
    """A length as a share of the reach of the mechanism."""

    of_reach: float


Length = Expr | Share


@dataclass(frozen=True)
class DraftItem:
    """An `Item` before lengths are numbers; `axis` is the direction of its third axis in the body of its mark."""

    kind: str
    marks: tuple[int, ...]
    size: tuple[Length, ...]
    color: str
    role: str
    label: str = ""
    axis: Vec3 = IDENTITY[2]
    mesh: Mesh | None = None
    along: Line | None = None  # drawn only if a force acts along the line of its points


@dataclass(frozen=True)
class Line:
    """Along a force between two points: what it measures, and the square of their distance, as drawn."""

    measured: Expr
    square: Expr


@dataclass(frozen=True)
class Bulk:
    """A body without anything to connect: a box with its mass and moments of inertia, if it has such."""

    mark: int
    mass: Expr
    moments: Vec3
    color: str
    label: str


@dataclass
class Draft:
    """Marks and items; `parts` are links of suspensions, which follow the bodies among the poses."""

    analysis: Analysis
    marks: list[tuple[int, Vec3]] = field(default_factory=list)
    items: list[DraftItem] = field(default_factory=list)
    bulks: list[Bulk] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)
    _known: dict[tuple[int, Vec3], int] = field(default_factory=dict)

    def mark(self, body: int, at: Vec3 = NULL) -> int:
        """The number of a mark, which is made if it is new."""
        key = (body, at)
        if key not in self._known:
            self._known[key] = len(self.marks)
            self.marks.append(key)
        return self._known[key]

    def at(self, p: Point) -> int:
        return self.mark(p.body, p.at)

    def expressions(self) -> list[Expr]:
        """All that follows from the parameters, in the order in which `build` takes the numbers."""
        found = [x for _, at in self.marks for x in at]
        for item in self.items:
            found += [*(x for x in item.size if not isinstance(x, Share)), *item.axis]
            found += [item.along.measured, item.along.square] if item.along is not None else []
        for bulk in self.bulks:
            found += [bulk.mass, *bulk.moments]
        found += [x for _, direction in (*self.turns, *self.slides) for x in direction]
        return [*found, *self.up]

    @cached_property
    def turns(self) -> list[tuple[int, Vec3]]:
        """The axes of all joints that turn about one, with the bodies in which they are fixed."""
        looks = [(b, b.joint.look) for b in self.analysis.mechanism.bodies]
        return [(b.index, axis) for b, x in looks if x is not None and x.angles == 1 for axis in x.axes]

    @cached_property
    def slides(self) -> list[tuple[int, Vec3]]:
        """The directions of all that slides, with the bodies in which they are fixed."""
        looks = [(b, b.joint.look) for b in self.analysis.mechanism.bodies]
        return [(b.parent, v) for b, x in looks if x is not None for v in x.slides]

    @cached_property
    def in_space(self) -> bool:
        """Does some joint move in more than a plane?"""
        looks = [b.joint.look for b in self.analysis.mechanism.bodies]
        return any(x is None or x.angles > 1 for x in looks)

    @cached_property
    def up(self) -> Vec3:
        """Away from the weight; by the axes of the description where nothing weighs."""
        down = self.analysis.kinematics.frames[-1].coordinates(self.analysis.gravity)
        if self.analysis.gravity and all(x.constant for x in down):
            return neg3(down)
        sae = str(self.analysis.mechanism.description.axes).lower().startswith("sae")
        return neg3(IDENTITY[2]) if sae else IDENTITY[2]

    def add(
        self,
        kind: str,
        marks: Sequence[int],
        size: Sequence[Length],
        color: str,
        role: str,
        label: str = "",
        axis: Vec3 = IDENTITY[2],
        mesh: Mesh | None = None,
        along: Line | None = None,
    ) -> None:
        self.items.append(DraftItem(kind, tuple(marks), tuple(size), color, role, label, axis, mesh, along))


def draft_of(analysis: Analysis) -> Draft:
    """The draft of a model."""
    d = Draft(analysis)
    bodies = analysis.mechanism.bodies
    shaped = {s.body for s in analysis.shapes}
    rolling = {w.body for w in analysis.wheels}
    for b in bodies:
        color = PALETTE[b.index % len(PALETTE)]
        if b.index not in shaped:
            _skeleton(d, b, color, b.index in rolling)
        _joint(d, b, b.index in shaped or b.index in rolling)
    for wheel in analysis.wheels:
        d.at(wheel.centre)  # below which the ground is drawn
        if wheel.body not in shaped:
            _wheel(d, wheel)
    for row in _loops(analysis):
        _loop_joint(d, row)
    for load in analysis.loads:
        if _is_spring(analysis, load) and load.point is not None and load.other is not None:
            ends = d.at(load.point), d.at(load.other)
            line = None if load.kind == "strut" else _line(analysis, load, load.point, load.other)
            d.add("coil", ends, [Share(x) for x in COIL], STEEL, "force", load.label, along=line)
    draw_linkages(d)
    _shapes(d)
    return d


def _line(a: Analysis, load: Load, p: Point, r: Point) -> Line:
    k = a.kinematics
    between = k.position(p) - k.position(r)
    return Line(k.nominal(dot(load.direction, between)), k.nominal(dot(between, between)))


def _shapes(d: Draft) -> None:
    """What was given by add_shape."""
    for s in d.analysis.shapes:
        color = s.color or (GREY if s.body < 0 else PALETTE[s.body % len(PALETTE)])
        sizes: dict[str, tuple[Length, ...]] = {
            "box": (Share(0.2),) * 3, "cylinder": (Share(0.1), Share(0.3)), "sphere": (Share(0.1),),
            "line": (Share(RAIL),), "mesh": (ONE,),
        }  # fmt: skip
        size = s.size or sizes[s.kind]
        size = size * 3 if s.kind == "box" and len(size) == 1 else size
        d.add(s.kind, [d.mark(s.body, p) for p in s.at], size, color, "body", s.label, s.axis, s.mesh)


def _skeleton(d: Draft, b: Body, color: str, rolls: bool) -> None:
    """Rods from the joint of a body, and a ball at its mass centre."""
    a = d.analysis
    massive = b.mass is not ZERO and b.mass.fingerprint != 0
    if b.joint.guided:  # its hard points show it
        if massive and not rolls:
            d.add("sphere", (d.mark(b.index, b.cm),), [Share(BALL)], color, "body", b.label)
        return
    ends = list(dict.fromkeys(_ends(a, b)))
    hub = b.cm if _is_free(b) else NULL
    if not any(e != hub for e in ends):  # nothing is connected to it
        own = [p.at for p in a.points.values() if p.body == b.index]
        ends = [b.cm] if b.cm != hub else own
    for end in ends:
        if end != hub:
            d.add("rod", (d.mark(b.index, hub), d.mark(b.index, end)), [Share(ROD)], color, "body", b.label)
    if rolls:
        return
    if all(e == hub for e in ends) and massive and _is_free(b):
        moments = b.inertia[0][0], b.inertia[1][1], b.inertia[2][2]
        d.bulks.append(Bulk(d.mark(b.index, b.cm), b.mass, moments, color, b.label))
    elif massive:
        d.add("sphere", (d.mark(b.index, b.cm),), [Share(BALL)], color, "body", b.label)
        if b.cm != hub and b.cm not in ends:
            d.add("rod", (d.mark(b.index, hub), d.mark(b.index, b.cm)), [Share(RAIL)], color, "body", b.label)


def _is_free(b: Body) -> bool:
    """Does it move in space or in a plane, on no joint that could be drawn?"""
    look = b.joint.look
    return b.parent < 0 and look is not None and len(look.slides) > 1


def _ends(a: Analysis, b: Body) -> Iterator[Vec3]:
    """Where other things are fixed to a body."""
    for child in a.mechanism.bodies:
        if child.parent == b.index and not child.joint.guided and not _on_springs(a, child):
            yield child.joint.at
    for row in _loops(a):
        yield from (p.at for p in (row.p, row.r) if p.body == b.index)
    for load in a.loads:
        if load.kind != "moment" and load.point is not None:
            other = load.other if _is_spring(a, load) else None
            yield from (p.at for p in (load.point, other) if p is not None and p.body == b.index)
    for wheel in a.wheels:
        if wheel.centre.body == b.index:
            yield wheel.centre.at


def _on_springs(a: Analysis, b: Body) -> bool:
    """Does a body slide on a spring against its parent, which shows how it is held?"""
    pairs, look = [{x.body, x.against} for x in a.loads if _is_spring(a, x)], b.joint.look
    return look is not None and bool(look.slides) and {b.index, b.parent} in pairs


def _is_spring(a: Analysis, load: Load) -> bool:
    """A strut, or a force that depends on the distance of two points."""
    if load.kind == "strut":
        return True
    record = next((f for f in a.mechanism.description.forces if f.name == load.name), None)
    if record is None or load.kind != "force":
        return False
    x = record.dummies[0].lower()
    return any(name.lower() == x for name in names_in(record.magnitude))


def _loops(a: Analysis) -> list[LoopRow]:
    """One row of every closed loop."""
    found: dict[tuple[str, str, str], LoopRow] = {}
    for row in a.loops.rows if a.loops is not None else a.solved:
        if isinstance(row.source, LoopRow):
            found.setdefault((row.source.loop, row.source.p.name, row.source.r.name), row.source)
    return list(found.values())


def _joint(d: Draft, b: Body, plain: bool) -> None:
    """The joint that carries a body: a pin, a ball, a block that slides, and where it stands on the ground."""
    look, at, here = b.joint.look, b.joint.at, d.mark(b.index)
    if look is None or _is_free(b):
        return
    if look.slides:
        base = d.mark(b.parent, at)
        block = [Share(2 * PIN), Share(2 * PIN), Share(3 * PIN)]
        d.add("rod", (base, here), [Share(RAIL)], GREY, "joint")
        d.add("box", (base,), block, PALE, "joint", axis=look.slides[0])
    if look.angles == 1 and look.axes and not plain:
        d.add("cylinder", (here,), [Share(PIN), Share(4 * ROD)], DARK, "joint", axis=look.axes[0])
    elif look.angles > 1 and not plain:
        d.add("sphere", (here,), [Share(PIN)], DARK, "joint")
    if b.parent < 0 and not look.slides:
        d.add("box", (d.mark(-1, at),), [Share(2.6 * PIN)] * 3, GREY, "ground")


def _loop_joint(d: Draft, row: LoopRow) -> None:
    """The joint that closes a loop, by its kind."""
    p, r = d.at(row.p), d.at(row.r)
    frame = d.analysis.kinematics.frames[row.p.body]
    axis = IDENTITY[2] if row.axis is None else frame.coordinates(row.axis)
    if any(not x.constant for x in axis):
        axis = IDENTITY[2]
    if row.joint == "rod":
        d.add("rod", (p, r), [Share(ROD)], STEEL, "joint", row.loop)
    elif row.joint in ("pin", "cylindrical"):
        d.add("cylinder", (p,), [Share(PIN), Share(4 * ROD)], DARK, "joint", row.loop, axis)
    elif row.joint in ("slider", "planar"):
        d.add("box", (p,), [Share(2 * PIN), Share(2 * PIN), Share(3 * PIN)], PALE, "joint", row.loop, axis)
        d.add("rod", (p, r), [Share(RAIL)], GREY, "joint", row.loop)
    else:
        d.add("sphere", (p,), [Share(PIN)], DARK, "joint", row.loop)
        if row.joint == "":
            d.add("rod", (p, r), [Share(THIN)], GREY, "joint", row.loop)
    for point in (row.p, row.r):
        if point.body < 0:
            d.add("box", (d.at(point),), [Share(2.6 * PIN)] * 3, GREY, "ground")


def draw_linkages(d: Draft) -> None:
    """Suspensions by their hard points: rods, arms as triangles, carriers as stars."""
    for b in d.analysis.mechanism.bodies:
        joint: Any = b.joint
        chain = getattr(getattr(joint.functions, "linkage", None), "chain", None)
        if joint.guided and chain is not None and joint.part == chain.carrier:
            _linkage(d, b, joint, chain)


def _linkage(d: Draft, b: Body, joint: Any, chain: Chain) -> None:
    color = PALETTE[b.index % len(PALETTE)]
    linkage = joint.guide.linkage
    homes: dict[str, tuple[int, Vec3]] = {BASE: (b.parent, joint.datum)}  # body, and the origin of drawn points in it
    drawn = _metric(linkage.origins[chain.carrier], joint)
    homes[chain.carrier] = (b.index, neg3(add3(drawn, joint.offset)))
    for name in chain.bodies:
        if name not in homes and name in linkage.links:
            part = replace(joint, part=name)
            motion = part.motion([ZERO for _ in part.moving])
            index = len(d.analysis.mechanism.bodies) + len(d.parts)
            d.parts.append(Part(f"{b.name}.{name}", b.parent, motion.R, add3(joint.datum, motion.p)))
            homes[name] = (index, neg3(_metric(linkage.origins[name], joint)))
    places = {}
    for name, point in chain.points.items():
        if point.body in homes:
            body, origin = homes[point.body]
            places[name] = d.mark(body, add3(origin, _metric(point.at, joint)))
    for rod in chain.rods:
        if rod.first in places and rod.second in places:
            d.add("rod", (places[rod.first], places[rod.second]), [Share(ROD)], STEEL, "body", rod.name)
    for name in (x for x in homes if x != BASE):
        own = [n for n in _points_of(chain, name) if n in places]
        hub = chain.wheel_centre if name == chain.carrier and chain.wheel_centre in own else None
        pairs = [(hub, n) for n in own if n != hub] if hub else [(x, y) for i, x in enumerate(own) for y in own[:i]]
        shade = color if name == chain.carrier else STEEL
        for x, y in pairs:
            d.add("rod", (places[x], places[y]), [Share(ROD)], shade, "body", b.label if hub else name)
    for j in chain.joints:
        if j.at in places:
            d.add("sphere", (places[j.at],), [Share(PIN)], DARK, "joint", j.name)
    radius = chain.vehicle.get("tyre_radius")
    if radius and not any(_carries(d.analysis, b.index, w.body) for w in d.analysis.wheels):
        _rim(d, b, joint, homes[chain.carrier][1], chain.place(chain.wheel_centre), float(radius))


def _points_of(chain: Chain, name: str) -> list[str]:
    """Hard points of a body, those of its joints among them, and others on the axes of these."""
    found = {n: p.at for n, p in chain.points.items() if p.body == name}
    for j in chain.joints:
        if name in (j.first, j.second):
            found[j.at] = chain.place(j.at)
            if j.kind == "revolute" and j.axis is not None:
                found |= {n: p.at for n, p in chain.points.items() if p.body == BASE and _on(p.at, j, chain)}
    return list(found)


def _on(at: Sequence[float], j: Joint, chain: Chain) -> bool:
    """Does a point lie on the axis of a joint?"""
    away, axis = np.subtract(at, chain.place(j.at)), np.array(j.axis)
    return bool(np.linalg.norm(np.cross(away, axis)) < 1e-6 * np.linalg.norm(axis))


def _carries(a: Analysis, body: int, other: int) -> bool:
    """Does a body carry another, or is it that?"""
    while other >= 0 and other != body:
        other = a.mechanism.bodies[other].parent
    return other == body


def _rim(d: Draft, b: Body, joint: Any, origin: Vec3, centre: Sequence[float], radius: float) -> None:
    """The outline of a wheel that nothing else shows."""
    turn = np.linspace(0, 2 * np.pi, RIM)
    circle = np.array(centre) + radius * np.column_stack([np.cos(turn), 0 * turn, np.sin(turn)])
    marks = [d.mark(b.index, add3(origin, _metric(x, joint))) for x in circle.tolist()]
    d.add("line", marks, [Share(2 * RAIL)], DARK, "wheel", b.label)


def _metric(at: Sequence[float], joint: Any) -> Vec3:
    x, y, z = (mul(joint.metre, expression(float(c))) for c in at)
    return x, y, z


def _wheel(d: Draft, w: Wheel) -> None:
    """A tyre with two spokes, so that one sees it turn."""
    body = w.body
    at = w.centre.at if w.centre.body == body else NULL
    here, axis = (d.mark(body, at),), IDENTITY[1]

    def times(x: float) -> Expr:
        return mul(expression(x), w.radius)

    d.add("cylinder", here, (w.radius, times(0.35)), DARK, "wheel", w.name, axis)
    for first, second in ((1.5, 0.14), (0.14, 1.5)):
        d.add("box", here, (times(first), times(second), times(0.38)), PALE, "wheel", axis=axis)
