"""The parser of one command: names and options in any order.

argparse gives up where a name that may be omitted follows an option (`car new --like formula my.toml`), and lets an
option with as many words as there are take the name of the model as well (`analyse --sensitivity k model.py`).
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

OPEN = ("?", "*", "+")  # of an option: it takes as many words as there are


class _Wrong(Exception):
    """What is wrong with words, until it is clear that there is no other way to read them."""


class CommandParser(ArgumentParser):
    """Reads options first, then names from what is left. Where a name lacks, options give back their last word."""

    _reading = False

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Namespace | None = None
    ) -> tuple[Any, list[str]]:
        if self._reading or args is None or namespace is not None:
            return super().parse_known_args(args, namespace)
        problem, self._reading = "", True
        try:
            for words in (list(args), *self._given_back(list(args))):
                try:
                    return self.parse_known_intermixed_args(words)
                except _Wrong as wrong:
                    problem = problem or str(wrong)
        finally:
            self._reading = False
        self.error(problem)

    def error(self, message: str) -> NoReturn:
        if self._reading:
            raise _Wrong(message)
        super().error(message)

    def _given_back(self, words: list[str]) -> Iterator[list[str]]:
        """The words with the last one that an option took as a name, for each such option, the last one first."""
        for place in reversed(range(len(words))):
            if words[place] == "--" or not self._is_open(words[place]):
                continue
            end = next((i for i in range(place + 1, len(words)) if words[i].startswith("-")), len(words))
            if end > place + 1:
                yield [words[end - 1], *words[: end - 1], *words[end:]]

    def _is_open(self, word: str) -> bool:
        """Is it an option, possibly shortened, that takes as many words as there are?"""
        options = [o for a in self._actions if a.nargs in OPEN for o in a.option_strings]
        return word in options or (word.startswith("--") and any(o.startswith(word) for o in options))
