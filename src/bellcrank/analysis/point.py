"""The point at which a model is analysed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bellcrank.core.errors import ModelError
from bellcrank.mechanics.interface.interface import DECLARED, Quantity
from bellcrank.simulation.run.loaded import LoadedModel
from bellcrank.symbolic.expr import Symbol


@dataclass(frozen=True)
class EvaluationPoint:
    """Time, state, parameters and inputs, all in equation units."""

    t: float
    q: np.ndarray
    u: np.ndarray
    p: tuple[float, ...]
    w: tuple[float, ...]

    @property
    def x(self) -> np.ndarray:
        return np.concatenate([self.q, self.u])

    def value_of(self, quantity: Quantity) -> float:
        """The value of a state, parameter or input."""
        groups: dict[str, Any] = {"coordinate": self.q, "speed": self.u, "input": self.w}
        return float(groups.get(quantity.kind, self.p)[quantity.index])

    def with_values(self, new_values: Mapping[Quantity, float]) -> EvaluationPoint:
        """The point with some quantities replaced."""
        q, u, p, w = self.q.copy(), self.u.copy(), list(self.p), list(self.w)
        groups: dict[str, Any] = {"coordinate": q, "speed": u, "input": w}
        for quantity, value in new_values.items():
            groups.get(quantity.kind, p)[quantity.index] = float(value)
        return replace(self, q=q, u=u, p=tuple(p), w=tuple(w))


def point_parameter_values(
    loaded: LoadedModel,
    symbols: Sequence[Symbol],
    parameters: Mapping[str, float | str] | None = None,
) -> list[float]:
    """Values in equation units of parameters that need not occur in the equations of motion."""
    model_parameters = loaded.program.parameters
    needs_values = parameters is not None or not set(symbols).isdisjoint(
        model_parameters
    )  # others may have no default, and need none here
    symbol_values = (
        dict(zip(model_parameters, loaded.parameter_values(parameters), strict=True))
        if needs_values
        else {}
    )
    override = loaded.interface.values_by_key(parameters, DECLARED, "parameters")
    idle = {x.key: x for x in loaded.interface.unused_parameters}
    values = []
    for s in symbols:
        if s in symbol_values:
            values.append(symbol_values[s])
            continue
        x = idle[s.name]
        value = override.get(x.key, x.default)
        if value is None:
            raise ModelError(f"no value is given for the parameter '{s.name}'", loaded.name)
        values.append(float(x.unit.to_equation_units(float(value))))
    return values
