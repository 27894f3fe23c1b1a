"""Random trees of bodies, described twice: as a Bellcrank System and as a Pinocchio model.

A tree is a list of `Link`s in depth-first order. In the Pinocchio model every coordinate of
Bellcrank is a joint of its own (massless links between them), Euler parameters are a spherical
joint after three slides. So the configurations are the same numbers, and Pinocchio's velocities
follow from Bellcrank's qdot alone, whatever its speeds are.
"""

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

import bellcrank as bc

KINDS = ("revolute", "prismatic", "fixed", "free", "free-quaternion")
CYCLE = {1: (2, 3), 2: (3, 1), 3: (1, 2)}  # axis k: (i, j) that follow it


@dataclass(frozen=True)
class Link:
    """One body and its joint. Vectors in the parent (`at`, `axis`, `reference`) or in the body
    (`cm`, `inertia`)."""

    name: str
    parent: int | None  # index in the tree
    kind: str
    at: np.ndarray
    axis: np.ndarray | int  # revolute, prismatic: direction, any length, or number of an axis
    body_axis: int  # revolute: the axis of the body that lies along `axis`
    reference: (
        np.ndarray | None
    )  # revolute: where the next axis of the body points, about, at angle zero
    sequence: tuple[int, int, int]  # free: axes of the three rotations
    mass: float
    cm: np.ndarray
    inertia: np.ndarray

    @property
    def coordinates(self):
        return {"revolute": 1, "prismatic": 1, "fixed": 0, "free": 6, "free-quaternion": 7}[
            self.kind
        ]

    @property
    def speeds(self):
        return min(self.coordinates, 6)

    @property
    def direction(self):
        v = np.eye(3)[self.axis - 1] if isinstance(self.axis, int) else self.axis
        return v / np.linalg.norm(v)

    @property
    def R_nominal(self):
        """R_AB of a revolute joint at angle zero: body axis k along `direction`, axis i near the
        reference."""
        k, (i, j) = self.body_axis, CYCLE[self.body_axis]
        R_AB = np.empty((3, 3))
        R_AB[:, k - 1] = self.direction
        b_j = np.cross(
            self.direction, np.eye(3)[i - 1] if self.reference is None else self.reference
        )
        if (
            self.reference is None and np.linalg.norm(b_j) < 1e-9
        ):  # the default reference is the axis: the next one is taken
            b_j = np.cross(self.direction, np.eye(3)[j - 1])
        R_AB[:, j - 1] = b_j / np.linalg.norm(b_j)
        R_AB[:, i - 1] = np.cross(R_AB[:, j - 1], R_AB[:, k - 1])
        return R_AB


def random_tree(rng, bodies=None):
    """Up to 15 bodies; zeros, axes of the frame and symmetric bodies are frequent enough to meet
    the special cases."""
    count = int(bodies or rng.integers(1, 16))
    parents = [
        None if i == 0 or rng.random() < 0.1 else int(rng.integers(max(0, i - 4), i))
        for i in range(count)
    ]
    children = {p: [i for i in range(count) if parents[i] == p] for p in (None, *range(count))}
    order, stack = [], children[None][::-1]
    while stack:
        order.append(stack.pop())
        stack.extend(children[order[-1]][::-1])
    place = {old: new for new, old in enumerate(order)}
    return [random_link(rng, new, place.get(parents[old])) for new, old in enumerate(order)]


def random_link(rng, index, parent):
    """The first body of a tree always moves, so that there is something to derive."""
    kind = str(rng.choice(KINDS, p=(0.5, 0.2, 0.1, 0.1, 0.1)))
    if index == 0 and kind == "fixed":
        kind = "revolute"
    axis = int(rng.integers(1, 4)) if rng.random() < 0.3 else direction(rng)
    body_axis = axis if isinstance(axis, int) and rng.random() < 0.5 else int(rng.integers(1, 4))
    link = Link(
        name=f"b{index + 1}",
        parent=parent,
        kind=kind,
        at=sparse(rng, 0.5),
        axis=axis,
        body_axis=body_axis,
        reference=None,
        sequence=SEQUENCES[rng.integers(len(SEQUENCES))],
        mass=float(rng.uniform(0.5, 5.0)),
        cm=sparse(rng, 0.3),
        inertia=random_inertia(rng),
    )
    default = np.eye(3)[CYCLE[body_axis][0] - 1]
    renamed = (
        isinstance(axis, int) and axis != body_axis
    )  # which axis comes next is then a matter of taste
    if (
        rng.random() < 0.3 or renamed or abs(default @ link.direction) > 0.95
    ):  # or the default (nearly) parallel
        across = np.cross(link.direction, direction(rng))
        while np.linalg.norm(across) < 0.05:  # small integers may hit the axis itself
            across = np.cross(link.direction, direction(rng))
        reference = across + 0.3 * link.direction
        link = Link(**{**link.__dict__, "reference": reference})
    return link


