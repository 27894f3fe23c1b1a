"""Plots of runs: one panel per unit, labels with units, several runs overlaid; pictures or an
interactive page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING

from bellcrank.core.errors import NoChannel, RunError, did_you_mean
from bellcrank.core.files.atomic import write_text
from bellcrank.core.files.figure_files import new_figure, plot_text, save_figure
from bellcrank.core.files.record import report_io_errors
from bellcrank.core.name_lookup import find_name
from bellcrank.core.unit_notation import typeset_unit
from bellcrank.simulation.run.plot_page import RunHistory, axis_label, plot_page, x_axis_label
from bellcrank.simulation.run.plot_selection import MOST, channels_by_unit, default_channels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WRAP = 34  # letters of an axis label in a line
PADS = {"w_pad": 0.12, "h_pad": 0.06}  # inches around panels
PICTURES = (".png", ".svg", ".pdf")


def plot_runs(
    runs: Sequence[RunHistory],
    channels: list[str],
    against: str | None = None,
    path: str | Path | None = None,
    title: str | None = None,
    names: Sequence[str] | None = None,
) -> Figure | None:
    """A matplotlib figure of the given channels (default: outputs, up to six curves), saved if a
    path is given.

    A path that ends in .html gets an interactive page. `against` names a channel for the horizontal
    axis; `names` distinguish runs .
    """
    channels, against = resolve_channels(runs, channels, against)
    units = runs[0].units
    groups = {
        units.get(names[0], ""): names
        for names in channels_by_unit((c, units.get(c, "")) for c in channels)
    }
    run_names = list(names or (run.name for run in runs))
    if path is not None and Path(path).suffix.lower() == ".html":
        page = plot_page(runs, groups, against, title or runs[0].name, run_names)
        report_io_errors("write", Path(path), lambda: write_text(path, page))
        return None
    figure = _figure(runs, groups, against, title, run_names)
    if path is not None:
        if Path(path).suffix.lower() not in PICTURES:
            raise RunError(
                f"cannot draw to {path}: known file extensions are .png, .svg, .pdf and .html"
            )
    return save_figure(figure, path)


def resolve_channels(
    runs: Sequence[RunHistory], channels: Sequence[str], against: str | None
) -> tuple[list[str], str | None]:
    """The channels as they are spelled; one that a run does not have is reported."""
    max_curves = max(1, MOST // len(runs))
    names = list(channels) or default_channels(runs[0], max_curves)
    if not names:
        raise RunError(f"there is nothing to draw: {runs[0].name} has no channel but time")
    result = []
    for name in [*names, *([against] if against else [])]:
        match = None
        for run in runs:
            match = find_name(name, ["t", *run], "channel")
            if match is None:
                listed = ", ".join(run)
                raise NoChannel(
                    f"no channel '{name}' in {run.name}.{did_you_mean(name, run)} Channels: "
                    f"{listed}."
                )
        result.append(match or name)
    return (result[:-1], result[-1]) if against else (result, None)


def _figure(
    runs: Sequence[RunHistory],
    groups: dict[str, list[str]],
    against: str | None,
    title: str | None,
    run_names: Sequence[str],
) -> Figure:
    figure = new_figure(8, 1.2 + 2.1 * len(groups))
    figure.get_layout_engine().set(**PADS)
    axes = figure.subplots(len(groups), 1, sharex=True, squeeze=False)[:, 0]
    for axis, (unit, names) in zip(axes, groups.items(), strict=True):
        for run, run_name in zip(runs, run_names, strict=True):
            for name in names:
                label = fill(
                    plot_text(", ".join([axis_label(run, name), run_name][: 1 + (len(runs) > 1)])),
                    WRAP,
                )
                axis.plot(
                    run[against] if against else run.time, run[name], label=label, linewidth=1.2
                )
        single = fill(plot_text(axis_label(runs[0], names[0])), WRAP) if len(names) == 1 else ""
        unit = plot_text(typeset_unit(unit))
        axis.ticklabel_format(useOffset=False)
        axis.margins(x=0.05 if against else 0)
        axis.set_ylabel(f"{single}\n({unit})" if single and unit else single or unit, fontsize=9)
        axis.grid(True, linewidth=0.4, alpha=0.6)
        if len(names) * len(runs) > 1:
            axis.legend(fontsize=8, loc="best")
    axes[-1].set_xlabel(plot_text(x_axis_label(runs[0], against)))
    figure.align_ylabels(axes)
    figure.suptitle(plot_text(title or runs[0].name), fontsize=11)
    return figure
