"""The figures of the README: `python -m website.readme` writes them into docs/images/readme.

A car in a double lane change and a four-bar linkage as animations, and a chart of the table in
docs/performance.md.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from matplotlib.figure import Figure

import bellcrank as bc
from website.shown import DOCS, small_animation

FOLDER = DOCS / "images" / "readme"
HEAD = "| | Bellcrank |"  # of the table that is drawn


def lane_change() -> None:
    """The passenger car in the double lane change of ISO 3888-1, as `bellcrank drive --animate`
    draws it."""
    result = bc.vehicles.manoeuvres.run(bc.vehicles.Car.read("passenger"), "iso3888-1", speed=80)
    with TemporaryDirectory() as folder:
        path = result.animate(Path(folder, "lane_change.gif"), fps=8, title="")
        (FOLDER / "lane_change.gif").write_bytes(small_animation(path))


def four_bar() -> None:
    """The four-bar linkage of the examples with massive links, without damping."""
    system: Any = bc.System.read(DOCS.parent / "examples" / "four_bar.py", massive=True)
    run = (
        system.equations()
        .compile()
        .simulate(t_end=2.5, step=0.002, output_every=5, parameters={"d": 0})
    )
    with TemporaryDirectory() as folder:
        path = run.animate(Path(folder, "four_bar.gif"), fps=10, title="")
        (FOLDER / "four_bar.gif").write_bytes(small_animation(path))


def chart() -> None:
    """Nanoseconds per evaluation of the right-hand side, as the table has them."""
    table = (
        (DOCS / "performance.md")
        .read_text(encoding="utf-8")
        .partition(HEAD)[2]
        .partition("\n\n")[0]
    )
    head, _, *rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in (HEAD + table).splitlines()
    ]
    figure = Figure(figsize=(7.2, 2.6), layout="constrained")
    axis = figure.subplots()
    for i, name in enumerate(head[1:]):
        values = [float(re.findall(r"\d+", row[i + 1])[0]) for row in rows]
        bars = axis.bar(
            [x + 0.2 * (i - 1.5) for x in range(len(rows))],
            values,
            0.2,
            label=name.partition(",")[0].replace("`", ""),
        )
        axis.bar_label(bars, fontsize=6)
    axis.set_yscale("log")
    axis.set_ylabel("ns per right-hand side")
    axis.set_xticks(range(len(rows)), [row[0] for row in rows])
    axis.legend(fontsize=8, frameon=False)
    axis.spines[["top", "right"]].set_visible(False)
    figure.savefig(FOLDER / "speed.svg", metadata={"Date": None})


MADE = {
    "lane_change": lane_change,
    "four_bar": four_bar,
    "chart": chart,
}

if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[1:] or MADE:
        MADE[name]()
