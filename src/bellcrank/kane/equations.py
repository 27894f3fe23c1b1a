"""Equations of motion from a hand-led derivation, as a user has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bellcrank.api.equations import Equations
from bellcrank.kane.derived import HandDerived
from bellcrank.kane.simulation import KaneSimulation


class KaneEquations(Equations):
    """Equations of motion from a hand-led derivation; `derivation` is where they came from."""

    def __init__(self, derived: HandDerived) -> None:
        super().__init__(derived)
        self.derivation, self.system = derived.derivation, derived.system

    def compile(self, backend: str = "auto", external: Mapping[str, Any] | None = None) -> KaneSimulation:
        """A simulation, ready to run; Euler parameters of initial states are brought to unit size."""
        return KaneSimulation(self.derived, backend, dict(external or {}))
