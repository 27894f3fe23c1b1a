"""What a program can be called as: the protocols that compiled programs and those in Python satisfy.

A `Model` is a program made ready, and never changes. What calls change (memories of user functions, errors that
these raise, arrays kept from one call to the next) is in `Calls`, of which every run and every evaluation makes its
own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from bellcrank.backend.compiler import Compiler
from bellcrank.numeric.run_spec import At, Input, RunSpec
from bellcrank.program.program import Program

Functions = Sequence[Callable[..., Any] | None]


class Calls(Protocol):
    """The functions of a program over plain floats, with memories of their own.

    `live` says whose memories a call may change: 1 of user functions called for rates, 2 of the others, 0 none.
    `memory` is that of routines in C. `speeds`: what the libraries were made for that were there, if it is compiled.
    """

    name: str
    program: Program
    live: int
    memory: np.ndarray

    @property
    def speeds(self) -> Sequence[str]: ...

    def constants(self, p: Sequence[float]) -> list[float]: ...

    def derivatives(self, *program_arguments: *At) -> tuple[list[float], list[float]]: ...

    def outputs(self, *program_arguments: *At) -> list[float]: ...

    def values(self, section: str, *program_arguments: *At) -> list[float]:
        """Results of a section that stands for itself; compiled programs lack corrections and multipliers."""

    def start(self, spec: RunSpec) -> Any:
        """A whole run of a compiled program; None where Python has to drive it."""

    def assembler(
        self, p: Sequence[float], c: Sequence[float], inputs: Sequence[Input], spare: list[Any] | None
    ) -> Any:
        """What closes loops at a start in place of `numeric`; None where Python does, or where there are none. `spare`:
        what it needs and leaves for the next one."""


class Bound(Protocol):
    """Rates by one call, with parameters, constants and inputs bound; `backend.c_bound` reports what the parts are."""

    address: int
    data: int
    calls_back: bool
    kept: np.ndarray

    @property
    def called(self) -> Callable[..., bool] | None: ...

    def expect_long_use(self) -> None: ...

    def rates(self, t: float, x: np.ndarray) -> np.ndarray: ...

    def rates_of_all(self, t: np.ndarray, x: np.ndarray, afresh: bool) -> np.ndarray: ...

    def near_singular(self, t: np.ndarray, x: np.ndarray) -> np.ndarray: ...

    def is_calm(
        self, t: np.ndarray, x: np.ndarray, h: float, relative_step: float, squarings: int, threshold: float
    ) -> bool: ...

    def is_calm_run(
        self, rows: np.ndarray, h: float, relative_step: float, squarings: int, threshold: float
    ) -> bool: ...


class Model(Protocol):
    """A program made ready to be called. `compiler`: what compiled it, None for one in Python. `functions`: of its
    user functions and tables."""

    name: str
    program: Program
    source: str
    compiler: Compiler | None

    @property
    def functions(self) -> Functions: ...

    def notes(self) -> list[str]:
        """How it was compiled, in messages."""

    def calls(self, functions: Functions | None = None) -> Calls:
        """The functions of the program for one run or evaluation, with its own user functions unless given."""

    def bound(
        self, program_calls: Any, p: Sequence[float], c: Sequence[float], inputs: Sequence[Input]
    ) -> Bound | None:
        """Return a function for the state derivatives, or None if Python evaluates them; user functions are those of
        `program_calls`."""

    def like(self, program: Program, functions: Functions, once: bool = False) -> Model:
        """Another program, made ready in the same way; one that is evaluated `once` in a while, as soon as can be."""

    def for_stiff(self, program: Program, functions: Functions) -> Model:
        """The program, with slopes, for stiff methods; compiled ones have runs by them."""

    def for_dae(self) -> Model | None:
        """The program with runs by methods for differential-algebraic equations; None where Python drives them."""

    def functions_in_python(self) -> Functions:
        """Functions of all routines and tables, as Python can call them; None where it need not."""
