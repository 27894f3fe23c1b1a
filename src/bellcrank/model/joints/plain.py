"""The plain joint: 0 to 3 translations along directions of the parent, then a rotation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from bellcrank.core.errors import pluralize
from bellcrank.core.units import LENGTH
from bellcrank.model.joints.joint import FrameMotion, Joint, JointGlyph, LazyVelocity, Speeds
from bellcrank.model.joints.labels import SPEED, BodyLabels, StateLabel, axis_word, direction_word
from bellcrank.model.joints.rotation import JointRotation
from bellcrank.symbolic.expr import (
    MINUS_ONE,
    ONE,
    ZERO,
    Expr,
    Symbol,
    add,
    div,
    free_symbols,
    mul,
    sub,
)
from bellcrank.symbolic.vector.basis import (
    NULL,
    Frame,
    Vec3,
    Vector,
    cross,
    cross3,
    dot3,
    matmul,
    matvec,
    transpose,
)
from bellcrank.symbolic.vector.derivation_workspace import DerivationWorkspace


@dataclass(frozen=True)
class PlainJoint(Joint):
    """`slides` are directions in the parent's axes. Where `has_absolute_speeds`, the translational
    speeds are components of the absolute velocity of `speed_point` along the body axes listed in
    `speed_axes` (Sayers 1990, section 8.1.6). Those of a free body with Euler parameters are
    components of the velocity of `speed_point` along the slides: a body that may tumble keeps its
    momentum exactly, whatever the method of integration."""

    rotation: JointRotation = field(default_factory=lambda: JointRotation((), ()))
    slides: tuple[Vec3, ...] = ()
    speed_axes: tuple[int, ...] = ()
    speed_point: Vec3 = NULL

    by_recursion: ClassVar[str] = ""

    @property
    def has_absolute_speeds(self) -> bool:
        """Are the translational speeds those of a point in the inertial frame?"""
        return bool(self.speed_axes)

    @property
    def slide_coordinates(self) -> tuple[Symbol, ...]:
        return self.q[: len(self.slides)]

    @property
    def slide_speeds(self) -> tuple[Symbol, ...]:
        return self.u[: len(self.slides)]

    def seen_from(self, rotate: Callable[[Vec3], Vec3]) -> Joint | None:
        if any(free_symbols(x) for v in (*self.C, self.at, *self.slides) for x in v):
            return None
        x, y, z = (rotate(axis) for axis in transpose(self.C))
        return replace(
            self, C=transpose((x, y, z)), at=rotate(self.at), slides=tuple(map(rotate, self.slides))
        )

    # ---- speeds and composite bodies

    def fixes(self, mass: Expr, cm: Vec3) -> bool:
        if self.slides:
            return False
        if mass.fingerprint == 0 or all(x is ZERO for x in cm) or not self.rotation.q:
            return True
        return len(self.rotation.axes) == 1 and _are_parallel(self.rotation.axes[0], cm)

    def with_speeds(self, point: Vec3, on_ground: bool) -> Joint:
        if (
            self.rotation.normalization_constraint is not None
            and len(self.slides) == 3
            and on_ground
        ):
            return replace(self, speed_axes=(), speed_point=point)
        axes = (0, 1, 2) if len(self.slides) == 3 else self._planar_axes() if on_ground else ()
        return replace(self, speed_axes=axes, speed_point=point if axes else NULL)

    def _planar_axes(self) -> tuple[int, ...]:
        """Body axes of the translational speeds of a body that moves in a fixed plane, else
        none."""
        if len(self.slides) != 2 or self.rotation.has_absolute_speeds:
            return ()
        normal = cross3(*self.slides)
        if self.rotation.axes and not _are_parallel(normal, matvec(self.C, self.rotation.axes[0])):
            return ()
        in_body = matvec(transpose(self.C), normal)
        for k in range(3):
            if in_body[k] in (ONE, MINUS_ONE):
                return tuple(i for i in range(3) if i != k)
        return ()

    def relative_axes(self, base: Frame, frame: Frame) -> Iterator[tuple[Symbol, Vector, bool]]:
        if not self.has_absolute_speeds:
            for slide, u in zip(self.slides, self.slide_speeds, strict=True):
                yield u, base.vector(slide), False
        if self.rotation.axes and not self.rotation.has_absolute_speeds:
            yield self.rotation.u[0], frame.vector(self.rotation.axes[0]), True

    def turns(self, u: Symbol) -> bool:
        return u in self.rotation.u

    @property
    def free_components(self) -> set[int]:
        free = {0, 1, 2} if len(self.slides) == 3 else self._along_slides()
        if self.rotation.has_absolute_speeds:
            return free | {3, 4, 5}
        return free | {3 + axis.index(ONE) for axis in self.rotation.axes if ONE in axis}

    def _along_slides(self) -> set[int]:
        """The axes of the body along which its slides let it move in every position: it does not
        turn, or only in the plane of two slides."""
        free = {
            i
            for i in range(3)
            for slide in self.slides
            if slide == tuple(self.C[k][i] for k in range(3))
        }
        axes = self.rotation.axes
        turning = (
            {axes[0].index(ONE)}
            if len(axes) == 1 and ONE in axes[0]
            else {0, 1, 2}
            if axes
            else set()
        )
        return free if not turning or (len(free) == 2 and turning.isdisjoint(free)) else set()

    # ---- motion

    def place(
        self, name: str, parent: FrameMotion, speed: Speeds, work: DerivationWorkspace
    ) -> FrameMotion:
        base, rotation = parent.frame, self.rotation
        frame = Frame(name, base, matmul(self.C, rotation.matrix()))
        u = [speed.get(s, s) for s in self.u]
        angular_speeds = u[len(self.slides) :]
        if rotation.has_absolute_speeds:
            w = frame.vector(angular_speeds)
        else:
            w = (
                parent.w + frame.vector(rotation.axes[0]) * angular_speeds[0]
                if rotation.axes
                else parent.w
            )
        frame.omega = w
        offset = base.vector(self.at)
        for slide, q in zip(self.slides, self.slide_coordinates, strict=True):
            offset = offset + base.vector(slide) * q
        return FrameMotion(
            frame, w, parent.origin + offset, self._velocity(parent, frame, w, offset, u)
        )

    def _velocity(
        self, parent: FrameMotion, frame: Frame, w: Vector, offset: Vector, u: Sequence[Expr]
    ) -> LazyVelocity:
        """The velocity of the origin, for values of the speeds."""
        if self.has_absolute_speeds:
            body_velocity = Vector.from_pairs(
                (frame.axes[axis], s) for axis, s in zip(self.speed_axes, u, strict=False)
            )
            return LazyVelocity(lambda _: body_velocity - cross(w, frame.vector(self.speed_point)))
        sliding = [parent.frame.vector(slide) * s for slide, s in zip(self.slides, u, strict=False)]
        swing = Vector({}) if self.speed_point is NULL else cross(w, frame.vector(self.speed_point))
        return LazyVelocity(
            lambda v: sum(sliding, v + cross(parent.w, offset)) - swing, parent.velocity
        )

    def rates(
        self, parent: FrameMotion, motion: FrameMotion, speed: Speeds, work: DerivationWorkspace
    ) -> dict[Symbol, Expr]:
        rotation, rates = self.rotation, {}
        if rotation.has_absolute_speeds:
            rates = rotation.coordinate_derivatives(
                self._relative_spin(parent, motion, speed, work), work
            )
        elif rotation.axes:
            rates[rotation.q[0]] = speed.get(rotation.u[0], rotation.u[0])
        slide_rates = {
            q: speed.get(s, s)
            for q, s in zip(self.slide_coordinates, self.slide_speeds, strict=True)
        }
        if not self.has_absolute_speeds and all(x is ZERO for x in self.speed_point):
            return rates | slide_rates
        v = (
            self._relative_velocity(parent, motion, speed, work)
            if self.has_absolute_speeds
            else self._point_velocity(motion, work)
        )
        gram = [[dot3(a, b) for b in self.slides] for a in self.slides]
        right_side = [work.bind(dot3(d, v)) for d in self.slides]
        projections = dict(
            zip(self.slide_coordinates, _solve_small(gram, right_side, work), strict=True)
        )
        return rates | (
            projections
            if self.has_absolute_speeds
            else {q: work.bind(sub(slide_rates[q], x)) for q, x in projections.items()}
        )

    def _point_velocity(self, motion: FrameMotion, work: DerivationWorkspace) -> Vec3:
        """w x speed_point in the axes of the ground."""
        swing = work.cross(motion.frame.coordinates(motion.w), self.speed_point)
        return work.apply_matrix(self.C, self.rotation.to_parent_axes(swing, work))

    def _relative_spin(
        self, parent: FrameMotion, motion: FrameMotion, speed: Speeds, work: DerivationWorkspace
    ) -> Vec3:
        """w_B - w_A in B's axes."""
        u = tuple(speed.get(s, s) for s in self.rotation.u)
        if not parent.w:
            return u[0], u[1], u[2]
        return work.bind3(
            sub(x, y) for x, y in zip(u, motion.frame.coordinates(parent.w), strict=True)
        )

    def _relative_velocity(
        self, parent: FrameMotion, motion: FrameMotion, speed: Speeds, work: DerivationWorkspace
    ) -> Vec3:
        """v_B0 - v_A0 - w_A x r in A's axes, for a body with absolute speeds."""
        u = {k: speed.get(s, s) for k, s in zip(self.speed_axes, self.slide_speeds, strict=True)}
        swing = work.cross(motion.frame.coordinates(motion.w), self.speed_point)
        v = work.bind3(sub(u.get(k, ZERO), swing[k]) for k in range(3))
        v = work.apply_matrix(self.C, self.rotation.to_parent_axes(v, work))
        base_velocity = parent.v + cross(parent.w, motion.origin - parent.origin)
        if not base_velocity:
            return v
        return work.bind3(
            sub(x, y) for x, y in zip(v, parent.frame.coordinates(base_velocity), strict=True)
        )

    # ---- coordinates

    @property
    def start(self) -> dict[Symbol, int]:
        return self.rotation.nonzero_reference_values

    def norms(self, name: str) -> list[tuple[str, Expr]]:
        norm = self.rotation.normalization_constraint
        return [] if norm is None else [(f"unit size of the Euler parameters of {name}", norm)]

    @property
    def lock(self) -> tuple[Symbol, float] | None:
        return self.rotation.gimbal_lock_angle

    @property
    def last_turn(self) -> tuple[Symbol, int, list[Sequence[Symbol]]] | None:
        if len(self.rotation.axes) != 3:
            return None
        slides = [self.slide_speeds] if self.speed_axes == (0, 1, 2) else []
        return self.rotation.q[2], self.rotation.axes[2].index(ONE), [self.rotation.u, *slides]

    # ---- words

    @property
    def look(self) -> JointGlyph:
        return JointGlyph(self.slides, self.rotation.axes, len(self.rotation.q))

    def coordinate_words(self, c: BodyLabels) -> Iterator[tuple[Symbol, StateLabel]]:
        for slide, q in zip(self.slides, self.slide_coordinates, strict=True):
            label = (
                f"Translation of {c.symbol}0 relative to {c.child_frame_motion} along "
                f"{direction_word(slide, c.parent)}"
            )
            yield q, StateLabel(LENGTH, "Translation", label, axis_word(slide))
        yield from self.rotation.coordinate_labels(c)

    def speed_words(self, c: BodyLabels) -> Iterator[tuple[Symbol, StateLabel]]:
        for i, u in enumerate(self.slide_speeds):
            axis = axis_word(self.slides[i])
            if self.has_absolute_speeds:
                axis = str(self.speed_axes[i] + 1)
                label = f"Abs. trans. speed of {c.symbol}* along axis {axis}"
            elif self.speed_point is not NULL:
                label = (
                    f"Abs. trans. speed of {c.symbol}* along "
                    f"{direction_word(self.slides[i], c.parent)}"
                )
            else:
                along = direction_word(self.slides[i], c.parent)
                label = (
                    f"Trans. speed of {c.symbol}0 relative to "
                    f"{c.child_frame_motion.removeprefix('the ')} along {along}"
                )
            yield u, StateLabel(SPEED, "Translational Speed", label, axis)
        yield from self.rotation.speed_labels(c)

    @property
    def text(self) -> str:
        phrases = [
            pluralize(len(self.slides), "slide") if self.slides else "",
            self.rotation.short_description,
        ]
        return ", ".join(filter(None, phrases)) or "fixed"


def _are_parallel(a: Vec3, b: Vec3) -> bool:
    return all(x is ZERO or x.fingerprint == 0 for x in cross3(a, b))


def _solve_small(
    matrix: list[list[Expr]], right_side: list[Expr], work: DerivationWorkspace
) -> list[Expr]:
    """Gaussian elimination of a constant Gram matrix (identity for orthogonal slides)."""
    n = len(right_side)
    A = [list(row) for row in matrix]
    b = list(right_side)
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
        x[j] = work.bind(
            div(sub(b[j], add(*(mul(A[j][c], x[c]) for c in range(j + 1, n)))), A[j][j])
        )
    return x
