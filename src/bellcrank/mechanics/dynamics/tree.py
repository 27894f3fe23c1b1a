"""The mechanism as a tree of elementary links, the form the recursions work on.

In:  a `Mechanism`. Out: `Tree`: links with at most one relative degree of freedom each, or a group
of absolute ones, with constant offsets and inertias (m, h = m c, J = second moments about the
link's origin). A body with slides and a rotation becomes several links; welded bodies join their
parent's link. Constants are held, so that a parameter expression is one atom.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from bellcrank.model.joints.functions import FunctionJoint
from bellcrank.model.joints.plain import PlainJoint
from bellcrank.model.joints.rotation import Turn
from bellcrank.model.mechanism import Body, Mechanism
from bellcrank.symbolic.expr import ONE, ZERO, Expr, Symbol, add, cos, div, mul, neg, sin, sqrt, sub
from bellcrank.symbolic.expr.node import MINUS_ONE, Number
from bellcrank.symbolic.vector.basis import (
    IDENTITY,
    NULL,
    ZEROS,
    Mat3,
    Vec3,
    add_scaled3,
    cross3,
    matmul,
    neg3,
    scale3,
    transpose,
)
from bellcrank.symbolic.vector.derivation_workspace import (
    TRIANGLE,
    DerivationWorkspace,
    symmetric_matrix,
)


@dataclass(frozen=True)
class DegreeOfFreedom:
    """One speed: a rotation about, or translation along, a constant unit vector of the link's
    frame."""

    link: int
    index: int  # position among the speeds
    symbol: Symbol
    speed: Expr  # its value: the symbol, or what a constraint makes of it
    rotational: bool
    axis: Vec3


@dataclass
class Link:
    """An elementary link. `parent` is -1 for the ground."""

    index: int
    name: str
    parent: int
    p: Vec3 = NULL  # origin in the parent link's frame, constant part
    slide: Vec3 | None = None  # direction of the prismatic coordinate, in both frames
    q: Symbol | None = None  # coordinate of a revolute or prismatic link
    axis: int | None = None  # revolute axis of the link's frame
    C: Mat3 = IDENTITY  # R from parent frame to this one at q = 0
    turns: tuple[
        Turn, ...
    ] = ()  # then the rotations about axes of the turning frame, each with its cosine and sine
    matrix: Mat3 | None = None  # instead of turns: Euler parameters
    takes_rotation: bool = True  # inherits the parent's angular velocity
    takes_translation: bool = True
    freedoms: list[DegreeOfFreedom] = field(default_factory=list)
    m: Expr = ZERO
    h: Vec3 = NULL
    J: Mat3 = ZEROS
    reference: Vec3 = NULL  # of a free link: from the body's origin to the link's
    speed_point: Vec3 = (
        NULL  # of a free link: from the body's origin to the point whose velocity the speeds are
    )
    guided: bool = (
        False  # moved by functions: p and matrix vary, degrees of freedom turn and move it at once
    )
    # of a guided link: acceleration of its own motion for constant speeds, parent link's axes
    a: Vec3 = NULL
    alpha: Vec3 = NULL  # likewise of its rotation, link axes
    v: Vec3 = NULL  # of a guided link: what moves it with all speeds zero, parent link's axes
    w: Vec3 = NULL  # likewise what turns it, link axes
    spin: bool = False  # leaf whose rotation is taken as absolute
    spin_inertia: Expr = ZERO  # about the axis, of a spin leaf

    @property
    def rotations(self) -> list[DegreeOfFreedom]:
        return [f for f in self.freedoms if f.rotational]

    @property
    def translations(self) -> list[DegreeOfFreedom]:
        return [f for f in self.freedoms if not f.rotational]


@dataclass(frozen=True)
class Pose:
    """Where a body sits in its link: R from link to body axes, and the body's origin in the link's
    frame."""

    link: int
    R: Mat3
    p: Vec3


@dataclass
class Tree:
    links: list[Link]
    poses: dict[int, Pose]  # by body index; -1 is the ground
    gravity: Vec3 = NULL  # in ground axes
    armature: dict[int, Expr] = field(default_factory=dict)  # by index of the speed that it resists

    def children(self, index: int) -> list[Link]:
        return [link for link in self.links if link.parent == index]

    def path_to_ground(self, index: int) -> list[int]:
        """Links from the given one down to the ground."""
        result = []
        while index >= 0:
            result.append(index)
            index = self.links[index].parent
        return result


def align_axis(axis: Vec3) -> tuple[int, Mat3]:
    """A rotation E whose column k is the axis, and k: the coordinate axis if there is one."""
    for k in range(3):
        if axis[k] is ONE:
            return k, IDENTITY
        if axis[k] is MINUS_ONE:  # half a turn about another axis
            x, y, z = (
                scale3(ONE if a == (k + 1) % 3 else MINUS_ONE, IDENTITY[a]) for a in range(3)
            )
            return k, (x, y, z)
    sizes = [abs(float(a.value)) if isinstance(a, Number) else 0.5 for a in axis]
    k = max(range(3), key=lambda a: (sizes[a], -a))
    i, j = (k + 1) % 3, (k + 2) % 3
    # first transverse direction: normal to the axis in the plane of k and i; axis i if the axis has
    # no part along it
    if axis[i] is ZERO:
        first = list(IDENTITY[i])
    else:
        length = sqrt(add(mul(axis[k], axis[k]), mul(axis[i], axis[i])))
        first = [ZERO] * 3
        first[i], first[k] = div(axis[k], length), neg(div(axis[i], length))
    second = cross3(axis, (first[0], first[1], first[2]))
    columns: list[tuple[Expr, ...]] = [(), (), ()]
    columns[k], columns[i], columns[j] = axis, tuple(first), second
    return k, transpose((columns[0], columns[1], columns[2]))  # type: ignore[arg-type]


def second_moments(inertia: Mat3) -> Mat3:
    """J = tr(I)/2 1 - I: second moments of mass from the inertia matrix about the same point."""
    half_trace = mul(add(inertia[0][0], inertia[1][1], inertia[2][2]), Number(1) / 2)
    return tuple(
        tuple(sub(half_trace, inertia[i][j]) if i == j else neg(inertia[i][j]) for j in range(3))
        for i in range(3)
    )  # type: ignore[return-value]


AddFreedom = Callable[[Link, Symbol, bool, Vec3], None]


def build_tree(
    mechanism: Mechanism, work: DerivationWorkspace, speed: dict[Symbol, Expr] | None = None
) -> Tree:
    """Links, poses and raw inertias of a mechanism; `speed` gives the speeds that constraints have
    replaced."""
    tree = Tree([], {-1: Pose(-1, IDENTITY, NULL)})
    order = {s: i for i, s in enumerate(mechanism.speeds)}
    for body in mechanism.bodies:
        _add_body(tree, body, order, speed or {}, work)
        if body.armature is not ZERO:
            tree.armature[order[body.speeds[0]]] = work.bind(body.armature)
    return tree


def _add_body(
    tree: Tree,
    body: Body,
    order: dict[Symbol, int],
    value: dict[Symbol, Expr],
    work: DerivationWorkspace,
) -> None:
    def add_dof(link: Link, u: Symbol, rotational: bool, axis: Vec3) -> None:
        link.freedoms.append(
            DegreeOfFreedom(link.index, order[u], u, value.get(u, u), rotational, axis)
        )

    home, joint = tree.poses[body.parent], body.joint
    if isinstance(joint, PlainJoint):
        pose = _add_plain(tree, body.name, joint, home, add_dof, work)
    else:
        assert isinstance(joint, FunctionJoint)
        pose = _add_function_joint(
            tree,
            body.name,
            joint,
            home,
            [value.get(u, u) for u in joint.driving_speeds],
            add_dof,
            work,
        )
    tree.poses[body.index] = pose
    if pose.link >= 0:
        add_mass(tree.links[pose.link], body, pose, work)


def _add_plain(
    tree: Tree,
    name: str,
    joint: PlainJoint,
    home: Pose,
    freedom: AddFreedom,
    work: DerivationWorkspace,
) -> Pose:
    """Links for relative slides, then one for the rotation and absolute speeds."""
    C = work.bind_matrix(matmul(home.R, joint.C))
    p = work.add(home.p, work.apply_matrix(home.R, joint.at))
    parent, rotation = home.link, joint.rotation
    if not joint.has_absolute_speeds:
        for slide, q, u in zip(
            joint.slides, joint.slide_coordinates, joint.slide_speeds, strict=True
        ):
            d = work.apply_matrix(home.R, slide)
            link = _new_link(tree, name, parent, p=p, slide=d, q=q)
            freedom(link, u, False, d)
            parent, p = link.index, NULL
    if not joint.has_absolute_speeds and not rotation.q:
        return Pose(parent, C, p)
    link = _new_link(tree, name, parent, p=p, C=C)
    pose = Pose(link.index, IDENTITY, NULL)
    if (
        not joint.has_absolute_speeds
    ):  # the link's origin is the point whose velocity the speeds are
        pose = Pose(link.index, IDENTITY, neg3(joint.speed_point))
    if rotation.has_absolute_speeds:
        link.takes_rotation = False
        link.turns, link.matrix = rotation.elementary_rotations(work)
        for k, u in enumerate(rotation.u):
            freedom(link, u, True, IDENTITY[k])
    elif rotation.axes:
        k, E = align_axis(rotation.axes[0])
        link.axis, link.q = k, rotation.q[0]
        link.C = work.bind_matrix(matmul(C, E))
        link.turns = ((k, work.bind(cos(link.q)), work.bind(sin(link.q))),)
        pose = Pose(link.index, work.bind_matrix(transpose(E)), NULL)
        freedom(link, rotation.u[0], True, IDENTITY[k])
    if joint.has_absolute_speeds:
        link.takes_translation = False
        link.speed_point = work.apply_matrix(pose.R, joint.speed_point)
        for k, u in zip(joint.speed_axes, joint.slide_speeds, strict=True):
            freedom(link, u, False, work.apply_matrix(pose.R, IDENTITY[k]))
    return pose


def _add_function_joint(
    tree: Tree,
    name: str,
    joint: FunctionJoint,
    home: Pose,
    speeds: list[Expr],
    freedom: AddFreedom,
    work: DerivationWorkspace,
) -> Pose:
    """A body moved by functions: one link, each speed a rotation and a translation of it."""
    motion = joint.motion(speeds)
    R = work.bind_matrix(motion.R)
    origin = work.bind3(add(a, p) for a, p in zip(joint.datum, motion.p, strict=True))
    link = _new_link(
        tree,
        name,
        home.link,
        p=work.add(home.p, work.apply_matrix(home.R, origin)),
        C=home.R,
        matrix=R,
    )
    link.guided = True
    link.a = work.apply_matrix(home.R, work.bind3(motion.a))
    link.alpha = work.apply_transposed(R, work.bind3(motion.alpha))
    link.v = work.apply_matrix(home.R, work.bind3(motion.v))
    link.w = work.apply_transposed(R, work.bind3(motion.w))
    for u, d, delta in zip(joint.driving_speeds, motion.d, motion.delta, strict=True):
        freedom(link, u, True, work.apply_transposed(R, work.bind3(delta)))
        freedom(link, u, False, work.apply_matrix(home.R, work.bind3(d)))
    return Pose(link.index, IDENTITY, joint.offset)


def _new_link(tree: Tree, name: str, parent: int, **data: object) -> Link:
    link = Link(len(tree.links), name, parent, **data)  # type: ignore[arg-type]
    tree.links.append(link)
    return link


def add_mass(link: Link, body: Body, pose: Pose, work: DerivationWorkspace) -> None:
    """Adds a body's mass, first and second moments about the link's origin."""
    R = pose.R
    J_cm = second_moments(body.inertia)
    if R is not IDENTITY:
        J_cm = matmul(R, matmul(J_cm, transpose(R)))
    r = work.add(pose.p, work.apply_matrix(R, body.cm))
    m = body.mass
    add_inertia(
        link, m, work.bind3(mul(m, x) for x in r), add_matrices(J_cm, outer3(m, r, r)), work
    )


def add_inertia(link: Link, m: Expr, h: Vec3, J: Mat3, work: DerivationWorkspace) -> None:
    """Adds inertia given about the link's origin."""
    link.m = work.bind(add(link.m, m))
    link.h = work.add(link.h, h)
    total = add_matrices(link.J, J)
    link.J = symmetric_matrix(work.bind(total[r][c]) for r, c in TRIANGLE)


