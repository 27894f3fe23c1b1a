"""The worksheet on which equations are derived: intermediate results are held once, by value.

`hold` is AUTOSIM's intro-var-if-new (Sayers 1990, section 5.4), with equality decided by
fingerprint instead of by form: s^2 + c^2, cancelled parameters, x - y against y - x are found
without rewriting rules.
"""

from __future__ import annotations

from collections.abc import Iterable

from bellcrank.symbolic.expr import (
    ZERO,
    Expr,
    Func,
    NamedSubexpression,
    Number,
    Symbol,
    add,
    mul,
    neg,
    sub,
)
from bellcrank.symbolic.expr.construct import split_coefficient
from bellcrank.symbolic.expr.node import PRIME, Product
from bellcrank.symbolic.vector.basis import IDENTITY, Mat3, Vec3, cross3, dot3, matmul, transpose

TRIANGLE = (
    (0, 0),
    (1, 1),
    (2, 2),
    (0, 1),
    (1, 2),
    (2, 0),
)  # entries of a symmetric matrix, in this order


class DerivationWorkspace:
    """Holds intermediate results of one derivation."""

    def __init__(self, values: Iterable[Expr] = (), by_value: bool = True) -> None:
        self._by_value: dict[int, Expr] = {n % PRIME: Number(n) for n in range(-4, 5)}
        self.by_value = by_value
        for e in values:
            self._register_value(e)

    def copy(self) -> DerivationWorkspace:
        """A worksheet with the same results on it, for another way to continue."""
        duplicate = DerivationWorkspace(by_value=self.by_value)
        duplicate._by_value = dict(self._by_value)
        return duplicate

    def _register_value(self, e: Expr) -> None:
        if e.fingerprint not in self._by_value and -e.fingerprint % PRIME not in self._by_value:
            self._by_value[e.fingerprint] = e

    def _find_equal(self, e: Expr) -> Expr | None:
        """What has e's value, or the negative of what has the opposite one, which is made when it
        is asked for."""
        existing = self._by_value.get(e.fingerprint)
        if (
            existing is None
            and (opposite := self._by_value.get(-e.fingerprint % PRIME)) is not None
        ):
            existing = self._by_value[e.fingerprint] = neg(opposite)
        return existing

    def bind(self, e: Expr) -> Expr:
        """The intermediate result with e's value: an atom, a signed atom, or a new held
        expression."""
        existing = self._find_equal(e)
        if isinstance(e, Number | Symbol | NamedSubexpression | Func):
            if existing is None and isinstance(e, Symbol | Func):
                self._register_value(e)
            return e if existing is None else existing
        if existing is not None and (self.by_value or e.constant or existing.__class__ is Number):
            return existing
        c, core = split_coefficient(e)
        if c == -1 and not isinstance(core, Product) and core.__class__.__name__ != "Sum":
            return neg(self.bind(core))
        named_value = NamedSubexpression(e if c > 0 else neg(e))
        self._register_value(named_value)
        return named_value if c > 0 else neg(named_value)

    def bind3(self, v: Iterable[Expr]) -> Vec3:
        x, y, z = v
        return self.bind(x), self.bind(y), self.bind(z)

    def bind_matrix(self, m: Mat3) -> Mat3:
        if all(m[i][j] is IDENTITY[i][j] for i in range(3) for j in range(3)):
            return IDENTITY
        return self.bind3(m[0]), self.bind3(m[1]), self.bind3(m[2])

    # ---- arrays of three, every component held

    def cross(self, a: Vec3, b: Vec3) -> Vec3:
        return self.bind3(cross3(a, b))

    def add_cross(self, v: Vec3, a: Vec3, b: Vec3) -> Vec3:
        """v + a x b"""
        cyclic = ((0, 1, 2), (1, 2, 0), (2, 0, 1))
        return self.bind3(add(v[x], mul(a[y], b[z]), neg(mul(a[z], b[y]))) for x, y, z in cyclic)

    def dot(self, a: Vec3, b: Vec3) -> Expr:
        return self.bind(dot3(a, b))

    def add(self, *vectors: Vec3) -> Vec3:
        return self.bind3(add(*components) for components in zip(*vectors, strict=True))

    def apply_matrix(self, m: Mat3, v: Vec3) -> Vec3:
        return v if m is IDENTITY else (self.dot(m[0], v), self.dot(m[1], v), self.dot(m[2], v))

    def apply_transposed(self, m: Mat3, v: Vec3) -> Vec3:
        if m is IDENTITY:
            return v
        return self.bind3(add(*(mul(m[i][j], v[i]) for i in range(3))) for j in range(3))

    def rotate_tensor(self, R: Mat3, m: Mat3) -> Mat3:
        """R m R^T"""
        half_product = tuple(self.bind3(row) for row in matmul(R, m))
        product = matmul(half_product, transpose(R))  # type: ignore[arg-type]
        return self.bind3(product[0]), self.bind3(product[1]), self.bind3(product[2])

    def rotate_about_axis(self, k: int, c: Expr, s: Expr, v: Vec3) -> Vec3:
        """v after a rotation about axis k: from the turned axes to the old ones."""
        i, j = (k + 1) % 3, (k + 2) % 3
        rotated = list(v)
        rotated[i] = self.bind(sub(mul(c, v[i]), mul(s, v[j])))
        rotated[j] = self.bind(add(mul(s, v[i]), mul(c, v[j])))
        return rotated[0], rotated[1], rotated[2]

    def rotate_tensor_about_axis(self, k: int, c: Expr, s: Expr, m: Mat3) -> Mat3:
        """R m R^T for that rotation: the block in four products, the entries with k as two
        vectors."""
        i, j = (k + 1) % 3, (k + 2) % 3
        a, b, g, d = m[i][i], m[i][j], m[j][i], m[j][j]
        # with x' = c x - s y: a' = a - s t, d' = d + s t, b' = c t - g, g' = c t - b, where t = s
        # (a - d) + c (b + g)
        t = self.bind(add(mul(s, sub(a, d)), mul(c, add(b, g))))
        row, column = (self.rotate_about_axis(k, c, s, v) for v in (m[k], transpose(m)[k]))
        rotated = [[*row] if x == k else [column[x]] * 3 for x in range(3)]
        rotated[i][i], rotated[j][j] = self.bind(sub(a, mul(s, t))), self.bind(add(d, mul(s, t)))
        rotated[i][j], rotated[j][i] = self.bind(sub(mul(c, t), g)), self.bind(sub(mul(c, t), b))
        return tuple(map(tuple, rotated))  # type: ignore[return-value]


def is_zero(v: Iterable[Expr]) -> bool:
    return all(x is ZERO for x in v)


def symmetric_matrix(entries: Iterable[Expr]) -> Mat3:
    """The symmetric matrix of six entries in the order of TRIANGLE."""
    xx, yy, zz, xy, yz, zx = entries
    return (xx, xy, zx), (xy, yy, yz), (zx, yz, zz)
