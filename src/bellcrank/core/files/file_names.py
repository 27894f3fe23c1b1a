"""Names of files made from any text: characters that file systems or shells do not take as they are
become "_"."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

_OTHER = re.compile(r"[^\w.+-]+")
LONGEST = 120  # characters; file systems allow 255 bytes


def file_exists(path: Path) -> bool:
    """Is there a file of that name? Names that no file can have are those of none."""
    return os.path.isfile(path)  # that of Path raises an error for one that is too long


def file_names(listed: Iterable[str]) -> list[str]:
    """A file name for each text, all different on file systems that ignore case; endings such as
    .csv stay."""
    unique_names: list[str] = []
    used_names: set[str] = set()
    for text in listed:
        stem, dot, ending = _OTHER.sub("_", text).rpartition(".")
        stem = (stem if dot else ending)[:LONGEST].strip("._") or "unnamed"
        end = f".{ending}" if dot else ""
        name, n = f"{stem}{end}", 1
        while name.lower() in used_names:
            n += 1
            name = f"{stem}_{n}{end}"
        used_names.add(name.lower())
        unique_names.append(name)
    return unique_names
