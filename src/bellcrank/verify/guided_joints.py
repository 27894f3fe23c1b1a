"""Joints given by functions, as numbers: pose and partial velocities along a motion, as jets.

The functions themselves (a linkage, a table) give values, first and second derivatives; their
series in time follow by the chain rule. Jets end after the second derivative, which is all that
accelerations need.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from bellcrank.core.errors import ModelError, ModelWarning
from bellcrank.verify import jets
from bellcrank.verify.formulas import CannotEvaluate
from bellcrank.verify.jets import Jet, Value, cross

Numbers = Mapping[str, Any]


def linkage_numbers(record: Any, values: tuple[float, ...], metre: float) -> Numbers:
    """What the functions themselves give at some values of their coordinates."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", ModelWarning
            )  # states near the end of a range are as good as others
            return record.guide.numeric_motion(record.part, values, metre)
    except ModelError as error:
        raise CannotEvaluate(str(error)) from None


def presolve_linkage(record: Any, several: Sequence[tuple[float, ...]], metre: float) -> None:
    """Prepares the functions for several values of their coordinates, as far as they have any
    there."""
    with warnings.catch_warnings(), suppress(ModelError):
        warnings.simplefilter("ignore", ModelWarning)
        record.guide.presolve(several, metre)


def guided_pose(
    m: Numbers, z: Sequence[Value]
) -> tuple[Value, Value, Sequence[Value], Sequence[Value]]:
    """R_AB, the position p of the reference point, and d and delta of every coordinate, in the
    parent's axes, from what a guide gives at the present values of its coordinates z."""
    count = range(len(z))
    lengths = [len(x) for x in z if isinstance(x, Jet)]
    if not lengths:
        return m["R"], m["p"], m["d"], m["delta"]
    n_orders, jet_type = min(lengths), jets.jet_class(*z)
    rates, seconds = ([_derivative(x, n) for x in z] for n in (1, 2))
    v = sum(m["d"][k] * rates[k] for k in count)
    w = sum(m["delta"][k] * rates[k] for k in count)
    a = sum(m["d"][k] * seconds[k] for k in count) + _quadratic(m["dd"], rates)
    alpha = sum(m["delta"][k] * seconds[k] for k in count) + _quadratic(m["ddelta"], rates)
    W, A = _skew_matrix(w), _skew_matrix(alpha)
    R = [m["R"], _matmul_states(W, m["R"]), _matmul_states(A + _matmul_states(W, W), m["R"]) / 2]
    d = [
        jet_type(
            [m["d"][k], sum(_symmetric_entry(m["dd"], k, j) * rates[j] for j in count)][:n_orders]
        )
        for k in count
    ]
    delta = [
        jet_type(
            [m["delta"][k], sum(_rotation_derivative(m, k, j) * rates[j] for j in count)][:n_orders]
        )
        for k in count
    ]
    return jet_type(R[:n_orders]), jet_type([m["p"], v, a / 2][:n_orders]), d, delta


def stack_states(numbers: Sequence[Numbers]) -> Numbers:
    """What a guide gives at several states, one after another along the last axes."""
    stacked: dict[str, Any] = {x: np.stack([m[x] for m in numbers], axis=-1) for x in ("R", "p")}
    for x in ("d", "delta"):
        stacked[x] = [
            np.stack([m[x][k] for m in numbers], axis=-1) for k in range(len(numbers[0][x]))
        ]
    for x in ("dd", "ddelta"):
        stacked[x] = {
            pair: np.stack([m[x][pair] for m in numbers], axis=-1) for pair in numbers[0][x]
        }
    return stacked


def _matmul_states(A: Any, B: Any) -> Any:
    """The product of matrices, also of several states."""
    return A @ B if A.ndim == 2 else np.einsum("ijn,jkn->ikn", A, B)


def _derivative(x: Value, n: int) -> Any:
    return x.c[n] * n if isinstance(x, Jet) and len(x) > n else 0.0


def _symmetric_entry(form: Mapping[tuple[int, int], Any], k: int, j: int) -> Any:
    return form[min(k, j), max(k, j)]


def _rotation_derivative(m: Numbers, k: int, j: int) -> Any:
    """d delta_k/d z_j: the symmetric part, and half a cross product because rotations do not
    commute."""
    return _symmetric_entry(m["ddelta"], k, j) + 0.5 * cross(m["delta"][j], m["delta"][k])


def _quadratic(form: Mapping[tuple[int, int], Any], rates: Sequence[Any]) -> Any:
    return sum(v * rates[i] * rates[j] * (1 if i == j else 2) for (i, j), v in form.items())


def _skew_matrix(v: Any) -> np.ndarray:
    x, y, z = v if np.ndim(v) else np.zeros(3)
    zero = 0.0 * x
    return np.array([[zero, -z, y], [z, zero, -x], [-y, x, zero]])
