"""Inverse dynamics: the forces that produce a motion, at one instant or over a trajectory."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bellcrank.analysis.draw import draw_panels
from bellcrank.analysis.tables import column_of, headed, table, write_csv
from bellcrank.files.notebook import Shown


@dataclass(frozen=True)
class InverseDynamics(Shown):
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
        column = self.values[:, column_of(name, self.names, "force")]
        return float(column[0]) if self.single else column

    @property
    def array(self) -> np.ndarray:
        """All forces in equation units: one row, or one row per time."""
        found = self.values * self.factors
        return np.asarray(found[0] if self.single else found)

    def __str__(self) -> str:
        heads = ["value"] if self.single else ["least", "greatest"]
        rows = []
        for n, c, u, w in zip(self.names, self.values.T, self.units, self.labels, strict=True):
            numbers = [f"{c[0]:.9g}"] if self.single else [f"{c.min():.6g}", f"{c.max():.6g}"]
            rows.append([n, *numbers, u, w])
        body = table(["", *heads, "unit", ""], rows, f"<{'>' * len(heads)}<<")
        return f"{self.name}: inverse dynamics{'' if self.single else f' at {len(self.time)} times'}\n{body}"

    def save(self, path: str | Path) -> Path:
        """Writes a CSV file: time, then all forces."""
        head = ["t (s)", *headed(self.names, self.units)]
        return write_csv(path, head, np.column_stack([self.time, self.values]).tolist())

    def _drawn(self) -> Any:
        return self.plot()

    def plot(self, path: str | Path | None = None) -> Any:
        """Draws the forces over time; saves a picture when a path is given."""
        panels = [(f"{n}\n({u})", {"": c}) for n, u, c in zip(self.names, self.units, self.values.T, strict=True)]
        return draw_panels(f"{self.name}: inverse dynamics", "time (s)", self.time, panels, path)
