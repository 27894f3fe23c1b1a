"""`bellcrank car`: files of cars, to begin, to check and to look at.

The file is a model: `bellcrank run car.toml`, `write`, `describe`, `analyse` and the others take it
as it is.
"""

from __future__ import annotations

import json
from argparse import Namespace

from bellcrank.cli.codes import FINE
from bellcrank.cli.options import add_shared_options
from bellcrank.cli.parser import CommandParser
from bellcrank.cli.report_text import aligned_text_table
from bellcrank.cli.vehicle_files import create_vehicle_file, list_files, print_check
from bellcrank.core.errors import ModelError, RunError
from bellcrank.vehicles.cars.car import Car, car_names, template
from bellcrank.vehicles.cars.keys.key_tables import (
    HEAD,
    POINT_HEAD,
    hard_point_rows,
    key_rows,
    keys_as_markdown,
)
from bellcrank.vehicles.cars.metrics.plausibility import unusual_metrics
from bellcrank.vehicles.manoeuvres import handling as handling_of_car


def add_options(parser: CommandParser) -> None:
    add = parser.group("car")
    add(
        "what",
        choices=("new", "check", "keys", "list"),
        help="new: write a commented file to start from; check: report unusual values of a car, "
        "and its metrics; "
        "keys: list all keys with units and usual values, and hard points by kind of "
        "suspension; list: name the cars "
        "that come with Bellcrank",
    )
    add(
        "file",
        nargs="?",
        metavar="FILE.toml",
        help="the file of a car, or the name of one that comes with Bellcrank",
    )
    add(
        "--like",
        default="passenger",
        metavar="NAME",
        help="car that a new file starts from (default: %(default)s)",
    )
    add(
        "--quick",
        action="store_true",
        help="check without handling metrics, which need the model of the whole car",
    )
    add = parser.group("output")
    add("--markdown", action="store_true", help="print the keys in Markdown")
    add("--overwrite", action="store_true", help="let new replace a file")
    add_shared_options(parser, "json")


def run_command(args: Namespace) -> int:
    if args.what in ("new", "check") and args.file is None:
        raise ModelError(f"car {args.what}: name a file, such as car.toml")
    return {
        "new": _create_car_file,
        "check": _check_car_file,
        "keys": _show_car_keys,
        "list": _list_cars,
    }[args.what](args)


def _create_car_file(args: Namespace) -> int:
    return create_vehicle_file(args, "car", template(args.like))


def _check_car_file(args: Namespace) -> int:
    car = Car.read(args.file)
    messages, figures = car.check(), car.metrics.details
    if not args.quick:
        try:
            handling = handling_of_car(car)
            messages, figures = (
                [*messages, *unusual_metrics(handling)],
                {**figures, **handling.details},
            )
        except RunError as error:
            messages.append(f"handling figures are missing: {error}.")
    return print_check(
        args, car.name, "the suspensions close, the springs hold the car", figures, messages
    )


def _list_cars(args: Namespace) -> int:
    return list_files(args, car_names(), template)


def _show_car_keys(args: Namespace) -> int:
    rows, points = key_rows(), hard_point_rows()
    if args.markdown:
        print(keys_as_markdown(), end="")
    elif args.json:
        listed = [dict(zip(HEAD, row, strict=True)) for row in rows]
        drawn = [dict(zip(POINT_HEAD, row, strict=True)) for row in points]
        print(json.dumps({"keys": listed, "hard points": drawn}, indent=2))
    else:
        print(aligned_text_table(rows, HEAD, "<<<<<"))
        print(
            "\nhard points by kind of suspension ([front.suspension.points], "
            "[rear.suspension.points])"
        )
        print(aligned_text_table(points, POINT_HEAD, "<<<<<<"))
    return FINE
