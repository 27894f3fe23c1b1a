"""Tables of a study file, read piece by piece; what is wrong is collected, with its place."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, overload

from bellcrank.errors import ModelError, did_you_mean
from bellcrank.numeric.real import displayed, real
from bellcrank.study.formulas import names_in


class Reader:
    """One table, with the place it stands at; all readers of a file share one list of problems."""

    def __init__(self, data: Mapping[str, Any], place: str, problems: list[str] | None = None) -> None:
        self.data, self.place = data, place
        self.problems: list[str] = [] if problems is None else problems

    def problem(self, sentence: str) -> None:
        self.problems.append(f"{self.place}: {sentence}.")

    def known(self, keys: Sequence[str]) -> None:
        """Names everything that is not among the keys."""
        for key in self.data:
            if key not in keys:
                near = did_you_mean(key, keys)
                self.problem(f"'{key}' is not known{f'.{near} It' if near else '; it'} has {', '.join(keys)}")

    def needs(self, *keys: str) -> bool:
        missing = [key for key in keys if key not in self.data]
        if missing:
            self.problem(f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing")
        return not missing

    def table(self, key: str) -> Reader:
        """A table inside; empty if there is none."""
        given = self.data.get(key, {})
        if not isinstance(given, Mapping):
            self.problem(f"{key} = {given!r} must be a table")
            given = {}
        return Reader(given, f"[{key}]" if self.place == "the study" else f"{self.place} {key}", self.problems)

    def tables(self, key: str) -> list[Reader]:
        """Tables in a row."""
        given = self.data.get(key, [])
        if not isinstance(given, list) or not all(isinstance(x, Mapping) for x in given):
            self.problem(f"{key} must be tables, written as [[{key}]]")
            return []
        return [Reader(x, f"[[{key}]] {i}", self.problems) for i, x in enumerate(given, 1)]

    @overload
    def text(self, key: str, default: str) -> str: ...
    @overload
    def text(self, key: str) -> str | None: ...
    def text(self, key: str, default: str | None = None) -> str | None:
        given = self.data.get(key, default)
        if given is not None and not isinstance(given, str):
            self.problem(f"{key} = {given!r} must be text")
            return default
        return given

    def choice(self, key: str, allowed: Sequence[str], default: str) -> str:
        given = self.text(key, default)
        if given not in allowed:
            self.problem(f"{key} = {given!r} is not known; it is one of {', '.join(allowed)}")
            return default
        return given

    def number(self, key: str) -> float | None:
        """A finite number; None where it is missing or wrong."""
        given = self.data.get(key)
        if given is None:
            return None
        found = real(given)
        if found is None or not math.isfinite(found):
            self.problem(f"{key} = {displayed(given)} must be a finite number")
            return None
        return given if isinstance(given, int) else found

    def positive(self, key: str) -> float | None:
        found = self.number(key)
        if found is not None and found <= 0:
            self.problem(f"{key} = {found!r} must be positive")
            return None
        return found

    def whole(self, key: str, least: int, default: int | None = None) -> int | None:
        given = self.data.get(key, default)
        if given is None or (isinstance(given, int) and not isinstance(given, bool) and given >= least):
            return given
        self.problem(f"{key} = {given!r} must be a whole number of at least {least}")
        return default

    def formula(self, key: str) -> float | str | None:
        """A number, or a formula that can be read."""
        given = self.data[key]
        if not isinstance(given, str):
            return self.number(key)
        try:
            names_in(given)
        except ModelError as error:
            self.problems.append(f"{self.place}: {key}: {error}")
            return None
        return given
