"""Small variables: the error that their truncation makes, and the rate at which it shrinks.

In:  the same description derived with and without small variables. Out: a line of the report.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from itertools import pairwise

import numpy as np

from bellcrank.verify.formulas import CannotEvaluate
from bellcrank.verify.model_under_test import UNUSABLE, CheckSample, ModelUnderTest
from bellcrank.verify.report import CheckLine

ORDER_SLACK = (
    0.3  # the relative error of small variables is of the order of their threshold, in the limit
)
FLOOR, LOWEST = 1e-12, 5e-14  # relative errors below this are rounding; below that surely
ROUNDING = 1e-13  # of the terms of a difference
SURELY = (
    4 * np.finfo(float).eps
)  # of lengths of the machine, or of one: differences of these have no better digits
ROUNDING_SIZE = 1e-9  # size at which a right truncation leaves rounding alone


def check_truncation(
    exact: ModelUnderTest, truncated: ModelUnderTest, samples: list[CheckSample]
) -> list[CheckLine]:
    """Amplitudes of all small symbols are halved again and again: the error of every rate must fall
    with their square, relative to all rates together, and that of every output relative to the
    output itself."""
    name, limit = "order of the truncation error", exact.description.small_threshold - ORDER_SLACK
    sizes = [*(0.1 * 0.5**i for i in range(20)), ROUNDING_SIZE]
    try:
        if [x.name for x in exact.eom.speeds] != [x.name for x in truncated.eom.speeds]:
            raise CannotEvaluate(
                "the description without small variables has other independent speeds"
            )
        rates, outputs = (
            [_rms_errors(exact, truncated, samples, size, read) for size in sizes] for read in READ
        )
    except UNUSABLE as error:
        return [CheckLine(name, math.nan, limit, True, str(error))]
    weight = np.where(rates[0][1] > 0, rates[0][1], 1.0)  # rates have different units
    errors = np.array([e / weight for e, _ in rates])
    together = np.array([[np.linalg.norm(size / weight) or 1.0] for _, size in rates])
    relative = errors / together
    states = [f"the rate of {x.name}" for x in (*truncated.eom.coordinates, *truncated.eom.speeds)]
    order, location = _lowest_order(relative, np.repeat(together, len(states), axis=1), states)
    note = f"relative error {relative[0].max():.1e} with all that is small at a tenth of full size"
    lines = [
        CheckLine(
            name, order, limit, True, note + (f", lowest in {location}" if order < limit else "")
        )
    ]
    if truncated.eom.outputs:
        lengths = _length_scales(exact, truncated.eom.outputs)
        significant = [np.where(e > SURELY * lengths, e, 0.0) for e, _ in outputs]
        channels = np.array(
            [
                e / np.where(size > 0, size, 1.0)
                for e, (_, size) in zip(significant, outputs, strict=True)
            ]
        )
        order, location = _lowest_order(
            channels, np.array([size for _, size in outputs]), truncated.eom.outputs
        )
        note = f"lowest in {location}" if order < limit else ""
        lines.append(CheckLine(f"{name} of outputs", order, limit, True, note))
    return lines


def _length_scales(subject: ModelUnderTest, outputs: list[str]) -> np.ndarray:
    """What counts as one of every output that is a length, an area, an angle or a plain number;
    nothing of others."""
    units = subject.eom.quantities.output_unit
    exponents = [units[name].dimension.exponents for name in outputs]
    return np.array([subject.length ** float(x[0]) if not any(x[1:3]) else 0.0 for x in exponents])


def _lowest_order(relative: np.ndarray, sizes: np.ndarray, names: list[str]) -> tuple[float, str]:
    """The lowest power by which a column shrinks under halving, and whose it is; rounding (last
    row) is omitted.

    What `sizes` reports to be small may be the difference of larger terms, whose rounding then
    grows compared with it.
    """
    order, location = math.inf, ""
    for i, name in enumerate(names):
        floor = min(max(LOWEST, 30 * relative[-1, i]), FLOOR)
        rounding = ROUNDING * sizes[0, i] / np.where(sizes[:, i] > 0, sizes[:, i], 1.0)
        last_one = int(np.argmax([*(relative[:-1, i] <= np.maximum(floor, rounding[:-1])), True]))
        above = list(relative[:last_one, i])
        orders = [math.log2(a / b) for a, b in pairwise(above)][-3:]
        if min(orders, default=math.inf) < order:
            order, location = min(orders), name
    return order, location


Reading = Callable[[ModelUnderTest, CheckSample, Mapping[str, float]], np.ndarray]
READ: tuple[Reading, Reading] = (
    lambda subject, s, scaled: np.concatenate(subject.rates(s, scaled)),
    lambda subject, s, scaled: np.array(list(subject.outputs(s, scaled).values())),
)


def _rms_errors(
    exact: ModelUnderTest,
    truncated: ModelUnderTest,
    samples: list[CheckSample],
    size: float,
    read: Reading,
) -> list[np.ndarray]:
    """Root mean square of the error of every value, and of the value, with small quantities of the
    given size."""
    orders = truncated.eom.analysis.mechanism.orders
    amplitudes = {
        key: r.value for key, r in truncated.description.parameters.items() if key in orders
    }
    scaled = {
        k: truncated.given.get(k, x) * size ** orders[k]
        for k, x in amplitudes.items()
        if x is not None
    }
    small = [scaled_sample(truncated, s, size, orders) for s in samples]
    exact_values, truncated_values = (
        [read(subject, s, scaled) for s in small] for subject in (exact, truncated)
    )
    difference = [b - a for a, b in zip(exact_values, truncated_values, strict=True)]
    return [np.sqrt(np.mean(np.square(x), axis=0)) for x in (difference, exact_values)]


def scaled_sample(
    subject: ModelUnderTest, s: CheckSample, size: float, orders: Mapping[str, int]
) -> CheckSample:
    """The sample with every small quantity scaled by its order."""

    def small_factor(name: str) -> float:
        return size ** orders.get(name, 0)

    q = s.q * [small_factor(x.name) for x in subject.eom.coordinates]
    u = s.u * [small_factor(x.name) for x in subject.eom.speeds]
    inputs = {
        k: (a * small_factor(k), v * small_factor(k), b * small_factor(k))
        for k, (a, v, b) in s.inputs.items()
    }
    return CheckSample(s.time, q, u, inputs)
