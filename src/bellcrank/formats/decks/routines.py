"""add-subroutine, add-variables, and the functions that formulas call with func()."""

from __future__ import annotations

import inspect
import re
from typing import Any

from bellcrank.core.errors import ModelError, did_you_mean
from bellcrank.formats.decks.deck import DeckFunction
from bellcrank.formats.decks.macros import MacroArguments
from bellcrank.formats.decks.reader import SymbolDatum
from bellcrank.formats.decks.state import DeckState
from bellcrank.model.scope import RESERVED

PLACES = {"difeqn": "derivatives", **{x: x for x in ("echo", "input", "init", "output", "update")}}
MEMORY = 16
"""Numbers that a routine may keep between steps if it takes a memory but does not say how large."""
COMMENT = {"c": re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL), "fortran": re.compile(r"![^\n]*")}
HEAD = {
    "c": re.compile(r"^(?:double|void)\s+(\w+)\s*\(([^()]*)\)\s*\{", re.MULTILINE),
    "fortran": re.compile(
        r"^[ \t]*(?:pure[ \t]+)?(?:function|subroutine)[ \t]+(\w+)[ \t]*\(([^()]*)\)", re.M | re.I
    ),
}


def procedure_arities(text: str, language: str) -> dict[str, int]:
    """Procedures in a text of "c" or "fortran" (where capitals do not matter), and the numbers of
    their arguments."""
    matches = HEAD[language].findall(COMMENT[language].sub(" " * (language == "c"), text))
    argument_counts = [
        0 if listed.strip() in ("", "void") else listed.count(",") + 1 for _, listed in matches
    ]
    return {
        name if language == "c" else name.lower(): n
        for (name, _), n in zip(matches, argument_counts, strict=True)
    }


def add_subroutine(deck: DeckState, arguments: MacroArguments) -> None:
    """A routine that sets declared variables; see `System.add_external`. Its other arguments are
    what it gets."""
    section, name = (
        _call_phase(deck, arguments),
        deck.names.new_name(arguments.required[1], "subroutine", deck.called),
    )
    deck.called.add(name)
    listed = [datum for (datum,) in arguments.rest]
    set_here = [d for d in listed if isinstance(d, SymbolDatum) and d.name in deck.declared]
    returns = [d.name for d in set_here]
    inputs = [
        deck.values.read_scalar(d, f"argument {i}")
        for i, d in enumerate(listed, 1)
        if d not in set_here
    ]
    repeated = next(
        (d for d in listed if isinstance(d, SymbolDatum) and d.name in deck.returned), None
    )
    if repeated is not None:
        raise repeated.error(f"'{repeated.name}' is set by another subroutine already")
    if not returns:
        reason = "sets no variable that add-variables declares"
        deck.deck.remarks.append(f"{deck.place}: subroutine '{name}' {reason}; it is omitted")
        return
    deck.returned.update(returns)
    options: dict[str, Any] = {"arguments": tuple(inputs), "returns": tuple(returns)}
    options |= {} if section == "difeqn" else {"when": PLACES[section]}
    deck.add_call(
        "add_external", name, **options, **_find_routine(deck, name, len(inputs), bool(returns))
    )


def check_variables(deck: DeckState, arguments: MacroArguments) -> None:
    """Declared variables have been looked up before; here their names are checked."""
    _call_phase(deck, arguments)
    for (datum,) in arguments.rest:
        name = deck.names.symbol_name(datum, "variable")
        if name in RESERVED:
            raise datum.error(
                f"'{name}' has a meaning of its own and cannot be a variable; rename it"
            )


def declare_functions(deck: DeckState) -> None:
    """Declares the functions that formulas have called with func() since the last time."""
    for name, count in deck.names.functions.items():
        if name in deck.called:
            continue
        deck.called.add(name)
        routine = _find_routine(deck, name, count)
        parameters = (
            list(inspect.signature(routine["python"]).parameters)[:count]
            if "python" in routine
            else []
        )
        names = (
            tuple(parameters)
            if len(parameters) == count
            else tuple(f"a{i + 1}" for i in range(count))
        )
        deck.add_call("add_external", name, arguments=names, **routine)


def _call_phase(deck: DeckState, arguments: MacroArguments) -> str:
    section = deck.names.symbol_name(arguments.required[0], "where")
    if section not in PLACES:
        hint = f"{did_you_mean(section, PLACES)} It is one of {', '.join(PLACES)}."
        raise arguments.required[0].error(f"where='{section}' is not known.{hint}")
    return section


def _find_routine(deck: DeckState, name: str, count: int, returns: bool = False) -> dict[str, Any]:
    """The routine behind a name in all languages; its memory, c and fortran stand on the Python
    function."""
    entry = deck.routines.get(name)
    if entry is None:
        return {}
    routine = entry if isinstance(entry, DeckFunction) else DeckFunction(entry)
    function = routine.python
    options: dict[str, Any] = {"memory": getattr(function, "memory", None), "python": function}
    options |= {
        "c": getattr(function, "c", None) or routine.c,
        "fortran": getattr(function, "fortran", None) or routine.fortran,
    }
    for language, parameter_count in _argument_counts(options, name).items():
        plain_count = parameter_count - (
            returns if language != "Python" else 0
        )  # an array for what it returns
        if options["memory"] is None and plain_count == count + 1:
            options["memory"] = MEMORY
        if plain_count != count + bool(options["memory"]):
            expected = f"{count}{' and what it returns' * (returns and language != 'Python')}"
            expected += " and a memory" if options["memory"] else ""
            location = f"{deck.name}: routine '{name}' in {language}"
            raise ModelError(
                f"{location} takes {parameter_count} arguments, but {expected} are given"
            )
    return {key: value for key, value in options.items() if value is not None}


def _argument_counts(options: dict[str, Any], name: str) -> dict[str, int]:
    """How many arguments a routine takes in each language in which it can be reported."""
    counts_by_language = (
        {}
        if options["python"] is None
        else {"Python": len(inspect.signature(options["python"]).parameters)}
    )
    for language, key in (("C", "c"), ("Fortran", "fortran")):
        if options[key] is not None and name in (
            argument_counts := procedure_arities(options[key], key)
        ):
            counts_by_language[language] = argument_counts[name]
    return counts_by_language
