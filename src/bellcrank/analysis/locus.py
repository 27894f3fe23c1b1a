"""Eigenvalues over a parameter, stability over two, equilibria over one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bellcrank.analysis.tables import table, write_csv


@dataclass(frozen=True)
class RootLocus:
    """Eigenvalues (values by branches, 1/s) over the values of a parameter or state, in its user unit."""

    name: str
    over: str
    unit: str
    values: np.ndarray
    eigenvalues: np.ndarray
    notes: tuple[str, ...] = ()

    @property
    def growth(self) -> np.ndarray:
        """The largest real part at each value; stable where it is negative."""
        return np.asarray(self.eigenvalues.real.max(axis=1))

    def __str__(self) -> str:
        rows = [
            [
                f"{v:.6g}",
                f"{g:.6g}",
                ", ".join(_short(x) for x in sorted(row, key=lambda x: (x.real, x.imag)) if x.imag >= 0),
            ]
            for v, g, row in zip(self.values, self.growth, self.eigenvalues, strict=True)
        ]
        head = [f"{self.over} ({self.unit})", "largest real part", "eigenvalues (1/s)"]
        return f"{self.name}: eigenvalues over {self.over}\n" + table(head, rows, ">><")

    def save(self, path: str | Path) -> Path:
        """Writes a CSV file: the value, then real and imaginary part of every branch."""
        n = self.eigenvalues.shape[1]
        head = [
            f"{self.over} ({self.unit})",
            *(f"{part} {i}" for i in range(1, n + 1) for part in ("real", "imaginary")),
        ]
        rows = [
            [float(v), *(x for z in row for x in (float(z.real), float(z.imag)))]
            for v, row in zip(self.values, self.eigenvalues, strict=True)
        ]
        return write_csv(path, head, rows)

    def plot(self, path: str | Path | None = None) -> Any:
        """Draws all branches; saves a picture when a path is given."""
        from bellcrank.analysis.draw import draw_locus

        return draw_locus(self.name, self.over, self.unit, self.values, self.eigenvalues, path)


def _short(x: complex) -> str:
    return f"{x.real:.5g}" if x.imag == 0 else f"{x.real:.5g}+-{abs(x.imag):.5g}i"


@dataclass(frozen=True)
class StabilityChart:
    """Largest real part of all eigenvalues (1/s) over two parameters; nan where there is no point to linearise at."""

    name: str
    over: tuple[str, str]
    units: tuple[str, str]
    values: tuple[np.ndarray, np.ndarray]
    growth: np.ndarray

    @property
    def stable(self) -> np.ndarray:
        return self.growth < 0

    def __str__(self) -> str:
        head = [f"{self.over[0]} \\ {self.over[1]}", *(f"{v:.4g}" for v in self.values[1])]
        rows = [[f"{v:.4g}", *(f"{g:.4g}" for g in row)] for v, row in zip(self.values[0], self.growth, strict=True)]
        return f"{self.name}: largest real part (1/s)\n" + table(head, rows, ">" * len(head))

    def save(self, path: str | Path) -> Path:
        """Writes a CSV file: both values and the largest real part."""
        head = [f"{n} ({u})" for n, u in zip(self.over, self.units, strict=True)]
        rows = [
            [float(a), float(b), float(self.growth[i, j])]
            for i, a in enumerate(self.values[0])
            for j, b in enumerate(self.values[1])
        ]
        return write_csv(path, [*head, "largest real part (1/s)"], rows)

    def plot(self, path: str | Path | None = None) -> Any:
        """Draws the chart with its limit; saves a picture when a path is given."""
        from bellcrank.analysis.draw import draw_chart

        over = [f"{n} ({u})" for n, u in zip(self.over, self.units, strict=True)]
        return draw_chart(self.name, over, self.values, self.growth, path)


@dataclass(frozen=True)
class Equilibria:
    """Equilibria over the values of one parameter, input or state; channels by name, in user units."""

    name: str
    over: str
    unit: str
    values: np.ndarray
    channels: dict[str, np.ndarray]
    units: dict[str, str]

    def __getitem__(self, channel: str) -> np.ndarray:
        return self.channels[channel]

    def __str__(self) -> str:
        head = [f"{self.over} ({self.unit})", *(f"{n} ({self.units[n]})" for n in self.channels)]
        columns = [self.values, *self.channels.values()]
        rows = [[f"{c[i]:.6g}" if abs(c[i]) > 1e-13 else "0" for c in columns] for i in range(len(self.values))]
        return f"{self.name}: equilibria over {self.over}\n" + table(head, rows, ">" * len(head))

    def save(self, path: str | Path) -> Path:
        """Writes a CSV file: the value, then all channels."""
        head = [f"{self.over} ({self.unit})", *(f"{n} ({self.units[n]})" for n in self.channels)]
        columns = [self.values.tolist(), *(c.tolist() for c in self.channels.values())]
        return write_csv(path, head, zip(*columns, strict=True))

    def plot(self, path: str | Path | None = None) -> Any:
        """Draws what changes over the values; saves a picture when a path is given."""
        from bellcrank.analysis.draw import draw_equilibrium

        changing = [n for n, c in self.channels.items() if np.ptp(c) > 1e-12] or list(self.channels)
        panels = [(n, self.channels[n], self.units[n]) for n in changing[:8]]
        return draw_equilibrium(panels, self.name, f"{self.over} ({self.unit})", self.values, path)
