"""`bellcrank identify`: parameters of a model or of a car from logs."""

from __future__ import annotations

import json
from argparse import ArgumentTypeError, Namespace
from typing import Any

import bellcrank as bc
from bellcrank.cli.files import in_folder, is_script
from bellcrank.cli.model import derive, settings
from bellcrank.cli.options import MANY, NAMED, OF_MODEL, ends_in, given, number_of, positive, real, shared, start_values
from bellcrank.cli.parser import CommandParser
from bellcrank.cli.progress import Progress
from bellcrank.cli.suspension import is_both, is_car
from bellcrank.cli.text import print_written
from bellcrank.files.html import PAGES
from bellcrank.library.vehicles.files import is_motorcycle
from bellcrank.optimize import Fit, Recording


def options(parser: CommandParser) -> None:
    shared(parser, "model", "values", "start")
    add = parser.group("measurements")
    add("--log", **MANY, required=True, metavar="FILE", help="log of a run (may be repeated)")
    add("--map", metavar="FILE.toml", help="table of the columns of all logs: channel, column, unit, scale, offset, "
        "delay (default: names of columns are those of channels)")  # fmt: skip
    add("--channels", metavar="NAMES", help="channels to compare, separated by commas (default: all that logs have)")
    add("--weight", **NAMED, type=number_of, metavar="CHANNEL=W", help="one over the standard deviation of the noise "
        "(may be repeated) (default: estimated)")  # fmt: skip
    add = parser.group("search")
    add("--fit", **NAMED, required=True, type=bounded, metavar="NAME[=LOW:HIGH]", help="parameter, initial value or "
        "sensor to find, such as k=1e4:3e4, \"q(body)\", az.offset; of a car also a key of its file, "
        "\"front.spring.stiffness=25:45 N/mm\" (may be repeated)")  # fmt: skip
    add("--first", **NAMED, type=number_of, metavar="NAME=VALUE", help="value to begin with (may be repeated) "
        f"{OF_MODEL}")  # fmt: skip
    add("--iterations", type=positive, default=50, metavar="N", help="most iterations (default: %(default)d)")
    add = parser.group("run")
    add("--speed", type=real, metavar="KM/H", help="speed of a car at the beginning, where logs have none")
    add("--step", type=real, metavar="S", help=f"time step in s {OF_MODEL}")
    add("--method", metavar="NAME", help=f"method of integration {OF_MODEL}")
    add = parser.group("output")
    add("--plot", metavar="FILE", help="overlay of measurement, run before and run after (.png, .svg, .pdf)")
    add("--report", type=ends_in(*PAGES), metavar="FILE", help="write a page: values, intervals, correlation, errors "
        "and overlays (.html)")  # fmt: skip
    shared(parser, "json")


def bounded(text: str) -> tuple[str, Any]:
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
    return name.strip(), (f"{low!r} {unit.strip()}", f"{high!r} {unit.strip()}") if unit.strip() else (low, high)


def command(args: Namespace) -> None:
    fit = _fitted(args)
    paths = []
    if args.plot:
        fit.plot(in_folder(args.plot))
        paths.append(args.plot)
    if args.report:
        paths.append(str(fit.page(in_folder(args.report))))
    if args.json:
        print(json.dumps(fit.to_dict(), indent=2))
        return
    print(fit)
    print_written(*paths)


def _fitted(args: Namespace) -> Fit:
    if is_script(args.model):
        raise bc.ModelError("identify takes models of Python, decks and cars, not AUTOLEV scripts")
    logs = [Recording(path, args.map) for path in args.log]
    fit_options: dict[str, Any] = given(step=args.step, method=args.method)
    fit_options |= {"weights": dict(args.weight) or None, "start": dict(args.first), "max_iterations": args.iterations}
    if args.channels:
        fit_options["channels"] = [c.strip() for c in args.channels.split(",")]
    if (is_car(args.model) or is_both(args.model)) and not is_motorcycle(args.model):
        for option in ("set", "initial", "guess", "arg"):
            if getattr(args, option):
                raise bc.ModelError(f"--{option} is for models; values of a car are those of its file")
        if fit_options.pop("step", None) is not None:
            raise bc.ModelError("--step is for models; cars have steps of 1 ms")
        with Progress("searching") as progress:
            return bc.manoeuvres.identify(
                args.model, logs, dict(args.fit), speed=args.speed, progress=progress.report, **fit_options
            )
    if args.speed is not None:
        raise bc.ModelError("--speed is for cars")
    with_units = [name for name, bounds in args.fit if isinstance(bounds, tuple) and isinstance(bounds[0], str)]
    if with_units:
        raise bc.ModelError(f"--fit {with_units[0]}: bounds of models are numbers in user units")
    equations = derive(args)
    with Progress("compiling"):
        sim = equations.compile()
    fixed = settings(args, equations)
    with Progress("searching") as progress:
        return bc.optimize.fit(
            sim, logs, dict(args.fit), fixed=fixed, initial=start_values(args), progress=progress.report, **fit_options
        )
