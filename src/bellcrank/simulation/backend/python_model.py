"""The Python program of a model, loaded and ready to be called."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from bellcrank.codegen.python.source import python_source
from bellcrank.core.numeric.run_spec import At, ProgramInput, RunSpec
from bellcrank.program import interpreter
from bellcrank.program.program import SimulationProgram
from bellcrank.simulation.backend.compiler import Compiler
from bellcrank.simulation.backend.external import with_own_memory
from bellcrank.simulation.backend.protocol import Functions, ProgramCalls

if TYPE_CHECKING:
    from bellcrank.simulation.backend.c_assembly import CAssembler, Spare
    from bellcrank.simulation.backend.c_runs import CRun


class PythonModel:
    """A program in Python. `functions` are those of its user functions and tables."""

    name = "python"
    compiler: Compiler | None = None

    def __init__(self, program: SimulationProgram, functions: Functions) -> None:
        self.source = python_source(program, equations=("minimal", "multipliers"))
        module = ModuleType("bellcrank_model")
        # The source holds numbers, operators and names made by the printer only: no text of a user
        # reaches it.
        exec(compile(self.source, f"<{program.name}>", "exec"), module.__dict__)
        self.module = module
        self.program = program
        self.functions = tuple(functions)

    def notes(self) -> list[str]:
        """There is nothing to report of a compiler."""
        return []

    def new_calls(self, functions: Functions | None = None) -> PythonCalls:
        """The functions of the program for one run or evaluation."""
        return PythonCalls(
            self, with_own_memory(self.functions) if functions is None else functions
        )

    def bind_rhs(
        self,
        program_calls: ProgramCalls,
        p: Sequence[float],
        c: Sequence[float],
        inputs: Sequence[ProgramInput],
    ) -> None:
        """Python evaluates rates."""

    def compile_similar(
        self, program: SimulationProgram, functions: Functions, once: bool = False
    ) -> PythonModel:
        """Another program in Python."""
        return PythonModel(program, functions)

    def python_functions(self) -> Functions:
        """Functions of all routines and tables."""
        return self.functions

    def with_stiff_methods(self, program: SimulationProgram, functions: Functions) -> PythonModel:
        """The program with slopes; runs are driven by Python."""
        return PythonModel(program, functions)

    def with_dae_methods(self) -> PythonModel | None:
        """Runs by methods for differential-algebraic equations are driven by Python."""
        return None


class PythonCalls:
    """Calls of a program in Python with memories of their own; whole runs are driven from
    outside."""

    name = "python"
    speeds: tuple[str, ...] = ()

    def __init__(self, model: PythonModel, functions: Functions) -> None:
        self.program, self._module = model.program, model.module
        self._functions = tuple(functions)
        self.writable_phase = 0
        self.memory = np.zeros(1)  # no routine is in C

    def constants(self, p: Sequence[float]) -> list[float]:
        return self._module.constants(p, self._functions)

    def derivatives(self, *program_arguments: *At) -> tuple[list[float], list[float]]:
        return self._module.derivatives(*program_arguments, self._functions)

    def outputs(self, *program_arguments: *At) -> list[float]:
        try:
            return self.values("outputs", *program_arguments)
        except (
            OverflowError,
            ValueError,
            ZeroDivisionError,
        ):  # some have no value: inf or nan, as in C
            return self._interpreted_outputs(*program_arguments)

    def values(self, section: str, *program_arguments: *At) -> list[float]:
        """Results of a section that stands for itself."""
        if not getattr(self.program, section).results:
            return []
        values: list[float] = getattr(self._module, section)(*program_arguments, self._functions)
        return values

    def _interpreted_outputs(
        self,
        t: float,
        q: Sequence[float],
        u: Sequence[float],
        p: Sequence[float],
        c: Sequence[float],
        w: Sequence[float],
    ) -> list[float]:
        user = {
            r.name: f
            for r, f in zip(self.program.routines, self._functions, strict=True)
            if f is not None
        }
        constants = interpreter.evaluate_constants(self.program, p)
        _, values = interpreter.evaluate_derivatives(self.program, constants, t, q, u, w, user)
        return interpreter.evaluate_outputs(self.program, values, user)

    def new_run(self, spec: RunSpec) -> CRun | None:
        """There is no run to start."""
        return None

    def new_assembler(
        self,
        p: Sequence[float],
        c: Sequence[float],
        inputs: Sequence[ProgramInput],
        spare: list[Spare] | None,
    ) -> CAssembler | None:
        """Loops are closed by `numeric`."""
        return None
