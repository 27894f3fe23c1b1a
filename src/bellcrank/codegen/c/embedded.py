"""C source for controllers and test rigs: a state in a structure of the caller's, one function that
takes a step.

In:  a `SimulationProgram`, its method, and the numbers it begins with. Out: text, from the printer
and the run-time sources of all programs in C, without memory of its own, files or loops whose
number of turns is open.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from bellcrank.codegen.c.c_data import c_data_definitions
from bellcrank.codegen.c.events import EmittedEvents, event_tables
from bellcrank.codegen.c.functions import CFunctions
from bellcrank.codegen.c.kernel_tables import require_current_tables
from bellcrank.codegen.c.outputs_from_rhs import share_rhs_values
from bellcrank.codegen.c.printer import external_calls
from bellcrank.codegen.c.runtime_files import (
    constant_definitions,
    fill_runtime_file,
    sincos_source,
    source_head,
)
from bellcrank.codegen.c.source import routine_texts, table_helpers, used_functions
from bellcrank.codegen.c.step_methods import CALLED, method_cases
from bellcrank.codegen.c.tables import table_functions
from bellcrank.codegen.kernel_data import correction_data, row_data, size_data, unit_data
from bellcrank.codegen.number_type import DOUBLE, FLOAT, NumberType
from bellcrank.codegen.schedule import DEFAULT_OPTIONS, ScheduleOptions, schedule_section
from bellcrank.codegen.schedule_steps import SinCosGroup
from bellcrank.codegen.split_functions import MAX_STATEMENTS_PER_PART
from bellcrank.core.numeric.fixed_step_methods import METHODS
from bellcrank.core.numeric.tuning import ELIMINATION, EVENTS, LOOPS, STEPS
from bellcrank.kernel.text import Kernel, kernel_file
from bellcrank.program.loop_equations import LoopEquations
from bellcrank.program.program import SimulationProgram
from bellcrank.program.program_functions import ProgramFunction
from bellcrank.program.statements import NullSpaceSolve, SolveStatement
from bellcrank.symbolic.expr.function_table import FUNCTIONS as KNOWN
from bellcrank.symbolic.expr.function_table import function_names_in

FUNCTIONS = (
    "derivatives",
    "outputs",
    "closure",
    "system",
    "correct_q",
    "correct_u",
    "start",
    "update",
    "entry",
)
"""Besides the constants; each stands where the program has it."""
OF_TWO = (
    "fmod",
    "copysign",
    "fmin",
    "fmax",
)  # functions of the C library that formulas do not call by these names
LIBRARY = ("memcpy", "memset", "memcmp", "ldexp", *OF_TWO)
"""Besides mathematical functions of models, what of the C library may be called."""


@dataclass(frozen=True)
class EmbeddedInitialData:
    """What a model begins with, in equation units: its given parameters, states and inputs; of
    closed loops the metric of corrections, roots of inverse inertias of coordinates and speeds."""

    parameters: Sequence[float]
    states: Sequence[float]
    inputs: Sequence[float]
    roots: tuple[Sequence[float], Sequence[float]]


@dataclass(frozen=True)
class EmbeddedEvents:
    """Events as `text` over the structure `m`, and values of parameters that stand in them alone,
    in equation units."""

    text: EmittedEvents
    values: Sequence[float]


def embedded_source(
    program: SimulationProgram,
    stem: str,
    method: str,
    initial: EmbeddedInitialData,
    number: NumberType = DOUBLE,
    events: EmbeddedEvents | None = None,
) -> str:
    """The text behind the header `STEM.h`."""
    require_current_tables()
    tables, user_calls = table_functions(program.tables), external_calls(program)
    printer = CFunctions(program, tables.names, user_calls, MAX_STATEMENTS_PER_PART, number)
    functions, shared_values = share_rhs_values(
        _embedded_functions(program), MAX_STATEMENTS_PER_PART
    )
    options = ScheduleOptions(
        critical_path=DEFAULT_OPTIONS.critical_path, side_by_side=False
    )  # small processors have no vectors
    in_memory = {"derivatives": program.coordinates}
    plans = [
        (f, schedule_section(f.section, options, in_memory.get(f.name, ()))) for f in functions
    ]
    steps = [s for _, plan in plans for s in plan.steps]
    texts = printer.function_sources(plans, shared_values).values()
    loops = program.loops
    solved = loops is not None or any(isinstance(s, SolveStatement) for s in steps)
    kernel = Kernel(
        {"N_START": len(program.start.results), "N_UPDATE": len(program.update.results)}
    )
    elimination = (
        [c_data_definitions(row_data(loops)), kernel.take("elimination.c", "reduced.c")]
        if loops is not None
        else []
    )
    elimination += (
        [kernel.take("constrained_rates.c")]
        if any(isinstance(s, NullSpaceSolve) for s in steps)
        else []
    )
    has_memory = any(c.routine.memory for c in user_calls.values())
    padding_macros = (
        "#define LANES(n) (n)\n" + "".join(f"#define FILL_{i}(x)\n" for i in (1, 2, 3))
        if number is DOUBLE
        else ""
    )
    segments = [
        source_head(number, local=True),
        f'#include "{stem}.h"\n',
        c_data_definitions(size_data(program)),
        *used_functions(functions, number, events.text.called if events else ()),
        *routine_texts(program, user_calls.values(), kernel),
        f"typedef {number.c} real;\n",
        *(
            [padding_macros + sincos_source(number, table=False)]
            if any(isinstance(s, SinCosGroup) for s in steps)
            else []
        ),
        *([constant_definitions(ELIMINATION, number), kernel.take("solve.c")] if solved else []),
        *elimination,
        *table_helpers(program, kernel),
        *tables.text,
        _EXTERNALS,
        *([kernel.take("memory.c")] if has_memory else []),
        printer.constants(),
        *texts,
        _step_source(program, stem, method, initial, number, has_memory, kernel, events),
    ]
    text = "\n".join(p for p in segments if p)
    return text.replace(f"#include <{FLOAT.header}>\n", _type_generic_math(text), 1)


def _type_generic_math(source: str) -> str:
    """Mathematical functions that follow the type of their arguments: libraries for small
    processors (newlib) lack functions that their tgmath.h needs."""
    lines = [
        "#ifdef __GNUC__",
        "#include <math.h>",
        "#define OF_TYPE(type, f, g) "
        "__builtin_choose_expr(__builtin_types_compatible_p(type, float), f, g)",
    ]
    c_names = function_names_in("c")
    function_arguments = {
        c_names[name]: f.arguments
        for name, f in KNOWN.items()
        if name in c_names and not f.translation("c").helper
    }
    for name, arguments in {**function_arguments, **dict.fromkeys(OF_TWO, "x, y")}.items():
        if re.search(rf"\b{name}\(", source):
            kind = " + ".join(f"({x})" for x in arguments.split(", "))
            lines.append(
                f"#define {name}({arguments}) OF_TYPE(__typeof__({kind}), {name}f, "
                f"{name})({arguments})"
            )
    return "\n".join([*lines, "#else", f"#include <{FLOAT.header}>", "#endif", ""])


def _embedded_functions(program: SimulationProgram) -> list[ProgramFunction]:
    return [f for f in program.functions_of("minimal") if f.name in FUNCTIONS]


_EXTERNALS = """/* ---- user functions and what they remember */

