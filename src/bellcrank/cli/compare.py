"""`bellcrank compare`: constraint methods compared."""

from __future__ import annotations

import json
from argparse import ArgumentTypeError, Namespace

import bellcrank as bc
from bellcrank.cli.files import prepare_output_path, read_input_files
from bellcrank.cli.load_model import load_model_argument, parameter_settings
from bellcrank.cli.options import (
    add_shared_options,
    given_options,
    initial_values_and_guesses,
    run_options,
    run_settings,
)
from bellcrank.cli.parser import CommandParser
from bellcrank.cli.progress import ProgressReporter
from bellcrank.cli.report_text import aligned_text_table


def add_options(parser: CommandParser) -> None:
    add_shared_options(parser, "model", "values")
    add = parser.group("comparison")
    add(
        "--dae",
        type=parse_names,
        metavar="NAMES",
        help="methods to compare, such as projection,dlmm (default: all)",
    )
    until = "times at which drift is reported (default: t_end/100, t_end/10, t_end)"
    add("--horizons", type=parse_times, metavar="S,S,...", help=until)
    add(
        "--free-fall",
        action="store_true",
        help="also correct accelerations without the constraint forces",
    )
    add("--no-limits", action="store_true", help="do not search for the largest stable steps")
    add_shared_options(parser, "start", "input", "backend")
    run_options(parser, "the runs", fixed=True)
    add_shared_options(parser, "json")
    plot = "plot residuals and errors of the energy (.png, .svg, .pdf)"
    parser.group("output")("--plot", metavar="FILE", help=plot)


def parse_names(text: str) -> list[str]:
    """projection,dlmm"""
    return [name.strip() for name in text.split(",") if name.strip()]


def parse_times(text: str) -> list[float]:
    """1,10,100"""
    try:
        return [float(x) for x in text.split(",")]
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is not a list of times such as 1,10,100") from None


def run_command(args: Namespace) -> None:
    system = load_model_argument(args)
    with ProgressReporter("deriving the equations of motion"):
        usual = system.equations(**given_options(solve=args.solve))
    inputs = read_input_files(args.input, usual) if args.input else None
    with ProgressReporter("comparing") as progress:
        result = bc.compare(
            system,
            free_fall=args.free_fall,
            limits=not args.no_limits,
            parameters=parameter_settings(args, usual) or None,
            initial=initial_values_and_guesses(args) or None,
            inputs=inputs,
            progress=progress.set_fraction,
            **run_settings(args),
            **given_options(methods=args.dae, horizons=args.horizons, backend=args.backend),
        )
    if args.plot:
        result.plot(prepare_output_path(args.plot))
    print(
        json.dumps(result.as_dict(), indent=2) if args.json else comparison_text(result, args.plot)
    )


def comparison_text(result: bc.Comparison, plot: str | None) -> str:
    """The table."""
    drift_heads = [f"drift {x:g} s" for x in result.horizons]
    head = [
        "method",
        *drift_heads,
        "speeds",
        "error",
        "energy",
        "operations",
        "us/step",
        "largest step",
    ]
    rows = []
    for r in result.rows:
        residuals = [f"{x:.1e}" for x in (*r.drift, r.speed, r.error)]
        energy, limit = (
            "-" if r.energy is None else f"{r.energy:.1e}",
            "-" if r.limit is None else f"{r.limit:.3g} s",
        )
        rows.append([r.name, *residuals, energy, str(r.operations), f"{r.microseconds:.3g}", limit])
    lines = [
        f"{result.model}: {result.method}, step {result.step:g} s, to t = {result.t_end:g} "
        f"s, in {result.backend}",
        aligned_text_table(rows, head, "<" + ">" * (len(head) - 1)),
        "",
        "drift, speeds: largest residuals of positions and speeds;"
        " error, energy: against the default with an eighth of the step",
    ]
    lines += [f"{r.name}: {r.ended}" for r in result.rows if r.ended != "finished"]
    return "\n".join([*lines, *([f"wrote {plot}"] if plot else [])])
