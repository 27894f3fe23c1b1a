"""ERD files: a header of text with the names and units of all channels, then the data.

Layout of UMTRI's Engineering Research Division, as Sayers (1990), Appendix B, writes it: a line of
sizes, then lines that begin with a keyword of eight characters. SHORTNAM and UNITSNAM hold fields
of 8 characters, LONGNAME, GENNAME and RIGIBODY of 32.

- Text (default): the samples follow the header, one to a line, with 17 digits. The first channel is
  time.
- Binary: the samples are in FILE.bin, 64 bit, one after another.
- Classic: the header of 1990; the samples are in FILE.BIN, 32 bit, as records of Fortran; time is
  left to the step.

Names and units longer than their fields stand in full in lines that begin with CHANNEL, which other
readers pass over.

A line DIGEST has the SHA-256 of the samples in the other file. Header and samples take their places
one after the other; a process that is killed in between leaves the new samples under their hidden
name, where the digest finds them.
"""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np

from bellcrank.core.errors import RunError, issue_warning
from bellcrank.core.files.atomic import (
    AtomicWrite,
    finish_interrupted_write,
    interrupted_writes,
)
from bellcrank.core.files.file_format import FileFormat
from bellcrank.core.files.record import (
    FileChannel,
    FileContents,
    Record,
    report_io_errors,
    short_names,
    time_factor,
)
from bellcrank.core.files.text_files import read_text, to_one_line
from bellcrank.core.numeric.tuning import PLANS

MAGIC = "ERDFILEV2.00"
FLOAT_32, FLOAT_64, TEXT = 1, 2, 5
BESIDE = {FLOAT_64: ".bin", FLOAT_32: ".BIN"}  # ending of the file of samples
FIELDS = {"SHORTNAM": 8, "LONGNAME": 32, "UNITSNAM": 8, "GENNAME": 32, "RIGIBODY": 32}


def _write_erd(
    partial_files: AtomicWrite,
    path: Path,
    record: Record,
    binary: bool = False,
    classic: bool = False,
) -> None:
    """`binary` puts the samples next to the header with 64 bit, `classic` with 32 bit in the layout
    of 1990."""
    record = _evenly_spaced(record, path) if classic else record
    time = FileChannel("t", record.time, "s", "Time", "Time")
    channels = record.channels if classic else (time, *record.channels)
    data = (
        np.array([c.values for c in channels], dtype=float)
        .reshape(len(channels), len(record.time))
        .T
    )
    kind = FLOAT_32 if classic else FLOAT_64 if binary else TEXT
    samples = _binary_samples(data, kind)
    header = "\n".join(_header_lines(record, channels, kind, _samples_digest(samples))) + "\n"
    _finish_interrupted_write(path)
    with partial_files.path_for(path).open("w", encoding="utf-8", newline="\n") as stream:
        stream.write(header)
        if kind == TEXT:
            for row in data.tolist():
                stream.write(" ".join(map(repr, row)) + "\n")
    if kind != TEXT:
        partial_files.path_for(_samples_path(path, kind)).write_bytes(samples)
    for other in BESIDE.keys() - {kind}:  # of an earlier file of this name
        partial_files.remove(_samples_path(path, other))


def _binary_samples(data: np.ndarray, kind: int) -> bytes:
    """What the other file holds; nothing where the samples are text."""
    if kind == FLOAT_32:
        return _fortran_records(data).tobytes()
    return data.astype("<f8").tobytes() if kind == FLOAT_64 else b""


def _samples_path(path: Path, kind: int) -> Path:
    return path.with_name(path.name + BESIDE[kind])


def _samples_digest(samples: bytes) -> str:
    return hashlib.sha256(samples).hexdigest()


def _header_lines(
    record: Record, channels: Sequence[FileChannel], kind: int, digest: str
) -> Iterator[str]:
    n, samples = len(channels), len(record.time)
    step = float(record.time[1] - record.time[0]) if samples > 1 else 0.0
    yield MAGIC
    if kind == FLOAT_32:
        yield f"{n:6},{samples:6},{samples:6},{4 * n:6},{FLOAT_32:6},{format_g13(step)}"
    elif kind == FLOAT_64:
        yield f"{n:6},{samples:6},{samples:6},{8 * n:6},{FLOAT_64:6},{step!r}"
    else:
        yield f"{n:6},{samples:6},{-1:6},{1:6},{TEXT:6},{step!r}"
    yield f"TITLE {to_one_line(record.title)}"
    texts = (
        ("SHORTNAM", short_names(c.name for c in channels)),
        ("LONGNAME", [c.label or c.name for c in channels]),
        ("UNITSNAM", [c.unit for c in channels]),
        ("GENNAME ", [c.generic_name for c in channels]),
        ("RIGIBODY", [c.body for c in channels]),
    )
    for keyword, fields in texts:
        yield keyword + "".join(
            f"{to_one_line(text):{w}.{w}}" for w in (FIELDS[keyword.strip()],) for text in fields
        )
    yield "XLABEL Time"
    yield "XUNITS sec"
    if kind != FLOAT_32:
        for c in channels:
            yield "CHANNEL " + quote_fields((c.name, c.unit, c.label, c.generic_name, c.body))
    for sentence in record.history:
        yield f"HISTORY {to_one_line(sentence)}"
    if kind != TEXT:
        yield f"DIGEST  {digest}"
    yield "END"


