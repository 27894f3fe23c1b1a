"""Simulation: a compiled model that can be evaluated and run."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bellcrank.build.python import PythonModel
from bellcrank.errors import ModelError, ModelWarning, RunError, did_you_mean
from bellcrank.expr import Symbol
from bellcrank.expr.table import Table
from bellcrank.model.records import External
from bellcrank.run.inputs import Signal, as_signal
from bellcrank.run.integrate import ADAPTIVE, FIXED, semi_implicit
from bellcrank.run.result import Run

if TYPE_CHECKING:
    from bellcrank.api.equations import Equations

METHODS = (*FIXED, "euler", *ADAPTIVE)


class Memory:
    """External routines with what they remember. While `live`, a call may change the memory; else it works on a copy."""

    def __init__(self, routine: External, function: Callable[..., Any]) -> None:
        self.routine, self.function = routine, function
        self.array = np.zeros(routine.memory or 0)
        self.live = False

    def __call__(self, *args: float) -> Any:
        if not self.routine.memory:
            return self._checked(self.function(*args))
        memory = self.array if self.live else self.array.copy()
        return self._checked(self.function(*args, memory))

    def _checked(self, value: Any) -> Any:
        wanted = len(self.routine.returns)
        if wanted == 0:
            if not np.ndim(value) == 0:
                raise RunError(f"external '{self.routine.name}' must return one number, but returned {value!r}")
            return float(value)
        if np.shape(value) != (wanted,):
            names = ", ".join(self.routine.returns)
            raise RunError(f"external '{self.routine.name}' must return {wanted} numbers ({names}), but returned {value!r}")
        return tuple(float(v) for v in value) if wanted > 1 else float(value[0])


class Simulation:
    """A model ready to run. Values at this boundary are in user units, except for `derivatives`."""

    def __init__(self, equations: Equations, backend: str, external: Mapping[str, Any]) -> None:
        self.equations = equations
        self.program = equations.program
        self.quantities = equations.quantities
        self.description = equations.analysis.mechanism.description
        if backend not in ("python", "c"):
            raise ModelError(f"backend={backend!r} is not known; it is 'python'", equations.name)
        self.externals = self._routines(external)
        self.model = PythonModel(self.program, self.externals)
        self.backend = self.model.name
        self._known: tuple[tuple[float, ...], list[float]] | None = None

    def _routines(self, external: Mapping[str, Any]) -> list[Any]:
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
            if function is None:
                raise ModelError(f"external '{routine.name}' has no Python routine: give python= or external=")
            result.append(Memory(routine, function))
        return result

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
            raise ModelError(f"no value is given for {len(missing)} parameters: {listed}. Use set_defaults() or parameters=.", self.equations.name)
        for name in override:
            if name not in self.equations.analysis.parameters:
                known = list(self.equations.analysis.parameters.values())
                warnings.warn(
                    f"parameters={{'{name}': ...}}: the model has no such parameter.{did_you_mean(name, known)}", ModelWarning, stacklevel=3
                )
        return values

    def _constants(self, p: list[float]) -> list[float]:
        key = tuple(p)
        if self._known is None or self._known[0] != key:
            self._known = (key, self.model.constants(p))
        return self._known[1]

    def _signals(self, given: Mapping[str, Any] | None) -> list[Callable[[float], float]]:
        """A function of time in equation units for every input."""
        listed = {k.lower(): v for k, v in {**self.description.run.inputs, **(given or {})}.items()}
        result: list[Callable[[float], float]] = []
        missing = []
        for s in self.program.inputs:
            name = s.name[5:-1] if s.kind == "rate" else s.name
            if name.lower() not in listed:
                missing.append(name)
                continue
            signal = as_signal(listed[name.lower()], name)
            unit = self.quantities.unit[name.lower()]
            result.append(_converted(signal, unit, s.kind == "rate", name))
        if missing:
            raise ModelError(f"no input is given for {', '.join(dict.fromkeys(missing))}: use inputs= or set_run(inputs=)", self.equations.name)
        return result

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
        w = [f(t) for f in self._signals(inputs)]
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
        w = [f(t) for f in self._signals(inputs)]
        q, u = self._checked(q, u)
        values = self.model.outputs(float(t), q, u, p, self._constants(p), w)
        names = self.program.output_names
        return {n: float(self.quantities.output_unit[n].from_equation(v)) for n, v in zip(names, values, strict=True)}

    def _checked(self, q: Sequence[float], u: Sequence[float]) -> tuple[list[float], list[float]]:
        for given, wanted, what in ((q, self.program.coordinates, "q"), (u, self.program.speeds, "u")):
            if len(given) != len(wanted):
                names = ", ".join(s.name for s in wanted)
                raise ModelError(f"{what} must have {len(wanted)} values ({names}), {len(given)} given", self.equations.name)
        return [float(x) for x in q], [float(x) for x in u]

    def complete(self, initial: Mapping[Any, float] | None = None) -> tuple[np.ndarray, np.ndarray]:
        """The full state in equation units from the values given (user units); the rest is zero."""
        return self._initial({**self.description.run.initial, **(initial or {})})

    def _initial(self, given: Mapping[Any, float]) -> tuple[np.ndarray, np.ndarray]:
        q = {s.name.lower().replace(" ", ""): i for i, s in enumerate(self.program.coordinates)}
        u = {s.name.lower().replace(" ", ""): i for i, s in enumerate(self.program.speeds)}
        values_q, values_u = np.zeros(len(q)), np.zeros(len(u))
        for body in self.equations.analysis.mechanism.bodies:
            if body.euler:
                values_q[q[body.q_r[0].name.lower().replace(" ", "")]] = 1.0
        removed = {r.speed.name.lower().replace(" ", "") for r in self.equations.analysis.removed}
        for key, value in given.items():
            name = self._state_name(key)
            number = _finite(value, f"initial value of {key}")
            if name in q:
                values_q[q[name]] = self.quantities.states[self.program.coordinates[q[name]].name].to_equation(number)
            elif name in u:
                values_u[u[name]] = self.quantities.states[self.program.speeds[u[name]].name].to_equation(number)
            elif name in removed:
                warnings.warn(f"initial value of {key} ignored: a constraint determines it", ModelWarning, stacklevel=3)
            else:
                known = [s.name for s in (*self.program.coordinates, *self.program.speeds)]
                raise ModelError(
                    f"initial value for '{key}': no such coordinate or speed.{did_you_mean(str(key), known)} States: {', '.join(known)}.",
                    self.equations.name,
                )
        return values_q, values_u

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
    ) -> Run:
        """Integrates from t = 0 to t_end. Defaults come from set_run; `step` and times in s, values in user units."""
        r = self.description.run
        t_end = _positive(t_end if t_end is not None else r.t_end if r.t_end is not None else 1.0, "t_end")
        step = _positive(step if step is not None else r.step if r.step is not None else t_end / 1000, "step")
        method = self._method(method or r.method or "rk4")
        every = output_every if output_every is not None else r.output_every if r.output_every is not None else 1
        if not isinstance(every, int) or every < 1:
            raise ModelError(f"output_every={every!r} must be a whole number of at least 1", self.equations.name)
        if step > t_end * (1 + 1e-12):
            raise ModelError(f"step={step:g} s is larger than t_end={t_end:g} s", self.equations.name)
        p = self.parameter_values(parameters)
        c = self._constants(p)
        signals = self._signals(inputs)
        q0, u0 = self.complete(initial)
        n_q = len(q0)
        routines = [x for x in self.externals if isinstance(x, Memory)]
        for routine in routines:
            routine.array[:] = 0.0
            routine.live = method == "rk2"

        def rates(t: float, y: np.ndarray) -> np.ndarray:
            w = [f(t) for f in signals]
            q, u = y[:n_q].tolist(), y[n_q:].tolist()
            qdot, udot = self.model.derivatives(t, q, u, p, c, w)
            return np.array(qdot + udot)

        y0 = np.concatenate([q0, u0])
        try:
            times, states, ended = self._integrate(rates, y0, t_end, step, method, every, routines, rtol, atol)
        finally:
            for routine in routines:
                routine.live = False
        return self._run(times, states, ended, p, c, signals, {"t_end": t_end, "step": step, "method": method})

    def _method(self, method: str) -> str:
        for known in METHODS:
            if method.lower() == known.lower():
                return known
        raise ModelError(f"method={method!r} is not known.{did_you_mean(method, METHODS)} Methods: {', '.join(METHODS)}.", self.equations.name)

    def _integrate(
        self, rates: Any, y: np.ndarray, t_end: float, h: float, method: str, every: int, routines: list[Memory], rtol: float, atol: float
    ) -> tuple[np.ndarray, np.ndarray, str]:
        if method in ADAPTIVE:
            return _adaptive(rates, y, t_end, h * every, method, rtol, atol)
        advance = semi_implicit(len(self.program.coordinates)) if method == "euler" else FIXED[method]
        steps = round(t_end / h) if abs(round(t_end / h) * h - t_end) < 1e-9 * t_end else math.ceil(t_end / h)
        k = self._settled(rates, 0.0, y, routines)
        times, states, ended = [0.0], [y], "finished"
        for i in range(1, steps + 1):
            t = (i - 1) * h
            try:
                y, k = advance(rates, t, y, h, k)
            except (OverflowError, ValueError, ZeroDivisionError) as error:
                ended = f"stopped at t = {t:g} s: {error} while evaluating the model"
                break
            if not np.all(np.isfinite(y)):
                ended = f"stopped at t = {i * h:g} s: {self._worst(y)} is no longer a finite number; try a smaller step"
                break
            if routines and method != "rk2":
                k = self._settled(rates, i * h, y, routines)
            if i % every == 0 or i == steps:
                times.append(i * h)
                states.append(y)
        return np.array(times), np.array(states), ended

    def _settled(self, rates: Any, t: float, y: np.ndarray, routines: list[Memory]) -> np.ndarray:
        """Rates at an accepted state; external memories may change here."""
        before = [r.live for r in routines]
        for r in routines:
            r.live = True
        try:
            return rates(t, y)  # type: ignore[no-any-return]
        finally:
            for r, live in zip(routines, before, strict=True):
                r.live = live

    def _worst(self, y: np.ndarray) -> str:
        states = [*self.program.coordinates, *self.program.speeds]
        bad = [s.name for s, v in zip(states, y, strict=True) if not np.isfinite(v)]
        return ", ".join(bad[:4])

    def _run(
        self, times: np.ndarray, states: np.ndarray, ended: str, p: list[float], c: list[float], signals: Any, settings: dict[str, Any]
    ) -> Run:
        n_q = len(self.program.coordinates)
        channels: dict[str, np.ndarray] = {}
        units: dict[str, str] = {}
        labels: dict[str, str] = {}
        for i, s in enumerate((*self.program.coordinates, *self.program.speeds)):
            unit = self.quantities.states[s.name]
            channels[s.name] = np.asarray(unit.from_equation(states[:, i]))
            units[s.name], labels[s.name] = unit.text, self.quantities.state_label.get(s.name, s.name)
        rows = []
        for t, y in zip(times, states, strict=True):
            w = [f(float(t)) for f in signals]
            rows.append(self.model.outputs(float(t), y[:n_q].tolist(), y[n_q:].tolist(), p, c, w))
        table = np.array(rows).reshape(len(times), len(self.program.output_names))
        by_name = {o.name: o for o in self.equations.analysis.outputs}
        for i, name in enumerate(self.program.output_names):
            unit = self.quantities.output_unit[name]
            channels[name] = np.asarray(unit.from_equation(table[:, i]))
            units[name], labels[name] = unit.text, by_name[name].label
        return Run(self.equations.name, times, channels, units, labels, ended, [], settings)

    def describe(self) -> str:
        """Parameters and states with labels, user units and equation values."""
        lines = [f"{self.equations.name} ({self.description.units})", "parameters (user value, unit, equation value, label)"]
        for name in self.equations.parameters:
            key = name.lower()
            record = self.description.parameters.get(key)
            unit = self.quantities.unit[key]
            value = record.value if record else None
            shown = "-" if value is None else f"{value:g}"
            internal = "-" if value is None else f"{unit.to_equation(float(value)):g}"
            lines.append(f"  {name:12} {shown:>12} {unit.text:12} {internal:>14}  {self.quantities.label.get(key, '')}".rstrip())
        lines.append("states")
        for s in (*self.program.coordinates, *self.program.speeds):
            unit = self.quantities.states[s.name]
            lines.append(f"  {s.name:12} {unit.text:8} {self.quantities.state_label.get(s.name, '')}".rstrip())
        return "\n".join(lines)


def _converted(signal: Signal, unit: Any, rate: bool, name: str) -> Callable[[float], float]:
    if rate and signal.rate is None:
        raise ModelError(f"input '{name}' must be differentiable here: its rate is used; a {signal.name} has none")
    source = signal.rate if rate else signal.value
    assert source is not None

    def value(t: float) -> float:
        x = float(source(t))
        if not math.isfinite(x):
            raise RunError(f"input '{name}' is {x} at t = {t:g} s")
        return float(unit.to_equation(x))

    return value


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


def _adaptive(
    rates: Any, y: np.ndarray, t_end: float, every: float, method: str, rtol: float, atol: float
) -> tuple[np.ndarray, np.ndarray, str]:
    from scipy.integrate import solve_ivp

    times = np.append(np.arange(0.0, t_end - 1e-9 * t_end, every), t_end)
    result = solve_ivp(rates, (0.0, t_end), y, method=method, t_eval=times, rtol=rtol, atol=atol)
    ended = "finished" if result.success else f"stopped at t = {result.t[-1] if len(result.t) else 0.0:g} s: {result.message}"
    return result.t, result.y.T, ended
