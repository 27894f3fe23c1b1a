"""Hard points moved until curves of a suspension meet targets: bounded least squares with exact
derivatives.

In:  a linkage, coordinates that may move within limits, and target curves. Out: `HardPointFit`: the
linkage with moved hard points, curves before and after, sensitivities. A residual is the deviation
of a sample over the tolerance of its curve, times its weight, over the root of the number of
samples, so that a curve counts alike for any number of them. Moves count a little, so that of many
solutions the nearest is found.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from bellcrank.core.errors import ModelError
from bellcrank.core.files.atomic import write_text
from bellcrank.core.files.figure_files import new_figure, save_figure
from bellcrank.core.files.record import report_io_errors
from bellcrank.linkage.linkage import Linkage
from bellcrank.linkage.measures import Measures, measure_wheel
from bellcrank.linkage.variants import STEP, VariantFamily

Array = np.ndarray[Any, Any]

AXES = ("x", "y", "z")
AT_LIMIT = 1e-3  # of its range: a coordinate so close to a limit is held by it
MOST_STEPS = 100


@dataclass(frozen=True)
class PointCoordinate:
    """A coordinate of a hard point that may move, from `low` to `high` (m) about its drawn place.
    On an axle with both wheels the point of the other side, `twin`, moves as its mirror image."""

    point: str
    axis: int
    low: float
    high: float
    twin: str | None = None

    @property
    def name(self) -> str:
        return f"{self.point}.{AXES[self.axis]}"


@dataclass(frozen=True)
class TargetCurve:
    """A target: a metric (units of `Measures`) over travel and rack (m), or its change from their
    zeros."""

    name: str
    metric: str
    travel: Array
    rack: Array
    target: Array
    change: bool
    tolerance: float
    weight: float = 1.0
    mode: str = "parallel"

    @property
    def input_name(self) -> str:
        """The input over which it is drawn."""
        return "rack" if np.ptp(self.rack) > 0 else "travel"


@dataclass(frozen=True)
class HardPointFit:
    """Hard points that were found. `before`, `after`: samples of every curve, by its name, in the
    units of its metric;
    `derivatives`: their derivatives at the solution by each coordinate, per m (samples,
    coordinates)."""

    linkage: Linkage
    coordinates: tuple[PointCoordinate, ...]
    moves: Array
    curves: tuple[TargetCurve, ...]
    before: Mapping[str, Array]
    after: Mapping[str, Array]
    derivatives: Mapping[str, Array]
    units: Mapping[str, str]
    evaluations: int
    seconds: float
    notes: tuple[str, ...] = field(default=())

    def __repr__(self) -> str:
        met = sum(self.max_deviation(c.name) <= c.tolerance for c in self.curves)
        return (
            f"Fit({self.linkage.name!r}, {met} of {len(self.curves)} curves met, "
            f"{self.evaluations} evaluations)"
        )

    @property
    def meets_targets(self) -> bool:
        """Whether every sample of every curve is within its tolerance."""
        return all(self.max_deviation(c.name) <= c.tolerance for c in self.curves)

    @property
    def moved_points(self) -> dict[str, tuple[float, float, float]]:
        """Hard points that moved, m, by name."""
        names = dict.fromkeys(
            p for c in self.coordinates for p in (c.point, c.twin) if p is not None
        )
        return {p: self.linkage.points[p] for p in names}

    def max_deviation(self, curve: str, *, before: bool = False) -> float:
        """The largest deviation of a curve from its target, in the unit of its metric."""
        target_curve = next(c for c in self.curves if c.name == curve)
        return float(
            np.abs((self.before if before else self.after)[curve] - target_curve.target).max()
        )

    def sensitivity(self, curve: str) -> dict[str, float]:
        """Root mean square change of a curve per m of each coordinate, at the solution."""
        rms = np.sqrt((self.derivatives[curve] ** 2).mean(axis=0))
        return {c.name: float(x) for c, x in zip(self.coordinates, rms, strict=True)}

    def save(self, path: str | Path) -> Path:
        """Writes a CSV file with the samples of all curves: target, before, after, derivatives by
        coordinates."""
        lines = [
            ",".join(
                (
                    "curve",
                    "travel",
                    "rack",
                    "target",
                    "before",
                    "after",
                    *(c.name for c in self.coordinates),
                )
            )
        ]
        lines.append(
            ",".join(
                ("-", "m", "m", *["unit of the curve"] * 3, *["per m"] * len(self.coordinates))
            )
        )
        for c in self.curves:
            rows = zip(
                c.travel, c.rack, c.target, self.before[c.name], self.after[c.name], strict=True
            )
            for row, derivatives in zip(rows, self.derivatives[c.name], strict=True):
                lines.append(",".join([c.name, *(repr(float(x)) for x in (*row, *derivatives))]))
        report_io_errors("write", Path(path), lambda: write_text(path, "\n".join(lines) + "\n"))
        return Path(path)

    def draw(self, path: str | Path | None = None) -> Any:
        """A matplotlib figure: every curve before and after, with its target and tolerance."""
        rows = -(-len(self.curves) // 3)
        n_columns = min(3, len(self.curves))
        figure = new_figure(3.7 * n_columns + 0.4, 2.7 * rows + 0.5)
        axes = figure.subplots(rows, n_columns, squeeze=False).ravel()
        for axis, c in zip(axes, self.curves, strict=False):
            unit = self.units[c.metric]
            factor, unit = (1000.0, "mm") if unit == "m" else (1.0, unit)
            x = 1000 * (c.rack if c.input_name == "rack" else c.travel)
            low, high = factor * (c.target - c.tolerance), factor * (c.target + c.tolerance)
            axis.fill_between(x, low, high, color="0.85", label="tolerance")
            axis.plot(x, factor * c.target, "k--", linewidth=0.9, label="target")
            axis.plot(
                x, factor * self.before[c.name], color="tab:gray", linewidth=1.2, label="before"
            )
            axis.plot(
                x, factor * self.after[c.name], color="tab:blue", linewidth=1.6, label="after"
            )
            prefix = "change of " if c.change else ""
            axis.set_title(c.name.replace("_", " "), fontsize=9)
            axis.set_xlabel(f"{c.input_name} (mm)", fontsize=8)
            axis.set_ylabel(f"{prefix}{c.metric.replace('_', ' ')} ({unit})", fontsize=8)
            axis.tick_params(labelsize=8)
            axis.grid(True, linewidth=0.4, alpha=0.6)
        for axis in axes[len(self.curves) :]:
            axis.set_axis_off()
        axes[0].legend(fontsize=7)
        figure.suptitle(f"{self.linkage.name}: hard points fitted to targets", fontsize=11)
        return save_figure(figure, path)


def fit_curves(
    linkage: Linkage,
    coordinates: Sequence[PointCoordinate],
    curves: Sequence[TargetCurve],
    move_weight: float = 0.05,
) -> HardPointFit:
    """Moves coordinates within their limits until curves meet their targets as well as they can;
    `move_weight` is the residual of a move by half the range of its coordinate."""
    from scipy.optimize import least_squares

    cpu_start = time.process_time()
    problem = _FitProblem(linkage, coordinates, curves, move_weight)
    low, high = (np.array([getattr(c, end) for c in coordinates]) for end in ("low", "high"))
    zero = np.clip(np.zeros(len(coordinates)), low, high)
    initial = problem.samples(np.zeros(len(coordinates)))
    result = least_squares(
        problem.residuals,
        zero,
        problem.jacobian,
        (low, high),
        x_scale=(high - low) / 2,
        xtol=1e-8,
        ftol=1e-8,
        gtol=1e-12,
        max_nfev=MOST_STEPS,
    )
    shifts = np.asarray(result.x)
    final, derivatives = problem.samples(shifts), problem.derivatives(shifts)
    fitted = Linkage(linkage.chain.moved(problem.point_positions(shifts)))
    notes = []
    if result.status == 0:
        notes.append(f"the search ended after {MOST_STEPS} steps before it settled")
    margins = AT_LIMIT * (high - low)
    limited = [
        c.name
        for c, x, a, b, e in zip(coordinates, shifts, low, high, margins, strict=True)
        if x < a + e or x > b - e
    ]
    if limited:
        notes.append(f"at the limit of their ranges: {', '.join(limited)}")
    return HardPointFit(
        fitted,
        tuple(coordinates),
        shifts,
        tuple(curves),
        initial,
        final,
        derivatives,
        problem.units,
        problem.count,
        time.process_time() - cpu_start,
        tuple(notes),
    )


class _FitProblem:
    """Residuals of targets over moves of coordinates (m), and their derivatives."""

    def __init__(
        self,
        linkage: Linkage,
        coordinates: Sequence[PointCoordinate],
        curves: Sequence[TargetCurve],
        move_weight: float,
    ) -> None:
        self.drawings, self.coordinates, self.curves = VariantFamily(linkage), coordinates, curves
        self.effort = move_weight * 2 / np.array([c.high - c.low for c in coordinates])
        self.units: dict[str, str] = {}
        self.count = 0
        groups: dict[tuple[str, bytes], list[TargetCurve]] = {}
        for c in curves:
            groups.setdefault((c.mode, np.array([c.travel, c.rack]).tobytes()), []).append(c)
        self.groups = list(groups.values())

    def point_positions(self, shifts: Array, lanes: int = 0) -> dict[str, Any]:
        """Hard points after moves; with `lanes`, complex with a step of each coordinate in so many
        poses each."""
        chain, n = self.drawings.linkage.chain, lanes * len(self.coordinates)
        points: dict[str, list[Any]] = {}
        for i, (c, shift) in enumerate(zip(self.coordinates, shifts, strict=True)):
            steps: Any = float(shift)
            if lanes:
                steps = np.full(n, complex(shift))
                steps[i * lanes : (i + 1) * lanes] += 1j * STEP
            for point, sign in ((c.point, 1.0), (c.twin, -1.0 if c.axis == 1 else 1.0)):
                if point is not None:
                    coordinates = points.setdefault(point, list(chain.place(point)))
                    coordinates[c.axis] = coordinates[c.axis] + sign * steps
        return {name: tuple(coordinates) for name, coordinates in points.items()}

    def samples(self, shifts: Array) -> dict[str, Array]:
        """Samples of all curves by name."""
        self.count += 1
        drawn = self.drawings.variant(self.point_positions(shifts))
        samples: dict[str, Array] = {}
        for group in self.groups:
            c = group[0]
            m = measure_wheel(drawn, np.append(c.travel, 0.0), np.append(c.rack, 0.0), c.mode)
            for c in group:
                values = np.asarray(self._column(m, c))
                samples[c.name] = values[:-1] - (values[-1] if c.change else 0.0)
        return {c.name: samples[c.name] for c in self.curves}

    def derivatives(self, shifts: Array) -> dict[str, Array]:
        """Derivatives of all samples by the coordinates, per m (samples, coordinates)."""
        derivatives = {}
        variant = self.drawings.variant(self.point_positions(shifts))
        for group in self.groups:
            c, n = group[0], len(group[0].travel) + 1
            drawn = variant.complex_variant(self.point_positions(shifts, n))
            travel, rack = (
                np.tile(np.append(x, 0.0), len(self.coordinates)) for x in (c.travel, c.rack)
            )
            m = measure_wheel(drawn, travel, rack, c.mode)
            for c in group:
                rows = np.imag(m[c.metric]).reshape(len(self.coordinates), n).T / STEP
                derivatives[c.name] = rows[:-1] - (rows[-1] if c.change else 0.0)
        return derivatives

    def residuals(self, shifts: Array) -> Array:
        try:
            samples = self.samples(shifts)
        except (
            ModelError
        ):  # hard points that cannot be assembled there: the search takes a shorter step
            size = sum(len(c.travel) for c in self.curves) + len(self.coordinates)
            return np.full(size, np.nan)
        blocks = [self._scale(c) * (samples[c.name] - c.target) for c in self.curves]
        return np.concatenate([*blocks, self.effort * shifts])

    def jacobian(self, shifts: Array) -> Array:
        derivatives = self.derivatives(shifts)
        return np.vstack(
            [*(self._scale(c) * derivatives[c.name] for c in self.curves), np.diag(self.effort)]
        )

    def _scale(self, c: TargetCurve) -> float:
        return float(c.weight / c.tolerance / np.sqrt(len(c.travel)))

    def _column(self, m: Measures, c: TargetCurve) -> Array:
        values = m[c.metric]
        self.units[c.metric] = m.units[c.metric]
        if not np.isfinite(values).all():
            raise ModelError(
                f"curve '{c.name}': {c.metric} has no value at some of its samples", m.name
            )
        return values
