"""`bellcrank kinematics`: tables and plots of a linkage, and the loads in its parts."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentTypeError, Namespace
from pathlib import Path
from typing import Any

import numpy as np

from bellcrank.cli.files import draw_to_file, prepare_output_path
from bellcrank.cli.options import (
    MOST_VALUES,
    add_shared_options,
    file_type_with_suffix,
    parse_float,
)
from bellcrank.cli.parser import CommandParser
from bellcrank.cli.progress import ProgressReporter
from bellcrank.cli.report_text import aligned_text_table, json_number, print_written
from bellcrank.cli.suspension import AXLES, each_axle, is_ambiguous_name, is_car
from bellcrank.core.errors import ModelError
from bellcrank.linkage import Linkage
from bellcrank.linkage.measures import Measures, default_travels, draw_measures, measure_wheel
from bellcrank.linkage.wheel_motion import MODES

COLUMNS = (
    "travel",
    "rack",
    "camber",
    "toe",
    "caster",
    "kingpin_inclination",
    "scrub_radius",
    "mechanical_trail",
    "track_change",
    "wheelbase_change",
    "roll_centre_height",
    "anti_dive",
    "anti_squat",
    "anti_lift_braking",
    "anti_lift_driving",
    "wheel_load",
    "roll_stiffness",
    "lateral_force_steer",
    "aligning_steer",
    "driving_toe",
    "braking_toe",
    "camber_compliance",
    "lateral_compliance",
    "longitudinal_compliance",
    "bush_rate",
)


def add_options(parser: CommandParser) -> None:
    add = parser.group("suspension")
    add(
        "suspension",
        metavar="SUSPENSION",
        help="a .toml or .csv file of hard points, a car file, or the name of one "
        "that comes with Bellcrank",
    )
    add("--axle", choices=AXLES, help="one axle of a car file (default: both)")
    add = parser.group("sweep")
    add(
        "--travel",
        type=parse_travel_range,
        metavar="LOW:HIGH[:N]",
        help="wheel travel in mm (default: that of the file, or up and down by 100 mm)",
    )
    add(
        "--rack",
        type=parse_travel_range,
        metavar="LOW:HIGH[:N] or MM",
        help="rack travel in mm; a span sweeps it at --at",
    )
    add(
        "--at",
        type=parse_float,
        default=0.0,
        metavar="MM",
        help="wheel travel of a rack sweep in mm (default: %(default)g)",
    )
    add(
        "--mode",
        choices=(*MODES, "all"),
        default="parallel",
        help="motion of the other wheel (default: %(default)s)",
    )
    add(
        "--loads",
        nargs="?",
        const="",
        metavar="FILE.toml",
        help="forces of every rod, joint, spring and of the rack "
        "under load cases: those of a file, or of a car braking, cornering, bumps",
    )
    add(
        "--fit",
        metavar="TARGETS.toml",
        help="move hard points until toe, camber and other curves meet the targets of a file",
    )
    add(
        "--compliance",
        action="store_true",
        help="steer, toe, camber and displacements by lateral, braking and "
        "traction forces and aligning torques at the wheels of a car, in phase and opposed",
    )
    add(
        "--compliance-load",
        type=parse_float,
        metavar="KN",
        help="size of the loads of --compliance in kN, and in 100 N m, for bushings with curves "
        "(default: small)",
    )
    add(
        "--measured",
        metavar="FILE",
        help="compare with a table of a test rig or of Adams/Car: a column of travel or "
        "rack, and columns of measures",
    )
    add(
        "--map",
        metavar="FILE.toml",
        help="columns of --measured by measure, with unit, scale and offset",
    )
    add = parser.group("output")
    add(
        "--columns",
        metavar="NAMES",
        help="measures to print, separated by commas, or all (default: the main ones)",
    )
    add(
        "--csv",
        type=file_type_with_suffix(".csv"),
        metavar="FILE",
        help="write all measures; of --fit the curves (.csv)",
    )
    add(
        "--write",
        metavar="FILE.toml",
        help="write the hard points found by --fit, as sections for `drive --setup` "
        "or for a file of hard points",
    )
    add("--plot", metavar="FILE", help="plot the measures (.png, .svg, .pdf)")
    add(
        "--table",
        type=file_type_with_suffix(".json"),
        metavar="FILE",
        help="write the poses as a linkage table (.json)",
    )
    accuracy = "accuracy of --table in m and rad (default: %(default)g)"
    add("--accuracy", type=parse_float, default=1e-6, metavar="E", help=accuracy)
    add_shared_options(parser, "json")


def parse_travel_range(text: str) -> np.ndarray:
    """LOW:HIGH, LOW:HIGH:N or one value, in mm; in m."""
    fields = text.split(":")
    try:
        numbers = [float(p) for p in fields[:2]]
        n = int(fields[2]) if len(fields) == 3 else 17 if len(fields) == 2 else 1
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is not LOW:HIGH, LOW:HIGH:N or a number") from None
    if (
        len(fields) > 3
        or not 1 <= n <= MOST_VALUES
        or not np.isfinite(numbers).all()
        or (len(fields) > 1 and numbers[0] >= numbers[1])
    ):
        raise ArgumentTypeError(
            f"{text!r}: LOW must lie below HIGH, and N between 1 and {MOST_VALUES}"
        )
    return np.linspace(numbers[0], numbers[-1], n) / 1000


def run_command(args: Namespace) -> None:
    if args.axle is None and is_ambiguous_name(args.suspension):
        print(
            f"note: '{args.suspension}' is taken as hard points; --axle "
            f"{' or --axle '.join(AXLES)} takes the car of "
            "that name",
            file=sys.stderr,
        )
    if args.fit is not None:
        from bellcrank.cli.fit import print_fit_result

        fit_figures = print_fit_result(args)
        if args.json:
            print(json.dumps(fit_figures, indent=2))
        return
    analyses = [
        name
        for name in ("loads", "compliance", "measured")
        if getattr(args, name) not in (None, False)
    ]
    if len(analyses) > 1:
        raise ModelError(f"--{' and --'.join(analyses)}: give one of them at a time")
    if args.compliance_load is not None and not args.compliance:
        raise ModelError("--compliance-load is the size of the loads of --compliance: give both")
    if args.map and not args.measured:
        raise ModelError("--map names the columns of --measured: give both")
    if args.measured and args.axle is None and is_car(args.suspension):
        raise ModelError(f"--measured compares one axle of a car: give --axle {' or '.join(AXLES)}")
    if analyses == ["loads"]:
        from bellcrank.cli.loads import show_loads as show_result
    elif analyses:
        from bellcrank.cli.rig import show_compliance, show_measured

        show_result = show_compliance if analyses == ["compliance"] else show_measured
    else:
        show_result = _show_measures
    figures = {}
    for i, axle_args in enumerate(each_axle(args)):
        if i and not args.json:
            print()
        figures[axle_args.axle] = show_result(axle_args)
    if args.json:
        print(json.dumps(figures if len(figures) > 1 else figures.popitem()[1], indent=2))


def _show_measures(args: Namespace) -> dict[str, object]:
    """Writes what is asked for, and prints it unless figures are to be; the figures."""
    car = None if args.axle is None else _read_car(args.suspension)
    linkage = Linkage.read(args.suspension) if car is None else car.linkage(args.axle)
    sweep = args.rack is not None and len(args.rack) > 1
    usual = default_travels(linkage) if args.travel is None else args.travel
    travel = np.array([args.at / 1000]) if sweep else usual
    rack = np.zeros(1) if args.rack is None else args.rack
    modes = MODES if args.mode == "all" else (args.mode,)
    measures = [
        measure_wheel(linkage, travel, rack, mode)
        if car is None
        else car.kinematics(args.axle, travel, rack, mode)
        for mode in modes
    ]
    paths = _save_measures(measures, args.csv) if args.csv else []
    if args.plot:
        draw_to_file(
            args.plot, lambda path: draw_measures(measures, path, "rack" if sweep else "travel")
        )
    if args.table:
        travel_range = float(travel.min()), float(travel.max())
        with ProgressReporter("making a table"):
            linkage.table(accuracy=args.accuracy, range=travel_range).save(
                prepare_output_path(args.table)
            )
    if not args.json:
        _print_measures(linkage, measures, args.columns)
        print_written(*paths, args.plot, args.table)
    return _measures_as_dict(linkage, measures)


def _read_car(name: str) -> Any:
    from bellcrank.vehicles.cars.car import Car

    return Car.read(name)


def _save_measures(measures: list[Measures], path: str) -> list[Path]:
    """One file, or one for each motion of the other wheel."""
    csv_path = Path(prepare_output_path(path))
    paths = (
        [csv_path]
        if len(measures) == 1
        else [csv_path.with_name(f"{csv_path.stem}_{m.mode}{csv_path.suffix}") for m in measures]
    )
    return [m.save(p) for m, p in zip(measures, paths, strict=True)]


def _measures_as_dict(linkage: Linkage, measures: list[Measures]) -> dict[str, object]:
    return {
        "suspension": linkage.name,
        "kind": linkage.chain.kind,
        "mobility": str(linkage.mobility),
        "range": list(linkage.range()),
        "modes": {
            m.mode: {
                c: [json_number(x) for x in np.broadcast_to(v, m["travel"].shape)]
                for c, v in m.columns.items()
            }
            for m in measures
        },
        "units": measures[0].units,
        "notes": measures[0].notes,
    }


def _print_measures(linkage: Linkage, measures: list[Measures], columns: str | None) -> None:
    low, high = linkage.range()
    chain = linkage.chain
    drawn = "" if chain.drawn == chain.axes else f" (file: {chain.drawn})"
    print(
        f"{linkage.name}: {chain.kind.replace('_', ' ')}, {chain.side}, "
        f"{chain.axes}{drawn}; {linkage.mobility}"
    )
    bushes = "bush_rate" in measures[0].columns
    source = "by its bushes" if bushes else "by its coefficients"
    compliance_text = (
        f"compliance {source}" if "aligning_steer" in measures[0].columns else "no compliance"
    )
    print(
        f"reachable travel {1000 * low:.2f} to {1000 * high:.2f} mm; rigid links, {compliance_text}"
    )
    for m in measures:
        names = _selected_columns(m, columns)
        displayed = {c: m.displayed(c) for c in names}
        units = [unit for _, unit in displayed.values()]
        rows = [
            [_format_cell(float(values[i]), unit) for values, unit in displayed.values()]
            for i in range(len(m["travel"]))
        ]
        print(f"\n{m.mode} motion")
        print(aligned_text_table([units, *rows], [m.title(c) for c in names], ">" * len(names)))
    for note in (*filter(None, [chain.note]), *measures[0].notes):
        print(f"note: {note}")


def _selected_columns(m: Measures, columns: str | None) -> list[str]:
    if columns == "all":
        return list(m.columns)
    if columns:
        requested = [c.strip() for c in columns.split(",")]
        for c in requested:
            m[c]
        return requested
    extra = [c for c in m.columns if c.endswith(("_ratio", "_wheel_rate"))]
    return [c for c in COLUMNS if c in m.columns] + extra


def _format_cell(value: float, unit: str) -> str:
    digits = 2 if unit == "mm" else 3 if abs(value) < 1000 else 0
    return f"{round(value, digits) + 0.0:.{digits}f}"  # no minus before a zero