def quote_fields(fields: Sequence[str]) -> str:
    """Fields in quotation marks, each of one line."""
    return " ".join('"' + to_one_line(f).replace('"', '""') + '"' for f in fields)


def _evenly_spaced(record: Record, path: Path) -> Record:
    """Evenly spaced samples, as the classic layout has them; a last sample off the raster is
    omitted."""
    t = record.time
    if len(t) > 2:
        steps = np.diff(t)
        uneven = np.abs(steps - steps[0]) > PLANS.raster * steps[0]
        if uneven[:-1].any():
            raise RunError(
                f"cannot write {path}: a classic ERD file holds evenly spaced samples, this "
                f"run has others"
            )
        if uneven[-1]:
            channels = tuple(replace(c, values=c.values[:-1]) for c in record.channels)
            return replace(record, time=t[:-1], channels=channels)
    return record


def _fortran_records(data: np.ndarray) -> np.ndarray:
    """Rows as unformatted sequential records of Fortran: the length in bytes before and after
    each."""
    rows, n = data.shape
    kind = np.dtype([("before", "<i4"), ("row", "<f4", (n,)), ("after", "<i4")])
    records = np.empty(rows, kind)
    records["before"] = records["after"] = 4 * n
    with np.errstate(over="ignore"):
        records["row"] = data
    return records


def format_g13(x: float, width: int = 13, digits: int = 6) -> str:
    """A number as Fortran's G13.6 prints it."""
    if x == 0 or 0.1 <= abs(float(f"{x:.{digits - 1}e}")) < 10**digits:
        leading_digits = (
            1 if x == 0 else max(int(f"{abs(x):.{digits - 1}e}".partition("e")[2]) + 1, 0)
        )
        text = f"{x:.{max(digits - leading_digits, 0)}f}"
        text = text if "." in text else text + "."
        return f"{text:>{width - 4}}    "
    mantissa, _, exponent = f"{x / 10:.{digits - 1}e}".partition("e")
    sign, number = ("-", mantissa[1:]) if mantissa.startswith("-") else ("", mantissa)
    text_scaled = f"{sign}0.{number.replace('.', '')}E{int(exponent) + 2:+03d}"
    return f"{text_scaled:>{width}}"


# ---- reading


def _read_erd(path: Path) -> FileContents:
    """Text, 64 bit or 32 bit, with the data in the same file or next to it."""
    lines = read_text(path).split("\n")
    if not lines or lines[0].strip() != MAGIC:
        raise RunError(f"{path}, line 1: an ERD file begins with {MAGIC}")
    n, samples, kind, step = _read_sizes(lines[1] if len(lines) > 1 else "", path)
    end = next((i for i, line in enumerate(lines) if i > 1 and line.strip() == "END"), None)
    if end is None:
        raise RunError(f"{path}: the header of an ERD file ends with a line END, which is missing")
    head = _keywords(lines[2:end])
    if kind == TEXT:
        data = _read_text_data(lines[end + 1 :], end + 2, n, samples, path)
    else:
        data = _read_binary_data(path, n, samples, kind, _digest_in(head))
    channels = _read_channels(head, n, data, path)
    title = " ".join(head.get("TITLE", [""])[0].split())
    history = tuple(" ".join(h.split()) for h in head.get("HISTORY", []))
    if channels and channels[0].name == "t" and channels[0].generic_name == "Time":
        return FileContents(title, channels, history)
    unit = head.get("XUNITS", ["s"])[0].strip()
    if not time_factor(unit):
        issue_warning(
            f"{path}: its samples are over a coordinate in {unit}, not over time; the "
            f"result gives it as time"
        )
    time = FileChannel("t", step * np.arange(samples), unit if time_factor(unit) else "s")
    return FileContents(title, (time, *channels), history)


def _read_sizes(line: str, path: Path) -> tuple[int, int, int, float]:
    fields = [f.strip() for f in line.split(",")]
    try:
        n, samples, _, _, kind = (int(f) for f in fields[:5])
        step = float(fields[5])
    except (ValueError, IndexError):
        raise RunError(
            f"{path}, line 2: expected channels, samples, records, bytes, kind of data and "
            f"step, found {line.strip()!r}"
        ) from None
    if n < 1 or samples < 0 or n * samples > 2**40 or not np.isfinite(step):
        raise RunError(f"{path}, line 2: {n} channels of {samples} samples cannot be read")
    if kind not in (FLOAT_32, FLOAT_64, TEXT):
        known_kinds = "1 (32 bit), 2 (64 bit) or 5 (text)"
        raise RunError(f"{path}, line 2: the kind of data is {kind}; known are {known_kinds}")
    return n, samples, kind, step


