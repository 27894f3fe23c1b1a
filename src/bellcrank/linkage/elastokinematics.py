"""Elastokinematics: how a linkage gives way on bushes while its travel and rack are held, for small
displacements.

In:  a linkage at a pose, bushes at hard points, springs. Out: `CarrierCompliance`. Every body, and
every rod with a bush, moves by six small displacements; joints without bushes hold as they do in
kinematics, bushes and springs are stiffnesses. Forces that act already bend nothing here: bushes
are as drawn without load, and the stiffness by preload is omitted.

Bushes with curves bend in m directions by d, with forces that differ by p(d) from those of their
stiffness at zero. Under a load F at the wheel centre, with the compliance C of that stiffness, d =
B F - E p(d), and the carrier moves by C F - B^T p.
Matschinsky, Radführungen der Straßenfahrzeuge (2007), ch. 5.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bellcrank.core.errors import ModelError, did_you_mean
from bellcrank.linkage.chain import BASE, Chain, ChainJoint, ChainRod, unit_vector
from bellcrank.linkage.link_forces import ON_AXIS, PosedBodies, reaction_directions
from bellcrank.linkage.pose import Pose

Array = np.ndarray[Any, Any]
Springs = Mapping[str, tuple[tuple[str, str], float]]

RANK = 1e-9  # of the largest singular value of the constraints
FREE_MOTION_THRESHOLD = 1e-14  # of the largest stiffness, below which a movement is free
ELASTIC = ("revolute", "spherical")
Pairs = Sequence[tuple[float, float]]
ITERATIONS = 200  # of Newton's method for bushes with curves
EXACT = 1e-11  # of the largest deflection
SEARCH = 1e-9  # of a step, to which its length is found


@dataclass(frozen=True)
class StiffnessStep:
    """A change of the stiffness of a curve: by `stiffness` past the deflection `at`, on its
    positive or negative side (m, N/m). Its force is side stiffness max(0, side (d - at))."""

    at: float
    stiffness: float
    side: int


Hinges = tuple[StiffnessStep, ...]


@dataclass(frozen=True, eq=False)
class BushStiffness:
    """A bush at a hard point: `stiffness`, 6 x 6 (N/m, N/rad, N m/rad), along and about `axes`,
    whose rows are its unit vectors as drawn; they turn with the arm or rod that the bush is pressed
    into. `curves`: what a curve of force over deflection along an axis (0 to 2) adds to the force
    of its stiffness at zero, which is part of `stiffness`."""

    stiffness: Array
    axes: Array
    curves: Mapping[int, Hinges] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class CarrierCompliance:
    """How the carrier gives way. `compliance`: its displacement (m) and rotation (rad) over force
    (N) and moment (N m) at the wheel centre, 6 x 6, base axes; `rate`: vertical force over travel
    that the bushes add to a spring, N/m. With curves it is that of small forces; `curves`, B
    (`curve_deflections`) and E (`curve_compliance`) of the module have them, `names` says which
    bush and axis (1 to 3)."""

    compliance: Array
    rate: float
    curves: tuple[Hinges, ...] = ()
    curve_deflections: Array = field(default_factory=lambda: np.zeros((0, 6)))
    curve_compliance: Array = field(default_factory=lambda: np.zeros((0, 0)))
    names: tuple[tuple[str, int], ...] = ()

    def displacement(self, load: Array) -> Array:
        """Displacement and rotation by a load, force and moment at the wheel centre, of any
        size."""
        displacement = self.compliance @ load
        return np.asarray(
            displacement
            - self.curve_deflections.T
            @ _curve_forces(self.curves, self._solve_deflections(load))[0]
        )

    def _solve_deflections(self, load: Array) -> Array:
        """The deflections d of the curves: with the forces f = -p(d), for which d = B F + E f, the
        energy f E f/2 plus that of the curves is least. Newton's method, each step as far as the
        energy falls."""
        free = self.curve_deflections @ load
        d, force = free, np.zeros(len(free))
        for _ in range(ITERATIONS):
            curve_forces, stiffness = _curve_forces(self.curves, d)
            if np.abs(self.curve_compliance @ (force + curve_forces)).max(
                initial=0.0
            ) <= EXACT * np.abs(free).max(initial=0.0):
                return d
            step = -np.linalg.solve(
                np.eye(len(d)) + stiffness[:, None] * self.curve_compliance, force + curve_forces
            )
            deflection_step = self.curve_compliance @ step
            low, high = 0.0, 1.0
            while high - low > SEARCH and self._energy_increases(
                force + high * step, d + high * deflection_step, deflection_step
            ):
                middle = (low + high) / 2
                if self._energy_increases(
                    force + middle * step, d + middle * deflection_step, deflection_step
                ):
                    high = middle
                else:
                    low = middle
            force = force + high * step
            d = free + self.curve_compliance @ force
        raise ModelError("the balance of forces of the bushes with curves was not found")

    def _energy_increases(self, force: Array, d: Array, direction: Array) -> bool:
        """Whether the energy stiffnesses ahead."""
        return bool((force + _curve_forces(self.curves, d)[0]) @ direction > 0)

    def small_displacement(self, force: Array, arm: Array, moment: Array | None = None) -> Array:
        """Displacement of the wheel centre and rotation by a small force at an arm from it."""
        turning = np.cross(arm, force) + (0.0 if moment is None else moment)
        return np.asarray(self.compliance @ np.concatenate([force, turning]))


def _curve_forces(curves: Sequence[Hinges], d: Array) -> tuple[Array, Array]:
    """What curves add to the forces of their stiffness at zero, and the derivatives of that, at
    deflections."""
    force, stiffness = np.zeros(len(curves)), np.zeros(len(curves))
    for j, hinges in enumerate(curves):
        for h in hinges:
            past = h.side * (d[j] - h.at)
            if past > 0:
                force[j] += h.side * h.stiffness * past
                stiffness[j] += h.stiffness
    return force, stiffness


@dataclass(frozen=True)
class _BushMount:
    """Where a bush stands: between two bodies, pressed into `part`; `axis`: of the hinge or along
    the rod, as drawn."""

    first: str
    second: str
    part: str
    axis: Array


def solve_carrier_compliance(
    linkage: Any, pose: Pose, bushes: Mapping[str, BushStiffness], springs: Springs | None = None
) -> CarrierCompliance:
    """How a linkage gives way at one pose; `springs`, by name with the hard points that they join
    and their stiffness, matter where they are not held by the travel."""
    chain: Chain = linkage.chain
    if "roll" in linkage.inputs:
        raise ModelError("bushes are those of one wheel; this is a solid axle", chain.name)
    stiffness = _LinkageStiffness(chain, PosedBodies(chain, pose), bushes)
    base, carrier_rows = stiffness.K.copy(), stiffness.carrier
    for points, k in (springs or {}).values():
        stiffness.add_spring(points, k)
    G, unit_travel = np.array(stiffness.constraints), np.zeros(len(stiffness.constraints))
    unit_travel[stiffness.travel] = 1.0
    _, sizes, Vt = np.linalg.svd(G)
    Z = Vt[int((sizes > RANK * sizes[0]).sum()) :].T
    rows = np.array([*carrier_rows, *(row for row, _, _ in stiffness.curved)])
    flexibility = rows @ Z @ _solve_displacements(chain, stiffness, Z, stiffness.K, Z.T @ rows.T)
    travel_motion = np.linalg.lstsq(G, unit_travel, rcond=RANK)[0]
    travel_motion = travel_motion - Z @ _solve_displacements(
        chain, stiffness, Z, base, Z.T @ base @ travel_motion
    )
    names, curves = (
        tuple(name for _, name, _ in stiffness.curved),
        tuple(hinges for _, _, hinges in stiffness.curved),
    )
    return CarrierCompliance(
        flexibility[:6, :6],
        float(travel_motion @ base @ travel_motion),
        curves,
        flexibility[6:, :6],
        flexibility[6:, 6:],
        names,
    )


def _solve_displacements(
    chain: Chain, stiffness: _LinkageStiffness, Z: Array, K: Array, loads: Array
) -> Array:
    """Movements that joints leave, on the stiffness under loads; what nothing holds is reported."""
    if not Z.shape[1]:
        return loads
    reduced = Z.T @ K @ Z
    sizes, shapes = np.linalg.eigh((reduced + reduced.T) / 2)
    if sizes[0] <= FREE_MOTION_THRESHOLD * sizes[-1]:
        motion = np.abs(Z @ shapes[:, 0]).reshape(-1, 6).max(axis=1)
        raise ModelError(
            f"the bushes leave '{stiffness.bodies[int(np.argmax(motion))]}' free to move: "
            f"give them stiffness in all "
            "directions that no other joint holds",
            chain.name,
        )
    return np.asarray(np.linalg.solve(reduced, loads))


class _LinkageStiffness:
    """Stiffness and constraints of all bodies about the wheel centre."""

    def __init__(
        self, chain: Chain, posed_bodies: PosedBodies, bushes: Mapping[str, BushStiffness]
    ) -> None:
        self.chain, self.place, self.bushes = chain, posed_bodies, bushes
        mounts = bush_mounts(chain)
        bushed_parts = {mounts[name].part for name in bushes}
        self.bodies = [*chain.bodies, *(r.name for r in chain.rods if r.name in bushed_parts)]
        self.centre = posed_bodies.point(chain.wheel_centre)
        n = 6 * len(self.bodies)
        self.K = np.zeros((n, n))
        self.constraints: list[Array] = []
        self.curved: list[tuple[Array, tuple[str, int], Hinges]] = []
        for name, bush in bushes.items():
            self._add_bush(name, mounts[name], bush, posed_bodies.point(name))
        for joint in chain.joints:
            self._add_joint(joint)
        for rod in chain.rods:
            self._add_rod(rod)
        self.carrier = np.vstack(self._displacement_matrices(chain.carrier, self.centre))
        self.travel = len(self.constraints)
        self.constraints.append(self.carrier[2])
        for chain_input in chain.inputs:
            if chain_input.kind == "rack":
                drawn = next(p.at for p in chain.points.values() if p.body == chain_input.body)
                self.constraints.append(
                    np.array(unit_vector(chain_input.axis))
                    @ self._displacement_matrices(
                        chain_input.body, posed_bodies.point_drawn_at(chain_input.body, drawn)
                    )[0]
                )

    def _displacement_matrices(self, body: str, point: Array) -> tuple[Array, Array]:
        """Displacement of a point of a body and its rotation, over all displacements."""
        u, rotation = np.zeros((3, 6 * len(self.bodies))), np.zeros((3, 6 * len(self.bodies)))
        if body != BASE:
            i = 6 * self.bodies.index(body)
            x, y, z = point - self.centre
            u[:, i : i + 3] = np.eye(3)
            u[:, i + 3 : i + 6] = [[0, z, -y], [-z, 0, x], [y, -x, 0]]
            rotation[:, i + 3 : i + 6] = np.eye(3)
        return u, rotation

    def _relative_displacement(self, first: str, second: str, point: Array) -> tuple[Array, Array]:
        a, b = self._displacement_matrices(first, point), self._displacement_matrices(second, point)
        return b[0] - a[0], b[1] - a[1]

    def _add_bush(self, name: str, end: _BushMount, bush: BushStiffness, point: Array) -> None:
        x, y, z = (self.place.direction(end.part, tuple(a)) for a in bush.axes)
        R = np.array([x, y, z])
        B = np.vstack([R @ m for m in self._relative_displacement(end.first, end.second, point)])
        self.K += B.T @ bush.stiffness @ B
        self.curved += [(B[i], (name, i + 1), hinges) for i, hinges in bush.curves.items()]

    def _add_joint(self, joint: ChainJoint) -> None:
        points = joint_hard_points(self.chain, joint) if joint.kind in ELASTIC else []
        bushed_points = [p for p in points if p in self.bushes]
        if bushed_points:  # of a hinge, its other end is a ball
            for p in points:
                if p not in bushed_points:
                    self.constraints += list(
                        self._relative_displacement(joint.first, joint.second, self.place.point(p))[
                            0
                        ]
                    )
            return
        point = self.place.point_drawn_at(joint.second, self.chain.place(joint.at))
        u, rotation = self._relative_displacement(joint.first, joint.second, point)
        forces, moments = reaction_directions(joint, self.place, self.chain)
        self.constraints += [f @ u for f in forces] + [m @ rotation for m in moments]

    def _add_rod(self, rod: ChainRod) -> None:
        a, b = self.place.point(rod.first), self.place.point(rod.second)
        homes = [self.chain.points[p].body for p in (rod.first, rod.second)]
        direction = (a - b) / np.linalg.norm(a - b)
        if rod.name not in self.bodies:
            self.constraints.append(
                direction
                @ (
                    self._displacement_matrices(homes[1], b)[0]
                    - self._displacement_matrices(homes[0], a)[0]
                )
            )
            return
        spin_stiffness = 0.0
        for position, home, point in ((a, homes[0], rod.first), (b, homes[1], rod.second)):
            if point in self.bushes:
                R = np.array(
                    [self.place.direction(rod.name, tuple(x)) for x in self.bushes[point].axes]
                )
                spin_stiffness += float(
                    (R @ direction) @ self.bushes[point].stiffness[3:, 3:] @ (R @ direction)
                )
            else:
                self.constraints += list(self._relative_displacement(home, rod.name, position)[0])
        if not spin_stiffness > 0:  # idle: nothing turns it about itself
            self.constraints.append(direction @ self._displacement_matrices(rod.name, a)[1])

    def add_spring(self, points: tuple[str, str], k: float) -> None:
        a, b = (self.place.point(p) for p in points)
        row = (
            (a - b)
            / np.linalg.norm(a - b)
            @ (self._point_displacement(points[0]) - self._point_displacement(points[1]))
        )
        self.K += k * np.outer(row, row)

    def _point_displacement(self, name: str) -> Array:
        """Displacement of a hard point; one on a rod without bushes moves with its ends, without
        spin."""
        body, position = self.chain.points[name].body, self.place.point(name)
        if body in self.bodies or body == BASE:
            return self._displacement_matrices(body, position)[0]
        rod = next(r for r in self.chain.rods if r.name == body)
        (a, u), (b, v) = (
            (self.place.point(p), self._point_displacement(p)) for p in (rod.first, rod.second)
        )
        e = (b - a) / np.linalg.norm(b - a)
        rotation = np.cross(e, (v - u).T).T / np.linalg.norm(b - a)
        return np.asarray(u + np.cross(rotation.T, position - a).T)


# ---- where bushes may stand


def joint_hard_points(chain: Chain, joint: ChainJoint) -> list[str]:
    """The hard points of a joint: where it is and, of a hinge, others of the same body on its
    axis."""
    names = [joint.at]
    if joint.kind == "revolute" and joint.axis is not None:
        origin, a = np.array(chain.place(joint.at)), np.array(unit_vector(joint.axis))
        for name, p in chain.points.items():
            offset = np.array(p.at) - origin
            distance = float(offset @ a)
            is_on_axis = (
                abs(distance) > ON_AXIS and float(np.linalg.norm(offset - distance * a)) < ON_AXIS
            )
            if name != joint.at and p.body == chain.points[joint.at].body and is_on_axis:
                names.append(name)
    return names[:2]


def axial_stiffnesses(chain: Chain, bushes: Mapping[str, BushStiffness]) -> dict[str, float]:
    """Stiffness of bushes along the axes of their hinges or rods, N/m."""
    stiffnesses = {}
    for name, end in bush_mounts(chain).items():
        if name in bushes:
            a = bushes[name].axes @ end.axis
            stiffnesses[name] = float(a @ bushes[name].stiffness[:3, :3] @ a)
    return stiffnesses


def _iter_bush_mounts(chain: Chain) -> Iterator[tuple[str, _BushMount]]:
    for joint in chain.joints:
        if joint.kind in ELASTIC:
            part = (
                joint.first
                if joint.second == chain.carrier and joint.first != BASE
                else joint.second
            )
            axis = np.array([1.0, 0.0, 0.0] if joint.axis is None else unit_vector(joint.axis))
            for point in joint_hard_points(chain, joint):
                yield point, _BushMount(joint.first, joint.second, part, axis)
    for rod in chain.rods:
        a, b = (np.array(chain.place(p)) for p in (rod.first, rod.second))
        for point in (rod.first, rod.second):
            yield (
                point,
                _BushMount(
                    chain.points[point].body, rod.name, rod.name, (b - a) / np.linalg.norm(b - a)
                ),
            )


def bush_mounts(chain: Chain) -> dict[str, _BushMount]:
    """Hard points at which a bush may stand: of hinges, balls and rods, one to a point."""
    mounts: dict[str, _BushMount] = {}
    shared_points: set[str] = set()
    for point, end in _iter_bush_mounts(chain):
        shared_points |= {point} & set(mounts)
        mounts[point] = end
    return {p: end for p, end in mounts.items() if p not in shared_points}


def make_bush(
    chain: Chain,
    at: str,
    stiffness: Sequence[float],
    rotation: Sequence[float] = (0.0, 0.0, 0.0),
    coupling: Sequence[float] | None = None,
    axis: Sequence[float] | None = None,
    up: Sequence[float] | None = None,
    first: Pairs | None = None,
    second: Pairs | None = None,
    third: Pairs | None = None,
) -> BushStiffness:
    """A bush at a hard point. `stiffness` along its axes (N/m) and `rotation` about them (N m/rad):
    three numbers, or nine row by row; `coupling`: force over rotation (N/rad), nine. Its first axis
    is `axis`, else that of the hinge, the line of the rod, or for a ball the base's first; the
    third lies towards `up`, else the base's third. `first`,
    `second`, `third`: curves of force over deflection along the axes (m, N), added to the
    stiffness."""
    mounts = bush_mounts(chain)
    if at not in mounts:
        mount_names = ", ".join(mounts) or "none"
        raise ModelError(
            f"no bush can stand at '{at}'.{did_you_mean(at, mounts)} It may at: {mount_names}.",
            chain.name,
        )
    K = np.zeros((6, 6))
    K[:3, :3], K[3:, 3:] = (
        _stiffness_block(at, "stiffness", stiffness),
        _stiffness_block(at, "rotation", rotation),
    )
    if coupling is not None:
        K[:3, 3:] = _stiffness_block(at, "coupling", coupling)
        K[3:, :3] = K[:3, 3:].T
    curves: dict[int, Hinges] = {}
    for i, (word, points) in enumerate((("first", first), ("second", second), ("third", third))):
        if points is not None:
            at_zero, hinges = _stiffness_steps(
                f"{word} of the bush '{at}'", points, K[i, i], chain.name
            )
            K[i, i] += at_zero
            curves |= {i: hinges} if hinges else {}
    smallest, largest = (float(x) for x in np.linalg.eigvalsh((K + K.T) / 2)[[0, -1]])
    if np.abs(K - K.T).max() > 1e-9 * max(largest, 1e-300) or smallest < -1e-9 * largest:
        raise ModelError(
            f"the stiffness of the bush '{at}' must be symmetric and nowhere negative", chain.name
        )
    e1 = mounts[at].axis if axis is None else np.array(axis, float)
    e3 = np.array([0.0, 0.0, 1.0] if up is None else up, float)
    if not np.linalg.norm(np.cross(e1, e3)) > 1e-6 * np.linalg.norm(e1) * np.linalg.norm(e3):
        if up is not None or not e1.any():
            raise ModelError(
                f"bush '{at}': axis and up must be two directions that differ", chain.name
            )
        e3 = np.array([1.0, 0.0, 0.0])
    e1 = e1 / np.linalg.norm(e1)
    e2 = np.cross(e3, e1) / np.linalg.norm(np.cross(e3, e1))
    return BushStiffness(K, np.array([e1, e2, np.cross(e1, e2)]), curves)


def _stiffness_steps(
    label: str, points: Pairs, stiffness: float, name: str
) -> tuple[float, Hinges]:
    """The stiffness of a curve at zero, the mean of both sides, and what it adds to that. A curve
    that begins at zero is the same on both sides; past its ends it continues with the stiffness
    there."""
    x, force = np.array(points, float).T
    if x[0] == 0:
        x, force = np.concatenate([-x[:0:-1], x]), np.concatenate([-force[:0:-1], force])
    if not x[0] < 0 < x[-1] or abs(np.interp(0.0, x, force)) > 1e-9 * np.abs(force).max():
        raise ModelError(
            f"{label} must have no force at no deflection: pairs on both sides of zero, or "
            f"from [0, 0] on",
            name,
        )
    i = int(np.searchsorted(x, 0.0))
    if x[i] > 0:
        x, force = np.insert(x, i, 0.0), np.insert(force, i, 0.0)
    stiffnesses = np.diff(force) / np.diff(x)
    if stiffnesses.min() < 0 or stiffnesses.min() + stiffness <= 0:
        raise ModelError(f"{label} must rise, or with a stiffness along that axis not fall", name)
    zero = float(stiffnesses[i - 1] + stiffnesses[i]) / 2
    steps = []
    for side, deflections, side_stiffnesses in (
        (1, x[i:], stiffnesses[i:]),
        (-1, x[i::-1], stiffnesses[i - 1 :: -1]),
    ):
        steps += [
            StiffnessStep(float(a), float(c), side)
            for a, c in zip(deflections, np.diff(side_stiffnesses, prepend=zero), strict=False)
            if c
        ]
    return zero, tuple(steps)


def _stiffness_block(point_name: str, label: str, numbers: Sequence[float]) -> Array:
    if len(numbers) not in ((9,) if label == "coupling" else (3, 9)):
        count = "nine numbers" if label == "coupling" else "three numbers, or nine"
        raise ModelError(
            f"{label} of the bush '{point_name}' must be {count}, given {len(numbers)}"
        )
    values = np.array(numbers, float)
    return np.diag(values) if len(numbers) == 3 else values.reshape(3, 3)
