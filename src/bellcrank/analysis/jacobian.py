"""Derivatives of a model as programs: results of the model -> derivatives -> program.

In:  `DifferentiableResults`, and the `SimulationProgram` and `Interface` of the model. Out:
`Jacobian`: an ordinary `SimulationProgram` whose outputs are the values asked for and all their
derivatives that are not zero, so that C, Python, operation counts and loading work as for the
model itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from bellcrank.analysis.external_derivatives import UserFunctionDerivatives
from bellcrank.choices import DerivativeFormat
from bellcrank.codegen.c.source import c_source
from bellcrank.codegen.python.source import python_source
from bellcrank.core.errors import BuildError, ModelError, did_you_mean
from bellcrank.core.files.atomic import write_text
from bellcrank.mechanics.derive.derived import DerivedModel
from bellcrank.mechanics.derive.results import GROUPS, DifferentiableResults
from bellcrank.mechanics.interface.interface import Interface
from bellcrank.program.build import ProgramParts, build_program
from bellcrank.program.common_subexpressions import extract_common_parts, network_cost
from bellcrank.program.differentiate import (
    MODES,
    forward_derivatives,
    reverse_gradient,
    total_slopes,
)
from bellcrank.program.differentiate.implicit_derivatives import EVERYTHING
from bellcrank.program.network import build_network
from bellcrank.program.operation_count import OperationCount, count_operations
from bellcrank.program.optimize import optimize_operations
from bellcrank.program.program import SimulationProgram
from bellcrank.program.statements import Section, count_section, prune_section
from bellcrank.program.unused_parameters import drop_idle_parameters
from bellcrank.symbolic.expr import ZERO, Expr, Symbol, small_threshold
from bellcrank.symbolic.expr.collection import no_collection

EXTRACTED = 10_000  # operations up to which common parts are looked for
MAX_EXPANDED_OPERATIONS = 4_000  # operations up to which sums are multiplied out for it
MAX_MATRIX_OPERATIONS = (
    60_000  # rough operations of a whole matrix; above, columns are taken one direction at a time
)

WRITERS: dict[str, tuple[str, Callable[[SimulationProgram], str]]] = {
    "c": ("jacobian.c", c_source),
    "python": ("jacobian.py", python_source),
}


@dataclass(frozen=True)
class Jacobian:
    """A Jacobian or gradient as a program, as `Equations.jacobian` and `Equations.gradient` return
    it.

    Attributes
    ----------
    program : Program
        Its outputs are the values of the rows, then the derivatives at `entries`.
    rows : tuple of str
        What is differentiated.
    columns : tuple of Symbol
        With respect to what.
    entries : tuple
        Row and column of each derivative that is not zero.
    rates : tuple of Symbol
        Of a derivative along a direction: inputs of the program with the direction. There is then
        one column.
    notes : tuple of str
        Remarks.

    Examples
    --------
    >>> import bellcrank as bc
    >>> s = bc.System("oscillator")
    >>> mass = s.add_body("mass", translate="x", mass=2, inertia=0)
    >>> spring = s.add_force("spring", magnitude="-k*x", direction=s.inertial.x, at=mass.origin)
    >>> found = s.equations().jacobian(wrt=["k", mass.q[1]])
    >>> found.entries
    ((1, 0), (1, 1))
    >>> found.operation_count()["total"] > 0
    True
    """

    program: SimulationProgram
    rows: tuple[str, ...]
    columns: tuple[Symbol, ...]
    entries: tuple[tuple[int, int], ...]
    rates: tuple[Symbol, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def count(self) -> OperationCount:
        """Operations of one evaluation of all derivatives."""
        section = Section(
            self.program.outputs.statements, self.program.outputs.results[len(self.rows) :]
        )
        needed_section = prune_section(section, self.program.derivatives.statements)
        return count_section(needed_section.statements, needed_section.results)

    def operation_count(self) -> dict[str, Any]:
        """Count the operations of one evaluation of all derivatives.

        Returns
        -------
        dict
            "add", "multiply", "divide", "function", "total" and "classic", as of
            `Equations.operation_count`.
        """
        return self.count.as_dict()

    def dense(self, numbers: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
        """Arrange what the outputs of the program returned.

        Parameters
        ----------
        numbers : sequence of float
            Values of the outputs.

        Returns
        -------
        tuple of ndarray
            Values of the rows, and the matrix.
        """
        values = np.array(numbers[: len(self.rows)])
        matrix = np.zeros((len(self.rows), 1 if self.rates else len(self.columns)))
        matrix[self._entry_indices] = numbers[len(self.rows) :]
        return values, matrix

    @cached_property
    def _entry_indices(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows and columns of the entries."""
        rows, columns = np.array(self.entries, dtype=int).reshape(-1, 2).T
        return rows, columns

    def export(self, format: DerivativeFormat, directory: str | Path) -> Path:
        """Write the source of the program: jacobian.c or jacobian.py.

        Parameters
        ----------
        format : {"c", "python"}
            Language.
        directory : str or Path
            Folder of the file; it is made if necessary.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        ModelError
            If the format is not known.
        BuildError
            If the file cannot be written.
        """
        if format not in WRITERS:
            formats = ", ".join(f"'{x}'" for x in WRITERS)
            raise ModelError(
                f"export: format {format!r} is not known; it is one of {formats}", self.program.name
            )
        name, text = WRITERS[format]
        path = Path(directory) / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_text(path, text(self.program))
        except OSError as error:
            raise BuildError(f"cannot write {path}: {error.strerror or error}") from None
        return path


