"""`bellcrank picture`: what a model looks like, at its start or at several times of its run."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

import bellcrank as bc
from bellcrank.cli.files import in_folder, is_script, read_inputs
from bellcrank.cli.model import derive, load, settings
from bellcrank.cli.options import MANY, compile_settings, run_options, run_settings, shared, start_values
from bellcrank.cli.progress import Progress


def options(parser: ArgumentParser) -> None:
    add = parser.add_argument
    shared(parser, "model", "values", "compile", "start", "input")
    run_options(parser)
    add("--out", metavar="FILE", help="the picture: .png, .svg or .pdf (default: named after the model, .png)")
    add("--at", **MANY, type=float, metavar="S", help="a time of the run in s (may be repeated); without, the start")
    add("--title", metavar="TEXT", help="what stands above the picture (default: the name of the model)")


def command(args: Namespace) -> None:
    if is_script(args.model):
        raise bc.ModelError(f"{args.model}: an AUTOLEV script names points and vectors, but no bodies to be drawn")
    path = in_folder(args.out or f"{Path(args.model).stem}.png")
    system = load(args)
    if args.at:
        equations = derive(args, system)
        inputs = read_inputs(args.input, equations) if args.input else {}
        given: dict[str, Any] = {
            "parameters": settings(args, equations),
            "initial": start_values(args),
            "inputs": inputs,
        }
        with Progress("running") as progress:
            sim = equations.compile(**compile_settings(args))
            run = sim.simulate(progress=progress.tell, **run_settings(args), **given)
        run.picture(path, at=args.at, title=args.title)
    else:
        with Progress("drawing"):
            system.picture(path, initial=start_values(args) or None, parameters=dict(args.set), title=args.title)
    print(f"wrote {path}")
