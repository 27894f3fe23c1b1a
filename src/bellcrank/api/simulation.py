"""Simulation: a compiled model that can be evaluated and run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bellcrank.api.analyses.methods import Analyses
from bellcrank.api.assembly import complete_state
from bellcrank.api.externals import Memory, routines_of
from bellcrank.api.loops import closure_of, keeper_of
from bellcrank.api.outcome import as_run, how_ended, watch_for
from bellcrank.api.values import input_signals, parameter_values, run_plan, state_lists
from bellcrank.build.arguments import Course
from bellcrank.build.c import NEAR, CModel, Input, c_model
from bellcrank.build.compiler import find_compiler
from bellcrank.build.python import PythonModel
from bellcrank.errors import ModelError
from bellcrank.run.admit import Closure
from bellcrank.run.integrate import ADAPTIVE
from bellcrank.run.result import Run
from bellcrank.run.stepping import AdaptiveRun, Evaluation, PythonRun, Stepper
from bellcrank.run.watch import Progress, take_steps

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
        self.model = self._model(backend, external)
        self.backend = self.model.name
        self._known: tuple[tuple[float, ...], list[float]] | None = None

    def _model(self, backend: str, external: Mapping[str, Any]) -> CModel | PythonModel:
        if backend == "c" or (backend == "auto" and find_compiler() is not None):
            return c_model(self.program, self.externals, external)
        only_c = [f"'{r.name}'" for r, f in zip(self.program.routines, self.externals, strict=True) if f is None]
        if only_c:
            what = f"external {', '.join(only_c)} is given in C alone, but the model runs in Python"
            raise ModelError(f"{what}: give python= as well", self.equations.name)
        return PythonModel(self.program, self.externals)

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
        remembers = [r.name for r in self.program.routines if getattr(r, "memory", None)]
        if remembers:
            listed = ", ".join(remembers)
            notes.append(
                f"what {listed} remembers changes once per accepted step; with method='rk2' at the middle of a step too, as in AUTOSIM"
            )
        return notes

    # ---- values

    def parameter_values(self, given: Mapping[str, float] | None = None) -> list[float]:
        """All parameters in equation units; `given` (user units) overrides the defaults."""
        return parameter_values(self.equations, given)

    def _constants(self, p: list[float]) -> list[float]:
        key = tuple(p)
        if self._known is None or self._known[0] != key:
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
        p = self.parameter_values(parameters)
        w = [i.function(t) for i in self._inputs(inputs)]
        q, u = state_lists(self.equations, q, u)
        at = float(t), q, u, p, self._constants(p), w
        if self.program.loops is not None:
            *rates, ratio = self.model.careful(*at)
            closure = closure_of(self._python, p, self._inputs(inputs))
            assert closure is not None
            _, _, _, J = closure.evaluate(float(t), np.array(q), np.array(u))
            if min(ratio, closure.steady(J)) < NEAR:
                return np.array(rates[: len(q)]), np.array(rates[len(q) :])
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
        p = self.parameter_values(parameters)
        w = [i.function(t) for i in self._inputs(inputs)]
        q, u = state_lists(self.equations, q, u)
        values = self.model.outputs(float(t), q, u, p, self._constants(p), w)
        names = self.program.output_names
        return {n: float(self.quantities.output_unit[n].from_equation(v)) for n, v in zip(names, values, strict=True)}

    def complete(self, initial: Mapping[Any, float] | None = None) -> tuple[np.ndarray, np.ndarray]:
        """The full state in equation units from the values given (user units, default: those of set_run).

        What constraints determine is solved for, starting from zero; the rest is zero.
        """
        given = self.description.run.initial if initial is None else initial
        if self.program.loops is None:
            return complete_state(self.equations, given)
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
        initial: Mapping[Any, float] | None = None,
        inputs: Mapping[str, Any] | None = None,
        rtol: float = 1e-8,
        atol: float = 1e-10,
        events: Mapping[str, Any] | None = None,
        stop: Iterable[str] | str = (),
        progress: Progress | None = None,
    ) -> Run:
        """Integrates from t = 0 to t_end. Defaults come from set_run; `step` and times in s, values in user units.

        `events`: conditions by name, each a channel or a formula over channels and parameters; its crossing of zero from below is
        recorded in `run.events`. `stop` names events that end the run. `progress` is called with the share done.
        """
        plan = run_plan(self.equations, t_end, step, method, output_every)
        p = self.parameter_values(parameters)
        signals = self._inputs(inputs, plan.t_end)
        watch = watch_for(self.equations, events or {}, {stop} if isinstance(stop, str) else set(stop), parameters)
        closure = self._closure(p, signals)
        given = {**self.description.run.initial, **(initial or {})}
        y = np.concatenate(complete_state(self.equations, given, closure, p, signals))
        self._forget()
        n_q = len(self.program.coordinates)
        keeper = None if closure is None else keeper_of(closure, self._python, y, p, signals)
        evaluation = Evaluation(self.model, n_q, p, self._constants(p), signals, self._set_live, keeper)
        run: Stepper
        if plan.method in ADAPTIVE:
            times = plan.output_times
            run = AdaptiveRun(evaluation, plan.method, times, y, rtol, atol)
            total, every, h = len(times) - 1, 1, plan.step * plan.every
        else:
            total, every, h = plan.steps, plan.every, plan.step
            course = Course(plan.method, h, total, 1 if watch.conditions else every)
            if isinstance(self.model, CModel):
                weights = keeper.closure.weights if keeper else None
                run = self.model.start(course, y, p, evaluation.c, signals, weights)
            else:
                run = PythonRun(evaluation, course, y)
        try:
            rows = take_steps(run, total, every, watch, progress)
        finally:
            self._set_live(False)
        watch.passed(run.passages)
        ended = how_ended(self.equations, self.externals, run, watch, h, p, signals)
        settings = {"t_end": plan.t_end, "step": plan.step, "method": plan.method, "backend": self.backend}
        return as_run(self.equations, rows, ended, watch, settings)

    @property
    def _remembering(self) -> list[Memory]:
        return [x for x in self.externals if isinstance(x, Memory)]

    def _forget(self) -> None:
        """Clears what external routines remember."""
        for routine in self._remembering:
            routine.array[:] = 0.0
        if isinstance(self.model, CModel):
            self.model.forget()

    def _set_live(self, live: bool) -> None:
        """Whether single evaluations may change what external routines remember."""
        for routine in self._remembering:
            routine.live = live
        if isinstance(self.model, CModel):
            self.model.live = live

    def describe(self) -> str:
        """Parameters and states with labels, user units and equation values."""
        return self.equations.describe()
