"""C source for controllers and test rigs: a state in a structure of the caller's, one function that takes a step.

In:  a `Program`, its method, and the numbers it begins with. Out: text, from the printer and the run-time sources of
all programs in C, without memory of its own, files or loops whose number of turns is open.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bellcrank.emit.c import job
from bellcrank.emit.c.functions import Functions
from bellcrank.emit.c.loops import correction, null_space
from bellcrank.emit.c.methods import CALLED, method_cases, unit_size
from bellcrank.emit.c.printer import external_calls
from bellcrank.emit.c.run import kept_values
from bellcrank.emit.c.runtime_files import definitions, head, runtime, sines
from bellcrank.emit.c.source import routine_texts, sizes_of, table_helpers, used_functions
from bellcrank.emit.c.tables import table_functions
from bellcrank.emit.number import DOUBLE, Number
from bellcrank.emit.parts import LONGEST
from bellcrank.emit.schedule import BEST, Options, schedule
from bellcrank.emit.steps import Angles, Step
from bellcrank.expr.function_table import names_in
from bellcrank.numeric.methods import METHODS
from bellcrank.numeric.tuning import ELIMINATION, LOOPS
from bellcrank.program.functions import Function
from bellcrank.program.loops import Loops
from bellcrank.program.program import Program
from bellcrank.program.statements import Reduce, Solve

FUNCTIONS = ("derivatives", "outputs", "closure", "system", "correct_q", "correct_u", "start", "update", "entry")
"""Besides the constants; each stands where the program has it."""
LIBRARY = ("memcpy", "memset", "memcmp")  # besides mathematical functions, what of the C library may be called


@dataclass(frozen=True)
class Begin:
    """What a model begins with, in equation units: its given parameters, states and inputs; of closed loops the metric
    of corrections, roots of inverse inertias of coordinates and speeds."""

    parameters: Sequence[float]
    states: Sequence[float]
    inputs: Sequence[float]
    roots: tuple[Sequence[float], Sequence[float]]


def embedded_source(program: Program, stem: str, method: str, begin: Begin, number: Number = DOUBLE) -> str:
    """The text behind the header `STEM.h`."""
    tables, calls = table_functions(program.tables), external_calls(program)
    printed = Functions(program, tables.names, calls, LONGEST, number)
    functions, texts, steps = _functions(program), [], list[Step]()
    ideas = Options(critical_path=BEST.critical_path, side_by_side=False)  # small processors have no vectors
    for f in functions:
        plan = schedule(f.section, ideas, program.coordinates if f.name == "derivatives" else ())
        steps += plan.steps
        texts.append(printed.text(f, plan))
    loops = program.loops
    solved = loops is not None or any(isinstance(s, Solve) for s in steps)
    null = null_space(loops.scales, reduced=True) if loops is not None else []
    null += [runtime("constrained_rates.c")] if any(isinstance(s, Reduce) for s in steps) else []
    remembers = any(c.routine.memory for c in calls.values())
    room = "#define LANES(n) (n)\n" + "".join(f"#define FILL_{i}(x)\n" for i in (1, 2, 3)) if number is DOUBLE else ""
    parts = [
        head(number, local=True),
        f'#include "{stem}.h"\n',
        sizes_of(program),
        *used_functions(functions, number),
        *routine_texts(program, calls.values()),
        f"#define real {number.c}\n",
        *([room + sines(number, table=False)] if any(isinstance(s, Angles) for s in steps) else []),
        *([definitions(ELIMINATION, number), runtime("solve.c")] if solved else []),
        *null,
        *table_helpers(program, inputs=False),
        *tables.text,
        "/* ---- external routines and what they remember */\n",
        job.structure("Externals", job.EXTERNALS[1:]),
        *([runtime("memory.c")] if remembers else []),
        printed.constants(),
        *texts,
        _steps(program, stem, method, begin, number, remembers),
    ]
    return "\n".join(p for p in parts if p)


def _functions(program: Program) -> list[Function]:
    return [f for f in program.functions_of("minimal") if f.name in FUNCTIONS]


def _steps(program: Program, stem: str, method: str, begin: Begin, number: Number, remembers: bool) -> str:
    loops, carried = program.loops, number is not DOUBLE
    past = METHODS[method].two_step is not None
    closed, fields = "", [_field("p"), _field("externals"), _field("kept")]
    fields += [_field("old"), job.Field("int", "behind", "... are they known?")] if past else []
    if loops is not None:
        fields += [_field("moved"), _field("ratio"), _field("wary"), job.Field("int", "turns", "of corrections")]
        closed = _closed(program, loops, begin, number)
    given = {"PARAMETERS": begin.parameters, "STATES": begin.states, "INPUTS": begin.inputs}
    return runtime(
        "embedded.c",
        {k: _numbers(values, number) for k, values in given.items()},
        STEM=stem,
        UPPER=stem.upper(),
        TUNING=definitions(LOOPS, number) if loops is not None else "",
        JOB=job.structure("Job", tuple(fields)),
        HOLD=kept_values(program, ""),
        UPDATE="yes" if program.update.results else "",
        LOOPS=closed,
        CARRIED="yes" if carried else "",
        CARRIES=", real *carried" if carried else "",
        CARRY=", carried" if carried else "",
        PAST="yes" if past else "",
        FORGETS="yes" if past and loops is not None else "",
        JUMPS="yes" if past and program.update.results else "",
        UNIT=unit_size(program.unit, "1/sqrtf({})" if carried else "1/sqrt({})"),
        ADVANCE=method_cases(
            method, "summed({}, {}, &carried[j])" if carried else "{} + {}", past=CALLED, unit=program.unit
        ),
        MEMORY="m->memory" if remembers else "NULL",
        REMEMBERS="yes" if remembers else "",
        ENTERED="yes" if program.entry.results else "",
        N_GIVEN=str(len(program.given_parameters)),
    )  # fmt: skip


def _closed(program: Program, loops: Loops, begin: Begin, number: Number) -> str:
    """How loops are kept closed."""
    regular = correction(loops, "", "job->turns", "WATCHED") if loops.correction is not None else ""
    pieces = {k: _numbers(x, number) for k, x in zip(("ROOT_Q", "ROOT_U"), begin.roots, strict=True)}
    places = runtime("system_places.c")
    common = runtime("length.c") + runtime("least_norm.c")
    return common + runtime("embedded_loops.c", pieces, PLACES=places, CORRECTION=regular)


def _numbers(values: Sequence[float], number: Number) -> str:
    """An initializer, never empty."""
    return ", ".join(f"{float(x)!r}{number.suffix}" for x in (*values, *([] if len(values) else [0.0])))


def _field(name: str) -> job.Field:
    """A field of the job of runs."""
    return next(f for f in job.LOOPS if f.names.split()[0] == name)


def library_calls(source: str) -> list[str]:
    """Functions of the C library that a source may call."""
    known: Mapping[str, str] = names_in("c")
    plain = {x for x in known.values() if x.isidentifier()} | {*LIBRARY}
    own = set(re.findall(r"^static (?:inline )?\w+ \*?(\w+)\(", source, re.MULTILINE))
    return sorted(f for f in plain - own if re.search(rf"\b{f}\(", source))
