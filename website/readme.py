"""The figures of the README: `python -m website.readme` writes them into docs/images/readme.

A car in a double lane change and a four-bar linkage as animations, and a chart of the table in docs/performance.md.
"""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.transforms import Affine2D
from PIL import Image

import bellcrank as bc
from bellcrank.library.manoeuvres.lanes import iso3888_1
from website.shown import DOCS, as_gif, small_animation

FOLDER = DOCS / "images" / "readme"
HEAD = "| | Bellcrank |"  # of the table that is drawn


def lane_change() -> None:
    """The passenger car in the double lane change of ISO 3888-1, from above, with its lateral acceleration."""
    car = bc.vehicles.Car.read("passenger")
    run = bc.manoeuvres.run(car, "iso3888-1", speed=80).run
    length, width = car.data.sections.body.length, car.data.sections.body.width
    offset = bc.manoeuvres.known()["iso3888-1"].settings["offset"].default
    cones = [(x, y) for lane in iso3888_1(width, offset) for x in range(int(lane.begin), int(lane.end) + 1, 5)
             for y in (lane.right, lane.left)]  # fmt: skip
    figure = Figure(figsize=(4.8, 1.9), dpi=100)
    above, below = figure.subplots(2, 1, height_ratios=(2, 1))

    def draw(t: float) -> None:
        x, y, yaw = (float(np.interp(t, run.time, run[name])) for name in ("x", "y", "yaw"))
        above.clear()
        above.set(xlim=(x - 22, x + 28), ylim=(-3, 7), aspect="equal", facecolor="#e8e8e8", xticks=[], yticks=[])
        above.plot(*zip(*cones, strict=True), "o", color="tab:orange", markersize=3)
        above.plot(run["x"][run.time <= t], run["y"][run.time <= t], color="tab:blue", linewidth=1)
        turned = Affine2D().rotate_deg(yaw).translate(x, y) + above.transData
        above.add_patch(Rectangle((-length / 2, -width / 2), length, width, color="#2f5d8a", transform=turned))
        above.add_patch(Rectangle((0.3, -width / 2.6), 0.7, width / 1.3, color="white", transform=turned))
        below.clear()
        below.plot(run.time, run["ay"], color="lightgrey")
        below.plot(run.time[run.time <= t], run["ay"][run.time <= t], color="tab:blue")
        below.set(xlim=(0, run.time[-1]), xticks=[])
        below.set_ylabel("ay\nm/s²", fontsize=7)
        below.tick_params(labelsize=6)

    frames = []
    for t in np.arange(0.5, run.time[-1], 0.15):
        draw(t)
        picture = io.BytesIO()
        figure.savefig(picture, format="png")
        frames.append(Image.open(picture).convert("RGB"))
    (FOLDER / "lane_change.gif").write_bytes(as_gif(frames, 100))


def four_bar() -> None:
    """The four-bar linkage of the examples with massive links, without damping."""
    system: Any = bc.System.read(DOCS.parent / "examples" / "four_bar.py", massive=True)
    run = system.equations().compile().simulate(t_end=2.5, step=0.002, output_every=5, parameters={"d": 0})
    with TemporaryDirectory() as folder:
        path = run.animate(Path(folder, "four_bar.gif"), fps=10, title="")
        (FOLDER / "four_bar.gif").write_bytes(small_animation(path))


def chart() -> None:
    """Nanoseconds per evaluation of the right-hand side, as the table has them."""
    table = (DOCS / "performance.md").read_text(encoding="utf-8").partition(HEAD)[2].partition("\n\n")[0]
    head, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in (HEAD + table).splitlines()]
    figure = Figure(figsize=(7.2, 2.6), layout="constrained")
    axis = figure.subplots()
    for i, name in enumerate(head[1:]):
        values = [float(re.findall(r"\d+", row[i + 1])[0]) for row in rows]
        bars = axis.bar(
            [x + 0.2 * (i - 1.5) for x in range(len(rows))], values, 0.2, label=name.partition(",")[0].replace("`", "")
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
