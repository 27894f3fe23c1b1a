"""User functions in Fortran, compiled to a library that compiled models are linked with.

In:  routines given in Fortran. Out: the path of a shared library whose procedures C can call, kept
by content.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bellcrank.codegen.fortran.user_functions import routines_file
from bellcrank.core.errors import BuildError
from bellcrank.program.routine import CallableRoutine
from bellcrank.simulation.backend.compiler import Compiler, compiler_named, shared_library

FLAGS = ("-O2",)


def find_fortran_compiler() -> Compiler | None:
    """The compiler named by FC, else gfortran, else None."""
    return compiler_named("FC", (("gfortran",),))


def fortran_library(routines: Sequence[CallableRoutine], title: str) -> Path:
    """The library of user functions that are given in Fortran."""
    compiler = find_fortran_compiler()
    if compiler is None:
        listed = ", ".join(f"'{r.name}'" for r in routines)
        reason = (
            "but there is no Fortran compiler (looked for FC and gfortran): give python= or c= "
            "as well"
        )
        raise BuildError(f"external {listed} is given in Fortran alone, {reason}")
    return shared_library(routines_file(routines, title), compiler, FLAGS, language="fortran")
