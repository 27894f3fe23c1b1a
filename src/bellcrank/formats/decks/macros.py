"""The macros of a deck: their arguments, and what each becomes (Sayers 1990, Tables A.3.1 to
A.3.3).

In:  a form. Out: its `MacroArguments`, checked: required ones there, keywords known, given once and
with a value.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bellcrank.core.errors import did_you_mean, pluralize
from bellcrank.core.units import UNIT_SYSTEMS
from bellcrank.formats.decks.reader import Datum, KeywordDatum, ListDatum, SymbolDatum

Read = Callable[[Datum, str], Any]  # an argument, and what it is called, to its value


@dataclass(frozen=True)
class DeckMacro:
    """A macro: names of its required arguments, its keywords, and what may follow again and
    again."""

    name: str
    system_method: str
    required: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    rest: tuple[str, ...] = ()

    @property
    def usage_message(self) -> str:
        words = " ".join([self.name, *self.required, *(f":{k}" for k in self.keywords)])
        return f"It is written ({words}{' {' + ' '.join(self.rest) + '}*' if self.rest else ''})."


_BODY = (
    "parent",
    "name",
    "mass",
    "inertia-matrix",
    "coordinate-system",
    "joint-coordinates",
    "cm-coordinates",
    "translate",
    "parent-rotation-axis",
    "body-rotation-axes",
    "reference-axis",
    "small-angles",
    "small-translations",
)
_FORCE = ("name", "direction", "magnitude", "point1", "point2", "x", "x0", "v", "no-forcem")

MACROS = {
    m.name: m
    for m in (
        DeckMacro("reset", "a new System"),
        DeckMacro("dynamics", "System.equations, when they are asked for"),
        DeckMacro("write-sim", "Equations.export, when it is asked for"),
        DeckMacro("add-body", "System.add_body", ("symbol",), _BODY),
        DeckMacro("add-constraint", "System.add_constraint", ("zero-exp",), ("variable",)),
        DeckMacro("add-gravity", "System.add_gravity", (), ("direction", "gees")),
        DeckMacro("add-line-force", "System.add_force", ("symbol",), _FORCE),
        DeckMacro(
            "add-strut",
            "System.add_strut",
            ("symbol",),
            tuple(k for k in _FORCE if k != "direction"),
        ),
        DeckMacro(
            "add-moment",
            "System.add_moment",
            ("symbol",),
            ("name", "direction", "magnitude", "body1", "body2", "no-forcem"),
        ),
        DeckMacro(
            "add-point",
            "System.add_point",
            ("symbol",),
            ("name", "body", "coordinates", "coordinate-system"),
        ),
        DeckMacro("add-subroutine", "System.add_external", ("where", "name"), (), ("argument",)),
        DeckMacro(
            "add-variables",
            "returned values of System.add_external, or System.add_input",
            ("where", "type"),
            (),
            ("name",),
        ),
        DeckMacro("large", "System.large", (), (), ("symbol",)),
        DeckMacro("small", "System.small", (), (), ("symbol",)),
        DeckMacro(
            "no-movement", "System.add_loop_joint", ("point1", "point2", "direction"), ("confirm",)
        ),
        DeckMacro(
            "set-defaults", "System.set_defaults, System.set_run", (), (), ("symbol", "number")
        ),
        DeckMacro("set-name", "System.set_labels", (), (), ("symbol", "name")),
        DeckMacro("set-units", "System.set_units", (), (), ("symbol", "units")),
        DeckMacro(
            "add-out",
            "System.add_output",
            ("expression", "short-name"),
            ("long-name", "gen-name", "body", "units"),
        ),
        DeckMacro("add-accelerations-to-output", "System.add_output of every dxdt(u)"),
        DeckMacro("add-coordinates-to-output", 'System.add_outputs("coordinates")'),
        DeckMacro("add-forces-to-output", 'System.add_outputs("forces")'),
        DeckMacro("add-moments-to-output", 'System.add_outputs("moments")'),
        DeckMacro("add-speeds-to-output", 'System.add_outputs("speeds")'),
        *(DeckMacro(units, f'System(units="{units}")') for units in UNIT_SYSTEMS),
        DeckMacro("setf", "System.define, or the name of the System", (), (), ("symbol", "value")),
    )
}


@dataclass(frozen=True)
class MacroArguments:
    """The arguments of one form."""

    form: ListDatum
    macro: DeckMacro
    required: tuple[Datum, ...]
    keywords: dict[str, Datum]
    rest: tuple[tuple[Datum, ...], ...]

    def keyword_value(self, keyword: str, read: Read, default: Any = None) -> Any:
        """What a keyword gives, or the default."""
        return read(self.keywords[keyword], f":{keyword}") if keyword in self.keywords else default

    def system_options(self, **readers: tuple[str, Read]) -> dict[str, Any]:
        """Options of a call on the System, of those keywords that are given."""
        return {
            option: self.keyword_value(*entry)
            for option, entry in readers.items()
            if entry[0] in self.keywords
        }


def find_macro(form: ListDatum) -> DeckMacro:
    """The macro that a form calls."""
    if not form.items:
        raise form.error("the form is empty; it starts with the name of a macro")
    head = form.items[0]
    if not isinstance(head, SymbolDatum):
        raise head.error(f"a form starts with the name of a macro, not with {head.message_text}")
    if head.name not in MACROS:
        listed = ", ".join(MACROS)
        raise head.error(
            f"unknown macro '{head.name}'.{did_you_mean(head.name, MACROS)}\nMacros: {listed}."
        )
    return MACROS[head.name]


def parse_arguments(form: ListDatum) -> MacroArguments:
    """The arguments of a form, sorted and checked."""
    macro, data = find_macro(form), form.items[1:]
    count = len(macro.required)
    first = next((i for i, d in enumerate(data) if isinstance(d, KeywordDatum)), len(data))
    if min(first, len(data)) < count:
        missing = f"'{macro.required[first]}' is missing"
        raise form.error(
            f"{macro.name} needs {pluralize(count, 'argument')}: {missing}.\n{macro.usage_message}"
        )
    required, keyword_data = data[:count], data[count:]
    if macro.rest:
        return MacroArguments(form, macro, required, {}, _read_groups(macro, keyword_data))
    return MacroArguments(form, macro, required, _read_keywords(macro, keyword_data), ())


def _read_groups(macro: DeckMacro, data: tuple[Datum, ...]) -> tuple[tuple[Datum, ...], ...]:
    keyword = next((d for d in data if isinstance(d, KeywordDatum)), None)
    if keyword is not None:
        raise keyword.error(
            f"{macro.name} has no keywords, but {keyword.name} is given.\n{macro.usage_message}"
        )
    size = len(macro.rest)
    if len(data) % size:
        raise data[-1].error(
            f"{macro.name} takes pairs, but {data[-1].message_text} has no "
            f"partner.\n{macro.usage_message}"
        )
    return tuple(data[i : i + size] for i in range(0, len(data), size))


def _read_keywords(macro: DeckMacro, data: tuple[Datum, ...]) -> dict[str, Datum]:
    values: dict[str, Datum] = {}
    for i in range(0, len(data), 2):
        key = data[i]
        if not isinstance(key, KeywordDatum):
            raise key.error(
                f"{key.message_text} is one argument too many for "
                f"{macro.name}.\n{macro.usage_message}"
            )
        name = key.name[1:]
        if name not in macro.keywords:
            listed = ", ".join(f":{k}" for k in macro.keywords) or "none"
            suggestion = did_you_mean(key.name, [f":{k}" for k in macro.keywords])
            raise key.error(
                f"{macro.name} has no keyword {key.name}.{suggestion}\nKeywords: {listed}."
            )
        if name in values:
            raise key.error(f"{key.name} is given twice")
        if i + 1 == len(data) or isinstance(data[i + 1], KeywordDatum):
            raise key.error(f"{key.name} has no value")
        values[name] = data[i + 1]
    return values
