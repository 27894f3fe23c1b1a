"""What a derivation led by hand gives, as data."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from bellcrank.derive.derived import Derived, Matrices
from bellcrank.derive.results import Results
from bellcrank.dynamics.factor import best_order
from bellcrank.dynamics.factor import solve as factored
from bellcrank.expr import ZERO, Expr, add, mul, substitute
from bellcrank.kane.steps import Steps
from bellcrank.kane.system import KaneSystem
from bellcrank.vector.work import Work


@dataclass(frozen=True)
class HandDerived(Derived):
    """A hand-led derivation as data."""

    derivation: Steps
    system: KaneSystem

    @cached_property
    def matrices(self) -> Matrices:
        return self.system.M, self.system.f

    @cached_property
    def results(self) -> Results:
        """All that may be differentiated: rates and outputs, and the unit size of Euler parameters."""
        s, system = self.derivation.scalars, self.system
        states = [*s.coordinates, *system.speeds]
        rates = solved(self.derivation, system)
        known: dict[Expr, Expr] = dict(zip(system.accelerations, rates[len(s.coordinates) :], strict=True))
        outputs = [(o.name, substitute(o.value, known)) for o in self.analysis.outputs]
        sizes = [
            (f"unit size of the Euler parameters of {b}", add(*(mul(e, e) for e in four)) - 1)
            for b, four in self.derivation.euler.items()
        ]
        constants = tuple(sorted(s.constants, key=lambda c: c.name.lower()))
        named = tuple((f"{x.name}'", rate) for x, rate in zip(states, rates, strict=True))
        return Results(named, tuple(outputs), tuple(sizes), (), constants, tuple(s.inputs))


def solved(d: Steps, system: KaneSystem) -> list[Expr]:
    """Rates of coordinates and speeds, M factored in symbols."""
    work = Work([*d.scalars.coordinates, *system.speeds])
    n = len(system.speeds)
    M = {(i, j): x for i in range(n) for j in range(i + 1) if (x := work.hold(system.M[i][j])) is not ZERO}
    order = best_order(M, range(n))
    names = {i: f"the speed {u}" for i, u in enumerate(system.speeds)}
    udot = factored(M, {i: work.hold(x) for i, x in enumerate(system.f)}, order, names, work)
    return [*system.rates, *(udot[i] for i in range(n))]
