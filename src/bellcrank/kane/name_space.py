"""Names of a derivation: each is given once; a second time is rejected with the first
definition."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Generic, TypeVar

from bellcrank.core.errors import ModelError, did_you_mean
from bellcrank.core.name_lookup import find_name
from bellcrank.kane.frames import Frame
from bellcrank.kane.motion import Point
from bellcrank.symbolic.expr import Symbol

Thing = TypeVar("Thing", Frame, Point, Symbol)

NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
RESERVED = {"t": "time", "pi": "the number pi"}


class NameSpace(Generic[Thing]):
    """One name space with what its names stand for. Names may differ by `capitals` alone, or not;
    whoever looks one up may write capitals otherwise where only one name can be meant."""

    def __init__(self, noun: str, kind: type[Thing], capitals: bool = False) -> None:
        self.what, self.capitals = noun, capitals
        self.kind: type[Thing] = kind
        self._shown: dict[str, str] = {}
        self._things: dict[str, Thing] = {}

    def __contains__(self, name: str) -> bool:
        return self._normalized(name) in self._things

    def __iter__(self) -> Iterator[str]:
        return iter(thing.name for thing in self._things.values())

    def check_names(self, listed: Iterable[str]) -> list[str]:
        """The names, if all of them can be given; else one error with every problem."""
        names = list(listed)
        problems = []
        for i, name in enumerate(names):
            if not NAME.fullmatch(name):
                problems.append(
                    f"'{name}' is not a name: letters, digits and _ are allowed, a letter first"
                )
            elif name.lower() in RESERVED and name != "T":  # only t is time
                problems.append(f"'{name}' is reserved: it is {RESERVED[name.lower()]}")
            elif self._normalized(name) in self._shown:
                problems.append(
                    f"'{name}' is already defined: {self._shown[self._normalized(name)]}"
                )
            elif self._normalized(name) in map(self._normalized, names[:i]):
                problems.append(f"'{name}' is given twice")
        if problems:
            raise ModelError(problems if len(problems) > 1 else problems[0])
        return names

    def add_name(self, thing: Thing, description: str) -> None:
        """Gives a thing its name; `description` says what it is."""
        self._shown[self._normalized(thing.name)] = description
        self._things[self._normalized(thing.name)] = thing

    def get(self, name: str) -> Thing | None:
        exact = self._things.get(self._normalized(name))
        if exact is not None or not self.capitals:
            return exact
        match = find_name(name, self._things, self.what)
        return None if match is None else self._things[match]

    def _normalized(self, name: str) -> str:
        return name if self.capitals else name.lower()

    def find(self, reference: Thing | str) -> Thing:
        """What a name stands for, or what is given itself."""
        if isinstance(reference, self.kind):
            return reference
        thing = self.get(str(reference))
        if thing is None:
            known_names = ", ".join(self)
            listed = f" Known: {known_names}." if known_names and len(known_names) < 200 else ""
            raise ModelError(
                f"no {self.what} has the name "
                f"'{reference}'.{did_you_mean(str(reference), self)}{listed}"
            )
        return thing


def split_names(texts: Iterable[str]) -> list[str]:
    """("phi1 phi2", "psi") as single names."""
    return [name for text in texts for name in re.split(r"[,\s]+", text.strip()) if name]
