"""Plots as one HTML page with its data and a small script within: nothing is fetched from
anywhere."""

from __future__ import annotations

import html
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

import numpy as np

from bellcrank.core.files.template import fill_template, template_text
from bellcrank.core.unit_notation import typeset_unit


class Labelled(Protocol):
    """What has channels with labels."""

    @property
    def labels(self) -> Mapping[str, str]: ...


class RunHistory(Labelled, Protocol):
    """What is drawn of a run: channels by name, with units and labels."""

    @property
    def name(self) -> str: ...

    @property
    def time(self) -> np.ndarray: ...

    @property
    def units(self) -> Mapping[str, str]: ...

    @property
    def generic(self) -> Mapping[str, str]: ...

    def __getitem__(self, channel: str) -> np.ndarray: ...

    def __iter__(self) -> Iterator[str]: ...


def plot_page(
    runs: Sequence[RunHistory],
    groups: Mapping[str, Sequence[str]],
    against: str | None,
    title: str,
    names: Sequence[str],
) -> str:
    """The page: one panel per unit, every run in it. `names` distinguish the runs ."""
    panels = []
    for unit, channels in groups.items():
        lines = []
        for name in channels:
            for run, run_name in zip(runs, names, strict=True):
                label = axis_label(run, name)
                full_label = name if label == name else f"{name}: {label}"
                lines.append(
                    {
                        "name": name if len(runs) == 1 else f"{name}, {run_name}",
                        "label": full_label if len(runs) == 1 else f"{full_label} ({run_name})",
                        "x": _short_numbers(run[against] if against else run.time),
                        "y": _short_numbers(run[name]),
                    }
                )
        panels.append(
            {
                "ylabel": f"{', '.join(channels)} ({unit})" if unit else ", ".join(channels),
                "lines": lines,
            }
        )
    data = {
        "panels": panels,
        "xlabel": x_axis_label(runs[0], against),
        "cross": against is not None,
    }
    replacements = {"TITLE": html.escape(title), "DATA": _script_safe_json(data)}
    return fill_template(
        template_text("bellcrank.simulation.run/templates", "plot.html"), replacements
    )


def axis_label(run: Labelled, name: str) -> str:
    """What stands next to the axis of a channel: its label, of a state its name, which is
    shorter."""
    return name if name.startswith(("q(", "u(")) else str(run.labels.get(name, name))


def x_axis_label(run: RunHistory, against: str | None) -> str:
    """What stands below the horizontal axis."""
    if against is None:
        return "time (s)"
    unit = typeset_unit(run.units.get(against, ""))
    return f"{axis_label(run, against)}{f' ({unit})' if unit else ''}"


def _short_numbers(values: np.ndarray) -> list[float | None]:
    """Seven digits are more than a screen shows."""
    return [float(f"{v:.7g}") if math.isfinite(v) else None for v in values.tolist()]


def _script_safe_json(data: object) -> str:
    """JSON that cannot end the script it stands in."""
    return (
        json.dumps(data, separators=(",", ":"))
        .replace("<", "\\u003c")
        .replace(">", "\\u003e")
        .replace("&", "\\u0026")
    )
