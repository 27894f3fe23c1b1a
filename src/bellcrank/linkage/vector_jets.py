"""Vectors that move with bodies: value, slopes, rates and bias accelerations, over numbers, arrays
or expressions.

The same few lines serve the solver (components are NumPy arrays, one entry per pose) and the
printed program (components are expressions). The whole number 0 is a structural zero: what is
multiplied by it is never computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Scalar = Any  # float, numpy array, or expression
Vec = tuple[Scalar, Scalar, Scalar]
Mat = tuple[Vec, Vec, Vec]  # rows

NULL: Vec = (0, 0, 0)
UNITS: Mat = ((1, 0, 0), (0, 1, 0), (0, 0, 1))


def is_structural_zero(x: Scalar) -> bool:
    """Is x the structural zero?"""
    return x.__class__ is int and bool(x == 0)


def multiply(a: Scalar, b: Scalar) -> Scalar:
    if a.__class__ is int:
        if a == 0:
            return 0
        if a == 1:
            return b
    if b.__class__ is int:
        if b == 0:
            return 0
        if b == 1:
            return a
    return a * b


def add_terms(*terms: Scalar) -> Scalar:
    total: Scalar = 0
    for x in terms:
        if x.__class__ is not int or x != 0:
            total = x if total.__class__ is int and total == 0 else total + x
    return total


def subtract(a: Scalar, b: Scalar) -> Scalar:
    """a - b."""
    if is_structural_zero(b):
        return a
    return -b if is_structural_zero(a) else a - b


def add_jets3(*vectors: Vec) -> Vec:
    return (
        add_terms(*(v[0] for v in vectors)),
        add_terms(*(v[1] for v in vectors)),
        add_terms(*(v[2] for v in vectors)),
    )


def sub3(a: Vec, b: Vec) -> Vec:
    return subtract(a[0], b[0]), subtract(a[1], b[1]), subtract(a[2], b[2])


def scale_jet3(k: Scalar, v: Vec) -> Vec:
    return multiply(k, v[0]), multiply(k, v[1]), multiply(k, v[2])


def dot_jets3(a: Vec, b: Vec) -> Scalar:
    return add_terms(multiply(a[0], b[0]), multiply(a[1], b[1]), multiply(a[2], b[2]))


def cross_jets3(a: Vec, b: Vec) -> Vec:
    return (
        subtract(multiply(a[1], b[2]), multiply(a[2], b[1])),
        subtract(multiply(a[2], b[0]), multiply(a[0], b[2])),
        subtract(multiply(a[0], b[1]), multiply(a[1], b[0])),
    )


def matrix_times_vector(m: Mat, v: Vec) -> Vec:
    return dot_jets3(m[0], v), dot_jets3(m[1], v), dot_jets3(m[2], v)


def matrix_product(a: Mat, b: Mat) -> Mat:
    columns = [(b[0][j], b[1][j], b[2][j]) for j in range(3)]
    return tuple(tuple(dot_jets3(row, c) for c in columns) for row in a)  # type: ignore[return-value]


def rotation_about_axis(axis: Sequence[float], cosine: Scalar, sine: Scalar) -> Mat:
    """Rotation about a constant unit vector: c 1 + (1 - c) a a^T + s [a]x."""
    a, b, c = (_structural_number(x) for x in axis)
    versine = 1.0 - cosine
    skew = ((0, subtract(0, c), b), (c, 0, subtract(0, a)), (subtract(0, b), a, 0))
    return tuple(
        tuple(
            add_terms(
                cosine if i == j else 0,
                multiply(multiply((a, b, c)[i], (a, b, c)[j]), versine),
                multiply(skew[i][j], sine),
            )
            for j in range(3)
        )
        for i in range(3)
    )  # type: ignore[return-value]


def quaternion_matrix(e: Sequence[Scalar]) -> Mat:
    """Rotation of unit Euler parameters (e0, e1, e2, e3), e0 the scalar part."""
    e0, x, y, z = e
    xx, yy, zz, xy, yz, zx = x * x, y * y, z * z, x * y, y * z, z * x
    ex, ey, ez = e0 * x, e0 * y, e0 * z
    return (
        (1.0 - 2.0 * (yy + zz), 2.0 * (xy - ez), 2.0 * (zx + ey)),
        (2.0 * (xy + ez), 1.0 - 2.0 * (xx + zz), 2.0 * (yz - ex)),
        (2.0 * (zx - ey), 2.0 * (yz + ex), 1.0 - 2.0 * (xx + yy)),
    )


def euler_parameter_rates(e: Iterable[Scalar], half_velocity: Iterable[Scalar]) -> list[Scalar]:
    """Rates of Euler parameters from half the angular velocity w in base axes: e' = 1/2 w e."""
    e0, x, y, z = e
    a, b, c = half_velocity
    return [
        -a * x - b * y - c * z,
        a * e0 + b * z - c * y,
        b * e0 + c * x - a * z,
        c * e0 + a * y - b * x,
    ]


