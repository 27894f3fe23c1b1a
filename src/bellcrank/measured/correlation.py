"""How well a run agrees with measurements: errors by channel, an overlay and a page.

In:  two runs with channels of the same names. Out: `Correlation`, over the times of the
measurements that both have.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bellcrank.analysis.tables import Cells, TabularResult
from bellcrank.analysis.view.chart import curve_chart
from bellcrank.analysis.view.document import DocumentSection, html_document
from bellcrank.core.errors import NoChannel, RunError, did_you_mean
from bellcrank.core.files.figure_files import new_figure, plot_text, save_figure
from bellcrank.core.files.html import paragraph, save_page
from bellcrank.core.files.record import FileChannel
from bellcrank.core.metrics.metric_values import peak, rms, std
from bellcrank.core.name_lookup import find_name
from bellcrank.core.numeric.real_numbers import display_text, to_float
from bellcrank.core.unit_notation import typeset_unit
from bellcrank.measured.log import READ, convert_unit
from bellcrank.simulation.run.result import Run

Array = np.ndarray[Any, Any]
Line = tuple[str, Run]  # who, and a run with the channels
DELAY = 0.5  # s, largest delay that is looked for ...
OF_ALL = 0.1  # ... and largest fraction of the duration
FEWEST = 4  # samples of a comparison
HEADS = (
    "channel",
    "unit",
    "RMS error",
    "of range, %",
    "peak error",
    "at, s",
    "R2",
    "correlation",
    "delay, s",
    "gain",
    "offset",
)


@dataclass(frozen=True)
class ChannelError:
    """How one channel of a run agrees with its measurement.

    Attributes
    ----------
    channel, unit : str
        Name and unit.
    rms : float
        Root mean square over time of simulated minus measured, in `unit`.
    normalized : float
        `rms` divided by the range (maximum minus minimum) of the measurement.
    peak, peak_at : float
        Largest magnitude of the error, in `unit`, and its time in s.
    r2 : float
        Coefficient of determination: 1 minus the mean square error over the variance of the
        measurement.
    correlation : float
        Pearson's correlation coefficient.
    delay : float
        Time in s by which the measurement lags the simulation: that of the largest correlation.
    gain, offset : float
        Of the straight line measured = gain*simulated + offset by least squares, after removal of
        the delay.

    Examples
    --------
    >>> import numpy as np
    >>> import bellcrank as bc
    >>> s = bc.System("mass")
    >>> mass = s.add_body("mass", translate="x", mass=2, inertia=0)
    >>> run = s.equations().compile(backend="python").simulate(
    ...     1.0, step=0.1, initial={"u(mass)": 3}
    ... )
    >>> error = bc.measured.compare(run, run)["q(mass)"]
    >>> error.rms, error.r2
    (0.0, 1.0)
    """

    channel: str
    unit: str
    rms: float
    normalized: float
    peak: float
    peak_at: float
    r2: float
    correlation: float
    delay: float
    gain: float
    offset: float

    @property
    def cells(self) -> tuple[str, ...]:
        """What tables show, as in `HEADS`."""
        numbers = (
            self.rms,
            100 * self.normalized,
            self.peak,
            self.peak_at,
            self.r2,
            self.correlation,
            self.delay,
            self.gain,
            self.offset,
        )
        return (self.channel, typeset_unit(self.unit), *(f"{x + 0.0:.4g}" for x in numbers))


@dataclass(frozen=True, repr=False, eq=False)
class Correlation(TabularResult):
    """A run compared with measurements, as `bc.measured.compare` returns it: `found["ay"]` is one
    channel.

    `plot` draws a panel for each channel, measured and simulated over time.

    Attributes
    ----------
    simulated, measured : Run
        Both over the same times, with the same channels and units.
    errors : dict
        `ChannelError` by channel.

    Examples
    --------
    >>> import bellcrank as bc
    >>> s = bc.System("mass")
    >>> mass = s.add_body("mass", translate="x", mass=2, inertia=0)
    >>> sim = s.equations().compile(backend="python")
    >>> fast, slow = (sim.simulate(1.0, step=0.1, initial={"u(mass)": v}) for v in (3, 2))
    >>> found = bc.measured.compare(fast, slow, ["q(mass)"])
    >>> round(found["q(mass)"].peak, 6), round(found["q(mass)"].gain, 6)
    (1.0, 0.666667)
    """

    simulated: Run
    measured: Run
    errors: dict[str, ChannelError]

    def __getitem__(self, channel: str) -> ChannelError:
        match = find_name(channel, self.errors, "channel")
        if match is None:
            suggestion = did_you_mean(channel, self.errors)
            raise NoChannel(
                f"'{channel}' was not compared.{suggestion} Channels: {', '.join(self.errors)}."
            )
        return self.errors[match]

    def __iter__(self) -> Any:
        return iter(self.errors)

    def __repr__(self) -> str:
        return (
            f"Correlation({self.simulated.name!r} with {self.measured.name!r}: "
            f"{', '.join(self.errors)})"
        )

    @property
    def _title(self) -> str:
        return f"{self.simulated.name} compared with {self.measured.name}"

    def _table_cells(self) -> Cells:
        return HEADS, [e.cells for e in self.errors.values()], "<<" + ">" * (len(HEADS) - 2)

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """Collect the errors, ready for JSON.

        Returns
        -------
        dict
            Errors by channel; None where a number is not defined.
        """
        return {
            name: {
                k: None if isinstance(v, float) and not math.isfinite(v) else v
                for k, v in asdict(e).items()
            }
            for name, e in self.errors.items()
        }

    def _draw(self, path: str | Path | None) -> Any:
        return overlay_figure(
            [[("measured", self.measured), ("simulated", self.simulated)]],
            list(self.errors),
            path,
            f"{self.simulated.name} and {self.measured.name}",
        )

    def page(self, path: str | Path, *, title: str | None = None) -> Path:
        """Write a report: errors by channel, overlays, and errors over time.

        Parameters
        ----------
        path : str or Path
            The .html file.
        title : str, optional
            Title. Default: the names of both runs.

        Returns
        -------
        Path
            The file.
        """
        lines = [("measured", self.measured), ("simulated", self.simulated)]
        sections = [
            DocumentSection("errors", "Errors by channel", [*self._html_parts()[1:], DEFINITIONS])
        ]
        sections += [
            DocumentSection("channels", "Channels", channel_charts(lines, list(self.errors)))
        ]
        sections += [
            DocumentSection(
                "differences",
                "Simulated minus measured",
                channel_charts([self._difference], list(self.errors)),
            )
        ]
        text = html_document(title or self._title, paragraph(_summary_line(self)), sections)
        return save_page(path, text)

    @property
    def _difference(self) -> Line:
        a, b = self.simulated, self.measured
        channels = [
            FileChannel(n, a[n] - b[n], a.units[n], f"{a.labels[n]}, error") for n in self.errors
        ]
        return "error", Run._from_channels(a.name, a.time, channels, a.ended)


DEFINITIONS = paragraph(
    "Errors are simulated minus measured. R2 is 1 minus the mean square error over the "
    "variance of the measurement. "
    "The delay is the time by which the measurement lags; gain and offset are those of "
    "measured = gain*simulated + "
    "offset after its removal."
)


def _summary_line(correlation: Correlation) -> str:
    t = correlation.measured.time
    return f"{len(correlation.errors)} channels, {len(t)} samples from {t[0]:g} to {t[-1]:g} s."


def channel_charts(lines: Sequence[Line], channels: Sequence[str]) -> list[str]:
    """A chart for each channel over time."""
    first = lines[0][1]
    charts = []
    for c in channels:
        curves = [(key, r.time, r[c]) for key, r in lines]
        chart = curve_chart(curves, "time (s)", axis_title(first, c), dashed=True)
        charts.append(f"<figure>{chart}</figure>")
    return charts


def axis_title(run: Run, channel: str) -> str:
    unit = typeset_unit(run.units.get(channel, ""))
    label = run.labels.get(channel) or channel
    return f"{label} ({unit})" if unit not in ("", "-") else label


def overlay_figure(
    groups: Sequence[Sequence[Line]], channels: Sequence[str], path: str | Path | None, title: str
) -> Any:
    """A figure with a row for each channel and a column for each group of runs."""
    figure = new_figure(max(8, 5 * len(groups)), 1.0 + 1.9 * len(channels))
    axes = figure.subplots(len(channels), len(groups), squeeze=False, sharex="col")
    for j, lines in enumerate(groups):
        for i, channel in enumerate(channels):
            ax = axes[i, j]
            for run_label, run in lines:
                if channel in run.channels:
                    style = (
                        {"color": "0.65", "linewidth": 2.0}
                        if run_label == "measured"
                        else {"linewidth": 1.1}
                    )
                    ax.plot(run.time, run[channel], label=plot_text(run_label), **style)
            if j == 0:
                ax.set_ylabel(plot_text(axis_title(lines[0][1], channel)), fontsize=8, wrap=True)
            ax.tick_params(labelsize=8)
            ax.grid(True, linewidth=0.4, alpha=0.6)
        if len(groups) > 1:
            axes[0, j].set_title(plot_text(lines[0][1].name), fontsize=9)
        axes[-1, j].set_xlabel("time (s)", fontsize=8)
    axes[0, 0].legend(fontsize=8, loc="best")
    figure.suptitle(plot_text(title), fontsize=11)
    return save_figure(figure, path)


def compare(
    simulated: Run,
    measured: Run | str | Path,
    channels: Iterable[str] | str | None = None,
    *,
    start: float | None = None,
    end: float | None = None,
    max_delay: float | None = None,
) -> Correlation:
    """Compare a run with measurements, channel by channel.

    Simulated values are interpolated at the times of the measurements; units are converted to those
    of the run.

    Parameters
    ----------
    simulated : Run
        The run.
    measured : Run, str or Path
        The measurements, as of `bc.measured.read`, or the path of a file with channels of the same
        names.
    channels : str or iterable of str, optional
        Channels. Default: all that both have.
    start, end : float, optional
        First and last time in s. Default: all that both cover.
    max_delay : float, optional
        Largest delay in s that is looked for. Default: 0.5 s, or a tenth of the duration if that is
        less.

    Returns
    -------
    Correlation
        Errors by channel; `print(found)`, `found.plot(path)`, `found.page("report.html")`.

    Raises
    ------
    RunError
        If a channel is missing, if units differ in kind, or if both have fewer than four samples in
        common.

    Examples
    --------
    >>> import numpy as np
    >>> import bellcrank as bc
    >>> s = bc.System("oscillator")
    >>> mass = s.add_body("mass", translate="x", mass=2, inertia=0)
    >>> spring = s.add_force("spring", magnitude="-50*x", direction=s.inertial.x, at=mass.origin)
    >>> sim = s.equations().compile(backend="python")
    >>> run = sim.simulate(2.0, step=0.01, initial={"q(mass)": 1})
    >>> late = sim.simulate(
    ...     2.0, step=0.01, initial={"q(mass)": float(np.cos(0.5)), "u(mass)": float(5*np.sin(0.5))}
    ... )
    >>> round(bc.measured.compare(run, late, "q(mass)")["q(mass)"].delay, 3)  # 0.5 rad at 5 rad/s
    0.1
    """
    if not isinstance(simulated, Run):
        raise RunError(f"compare: simulated={display_text(simulated)} must be a run")
    log = Run.read(measured) if isinstance(measured, str | Path) else measured
    if not isinstance(log, Run):
        raise RunError(
            f"compare: measured={display_text(measured)} must be a run or the path of a file"
        )
    names = _channel_pairs(simulated, log, channels)
    if len(simulated.time) < 2 or len(log.time) < 2:
        raise RunError("compare: both runs need at least two samples")
    first = max(simulated.time[0], log.time[0], _time_bound(start, "start", -math.inf))
    last = min(simulated.time[-1], log.time[-1], _time_bound(end, "end", math.inf))
    inside = (log.time >= first - 1e-9) & (log.time <= last + 1e-9)
    time = log.time[inside]
    if len(time) < FEWEST or not time[-1] > time[0]:
        raise RunError(
            f"compare: {len(time)} samples from {first:g} to {last:g} s are too few; both "
            f"runs must have "
            f"at least {FEWEST} in common"
        )
    delay_limit = (
        min(DELAY, OF_ALL * float(time[-1] - time[0]))
        if max_delay is None
        else _time_bound(max_delay, "max_delay", 0.0)
    )
    if delay_limit < 0:
        raise RunError(f"compare: max_delay={display_text(max_delay)} must not be negative (s)")
    simulated_channels, measured_channels, errors = [], [], {}
    for name, log_name in names:
        unit, label = simulated.units.get(name, ""), simulated.labels.get(name, name)
        x = np.interp(time, simulated.time, simulated[name])
        y = convert_unit(
            log[log_name], log.units.get(log_name, ""), unit, f"channel '{log_name}' of {log.name}"
        )[inside]
        if not (np.isfinite(x).all() and np.isfinite(y).all()):
            raise RunError(f"compare: channel '{name}' holds values that are not finite")
        simulated_channels.append(FileChannel(name, x, unit, label))
        measured_channels.append(FileChannel(name, y, unit, label))
        errors[name] = channel_error(name, unit, time, x, y, delay_limit)
    return Correlation(
        Run._from_channels(simulated.name, time, simulated_channels, simulated.ended),
        Run._from_channels(log.name, time, measured_channels, READ),
        errors,
    )


def _time_bound(requested_time: Any, argument: str, default: float) -> float:
    value = default if requested_time is None else to_float(requested_time)
    if value is None or math.isnan(value):
        raise RunError(f"compare: {argument}={display_text(requested_time)} must be a time in s")
    return value


def _channel_pairs(
    simulated: Run, log: Run, channels: Iterable[str] | str | None
) -> list[tuple[str, str]]:
    """Names in the run and in the log."""
    if not isinstance(channels, str | Iterable | None):
        raise RunError(
            f"compare: channels={display_text(channels)} must be the name of a channel or a "
            f"list of names"
        )
    requested = (
        [channels] if isinstance(channels, str) else None if channels is None else list(channels)
    )
    if requested is None:
        pairs = [(n, n) for n in simulated if n in log.channels]
        if not pairs:
            raise RunError(
                f"compare: no channel of {log.name} ({', '.join(log)}) has the name of one of "
                f"{simulated.name}; a table of channels renames them (bc.measured.read)"
            )
        return pairs
    pairs = []
    for name in requested:
        pair = []
        for run in (simulated, log):
            match = find_name(name, run, "channel")
            if match is None:
                suggestion = did_you_mean(str(name), run)
                raise NoChannel(
                    f"no channel '{name}' in {run.name}.{suggestion} Channels: {', '.join(run)}."
                )
            pair.append(match)
        pairs.append((pair[0], pair[1]))
    if not pairs:
        raise RunError("compare: name at least one channel")
    return pairs


def channel_error(
    name: str, unit: str, t: Array, x: Array, y: Array, max_delay: float
) -> ChannelError:
    """Errors of simulated samples x of measured ones y at times t; `max_delay`: largest delay
    (s)."""
    error = x - y
    peak_index, size, deviation = int(np.argmax(np.abs(error))), float(np.ptp(y)), std(t, y)
    rms_error = rms(t, error)
    delay = estimate_delay(t, x, y, max_delay)
    shifted = np.interp(t - (delay if math.isfinite(delay) else 0.0), t, x)
    centered = shifted - shifted.mean()
    size_of_x = float(centered @ centered)
    gain = float(centered @ y) / size_of_x if size_of_x else math.nan
    return ChannelError(
        name,
        unit,
        rms_error,
        rms_error / size if size else math.nan,
        peak(t, error),
        float(t[peak_index]),
        1 - (rms_error / deviation) ** 2 if deviation else math.nan,
        _pearson(x, y),
        delay,
        gain,
        float(y.mean() - gain * shifted.mean()),
    )


def _pearson(x: Array, y: Array) -> float:
    a, b = x - x.mean(), y - y.mean()
    size = math.sqrt(float(a @ a) * float(b @ b))
    return float(a @ b) / size if size else math.nan


def estimate_delay(t: Array, x: Array, y: Array, max_delay: float) -> float:
    """The time by which y lags x: of the largest correlation, first on a grid of samples, then
    between them. x is what is shifted, because it is smooth."""
    if not (np.ptp(x) and np.ptp(y)):
        return math.nan
    if max_delay <= 0:
        return 0.0
    interval = float(t[-1] - t[0]) / (len(t) - 1)

    def correlation_at(d: float) -> float:
        inside = (t - d >= t[0]) & (t - d <= t[-1])
        coefficient = (
            _pearson(np.interp(t[inside] - d, t, x), y[inside])
            if inside.sum() >= FEWEST
            else math.nan
        )
        return coefficient if math.isfinite(coefficient) else -1.0

    steps = interval * np.arange(
        -math.floor(max_delay / interval), math.floor(max_delay / interval) + 1
    )
    steps = steps[:: max(1, len(steps) // 400)]
    coarse = float(max(steps.tolist(), key=lambda d: (correlation_at(d), -abs(d))))
    from scipy.optimize import minimize_scalar

    width = float(steps[1] - steps[0]) if len(steps) > 1 else min(interval, max_delay)
    optimum = minimize_scalar(
        lambda d: -correlation_at(d),
        bounds=(coarse - width, coarse + width),
        method="bounded",
        options={"xatol": 1e-4 * interval},
    )
    best = float(optimum.x) if -optimum.fun > correlation_at(coarse) else coarse
    return best if abs(best) > 1e-6 * interval else 0.0
