"""What calls of a description take: numbers and formulas, vectors, points, bodies and axes, as
types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from bellcrank.model.describe.handles import BodyHandle, ForceHandle, PointHandle
from bellcrank.model.formula import Formula
from bellcrank.symbolic.expr import Expr

Scalar: TypeAlias = Expr | Formula
"""What arithmetic with parameters, coordinates and functions of formulas gives."""

ScalarLike: TypeAlias = float | str | Expr | Formula | np.floating[Any] | np.integer[Any]
"""A number, a formula as text, or an expression."""

VectorLike: TypeAlias = str | Formula | Sequence[ScalarLike] | np.ndarray
"""A vector as text ("[n3]"), as a formula (`s.inertial[3]`), or as three components along the
inertial axes."""

TripleLike: TypeAlias = Sequence[ScalarLike] | np.ndarray
"""Three components, along the axes that the call names."""

AxisLike: TypeAlias = int | str | TripleLike
"""An axis by number (1, 2, 3), by name, or as three components."""

AxesLike: TypeAlias = AxisLike | Sequence[AxisLike]
"""An axis, or several in order."""

InertiaLike: TypeAlias = (
    ScalarLike | Sequence[ScalarLike] | Sequence[Sequence[ScalarLike]] | np.ndarray
)
"""One moment of inertia, three about the axes of the body, or three rows of three."""

BodyLike: TypeAlias = BodyHandle | str
"""A body, or its name."""

PointLike: TypeAlias = PointHandle | str
"""A point, or its name ("wheel.cm")."""

LoadLike: TypeAlias = ForceHandle | str
"""A force or moment, or its name."""
