"""Pictures of a study: lines over one value, maps over two, scattered samples."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from bellcrank.core.files.figure_files import new_figure, plot_text, save_figure
from bellcrank.core.unit_notation import typeset_unit
from bellcrank.study.pivot import best_row, group_table_rows, select_rows, value_label
from bellcrank.study.study_parts import StudyPart
from bellcrank.study.study_records import PlotSpec
from bellcrank.study.study_rows import Row, StudyRows

MOST = 12  # pictures that are drawn unasked


def draw_all_plots(result: StudyRows, folder: Path, ending: str = ".png") -> list[Path]:
    """Every plot of a study."""
    specs = result.definition.plots or default_plots(result, ending)
    for spec in specs:
        draw_plot(result, spec, folder / spec.file)
    return [folder / spec.file for spec in specs]


def default_plots(result: StudyRows, ending: str) -> list[PlotSpec]:
    """A map over the first two names of a grid, a line over the only one, or points over every
    sampled name."""
    specs = []
    for part in result.definition.parts:
        for metric in result.definition.metrics:
            for axes in _plot_axes(part):
                name = re.sub(
                    r"[^\w.-]+", "_", "_".join(x for x in (part.name, metric, *axes[2:]) if x)
                )
                specs.append(
                    PlotSpec(f"{name}{ending}", metric, axes[0], axes[1], part=part.name or None)
                )
    return specs[:MOST]


def _plot_axes(part: StudyPart) -> list[tuple[Any, ...]]:
    numeric = [
        n for n, v in part.grid.items() if len(v) > 1 and all(isinstance(x, int | float) for x in v)
    ]
    if part.samples:
        return [(name, None, name) for name in part.samples.distributions]
    if len(numeric) >= 2:
        return [(numeric[1], numeric[0])]
    names = numeric or list(part.grid)
    return [(names[0], None)] if names else []


def draw_plot(result: StudyRows, spec: PlotSpec, path: Path | None = None) -> Any:
    """One plot, saved if a path is given. Returns the figure."""
    figure = new_figure(7.2, 4.8)
    axis = figure.subplots()
    rows = select_rows(result.rows, spec)
    if spec.y is not None:
        _draw_map(figure, axis, rows, spec, result)
    elif _is_sampled(result, spec):
        points = [
            (r.values[spec.x], y) for r in rows if (y := r.metrics.get(spec.value)) is not None
        ]
        axis.plot([x for x, _ in points], [y for _, y in points], ".", markersize=5)
        axis.set_ylabel(_study_axis_label(result, spec.value))
    else:
        _draw_lines(axis, rows, spec, result)
    axis.set_xlabel(_study_axis_label(result, spec.x))
    if spec.y is None:
        axis.grid(True, linewidth=0.4, alpha=0.6)
    conditions = [f"{n} = {value_label(v)}" for n, v in spec.where.items()]
    title = spec.title or ", ".join(
        x for x in (result.name, spec.part or "", *conditions, *_best_over_label(rows, spec)) if x
    )
    axis.set_title(plot_text(title), fontsize=11)
    return save_figure(figure, path)


def _best_over_label(rows: list[Row], spec: PlotSpec) -> list[str]:
    """Names of a grid that no axis shows: each point has the best over them."""
    if not spec.best:
        return []
    shown_ones = (spec.x, spec.y, spec.lines, *spec.where)
    names = dict.fromkeys(n for r in rows for n in r.values if n not in shown_ones)
    several = [n for n in names if len({r.values.get(n) for r in rows}) > 1]
    return [f"{spec.best} over {', '.join(several)}"] if several else []


def _study_axis_label(result: StudyRows, name: str) -> str:
    column = result.columns[name]
    label, unit = column.label or name, typeset_unit(column.unit)
    return plot_text(f"{label} ({unit})" if unit and unit not in ("1", "-") else label)


def _is_sampled(result: StudyRows, spec: PlotSpec) -> bool:
    matching = [p for p in result.definition.parts if spec.part in (None, p.name)]
    return any(p.samples and spec.x in p.samples.distributions for p in matching)


def _draw_lines(axis: Any, rows: list[Row], spec: PlotSpec, result: StudyRows) -> None:
    groups = group_table_rows(rows, [spec.lines]) if spec.lines else {("",): rows}
    for i, ((line_value,), members) in enumerate(groups.items()):
        best = {
            x: best_row(runs, spec.value, spec.best)
            for (x,), runs in group_table_rows(members, [spec.x]).items()
        }
        label = f"{spec.lines} = {value_label(line_value)}" if spec.lines else None
        line = {
            "linestyle": "-" if i < 10 else "--",
            "linewidth": 1.2,
            "color": f"C{i % 10}",
            "label": label,
        }
        axis.plot(
            list(best),
            [_metric_or_nan(row, spec.value) for row in best.values()],
            marker="o",
            markersize=3.5,
            **line,
        )
    axis.set_ylabel(_study_axis_label(result, spec.value))
    if spec.lines:
        axis.figure.legend(fontsize=8, loc="outside right upper")


def _draw_map(figure: Any, axis: Any, rows: list[Row], spec: PlotSpec, result: StudyRows) -> None:
    """Colours with the values of the runs written in, if there is room; the best is framed."""
    groups = group_table_rows(rows, [spec.x, spec.y or ""])
    xs, ys = sorted({k[0] for k in groups}), sorted({k[1] for k in groups})
    best = {key: best_row(members, spec.value, spec.best) for key, members in groups.items()}
    z = np.array(
        [[_metric_or_nan(best.get((x, y)), spec.value) for x in xs] for y in ys], dtype=float
    )
    image = axis.imshow(z, origin="lower", aspect="auto", cmap="viridis")
    axis.set_xticks(
        range(len(xs)), [value_label(x) for x in xs], fontsize=8, rotation=45 if len(xs) > 8 else 0
    )
    axis.set_yticks(range(len(ys)), [value_label(y) for y in ys], fontsize=8)
    axis.set_ylabel(_study_axis_label(result, spec.y or ""))
    figure.colorbar(image, ax=axis, label=_study_axis_label(result, spec.value))
    if not np.isfinite(z).any():
        return
    if z.size <= 144:
        middle = (np.nanmin(z) + np.nanmax(z)) / 2
        for (j, i), value in np.ndenumerate(z):
            if np.isfinite(value):
                colour = "black" if value > middle else "white"
                axis.text(i, j, f"{value:.3g}", ha="center", va="center", fontsize=7, color=colour)
    j, i = np.unravel_index(np.nanargmin(z) if spec.best == "min" else np.nanargmax(z), z.shape)
    axis.plot(i, j, "s", markersize=24, markerfacecolor="none", markeredgecolor="red")


def _metric_or_nan(row: Row | None, value: str) -> float:
    number = None if row is None else row.metrics[value]
    return np.nan if number is None else number