def make_jacobian(
    derived: DerivedModel, group_names: str | Sequence[str], wrt: Sequence[Any] | None, mode: str
) -> Jacobian:
    """The whole matrix of a model as a program, or an error where that would be too large."""
    groups, columns = (
        check_groups(group_names, derived.name),
        column_symbols(derived.interface, wrt),
    )
    size = written_out_size(derived.results, groups, columns)
    if size > MAX_MATRIX_OPERATIONS:
        rows = len(derived.results.select_groups(*groups))
        raise ModelError(
            f"jacobian: the matrix of {rows} rows and {len(columns)} columns would need "
            f"about {size} operations, and "
            f"{MAX_MATRIX_OPERATIONS} can be written out. Ask for fewer columns (wrt=), or "
            f"evaluate it with "
            f"sim.linearize() or "
            "sim.rhs().jacobian().",
            derived.name,
        )
    return derive_jacobian(derived.program, derived.results, groups, columns, mode)


def make_gradient(
    derived: DerivedModel, group_names: str | Sequence[str], wrt: Sequence[Any] | None
) -> Jacobian:
    """The gradient of a weighted sum of a model's results as a program."""
    groups, columns = (
        check_groups(group_names, derived.name),
        column_symbols(derived.interface, wrt),
    )
    return derive_gradient(derived.program, derived.results, groups, columns)


def check_groups(group_names: str | Sequence[str], model: str) -> list[str]:
    """Groups of results by name."""
    groups = [group_names] if isinstance(group_names, str) else list(group_names)
    for name in groups:
        if name not in GROUPS:
            raise ModelError(f"of={name!r} is not known; it is one of {', '.join(GROUPS)}", model)
    return groups


def column_symbols(interface: Interface, wrt: Sequence[Any] | None) -> list[Symbol]:
    """The symbols of names: of all states, if none are given."""
    if wrt is None:
        return [x.symbol for x in interface.states if x.symbol is not None]
    kinds, symbols = ("coordinate", "speed", "input", "parameter", "entered"), []
    for item in [wrt] if isinstance(wrt, str) else wrt:
        quantity = interface.find_or_none(item, kinds)
        if quantity is None or quantity.symbol is None:
            name = str(item)
            suggestion = did_you_mean(name, [x.name for x in interface.of_kinds(kinds)])
            raise ModelError(
                f"wrt={name!r}: no state, input or parameter has that name.{suggestion}",
                interface.model,
            )
        symbols.append(quantity.symbol)
    return symbols


def written_out_size(
    results: DifferentiableResults, groups: Sequence[str], columns: Sequence[Symbol]
) -> int:
    """Rough operations of a whole matrix."""
    return count_operations([e for _, e in results.select_groups(*groups)]).total * len(columns)


