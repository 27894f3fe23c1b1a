"""Small variables: the error that their truncation makes, and the rate at which it shrinks.

In:  the same description derived with and without small variables. Out: a line of the report.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise

import numpy as np

from bellcrank.verify.formulas import CannotEvaluate
from bellcrank.verify.report import Line
from bellcrank.verify.subject import UNUSABLE, Sample, Subject

ORDER_SLACK = 0.3  # the relative error of small variables is of the order of their threshold, in the limit
FLOOR = 1e-12  # relative errors below this are rounding


def lines_of_truncation(exact: Subject, truncated: Subject, samples: list[Sample]) -> list[Line]:
    """Amplitudes of all small symbols are halved again and again: the error of every rate must fall with their square,
    relative to all rates together."""
    name, limit = "order of the truncation error", exact.description.small_threshold - ORDER_SLACK
    try:
        if [x.name for x in exact.eom.speeds] != [x.name for x in truncated.eom.speeds]:
            raise CannotEvaluate("the description without small variables has other independent speeds")
        found = [_truncation_error(exact, truncated, samples, 0.1 * 0.5**i) for i in range(14)]
    except UNUSABLE as error:
        return [Line(name, math.nan, limit, True, str(error))]
    weight = np.where(found[0][1] > 0, found[0][1], 1.0)  # rates have different units
    errors = np.array([e / weight for e, _ in found])
    relative = errors / np.array([[np.linalg.norm(size / weight) or 1.0] for _, size in found])
    order, where = math.inf, ""
    for i, state in enumerate((*truncated.eom.coordinates, *truncated.eom.speeds)):
        above = [x for x in relative[:, i] if x > FLOOR]
        last = [math.log2(a / b) for a, b in pairwise(above)][-3:]
        if min(last, default=math.inf) < order:
            order, where = min(last), f", lowest in the rate of {state.name}"
    note = f"relative error {relative[0].max():.1e} with all that is small at a tenth of full size"
    return [Line(name, order, limit, True, note + (where if order < limit else ""))]


def _truncation_error(
    exact: Subject, truncated: Subject, samples: list[Sample], size: float
) -> tuple[np.ndarray, np.ndarray]:
    """Root mean square of the error of every rate, and of the rate itself, with small quantities of the given size."""
    orders = truncated.eom.analysis.mechanism.orders
    scaled = {}
    for key, record in truncated.description.parameters.items():
        if key in orders and record.value is not None:
            scaled[key] = truncated.given.get(key, record.value) * size ** orders[key]
    difference, whole = [], []
    for s in samples:
        small = _scaled(truncated, s, size, orders)
        a, b = np.concatenate(exact.rates(small, scaled)), np.concatenate(truncated.rates(small, scaled))
        difference.append(b - a)
        whole.append(a)
    return np.sqrt(np.mean(np.square(difference), axis=0)), np.sqrt(np.mean(np.square(whole), axis=0))


def _scaled(subject: Subject, s: Sample, size: float, orders: Mapping[str, int]) -> Sample:
    """The sample with every small quantity scaled by its order."""

    def factor(name: str) -> float:
        return size ** orders.get(name.lower(), 0)

    q = s.q * [factor(x.name) for x in subject.eom.coordinates]
    u = s.u * [factor(x.name) for x in subject.eom.speeds]
    inputs = {k: (a * factor(k), v * factor(k)) for k, (a, v) in s.inputs.items()}
    return Sample(s.time, q, u, inputs)
