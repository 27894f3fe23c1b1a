"""What a kind of file is to everyone who writes, reads or lists files.

A new kind is a module that ends with its `Format`, and its place in the list of `choose`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bellcrank.files.record import Contents, Table
from bellcrank.files.whole import Parts


@dataclass(frozen=True)
class Format:
    """One kind of file, known by its `ending`.

    Writers take the `Parts` of a result and its path, readers a path; both may fail with OSError, reported by `choose`.
    """

    name: str
    ending: str
    write: Callable[..., None]
    read: Callable[[Path], Contents]
    layouts: tuple[str, ...] = ()
    """Options of `write` that choose another layout."""
    write_table: Callable[[Parts, Path, Table], None] | None = None
    """Writes the rows of a study, where the format can hold text as well as numbers."""
    needs: str = ""
    """A package that is not always installed ..."""
    extra: str = "files"
    """... and the extra of ours that has it."""
    groups: Callable[[Path], list[Contents]] | None = None
    """Reads all groups of channels, where a file may have several, each over its own times."""
