"""`bellcrank page`: a model that runs in the browser, in one file."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from bellcrank.cli.files import in_folder
from bellcrank.cli.model import derive
from bellcrank.cli.options import shared


def options(parser: ArgumentParser) -> None:
    add = parser.add_argument
    shared(parser, "model")
    add("--out", metavar="FILE", help="the page to write (default: named after the model, .html)")
    add("--slider", action="append", metavar="NAME", help="a parameter whose slider stands first (repeatable)")
    add("--plot", action="append", metavar="CHANNEL", help="a channel to plot (repeatable)")
    add("--title", help="the title of the page (default: the name of the model)")


def command(args: Namespace) -> None:
    path = in_folder(args.out or f"{Path(args.model).stem}.html")
    page = derive(args).page(path, sliders=args.slider, plots=args.plot, title=args.title)
    print(f"wrote {path}, {len(page.text.encode()) / 1000:.0f} kB")
