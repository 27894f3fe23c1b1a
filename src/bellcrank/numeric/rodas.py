"""Rosenbrock steps for stiff motion, without iterations: over one state array; compiled models have the same in C."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from .adapt import Control, Count
from .integrate import Rates
from .radau import Slopes, found_slopes
from .rosenbrock import Rosenbrock
from .tuning import CONTROL, NEWTON


class RosenbrockStretch(Control):
    """Steps of a Rosenbrock method from t to an end, called as `Stretch` is."""

    def __init__(
        self, method: Rosenbrock, rates: Rates, t: float, y: np.ndarray, end: float, rtol: float,
        atol: float | np.ndarray, count: Count, first_step: float | None = None, caps: float | np.ndarray = math.inf,
        f: np.ndarray | None = None, slopes: Slopes | None = None, afresh: bool = False,
        groups: np.ndarray | None = None,
    ) -> None:  # fmt: skip
        super().__init__(rates, t, y, end, rtol, atol, count, caps, f, groups)
        self.method, self._known, self._afresh = method, slopes, afresh
        self._h = self._first(method.first_order) if first_step is None else first_step
        self._rejected, self._before, self._memory = False, 0.0, CONTROL.patient
        self._last = (t, 0.0, self.y, self.y, np.zeros((len(method.nodes), len(self.y))))

    def step(self) -> str:
        """One step that is accepted; "" or, if there is none, why."""
        c, m, count = CONTROL, self.method, self.count
        slopes: np.ndarray | None = None
        by_time, tenths, factored, inverse = self.f, 0, 0.0, np.empty(0)
        while True:
            if hindered := self._hindered(tenths):
                return hindered
            h, last = self._fitted()
            if slopes is None:
                slopes, by_time = self._find_slopes(h)
            if h != factored:
                count.factors += 1
                try:
                    factored, inverse = h, np.linalg.inv(np.eye(len(self.y)) / (h * m.gamma) - slopes)
                except np.linalg.LinAlgError:
                    count.rejected += 1
                    self._rejected, self._h, factored = True, 0.5 * h, 0.0
                    continue
            U = self._stages(h, inverse, by_time)
            new = self.y + np.array(m.b) @ U
            parts = np.array(m.error) @ U / self._weights(new)
            error = self._size(parts, np.ones_like(parts))
            self._blame(parts)
            if error <= 1 and np.all(np.isfinite(new)):
                break
            count.rejected += 1
            self._rejected = True
            if math.isfinite(error) and np.all(np.isfinite(new)):
                tenths = 0
                self._h = h * max(c.shrink, c.safety * error ** (-1 / m.exponent))
            else:
                count.bad = new + parts
                tenths += 1
                self._h = h * c.tenth if tenths <= c.tenths else 0.0
        size = max(error, c.smooth)
        factor = c.safety * size ** (-1 / m.exponent)
        if self._before > 0:
            predicted = size ** (-2 / m.exponent) * self._memory ** (1 / m.exponent)
            factor = min(factor, c.safety * h / self._before * predicted)
        self._h = h * min(1.0 if self._rejected else m.growth, max(c.shrink, factor))
        self._before, self._memory, self._rejected = h, max(error, c.patient), False
        self._last = self.t, h, self.y, new, U
        self.t, self.y = self.end if last else self.t + h, new
        if self._small:
            self._note_sizes()
        self.f = self._rates(self.t, new)
        count.add(h)
        self.status = "finished" if last else "running"
        return ""

    def _find_slopes(self, h: float) -> tuple[np.ndarray, np.ndarray]:
        """Slopes of the rates by states and by time."""
        t, y, k = self.t, self.y, self.f
        least = np.maximum(self._atol / self._rtol, NEWTON.least_moved)
        found = found_slopes(self._known, self._rates, t, y, k, least, self._afresh)
        self.count.slopes += 1
        k = self._rates(t, y) if self._afresh else k
        moved = t + (NEWTON.moment * h + NEWTON.difference * abs(t))
        return found, (self._rates(moved, y) - k) / (moved - t)

    def _stages(self, h: float, inverse: np.ndarray, by_time: np.ndarray) -> np.ndarray:
        m = self.method
        U = np.zeros((len(m.nodes), len(self.y)))
        for i, (node, d, before, coupled) in enumerate(zip(m.nodes, m.d, m.A, m.C, strict=True)):
            k = self._rates(self.t + node * h, self.y + np.array(before) @ U[:i]) if i else self.f
            U[i] = inverse @ (k + h * d * by_time + (np.array(coupled) @ U[:i] / h if i else 0.0))
        return U

    def dense_output(self) -> Callable[[float], np.ndarray]:
        """States within the last step."""
        t, h, y, new, U = self._last
        K = np.array(self.method.dense) @ U

        def at(time: float) -> np.ndarray:
            x = (time - t) / h
            return np.asarray(y + x * (new - y + (1 - x) * (K[0] + x * (K[1] + x * K[2]))))

        return at
