"""`bellcrank kinematics --compliance` and `--measured`: what K&C rigs measure."""

from __future__ import annotations

from argparse import Namespace

from bellcrank.cli.files import prepare_output_path
from bellcrank.cli.report_text import aligned_text_table, json_number, print_written
from bellcrank.core.errors import ModelError
from bellcrank.linkage import Linkage
from bellcrank.linkage.measures import Measures, measure_wheel
from bellcrank.linkage.wheel_motion import MODES
from bellcrank.vehicles.cars.car import Car
from bellcrank.vehicles.cars.metrics.kc_compliance import LOADS, PHASES, RESPONSES
from bellcrank.vehicles.cars.metrics.kinematics_comparison import Array, compare_kinematics


def show_compliance(args: Namespace) -> dict[str, object]:
    """Writes what is asked for, and prints a table at --at unless figures are to be; the
    figures."""
    if args.axle is None:
        raise ModelError(f"--compliance is of a car, and {args.suspension} is none")
    if args.plot or args.table:
        raise ModelError("--compliance has no --plot or --table; --csv writes it over --travel")
    travel = args.at / 1000 if args.travel is None else args.travel
    compliance = Car.read(args.suspension).compliance(args.axle, travel, load=args.compliance_load)
    if args.csv:
        compliance.save(prepare_output_path(args.csv))
    if not args.json:
        i = int(abs(compliance["travel"] - args.at / 1000).argmin())
        print(
            f"{compliance.name}: compliance of the left wheel at a travel of "
            f"{1000 * compliance['travel'][i]:.4g} mm"
        )
        print(
            aligned_text_table(
                _compliance_rows(compliance, i),
                ["load", "per", *RESPONSES],
                "<<" + ">" * len(RESPONSES),
            )
        )
        print(
            "  steer to the left, toe-in, camber top outward: deg; lateral to the left, "
            "longitudinal forward: mm"
        )
        for note in compliance.notes:
            print(f"note: {note}")
        if args.csv:
            print(f"wrote {args.csv}")
    return {
        "suspension": compliance.name,
        "compliance": {
            name: [json_number(x) for x in values] for name, values in compliance.columns.items()
        },
        "units": compliance.units,
        "notes": compliance.notes,
    }


def _compliance_rows(compliance: Measures, i: int) -> list[list[str]]:
    columns = compliance.columns
    rows = []
    for load, words in LOADS.items():
        for phase, phase_text in PHASES.items():
            names = [f"{load}_{phase}_{r}" for r in RESPONSES]
            cells = [f"{columns[n][i] + 0.0:.4g}" if n in columns else "-" for n in names]
            rows.append(
                [f"{words}, {phase_text}", "100 N m" if load == "aligning" else "kN", *cells]
            )
    return rows


def show_measured(args: Namespace) -> dict[str, object]:
    """Writes what is asked for, and prints errors unless figures are to be; the figures."""
    if args.mode not in MODES or args.table or args.rack is not None or args.travel is not None:
        raise ModelError(
            "--measured takes positions from its file and one --mode; it has no --travel, "
            "--rack or --table"
        )
    if args.axle is not None:
        comparison = Car.read(args.suspension).compare_kinematics(
            args.axle, args.measured, args.map, args.mode
        )
    else:
        linkage = Linkage.read(args.suspension)

        def measure_rig_at(travel: Array, rack: Array) -> Measures:
            return measure_wheel(linkage, travel, rack, args.mode)

        units = measure_wheel(linkage, 0.0, 0.0, args.mode).units
        comparison = compare_kinematics(
            linkage.name, measure_rig_at, units, args.measured, args.map
        )
    if args.csv:
        comparison.save(prepare_output_path(args.csv))
    if args.plot:
        comparison.plot(prepare_output_path(args.plot))
    if not args.json:
        print(comparison)
        print_written(args.csv, args.plot)
    return comparison.to_dict()
