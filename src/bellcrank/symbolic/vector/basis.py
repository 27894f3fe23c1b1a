"""Frames, unit vectors and vectors, free of any basis.

A frame belongs to a body; its three unit vectors are objects. A vector is a sum of scalars times
unit vectors of any frames. Dot and cross products climb the tree of frames from the deeper unit
vector, and remember what they found (Sayers 1990, section 5.3.2). Unit vectors that two frames have
in common are one object.

Notation: R_AB[i][j] = a_i . b_j (columns are b's axes in A).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from bellcrank.core.errors import InternalError
from bellcrank.symbolic.expr import (
    MINUS_ONE,
    ONE,
    TWO,
    ZERO,
    Expr,
    Func,
    Sum,
    Symbol,
    add,
    expression,
    mul,
    neg,
    postorder,
    power,
    sub,
)
from bellcrank.symbolic.expr.calculus import derivative
from bellcrank.symbolic.expr.construct import split_coefficient
from bellcrank.symbolic.expr.functions import apply_builtin, cos, sin, sqrt

Vec3 = tuple[Expr, Expr, Expr]
Mat3 = tuple[Vec3, Vec3, Vec3]

IDENTITY: Mat3 = ((ONE, ZERO, ZERO), (ZERO, ONE, ZERO), (ZERO, ZERO, ONE))
NULL: Vec3 = (ZERO, ZERO, ZERO)
ZEROS: Mat3 = (NULL, NULL, NULL)


@dataclass(eq=False)
class Frame:
    """Three orthogonal directions fixed in a body. `R` is the rotation from the parent frame
    (columns: own axes)."""

    name: str
    parent: Frame | None = None
    R: Mat3 = IDENTITY
    omega: Vector | None = None  # angular velocity in the inertial frame; set by kinematics
    depth: int = field(init=False)
    axes: tuple[UnitVector, UnitVector, UnitVector] = field(init=False)
    _dots: dict[tuple[UnitVector, UnitVector], Expr] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.depth = 0 if self.parent is None else self.parent.depth + 1
        axes = []
        for j in range(3):
            column = tuple(self.R[i][j] for i in range(3))
            shared = None
            if self.parent is not None and all(c is ZERO or c is ONE for c in column):
                shared = self.parent.axes[column.index(ONE)]
            axes.append(shared or UnitVector(self, j))
        self.axes = (axes[0], axes[1], axes[2])

    def __repr__(self) -> str:
        return f"Frame({self.name})"

    def vector(self, components: Iterable[Any]) -> Vector:
        """Make a vector from components along the axes of this frame.

        Parameters
        ----------
        components : iterable of ScalarLike
            Three components.

        Returns
        -------
        Vector
            The vector.
        """
        return Vector.from_pairs(zip(self.axes, map(expression, components), strict=True))

    def coordinates(self, v: Vector) -> Vec3:
        """Give the components of a vector along the axes of this frame.

        Parameters
        ----------
        v : Vector
            The vector.

        Returns
        -------
        tuple of Expr
            The components.
        """
        return dot(self.axes[0], v), dot(self.axes[1], v), dot(self.axes[2], v)

    def times(self, m: Mat3, v: VectorLike) -> Vector:
        """Multiply a vector by a dyadic, such as an inertia.

        Parameters
        ----------
        m : 3 x 3 sequence
            Components of the dyadic along the axes of this frame.
        v : VectorLike
            The vector.

        Returns
        -------
        Vector
            The product.
        """
        pairs = [(i, j) for i in range(3) for j in range(3) if m[i][j] is not ZERO]
        return Vector.from_pairs(
            (self.axes[i], mul(m[i][j], dot(self.axes[j], v))) for i, j in pairs
        )


@dataclass(frozen=True, eq=False)
class UnitVector:
    """Axis 0, 1 or 2 of the frame that introduced it."""

    frame: Frame
    axis: int

    def __str__(self) -> str:
        return f"[{self.frame.name}{self.axis + 1}]"

    __repr__ = __str__


class Vector:
    """A sum of scalars times unit vectors."""

    __slots__ = ("terms",)

    def __init__(self, terms: dict[UnitVector, Expr]) -> None:
        self.terms = terms

    @staticmethod
    def from_pairs(pairs: Iterable[tuple[UnitVector, Expr]]) -> Vector:
        terms: dict[UnitVector, Expr] = {}
        for e, c in pairs:
            total = add(terms[e], c) if e in terms else c
            if total is ZERO:
                terms.pop(e, None)
            else:
                terms[e] = total
        return Vector(terms)

    def __add__(self, other: Vector) -> Vector:
        return Vector.from_pairs([*self.terms.items(), *other.terms.items()])

    def __sub__(self, other: Vector) -> Vector:
        return self + -other

    def __neg__(self) -> Vector:
        return Vector({e: neg(c) for e, c in self.terms.items()})

    def __mul__(self, scalar: Any) -> Vector:
        k = expression(scalar)
        return Vector.from_pairs((e, mul(k, c)) for e, c in self.terms.items())

    __rmul__ = __mul__

    def __truediv__(self, scalar: Any) -> Vector:
        return self * power(expression(scalar), MINUS_ONE)

    def __bool__(self) -> bool:
        return bool(self.terms)

    def _format(
        self, times: str, size: Callable[[Expr], str], direction: Callable[[UnitVector], str]
    ) -> str:
        term_texts = []
        for e, c in self.terms.items():
            sign, positive = ("-", neg(c)) if split_coefficient(c)[0] < 0 else ("+", c)
            factor = "" if positive is ONE else f"{size(positive)}{times}"
            term_texts.append(f"{sign} {factor}{direction(e)}")
        return " ".join(term_texts).removeprefix("+ ") or "0"

    def __str__(self) -> str:
        """c1*[b1] + (a + b)*[b2] - c3*[b3] ..."""
        text = self._format("*", lambda c: f"({c})" if isinstance(c, Sum) else str(c), str)
        return text.replace("- ", "-", 1) if text.startswith("- ") else text

    __repr__ = __str__

    def latex(self) -> str:
        from bellcrank.symbolic.expr.printing import latex_text, to_latex

        return self._format(
            r" \, ",
            lambda c: rf"\left({to_latex(c)}\right)" if isinstance(c, Sum) else to_latex(c),
            lambda e: rf"\mathbf{{{latex_text(e.frame.name)}}}_{{{e.axis + 1}}}",
        )

    def _repr_latex_(self) -> str:
        return f"${self.latex()}$"


VectorLike = Vector | UnitVector


def as_vector(v: VectorLike) -> Vector:
    return Vector({v: ONE}) if isinstance(v, UnitVector) else v


def dot_units(a: UnitVector, b: UnitVector) -> Expr:
    """a . b: zero or one inside a frame, otherwise the deeper one is written in its parent's
    axes."""
    dot_product = _cached_dot(a, b)
    pending = [] if dot_product is not None else [(a, b)]
    while pending:  # a loop, as chains of bodies may be long
        e, f = pending[-1]
        if e.frame.depth < f.frame.depth:
            e, f = f, e
        parent = e.frame.parent
        if parent is None:
            raise InternalError(f"{e} and {f} belong to frames that are not connected")
        dot_product, missing = ZERO, False
        terms = []
        for i in range(3):
            cosine = e.frame.R[i][e.axis]
            if cosine is not ZERO:
                part = _cached_dot(parent.axes[i], f)
                if part is None:
                    pending.append((parent.axes[i], f))
                    missing = True
                else:
                    terms.append(mul(cosine, part))
        if not missing:
            dot_product = add(*terms)
            e.frame._dots[(e, f)] = dot_product
            pending.pop()
    assert dot_product is not None
    return dot_product


def _cached_dot(a: UnitVector, b: UnitVector) -> Expr | None:
    if a.frame is b.frame:
        return ONE if a.axis == b.axis else ZERO
    cached = a.frame._dots.get((a, b))
    return cached if cached is not None else b.frame._dots.get((b, a))


def dot(a: VectorLike, b: VectorLike) -> Expr:
    """Scalar product."""
    return add(
        *(
            mul(x, y, dot_units(e, f))
            for e, x in as_vector(a).terms.items()
            for f, y in as_vector(b).terms.items()
        )
    )


def cross_units(a: UnitVector, b: UnitVector) -> Vector:
    if a is b:
        return Vector({})
    if a.frame is b.frame:
        return _cross_axes(a.frame, a.axis, b.axis)
    if a in b.frame.axes:
        return _cross_axes(b.frame, b.frame.axes.index(a), b.axis)
    if b in a.frame.axes:
        return _cross_axes(a.frame, a.axis, a.frame.axes.index(b))
    # the first unit vector written in the basis of the second's frame
    result = Vector({})
    for i, e in enumerate(b.frame.axes):
        result = result + _cross_axes(b.frame, i, b.axis) * dot_units(a, e)
    return result


def _cross_axes(frame: Frame, i: int, j: int) -> Vector:
    if i == j:
        return Vector({})
    k = 3 - i - j
    return Vector({frame.axes[k]: ONE if (j - i) % 3 == 1 else MINUS_ONE})


def cross(a: VectorLike, b: VectorLike) -> Vector:
    """Vector product."""
    result = Vector({})
    for e, x in as_vector(a).terms.items():
        for f, y in as_vector(b).terms.items():
            result = result + cross_units(e, f) * mul(x, y)
    return result


def magnitude(v: VectorLike) -> Expr:
    """Length of a vector."""
    v = express_in_one_frame(v)
    if len(v.terms) == 1:
        (c,) = v.terms.values()
        return apply_builtin("abs", c)
    return sqrt(dot(v, v))


def direction(v: VectorLike) -> Vector:
    """Unit vector along v."""
    v = express_in_one_frame(v)
    return v if _is_unit(v) else v / magnitude(v)


def express_in_one_frame(v: VectorLike) -> Vector:
    """The same vector along the axes of one frame, of those it is given in the one with the
    shortest components.

    A square of components does not cancel: products of unit vectors of several frames, a^2 + b^2 -
    2 a b cos(..), lose all digits of a length that is small compared with a and b.
    """
    v = as_vector(v)
    frames = dict.fromkeys(e.frame for e in v.terms)
    if not frames or any(all(e in frame.axes for e in v.terms) for frame in frames):
        return v
    candidates = [
        Vector.from_pairs((e, dot(v, e)) for e in frame.axes)
        for frame in (*frames, _common_ancestor(list(frames)))
    ]
    return min(candidates, key=lambda x: len(list(postorder(x.terms.values()))))


def _common_ancestor(frames: list[Frame]) -> Frame:
    """The deepest frame that carries all of them."""
    first = frames[0]
    for second in frames[1:]:
        while first is not second:
            deeper = first if first.depth >= second.depth else second
            if deeper.parent is None:
                raise InternalError("the frames of a vector are not connected")
            first, second = (deeper.parent, second) if deeper is first else (first, deeper.parent)
    return first


def project(v: VectorLike, normal: VectorLike) -> Vector:
    """v without its part along `normal`."""
    n = as_vector(normal)
    return as_vector(v) - n * (dot(v, n) / dot(n, n))


def angle(a: VectorLike, b: VectorLike, about: VectorLike | None = None) -> Expr:
    """Angle from a to b; with `about`, positive for a turn about that direction (Sayers 1990, eq.
    5.3.3 ff.).

    On a hinge, whose axis `about` is, it is the angle of the hinge, which counts turns.
    """
    a, b = as_vector(a), as_vector(b)
    normal = cross(a, b)
    if about is None:
        return apply_builtin("atan2", magnitude(normal), dot(a, b))
    axis = as_vector(about)
    side = dot(axis, normal)
    if all(
        c.fingerprint == 0 for c in cross(axis, normal).terms.values()
    ):  # a and b turn in a plane, as on a hinge
        return _unwrap_angle(
            apply_builtin("atan2", side if _is_unit(axis) else side / magnitude(axis), dot(a, b))
        )
    return mul(apply_builtin("sign", side), apply_builtin("atan2", magnitude(normal), dot(a, b)))


def _unwrap_angle(raw_angle: Expr) -> Expr:
    """An angle that is given by the sine and cosine of another one: that one, turns counted."""
    c, core = split_coefficient(raw_angle)
    if isinstance(core, Func) and core.name == "atan2":
        y, x = core.args
        if (
            isinstance(y, Func)
            and isinstance(x, Func)
            and (y.name, x.name) == ("sin", "cos")
            and y.args == x.args
        ):
            return mul(expression(c), y.args[0])
    return raw_angle


def _is_unit(v: Vector) -> bool:
    return len(v.terms) == 1 and next(iter(v.terms.values())) is ONE


def time_derivative(v: VectorLike, of_symbol: Callable[[Symbol], Expr]) -> Vector:
    """Time derivative in the inertial frame; a unit vector turns with its frame: omega x e."""
    result = Vector({})
    for e, c in as_vector(v).terms.items():
        result = result + Vector({e: ONE}) * derivative(c, of_symbol)
        if e.frame.omega is not None:
            result = result + cross(e.frame.omega, e) * c
    return result


# ------------------------------------------------------------------------------------- plain arrays
# of three


def dot3(a: Vec3, b: Vec3) -> Expr:
    return add(mul(a[0], b[0]), mul(a[1], b[1]), mul(a[2], b[2]))


def cross3(a: Vec3, b: Vec3) -> Vec3:
    return (
        sub(mul(a[1], b[2]), mul(a[2], b[1])),
        sub(mul(a[2], b[0]), mul(a[0], b[2])),
        sub(mul(a[0], b[1]), mul(a[1], b[0])),
    )


def transpose(m: Mat3) -> Mat3:
    return tuple(zip(*m, strict=True))  # type: ignore[return-value]


def matmul(a: Mat3, b: Mat3) -> Mat3:
    columns = transpose(b)
    return tuple(tuple(dot3(row, column) for column in columns) for row in a)  # type: ignore[return-value]


def matvec(m: Mat3, v: Vec3) -> Vec3:
    return dot3(m[0], v), dot3(m[1], v), dot3(m[2], v)


def add3(*vectors: Vec3) -> Vec3:
    return tuple(add(*components) for components in zip(*vectors, strict=True))  # type: ignore[return-value]


def add_scaled3(v: Vec3, k: Expr, e: Vec3) -> Vec3:
    """v + k e"""
    return add(v[0], mul(k, e[0])), add(v[1], mul(k, e[1])), add(v[2], mul(k, e[2]))


def scale3(k: Expr, v: Vec3) -> Vec3:
    return mul(k, v[0]), mul(k, v[1]), mul(k, v[2])


def neg3(v: Vec3) -> Vec3:
    return neg(v[0]), neg(v[1]), neg(v[2])


def axis_rotation(k: int, angle_: Expr) -> Mat3:
    """Rotation about coordinate axis k by an angle (columns: turned axes)."""
    c, s = cos(angle_), sin(angle_)
    i, j = (k + 1) % 3, (k + 2) % 3
    m: list[list[Expr]] = [[ZERO] * 3 for _ in range(3)]
    m[k][k], m[i][i], m[j][j] = ONE, c, c
    m[i][j], m[j][i] = neg(s), s
    return tuple(tuple(row) for row in m)  # type: ignore[return-value]


def rotation_about(axis: Vec3, angle_: Expr) -> Mat3:
    """Rotation about any unit axis (Rodrigues)."""
    for k in range(3):
        if axis[k] is ONE:
            return axis_rotation(k, angle_)
        if axis[k] is MINUS_ONE:
            return axis_rotation(k, neg(angle_))
    c, s = cos(angle_), sin(angle_)
    versine = sub(ONE, c)
    n = axis
    skew = ((ZERO, neg(n[2]), n[1]), (n[2], ZERO, neg(n[0])), (neg(n[1]), n[0], ZERO))
    return tuple(  # type: ignore[return-value]
        tuple(
            add(c if i == j else ZERO, mul(n[i], n[j], versine), mul(s, skew[i][j]))
            for j in range(3)
        )
        for i in range(3)
    )


def euler_parameter_rotation(e: tuple[Expr, ...]) -> Mat3:
    """R_AB for Euler parameters (e0, e1, e2, e3), e0 = cos of half the angle."""
    e0, e1, e2, e3 = e
    return (
        (
            sub(add(e0 * e0, e1 * e1), add(e2 * e2, e3 * e3)),
            TWO * (e1 * e2 - e0 * e3),
            TWO * (e1 * e3 + e0 * e2),
        ),
        (
            TWO * (e1 * e2 + e0 * e3),
            sub(add(e0 * e0, e2 * e2), add(e1 * e1, e3 * e3)),
            TWO * (e2 * e3 - e0 * e1),
        ),
        (
            TWO * (e1 * e3 - e0 * e2),
            TWO * (e2 * e3 + e0 * e1),
            sub(add(e0 * e0, e3 * e3), add(e1 * e1, e2 * e2)),
        ),
    )
