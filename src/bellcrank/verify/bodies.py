"""Bodies of a description as numbers, and their motion.

In:  a description and values of its parameters (equation units). Out: `Machine`: joints, masses and the meaning of
every coordinate and speed; `Motion`: orientation, position and velocities of all bodies in inertial axes, as jets.
Which composite mass centre a speed belongs to is a matter of form, not of the present values: it is decided once with
arbitrary values (`Structure`), so that a length that happens to be zero does not change the speeds.
Sayers (1990), sections 8.1.3 to 8.1.6 and 8.2.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bellcrank.model.joints.guided import GuideRecord
from bellcrank.model.records import BodyRecord, Description, PointRecord
from bellcrank.verify import jets
from bellcrank.verify.formulas import CannotEvaluate, Scalars, Values, name_of
from bellcrank.verify.guided import GuidedPose, guided_pose, metre_of, numbers_of
from bellcrank.verify.jets import Jet, Value, value

E = np.eye(3)
ZERO = np.zeros(3)


@dataclass(frozen=True)
class Structure:
    """What does not depend on the values of parameters."""

    next_reference: bool  # the default reference axis lies along the rotation axis, so the next one is taken
    fixed: bool  # the composite mass centre is fixed in the parent
    speed_axes: tuple[int, ...] | None  # body axes of absolute translational speeds; None: relative speeds


@dataclass(frozen=True)
class Body:
    """One body with its joint. `C` is R_AB at zero coordinates, A the parent; vectors are in A or B by their use."""

    index: int
    name: str
    parent: int
    slides: tuple[Value, ...]
    axes: tuple[Value, ...]
    euler: bool
    C: Value
    joint_at: Value
    cm: Value
    mass: Value
    inertia: Value
    q: slice
    u: slice
    structure: Structure
    speed_point: Value
    guide: GuideRecord | None = None  # a joint given by functions

    @property
    def free_rotation(self) -> bool:
        return self.euler or len(self.axes) == 3

    @property
    def turns(self) -> slice:
        """The coordinates of rotation."""
        return slice(self.q.start + len(self.slides), self.q.stop)


Led = tuple[Value, Value]  # what is given from outside to the functions that move a body, and its rate


class Machine:
    """All bodies, parents first, children in order of entry; -1 is the ground."""

    def __init__(
        self, description: Description, parameters: Values, structure: dict[str, Structure] | None = None
    ) -> None:
        self.description = description
        self.parameters = parameters
        self.scalars = Scalars(description, parameters)
        self.structure = structure
        self.led: dict[int, Led] = {}
        self.index: dict[str, int] = {}
        self.q_names: list[str] = []
        self.u_names: list[str] = []
        self._R_N: list[Value] = []  # nominal orientation and origin, for coordinates_of
        self._p_N: list[Value] = []
        self._parent: list[int] = []
        self._found: dict[str, Structure] = {}
        records = self._in_order(description.bodies)
        self._drafts: list[dict[str, Any]] = [self._draft(r) for r in records]
        self._composites()
        self.bodies = [Body(**d) for d in self._drafts]
        self.own = slice(len(self.q_names), len(self.q_names) + len(description.states))  # states of the user's own
        self.q_names += [z.name.lower() for z in description.states]

    @classmethod
    def of(cls, description: Description, parameters: Values) -> Machine:
        """The machine with the given values; its structure is found with arbitrary ones."""
        return cls(description, parameters, cls(description, Values())._found)

    def varied(self, name: str) -> Machine:
        """The same machine with one parameter as a jet that grows at unit rate."""
        values = Values(self.parameters)
        values[name] = Jet([self.parameters[name], 1.0])  # type: ignore[assignment]
        return Machine(self.description, values, self.structure)

    # ---- reading the records

    @staticmethod
    def _in_order(records: list[BodyRecord]) -> list[BodyRecord]:
        children: dict[str, list[BodyRecord]] = {}
        for r in records:
            children.setdefault("n" if r.parent is None else name_of(r.parent), []).append(r)
        order: list[BodyRecord] = []
        waiting = list(reversed(children.get("n", [])))
        while waiting:
            order.append(waiting.pop())
            waiting.extend(reversed(children.get(order[-1].name.lower(), [])))
        return order

    def _draft(self, r: BodyRecord) -> dict[str, Any]:
        index = len(self.index)
        parent = -1 if r.parent is None or name_of(r.parent) == "n" else self.index[name_of(r.parent)]
        self.index[r.name.lower()] = index
        slides = tuple(self._axis(a) for a in _axes(r.translate))
        euler = isinstance(r.rotate, str)
        given = [] if euler else _axes(r.rotate)
        bare = not given and not euler and r.rotation_axis is not None
        axes = tuple(self._axis(a) for a in ([r.rotation_axis] if bare else given))
        C, next_reference = self._nominal_rotation(r, axes)
        R_A, p_A = (self._R_N[parent], self._p_N[parent]) if parent >= 0 else (E, ZERO)
        R_N = R_A @ C
        joint_at = self._converted(self.scalars.triple(r.joint_at), r.coordinates_of, R_A, p_A)
        p_N = p_A + R_A @ joint_at
        self._R_N.append(R_N)
        self._p_N.append(p_N)
        self._parent.append(parent)
        n_q, n_u = len(slides) + (4 if euler else len(axes)), len(slides) + (3 if euler else len(axes))
        guide = r.joint if isinstance(r.joint, GuideRecord) else None
        if guide is not None:
            n_q = n_u = guide.own
        q, u = slice(len(self.q_names), len(self.q_names) + n_q), slice(len(self.u_names), len(self.u_names) + n_u)
        self.q_names += _state_names("q", r.name, n_q)
        self.u_names += _state_names("u", r.name, n_u)
        return {
            "index": index,
            "name": r.name,
            "parent": parent,
            "slides": slides,
            "axes": axes,
            "euler": euler,
            "C": C,
            "joint_at": joint_at,
            "cm": self._converted(self.scalars.triple(r.cm), r.coordinates_of, R_N, p_N),
            "mass": self.scalars.named(f"{r.name}m".lower()) if r.mass is None else self.scalars.scalar(r.mass),
            "inertia": self._inertia(r),
            "q": q,
            "u": u,
            "structure": Structure(next_reference, False, None),
            "speed_point": ZERO,
            "guide": guide,
        }

    def _axis(self, given: Any) -> Value:
        """Unit vector of an axis number or of three components."""
        if isinstance(given, int):
            return E[given - 1]
        v = self.scalars.triple(given)
        return v / jets.norm(v)

    def _inertia(self, r: BodyRecord) -> Value:
        given = r.inertia
        if given is None:
            entries = [f"{r.name}i{min(i, j)}{max(i, j)}".lower() for i in (1, 2, 3) for j in (1, 2, 3)]
            flat = [self.scalars.named(e) for e in entries]
            return jets.stack([jets.stack(flat[i : i + 3]) for i in (0, 3, 6)])
        if np.ndim(given) == 0:  # zero
            return np.zeros((3, 3))
        if all(np.ndim(row) == 0 for row in given):
            moments = [self.scalars.scalar(x) for x in given]
            return jets.stack([m * e for m, e in zip(moments, E, strict=True)])
        return jets.stack([self.scalars.triple(row) for row in given])

    def _converted(self, v: Value, coordinates_of: Any, R: Value, p: Value) -> Value:
        """Coordinates given along another body's nominal axes and from its origin, in the frame (R, p)."""
        if coordinates_of is None:
            return v
        other = -1 if name_of(coordinates_of) == "n" else self.index[name_of(coordinates_of)]
        R_C, p_C = (self._R_N[other], self._p_N[other]) if other >= 0 else (E, ZERO)
        return R.T @ (p_C + R_C @ v - p)

    def _nominal_rotation(self, r: BodyRecord, axes: tuple[Value, ...]) -> tuple[Value, bool]:
        """R_AB at zero coordinates: body axis k along `rotation_axis`, the next one as near the reference as can be."""
        if r.rotation_axis is None and r.reference_axis is None:
            return E, False
        first = axes[0] if axes else E[2]
        k = _coordinate_axis(jets.value(first))
        axis = first if r.rotation_axis is None else self._axis(r.rotation_axis)
        if k is None:  # an axis that is no axis of the new body stands alone: both frames agree
            return E, False
        i, j = (k + 1) % 3, (k + 2) % 3
        known = self.structure[r.name.lower()].next_reference if self.structure else None
        reference: Value = E[i]
        if r.reference_axis is not None:
            reference, known = self._axis(r.reference_axis), False
        elif known is None:
            known = bool(np.linalg.norm(np.cross(jets.value(axis), E[i])) < 1e-9)
        if known:
            reference = E[j]
        columns: list[Value] = [None, None, None]
        b_j = jets.cross(axis, reference)
        columns[k], columns[j] = axis, b_j / jets.norm(b_j)
        columns[i] = jets.cross(columns[j], axis)
        return jets.stack(columns).T, bool(known)

    # ---- composite bodies, and the point whose velocity the speeds describe

    def _composites(self) -> None:
        total: dict[int, tuple[Value, Value]] = {}  # composite mass and mass centre
        for d in reversed(self._drafts):
            mass, moment = d["mass"], d["cm"] * d["mass"]
            for child in self._drafts:
                if child["parent"] == d["index"] and child["structure"].fixed:
                    m, c = total[child["index"]]
                    mass, moment = mass + m, moment + (child["joint_at"] + child["C"] @ c) * m
            massless = bool(np.all(jets.value(mass) == 0))
            cm = ZERO if massless else moment / mass
            total[d["index"]] = mass, cm
            known = self.structure[d["name"].lower()] if self.structure else None
            found = known or self._structure_of(d, massless, jets.value(cm))
            self._found[d["name"].lower()] = d["structure"] = found
            d["speed_point"] = ZERO if found.speed_axes is None else cm

    def _structure_of(self, d: dict[str, Any], massless: bool, cm: np.ndarray) -> Structure:
        still = not d["axes"] and not d["euler"]
        on_axis = len(d["axes"]) == 1 and np.linalg.norm(np.cross(jets.value(d["axes"][0]), cm)) < 1e-12
        fixed = (
            not d["slides"]
            and not d["guide"]
            and (massless or still or not np.any(np.abs(cm) > 1e-12) or bool(on_axis))
        )
        speed_axes = (0, 1, 2) if len(d["slides"]) == 3 else self._planar_axes(d)
        return Structure(d["structure"].next_reference, fixed, speed_axes)

    @staticmethod
    def _planar_axes(d: dict[str, Any]) -> tuple[int, ...] | None:
        """Body axes in the plane of a body that moves in a plane of the ground: two slides, at most one rotation."""
        if len(d["slides"]) != 2 or d["parent"] != -1 or d["euler"] or len(d["axes"]) > 1:
            return None
        C = jets.value(d["C"])
        normal = np.cross(*(jets.value(s) for s in d["slides"]))
        if d["axes"] and np.linalg.norm(np.cross(normal, C @ jets.value(d["axes"][0]))) > 1e-9:
            return None
        across = np.abs(C.T @ normal)
        k = int(np.argmax(across))
        if abs(across[k] - 1.0) > 1e-9:
            return None
        return tuple(a for a in range(3) if a != k)

    # ---- points and motions

    def point(self, record: PointRecord) -> tuple[int, Value]:
        """Body and coordinates in it of a point of the description."""
        body = -1 if record.body is None or name_of(record.body) == "n" else self.index[name_of(record.body)]
        R, p = (self._R_N[body], self._p_N[body]) if body >= 0 else (E, ZERO)
        return body, self._converted(self.scalars.triple(record.at), record.coordinates_of, R, p)

    # ---- joints given by functions

    @property
    def metre(self) -> float:
        """One metre in the length unit of the equations."""
        return metre_of(self.description)

    def followed(self, guide: GuideRecord, letter: str = "q") -> list[int]:
        """Places of the coordinates (or speeds) that the functions depend on."""
        bodies = [self.bodies[self.index[name.lower()]] for name, _ in guide.follows]
        return [getattr(b, letter).start + i for b, (_, i) in zip(bodies, guide.follows, strict=True)]

    @cached_property
    def reach(self) -> dict[int, float]:
        """How far the coordinates that move guided bodies may be from zero, half of what the functions allow."""
        reach: dict[int, float] = {}
        for b in self.bodies:
            if b.guide is not None:
                kinds, ends = b.guide.guide.kinds(), b.guide.guide.reach()
                for i, kind, (low, high) in zip(self.followed(b.guide), kinds, ends, strict=False):
                    reach[i] = 0.5 * min(-low, high) * (self.metre if kind == "length" else 1.0)
        return reach

    def guided_at(self, guide: GuideRecord) -> np.ndarray:
        return np.array(guide.at) * self.metre

    def guided_offset(self, b: Body, guide: GuideRecord) -> Value:
        """From the reference point of the functions to the body's origin, body axes."""
        return b.joint_at - (np.array(guide.at) + np.array(guide.drawn)) * self.metre

    def guided_numbers(self, b: Body, values: tuple[float, ...]) -> Mapping[str, Any]:
        assert b.guide is not None
        return numbers_of(b.guide, values, self.metre)

    def led_by(self, scalars: Scalars) -> Machine:
        """The same machine at an instant: what moves its bodies from outside has the values of these scalars."""
        found = {b.index: scalars.scalar(b.guide.given) for b in self.bodies if b.guide and b.guide.given is not None}
        return self._led({i: (r, jets.rate(r) if isinstance(r, Jet) else 0.0) for i, r in found.items()})

    def _led(self, led: dict[int, Led]) -> Machine:
        if not led:
            return self
        other = copy.copy(self)
        other.led = led
        return other

    @property
    def instant(self) -> Machine:
        """The same machine, in which what leads it has a value and a rate, but no change of these."""
        return self._led({i: (value(r), value(rate)) for i, (r, rate) in self.led.items()})

    @property
    def still(self) -> Machine:
        """The same machine, in which what leads it stands still."""
        return self._led({i: (value(r), 0.0) for i, (r, _) in self.led.items()})

    @property
    def moves(self) -> bool:
        """Does anything move it from outside?"""
        return any(float(value(rate)) != 0.0 for _, rate in self.led.values())

    def motion(self, q: Value, u: Value) -> Motion:
        """Orientation, position and velocities for coordinates and speeds as they are given."""
        return Motion(self if isinstance(q, Jet) else self.instant, q, u)

    def nominal_motion(self) -> Motion:
        return self._nominal

    @cached_property
    def _nominal(self) -> Motion:
        unmoved = copy.copy(self)
        unmoved.led = {}
        return Motion(unmoved, self.nominal_q, np.zeros(len(self.u_names)))

    @cached_property
    def arbitrary(self) -> Machine:
        """The same machine with arbitrary values of the parameters."""
        return Machine(self.description, Values(), self.structure)

    @cached_property
    def nominal_q(self) -> np.ndarray:
        """All coordinates zero; Euler parameters (1, 0, 0, 0)."""
        q = np.zeros(len(self.q_names))
        for b in self.bodies:
            if b.euler:
                q[b.q.start + len(b.slides)] = 1.0
        return q

    def moving(self, q: np.ndarray, u: Jet) -> Motion:
        """The motion that starts at q with speeds u: the rates of q follow, one order after the other.

        Those of the user's own states are left open (not a number): formulas that need them find them.
        """
        jet = Jet([q])
        for n in range(1, len(u) + 1):
            rates = jets.coefficients(Motion(self, jet, Jet(u.c[:n])).coordinate_rates(), n)
            own = np.full((n, self.own.stop - self.own.start), np.nan)
            jet = jets.integral(q, Jet(np.concatenate([rates, own], axis=1)), n + 1)
        return Motion(self, jet, u)


