"""Files of the command line: inputs from CSV, folders for results."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bellcrank as bc
from bellcrank.core.files.csv_table import read_csv
from bellcrank.core.files.format_choice import FORMATS, read_contents
from bellcrank.core.files.record import to_time_record
from bellcrank.core.name_lookup import find_name, one_each


def prepare_output_path(path: str) -> str:
    """The path of a result, whose folder is made where it is missing; an error if no file can be
    written there."""
    folder = Path(path).parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise bc.RunError(
            f"cannot write {path}: the folder {folder} cannot be made: {error.strerror or error}"
        ) from None
    if Path(path).is_dir():
        raise bc.RunError(f"cannot write {path}: it is a folder")
    if not Path(path).exists() and not os.access(folder, os.W_OK):
        raise bc.RunError(f"cannot write {path}: the folder {folder} may not be written to")
    return path


def draw_to_file(path: str, draw: Callable[[str], object]) -> None:
    """Draws a picture; an error if files of that kind cannot be drawn."""
    picture_path = prepare_output_path(path)
    try:
        draw(picture_path)
    except ValueError as error:
        raise bc.ModelError(f"cannot draw {path}: {error}") from None


def read_input_files(path: str, equations: bc.Equations) -> dict[str, Any]:
    """Inputs from a file of results or measurements, or from CSV text: time, then inputs by name in
    user units.

    Time is converted to seconds; other units, where the file has them, must agree with the model.
    """
    signals = {x.name: x for x in equations.interface.signals}

    def match_column(name: str) -> str | None:
        return find_name(name, signals, f"{path}: column")

    is_record_file = Path(path).suffix.lower() in FORMATS.keys() - {".csv"}
    contents = (
        read_contents(path)
        if is_record_file
        else read_csv(path, lambda name: match_column(name) is not None)
    )
    record = to_time_record(contents, path)
    signal_of = {
        c.name: signals[name] for c in record.channels if (name := match_column(c.name)) is not None
    }
    one_each(signal_of, {column: x.name for column, x in signal_of.items()}, f"{path}: columns")
    if not signal_of:
        input_names = ", ".join(x.name for x in signals.values()) or "none"
        columns = ", ".join((*(c.name for c in contents.channels), *contents.omitted))
        raise bc.RunError(
            f"{path}: no column is an input of the model. Columns: {columns}; inputs: "
            f"{input_names}."
        )
    for name in (*(c.name for c in record.channels if c.name not in signal_of), *contents.omitted):
        warnings.warn(
            f"{path}: column '{name}' is no input of the model", bc.ModelWarning, stacklevel=2
        )
    for c in record.channels:
        expected = signal_of[c.name].unit.text if c.name in signal_of else ""
        if c.name in signal_of and c.unit not in (expected, ""):
            raise bc.RunError(
                f"{path}: '{c.name}' is in {c.unit}, but the model takes it in {expected}"
            )
    return {
        signal_of[c.name].name: (record.time, c.values)
        for c in record.channels
        if c.name in signal_of
    }


def is_script(path: str) -> bool:
    return Path(path).suffix.lower() == ".al"
