"""Fortran 2008 source of a program: a module of functions that C can call too, with the arguments
of those in C.

In:  a `SimulationProgram`, and the words for its comments. Out: one file, which stands alone where
there are no closed loops and no user functions in C; and what a program in C around it must hold:
prototypes and the kernel. `functions` prints the functions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from bellcrank.codegen.c.c_data import c_data_definitions
from bellcrank.codegen.c.functions import C_NAMES
from bellcrank.codegen.c.kernel_features import feature_tables, kernel_features
from bellcrank.codegen.c.rigid import RigidWheel
from bellcrank.codegen.c.runtime_files import source_head
from bellcrank.codegen.calling_conventions import external_name
from bellcrank.codegen.fortran.functions import FortranFunctions
from bellcrank.codegen.fortran.line_wrapping import fit_source, wrap_statement
from bellcrank.codegen.fortran.runtime_files import fill_runtime_file, real_literal
from bellcrank.codegen.fortran.tables import table_function
from bellcrank.codegen.fortran.user_functions import c_interfaces, routine_sources
from bellcrank.codegen.identifiers import comment_text, safe_identifier
from bellcrank.codegen.kernel_data import row_data, size_data
from bellcrank.codegen.linkages import routine_source, solves_equations
from bellcrank.codegen.name_comments import NO_WORDS, NameComments, program_summary
from bellcrank.codegen.number_type import DOUBLE
from bellcrank.codegen.split_functions import MAX_STATEMENTS_PER_PART
from bellcrank.core.numeric.tuning import ELIMINATION, IMPLICIT
from bellcrank.kernel.text import Kernel
from bellcrank.program.program import SimulationProgram
from bellcrank.program.program_functions import ProgramFunction
from bellcrank.program.routine import CallableRoutine
from bellcrank.program.statements import (
    NullSpaceSolve,
    Section,
    SolveStatement,
    section_expressions,
)
from bellcrank.symbolic.expr import Func, Symbol, postorder
from bellcrank.symbolic.expr.function_table import helper_sources

BINDING = ("c_funptr", "c_null_funptr", "c_ptr", "c_null_ptr", "c_int32_t")


def fortran_source(
    program: SimulationProgram,
    words: NameComments = NO_WORDS,
    longest: int = MAX_STATEMENTS_PER_PART,
    extra: Mapping[str, Section] | None = None,
    equations: str = "minimal",
) -> str:
    """The program as a Fortran module `model`; `extra` are further subroutines by name; `equations`
    of closed loops."""
    functions = _printed_functions(program, extra, equations)
    routine_names: dict[CallableRoutine, str] = {}
    for t in program.tables:
        routine_names[t] = safe_identifier(
            f"table_{t.name.lower()}"[:50], routine_names.values()
        ).removeprefix("v_")
    routine_names |= {
        r: r.name.lower() if r.known_in("fortran") else external_name(r) for r in program.externals
    }
    printer = FortranFunctions(program, routine_names, longest)
    in_fortran = [r for r in program.externals if r.known_in("fortran")]
    foreign = [r for r in program.externals if not r.known_in("fortran")]
    segments = [
        printer.constants(),
        *(printer.function_source(f) for f in functions if f.name != "constants"),
    ]
    segments += [
        *_helper_sources(program, functions),
        *(table_function(routine_names[t], t) for t in program.tables),
    ]
    segments += routine_sources((r, routine_source(program, r, "fortran")) for r in in_fortran)
    comments = [
        comment_text(program.name),
        "",
        *program_summary(program),
        *words.array_comments(program, _symbol_groups(printer), "qupw {}({})", 1),
    ]
    binding = [
        *BINDING,
        *(["c_f_pointer"] if _has_memory(program) else []),
        *(["c_double"] if foreign else []),
    ]
    source = fill_runtime_file(
        "module.f90",
        ABOUT="\n".join(f"! {line}"[:130].rstrip() for line in comments),
        BINDING=", ".join(binding),
        SIZES="\n".join(wrap_statement(f"integer, parameter :: {_size_parameters(program)}")),
        INTERFACES="\n".join(c_interfaces(foreign))
        + (fill_runtime_file("reduced.f90") if _has_null_space_solve(functions) else ""),
        PARTS="\n".join(segments),
    )
    return fit_source(source)


def kernel_source(
    program: SimulationProgram,
    extra: Mapping[str, Section],
    looks: bool = False,
    dae: bool = False,
    wheels: Sequence[RigidWheel] = (),
) -> str:
    """The kernel in C for a model in Fortran. With `looks`, runs can be watched for events; `dae`
    and rigid `wheels` as in C."""
    part_flags = kernel_features(program, dae, True, bool(wheels), looks=looks, assembles=True)
    kernel, functions = (
        Kernel(part_flags),
        _printed_functions(program, extra, "multipliers" if dae else "minimal"),
    )
    return "\n".join(
        (
            f"/* {comment_text(program.name)}: the kernel that runs the model in model.f90 */\n",
            source_head(DOUBLE),
            c_data_definitions(size_data(program)),
            "#define real double\n",
            kernel.take("externals.h"),
            "/* ---- the model, in Fortran */\n",
            *(_c_prototype(f.name) for f in functions),
            *_loop_solvers(program, _has_null_space_solve(functions), dae, kernel),
            feature_tables(program, part_flags, wheels),
            kernel.take("kernel.c"),
        )
    )


def _printed_functions(
    program: SimulationProgram, extra: Mapping[str, Section] | None, equations: str
) -> list[ProgramFunction]:
    return [
        *program.functions_of(equations),
        *(ProgramFunction.extra(*item) for item in (extra or {}).items()),
    ]


def _c_prototype(name: str) -> str:
    if name == "constants":
        return "void constants(const real *restrict p, real *restrict c);"
    parameters_text = ", ".join(f"const real *restrict {x}" for x in "qupcw")
    results = ", ".join(
        f"real *restrict {x}" for x in (("qd", "ud") if name == "derivatives" else ("out",))
    )
    return (
        f"void {C_NAMES.get(name, name)}(real t, {parameters_text},\n    {results}, Externals *x);"
    )


def _loop_solvers(
    program: SimulationProgram, reduces: bool, dae: bool, kernel: Kernel
) -> list[str]:
    """What closed loops solve by; with `reduces`, the model calls it, too."""
    if program.loops is None:
        return []
    needs_solver = reduces or not dae
    solved, reduced = (["solve.c"], ["reduced.c"]) if needs_solver else ([], [])
    texts = [
        kernel.take("tables/elimination.h", *solved),
        c_data_definitions(row_data(program.loops, needs_solver)),
    ]
    texts.append(kernel.take("elimination.c", *reduced))
    return (
        [*texts, kernel.take("constrained_rates.c"), fill_runtime_file("reduced.c")]
        if reduces
        else texts
    )


def _symbol_groups(printer: FortranFunctions) -> dict[str, tuple[Symbol, ...]]:
    return dict(
        zip(("coordinates", "speeds", "parameters", "inputs"), printer.groups.values(), strict=True)
    )


def _has_memory(program: SimulationProgram) -> bool:
    return any(r.memory for r in program.externals)


def _has_null_space_solve(functions: Iterable[ProgramFunction]) -> bool:
    return any(isinstance(s, NullSpaceSolve) for f in functions for s in f.section.statements)


def _size_parameters(p: SimulationProgram) -> str:
    sizes = {
        "n_q": len(p.coordinates),
        "n_u": len(p.speeds),
        "n_p": len(p.parameters),
        "n_c": len(p.constant_symbols),
    }
    sizes |= {"n_w": len(p.inputs), "n_i": len(p.given_inputs), "n_out": len(p.output_names)}
    sizes["n_memory"] = sum(r.memory or 0 for r in p.externals)
    return ", ".join(f"{k} = {v}" for k, v in sizes.items())


def _helper_sources(p: SimulationProgram, functions: list[ProgramFunction]) -> list[str]:
    """What the statements call."""
    nodes = postorder([e for f in functions for e in section_expressions(f.section)])
    segments = helper_sources(
        "fortran", {n.name for n in nodes if isinstance(n, Func) and n.function is None}
    )
    if any(isinstance(s, SolveStatement) for f in functions for s in f.section.statements):
        segments.append(
            fill_runtime_file("solve.f90", DEPENDENT=real_literal(ELIMINATION.dependent))
        )
    if p.tables:
        segments.append(fill_runtime_file("spline.f90"))
    if any(len(t.axes) == 2 for t in p.tables):
        segments.append(fill_runtime_file("surface.f90"))
    return segments + (
        [fill_runtime_file("implicit_solve.f90", SMALL=real_literal(IMPLICIT.small))]
        if solves_equations(p)
        else []
    )
