"""Many runs of a program in C: the driver that calls a compiled program run by run, the same for all models."""

from __future__ import annotations

from bellcrank.emit.c import job
from bellcrank.emit.c.runtime_files import definitions, runtime
from bellcrank.emit.number import DOUBLE
from bellcrank.numeric.tuning import COUNTING

FIGURES = ("final", "min", "max", "mean", "rms", "percentile", "crossing", "wk", "wd")
"""What can be found of a channel while a run goes on, as compiled code counts it."""
POLES = 4  # pairs of them in a weighting of ISO 2631, at most
NO_CONSTANTS, LEFT, STOPPED = 8, 9, 10
"""The status of a run whose constants are not finite, of one left to be done alone, and of one that an event stopped:
behind those of `run.c`."""


def rows_text(allocated: bool = True) -> str:
    """What is kept of the rows of runs; is memory for figures `allocated` there?"""
    kinds = f"enum {{ {', '.join(name.upper() for name in FIGURES)}, N_KINDS }};\n"
    kinds += f"enum {{ NO_CONSTANTS = {NO_CONSTANTS}, LEFT = {LEFT}, STOPPED = {STOPPED}, POLES = {POLES} }};\n"
    batch = f"struct Job;\n\n{job.structure('Array', job.ARRAY)}\n{job.structure('Batch', job.BATCH)}"
    asked = "yes" if allocated else ""
    return runtime("many_rows.c", KINDS=kinds, TUNING=definitions(COUNTING, DOUBLE), BATCH=batch, ALLOCATED=asked)


def driver(fields: tuple[job.Field, ...]) -> str:
    """The driver for programs whose job has these fields."""
    names = {name for f in fields for name in f.names.split()}
    return runtime(
        "many.c",
        EXTERNALS=job.structure("Externals", job.EXTERNALS) + "\n",
        STRUCTURES=job.job_text(fields),
        ROWS=rows_text(),
        LOOPS="yes" if "root_q" in names else "",
        PACED="yes" if "atol" in names else "",
        WHEELS="yes" if "n_told" in names else "",
    )
