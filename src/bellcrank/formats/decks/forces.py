"""add-line-force, add-strut, add-moment, add-gravity, add-out and add-accelerations-to-output."""

from __future__ import annotations

from typing import Any

from bellcrank.formats.decks.macros import Arguments
from bellcrank.formats.decks.state import DeckState

DOWN = "[n3]"
DUMMIES = ("x", "x0", "v")


def add_force(deck: DeckState, arguments: Arguments) -> None:
    """A force along a direction or between two points; see `System.add_force` and `System.add_strut`."""
    names, values = deck.names, deck.values
    name = names.new(arguments.required[0], "force", names.forces)
    p, r = (arguments.get(key, names.point, "o") for key in ("point1", "point2"))
    dummies = tuple(arguments.get(old, names.symbol, old) for old in DUMMIES)
    options = {"magnitude": _magnitude(deck, arguments, name, dummies)}
    if arguments.macro.name == "add-strut":
        options["between"] = (p, r)
    else:
        options |= {"direction": arguments.get("direction", values.direction, DOWN), "at": p}
        options |= {} if r == "o" else {"against": r}
    options |= {} if dummies == DUMMIES else {"dummies": dummies}
    names.forces.add(name)
    options |= arguments.options(label=("name", values.text))
    deck.call("add_strut" if "between" in options else "add_force", name, **options)


def add_moment(deck: DeckState, arguments: Arguments) -> None:
    """A moment between two bodies; see `System.add_moment`."""
    names, values = deck.names, deck.values
    name = names.new(arguments.required[0], "moment", names.forces)
    acting_on, against = (arguments.get(key, names.body, "n") for key in ("body1", "body2"))
    options = {"magnitude": _magnitude(deck, arguments, name, ())}
    options |= {"direction": arguments.get("direction", values.direction, DOWN), "on": acting_on}
    options |= {} if against == "n" else {"against": against}
    names.forces.add(name)
    deck.call("add_moment", name, **options, **arguments.options(label=("name", values.text)))


def _magnitude(deck: DeckState, arguments: Arguments, name: str, dummies: tuple[str, ...]) -> Any:
    """The magnitude; by default a constant that is called like the force."""
    if "magnitude" in arguments.keywords:
        return deck.values.scalar(arguments.keywords["magnitude"], ":magnitude", dummies)
    symbol = arguments.required[0]
    return deck.names.scalar(name, symbol, symbol.fail)


def add_gravity(deck: DeckState, arguments: Arguments) -> None:
    """Gravity along [n3] unless reported otherwise; its size is the parameter GEES."""
    if deck.system.description.gravity is not None:
        raise arguments.form.fail("gravity is given twice")
    options = arguments.options(direction=("direction", deck.values.direction), g=("gees", deck.values.scalar))
    if "g" not in options:
        gees = deck.names.scalar("gees", arguments.form, arguments.form.fail)
        options |= {} if gees == "g" else {"g": gees}
    deck.call("add_gravity", **options)


def add_out(deck: DeckState, arguments: Arguments) -> None:
    """An output channel; see `System.add_output`."""
    expression, short = arguments.required
    values = deck.values
    value, name = values.scalar(expression, "expression"), values.text(short, "short-name")
    if not name:
        raise short.fail("short-name is empty")
    words = arguments.options(label=("long-name", values.text), generic=("gen-name", values.text))
    options = arguments.options(body=("body", deck.names.body), units=("units", values.units))
    deck.call("add_output", name, value, **words, **options)


def add_accelerations(deck: DeckState, arguments: Arguments) -> None:
    """The derivatives of all generalized speeds, called UP(1), UP(2) ..."""
    for i, speed in enumerate(deck.names.speeds(), 1):
        deck.call("add_output", f"UP({i})", f"dxdt({speed})", label=f"rate of {speed}")
