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

    def __init__(self, data: Mapping[str, Any], location: str, problems: list[str] | None = None) -> None:
        self.data, self.place = data, location
        self.problems: list[str] = [] if problems is None else problems

    def problem(self, sentence: str) -> None:
        self.problems.append(f"{self.place}: {sentence}.")

    def known(self, keys: Sequence[str]) -> None:
        """Names everything that is not among the keys."""
        for key in self.data:
            if key not in keys:
                suggestion = did_you_mean(key, keys)
                self.problem(
                    f"'{key}' is not known{f'.{suggestion} It' if suggestion else '; it'} has {', '.join(keys)}"
                )

    def needs(self, *keys: str) -> bool:
        missing = [key for key in keys if key not in self.data]
        if missing:
            self.problem(f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing")
        return not missing

    def table(self, key: str) -> Reader:
        """A table inside; empty if there is none."""
        entry = self.data.get(key, {})
        if not isinstance(entry, Mapping):
            self.problem(f"{key} = {entry!r} must be a table")
            entry = {}
        return Reader(entry, f"[{key}]" if self.place == "the study" else f"{self.place} {key}", self.problems)

    def tables(self, key: str) -> list[Reader]:
        """Tables in a row."""
        entries = self.data.get(key, [])
        if not isinstance(entries, list) or not all(isinstance(x, Mapping) for x in entries):
            self.problem(f"{key} must be tables, written as [[{key}]]")
            return []
        return [Reader(x, f"[[{key}]] {i}", self.problems) for i, x in enumerate(entries, 1)]

    @overload
    def text(self, key: str, default: str) -> str: ...
    @overload
    def text(self, key: str) -> str | None: ...
    def text(self, key: str, default: str | None = None) -> str | None:
        value = self.data.get(key, default)
        if value is not None and not isinstance(value, str):
            self.problem(f"{key} = {value!r} must be text")
            return default
        return value

    def choice(self, key: str, choices: Sequence[str], default: str) -> str:
        value = self.text(key, default)
        if value not in choices:
            self.problem(f"{key} = {value!r} is not known; it is one of {', '.join(choices)}")
            return default
        return value

    def number(self, key: str) -> float | None:
        """A finite number; None where it is missing or wrong."""
        value = self.data.get(key)
        if value is None:
            return None
        number = real(value)
        if number is None or not math.isfinite(number):
            self.problem(f"{key} = {displayed(value)} must be a finite number")
            return None
        return value if isinstance(value, int) else number

    def positive(self, key: str) -> float | None:
        value = self.number(key)
        if value is not None and value <= 0:
            self.problem(f"{key} = {value!r} must be positive")
            return None
        return value

    def whole(self, key: str, minimum: int, default: int | None = None) -> int | None:
        value = self.data.get(key, default)
        if value is None or (isinstance(value, int) and not isinstance(value, bool) and value >= minimum):
            return value
        self.problem(f"{key} = {value!r} must be a whole number of at least {minimum}")
        return default

    def formula(self, key: str) -> float | str | None:
        """A number, or a formula that can be read."""
        value = self.data[key]
        if not isinstance(value, str):
            return self.number(key)
        try:
            names_in(value)
        except ModelError as error:
            self.problems.append(f"{self.place}: {key}: {error}")
            return None
        return value
