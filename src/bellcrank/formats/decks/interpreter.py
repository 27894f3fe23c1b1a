"""Interpreter: the forms of a deck to calls on a System (Sayers 1990, Appendix A.3).

In:  the forms that `reader` found, and the user functions. Out: a `Deck`: the calls, in order, and
remarks. Every form is checked as it comes, with its place; all problems of a deck are reported
together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bellcrank.core.errors import ModelError
from bellcrank.core.units import UNIT_SYSTEMS
from bellcrank.formats.decks.bodies import add_body, add_point
from bellcrank.formats.decks.deck import Deck, Routines
from bellcrank.formats.decks.forces import (
    add_accelerations,
    add_force,
    add_gravity,
    add_moment,
    add_output,
)
from bellcrank.formats.decks.macros import MacroArguments, parse_arguments
from bellcrank.formats.decks.partial_mechanism import composite_centres
from bellcrank.formats.decks.reader import (
    Datum,
    FormulaStringDatum,
    ListDatum,
    StringDatum,
    SymbolDatum,
)
from bellcrank.formats.decks.routines import add_subroutine, check_variables, declare_functions
from bellcrank.formats.decks.settings import MACROS
from bellcrank.formats.decks.state import TITLE, DeckState
from bellcrank.model.scope import RESERVED

MOST_FORMS, MOST_PROBLEMS = 5000, 20


def interpret_deck(
    forms: Sequence[ListDatum], routines: Routines | None = None, name: str = "deck"
) -> Deck:
    """The deck that forms stand for."""
    if len(forms) > MOST_FORMS:
        raise ModelError(f"{name}: a deck may have {MOST_FORMS} forms, this one has {len(forms)}")
    interpreter = DeckInterpreter(forms, routines or {}, name, {})
    deck = interpreter.interpret()
    centres = composite_centres(interpreter.system, interpreter.names.composite)
    return DeckInterpreter(forms, routines or {}, name, centres).interpret() if centres else deck


class DeckInterpreter(DeckState):
    """Reads forms one after the other."""

    def interpret(self) -> Deck:
        for form in self.forms:
            try:
                self._interpret_form(form)
            except ModelError as error:
                self.problems.append("\n".join(error.problems))
                self._enter_anyway(form)
                if len(self.problems) >= MOST_PROBLEMS:
                    break
        if not self.problems:
            try:
                self._finish()
            except ModelError as error:
                self.problems.extend(error.problems)
        if self.problems:
            raise ModelError(self.problems, self.name)
        return self.deck

    def add_call(self, method: str, /, *args: Any, **options: Any) -> None:
        declare_functions(self)
        super().add_call(method, *args, **options)

    def _enter_anyway(self, form: ListDatum) -> None:
        """What a broken form was to enter is known from now on, so that it is not reported again
        and again."""
        head, symbol = (*form.items, None, None)[:2]
        if isinstance(head, SymbolDatum) and isinstance(symbol, SymbolDatum):
            if head.name == "add-body" and symbol.name not in self.names.bodies:
                self.names.add_body(symbol.name, "n", 0)
            elif head.name == "add-point":
                self.names.points.setdefault(symbol.name, "n")
            elif head.name in ("add-line-force", "add-strut", "add-moment"):
                self.names.forces.add(symbol.name)

    # ---- forms

    def _interpret_form(self, form: ListDatum) -> None:
        arguments_given = parse_arguments(form)
        name, self.place = arguments_given.macro.name, f"{self.name}, line {form.line}"
        if name in HANDLERS:
            HANDLERS[name](self, arguments_given)
        elif name in MACROS:
            self.settings.read_form(arguments_given)
        elif name not in NOTHING:
            self.add_call("add_outputs", name.split("-")[1])

    def _declare_order(self, arguments_given: MacroArguments) -> None:
        self.add_call(
            arguments_given.macro.name,
            *(self._small_quantity(arguments_given, d) for (d,) in arguments_given.rest),
        )

    def _small_quantity(self, arguments_given: MacroArguments, datum: Any) -> str:
        value = self.values.read_scalar(datum, f"an argument of {arguments_given.macro.name}")
        if not isinstance(value, str):
            raise datum.error(
                f"{arguments_given.macro.name} takes symbols, not {datum.message_text}"
            )
        return value

    def _set_values(self, arguments_given: MacroArguments) -> None:
        for symbol, value in arguments_given.rest:
            self._set_value(symbol, value)

    def _set_value(self, symbol: Datum, value: Datum) -> None:
        if not isinstance(symbol, SymbolDatum):
            raise symbol.error(f"setf gives a value to a symbol, not to {symbol.message_text}")
        if symbol.name == TITLE:
            if not isinstance(value, StringDatum):
                raise value.error(f"{TITLE} must be a string, not {value.message_text}")
            return
        name = self.names.symbol_name(symbol, "symbol")
        if name in ("t", "nil"):
            raise symbol.error(f"'{name}' is a constant")
        if isinstance(value, FormulaStringDatum):
            text = self.values.read_formula(value)
            new = self._new_definition_name(name)
            self.names.defined[name] = new
            self.add_call("define", new, text)
        else:
            value = self.names.symbol_value(value)
            if isinstance(value, SymbolDatum) and value.name in self.names.defined:
                self.names.defined[name] = self.names.defined[value.name]
            else:
                self.names.defined.pop(name, None)
        self.names.values[name] = value

    def _new_definition_name(self, name: str) -> str:
        """A name for a formula that no scalar of the deck and no earlier formula has."""
        used_names = {d.lower() for d in self.system.description.definitions}
        used_names |= (
            self.bare | RESERVED | {"x", "x0", "v"} | set(self.declared) | set(self.names.scalars)
        )
        candidates = (name if i == 0 else f"{name}_{i + 1}" for i in range(len(used_names) + 1))
        return next(c for c in candidates if c not in used_names)

    def _add_constraint(self, arguments_given: MacroArguments) -> None:
        (expression,) = arguments_given.required
        text = self.values.read_scalar(expression, "zero-exp")
        self.add_call(
            "add_constraint",
            text,
            **arguments_given.system_options(eliminate=("variable", self._eliminated_speed)),
        )
        self.names.constrained = True

    def _eliminated_speed(self, datum: Datum, label: str) -> str:
        state = str(self.values.read_scalar(datum, label))
        if not state.startswith(("q(", "u(")):
            raise datum.error(
                f'{label} must be a coordinate or a speed, such as !"u(1)", not '
                f"{datum.message_text}"
            )
        return f"u{state[1:]}"  # a coordinate goes together with its speed

    def _no_movement(self, arguments_given: MacroArguments) -> None:
        first, second, direction = arguments_given.required
        p, r = self.names.point_name(first, "point1"), self.names.point_name(second, "point2")
        along = self.values.read_direction(direction, "direction")
        self.add_call("add_loop_joint", f"{p} to {r}", between=(p, r), directions=(along,))
        self.names.constrained = True

    # ---- after the last form

    def _finish(self) -> None:
        for body, position in self.centres.items():
            label = f"center of mass of {body} and what it carries"
            self.add_call("add_point", f"{body}_composite", body=body, at=position, label=label)
        for name in self.declared:
            if name not in self.returned:
                self.add_call("add_input", name, **self.settings.variable_options(name))
        for call in self.settings.system_calls(self.system):
            self.apply_call(call)
        externals = {e.name for e in self.system.description.externals}
        missing = sorted(n for n in self.called & externals if n not in self.routines)
        if missing:
            problem = (
                f"there is no routine for {', '.join(missing)}, so the model can be derived but "
                f"not run"
            )
            remedy = (
                "a file next to the deck holds it as a Python function (.py), or in C (.c) or "
                "Fortran (.f90)"
            )
            self.deck.remarks.append(f"{self.name}: {problem}; {remedy}")


HANDLERS: dict[str, Callable[[DeckInterpreter, MacroArguments], None]] = {
    "add-body": add_body,
    "add-point": add_point,
    "add-line-force": add_force,
    "add-strut": add_force,
    "add-moment": add_moment,
    "add-gravity": add_gravity,
    "add-subroutine": add_subroutine,
    "add-variables": check_variables,
    "add-out": add_output,
    "add-accelerations-to-output": add_accelerations,
    "add-constraint": DeckInterpreter._add_constraint,
    "no-movement": DeckInterpreter._no_movement,
    "setf": DeckInterpreter._set_values,
    "small": DeckInterpreter._declare_order,
    "large": DeckInterpreter._declare_order,
}
NOTHING = {
    "reset",
    "dynamics",
    "write-sim",
    *UNIT_SYSTEMS,
}  # done when asked for, or looked up before
