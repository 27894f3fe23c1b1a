"""User functions of one language called from another, by the conventions of C (Fortran 2008:
bind(C)).

In C a routine is `double name(double a, double b)`, or `void name(double a, double b, double
*returns)` if it returns named values; with memory, `double *memory` is a further argument. In
Fortran it is a function or a subroutine with arrays in these places. Between the two it is called
`external_name`.
"""

from __future__ import annotations

from collections.abc import Iterable

from bellcrank.core.name_lookup import routine_name
from bellcrank.program.routine import CallableRoutine

Texts = Iterable[tuple[CallableRoutine, str]]  # routines, each with a text that holds it


def external_name(routine: CallableRoutine) -> str:
    """The name of a routine in generated source."""
    return f"external_{routine_name(routine.name)}"


def distinct_sources(routines: Texts) -> list[tuple[str, list[CallableRoutine]]]:
    """The different texts, each with the routines it holds: a file may hold several."""
    routines_of_text: dict[str, list[CallableRoutine]] = {}
    for r, text in routines:
        routines_of_text.setdefault(text.strip("\n"), []).append(r)
    return list(routines_of_text.items())


def argument_names(routine: CallableRoutine) -> tuple[list[str], list[str]]:
    """Names of the numbers that a routine is given, and of its arrays."""
    arrays = (["returns"] if routine.returns else []) + (["memory"] if routine.memory else [])
    return [f"a{i}" for i in range(1, routine.argument_count + 1)], arrays
