"""Texts of user functions: as they were given, or printed from formulas for the values that a
program uses."""

from __future__ import annotations

from bellcrank.codegen.c.linkage import c_implicit, c_lookup
from bellcrank.codegen.kernel_function import KernelFunction
from bellcrank.codegen.linkage import implicit_function
from bellcrank.codegen.lookup import lookup_function
from bellcrank.codegen.python.linkage import python_implicit
from bellcrank.codegen.python.lookup import python_lookup
from bellcrank.program.grid_lookup import requested_values
from bellcrank.program.implicit_function import ImplicitFunction
from bellcrank.program.program import SimulationProgram
from bellcrank.program.routine import CallableRoutine

LOOKUPS = {"c": c_lookup, "python": python_lookup}
IMPLICITS = {"c": c_implicit, "python": python_implicit}


def routine_source(program: SimulationProgram, routine: CallableRoutine, language: str) -> str:
    """The text of a routine in "c", "python" or "fortran"."""
    if routine.formulas is None:
        return routine.given_in(language)
    implicits, lookups = IMPLICITS, LOOKUPS
    if language == "fortran":  # which runs do without
        from bellcrank.codegen.fortran.linkage import fortran_implicit
        from bellcrank.codegen.fortran.lookup import fortran_lookup

        implicits, lookups = {language: fortran_implicit}, {language: fortran_lookup}
    function = routine.formulas.function
    if isinstance(function, ImplicitFunction):
        return implicits[language](routine.name, function)
    return lookups[language](routine.name, function, requested_values(program, routine))


def kernel_function(program: SimulationProgram, routine: CallableRoutine) -> KernelFunction | None:
    """A routine as the kernel knows it; None of one that it does not evaluate."""
    if routine.formulas is None:
        given_kernel: KernelFunction | None = routine.kernel
        return given_kernel
    function = routine.formulas.function
    if isinstance(function, ImplicitFunction):
        return implicit_function(function)
    return lookup_function(function, requested_values(program, routine))


def solves_equations(program: SimulationProgram) -> bool:
    """Is there a routine that solves equations by Newton's method?"""
    return any(
        r.formulas is not None and isinstance(r.formulas.function, ImplicitFunction)
        for r in program.externals
    )
