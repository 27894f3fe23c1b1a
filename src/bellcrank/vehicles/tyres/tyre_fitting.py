"""Fits coefficients of a tyre to measured forces by least squares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bellcrank.core.errors import ModelError, did_you_mean
from bellcrank.core.files.figure_files import new_figure, plot_text, save_figure
from bellcrank.core.files.format_choice import read_contents
from bellcrank.vehicles.tyres.magic_formula import MagicFormula

__all__ = ["fit"]

INPUTS = ("Fz", "kappa", "alpha", "gamma", "p", "V", "phit")
MEASURED = ("Fx", "Fy", "Mx", "My", "Mz")
NEEDED = ("Fz", "kappa", "alpha")


@dataclass(frozen=True)
class Fit:
    """A tyre fitted to measurements, as `bc.vehicles.tyres.fit` returns it.

    Attributes
    ----------
    tyre : MagicFormula
        The fitted tyre.
    coefficients : tuple of str
        Names of the fitted coefficients.
    values, errors, covariance : ndarray
        Their values, standard errors and covariance.
    rms : dict
        Root mean square of what remains of each measured force, in N or N m.
    data, computed : dict
        Measured columns and fitted forces by name.

    Examples
    --------
    >>> import numpy as np
    >>> import bellcrank as bc
    >>> tyre = bc.vehicles.tyres.MagicFormula.read("examples/tyres/book_205_60R15.tir")
    >>> alpha = np.linspace(-0.1, 0.1, 21)
    >>> data = {"Fz": 4000 + 0 * alpha, "kappa": 0 * alpha, "alpha": alpha}
    >>> data["Fy"] = tyre.forces(**data).Fy
    >>> found = bc.vehicles.tyres.fit(data, tyre.scaled(PDY1=0.8), ["PDY1"])
    >>> bool(abs(found.tyre["PDY1"] - tyre["PDY1"]) < 1e-6)
    True
    """

    tyre: MagicFormula
    coefficients: tuple[str, ...]
    values: np.ndarray
    errors: np.ndarray
    covariance: np.ndarray
    rms: Mapping[str, float]
    data: Mapping[str, np.ndarray]
    computed: Mapping[str, np.ndarray]

    def __str__(self) -> str:
        lines = [
            f"{name} = {value:.6g} +- {error:.2g}"
            for name, value, error in zip(self.coefficients, self.values, self.errors, strict=True)
        ]
        return "\n".join(
            [*lines, *(f"{name}: {value:.4g} rms left" for name, value in self.rms.items())]
        )

    def draw(self, path: str | Path | None = None) -> Any:
        """Draw each measured force over slip and slip angle, with the fitted one.

        Parameters
        ----------
        path : str or Path, optional
            File of the picture. Default: none is written.

        Returns
        -------
        matplotlib.figure.Figure
            The figure.
        """
        names = list(self.computed)
        figure = new_figure(5 * len(names), 7)
        axes = figure.subplots(2, len(names), squeeze=False)
        for j, name in enumerate(names):
            for row, (against, factor, words) in enumerate(
                (("alpha", 180 / np.pi, "slip angle (deg)"), ("kappa", 1.0, "slip"))
            ):
                axis, x = axes[row][j], factor * self.data[against]
                axis.plot(x, self.data[name], ".", color="0.6", markersize=3, label="measured")
                axis.plot(x, self.computed[name], ".", color="C0", markersize=2, label="fitted")
                axis.set_xlabel(words, fontsize=9)
                axis.set_ylabel(f"{name} ({'N' if name[0] == 'F' else 'N m'})", fontsize=9)
                axis.grid(True, linewidth=0.4, alpha=0.6)
        axes[0][0].legend(fontsize=8)
        figure.suptitle(
            plot_text(f"{self.tyre.name}: {len(self.coefficients)} coefficients fitted"),
            fontsize=11,
        )
        return save_figure(figure, path)


def fit(
    data: Any,
    start: MagicFormula,
    coefficients: Sequence[str],
    weights: Mapping[str, float] | None = None,
) -> Fit:
    """Fit coefficients of a Magic Formula tyre to measured forces by least squares.

    Parameters
    ----------
    data : mapping, table or path
        Columns by name, in N, m, s, rad, Pa: Fz, kappa, alpha, if available gamma, p, V, phit, and
        at least one of Fx, Fy, Mx, My, Mz. A path is that of a CSV or Parquet file.
    start : MagicFormula
        The tyre with which the search begins.
    coefficients : sequence of str
        Coefficients to fit, such as ["PDY1", "PKY1"].
    weights : mapping, optional
        Weight of each force. Default: one over its root mean square.

    Returns
    -------
    Fit
        The fitted tyre, with standard errors.

    Raises
    ------
    ModelError
        If a column is missing, or if there are fewer measurements than coefficients.

    Examples
    --------
    >>> import numpy as np
    >>> import bellcrank as bc
    >>> tyre = bc.vehicles.tyres.MagicFormula.read("examples/tyres/book_205_60R15.tir")
    >>> alpha = np.linspace(-0.1, 0.1, 21)
    >>> data = {"Fz": 4000 + 0 * alpha, "kappa": 0 * alpha, "alpha": alpha}
    >>> data["Fy"] = tyre.scaled(LMUY=0.9).forces(**data).Fy
    >>> round(float(bc.vehicles.tyres.fit(data, tyre, ["LMUY"]).values[0]), 6)
    0.9
    """
    from scipy.optimize import least_squares

    columns = _measured_columns(data)
    names = _coefficient_names(start, coefficients)
    measured = [name for name in MEASURED if name in columns]
    size = {name: float(np.sqrt(np.mean(columns[name] ** 2))) or 1.0 for name in measured}
    weight_of = {name: (weights or {}).get(name, 1 / size[name]) for name in measured}
    inputs = {key: columns[key] for key in INPUTS if key in columns}
    first = np.array([start[name] for name in names])
    unit = np.where(np.abs(first) > 1e-3, np.abs(first), 0.1)

    def model_forces(x: np.ndarray) -> dict[str, np.ndarray]:
        tyre = start.scaled(**dict(zip(names, (first + unit * x).tolist(), strict=True)))
        forces = tyre.forces(**inputs, limits=False)
        return {name: np.broadcast_to(forces[name], columns[name].shape) for name in measured}

    def weighted_residuals(x: np.ndarray) -> np.ndarray:
        forces = model_forces(x)
        return np.concatenate(
            [weight_of[name] * (forces[name] - columns[name]) for name in measured]
        )

    count = sum(len(columns[name]) for name in measured)
    if count <= len(names):
        raise ModelError(
            f"fit of a tyre: {count} measured values do not determine {len(names)} coefficients"
        )
    try:
        solution = least_squares(
            weighted_residuals,
            np.zeros(len(names)),
            x_scale="jac",
            method="trf",
            xtol=1e-12,
            ftol=1e-12,
            gtol=1e-12,
        )
    except ValueError as error:
        raise ModelError(
            f"fit of a tyre: the coefficients {', '.join(names)} give no finite forces ({error})"
        ) from None
    values = first + unit * solution.x
    spread, fitted_forces = 2 * solution.cost / (count - len(names)), model_forces(solution.x)
    covariance = np.outer(unit, unit) * np.linalg.pinv(solution.jac.T @ solution.jac) * spread
    rms = {
        name: float(np.sqrt(np.mean((fitted_forces[name] - columns[name]) ** 2)))
        for name in measured
    }
    fitted = start.scaled(**dict(zip(names, values.tolist(), strict=True)))
    return Fit(
        fitted,
        tuple(names),
        values,
        np.sqrt(np.diag(covariance)),
        covariance,
        rms,
        columns,
        {name: np.array(v) for name, v in fitted_forces.items()},
    )


def _coefficient_names(start: Any, coefficients: Any) -> list[str]:
    if not isinstance(start, MagicFormula):
        raise ModelError(
            f"fit of a tyre: start={start!r:.60} must be a Magic Formula tyre, such as "
            f"bc.load reads"
        )
    if isinstance(coefficients, str) or not isinstance(coefficients, Sequence) or not coefficients:
        raise ModelError(
            f"fit of a tyre: coefficients={coefficients!r:.60} must be a list of names such "
            f"as ['PDY1', 'PKY1']"
        )
    names = [str(name).upper() for name in coefficients]
    unknown = [n for n in names if n not in start.coefficients]
    if unknown:
        raise ModelError(
            [
                f"fit of a tyre: {n} is no coefficient.{did_you_mean(n, start.coefficients)}"
                for n in unknown
            ]
        )
    if len(set(names)) < len(names):
        raise ModelError(f"fit of a tyre: coefficients={names} names one twice")
    return names


def _measured_columns(data: Any) -> dict[str, np.ndarray]:
    """Columns of numbers of one length, by the names that forces have."""
    if isinstance(data, str | Path):
        data = {c.name: c.values for c in read_contents(data).channels}
    try:
        columns = {
            name: np.asarray(data[name], dtype=float).ravel()
            for name in (*INPUTS, *MEASURED)
            if name in data
        }
    except (TypeError, ValueError, KeyError) as error:
        raise ModelError(f"fit of a tyre: data must have columns of numbers ({error})") from None
    missing = [name for name in NEEDED if name not in columns]
    if missing or not any(name in columns for name in MEASURED):
        raise ModelError(
            f"fit of a tyre: data must have the columns {', '.join(NEEDED)} and one of "
            f"{', '.join(MEASURED)}; it has "
            f"{', '.join(map(str, data)) or 'none'}"
        )
    length = max(len(v) for v in columns.values())
    invalid = [
        name
        for name, v in columns.items()
        if len(v) not in (1, length) or not np.all(np.isfinite(v))
    ]
    if invalid:
        raise ModelError(f"fit of a tyre: column {invalid[0]} must have {length} finite numbers")
    return {name: np.broadcast_to(v, (length,)) for name, v in columns.items()}
