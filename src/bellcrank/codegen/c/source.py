"""C99 source of a program: its functions and the kernel that runs them in one file that needs
nothing but a C compiler.

In:  a `SimulationProgram`, and the words for its comments. Out: text. `functions` prints the
functions, `run` what the kernel is reported of them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from bellcrank.codegen.c.c_data import c_data_definitions
from bellcrank.codegen.c.functions import C_NAMES, CFunctions, call_signature
from bellcrank.codegen.c.kernel_features import feature_tables, kernel_features
from bellcrank.codegen.c.kernel_tables import require_current_tables
from bellcrank.codegen.c.linkage import kernel_files
from bellcrank.codegen.c.outputs_from_rhs import share_rhs_values
from bellcrank.codegen.c.paired_lookups import (
    PairedRoutine,
    merge_paired_calls,
    pair_lookups,
    twin_text,
)
from bellcrank.codegen.c.printer import ExternalCall, external_calls
from bellcrank.codegen.c.program_sources import ProgramSources
from bellcrank.codegen.c.rigid import RigidWheel, wheels_at
from bellcrank.codegen.c.runtime_files import fill_runtime_file, sincos_source, source_head
from bellcrank.codegen.c.split_source import first_half as of_first
from bellcrank.codegen.c.split_source import is_long
from bellcrank.codegen.c.split_source import second_half as of_second
from bellcrank.codegen.c.tables import table_functions
from bellcrank.codegen.c.user_functions import fortran_prototype, routine_sources
from bellcrank.codegen.identifiers import comment_text
from bellcrank.codegen.kernel_data import row_data, size_data
from bellcrank.codegen.linkages import routine_source
from bellcrank.codegen.name_comments import NO_WORDS, NameComments, program_summary
from bellcrank.codegen.number_type import DOUBLE, NumberType
from bellcrank.codegen.schedule import DEFAULT_OPTIONS, ScheduleOptions
from bellcrank.codegen.schedule_steps import SinCosGroup, Step, VectorizedCall
from bellcrank.codegen.scheduled_functions import schedule_functions
from bellcrank.codegen.split_functions import MAX_STATEMENTS_PER_PART
from bellcrank.kernel.text import Kernel
from bellcrank.program.program import SimulationProgram
from bellcrank.program.program_functions import ProgramFunction
from bellcrank.program.statements import (
    CallStatement,
    NullSpaceSolve,
    Section,
    SolveStatement,
    section_expressions,
)
from bellcrank.symbolic.expr import Func, postorder
from bellcrank.symbolic.expr.function_table import helper_sources


def c_source(
    program: SimulationProgram,
    words: NameComments = NO_WORDS,
    options: ScheduleOptions = DEFAULT_OPTIONS,
    **settings: Any,
) -> str:
    """The program and the kernel as one C source; `settings` as of `c_sources`."""
    return c_sources(program, words, options, **settings).for_build("unity")


def c_sources(
    program: SimulationProgram,
    words: NameComments = NO_WORDS,
    options: ScheduleOptions = DEFAULT_OPTIONS,
    outside: Iterable[str] = (),
    longest: int = MAX_STATEMENTS_PER_PART,
    extra: Mapping[str, Section] | None = None,
    dae: bool = False,
    stiff: bool = False,
    wheels: Sequence[RigidWheel] = (),
    bound: bool = False,
    local: bool = False,
    adaptive: bool = True,
    looks: bool = False,
    assembles: bool = False,
    halves: bool = False,
    table_data: bool = False,
) -> ProgramSources:
    """The program as C source. User functions named in `outside` are called back even if they are
    given in C.

    `extra` are further functions by name, which store the results of their sections in `out`. With
    `dae`, runs of a model with closed loops are those of methods for differential-algebraic
    equations; with `wheels`, rigid wheels touch, bounce and roll; with `stiff`, there are runs by
    stiff methods, too. With `bound`, rates can be had and steps be taken by one call. With `local`,
    nothing of it can be seen from outside: for a file that includes this one. Without `adaptive`,
    runs are those with fixed steps. With `looks`, rows within steps can be had, as events need
    them; with `assembles`, closed loops can be closed at a start. With `halves`, a long source can
    be compiled in two of them. With `table_data`, numbers of tables are not in the text: they are
    set when it is loaded.
    """
    require_current_tables()
    part_flags = kernel_features(
        program, dae, stiff, bool(wheels), adaptive, bound, looks, assembles
    )
    kernel, multipliers = Kernel(part_flags), dae and program.loops is not None
    tables, user_calls = (
        table_functions(program.tables, table_data),
        external_calls(program, outside),
    )
    twins = pair_lookups(program, user_calls) if options.side_by_side else {}
    printer = CFunctions(program, tables.names, {**user_calls, **twins}, longest, DOUBLE)
    extra_sections = {
        **(extra or {}),
        **({"wheels_at": wheels_at(program, wheels)} if wheels else {}),
    }
    functions = [*program.functions_of("multipliers" if multipliers else "minimal")]
    functions += [ProgramFunction.extra(*item) for item in extra_sections.items()]
    paired, shared_values = share_rhs_values(merge_paired_calls(functions, [*twins]), longest)
    plans = schedule_functions(program, paired, options)
    steps = [s for _, plan in plans for s in plan.steps]
    first = [
        *file_header(program, words, printer, functions, DOUBLE, local),
        *used_functions(functions, DOUBLE),
        *routine_texts(program, user_calls.values(), kernel),
        "#define real double\n",
        *helper_function_sources(program, steps, multipliers, kernel),
        *(
            twin_text(t)
            for t in twins
            if any(isinstance(s, CallStatement) and s.routine is t for s in steps)
        ),
        *tables.text,
        *_user_function_source(user_calls.values(), kernel),
    ]
    texts = printer.function_sources(plans, shared_values)
    long_names = [
        name for name in texts if halves and name != "derivatives" and is_long(texts[name])
    ]
    first_half = [
        printer.constants(),
        *(text for name, text in texts.items() if name not in long_names),
    ]
    second_half = [of_second(C_NAMES.get(name, name), texts[name]) for name in long_names]
    attached, tables_text = [kernel.also("attached.c")], feature_tables(program, part_flags, wheels)
    kernel_text = [*_kernel_linear_systems(program, multipliers, kernel), kernel.take("kernel.c")]
    body = [*first_half] if not long_names else [of_first(first_half), *second_half]
    unity, linked = (
        [tables_text, *end] if not long_names else [of_first([tables_text, *end])]
        for end in (kernel_text, attached)
    )
    return ProgramSources(
        *("".join(f"{p}\n" for p in lines if p) for lines in ((*first, *body), unity, linked))
    )


def _kernel_linear_systems(p: SimulationProgram, multipliers: bool, kernel: Kernel) -> list[str]:
    """Linear systems of the kernel that no statement of the program needs."""
    if p.loops is None:
        return []
    return [kernel.take("elimination.c", *(() if multipliers else ("solve.c", "reduced.c")))]


def file_header(
    p: SimulationProgram,
    words: NameComments,
    printer: CFunctions,
    functions: Iterable[ProgramFunction],
    number: NumberType,
    local: bool = False,
) -> list[str]:
    groups = dict(
        zip(("coordinates", "speeds", "parameters", "inputs"), printer.groups.values(), strict=True)
    )
    lines = [
        *program_summary(p),
        *(f"{call_signature(f.name):45} {f.kind.what}" for f in functions),
        f"{'run(job)':45} a whole run with a fixed step",
        "",
        *words.array_comments(p, groups, "qupw {}[{}]", 0),
    ]
    comments = "\n".join(
        [f"/* {comment_text(p.name)}", "", *(f"   {line}".rstrip() for line in lines), "*/", ""]
    )
    return [comments, source_head(number, local), c_data_definitions(size_data(p))]


def used_functions(
    functions: Iterable[ProgramFunction],
    number: NumberType = DOUBLE,
    extra_names: Iterable[str] = (),
) -> list[str]:
    """Mathematical functions that C lacks."""
    nodes = postorder([e for f in functions for e in section_expressions(f.section)])
    names = {n.name for n in nodes if isinstance(n, Func) and n.function is None}
    return [
        re.sub(r"\bdouble\b", number.c, text)
        for text in helper_sources("c", names.union(extra_names))
    ]


def helper_function_sources(
    p: SimulationProgram, steps: Sequence[Step], multipliers: bool, kernel: Kernel
) -> list[str]:
    """What the statements call, and scales of closed loops."""
    solved, segments = any(isinstance(s, SolveStatement | NullSpaceSolve) for s in steps), []
    vector_functions = sorted(
        {s.function for s in steps if isinstance(s, VectorizedCall) and len(s.values) > 1}
    )
    angles = [sincos_source(DOUBLE) for _ in [0] if any(isinstance(s, SinCosGroup) for s in steps)]
    if (
        vector_functions
        or angles
        or any(isinstance(s, CallStatement) and isinstance(s.routine, PairedRoutine) for s in steps)
    ):
        segments.append(fill_runtime_file("room.c"))
    segments += [*angles, *(fill_runtime_file(f"{function}.c") for function in vector_functions)]
    if solved or p.loops is not None:
        segments.append(kernel.take("tables/elimination.h"))
    if solved:
        segments.append(kernel.take("solve.c"))
    if p.loops is not None:
        accelerations = any(isinstance(s, NullSpaceSolve) for s in steps)  # asked for by outputs
        segments.append(c_data_definitions(row_data(p.loops, accelerations or not multipliers)))
        segments += (
            [kernel.take("elimination.c", "reduced.c", "constrained_rates.c")]
            if accelerations
            else []
        )
    return segments + table_helpers(p, kernel)


def table_helpers(p: SimulationProgram, kernel: Kernel) -> list[str]:
    """What tables call."""
    segments = [kernel.take("spline.c")] if p.tables else []
    return segments + (
        [kernel.take("surface.c")] if any(len(t.axes) == 2 for t in p.tables) else []
    )


def routine_texts(
    program: SimulationProgram, user_calls: Iterable[ExternalCall], kernel: Kernel
) -> list[str]:
    """User functions that stand in this file, or next to it in Fortran; users may have a `real` of
    their own."""
    internal = [c for c in user_calls if c.c_name is not None]
    lines = [fortran_prototype(c.routine) for c in internal if c.foreign]
    lines.append(
        kernel_files(
            [c.routine.formulas.function for c in internal if c.routine.formulas is not None],
            kernel,
        )
    )
    return lines + routine_sources(
        (c.routine, routine_source(program, c.routine, "c")) for c in internal if not c.foreign
    )


def _user_function_source(user_calls: Collection[ExternalCall], kernel: Kernel) -> list[str]:
    """How user functions are called, and what they remember."""
    segments = [kernel.take("externals.h")]
    if any(c.c_name is None for c in user_calls):
        segments.append(kernel.take("callback.c"))
    if any(c.routine.memory for c in user_calls if c.c_name is not None):
        segments.append(kernel.take("memory.c"))
    return segments
