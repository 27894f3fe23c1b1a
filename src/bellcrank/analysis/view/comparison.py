"""Plots of methods that keep constraints: residuals and errors of the energy over time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bellcrank.core.files.figure_files import new_figure, save_figure

Line = tuple[
    str, np.ndarray, np.ndarray, np.ndarray | None
]  # name, time, residual, error of the energy


def draw_comparison(title: str, lines: Sequence[Line], path: str | Path | None = None) -> Any:
    """One panel for each quantity, logarithmic; a residual of exactly zero lies at 1e-17."""
    with_energy = any(energy is not None for *_, energy in lines)
    figure = new_figure(9, 6.4 if with_energy else 3.8)
    axes = figure.subplots(2 if with_energy else 1, 1, sharex=True, squeeze=False)[:, 0]
    for i, (name, time, residual, energy) in enumerate(lines):
        style = {
            "label": name,
            "linewidth": 1.1,
            "color": f"C{i % 10}",
            "linestyle": "-" if i < 10 else "--",
        }
        axes[0].plot(time, np.maximum(residual, 1e-17), **style)
        if energy is not None:
            axes[1].plot(time[: len(energy)], np.where(energy > 0, energy, np.nan), **style)
    for axis, label in zip(
        axes, ("largest residual of positions", "error of the energy"), strict=False
    ):
        axis.set_yscale("log")
        axis.set_ylabel(label, fontsize=9)
        axis.grid(True, linewidth=0.4, alpha=0.6)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, fontsize=8, loc="outside right upper")
    axes[-1].set_xlabel("time (s)")
    figure.suptitle(title, fontsize=11)
    return save_figure(figure, path)
