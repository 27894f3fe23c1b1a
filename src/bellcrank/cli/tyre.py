"""`bellcrank tyre`: what a .tir file holds, its curves and a table of its forces."""

from __future__ import annotations

import json
from argparse import Namespace

import numpy as np

from bellcrank.cli.files import prepare_output_path
from bellcrank.cli.options import add_shared_options, file_type_with_suffix, parse_float
from bellcrank.cli.parser import CommandParser
from bellcrank.cli.report_text import aligned_text_table, json_number, print_written
from bellcrank.core.files.format_choice import write_table
from bellcrank.core.files.record import Table, TableColumn
from bellcrank.core.files.text_files import to_one_line
from bellcrank.vehicles.tyres.magic_formula import MagicFormula
from bellcrank.vehicles.tyres.tyre_curves import draw_tyre_curves, plot_loads, slip_table

SHOWN = ("mux", "muy", "Kxk", "Kya", "trail", "Re", "Rl", "sigma_x", "sigma_y")
UNITS = {
    "Fx": "N",
    "Fy": "N",
    "Fz": "N",
    "Mx": "N-m",
    "My": "N-m",
    "Mz": "N-m",
    "kappa": "",
    "alpha": "rad",
    "gamma": "rad",
    "mux": "",
    "muy": "",
    "Kxk": "N",
    "Kya": "N/rad",
}


def add_options(parser: CommandParser) -> None:
    add = parser.group("tyre")
    add(
        "file",
        metavar="FILE.tir",
        help="a tyre property file: Magic Formula 5.2 (PAC2002), 6.1 or 6.2",
    )
    version = "Magic Formula of a file that does not name it"
    add("--version-of", choices=("5.2", "6.1", "6.2"), help=version)
    add(
        "--pressure",
        type=parse_float,
        metavar="PA",
        help="inflation pressure in Pa (default: that of the file)",
    )
    add(
        "--speed",
        type=parse_float,
        metavar="M/S",
        help="speed of the wheel in m/s (default: that of the measurements)",
    )
    add = parser.group("output")
    add("--plot", metavar="FILE", help="plot its curves (.png, .svg, .pdf)")
    table = "write forces and moments over slip, angle, camber and load (.csv)"
    add("--table", type=file_type_with_suffix(".csv"), metavar="FILE", help=table)
    add_shared_options(parser, "json")


def run_command(args: Namespace) -> None:
    tyre = MagicFormula.read(args.file, version=args.version_of)
    if args.plot:
        draw_tyre_curves(tyre, prepare_output_path(args.plot), args.pressure, args.speed)
    if args.table:
        _save_table(slip_table(tyre, args.pressure, args.speed), args.table)
    loads = plot_loads(tyre)
    forces = tyre.forces(loads, 0.0, 0.0, p=args.pressure, V=args.speed)
    if args.json:
        values = {
            name: [json_number(float(x)) for x in np.asarray(forces[name])]
            for name in ("Fz", *SHOWN)
        }
        head = {
            "name": tyre.name,
            "version": tyre.version,
            "side": tyre.side,
            "notes": list(tyre.notes),
        }
        print(json.dumps({**head, "at": values}, indent=2))
        return
    _print_tyre(tyre, loads, {name: np.asarray(forces[name]) for name in SHOWN})
    print_written(args.plot, args.table)


def _print_tyre(tyre: MagicFormula, loads: np.ndarray, forces: dict[str, np.ndarray]) -> None:
    print(f"{to_one_line(tyre.name)}: Magic Formula {tyre.version}, measured on side {tyre.side}")
    print(
        f"radius {tyre['UNLOADED_RADIUS']:g} m, nominal load {tyre['FNOMIN']:g} N, stiffness "
        f"{tyre['VERTICAL_STIFFNESS']:g} N/m, pressure {tyre['INFLPRES']:g} Pa"
    )
    names = ("Fz", *SHOWN)
    rows = [
        [f"{load:g}", *(f"{forces[name][i]:.4g}" for name in SHOWN)] for i, load in enumerate(loads)
    ]
    print(
        aligned_text_table(
            [[UNITS.get(name, "m") for name in names], *rows], list(names), ">" * len(names)
        )
    )
    for note in tyre.notes:
        print(f"note: {note}")


def _save_table(columns: dict[str, np.ndarray], path: str) -> None:
    table_columns = tuple(
        TableColumn(name, values.tolist(), UNITS.get(name, "m")) for name, values in columns.items()
    )
    write_table(path, Table("forces of a tyre", table_columns))
