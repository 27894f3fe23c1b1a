"""Plots of many runs: bands of percentiles over time, or every run as a thin line; one panel per
channel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from bellcrank.choices import CurveStyle, choice_values
from bellcrank.core.errors import RunError
from bellcrank.core.files.figure_files import new_figure, plot_text, save_figure
from bellcrank.core.unit_notation import typeset_unit
from bellcrank.simulation.run.plot_page import axis_label
from bellcrank.simulation.run.run_plots import WRAP

if TYPE_CHECKING:
    from numpy.typing import NDArray

STYLES = choice_values(CurveStyle)
BANDS = ((5, 95), (25, 75))  # percentiles of runs between which a band lies
MOST_CHANNELS, MOST_LINES = 6, 500  # that are drawn


class BatchHistories(Protocol):
    """What is drawn of many runs."""

    name: str
    time: NDArray[np.float64]
    channels: dict[str, NDArray[np.float64]]
    units: dict[str, str]
    labels: dict[str, str]

    def __getitem__(self, channel: Any) -> NDArray[np.float64]: ...


def plot_batch(
    batch: BatchHistories,
    channels: Sequence[str],
    path: str | Path | None = None,
    style: str = "bands",
    title: str | None = None,
) -> Any:
    """A matplotlib figure of histories, saved if a path is given."""
    if style not in STYLES:
        raise RunError(f"style={style!r} is not known; it is one of {', '.join(map(repr, STYLES))}")
    names = list(channels) or list(batch.channels)[:MOST_CHANNELS]
    if not names:
        raise RunError("there is nothing to draw: no history is kept; give channels=")
    histories: Mapping[str, NDArray[np.float64]] = {name: batch[name] for name in names}
    figure = new_figure(8, 1.2 + 2.3 * len(names))
    axes = figure.subplots(len(names), 1, sharex=True, squeeze=False)[:, 0]
    for axis, (name, x) in zip(axes, histories.items(), strict=True):
        if style == "runs":
            curves = x[:: -(-len(x) // MOST_LINES)]
            axis.plot(
                batch.time,
                curves.T,
                color="C0",
                linewidth=0.6,
                alpha=max(0.05, min(1.0, 20 / len(curves))),
            )
        else:
            _draw_percentile_bands(axis, batch.time, x)
        unit, label = (
            plot_text(typeset_unit(batch.units.get(name, ""))),
            fill(plot_text(axis_label(batch, name)), WRAP),
        )
        axis.set_ylabel(f"{label}\n({unit})" if unit else label, fontsize=9)
        axis.grid(True, linewidth=0.4, alpha=0.6)
    axes[-1].set_xlabel("time (s)")
    figure.align_ylabels(axes)
    figure.suptitle(plot_text(title or f"{batch.name}, {len(x)} runs"), fontsize=11)
    return save_figure(figure, path)


def _draw_percentile_bands(axis: Any, time: NDArray[np.float64], x: NDArray[np.float64]) -> None:
    """Percentiles over the runs that have come so far."""
    has_samples = np.isfinite(x).any(axis=0)
    for (low, high), alpha in zip(BANDS, (0.2, 0.35), strict=True):
        edges = np.nanpercentile(x[:, has_samples], (low, high), axis=0)
        label = f"{low} to {high} % of the runs"
        axis.fill_between(
            time[has_samples], *edges, color="C0", alpha=alpha, linewidth=0, label=label
        )
    axis.plot(
        time[has_samples],
        np.nanmedian(x[:, has_samples], axis=0),
        color="C0",
        linewidth=1.2,
        label="median",
    )
    axis.legend(fontsize=8, loc="best")