typedef struct Externals {
    double *memory; /* of those in this file, one after another */
    int32_t live;   /* whose memory may change? 1: routines called for rates, \
2: for outputs and kept values */
    int32_t failed; /* always 0 */
} Externals;
"""
_FIXED_TURNS = """#define CLOSURE_INPUTS 0
#define CORRECTION_TURNS(n) ((n) < job->turns)
#define set_inputs(job, t, w) 0
"""
_JOB = """typedef struct Job {
    const real *p, *c;    /* parameters, constants */
    Externals *externals; /* needed also if there are none */
    real *kept;           /* values of user functions that are kept, the last of w */
    real *old;            /* of methods that need them: rates at the beginning of the step \
before ... */
    int32_t behind;       /* ... are they known? */
    real moved, residual; /* how far the last step was moved to close loops, and what is left */
    real ratio, steady;   /* of pivots at the step reached: of a singular configuration, \
and one of `derivatives` */
    int32_t wary, turns;  /* are rates those of the redundant equations? turns of corrections */
} Job;
"""


def _step_source(
    program: SimulationProgram,
    stem: str,
    method: str,
    initial: EmbeddedInitialData,
    number: NumberType,
    has_memory: bool,
    kernel: Kernel,
    events: EmbeddedEvents | None,
) -> str:
    loops, is_compensated = program.loops, number is not DOUBLE
    past = METHODS[method].two_step is not None
    loop_code = _embedded_loop_source(loops, initial, number, kernel) if loops is not None else ""
    root = "sqrtf" if is_compensated else "sqrt"
    part_macros = "".join(f"#define {name} {n}\n" for name, n in kernel.parts.items())
    sampled_code = part_macros + "#define set_inputs(job, t, w) 0\n" + kernel.take("kept_values.c")
    initial_values = {
        "PARAMETERS": initial.parameters,
        "STATES": initial.states,
        "INPUTS": initial.inputs,
    }
    tuning = constant_definitions(LOOPS, number) if loops is not None else ""
    common = {
        "STEM": stem,
        "UPPER": stem.upper(),
        "HOLD": sampled_code if any(kernel.parts.values()) else "",
        "LOOPS": loop_code,
        "CARRIED": "yes" if is_compensated else "",
        "CARRIES": ", real *carried" if is_compensated else "",
        "CARRY": ", carried" if is_compensated else "",
        "PAST": "yes" if past else "",
        "MEMORY": "m->memory" if has_memory else "NULL",
        "REMEMBERS": "yes" if has_memory else "",
    }
    return fill_runtime_file(
        "embedded.c",
        common | {k: _c_initializer(values, number) for k, values in initial_values.items()},
        TUNING=tuning + (constant_definitions(STEPS, number) if events else ""),
        JOB=_JOB,
        UPDATE="yes" if program.update.results else "",
        EVENTS=_event_source(program, stem, number, events, common) if events else "",
        OWN=_c_initializer(events.values, number) if events and events.values else "",
        STEP="static int take_step" if events else f"int {stem}_step",
        UNTIL="time_of(m, i)" if events else "end",
        LENGTH="h" if events else "m->h",
        PARTS="yes" if events and past else "",
        FORGETS="yes" if past and loops is not None else "",
        JUMPS="yes" if past and program.update.results else "",
        UNIT=f"#define ONE_BY_ROOT(x) (1/{root}(x))\n"
        + c_data_definitions(unit_data(program.unit))
        + kernel.take("unit_size.c"),
        ADVANCE=method_cases(
            method, "summed({}, {}, &carried[j])" if is_compensated else "{} + {}", past=CALLED
        ),
        ENTERED="yes" if program.entry.results else "",
        N_GIVEN=str(len(program.given_parameters)),
    )


def _event_source(
    program: SimulationProgram,
    stem: str,
    number: NumberType,
    events: EmbeddedEvents,
    common: Mapping[str, str],
) -> str:
    """Steps in which events may lie."""
    events_text, is_compensated = events.text, number is not DOUBLE
    corrects = program.loops is not None and program.loops.correction is not None
    return fill_runtime_file(
        "embedded_events.c",
        common,
        TUNING=constant_definitions(EVENTS, replace(number, suffix=""), "EVENT_"),
        N_EVENTS=str(len(events_text.events)),
        N_SETTINGS=str(events_text.n_settings),
        TABLES=event_tables(events_text.events, f"{stem}_model", "m"),
        RULE=kernel_file("event_rule.c"),
        CLOSE="correct_dependent" if corrects else "keep_closed",
        AND_CARRIED=" + (double)m->carried[j]" if is_compensated else "",
        AND_WHAT_LACKS=" + (double)carried[j]" if is_compensated else "",
    )


def _embedded_loop_source(
    loops: LoopEquations, initial: EmbeddedInitialData, number: NumberType, kernel: Kernel
) -> str:
    """How loops are kept closed."""
    regular, common = "", kernel.take("length.c", "least_norm.c")
    if loops.correction is not None:
        regular = (
            c_data_definitions(correction_data(loops)) + _FIXED_TURNS + kernel.take("correction.c")
        )
    initializers = {
        k: _c_initializer(x, number)
        for k, x in zip(("ROOT_Q", "ROOT_U"), initial.roots, strict=True)
    }
    return common + fill_runtime_file(
        "embedded_loops.c", initializers, PLACES=kernel.take("system_places.c"), CORRECTION=regular
    )


def _c_initializer(values: Sequence[float], number: NumberType) -> str:
    """An initializer, never empty."""
    return ", ".join(
        f"{float(x)!r}{number.suffix}" for x in (*values, *([] if len(values) else [0.0]))
    )


def library_calls(source: str) -> list[str]:
    """Functions of the C library that a source may call."""
    c_names: Mapping[str, str] = function_names_in("c")
    plain = {x for x in c_names.values() if x.isidentifier()} | {*LIBRARY}
    static_functions = set(
        re.findall(r"^static (?:inline |SEPARATE )?\w+ \*?(\w+)\(", source, re.MULTILINE)
    )
    return sorted(f for f in plain - static_functions if re.search(rf"\b{f}\(", source))
