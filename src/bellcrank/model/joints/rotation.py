"""The rotation of a plain joint: about none, one or three axes, or by Euler parameters.

Speeds of one axis are relative to the parent; those of three rotations are the body's absolute
angular velocity on its own axes (Sayers 1990, section 8.1.6).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from bellcrank.core.errors import pluralize
from bellcrank.core.units import ANGLE
from bellcrank.core.units import ONE as PURE
from bellcrank.model.joints.labels import SPIN, BodyLabels, StateLabel, axis_word
from bellcrank.symbolic.expr import ONE, Expr, Symbol, add, cos, div, mul, neg, sin, sub
from bellcrank.symbolic.vector.basis import (
    IDENTITY,
    Mat3,
    Vec3,
    euler_parameter_rotation,
    matmul,
    rotation_about,
)
from bellcrank.symbolic.vector.derivation_workspace import DerivationWorkspace

Turn = tuple[int, Expr, Expr]  # about an axis of the turning frame, with its cosine and sine


@dataclass(frozen=True)
class JointRotation:
    """0, 1 or 3 rotations about unit vectors of the body; three are about coordinate axes."""

    q: tuple[Symbol, ...]
    u: tuple[Symbol, ...]
    axes: tuple[Vec3, ...] = ()

    @property
    def has_absolute_speeds(self) -> bool:
        """Are the speeds the absolute angular velocity?"""
        return len(self.u) == 3

    def matrix(self) -> Mat3:
        product = IDENTITY
        for axis, q in zip(self.axes, self.q, strict=True):
            product = matmul(product, rotation_about(axis, q))
        return product

    def to_parent_axes(self, v: Vec3, work: DerivationWorkspace) -> Vec3:
        """Components on the body's axes as components on the axes before the rotation."""
        for axis, q in reversed(list(zip(self.axes, self.q, strict=True))):
            if ONE in axis:
                v = work.rotate_about_axis(axis.index(ONE), work.bind(cos(q)), work.bind(sin(q)), v)
            else:
                v = work.apply_matrix(work.bind_matrix(rotation_about(axis, q)), v)
        return v

    def elementary_rotations(
        self, work: DerivationWorkspace
    ) -> tuple[tuple[Turn, ...], Mat3 | None]:
        """Absolute rotations as turns about coordinate axes, or as a matrix."""
        pairs = zip(self.axes, self.q, strict=True)
        return tuple(
            (axis.index(ONE), work.bind(cos(q)), work.bind(sin(q))) for axis, q in pairs
        ), None

    def coordinate_derivatives(self, w: Vec3, work: DerivationWorkspace) -> dict[Symbol, Expr]:
        """q' of absolute speeds, for the angular velocity w relative to the parent on the body's
        axes: three angles about axes i, j, m of the turning body, solved in the frame before the
        last rotation."""
        i, j, m = (axis.index(ONE) for axis in self.axes)
        q1, q2, q3 = self.q
        w = work.rotate_about_axis(m, work.bind(cos(q3)), work.bind(sin(q3)), w)
        c, s = work.bind(cos(q2)), work.bind(sin(q2))
        if i != m:  # R_j^T e_i = c e_i + sign s e_m
            first = work.bind(div(w[i], c))
            return {
                q2: w[j],
                q1: first,
                q3: work.bind(sub(w[m], mul(_axis_component(j, i, m, s), first))),
            }
        third = 3 - i - j  # proper Euler angles: R_j^T e_i = c e_i + along e_l
        first = work.bind(div(w[third], _axis_component(j, i, third, s)))
        return {q2: w[j], q1: first, q3: work.bind(sub(w[i], mul(c, first)))}

    @property
    def nonzero_reference_values(self) -> dict[Symbol, int]:
        return {}

    @property
    def normalization_constraint(self) -> Expr | None:
        """Zero by what binds the coordinates to each other."""
        return None

    @property
    def gimbal_lock_angle(self) -> tuple[Symbol, float] | None:
        """The middle angle, and where it brings the last axis onto the first, but for half
        turns."""
        if len(self.axes) < 3:
            return None
        return self.q[1], 0.0 if self.axes[0] == self.axes[2] else math.pi / 2

    def coordinate_labels(self, c: BodyLabels) -> Iterator[tuple[Symbol, StateLabel]]:
        frames = [c.parent, f"{c.symbol}pp", f"{c.symbol}p", c.symbol]
        chain = frames if self.has_absolute_speeds else [c.base, c.body]
        for axis, q, rotated, fixed in zip(self.axes, self.q, chain[1:], chain, strict=False):
            number = axis_word(axis)
            yield (
                q,
                StateLabel(
                    ANGLE,
                    "Rotation",
                    f"Rotation of {rotated} relative to {fixed} about axis #{number}",
                    number,
                ),
            )

    def speed_labels(self, c: BodyLabels) -> Iterator[tuple[Symbol, StateLabel]]:
        for i, u in enumerate(self.u):
            if self.has_absolute_speeds:
                label = f"Abs. rotation of {c.symbol} about axis #{i + 1}"
            elif c.parent == "n":
                label = f"Abs. rot. of {c.symbol}, axis {axis_word(self.axes[i])}"
            else:
                label = f"Rot. of {c.symbol} relative to {c.parent}, axis {axis_word(self.axes[i])}"
            yield (
                u,
                StateLabel(
                    SPIN,
                    "Angular Speed",
                    label,
                    str(i + 1) if self.has_absolute_speeds else axis_word(self.axes[i]),
                ),
            )

    @property
    def short_description(self) -> str:
        return pluralize(len(self.axes), "rotation") if self.axes else ""