SEQUENCES = [(i, j, k) for i in (1, 2, 3) for j in (1, 2, 3) for k in (1, 2, 3) if i != j != k]


def direction(rng):
    """A vector of any length, sometimes of small integers, well away from zero."""
    if rng.random() < 0.3:
        return np.array([1.0, rng.integers(-2, 3), rng.integers(-2, 3)])
    v = rng.normal(size=3)
    return v / np.linalg.norm(v)


def sparse(rng, size):
    """A vector with components zero more often than not, one time in two."""
    v = size * rng.normal(size=3)
    return v * rng.integers(0, 2, 3) if rng.random() < 0.5 else v


def random_inertia(rng):
    """About the mass centre; from a positive second moment, so the triangle inequality holds. Some
    bodies are round."""
    if rng.random() < 0.3:
        a, b = rng.uniform(0.01, 0.1, 2)
        return np.diag(np.roll([a + b, a + b, 2 * a], rng.integers(3)))
    L = 0.3 * rng.normal(size=(3, 3))
    J = L @ L.T + 0.01 * np.eye(3)
    return np.trace(J) * np.eye(3) - J


def random_state(rng, tree):
    """(q, u): middle angles away from gimbal lock, Euler parameters of unit length."""
    q, u = [], []
    for link in tree:
        if link.kind in ("revolute", "prismatic"):
            q.append(rng.uniform(-3, 3) if link.kind == "revolute" else rng.normal())
        elif link.kind != "fixed":
            q.extend(rng.normal(size=3))
            if link.kind == "free-quaternion":
                e = rng.normal(size=4)
                q.extend(e / np.linalg.norm(e))
            else:
                lock_at_zero = link.sequence[0] == link.sequence[2]
                q.extend(
                    (
                        rng.uniform(-3, 3),
                        rng.uniform(-1, 1) + (np.pi / 2 if lock_at_zero else 0),
                        rng.uniform(-3, 3),
                    )
                )
        u.extend(rng.normal(size=link.speeds))
    return np.array(q), np.array(u)


def offsets(tree, what):
    """Where each link's coordinates or speeds begin."""
    return np.concatenate(([0], np.cumsum([getattr(link, what) for link in tree])))


def bellcrank_system(rng, tree, gravity):
    """About half of the numbers are parameters with defaults. Outputs `<body> a1..a3`: acceleration
    of mass centres."""
    s = bc.System("random tree", units="mks")
    defaults = {}

    def value(name, number):
        if rng.random() < 0.5:
            return float(number)
        defaults[name] = float(number)
        return name

    def vector(name, numbers):
        return tuple(value(f"{name}{i}", x) if x else 0 for i, x in enumerate(numbers, start=1))

    bodies = []
    for link in tree:
        I = [[None] * 3 for _ in range(3)]
        for i in range(3):
            for j in range(i, 3):
                x = link.inertia[i, j]
                I[i][j] = I[j][i] = value(f"{link.name}_i{i + 1}{j + 1}", x) if x else 0
        axis = link.axis if isinstance(link.axis, int) else tuple(map(float, link.axis))
        joint = {
            "revolute": {"rotate": link.body_axis, "rotation_axis": axis},
            "prismatic": {"translate": (axis,)},
            "fixed": {},
            "free": {"translate": (1, 2, 3), "rotate": link.sequence},
            "free-quaternion": {"translate": (1, 2, 3), "rotate": "euler-parameters"},
        }[link.kind]
        if link.kind == "revolute" and link.reference is not None:
            joint["reference_axis"] = tuple(map(float, link.reference))
        body = s.add_body(
            link.name,
            parent=None if link.parent is None else bodies[link.parent],
            mass=value(f"{link.name}_m", link.mass),
            inertia=I,
            joint_at=vector(f"{link.name}_p", link.at),
            cm=vector(f"{link.name}_c", link.cm),
            **joint,
        )
        bodies.append(body)
        for i in (1, 2, 3):
            s.add_output(f"{link.name} a{i}", f"dot(dxdt(vel({link.name}.cm)), [n{i}])")
    g = float(np.linalg.norm(gravity))
    s.add_gravity(
        direction=" + ".join(f"({float(x)!r})*[n{i}]" for i, x in enumerate(gravity / g, start=1))
    )
    s.set_defaults(g=g, **defaults)
    return s


