"""Loads in a linkage at rest: what rods, joints, struts and the rack hold, by the equilibrium of
every body.

In:  a linkage at a position, and forces on its bodies. Out: `LinkForces`. Six equations for each
body; unknown are the forces and moments that joints can carry, the tensions of rods, the pushes of
struts that hold the travel, and the force that holds the rack. Nothing of dynamics is used, so
that either can be compared with the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bellcrank.core.errors import ModelError
from bellcrank.linkage.chain import BASE, Chain, ChainJoint, Point, unit_vector
from bellcrank.linkage.pose import Pose
from bellcrank.linkage.solution_plan import perpendicular_axes

Array = np.ndarray[Any, Any]

EQUILIBRIUM_TOLERANCE = 1e-9  # of the largest force that may be left open
ON_AXIS = 1e-9  # m


@dataclass(frozen=True)
class BodyLoad:
    """A force (N) and a moment (N m) on a body, at a point (m); all in base axes, at the position
    that is looked at."""

    body: str
    force: Array
    at: Array
    moment: Array = field(default_factory=lambda: np.zeros(3))


@dataclass(frozen=True)
class LinkForce:
    """What a part holds. `force`: on the second body of a joint, on the outer end of a rod, on the
    first end of a strut, on the rack; base axes, N. `magnitude`: of a rod its tension, of a strut
    its push, of the rack the force along its axis, else the amount. `moment`: of a joint, N m."""

    kind: str  # rod, joint, bush, strut, rack
    force: Array
    magnitude: float
    moment: Array = field(default_factory=lambda: np.zeros(3))


@dataclass(frozen=True)
class LinkForces:
    """What every part of a linkage carries, by name; `notes` report what was assumed."""

    parts: Mapping[str, LinkForce]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class _UnitReaction:
    """A unit force and moment of a part on `second`, and against `first`."""

    part: str
    first: str
    second: str
    force: Array
    at: Array
    moment: Array


def solve_link_forces(
    linkage: Any,
    pose: Pose,
    loads: Sequence[BodyLoad],
    struts: Mapping[str, tuple[str, str]],
    axial: Mapping[str, float] | None = None,
) -> LinkForces:
    """What the parts of a linkage carry at one pose under loads. `struts`, by name with the hard
    points that they join, hold the travel (and the roll of an axle): as many as there are such
    inputs. `axial`: stiffnesses of bushes along the axes of their hinges, by which both ends share
    the force along."""
    chain: Chain = linkage.chain
    free = sum(i.kind != "rack" for i in chain.inputs)
    if len(struts) != free:
        strut_names = ", ".join(struts) or "none"
        raise ModelError(
            f"loads need {free} strut{'s' if free > 1 else ''} that "
            f"hold{'' if free > 1 else 's'} the travel of the "
            f"linkage, given: {strut_names}",
            chain.name,
        )
    posed_bodies = PosedBodies(chain, pose)
    bent_rods = _loaded_rods(chain, loads, struts)
    bodies = [*chain.bodies, *bent_rods]
    columns = list(_unit_reactions(chain, posed_bodies, bent_rods, struts))
    A = np.zeros((6 * len(bodies), len(columns)))
    b = np.zeros(6 * len(bodies))

    def add_to_equations(
        into: Array, body: str, sign: float, force: Array, point: Array, moment: Array
    ) -> None:
        if body != BASE:
            i = 6 * bodies.index(body)
            into[i : i + 3] += sign * force
            into[i + 3 : i + 6] += sign * (np.cross(point, force) + moment)

    for load in loads:
        add_to_equations(b, load.body, 1.0, load.force, load.at, load.moment)
    for k, c in enumerate(columns):
        add_to_equations(A[:, k], c.second, 1.0, c.force, c.at, c.moment)
        add_to_equations(A[:, k], c.first, -1.0, c.force, c.at, c.moment)
    x, _, rank, _ = np.linalg.lstsq(A, -b, rcond=1e-12)
    gaps = np.abs(A @ x + b)
    if gaps.max() > EQUILIBRIUM_TOLERANCE * max(1.0, float(np.abs(b).max())):
        worst = bodies[int(np.argmax(gaps)) // 6]
        raise ModelError(
            f"the loads on '{worst}' cannot be held at travel {float(pose.travel):.6g} m: "
            f"{gaps.max():.4g} N or N m "
            f"are left open; the struts are {', '.join(struts)}",
            chain.name,
        )
    notes = []
    if rank < len(columns):
        names = ", ".join(linkage.mobility.redundant)
        notes.append(
            f"constraints that repeat others ({names}) share their loads as least squares have it"
        )
    return LinkForces(*_collect_link_forces(chain, posed_bodies, columns, x, notes, axial or {}))


class PosedBodies:
    """Where points are and how bodies are turned, at one pose."""

    def __init__(self, chain: Chain, pose: Pose) -> None:
        self.chain, self.pose = chain, pose

    def pose_of_body(self, name: str) -> Pose:
        return self.pose if name == self.chain.carrier else self.pose.link[name]

    def point_drawn_at(self, body: str, drawn: Point) -> Array:
        if body == BASE:
            return np.array(drawn)
        return np.asarray(
            self.pose_of_body(body)
            .carried(np.array(drawn) - np.array(self.pose.origins[body]))
            .position
        )

    def point(self, name: str) -> Array:
        return self.point_drawn_at(self.chain.points[name].body, self.chain.place(name))

    def direction(self, body: str, drawn: Point) -> Array:
        v = np.array(unit_vector(drawn))
        return v if body == BASE else self.pose_of_body(body).rotation @ v


def _loaded_rods(
    chain: Chain, loads: Sequence[BodyLoad], struts: Mapping[str, tuple[str, str]]
) -> list[str]:
    """Rods on which something acts between their ends: they are bent, and are looked at as
    bodies."""
    touched = {load.body for load in loads} | {
        chain.points[p].body for end_points in struts.values() for p in end_points
    }
    return [r.name for r in chain.rods if r.name in touched]


def _unit_reactions(
    chain: Chain,
    posed_bodies: PosedBodies,
    bent_rods: Sequence[str],
    struts: Mapping[str, tuple[str, str]],
) -> Any:
    zero, axes = np.zeros(3), np.eye(3)
    for joint in chain.joints:
        point = posed_bodies.point_drawn_at(joint.second, chain.place(joint.at))
        forces, moments = reaction_directions(joint, posed_bodies, chain)
        for f in forces:
            yield _UnitReaction(joint.name, joint.first, joint.second, f, point, zero)
        for m in moments:
            yield _UnitReaction(joint.name, joint.first, joint.second, zero, point, m)
    for rod in chain.rods:
        a, b = posed_bodies.point(rod.first), posed_bodies.point(rod.second)
        homes = chain.points[rod.first].body, chain.points[rod.second].body
        direction = (a - b) / np.linalg.norm(a - b)
        if rod.name not in bent_rods:
            yield _UnitReaction(rod.name, *homes, direction, b, zero)
            continue
        for point, home, end in ((a, homes[0], rod.first), (b, homes[1], rod.second)):
            for f in axes:
                yield _UnitReaction(f"{rod.name}.{end}", home, rod.name, f, point, zero)
        yield _UnitReaction(
            f"{rod.name}.{rod.first}", homes[0], rod.name, zero, a, direction
        )  # it does not spin about itself
    for name, (first, second) in struts.items():
        a, b = posed_bodies.point(first), posed_bodies.point(second)
        homes = chain.points[second].body, chain.points[first].body
        yield _UnitReaction(name, *homes, (a - b) / np.linalg.norm(a - b), a, zero)
    for chain_input in chain.inputs:
        if chain_input.kind == "rack":
            drawn = next(p.at for p in chain.points.values() if p.body == chain_input.body)
            yield _UnitReaction(
                chain_input.kind,
                BASE,
                chain_input.body,
                np.array(unit_vector(chain_input.axis)),
                posed_bodies.point_drawn_at(chain_input.body, drawn),
                zero,
            )


def reaction_directions(
    joint: ChainJoint, posed_bodies: PosedBodies, chain: Chain
) -> tuple[Any, Any]:
    """Directions of the forces and of the moments that a joint carries."""
    axes = np.eye(3)
    if joint.kind == "spherical":
        return axes, ()
    assert joint.axis is not None
    rack = next((i for i in chain.inputs if i.kind == "rack" and i.body == joint.second), None)
    a = posed_bodies.direction(joint.first, joint.axis if rack is None else rack.axis)
    if joint.kind == "universal":
        assert joint.axis_2 is not None
        b = posed_bodies.direction(joint.second, joint.axis_2)
        return axes, (np.cross(a, b) / np.linalg.norm(np.cross(a, b)),)
    x, y, z = a
    across_it = tuple(np.array(e) for e in perpendicular_axes((float(x), float(y), float(z))))
    match joint.kind:
        case "revolute":
            return axes, across_it
        case "cylindrical":
            return across_it, across_it
        case "prismatic":
            return across_it, axes
        case "inline":
            return across_it, ()
        case "inplane":
            return (a,), ()
    return (a,), across_it  # planar


def _collect_link_forces(
    chain: Chain,
    posed_bodies: PosedBodies,
    columns: Sequence[_UnitReaction],
    x: Array,
    notes: list[str],
    axial: Mapping[str, float],
) -> tuple[dict[str, LinkForce], tuple[str, ...]]:
    forces: dict[str, Array] = {}
    moments: dict[str, Array] = {}
    for c, value in zip(columns, x, strict=True):
        forces[c.part] = forces.get(c.part, np.zeros(3)) + value * c.force
        moments[c.part] = moments.get(c.part, np.zeros(3)) + value * c.moment
    magnitudes = {c.part: float(value) for c, value in zip(columns, x, strict=True)}
    rods = {r.name for r in chain.rods}
    joints = {j.name: j for j in chain.joints}
    link_forces: dict[str, LinkForce] = {}
    for name, force in forces.items():
        size = float(np.linalg.norm(force))
        if name in joints:
            pair = _hinge_end_forces(chain, joints[name], force, moments[name], axial)
            if pair:
                link_forces |= pair
                sharing = (
                    "as their bushes are stiff along it" if axial.keys() & pair.keys() else "alike"
                )
                notes.append(f"'{name}': the force along its axis is shared by both ends {sharing}")
            else:
                link_forces[name] = LinkForce("joint", force, size, moments[name])
        elif name.partition(".")[0] in rods and "." in name:
            link_forces[name] = LinkForce("joint", force, size, moments[name])
        else:
            kind = "rod" if name in rods else "rack" if name == "rack" else "strut"
            link_forces[name] = LinkForce(kind, force, magnitudes[name])
    return link_forces, tuple(notes)


def _hinge_end_forces(
    chain: Chain, joint: ChainJoint, force: Array, moment: Array, axial: Mapping[str, float]
) -> dict[str, LinkForce]:
    """Forces at the two hard points of the base on the axis of a hinge, in place of its moment. An
    end without a bush is rigid next to one that has one."""
    if joint.kind != "revolute" or joint.first != BASE or joint.axis is None:
        return {}
    origin, a = np.array(chain.place(joint.at)), np.array(unit_vector(joint.axis))
    for name, p in chain.points.items():
        offset = np.array(p.at) - origin
        distance = float(offset @ a)
        if (
            p.body == BASE
            and name != joint.at
            and abs(distance) > ON_AXIS
            and np.linalg.norm(offset - distance * a) < ON_AXIS
        ):
            fraction = _second_end_fraction(axial.get(joint.at), axial.get(name))
            second_force = np.cross(moment, a) / distance + fraction * (force @ a) * a
            end_forces = {joint.at: force - second_force, name: second_force}
            return {
                n: LinkForce("bush", f, float(np.linalg.norm(f))) for n, f in end_forces.items()
            }
    return {}


def _second_end_fraction(first: float | None, second: float | None) -> float:
    """What the second of two ends takes of a force that both hold; None is rigid."""
    if first is None or second is None:
        return 0.5 if first is second else float(second is None)
    return second / (first + second)
