"""`bellcrank many`: a model run many times, with values that vary from run to run."""

from __future__ import annotations

import json
from argparse import ArgumentTypeError, Namespace
from pathlib import Path
from typing import Any

import numpy as np

import bellcrank as bc
from bellcrank.cli.codes import ENDED_EARLY, FINE
from bellcrank.cli.files import in_folder, read_inputs
from bellcrank.cli.model import derive, settings
from bellcrank.cli.options import (
    MANY,
    NAMED,
    event_options,
    event_settings,
    given,
    positive,
    run_options,
    run_settings,
    shared,
    start_values,
    whole,
)
from bellcrank.cli.parser import CommandParser
from bellcrank.cli.progress import Progress
from bellcrank.cli.text import heading, table
from bellcrank.files.choose import TABLES
from bellcrank.files.picture import check_ending
from bellcrank.interface.interface import PARAMETERS
from bellcrank.many.figures import channel_of
from bellcrank.many.many import BACKENDS, PRECISIONS
from bellcrank.many.random import read_spread
from bellcrank.many.sampling import HOW
from bellcrank.metrics.kinds import TEXTS, read_kind
from bellcrank.names import find_name, text_of
from bellcrank.run.assembly import STATES

TOLD = 5  # runs that ended early, reported one by one
PERCENTILES = (5, 50, 95)


def options(parser: CommandParser) -> None:
    shared(parser, "model", "values")
    add = parser.group("samples")
    add("--n", type=positive, required=True, metavar="N", help="number of runs")
    spread = 'value that varies, such as "k=uniform(1e4,2e4)" or "q(body)=normal(0,0.01)" (may be repeated)'
    add("--vary", **NAMED, type=_varied, metavar="NAME=HOW", help=spread)
    add("--sampling", choices=HOW, help=f"how values are drawn together (default: {HOW[0]})")
    add("--seed", type=whole, metavar="N", help="the same seed draws the same values (default: 0)")
    shared(parser, "start", "input", "compile")
    run_options(parser)
    event_options(parser)
    add = parser.group("run")
    add(
        "--output-every",
        type=positive,
        metavar="N",
        help="use every N-th step for metrics (default: that of the model)",
    )
    add("--backend", choices=BACKENDS, help="how the runs are computed (default: auto)")
    add("--precision", choices=PRECISIONS, help="precision of vectorised runs (default: double)")
    add = parser.group("output")
    add("--channels", **MANY, metavar="NAME", help="channel of the metrics (may be repeated) (default: all outputs)")
    metrics = f"metric of each channel: {', '.join(TEXTS)} (may be repeated) (default: final)"
    add("--metrics", **MANY, type=_metric, metavar="NAME", help=metrics)
    add("--out", metavar="FILE", help=f"write a row for each run ({', '.join(TABLES)})")
    add("--plot", metavar="FILE", help="plot bands of the channels over time")
    shared(parser, "json")


def _varied(text: str) -> tuple[str, Any]:
    """k=uniform(1e4,2e4)"""
    name, equals, spread_text = text.rpartition("=")
    if not equals or not name.strip():
        raise ArgumentTypeError(f"{text!r} is not like k=uniform(1,2)")
    try:
        return name.strip(), read_spread(spread_text)
    except bc.ModelError as error:
        raise ArgumentTypeError(str(error)) from None


def _metric(text: str) -> str:
    """rms, percentile(95)"""
    try:
        read_kind(text, repr(text))
    except bc.ModelError as error:
        raise ArgumentTypeError(str(error)) from None
    return text.strip().lower()


def command(args: Namespace) -> int:
    if args.out and Path(args.out).suffix.lower() not in TABLES:
        raise bc.RunError(f"cannot write {args.out}: a table ends in {' or '.join(TABLES)}")
    if args.plot:
        check_ending(args.plot)
    for path in filter(None, (args.out, args.plot)):
        in_folder(path)  # before all runs, not after them
    equations = derive(args)
    values: dict[str, Any] = {"parameters": settings(args, equations), "initial": start_values(args), "inputs": {}}
    if args.input:
        values["inputs"] = read_inputs(args.input, equations)
    with Progress("compiling"):
        sim = equations.compile(**given(speed="quick" if args.quick else None))
    for name, spread in args.vary:
        group = values[_group(sim, name)]
        if find_name(name, map(text_of, group)) is not None:
            raise bc.ModelError(f"'{name}' varies from run to run by --vary, but has a fixed value as well")
        group[name] = spread
    for name in args.channels:
        channel_of(sim.interface, name, "--channels")
    channels = args.channels or list(equations.outputs) or [x.name for x in sim.interface.states]
    metrics = {name: args.metrics or ["final"] for name in channels}
    batch_options = given(
        output_every=args.output_every,
        sampling=args.sampling,
        seed=args.seed,
        backend=args.backend,
        precision=args.precision,
    )
    with Progress("running") as progress:
        batch = sim.simulate_many(
            args.n, channels=channels if args.plot else None, metrics=metrics, progress=progress.report, **values,
            **batch_options, **run_settings(args), **event_settings(args),
        )  # fmt: skip
    if args.out:
        batch.save(args.out)
    if args.plot:
        batch.plot(path=args.plot)
    figures = _figures(batch)
    print(json.dumps(figures, indent=2) if args.json else _text(equations, batch, figures, args))
    return FINE if not figures["ended_early"] else ENDED_EARLY


def _group(sim: Any, name: str) -> str:
    """Where a name that varies belongs."""
    kind = sim.interface.find(name, (*PARAMETERS, "unused", "input", *STATES), "--vary").kind
    return "inputs" if kind == "input" else "initial" if kind in STATES else "parameters"


def _figures(batch: bc.Many) -> dict[str, Any]:
    """All figures, ready for JSON."""
    early = {i: text for i, text in enumerate(batch.ended) if text != "finished"}
    summaries: dict[str, Any] = {}
    for name, x in batch.metric_values.items():
        finite = x[np.isfinite(x)]
        statistics = (
            [float(v) for v in (finite.mean(), *np.percentile(finite, PERCENTILES))] if len(finite) else [None] * 4
        )
        summaries[name] = dict(zip(("mean", *(f"p{p}" for p in PERCENTILES)), statistics, strict=True))
    return {
        "runs": len(batch), **batch.settings, "notes": batch.notes, "figures": summaries, "ended_early": len(early),
        "told": dict(list(early.items())[:TOLD]),
    }  # fmt: skip


def _text(equations: bc.Equations, batch: bc.Many, f: dict[str, Any], args: Namespace) -> str:
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
    return "\n".join([heading(equations), table(rows, None, "<<"), "", table(summary_rows, head, "<>>>><")])