class Motion:
    """R[b] (columns: body axes), origin p[b], angular velocity w[b], velocity of the origin v[b]; -1: the ground."""

    def __init__(self, machine: Machine, q: Value, u: Value) -> None:
        self.machine, self.q, self.u = machine, q, u
        self.R: dict[int, Value] = {-1: E}
        self.p: dict[int, Value] = {-1: ZERO}
        self.w: dict[int, Value] = {-1: ZERO}
        self.v: dict[int, Value] = {-1: ZERO}
        self._guided: dict[int, tuple[GuidedPose, Value, Value]] = {}
        for b in machine.bodies:
            self._place(b)
            self._move(b)

    def _place(self, b: Body) -> None:
        if b.guide is not None:
            self._place_guided(b, b.guide)
            return
        q, k = self.q[b.q], len(b.slides)
        R_AB = b.C
        if b.euler:
            R_AB = R_AB @ euler_rotation([q[k + i] for i in range(4)])
        else:
            for i, axis in enumerate(b.axes):
                R_AB = R_AB @ rotation_about(axis, q[k + i])
        self.R[b.index] = self.R[b.parent] @ R_AB
        self.p[b.index] = self.p[b.parent] + self.R[b.parent] @ self._offset(b)

    def _offset(self, b: Body) -> Value:
        """From the parent's origin to b's, in the parent."""
        r = b.joint_at
        for i, slide in enumerate(b.slides):
            r = r + slide * self.q[b.q][i]
        return r

    def _place_guided(self, b: Body, guide: GuideRecord) -> None:
        """A body that functions of coordinates move."""
        z = [self.q[i] for i in self.machine.followed(guide)]
        if guide.given is not None:
            z.append(self.machine.led.get(b.index, (0.0, 0.0))[0])
        pose = guided_pose(self.machine.guided_numbers(b, tuple(float(value(x)) for x in z)), z)
        R_A = self.R[b.parent]
        self.R[b.index] = R_A @ pose.R
        arm = R_A @ (pose.p + self.machine.guided_at(guide))
        own = self.R[b.index] @ self.machine.guided_offset(b, guide)
        self.p[b.index] = self.p[b.parent] + arm + own
        self._guided[b.index] = pose, arm, own

    def _move_guided(self, b: Body, guide: GuideRecord) -> None:
        pose, arm, own = self._guided[b.index]
        R_A, w_A = self.R[b.parent], self.w[b.parent]
        w, v = w_A, self.v[b.parent] + jets.cross(w_A, arm)
        rates = [self.u[i] for i in self.machine.followed(guide, "u")]
        if guide.given is not None:
            rates.append(self.machine.led.get(b.index, (0.0, 0.0))[1])
        for d, delta, rate in zip(pose.d, pose.delta, rates, strict=True):
            w = w + (R_A @ delta) * rate
            v = v + (R_A @ d) * rate
        self.w[b.index] = w
        self.v[b.index] = v + jets.cross(w, own)

    def _move(self, b: Body) -> None:
        if b.guide is not None:
            self._move_guided(b, b.guide)
            return
        u, k = self.u[b.u], len(b.slides)
        R_A, w_A, R = self.R[b.parent], self.w[b.parent], self.R[b.index]
        if b.free_rotation:
            w = R @ u[k : k + 3]
        elif b.axes:
            w = w_A + (R @ b.axes[0]) * u[k]
        else:
            w = w_A
        self.w[b.index] = w
        if b.structure.speed_axes is not None:
            v = -jets.cross(w, R @ b.speed_point)
            for i, axis in enumerate(b.structure.speed_axes):
                v = v + R[:, axis] * u[i]
        else:
            v = self.v[b.parent] + jets.cross(w_A, R_A @ self._offset(b))
            for i, slide in enumerate(b.slides):
                v = v + (R_A @ slide) * u[i]
        self.v[b.index] = v

    def position(self, body: int, at: Value) -> Value:
        return self.p[body] + self.R[body] @ at

    def velocity(self, body: int, at: Value) -> Value:
        return self.v[body] + jets.cross(self.w[body], self.R[body] @ at)

    def coordinate_rates(self) -> Value:
        """q' of the bodies that produces these velocities, joint by joint."""
        rates: list[Value] = []
        for b in self.machine.bodies:
            if b.guide is not None:
                rates += [self.u[i] for i in range(b.u.start, b.u.stop)]
            rates += self._slide_rates(b)
            rates += self._turn_rates(b)
        return jets.stack(rates) if rates else np.zeros(0)

    def _slide_rates(self, b: Body) -> list[Value]:
        if not b.slides:
            return []
        R_A, w_A = self.R[b.parent], self.w[b.parent]
        carried = self.v[b.parent] + jets.cross(w_A, R_A @ self._offset(b))
        relative = R_A.T @ (self.v[b.index] - carried)
        S = jets.stack(b.slides)
        found = jets.solve(S @ S.T, S @ relative)
        return [found[i] for i in range(len(b.slides))]

    def _turn_rates(self, b: Body) -> list[Value]:
        if not b.free_rotation and not b.axes:
            return []
        k, q = len(b.slides), self.q[b.q]
        w = self.R[b.index].T @ (self.w[b.index] - self.w[b.parent])
        if b.euler:
            return euler_rates([q[k + i] for i in range(4)], w)
        if len(b.axes) == 1:
            return [jets.dot(b.axes[0], w)]
        found = jets.solve(self._turn_axes(b).T, w)
        return [found[i] for i in range(3)]

    def _turn_axes(self, b: Body) -> Value:
        """Rows: the three rotation axes on the axes of the turned body."""
        k, q = len(b.slides), self.q[b.q]
        turns = [rotation_about(axis, q[k + i]) for i, axis in enumerate(b.axes)]
        return jets.stack([turns[2].T @ (turns[1].T @ b.axes[0]), turns[2].T @ b.axes[1], b.axes[2]])

    def gimbal(self) -> float:
        """How far the three-angle joints are from locking: 1 far, 0 locked."""
        three = [b for b in self.machine.bodies if len(b.axes) == 3]
        return min((abs(float(np.linalg.det(jets.value(self._turn_axes(b))))) for b in three), default=1.0)


