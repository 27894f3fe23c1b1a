"""Routines of linkages: written when a program asks for them, in its language, for the values it uses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

from bellcrank.emit.c.linkage import implicit_source
from bellcrank.emit.fortran.linkage import fortran_implicit
from bellcrank.emit.lookup import lookup_source
from bellcrank.emit.python.linkage import python_implicit
from bellcrank.program.count import Count
from bellcrank.program.implicit import Implicit, operations
from bellcrank.program.lookup import Lookup


class LookupWriter:
    """A look-up; `make` gives its formulas, which are needed only if a program uses them."""

    helpers = ""  # a template of what its Fortran calls

    def __init__(self, name: str, make: Callable[[], Lookup]) -> None:
        self.name, self._make = name, make

    @cached_property
    def function(self) -> Lookup:
        return self._make()

    def source(self, language: str, wanted: Sequence[int]) -> str:
        return lookup_source(language, self.name, self.function, wanted)

    def operations(self, wanted: Sequence[int]) -> Count:
        return self.function.operations(wanted)


class ImplicitWriter:
    """A function given by equations, solved by Newton's method."""

    helpers = "implicit.f90"

    def __init__(self, name: str, function: Implicit) -> None:
        self.name, self.function = name, function

    def source(self, language: str, wanted: Sequence[int]) -> str:
        written = {"c": implicit_source, "python": python_implicit, "fortran": fortran_implicit}[language]
        return written(self.name, self.function)

    def operations(self, wanted: Sequence[int]) -> Count:
        return operations(self.function)
