"""set-defaults, set-units and set-name: collected while the deck is read, given to the System at
the end.

STEP, STOPT and IPRINT are settings of the run. What is set for a symbol that the model does not
have is reported, not used.
"""

from __future__ import annotations

from typing import Any

from bellcrank.api.system import System
from bellcrank.core.errors import did_you_mean
from bellcrank.core.units import unit_system
from bellcrank.formats.decks.argument_values import ArgumentReader
from bellcrank.formats.decks.deck import Deck, SystemCall
from bellcrank.formats.decks.macros import MacroArguments
from bellcrank.formats.decks.names import DeckNames
from bellcrank.formats.decks.reader import Datum, NumberDatum
from bellcrank.mechanics.interface.listing import RUN

MACROS = {"set-defaults": "set_defaults", "set-units": "set_units", "set-name": "set_labels"}
MOST_STEPS, MOST_KEPT = 10_000_000, 1_000_000
METHOD, WITHOUT_STEP = "rk2", "RK45"
"""The midpoint rule of AUTOSIM's programs (Sayers 1990, Appendix B); error control where the deck
has no time step."""


class DeckSettings:
    """Values, units and labels of parameters, the last one given counts."""

    def __init__(self, names: DeckNames, deck: Deck, file: str) -> None:
        self.names, self.deck, self.file, self.values = names, deck, file, ArgumentReader(names)
        self.given: dict[str, dict[str, tuple[Any, Datum]]] = {
            method: {} for method in MACROS.values()
        }

    def read_form(self, arguments: MacroArguments) -> None:
        """One form."""
        method = MACROS[arguments.macro.name]
        for symbol, datum in arguments.rest:
            name = self.names.symbol_name(symbol, "symbol")
            name = self.names.gees if name == "gees" else name
            self.given[method][name] = (self._read_value(method, name, datum), symbol)

    def _read_value(self, method: str, name: str, datum: Datum) -> Any:
        if method == "set_units":
            return self.values.read_units(datum, f"the units of {name}")
        if method == "set_labels":
            return self.values.read_text(datum, f"the name of {name}")
        value = self.names.symbol_value(datum)
        if not isinstance(value, NumberDatum):
            raise datum.error(f"the value of {name} must be a number, not {datum.message_text}")
        if name in RUN and (
            value.value <= 0 or (name == "iprint" and value.value != int(value.value))
        ):
            kind = "whole number" if name == "iprint" else "number"
            raise datum.error(f"{name} must be a positive {kind}, not {datum.message_text}")
        return value.value

    def system_calls(self, system: System) -> list[SystemCall]:
        """What the settings become."""
        self._set_default_gravity(system)
        method_calls: list[SystemCall] = []
        externals = [e for e in system.description.externals if e.when in ("input", "echo")]
        returned = {
            name for e in externals for name in e.returns
        }  # have units and words as parameters have
        for method in ("set_units", "set_defaults", "set_labels"):
            names = {*self.names.scalars, *(returned if method != "set_defaults" else ())}
            values = {n: v for n, (v, _) in self.given[method].items() if n in names}
            if values:
                method_calls.append(SystemCall(method, (values,)))
        self._report_unused()
        return [*method_calls, self._run_settings_call()]

    def variable_options(self, name: str) -> dict[str, str]:
        """Units and label of a variable."""
        sources = (("units", "set_units"), ("label", "set_labels"))
        return {
            option: self.given[method][name][0]
            for option, method in sources
            if name in self.given[method]
        }

    def _set_default_gravity(self, system: System) -> None:
        """GEES has the standard value of the unit system, with or without gravity."""
        gravity, gees = system.description.gravity, self.names.gees
        if gees in self.names.scalars and (gravity is None or gravity.magnitude != gees):
            units, form = unit_system(self.deck.units), self.names.scalars[gees]
            self.given["set_units"].setdefault(gees, (f"{units.length}/s2", form))
            self.given["set_defaults"].setdefault(gees, (units.gees, form))

    def _report_unused(self) -> None:
        used_names = {*self.names.scalars, *self.names.variables, *RUN}
        for method in self.given.values():
            for name, (_, symbol) in method.items():
                if name in used_names:
                    continue
                used_names.add(name)
                line, column = symbol.source.line_and_column(symbol.offset)
                location = f"{symbol.source.name}, line {line}, column {column}"
                suggestion = did_you_mean(name, self.names.scalars)
                self.deck.remarks.append(
                    f"{location}: '{name}' is set, but the model has no such symbol.{suggestion}"
                )

    def _check_steps(self, values: dict[str, Any]) -> None:
        steps = values.get("stopt", 1.0) / values["step"]
        stored_count = steps / values.get("iprint", 1)
        if steps > MOST_STEPS or stored_count > MOST_KEPT:
            symbol = self.given["set_defaults"]["step"][1]
            limit = f"a deck may ask for {MOST_STEPS} steps of which {MOST_KEPT} are kept"
            raise symbol.error(
                f"STOPT, STEP and IPRINT give {steps:.3g} steps, {stored_count:.3g} of them "
                f"kept; {limit}"
            )

    def _run_settings_call(self) -> SystemCall:
        values = {n: v for n, (v, _) in self.given["set_defaults"].items() if n in RUN}
        options: dict[str, Any] = {"t_end": values.get("stopt", 1.0)}
        if "step" in values:
            self._check_steps(values)
            options["step"] = values["step"]
        options["method"] = METHOD if "step" in values else WITHOUT_STEP
        if "iprint" in values:
            options["output_every"] = int(values["iprint"])
        for name, default in (("stopt", "1 s"), ("step", f"error control ({WITHOUT_STEP})")):
            if name not in values:
                self.deck.remarks.append(
                    f"{self.file}: {name.upper()} ({RUN[name][2]}) is not set: {default} is used"
                )
        return SystemCall("set_run", (), options)
