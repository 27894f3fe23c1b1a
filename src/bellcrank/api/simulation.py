"""Simulation: a compiled model that can be evaluated and run."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bellcrank.api.analyses import Analyses
from bellcrank.backend.c import FINISHED, NOT_FINITE, CModel, Input, c_model
from bellcrank.backend.compiler import find_compiler
from bellcrank.backend.python import PythonModel
from bellcrank.errors import ModelError, ModelWarning, mapping
from bellcrank.numeric.course import At
from bellcrank.numeric.projection import Closure
from bellcrank.run.assembly import complete_state, start_state
from bellcrank.run.closure import closure_of, keeper_of, rates_near_singular
from bellcrank.run.dae_methods import Dae, as_dae
from bellcrank.run.dae_runs import check_dae, multipliers_at, prepare_dae, redundant_of, residuals_of
from bellcrank.run.events import Progress, take_steps
from bellcrank.run.memory import Memory, routines_of
from bellcrank.run.outcome import as_run, how_ended, left_tables, not_finite, watch_for
from bellcrank.run.prepare import prepare
from bellcrank.run.result import Run
from bellcrank.run.rigid import check_rigid, rigid_trip, rigid_wheels
from bellcrank.run.step_limit import step_too_large
from bellcrank.run.stepping import Evaluation
from bellcrank.run.table_range import asked_beyond
from bellcrank.run.values import check_masses, input_signals, number, parameter_values, positive, run_plan, state_lists

if TYPE_CHECKING:
    from bellcrank.api.equations import Equations

BACKENDS = ("auto", "c", "python")


class Simulation(Analyses):
    """A model ready to run. Values at this boundary are in user units, except for `derivatives`.

    `backend` says whether the model is compiled ("c") or runs in Python; `notes` says so in words.
    """

    def __init__(self, equations: Equations, backend: str, external: Mapping[str, Any]) -> None:
        self.equations = equations
        self.program = equations.program
        self.quantities = equations.quantities
        self.description = equations.analysis.mechanism.description
        if backend not in BACKENDS:
            known = ", ".join(repr(b) for b in BACKENDS)
            raise ModelError(f"backend={backend!r} is not known; it is one of {known}", equations.name)
        self.externals = routines_of(self.program, self.description, external)
        self._outside = tuple(external)
        self.model = self._model(backend, external)
        self.backend = self.model.name
        if isinstance(self.model, CModel) and self.program.loops is not None:
            self.externals = [
                x or self._compiled(r) for r, x in zip(self.program.routines, self.externals, strict=True)
            ]
        self._known: tuple[tuple[float, ...], list[float]] | None = None

    def _model(self, backend: str, external: Mapping[str, Any]) -> CModel | PythonModel:
        if backend == "c" or (backend == "auto" and find_compiler() is not None):
            rigid = rigid_wheels(self.description.contacts, self.program)
            return c_model(self.program, self.externals, external, rigid=rigid)
        only_c = [f"'{r.name}'" for r, f in zip(self.program.routines, self.externals, strict=True) if f is None]
        if only_c:
            what = f"external {', '.join(only_c)} is given in C or Fortran alone, but the model runs in Python"
            raise ModelError(f"{what}: give python= as well", self.equations.name)
        return PythonModel(self.program, self.externals)

    def _compiled(self, routine: Any) -> Memory:
        """An external routine given in C or Fortran alone, for what is evaluated in Python."""
        assert isinstance(self.model, CModel)
        return Memory(routine, self.model.compiled_routine(routine), 1 if self.program.in_rates(routine) else 2)

    @cached_property
    def notes(self) -> list[str]:
        """How the model runs, in sentences."""
        if isinstance(self.model, CModel):
            notes = [f"compiled by {self.model.compiler.name}"]
        elif find_compiler() is None:
            notes = [
                "runs in Python: there is no C compiler (looked for CC, cc, gcc, clang and the Python package ziglang)"
            ]
        else:
            notes = ["runs in Python"]
        remembers = self.program.remembers
        if remembers:
            listed = ", ".join(remembers)
            notes.append(
                f"what {listed} remembers changes once per accepted step; with method='rk2' at the middle of a step too, as in AUTOSIM"
            )
        return notes

    # ---- values

    def parameter_values(self, given: Mapping[str, float] | None = None) -> list[float]:
        """All parameters in equation units; `given` (user units) overrides the defaults."""
        p = parameter_values(self.equations, given)
        return [*p, *self.model.entry_values([*p, *(0.0 for _ in self.program.entry.results)])]

    def _constants(self, p: list[float]) -> list[float]:
        key = tuple(p)
        if self._known is None or self._known[0] != key:
            check_masses(self.equations, p)
            try:
                known = self.model.constants(p)
            except (ZeroDivisionError, ValueError, OverflowError) as error:
                known, why = [], str(error)
            else:
                why = "" if np.all(np.isfinite(known)) else "a result is not finite"
            if why:
                raise ModelError(
                    f"the constants of the model cannot be computed with these parameters ({why}): a mass, inertia or length that may not be zero?",
                    self.equations.name,
                )
            self._known = (key, known)
        return self._known[1]

    def _inputs(self, given: Mapping[str, Any] | None, t_end: float | None = None) -> list[Input]:
        return input_signals(self.equations, given, t_end)

    # ---- evaluation

    def derivatives(
        self,
        t: float,
        q: Sequence[float],
        u: Sequence[float],
        parameters: Mapping[str, float] | None = None,
        inputs: Mapping[str, Any] | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """(q', u') in equation units (rad, consistent units); q and u as listed by `eom.coordinates` and `eom.speeds`.

        In a singular position of closed loops, constraints that vanish there are left out.
        """
        at = self._at(t, q, u, parameters, inputs)
        singular_rates = rates_near_singular(self.model, at)
        if singular_rates is not None:
            return np.array(singular_rates[: len(q)]), np.array(singular_rates[len(q) :])
        qdot, udot = self.model.derivatives(*at)
        return np.array(qdot), np.array(udot)

    def outputs(
        self,
        t: float,
        q: Sequence[float],
        u: Sequence[float],
        parameters: Mapping[str, float] | None = None,
        inputs: Mapping[str, Any] | None = None,
    ) -> dict[str, float]:
        """Output channels in user units at a state given in equation units."""
        values = self.model.outputs(*self._at(t, q, u, parameters, inputs))
        names = self.program.output_names
        return {n: float(self.quantities.output_unit[n].from_equation(v)) for n, v in zip(names, values, strict=True)}

    def echo(
        self,
        t: float,
        q: Sequence[float],
        u: Sequence[float],
        parameters: Mapping[str, float] | None = None,
        inputs: Mapping[str, Any] | None = None,
    ) -> dict[str, float]:
        """What external routines give to the echo of a run that starts there (when="echo"), in equation units."""
        self._forget()
        values = self.model.echo_values(*self._at(t, q, u, parameters, inputs))
        return dict(zip(self.program.echo_names, values, strict=True))

    def multipliers(
        self,
        t: float,
        q: Sequence[float],
        u: Sequence[float],
        parameters: Mapping[str, float] | None = None,
        inputs: Mapping[str, Any] | None = None,
    ) -> dict[str, float]:
        """lambda of M u' = f + J' lambda by constraint row, in equation units (`eom.constraint_rows`); with redundant rows the smallest."""
        loops = self.program.loops
        if loops is None:
            return {}
        redundant = redundant_of(self._python, self.program)
        return multipliers_at(redundant, self._at(t, q, u, parameters, inputs), loops.names)

    def _at(
        self,
        t: float,
        q: Sequence[float],
        u: Sequence[float],
        parameters: Mapping[str, float] | None,
        inputs: Mapping[str, Any] | None,
    ) -> At:
        """A state with all that programs are called with; values that external routines keep are those of a run that starts there."""
        p = self.parameter_values(parameters)
        n_q, n_s, kept = self._sizes
        c, signals = self._constants(p), self._inputs(inputs)
        evaluation = Evaluation(self.model, n_q, n_s, p, c, signals, self._set_live, np.zeros(kept))
        y = np.array([x for part in state_lists(self.equations, q, u) for x in part])
        t = number(t, "t")
        evaluation.hold(t, y, first=True, live=0)
        return evaluation.at(t, y)

    @property
    def _sizes(self) -> tuple[int, int, int]:
        """Numbers of coordinates, of states and of values that external routines keep."""
        p = self.program
        return len(p.coordinates), len(p.coordinates) + len(p.speeds), len(p.inputs) - len(p.given_inputs)

    def complete(self, initial: Mapping[Any, float] | None = None) -> tuple[np.ndarray, np.ndarray]:
        """The full state in equation units from the values given (user units, default: those of set_run).

        What constraints determine is solved for, starting from zero; the rest is zero.
        """
        given = self.description.run.initial if initial is None else mapping(initial, "initial")
        if self.program.loops is None:
            p = self.parameter_values() if self.program.entry.results else None
            return complete_state(self.equations, given, p=p)
        p, signals = self.parameter_values(), self._inputs(None)
        return complete_state(self.equations, given, self._closure(p, signals), p, signals)

    @cached_property
    def _python(self) -> PythonModel:
        return self.model if isinstance(self.model, PythonModel) else PythonModel(self.program, self.externals)

    def _closure(self, p: list[float], signals: list[Input]) -> Closure | None:
        """The constraints of closed loops as a function of time and state."""
        return None if self.program.loops is None else closure_of(self._python, p, signals)

    # ---- runs

    def simulate(
        self,
        t_end: float | None = None,
        step: float | None = None,
        method: str | None = None,
        output_every: int | None = None,
        parameters: Mapping[str, float] | None = None,
        initial: Mapping[Any, float] | tuple[Sequence[float], Sequence[float]] | None = None,
        inputs: Mapping[str, Any] | None = None,
        rtol: float = 1e-8,
        atol: float = 1e-10,
        events: Mapping[str, Any] | None = None,
        stop: Iterable[str] | str = (),
        progress: Progress | None = None,
        dae: str | Dae = "projection",
        assemble: bool = True,
    ) -> Run:
        """Integrates from t = 0 to t_end. Defaults come from set_run; `step` and times in s, values in user units.

        `initial`: values by state, or a whole state (q, u) in equation units, as `complete` returns it. `rtol`, `atol`: of the
        adaptive methods. `events`: conditions by name, each a channel or a formula over channels and parameters; its crossing of
        zero from below, or a comparison that becomes true, is recorded in `run.events`. `stop` names events that end the run.
        `progress` is called with the share done. `dae`: how position constraints and loops are kept (docs/dae_methods.md), by name
        or with settings, `bc.Dae("baumgarte", alpha=20, beta=20)`. `assemble=False` starts from the values given, even if
        they violate constraints.
        """
        dae = as_dae(dae)
        plan = run_plan(self.equations, t_end, step, method, output_every)
        tolerances = positive(rtol, "rtol", ""), positive(atol, "atol", "")
        p = self.parameter_values(parameters)
        signals = self._inputs(inputs, plan.t_end)
        watch = watch_for(self.equations, events, stop, parameters)
        if self.description.contacts:
            check_rigid(self, plan, dae.usual)
        check_dae(dae, plan, self.equations)
        closure = self._closure(p, signals)
        y = np.concatenate(start_state(self.equations, initial, closure if assemble else None, p, signals))
        self._forget()
        n_q, n_s, n_kept = self._sizes
        kept = np.zeros(n_kept)
        keeper = None if closure is None else keeper_of(closure, self._python, y, p, signals, kept, dae.staged)
        evaluation = Evaluation(self.model, n_q, n_s, p, self._constants(p), signals, self._set_live, kept, keeper)
        if self.description.contacts:
            trip = rigid_trip(self, plan, evaluation, y, watch)
        elif dae.usual:
            trip = prepare(plan, evaluation, y, watch, tolerances, self._remembering)
        else:
            trip = prepare_dae(plan, evaluation, dae, self._python, self._dae_model, y, watch)
        began = time.perf_counter()
        try:
            rows = take_steps(trip.run, trip.total, trip.every, watch, trip.within, trip.remembered, progress)
        finally:
            self._set_live(0)
        seconds = time.perf_counter() - began
        watch.passed(trip.run.passages)
        ended = how_ended(self.equations, self.externals, trip, watch, p, signals)
        too_large = (
            "" if self.description.contacts else step_too_large(self.equations, self.externals, plan, evaluation, rows)
        )
        if too_large and trip.run.status == NOT_FINITE:
            ended = ended.replace("try a smaller step", too_large)
        settings = {"t_end": plan.t_end, "step": plan.step, "method": plan.method, "backend": self.backend}
        settings["seconds"] = seconds
        if closure is not None:
            settings["dae"] = dae.method
        run = as_run(self.equations, rows, ended, watch, settings)
        run.find_residuals = residuals_of(self.model, rows, p, self._constants(p), signals)
        doubts = asked_beyond(self.program, self._python, rows, p) if self._uses_tables else []
        doubts += [too_large] if too_large and trip.run.status == FINISHED else []
        for doubt in (*not_finite(run, self.equations.outputs), *doubts, *left_tables(run, self.equations)):
            warnings.warn(doubt, ModelWarning, stacklevel=2)
        return run

    @cached_property
    def _dae_model(self) -> CModel | None:
        """The program compiled with runs by methods for differential-algebraic equations; None where models run in Python."""
        if not isinstance(self.model, CModel):
            return None
        return CModel(self.program, self.externals, self._outside, dae=True)

    @property
    def _uses_tables(self) -> bool:
        return bool(self.program.tables)

    @property
    def _remembering(self) -> list[Memory]:
        return [x for x in self.externals if isinstance(x, Memory)]

    def _forget(self) -> None:
        """Clears what external routines remember."""
        for routine in self._remembering:
            routine.array[:] = 0.0
        if isinstance(self.model, CModel):
            self.model.forget()

    def _set_live(self, live: int) -> None:
        """Whose memories single evaluations may change: 1 of routines called for rates, 2 of the others, 0 none."""
        for routine in self._remembering:
            routine.live = bool(live & routine.when)
        if isinstance(self.model, CModel):
            self.model.live = live

    def describe(self) -> str:
        """Parameters, inputs, states and outputs with labels, user units and equation values."""
        return self.equations.describe()
