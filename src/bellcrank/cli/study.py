"""`bellcrank study`: many runs of a model."""

from __future__ import annotations

import json
import os
import sys
from argparse import Namespace
from pathlib import Path

import bellcrank as bc
from bellcrank.cli.codes import ENDED_EARLY, FINE
from bellcrank.cli.options import add_shared_options, parse_positive_integer
from bellcrank.cli.parser import CommandParser
from bellcrank.cli.progress import ProgressReporter
from bellcrank.cli.report_text import aligned_text_table
from bellcrank.core.errors import pluralize
from bellcrank.core.files.format_choice import TABLES

MAX_PRINTED_ROWS = 24  # rows of a study without tables of its own
MAX_REPORTED_FAILURES = 5  # runs that failed, reported one by one
WIDTH = 28  # characters of the bar


def add_options(parser: CommandParser) -> None:
    add = parser.group("study")
    add("study", metavar="STUDY", help="a .toml file: model, values, metrics (docs/studies.md)")
    add("--fresh", action="store_true", help="delete the saved runs and restart")
    add("--retry", action="store_true", help="repeat runs that failed")
    add(
        "--check",
        action="store_true",
        help="read the study, print what it would do, and run nothing",
    )
    outside = "execute a model file outside the folder of the study"
    add("--allow-outside", action="store_true", help=outside)
    add = parser.group("run")
    scheduler = "a Dask scheduler, such as tcp://10.0.0.5:8786 (default: processes on this machine)"
    add("--scheduler", metavar="ADDRESS", help=scheduler)
    add(
        "--workers",
        type=parse_positive_integer,
        metavar="N",
        help="processes on this machine (default: one per core)",
    )
    add(
        "--in-process",
        action="store_true",
        help="no other processes: one run after another, on one core",
    )
    add = parser.group("output")
    add("--out", metavar="FOLDER", help="folder of runs, table and plots (default: STUDY_results)")
    add("--table", metavar="FILE", help=f"write the table here as well ({', '.join(TABLES)})")
    plots = "format of plots that the study does not name (default: %(default)s)"
    add("--format", choices=("png", "svg", "pdf"), default="png", help=plots)
    add("--no-plots", action="store_true", help="draw no plots")
    add_shared_options(parser, "json")


def run_command(args: Namespace) -> int:
    with ProgressReporter("reading the study and deriving its model"):
        study = bc.Study.read(args.study, allow_outside=args.allow_outside)
    folder = Path(args.out or f"{Path(args.study).stem}_results")
    if args.check:
        print(
            f"{study.definition.name}: {pluralize(len(study), 'run')} of "
            f"{study.definition.model}, nothing wrong"
        )
        return FINE
    if args.table and Path(args.table).suffix.lower() not in TABLES:
        raise bc.RunError(f"cannot write {args.table}: a table ends in {' or '.join(TABLES)}")
    bar = ProgressBar(study.definition.name)
    with bar:
        try:
            result = study.run(
                folder,
                scheduler=args.scheduler,
                workers=args.workers,
                in_process=args.in_process,
                fresh=args.fresh,
                retry=args.retry,
                progress=bar.set_counts,
            )
        except KeyboardInterrupt:
            bar.message = (
                f"{bar.done} of {len(study)} runs are in {folder}; the same command continues "
                f"from there"
            )
            raise
    wrote = [result.save(folder / "table.csv"), *([result.save(args.table)] if args.table else [])]
    if not args.no_plots:
        with ProgressReporter("drawing"):
            wrote += result.plot(folder, f".{args.format}")
    print(json.dumps(result.as_dict(), indent=2) if args.json else study_report(result, wrote))
    return ENDED_EARLY if len(result.failed) == len(result) else FINE


