"""`bellcrank picture`: what a model looks like, at its start or at several times of its run."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any

import bellcrank as bc
from bellcrank.cli.files import in_folder, is_script, read_inputs
from bellcrank.cli.model import derive, load, settings
from bellcrank.cli.options import MANY, compile_settings, real, run_options, run_settings, shared, start_values
from bellcrank.cli.parser import CommandParser
from bellcrank.cli.progress import Progress


def options(parser: CommandParser) -> None:
    shared(parser, "model", "values")
    add = parser.group("picture")
    add(
        "--at",
        **MANY,
        type=real,
        metavar="S",
        help="time of the run in s (may be repeated) (default: the initial state)",
    )
    add("--title", metavar="TEXT", help="title of the picture (default: the name of the model)")
    shared(parser, "start", "input", "backend", "compile")
    run_options(parser)
    out_help = "picture: .png, .svg or .pdf (default: named after the model, .png)"
    parser.group("output")("--out", metavar="FILE", help=out_help)


def command(args: Namespace) -> None:
    if is_script(args.model):
        raise bc.ModelError(f"{args.model}: an AUTOLEV script names points and vectors, but no bodies to be drawn")
    path = in_folder(args.out or f"{Path(args.model).stem}.png")
    system = load(args)
    if args.at:
        equations = derive(args, system)
        inputs = read_inputs(args.input, equations) if args.input else {}
        values: dict[str, Any] = {
            "parameters": settings(args, equations),
            "initial": start_values(args),
            "inputs": inputs,
        }
        with Progress("running") as progress:
            sim = equations.compile(**compile_settings(args))
            run = sim.simulate(progress=progress.report, **run_settings(args), **values)
        run.picture(path, at=args.at, title=args.title)
    else:
        with Progress("drawing"):
            system.picture(path, initial=start_values(args) or None, parameters=dict(args.set), title=args.title)
    print(f"wrote {path}")
