"""Load cases of a suspension as a table: forces of every rod, joint, strut and of the rack; saved
and drawn."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from bellcrank.core.errors import ModelError, did_you_mean
from bellcrank.core.files.atomic import write_text
from bellcrank.core.files.figure_files import new_figure, save_figure
from bellcrank.core.files.record import report_io_errors
from bellcrank.linkage.link_forces import LinkForce, LinkForces

Array = np.ndarray[Any, Any]

COLUMNS = (
    "case",
    "travel (m)",
    "rack (m)",
    "part",
    "kind",
    "size (N)",
    "fx (N)",
    "fy (N)",
    "fz (N)",
    "mx (N-m)",
    "my (N-m)",
    "mz (N-m)",
)


@dataclass(frozen=True)
class LoadCaseForces:
    """One case: where the wheel is, what acts on it at the contact (ahead, left, up), and what the
    parts carry."""

    name: str
    travel: float
    rack: float
    force: Array
    moment: Array
    link_forces: LinkForces


@dataclass(frozen=True)
class LoadTable:
    """Load cases of one wheel's suspension. `table["braking"]["tie_rod"].size` is a force in N."""

    name: str
    cases: Sequence[LoadCaseForces]
    notes: tuple[str, ...] = field(default=())

    def __getitem__(self, case: str) -> dict[str, LinkForce]:
        for c in self.cases:
            if c.name == case:
                return dict(c.link_forces.parts)
        names = [c.name for c in self.cases]
        raise ModelError(
            f"there is no load case '{case}'.{did_you_mean(case, names)} There are: "
            f"{', '.join(names)}."
        )

    @property
    def parts(self) -> list[str]:
        return list(self.cases[0].link_forces.parts)

    def rows(self) -> list[list[Any]]:
        """A row for each case and part: numbers of `COLUMNS`."""
        return [
            [
                c.name,
                c.travel,
                c.rack,
                name,
                p.kind,
                p.magnitude,
                *map(float, p.force),
                *map(float, p.moment),
            ]
            for c in self.cases
            for name, p in c.link_forces.parts.items()
        ]

    def save(self, path: str | Path) -> Path:
        """Writes a CSV file, one row for each case and part."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(
            [repr(x) if isinstance(x, float) else x for x in row] for row in self.rows()
        )
        report_io_errors("write", Path(path), lambda: write_text(path, text.getvalue()))
        return Path(path)

    def draw(self, path: str | Path | None = None) -> Any:
        """A matplotlib figure: for each case, bars of the forces of all parts (rods: tension;
        struts: push)."""
        rows = -(-len(self.cases) // 2)
        figure = new_figure(11, 0.24 * len(self.parts) * rows + 0.7 * rows + 0.6)
        axes = figure.subplots(rows, 2, squeeze=False, sharex=True).ravel()
        for axis, c in zip(axes, self.cases, strict=False):
            sizes = [p.magnitude / 1000 for p in c.link_forces.parts.values()]
            axis.barh(range(len(sizes)), sizes, height=0.7)
            axis.set_yticks(range(len(sizes)), self.parts, fontsize=7)
            axis.invert_yaxis()
            axis.set_title(c.name, fontsize=9)
            axis.tick_params(labelsize=7)
            axis.grid(True, axis="x", linewidth=0.4, alpha=0.6)
        for axis in axes[len(self.cases) :]:
            axis.set_axis_off()
        for axis in axes[-2:]:
            axis.set_xlabel("force (kN)", fontsize=8)
        figure.suptitle(f"{self.name}: loads", fontsize=11)
        return save_figure(figure, path)
