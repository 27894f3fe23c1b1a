"""`bellcrank kinematics --fit`: hard points moved until curves meet targets."""

from __future__ import annotations

import json
from argparse import Namespace

import numpy as np

from bellcrank.cli.files import draw_to, in_folder
from bellcrank.cli.progress import Progress
from bellcrank.cli.suspension import AXLES, is_both, is_car
from bellcrank.cli.text import number, print_written, table
from bellcrank.errors import ModelError
from bellcrank.files.whole import write_text
from bellcrank.library.vehicles.car import Car
from bellcrank.library.vehicles.fit_targets import Asked, fit_linkage
from bellcrank.linkage import Linkage
from bellcrank.linkage.chain import AXES as SIGNS
from bellcrank.linkage.fitting import AXES, Fit


def show_fit(args: Namespace) -> dict[str, object]:
    """Fits, writes what is asked for, and prints it unless figures are to be; the figures."""
    request = Asked.read(args.fit)
    axle = args.axle or request.targets.axle
    with Progress("moving hard points"):
        if is_car(args.suspension) or (args.axle is not None and is_both(args.suspension)):
            if axle is None:
                raise ModelError(f"give the axle, {' or '.join(AXLES)}: --axle, or axle in {args.fit}")
            new = Car.read(args.suspension).fit(args.fit, axle)
            fit, points = new.fitted, new.given[axle]["suspension"]["points"]
            head = f"[{axle}.suspension.points]"
            assert fit is not None
        else:
            linkage = Linkage.read(args.suspension)
            fit, head = fit_linkage(linkage, request), "[points]"
            signs = SIGNS[linkage.chain.drawn] if linkage.chain.drawn != linkage.chain.axes else (1, 1, 1)
            points = {n: [f"{1000 * s * x:.12g} mm" for s, x in zip(signs, p)] for n, p in fit.points.items()}
    if args.csv:
        fit.save(in_folder(args.csv))
    if args.plot:
        draw_to(args.plot, fit.draw)
    if args.write:
        rows = [f"{n} = {json.dumps(points[n])}" for n in fit.points]
        write_text(in_folder(args.write), "\n".join([head, *rows]) + "\n")
    if not args.json:
        _show(fit)
        print_written(args.csv, args.plot, args.write)
    return _figures(fit)


def _show(fit: Fit) -> None:
    verdict_text = "all targets are met" if fit.met else "not all targets are met"
    print(f"{fit.linkage.name}: {verdict_text}; {fit.evaluations} evaluations, {fit.seconds:.2f} s of CPU\n")
    rows = []
    for c, displacement in zip(fit.coordinates, fit.moves, strict=True):
        position = fit.linkage.points[c.point][c.axis]
        cells = (position - displacement, position, displacement, c.low, c.high)
        rows.append([c.point, AXES[c.axis], *(f"{1000 * x + 0.0:.2f}" for x in cells)])
    print(table(rows, ["hard point", "", "drawn", "found", "move", "lowest", "highest (mm)"], "<<>>>>>"))
    print()
    rows = []
    for k in fit.curves:
        factor, unit = _unit(fit, k.metric)
        deviation_before, deviation_after = (factor * fit.deviation(k.name, before=b) for b in (True, False))
        verdict = "met" if deviation_after <= factor * k.tolerance else "not met"
        rows.append(
            [k.name, f"{deviation_before:.4g}", f"{deviation_after:.4g}", f"{factor * k.tolerance:.4g}", unit, verdict]
        )
    print(table(rows, ["curve", "deviation before", "after", "tolerance", "", ""], "<>>><<"))
    print("\nchange of each curve by 1 mm, root mean square over its samples:")
    by_curve = [(_unit(fit, k.metric)[0] / 1000, fit.sensitivity(k.name)) for k in fit.curves]
    rows = [[c.name, *(f"{scale * x[c.name]:.3g}" for scale, x in by_curve)] for c in fit.coordinates]
    heads = [f"{k.name} ({_unit(fit, k.metric)[1]})" for k in fit.curves]
    print(table(rows, ["coordinate", *heads], "<" + ">" * len(heads)))
    for note in fit.notes:
        print(f"note: {note}")


def _unit(fit: Fit, metric: str) -> tuple[float, str]:
    unit = fit.units[metric]
    return (1000.0, "mm") if unit == "m" else (1.0, unit)


def _figures(fit: Fit) -> dict[str, object]:
    def listed(x: np.ndarray) -> list[object]:
        return [number(float(v)) for v in x]

    return {
        "suspension": fit.linkage.name,
        "met": fit.met,
        "moves": {c.name: number(float(x)) for c, x in zip(fit.coordinates, fit.moves, strict=True)},
        "points": {n: listed(np.array(p)) for n, p in fit.points.items()},
        "curves": {
            c.name: {
                "metric": c.metric,
                "unit": fit.units[c.metric],
                "tolerance": c.tolerance,
                "travel": listed(c.travel),
                "rack": listed(c.rack),
                "target": listed(c.target),
                "before": listed(fit.before[c.name]),
                "after": listed(fit.after[c.name]),
                "sensitivity": {n: number(x) for n, x in fit.sensitivity(c.name).items()},
            }
            for c in fit.curves
        },
        "evaluations": fit.evaluations,
        "notes": list(fit.notes),
    }
