"""`bellcrank kinematics --fit`: hard points moved until curves meet targets."""

from __future__ import annotations

import json
from argparse import Namespace

import numpy as np

from bellcrank.cli.files import draw_to_file, prepare_output_path
from bellcrank.cli.progress import ProgressReporter
from bellcrank.cli.report_text import aligned_text_table, json_number, print_written
from bellcrank.cli.suspension import AXLES, is_ambiguous_name, is_car
from bellcrank.core.errors import ModelError
from bellcrank.core.files.atomic import write_text
from bellcrank.linkage import Linkage
from bellcrank.linkage.chain import AXES as SIGNS
from bellcrank.linkage.hard_point_fitting import AXES, HardPointFit
from bellcrank.vehicles.cars.car import Car
from bellcrank.vehicles.cars.metrics.fit_targets import FitTargetFile, fit_hard_points


def print_fit_result(args: Namespace) -> dict[str, object]:
    """Fits, writes what is asked for, and prints it unless figures are to be; the figures."""
    request = FitTargetFile.read(args.fit)
    axle = args.axle or request.targets.axle
    with ProgressReporter("moving hard points"):
        if is_car(args.suspension) or (
            args.axle is not None and is_ambiguous_name(args.suspension)
        ):
            if axle is None:
                raise ModelError(
                    f"give the axle, {' or '.join(AXLES)}: --axle, or axle in {args.fit}"
                )
            new = Car.read(args.suspension).fit(args.fit, axle)
            fit, points = new.fitted, new.given[axle]["suspension"]["points"]
            head = f"[{axle}.suspension.points]"
            assert fit is not None
        else:
            linkage = Linkage.read(args.suspension)
            fit, head = fit_hard_points(linkage, request), "[points]"
            signs = (
                SIGNS[linkage.chain.drawn]
                if linkage.chain.drawn != linkage.chain.axes
                else (1, 1, 1)
            )
            points = {
                n: [f"{1000 * s * x:.12g} mm" for s, x in zip(signs, p)]
                for n, p in fit.moved_points.items()
            }
    if args.csv:
        fit.save(prepare_output_path(args.csv))
    if args.plot:
        draw_to_file(args.plot, fit.draw)
    if args.write:
        rows = [f"{n} = {json.dumps(points[n])}" for n in fit.moved_points]
        write_text(prepare_output_path(args.write), "\n".join([head, *rows]) + "\n")
    if not args.json:
        _print_fit(fit)
        print_written(args.csv, args.plot, args.write)
    return _fit_as_dict(fit)


def _print_fit(fit: HardPointFit) -> None:
    verdict_text = "all targets are met" if fit.meets_targets else "not all targets are met"
    print(
        f"{fit.linkage.name}: {verdict_text}; {fit.evaluations} evaluations, "
        f"{fit.seconds:.2f} s of CPU\n"
    )
    rows = []
    for c, displacement in zip(fit.coordinates, fit.moves, strict=True):
        position = fit.linkage.points[c.point][c.axis]
        cells = (position - displacement, position, displacement, c.low, c.high)
        rows.append([c.point, AXES[c.axis], *(f"{1000 * x + 0.0:.2f}" for x in cells)])
    print(
        aligned_text_table(
            rows, ["hard point", "", "drawn", "found", "move", "lowest", "highest (mm)"], "<<>>>>>"
        )
    )
    print()
    rows = []
    for k in fit.curves:
        factor, unit = _display_unit(fit, k.metric)
        deviation_before, deviation_after = (
            factor * fit.max_deviation(k.name, before=b) for b in (True, False)
        )
        verdict = "met" if deviation_after <= factor * k.tolerance else "not met"
        rows.append(
            [
                k.name,
                f"{deviation_before:.4g}",
                f"{deviation_after:.4g}",
                f"{factor * k.tolerance:.4g}",
                unit,
                verdict,
            ]
        )
    print(
        aligned_text_table(
            rows, ["curve", "deviation before", "after", "tolerance", "", ""], "<>>><<"
        )
    )
    print("\nchange of each curve by 1 mm, root mean square over its samples:")
    by_curve = [
        (_display_unit(fit, k.metric)[0] / 1000, fit.sensitivity(k.name)) for k in fit.curves
    ]
    rows = [
        [c.name, *(f"{scale * x[c.name]:.3g}" for scale, x in by_curve)] for c in fit.coordinates
    ]
    heads = [f"{k.name} ({_display_unit(fit, k.metric)[1]})" for k in fit.curves]
    print(aligned_text_table(rows, ["coordinate", *heads], "<" + ">" * len(heads)))
    for note in fit.notes:
        print(f"note: {note}")


def _display_unit(fit: HardPointFit, metric: str) -> tuple[float, str]:
    unit = fit.units[metric]
    return (1000.0, "mm") if unit == "m" else (1.0, unit)


def _fit_as_dict(fit: HardPointFit) -> dict[str, object]:
    def json_numbers(x: np.ndarray) -> list[object]:
        return [json_number(float(v)) for v in x]

    return {
        "suspension": fit.linkage.name,
        "met": fit.meets_targets,
        "moves": {
            c.name: json_number(float(x)) for c, x in zip(fit.coordinates, fit.moves, strict=True)
        },
        "points": {n: json_numbers(np.array(p)) for n, p in fit.moved_points.items()},
        "curves": {
            c.name: {
                "metric": c.metric,
                "unit": fit.units[c.metric],
                "tolerance": c.tolerance,
                "travel": json_numbers(c.travel),
                "rack": json_numbers(c.rack),
                "target": json_numbers(c.target),
                "before": json_numbers(fit.before[c.name]),
                "after": json_numbers(fit.after[c.name]),
                "sensitivity": {n: json_number(x) for n, x in fit.sensitivity(c.name).items()},
            }
            for c in fit.curves
        },
        "evaluations": fit.evaluations,
        "notes": list(fit.notes),
    }
