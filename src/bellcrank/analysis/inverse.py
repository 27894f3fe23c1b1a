"""Inverse dynamics: the forces that produce a motion, at one instant or over a trajectory."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bellcrank.analysis.draw import draw_equilibrium
from bellcrank.analysis.tables import table, write_csv
from bellcrank.interface.interface import place_of


@dataclass(frozen=True)
class InverseDynamics:
    """Forces and torques that produce a motion, in user units: `result["tau1"]`; arrays over time for a trajectory.

    Without chosen forces they are the generalised forces along every independent speed, besides those of the model.
    """

    name: str
    time: np.ndarray
    names: tuple[str, ...]
    units: tuple[str, ...]
    labels: tuple[str, ...]
    values: np.ndarray  # (times, forces), user units
    factors: np.ndarray  # from user to equation units
    single: bool

    def __getitem__(self, name: Any) -> Any:
        place = place_of(name, self.names)
        if place is None:
            raise KeyError(f"no force '{name}'. Forces: {', '.join(self.names)}")
        column = self.values[:, place]
        return float(column[0]) if self.single else column

    @property
    def array(self) -> np.ndarray:
        """All forces in equation units: one row, or one row per time."""
        found = self.values * self.factors
        return np.asarray(found[0] if self.single else found)

    def __str__(self) -> str:
        if self.single:
            rows = [
                [n, f"{v:.9g}", u, w]
                for n, v, u, w in zip(self.names, self.values[0], self.units, self.labels, strict=True)
            ]
            return f"{self.name}: inverse dynamics\n" + table(["", "value", "unit", ""], rows, "<><<")
        rows = [
            [n, f"{c.min():.6g}", f"{c.max():.6g}", u, w]
            for n, c, u, w in zip(self.names, self.values.T, self.units, self.labels, strict=True)
        ]
        return f"{self.name}: inverse dynamics at {len(self.time)} times\n" + table(
            ["", "least", "greatest", "unit", ""], rows, "<>><<"
        )

    def save(self, path: str | Path) -> Path:
        """Writes a CSV file: time, then all forces."""
        head = ["t (s)", *(f"{n} ({u})" for n, u in zip(self.names, self.units, strict=True))]
        rows = ([float(t), *row.tolist()] for t, row in zip(self.time, self.values, strict=True))
        return write_csv(path, head, rows)

    def plot(self, path: str | Path | None = None) -> Any:
        """Draws the forces over time; saves a picture when a path is given."""
        panels = [(n, self.values[:, i], self.units[i]) for i, n in enumerate(self.names)]
        return draw_equilibrium(panels, self.name, "time (s)", self.time, path, "inverse dynamics")
