"""add-out and add-accelerations-to-output."""

from __future__ import annotations

from bellcrank.formats.decks.macros import Arguments
from bellcrank.formats.decks.state import DeckState


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
