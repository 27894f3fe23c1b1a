"""`bellcrank report`: one page about a model."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from bellcrank.cli.files import in_folder
from bellcrank.cli.model import load
from bellcrank.cli.options import ends_in, given, positive, run_options, run_settings, shared
from bellcrank.cli.parser import CommandParser
from bellcrank.cli.progress import Progress
from bellcrank.files.html import PAGES
from bellcrank.verify.page import write_report


def options(parser: CommandParser) -> None:
    shared(parser, "model", "values")
    add = parser.group("report")
    add("--states", type=positive, default=5, metavar="N", help="random states of the check (default: %(default)s)")
    add("--no-check", action="store_true", help="omit the check")
    add("--no-run", action="store_true", help="omit the run")
    shared(parser, "backend")
    run_options(parser)
    out_help = "file to write (default: named after the model, .html)"
    parser.group("output")("--out", type=ends_in(*PAGES), metavar="FILE", help=out_help)


def command(args: Namespace) -> None:
    system = load(args)
    path = in_folder(args.out or f"{Path(args.model).stem}.html")
    settings = {**given(solve=args.solve, backend=args.backend), **run_settings(args), "parameters": dict(args.set)}
    with Progress("writing the report"):
        write_report(system, path, states=0 if args.no_check else args.states, run=not args.no_run, **settings)
    print(f"wrote {path}")
