"""Tables: functions given by points, usable in formulas like any other function.

One argument (order 1: straight lines, order 3: cubic spline) or two (order 1: bilinear, order 3:
bicubic). Outside its points a table continues with its end slope (one argument) or end value (two).
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from bellcrank.core.errors import ModelError
from bellcrank.symbolic.expr.node import Expr, Func, try_expression

FEW = 8  # points, or less, for which every program has room


@dataclass(frozen=True, eq=False)
class Table:
    """A function of one or two arguments through given points; `derivative` counts differentiations
    per argument.

    `defined`: by a name of its model, which no other table there has. Equations and programs are
    then the same for other points.
    """

    name: str
    axes: tuple[tuple[float, ...], ...]
    values: tuple[Any, ...]
    order: int = 1
    derivative: tuple[int, ...] = (0,)
    defined: bool = False

    varies = False
    returns: ClassVar[tuple[str, ...]] = ()
    memory = None
    rule = None
    needs = None
    when = "derivatives"
    formulas = None
    kernel = None

    @property
    def argument_count(self) -> int:
        return len(self.axes)

    @property
    def python(self) -> Callable[..., float]:
        return self.value

    def known_in(self, language: str) -> bool:
        """Every language has tables."""
        return True

    def given_in(self, language: str) -> str:
        return ""

    @cached_property
    def identity_key(self) -> str:
        """What distinguishes it from other tables of its name."""
        numbers = () if self.defined else (self.axes, self.values)
        return hashlib.sha256(repr((*numbers, self.order, self.derivative)).encode()).hexdigest()[
            :16
        ]

    @property
    def room(self) -> tuple[int, ...]:
        """How many points along each axis a program has room for: at least as many as there are, a
        power of two."""
        return tuple(max(FEW, 1 << (len(a) - 1).bit_length()) for a in self.axes)

    def named(self, name: str, defined: bool) -> Table:
        return replace(self, name=name, defined=defined)

    def __getstate__(self) -> dict[str, Any]:
        """Without what follows from the points, which may be others where it is loaded
        (`kept_models`)."""
        return {f.name: getattr(self, f.name) for f in fields(self)} | {
            "_derivative_cache": self._derivative_cache
        }

    def __call__(self, *args: Any) -> Any:
        """A number for numbers, an expression for expressions."""
        if len(args) != len(self.axes):
            raise ModelError(
                f"table '{self.name}' takes {len(self.axes)} arguments, {len(args)} given"
            )
        if any(isinstance(a, Expr) for a in args):
            return Func(self.name, tuple(try_expression(a) for a in args), self)  # type: ignore[misc]
        if any(isinstance(a, str) for a in args):
            raise ModelError(
                f"table '{self.name}' takes numbers and expressions, not text: name it with "
                f"s.define('tab', table) and "
                f"write 'tab({', '.join(map(str, args))})' in a formula"
            )
        return self.value(*args)

    def value(self, *args: float) -> float:
        """The table's value at a point."""
        if len(self.axes) == 1:
            return self._evaluate_1d(float(args[0]))
        x = [min(max(float(a), axis[0]), axis[-1]) for a, axis in zip(args, self.axes, strict=True)]
        if any(
            n > 0 and clipped != a for n, clipped, a in zip(self.derivative, x, args, strict=True)
        ):
            return 0.0  # outside, the end value holds
        if self.order == 1:
            return self._evaluate_bilinear(*x)
        return float(self._spline_2d.ev(*x, dx=self.derivative[0], dy=self.derivative[1]))

    def _evaluate_bilinear(self, x: float, y: float) -> float:
        """Value or slope in the cell that holds (x, y)."""
        corner, fraction, size = [], [], []
        for axis, coordinate in zip(self.axes, (x, y), strict=True):
            i = min(max(bisect_right(axis, coordinate) - 1, 0), len(axis) - 2)
            corner.append(i)
            size.append(axis[i + 1] - axis[i])
            fraction.append((coordinate - axis[i]) / size[-1])
        total = 0.0
        for di in (0, 1):
            for dj in (0, 1):
                weight = 1.0
                for n, d, s, h in zip(self.derivative, (di, dj), fraction, size, strict=True):
                    weight *= (s if d else 1 - s) if n == 0 else (1 if d else -1) / h
                total += weight * self.values[corner[0] + di][corner[1] + dj]
        return total

    def _evaluate_1d(self, x: float) -> float:
        axis = self.axes[0]
        clipped = min(max(x, axis[0]), axis[-1])
        n = self.derivative[0]
        value = float(self._spline_1d(clipped, n))
        if x != clipped and n < 2:  # continues with the end slope
            slope = float(self._spline_1d(clipped, 1))
            return value + slope * (x - clipped) if n == 0 else slope
        return 0.0 if x != clipped else value

    @property
    def powers(self) -> np.ndarray:
        """Coefficients of the pieces of a table of one argument, highest power first."""
        if self.order == 3:
            coefficients: np.ndarray = self._spline_1d.c
            return coefficients
        x, y = np.array(self.axes[0]), np.array(self.values)
        return np.array([np.diff(y) / np.diff(x), y[:-1]])

    @cached_property
    def _spline_1d(self) -> Any:
        from scipy.interpolate import CubicSpline, PPoly

        x = np.array(self.axes[0])
        return CubicSpline(x, np.array(self.values)) if self.order == 3 else PPoly(self.powers, x)

    @cached_property
    def _spline_2d(self) -> Any:
        from scipy.interpolate import RectBivariateSpline

        x, y = self.axes
        return RectBivariateSpline(x, y, self.values, kx=self.order, ky=self.order)

    def partial(self, index: int, args: Sequence[Expr]) -> Expr:
        """The derivative with respect to one argument, as another table."""
        times = tuple(n + (i == index) for i, n in enumerate(self.derivative))
        if self.order == 1 and sum(times) > 1:
            raise ModelError(
                f"table '{self.name}' is made of straight lines and has no second "
                f"derivative; use order=3"
            )
        derivatives = self._derivative_cache
        if times not in derivatives:
            name = f"{self.given.name}_d{''.join(map(str, times))}"
            derivatives[times] = replace(self, name=name, derivative=times)
            derivatives[times].__dict__["_derivative_cache"] = derivatives
        return Func(derivatives[times].name, tuple(args), derivatives[times])

    @property
    def given(self) -> Table:
        """The table of the points themselves, of which this may be a derivative."""
        return next(iter(self._derivative_cache.values()))

    @cached_property
    def _derivative_cache(self) -> dict[tuple[int, ...], Table]:
        """Those taken of these points so far, kept with the points: in another order they are the
        same tables."""
        return {self.derivative: self}

    @property
    def differentiable(self) -> bool:
        return self.order >= 3


