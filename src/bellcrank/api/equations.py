"""Equations of motion, derived: what they are, what they cost, and the way to a program."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from bellcrank.choices import (
    Backend,
    DaeMethod,
    ExportFormat,
    FmiVersion,
    JacobianMode,
    JacobianOf,
    Platform,
    Precision,
    Speed,
)
from bellcrank.core.argument_checks import ValidatedCalls
from bellcrank.core.errors import ModelError, require_mapping
from bellcrank.core.name_lookup import make_names_unique
from bellcrank.mechanics.derive.derived import DerivedModel
from bellcrank.mechanics.derive.summary import summary, warn_of_unused
from bellcrank.mechanics.interface.interface import Interface
from bellcrank.mechanics.interface.listing import describe
from bellcrank.mechanics.kinematics.results import ConstraintForm
from bellcrank.mechanics.kinematics.speed_constraints import DependentSpeed
from bellcrank.model.records import Description
from bellcrank.program.grid_lookup import routine_operations
from bellcrank.simulation.backend.model_cache import cached_model
from bellcrank.symbolic.expr import Expr, Symbol

if TYPE_CHECKING:
    from bellcrank.analysis.jacobian import Jacobian
    from bellcrank.analysis.linear_model import LinearModel
    from bellcrank.api.simulation import Simulation
    from bellcrank.export.page.page import LivePage
    from bellcrank.simulation.run.dae_methods import Dae
    from bellcrank.simulation.run.event_specs import EventRecord
    from bellcrank.simulation.run.result import Run


class Equations(ValidatedCalls):
    """Equations of motion of a system, derived by `System.equations`.

    Parameters
    ----------
    derived : Derived
        The derivation.
    recipe : tuple, optional
        What another process derives them from.

    Attributes
    ----------
    coordinates, speeds : list
        The states q and u, in order. `independent_speeds` is a set that determines the others.
    parameters, inputs, outputs : list of str
        Names of what the equations use and give.
    mass_matrix, forces : list
        M and f of M u' = f, as expressions.
    constraints : list
        The speeds that constraints determine, each with its relation.
    notes : list of str
        Remarks, such as constraints that were ignored.

    Examples
    --------
    >>> import bellcrank as bc
    >>> s = bc.System("oscillator")
    >>> mass = s.add_body("mass", translate="x", mass="m", inertia=0)
    >>> spring = s.add_force("spring", magnitude="-k*x", direction=s.inertial.x, at=mass.origin)
    >>> eom = s.equations()
    >>> eom.mass_matrix, eom.forces
    ([[m]], [-k*q(mass)])
    """

    internals = ("analysis", "derived", "how", "program", "quantities")

    def __init__(self, derived: DerivedModel, recipe: tuple[Any, ...] | None = None) -> None:
        self.derived, self._recipe = derived, recipe
        self.analysis, self.quantities, self.program = (
            derived.analysis,
            derived.quantities,
            derived.program,
        )
        self.how, self.solve, self.seconds = (
            derived.method_label,
            derived.solve,
            dict(derived.seconds),
        )

    def __reduce__(self) -> Any:
        """Another process derives the equations again, from the description as it was."""
        if self._recipe is None:
            reason = (
                "equations that were derived step by step cannot be pickled; derive them in the "
                "other process"
            )
            raise ModelError(reason, self.name)
        return derive_equations, self._recipe

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
    def constraints(self) -> list[DependentSpeed]:
        """The dependent speeds, each with the relation that determines it."""
        return list(self.derived.dependent_speeds)

    @property
    def notes(self) -> list[str]:
        return list(self.analysis.notes)

    @property
    def mass_matrix(self) -> list[list[Expr]]:
        """M of M u' = f; where `constraint_matrix` has rows, of M u' = f + J' lambda."""
        return [list(row) for row in self.derived.matrices[0]]

    @property
    def forces(self) -> list[Expr]:
        """f of M u' = f."""
        return list(self.derived.matrices[1])

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
        """The rows v = J u + b = 0 by name, in the order of `constraint_matrix`; equal names are
        numbered."""
        loops = self.program.loops
        return (
            {} if loops is None else dict(zip(make_names_unique(loops.names), loops.v, strict=True))
        )

    @property
    def position_rows(self) -> dict[str, Expr]:
        """The rows g(q, t) = 0 by name; equal names are numbered."""
        loops = self.program.loops
        return (
            {}
            if loops is None
            else dict(zip(make_names_unique(loops.positions), loops.g, strict=True))
        )

    def jacobian(
        self,
        of: JacobianOf | Sequence[JacobianOf] = ("rates",),
        *,
        wrt: Sequence[Any] | str | None = None,
        mode: JacobianMode = "cheapest",
    ) -> Jacobian:
        """Derive a Jacobian as a program, by exact differentiation.

        Parameters
        ----------
        of : str or sequence of str, default ("rates",)
            What is differentiated: "rates" (time derivatives of the states), "outputs", "positions"
            or "speeds" (constraint equations).
        wrt : str or sequence, optional
            States, inputs and parameters, by name or as symbols: the columns. Default: all states.
        mode : {"forward", "reverse", "cheapest"}, default "cheapest"
            Direction of differentiation.

        Returns
        -------
        Jacobian
            The program: `rows` and `columns` name the entries, `operation_count()` its cost;
            `export("c", directory)` or `export("python", directory)` writes its source. Values are
            in equation units.

        Raises
        ------
        ModelError
            If a name is unknown, or if the matrix is too large to be written out.

        Examples
        --------
        >>> import bellcrank as bc
        >>> s = bc.System("oscillator")
        >>> mass = s.add_body("mass", translate="x", mass=2, inertia=0)
        >>> spring = s.add_force("spring", magnitude="-k*x", direction=s.inertial.x, at=mass.origin)
        >>> found = s.equations().jacobian(wrt=["k", mass.q[1]])
        >>> found.rows, found.columns
        (("q(mass)'", "u(mass)'"), (k, q(mass)))
        """
        from bellcrank.analysis.jacobian import (
            make_jacobian,
        )  # most models are never differentiated

        return make_jacobian(self.derived, of, wrt, mode)

    def gradient(
        self,
        of: JacobianOf | Sequence[JacobianOf] = ("rates",),
        *,
        wrt: Sequence[Any] | str | None = None,
    ) -> Jacobian:
        """Derive the gradient of a weighted sum of results as a program (reverse mode). The weights
        are its inputs.

        Parameters
        ----------
        of : str or sequence of str, default ("rates",)
            The results, as of `jacobian`.
        wrt : str or sequence, optional
            States, inputs and parameters. Default: all states.

        Returns
        -------
        Jacobian
            The program, as of `jacobian`, with one row.

        Examples
        --------
        >>> import bellcrank as bc
        >>> s = bc.System("oscillator")
        >>> mass = s.add_body("mass", translate="x", mass=2, inertia=0)
        >>> spring = s.add_force("spring", magnitude="-k*x", direction=s.inertial.x, at=mass.origin)
        >>> s.equations().gradient(wrt="k").columns
        (k,)
        """
        from bellcrank.analysis.jacobian import make_gradient

        return make_gradient(self.derived, of, wrt)

    def operation_count(self) -> dict[str, Any]:
        """Count the operations of one evaluation of all time derivatives.

        Returns
        -------
        dict
            "add", "multiply", "divide", "function" and "total"; "classic" by the published rule,
            "per_step" for work done once per step. Operations inside linkages (a table look-up or
            one Newton iteration) are listed in "routines".

        Examples
        --------
        >>> import bellcrank as bc
        >>> s = bc.System("oscillator")
        >>> mass = s.add_body("mass", translate="x", mass=2, inertia=0)
        >>> spring = s.add_force(
        ...     "spring", magnitude="-50*x - c*v", direction=s.inertial.x, at=mass.origin
        ... )
        >>> s.equations().operation_count()["total"]
        3
        """
        counts = self.program.count.as_dict(self.program.per_step)
        inside = routine_operations(self.program)
        return {**counts, "routines": inside} if inside else counts

    def summary(self) -> str:
        """Summarize the equations in a few lines: degrees of freedom, operations, method and time
        of derivation.

        Returns
        -------
        str
            The lines.

        Examples
        --------
        >>> import bellcrank as bc
        >>> s = bc.System("mass")
        >>> mass = s.add_body("mass", translate="x", mass=2, inertia=0)
        >>> print(s.equations().summary().splitlines()[0])
        mass: 1 body, 1 coordinate, 1 independent speed
        """
        return summary(self.derived)

    def describe(self) -> str:
        """List parameters, inputs, states and outputs with values, units and labels.

        Returns
        -------
        str
            The tables as text.

        Examples
        --------
        >>> import bellcrank as bc
        >>> s = bc.System("mass")
        >>> mass = s.add_body("mass", translate="x", mass=2, inertia=0)
        >>> "q(mass)" in s.equations().describe()
        True
        """
        return describe(self.interface)

    def __repr__(self) -> str:
        return self.summary()

    def latex(self) -> str:
        """Write the time derivatives of all states in LaTeX, with intermediate results.

        Returns
        -------
        str
            The text, for display mode.

        Examples
        --------
        >>> import bellcrank as bc
        >>> s = bc.System("mass")
        >>> mass = s.add_body("mass", translate="x", mass=2, inertia=0)
        >>> "u_{mass}" in s.equations().latex()
        True
        """
        from bellcrank.analysis.view.latex import program_latex

        return program_latex(self.program)

    def _repr_html_(self) -> str:
        """What a notebook shows: the summary and all equations."""
        from bellcrank.analysis.view.notebook import equations_html

        return equations_html(self.derived)

    def _repr_latex_(self) -> str:
        return f"$$\n{self.latex()}\n$$"

    @overload
    def export(
        self,
        format: Literal["c", "fortran"],
        path: str | Path,
        *,
        events: Mapping[str, Any] | Sequence[EventRecord] | None = None,
        stop: Iterable[str] | str = (),
        dae: DaeMethod | Dae | None = None,
    ) -> Path: ...

    @overload
    def export(self, format: Literal["python"], path: str | Path) -> Path: ...

    @overload
    def export(
        self,
        format: Literal["embedded"],
        path: str | Path,
        *,
        events: Mapping[str, Any] | Sequence[EventRecord] | None = None,
        stop: Iterable[str] | str = (),
        precision: Precision = "double",
    ) -> Path: ...

    @overload
    def export(
        self,
        format: Literal["simulink"],
        path: str | Path,
        *,
        events: Mapping[str, Any] | Sequence[EventRecord] | None = None,
        stop: Iterable[str] | str = (),
    ) -> Path: ...

    @overload
    def export(
        self,
        format: Literal["fmu"],
        path: str | Path,
        *,
        dae: DaeMethod | Dae | None = None,
        fmi: FmiVersion = 2,
        platforms: Platform | Sequence[Platform] = "host",
        description: str = ...,
        author: str = ...,
        version: str = ...,
        license: str = ...,
        copyright: str = ...,
    ) -> Path: ...

    @overload
    def export(
        self,
        format: Literal["page"],
        path: str | Path | None = None,
        *,
        sliders: Mapping[str, Any] | Sequence[str] | None = None,
        plots: Sequence[str] | str | None = None,
        title: str | None = None,
        run: Run | None = None,
        modes: LinearModel | None = None,
        drag: bool | None = None,
    ) -> LivePage: ...

    def export(
        self,
        format: ExportFormat,
        path: str | Path | None = None,
        *,
        events: Mapping[str, Any] | Sequence[EventRecord] | None = None,
        stop: Iterable[str] | str | None = None,
        dae: DaeMethod | Dae | None = None,
        precision: Precision | None = None,
        fmi: FmiVersion | None = None,
        platforms: Platform | Sequence[Platform] | None = None,
        description: str | None = None,
        author: str | None = None,
        version: str | None = None,
        license: str | None = None,
        copyright: str | None = None,
        sliders: Mapping[str, Any] | Sequence[str] | None = None,
        plots: Sequence[str] | str | None = None,
        title: str | None = None,
        run: Run | None = None,
        modes: LinearModel | None = None,
        drag: bool | None = None,
    ) -> Any:
        """Write the model as a program, C for a controller, an S-function, an FMU or a live page.

        Parameters
        ----------
        format : {"c", "fortran", "python", "embedded", "simulink", "fmu", "page"}
            "c", "fortran", "python": a program that runs alone, with Makefile and default input.
            "embedded": C that a controller or test rig calls step by step. "simulink": the same as
            an S-function. "fmu": a functional mock-up unit for model exchange and co-simulation.
            "page": a page in which the model runs in the browser.
        path : str or Path, optional
            The folder of a program, embedded C or S-function, which is made if necessary; the file
            of an FMU or a page. Optional only for a page: a notebook shows what is returned.
        events, stop : optional
            Events as of `simulate`, besides those of the model. For "c", "fortran", "embedded" and
            "simulink".
        dae : str or Dae, optional
            How constraints are kept, as of `simulate`. For "c", "fortran" and "fmu". With `dae` or
            rigid wheels an FMU has co-simulation only.
        precision : {"double", "single"}, default "double"
            Precision of "embedded".
        fmi : {2, 3}, default 2
            Version of FMI of an "fmu".
        platforms : str or sequence of str, default "host"
            Of an "fmu": "host" for this computer, "sources" for source code only, "all", or names
            such as "x86_64-linux". Platforms other than the host need the package ziglang.
        description, author, version, license, copyright : str, optional
            Attributes of an "fmu" that importers show. Default: name and size of the model; none.
        sliders : sequence or mapping, optional
            Parameters and inputs with sliders at the top of a "page", by name, or {name: (low,
            high)} in user units. Default: chosen by Bellcrank.
        plots : str or sequence of str, optional
            Channels that a "page" plots. Default: chosen by Bellcrank.
        title : str, optional
            Title of a "page". Default: the name of the system.
        run : Run, optional
            A run of the model that a "page" plays, too.
        modes : LinearModel, optional
            A linear model (of `linearize`) whose modes a "page" shows.
        drag : bool, default False
            Let the pointer pull bodies of a "page", which adds 3 kB. Not for models with rigid
            wheels.

        Returns
        -------
        Path or Page
            The file with the equations, the FMU, or the page with its `path`.

        Raises
        ------
        ModelError
            If an option does not belong to the format, or if the format does not support the model.
        BuildError
            If the files cannot be written or compiled.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> import bellcrank as bc
        >>> s = bc.System("mass")
        >>> mass = s.add_body("mass", translate="x", mass=2, inertia=0)
        >>> s.set_run(t_end=1, step=0.1)
        >>> eom = s.equations()
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     print(eom.export("c", folder).name)
        ...     print(eom.export("fmu", Path(folder) / "mass.fmu", platforms="sources").name)
        model.c
        mass.fmu
        >>> eom.export("page", title="A mass").title
        'A mass'
        """
        from bellcrank.export.formats import export_model

        programs = {"events": events, "stop": stop, "dae": dae, "precision": precision}
        credits = {"author": author, "version": version, "license": license, "copyright": copyright}
        fmus = {"fmi": fmi, "platforms": platforms, "description": description, **credits}
        pages = {
            "sliders": sliders,
            "plots": plots,
            "title": title,
            "run": run,
            "modes": modes,
            "drag": drag,
        }
        return export_model(self.derived, format, path, {**programs, **fmus, **pages})

    def compile(
        self,
        *,
        backend: Backend = "auto",
        external: Mapping[str, Any] | None = None,
        speed: Speed = "auto",
    ) -> Simulation:
        """Compile the equations to a simulation that is ready to run.

        Parameters
        ----------
        backend : {"auto", "c", "wasm", "python"}, default "auto"
            "c" compiles, "wasm" runs in WebAssembly by wasmtime, "python" runs in Python. "auto"
            chooses the first that is available. `sim.backend` and `sim.notes` report the choice.
        external : mapping, optional
            Functions that replace user functions of the model, by name.
        speed : {"auto", "fast", "quick"}, default "auto"
            "quick" compiles in a shorter time, "fast" to a faster program. "auto" has the first
            ready soon, and changes to the second if that pays.

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
        return Simulation(self, backend, require_mapping(external, "external"), speed)


def derive_equations(
    description: Description,
    solve: str,
    small: bool,
    optimise: str,
    without: Collection[str],
    constraints: str,
    is_kept: bool = False,
) -> Equations:
    """Derives the equations of a description, which `System.equations` gives with its options; if
    `is_kept`, they are kept on disk for other processes."""
    frozen = description.snapshot()
    choices = solve, small, optimise, tuple(without), ConstraintForm(constraints)

    def derive_model() -> DerivedModel:
        from bellcrank.mechanics.derive.pipeline import derive_model
        from bellcrank.simulation.run.loop_configuration import LoopConfiguration

        return derive_model(frozen, LoopConfiguration.from_analysis, *choices)

    derived = cached_model(frozen, choices, derive_model) if is_kept else derive_model()
    return Equations(derived, (frozen, solve, small, optimise, tuple(without), constraints))
