"""`bellcrank write`: `bellcrank export` of programs, which are chosen by language and purpose."""

from __future__ import annotations

from argparse import Namespace

import bellcrank as bc
from bellcrank.cli.export import export_from_arguments, format_options
from bellcrank.cli.options import add_shared_options
from bellcrank.cli.parser import CommandParser

LANGUAGES = ("c", "fortran", "python")
CALLED = ("embedded", "simulink")  # by others, in C


def add_options(parser: CommandParser) -> None:
    add_shared_options(parser, "model")
    add = parser.group("output")
    add(
        "--language",
        default="c",
        metavar="NAME",
        help="c, fortran or python (default: %(default)s)",
    )
    purpose = (
        "program: stands alone; embedded: C that a controller calls step by step; simulink: "
        "an S-function"
        " (default: %(default)s)"
    )
    add("--for", dest="purpose", default="program", choices=("program", *CALLED), help=purpose)
    format_options(parser, *LANGUAGES, *CALLED)


def run_command(args: Namespace) -> None:
    if args.language not in LANGUAGES:
        raise bc.ModelError(
            f"--language '{args.language}' is not known; it is one of {', '.join(LANGUAGES)}"
        )
    if args.purpose in CALLED and args.language != "c":
        raise bc.ModelError(f"--for {args.purpose} is written in C, not in {args.language}")
    export_from_arguments(args, args.purpose if args.purpose in CALLED else args.language)
