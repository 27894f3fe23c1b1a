"""Equations and simulations of hand-led derivations, as a user has them: what differs from
described models."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from bellcrank.analysis.inverse import InverseDynamics
from bellcrank.api.equations import Equations
from bellcrank.api.simulation import Simulation
from bellcrank.choices import Backend, Speed
from bellcrank.core.errors import ModelError
from bellcrank.core.name_lookup import normalized_name
from bellcrank.kane.derived import HandDerived
from bellcrank.kane.scalars import TIME
from bellcrank.simulation.run.result import Run
from bellcrank.symbolic.expr import Expr, evaluate


class KaneSimulation(Simulation):
    """A simulation of a hand-led derivation."""

    derived: HandDerived

    def simulate(self, *args: Any, **options: Any) -> Run:
        """As `Simulation.simulate`; initial Euler parameters may be given in any size."""
        arguments = inspect.signature(super().simulate).bind(*args, **options).arguments
        if arguments.get("start") is None or arguments.get("initial") is not None:
            arguments["initial"] = self.unit_size(
                self.interface.initial_values(arguments.get("initial") or {})
            )
        return super().simulate(**arguments)

    def unit_size(self, given: Mapping[Any, float]) -> dict[Any, float]:
        """Initial values with Euler parameters of size 1."""
        values = {normalized_name(k): (k, v) for k, v in given.items()}
        result = dict(given)
        for four in self.derived.derivation.euler.values():
            keys = [values.get(normalized_name(e), (e, 0.0)) for e in four]
            size = math.sqrt(sum(float(v) ** 2 for _, v in keys))
            if any(normalized_name(e) in values for e in four):
                if not size > 0:
                    listed = ", ".join(e.name for e in four)
                    raise ModelError(
                        f"the Euler parameters {listed} are all zero", self.interface.model
                    )
                result.update({k: float(v) / size for k, v in keys})
        return result

    def inverse(
        self,
        q: Any,
        u: Any,
        udot: Any,
        t: Any = 0.0,
        forces: Iterable[Any] | str | None = None,
        parameters: Mapping[str, float | str] | None = None,
        inputs: Mapping[str, Any] | None = None,
    ) -> InverseDynamics:
        """Generalized forces M u' - f that a motion needs besides the loads given; one state, or
        one row per time."""
        name = self.interface.model
        if forces is not None:
            raise ModelError(
                "the loads of a hand-led derivation have no names: leave forces= out", name
            )
        system, program = self.derived.system, self.derived.program
        single = np.ndim(q) == 1
        times = np.atleast_1d(np.asarray(t, dtype=float))
        rows = [np.atleast_2d(np.asarray(x, dtype=float)) for x in (q, u, udot)]
        widths = (len(program.coordinates), len(program.speeds), len(program.speeds))
        if any(x.shape != (len(times), n) for x, n in zip(rows, widths, strict=True)):
            raise ModelError(
                f"q, u, udot must have {', '.join(map(str, widths))} values for each time", name
            )
        fixed: dict[Expr, float] = dict.fromkeys(
            self.derived.derivation.scalars.constants, 0.0
        )  # some do not act
        fixed.update(zip(program.parameters, self.parameter_values(parameters), strict=True))
        signals = list(zip(program.inputs, self.loaded.inputs(inputs), strict=True))
        n = len(system.speeds)
        roots = [*(x for row in system.M for x in row), *system.f]
        forces_by_time = []
        for k, time in enumerate(times):
            bindings = {**fixed, TIME: float(time)}
            bindings.update({s: float(i.function(float(time))) for s, i in signals})
            bindings.update(
                zip(
                    (*program.coordinates, *program.speeds), (*rows[0][k], *rows[1][k]), strict=True
                )
            )
            numbers = np.array(evaluate(roots, bindings))
            forces_by_time.append(numbers[: n * n].reshape(n, n) @ rows[2][k] - numbers[n * n :])
        names = tuple(f"force along {x.name}" for x in system.speeds)
        labels = tuple(f"generalised force along {x.name}" for x in system.speeds)
        return InverseDynamics(
            name, times, names, ("",) * n, labels, np.array(forces_by_time), np.ones(n), single
        )


class KaneEquations(Equations):
    """Equations of motion from a hand-led derivation; `derivation` is where they came from."""

    def __init__(self, derived: HandDerived) -> None:
        super().__init__(derived)
        self.derivation, self.system = derived.derivation, derived.system

    def compile(
        self,
        *,
        backend: Backend = "auto",
        external: Mapping[str, Any] | None = None,
        speed: Speed = "fast",
    ) -> KaneSimulation:
        """A simulation, ready to run; Euler parameters of initial states are brought to unit
        size."""
        return KaneSimulation(self, backend, dict(external or {}), speed)
