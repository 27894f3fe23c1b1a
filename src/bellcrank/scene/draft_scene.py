"""What a picture of an analysed model shows, as it is chosen where nothing is reported.

In:  an `KinematicAnalysis`. Out: `SceneDraft`. A body that was given shapes is drawn by them; any
other by rods from its joint to those of its children and to points where loops close or forces
act, and a ball at its mass centre. Forces that depend on a distance are coils, wheels on the
ground cylinders, links of a suspension rods by its hard points.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bellcrank.mechanics.kinematics.loop_joints import LoopRow
from bellcrank.mechanics.kinematics.results import KinematicAnalysis
from bellcrank.model.loads.contact import Wheel
from bellcrank.model.loads.load import BodyPoint, Load
from bellcrank.model.mechanism import Body
from bellcrank.scene.draft import (
    BALL,
    COIL,
    DARK,
    GREY,
    PALE,
    PALETTE,
    PIN,
    RAIL,
    ROD,
    STEEL,
    THIN,
    TYRE,
    ForceLine,
    InertiaBox,
    Length,
    ReachFraction,
    SceneDraft,
)
from bellcrank.scene.suspensions import draw_linkages
from bellcrank.symbolic.expr import ONE, ZERO, add, apply_builtin, div, expression, mul, sqrt
from bellcrank.symbolic.vector.basis import IDENTITY, NULL, Vec3, dot

SLIM = 0.5  # of a spring that stands in a wheel
SIZES = {"coil": COIL, "rod": (THIN,)}  # of what shows a load between its points


def draft_scene(analysis: KinematicAnalysis) -> SceneDraft:
    """The draft of a model."""
    d = SceneDraft(analysis)
    bodies = analysis.mechanism.bodies
    shaped = {s.body for s in analysis.shapes}
    rolling = {i for w in analysis.wheels for i in (w.body, w.centre.body)}
    rolling |= {
        i for s in analysis.shapes if s.kind == "wheel" for i in _wheel_carriers(bodies, s.body)
    }
    for b in bodies:
        color = PALETTE[b.index % len(PALETTE)]
        if b.mass is ZERO and b.index not in shaped and shaped - {-1}:
            continue  # it only connects bodies that are drawn as they are
        if b.index not in shaped:
            _add_skeleton(d, b, color, b.index in rolling)
        _add_joint(
            d,
            b,
            b.index in shaped or b.index in rolling,
            b.index in rolling or {b.index, b.parent} <= shaped,
        )
    for wheel in analysis.wheels:
        d.mark_at_point(wheel.centre)  # below which the ground is drawn
        if wheel.body not in shaped:
            _add_default_wheel(d, wheel)
    for row in _first_row_per_loop(analysis):
        _loop_joint(d, row)
    tyred = {s.body for s in analysis.shapes if s.kind == "wheel"}
    for load in analysis.loads:
        if load.look and load.point is not None and load.other is not None:
            end_bodies = {load.point.body, load.other.body}
            if -1 in end_bodies and end_bodies & tyred:
                continue  # the tyre is drawn
            end_marks = d.mark_at_point(load.point), d.mark_at_point(load.other)
            for point in (load.point, load.other):
                if point.body < 0 and load.look == "coil" and load.along_points:
                    d.add_item(
                        "box",
                        (d.mark_at_point(point),),
                        [ReachFraction(1.6 * PIN)] * 3,
                        GREY,
                        "ground",
                    )
            line = (
                None if load.along_points else _force_line(analysis, load, load.point, load.other)
            )
            slim = SLIM if end_bodies & rolling else 1.0
            d.add_item(
                load.look,
                end_marks,
                [ReachFraction(slim * x) for x in SIZES[load.look]],
                STEEL,
                "force",
                load.label,
                along=line,
            )
    draw_linkages(d)
    _add_default_shapes(d)
    return d


def _force_line(a: KinematicAnalysis, load: Load, p: BodyPoint, r: BodyPoint) -> ForceLine:
    k = a.kinematics
    difference = k.position(p) - k.position(r)
    return ForceLine(
        k.with_drawn_values(dot(load.direction, difference)),
        k.with_drawn_values(dot(difference, difference)),
    )


def _add_default_shapes(d: SceneDraft) -> None:
    """What was given by add_shape."""
    for s in d.analysis.shapes:
        usual = TYRE if s.kind == "wheel" else ""
        color = s.color or usual or (GREY if s.body < 0 else PALETTE[s.body % len(PALETTE)])
        sizes: dict[str, tuple[Length, ...]] = {
            "box": (ReachFraction(0.2),) * 3,
            "cylinder": (ReachFraction(0.1), ReachFraction(0.3)),
            "sphere": (ReachFraction(0.1),),
            "line": (ReachFraction(RAIL),),
            "mesh": (ONE,),
            "wheel": (ReachFraction(0.1), ReachFraction(0.06)),
        }
        size: Sequence[Length] = s.size or sizes[s.kind]
        size = [*size] * 3 if s.kind == "box" and len(size) == 1 else size
        role = "wheel" if s.kind == "wheel" else "body"
        marks = [d.add_mark(s.body, p) for p in s.center]
        d.add_item(s.kind, marks, size, color, role, s.label, s.axis, s.mesh, opacity=s.opacity)


def _add_skeleton(d: SceneDraft, b: Body, color: str, rolls: bool) -> None:
    """Rods from the joint of a body, and a ball at its mass centre."""
    a = d.analysis
    massive = b.mass is not ZERO and b.mass.fingerprint != 0
    if b.joint.guided:  # its hard points show it
        return
    end_points = list(dict.fromkeys(_attachment_points(a, b)))
    hub = b.cm if _is_free(b) else NULL
    if not any(e != hub for e in end_points):  # nothing is connected to it
        body_points = [p.coordinates for p in a.points.values() if p.body == b.index]
        end_points = [_free_end_point(b)] if b.cm != hub else body_points
    for end in end_points:
        if end != hub:
            d.add_item(
                "rod",
                (d.add_mark(b.index, hub), d.add_mark(b.index, end)),
                [ReachFraction(ROD)],
                color,
                "body",
                b.label,
            )
    if rolls:
        return
    if all(e == hub for e in end_points) and massive and _is_free(b):
        moments = b.inertia[0][0], b.inertia[1][1], b.inertia[2][2]
        d.bulks.append(InertiaBox(d.add_mark(b.index, b.cm), b.mass, moments, color, b.label))
    elif massive:
        d.add_item(
            "sphere", (d.add_mark(b.index, b.cm),), [ReachFraction(BALL)], color, "body", b.label
        )
        if b.cm != hub and b.cm not in end_points:
            d.add_item(
                "rod",
                (d.add_mark(b.index, hub), d.add_mark(b.index, b.cm)),
                [ReachFraction(RAIL)],
                color,
                "body",
                b.label,
            )


def _free_end_point(b: Body) -> Vec3:
    """Where a body ends that nothing is connected to: as far behind its mass centre as a uniform
    rod with its inertia would reach, but not farther than its joint lies before it."""
    if all(b.inertia[i][i] is ZERO for i in range(3)):
        return b.cm
    square = add(*(mul(x, x) for x in b.cm))
    i = next(i for i in range(3) if b.cm[i] is not ZERO)
    moments = apply_builtin("max", *(b.inertia[k][k] for k in range(3) if k != i))
    share = apply_builtin("min", ONE, sqrt(div(mul(expression(3), moments), mul(b.mass, square))))
    x, y, z = (mul(add(ONE, share), c) for c in b.cm)
    return x, y, z


def _is_free(b: Body) -> bool:
    """Does it move in space or in a plane, on no joint that could be drawn?"""
    joint_view = b.joint.look
    return b.parent < 0 and joint_view is not None and len(joint_view.slides) > 1


def _attachment_points(a: KinematicAnalysis, b: Body) -> Iterator[Vec3]:
    """Where other things are fixed to a body."""
    for child in a.mechanism.bodies:
        if child.parent == b.index and not child.joint.guided and not _is_spring_guided(a, child):
            yield child.joint.at
    for row in _first_row_per_loop(a):
        yield from (p.coordinates for p in (row.p, row.r) if p.body == b.index)
    for load in a.loads:
        if load.point is not None:
            second_point = load.other if load.look else None
            yield from (
                p.coordinates
                for p in (load.point, second_point)
                if p is not None and p.body == b.index
            )
    for wheel in a.wheels:
        if wheel.centre.body == b.index:
            yield wheel.centre.coordinates


def _is_spring_guided(a: KinematicAnalysis, b: Body) -> bool:
    """Does a body slide on a spring against its parent, which shows how it is held?"""
    pairs, joint_view = [{x.body, x.against} for x in a.loads if x.look], b.joint.look
    return joint_view is not None and bool(joint_view.slides) and {b.index, b.parent} in pairs


def _first_row_per_loop(a: KinematicAnalysis) -> list[LoopRow]:
    """One row of every closed loop."""
    row_of: dict[tuple[str, str, str], LoopRow] = {}
    for row in a.loops.rows if a.loops is not None else a.solved:
        if isinstance(row.source, LoopRow):
            row_of.setdefault((row.source.loop, row.source.p.name, row.source.r.name), row.source)
    return list(row_of.values())


def _wheel_carriers(bodies: Sequence[Body], wheel: int) -> Iterator[int]:
    """A wheel that turns, and bodies that turn or slide one way and hold it: knuckle and hub, or an
    axle."""
    yield wheel
    parent = bodies[wheel].parent if wheel >= 0 else -1
    while parent >= 0 and bodies[parent].parent >= 0:
        yield parent
        parent = bodies[parent].parent


def _add_joint(d: SceneDraft, b: Body, plain: bool, slides: bool) -> None:
    """The joint that carries a body: a pin, a ball, a block that slides, and where it stands on the
    ground; `plain`: no pin or ball, `slides`: no block, as both of its bodies, or a wheel, are
    drawn as they are."""
    joint_view, position, body_mark = b.joint.look, b.joint.at, d.add_mark(b.index)
    if joint_view is None or _is_free(b):
        return
    if joint_view.slides and not slides and not _carries_wheel(d, b):
        base = d.add_mark(b.parent, position)
        block = [ReachFraction(2 * PIN), ReachFraction(2 * PIN), ReachFraction(3 * PIN)]
        d.add_item("rod", (base, body_mark), [ReachFraction(RAIL)], GREY, "joint")
        d.add_item("box", (base,), block, PALE, "joint", axis=joint_view.slides[0])
    if joint_view.angles == 1 and joint_view.axes and not plain:
        d.add_item(
            "cylinder",
            (body_mark,),
            [ReachFraction(PIN), ReachFraction(4 * ROD)],
            DARK,
            "joint",
            axis=joint_view.axes[0],
        )
    elif joint_view.angles > 1 and not plain:
        d.add_item("sphere", (body_mark,), [ReachFraction(PIN)], DARK, "joint")
    if b.parent < 0 and not joint_view.slides:
        d.add_item(
            "box", (d.add_mark(-1, position),), [ReachFraction(2.6 * PIN)] * 3, GREY, "ground"
        )


def _carries_wheel(d: SceneDraft, b: Body) -> bool:
    return any(w.centre.body == b.index for w in d.analysis.wheels)


def _loop_joint(d: SceneDraft, row: LoopRow) -> None:
    """The joint that closes a loop, by its kind."""
    p, r = d.mark_at_point(row.p), d.mark_at_point(row.r)
    frame = d.analysis.kinematics.frames[row.p.body]
    axis = IDENTITY[2] if row.axis is None else frame.coordinates(row.axis)
    if any(not x.constant for x in axis):
        axis = IDENTITY[2]
    if row.joint == "distance":
        d.add_item("rod", (p, r), [ReachFraction(ROD)], STEEL, "joint", row.loop)
    elif row.joint in ("revolute", "cylindrical"):
        d.add_item(
            "cylinder",
            (p,),
            [ReachFraction(PIN), ReachFraction(4 * ROD)],
            DARK,
            "joint",
            row.loop,
            axis,
        )
    elif row.joint in ("prismatic", "planar"):
        d.add_item(
            "box",
            (p,),
            [ReachFraction(2 * PIN), ReachFraction(2 * PIN), ReachFraction(3 * PIN)],
            PALE,
            "joint",
            row.loop,
            axis,
        )
        d.add_item("rod", (p, r), [ReachFraction(RAIL)], GREY, "joint", row.loop)
    else:
        d.add_item("sphere", (p,), [ReachFraction(PIN)], DARK, "joint", row.loop)
        if row.joint == "":
            d.add_item("rod", (p, r), [ReachFraction(THIN)], GREY, "joint", row.loop)
    for point in (row.p, row.r):
        if point.body < 0:
            d.add_item(
                "box", (d.mark_at_point(point),), [ReachFraction(2.6 * PIN)] * 3, GREY, "ground"
            )


def _add_default_wheel(d: SceneDraft, w: Wheel) -> None:
    """A wheel with spokes, so that one sees it turn; as wide as usual, of a car if there are more
    than two."""
    body = w.body
    position = w.centre.coordinates if w.centre.body == body else NULL
    marks, axis = (d.add_mark(body, position),), IDENTITY[1]

    width_ratio = 0.6 if len(d.analysis.wheels) > 2 else 0.35
    d.add_item(
        "wheel",
        marks,
        (w.radius, mul(expression(width_ratio), w.radius)),
        TYRE,
        "wheel",
        w.name,
        axis,
    )
