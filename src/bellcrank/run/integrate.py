"""Fixed-step integrators over one state array, and SciPy's adaptive methods.

Each fixed-step method is a function step(f, t, y, h, k) -> (y_new, k_new): k = f(t, y) is known, k_new = f(t + h, y_new).
rk2 is AUTOSIM's midpoint rule (Sayers 1990, Appendix B).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Rates = Callable[[float, np.ndarray], np.ndarray]


def rk2(f: Rates, t: float, y: np.ndarray, h: float, k: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    middle = f(t + h / 2, y + h / 2 * k)
    new = y + h * middle
    return new, f(t + h, new)


def rk4(f: Rates, t: float, y: np.ndarray, h: float, k: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    k2 = f(t + h / 2, y + h / 2 * k)
    k3 = f(t + h / 2, y + h / 2 * k2)
    k4 = f(t + h, y + h * k3)
    new = y + h / 6 * (k + 2 * k2 + 2 * k3 + k4)
    return new, f(t + h, new)


FIXED = {"rk2": rk2, "rk4": rk4}
ADAPTIVE = ("RK45", "RK23", "DOP853", "Radau", "BDF", "LSODA")


def semi_implicit(n_q: int) -> Callable[[Rates, float, np.ndarray, float, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """Semi-implicit Euler: speeds first, then coordinates with the new speeds."""

    def step(f: Rates, t: float, y: np.ndarray, h: float, k: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        new = y.copy()
        new[n_q:] += h * k[n_q:]
        new[:n_q] += h * f(t, new)[:n_q]
        return new, f(t + h, new)

    return step
