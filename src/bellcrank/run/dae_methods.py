"""Methods for differential-algebraic equations: M u' = f + J' lambda with g(q, t) = 0 and v = J u + b = 0.

Every step of every method is a solution of M x = f + J' lambda with J x = r, in which only f and r differ:
accelerations, stabilised accelerations, and corrections, which are then the smallest ones in the metric of M (X =
M^-1). It is found on the null space of J, so links may be massless and rows may repeat others. Corrections of q obey
all rows of v, so wheels that roll do not slip in them. Van Iwaarden, Vehicle dynamics from partial vehicles (2003),
chapters 1 and 3; Hairer, Lubich & Roche, The numerical solution of differential-algebraic systems by Runge-Kutta
methods (1989), for half-explicit methods. Compiled models have the same rules in C (`emit/c/runtime/dae.c`).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from bellcrank.backend.protocol import Calls
from bellcrank.backend.start import DAE_METHODS, Carried
from bellcrank.errors import ModelError, did_you_mean
from bellcrank.numeric.course import At, Part
from bellcrank.numeric.integrate import Rates, time_of
from bellcrank.numeric.methods import METHODS
from bellcrank.numeric.null_space import null_space
from bellcrank.numeric.projection import Admitted
from bellcrank.numeric.redundant import Numbers
from bellcrank.numeric.tuning import MULTIPLIERS
from bellcrank.run.stepping import Evaluation, PythonRun

MINIMAL = "minimal"  # coordinates: dependent ones follow at every stage
KNOWN = (*DAE_METHODS, MINIMAL)
BASES = ("index-1", "free fall")
METRICS = ("cheapest", "mass")
WITH_BASE = ("projection", "stabilised", "post")


@dataclass(frozen=True)
class Dae:
    """A method that keeps constraints in a run, with its settings.

    `alpha`, `beta` (1/s): of "baumgarte", J u' = gamma - 2 alpha v - beta^2 g. `gamma` (1/s): of "stabilised".
    `base`: what the methods "projection", "stabilised" and "post" correct: "index-1", the accelerations with
    multipliers, or "free fall", those without, which is wrong and there to show what comes of it. `metric`: of
    "projection", in which corrections are smallest: "cheapest" moves dependent coordinates alone where it can, "mass"
    all of them. "minimal" integrates independent coordinates and speeds alone: the others follow from the constraints
    at every stage.
    """

    method: str = "projection"
    alpha: float = 10.0
    beta: float = 10.0
    gamma: float = 10.0
    base: str = "index-1"
    metric: str = "cheapest"

    def __post_init__(self) -> None:
        problems = []
        for name, known in (("method", KNOWN), ("base", BASES), ("metric", METRICS)):
            given = getattr(self, name)
            if given not in known:
                near = did_you_mean(str(given), known)
                problems.append(f"dae: {name}={given!r} is not known.{near} It is one of {', '.join(known)}.")
        for name in ("alpha", "beta", "gamma"):
            given = getattr(self, name)
            if isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given < np.inf:
                problems.append(f"dae: {name}={given!r} must be a number of at least 0 (1/s)")
        if not problems and self.base != "index-1" and self.method not in WITH_BASE:
            problems.append(f"dae: base={self.base!r} belongs to {', '.join(WITH_BASE)}, not to {self.method!r}")
        if problems:
            raise ModelError(problems)

    @property
    def usual(self) -> bool:
        """Is it the default, or in minimal coordinates, so that no multipliers are needed?"""
        plain = self.method == "projection" and self.base == "index-1" and self.metric == "cheapest"
        return plain or self.staged

    @property
    def staged(self) -> bool:
        """Are the equations those of minimal coordinates, with loops closed at every stage of a step?"""
        return self.method == MINIMAL


USUAL = Dae()


def as_dae(given: str | Dae) -> Dae:
    """A method by its name, or as it is."""
    return given if isinstance(given, Dae) else Dae(str(given).lower())


class Redundant:
    """The redundant equations of a model as functions of what programs are called with; `model`: the one in Python."""

    def __init__(self, model: Calls) -> None:
        program, loops = model.program, model.program.loops
        assert loops is not None
        self.values, self.paired, self.scales = model.values, loops.paired, loops.scales
        self.sizes = loops.sizes(len(program.coordinates))
        self.n_q, self.n_u, self.n_g, self.n_v = map(len, (program.coordinates, program.speeds, loops.g, loops.v))

    def numbers(self, at: At) -> Numbers:
        return self.sizes.split(self.values("system", *at))

    def moved(self, at: At, x: np.ndarray) -> np.ndarray:
        """How coordinates change with speeds x: q' is linear in them."""
        t, q, _, p, c, w = at
        with_x, without = (self.values("coordinate_rates", t, q, u, p, c, w) for u in (x.tolist(), [0.0] * self.n_u))
        return np.array(with_x) - np.array(without)

    def rows(self, at: At) -> tuple[np.ndarray, np.ndarray]:
        """v and J."""
        first = self.n_g * (1 + self.n_q)
        flat = np.array(self.values("closure", *at))
        return flat[first : first + self.n_v], flat[first + self.n_v :].reshape(self.n_v, self.n_u)

    def unit_sizes(self, at: At) -> np.ndarray:
        """What brings Euler parameters to unit size."""
        flat, n_q = np.array(self.values("closure", *at)), self.n_q
        change = np.zeros(n_q)
        for i in range(self.paired, self.n_g):
            G = flat[self.n_g + i * n_q : self.n_g + (i + 1) * n_q]
            change -= G * flat[i] / (G @ G)
        return change

    def solve(self, n: Numbers, f: np.ndarray, right: np.ndarray, J: np.ndarray | None = None) -> np.ndarray:
        """x of M x = f + n.J' lambda with J x = right; J: that of n unless given."""
        T, c = self._basis(n.J if J is None else J, right)
        L = T if J is None else self._basis(n.J, right)[0]
        if L.shape != T.shape:
            return np.full(self.n_u, np.nan)
        try:
            a = np.linalg.solve(L.T @ n.M @ T, L.T @ (f - n.M @ c))
        except np.linalg.LinAlgError:
            return np.full(self.n_u, np.nan)
        return np.asarray(T @ a + c)

    def free(self, n: Numbers) -> np.ndarray:
        """Accelerations without constraints."""
        try:
            return np.asarray(np.linalg.solve(n.M, n.f))
        except np.linalg.LinAlgError:
            return np.full(self.n_u, np.nan)

    def _basis(self, J: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """T with J T = 0, c with J c = right."""
        s = self.scales
        T, c, _ = null_space(J, right, s.rank_v, s.rows, s.columns, s.usual)
        return T, c


@dataclass(frozen=True)
class DaeEvaluation(Evaluation):
    """An evaluation whose rates are those of a method. `rates` freezes the residuals at the start of a step."""

    dae: Dae = Dae()
    redundant: Redundant = None  # type: ignore[assignment]
    step: float = 0.0
    frozen: list[np.ndarray] = field(default_factory=list)

    @property
    def bound(self) -> None:
        """The method is not part of compiled rates."""

    def afresh(self, t: float, y: np.ndarray) -> Self:
        return replace(self, frozen=[])

    def rates(self, t: float, y: np.ndarray) -> np.ndarray:
        n = self.redundant.numbers(self.at(t, y))
        self.frozen[:] = [n.g, n.v]
        return self._rates(t, y, n)

    def stage(self, t: float, y: np.ndarray) -> np.ndarray:
        """Rates within a step."""
        return self._rates(t, y, self.redundant.numbers(self.at(t, y)))

    def _rates(self, t: float, y: np.ndarray, n: Numbers) -> np.ndarray:
        r, d, h, zero = self.redundant, self.dae, self.step, np.zeros(self.n_s - self.n_q)
        qd, right = n.qd, n.gamma
        if d.method == "dlmm":
            g, v = self.frozen
            right = right - v / h
            qd = qd + r.moved(self.at(t, y), r.solve(n, zero, -(n.v + g / h)))
        elif d.method == "baumgarte":
            right = right - 2 * d.alpha * n.v - d.beta**2 * n.g
        ud = r.free(n) if d.base == "free fall" else r.solve(n, n.f, right)
        if d.method == "stabilised":
            qd = qd - d.gamma * r.moved(self.at(t, y), r.solve(n, zero, n.g))
            ud = ud - d.gamma * r.solve(n, zero, n.v)
        return np.concatenate([qd, ud])

    def corrected(self, t: float, y: np.ndarray) -> np.ndarray:
        """A new state with the correction that the method makes after a step."""
        r, n_q = self.redundant, self.n_q
        if r.n_g > r.paired:
            y = np.concatenate([y[:n_q] + r.unit_sizes(self.at(t, y)), y[n_q:]])
        if self.dae.method not in ("post", "projection"):
            return y
        zero = np.zeros(self.n_s - n_q)
        n = r.numbers(self.at(t, y))
        for _ in range(1 if self.dae.method == "post" else MULTIPLIERS.newton):
            if np.abs(n.g).max(initial=0.0) < MULTIPLIERS.closed:
                break
            y = np.concatenate([y[:n_q] - r.moved(self.at(t, y), r.solve(n, zero, n.g)), y[n_q:]])
            n = r.numbers(self.at(t, y))
        return np.concatenate([y[:n_q], y[n_q:] - r.solve(n, zero, n.v)])

    def half_explicit(self, method: str, part: Part, y: np.ndarray) -> np.ndarray:
        """A step whose multipliers let the speeds of each following stage satisfy the constraints."""
        r, n_q, h = self.redundant, self.n_q, part.h
        places, weights = METHODS[method].nodes, METHODS[method].result.shares
        times = [time_of(place, (part.t, part.middle, part.before), h) for place in places]
        q, u = y[:n_q], y[n_q:]
        total_q, total_u, state = q.copy(), u.copy(), y
        for i, weight in enumerate(weights):
            n = r.numbers(self.at(times[i], state))
            total_q += h * weight * n.qd
            last = i == len(weights) - 1
            reach = weight if last else places[i + 1]
            next_q, base = (total_q, total_u) if last else (q + h * reach * n.qd, u)
            at = self.at(part.before if last else times[i + 1], np.concatenate([next_q, base]))
            v, J = r.rows(at)
            ud = r.solve(n, n.f, -v / (h * reach), J)
            total_u += h * weight * ud
            state = np.concatenate([next_q, base + h * reach * ud]) if not last else state
        return np.concatenate([total_q, total_u])


class DaeRun(PythonRun):
    """A run of a constrained model by one of the methods, driven by Python."""

    evaluation: DaeEvaluation

    def carried(self) -> Carried:
        found = super().carried()
        return replace(found, inside={**(found.inside or {}), "frozen": list(self.evaluation.frozen)})

    def take(self, carried: Carried) -> None:
        super().take(carried)
        if self._begun and carried.inside is not None:
            self.evaluation.frozen[:] = carried.inside["frozen"]

    def moved(self, part: Part, inner: Rates) -> tuple[np.ndarray, Admitted | None]:
        e, method = self.evaluation, self.course.method
        if e.dae.method == "half-explicit":
            new = e.half_explicit(method, part, self.state)
        else:
            times = part.t, part.middle, part.before
            new = self._advance(e.stage, times, self.state, part.h, self.rates, self.old(part))
        if np.all(np.isfinite(new)):
            new = e.corrected(part.before, new)
        return new, None
