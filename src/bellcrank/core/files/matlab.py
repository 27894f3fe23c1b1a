"""MATLAB files (version 5): a column for every channel under a name that MATLAB takes, and a
structure `about` with the name, unit and words of each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from bellcrank.core.errors import RunError
from bellcrank.core.files.atomic import AtomicWrite
from bellcrank.core.files.file_format import FileFormat
from bellcrank.core.files.mat5 import read_mat5
from bellcrank.core.files.record import TEXT_KEYS, FileChannel, FileContents, Record, channel_texts

LONGEST = 63  # letters of a name
OWN = ("t", "about", "title", "history")
KEYWORDS = frozenset(
    (
        "break",
        "case",
        "catch",
        "classdef",
        "continue",
        "else",
        "elseif",
        "end",
        "for",
        "function",
        "global",
        "if",
        "otherwise",
        "parfor",
        "persistent",
        "return",
        "spmd",
        "switch",
        "try",
        "while",
    )
)


def _write_matlab(partial_files: AtomicWrite, path: Path, record: Record) -> None:
    from scipy.io import savemat

    names = valid_names(c.name for c in record.channels)
    variables: dict[str, Any] = {"t": record.time}
    about = {}
    for name, c in zip(names, record.channels, strict=True):
        variables[name] = c.values
        about[name] = {"name": c.name, **channel_texts(c)}
    variables |= {"about": about, "title": record.title, "history": "\n".join(record.history)}
    with partial_files.path_for(path).open("wb") as stream:
        savemat(stream, variables, long_field_names=True, oned_as="column")


def valid_names(names: Iterable[str]) -> list[str]:
    """Names of MATLAB: letters, digits and underscores, a letter first; none is met twice, none is
    ours or a keyword.

    q(b, 2) becomes q_b_2.
    """
    used_names, valid = {*OWN, *KEYWORDS}, []
    for name in names:
        base = re.sub(r"[^A-Za-z0-9_]+", "_", name).strip("_")
        base = base if base[:1].isalpha() else f"x_{base}".rstrip("_")
        candidate, number = base[:LONGEST], 2
        while candidate in used_names:
            ending = f"_{number}"
            candidate, number = base[: LONGEST - len(ending)] + ending, number + 1
        used_names.add(candidate)
        valid.append(candidate)
    return valid


def _read_matlab(path: Path) -> FileContents:
    """Vectors as long as the variable t, or time in a file of another program."""
    data = path.read_bytes()
    if data[124:126] in (b"\x00\x02", b"\x02\x00"):
        raise RunError(f"cannot read {path}: it is of version 7.3; in MATLAB, save it with '-v7'")
    try:
        variables = read_mat5(data)
    except ValueError as error:
        raise RunError(f"cannot read {path}: it is no MATLAB file ({error})") from None
    clock = (
        "t"
        if "t" in variables
        else next((name for name in variables if name.casefold() == "time"), "t")
    )
    time = variables.get(clock)
    if time is None or not _is_vector(time):
        raise RunError(f"{path} holds no vector t or time")
    about = variables.get("about")
    channels: list[FileChannel] = []
    for name, values in [("t", time), *variables.items()]:
        if not channels or (
            name not in (*OWN, clock) and _is_vector(values) and values.size == time.size
        ):
            words = about.get(name) if isinstance(about, Mapping) else None
            words = words if isinstance(words, Mapping) else {}
            texts = (_text_or_empty(words.get(k)) for k in TEXT_KEYS)
            channels.append(
                FileChannel(_text_or_empty(words.get("name")) or name, values.ravel(), *texts)
            )
    history = tuple(h for h in _text_or_empty(variables.get("history")).split("\n") if h)
    return FileContents(
        _text_or_empty(variables.get("title")) or path.stem, tuple(channels), history
    )


def _is_vector(x: Any) -> bool:
    return isinstance(x, np.ndarray) and x.size in x.shape


def _text_or_empty(x: Any) -> str:
    return x if isinstance(x, str) else ""


FORMAT = FileFormat("MATLAB", ".mat", _write_matlab, _read_matlab)
