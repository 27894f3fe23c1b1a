"""Linear models x' = A x + B w, y = C x + D w about a point, with names and units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from bellcrank.analysis.modes import Modes, cleaned, modes_of
from bellcrank.analysis.response import Response
from bellcrank.analysis.tables import per, table, write_csv
from bellcrank.errors import ModelError, did_you_mean, optional_package
from bellcrank.interface.interface import place_of


@dataclass(frozen=True)
class Signal:
    """A state, input or output: name, unit, label, and its value at the point (user units)."""

    name: str
    unit: str
    label: str
    value: float = 0.0
    factor: float = 1.0  # from the user unit to equation units
    coordinate: bool = False


@dataclass(frozen=True)
class LinearModel:
    """x' = A x + B w, y = C x + D w: small movements about a point, all in user units and seconds.

    `states` are independent: what constraints determine has been removed (`dependent` says how it follows).
    `equilibrium` tells whether the point is one; if not, `drift` holds the rates of the states there. `notes` says
    both in words.
    """

    name: str
    A: np.ndarray
    B: np.ndarray
    C: np.ndarray
    D: np.ndarray
    states: tuple[Signal, ...]
    inputs: tuple[Signal, ...]
    outputs: tuple[Signal, ...]
    drift: np.ndarray
    equilibrium: bool
    notes: tuple[str, ...] = ()
    dependent: dict[str, dict[str, float]] = field(default_factory=dict)
    point: Any = field(default=None, repr=False)

    # ---- names

    @property
    def state_names(self) -> list[str]:
        return [s.name for s in self.states]

    @property
    def input_names(self) -> list[str]:
        return [s.name for s in self.inputs]

    @property
    def output_names(self) -> list[str]:
        return [s.name for s in self.outputs]

    def unit(self, matrix: str, i: int, j: int) -> str:
        """The unit of an entry of "A", "B", "C" or "D"."""
        rows = self.states if matrix in "AB" else self.outputs
        columns = self.states if matrix in "AC" else self.inputs
        return per(f"{rows[i].unit}/s" if matrix in "AB" else rows[i].unit, columns[j].unit)

    def in_equation_units(self) -> LinearModel:
        """The same in equation units: rad and consistent units of length, mass and time."""
        f_x, f_w, f_y = (np.array([s.factor for s in g]) for g in (self.states, self.inputs, self.outputs))

        def plain(group: Sequence[Signal]) -> tuple[Signal, ...]:
            return tuple(replace(s, unit="", factor=1.0, value=s.value * s.factor) for s in group)

        return replace(
            self, A=_rescaled(self.A, f_x, f_x), B=_rescaled(self.B, f_x, f_w), C=_rescaled(self.C, f_y, f_x),
            D=_rescaled(self.D, f_y, f_w), drift=self.drift * f_x, states=plain(self.states), inputs=plain(self.inputs),
            outputs=plain(self.outputs),
        )  # fmt: skip

    def essential(self) -> LinearModel:
        """Without coordinates on which nothing else depends (position and course of a vehicle, angles of wheels)."""
        A, C = self.A, self.C
        C = np.where(np.isfinite(C), C, 1.0)  # an output without slopes may depend on anything
        small, small_out = (1e-13 * (np.abs(M).max(initial=0.0) or 1.0) for M in (A, C))
        kept = list(range(len(self.states)))
        own = {s.name for s in self.states if s.coordinate}
        told = [i for i, s in enumerate(self.outputs) if s.name not in own]  # a coordinate as an output goes with it
        while True:
            idle = {
                j
                for j in kept
                if self.states[j].coordinate
                and np.all(np.abs(A[kept, j]) <= small)
                and np.all(np.abs(C[told, j]) <= small_out)
            }
            if not idle:
                break
            kept = [k for k in kept if k not in idle]
        gone = {s.name for k, s in enumerate(self.states) if k not in kept}
        rows = [i for i, s in enumerate(self.outputs) if s.name not in gone]
        return replace(
            self, A=A[np.ix_(kept, kept)], B=self.B[kept], C=self.C[np.ix_(rows, kept)], D=self.D[rows],
            drift=self.drift[kept], states=tuple(self.states[k] for k in kept),
            outputs=tuple(self.outputs[i] for i in rows),
        )  # fmt: skip

    # ---- modes and responses

    @cached_property
    def modes(self) -> Modes:
        """Eigenvalues with frequency, damping, shape and participation."""
        return modes_of(self.A, self.state_names, self.name)

    @cached_property
    def eigenvalues(self) -> np.ndarray:
        """Of A in 1/s, sorted by real, then imaginary part."""
        return np.sort_complex(cleaned(np.linalg.eigvals(self.A))) if len(self.A) else np.zeros(0, complex)

    @property
    def stable(self) -> bool:
        return bool(np.all(self.eigenvalues.real < 0))

    def _place(self, given: Any, listed: Sequence[Signal], what: str) -> int:
        names = [s.name for s in listed]
        place = place_of(given, names)
        if place is None:
            raise ModelError(
                f"{what} '{given}' is not one of the linear model's.{did_you_mean(str(given), names)} "
                f"{what.capitalize()}s: {', '.join(names) or 'none'}."
            )
        return place

    def transfer(self, input: Any, output: Any, s: Any) -> np.ndarray:
        """Transfer function from input to output at complex frequencies s (rad/s); rates of the input act with it."""
        row = self._place(output, self.outputs, "output")
        name = self.inputs[self._place(input, self.inputs, "input")].name
        points = np.atleast_1d(np.asarray(s, dtype=complex))
        columns = []
        power = 0
        while name.lower() in [n.lower() for n in self.input_names]:
            columns.append((power, self._place(name, self.inputs, "input")))
            name, power = f"dxdt({name})", power + 1
        return self._through(row, columns, points)

    def _through(self, row: int, columns: Sequence[tuple[int, int]], points: np.ndarray) -> np.ndarray:
        """C (s - A)^-1 B + D at every point; columns: (power of s, number of the input)."""
        n = len(self.A)
        b = sum((points[:, None] ** p * self.B[None, :, j] for p, j in columns), np.zeros((len(points), n), complex))
        d = sum((points**p * self.D[row, j] for p, j in columns), np.zeros(len(points), complex))
        if not n:
            return d
        left = points[:, None, None] * np.eye(n) - self.A
        try:
            return np.asarray(np.linalg.solve(left, b[:, :, None])[:, :, 0] @ self.C[row] + d)
        except np.linalg.LinAlgError:  # a pole among the points
            if len(points) == 1:
                return np.array([np.inf + 0j])
            return np.concatenate([self._through(row, columns, x[None]) for x in points])

    def frequency_response(self, input: Any, output: Any, f: Any) -> Response:
        """Response of an output to a sine of an input; f in Hz."""
        frequencies = np.atleast_1d(np.asarray(f, dtype=float))
        if frequencies.ndim != 1 or not np.all(np.isfinite(frequencies)) or np.any(frequencies < 0):
            raise ModelError("f must be frequencies in Hz: finite numbers that are not negative")
        model = self._about(output)
        w = model.inputs[model._place(input, model.inputs, "input")]
        y = model.outputs[model._place(output, model.outputs, "output")]
        values = model.transfer(input, output, 2j * np.pi * frequencies)
        return Response(self.name, w.name, y.name, per(y.unit, w.unit), frequencies, values, self.notes)

    def _about(self, output: Any) -> LinearModel:
        """Without what neither the states nor this output depend on."""
        row = self._place(output, self.outputs, "output")
        alone = replace(self, C=self.C[[row]], D=self.D[[row]], outputs=(self.outputs[row],))
        short = alone.essential()
        return short if short.outputs else alone

    def steady_gain(self, input: Any, output: Any) -> float:
        """Change of an output in the steady state per unit of a constant input."""
        return float(self._about(output).transfer(input, output, 0.0)[0].real)

    def to_control(self) -> Any:
        """The model as a StateSpace of the package `control` (python-control)."""
        control = optional_package("control", "analysis")
        names = {"states": self.state_names, "inputs": self.input_names, "outputs": self.output_names}
        return control.ss(self.A, self.B, self.C, self.D, **names)

    # ---- text and files

    def __str__(self) -> str:
        lines = [
            f"{self.name}: linear model, {len(self.states)} states, {len(self.inputs)} inputs, {len(self.outputs)} "
            "outputs"
        ]
        lines += [f"  note: {n}" for n in self.notes]
        lines.append(
            _matrix("A", self.A, [f"{s.name}'" for s in self.states], [s.unit + "/s" for s in self.states], self.states)
        )
        if self.inputs:
            lines.append(
                _matrix(
                    "B", self.B, [f"{s.name}'" for s in self.states], [s.unit + "/s" for s in self.states], self.inputs
                )
            )
        if self.outputs:
            lines.append(_matrix("C", self.C, self.output_names, [s.unit for s in self.outputs], self.states))
            if self.inputs:
                lines.append(_matrix("D", self.D, self.output_names, [s.unit for s in self.outputs], self.inputs))
        return "\n".join(lines)

    def save(self, path: str | Path) -> Path:
        """Writes a CSV file: one line per entry that is not zero, with names and unit."""
        rows = []
        for letter, M, up, across in (
            ("A", self.A, self.states, self.states),
            ("B", self.B, self.states, self.inputs),
            ("C", self.C, self.outputs, self.states),
            ("D", self.D, self.outputs, self.inputs),
        ):
            for i, j in zip(*np.nonzero(M), strict=True):
                row = f"{up[i].name}'" if letter in "AB" else up[i].name
                rows.append([letter, row, across[j].name, float(M[i, j]), self.unit(letter, int(i), int(j))])
        return write_csv(path, ["matrix", "row", "column", "value", "unit"], rows)


def _rescaled(M: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    return np.asarray(M * rows[:, None] / columns[None, :])


def _matrix(letter: str, M: np.ndarray, rows: Sequence[str], units: Sequence[str], columns: Sequence[Signal]) -> str:
    head = [letter, *(s.name for s in columns), "unit per column"]
    body = [
        [name, *(f"{x:.6g}" if x else "0" for x in line), unit] for name, line, unit in zip(rows, M, units, strict=True)
    ]
    return table(head, body, "<" + ">" * len(columns) + "<")
