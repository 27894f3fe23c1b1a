"""CUDA source of a program: the statements of the scalar program, one thread per run.

In:  a `Program` and the method of its runs. Out: text for NVRTC, with what has no mark taken for device code
(`-default-device`). `on_host` makes of it a text that a C++ compiler takes, to be compared with the program in C.
"""

from __future__ import annotations

from bellcrank.emit.c.events import EventsText
from bellcrank.emit.c.functions import Functions
from bellcrank.emit.c.lanes import SIDE_BY_SIDE, closing_parts, group_run, kernel_of, signals_of, tuning_of_loops
from bellcrank.emit.c.listed import listed
from bellcrank.emit.c.printer import external_calls
from bellcrank.emit.c.runtime_files import definitions, runtime
from bellcrank.emit.c.source import routine_texts, table_helpers, used_functions
from bellcrank.emit.c.tables import table_functions
from bellcrank.emit.kernel_data import size_data
from bellcrank.emit.number import DOUBLE, FLOAT, Number
from bellcrank.emit.parts import LONGEST
from bellcrank.emit.schedule import Options, schedule
from bellcrank.emit.steps import Angles, Step
from bellcrank.kernel.text import Kernel
from bellcrank.numeric.tuning import ELIMINATION
from bellcrank.program.program import Program
from bellcrank.program.statements import Solve

THREADS = 128  # of a block
BLOCKS = 2  # at least, on a multiprocessor: more would leave each run too few registers
SINES = {DOUBLE: "sincos_cuda.c", FLOAT: "sincos_cuda_single.c"}


def cuda_source(
    program: Program, method: str, shared: bool = False, number: Number = DOUBLE, events: EventsText | None = None
) -> str:
    """The program as CUDA source that runs every run in a thread of its own, and looks for some events in them; do all
    runs have the same parameters, from beginning to end?

    What a run begins with, and its inputs, tables and figures, are in double precision whatever it computes in.
    """
    tables, user_calls = table_functions(program.tables), external_calls(program)
    single_run = Functions(program, tables.names, user_calls, LONGEST, DOUBLE)
    printer = Functions(program, tables.names, user_calls, LONGEST, number)
    texts, steps = [], list[Step]()
    for f in program.functions_of("minimal"):
        if f.name in SIDE_BY_SIDE:
            # a GPU hides what a processor waits for, and has no vectors
            plan = schedule(f.section, Options(critical_path=False, side_by_side=False))
            steps += plan.steps
            texts.append(printer.text(f, plan))
    kernel = kernel_of(program, number, method, not shared, events)
    closing, closing_steps = closing_parts(program, single_run, Options(critical_path=False), events, kernel)
    steps += closing_steps
    segments = [
        kernel.take("gpu.h"),
        listed(size_data(program)),
        *used_functions(program.functions_of("minimal"), extra_names=events.called if events else ()),
        *routine_texts(program, user_calls.values(), kernel),
        definitions(ELIMINATION, number),
        *table_helpers(program, kernel),
        *tables.text,
        kernel.take("externals.h", "input.h"),
        single_run.constants(),
        signals_of(program, kernel),
        kernel.take("many_rows.c"),
        "#undef real\n#define real scalar\n",
        *(runtime(SINES[number]) for _ in [0] if any(isinstance(s, Angles) for s in steps)),
        *(kernel.take("solve.c") for _ in [0] if any(isinstance(s, Solve) for s in steps)),
        kernel.take("gpu_numbers.h"),
        *texts,
        *tuning_of_loops(program, kernel),
        *closing,
        group_run(program, number, kernel, method, events),
        f"enum {{ THREADS = {THREADS}, BLOCKS = {BLOCKS} }};",
        kernel.take("gpu.c"),
    ]
    return "\n".join(p for p in segments if p)


def on_host(source: str, shared: bool) -> str:
    """The same for a C++ compiler: `run_on_host` plays the GPU."""
    kernel = Kernel({"OWN_VALUES": int(not shared)})
    return "\n".join([kernel.take("gpu_played.h"), source, kernel.take("gpu_played.c")])
