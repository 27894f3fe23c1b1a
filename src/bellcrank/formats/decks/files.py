"""Decks and their user functions from files.

The routines stand in DECK.py next to DECK.lsp, or in the file named as `external`: Python functions
with the names of the subroutines and functions that the deck calls, capitals or not. The same
routines in C and Fortran stand in DECK.c and DECK.f90, or next to the Python file that defines the
function. These files are run, so they are trusted code, like a model in Python; the deck is data.
They are looked at only if the deck calls routines.
"""

from __future__ import annotations

import inspect
import runpy
import traceback
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bellcrank.api.system import System
from bellcrank.core.errors import BellcrankError, ModelError, ModelWarning, did_you_mean
from bellcrank.core.files.text_files import read_text
from bellcrank.core.files.user_modules import import_from_folder
from bellcrank.formats.decks.deck import Deck, DeckFunction
from bellcrank.formats.decks.formula_strings import FUNC
from bellcrank.formats.decks.interpreter import interpret_deck
from bellcrank.formats.decks.reader import (
    FormulaStringDatum,
    ListDatum,
    SymbolDatum,
    read_deck,
    walk_data,
)
from bellcrank.formats.decks.routines import procedure_arities

SUFFIXES = (".py", ".c", ".f90")  # of files with user functions


def load_deck(path: str | Path, external: str | Path | None = None) -> System:
    """The System that a deck describes; what a person should know of it is reported as warnings."""
    deck = read_deck_file(path, external)[0]
    for remark in deck.remarks:
        warnings.warn(remark, ModelWarning, stacklevel=2)
    return deck.system()


def read_deck_file(path: str | Path, external: str | Path | None = None) -> tuple[Deck, list[Path]]:
    """A deck, and the Python files that hold its user functions."""
    path = Path(path)
    forms = read_deck(read_text(path, ModelError), path.name)
    file = (
        Path(external)
        if external is not None
        else path.with_suffix(".py")
        if uses_external_routines(forms)
        else None
    )
    routines = {} if file is None else read_routines(file, required=external is not None)
    return interpret_deck(forms, routines, path.name), python_files(routines)


def uses_external_routines(forms: list[ListDatum]) -> bool:
    """Does a deck call subroutines or functions of its own?"""
    data = list(walk_data(forms))
    heads = [d.items[0] for d in data if isinstance(d, ListDatum) and d.items]
    if any(isinstance(head, SymbolDatum) and head.name == "add-subroutine" for head in heads):
        return True
    return any(isinstance(d, FormulaStringDatum) and FUNC.search(d.text.lower()) for d in data)


def read_routines(file: Path, required: bool = True) -> dict[str, DeckFunction]:
    """The routines of a file and its namesakes in other languages, by lower-case name; a `required`
    file must exist."""
    if required and not file.exists():
        candidates = (
            [p.name for p in file.parent.glob("*") if p.suffix in SUFFIXES]
            if file.parent.exists()
            else []
        )
        raise ModelError(f"no file {file}.{did_you_mean(file.name, candidates)}")
    if file.suffix not in SUFFIXES:
        expected = f"a file of Python, C or Fortran ({', '.join(SUFFIXES)})"
        raise ModelError(f"{file.name}: user functions of a deck stand in {expected}")
    functions = _own_functions(file.with_suffix(".py")) if file.with_suffix(".py").exists() else {}
    homes = list(dict.fromkeys([file, *(Path(f.__code__.co_filename) for f in functions.values())]))
    texts = {
        language: _source_by_procedure(homes, suffix, language)
        for language, suffix in (("c", ".c"), ("fortran", ".f90"))
    }
    names = dict.fromkeys(
        [*functions, *(name for routine_texts in texts.values() for name in routine_texts)]
    )
    return {
        n: DeckFunction(functions.get(n), texts["c"].get(n), texts["fortran"].get(n)) for n in names
    }


def _source_by_procedure(homes: list[Path], suffix: str, language: str) -> dict[str, str]:
    """Texts of files by the procedures in them."""
    text_of: dict[str, str] = {}
    for path in dict.fromkeys(home.with_suffix(suffix) for home in homes):
        if path.is_file():
            text = read_text(path)
            text_of |= {
                name: text for name in procedure_arities(text, language) if name not in text_of
            }
    return text_of


def _own_functions(file: Path) -> dict[str, Any]:
    """The functions that files of one folder define, as far as a Python file has them; not others
    that it imports."""
    try:
        with import_from_folder(file):
            namespace = runpy.run_path(str(file))
    except BellcrankError:
        raise
    except Exception as error:
        lines = [
            f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == str(file)
        ]
        location = f"{file}, line {lines[-1]}" if lines else str(file)
        raise ModelError(f"{location}: {type(error).__name__}: {error}") from error
    functions = {
        n: f
        for n, f in namespace.items()
        if inspect.isfunction(f) and _defining_file(f).parent == file.resolve().parent
    }
    return {n.lower(): f for n, f in functions.items() if not n.startswith("_")}


def _defining_file(function: Any) -> Path:
    return Path(function.__code__.co_filename).resolve()


def python_files(routines: Mapping[str, DeckFunction]) -> list[Path]:
    """The Python files that define routines."""
    return list(
        dict.fromkeys(_defining_file(r.python) for r in routines.values() if r.python is not None)
    )
