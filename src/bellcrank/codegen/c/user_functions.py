"""User functions in C: their texts, how C declares those of Fortran, and a file for programs in
Fortran."""

from __future__ import annotations

from collections.abc import Sequence

from bellcrank.codegen.c.runtime_files import source_head
from bellcrank.codegen.calling_conventions import (
    Texts,
    argument_names,
    distinct_sources,
    external_name,
)
from bellcrank.codegen.identifiers import comment_text
from bellcrank.codegen.number_type import DOUBLE
from bellcrank.core.name_lookup import routine_name
from bellcrank.program.routine import CallableRoutine


def routine_sources(routines: Texts, prefix: str = "external_") -> list[str]:
    """Routines in C, under their names in generated source."""
    lines = []
    for text, members in distinct_sources(routines):
        names = [routine_name(r.name) for r in members]
        lines += [f"#define {n} {prefix}{n}" for n in names]
        lines += [text.strip(), *(f"#undef {n}" for n in names), ""]
    return lines


def _routine_signature(routine: CallableRoutine) -> str:
    numbers, arrays = argument_names(routine)
    arguments = [*(f"double {x}" for x in numbers), *(f"double *{x}" for x in arrays)]
    kind = "void" if routine.returns else "double"
    return f"{kind} {external_name(routine)}({', '.join(arguments) or 'void'})"


def fortran_prototype(routine: CallableRoutine) -> str:
    """The declaration in C of a routine that is given in Fortran."""
    return f"{_routine_signature(routine)}; /* in Fortran */"


def routines_file(routines: Sequence[CallableRoutine], title: str) -> str:
    """A file in C for a program in Fortran: routines that are given in C alone, and how Fortran
    calls them."""
    lines = [
        f"/* {comment_text(title)}: user functions in C */",
        source_head(DOUBLE),
        *routine_sources(((r, r.given_in("c")) for r in routines), "routine_"),
    ]
    lines += ["/* ---- the same for Fortran */", ""]
    for r in routines:  # their own may be static
        numbers, arrays = argument_names(r)
        call = f"routine_{routine_name(r.name)}({', '.join(numbers + arrays)});"
        lines += [
            _routine_signature(r),
            "{",
            f"    {call if r.returns else f'return {call}'}",
            "}",
            "",
        ]
    return "\n".join(lines)
