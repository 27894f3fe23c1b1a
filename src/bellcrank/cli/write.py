"""`bellcrank write`: a stand-alone program."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from bellcrank.cli.model import derive
from bellcrank.cli.options import events_given, shared, watched_options
from bellcrank.cli.parser import CommandParser
from bellcrank.export.embedded.write import PRECISIONS
from bellcrank.export.programs import PURPOSES


def options(parser: CommandParser) -> None:
    shared(parser, "model")
    watched_options(parser)
    add = parser.group("output")
    add("--language", default="c", metavar="NAME", help="c, fortran or python (default: %(default)s)")
    purpose = (
        "program: stands alone; embedded: C that a controller calls step by step; simulink: an S-function"
        " (default: %(default)s)"
    )
    add("--for", dest="purpose", default=PURPOSES[0], choices=PURPOSES, help=purpose)
    precision = "precision of embedded C (default: %(default)s)"
    add("--precision", default="double", choices=PRECISIONS, help=precision)
    add("--out", metavar="FOLDER", help="folder to write to (default: named after model and language)")


def command(args: Namespace) -> None:
    equations = derive(args)
    alone = args.purpose == PURPOSES[0]
    folder = args.out or f"{Path(args.model).stem}_{args.language if alone else args.purpose}"
    path = equations.write(args.language, folder, purpose=args.purpose, precision=args.precision, **events_given(args))
    print(equations.summary())
    if alone:
        for parameters in sorted(path.parent.glob("*.par"), key=lambda p: p.stat().st_mtime)[-1:]:
            python = f"to run it: cd {path.parent} && python {parameters.stem}.py"
            compiled = f"to build and run it: make -C {path.parent} run"
            print(f"{python if args.language == 'python' else compiled}   (input: {parameters.name})")
    elif args.purpose == "simulink":
        block = max(path.parent.glob("*_sfun.c"), key=lambda p: p.stat().st_mtime)
        print(f"in MATLAB: mex {block.name} {path.name}   (interface: {path.stem}.h)")
    else:
        print(f"to time its steps on this machine: make -C {path.parent} run   (interface: {path.stem}.h)")
    print(f"wrote {path}")
