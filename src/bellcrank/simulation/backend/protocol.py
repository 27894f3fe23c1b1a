"""What a program can be called as: the protocols that compiled programs and those in Python
satisfy.

A `ExecutableModel` is a program made ready, and never changes. What calls change (memories of user
functions, errors that these raise, arrays kept from one call to the next) is in `ProgramCalls`, of
which every run and every evaluation makes its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from bellcrank.core.numeric.run_spec import At, ProgramInput, RunSpec
from bellcrank.program.program import SimulationProgram
from bellcrank.simulation.backend.compiler import Compiler

Functions = Sequence[Callable[..., Any] | None]


class ProgramCalls(Protocol):
    """The functions of a program over plain floats, with memories of their own.

    `writable_phase` says whose memories a call may change: 1 of user functions called for rates, 2
    of the others, 0 none. `memory` is that of routines in C. `speeds`: what the libraries were made
    for that were there, if it is compiled.
    """

    name: str
    program: SimulationProgram
    writable_phase: int
    memory: np.ndarray

    @property
    def speeds(self) -> Sequence[str]: ...

    def constants(self, p: Sequence[float]) -> list[float]: ...

    def derivatives(self, *program_arguments: *At) -> tuple[list[float], list[float]]: ...

    def outputs(self, *program_arguments: *At) -> list[float]: ...

    def values(self, section: str, *program_arguments: *At) -> list[float]:
        """Results of a section that stands for itself; compiled programs lack corrections and
        multipliers."""

    def new_run(self, spec: RunSpec) -> Any:
        """A whole run of a compiled program; None where Python has to drive it."""

    def new_assembler(
        self,
        p: Sequence[float],
        c: Sequence[float],
        inputs: Sequence[ProgramInput],
        spare: list[Any] | None,
    ) -> Any:
        """What closes loops at a start in place of `numeric`; None where Python does, or where
        there are none. `spare`: what it needs and leaves for the next one."""


class BoundRhsProtocol(Protocol):
    """Rates by one call, with parameters, constants and inputs bound; `simulation.backend.bound_rhs` reports
    what the parts are."""

    address: int
    data: int
    calls_python: bool
    sampled_values: np.ndarray

    @property
    def python_entry(self) -> Callable[..., bool] | None: ...

    def expect_long_use(self) -> None: ...

    def rates(self, t: float, x: np.ndarray) -> np.ndarray: ...

    def batch_rates(self, t: np.ndarray, x: np.ndarray, afresh: bool) -> np.ndarray: ...

    def near_singular_mask(self, t: np.ndarray, x: np.ndarray) -> np.ndarray: ...

    def is_stable_step(
        self,
        t: np.ndarray,
        x: np.ndarray,
        h: float,
        relative_step: float,
        squarings: int,
        threshold: float,
    ) -> bool: ...

    def is_stable_run(
        self, rows: np.ndarray, h: float, relative_step: float, squarings: int, threshold: float
    ) -> bool: ...


class ExecutableModel(Protocol):
    """A program made ready to be called. `compiler`: what compiled it, None for one in Python.
    `functions`: of its user functions and tables."""

    name: str
    program: SimulationProgram
    source: str
    compiler: Compiler | None

    @property
    def functions(self) -> Functions: ...

    def notes(self) -> list[str]:
        """How it was compiled, in messages."""

    def new_calls(self, functions: Functions | None = None) -> ProgramCalls:
        """The functions of the program for one run or evaluation, with its own user functions
        unless given."""

    def bind_rhs(
        self,
        program_calls: Any,
        p: Sequence[float],
        c: Sequence[float],
        inputs: Sequence[ProgramInput],
    ) -> BoundRhsProtocol | None:
        """Return a function for the state derivatives, or None if Python evaluates them; user
        functions are those of
        `program_calls`."""

    def compile_similar(
        self, program: SimulationProgram, functions: Functions, once: bool = False
    ) -> ExecutableModel:
        """Another program, made ready in the same way; one that is evaluated `once` in a while, as
        soon as can be."""

    def with_stiff_methods(
        self, program: SimulationProgram, functions: Functions
    ) -> ExecutableModel:
        """The program, with slopes, for stiff methods; compiled ones have runs by them."""

    def with_dae_methods(self) -> ExecutableModel | None:
        """The program with runs by methods for differential-algebraic equations; None where Python
        drives them."""

    def python_functions(self) -> Functions:
        """Functions of all routines and tables, as Python can call them; None where it need not."""
