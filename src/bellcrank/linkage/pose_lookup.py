"""Tables of poses as formulas: what a look-up computes over the numbers of a cell
(`program.grid_lookup`).

Polynomials stand by the derivatives c_k at the lower end of the cell, so that value, slope and
second derivative share the powers m_k = x^k/k!: f = sum c_k m_k, f' = sum c_(k+1) m_k, f'' = sum
c_(k+2) m_k. Outside the end of a table powers continue straight, and all else follows from them.
Rotations by series in the square of the angle, as long as the largest angle of the table asks for;
what turns about one axis, as an arm on its bearings, has an angle instead of a vector. Values that
are the same in all cells are numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bellcrank.linkage.pose_interpolation import PosePolynomials
from bellcrank.linkage.pose_table import Table
from bellcrank.linkage.vector_jets import (
    add_jets3,
    cross_jets3,
    dot_jets3,
    matrix_times_vector,
    scale_jet3,
)
from bellcrank.program.grid_lookup import GridLookup
from bellcrank.symbolic.expr import (
    ONE,
    ZERO,
    Expr,
    NamedSubexpression,
    Number,
    Symbol,
    add,
    expression,
    mul,
    neg,
)

Array = np.ndarray[Any, Any]
Vec = tuple[Expr, Expr, Expr]
Mat = tuple[Vec, Vec, Vec]

UNIT: Mat = ((ONE, ZERO, ZERO), (ZERO, ONE, ZERO), (ZERO, ZERO, ONE))
SMALLEST = 2e-18  # of the first term of a series
ROUNDING = 2.3e-16  # m or rad, of the part of a coefficient in a value
AXIS = 2e-15  # rad by which rotation vectors may lie next to one axis
FURTHER = 0.5  # rad by which a table may be exceeded before its series lose digits


def pose_lookup(table: Table, part: str, extend: bool = False) -> GridLookup:
    """The look-up of a part: p, R, d, delta, dd, ddelta in 24 values, two inputs 42 (see
    `joint.TableGuide`)."""
    if table.rack is not None:
        return _bicubic_lookup(table, part, extend)
    interpolant = table.pieces[part]
    coordinate = _CellCoordinate("x", extend)
    grid = (table.low,), (table.high,), (table.step,)
    if isinstance(interpolant, PosePolynomials):
        rows, numbers, values = _polynomial_lookup(interpolant, coordinate, extend)
    else:
        rows, numbers, values = _three_rotation_lookup(interpolant, coordinate, extend)
    return GridLookup(
        *grid,
        rows,
        (coordinate.x,),
        numbers,
        _with_constants(values, numbers, rows),
        *coordinate.outside_symbols,
    )


class _CellCoordinate:
    """Powers of the distance x from the end of a cell, and of how far outside the table it is."""

    def __init__(self, name: str, extend: bool) -> None:
        self.x = Symbol(name, "variable")
        self.beyond, self.inside = (
            Symbol(f"{name}_beyond", "variable"),
            Symbol(f"{name}_inside", "variable"),
        )
        self.extend = extend

    @property
    def outside_symbols(self) -> tuple[tuple[Symbol, ...], tuple[Symbol, ...]]:
        return ((self.beyond,), (self.inside,)) if self.extend else ((), ())

    def power(self, k: int) -> Expr:
        """x^k/k!, each from the one before."""
        if k < 2:
            return self.x if k else ONE
        return _named_subexpression(mul(expression(1.0 / k), self.x, self.power(k - 1)))

    def polynomial_derivatives(
        self, c: Sequence[Expr], orders: Sequence[int] = (0, 1, 2)
    ) -> list[Expr]:
        """sum c_k x^k/k! and its derivatives; of an order that is not asked for, zero."""

        def plain(order: int) -> Expr:
            return _named_subexpression(
                add(*(mul(a, self.power(k)) for k, a in enumerate(c[order:])))
            )

        sums = [plain(i) if i in orders else ZERO for i in range(3)]
        if self.extend:
            slope = sums[1] if 1 in orders else plain(1)
            sums[0] = (
                _named_subexpression(add(sums[0], mul(self.beyond, slope))) if 0 in orders else ZERO
            )
            sums[2] = _named_subexpression(mul(self.inside, sums[2]))
        return sums


@dataclass(frozen=True)
class _RotationSeries:
    """sin(x)/x, (1 - cos x)/x^2, (x - sin x)/x^3 and slopes of the last two by X = x^2, for angles
    up to `largest`."""

    X: Expr
    largest: float

    def __call__(self, i: int) -> Expr:
        order, slope = (i, False) if i < 3 else (i - 2, True)
        terms = [(-1.0) ** k / math.factorial(2 * k + order + 1) for k in range(40)]
        if slope:
            terms = [k * a for k, a in enumerate(terms)][1:]
        bound = self.largest**2
        last = next(k for k in range(1, 39) if abs(terms[k]) * bound**k < SMALLEST * abs(terms[0]))
        total = expression(terms[last - 1])
        for a in reversed(terms[: last - 1]):
            total = add(expression(a), mul(self.X, total))
        return _named_subexpression(total)


def _polynomial_lookup(
    polynomials: PosePolynomials, coordinate: _CellCoordinate, extend: bool
) -> tuple[Array, tuple[Symbol, ...], list[Expr]]:
    n, powers = polynomials.coefficients.shape[:2]
    largest = _max_angle(polynomials.coefficients[:, :, 3:].sum(axis=1), extend)
    coefficients, axis = _fixed_axis_coefficients(polynomials.coefficients)
    factors = np.array([math.factorial(k) / polynomials.step**k for k in range(powers)])
    scaled = (_without_rounding(coefficients) * factors[:, None]).transpose(0, 2, 1).reshape(n, -1)
    rows = np.hstack([scaled, polynomials.R.reshape(n, -1), np.tile(axis, (n, 1))])
    names, numbers = _cell_symbols(rows)
    f = [
        coordinate.polynomial_derivatives(numbers[k * powers : (k + 1) * powers])
        for k in range(coefficients.shape[-1])
    ]
    R0 = _matrix(numbers[scaled.shape[1] :][:9])
    terms = [tuple(g[i] for g in f[3:]) for i in range(3)]
    rotation, (dp, ddp) = _rotation_formula(
        terms, names[-len(axis) :] if len(axis) else (), largest, R0
    )
    position = [[f[c][i] for c in range(3)] for i in range(3)]
    return (
        rows,
        names,
        [
            *position[0],
            *_flat(rotation.matrix()),
            *position[1],
            *rotation.spin(dp),
            *position[2],
            *rotation.spin_rate(dp, ddp),
        ],
    )


def _three_rotation_lookup(
    interpolant: Any, coordinate: _CellCoordinate, extend: bool
) -> tuple[Array, tuple[Symbol, ...], list[Expr]]:
    """R0 exp(a) exp(b) exp(c), each along a fixed direction (Houdek 2020, eqs 3.43 to 3.60)."""
    n, h = len(interpolant.R), interpolant.step
    factors = np.array([math.factorial(k) / h**k for k in range(4)])
    position = (
        (_without_rounding(interpolant.position.coefficients[:, :, :3]) * factors[:, None])
        .transpose(0, 2, 1)
        .reshape(n, -1)
    )
    rows = np.hstack(
        [
            position,
            interpolant.R.reshape(n, -1),
            interpolant.first,
            interpolant.middle,
            interpolant.last,
        ]
    )
    names, numbers = _cell_symbols(rows)
    f = [coordinate.polynomial_derivatives(numbers[4 * k : 4 * k + 4]) for k in range(3)]
    R: Mat = _matrix(numbers[12:21])
    axes = [_vec(numbers[21 + 3 * k : 24 + 3 * k]) for k in range(3)]
    # h s (1 - s)^2, s^2 (3 - 2 s), h s^2 (s - 1) by their derivatives at s = 0
    angle_terms = [
        coordinate.polynomial_derivatives([expression(c) for c in row])
        for row in (
            (0.0, 1.0, -4 / h, 6 / h**2),
            (0.0, 0.0, 6 / h**2, -12 / h**3),
            (0.0, 0.0, -2 / h, 6 / h**2),
        )
    ]
    sizes = (interpolant.first * h * 4 / 27, interpolant.middle, interpolant.last * h * 4 / 27)
    w: list[Vec] = []
    dw: list[Vec] = []
    for direction, (g, dg, ddg), size in zip(axes, angle_terms, sizes, strict=True):
        rotated = _matrix_times_vector(R, direction)
        w.append(_scaled(dg, rotated))
        dw.append(_scaled(ddg, rotated))
        p = _scaled(g, direction)
        R = _RotationFormula(p, _RotationSeries(_dot(p, p), _max_angle(size, extend)), R).matrix()
    delta = _sum_vectors(*w)
    ddelta = _sum_vectors(*dw, _cross(w[0], w[1]), _cross(_sum_vectors(w[0], w[1]), w[2]))
    position_rows = [[f[c][i] for c in range(3)] for i in range(3)]
    return (
        rows,
        names,
        [*position_rows[0], *_flat(R), *position_rows[1], *delta, *position_rows[2], *ddelta],
    )


def _bicubic_lookup(table: Table, part: str, extend: bool) -> GridLookup:
    assert table.rack is not None
    cell = table.cells[part]
    nz, nr = cell.coefficients.shape[:2]
    factors = [np.array([math.factorial(k) / h**k for k in range(4)]) for h in (cell.hz, cell.hr)]
    coefficients, axis = _fixed_axis_coefficients(cell.coefficients)
    flat = _without_rounding(coefficients.reshape(nz * nr, -1)).reshape(coefficients.shape)
    scaled = flat * factors[0][:, None, None] * factors[1][:, None]
    rows = np.hstack(
        [scaled.transpose(0, 1, 4, 2, 3).reshape(nz * nr, -1), np.tile(axis, (nz * nr, 1))]
    )
    names, numbers = _cell_symbols(rows)
    z, r = _CellCoordinate("x", extend), _CellCoordinate("y", extend)
    f: list[dict[str, Expr]] = []
    for c in range(coefficients.shape[-1]):
        by_r = [
            r.polynomial_derivatives(numbers[16 * c + 4 * k : 16 * c + 4 * k + 4]) for k in range(4)
        ]
        value, slope, curve = ([row[i] for row in by_r] for i in range(3))
        (f0, fz, fzz), (fr, fzr, _), (frr, _, _) = (
            z.polynomial_derivatives(value),
            z.polynomial_derivatives(slope, (0, 1)),
            z.polynomial_derivatives(curve, (0,)),
        )
        f.append({"": f0, "z": fz, "zz": fzz, "r": fr, "zr": fzr, "rr": frr})

    def point(derivative: str) -> Vec:
        return _vec(f[c][derivative] for c in range(3))

    terms = [tuple(g[derivative] for g in f[3:]) for derivative in ("", "z", "r", "zz", "rr", "zr")]
    largest = _max_angle(cell.coefficients[..., 3:].sum(axis=(2, 3)).reshape(-1, 3), extend)
    R, (pz, pr, pzz, prr, pzr) = _rotation_formula(
        terms, names[-len(axis) :] if len(axis) else (), largest, UNIT
    )
    values = [
        *point(""),
        *_flat(R.matrix()),
        *point("z"),
        *point("r"),
        *R.spin(pz),
        *R.spin(pr),
        *point("zz"),
        *point("rr"),
        *point("zr"),
        *R.spin_rate(pz, pzz),
        *R.spin_rate(pr, prr),
        *R.mixed_spin_rate(pz, pr, pzr),
    ]
    grid = (
        (table.low, float(table.rack[0])),
        (table.high, float(table.rack[-1])),
        (cell.hz, cell.hr),
    )
    further = (
        (
            tuple(x[0] for x in (a, b))
            for a, b in zip(z.outside_symbols, r.outside_symbols, strict=True)
        )
        if extend
        else ((), ())
    )
    return GridLookup(
        *grid, rows, (z.x, r.x), names, _with_constants(values, names, rows), *further
    )


@dataclass(frozen=True)
class _RotationFormula:
    """R0 exp(p) and its motion (see `rotations`)."""

    p: Vec
    shape: Callable[[int], Expr]
    R0: Mat

    def matrix(self) -> Mat:
        a, b, p = self.shape(0), self.shape(1), self.p
        square = [mul(b, p[i], p[i]) for i in range(3)]
        E = []
        for i in range(3):
            j, k = (i + 1) % 3, (i + 2) % 3
            row = [ZERO] * 3
            row[i] = add(ONE, neg(square[j]), neg(square[k]))
            row[j] = add(mul(b, p[i], p[j]), neg(mul(a, p[k])))
            row[k] = add(mul(b, p[i], p[k]), mul(a, p[j]))
            E.append((row[0], row[1], row[2]))
        if self.R0 is UNIT:
            return E[0], E[1], E[2]
        rows = [
            _vec(_dot(self.R0[i], (E[0][j], E[1][j], E[2][j])) for j in range(3)) for i in range(3)
        ]
        return rows[0], rows[1], rows[2]

    def spin(self, dp: Vec) -> Vec:
        n = _cross(self.p, dp)
        return _matrix_times_vector(
            self.R0,
            _sum_vectors(dp, _scaled(self.shape(1), n), _scaled(self.shape(2), _cross(self.p, n))),
        )

    def spin_rate(self, dp: Vec, ddp: Vec) -> Vec:
        return self._rate([(dp, dp)], ddp)

    def mixed_spin_rate(self, dp: Vec, dq: Vec, ddp: Vec) -> Vec:
        """Half of what spin_rate along both directions is more than along each."""
        return self._rate([(dp, dq), (dq, dp)], ddp)

    def _rate(self, pairs: Sequence[tuple[Vec, Vec]], ddp: Vec) -> Vec:
        """J ddp and the mean of (dJ along the second) times the first, over pairs that are
        symmetric as a whole."""
        p, f = self.p, self.shape
        share = expression(1.0 / len(pairs))
        m = _cross(p, ddp)
        bent, along, across = [_cross(p, m)], [], []
        for dp, dq in pairs:
            n = _cross(p, dp)
            dX = _named_subexpression(mul(expression(2.0), share, _dot(p, dq)))
            bent.append(_scaled(share, _cross(dq, n)))
            along.append(_scaled(dX, n))
            across.append(_scaled(dX, _cross(p, n)))
        bends = (
            _scaled(f(2), _sum_vectors(*bent)),
            _scaled(f(3), _sum_vectors(*along)),
            _scaled(f(4), _sum_vectors(*across)),
        )
        return _matrix_times_vector(self.R0, _sum_vectors(ddp, _scaled(f(1), m), *bends))


class _FixedAxisRotation(_RotationFormula):
    """The same about an axis that stands: p and its derivatives lie along it, and so does the
    motion."""

    def spin(self, dp: Vec) -> Vec:
        return dp

    def spin_rate(self, dp: Vec, ddp: Vec) -> Vec:
        return ddp

    def mixed_spin_rate(self, dp: Vec, dq: Vec, ddp: Vec) -> Vec:
        return ddp


def _rotation_formula(
    terms: Sequence[tuple[Expr, ...]], axis: Sequence[Symbol], largest: float, R0: Mat
) -> tuple[_RotationFormula, list[Vec]]:
    """The rotation by the first of `terms`, which are vectors, or angles about an axis; the others
    as vectors."""
    if axis:
        p, *derivatives = (_scaled(angle, _vec(axis)) for (angle,) in terms)
        return _FixedAxisRotation(
            p, _RotationSeries(mul(terms[0][0], terms[0][0]), largest), R0
        ), derivatives
    p, *derivatives = map(_vec, terms)
    return _RotationFormula(p, _RotationSeries(_dot(p, p), largest), R0), derivatives


def _fixed_axis_coefficients(coefficients: Array) -> tuple[Array, Array]:
    """Coefficients (..., 6) with angles for rotation vectors (..., 4), if these all lie along one
    axis; the axis."""
    vectors = coefficients[..., 3:].reshape(-1, 3)
    axis = np.linalg.svd(vectors.T @ vectors)[2][0]
    angles = coefficients[..., 3:] @ axis
    if np.abs(vectors - angles.reshape(-1, 1) * axis).max() > AXIS:
        return coefficients, np.zeros(0)
    return np.concatenate([coefficients[..., :3], angles[..., None]], -1), axis


def _with_constants(
    values: Sequence[Expr], names: Sequence[Symbol], rows: Array
) -> tuple[Expr, ...]:
    """Values, with a number for what is the same number in every cell."""
    constants = {
        name: column[0]
        for name, column in zip(names, rows.T, strict=True)
        if np.ptp(column) <= ROUNDING
    }
    return tuple(
        expression(float(constants[v])) if isinstance(v, Symbol) and v in constants else v
        for v in values
    )


def _without_rounding(coefficients: Array) -> Array:
    """Coefficients (cells, ...) of powers of the place in a cell, 0 to 1; zero where all cells have
    mere rounding."""
    loud = np.abs(coefficients).max(axis=0) > ROUNDING
    return coefficients * loud


def _cell_symbols(rows: Array) -> tuple[tuple[Symbol, ...], list[Expr]]:
    """Symbols of the numbers of a cell, and what stands for them in formulas: 0 or 1 where all
    cells have that."""
    names = tuple(Symbol(f"a{k}", "variable") for k in range(rows.shape[1]))
    plain = [next((v for v in (0, 1) if np.all(column == v)), None) for column in rows.T]
    return names, [
        name if v is None else expression(v) for name, v in zip(names, plain, strict=True)
    ]


def _max_angle(vectors: Array, extend: bool) -> float:
    """The largest angle of rotation vectors at nodes, and a little more for what lies between, or
    outside if allowed."""
    return 1.2 * float(np.sqrt((vectors**2).sum(-1)).max()) + 1e-3 + (FURTHER if extend else 0.0)


def _named_subexpression(e: Expr) -> Expr:
    """An intermediate result."""
    return e if isinstance(e, NamedSubexpression | Number | Symbol) else NamedSubexpression(e)


def _vec(values: Any) -> Vec:
    x, y, z = (_named_subexpression(expression(v)) for v in values)
    return x, y, z


def _matrix(values: Sequence[Expr]) -> Mat:
    return _vec(values[:3]), _vec(values[3:6]), _vec(values[6:9])


def _flat(m: Mat) -> list[Expr]:
    return [x for row in m for x in row]


def _dot(a: Vec, b: Vec) -> Expr:
    return _named_subexpression(expression(dot_jets3(a, b)))


def _cross(a: Vec, b: Vec) -> Vec:
    return _vec(cross_jets3(a, b))


def _scaled(k: Expr, v: Vec) -> Vec:
    return _vec(scale_jet3(k, v))


def _sum_vectors(*vectors: Vec) -> Vec:
    return _vec(add_jets3(*vectors))


def _matrix_times_vector(R: Mat, v: Vec) -> Vec:
    return v if R is UNIT else _vec(matrix_times_vector(R, v))
