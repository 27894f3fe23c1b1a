"""Examples that come with Bellcrank: where they are, and which of them a path means that is no file."""

from __future__ import annotations

from pathlib import Path

ENDINGS = (".py", ".toml", ".tir", ".lsp", ".al")  # in the order in which a name without ending means one
PREFIX = "examples"


def example_folder() -> Path:
    """The folder of the examples: installed next to this module, or that of the checkout."""
    installed = Path(__file__).with_name(PREFIX)
    return installed if installed.is_dir() else Path(__file__).parents[3] / PREFIX


def example_files() -> list[Path]:
    """All files of the examples, relative to their folder."""
    folder = example_folder()
    found = (p.relative_to(folder) for p in folder.rglob("*") if p.is_file() and "__pycache__" not in p.parts)
    return sorted(found)


def example_path(name: str | Path) -> Path | None:
    """The file of an example: `four_bar`, `four_bar.py`, `tyres/handling.py`, all with or without `examples/` in
    front."""
    asked = Path(name)
    if asked.is_absolute() or ".." in asked.parts or not asked.parts:
        return None
    if asked.parts[0] == PREFIX:
        asked = Path(*asked.parts[1:])
    for ending in ("",) if asked.suffix else ENDINGS:
        place = example_folder() / f"{asked}{ending}"
        if place.is_file():
            return place
    return None


def existing(path: str | Path) -> Path:
    """A path as it is, if it exists; else the example that it means, if there is one."""
    asked = Path(path)
    return asked if asked.exists() else example_path(asked) or asked
