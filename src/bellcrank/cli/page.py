"""`bellcrank page`: a model that runs in the browser, in one file."""

from __future__ import annotations

from argparse import ArgumentTypeError, Namespace
from pathlib import Path
from typing import Any

import bellcrank as bc
from bellcrank.cli.files import in_folder
from bellcrank.cli.model import derive
from bellcrank.cli.options import NAMED, shared
from bellcrank.cli.parser import CommandParser
from bellcrank.cli.progress import Progress


def options(parser: CommandParser) -> None:
    shared(parser, "model")
    add = parser.group("page")
    slider = "a parameter or input whose slider stands first, and its ends (may be repeated)"
    add("--slider", **NAMED, type=_slider, metavar="NAME[=LOW:HIGH]", help=slider)
    add("--plot", action="append", metavar="CHANNEL", help="a channel to plot (may be repeated) (default: outputs)")
    add("--run", metavar="FILE", help="a saved run of the model that the page also plays (.csv, .erd ...)")
    add("--modes", action="store_true", help="also show the modes of small motions about the equilibrium")
    add("--title", metavar="TEXT", help="title of the page (default: the name of the model)")
    parser.group("output")("--out", metavar="FILE", help="file to write (default: named after the model, .html)")


def _slider(text: str) -> tuple[str, tuple[float, float] | None]:
    """A name, or a name with two ends."""
    name, given, ends = text.partition("=")
    if not given:
        return name, None
    low, _, high = ends.partition(":")
    try:
        return name, (float(low), float(high))
    except ValueError:
        raise ArgumentTypeError(f"{text!r}: give NAME, or NAME=LOW:HIGH") from None


def command(args: Namespace) -> None:
    path = in_folder(args.out or f"{Path(args.model).stem}.html")
    equations, more = derive(args), dict[str, Any]()
    if args.run:
        more["run"] = bc.read(args.run)
    if args.modes:
        with Progress("linearising"):
            more["modes"] = equations.compile().linearize("equilibrium", wrt=(), outputs=())
    page = equations.page(path, sliders=dict(args.slider), plots=args.plot, title=args.title, **more)
    print(f"wrote {path}, {len(page.text.encode()) / 1000:.0f} kB")
