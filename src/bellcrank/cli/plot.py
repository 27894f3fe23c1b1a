"""`bellcrank plot`: pictures of runs that were saved."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

import bellcrank as bc
from bellcrank.cli.files import prepare_output_path
from bellcrank.cli.parser import CommandParser
from bellcrank.core.files.format_choice import FORMATS
from bellcrank.simulation.run.result import Run
from bellcrank.simulation.run.run_plots import plot_runs


def add_options(parser: CommandParser) -> None:
    add = parser.group("plot")
    add(
        "words",
        nargs="+",
        metavar="FILE CHANNEL",
        help=f"files of runs ({', '.join(FORMATS)}), then names of channels",
    )
    add("--against", metavar="CHANNEL", help="channel of the horizontal axis (default: time)")
    add("--title", metavar="TEXT", help="title of the plot (default: the name of the run)")
    add("--list", action="store_true", help="list the channels instead")
    out_help = (
        "picture (.png, .svg, .pdf) or interactive page (.html) (default: named after the first "
        "file, .png)"
    )
    parser.group("output")("--out", metavar="FILE", help=out_help)


def run_command(args: Namespace) -> None:
    files = [w for w in args.words if Path(w).suffix.lower() in FORMATS]
    channels = [w for w in args.words if w not in files]
    if not files:
        raise bc.RunError(
            f"no file is named: '{args.words[0]}' does not end in {', '.join(FORMATS)}"
        )
    runs = [Run.read(f) for f in files]
    if args.list:
        width, labels = max((len(name) for name in runs[0]), default=1), runs[0].labels
        label_text = {n: "" if labels[n] == n else labels[n] for n in runs[0]}
        print(
            "\n".join(
                f"  {n:{width}}  {runs[0].units[n]:10}  {label_text[n]}".rstrip() for n in runs[0]
            )
        )
        return
    path = prepare_output_path(args.out or str(Path(files[0]).with_suffix(".png")))
    plot_runs(
        runs,
        channels,
        against=args.against,
        path=path,
        title=args.title,
        names=_distinct_labels(files),
    )
    print(f"wrote {path}")


def _distinct_labels(files: list[str]) -> list[str]:
    """File names where they differ, else whole paths."""
    stems = [Path(f).stem for f in files]
    return stems if len(set(stems)) == len(stems) else files
