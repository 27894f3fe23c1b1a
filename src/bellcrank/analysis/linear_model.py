"""Linear models x' = A x + B w, y = C x + D w about a point, with names and units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from bellcrank.analysis.modes import (
    Modes,
    compute_modes,
    snap_eigenvalues,
    stability_line,
    stability_of,
)
from bellcrank.analysis.response import Response, check_frequencies
from bellcrank.analysis.tables import aligned_table, derivative_unit, motion_line, write_csv
from bellcrank.core.errors import ModelError, did_you_mean, optional_package
from bellcrank.core.files import html
from bellcrank.core.files.notebook_display import NotebookDisplay
from bellcrank.mechanics.interface.interface import index_of_name


@dataclass(frozen=True)
class LinearModelVariable:
    """A state, input or output: name, unit, label, and its value at the point (user units)."""

    name: str
    unit: str
    label: str
    value: float = 0.0
    factor: float = 1.0  # from the user unit to equation units
    coordinate: bool = False


@dataclass(frozen=True)
class LinearModel(NotebookDisplay):
    """Linear model x' = A x + B w, y = C x + D w about an operating point, in user units and
    seconds.

    Attributes
    ----------
    name : str
        Name of the model.
    A, B, C, D : ndarray
        Matrices; `unit("A", i, j)` is the unit of an entry.
    states, inputs, outputs : tuple of Signal
        Rows and columns, each with `name`, `unit`, `label` and `value` at the operating point.
        `state_names`,
        `input_names` and `output_names` have the names alone. States are independent.
    drift : ndarray
        Time derivatives of the states at the operating point: zero at an equilibrium.
    equilibrium : bool
        Whether the operating point is an equilibrium or a steady motion.
    notes : tuple of str
        Remarks.
    dependent : dict
        States that constraints determine, each with its derivatives by independent states.
    motion : str
        Description of the operating point.
    point : object
        The operating point, for other analyses.

    Examples
    --------
    >>> import bellcrank as bc
    >>> s = bc.System("oscillator")
    >>> mass = s.add_body("mass", translate="x", mass=2, inertia=0)
    >>> push = s.add_input("push", units="N", default=0)
    >>> spring = s.add_force(
    ...     "spring", magnitude="-50*x - 4*v + push", direction=s.inertial.x, at=mass.origin
    ... )
    >>> model = s.equations().compile(backend="python").linearize()
    >>> model.A.tolist(), model.unit("B", 1, 0), model.stable
    ([[0.0, 1.0], [-25.0, -2.0]], 'm/s/s/N', True)
    >>> round(model.steady_gain("push", "q(mass)"), 6)
    0.02
    >>> model.frequency_response("push", "q(mass)", [0.5]).magnitude.round(4).tolist()
    [0.0305]
    """

    name: str
    A: np.ndarray
    B: np.ndarray
    C: np.ndarray
    D: np.ndarray
    states: tuple[LinearModelVariable, ...]
    inputs: tuple[LinearModelVariable, ...]
    outputs: tuple[LinearModelVariable, ...]
    drift: np.ndarray
    equilibrium: bool
    notes: tuple[str, ...] = ()
    dependent: dict[str, dict[str, float]] = field(default_factory=dict)
    motion: str = ""
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
        """Give the unit of an entry of a matrix.

        Parameters
        ----------
        matrix : {"A", "B", "C", "D"}
            The matrix.
        i, j : int
            Row and column, from 0.

        Returns
        -------
        str
            The unit.
        """
        _, _, rows, columns = self._matrices["ABCD".index(matrix)]
        return derivative_unit(_row_name_and_unit(matrix, rows[i])[1], columns[j].unit)

    def in_equation_units(self) -> LinearModel:
        """Convert the model to equation units: rad and consistent units of length, mass and time.

        Returns
        -------
        LinearModel
            Another model.
        """

        def in_base_units(group: Sequence[LinearModelVariable]) -> tuple[LinearModelVariable, ...]:
            return tuple(replace(s, unit="", factor=1.0, value=s.value * s.factor) for s in group)

        groups: dict[str, Any] = {
            name: in_base_units(getattr(self, name)) for name in ("states", "inputs", "outputs")
        }
        scaled = {
            x: M * _unit_factors(row_variables)[:, None] / _unit_factors(column_variables)
            for x, M, row_variables, column_variables in self._matrices
        }
        return replace(self, drift=self.drift * _unit_factors(self.states), **scaled, **groups)

    @property
    def _matrices(
        self,
    ) -> list[
        tuple[str, np.ndarray, tuple[LinearModelVariable, ...], tuple[LinearModelVariable, ...]]
    ]:
        """Every matrix with its letter, and what its rows and columns are."""
        x, w, y = self.states, self.inputs, self.outputs
        return [("A", self.A, x, x), ("B", self.B, x, w), ("C", self.C, y, x), ("D", self.D, y, w)]

    def essential(self) -> LinearModel:
        """Remove coordinates on which nothing depends: position and course of a vehicle, angles of
        wheels.

        Returns
        -------
        LinearModel
            Another model.
        """
        A, C = (
            self.A,
            np.where(np.isfinite(self.C), self.C, 1.0),
        )  # an output without derivatives may depend on anything
        A_tolerance, C_tolerance = (1e-13 * (np.abs(M).max(initial=0.0) or 1.0) for M in (A, C))
        columns = list(range(len(self.states)))
        coordinate_names = {s.name for s in self.states if s.coordinate}
        output_rows = [
            i for i, s in enumerate(self.outputs) if s.name not in coordinate_names
        ]  # a coordinate as an output goes with it
        while True:
            unused = (np.abs(A[columns]) <= A_tolerance).all(axis=0) & (
                np.abs(C[output_rows]) <= C_tolerance
            ).all(axis=0)
            removable = {j for j in columns if self.states[j].coordinate and unused[j]}
            if not removable:
                break
            columns = [k for k in columns if k not in removable]
        removed = {s.name for k, s in enumerate(self.states) if k not in columns}
        rows = [i for i, s in enumerate(self.outputs) if s.name not in removed]
        return replace(
            self,
            A=A[np.ix_(columns, columns)],
            B=self.B[columns],
            C=self.C[np.ix_(rows, columns)],
            D=self.D[rows],
            drift=self.drift[columns],
            states=tuple(self.states[k] for k in columns),
            outputs=tuple(self.outputs[i] for i in rows),
        )

    # ---- modes and responses

    @cached_property
    def modes(self) -> Modes:
        """Eigenvalues with frequency, damping, shape and participation."""
        return compute_modes(self.A, self.state_names, self.name, self.motion)

    @cached_property
    def eigenvalues(self) -> np.ndarray:
        """Of A in 1/s, sorted by real, then imaginary part."""
        return (
            np.sort_complex(snap_eigenvalues(np.linalg.eigvals(self.A)))
            if len(self.A)
            else np.zeros(0, complex)
        )

    @property
    def stability(self) -> str:
        """To first order, without coordinates on which nothing depends, e.g. "stable" or
        "unstable"."""
        return stability_of(self.essential().eigenvalues)

    @property
    def stable(self) -> bool:
        return bool(np.all(self.eigenvalues.real < 0))

    def _index_of(self, name: Any, variables: Sequence[LinearModelVariable], kind: str) -> int:
        names = [s.name for s in variables]
        index = index_of_name(name, names)
        if index is None:
            raise ModelError(
                f"{kind} '{name}' is not one of the linear "
                f"model's.{did_you_mean(str(name), names)} "
                f"{kind.capitalize()}s: {', '.join(names) or 'none'}."
            )
        return index

    def transfer(self, input: Any, output: Any, s: Any) -> np.ndarray:
        """Evaluate a transfer function. Rates of the input act with it.

        Parameters
        ----------
        input, output : str or Expr
            Input and output of the model.
        s : complex or sequence of complex
            Complex frequencies in rad/s.

        Returns
        -------
        ndarray
            Complex values, in the unit of the output per unit of the input.

        Raises
        ------
        ModelError
            If the model has no such input or output.
        """
        row = self._index_of(output, self.outputs, "output")
        name = self.inputs[self._index_of(input, self.inputs, "input")].name
        points = np.atleast_1d(np.asarray(s, dtype=complex))
        columns: list[tuple[int, int]] = []
        while (index := index_of_name(name, self.input_names)) is not None:
            columns.append((len(columns), index))
            name = f"dxdt({name})"
        return self._transfer_at(row, columns, points)

    def _transfer_at(
        self, row: int, columns: Sequence[tuple[int, int]], points: np.ndarray
    ) -> np.ndarray:
        """C (s - A)^-1 B + D at every point; columns: (power of s, number of the input)."""
        n = len(self.A)
        b = sum(
            (points[:, None] ** p * self.B[None, :, j] for p, j in columns),
            np.zeros((len(points), n), complex),
        )
        d = sum((points**p * self.D[row, j] for p, j in columns), np.zeros(len(points), complex))
        if not n:
            return d
        system_matrix = points[:, None, None] * np.eye(n) - self.A
        try:
            return np.asarray(
                np.linalg.solve(system_matrix, b[:, :, None])[:, :, 0] @ self.C[row] + d
            )
        except np.linalg.LinAlgError:  # a pole among the points
            if len(points) == 1:
                return np.array([np.inf + 0j])
            return np.concatenate([self._transfer_at(row, columns, x[None]) for x in points])

    def frequency_response(self, input: Any, output: Any, f: Any) -> Response:
        """Compute the response of an output to a sine of an input.

        Parameters
        ----------
        input, output : str or Expr
            Input and output of the model.
        f : sequence of float
            Frequencies in Hz.

        Returns
        -------
        Response
            The complex response.

        Raises
        ------
        ModelError
            If the model has no such input or output.
        """
        frequencies = check_frequencies(f)
        model = self._reduced_to_output(output)
        w = model.inputs[model._index_of(input, model.inputs, "input")]
        y = model.outputs[model._index_of(output, model.outputs, "output")]
        values = model.transfer(input, output, 2j * np.pi * frequencies)
        return Response(
            self.name,
            w.name,
            y.name,
            derivative_unit(y.unit, w.unit),
            frequencies,
            values,
            self.notes,
            self.motion,
            self.stability if self.equilibrium else "",
        )

    def _reduced_to_output(self, output: Any) -> LinearModel:
        """Without what neither the states nor this output depend on."""
        row = self._index_of(output, self.outputs, "output")
        alone = replace(self, C=self.C[[row]], D=self.D[[row]], outputs=(self.outputs[row],))
        short = alone.essential()
        return short if short.outputs else alone

    def steady_gain(self, input: Any, output: Any) -> float:
        """Compute the change of an output in the steady state per unit of a constant input.

        Parameters
        ----------
        input, output : str or Expr
            Input and output of the model.

        Returns
        -------
        float
            In the unit of the output per unit of the input.
        """
        return float(self._reduced_to_output(output).transfer(input, output, 0.0)[0].real)

    def to_control(self) -> Any:
        """Convert the model to a state space of the package `control` (python-control).

        Returns
        -------
        control.StateSpace
            The model, with names.

        Raises
        ------
        RunError
            If the package is not installed.
        """
        control = optional_package("control", "analysis")
        names = {
            "states": self.state_names,
            "inputs": self.input_names,
            "outputs": self.output_names,
        }
        return control.ss(self.A, self.B, self.C, self.D, **names)

    # ---- text and files

    def __str__(self) -> str:
        count_texts = [
            f"{len(g)} {kind}" for g, kind in ((self.states, "states"), (self.inputs, "inputs"))
        ]
        lines = [
            f"{self.name}: linear model, {', '.join(count_texts)}, {len(self.outputs)} outputs"
        ]
        lines += [f"  {line}" for line in motion_line(self.motion)]
        lines += (
            [f"  {stability_line(self.stability, self.essential().eigenvalues)}"]
            if self.equilibrium
            else []
        )
        lines += [f"  note: {n}" for n in self.notes]
        for letter, M, row_variables, column_variables in self._matrices:
            if letter == "A" or (
                (letter == "C" or self.inputs) and (letter == "B" or self.outputs)
            ):
                head = [letter, *(s.name for s in column_variables), "unit per column"]
                numbers = [[f"{x:.6g}" if x else "0" for x in line] for line in M]
                row_labels = [_row_name_and_unit(letter, s) for s in row_variables]
                body = [
                    [name, *line, unit]
                    for (name, unit), line in zip(row_labels, numbers, strict=True)
                ]
                lines.append(aligned_table(head, body, "<" + ">" * len(column_variables) + "<"))
        return "\n".join(lines)

    def _html_parts(self) -> list[str]:
        texts = [
            *([self.motion] if self.motion else []),
            *([f"stability: {self.stability}"] if self.equilibrium else []),
        ]
        texts += self.notes
        blocks: list[str] = [
            html.heading(f"{self.name}: linear model"),
            *map(html.paragraph, texts),
        ]
        for letter, M, row_variables, column_variables in self._matrices:
            if M.size:
                row_labels = [_row_name_and_unit(letter, s) for s in row_variables]
                rows = [
                    (name, *line, unit)
                    for (name, unit), line in zip(row_labels, M.tolist(), strict=True)
                ]
                head = (letter, *(s.name for s in column_variables), "unit per column")
                blocks.append(
                    html.html_table(head, rows, right=range(1, len(column_variables) + 1))
                )
        return [*blocks, html.preformatted(str(self.modes))] if len(self.A) else blocks

    def save(self, path: str | Path) -> Path:
        """Write a CSV file: one line for each entry that is not zero, with names and unit.

        Parameters
        ----------
        path : str or Path
            The file.

        Returns
        -------
        Path
            The file.
        """
        rows = []
        for letter, M, row_variables, column_variables in self._matrices:
            for i, j in zip(*np.nonzero(M), strict=True):
                name, unit = _row_name_and_unit(letter, row_variables[i])
                rows.append(
                    [
                        letter,
                        name,
                        column_variables[j].name,
                        float(M[i, j]),
                        derivative_unit(unit, column_variables[j].unit),
                    ]
                )
        return write_csv(path, ["matrix", "row", "column", "value", "unit"], rows)


def _unit_factors(group: Sequence[LinearModelVariable]) -> np.ndarray:
    return np.array([s.factor for s in group])


def _row_name_and_unit(matrix: str, signal: LinearModelVariable) -> tuple[str, str]:
    """Name and unit of a row: A and B have those of rates."""
    return (f"{signal.name}'", f"{signal.unit}/s") if matrix in "AB" else (signal.name, signal.unit)
