"""Frames, positions, velocities and kinematical equations of a mechanism, basis-free.

In:  a `Mechanism`, and values for speeds that constraints have replaced. Out: `Kinematics`: a frame, angular velocity,
origin and its velocity for every body, and the rates of all coordinates (q' in terms of u). Velocities are written with
speeds, so accelerations follow by differentiation.
Sayers (1990), sections 8.1.6 and 8.2.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from bellcrank.errors import ModelError
from bellcrank.expr import ONE, ZERO, Expr, Symbol, add, cos, div, mul, neg, nominal, sin, sub, substitute
from bellcrank.kinematics.work import Work
from bellcrank.model.guide import Guided, given_rate
from bellcrank.model.mechanism import Body, Mechanism
from bellcrank.vector.basis import (
    IDENTITY,
    Frame,
    Mat3,
    Vec3,
    Vector,
    cross,
    dot3,
    euler_parameter_rotation,
    matmul,
    rate,
    turn_about,
)


@dataclass(frozen=True)
class Point:
    """A point fixed in a body (-1: the ground); `at` are its coordinates along the body's axes."""

    name: str
    body: int
    at: Vec3
    label: str = ""


@dataclass
class Kinematics:
    """Motion of all bodies. Index -1 is the ground."""

    mechanism: Mechanism
    work: Work
    speed: dict[Symbol, Expr]
    frames: dict[int, Frame] = field(default_factory=dict)
    w: dict[int, Vector] = field(default_factory=dict)
    origin: dict[int, Vector] = field(default_factory=dict)
    v_origin: dict[int, Vector] = field(default_factory=dict)
    rates: dict[Symbol, Expr] = field(default_factory=dict)  # of coordinates

    def position(self, p: Point) -> Vector:
        """Vector from the fixed origin."""
        return self.origin[p.body] + self.frames[p.body].vector(p.at)

    def velocity(self, p: Point) -> Vector:
        """Absolute velocity: that of the body's origin plus w x r."""
        r = self.frames[p.body].vector(p.at)
        return self.v_origin[p.body] + cross(self.w[p.body], r) if r else self.v_origin[p.body]

    def rate_of(self, s: Symbol) -> Expr:
        """Time derivative of a symbol."""
        match s.kind:
            case "coordinate" if s in self.rates:
                return self.rates[s]
            case "coordinate":
                raise ModelError(f"the rate of {s.name} is not known here: it depends on itself, or on a later state")
            case "speed":
                return Symbol(s.name.replace("u(", "up(", 1), "acceleration", s.order)
            case "acceleration":
                raise ModelError(f"the time derivative of {s.name} is not available")
            case "rate" if s.name.startswith("dxdt(dxdt("):
                raise ModelError(f"the time derivative of {s.name} is not available")
        return given_rate(s)

    def nominal(self, e: Expr) -> Expr:
        """e with all states at zero; the scalar part of Euler parameters is then 1."""
        upright: dict[Expr, Expr] = {b.q_r[0]: ONE for b in self.mechanism.bodies if b.euler}
        for guide in dict.fromkeys(b.guide.guide for b in self.mechanism.bodies if b.guide):
            e = guide.nominal(e)
        return nominal(substitute(e, upright)) if upright else nominal(e)

    def derivative(self, v: Vector) -> Vector:
        """Time derivative of a vector in the inertial frame."""
        return rate(v, self.rate_of)


def motion_of(mechanism: Mechanism, speed: dict[Symbol, Expr] | None = None, work: Work | None = None) -> Kinematics:
    """The kinematics of a mechanism."""
    desk = work or Work([*mechanism.coordinates, *mechanism.speeds])
    k = Kinematics(mechanism, desk, speed or {})
    ground = Frame("n")
    k.frames[-1], k.w[-1], k.origin[-1], k.v_origin[-1] = ground, Vector({}), Vector({}), Vector({})
    for body in mechanism.bodies:
        _place(k, body)
        _coordinate_rates(k, body)
    return k


def rotation(body: Body) -> Mat3:
    """R_AB of a body and its parent."""
    if body.euler:
        turned = euler_parameter_rotation(body.q_r)
    else:
        turned = IDENTITY
        for axis, q in zip(body.axes, body.q_r, strict=True):
            turned = matmul(turned, turn_about(axis, q))
    return matmul(body.C, turned)


