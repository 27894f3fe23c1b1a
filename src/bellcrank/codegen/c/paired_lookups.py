"""Look-ups of the same formulas two at a time, in the lanes of a vector: the left and the right of
an axle.

In:  a `SimulationProgram` and how its routines are called. Out: `PairedRoutine` routines, sections
that call them, and their texts. Where a processor has no vectors of two (`room.c`), and where one
of the two lies outside its grid, a pair calls its members.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bellcrank.codegen.c.printer import CPrinter, ExternalCall
from bellcrank.codegen.c.runtime_files import fill_runtime_file
from bellcrank.codegen.calling_conventions import external_name
from bellcrank.codegen.number_type import DOUBLE, NumberType
from bellcrank.codegen.schedule_steps import symbols_in_order
from bellcrank.codegen.straight_line import straight_lines
from bellcrank.core.name_lookup import routine_name
from bellcrank.program.grid_lookup import GridLookup, LookupFormulas, requested_values
from bellcrank.program.program import SimulationProgram
from bellcrank.program.program_functions import ProgramFunction
from bellcrank.program.routine import CallableRoutine
from bellcrank.program.statements import CallStatement, Section, Statement, statement_targets
from bellcrank.symbolic.expr.node import Rational

PAIR = NumberType("pair", "Pair", DOUBLE.epsilon, "", "math.h", "sincos.c")


@dataclass(frozen=True)
class PairedRoutine:
    """Two routines that are called as one: arguments of the first and of the second, values of both
    in turns."""

    name: str
    members: tuple[CallableRoutine, CallableRoutine]
    lookup: GridLookup
    wanted: tuple[int, ...]
    returns: tuple[str, ...]
    argument_count: int
    memory: int | None = None
    when: str = "derivatives"
    varies: bool = False
    python: Callable[..., Any] | None = None
    formulas: None = None
    kernel: None = None
    rule: Callable[[int], Any] | None = None
    needs: None = None

    def known_in(self, language: str) -> bool:
        return language == "c"

    def given_in(self, language: str) -> str:
        return ""

    __hash__ = object.__hash__


class PairPrinter(CPrinter):
    """Expressions over vectors of two."""

    def print_number(self, value: Rational) -> str:
        return f"BOTH({super().print_number(value)})"

    def print_integer_power(self, base: str, exponent: int) -> str:
        return "*".join([base] * exponent)


def pair_lookups(
    program: SimulationProgram, user_calls: Mapping[CallableRoutine, ExternalCall]
) -> dict[CallableRoutine, ExternalCall]:
    """Look-ups of the same formulas in pairs, and how these are called."""
    twin_calls: dict[CallableRoutine, ExternalCall] = {}
    unpaired: list[tuple[CallableRoutine, GridLookup, tuple[int, ...]]] = []
    for routine, call in user_calls.items():
        if call.c_name is None or call.foreign or not isinstance(routine.formulas, LookupFormulas):
            continue
        f, value_indices = routine.formulas.function, tuple(requested_values(program, routine))
        partner = next(
            (
                w
                for w in unpaired
                if w[2] == value_indices and _are_equal_lookups(w[1], f, value_indices)
            ),
            None,
        )
        if partner is None:
            unpaired.append((routine, f, value_indices))
            continue
        unpaired.remove(partner)
        pair = (partner[0], routine)
        twin = PairedRoutine(
            f"{routine_name(pair[0].name)}_beside_{routine_name(pair[1].name)}",
            pair,
            f,
            value_indices,
            tuple(x for two in zip(pair[0].returns, pair[1].returns, strict=True) for x in two),
            pair[0].argument_count + pair[1].argument_count,
        )
        twin_calls[twin] = ExternalCall(twin, -1, 0, external_name(twin))
    return twin_calls


def _are_equal_lookups(a: GridLookup, b: GridLookup, value_indices: Sequence[int]) -> bool:
    """The same formulas over the same grid, within which they hold?"""
    grid = (a.lows, a.highs, a.steps, a.cell_counts) == (b.lows, b.highs, b.steps, b.cell_counts)
    same_formulas = (
        a.places == b.places
        and a.numbers == b.numbers
        and all(a.values[i] == b.values[i] for i in value_indices)
    )
    return grid and same_formulas and not a.beyond and not b.beyond


def merge_paired_calls(
    functions: Sequence[ProgramFunction], twins: Sequence[CallableRoutine]
) -> list[ProgramFunction]:
    """Functions in which pairs are called where each of their members was called once."""
    return [replace(f, section=_merge_calls_in_section(f.section, twins)) for f in functions]


def _merge_calls_in_section(section: Section, twins: Sequence[CallableRoutine]) -> Section:
    statements = list(section.statements)
    defined = {t for s in statements for t in statement_targets(s)}
    for twin in twins:
        assert isinstance(twin, PairedRoutine)
        member_calls = [
            [s for s in statements if isinstance(s, CallStatement) and s.routine is m]
            for m in twin.members
        ]
        if [len(p) for p in member_calls] != [1, 1]:
            continue
        (first,), (second,) = member_calls
        if defined.isdisjoint(
            symbols_in_order([*first.arguments, *second.arguments])
        ):  # known from the start
            targets = tuple(
                t for two in zip(first.targets, second.targets, strict=True) for t in two
            )
            twin_call: Statement = CallStatement(
                targets, twin, (*first.arguments, *second.arguments)
            )
            unpaired = [s for s in statements if s is not first and s is not second]
            position = min(i for i, s in enumerate(statements) if s is first or s is second)
            statements = [*unpaired[:position], twin_call, *unpaired[position:]]
    return replace(section, statements=tuple(statements))


def twin_text(twin: CallableRoutine) -> str:
    """A pair in C; the texts of its members stand before it."""
    assert isinstance(twin, PairedRoutine)
    f = twin.lookup
    indices, values = f.restrict(twin.wanted)
    names = {f.numbers[k]: f"TWO({i})" for i, k in enumerate(indices)} | {
        s: s.name for s in f.places
    }
    lines, value_texts = straight_lines(PairPrinter(names, {}, {}, PAIR), values)
    argument_names = ("z", "r")[: len(f.lows)]
    members = [routine_name(m.name) for m in twin.members]
    return fill_runtime_file(
        "twin.c",
        NAMES=" and ".join(m.name for m in twin.members),
        CALLED=external_name(twin),
        ARGUMENTS=", ".join(f"double {x}{i}" for i in (0, 1) for x in argument_names),
        GIVEN=", ".join(
            f"x{i}[] = {{{', '.join(f'{x}{i}' for x in argument_names)}}}" for i in (0, 1)
        ),
        FIRST=f"{members[0]}_of",
        SECOND=f"{members[1]}_of",
        PLACES="\n".join(
            f"const Pair {s.name} = {{p0[{i}], p1[{i}]}};" for i, s in enumerate(f.places)
        ),
        UNUSED=" ".join(f"(void){x};" for x in ("a0", "a1", *(s.name for s in f.places))),
        LINES="\n".join(lines),
        RESULTS="\n".join(
            f"PAIR_TO(v + {2 * i}, {text});"
            for i, text in zip(twin.wanted, value_texts, strict=True)
        ),
        COUNT=str(len(f.values)),
    )
