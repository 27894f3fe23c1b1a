"""Eigenvalues over a parameter, stability over two, equilibria over one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bellcrank.analysis.modes import eigenvalue_text
from bellcrank.analysis.plots import draw_chart, draw_locus, draw_panels
from bellcrank.analysis.tables import Cells, SavableTable, column_heads, format_number, motion_line


def first_and_last(motions: tuple[str, ...]) -> str:
    """The first and the last of some motions."""
    nonempty = [m for m in motions if m]
    if not nonempty:
        return ""
    return nonempty[0] if nonempty[0] == nonempty[-1] else f"{nonempty[0]} ... {nonempty[-1]}"


@dataclass(frozen=True)
class RootLocus(SavableTable):
    """Eigenvalues over the values of a parameter or state; `plot` draws all branches.

    Attributes
    ----------
    name : str
        Name of the model.
    over, unit : str
        What varies, and its unit.
    values : ndarray
        Its values in user units.
    eigenvalues : ndarray
        Values by branches, in 1/s. `growth` has the largest real part at each value.
    notes : tuple of str
        Remarks.
    motions : tuple of str
        Description of the operating point for each value.

    Examples
    --------
    >>> import bellcrank as bc
    >>> s = bc.System("oscillator")
    >>> mass = s.add_body("mass", translate="x", mass=2, inertia=0)
    >>> spring = s.add_force(
    ...     "spring", magnitude="-50*x - c*v", direction=s.inertial.x, at=mass.origin
    ... )
    >>> s.set_defaults(c=4)
    >>> locus = s.equations().compile(backend="python").root_locus("c", [0, 4, 8])
    >>> locus.growth.round(6).tolist()
    [0.0, -1.0, -2.0]
    """

    name: str
    over: str
    unit: str
    values: np.ndarray
    eigenvalues: np.ndarray
    notes: tuple[str, ...] = ()
    motions: tuple[str, ...] = ()  # at which motion, in words, for every value

    @property
    def motion(self) -> str:
        """At which motions the model was linearised: the first and the last in words."""
        return first_and_last(self.motions)

    @property
    def growth(self) -> np.ndarray:
        """The largest real part at each value; stable where it is negative."""
        return np.asarray(self.eigenvalues.real.max(axis=1))

    @property
    def _title(self) -> str:
        return f"{self.name}: eigenvalues over {self.over}"

    def _lines_before_table(self) -> list[str]:
        return motion_line(self.motion)

    def _table_cells(self) -> Cells:
        rows = []
        for v, g, row in zip(self.values, self.growth, self.eigenvalues, strict=True):
            above = [x for x in sorted(row, key=lambda x: (x.real, x.imag)) if x.imag >= 0]
            rows.append(
                [f"{v:.6g}", f"{g:.6g}", ", ".join(eigenvalue_text(x, 5, 5) for x in above)]
            )
        return (
            [*column_heads([self.over], [self.unit]), "largest real part", "eigenvalues (1/s)"],
            rows,
            ">><",
        )

    def _table(self) -> tuple[list[str], list[list[float]]]:
        branches = range(1, self.eigenvalues.shape[1] + 1)
        head = [
            *column_heads([self.over], [self.unit]),
            *(f"{part} {i}" for i in branches for part in ("real", "imaginary")),
        ]
        components = np.ascontiguousarray(self.eigenvalues).view(float)
        return head, np.column_stack([self.values, components]).tolist()

    def _draw(self, path: str | Path | None) -> Any:
        return draw_locus(
            self.name,
            column_heads([self.over], [self.unit])[0],
            self.values,
            self.eigenvalues,
            path,
        )


@dataclass(frozen=True)
class StabilityChart(SavableTable):
    """Largest real part of all eigenvalues over two parameters; `plot` draws it with the limit of
    stability.

    Attributes
    ----------
    name : str
        Name of the model.
    over, units : tuple of str
        The two that vary, and their units.
    values : tuple of ndarray
        Their values in user units.
    growth : ndarray
        Largest real part in 1/s, the first by the second; nan where there is no operating point.
        `stable` is true where it is negative.
    motions : tuple of str
        Description of the operating point for each pair.

    Examples
    --------
    >>> import bellcrank as bc
    >>> s = bc.System("oscillator")
    >>> mass = s.add_body("mass", translate="x", mass=2, inertia=0)
    >>> spring = s.add_force(
    ...     "spring", magnitude="-k*x - c*v", direction=s.inertial.x, at=mass.origin
    ... )
    >>> s.set_defaults(k=50, c=4)
    >>> chart = s.equations().compile(backend="python").stability_chart(
    ...     ("c", [-4, 4]), ("k", [50, 90])
    ... )
    >>> chart.stable.tolist()
    [[False, False], [True, True]]
    """

    name: str
    over: tuple[str, str]
    units: tuple[str, str]
    values: tuple[np.ndarray, np.ndarray]
    growth: np.ndarray
    motions: tuple[str, ...] = ()  # at which motion, in words, for every point, row by row

    @property
    def motion(self) -> str:
        """At which motions the model was linearised: the first and the last in words."""
        return first_and_last(self.motions)

    @property
    def stable(self) -> np.ndarray:
        return self.growth < 0

    @property
    def _title(self) -> str:
        return f"{self.name}: largest real part (1/s)"

    def _lines_before_table(self) -> list[str]:
        return motion_line(self.motion)

    def _table_cells(self) -> Cells:
        head = [f"{self.over[0]} \\ {self.over[1]}", *(f"{v:.4g}" for v in self.values[1])]
        rows = [
            [f"{v:.4g}", *(f"{g:.4g}" for g in row)]
            for v, row in zip(self.values[0], self.growth, strict=True)
        ]
        return head, rows, ">" * len(head)

    def _table(self) -> tuple[list[str], list[list[float]]]:
        columns = [x.ravel() for x in (*np.meshgrid(*self.values, indexing="ij"), self.growth)]
        return [*column_heads(self.over, self.units), "largest real part (1/s)"], np.column_stack(
            columns
        ).tolist()

    def _draw(self, path: str | Path | None) -> Any:
        return draw_chart(
            self.name, column_heads(self.over, self.units), self.values, self.growth, path
        )


@dataclass(frozen=True)
class FoldPoint:
    """Turning point of a branch of equilibria, in user units.

    Attributes
    ----------
    value : float
        Value of the varied quantity.
    at : dict
        State at the turning point, by name.
    to : dict or None
        First state on the branch that was found next. None: no other branch was found.
    """

    value: float
    at: dict[str, float]
    to: dict[str, float] | None = None


@dataclass(frozen=True)
class Equilibria(SavableTable):
    """Equilibria over one parameter, input or state, in user units; `plot` draws what changes.

    Attributes
    ----------
    name : str
        Name of the model.
    over, unit : str
        What varies, and its unit.
    values : ndarray
        Its values.
    channels : dict
        Arrays by name of states and outputs, nan where there is no equilibrium. `found["q(mass)"]`
        reads them.
    units : dict
        Units of the channels.
    motions : tuple of str
        Description of the motion for each value.
    stability : tuple of str
        Stability for each value, as of `Equilibrium`.
    folds : tuple of Fold
        Turning points. The equilibria past a fold belong to another branch.

    Examples
    --------
    >>> import bellcrank as bc
    >>> s = bc.System("hanging mass")
    >>> mass = s.add_body("mass", translate="z", mass=2, inertia=0)
    >>> s.add_gravity((0, 0, 1), g=10)
    >>> spring = s.add_force(
    ...     "spring", magnitude="-k*x - 4*v", direction=s.inertial.z, at=mass.origin
    ... )
    >>> s.set_defaults(k=50)
    >>> found = s.equations().compile(backend="python").equilibria("k", [50, 100])
    >>> found["q(mass)"].round(6).tolist()
    [0.4, 0.2]
    """

    name: str
    over: str
    unit: str
    values: np.ndarray
    channels: dict[str, np.ndarray]
    units: dict[str, str]
    motions: tuple[str, ...] = ()  # in words, for every value
    stability: tuple[str, ...] = ()
    folds: tuple[FoldPoint, ...] = ()

    @property
    def motion(self) -> str:
        """Which motions: the first and the last in words."""
        return first_and_last(tuple(m for m in self.motions if m))

    def _lines_after_table(self) -> list[str]:
        """Folds, and values without an equilibrium."""
        remarks = []
        for fold in self.folds:
            continuation = (
                "the equilibria that follow belong to another branch"
                if fold.to
                else "none was found after it"
            )
            state_text = ", ".join(
                f"{n} = {format_number(v, 6)} {self.units[n]}"
                for n, v in list(fold.at.items())[:4]
                if n in self.units
            )
            remarks.append(
                f"fold at {self.over} = {fold.value:.6g} {self.unit} ({state_text}): {continuation}"
            )
        return remarks

    def __getitem__(self, channel: str) -> np.ndarray:
        return self.channels[channel]

    def _table(self) -> tuple[list[str], list[list[float]]]:
        head = column_heads(
            [self.over, *self.channels], [self.unit, *(self.units[n] for n in self.channels)]
        )
        return head, np.column_stack([self.values, *self.channels.values()]).tolist()

    @property
    def _title(self) -> str:
        return f"{self.name}: equilibria over {self.over}"

    def _lines_before_table(self) -> list[str]:
        return motion_line(self.motion)

    def _table_cells(self) -> Cells:
        head, rows = self._table()
        labels = self.stability or ("",) * len(rows)
        cells = [
            [*(format_number(x, 6) for x in row), word]
            for row, word in zip(rows, labels, strict=True)
        ]
        return [*head, "stability"], cells, ">" * len(head) + "<"

    def _draw(self, path: str | Path | None) -> Any:
        changing = [
            n for n, c in self.channels.items() if np.nanmax(c) - np.nanmin(c) > 1e-12
        ] or list(self.channels)
        panels = [(f"{n}\n({self.units[n]})", {"": self.channels[n]}) for n in changing[:8]]
        return draw_panels(
            f"{self.name}: equilibrium", f"{self.over} ({self.unit})", self.values, panels, path
        )
