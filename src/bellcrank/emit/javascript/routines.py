"""What a program calls besides the functions of Math, in JavaScript: tables, linkages, linear systems, modulo.

`function routines(m)` returns them by name; WebAssembly imports the same ones. Routines store their values in the
memory of the program, whose numbers are m, at an address in bytes.
"""

from __future__ import annotations

import json

from bellcrank.emit.javascript.linkage import starts_beside
from bellcrank.emit.javascript.loops import loop_numbers
from bellcrank.emit.javascript.runtime_files import ROUTINE, real, runtime
from bellcrank.emit.javascript.tables import table_functions
from bellcrank.emit.linkages import routine_source, solves_equations
from bellcrank.emit.memory import PARTS, ROWS, SIZE, Memory
from bellcrank.emit.routines import texts_of
from bellcrank.errors import ModelError
from bellcrank.expr.function_table import CALLED
from bellcrank.expr.table import Table
from bellcrank.numeric.tuning import ELIMINATION, IMPLICIT
from bellcrank.program.program import Program
from bellcrank.program.statements import Reduce, Solve


def routine_names(program: Program) -> dict[object, str]:
    """Names of tables and external routines."""
    names: dict[object, str] = {}
    for r in program.routines:
        start = "table" if isinstance(r, Table) else "routine"
        names[r] = f"{start}_{len(names)}"
    return names


def javascript_routines(program: Program, memory: Memory) -> str:
    """The text of all; beside them, the table of sines that WebAssembly reads."""
    names = routine_names(program)
    own = {names[r]: names[r] for r in program.routines}
    missing = [f.text("javascript") for f in CALLED.values() if f.text("javascript").helper]
    numbers = {"AT": str(memory.at["sines"] // SIZE), "ROWS": str(ROWS), "PARTS": str(PARTS)}
    parts = [runtime("sines.js", **numbers), *(code.helper for code in missing)]
    own |= {code.name: code.name for code in missing}
    if program.tables:
        parts.append(runtime("spline.js"))
        parts += [runtime("surface.js")] if any(len(t.axes) == 2 for t in program.tables) else []
        parts.append("\n".join(table_functions(program.tables, names)))
    if program.externals:
        plain = sorted(f.name for f in CALLED.values() if not (f.syntax or f.macro or f.text("javascript").helper))
        parts.append(f"const {{{', '.join(plain)}}} = Math;")
    if solves_equations(program):
        parts.append(runtime("implicit_solve.js", SMALL=real(IMPLICIT.small)))
    written = list(texts_of((r, routine_source(program, r, "javascript")) for r in program.externals))
    starts, texts = starts_beside([text for text, _ in written])
    parts += [starts] if starts else []
    for text, (_, same) in zip(texts, written, strict=True):
        first, *others = (names[r] for r in same)
        parts.append(f"const {first} = (() => {{\n{text}\nreturn {ROUTINE};\n}})();")
        parts += [f"const {', '.join(f'{name} = {first}' for name in others)};"] if others else []
    statements = [s for f in program.functions.values() for s in f.section.statements]
    if program.loops is not None or any(isinstance(s, Solve | Reduce) for s in statements):
        parts.append(runtime("solve.js", DEPENDENT=real(ELIMINATION.dependent)))
        own["solve"] = "(n, a, b) => solve_symmetric(n, m, a >> 3, m, b >> 3)"
    if program.loops is not None:
        parts.append(f"const LOOPS = {json.dumps(loop_numbers(program, program.loops))};")
        numbers = {"SINGULAR": real(ELIMINATION.singular), "VANISHING": real(ELIMINATION.vanishing)}
        parts.append(runtime("null_space.js", **numbers))
        parts.append(runtime("constrained_rates.js", SINGULAR=numbers["SINGULAR"]))
        own |= {
            name: name for name in ("constrained_rates", "pivoted", "pivot_ratio", "steady_ratio", "reduced", "LOOPS")
        }
    listed = ", ".join(k if k == v else f"{k}: {v}" for k, v in own.items())
    return "\n".join(["function routines(m) {", *parts, f"return {{{listed}}};", "}", ""])


def refuse_foreign(program: Program) -> None:
    """Complains of external routines that are given as text of other languages, or as functions of Python."""
    foreign = [f"'{r.name}'" for r in program.externals if not r.known_in("javascript")]
    if foreign:
        several = len(foreign) > 1
        raise ModelError(
            f"a live page computes in the browser and cannot call the external routine{'s' * several} "
            f"{', '.join(foreign)}: write what {'they do' if several else 'it does'} as formulas or as tables",
            program.name,
        )
