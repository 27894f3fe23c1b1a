"""User functions in C: their texts, how C declares those of Fortran, and a file for programs in Fortran."""

from __future__ import annotations

from collections.abc import Sequence

from bellcrank.emit.c.runtime_files import head
from bellcrank.emit.names import comment
from bellcrank.emit.number import DOUBLE
from bellcrank.emit.routines import Texts, external_name, given_names, texts_of
from bellcrank.names import routine_name
from bellcrank.program.routine import Routine


def texts(routines: Texts, prefix: str = "external_") -> list[str]:
    """Routines in C, under their names in generated source."""
    lines = []
    for text, members in texts_of(routines):
        names = [routine_name(r.name) for r in members]
        lines += [f"#define {n} {prefix}{n}" for n in names]
        lines += [text.strip(), *(f"#undef {n}" for n in names), ""]
    return lines


def _head(routine: Routine) -> str:
    numbers, arrays = given_names(routine)
    arguments = [*(f"double {x}" for x in numbers), *(f"double *{x}" for x in arrays)]
    kind = "void" if routine.returns else "double"
    return f"{kind} {external_name(routine)}({', '.join(arguments) or 'void'})"


def prototype(routine: Routine) -> str:
    """The declaration in C of a routine that is given in Fortran."""
    return f"{_head(routine)}; /* in Fortran */"


def routines_file(routines: Sequence[Routine], title: str) -> str:
    """A file in C for a program in Fortran: routines that are given in C alone, and how Fortran calls them."""
    lines = [
        f"/* {comment(title)}: user functions in C */",
        head(DOUBLE),
        *texts(((r, r.given_in("c")) for r in routines), "routine_"),
    ]
    lines += ["/* ---- the same for Fortran */", ""]
    for r in routines:  # their own may be static
        numbers, arrays = given_names(r)
        call = f"routine_{routine_name(r.name)}({', '.join(numbers + arrays)});"
        lines += [_head(r), "{", f"    {call if r.returns else f'return {call}'}", "}", ""]
    return "\n".join(lines)
