"""C source of a program whose number is a vector: several runs in lanes, each in a lane of its own.

In:  a `SimulationProgram`. Out: text, in which `derivatives` and `outputs` compute in lanes, and
constants, inputs, tables and user functions one run at a time. `lanes_obstacle` reports what keeps
a program from it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any, ClassVar

from bellcrank.codegen.c.c_data import c_data_definitions
from bellcrank.codegen.c.events import (
    EmittedEvents,
    closes_loops,
    event_features,
    event_sizes,
    events_text,
)
from bellcrank.codegen.c.functions import CFunctions
from bellcrank.codegen.c.kernel_tables import require_current_tables
from bellcrank.codegen.c.outputs_from_rhs import share_rhs_values
from bellcrank.codegen.c.printer import CPrinter, external_calls
from bellcrank.codegen.c.runtime_files import constant_definitions, fill_runtime_file, sincos_source
from bellcrank.codegen.c.source import file_header, routine_texts, table_helpers, used_functions
from bellcrank.codegen.c.step_methods import advance_of_group
from bellcrank.codegen.c.tables import table_functions
from bellcrank.codegen.c.user_functions import routine_sources as texts_in_c
from bellcrank.codegen.kernel_data import correction_data, side_data, unit_data
from bellcrank.codegen.name_comments import NO_WORDS
from bellcrank.codegen.number_type import DOUBLE, FLOAT, NumberType
from bellcrank.codegen.printer import ATOM, Piece
from bellcrank.codegen.schedule import DEFAULT_OPTIONS, ScheduleOptions, schedule_section
from bellcrank.codegen.schedule_steps import SinCosGroup, Step
from bellcrank.codegen.split_functions import MAX_STATEMENTS_PER_PART
from bellcrank.core.name_lookup import routine_name
from bellcrank.core.numeric.fixed_step_methods import METHODS
from bellcrank.core.numeric.tuning import ELIMINATION
from bellcrank.kernel.text import Kernel, kernel_file
from bellcrank.program.program import SimulationProgram
from bellcrank.program.program_functions import ProgramFunction
from bellcrank.program.statements import CallStatement, NullSpaceSolve, SolveStatement, Statement
from bellcrank.symbolic.expr import Func, Symbol
from bellcrank.symbolic.expr.function_table import FUNCTIONS, function_names_in
from bellcrank.symbolic.expr.node import Rational

LANES = {
    DOUBLE: NumberType("lanes", "lanes", DOUBLE.epsilon, "", "math.h", "sincos_lanes.c"),
    FLOAT: NumberType("short lanes", "lanes", FLOAT.epsilon, "", "math.h", "sincos_lanes_single.c"),
}
"""Vectors of a number."""
SIDE_BY_SIDE = ("derivatives", "outputs", "correct_q", "correct_u")  # functions of a program
CLOSURE_FUNCTIONS = (
    "closure",
    "sides",
)  # those of one run alone, in which events set what loops depend on
MAX_REGISTER_ANGLES = 16  # angles whose sines and cosines are taken in registers
SIDE = "lanes_"  # begins names of what is done for all lanes at once
FEW_OPERATIONS, VECTORS = (
    64,
    4,
)  # of a right-hand side; runs of so short a one go in so many vectors at once


@cache
def vector_function_names() -> frozenset[str]:
    """Functions that lanes_functions.c has, in double precision."""
    return frozenset(
        re.findall(
            r"^static inline lanes lanes_(\w+)\(", kernel_file("lanes_functions.c"), re.MULTILINE
        )
    )


def lanes_obstacle(program: SimulationProgram, number: NumberType = DOUBLE) -> str:
    """Why a program cannot compute in lanes, in words; nothing if it can."""
    if program.loops is not None:
        if program.loops.correction is None or any(
            isinstance(s, NullSpaceSolve) for s in _vectorized_statements(program)
        ):
            return "the closed loops have no order of pivots that holds in all regular positions"
        if number is not DOUBLE:
            return "loops are kept closed in double precision"
    if program.start.results or program.update.results:
        return "user functions keep values over a step"
    for c in external_calls(program).values():
        if c.c_name is None or c.foreign:
            return f"the user function '{c.routine.name}' is not given in C"
        if c.routine.memory:
            return f"the user function '{c.routine.name}' remembers"
    return ""


def _vectorized_functions(program: SimulationProgram) -> list[ProgramFunction]:
    """Functions that compute in lanes."""
    return [f for f in program.functions_of("minimal") if f.name in SIDE_BY_SIDE]


def _vectorized_statements(program: SimulationProgram) -> list[Statement]:
    return [s for f in _vectorized_functions(program) for s in f.section.statements]


class LanesPrinter(CPrinter):
    """Expressions and statements over vectors."""

    FUNCTIONS: ClassVar[Mapping[str, str]] = {
        name: f"lanes_{name}" for name in function_names_in("c")
    }
    PI_TEXT = f"SAME({CPrinter.PI_TEXT})"
    SINES, ROOM, FILL, ANY = "sincos_lanes", "{}", "", ""
    double = True  # or single precision

    def print_number(self, value: Rational) -> str:
        return f"SAME({super().print_number(value)})"

    def print_comparison(self, name: str, args: list[Piece]) -> Piece:
        return f"one_if{super().print_comparison(name, args)[0]}", ATOM

    def print_conditional(self, args: list[Piece]) -> Piece:
        condition = args[0][0]
        mask = (
            condition.removeprefix("one_if")
            if condition.startswith("one_if(")
            else f"({condition} != SAME(0.0))"
        )
        return f"choose({mask}, {args[1][0]}, {args[2][0]})", ATOM

    def reciprocal_root(self, base: Piece) -> str:
        self.function_name("sqrt")
        return f"lanes_rsqrt({base[0]})"

    def print_integer_power(self, base: str, exponent: int) -> str:
        simple = base.replace("[", "_").replace("]", "_").isidentifier()
        if simple and exponent <= 3:
            return "*".join([base] * exponent)
        return f"{self.function_name('pow')}({base}, {self.print_number(exponent)})"

    def print_routine_call(self, node: Func, args: list[Piece]) -> Piece:
        return f"lanes_{self.tables[node.function]}({', '.join(a[0] for a in args)})", ATOM

    def _statement_lines(self, s: Step) -> list[str]:
        return self._call(s) if isinstance(s, CallStatement) else super()._statement_lines(s)

    def _sincos_statement(self, s: SinCosGroup, k: int) -> list[str]:
        """Each by itself, so that all may stay in registers, unless they are too many for that."""
        if not self.double or len(s.angles) > MAX_REGISTER_ANGLES:
            return super()._sincos_statement(s, k)
        n = len(s.angles)
        lines = [
            f"const lanes angle{k}[{n}] = "
            f"{{{', '.join(self.print_expression(a.value) for a in s.angles)}}};",
            f"const masks far{k} = "
            f"far_angles({' + '.join(f'angle{k}[{i}]*angle{k}[{i}]' for i in range(n))});",
            f"Sines both{k}[{n}] = {{{', '.join(f'sines_of(angle{k}[{i}])' for i in range(n))}}};",
            f"if (any(far{k})) {{",
            *(
                f"    both{k}[{i}] = far_sines(far{k}, angle{k}[{i}], both{k}[{i}]);"
                for i in range(n)
            ),
            "}",
        ]
        for i, a in enumerate(s.angles):
            kinds = ((a.sine, "sine"), (a.cosine, "cosine"))
            assignments = [f"{x.name} = both{k}[{i}].{kind}" for x, kind in kinds if x is not None]
            lines.append(f"const lanes {', '.join(assignments)};")
        return lines

    def _call(self, s: CallStatement) -> list[str]:
        """A user function, of all lanes at once where it is given so, lane by lane elsewhere."""
        self._groups += 1
        k, call, count = self._groups, self.calls[s.routine], len(s.targets)
        arguments = [self.print_expression(a) for a in s.arguments]
        numbered_targets = [(i, t) for i, t in enumerate(s.targets) if t is not None]
        results = [f"const lanes {t.name} = values{k}[{i}];" for i, t in numbered_targets]
        if self.double and s.routine.given_in("lanes"):
            call_text = f"{SIDE}{routine_name(s.routine.name)}({', '.join(arguments)}, values{k});"
            return [f"lanes values{k}[{count}];", call_text, *results]
        lines = [
            f"const lanes arguments{k}[{max(len(arguments), 1)}] = "
            f"{{{', '.join(arguments) or self.print_number(0)}}};"
        ]
        lane_arguments = [f"LANE(arguments{k}[{i}], j)" for i in range(len(arguments))]
        returned = bool(s.routine.returns)
        call_text = (
            f"{call.c_name}({', '.join([*lane_arguments, *([f'found{k}'] if returned else [])])});"
        )
        return [
            *lines,
            f"lanes values{k}[{count}];",
            "for (int j = 0; j < N_LANES; j++) {",
            f"    double found{k}[{count}];",
            f"    {call_text if returned else f'found{k}[0] = {call_text}'}",
            *(f"    LANE(values{k}[{i}], j) = found{k}[{i}];" for i, _ in numbered_targets),
            "}",
            *results,
        ]


class LaneFunctions(CFunctions):
    """Functions over vectors; `printers` know what they have called."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.printers: list[CPrinter] = []

    def make_printer(self, computed: Iterable[Symbol] = ()) -> CPrinter:
        names = {**self.names, **self.fixed, **{s: s.name for s in computed}}
        printer = LanesPrinter(names, self.tables, self.calls, self.number_type)
        printer.double = self.number_type is LANES[DOUBLE]
        self.printers.append(printer)
        return printer


