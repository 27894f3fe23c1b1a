"""The Python program of a model, loaded and ready to be called."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np

from bellcrank.backend.compiler import Compiler
from bellcrank.backend.external import remembering
from bellcrank.backend.protocol import Functions
from bellcrank.emit.python.source import python_source
from bellcrank.numeric.run_spec import At, Input, RunSpec
from bellcrank.program import interpret
from bellcrank.program.program import Program


class PythonModel:
    """A program in Python. `functions` are those of its user functions and tables."""

    name = "python"
    compiler: Compiler | None = None

    def __init__(self, program: Program, functions: Functions) -> None:
        self.source = python_source(program, equations=("minimal", "multipliers"))
        module = ModuleType("bellcrank_model")
        # The source holds numbers, operators and names made by the printer only: no text of a user reaches it.
        exec(compile(self.source, f"<{program.name}>", "exec"), module.__dict__)
        self.module: Any = module
        self.program = program
        self.functions = tuple(functions)

    def notes(self) -> list[str]:
        """There is nothing to report of a compiler."""
        return []

    def calls(self, functions: Functions | None = None) -> PythonCalls:
        """The functions of the program for one run or evaluation."""
        return PythonCalls(self, remembering(self.functions) if functions is None else functions)

    def bound(self, program_calls: Any, p: Sequence[float], c: Sequence[float], inputs: Sequence[Input]) -> None:
        """Python evaluates rates."""

    def like(self, program: Program, functions: Functions, once: bool = False) -> PythonModel:
        """Another program in Python."""
        return PythonModel(program, functions)

    def functions_in_python(self) -> Functions:
        """Functions of all routines and tables."""
        return self.functions

    def for_stiff(self, program: Program, functions: Functions) -> PythonModel:
        """The program with slopes; runs are driven by Python."""
        return PythonModel(program, functions)

    def for_dae(self) -> PythonModel | None:
        """Runs by methods for differential-algebraic equations are driven by Python."""
        return None


class PythonCalls:
    """Calls of a program in Python with memories of their own; whole runs are driven from outside."""

    name = "python"
    speeds: tuple[str, ...] = ()

    def __init__(self, model: PythonModel, functions: Functions) -> None:
        self.program, self._module = model.program, model.module
        self._functions = tuple(functions)
        self.live = 0
        self.memory = np.zeros(1)  # no routine is in C

    def constants(self, p: Sequence[float]) -> list[float]:
        return self._module.constants(p, self._functions)

    def derivatives(self, *program_arguments: *At) -> tuple[list[float], list[float]]:
        return self._module.derivatives(*program_arguments, self._functions)

    def outputs(self, *program_arguments: *At) -> list[float]:
        try:
            return self.values("outputs", *program_arguments)
        except (OverflowError, ValueError, ZeroDivisionError):  # some have no value: inf or nan, as in C
            return self._interpreted_outputs(*program_arguments)

    def values(self, section: str, *program_arguments: *At) -> list[float]:
        """Results of a section that stands for itself."""
        if not getattr(self.program, section).results:
            return []
        values: list[float] = getattr(self._module, section)(*program_arguments, self._functions)
        return values

    def _interpreted_outputs(self, t: float, q: Any, u: Any, p: Any, c: Any, w: Any) -> list[float]:
        user = {r.name: f for r, f in zip(self.program.routines, self._functions, strict=True) if f is not None}
        constants = interpret.constants(self.program, p)
        _, values = interpret.derivatives(self.program, constants, t, q, u, w, user)
        return interpret.outputs(self.program, values, user)

    def start(self, spec: RunSpec) -> None:
        """There is no run to start."""

    def assembler(
        self, p: Sequence[float], c: Sequence[float], inputs: Sequence[Input], spare: list[Any] | None
    ) -> Any:
        """Loops are closed by `numeric`."""
