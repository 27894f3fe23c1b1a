"""Formulas: what a modeller writes, as text or with Python operators, before its meaning is looked up.

Velocities and directions have a meaning only when the whole system is known, so a formula stays syntax until the
description is frozen. Scalars that need no mechanics (parameters, coordinates, numbers) are expressions at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bellcrank.errors import ModelError
from bellcrank.expr import Expr, function, symbols
from bellcrank.expr.function_table import CALLED
from bellcrank.expr.node import operand, undecided
from bellcrank.expr.text import Syntax, parse, postorder_syntax, show
from bellcrank.units import with_unit


def _operator(op: str, mirrored: bool = False) -> Callable[[Formula, Any], Formula]:
    def join(self: Formula, other: Any) -> Formula:
        a, b = (other, self) if mirrored else (self, other)
        return Formula(Syntax(op, (to_syntax(a), to_syntax(b))))

    return join


class Formula:
    """A formula that is evaluated when the description is frozen. Arithmetic works as on paper."""

    __slots__ = ("syntax",)
    __array_ufunc__ = None

    def __init__(self, syntax: Syntax) -> None:
        self.syntax = syntax

    __add__, __radd__ = _operator("+"), _operator("+", mirrored=True)
    __sub__, __rsub__ = _operator("-"), _operator("-", mirrored=True)
    __mul__, __rmul__ = _operator("*"), _operator("*", mirrored=True)
    __truediv__, __rtruediv__ = _operator("/"), _operator("/", mirrored=True)
    __pow__ = _operator("**")
    __lt__, __le__, __gt__, __ge__ = _operator("<"), _operator("<="), _operator(">"), _operator(">=")

    def __bool__(self) -> bool:
        if self.syntax.op in ("<", "<=", ">", ">="):
            raise ModelError(undecided(show(self.syntax)))
        return True

    def __abs__(self) -> Formula:
        return call("abs", self)

    def __neg__(self) -> Formula:
        return Formula(Syntax("neg", (self.syntax,)))

    def __pos__(self) -> Formula:
        return self

    def __str__(self) -> str:
        return show(self.syntax)

    __repr__ = __str__


def to_syntax(value: Any) -> Syntax:
    """Syntax of a number, an expression, a formula, a body or point, or text, which may be a number with its unit."""
    if isinstance(value, Formula):
        return value.syntax
    if isinstance(value, str):
        quantity = with_unit(value)
        return parse(value) if quantity is None else Syntax("quantity", quantity, source=value)
    if isinstance(value, Syntax):
        return value
    number = operand(value)
    return Syntax("value", (number if number is not None else value,))


def names_in(value: Any) -> set[str]:
    """The names that a formula holds, as they are spelled."""
    nodes = list(postorder_syntax(to_syntax(value)))
    expressions = [n.args[0] for n in nodes if n.op == "value" and isinstance(n.args[0], Expr)]
    return {n.args[0] for n in nodes if n.op == "name"} | {s.name for s in symbols(*expressions)}


def call(name: str, *args: Any) -> Formula:
    """A formula that calls a function of the model language."""
    return Formula(Syntax("call", (name, *(to_syntax(a) for a in args))))


def _scalar_function(name: str) -> Any:
    def apply(*args: Any) -> Expr | Formula:
        expressions = [operand(a) for a in args]
        if any(e is None for e in expressions):
            return call(name, *args)
        return function(name, *expressions)  # type: ignore[arg-type]

    apply.__name__ = name
    apply.__doc__ = f"{name}() of numbers, expressions or formulas."
    return apply


SCALAR: dict[str, Callable[..., Any]] = {name: _scalar_function(name) for name in CALLED}


def dot(a: Any, b: Any) -> Formula:
    """Return the scalar product of two vectors.

    Parameters
    ----------
    a, b : VectorLike
        The vectors.

    Returns
    -------
    Formula
        The product, in the product of their units.

    Examples
    --------
    >>> import bellcrank as bc
    >>> bc.dot("[n3]", bc.pos("tip"))
    dot([n3], pos(tip))
    """
    return call("dot", a, b)


def cross(a: Any, b: Any) -> Formula:
    """Return the vector product of two vectors.

    Parameters
    ----------
    a, b : VectorLike
        The vectors.

    Returns
    -------
    Formula
        The vector a x b.

    Examples
    --------
    >>> import bellcrank as bc
    >>> bc.cross("[n1]", "[n2]")
    cross([n1], [n2])
    """
    return call("cross", a, b)


def angle(a: Any, b: Any, about: Any = None) -> Formula:
    """Return the angle from one vector to another.

    Parameters
    ----------
    a, b : VectorLike
        The vectors.
    about : VectorLike, optional
        Axis about which the angle is positive, from -pi to pi. About the axis of a revolute joint it is the angle of
        the joint, which counts full rotations. Default: the angle has no sign, from 0 to pi.

    Returns
    -------
    Formula
        The angle: rad in equations, shown in the angle unit of the system.

    Examples
    --------
    >>> import bellcrank as bc
    >>> bc.angle("[n1]", "[car1]", "[n3]")
    angle([n1], [car1], [n3])
    """
    return call("angle", a, b) if about is None else call("angle", a, b, about)


def direction(v: Any) -> Formula:
    """Return the unit vector along a vector.

    Parameters
    ----------
    v : VectorLike
        The vector. Its length must not be zero.

    Returns
    -------
    Formula
        The unit vector.

    Examples
    --------
    >>> import bellcrank as bc
    >>> bc.direction(bc.vel("hub"))
    direction(vel(hub))
    """
    return call("direction", v)


def magnitude(v: Any) -> Formula:
    """Return the length of a vector; `norm` is another name.

    Parameters
    ----------
    v : VectorLike
        The vector.

    Returns
    -------
    Formula
        Its length, in its unit.

    Examples
    --------
    >>> import bellcrank as bc
    >>> bc.magnitude(bc.vel("hub"))
    magnitude(vel(hub))
    """
    return call("magnitude", v)


norm = magnitude


def project(v: Any, normal: Any) -> Formula:
    """Project a vector onto a plane.

    Parameters
    ----------
    v : VectorLike
        The vector.
    normal : VectorLike
        Normal of the plane.

    Returns
    -------
    Formula
        The vector without its part along `normal`.

    Examples
    --------
    >>> import bellcrank as bc
    >>> bc.project("[car1]", "[n3]")
    project([car1], [n3])
    """
    return call("project", v, normal)


def pos(p: Any, r: Any = None) -> Formula:
    """Return the position of a point.

    Parameters
    ----------
    p : PointLike
        The point.
    r : PointLike, optional
        The point from which it is measured. Default: the fixed origin.

    Returns
    -------
    Formula
        The vector from r to p (length).

    Examples
    --------
    >>> import bellcrank as bc
    >>> bc.pos("tip", "hub")
    pos(tip, hub)
    """
    return call("pos", p) if r is None else call("pos", p, r)


def vel(p: Any, r: Any = None) -> Formula:
    """Return the velocity of a point.

    Parameters
    ----------
    p : PointLike
        The point.
    r : PointLike, optional
        A point whose velocity is subtracted. Default: none; the velocity is absolute.

    Returns
    -------
    Formula
        The vector (length per time).

    Examples
    --------
    >>> import bellcrank as bc
    >>> bc.dot(bc.vel("tip"), "[n1]")
    dot(vel(tip), [n1])
    """
    return call("vel", p) if r is None else call("vel", p, r)


def rot(b: Any) -> Formula:
    """Return the absolute angular velocity of a body.

    Parameters
    ----------
    b : BodyLike
        The body.

    Returns
    -------
    Formula
        The vector (angle per time).

    Examples
    --------
    >>> import bellcrank as bc
    >>> bc.dot(bc.rot("car"), "[n3]")
    dot(rot(car), [n3])
    """
    return call("rot", b)


def dxdt(e: Any) -> Formula:
    """Return the time derivative of a scalar or vector, in the inertial frame.

    Parameters
    ----------
    e : ScalarLike or VectorLike
        What is differentiated.

    Returns
    -------
    Formula
        The derivative, in its unit per s.

    Examples
    --------
    >>> import bellcrank as bc
    >>> bc.dxdt(bc.vel("tip"))
    dxdt(vel(tip))
    """
    return call("dxdt", e)


def partial(e: Any, x: Any) -> Formula:
    """Return the partial derivative of a scalar.

    Parameters
    ----------
    e : ScalarLike
        What is differentiated.
    x : ScalarLike
        The coordinate, speed, input or parameter.

    Returns
    -------
    Formula
        The derivative.

    Examples
    --------
    >>> import bellcrank as bc
    >>> bc.partial("rise", "q(rod)")
    partial(rise, q(rod))
    """
    return call("partial", e, x)


def nominal(e: Any) -> Formula:
    """Return the value of an expression in the reference configuration, with all coordinates and speeds zero.

    Parameters
    ----------
    e : ScalarLike
        The expression.

    Returns
    -------
    Formula
        Its value, a constant.

    Examples
    --------
    >>> import bellcrank as bc
    >>> bc.nominal(bc.magnitude(bc.pos("tip", "hub")))
    nominal(magnitude(pos(tip, hub)))
    """
    return call("nominal", e)


def fm(force: Any) -> Formula:
    """Return the magnitude of a force or moment.

    Parameters
    ----------
    force : ForceHandle or str
        The force or moment.

    Returns
    -------
    Formula
        Its magnitude (force, or force times length).

    Examples
    --------
    >>> import bellcrank as bc
    >>> bc.fm("spring")
    fm(spring)
    """
    return call("fm", force)
