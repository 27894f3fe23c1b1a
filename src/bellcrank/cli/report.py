"""`bellcrank report`: one page about a model."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

import bellcrank as bc
from bellcrank.cli.codes import FINE
from bellcrank.cli.files import make_folder
from bellcrank.cli.model import load
from bellcrank.cli.options import given, positive, run_options, run_settings, shared
from bellcrank.cli.progress import Progress
from bellcrank.verify.page import write_report


def options(parser: ArgumentParser) -> None:
    shared(parser, "model", "values")
    parser.add_argument("--out", metavar="FILE", help="the page to write (default: named after the model, .html)")
    parser.add_argument(
        "--states", type=positive, default=5, metavar="N", help="random states of the check (default 5)"
    )
    run_options(parser)
    parser.add_argument("--no-check", action="store_true", help="leave out the check")
    parser.add_argument("--no-run", action="store_true", help="leave out the run")


def command(args: Namespace) -> int:
    system: bc.System = load(args)
    path = args.out or f"{Path(args.model).stem}.html"
    make_folder(path)
    with Progress("writing the report"):
        write_report(
            system, path, states=0 if args.no_check else args.states, run=not args.no_run, parameters=dict(args.set),
            **given(solve=args.solve, backend=args.backend), **run_settings(args),
        )  # fmt: skip
    print(f"wrote {path}")
    return FINE
