"""Nonlinear least squares with what a reader of the result needs: covariance, and what the data
cannot determine.

In:  unknowns with bounds, and a function that computes errors at many points at once. Out:
`LeastSquaresSolution`. Derivatives are central differences, whose points are computed as one
batch. The noise of each channel is estimated from its errors unless weights are given, and
channels are weighted by it (maximum likelihood of independent normal errors). Seber & Wild,
Nonlinear Regression (1989), ch. 2, 5 and 12.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bellcrank.core.errors import ModelError, RunError

Array = np.ndarray[Any, Any]
Errors = Callable[[Array], Array]
"""Points (k x unknowns) -> simulated minus measured (k x samples), nan where a run failed."""

APART = 1e-3  # of the size of an unknown, between the points of a difference
SMALL = 0.01  # of the size of an unknown: a value below it counts as zero
ROUNDS = 5  # of estimates of the noise
SETTLED = 0.01  # relative change of the noise, from which on it is known
FLOOR = 1e-7  # of the range of a channel, below which its errors are no noise
FAILED = 1e3  # times the range of a channel: the error of a run that failed
NO_INFLUENCE = 1e-9  # of the largest derivative
DEPENDENT = 3e-5  # smallest singular value of derivatives whose columns have length 1
# of a unit vector, above which an unknown takes part in a combination: errors of derivatives are
# smaller
PART = 1e-3
TOLERANCE = 1e-8  # relative change of the sum of squares, and of the unknowns
STRONG, MEMORY = (
    0.98,
    0.3,
)  # correlations that are noted: between unknowns, between successive errors


@dataclass(frozen=True)
class FitUnknown:
    """What is searched for: the value to begin with, its bounds, and its size, by which it is
    scaled."""

    name: str
    start: float
    low: float
    high: float
    size: float
    unit: str = ""
    label: str = ""


@dataclass(frozen=True, eq=False)
class LeastSquaresSolution:
    """Values, covariance (inf on the diagonal for what the data do not determine), standard
    deviation of the errors by channel, number of samples less unknowns, `problems` that call for a
    warning, and notes."""

    values: Array
    covariance: Array
    noise: Array
    degrees: int
    evaluations: int
    converged: bool
    problems: tuple[str, ...]
    notes: tuple[str, ...]


def solve_least_squares(
    unknowns: Sequence[FitUnknown],
    errors: Errors,
    channel: Array,
    ranges: Array,
    names: Sequence[str],
    weights: Array | None = None,
    max_iterations: int = 50,
    progress: Callable[[float], None] | None = None,
) -> LeastSquaresSolution:
    """Searches; `channel`: that of each sample, `ranges`: of the measurements of each channel,
    `names`: of channels,
    `weights`: one over the noise of each channel, `max_iterations`: iterations of each round."""
    search = _LeastSquaresSearch(unknowns, errors, channel, ranges, max_iterations, progress)
    count, p = len(channel), len(unknowns)
    if count <= p:
        raise ModelError(f"fit: {count} samples cannot determine {p} unknowns")
    floor = np.maximum(FLOOR * ranges, np.finfo(float).tiny)
    noise = np.maximum(ranges, floor) if weights is None else 1 / weights
    x = search.first
    for _ in range(ROUNDS):
        x, J, converged = search.minimize(x, 1 / noise)
        channel_noise = search.channel_noise(x)
        if weights is not None or len(ranges) == 1:  # weights of one channel change nothing
            break
        next_noise = np.maximum(channel_noise, floor)
        settled = bool(
            np.all(np.abs(next_noise / noise - 1) < SETTLED) or np.all(next_noise == floor)
        )
        noise = next_noise
        if settled:
            break
    J = J * (1 / noise)[channel][:, None]
    weighted_errors = search.errors_at(x) * (1 / noise)[channel]
    variance = float(weighted_errors @ weighted_errors) / (count - p)
    covariance, problems = _covariance(unknowns, J, variance)
    values = x * search.size
    channel_noise = search.channel_noise(x) * math.sqrt(count / (count - p))
    notes = [*_bound_notes(unknowns, values), *_correlation_notes(unknowns, covariance)]
    notes += (
        _autocorrelation_notes(search.errors_at(x), channel, names)
        if not np.all(channel_noise <= 10 * floor)
        else []
    )
    problems = [*problems, *_poorly_determined_notes(unknowns, values, covariance)]
    if not converged:
        problems.append(
            f"the search did not converge within {max_iterations} iterations; give better "
            f"start values or bounds"
        )
    return LeastSquaresSolution(
        values,
        covariance,
        channel_noise,
        count - p,
        search.evaluations,
        converged,
        tuple(problems),
        tuple(notes),
    )


class _LeastSquaresSearch:
    """Errors and their derivatives over scaled unknowns."""

    def __init__(
        self,
        unknowns: Sequence[FitUnknown],
        errors: Errors,
        channel: Array,
        ranges: Array,
        max_iterations: int,
        progress: Callable[[float], None] | None,
    ) -> None:
        self.size = np.array([u.size for u in unknowns])
        self.low, self.high = (
            np.array([getattr(u, end) for u in unknowns]) / self.size for end in ("low", "high")
        )
        self.first = np.clip(np.array([u.start for u in unknowns]) / self.size, self.low, self.high)
        self.errors, self.channel, self.most, self.progress = (
            errors,
            channel,
            max_iterations,
            progress,
        )
        self.failed = FAILED * np.maximum(ranges, np.finfo(float).tiny)[channel]
        self.evaluations, self.kept = 0, dict[bytes, Array]()
        if not np.isfinite(self.evaluate_errors(self.first[None, :])[0]).all():
            raise RunError(
                "fit: the run with the start values fails; try it with sim.simulate, or "
                "give others (start=)"
            )

    def evaluate_errors(self, points: Array) -> Array:
        self.evaluations += len(points)
        return self.errors(points * self.size)

    def errors_at(self, x: Array) -> Array:
        key = x.tobytes()
        if key not in self.kept:
            values = self.evaluate_errors(x[None, :])[0]
            self.kept = {key: np.where(np.isfinite(values).all(), values, self.failed)}
        return self.kept[key]

    def jacobian(self, x: Array) -> Array:
        """By differences between points on both sides, one of which is at a bound where that is
        near."""
        points, n = np.repeat(x[None, :], 2 * len(x), axis=0), len(x)
        for i in range(n):
            h = APART * min(max(abs(x[i]), SMALL), 1.0)
            points[2 * i, i] = min(x[i] + h, self.high[i])
            points[2 * i + 1, i] = max(x[i] - h, self.low[i])
        errors = self.evaluate_errors(points)
        widths = np.array([points[2 * i, i] - points[2 * i + 1, i] for i in range(n)])
        J = ((errors[0::2] - errors[1::2]) / widths[:, None]).T
        if not np.isfinite(J).all():
            raise RunError(
                "fit: runs next to the values found fail, so that derivatives are not "
                "known; give bounds"
            )
        return np.asarray(J)

    def minimize(self, x: Array, weights: Array) -> tuple[Array, Array, bool]:
        """The least sum of squares: where it is, derivatives of the errors there, and whether the
        search ended."""
        from scipy.optimize import least_squares

        w = weights[self.channel]
        step = 0

        def jacobian(z: Array) -> Array:
            nonlocal step
            step += 1
            if self.progress is not None:
                self.progress(1 - 1 / (1 + step / 5))
            return self.jacobian(z) * w[:, None]

        result = least_squares(
            lambda z: self.errors_at(z) * w,
            np.clip(x, self.low, self.high),
            jac=jacobian,
            bounds=(self.low, self.high),
            x_scale="jac",
            method="trf",
            ftol=TOLERANCE,
            xtol=TOLERANCE,
            gtol=1e-12,
            max_nfev=self.most,
        )
        return np.asarray(result.x), np.asarray(result.jac) / w[:, None], bool(result.status > 0)

    def channel_noise(self, x: Array) -> Array:
        """Root mean square of the errors of each channel."""
        square = np.bincount(self.channel, self.errors_at(x) ** 2)
        return np.sqrt(square / np.bincount(self.channel))


def _covariance(
    unknowns: Sequence[FitUnknown], J: Array, variance: float
) -> tuple[Array, list[str]]:
    """In the units of the unknowns; what the data do not determine has an infinite variance."""
    length, size = np.linalg.norm(J, axis=0), np.array([u.size for u in unknowns])
    n, problems = len(unknowns), []
    inactive = length <= NO_INFLUENCE * max(length.max(), np.finfo(float).tiny)
    for u in (u for u, i in zip(unknowns, inactive, strict=True) if i):
        problems.append(f"'{u.name}' is not identifiable: it has no influence on the channels")
    unknown = inactive.copy()
    covariance = np.full((n, n), np.nan)
    active = np.flatnonzero(~inactive)
    if len(active):
        scaled = J[:, active] / length[active]
        _, singular, Vt = np.linalg.svd(scaled, full_matrices=False)
        for v in Vt[singular < DEPENDENT]:
            part = active[np.abs(v) > PART]
            unknown[part] = True
            names = ", ".join(f"'{unknowns[i].name}'" for i in part)
            problems.append(
                f"{names} are not identifiable one by one: their changes have the same "
                f"effect on the "
                "channels; fix one of them, or measure more channels or runs"
            )
        determined = singular >= DEPENDENT
        factor = (Vt[determined].T / singular[determined]).T
        scaled_covariance = factor.T @ factor * variance
        covariance[np.ix_(active, active)] = (
            scaled_covariance
            / np.outer(length[active], length[active])
            * np.outer(size[active], size[active])
        )
    covariance[unknown, :] = covariance[:, unknown] = np.nan
    covariance[unknown, unknown] = np.inf
    return covariance, problems


def correlation_of(covariance: Array) -> Array:
    """Correlation coefficients; nan where the variance is not finite."""
    deviation = np.sqrt(np.diag(covariance))
    with np.errstate(invalid="ignore", divide="ignore"):
        coefficients = covariance / np.outer(deviation, deviation)
    np.fill_diagonal(coefficients, 1.0)
    return np.asarray(coefficients)


def _poorly_determined_notes(
    unknowns: Sequence[FitUnknown], values: Array, covariance: Array
) -> list[str]:
    """What is determined worse than its own size."""
    notes = []
    for u, value, variance in zip(unknowns, values, np.diag(covariance), strict=True):
        error = math.sqrt(variance)
        if math.isfinite(error) and error > abs(value) and (u.start != 0 or error > u.size):
            error_text = f"{error:.3g} {u.unit}".rstrip()
            notes.append(
                f"'{u.name}' is hardly determined by the data: its standard error, "
                f"{error_text}, exceeds its value, "
                f"{value:.3g}"
            )
    return notes


def _bound_notes(unknowns: Sequence[FitUnknown], values: Array) -> list[str]:
    notes = []
    for u, value in zip(unknowns, values, strict=True):
        bounds = [
            (end, word) for end, word in ((u.low, "lower"), (u.high, "upper")) if math.isfinite(end)
        ]
        for end, word in bounds:
            if abs(value - end) <= 1e-6 * (
                u.high - u.low if math.isfinite(u.high - u.low) else u.size
            ):
                notes.append(
                    f"'{u.name}' is at its {word} bound, {end:.6g} {u.unit}".rstrip()
                    + ": intervals that count on free values do not hold"
                )
    return notes


def _correlation_notes(unknowns: Sequence[FitUnknown], covariance: Array) -> list[str]:
    r = correlation_of(covariance)
    return [
        f"'{unknowns[i].name}' and '{unknowns[j].name}' are strongly correlated "
        f"({r[i, j]:.4f}): the data determine a "
        "combination of both better than each"
        for i in range(len(unknowns))
        for j in range(i)
        if abs(r[i, j]) > STRONG
    ]


def _autocorrelation_notes(errors: Array, channel: Array, names: Sequence[str]) -> list[str]:
    """Successive errors that are alike are no independent noise: the model or its inputs differ
    from the truth."""
    notes = []
    for k, name in enumerate(names):
        e = errors[channel == k]
        e = e - e.mean()
        r = float(e[1:] @ e[:-1] / (e @ e)) if e.any() else 0.0
        if r > MEMORY:
            factor = math.sqrt((1 + min(r, 0.999)) / (1 - min(r, 0.999)))
            notes.append(
                f"successive errors of '{name}' are correlated ({r:.2f}): model and "
                f"measurement differ by more than "
                f"noise, and standard errors may be too small by a factor of about {factor:.2g}"
            )
    return notes
