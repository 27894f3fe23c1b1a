"""Ground over x and y from files: tables of heights (.csv, .txt), arrays (.npy, .npz), OpenCRG text
(.crg).

A table has y in its first row and x in its first column; the corner between is not read. An array
needs the spacing of its points, or comes with x and y. OpenCRG (ASAM, 2020): long sections along a
reference line, straight or curved, as text (LRFI, LDFI), with slope and banking if it has them; it
begins at x = u, y = 0 and runs along x there.
"""

from __future__ import annotations

import math
import re
import zipfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np

from bellcrank.core.errors import ModelError
from bellcrank.core.files.text_files import max_unpacked_size, read_text, reject_device
from bellcrank.core.numeric.real_numbers import display_text
from bellcrank.vehicles.terrain.road_line import RoadLine, heights_on_grid

ODD = (
    RuntimeError,
    SyntaxError,
    KeyError,
    zlib.error,
    TokenError,
    MemoryError,
    OverflowError,
)  # of damaged archives and headers

Points = tuple[np.ndarray, np.ndarray, np.ndarray]  # x, y, heights
FIELDS = {"LRFI": 10, "LDFI": 20}  # characters of a number
STRAIGHT = 1e-9  # rad, by which the heading of a straight line may differ
EXACT = 1e-6  # fraction of a spacing
_INCREMENT = 0.01  # m, between records and between long sections of a header without one


def read_height_points(
    path: Path, spacing: tuple[float, float] | None, start: tuple[float, float] | None
) -> Points:
    """x, y and heights of a file by its ending."""
    ending = path.suffix.lower()
    if ending not in READERS:
        raise ModelError(
            f"terrain {path}: '{ending}' is not read; ground is read from {', '.join(READERS)}"
        )
    arrays = ending in (".npy", ".npz")
    if ending == ".crg" and start is None:
        return _read_crg_points(path, spacing)
    if not arrays and (spacing is not None or start is not None):
        raise ModelError(
            f"terrain {path}: spacing= and start= are for arrays (spacing= also for curved "
            f"roads, .crg); {ending} says "
            "itself where its points are"
        )
    return _read_array_file(path, spacing, start) if arrays else READERS[ending](path)


def _read_text_table(path: Path) -> Points:
    lines = [
        (i, line)
        for i, line in enumerate(read_text(path, ModelError).splitlines(), 1)
        if line.strip()
    ]
    lines = [(i, line) for i, line in lines if not line.lstrip().startswith("#")]
    if len(lines) < 3:
        raise ModelError(
            f"terrain {path}: a table of heights has y in its first row and x in its first "
            f"column, at "
            f"least two of each; it has {len(lines)} lines"
        )
    mark = next((m for m in (";", "\t", ",") if m in lines[1][1]), None)
    rows = [[cell.strip() for cell in line.split(mark)] for _, line in lines]
    if (
        mark is None and len(rows[0]) == len(rows[1]) - 1
    ):  # blanks alone cannot report of an empty corner
        rows[0] = ["", *rows[0]]
    y = [_parse_grid_number(path, lines[0][0], cell) for cell in rows[0][1:]]
    values = []
    for (i, _), row in zip(lines[1:], rows[1:], strict=True):
        if len(row) != len(y) + 1:
            raise ModelError(
                f"terrain {path}, line {i}: {len(row)} values; x and {len(y)} heights were expected"
            )
        values.append([_parse_grid_number(path, i, cell) for cell in row])
    table = np.array(values)
    return table[:, 0], np.array(y), table[:, 1:]


