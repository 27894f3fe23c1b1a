"""Files of the command line: inputs from CSV, folders for results."""

from __future__ import annotations

import csv
import os
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import bellcrank as bc
from bellcrank.files.text import read_text
from bellcrank.interface.interface import key_of


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


def read_inputs(path: str, equations: bc.Equations) -> dict[str, Any]:
    """Inputs from a CSV file: the first column is time in s, the others are named inputs in user units.

    A second line with units, as in the CSV files of runs, must agree with the model.
    """
    text = read_text(path)
    first = text.partition("\n")[0]
    delimiter = max(",;\t", key=first.count)
    try:
        rows = [row for row in csv.reader(text.splitlines(), delimiter=delimiter) if any(cell.strip() for cell in row)]
    except csv.Error as error:
        raise bc.RunError(f"cannot read {path}: {error}") from None
    if len(rows) < 2:
        raise bc.RunError(f"{path}: a line of names and lines of numbers are needed")
    names = [cell.strip() for cell in rows[0]]
    units, start = ([cell.strip() for cell in rows[1]], 2) if _words(rows[1]) else (None, 1)
    known = {x.key: x for x in equations.interface.signals}
    used = {i: known[key_of(name)] for i, name in enumerate(names) if i > 0 and key_of(name) in known}
    if not used:
        wanted = ", ".join(x.name for x in known.values()) or "none"
        raise bc.RunError(f"{path}: no column is an input of the model. Columns: {', '.join(names)}; inputs: {wanted}.")
    for i in sorted(set(range(1, len(names))) - set(used)):
        warnings.warn(f"{path}: column '{names[i]}' is no input of the model", bc.ModelWarning, stacklevel=2)
    for i in used if units else []:
        expected = used[i].unit.text
        if i < len(units or []) and units and units[i] not in (expected, ""):
            raise bc.RunError(f"{path}: '{names[i]}' is in {units[i]}, but the model takes it in {expected}")
    columns: dict[int, list[float]] = {i: [] for i in (0, *used)}
    for line, row in enumerate(rows[start:], start + 1):
        for i, column in columns.items():
            column.append(_cell(row, i, path, line, names[i]))
    return {x.name: (columns[0], columns[i]) for i, x in used.items()}


def _words(row: Sequence[str]) -> bool:
    """Is this a line of units?"""
    try:
        float(row[0])
    except ValueError:
        return True
    return False


def _cell(row: Sequence[str], i: int, path: str, line: int, name: str) -> float:
    text = row[i].strip() if i < len(row) else ""
    try:
        return float(text)
    except ValueError:
        raise bc.RunError(f"{path}, line {line}, column '{name}': {text!r} is not a number") from None


def is_script(path: str) -> bool:
    return Path(path).suffix.lower() == ".al"
