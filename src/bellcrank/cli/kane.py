"""`bellcrank kane`: the interactive session; and what `bellcrank run` does with an AUTOLEV
script."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path
from typing import Any

import bellcrank as bc
from bellcrank.cli.codes import ENDED_EARLY, FINE
from bellcrank.cli.files import prepare_output_path
from bellcrank.cli.parser import CommandParser
from bellcrank.cli.progress import ProgressReporter
from bellcrank.cli.report_text import (
    aligned_text_table,
    final_table,
    last_value,
    model_heading,
    model_sizes,
    operations_text,
    three_digits,
)
from bellcrank.core.files.shipped_files import resolve_example
from bellcrank.kane.autolev import (
    AutolevSession,
    ScriptFiles,
    output_texts,
    run_script,
    simulate_autolev_program,
)
from bellcrank.kane.autolev.console import run_console
from bellcrank.kane.autolev.program_layout import ProgramLayout
from bellcrank.kane.autolev.run_program import ProgramRun
from bellcrank.simulation.run.status import RunStatus

OF_A_RUN = (
    "step",
    "method",
    "backend",
    "set",
    "initial",
    "print",
    "message",
    "plot",
)  # options for scripts that run
OPTIONS = ("command", "model", "input", "solve", "out", "json", "t_end", *OF_A_RUN)


def add_options(parser: CommandParser) -> None:
    folder = "working directory of RECORD, EXEC, SAVE, LOAD, CODE (default: %(default)s)"
    parser.group("session")("--folder", default=".", metavar="FOLDER", help=folder)


def run_command(args: Namespace) -> None:
    run_console(args.folder)


# ---- scripts


def read_script(path: str, folder: str = ".") -> AutolevSession:
    """The session after all lines of a script; its files wait to be written."""
    text = _read_input_file(path)
    with ProgressReporter("deriving the equations of motion"):
        return run_script(text, Path(path).name, ScriptFiles(folder, at_once=False))


def script_plan(path: str, solve: str | None = None) -> ProgramLayout:
    """The equations of a script, with nothing written."""
    session = read_script(path)
    _require_kane(session, path)
    return session.program_layout(_upper_stem(path), **({} if solve is None else {"solve": solve}))


def run_script_command(args: Namespace) -> int:
    """Answers every line of a script, runs its program on an input file and writes its output
    files."""
    folder = args.out if args.out and not args.out.lower().endswith(".csv") else "."
    _refuse_unused(args)
    session = read_script(args.model, folder)
    _require_kane(session, args.model)
    plan = session.program_layout(
        _upper_stem(args.model), **({} if args.solve is None else {"solve": args.solve})
    )
    outcome = _run_plan(plan, args) if args.input else None
    if outcome is None and args.t_end is not None:
        order = "; ".join(", ".join(s.name for s in g) for g in plan.groups)
        raise bc.ModelError(f"a run needs --input FILE.in with values for {order}")
    texts = {} if outcome is None else output_texts(outcome)
    paths = session.files.write_pending()
    session.files.at_once = True
    for name, text in texts.items():
        paths.append(session.files.folder / name)
        session.files.write(paths[-1], text)
    if outcome is not None and args.out and args.out.lower().endswith(".csv"):
        paths.append(outcome.run.save(prepare_output_path(args.out)))
    if outcome is not None and args.plot:
        outcome.run.plot(path=prepare_output_path(args.plot))
        paths.append(Path(args.plot))
    figures = _session_as_dict(plan, outcome, session, paths)
    print(
        json.dumps(figures, indent=2)
        if args.json
        else _session_report(session, plan, outcome, figures)
    )
    return FINE if outcome is None or outcome.run.status is RunStatus.FINISHED else ENDED_EARLY


def _run_plan(plan: ProgramLayout, args: Namespace) -> ProgramRun:
    text = _read_input_file(args.input)
    t_end = args.t_end if args.t_end is not None else 10.0
    every = args.print if args.print is not None else t_end / 100
    with ProgressReporter("running"):
        return simulate_autolev_program(
            plan,
            text,
            Path(args.input).name,
            t_end,
            every,
            step=args.step,
            method=args.method or "merson",
            backend=args.backend or "auto",
            message=args.message or "",
            parameters=dict([*args.set, *args.initial]),
        )


def _refuse_unused(args: Namespace) -> None:
    """Options that mean nothing to a script are reported, not passed over; so are those of a run
    without one."""
    unused = [
        name
        for name, value in vars(args).items()
        if name not in OPTIONS and value not in (None, False, [])
    ]
    if unused:
        raise bc.ModelError(
            f"{_option_list(unused)}: not for AUTOLEV scripts; --print sets the time between rows"
        )
    unused = [
        name for name in OF_A_RUN if not args.input and getattr(args, name) not in (None, False, [])
    ]
    if unused:
        raise bc.ModelError(
            f"{_option_list(unused)}: a run needs --input FILE.in with the values of the "
            f"script's symbols"
        )


def _option_list(names: list[str]) -> str:
    return " and ".join(f"--{name.replace('_', '-')}" for name in names)


def _read_input_file(path: str) -> str:
    path_found = resolve_example(path)
    if not path_found.exists():
        raise bc.ModelError(f"no file {path}")
    return ScriptFiles().read(path_found)


def _upper_stem(path: str) -> str:
    return Path(path).stem.upper()


def _require_kane(session: AutolevSession, path: str) -> None:
    if "KANE" not in session.workspace.done:
        raise bc.ModelError(f"{Path(path).name} has no equations of motion: it ends without KANE")


def _session_as_dict(
    plan: ProgramLayout, o: ProgramRun | None, session: AutolevSession, paths: list[Path]
) -> dict[str, Any]:
    e = plan.equations
    result: dict[str, Any] = {**model_sizes(e), "operations": e.operation_count()}
    if o is not None:
        run = o.run
        result |= {
            "method": run.settings["method"],
            "backend": run.settings["backend"],
            "step": o.step,
            "t_end": o.t_end,
            "evaluations": o.evaluations,
            "reached": float(run.time[-1]),
            "run_seconds": o.seconds,
            "ended": run.ended,
            "final": {n: last_value(run, n) for n in run},
        }
    notes = [*session.notes, *plan.notes, *(o.notes if o else [])]
    return {**result, "notes": notes, "written": [str(p) for p in paths]}


def _session_report(
    session: AutolevSession, plan: ProgramLayout, o: ProgramRun | None, f: dict[str, Any]
) -> str:
    lines = [*session.listing(), "", model_heading(plan.equations)]
    c = f["operations"]
    rows = [
        ["operations", f"{c['total']} ({operations_text(c)})"],
        ["derived", f"in {f['derivation_seconds']:.3g} s, {f['derivation']}"],
    ]
    if o is not None:
        speed = f["reached"] / o.seconds if o.seconds > 0 else 0.0
        count = "" if o.evaluations is None else f", {o.evaluations} evaluations"
        rows.append(
            ["run", f"{f['method']}, to t = {f['reached']:g} s in {o.seconds:.3g} s{count}"]
        )
        rows.append(["speed", f"{three_digits(speed)} times real time"])
        rows.append(["ended", f["ended"]])
    rows += [["note", note] for note in f["notes"]]
    rows += [["wrote", _relative_path(path)] for path in f["written"]]
    lines.append(aligned_text_table(rows, None, "<<"))
    if o is not None:
        lines += ["", final_table(f)]
    return "\n".join(lines)


def _relative_path(path: str) -> str:
    try:
        return str(Path(path).relative_to(Path.cwd()))
    except ValueError:
        return path