def _parse_grid_number(path: Path, line: int, cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        raise ModelError(f"terrain {path}, line {line}: {cell[:40]!r} is not a number") from None


def _read_array_file(
    path: Path, spacing: tuple[float, float] | None, start: tuple[float, float] | None
) -> Points:
    reject_device(path, ModelError)
    try:
        _check_size(path)
        with path.open("rb") as stream:
            loaded: Any = np.load(stream, allow_pickle=False)
            arrays = (
                {k: np.asarray(loaded[k], float) for k in loaded}
                if isinstance(loaded, Mapping)
                else None
            )
            h = np.asarray(loaded, float) if arrays is None else arrays.get("h")
    except (OSError, ValueError, EOFError, TypeError, zipfile.BadZipFile, *ODD) as error:
        raise ModelError(f"terrain {path} cannot be read as an array of numbers: {error}") from None
    if arrays is not None:
        if h is None or not {"x", "y"} <= set(arrays):
            raise ModelError(
                f"terrain {path}: an .npz needs the arrays x, y and h; it has "
                f"{', '.join(arrays) or 'none'}"
            )
        return arrays["x"], arrays["y"], h
    assert h is not None
    if h.ndim != 2:
        raise ModelError(
            f"terrain {path}: heights must be an array over x and y; it has the shape {h.shape}"
        )
    if spacing is None:
        raise ModelError(f"terrain {path}: an .npy needs spacing=(along x, along y)")
    dx, dy = spacing
    x0, y0 = start or (0.0, -dy * (h.shape[1] - 1) / 2)
    return x0 + dx * np.arange(h.shape[0]), y0 + dy * np.arange(h.shape[1]), h


def _check_size(path: Path) -> None:
    """Rejects an archive that is small and would fill the memory."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            size, limit = (
                sum(x.file_size for x in archive.infolist()),
                max_unpacked_size(path.stat().st_size),
            )
        if size > limit:
            raise ModelError(
                f"terrain {path} cannot be read: unpacked, it takes {size >> 20} MiB, more "
                f"than {limit >> 20}"
            )


def grid_spacing(
    caller: str, spacing: float | tuple[float, float] | None
) -> tuple[float, float] | None:
    """Distances of points along x and y, as a caller gives them."""
    if spacing is None:
        return None
    pair = spacing if isinstance(spacing, tuple | list) else (spacing, spacing)
    if len(pair) != 2:
        raise ModelError(
            f"terrain {caller}: spacing={spacing!r:.60} must be a number or two of them"
        )
    return check_finite(pair[0], caller, "spacing", positive=True), check_finite(
        pair[1], caller, "spacing", positive=True
    )


def check_finite(value: Any, caller: str, name: str, positive: bool = False) -> float:
    """A number that a caller gives; `caller` and `name` name it."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise ModelError(
            f"terrain {caller}: {name}={display_text(value)} is not a number"
        ) from None
    if not math.isfinite(number) or (positive and not number > 0):
        raise ModelError(
            f"terrain {caller}: {name}={value!r} must be "
            f"{'positive' if positive else 'a finite number'}"
        )
    return number


# ---- OpenCRG


@dataclass(frozen=True, eq=False)
class RoadSections:
    """A road of a file: the way u along its line, by even steps, headings of the pieces between
    (rad), distances v to its left, and heights over both."""

    step: float
    u: np.ndarray
    headings: np.ndarray
    v: np.ndarray
    h: np.ndarray

    @property
    def is_curved(self) -> bool:
        return len(self.headings) > 1 and bool(np.ptp(self.headings) > STRAIGHT)

    @property
    def line(self) -> RoadLine:
        return RoadLine(self.headings, self.step, float(self.u[0]))


def read_road_sections(path: Path) -> RoadSections:
    """A road along a line; of an OpenCRG file."""
    if path.suffix.lower() != ".crg":
        raise ModelError(
            f"terrain {path}: a road along a line is read from OpenCRG text (.crg), not "
            f"'{path.suffix}'"
        )
    return _read_crg_sections(path)


