"""Plots of analyses, of plain arrays and words: results call them, and they know no result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bellcrank.core.files.figure_files import new_figure, save_figure

Place = str | Path | None  # where a picture is saved, if it is


def _add_grid(axis: Any, **options: Any) -> None:
    axis.grid(True, linewidth=0.4, alpha=0.6, **options)


def _finish_with_title(figure: Any, title: str, path: Place) -> Any:
    figure.suptitle(title, fontsize=11)
    return save_figure(figure, path)


def _setup_complex_plane(axis: Any) -> None:
    """The complex plane of eigenvalues."""
    axis.axvline(0, color="black", linewidth=0.8)
    axis.set_xlabel("real part (1/s)")
    axis.set_ylabel("imaginary part (rad/s)")
    _add_grid(axis)


def draw_modes(
    name: str,
    states: Sequence[str],
    eigenvalues: Sequence[complex],
    participation: np.ndarray,
    path: Place = None,
) -> Any:
    """Eigenvalues (1/s, one of each pair) in the complex plane next to the fractions of the states
    (modes by states)."""
    figure = new_figure(10, max(3.6, 1.8 + 0.28 * len(states)))
    plane, axis = figure.subplots(1, 2, width_ratios=(1, 1.25))
    labels = []
    for i, x in enumerate(eigenvalues, 1):
        points = [x, x.conjugate()] if x.imag else [x]
        plane.plot([p.real for p in points], [p.imag for p in points], "x", markersize=8, mew=1.8)
        plane.annotate(
            str(i), (x.real, x.imag), xytext=(5, 4), textcoords="offset points", fontsize=8
        )
        labels.append(f"{i}\n{abs(x) / (2 * np.pi):.3g} Hz" if x.imag else f"{i}\n{x.real:.3g}/s")
    _setup_complex_plane(plane)
    if labels:
        image = axis.imshow(participation.T, aspect="auto", cmap="Blues", vmin=0, vmax=1)
        axis.set_yticks(range(len(states)), states, fontsize=8)
        axis.set_xticks(range(len(labels)), labels, fontsize=7)
        axis.set_title("participation", fontsize=10)
        figure.colorbar(image, ax=axis)
    return _finish_with_title(figure, f"{name}: modes", path)


def draw_response(
    name: str,
    ratio: tuple[str, str],
    f: np.ndarray,
    magnitude: np.ndarray,
    phase: np.ndarray,
    path: Place = None,
) -> Any:
    """Magnitude and phase (degrees) over frequency; `ratio`: which output per which input, and its
    unit."""
    figure = new_figure(8, 5.4)
    top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=(1.6, 1))
    log = bool(np.all(f > 0))
    (top.loglog if log else top.plot)(f, magnitude, linewidth=1.4)
    (bottom.semilogx if log else bottom.plot)(f, phase, linewidth=1.4)
    top.set_ylabel(f"{ratio[0]}\n({ratio[1]})")
    bottom.set_ylabel("phase (deg)")
    bottom.set_xlabel("frequency (Hz)")
    for axis in (top, bottom):
        _add_grid(axis, which="both")
    return _finish_with_title(figure, f"{name}: frequency response", path)


def draw_spectra(
    name: str, unit: str, spectra: Sequence[tuple[str, np.ndarray, np.ndarray]], path: Place = None
) -> Any:
    """Power spectral densities over each other: (label, frequencies, values)."""
    figure = new_figure(8, 4.4)
    axis = figure.subplots()
    for label, f, values in spectra:
        positive = (f > 0) & (values > 0)
        axis.loglog(f[positive], values[positive], linewidth=1.3, label=label)
    axis.set_xlabel("frequency (Hz)")
    axis.set_ylabel(f"({unit})$^2$/Hz")
    _add_grid(axis, which="both")
    axis.legend(fontsize=8)
    return _finish_with_title(figure, f"{name}: power spectral density", path)


def draw_locus(
    name: str, parameter: str, values: np.ndarray, branches: np.ndarray, path: Place = None
) -> Any:
    """Eigenvalues in the complex plane, and their real and imaginary parts over the parameter."""
    figure = new_figure(10, 5.0)
    plane, side = figure.subplots(1, 2)
    scatter = plane.scatter(
        branches.real.ravel(),
        branches.imag.ravel(),
        c=np.repeat(values, branches.shape[1]),
        s=9,
        cmap="viridis",
    )
    figure.colorbar(scatter, ax=plane, label=parameter)
    _setup_complex_plane(plane)
    for part, label, color, style, width in (
        (branches.real, "real part (1/s)", "tab:blue", "-", 1.2),
        (np.abs(branches.imag), "imaginary part (rad/s)", "tab:orange", "--", 0.9),
    ):
        side.plot(values, part, color=color, linewidth=width, linestyle=style)
        side.plot([], [], color=color, linestyle=style, label=label)
    side.axhline(0, color="black", linewidth=0.8)
    side.set_xlabel(parameter)
    side.legend(fontsize=8)
    _add_grid(side)
    return _finish_with_title(figure, f"{name}: eigenvalues over {parameter}", path)


def draw_chart(
    name: str,
    parameters: Sequence[str],
    values: tuple[np.ndarray, np.ndarray],
    growth: np.ndarray,
    path: Place = None,
) -> Any:
    """Largest real part over two parameters, with the stability limit; `parameters`: their names
    and units."""
    figure = new_figure(7.2, 5.2)
    axis = figure.subplots()
    (x, y) = values
    size = float(np.nanmax(np.abs(growth))) if np.any(np.isfinite(growth)) else 1.0
    mesh = axis.pcolormesh(x, y, growth.T, cmap="RdBu_r", vmin=-size, vmax=size, shading="nearest")
    if np.nanmin(growth) < 0 < np.nanmax(growth):
        axis.contour(x, y, growth.T, levels=[0.0], colors="black", linewidths=1.4)
    figure.colorbar(mesh, ax=axis, label="largest real part (1/s); stable below 0")
    axis.set_xlabel(parameters[0])
    axis.set_ylabel(parameters[1])
    return _finish_with_title(figure, f"{name}: stability", path)


def draw_panels(
    title: str,
    x_label: str,
    x: np.ndarray,
    panels: Sequence[tuple[str, Mapping[str, np.ndarray]]],
    path: Place = None,
    legend: str = "",
) -> Any:
    """Values over a parameter or over time, one panel each: (label, {line: values}); `legend`: what
    lines are."""
    figure = new_figure(8, 1.2 + 1.9 * len(panels))
    axes = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
    for axis, (label, lines) in zip(axes, panels, strict=True):
        for line, values in lines.items():
            axis.plot(x, values, linewidth=1.3, label=line)
        axis.set_ylabel(label, fontsize=9)
        _add_grid(axis)
    if legend:
        axes[0].legend(fontsize=8, title=legend, title_fontsize=8)
    axes[-1].set_xlabel(x_label)
    return _finish_with_title(figure, title, path)


def draw_values(name: str, rows: Sequence[tuple[str, float, str]], path: Place = None) -> Any:
    """Values as bars, one panel per unit: (name, value, unit)."""
    groups: dict[str, list[tuple[str, float]]] = {}
    for label, value, unit in rows:
        groups.setdefault(unit, []).append((label, value if abs(value) > 1e-13 else 0.0))
    figure = new_figure(7, 1.2 + 0.32 * len(rows) + 0.6 * len(groups))
    axes = figure.subplots(
        len(groups), 1, squeeze=False, height_ratios=[len(g) + 1 for g in groups.values()]
    )[:, 0]
    for axis, (unit, entries) in zip(axes, groups.items(), strict=True):
        positions = range(len(entries))
        bars = axis.barh(positions, [v for _, v in entries], color="tab:blue", height=0.6)
        axis.bar_label(bars, [f"{v:.4g}" for _, v in entries], fontsize=8, padding=3)
        axis.set_yticks(positions, [n for n, _ in entries], fontsize=8)
        axis.invert_yaxis()
        axis.margins(x=0.2)
        if not any(v for _, v in entries):
            axis.set_xlim(-1, 1)
        axis.axvline(0, color="black", linewidth=0.8)
        axis.set_xlabel(unit, fontsize=8)
    return _finish_with_title(figure, name, path)
