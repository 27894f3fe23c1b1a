"""Formats of export by name: the options of each, and the module that writes it, which is imported when it is needed.

In:  `Derived`, a format, a path and options. Out: files; the path of the main one, or the page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bellcrank.derive.derived import Derived
from bellcrank.errors import ModelError, did_you_mean


@dataclass(frozen=True)
class Format:
    """A format: who writes it (given the derivation, name, path and options), and the names of its options."""

    write: Callable[..., Any]
    options: tuple[str, ...] = ()
    shown: bool = False  # without a path it is returned, for a notebook


def _program(derived: Derived, name: str, path: str | Path, **options: Any) -> Path:
    from bellcrank.export.programs import write_program

    return write_program(derived, name, path, **options)


def _fmu(derived: Derived, _: str, path: str | Path, **options: Any) -> Path:
    from bellcrank.export.fmu.write import write_fmu

    return write_fmu(derived, path, **options)


def _page(derived: Derived, _: str, path: str | Path | None, **options: Any) -> Any:
    from bellcrank.export.page.page import live_page

    page = live_page(derived, **options)
    return page if path is None else page.save(path)


FORMATS: dict[str, Format] = {
    "c": Format(_program, ("events", "stop", "dae")),
    "fortran": Format(_program, ("events", "stop", "dae")),
    "python": Format(_program),
    "embedded": Format(_program, ("events", "stop", "precision")),
    "simulink": Format(_program, ("events", "stop")),
    "fmu": Format(_fmu, ("fmi", "platforms", "dae", "description", "author", "version", "license", "copyright")),
    "page": Format(_page, ("sliders", "plots", "title", "run", "modes", "drag"), shown=True),
}


def export(derived: Derived, name: str, path: str | Path | None, options: Mapping[str, Any]) -> Any:
    """Writes a model in a format. An option that is None counts as not given."""
    options_given = {option: value for option, value in options.items() if value is not None}
    format_found = format_of(name, options_given, derived.name)
    if path is None and not format_found.shown:
        raise ModelError(f"export: the format '{name}' needs a path", derived.name)
    return format_found.write(derived, name, path, **options_given)


def format_of(name: str, options: Iterable[str] = (), model: str | None = None) -> Format:
    """The format of a name, if these are options of it."""
    format_found = FORMATS.get(name)
    if format_found is None:
        suggestion = did_you_mean(str(name), FORMATS)
        raise ModelError(f"export: format {name!r} is not known; it is one of {_listed(FORMATS)}.{suggestion}", model)
    for option in options:
        if option not in format_found.options:
            options_text = (
                f"its options are {_listed(format_found.options)}" if format_found.options else "it has no options"
            )
            other_formats = [x for x, f in FORMATS.items() if option in f.options]
            hint = (
                f". The option belongs to {_listed(other_formats)}"
                if other_formats
                else did_you_mean(option, format_found.options)
            )
            raise ModelError(f"export: '{option}' is not an option of the format '{name}'; {options_text}{hint}", model)
    return format_found


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"'{x}'" for x in names)
