"""`bellcrank many`: a model run many times, with values that vary from run to run."""

from __future__ import annotations

import json
from argparse import ArgumentTypeError, Namespace
from pathlib import Path
from typing import Any

import numpy as np

import bellcrank as bc
from bellcrank.cli.codes import ENDED_EARLY, FINE
from bellcrank.cli.files import prepare_output_path, read_input_files
from bellcrank.cli.load_model import derive_model_equations, parameter_settings
from bellcrank.cli.options import (
    NAMED_VALUE_OPTION,
    REPEATABLE_OPTION,
    add_shared_options,
    event_options,
    event_settings,
    given_options,
    initial_values_and_guesses,
    parse_integer_option,
    parse_positive_integer,
    run_options,
    run_settings,
)
from bellcrank.cli.parser import CommandParser
from bellcrank.cli.progress import ProgressReporter
from bellcrank.cli.report_text import aligned_text_table, model_heading
from bellcrank.core.files.figure_files import check_picture_extension
from bellcrank.core.files.format_choice import TABLES
from bellcrank.core.metrics.metric_kinds import TEXTS, parse_metric_kind
from bellcrank.core.name_lookup import find_name, name_text
from bellcrank.mechanics.interface.interface import PARAMETERS
from bellcrank.simulation.many.batch_metrics import find_channel
from bellcrank.simulation.many.random import parse_distribution
from bellcrank.simulation.many.sample_plans import HOW
from bellcrank.simulation.many.simulate_many import BACKENDS, PRECISIONS
from bellcrank.simulation.run.initial_assembly import STATES

MAX_REPORTED_FAILURES = 5  # runs that ended early, reported one by one
PERCENTILES = (5, 50, 95)


def add_options(parser: CommandParser) -> None:
    add_shared_options(parser, "model", "values")
    add = parser.group("samples")
    add("--n", type=parse_positive_integer, required=True, metavar="N", help="number of runs")
    spread = (
        'value that varies, such as "k=uniform(1e4,2e4)" or "q(body)=normal(0,0.01)" (may be '
        "repeated)"
    )
    add("--vary", **NAMED_VALUE_OPTION, type=_parse_distribution, metavar="NAME=HOW", help=spread)
    add("--sampling", choices=HOW, help=f"how values are drawn together (default: {HOW[0]})")
    add(
        "--seed",
        type=parse_integer_option,
        metavar="N",
        help="the same seed draws the same values (default: 0)",
    )
    add_shared_options(parser, "start", "input", "compile")
    run_options(parser)
    event_options(parser)
    add = parser.group("run")
    add(
        "--output-every",
        type=parse_positive_integer,
        metavar="N",
        help="use every N-th step for metrics (default: that of the model)",
    )
    add("--backend", choices=BACKENDS, help="how the runs are computed (default: auto)")
    add("--precision", choices=PRECISIONS, help="precision of vectorised runs (default: double)")
    add = parser.group("output")
    add(
        "--channels",
        **REPEATABLE_OPTION,
        metavar="NAME",
        help="channel of the metrics (may be repeated) (default: all outputs)",
    )
    metrics = f"metric of each channel: {', '.join(TEXTS)} (may be repeated) (default: final)"
    add("--metrics", **REPEATABLE_OPTION, type=_parse_metric, metavar="NAME", help=metrics)
    add("--out", metavar="FILE", help=f"write a row for each run ({', '.join(TABLES)})")
    add("--plot", metavar="FILE", help="plot bands of the channels over time")
    add_shared_options(parser, "json")


def _parse_distribution(text: str) -> tuple[str, Any]:
    """k=uniform(1e4,2e4)"""
    name, equals, spread_text = text.rpartition("=")
    if not equals or not name.strip():
        raise ArgumentTypeError(f"{text!r} is not like k=uniform(1,2)")
    try:
        return name.strip(), parse_distribution(spread_text)
    except bc.ModelError as error:
        raise ArgumentTypeError(str(error)) from None


def _parse_metric(text: str) -> str:
    """rms, percentile(95)"""
    try:
        parse_metric_kind(text, repr(text))
    except bc.ModelError as error:
        raise ArgumentTypeError(str(error)) from None
    return text.strip().lower()


