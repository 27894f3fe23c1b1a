"""Radau IIA of order 5 for stiff motion: steps over one state array; compiled models have the same in C.

Hairer & Wanner, Solving Ordinary Differential Equations II (1996), section IV.8. The three stages are found by
Newton's method in coordinates in which one real and one complex linear system stand for them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from .adapt import Control, Count
from .collocation import Collocation
from .integrate import Rates
from .tuning import CONTROL, NEWTON

Slopes = Callable[[float, np.ndarray], np.ndarray | None]  # of rates by states; columns that are not known: not finite


def found_slopes(
    known: Slopes | None, rates: Rates, t: float, y: np.ndarray, k: np.ndarray, least: float | np.ndarray, afresh: bool
) -> np.ndarray:
    """Slopes of rates, which are k at y: columns that are not known by differences; states count as `least` at least.
    `afresh`: k is to be found again, as what routines remember has changed since."""
    found = None if known is None else known(t, y)
    slopes = np.full((len(y), len(y)), math.nan) if found is None else found
    missing, sizes = np.flatnonzero(~np.isfinite(slopes).all(axis=0)), np.maximum(np.abs(y), least)
    if afresh and len(missing):
        k = rates(t, y)
    for j in missing:
        moved = y.copy()
        moved[j] += NEWTON.difference * sizes[j]
        slopes[:, j] = (rates(t, moved) - k) / (moved[j] - y[j])
    return slopes


def in_places(values: Sequence[float], places: Sequence[tuple[int, int]], columns: Sequence[int], n: int) -> np.ndarray:
    """Slopes of n rates by n states: values at their places, zero elsewhere in columns that are known, others not."""
    found = np.full((n, n), math.nan)
    found[:, list(columns)] = 0.0
    if len(places):
        rows, across = zip(*places, strict=True)
        found[rows, across] = values
    return found


class Trial:
    """Stiff steps held against explicit ones, which the fastest mode would hold. `costs`: of slopes, of systems
    factored and of systems solved, in evaluations of rates."""

    def __init__(self, costs: tuple[float, float, float]) -> None:
        self._costs = costs
        self._fastest = self._first = 0.0  # rate of the fastest mode, and where the explicit method left
        self._gained = self._spent = 0.0  # in the present trial: time; cost before it
        self._tried = 0

    def _cost(self, count: Count) -> float:
        slopes, factor, solve = self._costs
        return count.rates + slopes * count.slopes + factor * count.factors + solve * count.solved

    def begin(self, count: Count, tried: int) -> None:
        """A trial begins after so many steps."""
        self._tried, self._gained, self._spent = tried, 0.0, self._cost(count)

    def see(self, slopes: np.ndarray) -> None:
        """New slopes."""
        self._fastest = fastest_mode(slopes)
        self._first = self._first or self._fastest

    def judge(self, count: Count, h: float, t: float) -> None:
        """After a step: would explicit ones come on sooner? The first of a stretch, which grow, do not count."""
        self._gained += h
        self._tried += 1
        if self._tried % CONTROL.trial_steps:
            return
        cost = self._cost(count) - self._spent
        explicit = self._gained * self._fastest / (count.pace * self._first) if self._first else 0.0
        if self._tried > CONTROL.trial_steps and CONTROL.sooner * explicit < cost:
            count.held, count.backs, count.went_back = False, count.backs + 1, t
            self._first = 0.0
        self.begin(count, self._tried)


def fastest_mode(slopes: np.ndarray) -> float:
    """The rate of the fastest mode: by how much slopes lengthen a vector, in the mean of the last of many times."""
    x, sizes = np.where(np.arange(len(slopes)) % 2, -1.0, 1.0), []
    for _ in range(CONTROL.turns_of_rate):
        x = slopes @ x
        sizes.append(float(np.sqrt(x @ x)))
        if not sizes[-1] > 0:
            return 0.0
        x = x / sizes[-1]
    return math.exp(float(np.mean(np.log(sizes[CONTROL.turns_of_rate // 2 :]))))


class StiffStretch(Control):
    """Steps of Radau IIA from t to an end, called as `Stretch` is."""

    def __init__(
        self, method: Collocation, rates: Rates, t: float, y: np.ndarray, end: float, rtol: float,
        atol: float | np.ndarray, count: Count, first_step: float | None = None, caps: float | np.ndarray = math.inf,
        f: np.ndarray | None = None, slopes: Slopes | None = None, afresh: bool = False,
        trial: Trial | None = None, groups: np.ndarray | None = None,
    ) -> None:  # fmt: skip
        super().__init__(rates, t, y, end, rtol, atol, count, caps, f, groups)
        self.method, self._known, self._afresh, self._trial = method, slopes, afresh, trial
        if trial is not None:
            trial.begin(count, 0)
        self._to, self._back = np.array(method.to), np.array(method.back)
        self._h = self._first(method.first_order) if first_step is None else first_step
        self._slopes: np.ndarray | None = None
        self._fresh = self._middle = self._rejected = False
        self._factored: tuple[float, np.ndarray, np.ndarray] | None = None
        self._memory, self._before, self._eta = CONTROL.patient, 0.0, 1.0
        self._parts: np.ndarray | None = None  # of states within the last step
        self._last = (t, 0.0, self.y)
        self._tolerance = max(10 * NEWTON.rounding / rtol, min(NEWTON.left_over, math.sqrt(rtol)))

    def step(self) -> str:
        """One step that is accepted; "" or, if there is none, why."""
        c, m, count = CONTROL, self.method, self.count
        tenths = 0
        while True:
            if hindered := self._hindered(tenths):
                return hindered
            h, last = self._fitted()
            Z, turns, theta, slow = self._stages(h)
            if slow != 0.0:
                tenths = self._retry(h, Z, turns, theta, slow, tenths)
                continue
            new, error, parts = self._error(h, Z)
            self._blame(parts)
            safety = c.safety * 17 / (16 + turns)
            if error <= 1 and np.all(np.isfinite(new)):
                break
            count.rejected += 1
            self._rejected = True
            if math.isfinite(error):
                tenths = 0
                self._h = h * max(c.shrink, safety * error ** (-1 / m.exponent))
            else:
                count.bad = new + parts
                tenths += 1
                self._h = h * c.tenth if tenths <= c.tenths else 0.0
        factor = self._growth(h, error, safety)
        self._parts = _divided(m, Z)
        self._last = self.t, h, new
        self.t, self.y = self.end if last else self.t + h, new
        if self._small:
            self._note_sizes()
        self.f = self._rates(self.t, new)
        count.add(h)
        if theta > NEWTON.kept or self._middle:
            self._slopes = None
        self._rejected = self._fresh = self._middle = False
        steady = self._slopes is not None and 1.0 <= factor <= NEWTON.steady
        self._h = h if steady else h * factor
        if self._trial is not None:
            self._trial.judge(count, h, self.t)
        self.status = "finished" if last else "running"
        return ""

    def _retry(self, h: float, Z: np.ndarray, turns: int, theta: float, slow: float, tenths: int) -> int:
        """What is tried after Newton's method has not converged; how often a tenth of a step was taken by now."""
        c, count = CONTROL, self.count
        count.rejected += 1
        count.failures += 1
        self._rejected, self._eta = True, 1.0
        if not math.isfinite(theta):
            tenths += 1
            self._h = c.tenth * h if tenths <= c.tenths else 0.0
            self._slopes = None
            count.bad = self.y + Z[2] + theta
        elif not self._fresh:
            self._slopes = None
            self._h = h
        elif not self._middle and theta < 2:
            self._find_slopes(self.t + self.method.nodes[1] * h, self.y + Z[1])
            self._middle, self._h = True, h
        elif slow < NEWTON.hopeless:
            self._h = h * max(0.3, 0.8 * min(20.0, slow) ** (-1 / (10 - turns)))
        else:
            self._h = 0.5 * h
        return tenths

    def _growth(self, h: float, error: float, safety: float) -> float:
        """By how much the next step is longer than one with this error, as the two before it predict."""
        c, m = CONTROL, self.method
        size = max(error, c.smooth)
        factor = safety * size ** (-1 / m.exponent)
        if self._before > 0:
            factor = min(
                factor, c.safety * h / self._before * size ** (-2 / m.exponent) * self._memory ** (1 / m.exponent)
            )
        self._before, self._memory = h, max(error, c.patient)
        return min(1.0 if self._rejected else m.growth, max(c.shrink, factor))

    def _find_slopes(self, t: float, y: np.ndarray) -> None:
        k = self.f if y is self.y else self._rates(t, y)
        least = np.maximum(self._atol / self._rtol, NEWTON.least_moved)
        self._slopes = found_slopes(self._known, self._rates, t, y, k, least, self._afresh)
        self.count.slopes += 1
        self._fresh, self._factored = True, None
        if self._trial is not None:
            self._trial.see(self._slopes)

    def _factor(self, h: float) -> tuple[np.ndarray, np.ndarray]:
        """Inverses of the two matrices."""
        m = self.method
        if self._slopes is None:
            self._find_slopes(self.t, self.y)
        assert self._slopes is not None
        if self._factored is None or self._factored[0] != h:
            one = np.eye(len(self.y))
            self._factored = (
                h,
                np.linalg.inv(m.real / h * one - self._slopes),
                np.linalg.inv(complex(*m.pair) / h * one - self._slopes),
            )
            self.count.factors += 1
        return self._factored[1:]

    def _stages(self, h: float) -> tuple[np.ndarray, int, float, float]:
        """Newton's method: the stages less the state, iterations, how fast it converges (nan: nowhere), and 0 or, where
        it does not, by how much it is too slow."""
        m, n = self.method, len(self.y)
        Z = np.zeros((3, n))
        try:
            real, pair = self._factor(h)
        except np.linalg.LinAlgError:
            return Z, 0, 2.0, NEWTON.hopeless
        weights = self._weights(self.y)
        if self._parts is not None:
            for i, node in enumerate(m.nodes):
                x = 1 + node * h / self._before
                Z[i] = _within(m, self._parts, x)
        W = self._to @ Z
        self._eta = max(self._eta, NEWTON.rounding) ** 0.8
        theta = before = 0.0
        for turn in range(NEWTON.newton_turns):
            F = np.array([self._rates(self.t + node * h, self.y + z) for node, z in zip(m.nodes, Z, strict=True)])
            G = self._to @ F
            self.count.solved += 1
            first = real @ (G[0] - m.real / h * W[0])
            both = pair @ (G[1] + 1j * G[2] - complex(*m.pair) / h * (W[1] + 1j * W[2]))
            change = np.array([first, both.real, both.imag]).reshape(3, n)
            W = W + change
            Z = self._back @ W
            size = float(np.sqrt(np.mean(np.square(change / weights)))) if n else 0.0
            if not math.isfinite(size):
                return Z, turn, math.nan, NEWTON.hopeless
            if turn:
                theta = size / before
                rest = NEWTON.newton_turns - 1 - turn
                slow = theta**rest / (1 - theta) * size / self._tolerance if theta < 1 else NEWTON.hopeless
                if slow > 1:
                    return Z, turn, theta, slow
                self._eta = theta / (1 - theta)
            if self._eta * size < self._tolerance or size == 0.0:
                return Z, turn + 1, theta, 0.0
            before = size
        return Z, NEWTON.newton_turns, theta, NEWTON.hopeless

    def _error(self, h: float, Z: np.ndarray) -> tuple[np.ndarray, float, np.ndarray]:
        """The state after a step, its error against the tolerance, and that of each state."""
        real, _ = self._factor(h)
        new, weighted = self.y + Z[2], np.array(self.method.error) @ Z / h
        weights = self._weights(new)
        parts = real @ (self.f + weighted)
        error = self._size(parts, weights)
        if error > 1 and (self._rejected or self._parts is None):
            parts = real @ (self._rates(self.t, self.y + parts) + weighted)
            error = self._size(parts, weights)
        return new, error, parts / weights

    def dense_output(self) -> Callable[[float], np.ndarray]:
        """States within the last step."""
        (t, h, new), parts, m = self._last, self._parts, self.method
        assert parts is not None
        return lambda time: np.asarray(new + _within(m, parts, (time - t) / h))


def _divided(m: Collocation, Z: np.ndarray) -> np.ndarray:
    """Differences of the collocation polynomial about its end."""
    c1, c2, _ = m.nodes
    first, second, third = (Z[1] - Z[2]) / (c2 - 1), (Z[0] - Z[1]) / (c1 - c2), Z[0] / c1
    a, b = (second - first) / (c1 - 1), (second - third) / c2
    return np.array([first, a, a - b])


def _within(m: Collocation, parts: np.ndarray, x: float) -> np.ndarray:
    """The polynomial at x of the step, less the state at its end."""
    c1, c2, _ = m.nodes
    return np.asarray((x - 1) * (parts[0] + (x - c2) * (parts[1] + (x - c1) * parts[2])))