def rotation_about(axis: Value, angle: Value) -> Value:
    """Rodrigues' formula; columns are the turned axes."""
    s, c = jets.sincos(angle)
    x, y, z = axis[0], axis[1], axis[2]
    skew = jets.stack([jets.stack([0.0, -z, y]), jets.stack([z, 0.0, -x]), jets.stack([-y, x, 0.0])])
    along = jets.stack([axis * x, axis * y, axis * z])
    return skew * s + (E - along) * c + along


def euler_rotation(e: list[Value]) -> Value:
    """R_AB of Euler parameters, e[0] the cosine of half the angle."""
    a, b, c, d = e
    rows = [
        [a * a + b * b - c * c - d * d, 2 * (b * c - a * d), 2 * (b * d + a * c)],
        [2 * (b * c + a * d), a * a - b * b + c * c - d * d, 2 * (c * d - a * b)],
        [2 * (b * d - a * c), 2 * (c * d + a * b), a * a - b * b - c * c + d * d],
    ]
    return jets.stack([jets.stack(row) for row in rows])


def euler_rates(e: list[Value], w: Value) -> list[Value]:
    """e' for the relative angular velocity w on the axes of the turned body."""
    a, b, c, d = e
    x, y, z = w[0], w[1], w[2]
    return [
        (b * x + c * y + d * z) * -0.5,
        (a * x - d * y + c * z) * 0.5,
        (d * x + a * y - b * z) * 0.5,
        (-c * x + b * y + a * z) * 0.5,
    ]


def _axes(given: Any) -> list[Any]:
    """A bare axis, one vector, or several axes, as a list."""
    if given is None or (hasattr(given, "__len__") and len(given) == 0):
        return []
    if isinstance(given, int):
        return [given]
    if isinstance(given, str):
        raise CannotEvaluate(f"{given!r} is no axis")
    parts = list(given)
    numbers = [isinstance(a, int) and a in (1, 2, 3) for a in parts]
    vectors = [hasattr(a, "__len__") and not isinstance(a, str) for a in parts]
    if len(parts) == 3 and not all(n or v for n, v in zip(numbers, vectors, strict=True)):
        return [tuple(parts)]
    return parts


def _coordinate_axis(v: np.ndarray) -> int | None:
    for k in range(3):
        if v[k] == 1.0:
            return k
    return None


def _state_names(letter: str, body: str, count: int) -> list[str]:
    body = body.lower()
    return [f"{letter}({body})"] if count == 1 else [f"{letter}({body},{i})" for i in range(1, count + 1)]