def run_command(args: Namespace) -> int:
    if args.out and Path(args.out).suffix.lower() not in TABLES:
        raise bc.RunError(f"cannot write {args.out}: a table ends in {' or '.join(TABLES)}")
    if args.plot:
        check_picture_extension(args.plot)
    for path in filter(None, (args.out, args.plot)):
        prepare_output_path(path)  # before all runs, not after them
    equations = derive_model_equations(args)
    values: dict[str, Any] = {
        "parameters": parameter_settings(args, equations),
        "initial": initial_values_and_guesses(args),
        "inputs": {},
    }
    if args.input:
        values["inputs"] = read_input_files(args.input, equations)
    with ProgressReporter("compiling"):
        sim = equations.compile(**given_options(speed="quick" if args.quick else None))
    for name, spread in args.vary:
        group = values[_quantity_group(sim, name)]
        if find_name(name, map(name_text, group)) is not None:
            raise bc.ModelError(
                f"'{name}' varies from run to run by --vary, but has a fixed value as well"
            )
        group[name] = spread
    for name in args.channels:
        find_channel(sim.interface, name, "--channels")
    channels = args.channels or list(equations.outputs) or [x.name for x in sim.interface.states]
    metrics = {name: args.metrics or ["final"] for name in channels}
    batch_options = given_options(
        output_every=args.output_every,
        sampling=args.sampling,
        seed=args.seed,
        backend=args.backend,
        precision=args.precision,
    )
    with ProgressReporter("running") as progress:
        batch = sim.simulate_many(
            args.n,
            channels=channels if args.plot else None,
            metrics=metrics,
            progress=progress.set_fraction,
            **values,
            **batch_options,
            **run_settings(args),
            **event_settings(args),
        )
    if args.out:
        batch.save(args.out)
    if args.plot:
        batch.plot(path=args.plot)
    figures = _batch_as_dict(batch)
    print(
        json.dumps(figures, indent=2)
        if args.json
        else _batch_report(equations, batch, figures, args)
    )
    return FINE if not figures["ended_early"] else ENDED_EARLY


def _quantity_group(sim: Any, name: str) -> str:
    """Where a name that varies belongs."""
    kind = sim.interface.find_or_raise(
        name, (*PARAMETERS, "unused", "input", *STATES), "--vary"
    ).kind
    return "inputs" if kind == "input" else "initial" if kind in STATES else "parameters"


def _batch_as_dict(batch: bc.Many) -> dict[str, Any]:
    """All figures, ready for JSON."""
    early = {i: text for i, text in enumerate(batch.ended) if text != "finished"}
    summaries: dict[str, Any] = {}
    for name, x in batch.metric_values.items():
        finite = x[np.isfinite(x)]
        statistics = (
            [float(v) for v in (finite.mean(), *np.percentile(finite, PERCENTILES))]
            if len(finite)
            else [None] * 4
        )
        summaries[name] = dict(
            zip(("mean", *(f"p{p}" for p in PERCENTILES)), statistics, strict=True)
        )
    return {
        "runs": len(batch),
        **batch.settings,
        "notes": batch.notes,
        "figures": summaries,
        "ended_early": len(early),
        "told": dict(list(early.items())[:MAX_REPORTED_FAILURES]),
    }


def _batch_report(
    equations: bc.Equations, batch: bc.Many, f: dict[str, Any], args: Namespace
) -> str:
    rows = [
        ["runs", f"{f['runs']} of {f['t_end']:g} s, {f['method']}, step {f['step']:g} s"],
        ["done", f"in {f['seconds']:.3g} s, {f['backend']}"],
        ["ended early", str(f["ended_early"])],
        *([f"run {i}", text] for i, text in f["told"].items()),
        *(["note", note] for note in f["notes"]),
        *(["wrote", str(path)] for path in (args.out, args.plot) if path),
    ]
    summary_rows = [
        [name, *("-" if v is None else f"{v:.5g}" for v in s.values()), batch.metric_units[name]]
        for name, s in f["figures"].items()
    ]
    head = ["over the runs", "mean", *(f"{p} %" for p in PERCENTILES), "unit"]
    return "\n".join(
        [
            model_heading(equations),
            aligned_text_table(rows, None, "<<"),
            "",
            aligned_text_table(summary_rows, head, "<>>>><"),
        ]
    )
