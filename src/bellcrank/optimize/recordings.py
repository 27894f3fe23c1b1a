"""Errors of runs compared with recordings, over unknowns of any origin: the part that models and
cars share.

In:  what was measured, unknowns, and a function that simulates a recording at many points. Out:
`Fit`. A sensor measures scale*y(t - delay) + offset of a channel y; each of the three may be
unknown.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bellcrank.core.errors import (
    ModelError,
    ModelWarning,
    did_you_mean,
    issue_warning,
    require_mapping,
)
from bellcrank.core.files.record import FileChannel
from bellcrank.core.name_lookup import find_name
from bellcrank.core.numeric.real_numbers import display_text, to_float
from bellcrank.measured.correlation import FEWEST, Correlation, compare
from bellcrank.measured.log import convert_unit, read
from bellcrank.optimize.fit_result import Fit
from bellcrank.optimize.least_squares import FitUnknown, LeastSquaresSolution, solve_least_squares
from bellcrank.simulation.run.result import Run

Array = np.ndarray[Any, Any]
Values = Mapping[str, float]
Histories = tuple[Array, Mapping[str, Array]]  # times, and channels in user units
Simulate = Callable[
    [int, Sequence[Values]], Sequence[Histories | None]
]  # a recording at points; None: a run failed
SENSOR = {"scale": 1.0, "offset": 0.0, "delay": 0.0}


@dataclass(frozen=True)
class Recording:
    """A measured run, with what belongs to it alone.

    Parameters
    ----------
    data : Run, str or Path
        Channels over time, as of `bc.measured.read`, or the path of a log.
    channels : str, Path or mapping, optional
        The table of columns of a log, as of `bc.measured.read`.
    initial, inputs, parameters : mapping, optional
        Initial values, inputs and parameters of this run, as of `simulate`.

    Examples
    --------
    >>> import bellcrank as bc
    >>> bc.optimize.Recording("log.csv", initial={"q(mass)": 0.1}).initial
    {'q(mass)': 0.1}
    """

    data: Run | str | Path
    channels: str | Path | Mapping[str, Any] | None = None
    initial: Mapping[Any, float | str] | None = None
    inputs: Mapping[str, Any] | None = None
    parameters: Mapping[str, float | str] | None = None

    def log(self) -> Run:
        """The data, read if they are a file; time counts from the first sample.

        Returns
        -------
        Run
            Channels over time.
        """
        run = read(self.data, self.channels) if isinstance(self.data, str | Path) else self.data
        if not isinstance(run, Run):
            raise ModelError(
                f"fit: data={display_text(run)} must be a run, a path, a Recording or a "
                f"list of these"
            )
        if len(run.time) < FEWEST:
            raise ModelError(
                f"fit: {run.name} has {len(run.time)} samples; at least {FEWEST} are needed"
            )
        channels = [
            FileChannel(n, x, run.units.get(n, ""), run.labels.get(n, n))
            for n, x in run.channels.items()
        ]
        return Run._from_channels(run.name, run.time - run.time[0], channels, run.ended)


def to_recordings(data: Any) -> list[Recording]:
    """One or several, as they were given."""
    listed = data if isinstance(data, list | tuple) else [data]
    if not listed:
        raise ModelError("fit: give at least one recording")
    return [x if isinstance(x, Recording) else Recording(x) for x in listed]


def make_unknown(
    name: str,
    start: float,
    bounds: Any,
    unit: str = "",
    label: str = "",
    size: float | None = None,
    *,
    user_start: bool = False,
) -> FitUnknown:
    """An unknown with bounds (low, high) or None; its size is that of its value, or of its range. A
    value of the model may lie outside the bounds, one that was given to start with not."""
    low, high = -np.inf, np.inf
    if bounds is not None:
        limits = (
            [to_float(x) for x in bounds]
            if isinstance(bounds, list | tuple | np.ndarray) and len(bounds) == 2
            else [None]
        )
        if None in limits or not limits[0] < limits[1]:  # type: ignore[operator]
            raise ModelError(
                f"fit: the bounds of '{name}', {display_text(bounds)}, must be (low, high), "
                f"the lower one first"
            )
        low, high = float(limits[0]), float(limits[1])  # type: ignore[arg-type]
    if user_start and not low <= start <= high:
        raise ModelError(
            f"fit: start of '{name}', {start:g}, lies outside its bounds, {low:g} to {high:g}"
        )
    start = min(max(start, low), high)
    width = 0.5 * (high - low) if np.isfinite(high - low) else 0.0
    return FitUnknown(name, start, low, high, size or abs(start) or width or 1.0, unit, label)


def bounds_by_name(spec: Any, argument: str) -> dict[str, Any]:
    """Names with their bounds: from a name, a list of names or a mapping."""
    if isinstance(spec, str):
        spec = [spec]
    if isinstance(spec, Mapping):
        return {str(k): v for k, v in spec.items()}
    if not isinstance(spec, Iterable) or isinstance(spec, bytes):
        raise ModelError(
            f"fit: {argument}={display_text(spec)} must be a list of names, or a mapping "
            f"from names to (low, high)"
        )
    names: list[Any] = [getattr(x, "name", x) for x in spec]
    if not all(isinstance(x, str) for x in names):
        raise ModelError(f"fit: {argument}={display_text(spec)} must hold names")
    if len({*names}) < len(names):
        raise ModelError(f"fit: {argument}={display_text(spec)} names one twice")
    return dict.fromkeys(names)


def parse_sensor_name(name: str) -> tuple[str, str] | None:
    """Channel and property of an unknown such as "ay.offset"."""
    channel, _, attribute = name.rpartition(".")
    return (channel, attribute) if channel and attribute in SENSOR else None


@dataclass(frozen=True, eq=False)
class FitSetup:
    """What is fitted: a name for messages, channels with units and labels, logs in the order of
    recordings."""

    name: str
    units: Mapping[str, str]
    labels: Mapping[str, str]
    logs: Sequence[Run]

    @property
    def channels(self) -> list[str]:
        return list(self.units)


def make_fit_setup(
    name: str, available: Mapping[str, tuple[str, str]], logs: Sequence[Run], requested: Any
) -> FitSetup:
    """Channels that are compared: those asked for, or all `available` ones (unit and label by name)
    that a log has."""
    if requested is None:
        selected = [n for n in available if any(n in log.channels for log in logs)]
        if not selected:
            raise ModelError(
                f"fit: no column of the recordings ({', '.join(logs[0])}) is a channel of "
                f"{name}; a table "
                "of channels renames columns (bc.measured.read)"
            )
    else:
        selected = []
        for n in [requested] if isinstance(requested, str) else list(requested):
            match = find_name(n, available, "channel")
            if match is None:
                common = [c for c in available if any(c in log.channels for log in logs)] or list(
                    available
                )
                raise ModelError(
                    f"fit: no channel '{n}' in {name}.{did_you_mean(str(n), available)} "
                    f"Channels: {', '.join(common)}."
                )
            if not any(match in log.channels for log in logs):
                raise ModelError(
                    f"fit: no recording has the channel '{n}'; columns are {', '.join(logs[0])}"
                )
            selected.append(match)
        if not selected:
            raise ModelError("fit: name at least one channel")
    units, labels = ({n: available[n][k] for n in selected} for k in (0, 1))
    return FitSetup(name, units, labels, logs)


class RecordingErrors:
    """Simulated minus measured, of all recordings, channel after channel."""

    def __init__(self, setting: FitSetup, simulate: Simulate) -> None:
        self.setting, self.simulate = setting, simulate
        self.measured: list[dict[str, Array]] = []
        channel: list[Array] = []
        for log in setting.logs:
            measured = {}
            for k, (name, unit) in enumerate(setting.units.items()):
                if name in log.channels:
                    measured[name] = convert_unit(
                        log[name], log.units.get(name, ""), unit, f"channel '{name}' of {log.name}"
                    )
                    if not np.isfinite(measured[name]).all():
                        raise ModelError(
                            f"fit: channel '{name}' of {log.name} holds values that are not finite"
                        )
                    channel.append(np.full(len(measured[name]), k))
            self.measured.append(measured)
        self.channel = np.concatenate(channel)
        spans = [
            [np.ptp(measured[n]) for measured in self.measured if n in measured]
            for n in setting.units
        ]
        self.ranges = np.array([float(max(s)) or 1.0 for s in spans])

    def __call__(self, points: Sequence[Values]) -> Array:
        """Rows of errors, one for each point; nan where a run failed."""
        blocks = []
        for i, measured in enumerate(self.measured):
            simulated = self.sensor_channels(i, points)
            for name, y in measured.items():
                blocks.append(
                    np.array(
                        [np.full(len(y), np.nan) if x is None else x[name] - y for x in simulated]
                    )
                )
        return np.concatenate(blocks, axis=1)

    def sensor_channels(self, i: int, points: Sequence[Values]) -> list[dict[str, Array] | None]:
        """Channels of a recording as its sensors see them, at its times."""
        t = self.setting.logs[i].time
        channels: list[dict[str, Array] | None] = []
        for point, result in zip(points, self.simulate(i, points), strict=True):
            if result is None:
                channels.append(None)
                continue
            time, histories = result
            channels.append(
                {n: _apply_sensor(time, histories[n], t, n, point) for n in self.measured[i]}
            )
        return channels

    def correlations(self, point: Values) -> tuple[Correlation, ...]:
        """Each recording with what the sensors would see of a run."""
        result = []
        for i, (log, measured) in enumerate(zip(self.setting.logs, self.measured, strict=True)):
            (simulated,) = self.sensor_channels(i, [point])
            if simulated is None:
                raise ModelError(f"fit: the run of {log.name} fails with the values found")
            runs = []
            for values, run_name in ((simulated, self.setting.name), (measured, log.name)):
                channels = [
                    FileChannel(n, x, self.setting.units[n], self.setting.labels[n])
                    for n, x in values.items()
                ]
                runs.append(Run._from_channels(run_name, log.time, channels, "finished"))
            result.append(compare(runs[0], runs[1]))
        return tuple(result)


def _apply_sensor(time: Array, y: Array, t: Array, name: str, point: Values) -> Array:
    scale, offset, delay = (
        point.get(f"{name}.{attribute}", default) for attribute, default in SENSOR.items()
    )
    if f"{name}.delay" in point:
        from scipy.interpolate import CubicSpline

        one = np.concatenate([[True], np.diff(time) > 0])  # an event has two samples at one time
        sampled = CubicSpline(time[one], y[one])(np.clip(t - delay, time[0], time[-1]))
    elif len(time) == len(t) and np.allclose(time, t, rtol=0, atol=1e-9 * max(1.0, float(t[-1]))):
        sampled = y
    else:
        sampled = np.interp(t, time, y)
    return np.asarray(scale * sampled + offset)


def run_fit(
    setting: FitSetup,
    unknowns: Sequence[FitUnknown],
    simulate: Simulate,
    weights: Mapping[str, float] | None,
    max_iterations: int,
    progress: Callable[[float], None] | None,
    states: tuple[str, ...] = (),
    sensors: tuple[str, ...] = (),
) -> Fit:
    """Searches for the unknowns; issues a warning for each that the data do not determine."""
    errors = RecordingErrors(setting, simulate)
    names = [u.name for u in unknowns]

    def errors_at(points: Array) -> Array:
        return errors([dict(zip(names, p.tolist(), strict=True)) for p in points])

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)  # of every run the same
        result: LeastSquaresSolution = solve_least_squares(
            unknowns,
            errors_at,
            errors.channel,
            errors.ranges,
            setting.channels,
            _channel_weights(setting, weights),
            max_iterations,
            progress,
        )
        values = dict(zip(names, result.values.tolist(), strict=True))
        start = {u.name: u.start for u in unknowns}
        initial, final = errors.correlations(start), errors.correlations(values)
    for problem in result.problems:
        issue_warning(f"fit of {setting.name}: {problem}")
    noise = dict(zip(setting.channels, result.noise.tolist(), strict=True))
    return Fit(
        setting.name,
        values,
        start,
        {u.name: u.unit for u in unknowns},
        result.covariance,
        noise,
        dict(setting.units),
        initial,
        final,
        result.degrees,
        result.evaluations,
        result.converged,
        (*result.problems, *result.notes),
        states,
        sensors,
        {u.name: u.label for u in unknowns},
    )


def _channel_weights(setting: FitSetup, weights: Mapping[str, float] | None) -> Array | None:
    if weights is None:
        return None
    values = require_mapping(weights, "weights")
    numbers = []
    for name in setting.channels:
        number = to_float(values.pop(name, None))
        if number is None or not 0 < number < np.inf:
            raise ModelError(
                f"fit: weights must have a positive number for each channel: "
                f"{', '.join(setting.channels)}"
            )
        numbers.append(number)
    if values:
        raise ModelError(
            f"fit: weights name '{next(iter(values))}', which is no channel of the fit"
        )
    return np.array(numbers)


def sensor_unknowns(
    setting: FitSetup, names: Mapping[str, Any], start: Mapping[str, float]
) -> list[FitUnknown]:
    """Unknowns of sensors."""
    unknowns = []
    for name, bounds in names.items():
        channel, attribute = parse_sensor_name(name) or ("", "")
        logs = [log for log in setting.logs if channel in log.channels]
        if channel not in setting.units or not logs:
            suggestion = did_you_mean(channel, setting.channels)
            raise ModelError(
                f"fit: '{name}' is a property of channel '{channel}', which is not "
                f"fitted.{suggestion}"
            )
        interval = float(np.diff(logs[0].time).mean())
        size = {"scale": 1.0, "offset": float(np.ptp(logs[0][channel])) or 1.0, "delay": interval}[
            attribute
        ]
        unit = {"scale": "", "offset": setting.units[channel], "delay": "s"}[attribute]
        label = f"{attribute} of the sensor of {channel}"
        unknowns.append(
            make_unknown(
                name,
                float(start.get(name, SENSOR[attribute])),
                bounds,
                unit,
                label,
                size,
                user_start=name in start,
            )
        )
    return unknowns
