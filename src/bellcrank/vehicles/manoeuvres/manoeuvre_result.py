"""What a manoeuvre gives: runs, metrics with units and words, and criteria that were met or not."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np

from bellcrank.core.errors import RunError
from bellcrank.core.files.atomic import write_text
from bellcrank.core.files.figure_files import new_figure, plot_text, save_figure
from bellcrank.core.files.file_names import file_names
from bellcrank.core.files.html import heading, html_table, paragraph
from bellcrank.core.files.notebook_display import NotebookDisplay
from bellcrank.core.files.record import report_io_errors
from bellcrank.core.unit_notation import typeset_unit
from bellcrank.scene.track import with_track
from bellcrank.simulation.run.result import Run
from bellcrank.vehicles.cars.design.car_data import CORNERS
from bellcrank.vehicles.cars.metrics.handling_metrics import Figures, VehicleMetric
from bellcrank.vehicles.manoeuvres.track import CONES, make_track

Array = np.ndarray[Any, Any]
Line = tuple[str, Array, Array]  # name, x, y
OnProgress = Callable[[float, str], None]  # called with the fraction done, and what comes next
ANY_WHEEL = "*."
ON_GROUND = "x, m"  # axis of curves from above
PANEL, SQUARE, WRAP = (
    1.5,
    4.0,
    24,
)  # heights of panels in inches, also of one from above, letters in a line of a label
NOT_VALID = "not valid"
ROUNDING = 1e-11  # in the unit of a channel or metric; what is smaller is none


@dataclass(frozen=True)
class Criterion:
    """A condition of a manoeuvre, and whether it was met.

    Attributes
    ----------
    words : str
        The condition.
    passed : bool
        Whether it was met.

    Examples
    --------
    >>> import bellcrank as bc
    >>> bc.vehicles.manoeuvres.Criterion("no cone was hit", True).passed
    True
    """

    words: str
    passed: bool


@dataclass(frozen=True)
class Setting:
    """A setting of a manoeuvre.

    Attributes
    ----------
    default : object
        Its default.
    unit, label : str
        Unit and description.
    data : bool, default False
        Whether it is a file; what is read from it may be given in its place.
    truck : object, optional
        Default for files of kind "truck", where it differs.

    Examples
    --------
    >>> import bellcrank as bc
    >>> bc.vehicles.manoeuvres.known()["braking"].settings["speed"].unit
    'km/h'
    """

    default: Any
    unit: str
    label: str
    data: bool = False
    truck: Any = None

    def usual(self, kind: str) -> Any:
        """The default for a file of some kind.

        Parameters
        ----------
        kind : str
            `kind` of the car file, such as "car" or "truck".

        Returns
        -------
        object
            The value that a manoeuvre takes if none is given.
        """
        return self.truck if kind == "truck" and self.truck is not None else self.default


@dataclass(frozen=True)
class Manoeuvre:
    """A manoeuvre, as `bc.vehicles.manoeuvres.known()` lists it.

    Attributes
    ----------
    name, words : str
        Name and description.
    settings : dict
        `Setting` by name.
    drive : callable
        What drives it.
    source : str
        Standard or book.
    first : tuple of str
        Metrics to look at first.
    needs : tuple of str
        Settings without a default.
    in_all : bool
        Whether `all` includes it.
    for_trailers : bool
        Whether only vehicles with trailers drive it.

    Examples
    --------
    >>> import bellcrank as bc
    >>> bc.vehicles.manoeuvres.known()["road"].needs
    ('file',)
    """

    name: str
    words: str
    settings: Mapping[str, Setting]
    drive: Callable[..., Any]
    source: str = ""
    first: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    in_all: bool = True
    for_trailers: bool = False

    @property
    def title(self) -> str:
        """What it is called in reports: "Braking in a turn (ISO 7975)"."""
        words = re.split(r"[,:]", self.words, maxsplit=1)[0]
        standard = re.match(r"iso(\d+(?:-\d+)?)", self.name)
        return words[:1].upper() + words[1:] + (f" (ISO {standard[1]})" if standard else "")


@dataclass(frozen=True)
class Curve:
    """A picture of a manoeuvre: lines over an axis, with the words of both axes; `fixed` lines are
    the same for all cars, such as cones."""

    x: str
    y: str
    lines: tuple[Line, ...]
    fixed: tuple[Line, ...] = ()


@dataclass(repr=False)
class Result(NotebookDisplay):
    """A manoeuvre that was driven, as `bc.vehicles.manoeuvres.run` returns it: `result["ay_max"]`
    is a metric.

    Attributes
    ----------
    manoeuvre, car : str
        Names of both.
    settings : dict
        Values of all settings.
    runs : dict
        `Run` by name; `result.run` is the first.
    metrics : Figures
        Metrics by name; `metrics.details` has units and labels.
    criteria : list of Criterion
        Conditions; `result.passed` reports whether all were met.
    notes : list of str
        Remarks.
    invalid : list of str
        Reasons why the run does not test what the manoeuvre is for, such as a speed that the car
        does not reach. Metrics are those of the motion that was driven.
    plotted : tuple
        Channels to look at first, over time or as (channel, over); "*.travel" means all wheels.
    more : tuple
        Curves that are drawn before them.

    Examples
    --------
    >>> import bellcrank as bc
    >>> result = bc.vehicles.manoeuvres.run("passenger", "braking", speed=50)
    >>> result.car == bc.vehicles.Car.read("passenger").name, result["distance"] < 20
    (True, True)
    """

    manoeuvre: str
    car: str
    settings: dict[str, Any]
    runs: dict[str, Run]
    metrics: Figures
    criteria: list[Criterion] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    plotted: tuple[str | tuple[str, str], ...] = (
        "steering_wheel",
        "ay",
        "yaw_rate",
        "roll",
        "speed",
    )
    more: tuple[Curve, ...] = ()
    invalid: list[str] = field(default_factory=list)

    @property
    def run(self) -> Run:
        return next(iter(self.runs.values()))

    @property
    def passed(self) -> bool | None:
        """Whether all criteria were met; None if there is none, or if the result is not valid."""
        if self.invalid or not self.criteria:
            return None
        return all(c.passed for c in self.criteria)

    @property
    def verdicts(self) -> list[tuple[str, str]]:
        """Verdicts with their reasons: "not valid", or "passed" and "FAILED" by criterion.

        Criteria of a result that is not valid have no verdict.
        """
        if self.invalid:
            return [(NOT_VALID, reason) for reason in self.invalid]
        return [("passed" if c.passed else "FAILED", c.words) for c in self.criteria]

    def _ipython_key_completions_(self) -> list[str]:
        return [*self.metrics]

    def __getitem__(self, name: str) -> float:
        return self.metrics[name]

    def __repr__(self) -> str:
        verdict = {None: "", True: ", passed", False: ", FAILED"}[self.passed]
        verdict = f", {NOT_VALID}" if self.invalid else verdict
        return f"Result({self.manoeuvre!r} of {self.car!r}: {len(self.metrics)} metrics{verdict})"

    def _html_parts(self) -> list[str]:
        verdicts = self.verdicts
        blocks = [heading(f"{self.car}: {self.manoeuvre}"), *self.metrics._html_parts()]
        blocks += [html_table(("", "criterion"), verdicts)] if verdicts else []
        return [*blocks, *(paragraph(f"Note: {n}") for n in self.notes)]

    def _notebook_figure(self) -> Any:
        return self._figure() if self.curves() else None

    def __str__(self) -> str:
        lines = [f"{self.car}: {self.manoeuvre}", str(self.metrics)]
        lines += [f"{verdict}: {reason}" for verdict, reason in self.verdicts]
        return "\n".join([*lines, *(f"note: {n}" for n in self.notes)])

    def to_dict(self) -> dict[str, Any]:
        """Collect settings, metrics and criteria, ready for JSON.

        Returns
        -------
        dict
            All except the histories.
        """
        details = {
            n: {"value": _finite_or_none(f.value), "unit": f.unit, "label": f.label}
            for n, f in self.metrics.details.items()
        }
        criteria = [{"criterion": c.words, "passed": c.passed} for c in self.criteria]
        return {
            "manoeuvre": self.manoeuvre,
            "car": self.car,
            "settings": self.settings,
            "metrics": details,
            "criteria": criteria,
            "passed": self.passed,
            "invalid": self.invalid,
            "notes": self.notes,
        }

    def save(self, folder: str | Path) -> list[Path]:
        """Write metrics as JSON and each run as CSV.

        Characters that file names do not allow become "_".

        Parameters
        ----------
        folder : str or Path
            The folder; it is made if necessary.

        Returns
        -------
        list of Path
            The files.

        Raises
        ------
        RunError
            If a file cannot be written; the others are written nevertheless.
        """
        directory, paths, failed = Path(folder), [], []
        text = json.dumps(self.to_dict(), indent=2, allow_nan=False) + "\n"
        files: dict[str, Callable[[Path], Any]] = {
            f"{self.manoeuvre}.json": lambda path: write_text(path, text)
        }
        for name, run in self.runs.items():
            files[f"{self.manoeuvre}_{name}.csv"] = run.save
        with suppress(OSError):  # each file says why
            directory.mkdir(parents=True, exist_ok=True)
        for path, write in zip(
            (directory / name for name in file_names(files)), files.values(), strict=True
        ):
            try:
                report_io_errors("write", path, partial(write, path))
                paths.append(path)
            except RunError as error:
                failed.append(str(error))
        if failed:
            raise RunError("; ".join(failed))
        return paths

    def curves(self) -> list[Curve]:
        """Arrange what to look at first.

        Returns
        -------
        list of Curve
            Lines over an axis, with labels of both axes.
        """
        curves = list(self.more)
        for plot in self.plotted:
            y, x = (plot, None) if isinstance(plot, str) else plot
            if y.startswith(ANY_WHEEL):
                series = [(c, self.run, y.replace("*", c)) for c in CORNERS]
                label = self._axis(series[0][2]).replace("the front left tyre", "the tyres")
                label = label.replace(" of the front left wheel", "")
            else:
                series, label = [(n, r, y) for n, r in self.runs.items()], ""
            series = [
                (n, r, y)
                for n, r, y in series
                if y in r.channels and (x is None or x in r.channels)
            ]
            if series:
                lines = tuple(
                    (n, r.time if x is None else r[x], _plot_values(r[y], r.units[y]))
                    for n, r, y in series
                )
                curves.append(
                    Curve("time, s" if x is None else self._axis(x), label or self._axis(y), lines)
                )
        return curves

    def _axis(self, channel: str) -> str:
        run = next((r for r in self.runs.values() if channel in r.channels), self.run)
        return f"{run.labels.get(channel, channel)}, {run.units.get(channel, '')}"

    def plot(self, path: str | Path) -> Path:
        """Draw the curves to look at first, of all runs.

        Parameters
        ----------
        path : str or Path
            File of the picture.

        Returns
        -------
        Path
            The file.
        """
        save_figure(self._figure(), path)
        return Path(path)

    def _figure(self) -> Any:
        """Panels over one axis share it; those from above have one scale."""
        drawn = self.curves()
        heights = [PANEL if curve.fixed or curve.x != ON_GROUND else SQUARE for curve in drawn]
        figure = new_figure(8, sum(heights) + 0.8)
        axes = figure.subplots(len(drawn), 1, squeeze=False, height_ratios=heights)[:, 0]
        for i, (ax, curve) in enumerate(zip(axes, drawn, strict=True)):
            for label, x, y in curve.lines:
                ax.plot(x, y, label=plot_text(label))
            for label, x, y in curve.fixed:
                ax.plot(x, y, color="black", label=plot_text(label))
            ax.set_ylabel(_wrap_metric_label(curve.y), fontsize=8)
            ax.tick_params(labelsize=8)
            ax.grid(alpha=0.3)
            if i and drawn[i - 1].x == curve.x:  # one axis for all of them, named below the last
                ax.sharex(axes[i - 1])
            if i + 1 < len(drawn) and drawn[i + 1].x == curve.x:
                ax.tick_params(labelbottom=False)
            else:
                ax.set_xlabel(_axis_label(curve.x), fontsize=8)
            if len(curve.lines) + len(curve.fixed) > 1:
                ax.legend(fontsize=7, loc="upper left", bbox_to_anchor=(1.0, 1.0))
            if curve.x == ON_GROUND:
                ax.set_aspect("equal", adjustable="datalim")
        figure.align_ylabels(axes)
        figure.suptitle(plot_text(f"{self.car}: {self.manoeuvre}"), fontsize=11)
        return figure

    def animate(
        self,
        path: str | Path,
        *,
        fps: float = 25,
        speed: float | None = None,
        title: str | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> Path:
        """Write an animation of the first run, or a page that plays it, with the path, lanes and
        cones.

        Parameters
        ----------
        path : str or Path
            The file: .gif, .mp4 (needs ffmpeg) or .html.
        fps : float, default 25
            Frames per second of an animation.
        speed : float, optional
            Seconds of the run per second of the animation. Default: 1, real time; an animation that
            would last less than 2 s or more than 20 s takes 6 s.
        title : str, optional
            Title. Default: the names of the car and of the manoeuvre.
        progress : callable, optional
            Called with the fraction done, from 0 to 1.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        RunError
            If the animation cannot be written.

        Examples
        --------
        >>> import bellcrank as bc
        >>> result = bc.vehicles.manoeuvres.run("passenger", "braking", speed=50)
        >>> result.animate("braking.html").name
        'braking.html'
        """
        run, motion = copy(self.run), self.run.motion
        edges = next(((x, y) for c in self.more for name, x, y in c.fixed if name == CONES), None)
        scene = motion.scene
        if "x" in run.channels and "y" in run.channels:
            scene = with_track(scene, make_track(run["x"], run["y"], edges))
        run.motion = replace(motion, scene=scene)
        caption = f"{self.car}: {self.manoeuvre}" if title is None else title
        return run.animate(path, fps=fps, speed=speed, title=caption, progress=progress)


def _plot_values(values: Array, unit: str) -> Array:
    """A channel as it is drawn: zero where it is nothing but rounding, with a gap where an angle
    passes 180 deg."""
    if np.abs(values).max(initial=0.0) <= ROUNDING:
        return np.zeros_like(values)
    jumps = np.flatnonzero(np.abs(np.diff(values)) > 180) if unit == "deg" else ()
    if not len(jumps):
        return values
    gapped = values.astype(float)
    gapped[jumps] = np.nan
    return gapped


def _finite_or_none(value: float) -> float | None:
    """A number that is none becomes null: JSON has no word for it."""
    return value if math.isfinite(value) else None


class MetricCollector(dict[str, VehicleMetric]):
    """Metrics as they are found."""

    def add(self, name: str, value: float, unit: str, label: str) -> float:
        number = 0.0 if abs(value) < ROUNDING else float(value)
        self[name] = VehicleMetric(number, unit, label)
        return number

    def as_metrics(self) -> Figures:
        return Figures(self)


def _axis_label(words: str) -> str:
    """The words of an axis, "label, unit", with the unit as it is printed."""
    label, _, unit = words.rpartition(", ")
    unit_text = typeset_unit(unit) if unit not in ("", "-", "1") else ""
    return plot_text(f"{label} ({unit_text})" if unit_text else label or words)


def _wrap_metric_label(words: str) -> str:
    return fill(_axis_label(words), WRAP)
