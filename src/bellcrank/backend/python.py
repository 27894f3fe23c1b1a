"""The Python program of a model, loaded and ready to be called."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from bellcrank.emit.python.source import python_source
from bellcrank.numeric.course import At
from bellcrank.program import interpret
from bellcrank.program.program import Program


class PythonModel:
    """derivatives and outputs of a program over plain floats."""

    name = "python"

    def __init__(self, program: Program, routines: Sequence[Callable[..., Any]]) -> None:
        self.source = python_source(program, equations=("minimal", "multipliers"))
        module = ModuleType("bellcrank_model")
        # The source holds numbers, operators and names made by the printer only: no text of a user reaches it.
        exec(compile(self.source, f"<{program.name}>", "exec"), module.__dict__)
        self._module: Any = module
        self.program = program
        self.routines = tuple(routines)
        self._enters = bool(program.entry.results)
        self._starts, self._updates = bool(program.start.results), bool(program.update.results)

    def constants(self, p: Sequence[float]) -> list[float]:
        return self._module.constants(p)

    def derivatives(self, *at: *At) -> tuple[list[float], list[float]]:
        return self._module.derivatives(*at, self.routines)

    def closure(self, *at: *At) -> list[float]:
        """g, dg/dq, v, dv/du of closed loops in one list."""
        values: list[float] = self._module.closure(*at, self.routines)
        return values

    def correct_q(self, *at: *At) -> list[float]:
        """What dependent coordinates are to be moved by in regular positions."""
        values: list[float] = self._module.correct_q(*at, self.routines)
        return values

    def correct_u(self, *at: *At) -> list[float]:
        """The same for speeds, then the pivots."""
        values: list[float] = self._module.correct_u(*at, self.routines)
        return values

    def singular_rates(self, *at: *At) -> list[float]:
        """Rates of coordinates and speeds of closed loops near singular positions, and the ratio of pivots, in one list."""
        values: list[float] = self._module.singular_rates(*at, self.routines)
        return values

    def system(self, *at: *At) -> list[float]:
        """q', M (lower triangle), f, J, gamma, g and v of a constrained model in one list."""
        values: list[float] = self._module.system(*at, self.routines)
        return values

    def coordinate_rates(self, *at: *At) -> list[float]:
        """q' alone."""
        values: list[float] = self._module.coordinate_rates(*at, self.routines)
        return values

    def entry_values(self, p: Sequence[float]) -> list[float]:
        """Parameters that external routines give, from the others."""
        values: list[float] = self._module.entry(0.0, [], [], p, [], [], self.routines) if self._enters else []
        return values

    def echo_values(self, *at: *At) -> list[float]:
        """Values that external routines give to the echo of a run."""
        values: list[float] = self._module.echo(*at, self.routines) if self.program.echo_names else []
        return values

    def start_values(self, *at: *At) -> list[float]:
        """Values of external routines that hold over a run."""
        values: list[float] = self._module.start(*at, self.routines) if self._starts else []
        return values

    def update_values(self, *at: *At) -> list[float]:
        """Values of external routines that hold over a step."""
        values: list[float] = self._module.update(*at, self.routines) if self._updates else []
        return values

    def outputs(self, *at: *At) -> list[float]:
        try:
            values: list[float] = self._module.outputs(*at, self.routines)
        except (OverflowError, ValueError, ZeroDivisionError):  # some have no value: inf or nan, as in C
            return self._interpreted_outputs(*at)
        return values

    def _interpreted_outputs(self, t: float, q: Any, u: Any, p: Any, c: Any, w: Any) -> list[float]:
        user = {r.name: f for r, f in zip(self.program.routines, self.routines, strict=True)}
        known = interpret.constants(self.program, p)
        _, values = interpret.derivatives(self.program, known, t, q, u, w, user)
        return interpret.outputs(self.program, values, user)
