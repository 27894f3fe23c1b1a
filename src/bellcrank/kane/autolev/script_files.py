"""Files a script may touch: only those its commands name, below the working directory, with endings
of the dialect.

Writes are collected and carried out together when the whole script has been read without a fault;
an interactive session writes at once. All are written next to their places and then moved there, so
none is ever half-written.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from bellcrank.core.errors import ModelError
from bellcrank.core.files.atomic import write_texts
from bellcrank.core.files.text_files import reject_pipe

NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)*", re.ASCII)
LARGEST = 10_000_000  # bytes of a file that is read


class ScriptFiles:
    """The working directory as a script sees it."""

    def __init__(self, folder: str | Path = ".", at_once: bool = True) -> None:
        self.folder = Path(folder).resolve()
        self.at_once = at_once
        self.waiting: dict[Path, str] = {}

    def checked_path(self, text: str, suffix: str) -> Path:
        """The path a command names, with the ending that belongs to the command."""
        name = text.strip().strip("'\"")
        if name.lower().endswith(suffix.lower()):
            name = name[: -len(suffix)]
        if not NAME.fullmatch(name) or ".." in name or len(name) > 100:
            rule = "letters, digits, _, - and . below the working directory are allowed"
            raise ModelError(f"'{text}' is not a file name here: {rule}")
        path = self.folder / f"{name}{suffix}"
        if not path.resolve().is_relative_to(self.folder):
            raise ModelError(f"'{text}' leads out of the working directory")
        return path

    def write(self, path: Path, text: str) -> None:
        if self.at_once:
            _write_files({path: text})
        else:
            self.waiting[path] = text

    def read(self, path: Path) -> str:
        if path in self.waiting:
            return self.waiting[path]
        reject_pipe(path, ModelError)
        try:
            if path.stat().st_size > LARGEST:
                raise ModelError(f"{path.name} is larger than {LARGEST // 10**6} MB")
            return decode_script(path.read_bytes())
        except FileNotFoundError:
            raise ModelError(f"there is no file {path.name} in the working directory") from None
        except OSError as error:
            raise ModelError(f"cannot read {path.name}: {error.strerror or error}") from None

    def write_pending(self) -> list[Path]:
        """Carries out what waits; the paths written."""
        paths = list(self.waiting)
        _write_files(self.waiting)
        self.waiting.clear()
        return paths


def decode_script(data: bytes) -> str:
    """Text of a file as it is written today, or as it was under DOS (code page 437, ended by
    Ctrl-Z)."""
    data = data.partition(b"\x1a")[0]
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp437")


def _write_files(texts: Mapping[Path, str]) -> None:
    path = next(iter(texts), Path())
    try:
        for path in texts:
            path.parent.mkdir(parents=True, exist_ok=True)
        write_texts(texts)
    except OSError as error:
        raise ModelError(f"cannot write {path}: {error.strerror or error}") from None
