"""`bellcrank fmu`: a functional mock-up unit."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from bellcrank.cli.model import derive
from bellcrank.cli.options import shared
from bellcrank.cli.parser import CommandParser
from bellcrank.cli.progress import Progress


def options(parser: CommandParser) -> None:
    shared(parser, "model")
    add = parser.group("output")
    add("--fmi", type=int, default=2, choices=(2, 3), help="version of FMI (default: %(default)s)")
    platform = (
        "host: this machine; all, or names separated by commas, such as x86_64-linux,x86_64-windows: by the Python"
        " package ziglang; sources: no library (default: %(default)s)"
    )
    add("--platform", default="host", metavar="NAME", help=platform)
    add("--out", metavar="FILE", help="file to write (default: named after the model, .fmu)")


def command(args: Namespace) -> None:
    equations = derive(args)
    path = Path(args.out or f"{Path(args.model).stem}.fmu")
    with Progress("writing the FMU"):
        equations.write_fmu(path, fmi=args.fmi, platforms=args.platform)
    print(equations.summary())
    print(f"wrote {path}")