def _read_crg_sections(path: Path) -> RoadSections:
    text = read_text(path, ModelError, "latin-1")
    head, data = _split_crg_header(path, text)
    road = _crg_header_values(head.get("ROAD_CRG", []))
    form, channels = _crg_channels(path, head.get("KD_DEFINITION", []))
    table = _read_crg_records(path, data, FIELDS[form], len(channels))
    if len(table) < 2:
        raise ModelError(f"terrain {path}: at least two records are needed; there is {len(table)}")
    du = _crg_step(path, road, _ALONG, len(table))
    u = road.get(_ALONG.first, 0.0) + du * np.arange(len(table))
    _check_crg_end(path, road, _ALONG, u)
    offsets = _crg_offsets(path, road, [c for c in channels if c.startswith("long section")])
    columns = {
        name: column
        for name, column in zip(channels, table.T, strict=True)
        if not name.startswith("long section")
    }
    section_columns = [
        column
        for name, column in zip(channels, table.T, strict=True)
        if name.startswith("long section")
    ]
    sections = list(zip(offsets, section_columns, strict=True))
    if len(sections) < 2:
        raise ModelError(
            f"terrain {path}: at least two channels 'long section' are needed; there are "
            f"{len(sections)}"
        )
    heading = columns.get("reference line phi", np.zeros(len(u)))[
        1:
    ]  # of the pieces between points; the first is none
    if not np.all(np.isfinite(heading)):
        raise ModelError(
            f"terrain {path}: its reference line has no heading in record "
            f"{int(np.argmin(np.isfinite(heading))) + 2}"
        )
    sections.sort(key=lambda s: s[0])
    v = np.array([offset for offset, _ in sections])
    h = np.column_stack([column for _, column in sections])
    slope = np.nan_to_num(
        columns.get(
            "reference line slope", np.full(len(u), road.get("REFERENCE_LINE_START_S", 0.0))
        )
    )
    bank = np.nan_to_num(
        columns.get(
            "reference line banking", np.full(len(u), road.get("REFERENCE_LINE_START_B", 0.0))
        )
    )
    h = h + (np.cumsum(slope) - slope[0])[:, None] * du + bank[:, None] * v
    gaps = np.diff(v)
    if not np.all(gaps > 0):
        raise ModelError(
            f"terrain {path}: two long sections lie at v = {v[int(np.argmin(gaps))]:g}"
        )
    return RoadSections(du, u, heading, v, h)


@dataclass(frozen=True)
class _EvenHeader:
    """Keys of a header that announce evenly spaced values, and what has them in the data."""

    first: str
    last: str
    step: str
    name: str
    counted: str


_ALONG = _EvenHeader(
    "REFERENCE_LINE_START_U", "REFERENCE_LINE_END_U", "REFERENCE_LINE_INCREMENT", "u", "records"
)
_ACROSS = _EvenHeader(
    "LONG_SECTION_V_RIGHT",
    "LONG_SECTION_V_LEFT",
    "LONG_SECTION_V_INCREMENT",
    "v",
    "channels 'long section'",
)


def _crg_offsets(path: Path, road: Mapping[str, float], names: list[str]) -> list[float]:
    """v of all long sections: as their names say, else evenly from right to left."""
    offset_matches = [re.search(r"at v\s*=\s*([-+.\deE]+)", name) for name in names]
    if offset_matches and all(offset_matches):
        return [float(offset[1]) for offset in offset_matches if offset]
    width = _crg_step(path, road, _ACROSS, len(names)) * (len(names) - 1)
    v_right, v_left = road.get(_ACROSS.first), road.get(_ACROSS.last)
    if v_right is None:
        v_right = v_left - width if v_left is not None else -width / 2
    even = np.linspace(v_right, v_right + width, len(names))
    if not any(offset_matches):
        _check_crg_end(path, road, _ACROSS, even)
    return [
        float(offset[1]) if offset else float(x)
        for offset, x in zip(offset_matches, even, strict=True)
    ]


def _crg_step(path: Path, road: Mapping[str, float], keys: _EvenHeader, count: int) -> float:
    """The increment that a header gives, or that follows from its ends."""
    step = road.get(keys.step)
    if step is None and count > 1 and {keys.first, keys.last} <= road.keys():
        return (road[keys.last] - road[keys.first]) / (count - 1)
    step = _INCREMENT if step is None else step
    if not (math.isfinite(step) and step > 0):
        raise ModelError(f"terrain {path}: {keys.step} = {step:g} must be positive")
    return step


def _check_crg_end(
    path: Path, road: Mapping[str, float], keys: _EvenHeader, values: np.ndarray
) -> None:
    """Compares the end that a header announces with the data: a file may be cut."""
    first, last = road.get(keys.first, 0.0), road.get(keys.last)
    if not math.isfinite(first):
        raise ModelError(f"terrain {path}: {keys.first} = {first:g} must be a finite number")
    if last is None or not len(values):
        return
    if keys.first in road and not last > first:
        raise ModelError(
            f"terrain {path}: {keys.last} = {last:g} must be larger than {keys.first} = {first:g}"
        )
    step = (values[-1] - values[0]) / max(len(values) - 1, 1)
    if not abs(last - values[-1]) < step / 2:
        raise ModelError(
            f"terrain {path}: the header announces {keys.last} = {last:g}, but the "
            f"{len(values)} {keys.counted} end at {keys.name} = {values[-1]:g} with "
            f"{keys.step} = {step:g}: the file is cut, or its header is wrong"
        )


