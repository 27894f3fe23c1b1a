"""`bellcrank drive`: manoeuvres of a car, with their metrics."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentTypeError, Namespace
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, cast

from bellcrank.choices import ManoeuvreName
from bellcrank.cli.codes import CHECK_FAILED, FINE
from bellcrank.cli.experiment import parse_varied_key, show_experiment
from bellcrank.cli.files import prepare_output_path
from bellcrank.cli.options import (
    ANIMATIONS,
    CASELESS_VALUE_OPTION,
    REPEATABLE_OPTION,
    add_shared_options,
    file_type_with_suffix,
    given_options,
    parse_argument,
    parse_float,
    parse_positive_integer,
)
from bellcrank.cli.parser import CommandParser
from bellcrank.cli.progress import ProgressReporter
from bellcrank.cli.report_text import aligned_text_table, print_written
from bellcrank.codegen.identifiers import safe_identifier
from bellcrank.core.errors import ModelError, RunError, did_you_mean
from bellcrank.core.files.html import PAGES
from bellcrank.simulation.run.argument_checks import METHODS, canonical_method
from bellcrank.vehicles.cars.car import Car
from bellcrank.vehicles.manoeuvres import (
    Result,
    Setting,
    applicable_names,
    known,
    load_targets,
    run,
    write_report_page,
)
from bellcrank.vehicles.manoeuvres.car_comparison import (
    CarResults,
    cars_with_setups,
    label_cars,
    run_all,
)
from bellcrank.vehicles.manoeuvres.compiled_car import METHOD

ALL_MANOEUVRES = "all"


def add_options(parser: CommandParser) -> None:
    add = parser.group("car and manoeuvre")
    names = ", ".join(known())
    add(
        "words",
        nargs="*",
        metavar="CAR.toml ... NAME ...",
        help="one or more car files, or names of cars that come with Bellcrank; then one or more "
        "manoeuvres: "
        f"{names}, or {ALL_MANOEUVRES}. Without them all manoeuvres are listed with their settings",
    )
    setup = (
        "compare with a car that has the sections of a .toml file over its own (may be repeated)"
    )
    add("--setup", **REPEATABLE_OPTION, metavar="FILE", help=setup)
    add(
        "--speed",
        type=parse_float,
        metavar="KM/H",
        help="speed of manoeuvres that have one (default: that of the manoeuvre)",
    )
    add(
        "--set",
        **CASELESS_VALUE_OPTION,
        type=parse_argument,
        metavar="NAME=VALUE",
        help="setting of the manoeuvre (may be repeated)",
    )
    add(
        "--log",
        metavar="FILE",
        help="log that drives the manoeuvre recorded (.csv, .mf4, .mat ...)",
    )
    add(
        "--map",
        metavar="FILE.toml",
        help="table of its columns: channel, column, unit, scale, offset, delay",
    )
    add(
        "--vary",
        **REPEATABLE_OPTION,
        type=parse_varied_key,
        metavar="KEY=LOW:HIGH:N",
        help="values of a key of the car file, with a unit "
        "behind or in that of its section; all combinations are driven (may be repeated)",
    )
    add(
        "--samples",
        type=parse_positive_integer,
        metavar="N",
        help="samples of a Latin hypercube over the ranges of --vary",
    )
    add(
        "--sort",
        metavar="METRIC",
        help="metric by which set-ups are sorted (default: the first of the manoeuvre)",
    )
    add = parser.group("run")
    add(
        "--cores",
        type=parse_positive_integer,
        metavar="N",
        help="processes of --vary (default: all cores)",
    )
    add(
        "--cluster",
        metavar="ADDRESS",
        help="scheduler of a Dask cluster that drives --vary, such as tcp://127.0.0.1:8786",
    )
    add(
        "--method",
        type=_parse_method,
        metavar="NAME",
        help=f"{', '.join(METHODS)} (default: {METHOD})",
    )
    add = parser.group("output")
    add("--plot", metavar="FILE", help="plot the main channels (.png, .svg, .pdf)")
    add(
        "--animate",
        type=file_type_with_suffix(*ANIMATIONS),
        metavar="FILE",
        help="animate the manoeuvre with its path and cones (.gif, .mp4, .html)",
    )
    add(
        "--report",
        type=file_type_with_suffix(*PAGES),
        metavar="FILE",
        help="write one page: cars, kinematics, metrics and plots (.html)",
    )
    add(
        "--targets",
        metavar="FILE",
        help="limits of metrics in the report (.toml: sections are manoeuvres)",
    )
    add("--author", metavar="NAME", help="author of the report")
    add("--out", metavar="FOLDER", help="write metrics (.json) and runs (.csv)")
    add_shared_options(parser, "json")


def _parse_method(text: str) -> str:
    try:
        return canonical_method(text)
    except ModelError as error:
        raise ArgumentTypeError(str(error)) from None


def run_command(args: Namespace) -> int:
    if len(args.words) < 2:
        _list_manoeuvres(args)
        return FINE
    files, requested = cars_and_manoeuvres(args.words)
    for name in requested:
        if name not in known() and name != ALL_MANOEUVRES:
            suggestion = did_you_mean(name, [*known(), ALL_MANOEUVRES])
            raise ModelError(
                f"no manoeuvre is called '{name}'.{suggestion} There are "
                f"{', '.join(known())} and {ALL_MANOEUVRES}."
            )
    if args.vary:
        names = _expand_manoeuvre_names(requested)
        show_experiment(args, files, names, _manoeuvre_settings(args, names[0], len(names)))
        return FINE
    cars = label_cars(cars_with_setups(files, args.setup))
    names = _expand_manoeuvre_names(requested, cars)
    for option in ("plot", "animate"):
        if getattr(args, option) and len(names) * len(cars) > 1:
            raise ModelError(
                f"--{option} draws one manoeuvre of one car; for more give --report or --out"
            )
    if len(names) > 1 and args.set:
        raise ModelError(f"--set is for one manoeuvre, not for {len(names)}: settings differ")
    unwritten: list[str] = []
    if (args.targets or args.author) and not args.report:
        raise ModelError("--targets and --author are for a report: give --report FILE.html as well")
    targets = load_targets(args.targets)
    with ProgressReporter("driving") as progress:

        def run_one_manoeuvre(car: Car, name_driven: str) -> Result:
            return run(
                car,
                cast(ManoeuvreName, name_driven),
                **_manoeuvre_settings(args, name_driven, len(names)),
            )

        for car, name_driven in run_all(cars, names, run_one_manoeuvre, progress.report_next):
            if name_driven not in car.failures:
                unwritten += _report_manoeuvre(args, car, name_driven, len(cars) > 1)
            elif len(names) * len(cars) == 1:
                raise ModelError(car.failures[name_driven])
            else:
                print(
                    f"{car.label}: {name_driven}: not driven. {car.failures[name_driven]}",
                    file=sys.stderr,
                )
        progress.what = "writing the page"
        if args.report:
            write_report_page(prepare_output_path(args.report), cars, targets, args.author)
    if args.report and not args.json:
        print(f"wrote {args.report}")
    results = [r for car in cars for r in car.results.values()]
    if args.json:
        entries = [r.to_dict() for r in results]
        print(json.dumps(entries[0] if len(entries) == 1 else entries, indent=2))
    if unwritten:
        raise RunError("not all files were written: " + "; ".join(unwritten))
    not_passed = len(results) == 1 and (results[0].passed is False or results[0].invalid)
    failed = any(car.failures for car in cars) or not_passed
    return CHECK_FAILED if failed else FINE


def cars_and_manoeuvres(words: list[str]) -> tuple[list[str], list[str]]:
    """Files or names of cars, and manoeuvres behind them: the last word, and those before it that
    are names of some."""
    first = len(words) - 1
    while first > 1 and (words[first - 1] in known() or words[first - 1] == ALL_MANOEUVRES):
        first -= 1
    return words[:first], [*dict.fromkeys(words[first:])]


def _expand_manoeuvre_names(requested: Sequence[str], cars: Iterable[CarResults] = ()) -> list[str]:
    """Names of manoeuvres, with those that `all` is for these cars."""
    return [
        *dict.fromkeys(
            name
            for word in requested
            for name in (applicable_names(cars) if word == ALL_MANOEUVRES else [word])
        )
    ]


def _manoeuvre_settings(args: Namespace, name: str, count: int) -> dict[str, Any]:
    """Those of one of several manoeuvres; a speed is for those that have one."""
    setting_of = known()[name].settings if name in known() else {}
    settings = {
        k: _parse_number_list(v)
        if k in setting_of and isinstance(setting_of[k].default, tuple)
        else v
        for k, v in args.set
    }
    for key, value in given_options(
        speed=args.speed, method=args.method, log=args.log, map=args.map
    ).items():
        if key in setting_of or count == 1:
            if key in settings:
                raise ModelError(f"the {key} is given twice, by --{key} and by --set")
            settings[key] = value
    return settings


def _parse_number_list(value: Any) -> Any:
    """Numbers separated by commas, as they are typed."""
    try:
        return tuple(float(x) for x in value.split(",")) if isinstance(value, str) else (value,)
    except ValueError:
        return value


def _report_manoeuvre(args: Namespace, car: CarResults, name: str, several: bool) -> list[str]:
    """Prints and writes what was asked for about one manoeuvre; returns what could not be
    written."""
    result, paths, failed = car.results[name], [], []
    folder = Path(args.out or "") / (safe_identifier(car.label) if several else "")
    try:
        paths += result.save(folder) if args.out is not None else []
        paths += [result.plot(prepare_output_path(args.plot))] if args.plot else []
        if args.animate:
            with ProgressReporter("drawing") as progress:
                paths.append(
                    result.animate(
                        prepare_output_path(args.animate), progress=progress.set_fraction
                    )
                )
    except RunError as error:
        failed.append(str(error))
    if not args.json:
        print(result)
        print_written(*paths)
    return failed


def _default_text(setting: Setting) -> str:
    """The default of a setting, and that for trucks where it differs."""
    texts = ["" if setting.default is None else str(setting.default)]
    return ", ".join(texts if setting.truck is None else [*texts, f"trucks {setting.truck}"])


def _list_manoeuvres(args: Namespace) -> None:
    if args.json:
        listed = {
            n: {
                "words": m.words,
                "source": m.source,
                "settings": {k: vars(s) for k, s in m.settings.items()},
            }
            for n, m in known().items()
        }
        print(json.dumps(listed, indent=2))
        return
    for name, m in known().items():
        print(f"{name}: {m.words}" + (f" ({m.source})" if m.source else ""))
        rows = [[k, _default_text(s), s.unit, s.label] for k, s in m.settings.items()]
        print(aligned_text_table(rows, None, "<<<<"))
