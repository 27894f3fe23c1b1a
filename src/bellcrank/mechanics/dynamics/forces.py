"""Applied forces as the recursions want them: along joints where that is simple, as wrenches on
links otherwise.

In:  an `KinematicAnalysis` (magnitude, direction vector, point, bodies of every load) and a `Tree`.
Out: `AppliedLoads`. A force between two bodies does work only on the joints between them; when its
effect on each is a constant, or there is one joint only, it is booked there. Every other force
becomes a force and a moment on the links it touches.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from bellcrank.mechanics.dynamics.bias import to_link_frame
from bellcrank.mechanics.dynamics.tree import DegreeOfFreedom, Tree
from bellcrank.mechanics.kinematics.analysis import KinematicAnalysis
from bellcrank.model.loads.load import BodyPoint, Load
from bellcrank.symbolic.expr import ZERO, Expr, add, mul, neg
from bellcrank.symbolic.vector.basis import NULL, Vec3, Vector, cross, dot
from bellcrank.symbolic.vector.derivation_workspace import DerivationWorkspace


@dataclass
class AppliedLoads:
    """tau: by speed index, along relative degrees of freedom; wrench: by link, force and moment
    about its origin, link axes."""

    tau: dict[int, Expr] = field(default_factory=dict)
    wrench: dict[int, tuple[Vec3, Vec3]] = field(default_factory=dict)


def assemble_loads(
    analysis: KinematicAnalysis, tree: Tree, work: DerivationWorkspace
) -> AppliedLoads:
    """All applied loads of a model."""
    loads = AppliedLoads()
    for load in analysis.loads:
        if load.magnitude is ZERO:
            continue
        along = _joint_effects(analysis, tree, load)
        if along is not None:
            for freedom, effect in along:
                total = add(loads.tau.get(freedom.index, ZERO), mul(load.magnitude, effect))
                loads.tau[freedom.index] = work.bind(total)
        else:
            for body, sign, point in load.action_and_reaction:
                _add_applied_wrench(analysis, tree, loads, load, body, point, sign, work)
    return loads


def _joint_effects(
    analysis: KinematicAnalysis, tree: Tree, load: Load
) -> list[tuple[DegreeOfFreedom, Expr]] | None:
    """Work of a unit load per unit speed of the joints between its bodies; None where a wrench is
    the better form."""
    path_body, path_against = (
        tree.path_to_ground(tree.poses[load.body].link),
        tree.path_to_ground(tree.poses[load.against].link),
    )
    common = set(path_body) & set(path_against)
    signed_path = [(i, 1) for i in path_body if i not in common] + [
        (i, -1) for i in path_against if i not in common
    ]
    links = [tree.links[i] for i, _ in signed_path]
    if not all(
        link.takes_rotation and link.takes_translation and not link.guided for link in links
    ):
        return None
    effects = []
    axes = joint_axes(analysis)
    for i, sign in signed_path:
        for freedom in tree.links[i].freedoms:
            axis, origin, rotational = axes[freedom.symbol.name]
            effect = _generalized_force(analysis, load, axis, origin, rotational)
            effects.append((freedom, effect if sign > 0 else neg(effect)))
    effects = [(f, e) for f, e in effects if e is not ZERO and e.fingerprint != 0]
    if all(e.constant for _, e in effects) or len(signed_path) == 1:
        return effects
    return None


def _generalized_force(
    analysis: KinematicAnalysis, load: Load, axis: Vector, origin: Vector, rotational: bool
) -> Expr:
    if load.is_moment:
        return dot(load.direction, axis) if rotational else ZERO
    if not rotational:
        return dot(load.direction, axis)
    assert load.point is not None
    arm = analysis.kinematics.position(load.point) - origin
    return dot(load.direction, cross(axis, arm))


def joint_axes(analysis: KinematicAnalysis) -> dict[str, tuple[Vector, Vector, bool]]:
    """Axis, a point on it, and whether it is rotational, for every relative speed."""
    k = analysis.kinematics
    return {
        u.name: (axis, k.origin[b.index], is_rotational)
        for b in analysis.mechanism.bodies
        for u, axis, is_rotational in b.joint.relative_axes(k.frames[b.parent], k.frames[b.index])
    }


def link_components(
    analysis: KinematicAnalysis, tree: Tree, link: int, v: Vector, work: DerivationWorkspace
) -> Vec3:
    """Components of a vector along a link's axes."""
    k = analysis.kinematics
    if link < 0:
        return work.bind3(k.frames[-1].coordinates(v))
    target = tree.links[link]
    for body, pose in tree.poses.items():
        if pose.link == link and not (target.axis is not None and not target.turns):
            return work.apply_matrix(pose.R, work.bind3(k.frames[body].coordinates(v)))
    # a link without a body of its own, or a rotor whose frame does not turn with it
    return to_link_frame(work, target, link_components(analysis, tree, target.parent, v, work))


def _add_applied_wrench(
    analysis: KinematicAnalysis,
    tree: Tree,
    loads: AppliedLoads,
    load: Load,
    body: int,
    point: BodyPoint | None,
    sign: int,
    work: DerivationWorkspace,
) -> None:
    pose = tree.poses[body]
    if pose.link < 0:
        return
    unit = link_components(analysis, tree, pose.link, load.direction, work)
    size = load.magnitude if sign > 0 else neg(load.magnitude)
    acting = work.bind3(mul(size, c) for c in unit)
    force, moment = loads.wrench.get(pose.link, (NULL, NULL))
    if load.is_moment:
        moment = work.add(moment, acting)
    else:
        assert point is not None
        link = tree.links[pose.link]
        if point.body == body and (link.axis is None or link.turns):
            arm = work.add(pose.p, work.apply_matrix(pose.R, point.coordinates))
        else:
            k = analysis.kinematics
            offset = k.position(point) - k.origin[body]
            arm = work.add(pose.p, link_components(analysis, tree, pose.link, offset, work))
        force = work.add(force, acting)
        moment = work.add(moment, work.cross(arm, acting))
    loads.wrench[pose.link] = (force, moment)