def lanes_source(
    program: SimulationProgram,
    options: ScheduleOptions = DEFAULT_OPTIONS,
    longest: int = MAX_STATEMENTS_PER_PART,
    number: NumberType = DOUBLE,
    events: EmittedEvents | None = None,
    table_data: bool = False,
) -> str:
    """The program as C source that runs several runs in lanes, and looks for some events in them.

    What a run begins with, and its inputs, tables and figures, are in double precision whatever it
    computes in.
    `table_data` as of `c_sources`.
    """
    tables, user_calls = table_functions(program.tables, table_data), external_calls(program)
    single_run = CFunctions(program, tables.names, user_calls, longest, DOUBLE)
    side = LaneFunctions(program, tables.names, user_calls, longest, LANES[number])
    functions, shared_values = share_rhs_values(_vectorized_functions(program), longest)
    lane_options = replace(options, side_by_side=False)  # all is in vectors already
    in_memory = {"derivatives": program.coordinates}
    plans = [
        (f, schedule_section(f.section, lane_options, in_memory.get(f.name, ()))) for f in functions
    ]
    steps = [s for _, plan in plans for s in plan.steps]
    texts = side.function_sources(plans, shared_values).values()
    angles = ([fill_runtime_file("room.c"), sincos_source(DOUBLE)] if number is DOUBLE else []) + [
        sincos_source(LANES[number])
    ]  # the one is made of the other
    vectors = vector_function_names() if number is DOUBLE else frozenset()
    scalar, used_names = (
        function_names_in("c"),
        {name for p in side.printers for name in p.used_functions},
    )
    lane_versions = [(r, r.given_in("lanes")) for r in user_calls] if number is DOUBLE else []
    lane_texts = texts_in_c([x for x in lane_versions if x[1]], SIDE)
    kernel = lanes_kernel(program, number, events=events)
    closing, closing_steps = loop_closing_source(program, single_run, options, events, kernel)
    if any(isinstance(s, SinCosGroup) for s in closing_steps):
        closing, angles = [*angles[:-1], *closing], angles[-1:]
    segments = [
        *file_header(program, NO_WORDS, single_run, functions, DOUBLE),
        "#include <stdlib.h>\n",
        *used_functions(
            program.functions_of("minimal"), extra_names=events.called if events else ()
        ),
        *routine_texts(program, user_calls.values(), kernel),
        f"#define real double\ntypedef {number.c} scalar;\n",
        constant_definitions(ELIMINATION, number),
        *table_helpers(program, kernel),
        *tables.text,
        kernel.take("externals.h", "input.h"),
        single_run.constants(),
        input_signal_source(program, kernel),
        kernel.take("many_rows.c"),
        *loop_constants(program, kernel),
        *closing,
        "#undef real\n#define real lanes\n",
        kernel.take("lanes.h"),
        *(angles if lane_texts or any(isinstance(s, SinCosGroup) for s in steps) else ()),
        *(
            kernel.take("lanes_solve.c")
            for _ in [0]
            if any(isinstance(s, SolveStatement) for s in steps)
        ),
        kernel.take("lanes_roots.c"),
        *lane_texts,
        *(kernel.take("lanes_functions.c") for _ in [0] if not used_names.isdisjoint(vectors)),
        *(
            _scalarized_function(f, scalar[f], FUNCTIONS[f].arity or 2)
            for f in sorted(used_names)
            if not FUNCTIONS[f].select and f not in vectors and f != "sqrt"
        ),
        *(_scalarized_function(name, name, len(t.axes)) for t, name in tables.names.items()),
        *texts,
        group_run(
            program, number, kernel, events=events, vectors=vectors_per_step(program, events)
        ),
        kernel.take("lanes_driver.c"),
    ]
    return "\n".join(p for p in segments if p)


