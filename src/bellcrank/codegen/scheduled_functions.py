"""Which functions of a program are arranged for speed, and how: the same in every language that
arranges them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from bellcrank.codegen.schedule import (
    DEFAULT_OPTIONS,
    ScheduleOptions,
    StepSchedule,
    schedule_section,
)
from bellcrank.program.program import SimulationProgram
from bellcrank.program.program_functions import ProgramFunction
from bellcrank.program.statements import Section
from bellcrank.symbolic.expr import Symbol


def schedule_functions(
    program: SimulationProgram,
    functions: Iterable[ProgramFunction],
    options: ScheduleOptions = DEFAULT_OPTIONS,
    arrange: Callable[
        [Section, ScheduleOptions, Sequence[Symbol]], StepSchedule
    ] = schedule_section,
) -> list[tuple[ProgramFunction, StepSchedule]]:
    """All functions but `constants`, which stands as it is; those that are not called often follow
    no critical path."""
    plans = []
    for f in functions:
        if f.name != "constants":
            in_memory = (
                program.coordinates if f.name == "derivatives" else ()
            )  # symbols that follow each other there
            function_options = (
                options
                if f.kind.frequent
                else ScheduleOptions(critical_path=False, side_by_side=options.side_by_side)
            )
            plans.append((f, arrange(f.section, function_options, in_memory)))
    return plans
