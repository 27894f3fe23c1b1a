"""Equations of motion, derived: what they are, what they cost, and the way to a program."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from bellcrank.derive.derived import Derived
from bellcrank.derive.jacobian import Slopes, columns_of, derive_gradient, derive_slopes, groups_of
from bellcrank.dynamics.derive import reduced_system
from bellcrank.errors import ModelWarning, counted, did_you_mean, mapping
from bellcrank.expr import ZERO, Expr, Symbol, latex, small_threshold
from bellcrank.interface.interface import Interface
from bellcrank.interface.listing import describe
from bellcrank.kinematics.constraints import Removed, solve_speed_constraint
from bellcrank.program.idle import drop_idle_parameters
from bellcrank.program.lookup import routine_operations


class Equations:
    """Equations of motion of a system.

    `coordinates` and `speeds` list the states in order; `mass_matrix` and `forces` are M and f of M u' = f in those
    speeds; `constraints` the removed speeds with what replaces them; `notes` what was ignored.
    """

    def __init__(self, derived: Derived) -> None:
        self.derived = derived
        self.analysis = derived.analysis
        self.quantities = derived.quantities
        self.program = derived.program
        self.how = derived.how
        self.seconds = dict(derived.seconds)
        self.solve = derived.solve

    @property
    def name(self) -> str:
        return self.derived.name

    @property
    def interface(self) -> Interface:
        """Everything the model shows to the outside: names, units, words, defaults, columns."""
        return self.derived.interface

    @property
    def coordinates(self) -> list[Symbol]:
        return list(self.program.coordinates)

    @property
    def speeds(self) -> list[Symbol]:
        return list(self.program.speeds)

    @property
    def independent_speeds(self) -> list[Symbol]:
        """A regular set of speeds: with loops fewer than `speeds`, of which the rest follows."""
        return list(self.analysis.independent_speeds)

    @property
    def parameters(self) -> list[str]:
        """Names of the parameters the equations and outputs use."""
        return [p.name for p in self.program.given_parameters]

    @property
    def inputs(self) -> list[str]:
        return [s.name for s in self.program.given_inputs]

    @property
    def outputs(self) -> list[str]:
        return list(self.program.output_names)

    @cached_property
    def constraints(self) -> list[Removed]:
        """The dependent speeds, each with the relation that determines it."""
        loops = self.analysis.loops
        if loops is None:
            return list(self.analysis.removed)
        removed: list[Removed] = []
        speeds = list(self.speeds)
        for row, pivot in zip(loops.used, loops.pivots, strict=True):
            solved = solve_speed_constraint(row.v, removed, speeds, pivot, row.text)
            assert solved is not None
            removed.append(solved)
            speeds.remove(pivot)
        return removed

    @property
    def notes(self) -> list[str]:
        return list(self.analysis.notes)

    @cached_property
    def _user_system(self) -> tuple[list[list[Expr]], list[Expr]]:
        with small_threshold(self.analysis.mechanism.threshold):
            system, _ = reduced_system(self.analysis, shift_back=True)
        index = system.index
        matrix = [system.M.get((max(i, j), min(i, j)), ZERO) for i in index for j in index]
        clean = drop_idle_parameters([*matrix, *(system.f[i] for i in index)])
        n = len(index)
        return [clean[i * n : (i + 1) * n] for i in range(n)], clean[n * n :]

    @property
    def mass_matrix(self) -> list[list[Expr]]:
        """M of M u' = f; where `constraint_matrix` has rows, of M u' = f + J' lambda."""
        return self._user_system[0]

    @property
    def forces(self) -> list[Expr]:
        """f of M u' = f."""
        return self._user_system[1]

    @property
    def constraint_matrix(self) -> list[list[Expr]]:
        """J of M u' = f + J' lambda, J u' = gamma: a row for each constraint that stays; none where all speeds are independent."""
        loops = self.program.loops
        return [] if loops is None else [list(row) for row in loops.J]

    @property
    def constraint_rates(self) -> list[Expr]:
        """gamma of J u' = gamma."""
        loops = self.program.loops
        return [] if loops is None else list(loops.gamma)

    @property
    def constraint_rows(self) -> dict[str, Expr]:
        """The rows v = J u + b = 0 by name, in the order of `constraint_matrix`."""
        loops = self.program.loops
        return {} if loops is None else dict(zip(loops.names, loops.v, strict=True))

    @property
    def position_rows(self) -> dict[str, Expr]:
        """The rows g(q, t) = 0 by name."""
        loops = self.program.loops
        return {} if loops is None else dict(zip(loops.positions, loops.g, strict=True))

    def jacobian(
        self, of: Sequence[str] = ("rates",), by: Sequence[Any] | None = None, mode: str = "cheapest"
    ) -> Slopes:
        """Exact derivatives as a program: of rates, outputs, positions or speeds (rows of constraints), by any symbols.

        `by`: names of states, inputs and parameters; default all states. `mode`: forward, reverse or cheapest. The result counts its
        operations and is written in C or Python like the model itself.
        """
        groups, columns = groups_of(of, self.name), columns_of(self.interface, by)
        return derive_slopes(self.program, self.derived.results, groups, columns, mode)

    def gradient(self, of: Sequence[str] = ("rates",), by: Sequence[Any] | None = None) -> Slopes:
        """The gradient of the weighted sum of results as a program (reverse mode); the weights are its inputs."""
        groups, columns = groups_of(of, self.name), columns_of(self.interface, by)
        return derive_gradient(self.program, self.derived.results, groups, columns)

    def operation_count(self) -> dict[str, Any]:
        """Operations of one evaluation of all rates: add, multiply, divide, function, total; `classic` by the published rule. What linkages
        take inside (a look-up, or one Newton iteration) stands apart in `routines`, where there are any."""
        counted = self.program.count.as_dict(self.program.per_step)
        inside = routine_operations(self.program)
        return {**counted, "routines": inside} if inside else counted

    def summary(self) -> str:
        """A few lines: freedoms, operations, how derived, seconds."""
        c = self.program.count
        bodies = counted(len(self.analysis.mechanism.bodies), "body", "bodies")
        q, u = counted(len(self.coordinates), "coordinate"), counted(len(self.independent_speeds), "independent speed")
        lines = [
            f"{self.name}: {bodies}, {q}, {u}",
            f"operations: {c.add} add, {c.multiply} multiply, {c.divide} divide, {c.function} functions (total {c.total});"
            f" classic {c.add} / {c.muldiv_classic} and {c.calls_classic} calls",
            f"derived by {self.how} in {sum(self.seconds.values()):.3f} s",
        ]
        lines += (
            [f"passes: {', '.join(f'{name} {n}' for name, n in self.program.stages)}"] if self.program.stages else []
        )
        return "\n".join([*lines, *(f"note: {n}" for n in self.notes)])

    def describe(self) -> str:
        """Parameters, inputs, states and outputs with values, units and labels."""
        return describe(self.interface)

    def __repr__(self) -> str:
        return self.summary()

    def latex(self) -> str:
        """Rates of all states in LaTeX, intermediate results named."""
        from bellcrank.program.statements import Assign

        names: dict[Expr, str] = {}
        lines = []
        for s in [*self.program.constants.statements, *self.program.derivatives.statements]:
            if isinstance(s, Assign):
                lines.append(f"{latex(s.target)} &= {latex(s.value, names)}")
        states = [*self.coordinates, *self.speeds]
        for state, rate in zip(states, self.program.derivatives.results, strict=True):
            lines.append(f"\\frac{{d}}{{dt}} {latex(state)} &= {latex(rate, names)}")
        return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}"

    def write(self, language: str, directory: str | Path) -> Path:
        """Writes a stand-alone program in "c", "fortran" or "python": source, Makefile and default input.

        Returns the path of the file with the equations.
        """
        from bellcrank.export.programs import write_program

        return write_program(self.derived, self.compile, language, directory)

    def compile(self, backend: str = "auto", external: Mapping[str, Any] | None = None) -> Any:
        """A simulation, ready to run. `external` replaces external routines by name.

        `backend`: "c" compiles, "python" does not, "auto" compiles if there is a C compiler. `sim.backend` and `sim.notes` tell.
        """
        from bellcrank.api.simulation import Simulation

        self._warn_of_unknown_values()
        return Simulation(self.derived, backend, mapping(external, "external"))

    def _warn_of_unknown_values(self) -> None:
        used = {n.lower() for n in self.analysis.parameters}
        d = self.analysis.mechanism.description
        for key, record in d.parameters.items():
            if key not in used and record.value is not None and key != "g":
                known = sorted(self.analysis.parameters.values())
                warnings.warn(
                    f"a value is given for '{record.name}', but the model does not use it.{did_you_mean(record.name, known)}",
                    ModelWarning,
                    stacklevel=3,
                )