class ProgressBar(ProgressReporter):
    """A bar with the runs done, those that failed and the time left."""

    def __init__(self, task: str) -> None:
        super().__init__(task)
        self.done = self.total = self.failed = 0
        self.first: int | None = None
        self.message = ""

    def set_counts(self, finished: int, total: int, failed: int) -> None:
        if self.first is None:
            self.first = finished
        self.done, self.total, self.failed = finished, total, failed

    def status_line(self, elapsed: float) -> str:
        share = self.done / self.total if self.total else 0.0
        full = round(WIDTH * share)
        run_count = self.done - (self.first or 0)
        eta = f", {elapsed / run_count * (self.total - self.done):.0f} s left" if run_count else ""
        failed = f", {self.failed} failed" if self.failed else ""
        return (
            f"{self.what} [{'#' * full}{'.' * (WIDTH - full)}] "
            f"{self.done}/{self.total}{failed}, {elapsed:.0f} s{eta}"
        )

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)  # type: ignore[arg-type]
        if self.message:
            print(self.message, file=sys.stderr)


def study_report(result: bc.StudyResult, wrote: list[Path]) -> str:
    """What a person reads."""
    part_count = len(result.definition.parts)
    head = f"{result.name}: {pluralize(len(result), 'row')} of {result.definition.model}" + (
        f" in {part_count} parts" if part_count > 1 else ""
    )
    lines = [head, aligned_text_table(_study_facts(result), None, "<<")]
    pivots = result.tables()
    for pivot in pivots:
        first, *rows = pivot.lines()
        lines += ["", pivot.title, aligned_text_table(rows, first, ">" * len(first))]
    if not pivots:
        lines += ["", _result_table(result)]
    for row in result.failed[:MAX_REPORTED_FAILURES]:
        values = ", ".join(f"{name} = {_format_value(value)}" for name, value in row.values.items())
        lines.append(f"failed: {values}: {row.ended}")
    if len(result.failed) > MAX_REPORTED_FAILURES:
        lines.append(f"... and {len(result.failed) - MAX_REPORTED_FAILURES} more")
    lines += [f"note: {note}" for note in result.notes[:10]]
    lines += [f"wrote {os.fspath(path)}" for path in wrote]
    return "\n".join(lines)


def _study_facts(result: bc.StudyResult) -> list[list[str]]:
    facts = [
        [
            "runs",
            f"{result.made} made, {result.found} found in {result.folder}, "
            f"{len(result.failed)} failed",
        ]
    ]
    facts.append(["time", f"{result.seconds:.3g} s in all runs together"])
    for name in result.definition.metrics:
        low, high = result.best(name), result.best(name, "max")
        if low is not None and high is not None:
            unit = result.units[name]
            span = (
                f"{_format_value(low.metrics[name])} to "
                f"{_format_value(high.metrics[name])}{'' if unit == '1' else ' ' + unit}"
            )
            best_point = ", ".join(
                f"{name} = {_format_value(value)}" for name, value in low.values.items()
            )
            facts.append([name, f"{span}, {result.columns[name].label}; least at {best_point}"])
    return facts


def _result_table(result: bc.StudyResult) -> str:
    """The rows with names and units, the first ones of many."""
    heads = result.heads
    units = [result.columns[h].unit if h in result.columns else "" for h in heads]
    rows = [[_format_value(x) for x in row] for row in result.table()]
    remark = (
        [f"  ... {len(rows) - MAX_PRINTED_ROWS} more rows"] if len(rows) > MAX_PRINTED_ROWS else []
    )
    shown_rows = [
        [*row[:-1], row[-1] if len(row[-1]) < 60 else row[-1][:57] + "..."]
        for row in rows[:MAX_PRINTED_ROWS]
    ]
    shown_rows = [[x.replace("\n", " ") for x in row] for row in shown_rows]
    return "\n".join(
        [aligned_text_table([units, *shown_rows], heads, ">" * (len(heads) - 1) + "<"), *remark]
    )


def _format_value(x: object) -> str:
    return "-" if x is None else f"{x:.5g}" if isinstance(x, float) else str(x)
