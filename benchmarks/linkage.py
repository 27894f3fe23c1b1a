"""Linkages: poses per second from C, the cost of a corner in the right-hand side, errors of tables
against their step.

    python benchmarks/linkage.py                     one table, one core
    python benchmarks/linkage.py --errors FILE.png   the errors of the three schemes on three suspensions, drawn

Times are those of the processor, the best of several, on one core. The job of Houdek (2020),
section 3.6 (five-link, 401 poses in 1 mm steps; about 1000 s exact and 3 s interpolated there) is
done here exactly, by making the table of 10 mm steps, and by looking the poses up, all derivatives
included.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import bellcrank as bc
from bellcrank.linkage import Linkage, shipped
from bellcrank.linkage.pose_interpolation import SCHEMES
from bellcrank.linkage.pose_table import pose_differences
from bellcrank.symbolic.expr import NamedSubexpression, expression

SUSPENSIONS = ("five_link", "double_wishbone", "formula_student")
SPANS = {
    "five_link": (0.0, 0.1),
    "double_wishbone": (-0.08, 0.08),
    "formula_student": (-0.05, 0.05),
}
MEASURES = ("position", "angle", "d", "delta", "dd", "ddelta")
ORDERS = {
    "three-rotations": (4, 3, 3, 2, 2, 1),
    "cubic": (4, 4, 3, 3, 2, 2),
    "quintic": (6, 6, 5, 5, 4, 4),
}


def hold(e: Any) -> Any:
    """An intermediate result."""
    return NamedSubexpression(expression(e))


def best(action: Callable[[], Any], times: int = 7) -> float:
    """Seconds of the processor for the quickest of several calls."""
    seconds = []
    for _ in range(times):
        start = time.process_time()
        action()
        seconds.append(time.process_time() - start)
    return min(seconds)


def poses() -> None:
    """Poses per second from C."""
    rng = np.random.default_rng(0)
    print("poses per second from C, one core (position, rotation, first and second derivatives)")
    print(f"  {'suspension':<18}{'unknowns':>9}{'exact':>12}{'table':>12}{'nodes for 1e-6':>16}")
    for name in shipped():
        linkage = Linkage.read(name)
        z = rng.uniform(-0.07, 0.07, 100_000)
        rack = "rack" in linkage.inputs
        second = rng.uniform(-0.02, 0.02, len(z)) if len(linkage.inputs) == 2 else None
        exact = bc.compile_linkage(linkage)
        table = linkage.table(
            accuracy=1e-6, range=(-0.075, 0.075), rack=(-0.025, 0.025) if rack else None, links=()
        )
        look_up = bc.compile_linkage(table)
        rates = [
            len(z) / best(partial(exact.numbers, z, second)),
            len(z) / best(partial(look_up.numbers, z, second if rack else None)),
        ]
        size = (
            f"{len(table.travel)}"
            if table.rack is None
            else f"{len(table.travel)} x {len(table.rack)}"
        )
        print(
            f"  {name:<18}{len(linkage.solver.free):>9}{rates[0]:>12.3g}{rates[1]:>12.3g}{size:>16}"
        )


def job() -> None:
    """Houdek's job."""
    linkage = Linkage.read("five_link")
    linkage.range()
    z = np.linspace(-0.2, 0.2, 401)
    exact = bc.compile_linkage(linkage)
    table = linkage.table(step=0.01, range=(-0.2, 0.2), links=())
    look_up = bc.compile_linkage(table)
    print(
        "\nfive-link, 401 poses with all derivatives (Houdek: about 1000 s exact, 3 s interpolated)"
    )
    print(f"  exact, C                       {best(lambda: exact.numbers(z)) * 1e3:10.4f} ms")
    print(
        f"  exact, NumPy                   "
        f"{best(lambda: linkage.solve(z, links=())) * 1e3:10.4f} ms"
    )
    print(
        f"  making the table, NumPy        "
        f"{best(lambda: linkage.table(step=0.01, range=(-0.2, 0.2), links=())) * 1e3:10.4f} ms"
    )
    print(f"  looked up, C                   {best(lambda: look_up.numbers(z)) * 1e3:10.4f} ms")
    print(f"  looked up, NumPy               {best(lambda: table.solve(z)) * 1e3:10.4f} ms")


