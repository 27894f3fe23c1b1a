"""Tables of the kernel that follow from those in Python: methods, tuning constants, kinds of signals and figures.

They are kept as files in kernel/tables. `python -m bellcrank.emit.c.kernel_tables` writes them again; a test compares.
"""

from __future__ import annotations

from pathlib import Path

from bellcrank.emit.c.formulas import formula_steps
from bellcrank.emit.c.many import figure_kinds
from bellcrank.emit.c.methods import advance_text, embedded_tables, half_explicit_tables, method_names
from bellcrank.emit.c.runtime_files import definitions
from bellcrank.emit.c.signals import signal_values
from bellcrank.emit.c.stiff import radau_tables, rodas_tables
from bellcrank.emit.number import DOUBLE
from bellcrank.expr.function_table import CALLED
from bellcrank.numeric import tuning

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
    files = {name: definitions(group, DOUBLE, prefix) for name, (group, prefix) in GROUPS.items()}
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
        "counting.h": figure_kinds() + definitions(tuning.COUNTING, DOUBLE),
    }


def _functions() -> str:
    """Functions of the model language that neither C nor WebAssembly has, to be seen by modules."""
    lacking = [f for f in CALLED.values() if f.text("javascript").helper]
    return "".join(
        f.text("c").helper.replace("static inline ", f'__attribute__((export_name("{f.text("c").name}"))) ')
        for f in lacking
    )


if __name__ == "__main__":
    folder = Path(__file__).parents[2] / "kernel" / "tables"
    for name, text in kernel_tables().items():
        (folder / name).write_text(text, encoding="utf-8")
