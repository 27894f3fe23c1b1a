"""The loop of a whole run in C: the file of a run, filled with what a model asks for."""

from __future__ import annotations

from dataclasses import dataclass

from bellcrank.emit.c import job
from bellcrank.emit.c.methods import embedded_tables, method_cases, method_names, unit_size
from bellcrank.emit.c.python import python_calls
from bellcrank.emit.c.runtime_files import definitions, runtime
from bellcrank.emit.c.signals import input_values
from bellcrank.emit.c.stiff import stiff_text
from bellcrank.emit.number import Number
from bellcrank.numeric.tuning import CONTROL, STEPS
from bellcrank.program.program import Program


@dataclass(frozen=True)
class Run:
    """A kind of runs; the defaults are those of a model without closed loops.

    `fields` of the job; texts of closed `loops`, of equations with `multipliers` or of rigid `wheels`, whether regular
    positions are `corrected`, the text of its own `step`, and the function that makes a `move`. Is there a run with
    `adaptive` methods, with `stiff` ones, and what closes loops in it (`admits`)?
    """

    fields: tuple[job.Field, ...] = job.RUN
    loops: str = ""
    multipliers: str = ""
    wheels: str = ""
    corrected: str = ""
    step: str = ""
    move: str = "advance"
    adaptive: bool = True
    stiff: bool = False
    admits: str = ""


def sets_inputs(program: Program) -> str:
    """Are inputs set at a time? Nothing if there are none."""
    return "yes" if program.given_inputs else ""


def run_text(program: Program, run: Run, number: Number) -> str:
    """Everything from the job of a run to the function that does it."""
    return runtime(
        "run.c",
        METHODS=method_names(),
        TUNING=definitions(STEPS, number),
        STRUCTURES=job.job_text(run.fields),
        INPUTS="\n" + runtime("inputs.c", SIGNALS=input_values()) if program.given_inputs else "\n",
        SET=sets_inputs(program),
        HOLD=kept_values(program, sets_inputs(program)),
        UPDATE="yes" if program.update.results else "",
        LOOPS=run.loops,
        MULTIPLIERS=run.multipliers,
        WHEELS=run.wheels,
        CORRECTED=run.corrected,
        UNIT=unit_size(program.unit),
        ADVANCE=method_cases(unit=program.unit),
        PARTS=runtime("parts.c", TIME="real"),
        STEP=run.step,
        MOVE=run.move,
        DEPTH=_depth(run),
        STATUS="NOT_CLOSED, AT_REST, " if run.loops else "",
        ADAPTIVE=_adaptive(program, run, number) if run.adaptive else "",
    )


def _adaptive(program: Program, run: Run, number: Number) -> str:
    """Runs with methods that choose their steps."""
    # rates at the end of a step hold for the next one, unless routines are to remember or loops were closed since
    known = "NULL"
    if not run.loops and not program.remembers and not program.unit:
        known = "within || known ? a->k[m->result] : NULL"
    return runtime(
        "adaptive.c",
        TUNING=definitions(CONTROL, number),
        TABLES=embedded_tables(),
        LOOPS=run.admits,
        STIFF=_stiff(program, run, number) if run.stiff else "",
        NEAR="job->near" if run.loops else "0",
        FREE="loose" if run.loops else "next",
        KNOWN=known,
        UNIT_END="".join(f"    unit_size(job->y + {i});\n" for i in program.unit),
        UNIT_WITHIN="".join(f"\n        unit_size(y + {i});" for i in program.unit),
        SET=sets_inputs(program),
        HOLD=kept_values(program, sets_inputs(program)),
        UPDATE="yes" if program.update.results else "",
    )


def single_calls(program: Program, run: Run) -> str:
    """Rates by one call, with everything but time and state bound, and runs step by step; follows the text of a run."""
    hold = "yes" if program.start.results or program.update.results else ""
    rates = runtime("bound.c", SET=sets_inputs(program), HOLD=hold, LOOPS=run.loops)
    return rates + python_calls() + runtime("stepped.c", HOLD=hold)


def looks_within(program: Program, run: Run) -> str:
    """Rows within a step; follows the text of a run."""
    hold = "yes" if program.start.results or program.update.results else ""
    return runtime("within.c", SET=sets_inputs(program), HOLD=hold, MOVE=run.move, DEPTH=_depth(run))


def _depth(run: Run) -> str:
    """The last argument of a move."""
    return ", 0" if run.loops else ""


def _stiff(program: Program, run: Run, number: Number) -> str:
    """Stiff methods."""
    usual = ["!job->wary"] if run.loops else []
    usual += ["!job->staged"] if run.corrected else []
    return stiff_text(program, number, " && ".join(usual) or "1", run.admits, sets_inputs(program))


def kept_values(program: Program, setting: str) -> str:
    """Values of external routines that are kept over a run or a step; are inputs set before?"""
    first, last = (len(section.results) for section in (program.start, program.update))
    if not first and not last:
        return ""
    place = f"N_I + {first}" if first else "N_I"
    pieces = {"START": str(first or ""), "UPDATE": str(last or ""), "PLACE": place}
    return runtime("kept_values.c", pieces, SET=setting)
