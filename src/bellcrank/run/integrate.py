"""Fixed-step integrators over one state array, and the names of SciPy's adaptive methods.

Each fixed-step method is a function advance(f, times, y, h, k) -> y_new: times are those of the start, the middle and the end of the
step, k = f(start, y) is known. rk2 is AUTOSIM's midpoint rule (Sayers 1990, Appendix B). Compiled models have the same
loops in C (`emit/c/runtime/run.c`).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Rates = Callable[[float, np.ndarray], np.ndarray]
Times = tuple[float, float, float]
Advance = Callable[[Rates, Times, np.ndarray, float, np.ndarray], np.ndarray]


def rk2(f: Rates, times: Times, y: np.ndarray, h: float, k: np.ndarray) -> np.ndarray:
    return y + h * f(times[1], y + h / 2 * k)


def rk4(f: Rates, times: Times, y: np.ndarray, h: float, k: np.ndarray) -> np.ndarray:
    k2 = f(times[1], y + h / 2 * k)
    k3 = f(times[1], y + h / 2 * k2)
    k4 = f(times[2], y + h * k3)
    return y + h / 6 * (k + 2 * k2 + 2 * k3 + k4)


def semi_implicit(n_q: int) -> Advance:
    """Semi-implicit Euler: speeds first, then coordinates with the new speeds."""

    def advance(f: Rates, times: Times, y: np.ndarray, h: float, k: np.ndarray) -> np.ndarray:
        new = y.copy()
        new[n_q:] += h * k[n_q:]
        new[:n_q] += h * f(times[0], new)[:n_q]
        return new

    return advance


FIXED = {"rk2": rk2, "rk4": rk4}
ADAPTIVE = ("RK45", "RK23", "DOP853", "Radau", "BDF", "LSODA")