def _axis_component(j: int, i: int, m: int, s: Expr) -> Expr:
    """Component along axis m of e_i seen after a turn about axis j: sin with the sign of e_m . (e_i
    x e_j)."""
    return s if (j - i) % 3 == 1 and (m - j) % 3 == 1 else neg(s)


@dataclass(frozen=True)
class EulerParameters(JointRotation):
    """A free rotation by four parameters of unit size, the cosine of half the angle first."""

    def matrix(self) -> Mat3:
        return euler_parameter_rotation(self.q)

    def to_parent_axes(self, v: Vec3, work: DerivationWorkspace) -> Vec3:
        return work.apply_matrix(work.bind_matrix(self.matrix()), v)

    def elementary_rotations(
        self, work: DerivationWorkspace
    ) -> tuple[tuple[Turn, ...], Mat3 | None]:
        return (), work.bind_matrix(self.matrix())

    def coordinate_derivatives(self, w: Vec3, work: DerivationWorkspace) -> dict[Symbol, Expr]:
        """e' = 1/2 E w (Kane, Likins & Levinson, Spacecraft Dynamics (1983), section 1.13)."""
        e0, e1, e2, e3 = self.q
        x, y, z = (work.bind(mul(ONE / 2, c)) for c in w)
        rows = (
            neg(add(e1 * x, e2 * y, e3 * z)),
            add(e0 * x, e2 * z, neg(e3 * y)),
            add(e0 * y, e3 * x, neg(e1 * z)),
            add(e0 * z, e1 * y, neg(e2 * x)),
        )
        return {e: work.bind(row) for e, row in zip(self.q, rows, strict=True)}

    @property
    def nonzero_reference_values(self) -> dict[Symbol, int]:
        return {self.q[0]: 1}

    @property
    def normalization_constraint(self) -> Expr | None:
        return add(*(mul(e, e) for e in self.q)) - 1

    def coordinate_labels(self, c: BodyLabels) -> Iterator[tuple[Symbol, StateLabel]]:
        for i, e in enumerate(self.q):
            yield (
                e,
                StateLabel(
                    PURE,
                    "Euler Parameter",
                    f"Euler parameter e{i} of {c.body} relative to {c.base}",
                    f"e{i}",
                ),
            )

    @property
    def short_description(self) -> str:
        return "free rotation"
