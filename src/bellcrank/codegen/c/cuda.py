"""CUDA source of a program: the statements of the scalar program, one thread per run.

In:  a `SimulationProgram` and the method of its runs. Out: text for NVRTC, with what has no mark
taken for device code (`-default-device`). `host_emulation` makes of it a text that a C++ compiler
takes, to be compared with the program in C.
"""

from __future__ import annotations

from bellcrank.codegen.c.c_data import c_data_definitions
from bellcrank.codegen.c.events import EmittedEvents
from bellcrank.codegen.c.functions import CFunctions
from bellcrank.codegen.c.lanes import (
    SIDE_BY_SIDE,
    group_run,
    input_signal_source,
    lanes_kernel,
    loop_closing_source,
    loop_constants,
)
from bellcrank.codegen.c.printer import external_calls
from bellcrank.codegen.c.runtime_files import constant_definitions, fill_runtime_file
from bellcrank.codegen.c.source import routine_texts, table_helpers, used_functions
from bellcrank.codegen.c.tables import table_functions
from bellcrank.codegen.kernel_data import size_data
from bellcrank.codegen.number_type import DOUBLE, FLOAT, NumberType
from bellcrank.codegen.schedule import ScheduleOptions, schedule_section
from bellcrank.codegen.schedule_steps import SinCosGroup, Step
from bellcrank.codegen.split_functions import MAX_STATEMENTS_PER_PART
from bellcrank.core.numeric.tuning import ELIMINATION
from bellcrank.kernel.text import Kernel
from bellcrank.program.program import SimulationProgram
from bellcrank.program.statements import SolveStatement

THREADS = 128  # of a block
BLOCKS = 2  # at least, on a multiprocessor: more would leave each run too few registers
SINES = {DOUBLE: "sincos_cuda.c", FLOAT: "sincos_cuda_single.c"}


def cuda_source(
    program: SimulationProgram,
    method: str,
    shared: bool = False,
    number: NumberType = DOUBLE,
    events: EmittedEvents | None = None,
) -> str:
    """The program as CUDA source that runs every run in a thread of its own, and looks for some
    events in them; do all runs have the same parameters, from beginning to end?

    What a run begins with, and its inputs, tables and figures, are in double precision whatever it
    computes in.
    """
    tables, user_calls = table_functions(program.tables), external_calls(program)
    single_run = CFunctions(program, tables.names, user_calls, MAX_STATEMENTS_PER_PART, DOUBLE)
    printer = CFunctions(program, tables.names, user_calls, MAX_STATEMENTS_PER_PART, number)
    texts, steps = [], list[Step]()
    for f in program.functions_of("minimal"):
        if f.name in SIDE_BY_SIDE:
            # a GPU hides what a processor waits for, and has no vectors
            plan = schedule_section(
                f.section, ScheduleOptions(critical_path=False, side_by_side=False)
            )
            steps += plan.steps
            texts.append(printer.function_source(f, plan))
    kernel = lanes_kernel(program, number, method, not shared, events)
    closing, closing_steps = loop_closing_source(
        program, single_run, ScheduleOptions(critical_path=False), events, kernel
    )
    steps += closing_steps
    segments = [
        kernel.take("gpu.h"),
        c_data_definitions(size_data(program)),
        *used_functions(
            program.functions_of("minimal"), extra_names=events.called if events else ()
        ),
        *routine_texts(program, user_calls.values(), kernel),
        constant_definitions(ELIMINATION, number),
        *table_helpers(program, kernel),
        *tables.text,
        kernel.take("externals.h", "input.h"),
        single_run.constants(),
        input_signal_source(program, kernel),
        kernel.take("many_rows.c"),
        "#undef real\n#define real scalar\n",
        *(
            fill_runtime_file(SINES[number])
            for _ in [0]
            if any(isinstance(s, SinCosGroup) for s in steps)
        ),
        *(kernel.take("solve.c") for _ in [0] if any(isinstance(s, SolveStatement) for s in steps)),
        kernel.take("gpu_numbers.h"),
        *texts,
        *loop_constants(program, kernel),
        *closing,
        group_run(program, number, kernel, method, events),
        f"enum {{ THREADS = {THREADS}, BLOCKS = {BLOCKS} }};",
        kernel.take("gpu.c"),
    ]
    return "\n".join(p for p in segments if p)


def host_emulation(source: str, shared: bool) -> str:
    """The same for a C++ compiler: `run_on_host` plays the GPU."""
    kernel = Kernel({"OWN_VALUES": int(not shared)})
    return "\n".join([kernel.take("gpu_played.h"), source, kernel.take("gpu_played.c")])
