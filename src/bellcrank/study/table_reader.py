"""Tables of a study file, read piece by piece; what is wrong is collected, with its place."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, overload

from bellcrank.core.errors import ModelError, did_you_mean
from bellcrank.core.numeric.real_numbers import display_text, to_float
from bellcrank.study.study_formulas import names_in_formula


class StudyTableReader:
    """One table, with the place it stands at; all readers of a file share one list of problems."""

    def __init__(
        self, data: Mapping[str, Any], location: str, problems: list[str] | None = None
    ) -> None:
        self.data, self.place = data, location
        self.problems: list[str] = [] if problems is None else problems

    def add_problem(self, sentence: str) -> None:
        self.problems.append(f"{self.place}: {sentence}.")

    def check_keys(self, keys: Sequence[str]) -> None:
        """Names everything that is not among the keys."""
        for key in self.data:
            if key not in keys:
                suggestion = did_you_mean(key, keys)
                self.add_problem(
                    f"'{key}' is not known{f'.{suggestion} It' if suggestion else '; it'} "
                    f"has {', '.join(keys)}"
                )

    def require_keys(self, *keys: str) -> bool:
        missing = [key for key in keys if key not in self.data]
        if missing:
            self.add_problem(
                f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing"
            )
        return not missing

    def sub_table(self, key: str) -> StudyTableReader:
        """A table inside; empty if there is none."""
        entry = self.data.get(key, {})
        if not isinstance(entry, Mapping):
            self.add_problem(f"{key} = {entry!r} must be a table")
            entry = {}
        return StudyTableReader(
            entry, f"[{key}]" if self.place == "the study" else f"{self.place} {key}", self.problems
        )

    def sub_tables(self, key: str) -> list[StudyTableReader]:
        """Tables in a row."""
        entries = self.data.get(key, [])
        if not isinstance(entries, list) or not all(isinstance(x, Mapping) for x in entries):
            self.add_problem(f"{key} must be tables, written as [[{key}]]")
            return []
        return [
            StudyTableReader(x, f"[[{key}]] {i}", self.problems) for i, x in enumerate(entries, 1)
        ]

    @overload
    def read_text(self, key: str, default: str) -> str: ...
    @overload
    def read_text(self, key: str) -> str | None: ...
    def read_text(self, key: str, default: str | None = None) -> str | None:
        value = self.data.get(key, default)
        if value is not None and not isinstance(value, str):
            self.add_problem(f"{key} = {value!r} must be text")
            return default
        return value

    def read_choice(self, key: str, choices: Sequence[str], default: str) -> str:
        value = self.read_text(key, default)
        if value not in choices:
            self.add_problem(f"{key} = {value!r} is not known; it is one of {', '.join(choices)}")
            return default
        return value

    def read_number(self, key: str) -> float | None:
        """A finite number; None where it is missing or wrong."""
        value = self.data.get(key)
        if value is None:
            return None
        number = to_float(value)
        if number is None or not math.isfinite(number):
            self.add_problem(f"{key} = {display_text(value)} must be a finite number")
            return None
        return value if isinstance(value, int) else number

    def read_positive(self, key: str) -> float | None:
        value = self.read_number(key)
        if value is not None and value <= 0:
            self.add_problem(f"{key} = {value!r} must be positive")
            return None
        return value

    def read_integer(self, key: str, minimum: int, default: int | None = None) -> int | None:
        value = self.data.get(key, default)
        if value is None or (
            isinstance(value, int) and not isinstance(value, bool) and value >= minimum
        ):
            return value
        self.add_problem(f"{key} = {value!r} must be a whole number of at least {minimum}")
        return default

    def read_formula(self, key: str) -> float | str | None:
        """A number, or a formula that can be read."""
        value = self.data[key]
        if not isinstance(value, str):
            return self.read_number(key)
        try:
            names_in_formula(value)
        except ModelError as error:
            self.problems.append(f"{self.place}: {key}: {error}")
            return None
        return value