def table(x: Sequence[float], y: Any, *more: Any, order: int = 1, name: str = "table") -> Table:
    """Make a table of one or two arguments, for formulas (`System.define`) and inputs.

    Parameters
    ----------
    x : sequence of float
        Points of the first argument, increasing.
    y : sequence
        Values at x; with a third sequence, points of the second argument.
    *more : sequence or int
        Values `z[i][j]` at `(x[i], y[j])`, and the order.
    order : {1, 3}, default 1
        Straight lines or cubic splines.
    name : str, default "table"
        Name in messages.

    Returns
    -------
    Table
        The table. Outside its range it is extrapolated linearly, with a warning.

    Raises
    ------
    ModelError
        If the points do not increase or the values do not match them.

    Examples
    --------
    >>> import bellcrank as bc
    >>> s = bc.System("bump stop")
    >>> mass = s.add_body("mass", translate="x", mass=2, inertia=0)
    >>> s.define("stop", bc.table([0, 0.01, 0.02], [0, 100, 1000]))
    >>> force = s.add_force("force", magnitude="-stop(x)", direction=s.inertial.x, at=mass.origin)
    >>> qdot, udot = s.equations().compile(backend="python").derivatives(0, [0.015], [0])
    >>> round(float(udot[0]), 6)
    -275.0
    """
    extra = list(more)
    if extra and isinstance(extra[-1], int):
        order = extra.pop()
    if not isinstance(order, int) or order not in (1, 3):
        raise ModelError(f"table: order={order!r} must be 1 (straight lines) or 3 (cubic)")
    axes = [x] if not extra else [x, y]
    values = y if not extra else extra[0]
    checked = tuple(_check_axis(a, name) for a in axes)
    try:
        array = np.asarray(values, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise ModelError(f"table: the values {values!r:.80} are not numbers") from None
    shape = tuple(len(a) for a in checked)
    if array.shape != shape:
        raise ModelError(f"table: the values have shape {array.shape}, the axes ask for {shape}")
    if not np.all(np.isfinite(array)):
        raise ModelError("table: all values must be finite numbers")
    if any(n < order + 1 for n in shape):
        raise ModelError(
            f"table: order {order} needs at least {order + 1} points along each axis, got {shape}"
        )
    frozen = (
        tuple(array.tolist()) if array.ndim == 1 else tuple(tuple(row) for row in array.tolist())
    )
    return Table(name, checked, frozen, order, (0,) * len(axes))


def _check_axis(values: Sequence[float], name: str) -> tuple[float, ...]:
    try:
        axis = tuple(float(v) for v in values)
    except (TypeError, ValueError):
        raise ModelError(f"{name}: the points {values!r:.80} are not numbers") from None
    if len(axis) < 2 or any(b <= a for a, b in pairwise(axis)):
        raise ModelError(
            f"{name}: the points of an axis must increase and be at least two, got {axis[:6]}"
        )
    return axis
