"""`bellcrank kinematics --loads`: forces in the parts of a suspension under load cases."""

from __future__ import annotations

from argparse import Namespace

from bellcrank.cli.files import draw_to_file, prepare_output_path
from bellcrank.cli.progress import ProgressReporter
from bellcrank.cli.report_text import aligned_text_table, json_number, print_written
from bellcrank.core.errors import ModelError
from bellcrank.linkage import Linkage
from bellcrank.linkage.load_table import LoadTable
from bellcrank.vehicles.cars.car import Car
from bellcrank.vehicles.cars.metrics.load_cases import linkage_loads, read_load_cases

CASES_PER_TABLE = 4  # cases next to each other


def show_loads(args: Namespace) -> dict[str, object]:
    """Writes what is asked for, and prints it unless figures are to be; the figures."""
    with ProgressReporter("finding loads"):
        loads = _compute_loads(args)
    if args.csv:
        loads.save(prepare_output_path(args.csv))
    if args.plot:
        draw_to_file(args.plot, loads.draw)
    if not args.json:
        _print_loads(loads)
        print_written(args.csv, args.plot)
    return _loads_as_dict(loads)


def _compute_loads(args: Namespace) -> LoadTable:
    if args.axle is not None:
        return Car.read(args.suspension).loads(args.axle, args.loads or None)
    if not args.loads:
        raise ModelError(
            f"--loads without a file takes the cases of a car, and {args.suspension} is "
            f"none: name a file of cases"
        )
    return linkage_loads(Linkage.read(args.suspension), read_load_cases(args.loads))


def _loads_as_dict(loads: LoadTable) -> dict[str, object]:
    return {
        "suspension": loads.name,
        "cases": {
            c.name: {
                "travel": json_number(c.travel),
                "rack": json_number(c.rack),
                "force": [json_number(x) for x in c.force],
                "moment": [json_number(x) for x in c.moment],
                "parts": {
                    n: {
                        "kind": p.kind,
                        "size": json_number(p.magnitude),
                        "force": [json_number(x) for x in p.force],
                        "moment": [json_number(x) for x in p.moment],
                    }
                    for n, p in c.link_forces.parts.items()
                },
            }
            for c in loads.cases
        },
        "units": {"travel": "m", "rack": "m", "force": "N", "moment": "N-m", "size": "N"},
        "notes": list(loads.notes),
    }


def _print_loads(loads: LoadTable) -> None:
    print(
        f"{loads.name}: loads in N at rest; rods: tension, springs: push, rack: along its "
        f"axis, else the amount"
    )
    for first in range(0, len(loads.cases), CASES_PER_TABLE):
        cases = loads.cases[first : first + CASES_PER_TABLE]
        rows = [["travel", "mm", *(f"{1000 * c.travel:.1f}" for c in cases)]]
        rows += [
            [f"contact {n}", "N", *(f"{c.force[i]:.0f}" for c in cases)]
            for i, n in enumerate(("fx", "fy", "fz"))
        ]
        for name in loads.parts:
            kind = cases[0].link_forces.parts[name].kind
            rows.append(
                [name, kind, *(f"{c.link_forces.parts[name].magnitude:.0f}" for c in cases)]
            )
        print()
        print(
            aligned_text_table(
                rows, ["part", "", *(c.name for c in cases)], "<<" + ">" * len(cases)
            )
        )
    for note in loads.notes:
        print(f"note: {note}")
