"""`bellcrank kinematics --loads`: forces in the parts of a suspension under load cases."""

from __future__ import annotations

from argparse import Namespace

from bellcrank.cli.files import draw_to, in_folder
from bellcrank.cli.progress import Progress
from bellcrank.cli.text import number, print_written, table
from bellcrank.errors import ModelError
from bellcrank.library.vehicles.car import Car
from bellcrank.library.vehicles.load_cases import linkage_loads, read_cases
from bellcrank.linkage import Linkage
from bellcrank.linkage.loads import LoadTable

MOST = 4  # cases next to each other


def show_loads(args: Namespace) -> dict[str, object]:
    """Writes what is asked for, and prints it unless figures are to be; the figures."""
    with Progress("finding loads"):
        loads = _found(args)
    if args.csv:
        loads.save(in_folder(args.csv))
    if args.plot:
        draw_to(args.plot, loads.draw)
    if not args.json:
        _show(loads)
        print_written(args.csv, args.plot)
    return _figures(loads)


def _found(args: Namespace) -> LoadTable:
    if args.axle is not None:
        return Car.read(args.suspension).loads(args.axle, args.loads or None)
    if not args.loads:
        raise ModelError(
            f"--loads without a file takes the cases of a car, and {args.suspension} is none: name a file of cases"
        )
    return linkage_loads(Linkage.read(args.suspension), read_cases(args.loads))


def _figures(loads: LoadTable) -> dict[str, object]:
    return {
        "suspension": loads.name,
        "cases": {
            c.name: {
                "travel": number(c.travel),
                "rack": number(c.rack),
                "force": [number(x) for x in c.force],
                "moment": [number(x) for x in c.moment],
                "parts": {
                    n: {
                        "kind": p.kind,
                        "size": number(p.size),
                        "force": [number(x) for x in p.force],
                        "moment": [number(x) for x in p.moment],
                    }
                    for n, p in c.held.parts.items()
                },
            }
            for c in loads.cases
        },
        "units": {"travel": "m", "rack": "m", "force": "N", "moment": "N-m", "size": "N"},
        "notes": list(loads.notes),
    }


def _show(loads: LoadTable) -> None:
    print(f"{loads.name}: loads in N at rest; rods: tension, springs: push, rack: along its axis, else the amount")
    for first in range(0, len(loads.cases), MOST):
        cases = loads.cases[first : first + MOST]
        rows = [["travel", "mm", *(f"{1000 * c.travel:.1f}" for c in cases)]]
        rows += [[f"contact {n}", "N", *(f"{c.force[i]:.0f}" for c in cases)] for i, n in enumerate(("fx", "fy", "fz"))]
        for name in loads.parts:
            kind = cases[0].held.parts[name].kind
            rows.append([name, kind, *(f"{c.held.parts[name].size:.0f}" for c in cases)])
        print()
        print(table(rows, ["part", "", *(c.name for c in cases)], "<<" + ">" * len(cases)))
    for note in loads.notes:
        print(f"note: {note}")
