"""What a derivation gives: the analysed model, its quantities, the program, and what follows when
asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from bellcrank.mechanics.interface.interface import Interface, make_interface
from bellcrank.mechanics.kinematics.analysis import KinematicAnalysis
from bellcrank.mechanics.kinematics.dimensions import Quantities
from bellcrank.mechanics.kinematics.speed_constraints import DependentSpeed
from bellcrank.program.program import SimulationProgram
from bellcrank.symbolic.expr import Symbol

if TYPE_CHECKING:
    from bellcrank.mechanics.derive.matrices import Matrices
    from bellcrank.mechanics.derive.results import DifferentiableResults
    from bellcrank.program.derivatives import SlopeTable


@dataclass(frozen=True)
class DerivedModel:
    """Equations of motion as data: `method_label` in words, `solve` as it was asked for, and the
    `seconds` of each stage."""

    analysis: KinematicAnalysis
    quantities: Quantities
    program: SimulationProgram
    method_label: str
    seconds: Mapping[str, float]
    solve: str

    @property
    def name(self) -> str:
        return self.analysis.mechanism.name

    @property
    def interface(self) -> Interface:
        """Everything the model shows to the outside: names, units, words, columns, and defaults as
        they are now."""
        return make_interface(self.analysis, self.quantities, self.program)

    @property
    def bodies(self) -> tuple[str, ...]:
        """Names of the bodies."""
        return tuple(b.name for b in self.analysis.mechanism.bodies)

    @property
    def independent_speeds(self) -> list[Symbol]:
        """A regular set of speeds: with loops fewer than there are states, of which the rest
        follows."""
        return self.analysis.independent_speeds

    @cached_property
    def dependent_speeds(self) -> tuple[DependentSpeed, ...]:
        """The dependent speeds, each with the relation that determines it."""
        from bellcrank.mechanics.derive.matrices import dependent_speeds

        return dependent_speeds(self.analysis)

    @cached_property
    def matrices(self) -> Matrices:
        """M and f of M u' = f, in the user's speeds."""
        from bellcrank.mechanics.derive.matrices import user_matrices

        return user_matrices(self.analysis)

    @cached_property
    def results(self) -> DifferentiableResults:
        """Rates, outputs and constraints over one graph, in the form that derivatives are taken
        of."""
        from bellcrank.mechanics.derive.results import model_results

        return model_results(self.analysis, self.program)

    @cached_property
    def derivative_table(self) -> SlopeTable:
        """Derivatives of state derivatives and outputs by states and inputs, over the constants of
        the program."""
        from bellcrank.program.derivatives import full_derivative_table

        return full_derivative_table(self.program)
