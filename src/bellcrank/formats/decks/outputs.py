"""add-out and add-accelerations-to-output."""

from __future__ import annotations

from typing import Any

from bellcrank.formats.decks.macros import Arguments
from bellcrank.formats.decks.state import DeckState


def add_out(deck: DeckState, given: Arguments) -> None:
    """An output channel; see `System.add_output`."""
    expression, short = given.required
    values = deck.values
    value, name = values.scalar(expression, "expression"), values.text(short, "short-name")
    if not name:
        raise short.fail("short-name is empty")
    options: dict[str, Any] = {}
    for keyword, option in (("long-name", "label"), ("gen-name", "generic")):
        if (datum := given.get(keyword)) is not None:
            options[option] = values.text(datum, f":{keyword}")
    if (body := given.get("body")) is not None:
        options["body"] = deck.names.body(body, ":body")
    if (units := given.get("units")) is not None:
        options["units"] = values.units(units, ":units")
    deck.call("add_output", value, name, **options)


def add_accelerations(deck: DeckState) -> None:
    """The derivatives of all generalized speeds, called UP(1), UP(2) ..."""
    for i, speed in enumerate(deck.names.speeds(), 1):
        deck.call("add_output", f"dxdt({speed})", f"UP({i})", label=f"rate of {speed}")
