"""Plots of analyses: names, units and arrays to figures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bellcrank.files.picture import finished, new_figure

Picture = str | Path | None
Named = tuple[str, np.ndarray]  # what a line shows, and its values


def _grid(axis: Any) -> None:
    axis.grid(True, linewidth=0.4, alpha=0.6)


def draw_modes(
    name: str, modes: Sequence[tuple[complex, np.ndarray]], states: Sequence[str], path: Picture = None
) -> Any:
    """Eigenvalues in the complex plane beside the participation of the states."""
    figure = new_figure(10, max(3.6, 1.8 + 0.28 * len(states)))
    plane, shares = figure.subplots(1, 2, width_ratios=(1, 1.25))
    for i, (root, _) in enumerate(modes, 1):
        points = [root, root.conjugate()] if root.imag else [root]
        plane.plot([p.real for p in points], [p.imag for p in points], "x", markersize=8, mew=1.8)
        plane.annotate(str(i), (points[0].real, points[0].imag), xytext=(5, 4), textcoords="offset points", fontsize=8)
    plane.axvline(0, color="black", linewidth=0.8)
    plane.set_xlabel("real part (1/s)")
    plane.set_ylabel("imaginary part (rad/s)")
    _grid(plane)
    if len(modes):
        image = shares.imshow(np.array([share for _, share in modes]).T, aspect="auto", cmap="Blues", vmin=0, vmax=1)
        shares.set_yticks(range(len(states)), states, fontsize=8)
        labels = [
            f"{i}\n{abs(root) / (2 * np.pi):.3g} Hz" if root.imag else f"{i}\n{root.real:.3g}/s"
            for i, (root, _) in enumerate(modes, 1)
        ]
        shares.set_xticks(range(len(modes)), labels, fontsize=7)
        shares.set_title("participation", fontsize=10)
        figure.colorbar(image, ax=shares)
    figure.suptitle(f"{name}: modes", fontsize=11)
    return finished(figure, path)


def draw_response(
    name: str, label: str, f: np.ndarray, magnitude: np.ndarray, phase: np.ndarray, path: Picture = None
) -> Any:
    """Magnitude and phase over frequency."""
    figure = new_figure(8, 5.4)
    top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=(1.6, 1))
    log = bool(np.all(f > 0))
    (top.loglog if log else top.plot)(f, magnitude, linewidth=1.4)
    (bottom.semilogx if log else bottom.plot)(f, phase, linewidth=1.4)
    top.set_ylabel(label)
    bottom.set_ylabel("phase (deg)")
    bottom.set_xlabel("frequency (Hz)")
    for axis in (top, bottom):
        axis.grid(True, which="both", linewidth=0.4, alpha=0.6)
    figure.suptitle(f"{name}: frequency response", fontsize=11)
    return finished(figure, path)


def draw_spectra(
    name: str, unit: str, spectra: Sequence[tuple[str, np.ndarray, np.ndarray]], path: Picture = None
) -> Any:
    """Power spectral densities over each other."""
    figure = new_figure(8, 4.4)
    axis = figure.subplots()
    for label, f, values in spectra:
        keep = (f > 0) & (values > 0)
        axis.loglog(f[keep], values[keep], linewidth=1.3, label=label)
    axis.set_xlabel("frequency (Hz)")
    axis.set_ylabel(f"({unit})$^2$/Hz")
    axis.grid(True, which="both", linewidth=0.4, alpha=0.6)
    axis.legend(fontsize=8)
    figure.suptitle(f"{name}: power spectral density", fontsize=11)
    return finished(figure, path)


def draw_locus(name: str, over: Named, unit: str, branches: np.ndarray, path: Picture = None) -> Any:
    """Eigenvalues in the complex plane, and their real and imaginary parts over the parameter."""
    figure = new_figure(10, 5.0)
    plane, beside = figure.subplots(1, 2)
    parameter, values = over
    colours = np.repeat(values, branches.shape[1])
    shown = plane.scatter(branches.real.ravel(), branches.imag.ravel(), c=colours, s=9, cmap="viridis")
    figure.colorbar(shown, ax=plane, label=f"{parameter} ({unit})")
    plane.axvline(0, color="black", linewidth=0.8)
    plane.set_xlabel("real part (1/s)")
    plane.set_ylabel("imaginary part (rad/s)")
    beside.plot(values, branches.real, color="tab:blue", linewidth=1.2)
    beside.plot(values, np.abs(branches.imag), color="tab:orange", linewidth=0.9, linestyle="--")
    beside.plot([], [], color="tab:blue", label="real part (1/s)")
    beside.plot([], [], color="tab:orange", linestyle="--", label="imaginary part (rad/s)")
    beside.axhline(0, color="black", linewidth=0.8)
    beside.set_xlabel(f"{parameter} ({unit})")
    beside.legend(fontsize=8)
    for axis in (plane, beside):
        _grid(axis)
    figure.suptitle(f"{name}: eigenvalues over {parameter}", fontsize=11)
    return finished(figure, path)


def draw_chart(name: str, over: Sequence[Named], units: Sequence[str], growth: np.ndarray, path: Picture = None) -> Any:
    """Largest real part over two parameters, with the stability limit."""
    figure = new_figure(7.2, 5.2)
    axis = figure.subplots()
    (first, x), (second, y) = over
    size = float(np.nanmax(np.abs(growth))) if np.any(np.isfinite(growth)) else 1.0
    shown = axis.pcolormesh(x, y, growth.T, cmap="RdBu_r", vmin=-size, vmax=size, shading="nearest")
    if np.nanmin(growth) < 0 < np.nanmax(growth):
        axis.contour(x, y, growth.T, levels=[0.0], colors="black", linewidths=1.4)
    figure.colorbar(shown, ax=axis, label="largest real part (1/s); stable below 0")
    axis.set_xlabel(f"{first} ({units[0]})")
    axis.set_ylabel(f"{second} ({units[1]})")
    figure.suptitle(f"{name}: stability", fontsize=11)
    return finished(figure, path)


def draw_equilibrium(
    panels: Sequence[tuple[str, np.ndarray, str]],
    name: str,
    over: str,
    x: np.ndarray,
    path: Picture = None,
    what: str = "equilibrium",
) -> Any:
    """Values over a parameter or over time, one panel each: (name, values, unit)."""
    figure = new_figure(8, 1.2 + 1.9 * len(panels))
    axes = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
    for axis, (label, values, unit) in zip(axes, panels, strict=True):
        axis.plot(x, values, linewidth=1.3)
        axis.set_ylabel(f"{label}\n({unit})", fontsize=9)
        _grid(axis)
    axes[-1].set_xlabel(over)
    figure.suptitle(f"{name}: {what}", fontsize=11)
    return finished(figure, path)


def draw_values(name: str, rows: Sequence[tuple[str, float, str]], path: Picture = None) -> Any:
    """Values as bars, one panel per unit: (name, value, unit)."""
    groups: dict[str, list[tuple[str, float]]] = {}
    for label, value, unit in rows:
        groups.setdefault(unit, []).append((label, value if abs(value) > 1e-13 else 0.0))
    figure = new_figure(7, 1.2 + 0.32 * len(rows) + 0.6 * len(groups))
    axes = figure.subplots(len(groups), 1, squeeze=False, height_ratios=[len(g) + 1 for g in groups.values()])[:, 0]
    for axis, (unit, listed) in zip(axes, groups.items(), strict=True):
        places = range(len(listed))
        bars = axis.barh(places, [v for _, v in listed], color="tab:blue", height=0.6)
        axis.bar_label(bars, [f"{v:.4g}" for _, v in listed], fontsize=8, padding=3)
        axis.set_yticks(places, [n for n, _ in listed], fontsize=8)
        axis.invert_yaxis()
        axis.margins(x=0.2)
        if not any(v for _, v in listed):
            axis.set_xlim(-1, 1)
        axis.axvline(0, color="black", linewidth=0.8)
        axis.set_xlabel(unit, fontsize=8)
    figure.suptitle(name, fontsize=11)
    return finished(figure, path)


def draw_sensitivity(
    name: str, time: np.ndarray, panels: Sequence[tuple[str, str, Sequence[Named]]], path: Picture = None
) -> Any:
    """Change of every channel (name, unit, lines) for one per cent more of each parameter."""
    figure = new_figure(8, 1.2 + 1.9 * len(panels))
    axes = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
    for axis, (output, unit, lines) in zip(axes, panels, strict=True):
        for parameter, change in lines:
            axis.plot(time, change, linewidth=1.3, label=parameter)
        axis.set_ylabel(f"{output}\n({unit})", fontsize=9)
        _grid(axis)
    axes[0].legend(fontsize=8, title="+1 % of", title_fontsize=8)
    axes[-1].set_xlabel("time (s)")
    figure.suptitle(f"{name}: sensitivity", fontsize=11)
    return finished(figure, path)
