"""What a user gives to a simulation, checked and in equation units: parameters, inputs, states, numbers, names."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bellcrank.backend.c import Input
from bellcrank.errors import ModelError, ModelWarning, did_you_mean, mapping
from bellcrank.expr import Expr, evaluate
from bellcrank.expr.show import text
from bellcrank.numeric.methods import ADAPTIVE, DEFAULT
from bellcrank.numeric.methods import METHODS as FIXED
from bellcrank.run.inputs import as_input, as_signal, check_covers, differentiated

if TYPE_CHECKING:
    from bellcrank.api.equations import Equations

METHODS = (*FIXED, *ADAPTIVE)


@dataclass(frozen=True)
class Plan:
    """How long, how fine and by which method a run goes: t_end and step in s, every n-th step recorded."""

    t_end: float
    step: float
    method: str
    every: int

    @property
    def steps(self) -> int:
        whole = round(self.t_end / self.step)
        return whole if abs(whole * self.step - self.t_end) < 1e-9 * self.t_end else math.ceil(self.t_end / self.step)

    @property
    def output_times(self) -> np.ndarray:
        return np.append(np.arange(0.0, self.t_end * (1 - 1e-9), self.step * self.every), self.t_end)


def run_plan(
    equations: Equations, t_end: float | None, step: float | None, method: str | None, output_every: int | None
) -> Plan:
    """What is given, else what set_run says, else t_end = 1 s, a thousand steps, rk4, every step."""
    r, name = equations.analysis.mechanism.description.run, equations.name
    t_end = positive(t_end if t_end is not None else r.t_end if r.t_end is not None else 1.0, "t_end")
    step = positive(step if step is not None else r.step if r.step is not None else t_end / 1000, "step")
    method = method_name(method or r.method or DEFAULT, name)
    every = output_every if output_every is not None else r.output_every if r.output_every is not None else 1
    if not isinstance(every, int | np.integer) or isinstance(every, bool) or every < 1:
        raise ModelError(f"output_every={every!r} must be a whole number of at least 1", name)
    if t_end / step > 1e13:
        raise ModelError(f"step={step:g} s is too small for t_end={t_end:g} s: {t_end / step:.0e} steps", name)
    if step > t_end * (1 + 1e-12):
        raise ModelError(f"step={step:g} s is larger than t_end={t_end:g} s", name)
    return Plan(t_end, step, method, int(every))


def parameter_values(equations: Equations, given: Mapping[str, float] | None = None) -> list[float]:
    """The parameters in equation units but for those that external routines give; `given` (user units) overrides the defaults."""
    quantities, description = equations.quantities, equations.analysis.mechanism.description
    override = {str(k).lower(): v for k, v in mapping(given, "parameters").items()}
    values, missing, refused = [], [], []
    for p in equations.program.given_parameters:
        key = p.name.lower()
        record = description.parameters.get(key)
        value = override.pop(key, record.value if record else None)
        if value is None:
            missing.append(p.name)
            continue
        found = finite(value, f"parameter '{p.name}'")
        values.append(float(quantities.unit[key].to_equation(found)))
        if record is not None and record.positive and not found > 0:
            refused.append(f"parameter '{p.name}' is {found:g}; it must be positive")
    if refused:
        raise ModelError(refused, equations.name)
    if missing:
        listed = ", ".join(f"'{m}'" for m in missing)
        raise ModelError(
            f"no value is given for {len(missing)} parameters: {listed}. Use set_defaults() or parameters=.",
            equations.name,
        )
    entered = {n.lower(): k.routine.name for k in equations.analysis.entered for n in k.routine.returns}
    for name in override:
        if name in entered:
            raise ModelError(f"parameter '{name}' is given by the external routine '{entered[name]}'", equations.name)
        if name not in equations.analysis.parameters:
            known = list(equations.analysis.parameters.values())
            warnings.warn(
                f"parameters={{'{name}': ...}}: the model has no such parameter.{did_you_mean(name, known)}",
                ModelWarning,
                stacklevel=3,
            )
    return values


def input_signals(equations: Equations, given: Mapping[str, Any] | None, t_end: float | None = None) -> list[Input]:
    """Every input over time in equation units; those that are sampled must cover a run until t_end."""
    quantities, description = equations.quantities, equations.analysis.mechanism.description
    given = mapping(given, "inputs")
    listed = {str(k).lower(): v for k, v in {**description.run.inputs, **given}.items()}
    _warn_of_unknown_inputs([v.name for v in description.variables], given)
    result: list[Input] = []
    missing = []
    for s in equations.program.given_inputs:
        name, times = differentiated(s.name) if s.kind == "rate" else (s.name, 0)
        if name.lower() not in listed:
            missing.append(name)
            continue
        signal = as_signal(listed[name.lower()], name)
        if t_end is not None:
            check_covers(signal, name, t_end)
        result.append(as_input(signal, name, quantities.unit[name.lower()].factor, times))
    if missing:
        raise ModelError(
            f"no input is given for {', '.join(dict.fromkeys(missing))}: use inputs= or set_run(inputs=)",
            equations.name,
        )
    return result


def _warn_of_unknown_inputs(known: Sequence[str], given: Mapping[str, Any]) -> None:
    for name in given:
        if str(name).lower() not in {k.lower() for k in known}:
            warnings.warn(
                f"inputs={{'{name}': ...}}: the model has no such input.{did_you_mean(str(name), known)}",
                ModelWarning,
                stacklevel=4,
            )


def state_lists(equations: Equations, q: Any, u: Any) -> tuple[list[float], list[float]]:
    """q and u as lists of the right lengths."""
    program = equations.program
    found: list[list[float]] = []
    for given, wanted, what in ((q, program.coordinates, "q"), (u, program.speeds, "u")):
        names = ", ".join(s.name for s in wanted)
        if isinstance(given, str) or not isinstance(given, Sequence | np.ndarray) or len(given) != len(wanted):
            count = f"{len(given)} given" if isinstance(given, Sequence | np.ndarray) else f"not {given!r}"
            raise ModelError(f"{what} must have {len(wanted)} values ({names}), {count}", equations.name)
        found.append([number(x, s.name) for x, s in zip(given, wanted, strict=True)])
    return found[0], found[1]


def method_name(method: str, model: str) -> str:
    """The method as it is spelled."""
    for known in METHODS:
        if str(method).lower() == known.lower():
            return known
    raise ModelError(
        f"method={method!r} is not known.{did_you_mean(str(method), METHODS)} Methods: {', '.join(METHODS)}.",
        model,
    )


def number(value: Any, what: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise ModelError(f"{what} is {value!r}, not a number") from None


def finite(value: Any, what: str) -> float:
    found = number(value, what)
    if not math.isfinite(found):
        raise ModelError(f"{what} is {found}, not a finite number")
    return found


def positive(value: Any, what: str, unit: str = " s") -> float:
    found = finite(value, what)
    if found <= 0:
        raise ModelError(f"{what}={found:g}{unit} must be positive")
    return found


def _default_values(equations: Equations) -> dict[str, float]:
    """Default values of all parameters that have one, in equation units."""
    unit, records = equations.quantities.unit, equations.analysis.mechanism.description.parameters
    found = {}
    for key, name in equations.analysis.parameters.items():
        record = records.get(key)
        if record is not None and record.value is not None and key in unit:
            found[name] = float(unit[key].to_equation(finite(record.value, f"parameter '{name}'")))
    return found


def _value(entries: Sequence[Expr], known: Mapping[str, float]) -> list[float] | None:
    """Values of constant expressions; None if they depend on what has no value, because the equations do not use it."""
    try:
        found = evaluate(entries, known)
    except (ModelError, ArithmeticError):
        return None
    return found if all(math.isfinite(x) for x in found) else None


def check_masses(equations: Equations, p: Sequence[float]) -> None:
    """Masses and moments of inertia that follow from parameters must not be negative."""
    known = _default_values(equations) | {s.name: x for s, x in zip(equations.program.parameters, p, strict=True)}
    problems = []
    for body in equations.analysis.mechanism.bodies:
        mass = _value([body.mass], known)
        if mass is not None and mass[0] < 0:
            problems.append(f"the mass of body '{body.name}' is negative: {text(body.mass)} = {mass[0]:g}")
        inertia = _value([x for row in body.inertia for x in row], known)
        if inertia is None:
            continue
        moments = np.linalg.eigvalsh(np.reshape(inertia, (3, 3)))
        if moments[0] < -1e-9 * np.abs(moments).max():
            problems.append(
                f"the inertia of body '{body.name}' is not physical: its smallest principal value is {moments[0]:g}"
            )
    if problems:
        raise ModelError(problems, equations.name)
