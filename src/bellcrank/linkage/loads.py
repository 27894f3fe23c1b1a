"""Load cases of a suspension as a table: forces of every rod, joint, strut and of the rack; saved and drawn."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from bellcrank.errors import ModelError, did_you_mean
from bellcrank.files.picture import finished, new_figure
from bellcrank.files.record import guarded
from bellcrank.files.whole import write_text
from bellcrank.linkage.statics import Carried, Held

Array = np.ndarray[Any, Any]

COLUMNS = (
    "case", "travel (m)", "rack (m)", "part", "kind", "size (N)", "fx (N)", "fy (N)", "fz (N)", "mx (N-m)", "my (N-m)",
    "mz (N-m)",
)  # fmt: skip


@dataclass(frozen=True)
class CaseLoads:
    """One case: where the wheel is, what acts on it at the contact (ahead, left, up), and what the parts carry."""

    name: str
    travel: float
    rack: float
    force: Array
    moment: Array
    held: Held


@dataclass(frozen=True)
class LoadTable:
    """Load cases of one wheel's suspension. `table["braking"]["tie_rod"].size` is a force in N."""

    name: str
    cases: Sequence[CaseLoads]
    notes: tuple[str, ...] = field(default=())

    def __getitem__(self, case: str) -> dict[str, Carried]:
        for c in self.cases:
            if c.name == case:
                return dict(c.held.parts)
        names = [c.name for c in self.cases]
        raise ModelError(f"there is no load case '{case}'.{did_you_mean(case, names)} There are: {', '.join(names)}.")

    @property
    def parts(self) -> list[str]:
        return list(self.cases[0].held.parts)

    def rows(self) -> list[list[Any]]:
        """A row for each case and part: numbers of `COLUMNS`."""
        return [
            [c.name, c.travel, c.rack, name, p.kind, p.size, *map(float, p.force), *map(float, p.moment)]
            for c in self.cases
            for name, p in c.held.parts.items()
        ]

    def save(self, path: str | Path) -> Path:
        """Writes a CSV file, one row for each case and part."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows([repr(x) if isinstance(x, float) else x for x in row] for row in self.rows())
        guarded("write", Path(path), lambda: write_text(path, text.getvalue()))
        return Path(path)

    def draw(self, path: str | Path | None = None) -> Any:
        """A matplotlib figure: for each case, bars of the forces of all parts (rods: tension; struts: push)."""
        rows = -(-len(self.cases) // 2)
        figure = new_figure(11, 0.24 * len(self.parts) * rows + 0.7 * rows + 0.6)
        axes = figure.subplots(rows, 2, squeeze=False, sharex=True).ravel()
        for axis, c in zip(axes, self.cases, strict=False):
            sizes = [p.size / 1000 for p in c.held.parts.values()]
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
        return finished(figure, path)
