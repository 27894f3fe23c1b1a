"""Loads that do no work on any speed, which is seldom meant, and moments of motors that react on
the ground.

A load does work on a joint between its two bodies if the joint moves along a force or turns about
a moment. Only what is certain is reported: of joints given by functions, and of three rotations,
it is assumed that they do work.
"""

from __future__ import annotations

from collections.abc import Iterator

from bellcrank.mechanics.kinematics.analysis import KinematicAnalysis
from bellcrank.model.loads.load import Load
from bellcrank.model.mechanism import Body
from bellcrank.symbolic.expr import ZERO, Expr
from bellcrank.symbolic.vector.basis import cross, dot


def idle_loads(analysis: KinematicAnalysis) -> list[str]:
    """A message for every load that does no work; parts of vehicles (`fl.tyre.mx`) are omitted, and
    models that ask for reactions, in which such loads are seen."""
    messages: list[str] = []
    if "reactions" in analysis.mechanism.description.output_groups:
        return messages
    for load in (*analysis.body_forces, *analysis.loads):
        is_gravity = load in analysis.body_forces
        if load.magnitude is ZERO or load.along_points or "." in load.name:
            continue
        bodies = analysis.mechanism.bodies if is_gravity else _bodies_between(analysis, load)
        if any(b.speeds for b in bodies) and not any(
            _does_work(analysis, load, b, is_gravity) for b in bodies
        ):
            messages.append(_idle_load_message(load, is_gravity))
    return messages


def motor_notes(analysis: KinematicAnalysis) -> list[str]:
    """A note for every moment on an inner body that reacts on the ground by default."""
    given = {x.name: x for x in analysis.mechanism.description.forces}
    notes = []
    for load in analysis.loads:
        if not load.is_moment or "." in load.name or given[load.name].second is not None:
            continue
        acting = [
            b
            for b in _bodies_between(analysis, load)
            if b.joint.look is not None and _does_work(analysis, load, b, False)
        ]
        if len(acting) > 1:
            body, *others = (f"'{b.name}'" for b in acting)
            notes.append(
                f"the moment '{load.name}' on {body} reacts on the ground, so that it also acts on "
                f"the joints of {', '.join(others)}; a motor in the joint of {body} is "
                f"add_joint_torque(), or against='{_parent_name(analysis, acting[0])}'"
            )
    return notes


def _parent_name(analysis: KinematicAnalysis, body: Body) -> str:
    return "n" if body.parent < 0 else analysis.mechanism.bodies[body.parent].name


def _idle_load_message(load: Load, is_gravity: bool) -> str:
    along = load.direction_text()
    if is_gravity:
        other = "-[n3]" if "2" in along else "-[n2]"
        return (
            f"gravity along {along} does no work: all axes of rotation are parallel to it, and no "
            f"body moves along it; give another direction, such as add_gravity('{other}')"
        )
    motion = "turns about" if load.is_moment else "moves along"
    return (
        f"the {load.kind} '{load.name}' along {along} does no work: nothing between its two bodies "
        f"{motion} its direction; check the direction and the bodies"
    )


def _bodies_between(analysis: KinematicAnalysis, load: Load) -> list[Body]:
    """Bodies whose joints are between the two of a load, from its body inwards."""
    paths = []
    for index in (load.body, load.against):
        path = []
        while index >= 0:
            path.append(index)
            index = analysis.mechanism.bodies[index].parent
        paths.append(path)
    inner, outer = (set(p) for p in paths)
    indices = [i for path in paths for i in path if (i in inner) != (i in outer)]
    return [analysis.mechanism.bodies[i] for i in indices]


def _does_work(analysis: KinematicAnalysis, load: Load, body: Body, is_gravity: bool) -> bool:
    return any(not _vanishes(e) for e in _work_terms(analysis, load, body, is_gravity))


def _vanishes(e: Expr) -> bool:
    return e is ZERO or e.fingerprint == 0


def _work_terms(
    analysis: KinematicAnalysis, load: Load, body: Body, is_gravity: bool
) -> Iterator[Expr]:
    """What is zero if the load does no work on the joint of a body; found one after another."""
    joint, k = body.joint.look, analysis.kinematics
    direction = load.direction
    if joint is None or joint.angles > 1:
        yield dot(direction, direction)
        return
    if is_gravity or not load.is_moment:
        for slide in joint.slides:
            yield dot(direction, k.frames[body.parent].vector(slide))
    for local_axis in joint.axes:
        axis = k.frames[body.index].vector(local_axis)
        if is_gravity:
            across = cross(direction, axis)
            yield dot(across, across)
        elif load.point is None:
            yield dot(direction, axis)
        else:
            arm = k.position(load.point) - k.origin[body.index]
            yield dot(direction, cross(axis, arm))
