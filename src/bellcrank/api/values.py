"""What a user gives to a simulation, checked and in equation units: parameters, inputs, states, numbers, names."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bellcrank.build.c import Input
from bellcrank.errors import ModelError, ModelWarning, did_you_mean
from bellcrank.run.inputs import as_input, as_signal, check_covers
from bellcrank.run.integrate import ADAPTIVE, FIXED

if TYPE_CHECKING:
    from bellcrank.api.equations import Equations

METHODS = (*FIXED, "euler", *ADAPTIVE)


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
    method = method_name(method or r.method or "rk4", name)
    every = output_every if output_every is not None else r.output_every if r.output_every is not None else 1
    if not isinstance(every, int) or isinstance(every, bool) or every < 1:
        raise ModelError(f"output_every={every!r} must be a whole number of at least 1", name)
    if step > t_end * (1 + 1e-12):
        raise ModelError(f"step={step:g} s is larger than t_end={t_end:g} s", name)
    return Plan(t_end, step, method, every)


def parameter_values(equations: Equations, given: Mapping[str, float] | None = None) -> list[float]:
    """All parameters in equation units; `given` (user units) overrides the defaults."""
    quantities, description = equations.quantities, equations.analysis.mechanism.description
    override = {str(k).lower(): v for k, v in (given or {}).items()}
    values, missing = [], []
    for p in equations.program.parameters:
        key = p.name.lower()
        record = description.parameters.get(key)
        value = override.pop(key, record.value if record else None)
        if value is None:
            missing.append(p.name)
            continue
        number = finite(value, f"parameter '{p.name}'")
        values.append(float(quantities.unit[key].to_equation(number)))
    if missing:
        listed = ", ".join(f"'{m}'" for m in missing)
        raise ModelError(
            f"no value is given for {len(missing)} parameters: {listed}. Use set_defaults() or parameters=.",
            equations.name,
        )
    for name in override:
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
    listed = {k.lower(): v for k, v in {**description.run.inputs, **(given or {})}.items()}
    _warn_of_unknown_inputs([v.name for v in description.variables], given or {})
    result: list[Input] = []
    missing = []
    for s in equations.program.given_inputs:
        name = s.name[5:-1] if s.kind == "rate" else s.name
        if name.lower() not in listed:
            missing.append(name)
            continue
        signal = as_signal(listed[name.lower()], name)
        if t_end is not None:
            check_covers(signal, name, t_end)
        result.append(as_input(signal, name, quantities.unit[name.lower()].factor, s.kind == "rate"))
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


def state_lists(equations: Equations, q: Sequence[float], u: Sequence[float]) -> tuple[list[float], list[float]]:
    """q and u as lists of the right lengths."""
    program = equations.program
    for given, wanted, what in ((q, program.coordinates, "q"), (u, program.speeds, "u")):
        if len(given) != len(wanted):
            names = ", ".join(s.name for s in wanted)
            raise ModelError(f"{what} must have {len(wanted)} values ({names}), {len(given)} given", equations.name)
    return [float(x) for x in q], [float(x) for x in u]


def method_name(method: str, model: str) -> str:
    """The method as it is spelled."""
    for known in METHODS:
        if str(method).lower() == known.lower():
            return known
    raise ModelError(
        f"method={method!r} is not known.{did_you_mean(str(method), METHODS)} Methods: {', '.join(METHODS)}.",
        model,
    )


def finite(value: Any, what: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ModelError(f"{what} is {value!r}, not a number") from None
    if not math.isfinite(number):
        raise ModelError(f"{what} is {number}, not a finite number")
    return number


def positive(value: Any, what: str) -> float:
    number = finite(value, what)
    if number <= 0:
        raise ModelError(f"{what}={number:g} s must be positive")
    return number
