"""Tables as cubic pieces, for every language."""

from __future__ import annotations

import numpy as np

from bellcrank.symbolic.expr.table import Table


def table_coefficients(t: Table) -> list[float]:
    """All coefficients of a table, one after another."""
    coefficients = spline_coefficients(t) if len(t.axes) == 1 else bicubic_coefficients(t)
    return [float(x) for x in coefficients.ravel()]


def spline_coefficients(t: Table) -> np.ndarray:
    """Coefficients of the cubic pieces of a table of one argument, lowest power first: (pieces,
    4)."""
    c = t.powers  # highest first: (powers, pieces)
    coefficients = np.zeros((c.shape[1], 4))
    coefficients[:, : c.shape[0]] = c[::-1].T
    return coefficients


def bicubic_coefficients(t: Table) -> np.ndarray:
    """Coefficients of the bicubic pieces of a table of two arguments over cells of unit size: (x,
    y, 4, 4)."""
    n = t.order + 1
    nodes = np.linspace(0.0, 1.0, n)
    inverse = np.linalg.inv(np.vander(nodes, increasing=True))
    x, y = (np.array(a) for a in t.axes)
    # in order, though rounded: cells end where the next ones begin
    points_x, points_y = (a[:-1, None] * (1 - nodes) + a[1:, None] * nodes for a in (x, y))
    original = Table(t.name, t.axes, t.values, t.order, (0, 0))
    values = original._spline_2d(points_x.ravel(), points_y.ravel(), grid=True)
    values = values.reshape(len(x) - 1, n, len(y) - 1, n)
    coefficients = np.zeros((len(x) - 1, len(y) - 1, 4, 4))
    coefficients[:, :, :n, :n] = np.einsum("ai,xiyj,bj->xyab", inverse, values, inverse)
    return coefficients
