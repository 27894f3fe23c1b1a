"""Jets: truncated Taylor series in time of numbers, vectors and matrices.

A jet of length n knows a quantity at one instant together with its first n - 1 time derivatives, so
that velocities and accelerations follow from positions to machine precision, with no step size to
choose. Plain numbers and arrays are constants, known to any order; an operation knows as much as
the shortest of its jets. This is all the calculus the independent evaluation has: it never sees a
symbolic derivative. `JetBatch` are those of several states at once. Griewank & Walther, Evaluating
Derivatives (2nd ed., 2008), section 13.2 (recurrences of Taylor coefficients).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

Value = Any  # a number, an array, or a Jet of either
MOST_ORDERS = 4  # of constants that differ between states: no series is longer
_NEXT, _LAST = np.array([1, 2, 0]), np.array([2, 0, 1])  # components in cyclic order


class NoDerivative(ArithmeticError):
    """A time derivative that is not known here: an acceleration, or the rate of a user function."""


class Jet:
    """Taylor coefficients `c[0], c[1], ...` along the first axis: x(t) = c[0] + c[1] t + c[2] t**2
    + ..."""

    __slots__ = ("c",)
    __array_ufunc__ = None  # NumPy arrays leave the operators to us

    def __init__(self, coefficients: Any) -> None:
        self.c: np.ndarray = np.asarray(coefficients, dtype=float)

    def __len__(self) -> int:
        return len(self.c)

    @property
    def shape(self) -> tuple[int, ...]:
        """() of a number, (3,) of a vector."""
        return self.c.shape[1:]

    def __repr__(self) -> str:
        return f"Jet({self.c.tolist()})"

    def __getitem__(self, index: Any) -> Jet:
        """A component of a vector or matrix."""
        index = index if isinstance(index, tuple) else (index,)
        return type(self)(self.c[(slice(None), *index)])

    def __neg__(self) -> Jet:
        return type(self)(-self.c)

    def __add__(self, other: Value) -> Jet:
        if isinstance(other, Jet):
            if self.c.shape == other.c.shape:
                return type(self)(self.c + other.c)
        elif np.shape(other) == self.shape:  # a constant moves the value alone
            c = self.c.copy()
            c[0] += _as_constant_array(other, isinstance(self, JetBatch))
            return type(self)(c)
        pair = common_coefficients(self, other)
        rank = max(x.ndim for x in pair)  # scalars meet vectors: the axis of orders stays first
        a, b = (x.reshape(len(x), *(1,) * (rank - x.ndim), *x.shape[1:]) for x in pair)
        return jet_class(self, other)(a + b)

    __radd__ = __add__

    def __sub__(self, other: Value) -> Jet:
        return self + -other

    def __rsub__(self, other: Value) -> Jet:
        return -self + other

    def __mul__(self, other: Value) -> Jet:
        return _product_of_jets(self, other, _multiply_orders)

    __rmul__ = __mul__

    def __matmul__(self, other: Value) -> Jet:
        return _product_of_jets(
            self, other, _matmuls if jet_class(self, other) is JetBatch else _matmul
        )

    def __rmatmul__(self, other: Value) -> Jet:
        return _product_of_jets(other, self, _matmuls if isinstance(self, JetBatch) else _matmul)

    def __truediv__(self, other: Value) -> Jet:
        return self * reciprocal(other)

    def __rtruediv__(self, other: Value) -> Jet:
        return reciprocal(self) * other

    @property
    def T(self) -> Jet:
        return type(self)(np.swapaxes(self.c, 1, 2))


class JetBatch(Jet):
    """Jets of several states at once, one state after another along the last axis.

    What is constant in time and differs between states is a jet whose rates are zero
    (`constant_jets`); plain numbers and arrays are the same in all states.
    """

    __slots__ = ()

    @property
    def shape(self) -> tuple[int, ...]:
        return self.c.shape[1:-1]

    def jet_of_state(self, i: int) -> Jet:
        """The jet of one state."""
        return Jet(self.c[..., i if self.c.shape[-1] > 1 else 0])


def jet_class(*values: Value) -> type[Jet]:
    """What becomes of several values: jets of one state or of several."""
    return JetBatch if any(isinstance(x, JetBatch) for x in values) else Jet


def constant_jets(x: Any) -> JetBatch:
    """Constants in time, one for each state, known to any order that is asked for."""
    x = np.asarray(x, dtype=float)
    return JetBatch(np.concatenate([x[None], np.zeros((MOST_ORDERS - 1, *x.shape))]))


def _as_constant_array(x: Any, several: bool) -> np.ndarray:
    x = np.asarray(x, dtype=float)
    return x[..., None] if several else x


def coefficients(x: Value, length: int, several: bool = False) -> np.ndarray:
    """The first coefficients of a jet or constant; with `several` a constant is that of all
    states."""
    if isinstance(x, Jet):
        return x.c[:length]
    x = _as_constant_array(x, several)
    return np.concatenate([x[None], np.zeros((length - 1, *x.shape))])


def common_coefficients(*values: Value) -> list[np.ndarray]:
    """Coefficients of jets and constants, as many as all of them know."""
    length, several = (
        min(len(x) for x in values if isinstance(x, Jet)),
        jet_class(*values) is JetBatch,
    )
    return [coefficients(x, length, several) for x in values]


def _product_of_jets(a: Value, b: Value, multiply: Callable[[np.ndarray, np.ndarray], Any]) -> Jet:
    """The product of a jet and a jet or constant; `multiply` takes arrays with the orders along
    their first axes."""
    if not isinstance(a, Jet):  # a constant: every order by itself
        return type(b)(multiply(_as_constant_array(a, isinstance(b, JetBatch))[None], b.c))
    if not isinstance(b, Jet):
        return type(a)(multiply(a.c, _as_constant_array(b, isinstance(a, JetBatch))[None]))
    length = min(len(a.c), len(b.c))
    if a.c.ndim == b.c.ndim == 1:
        x, y = a.c.tolist(), b.c.tolist()  # numbers of Python are the fastest
        return Jet(
            [sum([x[j] * y[n - j] for j in range(1, n + 1)], x[0] * y[n]) for n in range(length)]
        )
    if length == 1:
        return jet_class(a, b)(multiply(a.c[:1], b.c[:1]))
    first, second, segment_starts = _order_pairs(length)
    return jet_class(a, b)(
        np.add.reduceat(multiply(a.c.take(first, 0), b.c.take(second, 0)), segment_starts, axis=0)
    )


@cache
def _order_pairs(length: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Orders of two jets that meet in each order of their product, one order after another, and
    where each begins."""
    pairs = [(j, n - j) for n in range(length) for j in range(n + 1)]
    first, second = np.array(pairs).T
    return first, second, np.array([n * (n + 1) // 2 for n in range(length)])


def _multiply_orders(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Products of every order: numbers meet vectors and matrices, whose axes come last."""
    extra_dims = a.ndim - b.ndim
    a = a.reshape(len(a), *(1,) * -extra_dims, *a.shape[1:]) if extra_dims < 0 else a
    b = b.reshape(len(b), *(1,) * extra_dims, *b.shape[1:]) if extra_dims > 0 else b
    return a * b


def _matmul(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Products of every order of matrices and vectors."""
    if a.ndim == 2:
        return _matmul(a[:, None], b)[:, 0]
    return np.matmul(a, b[..., None])[..., 0] if b.ndim == 2 else np.matmul(a, b)


def _matmuls(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Likewise for several states, along the last axis."""
    if a.ndim == 3:  # a vector
        return (a * b).sum(1) if b.ndim == 3 else (a[:, :, None] * b).sum(1)
    return (a * b[:, None]).sum(2) if b.ndim == 3 else (a[:, :, :, None] * b[:, None]).sum(2)


def constant_term(x: Value) -> Any:
    """What a jet or constant is at this instant."""
    return x.c[0] if isinstance(x, Jet) else np.asarray(x, dtype=float)


def jet_time_derivative(x: Value) -> Value:
    """The time derivative."""
    if not isinstance(x, Jet):
        return 0.0 * np.asarray(x, dtype=float)
    if len(x) < 2:
        raise NoDerivative("a time derivative is needed here that is not known")
    order = np.arange(1, len(x)).reshape(-1, *(1,) * (x.c.ndim - 1))
    return type(x)(x.c[1:] * order)


def integrate_jet(x0: Any, rates: Value, length: int, jet_type: type[Jet] = Jet) -> Jet:
    """The jet that starts at x0 and has the given rate."""
    x0 = np.asarray(x0, dtype=float)
    r = (
        coefficients(rates, length - 1, jet_type is JetBatch)
        if length > 1
        else np.zeros((0, *x0.shape))
    )
    order = np.arange(1, len(r) + 1).reshape(-1, *(1,) * x0.ndim)
    return jet_type(np.concatenate([x0[None], np.broadcast_to(r, (len(r), *x0.shape)) / order]))


def stack_jets(components: Sequence[Value]) -> Value:
    """A vector of scalars, or a matrix of row vectors."""
    if any(isinstance(p, Jet) for p in components):
        arrays = common_coefficients(*components)
        if jet_class(*components) is JetBatch:  # constants are the same in all states
            return JetBatch(np.stack(np.broadcast_arrays(*arrays), axis=1))
        return Jet(np.stack(arrays, axis=1))
    return np.array([np.asarray(p, dtype=float) for p in components])


def solve(A: Value, b: Value) -> Value:
    """x of A x = b, order by order."""
    if not isinstance(A, Jet) and not isinstance(b, Jet):
        return np.linalg.solve(A, b)
    a, rhs = common_coefficients(A, b)
    if jet_class(A, b) is JetBatch:
        return _solve_each(a, rhs)
    x: list[np.ndarray] = []
    for n in range(len(a)):
        residual = rhs[n] - sum((a[j] @ x[n - j] for j in range(1, n + 1)), np.zeros_like(rhs[n]))
        x.append(np.linalg.solve(a[0], residual))
    return Jet(x)


def _solve_each(a: np.ndarray, rhs: np.ndarray) -> JetBatch:
    """Likewise for several states."""
    a, rhs = np.moveaxis(a, -1, 1), np.moveaxis(rhs, -1, 1)[..., None]
    x: list[np.ndarray] = []
    for n in range(len(a)):
        residual = rhs[n] - sum((a[j] @ x[n - j] for j in range(1, n + 1)), np.zeros_like(rhs[n]))
        x.append(np.linalg.solve(a[0], residual))
    return JetBatch(np.moveaxis(np.array(x)[..., 0], 1, -1))


# ---- vectors


def cross(a: Value, b: Value) -> Value:
    if isinstance(a, Jet) or isinstance(b, Jet):
        return _product_of_jets(a, b, _cross_orders)
    return _cross_arrays(a, b)


def _cross_orders(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Of every order."""
    shifted = a.take(_NEXT, 1), b.take(_NEXT, 1), a.take(_LAST, 1), b.take(_LAST, 1)
    return shifted[0] * shifted[3] - shifted[2] * shifted[1]


def _cross_arrays(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    (x, y, z), (i, j, k) = (
        v.tolist() if v.ndim == 1 else v for v in (a, b)
    )  # columns: several vectors at once
    return np.array([y * k - z * j, z * i - x * k, x * j - y * i])


def multiply_columns(v: Value, x: Value) -> Value:
    """A vector times a number, or times each of several numbers: a column for each."""
    return np.multiply.outer(v, x) if isinstance(x, np.ndarray) and x.ndim == 1 else v * x


def norm(v: Value) -> Value:
    return sqrt(v @ v)


# ---- functions of one number


def reciprocal(x: Value) -> Value:
    if not isinstance(x, Jet):
        return np.divide(1.0, x)
    y = [np.divide(1.0, x.c[0])]
    for n in range(1, len(x)):
        y.append(-y[0] * sum(x.c[j] * y[n - j] for j in range(1, n + 1)))
    return type(x)(y)


def compose_function(
    x: Value, start: Callable[[Any], Any], slope: Callable[[Value], Value]
) -> Value:
    """f(x) whose derivative f'(x) is a known function: f(x)' = f'(x) x'."""
    if not isinstance(x, Jet):
        return start(x)
    if len(x) == 1:
        return type(x)([start(x.c[0])])
    shorter = type(x)(x.c[:-1])
    return integrate_jet(start(x.c[0]), slope(shorter) * jet_time_derivative(x), len(x), type(x))


def sincos(x: Value) -> tuple[Value, Value]:
    """Sine and cosine, by their common recurrence."""
    if not isinstance(x, Jet):
        return np.sin(x), np.cos(x)
    numbers = x.c.tolist() if x.c.ndim == 1 else x.c  # numbers of Python are the fastest
    s, c = ([f(x.c[0])] if x.c.ndim > 1 else [float(f(x.c[0]))] for f in (np.sin, np.cos))
    for n in range(1, len(x)):
        s.append(sum([j * numbers[j] * c[n - j] for j in range(1, n + 1)]) / n)
        c.append(-sum([j * numbers[j] * s[n - j] for j in range(1, n + 1)]) / n)
    return type(x)(s), type(x)(c)


def exp(x: Value) -> Value:
    return compose_function(x, np.exp, exp)


def log(x: Value) -> Value:
    return compose_function(x, np.log, reciprocal)


def sqrt(x: Value) -> Value:
    return compose_function(x, np.sqrt, lambda z: 0.5 / sqrt(z))


def atan2(y: Value, x: Value) -> Value:
    if not isinstance(y, Jet) and not isinstance(x, Jet):
        return np.arctan2(y, x)
    jet_type = jet_class(y, x)
    y, x = map(jet_type, common_coefficients(y, x))
    start = np.arctan2(y.c[0], x.c[0])
    if len(x) == 1:
        return jet_type([start])
    yy, xx = jet_type(y.c[:-1]), jet_type(x.c[:-1])
    return integrate_jet(
        start,
        (xx * jet_time_derivative(y) - yy * jet_time_derivative(x)) / (xx * xx + yy * yy),
        len(x),
        jet_type,
    )


def power(x: Value, n: Value) -> Value:
    """x ** n; a whole constant exponent by repeated products, so that the base may be zero or
    negative."""
    if isinstance(n, Jet) and np.any(n.c[1:]):
        return exp(n * log(x))
    numbers = constant_term(n)
    if isinstance(n, JetBatch):
        if np.any(numbers != numbers[0]):
            return _powers(x, numbers)
        numbers = numbers[0]
    exponent = float(numbers)
    if not isinstance(x, Jet):
        return np.power(np.float64(x), exponent)
    if exponent == round(exponent) and abs(exponent) <= 64:
        result: Value = type(x)(coefficients(1.0, len(x), isinstance(x, JetBatch)))
        for _ in range(int(abs(exponent))):
            result = result * x
        return result if exponent >= 0 else reciprocal(result)
    return compose_function(
        x, lambda z: np.power(z, exponent), lambda z: exponent * power(z, exponent - 1.0)
    )


def _powers(x: Value, n: np.ndarray) -> JetBatch:
    """x ** n with an exponent for each state."""
    if not isinstance(x, JetBatch):
        return constant_jets(np.power(np.asarray(x, dtype=float), n))
    powers: JetBatch = compose_function(
        x, lambda z: np.power(z, n), lambda z: constant_jets(n) * _powers(z, n - 1.0)
    )
    return powers
