"""Fortran 2008 source of a program: a module with constants, derivatives, outputs and closed loops.

In:  a `Program`, and the words for its comments. Out: one file. What the equations are evaluated with (time,
parameters, constants, inputs) are variables of the module. `functions` prints the functions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from bellcrank.emit.fortran.functions import Functions
from bellcrank.emit.fortran.lines import fitted, wrapped
from bellcrank.emit.fortran.loops import scales
from bellcrank.emit.fortran.routines import interfaces, texts
from bellcrank.emit.fortran.runtime_files import real, runtime
from bellcrank.emit.fortran.tables import table_function
from bellcrank.emit.linkages import routine_source, solves_equations
from bellcrank.emit.names import comment, identifier
from bellcrank.emit.parts import LONGEST
from bellcrank.emit.routines import external_name
from bellcrank.emit.words import NO_WORDS, Words, about
from bellcrank.expr import Func, postorder
from bellcrank.expr.function_table import helpers_in
from bellcrank.numeric.tuning import ELIMINATION, IMPLICIT
from bellcrank.program.functions import Function
from bellcrank.program.program import Program
from bellcrank.program.routine import Routine
from bellcrank.program.statements import Reduce, Section, Solve, section_expressions


def fortran_source(
    program: Program,
    words: Words = NO_WORDS,
    longest: int = LONGEST,
    extra: Mapping[str, Section] | None = None,
    called: Iterable[str] = (),
) -> str:
    """The program as a Fortran module `model`; `extra` are further subroutines by name. Functions of the model language
    that are `called` by what uses it are defined."""
    functions = [*program.functions_of("minimal"), *(Function.extra(*item) for item in (extra or {}).items())]
    calls: dict[Routine, str] = {}
    for t in program.tables:
        calls[t] = identifier(f"table_{t.name.lower()}"[:50], calls.values()).removeprefix("v_")
    calls |= {r: r.name.lower() if r.known_in("fortran") else external_name(r) for r in program.externals}
    printed = Functions(program, calls, longest)
    own = [r for r in program.externals if r.known_in("fortran")]
    foreign = [r for r in program.externals if not r.known_in("fortran")]
    parts = [printed.constants(), *(printed.text(f) for f in functions if f.name != "constants")]
    parts += [*_helpers(program, functions, called), *(table_function(calls[t], t) for t in program.tables)]
    parts += texts((r, routine_source(program, r, "fortran")) for r in own)
    groups = {"states": printed.groups["y"], "parameters": program.parameters, "inputs": program.inputs}
    comments = [comment(program.name), "", *about(program), *words.listing(program, groups, "ypw {}({})", 1)]
    source = runtime(
        "module.f90",
        ABOUT="\n".join(f"! {line}"[:130].rstrip() for line in comments),
        BINDING="use, intrinsic :: iso_c_binding, only: c_double" if foreign else "",
        SIZES="\n".join(wrapped(f"integer, parameter :: {_sizes(program)}")),
        SCALES="\n".join(scales(program.loops.scales)) + "\n" if program.loops is not None else "",
        INTERFACES="\n".join(interfaces(foreign)),
        PARTS="\n".join(parts),
    )
    return fitted(source)


def _sizes(p: Program) -> str:
    n_q, n_u = len(p.coordinates), len(p.speeds)
    sizes = {"n_q": n_q, "n_u": n_u, "n_s": n_q + n_u, "n_p": len(p.parameters), "n_c": len(p.constant_symbols)}
    sizes |= {"n_w": len(p.inputs), "n_i": len(p.given_inputs), "n_out": len(p.output_names)}
    sizes["n_memory"] = sum(r.memory or 0 for r in p.externals)
    if p.loops is not None:
        k = p.loops.scales
        sizes |= {"n_g": len(p.loops.g), "n_v": len(p.loops.v), "rank_g": k.rank_g, "rank_v": k.rank_v}
        sizes["n_paired"] = p.loops.paired
    return ", ".join(f"{k} = {v}" for k, v in sizes.items())


def _helpers(p: Program, functions: list[Function], called: Iterable[str]) -> list[str]:
    """What the statements call."""
    nodes = postorder([e for f in functions for e in section_expressions(f.section)])
    used = {n.name for n in nodes if isinstance(n, Func) and n.function is None}
    parts = helpers_in("fortran", used.union(called))
    if p.loops is not None or any(isinstance(s, Solve | Reduce) for f in functions for s in f.section.statements):
        parts.append(runtime("solve.f90", DEPENDENT=real(ELIMINATION.dependent)))
    if p.loops is not None:
        parts.append(runtime("null_space.f90", VANISHING=real(ELIMINATION.vanishing)))
    if p.tables or p.given_inputs:
        parts.append(runtime("spline.f90"))
    if any(len(t.axes) == 2 for t in p.tables):
        parts.append(runtime("surface.f90"))
    return parts + ([runtime("implicit_solve.f90", SMALL=real(IMPLICIT.small))] if solves_equations(p) else [])
