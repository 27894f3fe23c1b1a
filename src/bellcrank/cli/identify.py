"""`bellcrank identify`: parameters of a model or of a car from logs."""

from __future__ import annotations

import json
from argparse import ArgumentTypeError, Namespace
from typing import Any

import bellcrank as bc
from bellcrank.cli.files import is_script, prepare_output_path
from bellcrank.cli.load_model import derive_model_equations, parameter_settings
from bellcrank.cli.options import (
    NAMED_VALUE_OPTION,
    OF_MODEL,
    REPEATABLE_OPTION,
    add_shared_options,
    file_type_with_suffix,
    given_options,
    initial_values_and_guesses,
    parse_float,
    parse_number_option,
    parse_positive_integer,
)
from bellcrank.cli.parser import CommandParser
from bellcrank.cli.progress import ProgressReporter
from bellcrank.cli.report_text import print_written
from bellcrank.cli.suspension import is_ambiguous_name, is_car
from bellcrank.core.files.html import PAGES
from bellcrank.optimize import Fit, Recording
from bellcrank.vehicles.vehicle_loading import is_motorcycle


def add_options(parser: CommandParser) -> None:
    add_shared_options(parser, "model", "values", "start")
    add = parser.group("measurements")
    add(
        "--log",
        **REPEATABLE_OPTION,
        required=True,
        metavar="FILE",
        help="log of a run (may be repeated)",
    )
    add(
        "--map",
        metavar="FILE.toml",
        help="table of the columns of all logs: channel, column, unit, scale, offset, "
        "delay (default: names of columns are those of channels)",
    )
    add(
        "--channels",
        metavar="NAMES",
        help="channels to compare, separated by commas (default: all that logs have)",
    )
    add(
        "--weight",
        **NAMED_VALUE_OPTION,
        type=parse_number_option,
        metavar="CHANNEL=W",
        help="one over the standard deviation of the noise (may be repeated) (default: estimated)",
    )
    add = parser.group("search")
    add(
        "--fit",
        **NAMED_VALUE_OPTION,
        required=True,
        type=parse_bounds,
        metavar="NAME[=LOW:HIGH]",
        help="parameter, initial value or "
        'sensor to find, such as k=1e4:3e4, "q(body)", az.offset; of a car also a key of its file, '
        '"front.spring.stiffness=25:45 N/mm" (may be repeated)',
    )
    add(
        "--first",
        **NAMED_VALUE_OPTION,
        type=parse_number_option,
        metavar="NAME=VALUE",
        help=f"value to begin with (may be repeated) {OF_MODEL}",
    )
    add(
        "--iterations",
        type=parse_positive_integer,
        default=50,
        metavar="N",
        help="most iterations (default: %(default)d)",
    )
    add = parser.group("run")
    add(
        "--speed",
        type=parse_float,
        metavar="KM/H",
        help="speed of a car at the beginning, where logs have none",
    )
    add("--step", type=parse_float, metavar="S", help=f"time step in s {OF_MODEL}")
    add("--method", metavar="NAME", help=f"method of integration {OF_MODEL}")
    add = parser.group("output")
    add(
        "--plot",
        metavar="FILE",
        help="overlay of measurement, run before and run after (.png, .svg, .pdf)",
    )
    add(
        "--report",
        type=file_type_with_suffix(*PAGES),
        metavar="FILE",
        help="write a page: values, intervals, correlation, errors and overlays (.html)",
    )
    add_shared_options(parser, "json")


def parse_bounds(text: str) -> tuple[str, Any]:
    """NAME or NAME=LOW:HIGH, of a key of a car file with a unit behind."""
    name, equals, bounds = text.rpartition("=")
    if not equals:
        return text.strip(), None
    limits, _, unit = bounds.strip().partition(" ")
    try:
        low, high = (float(x) for x in limits.split(":"))
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is not NAME or NAME=LOW:HIGH") from None
    if not name.strip() or not low < high:
        raise ArgumentTypeError(f"{text!r}: LOW must lie below HIGH")
    return name.strip(), (
        f"{low!r} {unit.strip()}",
        f"{high!r} {unit.strip()}",
    ) if unit.strip() else (low, high)


def run_command(args: Namespace) -> None:
    fit = _run_fit(args)
    paths = []
    if args.plot:
        fit.plot(prepare_output_path(args.plot))
        paths.append(args.plot)
    if args.report:
        paths.append(str(fit.page(prepare_output_path(args.report))))
    if args.json:
        print(json.dumps(fit.to_dict(), indent=2))
        return
    print(fit)
    print_written(*paths)


def _run_fit(args: Namespace) -> Fit:
    if is_script(args.model):
        raise bc.ModelError("identify takes models of Python, decks and cars, not AUTOLEV scripts")
    logs = [Recording(path, args.map) for path in args.log]
    fit_options: dict[str, Any] = given_options(step=args.step, method=args.method)
    fit_options |= {
        "weights": dict(args.weight) or None,
        "start": dict(args.first),
        "max_iterations": args.iterations,
    }
    if args.channels:
        fit_options["channels"] = [c.strip() for c in args.channels.split(",")]
    if (is_car(args.model) or is_ambiguous_name(args.model)) and not is_motorcycle(args.model):
        for option in ("set", "initial", "guess", "arg"):
            if getattr(args, option):
                raise bc.ModelError(
                    f"--{option} is for models; values of a car are those of its file"
                )
        if fit_options.pop("step", None) is not None:
            raise bc.ModelError("--step is for models; cars have steps of 1 ms")
        with ProgressReporter("searching") as progress:
            return bc.vehicles.manoeuvres.identify(
                args.model,
                logs,
                dict(args.fit),
                speed=args.speed,
                progress=progress.set_fraction,
                **fit_options,
            )
    if args.speed is not None:
        raise bc.ModelError("--speed is for cars")
    with_units = [
        name
        for name, bounds in args.fit
        if isinstance(bounds, tuple) and isinstance(bounds[0], str)
    ]
    if with_units:
        raise bc.ModelError(f"--fit {with_units[0]}: bounds of models are numbers in user units")
    equations = derive_model_equations(args)
    with ProgressReporter("compiling"):
        sim = equations.compile()
    fixed = parameter_settings(args, equations)
    with ProgressReporter("searching") as progress:
        return bc.optimize.fit(
            sim,
            logs,
            dict(args.fit),
            fixed=fixed,
            initial=initial_values_and_guesses(args),
            progress=progress.set_fraction,
            **fit_options,
        )
