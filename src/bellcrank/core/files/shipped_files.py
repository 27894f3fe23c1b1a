"""Files that come with Bellcrank: examples, vehicles and hard points; where they are, and what a
name means that is no file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from bellcrank.core.errors import ModelError, did_you_mean
from bellcrank.core.files.file_names import file_exists
from bellcrank.core.files.text_files import read_toml

ENDINGS = (
    ".py",
    ".toml",
    ".tir",
    ".lsp",
    ".al",
)  # in the order in which a name without ending means one
PREFIX = "examples"
OTHERS = {  # packages with a folder `data`
    "car": "bellcrank.vehicles.cars",
    "motorcycle": "bellcrank.vehicles.motorcycles",
}
VEHICLES = tuple(OTHERS.values())


@dataclass(frozen=True)
class ShippedCollection:
    """TOML files of one kind that come with Bellcrank, each known by its name; `package` holds
    their folder.

    `other_kind`: a section that files of another kind have, and what is said of such a file;
    `own_keys`: keys of which only files of this kind have one, whatever else they have.
    """

    kind: str
    package: str
    folder: str = "data"
    other_kind: tuple[str, str] = ("", "")
    own_keys: tuple[str, ...] = ()

    def is_foreign(self, content: Mapping[str, Any]) -> bool:
        """Is this the content of a file of the other kind?"""
        return self.other_kind[0] in content and not any(key in content for key in self.own_keys)

    @property
    def path(self) -> Path:
        return Path(str(files(self.package) / self.folder))

    def names(self) -> list[str]:
        return sorted(p.stem for p in self.path.glob("*.toml"))

    def suggestion(self, name: str) -> str:
        """The end of a message about a name that is not known, or not here."""
        other_kind = next((kind for kind, p in OTHERS.items() if name in vehicle_files(p)), "")
        if other_kind and other_kind != self.kind:
            return f" '{name}' is a {other_kind}. There are {', '.join(self.names())}."
        return f"{did_you_mean(name, self.names())} There are {', '.join(self.names())}."

    def file(self, name: str, message_start: str = "") -> Path:
        """The file of a name; `message_start` is the begin of a message."""
        if name not in self.names():
            raise ModelError(
                f"{message_start}no {self.kind} '{name}' comes with "
                f"Bellcrank.{self.suggestion(name)}"
            )
        return self.path / f"{name}.toml"

    def read(self, path: str | Path) -> tuple[dict[str, Any], Path]:
        """The content of a file, or of the one that a name means, and where it is."""
        file_path = Path(path)
        if not file_path.is_file() and not file_path.suffix:
            if str(path) in self.names():
                file_path = self.file(str(path))
            elif not file_path.exists():
                raise ModelError(
                    f"no file or {self.kind} is called '{path}'.{self.suggestion(str(path))}"
                )
        content = read_toml(file_path)
        if "folder" in content:
            raise ModelError(f"{path}: 'folder' is not known; paths start where the file is")
        key, words = self.other_kind
        if self.is_foreign(content):
            raise ModelError(
                f"{path} is no file of a {self.kind}: its section [{key}] is that of {words}"
            )
        return content, file_path


def example_folder() -> Path:
    """The folder of the examples: installed next to this module, or that of the checkout."""
    installed = Path(__file__).with_name(PREFIX)
    return installed if installed.is_dir() else Path(__file__).parents[4] / PREFIX


def example_files() -> list[Path]:
    """All files of the examples, relative to their folder."""
    folder = example_folder()
    relative_paths = (
        p.relative_to(folder)
        for p in folder.rglob("*")
        if p.is_file() and "__pycache__" not in p.parts
    )
    return sorted(relative_paths)


def example_path(name: str | Path) -> Path | None:
    """The file of an example: `four_bar`, `four_bar.py`, `tyres/handling.py`, all with or without
    `examples/` in front."""
    requested = Path(name)
    if requested.is_absolute() or ".." in requested.parts or not requested.parts:
        return None
    if requested.parts[0] == PREFIX:
        requested = Path(*requested.parts[1:])
    for ending in ("",) if requested.suffix else ENDINGS:
        candidate = example_folder() / f"{requested}{ending}"
        if file_exists(candidate):
            return candidate
    return None


def resolve_example(path: str | Path) -> Path:
    """A path as it is, if it exists; else the example that it means, if there is one."""
    requested = Path(path)
    return requested if os.path.exists(requested) else example_path(requested) or requested


def vehicle_files(*packages: str) -> dict[str, Path]:
    """The files of cars and motorcycles, or of one kind of them, by name."""
    folders = [Path(str(files(package) / "data")) for package in packages or VEHICLES]
    return {p.stem: p for folder in folders for p in sorted(folder.glob("*.toml"))}


def resolve_model_path(path: str | Path) -> Path:
    """A path as it is, if it exists; else the file of the example, car or motorcycle that it means,
    if there is one."""
    requested = Path(path)
    if os.path.exists(requested):  # also of names that no file can have
        return requested
    name = requested.name.removesuffix(".toml") if requested == Path(requested.name) else ""
    candidates = [p for p in (example_path(requested), vehicle_files().get(name)) if p is not None]
    if len(candidates) > 1:
        endings = " or ".join(f"{requested}{p.suffix}" for p in candidates)
        raise ModelError(
            f"'{path}' is both an example and a vehicle that come with Bellcrank: give {endings}"
        )
    return candidates[0] if candidates else requested
