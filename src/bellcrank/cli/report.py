"""`bellcrank report`: one page about a model."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from bellcrank.cli.files import prepare_output_path
from bellcrank.cli.load_model import load_model_argument
from bellcrank.cli.options import (
    add_shared_options,
    file_type_with_suffix,
    given_options,
    parse_positive_integer,
    run_options,
    run_settings,
)
from bellcrank.cli.parser import CommandParser
from bellcrank.cli.progress import ProgressReporter
from bellcrank.core.files.html import PAGES
from bellcrank.verify.report_page import write_report


def add_options(parser: CommandParser) -> None:
    add_shared_options(parser, "model", "values")
    add = parser.group("report")
    add(
        "--states",
        type=parse_positive_integer,
        default=5,
        metavar="N",
        help="random states of the check (default: %(default)s)",
    )
    add("--no-check", action="store_true", help="omit the check")
    add("--no-run", action="store_true", help="omit the run")
    add_shared_options(parser, "backend")
    run_options(parser)
    out_help = "file to write (default: named after the model, .html)"
    parser.group("output")(
        "--out", type=file_type_with_suffix(*PAGES), metavar="FILE", help=out_help
    )


def run_command(args: Namespace) -> None:
    system = load_model_argument(args)
    path = prepare_output_path(args.out or f"{Path(args.model).stem}.html")
    settings = {
        **given_options(solve=args.solve, backend=args.backend),
        **run_settings(args),
        "parameters": dict(args.set),
    }
    with ProgressReporter("writing the report"):
        write_report(
            system,
            path,
            states=0 if args.no_check else args.states,
            run=not args.no_run,
            **settings,
        )
    print(f"wrote {path}")
