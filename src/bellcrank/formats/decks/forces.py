"""add-line-force, add-strut, add-moment and add-gravity."""

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
    p, r = (
        "o" if (d := given.get(key)) is None else names.point(d, f":{key}") for key in ("point1", "point2")
    )  # fmt: skip
    dummies = tuple(old if (d := given.get(old)) is None else names.symbol(d, f":{old}") for old in DUMMIES)
    options = {"magnitude": _magnitude(deck, given, name, dummies)}
    if given.macro.name == "add-strut":
        options["between"] = (p, r)
    else:
        direction = given.get("direction")
        options |= {"direction": DOWN if direction is None else values.direction(direction, ":direction"), "at": p}
        options |= {} if r == "o" else {"against": r}
    options |= {} if dummies == DUMMIES else {"dummies": dummies}
    names.forces.add(name)
    deck.call("add_strut" if "between" in options else "add_force", name, **options, **_label(deck, given))


def add_moment(deck: DeckState, given: Arguments) -> None:
    """A moment between two bodies; see `System.add_moment`."""
    names = deck.names
    name = names.new(given.required[0], "moment", names.forces)
    on, against = ("n" if (d := given.get(key)) is None else names.body(d, f":{key}") for key in ("body1", "body2"))
    direction = given.get("direction")
    options: dict[str, Any] = {
        "magnitude": _magnitude(deck, given, name, ()),
        "direction": DOWN if direction is None else deck.values.direction(direction, ":direction"),
        "on": on,
    }
    options |= {} if against == "n" else {"against": against}
    names.forces.add(name)
    deck.call("add_moment", name, **options, **_label(deck, given))


def _magnitude(deck: DeckState, given: Arguments, name: str, dummies: tuple[str, ...]) -> Any:
    """The magnitude; by default a constant that is called like the force."""
    magnitude = given.get("magnitude")
    if magnitude is not None:
        return deck.values.scalar(magnitude, ":magnitude", dummies)
    symbol = given.required[0]
    return deck.names.scalar(name, symbol, symbol.fail)


def _label(deck: DeckState, given: Arguments) -> dict[str, str]:
    label = given.get("name")
    return {} if label is None else {"label": deck.values.text(label, ":name")}


def add_gravity(deck: DeckState, given: Arguments) -> None:
    """Gravity along [n3] unless told otherwise; its size is the parameter GEES."""
    if deck.system.description.gravity is not None:
        raise given.form.fail("gravity is given twice")
    direction, gees = given.get("direction"), given.get("gees")
    options: dict[str, Any] = {} if direction is None else {"direction": deck.values.direction(direction, ":direction")}
    if gees is None:
        deck.names.scalar("gees", given.form, given.form.fail)
    else:
        options["g"] = deck.values.scalar(gees, ":gees")
    if gees is None and deck.names.gees != "g":
        options["g"] = deck.names.gees
    deck.call("add_gravity", **options)
