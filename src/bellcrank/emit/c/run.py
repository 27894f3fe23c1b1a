"""The loop of a whole run in C: the file of a run, filled with what a model asks for."""

from __future__ import annotations

from dataclasses import dataclass

from bellcrank.emit.c import job
from bellcrank.emit.c.methods import method_cases, method_names
from bellcrank.emit.c.runtime_files import definitions, runtime
from bellcrank.emit.c.signals import signal_cases, signal_names
from bellcrank.emit.number import Number
from bellcrank.numeric.tuning import STEPS
from bellcrank.program.program import Program

_DERIVATIVES = """    derivatives(t, y, y + N_Q, job->p, job->c, w, k, k + N_Q, job->externals);
    return job->externals->failed ? EXTERNAL_FAILED : FINISHED;
"""


@dataclass(frozen=True)
class Run:
    """What kinds of runs put into the file of a run; the defaults are those of a model without closed loops.

    `fields` of the job; further `status` values; functions `declared` before `rates`, which begins with the text here
    and ends with `derivatives`; texts before the methods (`closed`) and after them (`step`); the function that makes a
    `move`, and its last argument (`depth`); what is done when a run begins and has begun, when a step is accepted, with
    each row (`modes`) and between steps (`pause`).
    """

    fields: tuple[job.Field, ...] = job.RUN
    status: str = ""
    declared: str = ""
    rates: str = ""
    derivatives: str = _DERIVATIVES
    closed: str = ""
    step: str = ""
    move: str = "advance"
    depth: str = ""
    begin: str = ""
    begun: str = ""
    accept: str = "    (void)end;\n"
    modes: str = ""
    pause: str = ""


def set_inputs(program: Program) -> str:
    """The statement that sets inputs at a time; nothing without any."""
    return "    if (set_inputs(job, t, w))\n        return INPUT_FAILED;\n" if program.given_inputs else ""


def run_text(program: Program, run: Run, number: Number) -> str:
    """Everything from the job of a run to the function that does it."""
    setting = set_inputs(program)
    return runtime(
        "run.c",
        METHODS=method_names(),
        TUNING=definitions(STEPS, number),
        STATUS=run.status,
        JOB=job.job_text(run.fields),
        INPUTS="\n" + _inputs() if program.given_inputs else "\n",
        DECLARED=run.declared,
        SET=setting,
        RATES=run.rates + run.derivatives,
        MODES=run.modes,
        CLOSED=run.closed,
        ADVANCE=method_cases(),
        STEP=run.step,
        MOVE=run.move,
        DEPTH=run.depth,
        BEGIN=run.begin,
        BEGUN=run.begun,
        ACCEPT=run.accept,
        PAUSE=run.pause,
        **_kept(program, setting),
    )


def _inputs() -> str:
    return runtime("inputs.c", KINDS=signal_names(), CASES=signal_cases())


def _kept(program: Program, setting: str) -> dict[str, str]:
    """Values of external routines that are kept over a run or a step."""
    first, last = (len(section.results) for section in (program.start, program.update))
    if not first and not last:
        return dict.fromkeys(("HOLD", "HELD", "FIRST", "UPDATE"), "")
    hold = runtime(
        "kept_values.c",
        SET=setting,
        START=_kept_call("start", "N_I", first, "        ") if first else "",
        UPDATE=_kept_call("update", f"N_I + {first}" if first else "N_I", last, "    ") if last else "",
    )
    update = "    if (last && (failed = keep_values(job, 0, after, next, w)))\n        return failed;\n"
    return {
        "HOLD": hold,
        "HELD": "    memcpy(w + N_I, job->kept, (N_W - N_I)*sizeof *w);\n",
        "FIRST": "        if ((job->status = keep_values(job, 1, 0.0, job->y, w)))\n            return job->status;\n",
        "UPDATE": update if last else "",
    }


def _kept_call(name: str, place: str, count: int, margin: str) -> str:
    return (
        f"{margin}{name}(t, y, y + N_Q, job->p, job->c, w, kept, job->externals);\n"
        f"{margin}memcpy(w + {place}, kept, {count}*sizeof *kept);\n"
    )
