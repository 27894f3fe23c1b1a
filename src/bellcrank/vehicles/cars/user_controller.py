"""Sampled controllers of the user: a function in Python or C, or an FMU, that gives torques of
wheels at a sample time.

The function is called at the end of the step that reaches a sample; its values stay as they are
until the next one (zero-order hold). The array of an update function of a model keeps the time of
the next sample, the values and what the function itself remembers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bellcrank.core.errors import BellcrankError, ModelError, RunError, did_you_mean
from bellcrank.vehicles.cars.building.car_model import WHEEL_TORQUES, CarSystem
from bellcrank.vehicles.cars.control.fmu_controller import EARLY, MEMORY, FmuController
from bellcrank.vehicles.model_parameters import add_si_parameter


@dataclass(frozen=True, eq=False)
class UserController:
    """A controller that a car is extended by, with the arguments of `Car.controlled`."""

    name: str
    inputs: Sequence[Any] | Mapping[str, Any]
    torques: Sequence[str] | Mapping[str, str]
    sample_time: float
    python: Any  # a function, or None
    c: str | None
    memory: int
    fmu: str | Path | None = None

    def problems(self) -> list[str]:
        """What of the arguments cannot be."""
        form = "a list of names" if self.fmu is None else "a dictionary {variable of the FMU: name}"
        problems = [
            f"{key}={x!r:.40} must be {form}"
            for key, x in (("inputs", self.inputs), ("torques", self.torques))
            if isinstance(x, str) or isinstance(x, Mapping) == (self.fmu is None)
        ]
        if problems:
            return problems
        if not isinstance(self.name, str) or not self.name.isidentifier():
            problems.append(f"name {self.name!r:.40} must consist of letters, digits and _")
        torques = _model_names(self.torques)
        for torque in torques:
            if torque not in WHEEL_TORQUES:
                suggestion = did_you_mean(str(torque), WHEEL_TORQUES)
                problems.append(
                    f"no torque of a wheel is called '{torque}'.{suggestion} There are "
                    f"{', '.join(WHEEL_TORQUES)}"
                )
        problems += [
            f"'{torque}' is given more than once"
            for torque in WHEEL_TORQUES
            if torques.count(torque) > 1
        ]
        if not torques:
            problems.append(
                "give at least one of torques=, such as ['fl.brake_torque', 'fr.brake_torque']"
            )
        if not _is_number(self.sample_time) or not 0 < self.sample_time < math.inf:
            problems.append(f"sample_time={self.sample_time!r:.40} must be a positive number, in s")
        if self.fmu is not None and not (self.python is self.c is None and self.memory == 0):
            problems.append("fmu= takes the place of python=, c= and memory=")
        if self.python is None and self.c is None and self.fmu is None:
            problems.append("give a function: python= or c=, or fmu=")
        if self.python is not None and not callable(self.python):
            problems.append(f"python={self.python!r:.40} must be a function")
        if not isinstance(self.memory, int) or isinstance(self.memory, bool) or self.memory < 0:
            problems.append(f"memory={self.memory!r:.40} must be a whole number, 0 or more")
        return problems

    def with_opened_fmu(self) -> UserController:
        """The same with its FMU as the function, read and checked."""
        controller = replace(
            self, inputs=_model_names(self.inputs), torques=_model_names(self.torques)
        )
        if self.fmu is None:
            return controller
        read = FmuController.read(self.fmu, [*self.inputs], [*self.torques], self.sample_time)
        return replace(controller, python=read, memory=MEMORY)

    def __call__(self, system: CarSystem, car: Any) -> None:
        """Adds the function, its switch and its channels to a model."""
        channels = {o.name: o.expression for o in system.description.outputs}
        values = {torque: f"{self.name}_{torque.replace('.', '_')}" for torque in self.torques}
        add_si_parameter(
            system, f"{self.name}_on", 1.0, "1", f"controller {self.name}: 1 on, 0 off", (0, 1)
        )
        system.add_external(
            f"{self.name}_{'sampled' if self.fmu is None else 'fmu'}",
            arguments=(
                "t",
                *(channels.get(x, x) if isinstance(x, str) else x for x in self.inputs),
            ),
            returns=tuple(values.values()),
            when="update",
            memory=2 + len(values) + self.memory,
            python=None if self.python is None else self._call_at_sample_time,
            c=None if self.c is None else self._sampled_c_source(),
        )
        for torque, value in values.items():
            system.control(torque, f"{self.name}_on*{value}")
            corner, _, kind = torque.partition(".")
            label = f"controller {self.name}: {kind.replace('_', ' ')} of {corner}"
            system.add_output(f"{self.name}.{torque}", torque, units="F*L", label=label)

    def _call_at_sample_time(self, t: float, *signals: Any) -> tuple[float, ...]:
        """Calls the function when a sample is due; `kept` begins with 1 after the first call and
        the time of the next one."""
        *arguments, kept = signals
        end = 2 + len(self.torques)
        if not kept[0] or t >= kept[1] - EARLY:
            user_memory = kept[end:]
            try:
                result = (
                    self.python(t, *arguments, user_memory)
                    if self.memory
                    else self.python(t, *arguments)
                )
            except BellcrankError:
                raise
            except Exception as error:
                reason = f"{type(error).__name__}: {error}"
                raise RunError(
                    f"controller '{self.name}' failed at t = {t:g} s: {reason}"
                ) from error
            values = (
                [*result]
                if isinstance(result, Sequence) or hasattr(result, "__len__")
                else [result]
            )
            if len(values) != len(self.torques):
                count = len(self.torques)
                raise ModelError(
                    f"controller '{self.name}' returned {len(values)} values, but has "
                    f"{count} torques"
                )
            for torque, x in zip(self.torques, values, strict=True):
                if not _is_finite(x):  # brakes would ignore it
                    raise RunError(
                        f"controller '{self.name}' returned {x!r:.40} for {torque} at t = {t:g} s"
                    )
            kept[0], kept[1] = (
                1.0,
                (math.floor((t + EARLY) / self.sample_time) + 1) * self.sample_time,
            )
            kept[2:end], kept[end:] = values, user_memory
        return tuple(float(x) for x in kept[2:end])

    def _sampled_c_source(self) -> str:
        """The same in C, around the function of the user."""
        end = 2 + len(self.torques)
        names = ["t", *(f"a{i}" for i in range(len(self.inputs)))]
        memory_argument = f", kept + {end}" if self.memory else ""
        arguments = ", ".join(f"double {x}" for x in names)
        return f"""{self.c}
void {self.name}_sampled({arguments}, double *returns, double *kept) {{
    if (kept[0] == 0 || t >= kept[1] - {EARLY!r}) {{
        {self.name}({", ".join(names)}, kept + 2{memory_argument});
        kept[0] = 1;
        kept[1] = (floor((t + {EARLY!r})/{self.sample_time!r}) + 1)*{self.sample_time!r};
    }}
    for (int i = 0; i < {len(self.torques)}; ++i) returns[i] = kept[2 + i];
}}
"""


def _model_names(names: Sequence[Any] | Mapping[str, Any]) -> tuple[Any, ...]:
    """Names of the model."""
    return tuple(names.values() if isinstance(names, Mapping) else names)


def _is_number(x: Any) -> bool:
    return isinstance(x, int | float) and not isinstance(x, bool)


def _is_finite(x: Any) -> bool:
    try:
        return math.isfinite(x)
    except TypeError:
        return False
