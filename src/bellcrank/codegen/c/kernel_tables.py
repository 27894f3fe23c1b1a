"""Tables of the kernel that follow from those in Python: methods, tuning constants, kinds of
signals and figures.

They are kept as files in kernel/tables. `python -m bellcrank.codegen.c.kernel_tables` writes them
again. What uses them calls `require_current_tables` first: a method or constant that was changed in
Python alone would run as another one in C.
"""

from __future__ import annotations

import re
import sys
from functools import cache
from pathlib import Path

from bellcrank.codegen.c.batch_driver import figure_kinds
from bellcrank.codegen.c.event_bytecode import formula_steps
from bellcrank.codegen.c.runtime_files import constant_definitions
from bellcrank.codegen.c.signals import signal_values
from bellcrank.codegen.c.step_methods import (
    advance_text,
    embedded_tables,
    half_explicit_tables,
    method_names,
    wrapped_numbers,
)
from bellcrank.codegen.number_type import DOUBLE
from bellcrank.core.errors import BellcrankError
from bellcrank.core.numeric import tuning
from bellcrank.core.numeric.collocation import RADAU5
from bellcrank.core.numeric.rosenbrock import RODAS5P
from bellcrank.kernel.text import kernel_file
from bellcrank.symbolic.expr.function_table import CALLED

COMMAND = "python -m bellcrank.codegen.c.kernel_tables"
_ENUM = re.compile(r"enum \{ (?:FIRST_CHOSEN = N_FIXED - 1, )?([\w, ]+?)(?:, N_FIXED)? \};")
GROUPS = {  # of tuning constants: the file, and what their names begin with
    "elimination.h": (tuning.ELIMINATION, ""),
    "steps.h": (tuning.STEPS, ""),
    "control.h": (tuning.CONTROL, ""),
    "loops.h": (tuning.LOOPS, ""),
    "bridges.h": (tuning.BRIDGES, ""),
    "assembly.h": (tuning.ASSEMBLY, ""),
    "newton.h": (tuning.NEWTON, ""),
    "implicit.h": (tuning.IMPLICIT, "IMPLICIT_"),
    "dae.h": (tuning.MULTIPLIERS, "DAE_"),
    "ground.h": (tuning.GROUND, "GROUND_"),
    "ground_grid.h": (tuning.SURFACE, "GRID_"),
    "wheels.h": (tuning.RIGID_WHEELS, "WHEEL_"),
    "events.h": (tuning.EVENTS, "EVENT_"),
}


def kernel_tables() -> dict[str, str]:
    """The files by name."""
    files = {
        name: constant_definitions(group, DOUBLE, prefix)
        for name, (group, prefix) in GROUPS.items()
    }
    return files | {
        "methods.h": method_names(),
        "advance.c": advance_text(),
        "embedded.h": embedded_tables(),
        "half_explicit.h": half_explicit_tables(),
        "radau.h": radau_tables(),
        "rodas.h": rodas_tables(),
        "signals.c": signal_values(),
        "functions.c": _functions(),
        "formulas.c": formula_steps(),
        "counting.h": figure_kinds() + constant_definitions(tuning.COUNTING, DOUBLE),
    }


def stale_tables() -> list[str]:
    """Names of the files in kernel/tables that are not what Python gives now."""
    return [name for name, text in kernel_tables().items() if kernel_file(f"tables/{name}") != text]


@cache
def require_current_tables() -> None:
    """Complains of stale tables, once for a process."""
    if stale := stale_tables():
        raise BellcrankError(
            f"kernel/tables/{', '.join(stale)} {'are' if stale[1:] else 'is'} older than the "
            f"methods, functions and constants in Python: run {COMMAND}"
        )


@cache
def method_number(name: str) -> int:
    """The number of a method in C, as the table of methods gives it by name."""
    require_current_tables()
    groups = _ENUM.findall(kernel_file("tables/methods.h"))
    return ", ".join(groups).lower().split(", ").index(name)


def _functions() -> str:
    """Functions of the model language that neither C nor WebAssembly has, to be seen by modules."""
    lacking = [f for f in CALLED.values() if f.translation("javascript").helper]
    return "".join(
        f.translation("c").helper.replace(
            "static inline ", f'__attribute__((export_name("{f.translation("c").name}"))) '
        )
        for f in lacking
    )


# ---- tables of stiff methods in C


def radau_tables() -> str:
    m = RADAU5
    lines = [
        f"enum {{ FIRST_ORDER = {m.first_order} }};",
        f"#define STIFF_EXPONENT {float(m.error_exponent)!r}",
        f"#define STIFF_GROWTH {m.max_growth!r}",
        f"#define REAL_VALUE {m.real_eigenvalue!r}",
    ]
    vectors = {
        "NODE[3]": m.nodes,
        "ERROR_SHARE[3]": m.error_weights,
        "PAIR_VALUE[2]": m.complex_eigenvalue,
    }
    for name, row in vectors.items():
        lines.append(f"static const real {name} = {{{', '.join(map(repr, row))}}};")
    for name, rows in {"TO": m.to_eigenbasis, "BACK": m.from_eigenbasis}.items():
        lines.append(f"static const real {name}[3][3] = {{")
        lines += [f"    {{{', '.join(map(repr, row))}}}," for row in rows]
        lines.append("};")
    return "\n".join([*lines, ""])


def rodas_tables() -> str:
    m = RODAS5P
    stages = len(m.nodes)
    lines = [
        f"enum {{ RODAS_STAGES = {stages}, RODAS_FIRST_ORDER = {m.first_order} }};",
        f"#define RODAS_EXPONENT {float(m.error_exponent)!r}",
        f"#define RODAS_GROWTH {m.max_growth!r}",
        f"#define RODAS_GAMMA {m.gamma!r}",
    ]
    for name, row in {"NODE": m.nodes, "D": m.d, "B": m.b, "E": m.error_weights}.items():
        lines += [f"static const real RODAS_{name}[] = {{", *wrapped_numbers(row, "    ", ""), "};"]
    for name, rows in {"A": m.A, "C": m.C, "H": m.dense_weights}.items():
        lines.append(f"static const real RODAS_{name}[][{stages}] = {{")
        lines += [line for row in rows for line in wrapped_numbers(row or (0.0,), "    {", "},")]
        lines.append("};")
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    default = Path(__file__).parents[2] / "kernel" / "tables"
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else default
    for name, text in kernel_tables().items():
        (folder / name).write_text(text, encoding="utf-8")