def lanes_kernel(
    program: SimulationProgram,
    number: NumberType,
    only: str = "",
    own_values: bool = True,
    events: EmittedEvents | None = None,
) -> Kernel:
    """The kernel for vectorised runs; on a GPU by one method `only`; has each run its `own_values`
    parameters?"""
    require_current_tables()
    loops = program.loops
    two_steps = not only or METHODS[only].two_step is not None
    return Kernel(
        {
            "ON_GPU": int(bool(only)),  # it keeps states in registers, which have no addresses
            "SINGLE": int(number is not DOUBLE),
            "OWN_VALUES": int(own_values),
            "TWO_STEPS": int(two_steps),
            "ASKS_ALL": int(not only or two_steps),
            "HAS_MEMORY": int(not only),  # for figures
            "HAS_INPUTS": int(bool(program.given_inputs)),
            "HAS_CORRECTION": int(loops is not None),
            "HAS_SIDES": int(loops is not None and bool(loops.sides)),
            **event_features(program, events),
        }
    )


def input_signal_source(program: SimulationProgram, kernel: Kernel) -> str:
    """Inputs as functions of time, if there are some."""
    return kernel.take("spline.c", "tables/signals.c") if program.given_inputs else ""


def loop_constants(program: SimulationProgram, kernel: Kernel) -> list[str]:
    """Thresholds of closed loops, which precede what closes them."""
    return [] if program.loops is None else [kernel.take("tables/loops.h")]


