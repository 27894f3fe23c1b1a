"""`bellcrank picture`: what a model looks like, at its start or at several times of its run."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any

import bellcrank as bc
from bellcrank.cli.files import is_script, prepare_output_path, read_input_files
from bellcrank.cli.load_model import derive_model_equations, load_model_argument, parameter_settings
from bellcrank.cli.options import (
    REPEATABLE_OPTION,
    add_shared_options,
    compile_settings,
    initial_values_and_guesses,
    parse_float,
    run_options,
    run_settings,
)
from bellcrank.cli.parser import CommandParser
from bellcrank.cli.progress import ProgressReporter


def add_options(parser: CommandParser) -> None:
    add_shared_options(parser, "model", "values")
    add = parser.group("picture")
    add(
        "--at",
        **REPEATABLE_OPTION,
        type=parse_float,
        metavar="S",
        help="time of the run in s (may be repeated) (default: the initial state)",
    )
    add("--title", metavar="TEXT", help="title of the picture (default: the name of the model)")
    add_shared_options(parser, "start", "input", "backend", "compile")
    run_options(parser)
    out_help = "picture: .png, .svg or .pdf (default: named after the model, .png)"
    parser.group("output")("--out", metavar="FILE", help=out_help)


def run_command(args: Namespace) -> None:
    if is_script(args.model):
        raise bc.ModelError(
            f"{args.model}: an AUTOLEV script names points and vectors, but no bodies to be drawn"
        )
    path = prepare_output_path(args.out or f"{Path(args.model).stem}.png")
    system = load_model_argument(args)
    if args.at:
        equations = derive_model_equations(args, system)
        inputs = read_input_files(args.input, equations) if args.input else {}
        values: dict[str, Any] = {
            "parameters": parameter_settings(args, equations),
            "initial": initial_values_and_guesses(args),
            "inputs": inputs,
        }
        with ProgressReporter("running") as progress:
            sim = equations.compile(**compile_settings(args))
            run = sim.simulate(progress=progress.set_fraction, **run_settings(args), **values)
        run.picture(path, at=args.at, title=args.title)
    else:
        with ProgressReporter("drawing"):
            system.picture(
                path,
                initial=initial_values_and_guesses(args) or None,
                parameters=dict(args.set),
                title=args.title,
            )
    print(f"wrote {path}")
