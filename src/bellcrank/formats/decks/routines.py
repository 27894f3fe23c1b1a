"""add-subroutine, add-variables, and the functions that formulas call with func()."""

from __future__ import annotations

import inspect
import re
from typing import Any

from bellcrank.errors import ModelError, did_you_mean
from bellcrank.formats.decks.deck import Routine
from bellcrank.formats.decks.macros import Arguments
from bellcrank.formats.decks.reader import Symbol
from bellcrank.formats.decks.state import DeckState
from bellcrank.model.scope import RESERVED

PLACES = {"difeqn": "derivatives", **{x: x for x in ("echo", "input", "init", "output", "update")}}
MEMORY = 16
"""Numbers that a routine may keep between steps if it takes a memory but does not say how large."""
COMMENT = {"c": re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL), "fortran": re.compile(r"![^\n]*")}
HEAD = {
    "c": re.compile(r"^(?:double|void)\s+(\w+)\s*\(([^()]*)\)\s*\{", re.MULTILINE),
    "fortran": re.compile(r"^[ \t]*(?:pure[ \t]+)?(?:function|subroutine)[ \t]+(\w+)[ \t]*\(([^()]*)\)", re.M | re.I),
}


def procedures(text: str, language: str) -> dict[str, int]:
    """Procedures in a text of "c" or "fortran" (where capitals do not matter), and the numbers of their arguments."""
    found = HEAD[language].findall(COMMENT[language].sub(" " * (language == "c"), text))
    counts = [0 if listed.strip() in ("", "void") else listed.count(",") + 1 for _, listed in found]
    return {name if language == "c" else name.lower(): n for (name, _), n in zip(found, counts, strict=True)}


def add_subroutine(deck: DeckState, given: Arguments) -> None:
    """A routine that sets declared variables; see `System.add_external`. Its other arguments are what it gets."""
    where, name = _where(deck, given), deck.names.new(given.required[1], "subroutine", deck.called)
    deck.called.add(name)
    listed = [datum for (datum,) in given.rest]
    set_here = [d for d in listed if isinstance(d, Symbol) and d.name in deck.declared]
    returns = [d.name for d in set_here]
    inputs = [deck.values.scalar(d, f"argument {i}") for i, d in enumerate(listed, 1) if d not in set_here]
    twice = next((d for d in listed if isinstance(d, Symbol) and d.name in deck.returned), None)
    if twice is not None:
        raise twice.fail(f"'{twice.name}' is set by another subroutine already")
    if not returns:
        why = "sets no variable that add-variables declares"
        deck.deck.remarks.append(f"{deck.place}: subroutine '{name}' {why}; it is omitted")
        return
    deck.returned.update(returns)
    options: dict[str, Any] = {"arguments": tuple(inputs), "returns": tuple(returns)}
    options |= {} if where == "difeqn" else {"when": PLACES[where]}
    deck.call("add_external", name, **options, **_routine(deck, name, len(inputs), bool(returns)))


def check_variables(deck: DeckState, given: Arguments) -> None:
    """Declared variables have been looked up before; here their names are checked."""
    _where(deck, given)
    for (datum,) in given.rest:
        name = deck.names.symbol(datum, "variable")
        if name in RESERVED:
            raise datum.fail(f"'{name}' has a meaning of its own and cannot be a variable; rename it")


def declare_functions(deck: DeckState) -> None:
    """Declares the functions that formulas have called with func() since the last time."""
    for name, count in deck.names.functions.items():
        if name in deck.called:
            continue
        deck.called.add(name)
        routine = _routine(deck, name, count)
        known = list(inspect.signature(routine["python"]).parameters)[:count] if "python" in routine else []
        names = tuple(known) if len(known) == count else tuple(f"a{i + 1}" for i in range(count))
        deck.call("add_external", name, arguments=names, **routine)


def _where(deck: DeckState, given: Arguments) -> str:
    where = deck.names.symbol(given.required[0], "where")
    if where not in PLACES:
        hint = f"{did_you_mean(where, PLACES)} It is one of {', '.join(PLACES)}."
        raise given.required[0].fail(f"where='{where}' is not known.{hint}")
    return where


def _routine(deck: DeckState, name: str, count: int, returns: bool = False) -> dict[str, Any]:
    """The routine behind a name in all languages; its memory, c and fortran stand on the Python function."""
    found = deck.routines.get(name)
    if found is None:
        return {}
    routine = found if isinstance(found, Routine) else Routine(found)
    own = routine.python
    options: dict[str, Any] = {"memory": getattr(own, "memory", None), "python": own}
    options |= {"c": getattr(own, "c", None) or routine.c, "fortran": getattr(own, "fortran", None) or routine.fortran}
    for language, taken in _taken(options, name).items():
        wanted = taken - (returns if language != "Python" else 0)  # an array for what it returns
        if options["memory"] is None and wanted == count + 1:
            options["memory"] = MEMORY
        if wanted != count + bool(options["memory"]):
            what = f"{count}{' and what it returns' * (returns and language != 'Python')}"
            what += " and a memory" if options["memory"] else ""
            here = f"{deck.name}: routine '{name}' in {language}"
            raise ModelError(f"{here} takes {taken} arguments, but {what} are given")
    return {key: value for key, value in options.items() if value is not None}


def _taken(options: dict[str, Any], name: str) -> dict[str, int]:
    """How many arguments a routine takes in each language in which it can be reported."""
    found = {} if options["python"] is None else {"Python": len(inspect.signature(options["python"]).parameters)}
    for language, key in (("C", "c"), ("Fortran", "fortran")):
        if options[key] is not None and name in (known := procedures(options[key], key)):
            found[language] = known[name]
    return found
