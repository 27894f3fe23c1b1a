"""Fortran 2008 source of a program: a module of functions that C can call too, with the arguments of those in C.

In:  a `Program`, and the words for its comments. Out: one file, which stands alone where there are no closed loops and
no user functions in C; and what a program in C around it must hold: prototypes and the kernel. `functions` prints
the functions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from bellcrank.emit.c.functions import C_NAMES
from bellcrank.emit.c.listed import listed
from bellcrank.emit.c.rigid import RigidWheel
from bellcrank.emit.c.run import part_tables, parts_of
from bellcrank.emit.c.runtime_files import head
from bellcrank.emit.fortran.functions import Functions
from bellcrank.emit.fortran.lines import fitted, wrapped
from bellcrank.emit.fortran.routines import interfaces, texts
from bellcrank.emit.fortran.runtime_files import real, runtime
from bellcrank.emit.fortran.tables import table_function
from bellcrank.emit.kernel_data import row_data, size_data
from bellcrank.emit.linkages import routine_source, solves_equations
from bellcrank.emit.names import comment, identifier
from bellcrank.emit.number import DOUBLE
from bellcrank.emit.parts import LONGEST
from bellcrank.emit.routines import external_name
from bellcrank.emit.words import NO_WORDS, Words, about
from bellcrank.expr import Func, Symbol, postorder
from bellcrank.expr.function_table import helpers_in
from bellcrank.kernel.text import Kernel
from bellcrank.numeric.tuning import ELIMINATION, IMPLICIT
from bellcrank.program.functions import Function
from bellcrank.program.program import Program
from bellcrank.program.routine import Routine
from bellcrank.program.statements import Reduce, Section, Solve, section_expressions

BINDING = ("c_funptr", "c_null_funptr", "c_ptr", "c_null_ptr", "c_int32_t")


def fortran_source(
    program: Program,
    words: Words = NO_WORDS,
    longest: int = LONGEST,
    extra: Mapping[str, Section] | None = None,
    equations: str = "minimal",
) -> str:
    """The program as a Fortran module `model`; `extra` are further subroutines by name; `equations` of closed loops."""
    functions = _functions(program, extra, equations)
    routine_names: dict[Routine, str] = {}
    for t in program.tables:
        routine_names[t] = identifier(f"table_{t.name.lower()}"[:50], routine_names.values()).removeprefix("v_")
    routine_names |= {r: r.name.lower() if r.known_in("fortran") else external_name(r) for r in program.externals}
    printer = Functions(program, routine_names, longest)
    in_fortran = [r for r in program.externals if r.known_in("fortran")]
    foreign = [r for r in program.externals if not r.known_in("fortran")]
    segments = [printer.constants(), *(printer.text(f) for f in functions if f.name != "constants")]
    segments += [*_helpers(program, functions), *(table_function(routine_names[t], t) for t in program.tables)]
    segments += texts((r, routine_source(program, r, "fortran")) for r in in_fortran)
    comments = [comment(program.name), "", *about(program), *words.listing(program, _groups(printer), "qupw {}({})", 1)]
    binding = [*BINDING, *(["c_f_pointer"] if _remembers(program) else []), *(["c_double"] if foreign else [])]
    source = runtime(
        "module.f90",
        ABOUT="\n".join(f"! {line}"[:130].rstrip() for line in comments),
        BINDING=", ".join(binding),
        SIZES="\n".join(wrapped(f"integer, parameter :: {_sizes(program)}")),
        INTERFACES="\n".join(interfaces(foreign)) + (runtime("reduced.f90") if _reduces(functions) else ""),
        PARTS="\n".join(segments),
    )
    return fitted(source)


def kernel_source(
    program: Program,
    extra: Mapping[str, Section],
    looks: bool = False,
    dae: bool = False,
    wheels: Sequence[RigidWheel] = (),
) -> str:
    """The kernel in C for a model in Fortran. With `looks`, runs can be watched for events; `dae` and rigid `wheels` as
    in C."""
    part_flags = parts_of(program, dae, True, bool(wheels), looks=looks, assembles=True)
    kernel, functions = Kernel(part_flags), _functions(program, extra, "multipliers" if dae else "minimal")
    return "\n".join((
        f"/* {comment(program.name)}: the kernel that runs the model in model.f90 */\n",
        head(DOUBLE),
        listed(size_data(program)),
        "#define real double\n",
        kernel.take("externals.h"),
        "/* ---- the model, in Fortran */\n",
        *(_prototype(f.name) for f in functions),
        *_loop_solvers(program, _reduces(functions), dae, kernel),
        part_tables(program, part_flags, wheels),
        kernel.take("kernel.c"),
    ))  # fmt: skip


def _functions(program: Program, extra: Mapping[str, Section] | None, equations: str) -> list[Function]:
    return [*program.functions_of(equations), *(Function.extra(*item) for item in (extra or {}).items())]


def _prototype(name: str) -> str:
    if name == "constants":
        return "void constants(const real *restrict p, real *restrict c);"
    parameters_text = ", ".join(f"const real *restrict {x}" for x in "qupcw")
    results = ", ".join(f"real *restrict {x}" for x in (("qd", "ud") if name == "derivatives" else ("out",)))
    return f"void {C_NAMES.get(name, name)}(real t, {parameters_text},\n    {results}, Externals *x);"


def _loop_solvers(program: Program, reduces: bool, dae: bool, kernel: Kernel) -> list[str]:
    """What closed loops solve by; with `reduces`, the model calls it, too."""
    if program.loops is None:
        return []
    needs_solver = reduces or not dae
    solved, reduced = (["solve.c"], ["reduced.c"]) if needs_solver else ([], [])
    texts = [kernel.take("tables/elimination.h", *solved), listed(row_data(program.loops, needs_solver))]
    texts.append(kernel.take("elimination.c", *reduced))
    return [*texts, kernel.take("constrained_rates.c"), runtime("reduced.c")] if reduces else texts


def _groups(printer: Functions) -> dict[str, tuple[Symbol, ...]]:
    return dict(zip(("coordinates", "speeds", "parameters", "inputs"), printer.groups.values(), strict=True))


def _remembers(program: Program) -> bool:
    return any(r.memory for r in program.externals)


def _reduces(functions: Iterable[Function]) -> bool:
    return any(isinstance(s, Reduce) for f in functions for s in f.section.statements)


def _sizes(p: Program) -> str:
    sizes = {"n_q": len(p.coordinates), "n_u": len(p.speeds), "n_p": len(p.parameters), "n_c": len(p.constant_symbols)}
    sizes |= {"n_w": len(p.inputs), "n_i": len(p.given_inputs), "n_out": len(p.output_names)}
    sizes["n_memory"] = sum(r.memory or 0 for r in p.externals)
    return ", ".join(f"{k} = {v}" for k, v in sizes.items())


def _helpers(p: Program, functions: list[Function]) -> list[str]:
    """What the statements call."""
    nodes = postorder([e for f in functions for e in section_expressions(f.section)])
    segments = helpers_in("fortran", {n.name for n in nodes if isinstance(n, Func) and n.function is None})
    if any(isinstance(s, Solve) for f in functions for s in f.section.statements):
        segments.append(runtime("solve.f90", DEPENDENT=real(ELIMINATION.dependent)))
    if p.tables:
        segments.append(runtime("spline.f90"))
    if any(len(t.axes) == 2 for t in p.tables):
        segments.append(runtime("surface.f90"))
    return segments + ([runtime("implicit_solve.f90", SMALL=real(IMPLICIT.small))] if solves_equations(p) else [])
