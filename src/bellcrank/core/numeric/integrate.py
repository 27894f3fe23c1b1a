"""Steps of the fixed-step methods over one state array, or over several that are integrated
together.

A step is advance(f, times, y, h, k, old) -> y_new: times are those of the start, the middle and the
end of the step, k = f(start, y) is known. `old`: rates at the start of the step before, if that was
a whole one of the same length and nothing was changed since, else None; methods with two steps use
them. Compiled models have the same loops in C.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from bellcrank.core.numeric.fixed_step_methods import METHODS

Rates = Callable[[float, np.ndarray], np.ndarray]
Times = tuple[float, float, float]
Advance = Callable[[Rates, Times, np.ndarray, float, np.ndarray, np.ndarray | None], np.ndarray]


def normalize_euler_parameters(y: np.ndarray, unit: Sequence[int]) -> np.ndarray:
    """States with Euler parameters brought to unit size, in place; `unit`: places of the first of
    each four."""
    for i in unit:
        size = y[i] * y[i]
        for j in (i + 1, i + 2, i + 3):
            size = size + y[j] * y[j]
        y[i : i + 4] *= 1.0 / np.sqrt(size)
    return y


def step_function(name: str, n_q: int, unit: Sequence[int] = ()) -> Advance:
    """The step of a method; n_q coordinates stand before the speeds, `unit` as of
    `normalize_euler_parameters`."""
    method = METHODS[name]

    def advance(
        f: Rates,
        times: Times,
        y: np.ndarray,
        h: float,
        k: np.ndarray,
        old: np.ndarray | None = None,
    ) -> np.ndarray:
        if method.two_step is not None and old is not None:
            return normalize_euler_parameters(
                np.asarray(y + method.two_step.evaluate(h, (k, old))), unit
            )
        rates = [k]
        for stage in method.stages:
            rates.append(
                f(stage_time(stage.node, times, h), y + stage.increment.evaluate(h, rates))
            )
        return normalize_euler_parameters(np.asarray(y + method.result.evaluate(h, rates)), unit)

    def semi_implicit(
        f: Rates,
        times: Times,
        y: np.ndarray,
        h: float,
        k: np.ndarray,
        old: np.ndarray | None = None,
    ) -> np.ndarray:
        """Speeds first, then coordinates with the new speeds."""
        new = y.copy()
        new[n_q:] += h * k[n_q:]
        new[:n_q] += h * f(times[0], new)[:n_q]
        return normalize_euler_parameters(new, unit)

    return semi_implicit if method.semi_implicit else advance


def stage_time(node: float, times: Times, h: float) -> float:
    """The time of a stage."""
    node_times = {0.0: times[0], 0.5: times[1], 1.0: times[2]}
    return node_times[node] if node in node_times else times[0] + node * h
