"""User functions in Fortran: their texts, what Fortran says of those of C, and a file for programs
in C."""

from __future__ import annotations

from collections.abc import Sequence

from bellcrank.codegen.calling_conventions import (
    Texts,
    argument_names,
    distinct_sources,
    external_name,
)
from bellcrank.codegen.fortran.runtime_files import fill_runtime_file
from bellcrank.codegen.identifiers import comment_text
from bellcrank.core.name_lookup import routine_name
from bellcrank.program.routine import CallableRoutine


def routine_sources(routines: Texts) -> list[str]:
    """Routines in Fortran, as procedures of a module."""
    return [
        f"  ! user function{'s' if len(members) > 1 else ''} "
        f"{', '.join(comment_text(r.name) for r in members)}\n{text}\n"
        for text, members in distinct_sources(routines)
    ]


def routines_file(routines: Sequence[CallableRoutine], title: str) -> str:
    """A file in Fortran for a program in C: routines that are given in Fortran alone, and how C
    calls them."""
    bound = []
    for r in routines:
        numbers, arrays = argument_names(r)
        call = f"{r.name}({', '.join(numbers + arrays)})"
        bound += _bind_c_procedure(
            r, f"{routine_name(r.name)}_for_c", [f"    {'call' if r.returns else 'value ='} {call}"]
        )
    return fill_runtime_file(
        "routines.f90",
        TITLE=comment_text(title),
        TEXTS="\n".join(routine_sources((r, r.given_in("fortran")) for r in routines)),
        BOUND="\n".join(bound),
    )


def c_interfaces(routines: Sequence[CallableRoutine]) -> list[str]:
    """What a module in Fortran says of routines that are given in C."""
    lines = [
        f"  {line}" for r in routines for line in _bind_c_procedure(r, external_name(r), [])[:-1]
    ]
    return ["  interface ! user functions in C", *lines, "  end interface", ""] if routines else []


def _bind_c_procedure(routine: CallableRoutine, name: str, body: Sequence[str]) -> list[str]:
    """A procedure as C sees it; one without a body is that of an interface."""
    numbers, arrays = argument_names(routine)
    kind = "subroutine" if routine.returns else "function"
    sizes = {"returns": ("out", len(routine.returns)), "memory": ("inout", routine.memory)}
    result = "" if routine.returns else " result(value)"
    return [
        f"  {kind} {name}({', '.join(numbers + arrays)}){result} &",
        f'    bind(C, name="{external_name(routine)}")',
        *([] if body else ["    import :: c_double"]),
        *([f"    real(c_double), value :: {', '.join(numbers)}"] if numbers else []),
        *(f"    real(c_double), intent({sizes[x][0]}) :: {x}({sizes[x][1]})" for x in arrays),
        *([] if routine.returns else ["    real(c_double) :: value"]),
        *body,
        f"  end {kind} {name}",
        "",
    ]
