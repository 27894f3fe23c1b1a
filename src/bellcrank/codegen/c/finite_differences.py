"""Slopes of a user function by differences, in C: what stands for them next to the routine
itself."""

from __future__ import annotations

from bellcrank.codegen.c.runtime_files import fill_runtime_file
from bellcrank.codegen.calling_conventions import argument_names, external_name
from bellcrank.core.name_lookup import routine_name
from bellcrank.core.numeric.tuning import DIFFERENCES
from bellcrank.program.routine import CallableRoutine


def c_difference(base: CallableRoutine, name: str, argument: int) -> str:
    """The slopes of all values of `base` by one argument as a routine `name`; `base` must stand
    before it, in C."""
    numbers, arrays = argument_names(base)
    shifted_argument = numbers[argument]

    def shifted_arguments(shift: str) -> str:
        return ", ".join(f"{x} {shift}" if x == shifted_argument else x for x in numbers)

    return fill_runtime_file(
        "difference.c",
        BASE=external_name(base),
        NAME=routine_name(name),
        KIND="void" if base.returns else "double",
        ARGUMENTS=", ".join([*(f"double {x}" for x in numbers), *(f"double *{x}" for x in arrays)]),
        STEP=repr(DIFFERENCES.step),
        MOVED=shifted_argument,
        VALUES=str(len(base.returns)) if base.returns else "",
        AHEAD=shifted_arguments("+ h"),
        BEHIND=shifted_arguments("- h"),
        FAR_AHEAD=shifted_arguments("+ 2.0*h"),
        FAR_BEHIND=shifted_arguments("- 2.0*h"),
    )
