"""Small variables whose leading terms cancel: did the derivation drop terms that count then?

In:  a program, and the one that keeps terms of higher order. Out: whether the first lacks terms it
should have. A creator sees one sum at a time: of the length of a strut it keeps what counts
compared with the length, but x - x0 is small, and compared with it more counts. So both programs
are evaluated where all that is small is made smaller; what is lacking must vanish with the power
that the threshold promises, relative to the results.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from bellcrank.core.errors import BellcrankError
from bellcrank.program import interpreter
from bellcrank.program.program import SimulationProgram
from bellcrank.symbolic.expr import Symbol
from bellcrank.symbolic.expr.node import PRIME, field_digest

SIZES = (2.0**-6, 2.0**-8)
SAMPLES = 3
SLACK = 0.3  # powers are those of the limit
ROUNDING = 1e-11  # relative errors that say nothing


def lacks_terms(
    program: SimulationProgram,
    reference: SimulationProgram,
    orders: Mapping[str, int],
    threshold: int,
) -> bool:
    """Does the program lack terms that another one, which keeps more, has? False where that cannot
    be reported."""
    if [s.name for s in program.speeds] != [s.name for s in reference.speeds]:
        return False
    try:
        with np.errstate(all="ignore"):
            results_by_size = [
                [_sample_results(p, orders, size) for p in (program, reference)] for size in SIZES
            ]
    except (
        BellcrankError,
        ArithmeticError,
        ValueError,
        np.linalg.LinAlgError,
    ):  # what only a run can evaluate
        return False
    (rates, outputs), (smaller_rates, smaller_outputs) = (
        [(_rms_by_column(a - b), _rms_by_column(b)) for a, b in zip(*pair, strict=True)]
        for pair in results_by_size
    )
    weight = np.where(rates[1] > 0, rates[1], 1.0)  # rates have different units
    together = [
        np.full(len(weight), np.linalg.norm(x[1] / weight) or 1.0) for x in (rates, smaller_rates)
    ]
    first, second = rates[0] / weight / together[0], smaller_rates[0] / weight / together[1]
    outputs_lack = _shrinks_slowly(
        _relative_error(*outputs), _relative_error(*smaller_outputs), threshold
    )
    return outputs_lack or _shrinks_slowly(first, second, threshold)


def _shrinks_slowly(errors: np.ndarray, smaller: np.ndarray, threshold: int) -> bool:
    factor = (SIZES[1] / SIZES[0]) ** (threshold - SLACK)
    return bool(np.any((smaller > ROUNDING) & (smaller > factor * errors)))


def _relative_error(error: np.ndarray, size: np.ndarray) -> np.ndarray:
    return error / np.where(size > 0, size, 1.0)


def _rms_by_column(rows: np.ndarray) -> np.ndarray:
    return np.sqrt(np.mean(np.square(rows), axis=0))


def _sample_results(
    program: SimulationProgram, orders: Mapping[str, int], size: float
) -> tuple[np.ndarray, np.ndarray]:
    """Rates and outputs at some points, a row each."""
    rates, outputs = [], []
    stand_ins = {
        r.name: _smooth_substitute(r) for r in program.routines if getattr(r, "varies", False)
    }
    for k in range(SAMPLES):
        p, q, u, w = (
            [_sample_value(s, k, orders, size) for s in group]
            for group in (program.parameters, program.coordinates, program.speeds, program.inputs)
        )
        rate, values = interpreter.evaluate_derivatives(
            program, interpreter.evaluate_constants(program, p), 0.3, q, u, w, stand_ins
        )
        rates.append(rate)
        outputs.append(interpreter.evaluate_outputs(program, values, stand_ins))
    if not all(math.isfinite(x) for row in (*rates, *outputs) for x in row):
        raise ArithmeticError("a result is not finite")
    return np.array(rates), np.array(outputs)


def _smooth_substitute(routine: Any) -> Callable[..., list[float]]:
    """Something smooth in place of a routine of the user, which is not called before a run."""

    def evaluate_substitute(*args: float) -> list[float]:
        indices = range(max(len(routine.returns), 1))
        return [
            0.4 + 0.1 * k + sum((0.3 + 0.2 * i) * x for i, x in enumerate(args)) for k in indices
        ]

    return evaluate_substitute


def _sample_value(s: Symbol, sample: int, orders: Mapping[str, int], size: float) -> float:
    """A value of any quantity, the same in every program; parameters are positive."""
    value = 0.5 + field_digest("value", s.name, sample) / PRIME
    sign = 1 if s.kind == "parameter" or field_digest("sign", s.name, sample) % 2 else -1
    return sign * value * size ** orders.get(s.name, 0)
