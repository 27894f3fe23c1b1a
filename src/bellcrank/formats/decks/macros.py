"""The macros of a deck: their arguments, and what each becomes (Sayers 1990, Tables A.3.1 to A.3.3).

In:  a form. Out: its `Arguments`, checked: required ones there, keywords known, given once and with a value.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bellcrank.errors import counted, did_you_mean
from bellcrank.formats.decks.reader import Datum, Keyword, List, Symbol
from bellcrank.units import UNIT_SYSTEMS

Read = Callable[[Datum, str], Any]  # an argument, and what it is called, to its value


@dataclass(frozen=True)
class Macro:
    """A macro: names of its required arguments, its keywords, and what may follow again and again."""

    name: str
    becomes: str
    required: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    rest: tuple[str, ...] = ()

    @property
    def usage(self) -> str:
        words = " ".join([self.name, *self.required, *(f":{k}" for k in self.keywords)])
        return f"It is written ({words}{' {' + ' '.join(self.rest) + '}*' if self.rest else ''})."


_BODY = (
    "parent", "name", "mass", "inertia-matrix", "coordinate-system", "joint-coordinates", "cm-coordinates", "translate",
    "parent-rotation-axis", "body-rotation-axes", "reference-axis", "small-angles", "small-translations",
)  # fmt: skip
_FORCE = ("name", "direction", "magnitude", "point1", "point2", "x", "x0", "v", "no-forcem")

MACROS = {
    m.name: m
    for m in (
        Macro("reset", "a new System"),
        Macro("dynamics", "System.equations, when they are asked for"),
        Macro("write-sim", "Equations.export, when it is asked for"),
        Macro("add-body", "System.add_body", ("symbol",), _BODY),
        Macro("add-constraint", "System.add_constraint", ("zero-exp",), ("variable",)),
        Macro("add-gravity", "System.add_gravity", (), ("direction", "gees")),
        Macro("add-line-force", "System.add_force", ("symbol",), _FORCE),
        Macro("add-strut", "System.add_strut", ("symbol",), tuple(k for k in _FORCE if k != "direction")),
        Macro("add-moment", "System.add_moment", ("symbol",),
              ("name", "direction", "magnitude", "body1", "body2", "no-forcem")),
        Macro("add-point", "System.add_point", ("symbol",), ("name", "body", "coordinates", "coordinate-system")),
        Macro("add-subroutine", "System.add_external", ("where", "name"), (), ("argument",)),
        Macro("add-variables", "returned values of System.add_external, or System.add_input",
              ("where", "type"), (), ("name",)),
        Macro("large", "System.large", (), (), ("symbol",)),
        Macro("small", "System.small", (), (), ("symbol",)),
        Macro("no-movement", "System.add_loop_joint", ("point1", "point2", "direction"), ("confirm",)),
        Macro("set-defaults", "System.set_defaults, System.set_run", (), (), ("symbol", "number")),
        Macro("set-name", "System.set_labels", (), (), ("symbol", "name")),
        Macro("set-units", "System.set_units", (), (), ("symbol", "units")),
        Macro("add-out", "System.add_output", ("expression", "short-name"), ("long-name", "gen-name", "body", "units")),
        Macro("add-accelerations-to-output", "System.add_output of every dxdt(u)"),
        Macro("add-coordinates-to-output", 'System.add_outputs("coordinates")'),
        Macro("add-forces-to-output", 'System.add_outputs("forces")'),
        Macro("add-moments-to-output", 'System.add_outputs("moments")'),
        Macro("add-speeds-to-output", 'System.add_outputs("speeds")'),
        *(Macro(units, f'System(units="{units}")') for units in UNIT_SYSTEMS),
        Macro("setf", "System.define, or the name of the System", (), (), ("symbol", "value")),
    )
}  # fmt: skip


@dataclass(frozen=True)
class Arguments:
    """The arguments of one form."""

    form: List
    macro: Macro
    required: tuple[Datum, ...]
    keywords: dict[str, Datum]
    rest: tuple[tuple[Datum, ...], ...]

    def get(self, keyword: str, read: Read, default: Any = None) -> Any:
        """What a keyword gives, or the default."""
        return read(self.keywords[keyword], f":{keyword}") if keyword in self.keywords else default

    def options(self, **readers: tuple[str, Read]) -> dict[str, Any]:
        """Options of a call on the System, of those keywords that are given."""
        return {option: self.get(*entry) for option, entry in readers.items() if entry[0] in self.keywords}


def macro_of(form: List) -> Macro:
    """The macro that a form calls."""
    if not form.items:
        raise form.fail("the form is empty; it starts with the name of a macro")
    head = form.items[0]
    if not isinstance(head, Symbol):
        raise head.fail(f"a form starts with the name of a macro, not with {head.shown}")
    if head.name not in MACROS:
        listed = ", ".join(MACROS)
        raise head.fail(f"unknown macro '{head.name}'.{did_you_mean(head.name, MACROS)}\nMacros: {listed}.")
    return MACROS[head.name]


def arguments(form: List) -> Arguments:
    """The arguments of a form, sorted and checked."""
    macro, data = macro_of(form), form.items[1:]
    count = len(macro.required)
    first = next((i for i, d in enumerate(data) if isinstance(d, Keyword)), len(data))
    if min(first, len(data)) < count:
        missing = f"'{macro.required[first]}' is missing"
        raise form.fail(f"{macro.name} needs {counted(count, 'argument')}: {missing}.\n{macro.usage}")
    required, keyword_data = data[:count], data[count:]
    if macro.rest:
        return Arguments(form, macro, required, {}, _groups(macro, keyword_data))
    return Arguments(form, macro, required, _keywords(macro, keyword_data), ())


def _groups(macro: Macro, data: tuple[Datum, ...]) -> tuple[tuple[Datum, ...], ...]:
    keyword = next((d for d in data if isinstance(d, Keyword)), None)
    if keyword is not None:
        raise keyword.fail(f"{macro.name} has no keywords, but {keyword.name} is given.\n{macro.usage}")
    size = len(macro.rest)
    if len(data) % size:
        raise data[-1].fail(f"{macro.name} takes pairs, but {data[-1].shown} has no partner.\n{macro.usage}")
    return tuple(data[i : i + size] for i in range(0, len(data), size))


def _keywords(macro: Macro, data: tuple[Datum, ...]) -> dict[str, Datum]:
    values: dict[str, Datum] = {}
    for i in range(0, len(data), 2):
        key = data[i]
        if not isinstance(key, Keyword):
            raise key.fail(f"{key.shown} is one argument too many for {macro.name}.\n{macro.usage}")
        name = key.name[1:]
        if name not in macro.keywords:
            listed = ", ".join(f":{k}" for k in macro.keywords) or "none"
            suggestion = did_you_mean(key.name, [f":{k}" for k in macro.keywords])
            raise key.fail(f"{macro.name} has no keyword {key.name}.{suggestion}\nKeywords: {listed}.")
        if name in values:
            raise key.fail(f"{key.name} is given twice")
        if i + 1 == len(data) or isinstance(data[i + 1], Keyword):
            raise key.fail(f"{key.name} has no value")
        values[name] = data[i + 1]
    return values
