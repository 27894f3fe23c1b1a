"""What a derivation gives: the analysed model, its quantities, and the program; what follows from these is found when asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from bellcrank.derive.results import Results, model_results
from bellcrank.interface.interface import Interface, interface_of
from bellcrank.kinematics.analysis import Analysis
from bellcrank.kinematics.dimensions import Quantities
from bellcrank.program.program import Program


@dataclass(frozen=True)
class Derived:
    """Equations of motion as data. `how` says in words by which form, `solve` what was asked for, `seconds` what each stage took."""

    analysis: Analysis
    quantities: Quantities
    program: Program
    how: str
    seconds: Mapping[str, float]
    solve: str

    @property
    def name(self) -> str:
        return self.analysis.mechanism.name

    @property
    def interface(self) -> Interface:
        """Everything the model shows to the outside: names, units, words, columns, and defaults as they are at present."""
        return interface_of(self.analysis, self.quantities, self.program)

    @cached_property
    def results(self) -> Results:
        """Rates, outputs and constraints over one graph, in the form that derivatives are taken of."""
        return model_results(self.analysis, self.program)
