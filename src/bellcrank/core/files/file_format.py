"""What a kind of file is to everyone who writes, reads or lists files.

A new kind is a module that ends with its `FileFormat`, and its place in the list of `choose`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bellcrank.core.files.atomic import AtomicWrite
from bellcrank.core.files.record import FileContents, Table


@dataclass(frozen=True)
class FileFormat:
    """One kind of file, known by its `ending`.

    Writers take the `AtomicWrite` of a result and its path, readers a path; both may fail with
    OSError, reported by
    `choose`.
    """

    name: str
    ending: str
    write: Callable[..., None]
    read: Callable[[Path], FileContents]
    options: tuple[str, ...] = ()
    """Options of `write` that choose another layout."""
    write_table: Callable[[AtomicWrite, Path, Table], None] | None = None
    """Writes the rows of a study, where the format can hold text as well as numbers."""
    package: str = ""
    """A package that is not always installed ..."""
    extra: str = "files"
    """... and the extra of ours that has it."""
    read_groups: Callable[[Path], list[FileContents]] | None = None
    """Reads all groups of channels, where a file may have several, each over its own times."""
