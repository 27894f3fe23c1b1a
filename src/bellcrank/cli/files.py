"""Files of the command line: inputs from CSV, folders for results."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bellcrank as bc
from bellcrank.files.choose import FORMATS, read_contents
from bellcrank.files.csv_table import read_csv
from bellcrank.files.record import over_time
from bellcrank.names import find_name, one_each


def in_folder(path: str) -> str:
    """The path of a result, whose folder is made where it is missing; an error if no file can be written there."""
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


def draw_to(path: str, draw: Callable[[str], object]) -> None:
    """Draws a picture; an error if files of that kind cannot be drawn."""
    place = in_folder(path)
    try:
        draw(place)
    except ValueError as error:
        raise bc.ModelError(f"cannot draw {path}: {error}") from None


def read_inputs(path: str, equations: bc.Equations) -> dict[str, Any]:
    """Inputs from a file of results or measurements, or from CSV text: time, then inputs by name in user units.

    Time is converted to seconds; other units, where the file has them, must agree with the model.
    """
    known = {x.name: x for x in equations.interface.signals}

    def meant(name: str) -> str | None:
        return find_name(name, known, f"{path}: column")

    other = Path(path).suffix.lower() in FORMATS.keys() - {".csv"}
    found = read_contents(path) if other else read_csv(path, lambda name: meant(name) is not None)
    record = over_time(found, path)
    used = {c.name: known[name] for c in record.channels if (name := meant(c.name)) is not None}
    one_each(used, {column: x.name for column, x in used.items()}, f"{path}: columns")
    if not used:
        wanted = ", ".join(x.name for x in known.values()) or "none"
        columns = ", ".join((*(c.name for c in found.channels), *found.omitted))
        raise bc.RunError(f"{path}: no column is an input of the model. Columns: {columns}; inputs: {wanted}.")
    for name in (*(c.name for c in record.channels if c.name not in used), *found.omitted):
        warnings.warn(f"{path}: column '{name}' is no input of the model", bc.ModelWarning, stacklevel=2)
    for c in record.channels:
        expected = used[c.name].unit.text if c.name in used else ""
        if c.name in used and c.unit not in (expected, ""):
            raise bc.RunError(f"{path}: '{c.name}' is in {c.unit}, but the model takes it in {expected}")
    return {used[c.name].name: (record.time, c.values) for c in record.channels if c.name in used}


def is_script(path: str) -> bool:
    return Path(path).suffix.lower() == ".al"
