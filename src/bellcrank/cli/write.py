"""`bellcrank write`: a stand-alone program."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from bellcrank.cli.model import derive
from bellcrank.cli.options import events_given, shared, watched_options


def options(parser: ArgumentParser) -> None:
    shared(parser, "model")
    parser.add_argument("--language", default="c", metavar="NAME", help="c (default), fortran or python")
    watched_options(parser)
    parser.add_argument("--out", metavar="FOLDER", help="where to write (default: named after model and language)")


def command(args: Namespace) -> None:
    equations = derive(args)
    folder = args.out or f"{Path(args.model).stem}_{args.language}"
    path = equations.write(args.language, folder, **events_given(args))
    (parameters,) = sorted(path.parent.glob("*.par"), key=lambda p: p.stat().st_mtime)[-1:]
    print(equations.summary())
    print(f"to build and run it: make -C {path.parent} run   (input: {parameters.name})")
    print(f"wrote {path}")
