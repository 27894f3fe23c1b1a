"""Names of a deck: bodies, points, forces, variables, routines, Lisp symbols with a value, and
scalars met so far.

AUTOSIM evaluates each form as it is read, so a name must have been entered before it is used, and
Q(i) and U(i) count what is there at that moment: speeds that a constraint has removed are no longer
counted (Sayers 1990, section 8.1.6). Here these become the stable names of Bellcrank, q(b, i) and
u(b, i).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from bellcrank.core.errors import ModelError, did_you_mean
from bellcrank.formats.decks.reader import Datum, SymbolDatum
from bellcrank.model.scope import RESERVED

NAME = re.compile(r"[a-z_]\w*", re.ASCII)
POINTS = (
    ("cmb", "cm"),
    ("cm", "cm"),
    ("0", "origin"),
    ("j", "joint"),
)  # endings of the points of a body
FREE = {"fm", "mag", "dir", "norm"}  # functions whose names may be parameters too


@dataclass
class BodyNames:
    """What is needed of a body to count coordinates."""

    name: str
    states: int
    children: list[str] = field(default_factory=list)


@dataclass
class DeckNames:
    """All names entered so far, in lower case."""

    speeds_now: Callable[[], list[str]]
    """The independent speeds of the machine so far; asked only where a constraint may have removed
    some."""
    bodies: dict[str, BodyNames] = field(default_factory=lambda: {"n": BodyNames("n", 0)})
    points: dict[str, str] = field(default_factory=dict)  # name, body
    forces: set[str] = field(default_factory=set)
    variables: dict[str, Datum] = field(default_factory=dict)
    functions: dict[str, int] = field(
        default_factory=dict
    )  # external functions and their number of arguments
    values: dict[str, Datum] = field(default_factory=dict)  # Lisp symbols with a value
    defined: dict[str, str] = field(
        default_factory=dict
    )  # Lisp symbols whose value is a formula: name in the model
    scalars: dict[str, Datum] = field(default_factory=dict)  # parameters met, with the first place
    constrained: bool = False
    gees: str = "g"
    """What the acceleration of gravity GEES is called in the model."""
    composite: set[str] = field(default_factory=set)
    """Bodies whose point CM is used: the mass centre with all that is fixed to the body."""
    centres: dict[str, str] = field(
        default_factory=dict
    )  # these points, where they are not the body's own mass centre

    # ---- what a symbol stands for

    def symbol_name(self, datum: Datum, label: str) -> str:
        """The new or known name that a symbol is."""
        if not isinstance(datum, SymbolDatum):
            raise datum.error(f"{label} must be a symbol, not {datum.message_text}")
        if not NAME.fullmatch(datum.name):
            raise datum.error(
                f"{label} '{datum.name}': a name starts with a letter and holds letters, "
                f"digits and _"
            )
        return datum.name

    def new_name(self, datum: Datum, label: str, existing: Iterable[str]) -> str:
        name = self.symbol_name(datum, label)
        if name in existing:
            raise datum.error(f"{label} '{name}' exists already")
        return name

    def body_name(self, datum: Datum, label: str) -> str:
        return self.known_body(self.symbol_name(datum, label), datum.error, label)

    def known_body(self, name: str, fail: Callable[[str], Exception], label: str = "body") -> str:
        if name not in self.bodies:
            listed = ", ".join(self.bodies)
            raise fail(
                f"{label} '{name}' does not exist.{did_you_mean(name, self.bodies)} Bodies "
                f"so far: {listed}."
            )
        return name

    def point_name(self, datum: Datum, label: str) -> str:
        return self.known_point(self.symbol_name(datum, label), datum.error, label)

    def known_point(self, name: str, fail: Callable[[str], Exception], label: str = "point") -> str:
        """A point as Bellcrank calls it: O is `o`, B0 is `b.origin`."""
        if name in self.points or name == "o":
            return name
        for ending, tail in POINTS:
            body = name.removesuffix(ending)
            if body != name and body in self.bodies and (body != "n" or tail == "origin"):
                if ending == "cm":
                    self.composite.add(body)
                    if body in self.centres:
                        return self.centres[body]
                return "o" if body == "n" else f"{body}.{tail}"
        points = ["o", *self.points, *(f"{b}0" for b in self.bodies if b != "n")]
        raise fail(
            f"{label} '{name}' does not exist.{did_you_mean(name, points)} Points so far: "
            f"{', '.join(points)}."
        )

    def scalar_name(self, name: str, datum: Datum, fail: Callable[[str], Exception]) -> str:
        """A parameter or variable; new ones are parameters."""
        name = self.gees if name == "gees" else name
        if name in ("t", "pi") or name in self.variables:
            return name
        if name in RESERVED - FREE or name in ("x", "x0", "v"):
            hint = " outside of a magnitude" if name in ("x", "x0", "v") else ""
            raise fail(
                f"'{name}' has a meaning of its own and cannot be a parameter{hint}; rename it"
            )
        if name in self.defined.values():
            clash = "is the name of a formula (setf) and cannot be a parameter as well"
            raise fail(f"'{name}' {clash}; rename one of them")
        self.scalars.setdefault(name, datum)
        return name

    # ---- states

    def add_body(self, name: str, parent: str, states: int) -> None:
        self.bodies[name] = BodyNames(name, states)
        self.bodies[parent].children.append(name)

    def remaining_speeds(self) -> list[str]:
        """Stable names of U(1), U(2) ..., without those that constraints have removed."""
        return self.speeds_now() if self.constrained else self._states("u")

    def _states(self, letter: str) -> list[str]:
        """Stable names of Q(1), Q(2) ... or all U(i): bodies depth first, children in order of
        entry."""
        states: list[str] = []
        stack = ["n"]
        while stack:
            body = self.bodies[stack.pop()]
            stack.extend(reversed(body.children))
            if body.states == 1:
                states.append(f"{letter}({body.name})")
            else:
                states.extend(f"{letter}({body.name}, {i})" for i in range(1, body.states + 1))
        return states

    def state_name(self, letter: str, index: int, fail: Callable[[str], Exception]) -> str:
        """The stable name of Q(i), U(i), QP(i) or UP(i), as it is now."""
        try:
            listed = self._states("q") if letter in ("q", "qp") else self.remaining_speeds()
        except ModelError as error:
            reason = "since the machine so far has a problem"
            raise fail(f"{letter}({index}) cannot be counted, {reason}\n{error}") from None
        if not 1 <= index <= len(listed):
            raise fail(f"{letter}({index}) does not exist: there are {len(listed)} of these so far")
        return letter + listed[index - 1][1:]

    def symbol_value(self, datum: Datum) -> Datum:
        """The value of a Lisp symbol that has one; everything else stands for itself."""
        return self.values.get(datum.name, datum) if isinstance(datum, SymbolDatum) else datum


def is_nil(datum: Any) -> bool:
    """NIL and () are false; everything else is true."""
    return (isinstance(datum, SymbolDatum) and datum.name == "nil") or getattr(
        datum, "items", None
    ) == ()