def _place_guided(k: Kinematics, body: Body, guided: Guided) -> None:
    """A body whose motion in its parent is given by functions."""
    base, parent = k.frames[body.parent], body.parent
    speeds = [k.speed.get(s, s) for s in guided.speeds]
    motion = guided.motion(speeds)
    R = motion.R
    frame = Frame(body.name, base, (k.work.hold3(R[0]), k.work.hold3(R[1]), k.work.hold3(R[2])))
    k.frames[body.index] = frame
    w = k.w[parent] + base.vector(k.work.hold3(motion.w))
    moved = base.vector(k.work.hold3(motion.v))
    for d, delta, u in zip(motion.d, motion.delta, speeds, strict=True):
        w = w + base.vector(k.work.hold3(delta)) * u
        moved = moved + base.vector(k.work.hold3(d)) * u
    frame.omega = k.w[body.index] = w
    offset = base.vector(k.work.hold3(add(a, p) for a, p in zip(guided.at, motion.p, strict=True)))
    own = frame.vector(guided.offset)
    k.origin[body.index] = k.origin[parent] + offset + own
    k.v_origin[body.index] = k.v_origin[parent] + cross(k.w[parent], offset) + moved + cross(w, own)
    for q, s in zip(guided.q, guided.u, strict=True):
        k.rates[q] = k.speed.get(s, s)


def _place(k: Kinematics, body: Body) -> None:
    if body.guide is not None:
        _place_guided(k, body, body.guide)
        return
    parent = body.parent
    frame = Frame(body.name, k.frames[parent], rotation(body))
    k.frames[body.index] = frame
    u = {s: k.speed.get(s, s) for s in body.speeds}
    if body.free_rotation:
        w = frame.vector([u[s] for s in body.u_r])
    elif body.axes:
        w = k.w[parent] + frame.vector(body.axes[0]) * u[body.u_r[0]]
    else:
        w = k.w[parent]
    frame.omega = w
    k.w[body.index] = w
    offset = k.frames[parent].vector(body.joint_at)
    for slide, q in zip(body.slides, body.q_t, strict=True):
        offset = offset + k.frames[parent].vector(slide) * q
    k.origin[body.index] = k.origin[parent] + offset
    if body.free_translation:
        v = Vector({})
        for axis, s in zip(body.speed_axes, body.u_t, strict=True):
            v = v + Vector({frame.axes[axis]: ONE}) * u[s]
        k.v_origin[body.index] = v - cross(w, frame.vector(body.speed_point))
    else:
        v = k.v_origin[parent] + cross(k.w[parent], offset)
        for slide, s in zip(body.slides, body.u_t, strict=True):
            v = v + k.frames[parent].vector(slide) * u[s]
        k.v_origin[body.index] = v


def _coordinate_rates(k: Kinematics, body: Body) -> None:
    """q' of one body's joint."""
    work = k.work
    value = {s: k.speed.get(s, s) for s in body.speeds}
    if body.free_rotation:
        w_rel = _relative_spin(k, body)
        if body.euler:
            _euler_parameter_rates(k, body, w_rel)
        else:
            _angle_rates(k, body, w_rel)
    elif body.axes:
        k.rates[body.q_r[0]] = value[body.u_r[0]]
    if not body.free_translation:
        for q, s in zip(body.q_t, body.u_t, strict=True):
            k.rates[q] = value[s]
        return
    v = _relative_velocity(k, body)
    gram = [[dot3(a, b) for b in body.slides] for a in body.slides]
    right = [work.hold(dot3(d, v)) for d in body.slides]
    for q, x in zip(body.q_t, _solve_small(gram, right, work), strict=True):
        k.rates[q] = x


def _relative_spin(k: Kinematics, body: Body) -> Vec3:
    """w_B - w_A in B's axes."""
    frame = k.frames[body.index]
    u = tuple(k.speed.get(s, s) for s in body.u_r)
    if not k.w[body.parent]:
        return u[0], u[1], u[2]
    w_A = frame.coordinates(k.w[body.parent])
    return k.work.hold3(sub(x, y) for x, y in zip(u, w_A, strict=True))


