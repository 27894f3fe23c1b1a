"""Simulation: a compiled model that can be evaluated and run."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bellcrank.build.c import CModel, Input, c_model
from bellcrank.build.compiler import find_compiler
from bellcrank.build.python import PythonModel
from bellcrank.errors import BellcrankError, ModelError, ModelWarning, RunError, did_you_mean
from bellcrank.expr import Expr, Symbol, evaluate
from bellcrank.expr.table import Table
from bellcrank.model.records import External
from bellcrank.run.admit import CannotClose, Closure
from bellcrank.run.diagnose import likely_term
from bellcrank.run.inputs import as_input, as_signal, check_covers
from bellcrank.run.integrate import ADAPTIVE, FIXED
from bellcrank.run.result import Run
from bellcrank.run.stepping import AdaptiveRun, Evaluation, PythonRun, Stepper
from bellcrank.run.watch import Progress, Watch, read_condition, take_steps

if TYPE_CHECKING:
    from bellcrank.api.equations import Equations

METHODS = (*FIXED, "euler", *ADAPTIVE)
BACKENDS = ("auto", "c", "python")


class Memory:
    """External routines with what they remember. While `live`, a call may change the memory; else it works on a copy."""

    def __init__(self, routine: External, function: Callable[..., Any]) -> None:
        self.routine, self.function = routine, function
        self.array = np.zeros(routine.memory or 0)
        self.live = False

    def __call__(self, *args: float) -> Any:
        given: tuple[Any, ...] = args
        if self.routine.memory:
            given = (*args, self.array if self.live else self.array.copy())
        try:
            value = self.function(*given)
        except BellcrankError:
            raise
        except Exception as error:
            shown = ", ".join(f"{a:g}" for a in args)
            raise RunError(
                f"external '{self.routine.name}({shown})' failed: {type(error).__name__}: {error}"
            ) from error
        return self._checked(value)

    def _checked(self, value: Any) -> Any:
        names = self.routine.returns
        wanted = f"{len(names)} numbers ({', '.join(names)})" if names else "one number"
        try:
            array = np.asarray([[]] if value is None else value, dtype=float)
        except (TypeError, ValueError):
            array = np.empty((0, 0))
        if array.shape != ((len(names),) if names else ()) and not (len(names) == 1 and array.ndim == 0):
            raise RunError(f"external '{self.routine.name}' must return {wanted}, but returned {value!r}")
        return tuple(array.tolist()) if len(names) > 1 else float(array.ravel()[0])


class Simulation:
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
        self.externals = self._routines(external)
        self.model = self._model(backend, external)
        self.backend = self.model.name
        self._known: tuple[tuple[float, ...], list[float]] | None = None

    def _routines(self, external: Mapping[str, Any]) -> list[Any]:
        """A callable for every external routine and table of the program; None where there is only C."""
        replaced = {k.lower(): v for k, v in external.items()}
        for name in external:
            if name.lower() not in {e.name.lower() for e in self.description.externals}:
                known = [e.name for e in self.description.externals]
                raise ModelError(f"external={{'{name}': ...}}: no external has that name.{did_you_mean(name, known)}")
        result: list[Any] = []
        for routine in self.program.routines:
            if isinstance(routine, Table):
                result.append(routine.value)
                continue
            function = replaced.get(routine.name.lower(), routine.python)
            if function is None and not routine.c:
                raise ModelError(
                    f"external '{routine.name}' has no routine: give python=, c= or external=", self.equations.name
                )
            result.append(None if function is None else Memory(routine, function))
        return result

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
        override = {str(k).lower(): v for k, v in (given or {}).items()}
        values, missing = [], []
        for p in self.program.parameters:
            key = p.name.lower()
            record = self.description.parameters.get(key)
            value = override.pop(key, record.value if record else None)
            if value is None:
                missing.append(p.name)
                continue
            number = _finite(value, f"parameter '{p.name}'")
            values.append(float(self.quantities.unit[key].to_equation(number)))
        if missing:
            listed = ", ".join(f"'{m}'" for m in missing)
            raise ModelError(
                f"no value is given for {len(missing)} parameters: {listed}. Use set_defaults() or parameters=.",
                self.equations.name,
            )
        for name in override:
            if name not in self.equations.analysis.parameters:
                known = list(self.equations.analysis.parameters.values())
                warnings.warn(
                    f"parameters={{'{name}': ...}}: the model has no such parameter.{did_you_mean(name, known)}",
                    ModelWarning,
                    stacklevel=3,
                )
        return values

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
        """Every input over time in equation units; those that are sampled must cover a run until t_end."""
        listed = {k.lower(): v for k, v in {**self.description.run.inputs, **(given or {})}.items()}
        self._warn_of_unknown_inputs(given or {})
        result: list[Input] = []
        missing = []
        for s in self.program.inputs:
            name = s.name[5:-1] if s.kind == "rate" else s.name
            if name.lower() not in listed:
                missing.append(name)
                continue
            signal = as_signal(listed[name.lower()], name)
            if t_end is not None:
                check_covers(signal, name, t_end)
            result.append(as_input(signal, name, self.quantities.unit[name.lower()].factor, s.kind == "rate"))
        if missing:
            raise ModelError(
                f"no input is given for {', '.join(dict.fromkeys(missing))}: use inputs= or set_run(inputs=)",
                self.equations.name,
            )
        return result

    def _warn_of_unknown_inputs(self, given: Mapping[str, Any]) -> None:
        known = [v.name for v in self.description.variables]
        for name in given:
            if str(name).lower() not in {k.lower() for k in known}:
                warnings.warn(
                    f"inputs={{'{name}': ...}}: the model has no such input.{did_you_mean(str(name), known)}",
                    ModelWarning,
                    stacklevel=4,
                )

    # ---- evaluation

    def derivatives(
        self,
        t: float,
        q: Sequence[float],
        u: Sequence[float],
        parameters: Mapping[str, float] | None = None,
        inputs: Mapping[str, Any] | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """(q', u') in equation units (rad, consistent units); q and u as listed by `eom.coordinates` and `eom.speeds`."""
        p = self.parameter_values(parameters)
        w = [i.function(t) for i in self._inputs(inputs)]
        q, u = self._checked(q, u)
        qdot, udot = self.model.derivatives(float(t), q, u, p, self._constants(p), w)
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
        q, u = self._checked(q, u)
        values = self.model.outputs(float(t), q, u, p, self._constants(p), w)
        names = self.program.output_names
        return {n: float(self.quantities.output_unit[n].from_equation(v)) for n, v in zip(names, values, strict=True)}

    def _checked(self, q: Sequence[float], u: Sequence[float]) -> tuple[list[float], list[float]]:
        for given, wanted, what in ((q, self.program.coordinates, "q"), (u, self.program.speeds, "u")):
            if len(given) != len(wanted):
                names = ", ".join(s.name for s in wanted)
                raise ModelError(
                    f"{what} must have {len(wanted)} values ({names}), {len(given)} given", self.equations.name
                )
        return [float(x) for x in q], [float(x) for x in u]

    def complete(self, initial: Mapping[Any, float] | None = None) -> tuple[np.ndarray, np.ndarray]:
        """The full state in equation units from the values given (user units, default: those of set_run).

        What constraints determine is solved for, starting from zero; the rest is zero.
        """
        given = self.description.run.initial if initial is None else initial
        if self.program.loops is None:
            return self._initial(given)
        return self._completed(given, self.parameter_values(), self._inputs(None))

    def _completed(
        self, given: Mapping[Any, float], p: list[float], signals: list[Input]
    ) -> tuple[np.ndarray, np.ndarray]:
        q, u = self._initial(given)
        closure = self._closure(p, signals)
        if closure is None:
            return q, u
        names = {self._state_name(key) for key in given}
        free_q, free_u = (
            np.array([s.name.lower().replace(" ", "") not in names for s in listed])
            for listed in (self.program.coordinates, self.program.speeds)
        )
        # what is given is kept; if that cannot be, dependent coordinates are guesses only; then everything may move
        independent = {u.name.lower().replace(" ", "") for u in self.equations.independent_speeds}
        guessed = np.array(
            ["u" + s.name.lower().replace(" ", "")[1:] not in independent for s in self.program.coordinates]
        )
        everything = np.ones_like(free_q), np.ones_like(free_u)
        for attempt, (may_q, may_u) in enumerate(((free_q, free_u), (free_q | guessed, free_u), everything)):
            try:
                found = closure.assemble(0.0, q, u, may_q, may_u)
            except CannotClose as error:
                failed = error
                continue
            if attempt > 0:
                self._warn_of_moved(given, np.concatenate([q, u]), np.concatenate(found))
            return found
        raise ModelError(
            f"the loop {failed.row} cannot be closed: a residual of {failed.residual:.3g} remains. "
            "Check lengths, or give initial values nearer to an assembly.",
            self.equations.name,
        )

    def _warn_of_moved(self, given: Mapping[Any, float], before: np.ndarray, after: np.ndarray) -> None:
        """Tells which given initial values contradict the constraints, and what is used instead."""
        names = {self._state_name(key) for key in given}
        moved = []
        for s, old, new in zip((*self.program.coordinates, *self.program.speeds), before, after, strict=True):
            if s.name.lower().replace(" ", "") in names and abs(new - old) > 1e-9:
                unit = self.quantities.states[s.name]
                moved.append(f"{s.name} {unit.from_equation(old):.6g} -> {unit.from_equation(new):.6g}")
        if moved:
            warnings.warn(
                f"the initial values contradict the constraints; changed: {', '.join(moved)}",
                ModelWarning,
                stacklevel=5,
            )

    def _closure(self, p: list[float], signals: list[Input]) -> Closure | None:
        """The constraints of closed loops as a function of time and state."""
        loops = self.program.loops
        if loops is None:
            return None
        model = self.model if isinstance(self.model, PythonModel) else PythonModel(self.program, self.externals)
        c = model.constants(p)

        def function(t: float, q: list[float], u: list[float]) -> list[float]:
            return model.closure(t, q, u, p, c, [i.function(t) for i in signals])

        n_q, n_u = len(self.program.coordinates), len(self.program.speeds)
        return Closure(loops.names, loops.positions, n_q, n_u, function)

    def _initial(self, given: Mapping[Any, float]) -> tuple[np.ndarray, np.ndarray]:
        q = {s.name.lower().replace(" ", ""): i for i, s in enumerate(self.program.coordinates)}
        u = {s.name.lower().replace(" ", ""): i for i, s in enumerate(self.program.speeds)}
        values_q, values_u = np.zeros(len(q)), np.zeros(len(u))
        for body in self.equations.analysis.mechanism.bodies:
            if body.euler:
                values_q[q[body.q_r[0].name.lower().replace(" ", "")]] = 1.0
        removed = {r.speed.name.lower().replace(" ", ""): r.speed for r in self.equations.analysis.removed}
        wanted: dict[Symbol, float] = {}
        for key, value in given.items():
            name = self._state_name(key)
            number = _finite(value, f"initial value of {key}")
            if name in q:
                values_q[q[name]] = self.quantities.states[self.program.coordinates[q[name]].name].to_equation(number)
            elif name in u:
                values_u[u[name]] = self.quantities.states[self.program.speeds[u[name]].name].to_equation(number)
            elif name in removed:
                unit = self.quantities.states[removed[name].name]
                wanted[removed[name]] = float(unit.to_equation(number))
            else:
                known = [s.name for s in (*self.program.coordinates, *self.program.speeds)]
                raise ModelError(
                    f"initial value for '{key}': no such coordinate or speed.{did_you_mean(str(key), known)} States: {', '.join(known)}.",
                    self.equations.name,
                )
        if wanted:
            names = {self._state_name(key) for key in given}
            free = np.array([s.name.lower().replace(" ", "") not in names for s in self.program.speeds])
            values_u = self._speeds_for(wanted, values_q, values_u, free)
        return values_q, values_u

    def _speeds_for(self, wanted: dict[Symbol, float], q: np.ndarray, u: np.ndarray, free: np.ndarray) -> np.ndarray:
        """Independent speeds, as far as they are free, for which removed speeds have the wanted values."""
        inputs = [i.function(0.0) for i in self._inputs(None)]
        known: dict[Expr, float] = {Symbol("t", "time"): 0.0}
        for listed, numbers in (
            (self.program.coordinates, q.tolist()),
            (self.program.parameters, self.parameter_values()),
            (self.program.inputs, inputs),
        ):
            known.update(zip(listed, numbers, strict=True))
        relations = [self.equations.analysis.kinematics.speed[s] for s in wanted]

        def values(speeds: np.ndarray) -> np.ndarray:
            return np.array(evaluate(relations, known | dict(zip(self.program.speeds, speeds.tolist(), strict=True))))

        start = np.where(free, 0.0, u)
        base = values(start)
        slopes = np.array([values(start + row) - base for row in np.eye(len(u))[free]]).reshape(free.sum(), len(base)).T
        missing = np.array(list(wanted.values())) - base
        solved = start.copy()
        solved[free] = np.linalg.lstsq(slopes, missing, rcond=1e-10)[0] if free.any() else 0.0
        for s, want, got in zip(wanted, wanted.values(), values(solved), strict=True):
            if abs(got - want) > 1e-9 * max(1.0, abs(want)):
                warnings.warn(
                    f"the initial value of {s.name} contradicts the others through a constraint; {got:.6g} is used instead of {want:.6g}",
                    ModelWarning,
                    stacklevel=5,
                )
        return solved

    def _state_name(self, key: Any) -> str:
        """q(b, 2), Q(5) or a symbol, as the name of a state without spaces."""
        name = key.name if isinstance(key, Symbol) else str(key)
        name = name.lower().replace(" ", "")
        if name[:2] in ("q(", "u(") and name[2:-1].isdigit():
            listed = self.program.coordinates if name[0] == "q" else self.program.speeds
            index = int(name[2:-1])
            if 1 <= index <= len(listed):
                return listed[index - 1].name.lower().replace(" ", "")
        return name

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
        r = self.description.run
        t_end = _positive(t_end if t_end is not None else r.t_end if r.t_end is not None else 1.0, "t_end")
        step = _positive(step if step is not None else r.step if r.step is not None else t_end / 1000, "step")
        method = self._method(method or r.method or "rk4")
        every = output_every if output_every is not None else r.output_every if r.output_every is not None else 1
        if not isinstance(every, int) or isinstance(every, bool) or every < 1:
            raise ModelError(f"output_every={every!r} must be a whole number of at least 1", self.equations.name)
        if step > t_end * (1 + 1e-12):
            raise ModelError(f"step={step:g} s is larger than t_end={t_end:g} s", self.equations.name)
        p = self.parameter_values(parameters)
        signals = self._inputs(inputs, t_end)
        watch = self._watch(events or {}, {stop} if isinstance(stop, str) else set(stop), parameters)
        y = np.concatenate(self._completed({**r.initial, **(initial or {})}, p, signals))
        steps = (
            round(t_end / step) if abs(round(t_end / step) * step - t_end) < 1e-9 * t_end else math.ceil(t_end / step)
        )
        self._forget()
        evaluation = Evaluation(
            self.model,
            len(self.program.coordinates),
            p,
            self._constants(p),
            signals,
            self._set_live,
            self._closure(p, signals),
        )
        run: Stepper
        if method in ADAPTIVE:
            times = np.append(np.arange(0.0, t_end * (1 - 1e-9), step * every), t_end)
            run, steps, every = AdaptiveRun(evaluation, method, times, y, rtol, atol), len(times) - 1, 1
        else:
            often = 1 if watch.conditions else every
            if isinstance(self.model, CModel):
                run = self.model.start(method, step, steps, often, y, p, evaluation.c, signals)
            else:
                run = PythonRun(evaluation, method, step, steps, often, y)
        try:
            rows = take_steps(run, steps, every, watch, progress)
        finally:
            self._set_live(False)
        ended = self._ended(run, watch, steps, step if method not in ADAPTIVE else step * every, p, signals)
        settings = {"t_end": t_end, "step": step, "method": method, "backend": self.backend}
        return self._run(rows, ended, watch, settings)

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

    def _method(self, method: str) -> str:
        for known in METHODS:
            if str(method).lower() == known.lower():
                return known
        raise ModelError(
            f"method={method!r} is not known.{did_you_mean(str(method), METHODS)} Methods: {', '.join(METHODS)}.",
            self.equations.name,
        )

    def _watch(self, events: Mapping[str, Any], stop: set[str], parameters: Mapping[str, float] | None) -> Watch:
        for name in stop:
            if name not in events:
                raise ModelError(
                    f"stop={name!r}: no event has that name.{did_you_mean(name, events)}", self.equations.name
                )
        columns = {"t": (0, 1.0)}
        states = (*self.program.coordinates, *self.program.speeds)
        columns.update({s.name: (i, self.quantities.states[s.name].factor) for i, s in enumerate(states, 1)})
        names = self.program.output_names
        columns.update({n: (i, self.quantities.output_unit[n].factor) for i, n in enumerate(names, 1 + len(states))})
        records = self.description.parameters.values()
        values = {r.name: float(r.value) for r in records if r.value is not None}
        values.update({str(k): float(v) for k, v in (parameters or {}).items()})
        return Watch({n: read_condition(c, columns, values, n) for n, c in events.items()}, sorted(stop))

    def _ended(self, run: Stepper, watch: Watch, steps: int, h: float, p: list[float], signals: Sequence[Input]) -> str:
        """The sentence that says how a run ended."""
        if watch.stopped is not None:
            return f"stopped by event '{watch.stopped.name}' at t = {watch.stopped.time:.6g} s"
        if run.status == 0:
            return "finished"
        t = run.reached * h
        states = (*self.program.coordinates, *self.program.speeds)
        bad = [s.name for s, v in zip(states, run.bad, strict=True) if not np.isfinite(v)]
        problem = getattr(run, "problem", "")
        if problem:
            what = f"the rates of the states cannot be evaluated any more ({problem})"
        else:
            listed = ", ".join(bad[:4]) + (f" and {len(bad) - 4} more" if len(bad) > 4 else "")
            what = f"{listed} {'is no longer a finite number' if len(bad) == 1 else 'are no longer finite numbers'}"
        return "; ".join(
            x
            for x in (f"stopped at t = {t:g} s: {what}", self._likely(run, t, h, p, signals), "try a smaller step")
            if x
        )

    def _likely(self, run: Stepper, t: float, h: float, p: list[float], signals: Sequence[Input]) -> str:
        n_q = len(self.program.coordinates)
        before = max(t - h, 0.0)
        try:
            w = [i.function(before) for i in signals]
        except RunError:
            return ""
        values = dict(zip((s.name for s in self.program.parameters), p, strict=True))
        user = {r.name: f for r, f in zip(self.program.routines, self.externals, strict=True) if f is not None}
        loads = self.equations.analysis.loads
        return likely_term(
            self.program, loads, before, run.state[:n_q].tolist(), run.state[n_q:].tolist(), values, w, user
        )

    def _run(self, rows: np.ndarray, ended: str, watch: Watch, settings: dict[str, Any]) -> Run:
        channels: dict[str, np.ndarray] = {}
        units: dict[str, str] = {}
        labels: dict[str, str] = {}
        states = (*self.program.coordinates, *self.program.speeds)
        if rows.shape[1] < 2:  # not even the first row could be evaluated
            rows = np.empty((0, 1 + len(states) + len(self.program.output_names)))
        for i, s in enumerate(states, 1):
            unit = self.quantities.states[s.name]
            channels[s.name] = np.asarray(unit.from_equation(rows[:, i]))
            units[s.name], labels[s.name] = unit.text, self.quantities.state_label.get(s.name, s.name)
        by_name = {o.name: o for o in self.equations.analysis.outputs}
        for i, name in enumerate(self.program.output_names, 1 + len(states)):
            unit = self.quantities.output_unit[name]
            channels[name] = np.asarray(unit.from_equation(rows[:, i]))
            units[name], labels[name] = unit.text, by_name[name].label
        return Run(self.equations.name, rows[:, 0].copy(), channels, units, labels, ended, list(watch.events), settings)

    def describe(self) -> str:
        """Parameters and states with labels, user units and equation values."""
        lines = [
            f"{self.equations.name} ({self.description.units})",
            "parameters (user value, unit, equation value, label)",
        ]
        for name in self.equations.parameters:
            key = name.lower()
            record = self.description.parameters.get(key)
            unit = self.quantities.unit[key]
            value = record.value if record else None
            shown = "-" if value is None else f"{value:g}"
            internal = "-" if value is None else f"{unit.to_equation(float(value)):g}"
            lines.append(
                f"  {name:12} {shown:>12} {unit.text:12} {internal:>14}  {self.quantities.label.get(key, '')}".rstrip()
            )
        lines.append("states")
        for s in (*self.program.coordinates, *self.program.speeds):
            unit = self.quantities.states[s.name]
            lines.append(f"  {s.name:12} {unit.text:8} {self.quantities.state_label.get(s.name, '')}".rstrip())
        return "\n".join(lines)


def _finite(value: Any, what: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ModelError(f"{what} is {value!r}, not a number") from None
    if not math.isfinite(number):
        raise ModelError(f"{what} is {number}, not a finite number")
    return number


def _positive(value: Any, what: str) -> float:
    number = _finite(value, what)
    if number <= 0:
        raise ModelError(f"{what}={number:g} s must be positive")
    return number
