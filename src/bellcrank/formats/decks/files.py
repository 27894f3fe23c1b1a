"""Decks and their external routines from files.

The routines stand in DECK.py beside DECK.lsp, or in the file named as `external`: Python functions with the names of the subroutines
and functions that the deck calls, capitals or not. That file is run, so it is trusted code, like a model in Python; the deck is data.
It is looked at only if the deck calls routines.
"""

from __future__ import annotations

import inspect
import runpy
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bellcrank.api.loading import loader
from bellcrank.api.system import System
from bellcrank.errors import BellcrankError, ModelError, ModelWarning, did_you_mean
from bellcrank.formats.decks.deck import Deck, Routines
from bellcrank.formats.decks.fstring import FUNC
from bellcrank.formats.decks.interpret import interpret
from bellcrank.formats.decks.reader import FString, List, Symbol, read_deck


@loader(".lsp", "an AUTOSIM deck")
def load_deck(path: str | Path, external: str | Path | None = None) -> System:
    """The System that a deck describes; what a person should know of it is told as warnings."""
    deck = read_deck_file(path, external)[0]
    for remark in deck.remarks:
        warnings.warn(remark, ModelWarning, stacklevel=2)
    return deck.system()


def read_deck_file(path: str | Path, external: str | Path | None = None) -> tuple[Deck, Path | None]:
    """A deck, and the file of its external routines if it needs one."""
    path = Path(path)
    try:
        text = path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise ModelError(f"{path.name}: this is no text: byte {error.start + 1} is not UTF-8") from None
    except OSError as error:
        raise ModelError(f"cannot read {path}: {error.strerror or error}") from None
    forms = read_deck(text, path.name)
    beside = path.with_suffix(".py")
    file = Path(external) if external is not None else beside if wants_routines(forms) and beside.exists() else None
    routines = {} if file is None else read_routines(file)
    return interpret(forms, routines, path.name), file


def wants_routines(forms: list[List]) -> bool:
    """Does a deck call subroutines or functions of its own?"""
    for datum in _everything(forms):
        if isinstance(datum, FString) and FUNC.search(datum.text.lower()):
            return True
        head = datum.items[0] if isinstance(datum, List) and datum.items else None
        if isinstance(head, Symbol) and head.name == "add-subroutine":
            return True
    return False


def _everything(forms: list[List]) -> Iterator[Any]:
    stack: list[Any] = list(forms)
    while stack:
        datum = stack.pop()
        yield datum
        stack.extend(getattr(datum, "items", ()) or getattr(datum, "rows", ()))


def read_routines(file: Path) -> Routines:
    """The functions that a Python file defines, by lower-case name; not those that it imports, which a deck may not call."""
    if not file.exists():
        near = [p.name for p in file.parent.glob("*.py")] if file.parent.exists() else []
        raise ModelError(f"no file {file}.{did_you_mean(file.name, near)}")
    if file.suffix != ".py":
        raise ModelError(f"{file.name}: external routines of a deck stand in a Python file (.py)")
    try:
        found = runpy.run_path(str(file))
    except BellcrankError:
        raise
    except Exception as error:
        lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == str(file)]
        place = f"{file}, line {lines[-1]}" if lines else str(file)
        raise ModelError(f"{place}: {type(error).__name__}: {error}") from error
    own = {n: f for n, f in found.items() if inspect.isfunction(f) and f.__code__.co_filename == str(file)}
    return {n.lower(): f for n, f in own.items() if not n.startswith("_")}
