"""Kinematics compared with tables of a test rig or of another program: overlay and errors of each
measure.

In:  measures of a suspension as a function of travel and rack, and a table of a file. Out:
`KinematicsComparison`. Columns are found by the names that rigs and Adams/Car use, or by a table of
channels, as those of logs. Angles have the signs of `linkage/measures.py`, which are those of
Adams/Car: toe-in, top outward and top behind are positive.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bellcrank.analysis.tables import Cells, TabularResult
from bellcrank.core.errors import RunError, did_you_mean
from bellcrank.core.files.csv_table import write_lines
from bellcrank.core.files.figure_files import new_figure, plot_text, save_figure
from bellcrank.core.files.format_choice import read_contents
from bellcrank.core.files.record import FileChannel, report_io_errors
from bellcrank.core.name_lookup import find_name
from bellcrank.linkage.measures import DISPLAYED, Measures
from bellcrank.measured.log import NO_UNIT, ChannelMap, ChannelSource, convert_unit

Array = np.ndarray[Any, Any]
Measure = Callable[[Array, Array], Measures]
POSITIONS = ("travel", "rack")
NAMES = {  # other names of measures; sides and units are left aside
    "travel": "wheel_travel vertical_wheel_travel wheel_travel_vertical wheel_displacement jounce "
    "bump_travel",
    "rack": "rack_travel rack_displacement rack_position steering_rack_travel",
    "toe": "toe_angle toe_in toe_change",
    "steer": "steer_angle steering_angle road_wheel_angle",
    "camber": "camber_angle camber_change inclination_angle",
    "caster": "caster_angle castor castor_angle",
    "kingpin_inclination": "kingpin_incl_angle kingpin_inclination_angle kingpin_angle kpi "
    "kpi_angle",
    "scrub_radius": "scrub kingpin_offset_at_ground",
    "mechanical_trail": "caster_moment_arm caster_trail trail mechanical_caster_trail",
    "roll_centre_height": "roll_center_height roll_center_location_vertical roll_center_vertical "
    "rch",
    "anti_dive": "antidive percent_anti_dive anti_dive_braking",
    "anti_squat": "antisquat percent_anti_squat anti_squat_acceleration",
    "anti_lift_braking": "anti_lift percent_anti_lift",
    "half_track_change": "wheel_lateral_displacement half_track",
    "track_change": "total_track_change",
    "wheelbase_change": "wheel_base_change",
    "wheel_load": "wheel_vertical_force vertical_force contact_patch_force_z",
    "vertical_wheel_rate": "wheel_rate suspension_rate",
    "roll_stiffness": "suspension_roll_stiffness roll_rate",
}
SIDES = {"left", "l", "lh", "fl", "rl", "lf", "lr"}
HEADS = (
    "measure",
    "unit",
    "RMS error",
    "peak error",
    "at, mm",
    "R2",
    "error at 0",
    "slope, measured",
    "slope, simulated",
)
NEAR = 0.25  # of the range around zero, in which slopes are taken


@dataclass(frozen=True)
class MeasureError:
    """How a measure agrees with a table: errors are simulated minus measured, in `unit`; `peak_at`
    in m of travel or rack; `at_zero`: error where these are zero; slopes there, per m."""

    measure: str
    unit: str
    rms: float
    peak: float
    peak_at: float
    r2: float
    at_zero: float
    slope_measured: float
    slope_simulated: float


@dataclass(frozen=True, repr=False, eq=False)
class KinematicsComparison(TabularResult):
    """A suspension compared with a measured table, as `Car.compare_kinematics` returns it:
    `found["toe"]`.

    Attributes
    ----------
    name : str
        Name of the suspension.
    against : str
        "travel" or "rack", over which measures are compared.
    measured : dict
        Measured values by measure, in the units of `simulated`.
    simulated : Measures
        The suspension at the same positions.
    errors : dict
        `MeasureError` by measure.
    unused : tuple of str
        Columns of the file that are no measure.
    """

    name: str
    against: str
    measured: dict[str, Array]
    simulated: Measures
    errors: dict[str, MeasureError]
    unused: tuple[str, ...] = ()

    def __getitem__(self, measure: str) -> MeasureError:
        if measure not in self.errors:
            suggestion = did_you_mean(measure, self.errors)
            raise RunError(
                f"'{measure}' was not compared.{suggestion} Compared: {', '.join(self.errors)}."
            )
        return self.errors[measure]

    def __repr__(self) -> str:
        return f"KinematicsComparison({self.name!r}: {', '.join(self.errors)})"

    def rows(self) -> list[tuple[str, ...]]:
        """Cells of a table under `HEADS`, in the units that people read; slopes per mm.

        Returns
        -------
        list of tuple
            A row for each measure.
        """
        table_rows = []
        for name, e in self.errors.items():
            scale, unit = DISPLAYED.get(e.unit, (1.0, e.unit))
            numbers = (
                scale * e.rms,
                scale * e.peak,
                1000 * e.peak_at,
                e.r2,
                scale * e.at_zero,
                scale * e.slope_measured / 1000,
                scale * e.slope_simulated / 1000,
            )
            table_rows.append(
                (self.simulated.title(name), unit, *(f"{x + 0.0:.4g}" for x in numbers))
            )
        return table_rows

    @property
    def _title(self) -> str:
        return f"{self.name} compared with measurements over {self.against}; slopes per mm"

    def _lines_after_table(self) -> list[str]:
        return (
            [f"note: columns that are no measure: {', '.join(self.unused)}"] if self.unused else []
        )

    def _table_cells(self) -> Cells:
        return HEADS, self.rows(), "<<" + ">" * (len(HEADS) - 2)

    def to_dict(self) -> dict[str, Any]:
        """Collect the errors, ready for JSON.

        Returns
        -------
        dict
            Errors by measure; None where a number is not defined.
        """
        errors = {
            n: {
                k: None if isinstance(v, float) and not math.isfinite(v) else v
                for k, v in asdict(e).items()
            }
            for n, e in self.errors.items()
        }
        return {
            "suspension": self.name,
            "against": self.against,
            "errors": errors,
            "unused": list(self.unused),
        }

    def save(self, path: str | Path) -> Path:
        """Write a CSV file: measured and simulated columns next to each other.

        Parameters
        ----------
        path : str or Path
            The file.

        Returns
        -------
        Path
            The file.
        """
        m, names = self.simulated, [n for n in POSITIONS if n in self.simulated.columns]
        heads, units, columns = list(names), [m.units[n] for n in names], [m[n] for n in names]
        for n, values in self.measured.items():
            heads += [f"{n} measured", f"{n} simulated"]
            units += [m.units[n]] * 2
            columns += [values, np.broadcast_to(m[n], values.shape)]
        rows = (map(float, row) for row in zip(*columns, strict=True))
        report_io_errors("write", Path(path), lambda: write_lines(Path(path), [heads, units], rows))
        return Path(path)

    def _draw(self, path: str | Path | None) -> Any:
        m, rows = self.simulated, max(1, -(-len(self.errors) // 3))
        figure = new_figure(11, 2.3 * rows + 0.6)
        axes = figure.subplots(rows, 3, squeeze=False).ravel()
        x = 1000 * m[self.against]
        order = np.argsort(x, kind="stable")
        for axis, name in zip(axes, self.errors, strict=False):
            values, unit = m.displayed(name)
            factor = DISPLAYED.get(m.units[name], (1.0, ""))[0]
            axis.plot(x, factor * self.measured[name], ".", color="0.6", label="measured")
            axis.plot(x[order], values[order], linewidth=1.3, label="simulated")
            axis.set_title(m.title(name) + (f" ({unit})" if unit else ""), fontsize=9)
            axis.set_xlabel(f"{m.title(self.against)} (mm)", fontsize=8)
            axis.tick_params(labelsize=8)
            axis.grid(True, linewidth=0.4, alpha=0.6)
        for axis in axes[len(self.errors) :]:
            axis.set_axis_off()
        axes[0].legend(fontsize=8)
        figure.suptitle(plot_text(f"{self.name}: kinematics, measured and simulated"), fontsize=11)
        return save_figure(figure, path)


def compare_kinematics(
    name: str, measure: Measure, units: Mapping[str, str], path: str | Path, channels: Any
) -> KinematicsComparison:
    """A suspension, whose measures have units by name in `units`, compared with the table of a
    file."""
    columns, unused = _measured_kinematics_columns(path, channels, units)
    positions = {n: columns.pop(n) for n in POSITIONS if n in columns}
    if not positions or not columns:
        kind = "travel or rack" if not positions else "measure, such as toe"
        raise RunError(
            f"{path} has no column of {kind} that is known: its columns are "
            f"{', '.join(unused) or 'none'}; "
            "name them by a table of channels (--map)"
        )
    first = next(iter(positions.values()))
    travel, rack = (positions.get(n, np.zeros_like(first)) for n in POSITIONS)
    against = "rack" if np.ptp(rack) and not np.ptp(travel) else "travel"
    simulated = measure(travel, rack)
    errors = {n: _measure_error(n, simulated, simulated[against], y) for n, y in columns.items()}
    return KinematicsComparison(name, against, columns, simulated, errors, unused)


def _measured_kinematics_columns(
    path: str | Path, channels: Any, units: Mapping[str, str]
) -> tuple[dict[str, Array], tuple[str, ...]]:
    """Values by measure, in its unit, and columns that are none."""
    file = {c.name: c for c in read_contents(path).channels}
    columns: Mapping[str, ChannelSource] = ChannelMap.from_source(channels).channels
    if channels is None:
        measure_by_column = {c: match_measure(c, units) for c in reversed(file)}
        matches = {
            name: ChannelSource(c) for c, name in measure_by_column.items() if name is not None
        }  # of equal ones the first
        columns = dict(reversed(matches.items()))
    values, used_columns = {}, set()
    for name, spec in columns.items():
        if name not in units:
            raise RunError(
                f"{path}: '{name}' is no measure.{did_you_mean(name, units)} Measures: "
                f"{', '.join(units)}."
            )
        column = find_name(spec.column or name, file, "column")
        if column is None:
            suggestion = did_you_mean(spec.column, file)
            raise RunError(
                f"{path} has no column '{spec.column or name}', for '{name}'.{suggestion} "
                f"It has {', '.join(file)}."
            )
        used_columns.add(column)
        values[name] = _convert_units(file[column], spec, units[name], path)
    complete = (
        np.all([np.isfinite(x) for x in values.values()], axis=0) if values else np.zeros(0, bool)
    )
    if values and complete.sum() < 2:
        raise RunError(f"{path} has fewer than two rows in which all measures are numbers")
    return {n: x[complete] for n, x in values.items()}, tuple(
        c for c in file if c not in used_columns
    )


def _convert_units(channel: FileChannel, spec: ChannelSource, unit: str, path: str | Path) -> Array:
    """Without a unit, values are in the one that people read: mm, N/mm."""
    source_unit = spec.unit or channel.unit
    factor = 1 / DISPLAYED.get(unit, (1.0, ""))[0] if source_unit in NO_UNIT else 1.0
    values = spec.scale * channel.values + spec.offset
    return factor * convert_unit(values, source_unit, unit, f"{path}: column '{channel.name}'")


def match_measure(column: str, measures: Mapping[str, str]) -> str | None:
    """The measure that a column of the left wheel is, by its own name or one of `NAMES`; None where
    it is none."""
    tokens = [w for w in re.split(r"[^a-z0-9]+", re.sub(r"[\[(].*", "", column.lower())) if w]
    if not tokens or {"right", "r", "rh", "fr", "rr", "rf"} & {*tokens}:
        return None
    plain_tokens = [w for w in tokens if w not in SIDES]
    spellings = {"_".join(tokens), "_".join(plain_tokens)}
    if (
        len(plain_tokens) > 2 and plain_tokens[1:] and plain_tokens[0] == plain_tokens[2]
    ):  # toe_angle.toe_left
        spellings.add("_".join(plain_tokens[:2]))
    for name in measures:
        if {name, *NAMES.get(name, "").split()} & spellings:
            return name
    return None


def _measure_error(name: str, m: Measures, x: Array, y: Array) -> MeasureError:
    simulated = np.broadcast_to(m[name], y.shape)
    error = simulated - y
    worst, variance = int(np.argmax(np.abs(error))), float(np.mean((y - y.mean()) ** 2))
    near_zero = np.abs(x) <= max(
        NEAR * float(np.abs(x).max()), float(np.sort(np.abs(x))[min(2, len(x) - 1)])
    )

    def line(values: Array) -> tuple[float, float]:
        if np.ptp(x[near_zero]) == 0:
            return math.nan, math.nan
        rise, base = np.polyfit(x[near_zero], values[near_zero], 1)
        return float(rise), float(base)

    (a, offset_simulated), (b, offset_measured) = line(simulated), line(y)
    return MeasureError(
        name,
        m.units[name],
        float(np.sqrt(np.mean(error**2))),
        float(np.abs(error[worst])),
        float(x[worst]),
        1 - float(np.mean(error**2)) / variance if variance else math.nan,
        offset_simulated - offset_measured,
        b,
        a,
    )
