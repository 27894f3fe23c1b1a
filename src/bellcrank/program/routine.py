"""What a program can call: user functions, tables, and linkages and ground, written when they are
asked for.

Data only: `emit` says how each is called and written in a language, `run` what it remembers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from bellcrank.program.operation_count import OperationCount


class RoutineFormulas(Protocol):
    """What a routine computes, as data that `emit` prints in any language for the values that are
    wanted of it."""

    @property
    def function(self) -> Any: ...  # a `Lookup` or an `Implicit`

    def operations(self, value_indices: Sequence[int]) -> OperationCount:
        """Operations of one call."""


class CallableRoutine(Protocol):
    """Anything that a program calls by name.

    `returns`: names of the values it sets, none if it is a function with one value. `memory`: how
    many numbers it remembers. `when` it is called: "derivatives", "output", "update", "init",
    "input" or "echo". `varies`: may its value change although its arguments do not? `python`, and
    texts in other languages: how it is given; or its formulas.
    """

    @property
    def name(self) -> str: ...

    @property
    def returns(self) -> tuple[str, ...]: ...

    @property
    def memory(self) -> int | None: ...

    @property
    def when(self) -> str: ...

    @property
    def varies(self) -> bool: ...

    @property
    def python(self) -> Callable[..., Any] | None: ...

    @property
    def formulas(self) -> RoutineFormulas | None: ...

    @property
    def kernel(
        self,
    ) -> Any: ...  # what the kernel knows of one that it evaluates (`codegen.kernel_function`)

    @property
    def rule(self) -> Callable[[int], Any] | None: ...  # slopes of its values

    @property
    def needs(
        self,
    ) -> CallableRoutine | None: ...  # another one, which its text in C calls: it stands before it

    @property
    def argument_count(self) -> int: ...

    def known_in(self, language: str) -> bool:
        """Is it given in "c", "python" or "fortran", or can be written so?"""

    def given_in(self, language: str) -> str:
        """Its text in "c" or "fortran", or in "lanes" (C over vectors of runs); empty where none
        is."""
