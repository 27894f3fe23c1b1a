"""Kutta-Merson integration with a variable step, as AUTOLEV's programs do it.

Stages at 0, 1/3, 1/3, 1/2, 1; the error estimate is a fifth of the difference of two results. A
step is halved where the error is above both tolerances, doubled where 64 times the error would
still pass and twice the step is not above STEP. The last piece before an output time is taken
without error control.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bellcrank.core.errors import RunError

Rates = Callable[[float, np.ndarray], np.ndarray]
RELERR = ABSERR = 1e-8
CUTS = 20


class KuttaMersonIntegrator:
    """The integrator with what it remembers from one output time to the next: the present step and
    the cuts left."""

    def __init__(
        self, rates: Rates, step: float, settle: Callable[[np.ndarray], np.ndarray] | None = None
    ) -> None:
        self.rates, self.step = rates, step
        self.settle = settle or (lambda y: y)
        self.h = step
        self.cuts = CUTS
        self.evaluations = 0

    def advance(self, t: float, y: np.ndarray) -> np.ndarray:
        """The state one STEP later."""
        final = t + self.step
        tiny = 1e-7 * abs(final)
        while True:
            last = t + self.h > final
            if last:
                remainder = final - t
                if abs(remainder) <= tiny:
                    return y
                y, _ = self._stages(t, y, remainder)
                return self.settle(y)
            y, t = self._error_controlled_step(t, y, final)

    def _error_controlled_step(
        self, t: float, y: np.ndarray, final: float
    ) -> tuple[np.ndarray, float]:
        """One step whose error passes; the next step may be twice as long."""
        while True:
            h = self.h
            new, error = self._stages(t, y, h)
            test = np.abs(self._first) * RELERR
            if not np.all(np.isfinite(new)):
                raise RunError(f"the state is no longer finite after t = {t:g}")
            if np.all((error < test) | (error < ABSERR)):
                break
            self.h = h / 2
            self.cuts -= 1
            if self.cuts < 0 or t + self.h == t:
                raise RunError(
                    f"the step has been halved too many times: {self.h:.3g} at t = {t:g}"
                )
        t = t + h
        grows = np.all((64 * error <= test) | (64 * error <= ABSERR)) and abs(2 * h) <= abs(
            self.step
        )
        beyond = abs(t + 2 * h) > abs(final) and abs(t - final) > abs(final) * 1e-7
        if grows and not beyond:
            self.h = 2 * h
            self.cuts += 1
        return self.settle(new), t

    def _stages(self, t: float, y: np.ndarray, h: float) -> tuple[np.ndarray, np.ndarray]:
        f = self.rates
        self.evaluations += 5
        f0 = f(t, y)
        f1 = f(t + h / 3, y + h / 3 * f0)
        f1 = f(t + h / 3, y + h / 6 * (f0 + f1))
        f2 = f(t + h / 2, y + h / 8 * (f0 + 3 * f1))
        first = y + h / 2 * (f0 - 3 * f1 + 4 * f2)
        f4 = f(t + h, first)
        second = y + h / 6 * (f0 + 4 * f2 + f4)
        self._first = first
        return second, 0.2 * np.abs(first - second)