class PinocchioTree:
    """The same tree in Pinocchio."""

    def __init__(self, tree, gravity):
        self.tree = tree
        self.model = pin.Model()
        self.model.gravity.linear = np.array(gravity, dtype=float)
        self.carrier = []  # per body: (joint, placement of the body in it)
        self.joints = []  # per body: its joints in order
        for link in tree:
            joint, M_JA = (
                (0, pin.SE3.Identity()) if link.parent is None else self.carrier[link.parent]
            )
            self._add(link, joint, M_JA * pin.SE3(np.eye(3), link.at))
        self.data = self.model.createData()

    def _add(self, link, joint, placement):
        unit = np.eye(3)
        R_end = np.eye(3)
        match link.kind:
            case "fixed":
                models = []
            case "revolute":
                models = [pin.JointModelRevoluteUnaligned(link.direction)]
                R_end = link.R_nominal
            case "prismatic":
                models = [pin.JointModelPrismaticUnaligned(link.direction)]
            case "free":
                models = [pin.JointModelPrismaticUnaligned(unit[i]) for i in range(3)]
                models += [pin.JointModelRevoluteUnaligned(unit[i - 1]) for i in link.sequence]
            case "free-quaternion":
                models = [pin.JointModelPrismaticUnaligned(unit[i]) for i in range(3)] + [
                    pin.JointModelSpherical()
                ]
        ids = []
        for i, model in enumerate(models):
            joint = self.model.addJoint(joint, model, placement, f"{link.name}.{i}")
            placement = pin.SE3.Identity()
            ids.append(joint)
        M_JB = placement * pin.SE3(R_end, np.zeros(3))
        self.model.appendBodyToJoint(joint, pin.Inertia(link.mass, link.cm, link.inertia), M_JB)
        self.model.addFrame(
            pin.Frame(link.name, joint, M_JB * pin.SE3(np.eye(3), link.cm), pin.FrameType.OP_FRAME)
        )
        self.carrier.append((joint, M_JB))
        self.joints.append(ids)

    def accelerate(self, q, qdot):
        """Forward dynamics from Bellcrank's q and qdot; afterwards the methods below answer."""
        pq, pv = np.zeros(self.model.nq), np.zeros(self.model.nv)
        start = offsets(self.tree, "coordinates")
        for b, ids in enumerate(self.joints):
            i = start[b]
            for id in ids:
                j = self.model.joints[id]
                if j.nq == 4:
                    e, edot = q[i : i + 4], qdot[i : i + 4]
                    pq[j.idx_q : j.idx_q + 4] = (*e[1:], e[0])
                    w = e[0] * edot[1:] - edot[0] * e[1:] - np.cross(e[1:], edot[1:])
                    pv[j.idx_v : j.idx_v + 3] = 2 * w
                else:
                    pq[j.idx_q], pv[j.idx_v] = q[i], qdot[i]
                i += j.nq
        self.acceleration = pin.aba(self.model, self.data, pq, pv, np.zeros(self.model.nv)).copy()
        pin.forwardKinematics(self.model, self.data, pq, pv, self.acceleration)

    def joint_acceleration(self, b):
        """Second derivative of the coordinate of a one-degree of freedom joint."""
        return self.acceleration[self.model.joints[self.joints[b][0]].idx_v]

    def mass_centre_acceleration(self, b):
        """In inertial axes."""
        frame = self.model.getFrameId(self.tree[b].name)
        return pin.getFrameClassicalAcceleration(
            self.model, self.data, frame, pin.LOCAL_WORLD_ALIGNED
        ).linear

    def angular(self, b):
        """Absolute angular velocity and acceleration on body axes."""
        frame = self.model.getFrameId(self.tree[b].name)
        velocity = pin.getFrameVelocity(self.model, self.data, frame, pin.LOCAL)
        return velocity.angular, pin.getFrameAcceleration(
            self.model, self.data, frame, pin.LOCAL
        ).angular