def corner(kind: str) -> bc.System:
    """A wheel on a body that moves freely: by the exact linkage, by a table, or on a plain
    slider."""
    s = bc.System(f"corner, {kind}", units="mks", axes="ISO 8855")
    base = s.add_body(
        "base",
        translate=(1, 2, 3),
        rotate=(3, 2, 1),
        mass=400,
        inertia=(90, 200, 220),
        cm=(0.3, 0, 0.5),
    )
    linkage = Linkage.read("five_link")
    centre = linkage.points["wheel_centre"]
    slide = {"translate": 3, "joint_at": centre} if kind == "slider" else {"cm": centre}
    wheel = s.add_body("wheel", parent=base, mass=38, inertia=(0.9, 1.4, 0.9), **slide)
    if kind != "slider":
        chain = linkage if kind == "exact" else linkage.table(accuracy=1e-6, range=(-0.1, 0.1))
        s.add_linkage("rear", chain, base=base, carrier=wheel, exact=kind == "exact")
    s.add_gravity()
    return s


def right_hand_side() -> None:
    """Operations and time of one evaluation of all rates."""
    print("\none corner on a free body: cost of one evaluation of all rates")
    print(
        f"  {'joint':<10}{'operations':>12}{'apart, in the routine':>24}{'ns':>10}{'of it the routine, all values, ns':>36}"
    )
    alone = {"exact": Linkage.read("five_link")}
    alone["table"] = alone["exact"].table(accuracy=1e-6, range=(-0.1, 0.1), links=())  # type: ignore[assignment]
    z = np.full(100_000, 0.03)
    for kind in ("slider", "table", "exact"):
        eom = corner(kind).equations()
        sim = eom.compile(backend="c", speed="fast")
        steps = 20_000
        seconds = best(partial(sim.simulate, t_end=1e-6 * steps, step=1e-6, output_every=steps), 5)
        nothing = best(partial(sim.simulate, t_end=1e-6, step=1e-6), 5)
        per_call = (seconds - nothing) / (4 * steps) * 1e9
        own = "-"
        if kind != "slider":
            own = f"{best(partial(bc.compile_linkage(alone[kind]).numbers, z)) / len(z) * 1e9:.0f}"
        counted = eom.operation_count()
        inside = sum(r["total"] for r in counted.get("routines", {}).values())
        print(f"  {kind:<10}{counted['total']:>12}{inside:>24}{per_call:>10.0f}{own:>36}")


def errors(path: str) -> None:
    """Errors of three schemes on three suspensions against the step, drawn."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12.5, 15), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(len(MEASURES), len(SUSPENSIONS), sharex=True)
    steps = np.array([0.04, 0.02, 0.01, 0.005, 0.0025])
    colours = dict(zip(SCHEMES, ("tab:blue", "tab:orange", "tab:green"), strict=True))
    words = {
        "position": "position, m",
        "angle": "rotation, rad",
        "d": "d",
        "delta": "delta, rad/m",
        "dd": "dd, 1/m",
        "ddelta": "ddelta, rad/m2",
    }
    for column, name in enumerate(SUSPENSIONS):
        linkage = Linkage.read(name)
        low, high = SPANS[name]
        z = np.linspace(low, high, 1601)
        exact = linkage.solve(z, links=())
        for scheme in SCHEMES:
            found = [
                pose_differences(
                    linkage.table(step=h, range=(low, high), scheme=scheme, links=()).solve(z),
                    exact,
                )
                for h in steps
            ]
            print(f"  {name:<18}{scheme:<17}", end="")
            for row, measure in enumerate(MEASURES):
                values = np.array([f[measure] for f in found])
                real = np.array([(high - low) / np.ceil((high - low) / h - 1e-9) for h in steps])
                order = np.log(values[1] / values[2]) / np.log(real[1] / real[2])
                print(f"{measure} {order:.1f} ({ORDERS[scheme][row]})  ", end="")
                label = f"{scheme}, order {ORDERS[scheme][row]}"
                axes[row, column].loglog(
                    1000 * real,
                    values,
                    "o-",
                    color=colours[scheme],
                    label=label,
                    linewidth=1.2,
                    markersize=4,
                )
            print()
        axes[0, column].set_title(
            f"{name.replace('_', ' ')}, travel {1000 * low:.0f} to {1000 * high:.0f} mm",
            fontsize=10,
        )
        axes[-1, column].set_xlabel("table step, mm")
    for row, measure in enumerate(MEASURES):
        axes[row, 0].set_ylabel(f"largest error: {words[measure]}", fontsize=9)
        for axis in axes[row]:
            axis.grid(True, which="both", linewidth=0.3, alpha=0.5)
            axis.legend(fontsize=7)
            axis.set_xticks([2.5, 5, 10, 20, 40], ["2.5", "5", "10", "20", "40"])
            axis.minorticks_off()
    figure.savefig(path, dpi=110)
    print(f"wrote {path}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--errors", metavar="FILE", help="draw the errors of tables instead")
    args = parser.parse_args()
    if args.errors:
        errors(args.errors)
        return
    poses()
    job()
    right_hand_side()


if __name__ == "__main__":
    main()
