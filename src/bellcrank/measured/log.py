"""Logs as channels of a model: columns of a file renamed, scaled and shifted by a small table, over
one time.

In:  a file of any format of `files`, and the table (TOML or a mapping). Out: a `Run` that begins at
t = 0.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from bellcrank.core.errors import BellcrankError, ModelError, RunError, did_you_mean, issue_warning
from bellcrank.core.files.format_choice import read_groups
from bellcrank.core.files.record import FileChannel, FileContents, Record, to_time_record
from bellcrank.core.files.text_files import read_toml
from bellcrank.core.name_lookup import find_name
from bellcrank.core.numeric.real_numbers import display_text, to_float
from bellcrank.core.units import UNIT_SYSTEMS
from bellcrank.simulation.run.result import Run

Array = np.ndarray[Any, Any]
READ = "read from a log"
NO_UNIT = ("", "-", "1")
COLUMN = {"column": "", "unit": "", "scale": 1.0, "offset": 0.0, "delay": 0.0}
WHOLE = ("time", "start", "end", "step", "channels")
MOST = 10_000_000  # samples
BRIDGED = 10  # samples missing in a row, above which a warning is issued


@dataclass(frozen=True)
class ChannelSource:
    """Where a channel comes from: `scale` times a column plus `offset` is its value in `unit`; it
    was recorded `delay` (s) too late. An empty unit is that of the file."""

    column: str
    unit: str = ""
    scale: float = 1.0
    offset: float = 0.0
    delay: float = 0.0


@dataclass(frozen=True)
class ChannelMap:
    """The table of a log: columns by channel, the column of time, and the part of the log that
    counts (s)."""

    channels: Mapping[str, ChannelSource] = field(default_factory=dict)
    time: ChannelSource = ChannelSource("")
    start: float | None = None
    end: float | None = None
    step: float | None = None

    @classmethod
    def from_source(cls, source: str | Path | Mapping[str, Any] | None) -> ChannelMap:
        """From a TOML file or a mapping of the same form; all mistakes are reported at once."""
        if source is None:
            return cls()
        location = str(source) if isinstance(source, str | Path) else "the channel map"
        content = read_toml(source) if isinstance(source, str | Path) else source
        if not isinstance(content, Mapping):
            raise ModelError(
                f"channels={source!r:.60} must be the path of a TOML file or a mapping"
            )
        problems = [
            f"{location}: {_unknown_key_message(key, WHOLE)}" for key in content if key not in WHOLE
        ]
        channel_table = content.get("channels", {})
        if not isinstance(channel_table, Mapping) or not channel_table:
            problems.append(
                f"{location}: give a table [channels], such as ay = "
                f'{{ column = "AccY", unit = "g" }}'
            )
            channel_table = {}
        columns = {
            str(name): _read_column(f"{location}: channel '{name}'", x, problems)
            for name, x in channel_table.items()
        }
        time = _read_column(f"{location}: time", content.get("time", ""), problems)
        numbers = {
            key: _read_log_number(f"{location}: {key}", content.get(key), problems)
            for key in ("start", "end", "step")
        }
        if problems:
            raise ModelError(problems)
        return cls(columns, time, **numbers)


def _read_column(location: str, entry: Any, problems: list[str]) -> ChannelSource:
    """A column from its name alone, or from a table."""
    if isinstance(entry, str):
        return ChannelSource(entry)
    if not isinstance(entry, Mapping):
        problems.append(
            f"{location} is {entry!r:.40}: give the name of a column, or a table with "
            f"{', '.join(COLUMN)}"
        )
        return ChannelSource("")
    values: dict[str, Any] = {}
    for key, value in entry.items():
        if key not in COLUMN:
            problems.append(f"{location}: {_unknown_key_message(key, COLUMN)}")
        elif isinstance(COLUMN[key], float):
            values[key] = _read_log_number(f"{location}: {key}", value, problems)
        elif isinstance(value, str):
            values[key] = value
        else:
            problems.append(f"{location}: {key} = {value!r:.40} must be text")
    if values.get("scale") == 0:
        problems.append(f"{location}: scale must not be 0")
    if unit := values.get("unit", "").strip():
        values["unit"] = unit
        try:
            UNIT_SYSTEMS["mks"].parse_unit(unit) if unit not in NO_UNIT else None
        except BellcrankError as error:
            problems.append(f"{location}: {error}")
    return ChannelSource(**{"column": "", **values})


def _read_log_number(location: str, entry: Any, problems: list[str]) -> Any:
    if entry is None:
        return None
    value = to_float(entry) if not isinstance(entry, bool | str) else None
    if value is None or not math.isfinite(value):
        problems.append(f"{location} = {display_text(entry)} must be a finite number")
    return value


def _unknown_key_message(key: Any, keys: Any) -> str:
    return f"'{key}' is not known.{did_you_mean(str(key), keys)} Keys: {', '.join(keys)}."


def read(
    path: str | Path,
    channels: str | Path | Mapping[str, Any] | None = None,
    *,
    start: float | None = None,
    end: float | None = None,
    step: float | None = None,
) -> Run:
    """Read a log and rename, scale and shift its columns by a small table.

    Parameters
    ----------
    path : str or Path
        The file. Its ending names the format: .csv, .erd, .json, .mat, .mf4, .nc, .parquet. In CSV
        files, cells are separated by commas, semicolons or tabs, and units are in a line of their
        own or behind the names, in brackets or not.
    channels : str, Path or mapping, optional
        The table, as a TOML file or a mapping: `[channels]` with a column for each channel, either
        its name or
        `{column, unit, scale, offset, delay}`. The value is scale times the column plus offset, in
        `unit`; `delay` is the time in s by which the column was recorded too late. `time` names the
        column of time. Default: all columns with their own names.
    start, end : float, optional
        First and last time of the log in s. Default: those of the table, or the whole log.
    step : float, optional
        Time between samples in s. Default: that of the table, or the times of the column with most
        samples.

    Returns
    -------
    Run
        Channels over a time that begins at 0. Between samples of a column, values are interpolated
        linearly; where a delay leaves no sample at an end, the last value is held.

    Raises
    ------
    ModelError
        If the table has mistakes: all are listed.
    RunError
        If the file cannot be read, or if it lacks a column.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import bellcrank as bc
    >>> table = {"channels": {"ay": {"column": "AccY", "unit": "g", "scale": -1}}}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "log.csv"
    ...     lines = "Time;AccY", "[ms];[g]", "500;0", "600;0,2"
    ...     written = file.write_text(chr(10).join(lines))
    ...     log = bc.measured.read(file, table)
    >>> log.time.round(3).tolist(), log["ay"].tolist(), log.units["ay"]
    ([0.0, 0.1], [0.0, -0.2], 'g')
    """
    table = ChannelMap.from_source(channels)
    if not isinstance(path, str | Path):
        raise ModelError(f"read: path={display_text(path)} must be the path of a log")
    for argument, value in (("start", start), ("end", end), ("step", step)):
        if value is not None and (
            to_float(value) is None or not math.isfinite(to_float(value) or 0.0)
        ):
            raise ModelError(f"read: {argument}={display_text(value)} must be a finite number (s)")
    groups = [_select_time_column(data, table.time, path) for data in read_groups(path)]
    column_map = table.channels or {
        c.name: ChannelSource(c.name) for g in reversed(groups) for c in g.channels
    }
    problems: list[str] = []
    data = {
        name: _find_column(groups, name, column, path, problems)
        for name, column in column_map.items()
    }
    if problems:
        raise RunError("\n".join(problems))
    if not data:
        raise RunError(f"{path} holds no channel but time")
    first, last, every = (
        x if x is not None else y
        for x, y in ((start, table.start), (end, table.end), (step, table.step))
    )
    time = _common_times(path, [t for t, _, _ in data.values()], first, last, every)
    converted = []
    for name, (t, values, channel) in data.items():
        column = column_map[name]
        if abs(column.delay) >= time[-1] - time[0]:
            raise ModelError(
                f"channel '{name}': delay = {column.delay:g} s must be shorter than the "
                f"{time[-1] - time[0]:g} s of {path}"
            )
        samples = np.interp(time + column.delay, t, values)
        unit = column.unit or channel.unit
        converted.append(
            FileChannel(name, column.scale * samples + column.offset, unit, channel.label or name)
        )
    return Run._from_channels(Path(path).stem, time - time[0], converted, READ)


def _select_time_column(contents: FileContents, time: ChannelSource, path: str | Path) -> Record:
    """A group over the column of time that the table names, in s."""
    channels = list(contents.channels)
    if time.column:
        name = find_name(time.column, [c.name for c in channels], "column")
        if name is None:
            suggestion, column_names = (
                did_you_mean(time.column, [c.name for c in channels]),
                ", ".join(c.name for c in channels),
            )
            raise RunError(
                f"{path} has no column '{time.column}' for time.{suggestion} It has {column_names}."
            )
        channels.sort(key=lambda c: c.name != name)  # the others keep their order
    first = channels[0]
    values = time.scale * first.values + time.offset
    time_channel = replace(
        first, name="t", values=values, unit=time.unit or first.unit or ("s" if time.column else "")
    )
    if not time.column and not time_channel.unit:
        time_channel = replace(time_channel, name=first.name)  # whose name must be that of a time
    return to_time_record(replace(contents, channels=(time_channel, *channels[1:])), path)


def _find_column(
    groups: Sequence[Record],
    name: str,
    column: ChannelSource,
    path: str | Path,
    problems: list[str],
) -> tuple[Array, Array, FileChannel]:
    """Times and values of a column, without samples that are no numbers, and the channel of the
    file."""
    column_name = column.column or name
    for group in groups:
        match = find_name(column_name, [c.name for c in group.channels], "column")
        if match is not None:
            channel = next(c for c in group.channels if c.name == match)
            is_finite = np.isfinite(channel.values)
            if is_finite.sum() < 2:
                problems.append(f"{path}: column '{match}' has fewer than two finite samples")
            else:
                _warn_of_gap(path, match, group.time[is_finite])
            return group.time[is_finite], channel.values[is_finite], channel
    column_names = list(dict.fromkeys(c.name for g in groups for c in g.channels))
    problems.append(
        f"{path} has no column '{column_name}', for channel "
        f"'{name}'.{did_you_mean(column_name, column_names)} It has "
        f"{', '.join(column_names)}."
    )
    return np.zeros(0), np.zeros(0), FileChannel(name, np.zeros(0))


def _warn_of_gap(path: str | Path, column: str, time: Array) -> None:
    """A gap far longer than the time between samples is not the noise of a sensor."""
    intervals = np.diff(time)
    longest, typical_step = int(np.argmax(intervals)), float(np.median(intervals))
    missing = round(float(intervals[longest]) / typical_step) - 1 if typical_step else 0
    if missing > BRIDGED:
        issue_warning(
            f"{path}: column '{column}' has no numbers between t = {time[longest]:g} and "
            f"{time[longest + 1]:g} s "
            f"({missing} samples); a straight line bridges the gap. Use start= and end= to "
            f"leave it out."
        )


def _common_times(
    path: str | Path,
    sample_times: Sequence[Array],
    start: float | None,
    end: float | None,
    step: float | None,
) -> Array:
    """The times of the column with most samples that all columns have, or equal steps."""
    low, high = max(float(t[0]) for t in sample_times), min(float(t[-1]) for t in sample_times)
    if not low < high:
        raise RunError(f"{path}: its columns have no time in common")
    first, last = low if start is None else float(start), high if end is None else float(end)
    if not (low - 1e-9 <= first < last <= high + 1e-9):
        raise RunError(
            f"{path} covers t = {low:g} to {high:g} s, but {first:g} to {last:g} s are asked for"
        )
    if step is not None:
        if not (0 < step <= last - first and (last - first) / step < MOST):
            raise ModelError(
                f"step={step:g} s must be positive and at most the {last - first:g} s of "
                f"{path}, with "
                f"less than {MOST} samples"
            )
        return first + step * np.arange(math.floor((last - first) / step + 1e-9) + 1)
    times = max(sample_times, key=lambda t: int(((t >= first) & (t <= last)).sum()))
    inside = times[(times >= first - 1e-9) & (times <= last + 1e-9)]
    inside = inside[np.concatenate([[True], np.diff(inside) > 0])] if len(inside) else inside
    if len(inside) < 2:
        raise RunError(f"{path} has fewer than two samples from t = {first:g} to {last:g} s")
    return inside


def convert_unit(values: Array, unit: str, target_unit: str, label: str) -> Array:
    """Values in another unit; those without a unit are in the wanted one already."""
    if unit == target_unit or unit in NO_UNIT or target_unit in NO_UNIT:
        return values
    system = UNIT_SYSTEMS["mks"]
    try:
        source, target = system.parse_unit(unit), system.parse_unit(target_unit)
    except BellcrankError as error:
        raise RunError(f"{label}: {error}") from None
    if not source.dimension.same_kind(target.dimension):
        raise RunError(f"{label} is in '{unit}', which cannot be compared with '{target_unit}'")
    return values * (source.factor / target.factor)
