"""`bellcrank motorcycle`: files of motorcycles, to begin, to check and to ride.

The file is a model: `bellcrank run motorcycle.toml`, `write`, `describe`, `analyse` and the others
take it as it is.
"""

from __future__ import annotations

import json
from argparse import ArgumentTypeError, Namespace

import numpy as np

from bellcrank.cli.codes import CHECK_FAILED, FINE
from bellcrank.cli.files import prepare_output_path
from bellcrank.cli.options import add_shared_options, file_type_with_suffix, parse_float
from bellcrank.cli.parser import CommandParser
from bellcrank.cli.report_text import aligned_text_table, json_number
from bellcrank.cli.vehicle_files import create_vehicle_file, list_files, metric_values, print_check
from bellcrank.core.errors import ModelError
from bellcrank.vehicles.cars.keys.key_tables import HEAD, key_rows
from bellcrank.vehicles.motorcycles.motorcycle import Motorcycle, motorcycle_names, motorcycle_text
from bellcrank.vehicles.motorcycles.motorcycle_keys import MotorcycleFileKeys
from bellcrank.vehicles.motorcycles.motorcycle_modes import SpeedModes
from bellcrank.vehicles.motorcycles.steady_cornering import Cornering

MAX_RANGE_VALUES = 1000  # values of a span


def add_options(parser: CommandParser) -> None:
    add = parser.group("motorcycle")
    add(
        "what",
        choices=("new", "check", "keys", "list", "modes", "corner", "lane-change"),
        help="new: write a commented file to start from; check: report unusual values, and "
        "metrics; keys: list all "
        "keys with units and usual values; list: name the motorcycles that come with "
        "Bellcrank; modes: weave, wobble "
        "and capsize over speed; corner: steady turns; lane-change: ride one",
    )
    add(
        "file",
        nargs="?",
        metavar="FILE.toml",
        help="the file, or the name of one that comes with Bellcrank",
    )
    add(
        "--like",
        default="sport",
        metavar="NAME",
        help="file that a new one starts from (default: %(default)s)",
    )
    add = parser.group("ride")
    add(
        "--speeds",
        type=parse_range,
        metavar="LOW:HIGH:N",
        help="speeds of modes in m/s (default: 2:60:30)",
    )
    add(
        "--speed",
        type=parse_float,
        default=20.0,
        metavar="M/S",
        help="speed of turns and lane change (default: %(default)g)",
    )
    add(
        "--ay",
        type=parse_range,
        metavar="LOW:HIGH:N",
        help="lateral accelerations of turns in m/s2 (default: 0:6:7)",
    )
    add(
        "--offset",
        type=parse_float,
        default=3.0,
        metavar="M",
        help="distance of the lanes (default: %(default)g)",
    )
    add(
        "--length",
        type=parse_float,
        default=50.0,
        metavar="M",
        help="length of the lane change (default: %(default)g)",
    )
    add = parser.group("output")
    add("--plot", metavar="FILE", help="plot modes, turns or lane change (.png, .svg, .pdf)")
    add(
        "--out",
        type=file_type_with_suffix(".csv"),
        metavar="FILE",
        help="write the table of modes or turns, or the channels of a lane change (.csv)",
    )
    add("--overwrite", action="store_true", help="let new replace a file")
    add_shared_options(parser, "json")


def parse_range(text: str) -> np.ndarray:
    """LOW:HIGH:N or one value."""
    fields = text.split(":")
    try:
        low, high = float(fields[0]), float(fields[min(1, len(fields) - 1)])
        n = int(fields[2]) if len(fields) == 3 else 1
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is not LOW:HIGH:N or a number") from None
    if (
        len(fields) not in (1, 3)
        or not 1 <= n <= MAX_RANGE_VALUES
        or not np.isfinite([low, high]).all()
    ):
        raise ArgumentTypeError(
            f"{text!r} is not LOW:HIGH:N with N from 1 to {MAX_RANGE_VALUES}, or a number"
        )
    return np.linspace(low, high, n)


def run_command(args: Namespace) -> int:
    if args.what not in ("keys", "list") and args.file is None:
        raise ModelError(f"motorcycle {args.what}: name a file, such as motorcycle.toml")
    return {
        "new": _create_motorcycle_file,
        "check": _check_motorcycle_file,
        "keys": _show_motorcycle_keys,
        "list": _list_motorcycles,
        "modes": _run_modes,
        "corner": _run_cornering,
        "lane-change": _run_lane_change,
    }[args.what](args)


def _create_motorcycle_file(args: Namespace) -> int:
    return create_vehicle_file(args, "motorcycle", motorcycle_text(args.like))


def _check_motorcycle_file(args: Namespace) -> int:
    motorcycle = Motorcycle.read(args.file)
    return print_check(
        args,
        motorcycle.name,
        "the springs hold the motorcycle",
        motorcycle.metrics.details,
        motorcycle.check(),
    )


def _list_motorcycles(args: Namespace) -> int:
    return list_files(args, motorcycle_names(), motorcycle_text)


def _show_motorcycle_keys(args: Namespace) -> int:
    rows = key_rows(MotorcycleFileKeys)
    if args.json:
        print(json.dumps([dict(zip(HEAD, row, strict=True)) for row in rows], indent=2))
    else:
        print(aligned_text_table(rows, HEAD, "<<<<<"))
    return FINE


def _run_modes(args: Namespace) -> int:
    _show_table(
        args,
        Motorcycle.read(args.file).modes(None if args.speeds is None else args.speeds.tolist()),
    )
    return FINE


def _run_cornering(args: Namespace) -> int:
    accelerations = np.linspace(0, 6, 7) if args.ay is None else args.ay
    _show_table(args, Motorcycle.read(args.file).corner(args.speed, accelerations.tolist()))
    return FINE


def _show_table(args: Namespace, result: SpeedModes | Cornering) -> None:
    """Prints, plots and writes a table."""
    if args.json:
        rows = [[json_number(x) for x in row] for row in result.rows()]
        columns = list(result.columns)
        print(
            json.dumps(
                {
                    "name": result.name,
                    "columns": columns,
                    "rows": rows,
                    "problems": result.problems,
                },
                indent=2,
            )
        )
    else:
        print(result)
    if args.plot:
        result.plot(prepare_output_path(args.plot))
    if args.out:
        result.save(prepare_output_path(args.out))


def _run_lane_change(args: Namespace) -> int:
    ride = Motorcycle.read(args.file).lane_change(
        speed=args.speed, offset=args.offset, length=args.length
    )
    if args.json:
        print(
            json.dumps(
                {
                    "name": ride.name,
                    "fell": ride.fell,
                    "metrics": metric_values(ride.metrics.details),
                },
                indent=2,
            )
        )
    else:
        print(ride)
    if args.plot:
        ride.plot(prepare_output_path(args.plot))
    if args.out:
        ride.run.save(prepare_output_path(args.out))
    return CHECK_FAILED if ride.fell else FINE
