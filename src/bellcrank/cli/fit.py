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
    asked = Asked.read(args.fit)
    axle = args.axle or asked.targets.axle
    with Progress("moving hard points"):
        if is_car(args.suspension) or (args.axle is not None and is_both(args.suspension)):
            if axle is None:
                raise ModelError(f"give the axle, {' or '.join(AXLES)}: --axle, or axle in {args.fit}")
            new = Car.read(args.suspension).fit(args.fit, axle)
            found, points = new.fitted, new.given[axle]["suspension"]["points"]
            head = f"[{axle}.suspension.points]"
            assert found is not None
        else:
            linkage = Linkage.read(args.suspension)
            found, head = fit_linkage(linkage, asked), "[points]"
            signs = SIGNS[linkage.chain.drawn] if linkage.chain.drawn != linkage.chain.axes else (1, 1, 1)
            points = {n: [f"{1000 * s * x:.12g} mm" for s, x in zip(signs, p)] for n, p in found.points.items()}
    if args.csv:
        found.save(in_folder(args.csv))
    if args.plot:
        draw_to(args.plot, found.draw)
    if args.write:
        rows = [f"{n} = {json.dumps(points[n])}" for n in found.points]
        write_text(in_folder(args.write), "\n".join([head, *rows]) + "\n")
    if not args.json:
        _show(found)
        print_written(args.csv, args.plot, args.write)
    return _figures(found)


def _show(found: Fit) -> None:
    did = "all targets are met" if found.met else "not all targets are met"
    print(f"{found.linkage.name}: {did}; {found.evaluations} evaluations, {found.seconds:.2f} s of CPU\n")
    rows = []
    for c, move in zip(found.coordinates, found.moves, strict=True):
        at = found.linkage.points[c.point][c.axis]
        cells = (at - move, at, move, c.low, c.high)
        rows.append([c.point, AXES[c.axis], *(f"{1000 * x + 0.0:.2f}" for x in cells)])
    print(table(rows, ["hard point", "", "drawn", "found", "move", "lowest", "highest (mm)"], "<<>>>>>"))
    print()
    rows = []
    for k in found.curves:
        factor, unit = _unit(found, k.metric)
        before, after = (factor * found.deviation(k.name, before=b) for b in (True, False))
        verdict = "met" if after <= factor * k.tolerance else "not met"
        rows.append([k.name, f"{before:.4g}", f"{after:.4g}", f"{factor * k.tolerance:.4g}", unit, verdict])
    print(table(rows, ["curve", "deviation before", "after", "tolerance", "", ""], "<>>><<"))
    print("\nchange of each curve by 1 mm, root mean square over its samples:")
    by_curve = [(_unit(found, k.metric)[0] / 1000, found.sensitivity(k.name)) for k in found.curves]
    rows = [[c.name, *(f"{scale * x[c.name]:.3g}" for scale, x in by_curve)] for c in found.coordinates]
    heads = [f"{k.name} ({_unit(found, k.metric)[1]})" for k in found.curves]
    print(table(rows, ["coordinate", *heads], "<" + ">" * len(heads)))
    for note in found.notes:
        print(f"note: {note}")


def _unit(found: Fit, metric: str) -> tuple[float, str]:
    unit = found.units[metric]
    return (1000.0, "mm") if unit == "m" else (1.0, unit)


def _figures(found: Fit) -> dict[str, object]:
    def listed(x: np.ndarray) -> list[object]:
        return [number(float(v)) for v in x]

    return {
        "suspension": found.linkage.name,
        "met": found.met,
        "moves": {c.name: number(float(x)) for c, x in zip(found.coordinates, found.moves, strict=True)},
        "points": {n: listed(np.array(p)) for n, p in found.points.items()},
        "curves": {
            c.name: {
                "metric": c.metric,
                "unit": found.units[c.metric],
                "tolerance": c.tolerance,
                "travel": listed(c.travel),
                "rack": listed(c.rack),
                "target": listed(c.target),
                "before": listed(found.before[c.name]),
                "after": listed(found.after[c.name]),
                "sensitivity": {n: number(x) for n, x in found.sensitivity(c.name).items()},
            }
            for c in found.curves
        },
        "evaluations": found.evaluations,
        "notes": list(found.notes),
    }
