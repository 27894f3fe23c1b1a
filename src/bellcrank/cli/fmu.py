"""`bellcrank fmu`: a functional mock-up unit."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from bellcrank.cli.model import derive
from bellcrank.cli.options import shared
from bellcrank.cli.progress import Progress


def options(parser: ArgumentParser) -> None:
    shared(parser, "model")
    parser.add_argument("--fmi", type=int, default=2, metavar="N", help="version of FMI: 2 (default) or 3")
    parser.add_argument(
        "--platform", default="host", metavar="NAME",
        help="host (default): this machine; all, or names separated by commas, such as x86_64-linux,x86_64-windows: by"
        " the Python package ziglang; sources: no library",
    )  # fmt: skip
    parser.add_argument("--out", metavar="FILE", help="where to write (default: named after the model, .fmu)")


def command(args: Namespace) -> None:
    equations = derive(args)
    path = Path(args.out or f"{Path(args.model).stem}.fmu")
    with Progress("making the unit"):
        equations.write_fmu(path, fmi=args.fmi, platforms=args.platform)
    print(equations.summary())
    print(f"wrote {path}")
