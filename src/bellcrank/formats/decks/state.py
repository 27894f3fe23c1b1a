"""What the macros of a deck act on: its names and settings so far, the calls they became, and the
System these make.

Unit system, title and declared variables hold for the whole deck wherever they stand, so they are
looked for first.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, cast

from bellcrank.choices import Units
from bellcrank.core.errors import ModelError
from bellcrank.core.units import UNIT_SYSTEMS
from bellcrank.formats.decks.argument_values import ArgumentReader
from bellcrank.formats.decks.deck import Deck, DeckSystem, Routines, SystemCall, apply_call
from bellcrank.formats.decks.formula_strings import HASH
from bellcrank.formats.decks.macros import parse_arguments
from bellcrank.formats.decks.names import DeckNames
from bellcrank.formats.decks.partial_mechanism import independent_speeds
from bellcrank.formats.decks.reader import (
    FormulaStringDatum,
    ListDatum,
    StringDatum,
    SymbolDatum,
    walk_data,
)
from bellcrank.formats.decks.settings import DeckSettings

BARE = re.compile(r"[a-z_]\w*", re.ASCII)
TITLE = "*multibody-system-name*"
Centres = dict[
    str, tuple[str, ...]
]  # bodies, and where the mass centre with all that is fixed to them stands


class DeckState:
    """A deck being read; `add_call` notes what a form becomes and does it at once on the System."""

    def __init__(
        self, forms: Sequence[ListDatum], routines: Routines, name: str, centres: Centres
    ) -> None:
        self.name, self.routines, self.centres = name, routines, centres
        self.problems: list[str] = []
        self.forms = self._since_reset(forms)
        self.deck = Deck(name.rpartition(".")[0] or name, "mks")
        self._scan_forms()
        self.system = DeckSystem(self.deck.title, units=self.deck.units)
        self.names = DeckNames(self.speeds_now)
        self.names.centres = {body: f"{body}_composite" for body in centres}
        self.names.variables = self.declared
        self.names.gees = "gees" if "g" in self.bare | self.symbols else "g"
        self.values = ArgumentReader(self.names)
        self.settings = DeckSettings(self.names, self.deck, name)
        self.returned: set[str] = set()
        self.called: set[str] = set()
        self.place = ""  # of the form that is being read
        self._speeds: tuple[tuple[int, int, int], list[str]] | None = None

    def speeds_now(self) -> list[str]:
        """The speeds that constraints leave of the machine so far."""
        d = self.system.description
        size = len(d.bodies), len(d.constraints), len(d.loops)
        if self._speeds is None or self._speeds[0] != size:
            self._speeds = size, independent_speeds(self.system)
        return self._speeds[1]

    def add_call(self, method: str, /, *args: Any, **options: Any) -> None:
        """Notes a call of a method of System and makes it."""
        self.apply_call(SystemCall(method, args, options, place=self.place))

    def apply_call(self, call: SystemCall) -> None:
        self.deck.calls.append(call)
        apply_call(call, self.system)

    def _since_reset(self, forms: Sequence[ListDatum]) -> list[ListDatum]:
        """The forms after the last (reset), which forgets all that came before."""
        heads = [form.items[0] if form.items else None for form in forms]
        resets = [
            i
            for i, head in enumerate(heads)
            if isinstance(head, SymbolDatum) and head.name == "reset"
        ]
        return list(forms[resets[-1] if resets else 0 :])

    def _scan_forms(self) -> None:
        """What holds for the whole deck: unit system, title, declared variables, names used as they
        are in formulas."""
        self.declared: dict[str, Any] = {}
        self.bare: set[str] = set()
        self.symbols: set[str] = set()
        for form in self.forms:
            names, symbols = formula_names_and_symbols(form)
            self.bare |= names
            self.symbols |= symbols
            try:
                form_arguments = parse_arguments(form)
            except ModelError:
                continue  # reported when the form is read
            match form_arguments.macro.name:
                case units if units in UNIT_SYSTEMS:
                    self.deck.units = cast(Units, units)
                case "setf":
                    for symbol, value in form_arguments.rest:
                        if (
                            isinstance(symbol, SymbolDatum)
                            and symbol.name == TITLE
                            and isinstance(value, StringDatum)
                        ):
                            self.deck.title = " ".join(value.text.split()) or self.deck.title
                case "add-variables":
                    self.declared.update(
                        {d.name: d for (d,) in form_arguments.rest if isinstance(d, SymbolDatum)}
                    )


def formula_names_and_symbols(form: ListDatum) -> tuple[set[str], set[str]]:
    """Names in the formulas of a form that do not stand after '#', and the symbols outside of
    formulas."""
    data = list(walk_data([form]))
    texts = [HASH.sub(" ", d.text.lower()) for d in data if isinstance(d, FormulaStringDatum)]
    return {w for text in texts for w in BARE.findall(text)}, {
        d.name for d in data if isinstance(d, SymbolDatum)
    }
