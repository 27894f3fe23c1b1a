"""Formats of export by name: the options of each, and the module that writes it, which is imported
when it is needed.

In:  `DerivedModel`, a format, a path and options. Out: files; the path of the main one, or the
page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bellcrank.core.errors import ModelError, did_you_mean
from bellcrank.mechanics.derive.derived import DerivedModel


@dataclass(frozen=True)
class ExportFormatSpec:
    """A format: who writes it (given the derivation, name, path and options), and the names of its
    options."""

    write: Callable[..., Any]
    options: tuple[str, ...] = ()
    shown: bool = False  # without a path it is returned, for a notebook


def _export_program(derived: DerivedModel, name: str, path: str | Path, **options: Any) -> Path:
    from bellcrank.export.programs import write_program

    return write_program(derived, name, path, **options)


def _export_fmu(derived: DerivedModel, _: str, path: str | Path, **options: Any) -> Path:
    from bellcrank.export.fmu.write import write_fmu

    return write_fmu(derived, path, **options)


def _export_page(derived: DerivedModel, _: str, path: str | Path | None, **options: Any) -> Any:
    from bellcrank.export.page.page import live_page

    page = live_page(derived, **options)
    return page if path is None else page.save(path)


FORMATS: dict[str, ExportFormatSpec] = {
    "c": ExportFormatSpec(_export_program, ("events", "stop", "dae")),
    "fortran": ExportFormatSpec(_export_program, ("events", "stop", "dae")),
    "python": ExportFormatSpec(_export_program),
    "embedded": ExportFormatSpec(_export_program, ("events", "stop", "precision")),
    "simulink": ExportFormatSpec(_export_program, ("events", "stop")),
    "fmu": ExportFormatSpec(
        _export_fmu,
        ("fmi", "platforms", "dae", "description", "author", "version", "license", "copyright"),
    ),
    "page": ExportFormatSpec(
        _export_page, ("sliders", "plots", "title", "run", "modes", "drag"), shown=True
    ),
}


def export_model(
    derived: DerivedModel, name: str, path: str | Path | None, options: Mapping[str, Any]
) -> Any:
    """Writes a model in a format. An option that is None counts as not given."""
    options_given = {option: value for option, value in options.items() if value is not None}
    format_found = find_format(name, options_given, derived.name)
    if path is None and not format_found.shown:
        raise ModelError(f"export: the format '{name}' needs a path", derived.name)
    return format_found.write(derived, name, path, **options_given)


def find_format(
    name: str, options: Iterable[str] = (), model: str | None = None
) -> ExportFormatSpec:
    """The format of a name, if these are options of it."""
    format_found = FORMATS.get(name)
    if format_found is None:
        suggestion = did_you_mean(str(name), FORMATS)
        raise ModelError(
            f"export: format {name!r} is not known; it is one of "
            f"{_quoted_list(FORMATS)}.{suggestion}",
            model,
        )
    for option in options:
        if option not in format_found.options:
            options_text = (
                f"its options are {_quoted_list(format_found.options)}"
                if format_found.options
                else "it has no options"
            )
            other_formats = [x for x, f in FORMATS.items() if option in f.options]
            hint = (
                f". The option belongs to {_quoted_list(other_formats)}"
                if other_formats
                else did_you_mean(option, format_found.options)
            )
            raise ModelError(
                f"export: '{option}' is not an option of the format '{name}'; {options_text}{hint}",
                model,
            )
    return format_found


def _quoted_list(names: Iterable[str]) -> str:
    return ", ".join(f"'{x}'" for x in names)