def outer3(k: Expr, a: Vec3, b: Vec3) -> Mat3:
    return tuple(tuple(mul(k, a[i], b[j]) for j in range(3)) for i in range(3))  # type: ignore[return-value]


def add_matrices(*ms: Mat3) -> Mat3:
    return tuple(tuple(add(*(m[i][j] for m in ms)) for j in range(3)) for i in range(3))  # type: ignore[return-value]


def shift_moments(m: Expr, h: Vec3, J: Mat3, p: Vec3) -> tuple[Vec3, Mat3]:
    """First and second moments about a point from which the old origin is at p."""
    return add_scaled3(h, m, p), add_matrices(
        J, outer3(ONE, h, p), outer3(ONE, p, h), outer3(m, p, p)
    )


def shift_reference(tree: Tree, index: int, r: Vec3, work: DerivationWorkspace) -> None:
    """Moves the origin of a free link by r (constant, link axes)."""
    link = tree.links[index]
    reverse = neg3(r)
    h, J = shift_moments(link.m, link.h, link.J, reverse)
    link.h = work.bind3(h)
    link.J = symmetric_matrix(work.bind(J[r][c]) for r, c in TRIANGLE)
    link.reference = work.add(link.reference, r)
    for child in tree.children(index):
        child.p = work.add(child.p, reverse)
    for body, pose in list(tree.poses.items()):
        if pose.link == index:
            tree.poses[body] = Pose(index, pose.R, work.add(pose.p, reverse))
