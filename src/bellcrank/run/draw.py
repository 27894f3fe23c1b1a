"""Plots of runs: one panel per unit, labels with units, several runs overlaid."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bellcrank.errors import RunError

if TYPE_CHECKING:
    from bellcrank.run.result import Run


def draw(
    runs: Sequence[Run],
    channels: list[str],
    against: str | None = None,
    path: str | Path | None = None,
    title: str | None = None,
) -> Any:
    """A matplotlib figure of the given channels (default: up to eight)."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    channels = channels or [c for c in runs[0] if not c.startswith(("q(", "u("))][:8] or list(runs[0])[:8]
    groups: dict[str, list[str]] = {}
    for c in channels:
        runs[0][c]  # an unknown channel is told at once
        groups.setdefault(runs[0].units.get(c, ""), []).append(c)
    figure = Figure(figsize=(8, 1.2 + 2.1 * len(groups)), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(len(groups), 1, sharex=True, squeeze=False)[:, 0]
    for axis, (unit, names) in zip(axes, groups.items(), strict=True):
        for run in runs:
            for name in names:
                label = name if len(runs) == 1 else f"{name}, {run.name}"
                axis.plot(run[against] if against else run.time, run[name], label=label, linewidth=1.2)
        single = runs[0].labels.get(names[0], names[0]) if len(names) == 1 else ""
        axis.set_ylabel(f"{single}\n({unit})" if single and unit else single or unit, fontsize=9)
        axis.grid(True, linewidth=0.4, alpha=0.6)
        if len(names) * len(runs) > 1:
            axis.legend(fontsize=8, loc="best")
    x_unit = runs[0].units.get(against, "") if against else "s"
    axes[-1].set_xlabel(f"{runs[0].labels.get(against, against) if against else 'time'} ({x_unit})")
    figure.suptitle(title or runs[0].name, fontsize=11)
    if path is not None:
        try:
            figure.savefig(path, dpi=130)
        except OSError as error:
            raise RunError(f"cannot write {path}: {error.strerror or error}") from None
        except (TypeError, ValueError) as error:  # an ending that is no format of pictures
            raise RunError(f"cannot draw to {path}: {error}") from None
    return figure
