"""add-line-force, add-strut, add-moment, add-gravity, add-out and add-accelerations-to-output."""

from __future__ import annotations

from typing import Any

from bellcrank.formats.decks.macros import Arguments
from bellcrank.formats.decks.state import DeckState

DOWN = "[n3]"
DUMMIES = ("x", "x0", "v")


def add_force(deck: DeckState, given: Arguments) -> None:
    """A force along a direction or between two points; see `System.add_force` and `System.add_strut`."""
    names, values = deck.names, deck.values
    name = names.new(given.required[0], "force", names.forces)
    p, r = (given.get(key, names.point, "o") for key in ("point1", "point2"))
    dummies = tuple(given.get(old, names.symbol, old) for old in DUMMIES)
    options = {"magnitude": _magnitude(deck, given, name, dummies)}
    if given.macro.name == "add-strut":
        options["between"] = (p, r)
    else:
        options |= {"direction": given.get("direction", values.direction, DOWN), "at": p}
        options |= {} if r == "o" else {"against": r}
    options |= {} if dummies == DUMMIES else {"dummies": dummies}
    names.forces.add(name)
    options |= given.options(label=("name", values.text))
    deck.call("add_strut" if "between" in options else "add_force", name, **options)


def add_moment(deck: DeckState, given: Arguments) -> None:
    """A moment between two bodies; see `System.add_moment`."""
    names, values = deck.names, deck.values
    name = names.new(given.required[0], "moment", names.forces)
    on, against = (given.get(key, names.body, "n") for key in ("body1", "body2"))
    options = {"magnitude": _magnitude(deck, given, name, ())}
    options |= {"direction": given.get("direction", values.direction, DOWN), "on": on}
    options |= {} if against == "n" else {"against": against}
    names.forces.add(name)
    deck.call("add_moment", name, **options, **given.options(label=("name", values.text)))


def _magnitude(deck: DeckState, given: Arguments, name: str, dummies: tuple[str, ...]) -> Any:
    """The magnitude; by default a constant that is called like the force."""
    if "magnitude" in given.keywords:
        return deck.values.scalar(given.keywords["magnitude"], ":magnitude", dummies)
    symbol = given.required[0]
    return deck.names.scalar(name, symbol, symbol.fail)


def add_gravity(deck: DeckState, given: Arguments) -> None:
    """Gravity along [n3] unless reported otherwise; its size is the parameter GEES."""
    if deck.system.description.gravity is not None:
        raise given.form.fail("gravity is given twice")
    options = given.options(direction=("direction", deck.values.direction), g=("gees", deck.values.scalar))
    if "g" not in options:
        gees = deck.names.scalar("gees", given.form, given.form.fail)
        options |= {} if gees == "g" else {"g": gees}
    deck.call("add_gravity", **options)


def add_out(deck: DeckState, given: Arguments) -> None:
    """An output channel; see `System.add_output`."""
    expression, short = given.required
    values = deck.values
    value, name = values.scalar(expression, "expression"), values.text(short, "short-name")
    if not name:
        raise short.fail("short-name is empty")
    words = given.options(label=("long-name", values.text), generic=("gen-name", values.text))
    options = given.options(body=("body", deck.names.body), units=("units", values.units))
    deck.call("add_output", name, value, **words, **options)


def add_accelerations(deck: DeckState, given: Arguments) -> None:
    """The derivatives of all generalized speeds, called UP(1), UP(2) ..."""
    for i, speed in enumerate(deck.names.speeds(), 1):
        deck.call("add_output", f"UP({i})", f"dxdt({speed})", label=f"rate of {speed}")
