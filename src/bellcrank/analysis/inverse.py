"""Inverse dynamics: the forces that produce a motion, at one instant or over a trajectory."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bellcrank.analysis.plots import draw_panels
from bellcrank.analysis.tables import Cells, SavableTable, column_heads, column_index


@dataclass(frozen=True)
class InverseDynamics(SavableTable):
    """Forces and torques that produce a motion, in user units: `found["tau1"]`, an array over time
    for a trajectory.

    Without chosen forces they are the generalized forces along every independent speed, besides
    those of the model.

    Attributes
    ----------
    name : str
        Name of the model.
    time : ndarray
        Times in s.
    names, units, labels : tuple of str
        Names, units and descriptions of the forces.
    values : ndarray
        Times by forces; `array` has them in equation units.
    factors : ndarray
        From user to equation units.
    single : bool
        Whether the motion was given at one time only.

    Examples
    --------
    >>> import bellcrank as bc
    >>> s = bc.System("mass")
    >>> mass = s.add_body("mass", translate="x", mass=2, inertia=0)
    >>> found = s.equations().compile(backend="python").inverse([0], [0], [3])
    >>> found["force along u(mass)"], found.units
    (6.0, ('N',))
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
        column = self.values[:, column_index(name, self.names, "force")]
        return float(column[0]) if self.single else column

    @property
    def array(self) -> np.ndarray:
        """All forces in equation units: one row, or one row per time."""
        forces = self.values * self.factors
        return np.asarray(forces[0] if self.single else forces)

    @property
    def _title(self) -> str:
        return (
            f"{self.name}: inverse dynamics{'' if self.single else f' at {len(self.time)} times'}"
        )

    def _table_cells(self) -> Cells:
        heads = ["value"] if self.single else ["least", "greatest"]
        rows = []
        for n, c, u, w in zip(self.names, self.values.T, self.units, self.labels, strict=True):
            numbers = [f"{c[0]:.9g}"] if self.single else [f"{c.min():.6g}", f"{c.max():.6g}"]
            rows.append([n, *numbers, u, w])
        return ["", *heads, "unit", ""], rows, f"<{'>' * len(heads)}<<"

    def _table(self) -> tuple[list[str], list[list[float]]]:
        return ["t (s)", *column_heads(self.names, self.units)], np.column_stack(
            [self.time, self.values]
        ).tolist()

    def _draw(self, path: str | Path | None) -> Any:
        panels = [
            (f"{n}\n({u})", {"": c})
            for n, u, c in zip(self.names, self.units, self.values.T, strict=True)
        ]
        return draw_panels(f"{self.name}: inverse dynamics", "time (s)", self.time, panels, path)
