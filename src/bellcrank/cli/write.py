"""`bellcrank write`."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from bellcrank.cli.codes import FINE
from bellcrank.cli.model import derive
from bellcrank.cli.options import model_options


def options(parser: ArgumentParser) -> None:
    model_options(parser)
    parser.add_argument("--language", default="c", metavar="NAME", help="c (default) or python")
    parser.add_argument("--out", metavar="FOLDER", help="where to write (default: named after model and language)")


def command(args: Namespace) -> int:
    """Derive the equations of motion and write the simulation program as source."""
    equations = derive(args)
    path = equations.write(args.language, args.out or f"{Path(args.model).stem}_{args.language}")
    print(f"{equations.summary()}\nwrote {path}")
    return FINE
