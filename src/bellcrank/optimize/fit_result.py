"""Fit: parameters found from measurements, with what is known of their accuracy."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from bellcrank.analysis.tables import Cells, TabularResult
from bellcrank.analysis.view.document import DocumentSection, html_document
from bellcrank.core.errors import ModelError, did_you_mean
from bellcrank.core.files.html import HtmlText, html_table, paragraph, save_page
from bellcrank.core.name_lookup import find_name
from bellcrank.core.numeric.real_numbers import display_text, to_float
from bellcrank.core.unit_notation import typeset_unit
from bellcrank.measured.correlation import HEADS, Correlation, channel_charts, overlay_figure
from bellcrank.optimize.least_squares import correlation_of

Array = np.ndarray[Any, Any]
LEVEL = 0.95
Interval = tuple[float, float]


@dataclass(frozen=True, repr=False, eq=False)
class Fit(TabularResult):
    """Parameters found by least squares, as `bc.optimize.fit` returns them: `fit["k"]` is a value.

    `plot` draws measurements and runs before and after: a row for each channel, a column for each
    recording.

    Attributes
    ----------
    name : str
        Name of the model.
    values, start : dict
        What was found and where the search began, by name, in user units.
    units : dict
        Units by name.
    covariance : ndarray
        Covariance of the values, in their order. Infinite variance: the data do not determine a
        value.
    noise, noise_units : dict
        Standard deviation of the errors by channel, and its unit.
    before, after : tuple of Correlation
        Runs with the start values and with those found, compared with each recording.
    degrees_of_freedom, evaluations : int
        Samples less unknowns, and runs.
    converged : bool
        Whether the search ended by itself.
    notes : tuple of str
        Remarks: what is not identifiable, bounds that were met, correlations.
    states, sensors : tuple of str
        Names of `values` that are initial values, and those that describe sensors; all others are
        parameters.

    Examples
    --------
    >>> import numpy as np
    >>> import bellcrank as bc
    >>> s = bc.System("oscillator")
    >>> mass = s.add_body("mass", translate="x", mass=2, inertia=0)
    >>> spring = s.add_force("spring", magnitude="-k*x", direction=s.inertial.x, at=mass.origin)
    >>> s.set_defaults(k=40)
    >>> sim = s.equations().compile(backend="python")
    >>> log = sim.simulate(1.0, step=0.02, initial={"q(mass)": 1}, parameters={"k": 50})
    >>> fit = bc.optimize.fit(sim, log, ["k"], channels="q(mass)", initial={"q(mass)": 1})
    >>> round(fit["k"], 2), fit.parameters == fit.values
    (50.0, True)
    """

    name: str
    values: dict[str, float]
    start: dict[str, float]
    units: dict[str, str]
    covariance: Array
    noise: dict[str, float]
    noise_units: dict[str, str]
    before: tuple[Correlation, ...]
    after: tuple[Correlation, ...]
    degrees_of_freedom: int
    evaluations: int
    converged: bool
    notes: tuple[str, ...] = ()
    states: tuple[str, ...] = ()
    sensors: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)

    internals = ("labels",)

    def __getitem__(self, name: str) -> float:
        match = find_name(name, self.values, "unknown")
        if match is None:
            suggestion = did_you_mean(str(name), self.values)
            raise ModelError(
                f"'{name}' was not fitted.{suggestion} Fitted: {', '.join(self.values)}."
            )
        return self.values[match]

    def __iter__(self) -> Any:
        return iter(self.values)

    @property
    def parameters(self) -> dict[str, float]:
        """Parameters of the model, for `simulate(parameters=...)`."""
        return {n: x for n, x in self.values.items() if n not in (*self.states, *self.sensors)}

    @property
    def initial(self) -> dict[str, float]:
        """Initial values, for `simulate(initial=...)`."""
        return {n: self.values[n] for n in self.states}

    @property
    def standard_errors(self) -> dict[str, float]:
        """Standard errors by name, in the units of the values."""
        return dict(zip(self.values, np.sqrt(np.diag(self.covariance)).tolist(), strict=True))

    @property
    def correlation(self) -> Array:
        """Correlation coefficients between the values, in their order."""
        return correlation_of(self.covariance)

    def intervals(self, level: float = LEVEL) -> dict[str, Interval]:
        """Compute confidence intervals by Student's distribution.

        Parameters
        ----------
        level : float, default 0.95
            Probability with which an interval contains the true value, if errors are independent
            noise.

        Returns
        -------
        dict
            Lower and upper end by name.
        """
        from scipy.stats import t

        number = to_float(level)
        if number is None or not 0 < number < 1:
            raise ModelError(f"level={display_text(level)} must lie between 0 and 1, such as 0.95")
        factor = float(t.ppf(0.5 + number / 2, self.degrees_of_freedom))
        return {
            n: (x - factor * e, x + factor * e)
            for (n, x), e in zip(self.values.items(), self.standard_errors.values(), strict=True)
        }

    def __repr__(self) -> str:
        return f"Fit({self.name!r}: {', '.join(f'{n} = {x:.6g}' for n, x in self.values.items())})"

    @property
    def _title(self) -> str:
        return (
            f"{self.name}: {len(self.values)} values from {len(self.after)} recordings, "
            f"{self.evaluations} runs"
        )

    def _table_cells(self) -> Cells:
        bounds, errors = self.intervals(), self.standard_errors
        rows = [
            (
                n,
                f"{self.start[n]:.6g}",
                f"{x:.6g}",
                f"{errors[n]:.3g}",
                f"{bounds[n][0]:.6g} to {bounds[n][1]:.6g}",
                typeset_unit(self.units[n]),
            )
            for n, x in self.values.items()
        ]
        return HEAD, rows, "<>>>><"

    def _lines_after_table(self) -> list[str]:
        lines = []
        for i, (old, new) in enumerate(zip(self.before, self.after, strict=True), 1):
            lines += (
                [f"recording {i}, RMS error before and after:"]
                if len(self.after) > 1
                else ["RMS error:"]
            )
            lines += [
                f"  {c}  {old[c].rms:.4g} -> {new[c].rms:.4g} {typeset_unit(new[c].unit)}".rstrip()
                for c in new
            ]
        return [*lines, *(f"note: {n}" for n in self.notes)]

    def _draw(self, path: str | Path | None) -> Any:
        groups = [
            [("measured", new.measured), ("before", old.simulated), ("after", new.simulated)]
            for old, new in zip(self.before, self.after, strict=True)
        ]
        return overlay_figure(groups, list(self.noise), path, f"{self.name}: fit")

    def to_dict(self) -> dict[str, Any]:
        """Collect all results, ready for JSON.

        Returns
        -------
        dict
            Values with standard errors and intervals, covariance, correlation, errors before and
            after, notes. None where a number is not defined.
        """
        bounds, errors = self.intervals(), self.standard_errors
        return {
            "model": self.name,
            "values": {
                n: {
                    "value": x,
                    "unit": self.units[n],
                    "start": self.start[n],
                    "standard_error": _finite_float(errors[n]),
                    "interval": [_finite_float(end) for end in bounds[n]],
                }
                for n, x in self.values.items()
            },
            "level": LEVEL,
            "covariance": [[_finite_float(x) for x in row] for row in self.covariance],
            "correlation": [[_finite_float(x) for x in row] for row in self.correlation],
            "noise": self.noise,
            "before": [correlation.to_dict() for correlation in self.before],
            "after": [correlation.to_dict() for correlation in self.after],
            "degrees_of_freedom": self.degrees_of_freedom,
            "evaluations": self.evaluations,
            "converged": self.converged,
            "notes": list(self.notes),
        }

    def page(self, path: str | Path, *, title: str | None = None) -> Path:
        """Write a report: values with intervals, their correlation, errors before and after, and
        overlays.

        Parameters
        ----------
        path : str or Path
            The .html file.
        title : str, optional
            Title. Default: the name of the model.

        Returns
        -------
        Path
            The file.
        """
        names = list(self.values)
        rows = [
            (n, *(f"{x:.3f}" for x in row)) for n, row in zip(names, self.correlation, strict=True)
        ]
        correlation_table = html_table(["", *names], rows, range(1, len(names) + 1))
        blocks = [
            *self._html_parts()[1:],
            HtmlText("<h3>Correlation of the values</h3>"),
            correlation_table,
        ]
        sections = [DocumentSection("values", "Fitted values", blocks)]
        for i, (old, new) in enumerate(zip(self.before, self.after, strict=True), 1):
            pairs = [
                (run_label, correlation[c])
                for c in new.errors
                for run_label, correlation in (("before", old), ("after", new))
            ]
            lines = [
                ("measured", new.measured),
                ("before", old.simulated),
                ("after", new.simulated),
            ]
            error_tables = [
                html_table(
                    ["", *HEADS],
                    [(run_label, *e.cells) for run_label, e in pairs],
                    range(3, len(HEADS) + 1),
                )
            ]
            sections.append(
                DocumentSection(
                    f"recording{i}",
                    f"Recording {i}: {new.measured.name}",
                    [*error_tables, *channel_charts(lines, list(new.errors))],
                )
            )
        summary = (
            f"{len(names)} values from {len(self.after)} recordings by least squares; intervals "
            f"of {100 * LEVEL:g} %."
        )
        text = html_document(title or f"{self.name}: fit", paragraph(summary), sections)
        return save_page(path, text)


HEAD = ("name", "before", "after", "standard error", f"{100 * LEVEL:g} % interval", "unit")


def _finite_float(x: Any) -> float | None:
    return float(x) if math.isfinite(x) else None
