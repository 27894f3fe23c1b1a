"""Curves and points of a tyre: what one looks at first."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from bellcrank.core.files.figure_files import new_figure, plot_text, save_figure

__all__: list[str] = []

POINTS = 121  # of a curve
COLUMNS = (
    "Fz",
    "kappa",
    "alpha",
    "gamma",
    "Fx",
    "Fy",
    "Mx",
    "My",
    "Mz",
    "mux",
    "muy",
    "Kxk",
    "Kya",
    "trail",
    "Re",
    "sigma_x",
    "sigma_y",
)


class SteadyForceModel(Protocol):
    """What curves ask of a tyre."""

    def forces(
        self, Fz: Any, kappa: Any, alpha: Any, gamma: Any = 0.0, p: Any = None, V: Any = None
    ) -> Any: ...


def _measured_coefficients(tyre: SteadyForceModel) -> Mapping[str, float] | None:
    """Those of a tyre that was measured, limits among them; None of any other."""
    return getattr(tyre, "coefficients", None)


def plot_loads(tyre: SteadyForceModel) -> np.ndarray:
    """Loads at which curves are drawn: half, one, one and a half times the nominal load, and twice
    it where allowed."""
    nominal, max_load = 4000.0, math.inf
    if (coefficients := _measured_coefficients(tyre)) is not None:
        nominal, max_load = coefficients["FNOMIN"], coefficients["FZMAX"]
    loads = np.array([0.5, 1.0, 1.5, 2.0]) * nominal
    return loads[loads <= max_load] if np.any(loads <= max_load) else np.array([max_load])


def plot_ranges(tyre: SteadyForceModel) -> dict[str, float]:
    """How far slip, slip angle (rad) and inclination (rad) are drawn: as far as the tyre was
    measured."""
    limits = {"kappa": 0.3, "alpha": math.radians(15), "gamma": math.radians(6)}
    if (coefficients := _measured_coefficients(tyre)) is not None:
        for key, name in (("KPU", "kappa"), ("ALP", "alpha"), ("CAM", "gamma")):
            limits[name] = (
                min(limits[name], coefficients[f"{key}MAX"], -coefficients[f"{key}MIN"])
                or limits[name]
            )
    return {key: value if value > 0 else 0.1 for key, value in limits.items()}


def slip_table(
    tyre: SteadyForceModel, p: float | None = None, V: float | None = None
) -> dict[str, np.ndarray]:
    """A table of pure slip, pure slip angle, camber and combined slip at several loads, by
    column."""
    loads, limits = plot_loads(tyre), plot_ranges(tyre)
    slip, angle = (
        np.linspace(-limits["kappa"], limits["kappa"], 25),
        np.linspace(-limits["alpha"], limits["alpha"], 25),
    )
    rows = [np.array([Fz, k, 0.0, 0.0]) for Fz in loads for k in slip]
    rows += [np.array([Fz, 0.0, a, 0.0]) for Fz in loads for a in angle]
    rows += [
        np.array([Fz, 0.0, 0.0, g])
        for Fz in loads
        for g in np.linspace(-limits["gamma"], limits["gamma"], 13)
    ]
    rows += [np.array([Fz, k, a, 0.0]) for Fz in loads for a in angle[::6] for k in slip[::2]]
    inputs = dict(zip(("Fz", "kappa", "alpha", "gamma"), np.array(rows).T, strict=True))
    forces = tyre.forces(**inputs, p=p, V=V)
    return {
        **inputs,
        **{
            name: np.asarray(forces[name])
            for name in COLUMNS
            if name in forces and name not in inputs
        },
    }


def draw_tyre_curves(
    tyre: SteadyForceModel,
    path: str | Path | None = None,
    p: float | None = None,
    V: float | None = None,
) -> Any:
    """A matplotlib figure: side force, aligning moment and longitudinal force at several loads, the
    friction envelope of combined slip, camber thrust and radii."""
    loads, limits = plot_loads(tyre), plot_ranges(tyre)
    angle, slip = (
        np.linspace(-limits["alpha"], limits["alpha"], POINTS),
        np.linspace(-limits["kappa"], limits["kappa"], POINTS),
    )
    lean = np.linspace(-limits["gamma"], limits["gamma"], POINTS)
    conditions: dict[str, Any] = {"p": p, "V": V}
    figure = new_figure(13, 7.5)
    axes = figure.subplots(2, 3).ravel()
    for Fz in loads:
        label = f"{Fz / 1000:g} kN"
        side = tyre.forces(Fz, 0.0, angle, **conditions)
        axes[0].plot(np.degrees(angle), side.Fy / 1000, label=label)
        axes[1].plot(np.degrees(angle), side.Mz, label=label)
        axes[2].plot(slip, tyre.forces(Fz, slip, 0.0, **conditions).Fx / 1000, label=label)
        axes[4].plot(
            np.degrees(lean), tyre.forces(Fz, 0.0, 0.0, lean, **conditions).Fy / 1000, label=label
        )
    _draw_friction_envelope(axes[3], tyre, float(loads[min(1, len(loads) - 1)]), limits, conditions)
    _draw_radii(axes[5], tyre, float(loads[-1]), conditions)
    for axis, title, x, y in zip(axes, *_WORDS, strict=True):
        axis.set_title(title, fontsize=10)
        axis.set_xlabel(x, fontsize=9)
        axis.set_ylabel(y, fontsize=9)
        axis.tick_params(labelsize=8)
        axis.grid(True, linewidth=0.4, alpha=0.6)
    for axis in (*axes[:3], axes[4]):
        axis.legend(fontsize=8)
    axes[3].set_aspect("equal", adjustable="datalim")
    figure.suptitle(plot_text(_tyre_title(tyre)), fontsize=11)
    return save_figure(figure, path)


def _tyre_title(tyre: Any) -> str:
    """Name and kind of a tyre."""
    kind = type(tyre).__name__
    words = "".join(
        f" {c}" if c.isupper() and i and not kind[i - 1].isupper() else c
        for i, c in enumerate(kind)
    )
    version = getattr(tyre, "version", "")
    return ": ".join(x for x in (getattr(tyre, "name", ""), f"{words} {version}".strip()) if x)


_WORDS = (
    (
        "side force",
        "aligning moment",
        "longitudinal force",
        "combined slip",
        "camber thrust",
        "radii",
    ),
    ("slip angle (deg)", "slip angle (deg)", "slip", "Fy (kN)", "inclination (deg)", "load (kN)"),
    ("Fy (kN)", "Mz (N·m)", "Fx (kN)", "Fx (kN)", "Fy (kN)", "radius (m)"),
)


def _draw_friction_envelope(
    axis: Any,
    tyre: SteadyForceModel,
    Fz: float,
    limits: Mapping[str, float],
    conditions: Mapping[str, Any],
) -> None:
    slip = np.linspace(-limits["kappa"], limits["kappa"], POINTS)
    for fraction in (0.1, 0.25, 0.5, 0.75, 1.0):
        for sign in (-1, 1):
            forces = tyre.forces(Fz, slip, sign * fraction * limits["alpha"], **conditions)
            label = f"{math.degrees(fraction * limits['alpha']):.3g} deg" if sign > 0 else None
            style = {"color": "C0", "linewidth": 1, "alpha": 0.3 + 0.6 * fraction, "label": label}
            axis.plot(forces.Fy / 1000, forces.Fx / 1000, **style)
    axis.legend(title=f"slip angle, {Fz / 1000:g} kN", fontsize=7, title_fontsize=7, loc="center")


def _draw_radii(
    axis: Any, tyre: SteadyForceModel, max_load: float, conditions: Mapping[str, Any]
) -> None:
    loads = np.linspace(0, max_load, POINTS)
    forces = tyre.forces(loads, 0.0, 0.0, **conditions)
    for name, label in (("Re", "effective rolling radius"), ("Rl", "loaded radius")):
        if name in forces and np.all(np.isfinite(forces[name])):
            axis.plot(loads / 1000, forces[name], label=label)
            axis.legend(fontsize=8)
