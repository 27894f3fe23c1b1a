"""Equations of motion, derived: what they are, what they cost, and the way to a program."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bellcrank.backend.kept_models import kept_model
from bellcrank.choices import (
    Backend,
    DaeMethod,
    FmiVersion,
    JacobianMode,
    JacobianOf,
    Language,
    Platform,
    Precision,
    Purpose,
    Speed,
)
from bellcrank.derive.derived import Derived
from bellcrank.derive.summary import summary, warn_of_unused
from bellcrank.errors import ModelError, mapping
from bellcrank.expr import Expr, Symbol
from bellcrank.interface.interface import Interface
from bellcrank.interface.listing import describe
from bellcrank.kinds import Checked
from bellcrank.kinematics.results import ConstraintForm
from bellcrank.kinematics.speed_constraints import Removed
from bellcrank.model.records import Description
from bellcrank.names import numbered
from bellcrank.program.lookup import routine_operations

if TYPE_CHECKING:
    from bellcrank.analysis.jacobian import Slopes
    from bellcrank.api.simulation import Simulation
    from bellcrank.run.dae_methods import Dae


class Equations(Checked):
    """Equations of motion of a system.

    `coordinates` and `speeds` list the states in order; `mass_matrix` and `forces` are M and f of M u' = f in those
    speeds; `constraints` the removed speeds with what replaces them; `notes` what was ignored.
    """

    internals = ("analysis", "derived", "how", "program", "quantities")

    def __init__(self, derived: Derived, recipe: tuple[Any, ...] | None = None) -> None:
        self.derived, self._recipe = derived, recipe
        self.analysis, self.quantities, self.program = derived.analysis, derived.quantities, derived.program
        self.how, self.solve, self.seconds = derived.how, derived.solve, dict(derived.seconds)

    def __reduce__(self) -> Any:
        """Another process derives the equations again, from the description as it was."""
        if self._recipe is None:
            why = "equations that were derived step by step cannot be pickled; derive them in the other process"
            raise ModelError(why, self.name)
        return equations_of, self._recipe

    def __deepcopy__(self, _: Any) -> Equations:
        return self  # never changes

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

    @property
    def constraints(self) -> list[Removed]:
        """The dependent speeds, each with the relation that determines it."""
        return list(self.derived.dependent)

    @property
    def notes(self) -> list[str]:
        return list(self.analysis.notes)

    @property
    def mass_matrix(self) -> list[list[Expr]]:
        """M of M u' = f; where `constraint_matrix` has rows, of M u' = f + J' lambda."""
        return self.derived.matrices[0]

    @property
    def forces(self) -> list[Expr]:
        """f of M u' = f."""
        return self.derived.matrices[1]

    @property
    def constraint_matrix(self) -> list[list[Expr]]:
        """J of M u' = f + J' lambda, J u' = gamma: a row for each constraint that stays."""
        loops = self.program.loops
        return [] if loops is None else [list(row) for row in loops.J]

    @property
    def constraint_rates(self) -> list[Expr]:
        """gamma of J u' = gamma."""
        loops = self.program.loops
        return [] if loops is None else list(loops.gamma)

    @property
    def constraint_rows(self) -> dict[str, Expr]:
        """The rows v = J u + b = 0 by name, in the order of `constraint_matrix`; equal names are numbered."""
        loops = self.program.loops
        return {} if loops is None else dict(zip(numbered(loops.names), loops.v, strict=True))

    @property
    def position_rows(self) -> dict[str, Expr]:
        """The rows g(q, t) = 0 by name; equal names are numbered."""
        loops = self.program.loops
        return {} if loops is None else dict(zip(numbered(loops.positions), loops.g, strict=True))

    def jacobian(
        self,
        of: JacobianOf | Sequence[JacobianOf] = ("rates",),
        *,
        wrt: Sequence[Any] | str | None = None,
        mode: JacobianMode = "cheapest",
    ) -> Slopes:
        """Exact derivatives as a program: of rates, outputs, positions or speeds (rows of constraints), by any symbols.

        `wrt`: names of states, inputs and parameters; default all states. `mode`: forward, reverse or cheapest. The
        result counts its operations and is written in C or Python like the model itself. A matrix that is too large to
        be written out is an error.
        """
        from bellcrank.analysis.jacobian import jacobian_of  # most models are never differentiated

        return jacobian_of(self.derived, of, wrt, mode)

    def gradient(
        self, of: JacobianOf | Sequence[JacobianOf] = ("rates",), *, wrt: Sequence[Any] | str | None = None
    ) -> Slopes:
        """The gradient of the weighted sum of results as a program (reverse mode); the weights are its inputs."""
        from bellcrank.analysis.jacobian import gradient_of

        return gradient_of(self.derived, of, wrt)

    def operation_count(self) -> dict[str, Any]:
        """Operations of one evaluation of all rates: add, multiply, divide, function, total; `classic` by the published
        rule. What linkages take inside (a look-up, or one Newton iteration) stands apart in `routines`."""
        counted = self.program.count.as_dict(self.program.per_step)
        inside = routine_operations(self.program)
        return {**counted, "routines": inside} if inside else counted

    def summary(self) -> str:
        """A few lines: degrees of freedom, operations, how derived, seconds."""
        return summary(self.derived)

    def describe(self) -> str:
        """Parameters, inputs, states and outputs with values, units and labels."""
        return describe(self.interface)

    def __repr__(self) -> str:
        return self.summary()

    def latex(self) -> str:
        """Rates of all states in LaTeX, intermediate results named."""
        from bellcrank.view.latex import program_latex

        return program_latex(self.program)

    def _repr_html_(self) -> str:
        """What a notebook shows: the summary and all equations."""
        from bellcrank.view.notebook import equations_html

        return equations_html(self.derived)

    def _repr_latex_(self) -> str:
        return f"$$\n{self.latex()}\n$$"

    def write(
        self,
        language: Language,
        directory: str | Path,
        *,
        purpose: Purpose = "program",
        precision: Precision = "double",
        events: Mapping[str, Any] | Sequence[Any] | None = None,
        stop: Iterable[str] | str | None = (),
        dae: DaeMethod | Dae | None = None,
    ) -> Path:
        """Writes a stand-alone program in "c", "fortran" or "python" (fixed steps): source, Makefile, default input.

        With `purpose="embedded"`, C that a controller or test rig calls step by step, in "double" or "single"
        `precision`; with "simulink", the same with an S-function. `events` and `stop` as of `simulate`: what a program
        in C or Fortran watches and does; `dae` as there: how it keeps constraints.
        Returns the path of the file with the equations.
        """
        from bellcrank.export.programs import write_program

        return write_program(self.derived, language, directory, purpose, precision, events, stop, dae)

    def page(
        self,
        path: str | Path | None = None,
        *,
        sliders: Any = None,
        plots: Any = None,
        title: str | None = None,
        run: Any = None,
        modes: Any = None,
    ) -> Any:
        """A live page: the model running in the browser, in one file that needs nothing else.

        Written to a file when a path is given; a notebook shows what is returned. `sliders`: parameters that stand
        first, as names or {name: (low, high)}, also for inputs; `plots`: names of channels. `run`: a run of the model
        that the page plays, too; `modes`: a linear model (of `linearize`) whose modes it shows.
        """
        from bellcrank.export.page.page import live_page

        page = live_page(self.derived, sliders, plots, title, run, modes)
        return page if path is None else page.write(path)

    def write_fmu(
        self,
        path: str | Path,
        *,
        fmi: FmiVersion = 2,
        platforms: Platform | Sequence[Platform] = "host",
        dae: DaeMethod | Dae | None = None,
    ) -> Path:
        """Writes a functional mock-up unit by FMI 2 or 3: model exchange and co-simulation in one file.

        `platforms`: "host" for this machine, "all" or names (x86_64-linux ...) by the package ziglang, "sources" for
        none. `dae`: how constraints are kept, as in `simulate`. With `dae` or rigid wheels, co-simulation alone.
        """
        from bellcrank.export.fmu.write import write_fmu

        return write_fmu(self.derived, path, fmi, platforms, dae)

    def compile(
        self, *, backend: Backend = "auto", external: Mapping[str, Any] | None = None, speed: Speed = "auto"
    ) -> Simulation:
        """Compile the equations to a simulation that is ready to run.

        Parameters
        ----------
        backend : {"auto", "c", "wasm", "python"}, default "auto"
            "c" compiles, "wasm" runs in WebAssembly by wasmtime, "python" runs in Python. "auto" chooses the first
            that is available. `sim.backend` and `sim.notes` report the choice.
        external : mapping, optional
            Functions that replace user functions of the model, by name.
        speed : {"auto", "fast", "quick"}, default "auto"
            "quick" compiles in a shorter time, "fast" to a faster program. "auto" has the first ready soon, and
            changes to the second if that pays.

        Returns
        -------
        Simulation
            The model ready to run.

        Raises
        ------
        BuildError
            If the compiler fails.

        Examples
        --------
        >>> import bellcrank as bc
        >>> s = bc.System("mass")
        >>> mass = s.add_body("mass", translate="x", mass=2, inertia=0)
        >>> s.equations().compile(backend="python")
        Simulation('mass': 2 states, 0 inputs, 0 outputs; backend python)
        """
        from bellcrank.api.simulation import Simulation

        warn_of_unused(self.derived)
        return Simulation(self, backend, mapping(external, "external"), speed)


def equations_of(
    description: Description,
    solve: str,
    small: bool,
    optimise: str,
    without: Collection[str],
    constraints: str,
    keeps: bool = False,
) -> Equations:
    """Derives the equations of a description, which `System.equations` gives with its options; if `keeps`, they are
    kept on disk for other processes."""
    frozen = description.snapshot()
    asked = solve, small, optimise, tuple(without), ConstraintForm(constraints)

    def make() -> Derived:
        from bellcrank.derive.pipeline import derive
        from bellcrank.run.loop_place import LoopPlace

        return derive(frozen, LoopPlace.of, *asked)

    derived = kept_model(frozen, asked, make) if keeps else make()
    return Equations(derived, (frozen, solve, small, optimise, tuple(without), constraints))
