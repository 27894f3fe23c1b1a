"""`bellcrank page`: a model that runs in the browser, in one file."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from pathlib import Path
from typing import Any

import bellcrank as bc
from bellcrank.cli.files import in_folder
from bellcrank.cli.model import derive
from bellcrank.cli.options import NAMED, shared
from bellcrank.cli.progress import Progress


def options(parser: ArgumentParser) -> None:
    add = parser.add_argument
    shared(parser, "model")
    add("--out", metavar="FILE", help="the page to write (default: named after the model, .html)")
    add(
        "--slider", **NAMED, type=_slider, metavar="NAME[=LOW:HIGH]",
        help="a parameter or input whose slider stands first, and its ends (repeatable)",
    )  # fmt: skip
    add("--plot", action="append", metavar="CHANNEL", help="a channel to plot (repeatable)")
    add("--run", metavar="FILE", help="a run of the model, in a file, that the page plays, too (.csv, .erd ...)")
    add("--modes", action="store_true", help="show the modes of small movements about the equilibrium, too")
    add("--title", help="the title of the page (default: the name of the model)")


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
            more["modes"] = equations.compile().linearize("equilibrium", inputs=(), outputs=())
    page = equations.page(path, sliders=dict(args.slider), plots=args.plot, title=args.title, **more)
    print(f"wrote {path}, {len(page.text.encode()) / 1000:.0f} kB")
