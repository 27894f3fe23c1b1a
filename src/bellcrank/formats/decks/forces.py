"""add-line-force, add-strut, add-moment, add-gravity, add-out and add-accelerations-to-output."""

from __future__ import annotations

from typing import Any

from bellcrank.formats.decks.macros import MacroArguments
from bellcrank.formats.decks.state import DeckState

DOWN = "[n3]"
DUMMIES = ("x", "x0", "v")


def add_force(deck: DeckState, arguments: MacroArguments) -> None:
    """A force along a direction or between two points; see `System.add_force` and
    `System.add_strut`."""
    names, values = deck.names, deck.values
    name = names.new_name(arguments.required[0], "force", names.forces)
    p, r = (arguments.keyword_value(key, names.point_name, "o") for key in ("point1", "point2"))
    dummies = tuple(arguments.keyword_value(old, names.symbol_name, old) for old in DUMMIES)
    options = {"magnitude": _read_magnitude(deck, arguments, name, dummies)}
    if arguments.macro.name == "add-strut":
        options["between"] = (p, r)
    else:
        options |= {
            "direction": arguments.keyword_value("direction", values.read_direction, DOWN),
            "at": p,
        }
        options |= {} if r == "o" else {"against": r}
    options |= {} if dummies == DUMMIES else {"dummies": dummies}
    names.forces.add(name)
    options |= arguments.system_options(label=("name", values.read_text))
    deck.add_call("add_strut" if "between" in options else "add_force", name, **options)


def add_moment(deck: DeckState, arguments: MacroArguments) -> None:
    """A moment between two bodies; see `System.add_moment`."""
    names, values = deck.names, deck.values
    name = names.new_name(arguments.required[0], "moment", names.forces)
    acting_on, against = (
        arguments.keyword_value(key, names.body_name, "n") for key in ("body1", "body2")
    )
    options = {"magnitude": _read_magnitude(deck, arguments, name, ())}
    options |= {
        "direction": arguments.keyword_value("direction", values.read_direction, DOWN),
        "on": acting_on,
    }
    options |= {} if against == "n" else {"against": against}
    names.forces.add(name)
    deck.add_call(
        "add_moment", name, **options, **arguments.system_options(label=("name", values.read_text))
    )


def _read_magnitude(
    deck: DeckState, arguments: MacroArguments, name: str, dummies: tuple[str, ...]
) -> Any:
    """The magnitude; by default a constant that is called like the force."""
    if "magnitude" in arguments.keywords:
        return deck.values.read_scalar(arguments.keywords["magnitude"], ":magnitude", dummies)
    symbol = arguments.required[0]
    return deck.names.scalar_name(name, symbol, symbol.error)


def add_gravity(deck: DeckState, arguments: MacroArguments) -> None:
    """Gravity along [n3] unless reported otherwise; its size is the parameter GEES."""
    if deck.system.description.gravity is not None:
        raise arguments.form.error("gravity is given twice")
    options = arguments.system_options(
        direction=("direction", deck.values.read_direction), g=("gees", deck.values.read_scalar)
    )
    if "g" not in options:
        gees = deck.names.scalar_name("gees", arguments.form, arguments.form.error)
        options |= {} if gees == "g" else {"g": gees}
    deck.add_call("add_gravity", **options)


def add_output(deck: DeckState, arguments: MacroArguments) -> None:
    """An output channel; see `System.add_output`."""
    expression, short = arguments.required
    values = deck.values
    value, name = (
        values.read_scalar(expression, "expression"),
        values.read_text(short, "short-name"),
    )
    if not name:
        raise short.error("short-name is empty")
    words = arguments.system_options(
        label=("long-name", values.read_text), generic=("gen-name", values.read_text)
    )
    options = arguments.system_options(
        body=("body", deck.names.body_name), units=("units", values.read_units)
    )
    deck.add_call("add_output", name, value, **words, **options)


def add_accelerations(deck: DeckState, arguments: MacroArguments) -> None:
    """The derivatives of all generalized speeds, called UP(1), UP(2) ..."""
    for i, speed in enumerate(deck.names.remaining_speeds(), 1):
        deck.add_call("add_output", f"UP({i})", f"dxdt({speed})", label=f"rate of {speed}")
