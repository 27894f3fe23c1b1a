"""Names of a derivation: each is given once. What is asked for again is refused with its first definition; near names
are told."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from bellcrank.errors import ModelError, did_you_mean

NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
RESERVED = {"t": "time", "pi": "the number pi"}


class Names:
    """One name space; look-up ignores case, spelling is kept."""

    def __init__(self, what: str) -> None:
        self.what = what
        self._shown: dict[str, tuple[str, str]] = {}

    def __contains__(self, name: str) -> bool:
        return name.lower() in self._shown

    def __iter__(self) -> Iterator[str]:
        return iter(spelled for spelled, _ in self._shown.values())

    def check(self, listed: Iterable[str]) -> list[str]:
        """The names, if all of them can be given; else one error with every problem."""
        names = list(listed)
        problems = []
        for i, name in enumerate(names):
            if not NAME.fullmatch(name):
                problems.append(f"'{name}' is not a name: letters, digits and _ are allowed, a letter first")
            elif name.lower() in RESERVED:
                problems.append(f"'{name}' is reserved: it is {RESERVED[name.lower()]}")
            elif name.lower() in self._shown:
                problems.append(f"'{name}' is already defined: {self._shown[name.lower()][1]}")
            elif name.lower() in {n.lower() for n in names[:i]}:
                problems.append(f"'{name}' is given twice")
        if problems:
            raise ModelError(problems if len(problems) > 1 else problems[0])
        return names

    def take(self, name: str, shown: str) -> None:
        self._shown[name.lower()] = (name, shown)

    def shown(self, name: str) -> str:
        return self._shown[name.lower()][1]

    def unknown(self, name: str) -> ModelError:
        """The error for a name that is not there."""
        known = ", ".join(self)
        listed = f" Known: {known}." if known and len(known) < 200 else ""
        return ModelError(f"no {self.what} has the name '{name}'.{did_you_mean(name, self)}{listed}")


def split_names(given: Iterable[str]) -> list[str]:
    """("phi1 phi2", "psi") as single names."""
    return [name for text in given for name in re.split(r"[,\s]+", text.strip()) if name]