def _keywords(lines: Sequence[str]) -> dict[str, list[str]]:
    """What follows each keyword, in order; a line that begins with & continues with the one
    before."""
    values: dict[str, list[str]] = {}
    last = ""
    for line in lines:
        if line.startswith("&") and last:
            values[last][-1] += line[8:]
            continue
        word = line[:8].split()[0].upper() if line[:8].strip() else ""
        if not word:
            continue
        last = word
        values.setdefault(word, []).append(line[8:] if word in FIELDS else line[len(word) :])
    return values


def _read_channels(
    head: dict[str, list[str]], n: int, data: np.ndarray, path: Path
) -> tuple[FileChannel, ...]:
    if len(head.get("CHANNEL", ())) == n:
        result = []
        for i, line in enumerate(head["CHANNEL"]):
            try:
                fields = next(csv.reader(io.StringIO(line.strip()), delimiter=" "))
            except (csv.Error, StopIteration):
                fields = []
            if len(fields) != 5:
                raise RunError(
                    f"{path}: the line CHANNEL of channel {i + 1} must hold five texts in "
                    f"quotation marks"
                )
            name, *words = fields
            result.append(FileChannel(name, data[:, i], *words))
        return tuple(result)
    texts = []
    for keyword, width in FIELDS.items():
        line = head.get(keyword, [""])[0]
        texts.append([line[i * width : (i + 1) * width].strip() for i in range(n)])
    short, labels, units, generics, bodies = texts
    names = [name or f"channel {i + 1}" for i, name in enumerate(short)]
    if len({x.lower() for x in names}) < n:
        raise RunError(f"{path}: two channels of this file have the same name")
    return tuple(map(FileChannel, names, data.T, units, labels, generics, bodies))


def _read_text_data(
    lines: Sequence[str], first: int, n: int, samples: int, path: Path
) -> np.ndarray:
    rows = []
    for number, line in enumerate(lines, first):
        if not line.strip():
            continue
        try:
            row = [float(x) for x in line.replace(",", " ").split()]
        except ValueError:
            raise RunError(
                f"{path}, line {number}: {line.strip()[:60]!r} holds something that is not a number"
            ) from None
        if len(row) != n:
            raise RunError(f"{path}, line {number}: {n} numbers are expected, {len(row)} found")
        rows.append(row)
    if len(rows) != samples:
        raise RunError(f"{path}: {samples} samples are announced, {len(rows)} found")
    return np.array(rows, dtype=float).reshape(samples, n)


def _read_binary_data(path: Path, n: int, samples: int, kind: int, digest: str) -> np.ndarray:
    data_path, raw = _find_samples(path, kind, digest)
    size = 4 if kind == FLOAT_32 else 8
    if len(raw) == samples * (n * size + 8):  # records of Fortran
        fields = np.dtype([("before", "<i4"), ("row", f"<f{size}", (n,)), ("after", "<i4")])
        return np.frombuffer(raw, fields)["row"].astype(float).reshape(samples, n)
    if len(raw) != samples * n * size:
        raise RunError(
            f"{data_path}: {samples} samples of {n} channels with {8 * size} bit do not "
            f"have {len(raw)} bytes"
        )
    return np.frombuffer(raw, f"<f{size}").astype(float).reshape(samples, n)


def _find_samples(path: Path, kind: int, digest: str) -> tuple[Path, bytes]:
    """The file of samples that belongs to a header, and what it holds."""
    sample_paths = [_samples_path(path, k) for k in (kind, FLOAT_64 + FLOAT_32 - kind)]
    present_paths = [p for p in sample_paths if p.is_file()]
    candidates = (
        [*present_paths, *interrupted_writes(sample_paths[0])] if digest else present_paths[:1]
    )
    for data_path in candidates:
        raw = report_io_errors("read", data_path, data_path.read_bytes)
        if not digest or _samples_digest(raw) == digest:
            return data_path, raw
    if present_paths:
        raise RunError(
            f"cannot read {path}: the samples in {present_paths[0].name} are not those that its "
            f"header was written with (line DIGEST); one of the two files was replaced since. "
            f"Write the result again, or remove the line DIGEST if you changed the samples"
        )
    raise RunError(
        f"cannot read {path}: its data should be next to it in {sample_paths[0].name} or "
        f"{sample_paths[1].name}"
    )


def _digest_in(head: dict[str, list[str]]) -> str:
    """The digest of the samples that a header names; none in those of other programs."""
    return head.get("DIGEST", [""])[0].strip()


def _finish_interrupted_write(path: Path) -> None:
    """Moves samples to their place that a process left hidden when it was killed: the header stands
    and needs them."""
    for kind in BESIDE:
        samples_path = _samples_path(path, kind)
        for part in interrupted_writes(samples_path):
            with suppress(OSError):
                if _samples_digest(part.read_bytes()) == _announced_digest(path):
                    finish_interrupted_write(part, samples_path)


def _announced_digest(path: Path) -> str:
    """The digest of samples in the header that stands at a place, if one does."""
    try:
        lines = read_text(path).split("\n")
    except RunError:
        return ""
    return _digest_in(_keywords([line for line in lines if line.startswith("DIGEST")]))


FORMAT = FileFormat("ERD", ".erd", _write_erd, _read_erd, options=("binary", "classic"))
