"""`bellcrank car`: files of cars, to begin, to check and to look at.

The file is a model: `bellcrank run car.toml`, `write`, `describe`, `analyse` and the others take it as it is.
"""

from __future__ import annotations

import json
from argparse import Namespace

from bellcrank.cli.codes import FINE
from bellcrank.cli.options import shared
from bellcrank.cli.parser import CommandParser
from bellcrank.cli.text import table
from bellcrank.cli.vehicle_files import begin_file, list_files, show_check
from bellcrank.errors import ModelError, RunError
from bellcrank.library.manoeuvres import handling as handling_of_car
from bellcrank.library.vehicles.car import Car, cars, template
from bellcrank.library.vehicles.checking import unusual
from bellcrank.library.vehicles.key_list import HEAD, POINT_HEAD, hard_points, keys, markdown


def options(parser: CommandParser) -> None:
    add = parser.group("car")
    add(
        "what",
        choices=("new", "check", "keys", "list"),
        help="new: write a commented file to start from; check: report unusual values of a car, and its metrics; "
        "keys: list all keys with units and usual values, and hard points by kind of suspension; list: name the cars "
        "that come with Bellcrank",
    )
    add("file", nargs="?", metavar="FILE.toml", help="the file of a car, or the name of one that comes with Bellcrank")
    add("--like", default="passenger", metavar="NAME", help="car that a new file starts from (default: %(default)s)")
    add("--quick", action="store_true", help="check without handling metrics, which need the model of the whole car")
    add = parser.group("output")
    add("--markdown", action="store_true", help="print the keys in Markdown")
    add("--overwrite", action="store_true", help="let new replace a file")
    shared(parser, "json")


def command(args: Namespace) -> int:
    if args.what in ("new", "check") and args.file is None:
        raise ModelError(f"car {args.what}: name a file, such as car.toml")
    return {"new": _new, "check": _check, "keys": _keys, "list": _list}[args.what](args)


def _new(args: Namespace) -> int:
    return begin_file(args, "car", template(args.like))


def _check(args: Namespace) -> int:
    car = Car.read(args.file)
    messages, figures = car.check(), car.metrics.details
    if not args.quick:
        try:
            handling = handling_of_car(car)
            messages, figures = [*messages, *unusual(handling)], {**figures, **handling.details}
        except RunError as error:
            messages.append(f"handling figures are missing: {error}.")
    return show_check(args, car.name, "the suspensions close, the springs hold the car", figures, messages)


def _list(args: Namespace) -> int:
    return list_files(args, cars(), template)


def _keys(args: Namespace) -> int:
    rows, points = keys(), hard_points()
    if args.markdown:
        print(markdown(), end="")
    elif args.json:
        listed = [dict(zip(HEAD, row, strict=True)) for row in rows]
        drawn = [dict(zip(POINT_HEAD, row, strict=True)) for row in points]
        print(json.dumps({"keys": listed, "hard points": drawn}, indent=2))
    else:
        print(table(rows, HEAD, "<<<<<"))
        print("\nhard points by kind of suspension ([front.suspension.points], [rear.suspension.points])")
        print(table(points, POINT_HEAD, "<<<<<<"))
    return FINE
