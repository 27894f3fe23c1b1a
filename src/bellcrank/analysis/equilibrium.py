"""Equilibrium: the result, and what is said when there is none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from bellcrank.analysis.modes import stability_line
from bellcrank.analysis.plots import draw_values
from bellcrank.analysis.tables import Cells, SavableTable, column_index, format_number, motion_line
from bellcrank.core.errors import RunError


class NoEquilibrium(RunError):
    """No equilibrium was found.

    Parameters
    ----------
    message : str
        What was looked for, and what to try.
    residuals : dict
        What remains of each equation at the nearest point.
    runaway : sequence of str
        Variables that diverge.

    Examples
    --------
    >>> import bellcrank as bc
    >>> s = bc.System("stone")
    >>> stone = s.add_point_mass("stone", translate="z", mass=1)
    >>> s.add_gravity((0, 0, -1), g=9.81)
    >>> try:
    ...     s.equations().compile(backend="python").equilibrium()
    ... except bc.NoEquilibrium as error:
    ...     print(list(error.residuals))
    ["u(stone)'"]
    """

    def __init__(self, message: str, residuals: dict[str, float], runaway: Sequence[str]) -> None:
        super().__init__(message)
        self.args = (message, residuals, runaway)
        self.residuals, self.runaway = dict(residuals), list(runaway)

    def __str__(self) -> str:
        return str(self.args[0])


@dataclass(frozen=True)
class Equilibrium(SavableTable):
    """Static equilibrium or steady motion, in user units. Every other analysis accepts it as `at=`.

    Attributes
    ----------
    name : str
        Name of the model.
    values : dict
        All states by name, and what else was unknown; `found["roll"]` reads them and the outputs.
    units, labels : dict
        Units and descriptions by name.
    unknowns : tuple of str
        What was solved for.
    residual : float
        The largest time derivative that should be zero, in equation units.
    neutral : tuple of str
        Neutral coordinates, which nothing determines.
    steady : dict
        Time derivatives of coordinates that continue in a steady motion, per s.
    states : tuple of str
        Names of the states; `initial` has their values for `simulate(initial=)`.
    motion : str
        Description of the motion.
    point : object
        The operating point, for other analyses.
    steps : int
        Iterations.
    outputs : dict
        Values of the outputs by name.
    moved : dict
        How far each coordinate is from where the search began; `distance` has the largest by unit.
    stability : str
        To first order: "stable", "stable, undamped", "neutral" or "unstable".
    eigenvalues : tuple of complex
        Of the linear model, in 1/s.
    settles : dict
        Coordinates of the equilibrium to which damped motion leads, if this one is unstable.

    Examples
    --------
    >>> import bellcrank as bc
    >>> s = bc.System("hanging mass")
    >>> mass = s.add_body("mass", translate="z", mass=2, inertia=0)
    >>> s.add_gravity((0, 0, 1), g=10)
    >>> spring = s.add_force(
    ...     "spring", magnitude="-50*x - 4*v", direction=s.inertial.z, at=mass.origin
    ... )
    >>> found = s.equations().compile(backend="python").equilibrium()
    >>> round(found["q(mass)"], 6), found.stability
    (0.4, 'stable')
    """

    name: str
    values: dict[str, float]
    units: dict[str, str]
    labels: dict[str, str]
    unknowns: tuple[str, ...]
    residual: float
    neutral: tuple[str, ...]
    steady: dict[str, float]  # rates of coordinates that continue (steady motion), user units per s
    states: tuple[str, ...] = ()
    motion: str = ""  # the motion in words
    point: Any = field(repr=False, default=None)
    steps: int = 0
    outputs: dict[str, float] = field(repr=False, default_factory=dict)
    moved: dict[str, float] = field(default_factory=dict)
    stability: str = ""
    eigenvalues: tuple[complex, ...] = ()
    settles: dict[str, float] = field(default_factory=dict)

    @property
    def distance(self) -> dict[str, float]:
        """The largest distance of a coordinate from the start of the search, by unit."""
        distances: dict[str, float] = {}
        for name, shift in self.moved.items():
            distances[self.units[name]] = max(distances.get(self.units[name], 0.0), abs(shift))
        return distances

    @property
    def stable(self) -> bool:
        """Does the linear model not grow?"""
        return self.stability.startswith("stable")

    def _lines_after_table(self) -> list[str]:
        """Stability, distance from the start, what continues and what nothing determines."""
        remarks = [stability_line(self.stability, self.eigenvalues)] if self.stability else []
        if self.settles:
            text = ", ".join(
                f"{n} = {format_number(v, 6)} {self.units[n]}" for n, v in self.settles.items()
            )
            remarks.append(f"damped motion from the start leads to another equilibrium: {text}")
        moved_names = sorted(
            (n for n, shift in self.moved.items() if abs(shift) > 1e-9),
            key=lambda n: -abs(self.moved[n]),
        )
        suffix = f" and {len(moved_names) - 4} more" if len(moved_names) > 4 else ""
        text = ", ".join(
            f"{n} by {format_number(self.moved[n], 6)} {self.units[n]}" for n in moved_names[:4]
        )
        remarks += [f"distance from the start: {text or 'none'}{suffix}"] if self.moved else []
        if self.steady:
            remarks.append(
                "continues: "
                + ", ".join(f"{n} by {v:.6g} {self.units[n]}/s" for n, v in self.steady.items())
            )
        if self.neutral:
            remarks.append(f"neutral (nothing determines them): {', '.join(self.neutral)}")
        return remarks

    def _ipython_key_completions_(self) -> list[str]:
        return [*self.outputs, *self.values]

    def __getitem__(self, name: str) -> float:
        values_by_name = {**self.outputs, **self.values}
        return values_by_name[
            list(values_by_name)[column_index(name, list(values_by_name), "value")]
        ]

    @property
    def initial(self) -> dict[str, float]:
        """States by name, as `initial=` of a run takes them."""
        return {k: v for k, v in self.values.items() if k in self.states}

    @property
    def _heading(self) -> str:
        return f"{self.name}: {'steady motion' if self.steady else 'equilibrium'}"

    @property
    def _title(self) -> str:
        return f"{self._heading}, residual {self.residual:.1e}"

    def _lines_before_table(self) -> list[str]:
        return motion_line(self.motion)

    def rows(self) -> list[tuple[str, float, str, str, str]]:
        """List all values.

        Returns
        -------
        list of tuple
            Name, value, unit, "solved" or "given", and label of each.
        """
        return [
            (
                n,
                v,
                self.units[n],
                "solved" if n in self.unknowns else "given",
                self.labels.get(n, ""),
            )
            for n, v in self.values.items()
        ]

    def _table_cells(self) -> Cells:
        return (
            ["", "value", "unit", "", ""],
            [[n, format_number(v, 9), u, k, w] for n, v, u, k, w in self.rows()],
            "<><<<",
        )

    def _table(self) -> tuple[list[str], list[tuple[str, float, str, str, str]]]:
        return ["name", "value", "unit", "kind", "label"], self.rows()

    def _draw(self, path: str | Path | None) -> Any:
        rows = [(n, v, u) for n, v, u, status, _ in self.rows() if status == "solved"]
        return draw_values(self._heading, rows, path)


def neutral_names(null_space: np.ndarray, names: Sequence[str]) -> list[str]:
    """The unknowns that take part in directions which nothing determines."""
    if not null_space.size:
        return []
    fractions = np.abs(null_space) / np.linalg.norm(null_space, axis=0, keepdims=True)
    return [n for n, row in zip(names, fractions, strict=True) if row.max() > 1e-6]