def derive_jacobian(
    model: SimulationProgram,
    results: DifferentiableResults,
    groups: Sequence[str],
    columns: Sequence[Symbol],
    mode: str = "cheapest",
    extracted: bool = True,
    inputs: Sequence[Symbol] = (),
) -> Jacobian:
    """The program of all derivatives of some groups of results; large ones go along one direction
    at a time.

    `model` is the program of the model. With `extracted`, common parts are taken out: fewer
    operations, for programs that are printed or run often. `inputs` are those of the results that
    are not inputs of the model.
    """
    if mode not in MODES:
        raise ModelError(f"mode={mode!r} is not known; it is one of {', '.join(MODES)}", model.name)
    with no_collection():
        rows, external = results.select_groups(*groups), UserFunctionDerivatives()
        values, seeds = [e for _, e in rows], []
        if written_out_size(results, groups, columns) > MAX_MATRIX_OPERATIONS:
            seeds = [direction_input(s) for s in columns]
            along = forward_derivatives(
                values, dict(zip(columns, seeds, strict=True)), results.linear, external
            )
            entries = {(i, 0): e for i, e in enumerate(along) if e is not ZERO}
            names = [f"rate of {rows[i][0]}" for i, _ in entries]
        else:
            # the rehearsed cost of "cheapest" does not see equal values: forward may still be
            # better
            candidate_modes = ("forward", "cheapest") if mode == "cheapest" else (mode,)
            tried = [
                total_slopes(values, columns, results.linear, way, external)
                for way in candidate_modes
            ]
            best = (
                tried[0]
                if len(tried) == 1
                else min(tried, key=lambda way: _derivative_cost(way, extracted))
            )
            entries = {(i, j): row[j] for i, row in enumerate(best) for j in sorted(row)}
            names = [f"d {rows[i][0]} / d {columns[j].name}" for i, j in entries]
        return _derivative_program(
            model, results, rows, columns, entries, names, seeds, external, inputs, extracted
        )


def _derivative_cost(rows: Sequence[dict[int, Expr]], extracted: bool) -> int:
    """Operations of all derivatives, once common parts are taken out."""
    roots = [e for row in rows for e in row.values()]
    total = count_operations(roots).total
    if not extracted or total > EXTRACTED:
        return total
    with small_threshold(EVERYTHING):
        return network_cost(
            extract_common_parts(
                build_network(roots, spread=2 if total <= MAX_EXPANDED_OPERATIONS else 1)
            )
        )


def direction_input(column: Symbol) -> Symbol:
    """The input that stands for a column's fraction of a direction."""
    return Symbol(f"along {column.name}", "variable")


def derive_gradient(
    model: SimulationProgram,
    results: DifferentiableResults,
    groups: Sequence[str],
    columns: Sequence[Symbol],
) -> Jacobian:
    """The gradient of the weighted sum of some results by all columns (reverse mode); the weights
    are inputs."""
    rows, external = results.select_groups(*groups), UserFunctionDerivatives()
    weights = [Symbol(f"weight of {name}", "variable") for name, _ in rows]
    derivatives = reverse_gradient([e for _, e in rows], weights, columns, results.linear, external)
    names = [f"derivative by {s.name}" for s in columns]
    entries = {(0, j): e for j, e in enumerate(derivatives)}
    return _derivative_program(model, results, (), columns, entries, names, weights, external)


def _derivative_program(
    model: SimulationProgram,
    results: DifferentiableResults,
    rows: Sequence[tuple[str, Expr]],
    columns: Sequence[Symbol],
    entries: Mapping[tuple[int, int], Expr],
    names: Sequence[str],
    seeds: Sequence[Symbol],
    external: UserFunctionDerivatives,
    inputs: Sequence[Symbol] = (),
    extracted: bool = True,
) -> Jacobian:
    """Jacobian with a program whose outputs are the values of rows and what was found, under their
    names."""
    rates = [e for _, e in results.rates]
    with small_threshold(EVERYTHING):
        roots = drop_idle_parameters([*rates, *(e for _, e in rows), *entries.values()])
        if extracted and count_operations(roots).total <= EXTRACTED:
            roots = optimize_operations(roots)
        n, input_symbols = len(rates), [*results.inputs, *inputs, *seeds]
        outputs = list(zip([*(name for name, _ in rows), *names], roots[n:], strict=True))
        states = model.coordinates, model.speeds
        name = f"{model.name}: Jacobian"
        program_parts = ProgramParts(
            name,
            results.parameters,
            *states,
            roots[:n],
            outputs,
            input_symbols,
            outputs_matter=True,
        )
        program = build_program(program_parts)
    structure = tuple(name for name, _ in rows), tuple(columns), tuple(entries)
    return Jacobian(program, *structure, tuple(seeds), tuple(external.notes))
