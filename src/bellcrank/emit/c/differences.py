"""Slopes of a user function by differences, in C: what stands for them next to the routine itself."""

from __future__ import annotations

from bellcrank.emit.c.runtime_files import runtime
from bellcrank.emit.routines import external_name, given_names
from bellcrank.names import routine_name
from bellcrank.numeric.tuning import DIFFERENCES
from bellcrank.program.routine import Routine


def c_difference(base: Routine, name: str, argument: int) -> str:
    """The slopes of all values of `base` by one argument as a routine `name`; `base` must stand before it, in C."""
    numbers, arrays = given_names(base)
    shifted_argument = numbers[argument]

    def at(shift: str) -> str:
        return ", ".join(f"{x} {shift}" if x == shifted_argument else x for x in numbers)

    return runtime(
        "difference.c",
        BASE=external_name(base),
        NAME=routine_name(name),
        KIND="void" if base.returns else "double",
        ARGUMENTS=", ".join([*(f"double {x}" for x in numbers), *(f"double *{x}" for x in arrays)]),
        STEP=repr(DIFFERENCES.step),
        MOVED=shifted_argument,
        VALUES=str(len(base.returns)) if base.returns else "",
        AHEAD=at("+ h"),
        BEHIND=at("- h"),
        FAR_AHEAD=at("+ 2.0*h"),
        FAR_BEHIND=at("- 2.0*h"),
    )
