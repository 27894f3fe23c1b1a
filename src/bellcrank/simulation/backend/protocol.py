"""What a program can be called as: the protocols that compiled programs and those in Python
satisfy.

A `ExecutableModel` is a program made ready, and never changes. What calls change (memories of user
functions, errors that these raise, arrays kept from one call to the next) is in `ProgramCalls`, of
which every run and every evaluation makes its own.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from bellcrank.core.numeric.run_spec import At, ProgramInput, RunSpec
from bellcrank.program.program import SimulationProgram
from bellcrank.simulation.backend.compiler import Compiler

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bellcrank.core.numeric.loop_constraints import StartAssembler
    from bellcrank.simulation.backend.interrupts import PythonCallbacks
    from bellcrank.simulation.backend.libraries import CurrentLibrary

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
    memory: NDArray[np.float64]

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
    ) -> StartAssembler | None:
        """What closes loops at a start in place of `numeric`; None where Python does, or where
        there are none. `spare`: what it needs and leaves for the next one."""


class KernelProgram(Protocol):
    """What all runs of a program share. `python_functions`: routines that are not in it; `layouts`
    of arrays, by kinds of runs."""

    @property
    def python_functions(self) -> Sequence[object]: ...

    @property
    def memory_size(self) -> int: ...

    @property
    def layouts(self) -> dict[type[Any], Any]: ...


class KernelCalls(Protocol):
    """Calls of a program whose runs are those of the kernel, in C or in WebAssembly.

    `library`: that which is called now, one of `libraries`; only where C may be given addresses
    (`CRun.shares_memory`).
    """

    program: SimulationProgram
    memory: NDArray[np.float64]

    @property
    def compiled(self) -> KernelProgram: ...

    @property
    def callbacks(self) -> PythonCallbacks: ...

    @property
    def library(self) -> ctypes.CDLL: ...

    @property
    def libraries(self) -> CurrentLibrary: ...

    def workspace_size(self) -> int:
        """How many numbers adaptive methods need."""

    def add_run_time(self, seconds: float) -> None:
        """Counts the time of runs."""

    def new_externals(self, memory: NDArray[np.float64]) -> Any:
        """User functions with a memory of their own for those in C."""

    def new_run(self, spec: RunSpec) -> Any:
        """A run that has not begun."""


class AdaptiveTolerances(Protocol):
    """Tolerances of a run with an adaptive method: what it may err by, of each state in equation
    units (`simulation.run.tolerances`)."""

    @property
    def rtol(self) -> float: ...

    @property
    def atol(self) -> NDArray[np.float64]: ...

    @property
    def size_caps(self) -> NDArray[np.float64]: ...

    @property
    def unit_groups(self) -> np.ndarray: ...


class DaeSettings(Protocol):
    """A method for differential-algebraic equations (`simulation.run.dae_methods`)."""

    @property
    def method(self) -> str: ...

    @property
    def base(self) -> str: ...

    @property
    def alpha(self) -> float: ...

    @property
    def beta(self) -> float: ...

    @property
    def gamma(self) -> float: ...


class BoundRhsProtocol(Protocol):
    """Rates by one call, with parameters, constants and inputs bound.

    `simulation.backend.bound_rhs` describes the parts.
    """

    address: int
    data: int
    calls_python: bool
    sampled_values: NDArray[np.float64]

    @property
    def python_entry(self) -> Callable[..., bool] | None: ...

    def expect_long_use(self) -> None: ...

    def rates(self, t: float, x: NDArray[np.float64]) -> NDArray[np.float64]: ...

    def batch_rates(
        self, t: NDArray[np.float64], x: NDArray[np.float64], afresh: bool
    ) -> NDArray[np.float64]: ...

    def near_singular_mask(
        self, t: NDArray[np.float64], x: NDArray[np.float64]
    ) -> NDArray[np.bool_]: ...

    def is_stable_step(
        self,
        t: NDArray[np.float64],
        x: NDArray[np.float64],
        h: float,
        relative_step: float,
        squarings: int,
        threshold: float,
    ) -> bool: ...

    def is_stable_run(
        self,
        rows: NDArray[np.float64],
        h: float,
        relative_step: float,
        squarings: int,
        threshold: float,
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
        program_calls: ProgramCalls,
        p: Sequence[float],
        c: Sequence[float],
        inputs: Sequence[ProgramInput],
    ) -> BoundRhsProtocol | None:
        """Return a function for the state derivatives, or None if Python evaluates them; user
        functions are those of `program_calls`."""

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
