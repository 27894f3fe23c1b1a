"""add-subroutine, add-variables, and the functions that formulas call with func()."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from bellcrank.errors import ModelError, did_you_mean
from bellcrank.formats.decks.macros import Arguments
from bellcrank.formats.decks.reader import Datum, Symbol
from bellcrank.model.scope import RESERVED

if TYPE_CHECKING:
    from bellcrank.formats.decks.interpret import Interpreter

PLACES = {"difeqn": "derivatives", "update": "update", "output": "output", "init": "init"}
NOT_IN_A_RUN = ("echo", "input")
MEMORY = 16
"""Numbers that a routine may keep between steps if it takes a memory but does not say how large."""


def add_subroutine(deck: Interpreter, given: Arguments) -> None:
    """A routine that sets declared variables; see `System.add_external`. Its other arguments are what it gets."""
    where, name = _where(deck, given), deck.names.new(given.required[1], "subroutine", deck.called)
    deck.called.add(name)
    listed = [datum for (datum,) in given.rest]
    returns = [d.name for d in listed if isinstance(d, Symbol) and d.name in deck.declared]
    inputs = [deck.values.scalar(d, f"argument {i}") for i, d in enumerate(listed, 1) if not _declared(deck, d)]
    twice = next((d for d in listed if isinstance(d, Symbol) and d.name in deck.returned), None)
    if twice is not None:
        raise twice.fail(f"'{twice.name}' is set by another subroutine already")
    if where in NOT_IN_A_RUN or not returns:
        why = "the files of a program" if where in NOT_IN_A_RUN else "nothing that the model uses"
        deck.deck.remarks.append(f"{deck.place}: subroutine '{name}' concerns {why}; it is left out")
        return
    deck.returned.update(returns)
    options: dict[str, Any] = {"arguments": tuple(inputs), "returns": tuple(returns)}
    options |= {} if where == "difeqn" else {"when": PLACES[where]}
    deck.call("add_external", name, **options, **_routine(deck, name, len(inputs)))


def check_variables(deck: Interpreter, given: Arguments) -> None:
    """Declared variables have been looked up before; here their names are checked."""
    _where(deck, given)
    for (datum,) in given.rest:
        name = deck.names.symbol(datum, "variable")
        if name in RESERVED:
            raise datum.fail(f"'{name}' has a meaning of its own and cannot be a variable; rename it")


def declare_functions(deck: Interpreter) -> None:
    """Declares the functions that formulas have called with func() since the last time."""
    for name, count in deck.names.functions.items():
        if name in deck.called:
            continue
        deck.called.add(name)
        routine = _routine(deck, name, count)
        known = list(inspect.signature(routine["python"]).parameters)[:count] if routine else []
        names = tuple(known) if len(known) == count else tuple(f"a{i + 1}" for i in range(count))
        deck.call("add_external", name, arguments=names, **routine)


def _where(deck: Interpreter, given: Arguments) -> str:
    where = deck.names.symbol(given.required[0], "where")
    known = [*PLACES, *NOT_IN_A_RUN]
    if where not in known:
        listed = ", ".join(known)
        near = did_you_mean(where, known)
        raise given.required[0].fail(f"where='{where}' is not known.{near} It is one of {listed}.")
    return where


def _declared(deck: Interpreter, datum: Datum) -> bool:
    return isinstance(datum, Symbol) and datum.name in deck.declared


def _routine(deck: Interpreter, name: str, count: int) -> dict[str, Any]:
    """The routine behind a name; what it has beside the function (memory, c, fortran) stands on the function."""
    function = deck.routines.get(name)
    if function is None:
        return {}
    found: dict[str, Any] = {"memory": getattr(function, "memory", None)}
    wanted = len(inspect.signature(function).parameters)
    if found["memory"] is None and wanted == count + 1:
        found["memory"] = MEMORY
    if wanted != count + bool(found["memory"]):
        extra = " and a memory" if found["memory"] else ""
        raise ModelError(f"{deck.name}: routine '{name}' takes {wanted} arguments, but {count}{extra} are given")
    found |= {"python": function, "c": getattr(function, "c", None), "fortran": getattr(function, "fortran", None)}
    return {key: value for key, value in found.items() if value is not None}