def road_points(path: Path, road: RoadSections, spacing: tuple[float, float] | None) -> Points:
    """x, y and heights of a road."""
    u, v, h = road.u, road.v, road.h
    if road.is_curved:
        if not np.all(np.isfinite(h)):
            i, j = (int(k) for k in np.argwhere(~np.isfinite(h))[0])
            raise ModelError(
                f"terrain {path}: no height at u = {u[i]:g}, v = {v[j]:g}; gaps are not allowed"
            )
        return heights_on_grid(f"terrain {path}", road.line, v, h, spacing)
    if spacing is not None:
        raise ModelError(
            f"terrain {path}: spacing= is for curved roads; along a straight line the file "
            f"says itself "
            "where its points are"
        )
    gaps = np.diff(v)
    if np.ptp(gaps) > EXACT * gaps.min():  # evenly, by straight lines between
        n = min(int(np.ceil((v[-1] - v[0]) / gaps.min() - EXACT)) + 1, 100 * len(v))
        even_v = np.linspace(v[0], v[-1], n)
        h = np.array([np.interp(even_v, v, row) for row in h])
        v = even_v
    return u, v, h


def _read_crg_points(path: Path, spacing: tuple[float, float] | None = None) -> Points:
    return road_points(path, _read_crg_sections(path), spacing)


def _split_crg_header(path: Path, text: str) -> tuple[dict[str, list[str]], list[str]]:
    """Lines of the sections of a header by name, and lines of data."""
    sections: dict[str, list[str]] = {}
    section: list[str] | None = None
    lines = text.splitlines()
    for i, line in enumerate(lines):
        if line.startswith("$$"):
            return sections, lines[i + 1 :]
        if line.startswith("$"):
            tokens = line[1:].partition("!")[0].split()
            section = sections.setdefault(tokens[0].upper(), []) if tokens else None
        elif section is not None and not line.startswith("*"):
            content = line.partition("!")[0].strip()
            section += [content] if content else []
    raise ModelError(f"terrain {path}: no line '$$$$' after which the data begin")


def _crg_header_values(lines: list[str]) -> dict[str, float]:
    values = {}
    for line in lines:
        key, sign, value = line.partition("=")
        if sign:
            try:
                values[key.strip().upper()] = float(value)
            except ValueError:
                continue  # words
    return values


def _crg_channels(path: Path, lines: list[str]) -> tuple[str, list[str]]:
    form = next((line[2:6].upper() for line in lines if line.startswith("#:")), "")
    if form not in FIELDS:
        raise ModelError(
            f"terrain {path}: data of the form '{form}' are not read; text has one of "
            f"{', '.join(FIELDS)}"
        )
    names = [
        line[2:].rpartition(",")[0].strip().lower() for line in lines if line[:2].upper() == "D:"
    ]
    return form, names


def _read_crg_records(path: Path, lines: list[str], width: int, count: int) -> np.ndarray:
    """Numbers of a fixed width; a record begins a line and may continue over several. Gaps are
    NaN."""
    per_line = 80 // width
    record_lines = -(-count // per_line)
    lines = [line for line in lines if line.strip()]
    if not count or not lines or len(lines) % record_lines:
        raise ModelError(
            f"terrain {path}: {len(lines)} lines of data do not hold records of {count} "
            f"numbers in {record_lines} lines"
        )
    rows = []
    for k in range(0, len(lines), record_lines):
        row: list[float] = []
        for line in lines[k : k + record_lines]:
            cells = [
                line[i : i + width].strip() for i in range(0, min(len(line.rstrip()), 80), width)
            ]
            row += [
                np.nan if cell.startswith("**") else _parse_grid_number(path, 0, cell)
                for cell in cells
            ]
        if len(row) != count:
            raise ModelError(
                f"terrain {path}: record {k // record_lines + 1} has {len(row)} numbers; "
                f"{count} were expected"
            )
        rows.append(row)
    return np.array(rows)


READERS: dict[str, Callable[[Path], Points]] = {
    ".csv": _read_text_table,
    ".txt": _read_text_table,
    ".crg": _read_crg_points,
}
READERS |= {ending: lambda path: _read_array_file(path, None, None) for ending in (".npy", ".npz")}