def _structural_number(x: Scalar) -> Scalar:
    """0 and 1 as structural numbers; arrays, one entry for each variant of a linkage, as they
    are."""
    if isinstance(x, np.ndarray):
        return x
    return int(x) if x in (0, 1) else float(x)


def constant_vector(v: Iterable[Scalar]) -> Vec:
    """A constant vector with structural zeros."""
    x, y, z = (_structural_number(c) for c in v)
    return x, y, z


def is_zero_everywhere(x: Scalar) -> bool:
    """Is a drawn distance zero, in all variants?"""
    return bool(abs(x) < 1e-15) if isinstance(x, float) else not np.any(x)


@dataclass(frozen=True)
class VectorJet:
    """A moving vector: its value, its slope by every unknown, and along each direction of motion
    its rate and its bias (second derivative without the second derivatives of the unknowns)."""

    value: Vec
    partials: dict[int, Vec]
    rate: tuple[Vec, ...]
    bias: tuple[Vec, ...]

    def __sub__(self, other: VectorJet) -> VectorJet:
        return self._combine(other, sub3)

    def __add__(self, other: VectorJet) -> VectorJet:
        return self._combine(other, add_jets3)

    def _combine(self, other: VectorJet, join: Callable[[Vec, Vec], Vec]) -> VectorJet:
        slope = {
            k: join(self.partials.get(k, NULL), other.partials.get(k, NULL))
            for k in {**self.partials, **other.partials}
        }
        rate, bias = (
            tuple(map(join, self.rate, other.rate)),
            tuple(map(join, self.bias, other.bias)),
        )
        return VectorJet(join(self.value, other.value), slope, rate, bias)

    def component(self, i: int) -> ScalarJet:
        return ScalarJet(
            self.value[i],
            {k: v[i] for k, v in self.partials.items()},
            tuple(b[i] for b in self.bias),
        )

    def acceleration(self, j: int, second: Sequence[Scalar]) -> Vec:
        """The second derivative along direction j, given those of the unknowns."""
        return add_jets3(
            self.bias[j], *(scale_jet3(second[k], v) for k, v in self.partials.items())
        )


@dataclass(frozen=True)
class ScalarJet:
    """A scalar that depends on the unknowns: value, slopes, bias along each direction."""

    value: Scalar
    partials: dict[int, Scalar]
    bias: tuple[Scalar, ...]

    def scaled(self, k: Scalar, shift: Scalar = 0) -> ScalarJet:
        """k times the row, plus a constant."""
        return ScalarJet(
            add_terms(multiply(k, self.value), shift),
            {i: multiply(k, x) for i, x in self.partials.items()},
            tuple(multiply(k, x) for x in self.bias),
        )


def dot_product(a: VectorJet, b: VectorJet) -> ScalarJet:
    """The scalar product of two moving vectors."""
    slope = {
        k: add_terms(
            dot_jets3(a.partials.get(k, NULL), b.value), dot_jets3(a.value, b.partials.get(k, NULL))
        )
        for k in {**a.partials, **b.partials}
    }
    bias = tuple(
        add_terms(
            dot_jets3(a.bias[j], b.value),
            multiply(2.0, dot_jets3(a.rate[j], b.rate[j])),
            dot_jets3(a.value, b.bias[j]),
        )
        for j in range(len(a.rate))
    )
    return ScalarJet(dot_jets3(a.value, b.value), slope, bias)