def _angle_rates(k: Kinematics, body: Body, w: Vec3) -> None:
    """Rates of three angles about axes i, j, l of the turning body: solved in the frame before the last rotation."""
    work = k.work
    i, j, m = (axis.index(ONE) for axis in body.axes)
    q1, q2, q3 = body.q_r
    w = work.turn(m, work.hold(cos(q3)), work.hold(sin(q3)), w)
    c, s = work.hold(cos(q2)), work.hold(sin(q2))
    k.rates[q2] = w[j]
    if i != m:  # R_j^T e_i = c e_i + sign s e_m
        first = work.hold(div(w[i], c))
        along = _component(j, i, m, s)
        k.rates[q1] = first
        k.rates[q3] = work.hold(sub(w[m], mul(along, first)))
    else:  # proper Euler angles: R_j^T e_i = c e_i + along e_l
        other = 3 - i - j
        along = _component(j, i, other, s)
        first = work.hold(div(w[other], along))
        k.rates[q1] = first
        k.rates[q3] = work.hold(sub(w[i], mul(c, first)))


def _component(j: int, i: int, m: int, s: Expr) -> Expr:
    """Component along axis m of e_i seen after a turn about axis j: sin with the sign of e_m . (e_i x e_j)."""
    return s if (j - i) % 3 == 1 and (m - j) % 3 == 1 else neg(s)


def _euler_parameter_rates(k: Kinematics, body: Body, w: Vec3) -> None:
    """e' = 1/2 E w (Kane, Likins & Levinson, Spacecraft Dynamics (1983), section 1.13; scalar part first)."""
    e0, e1, e2, e3 = body.q_r
    x, y, z = (k.work.hold(mul(ONE / 2, c)) for c in w)
    rows = (
        neg(add(e1 * x, e2 * y, e3 * z)),
        add(e0 * x, e2 * z, neg(e3 * y)),
        add(e0 * y, e3 * x, neg(e1 * z)),
        add(e0 * z, e1 * y, neg(e2 * x)),
    )
    for q, row in zip(body.q_r, rows, strict=True):
        k.rates[q] = k.work.hold(row)


def _relative_velocity(k: Kinematics, body: Body) -> Vec3:
    """v_B0 - v_A0 - w_A x r in A's axes, for a body with absolute speeds."""
    work = k.work
    frame, parent = k.frames[body.index], k.frames[body.parent]
    u = dict(zip(body.speed_axes, body.u_t, strict=True))
    v_cm: Vec3 = tuple(k.speed.get(u[c], u[c]) if c in u else ZERO for c in range(3))  # type: ignore[assignment]
    w = frame.coordinates(k.w[body.index])
    v = work.hold3(sub(a, b) for a, b in zip(v_cm, work.cross(w, body.speed_point), strict=True))
    if body.euler:
        v = work.apply(_held(work, euler_parameter_rotation(body.q_r)), v)
    else:
        for axis, q in reversed(list(zip(body.axes, body.q_r, strict=True))):
            if ONE in axis:
                v = work.turn(axis.index(ONE), work.hold(cos(q)), work.hold(sin(q)), v)
            else:
                v = work.apply(_held(work, turn_about(axis, q)), v)
    v = work.apply(body.C, v)
    carried = k.v_origin[body.parent] + cross(k.w[body.parent], k.origin[body.index] - k.origin[body.parent])
    if not carried:
        return v
    return work.hold3(sub(x, y) for x, y in zip(v, parent.coordinates(carried), strict=True))


def _held(work: Work, m: Mat3) -> Mat3:
    return work.hold3(m[0]), work.hold3(m[1]), work.hold3(m[2])


def _solve_small(matrix: list[list[Expr]], right: list[Expr], work: Work) -> list[Expr]:
    """Gaussian elimination of a constant Gram matrix (identity for orthogonal slides)."""
    n = len(right)
    A = [list(row) for row in matrix]
    b = list(right)
    for j in range(n):
        for i in range(j + 1, n):
            if A[i][j] is ZERO:
                continue
            ratio = div(A[i][j], A[j][j])
            for c in range(j, n):
                A[i][c] = sub(A[i][c], mul(ratio, A[j][c]))
            b[i] = sub(b[i], mul(ratio, b[j]))
    x = [ZERO] * n
    for j in reversed(range(n)):
        x[j] = work.hold(div(sub(b[j], add(*(mul(A[j][c], x[c]) for c in range(j + 1, n)))), A[j][j]))
    return x
