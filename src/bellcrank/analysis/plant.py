"""Plant: a model that is analysed, as control engineers call it: loaded, with the derivation behind
it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import RLock
from typing import Any

from bellcrank.analysis.point import EvaluationPoint
from bellcrank.core.errors import ModelError
from bellcrank.mechanics.derive.derived import DerivedModel
from bellcrank.mechanics.interface.interface import Interface, Quantity
from bellcrank.program.statements import statement_expressions
from bellcrank.simulation.run.loaded import LoadedModel
from bellcrank.simulation.run.result import Run
from bellcrank.symbolic.expr import free_symbols

PARAMETERS = ("parameter", "entered")
STATES = ("coordinate", "speed")
CHANNELS = ("output", *STATES)
SETTABLE = (*STATES, "input", *PARAMETERS)


@dataclass(frozen=True)
class AnalysisModel:
    """What analyses look at. `simulate` runs it, options as of `Simulation.simulate`."""

    loaded: LoadedModel
    derived: DerivedModel
    simulate: Callable[..., Run]
    _made: dict[Any, Any] = field(default_factory=dict)
    _making: Any = field(default_factory=RLock)

    @property
    def name(self) -> str:
        return self.loaded.name

    @property
    def interface(self) -> Interface:
        return self.loaded.interface

    def cached(self, key: Any, compute: Callable[[], Any]) -> Any:
        """A program of derivatives or of inverse dynamics, made when it is first asked for."""
        with self._making:
            if key not in self._made:
                self._made[key] = compute()
            return self._made[key]

    def find_quantity(self, name: Any, kinds: Sequence[str], role: str) -> Quantity:
        """The quantity of that name; one that acts before a run begins cannot be analysed."""
        quantity = self.interface.find_or_raise(name, kinds, role)
        entry = self.loaded.program.entry.statements
        if quantity.symbol in {
            s for k in entry for e in statement_expressions(k) for s in free_symbols(e)
        }:
            reason = (
                f"{role} '{name}' acts through user functions that are called when parameters "
                f"have been read"
            )
            raise ModelError(f"{reason} (when='input'): this is not available for it", self.name)
        return quantity

    def find_quantities(self, names: Any, kinds: Sequence[str], role: str) -> list[Quantity]:
        """The quantities of some names, each once; one name may stand alone, None is no name."""
        items = (
            [names]
            if isinstance(names, str) or hasattr(names, "kind")
            else ()
            if names is None
            else names
        )
        return list(dict.fromkeys(self.find_quantity(x, kinds, role) for x in items))

    def parameters_at(self, point: EvaluationPoint) -> dict[str, float]:
        """The parameters of a point by name, in user units."""
        return {
            q.name: float(q.unit.from_equation_units(point.value_of(q)))
            for q in self.interface.parameters
        }

    def inputs_at(self, point: EvaluationPoint) -> dict[str, float]:
        """The inputs of a point by name, in user units."""
        return {
            q.name: float(q.unit.from_equation_units(point.value_of(q)))
            for q in self.interface.inputs
            if not q.rate
        }

    def reject_sampled_values(self) -> None:
        """An error for models with values that jump at the end of steps: they have no equations in
        continuous time."""
        if self.interface.sampled_inputs:
            reason = (
                "this is not available for models with user functions that are called once per "
                "step or run"
            )
            raise ModelError(
                f"{reason}: {', '.join(x.name for x in self.interface.sampled_inputs)}", self.name
            )
