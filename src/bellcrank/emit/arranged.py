"""Which functions of a program are arranged for speed, and how: the same in every language that arranges them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from bellcrank.emit.schedule import BEST, Options, Schedule, schedule
from bellcrank.expr import Symbol
from bellcrank.program.functions import Function
from bellcrank.program.program import Program
from bellcrank.program.statements import Section


def arranged(
    program: Program,
    functions: Iterable[Function],
    options: Options = BEST,
    arrange: Callable[[Section, Options, Sequence[Symbol]], Schedule] = schedule,
) -> list[tuple[Function, Schedule]]:
    """All functions but `constants`, which stands as it is; those that are not called often follow no critical path."""
    plans = []
    for f in functions:
        if f.name != "constants":
            in_memory = program.coordinates if f.name == "derivatives" else ()  # symbols that follow each other there
            function_options = (
                options if f.kind.frequent else Options(critical_path=False, side_by_side=options.side_by_side)
            )
            plans.append((f, arrange(f.section, function_options, in_memory)))
    return plans