def loop_closing_source(
    program: SimulationProgram,
    single_run: CFunctions,
    options: ScheduleOptions,
    events: EmittedEvents | None,
    kernel: Kernel,
) -> tuple[list[str], list[Step]]:
    """What closes the loops of one run after an event, if any acts in them, and its statements."""
    if program.loops is None or not closes_loops(program, events):
        return [], []
    functions = [f for f in program.functions_of("minimal") if f.name in CLOSURE_FUNCTIONS]
    plans = [
        (f, schedule_section(f.section, replace(options, side_by_side=False))) for f in functions
    ]
    texts = [
        *(single_run.function_source(*x) for x in plans),
        kernel.take("length.c", "least_norm.c"),
    ]
    texts += [c_data_definitions(side_data(program.loops)), kernel.take("closing.c")]
    return texts, [s for _, plan in plans for s in plan.steps]


def vectors_per_step(program: SimulationProgram, events: EmittedEvents | None = None) -> int:
    """Vectors of runs that take their steps together. A program of few operations waits for its own
    results, where others continue meanwhile; a longer one has enough to do, and would store what it
    cannot keep in registers."""
    is_short = program.count.total <= FEW_OPERATIONS and program.loops is None and events is None
    return VECTORS if is_short else 1


def group_run(
    program: SimulationProgram,
    number: NumberType,
    kernel: Kernel,
    only: str = "",
    events: EmittedEvents | None = None,
    vectors: int = 1,
) -> str:
    """A group of runs in some `vectors` from its beginning to its end, by one method `only`, if it
    is named."""
    correction_lists = (
        []
        if program.loops is None
        else [c_data_definitions(correction_data(program.loops), "double")]
    )
    segments = [
        f"enum {{ N_VECTORS = {vectors} }};\n",
        *([event_sizes(events)] if events else []),
        kernel.take("lanes_job.c"),
        c_data_definitions(unit_data(program.unit)) + kernel.take("unit_size.c"),
        advance_of_group(only, number is not DOUBLE),
        *correction_lists,
        *([events_text(program, events, number)] if events else []),
        kernel.take("lanes_run.c"),
    ]
    return "\n".join(segments)


def _scalarized_function(name: str, scalar: str, count: int) -> str:
    """A function of vectors that is known for numbers; `scalar` is its name there, or a pattern."""
    arguments = "xyz"[:count]
    each = [f"LANE({a}, j)" for a in arguments]
    value = scalar.format(*each) if "{" in scalar else f"{scalar}({', '.join(each)})"
    return (
        f"static inline lanes lanes_{name}({', '.join(f'lanes {a}' for a in arguments)})\n"
        "{\n"
        "    lanes value;\n"
        "    for (int j = 0; j < N_LANES; j++)\n"
        f"        LANE(value, j) = {value};\n"
        "    return value;\n"
        "}\n"
    )
