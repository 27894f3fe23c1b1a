"""Routines of linkages: written when a program asks for them, in its language, for the values it uses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

from bellcrank.emit.c.linkage import c_implicit
from bellcrank.emit.c.lookup import c_lookup
from bellcrank.emit.fortran.linkage import fortran_implicit
from bellcrank.emit.fortran.lookup import fortran_lookup
from bellcrank.emit.javascript.linkage import javascript_implicit
from bellcrank.emit.javascript.lookup import javascript_lookup
from bellcrank.emit.python.linkage import python_implicit
from bellcrank.emit.python.lookup import python_lookup
from bellcrank.expr import Number
from bellcrank.program.count import Count
from bellcrank.program.implicit import Implicit, operations
from bellcrank.program.lookup import Lookup


class LookupWriter:
    """A look-up; `make` gives its formulas, which are needed only if a program uses them."""

    helpers = ""  # a run-time source that its Fortran calls

    def __init__(self, name: str, make: Callable[[], Lookup]) -> None:
        self.name, self._make = name, make

    @cached_property
    def function(self) -> Lookup:
        return self._make()

    def number(self, value: int) -> Number | None:
        """A value that is the same wherever it is looked up."""
        found = self.function.values[value]
        return found if isinstance(found, Number) else None

    def source(self, language: str, wanted: Sequence[int]) -> str:
        if language == "javascript":
            return javascript_lookup(self.function, wanted)
        write = {"c": c_lookup, "python": python_lookup, "fortran": fortran_lookup}[language]
        return write(self.name, self.function, wanted)

    def operations(self, wanted: Sequence[int]) -> Count:
        return self.function.operations(wanted)


class ImplicitWriter:
    """A function given by equations, solved by Newton's method."""

    helpers = "implicit_solve"

    def __init__(self, name: str, make: Callable[[], Implicit]) -> None:
        self.name, self._make = name, make

    @cached_property
    def function(self) -> Implicit:
        """The equations, found when they are asked for."""
        return self._make()

    def source(self, language: str, wanted: Sequence[int]) -> str:
        if language == "javascript":
            return javascript_implicit(self.function)
        write = {"c": c_implicit, "python": python_implicit, "fortran": fortran_implicit}[language]
        return write(self.name, self.function)

    def operations(self, wanted: Sequence[int]) -> Count:
        return operations(self.function)
