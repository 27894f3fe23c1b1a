"""The parser of one command: names and options in any order.

argparse gives up where a name that may be omitted follows an option (`car new --like formula
my.toml`), and lets an option with as many words as there are take the name of the model as well
(`analyse --sensitivity k model.py`).
"""

from __future__ import annotations

import re
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

from bellcrank.cli.codes import USAGE
from bellcrank.core.errors import did_you_mean

_NEGATIVE = re.compile(r"-\.?\d")  # spans such as -80:80:9 too
OPEN = ("?", "*", "+")  # of an option: it takes as many words as there are


class _ParseFailure(Exception):
    """What is wrong with words, until it is clear that there is no other way to read them."""


class ShortErrors(ArgumentParser):
    """Reports wrong usage in one line."""

    def error(self, message: str) -> NoReturn:
        end = "" if message.endswith((".", "?")) else "."
        self.exit(USAGE, f"{self.prog}: {message}{end} See {self.prog} --help\n")


class CommandParser(ShortErrors):
    """Reads options first, then names from what is left. Where a name lacks, options give back
    their last word."""

    _reading = False

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._negative_number_matcher = (
            _NEGATIVE  # of argparse: what begins with a minus and is no option
        )

    def group(self, title: str) -> Callable[..., Any]:
        """`add_argument` of the group with a title, which is made where it is missing."""
        group = next((g for g in self._action_groups if g.title == title), None)
        return (group or self.add_argument_group(title)).add_argument

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Namespace | None = None
    ) -> tuple[Any, list[str]]:
        if self._reading or args is None or namespace is not None:
            return super().parse_known_args(args, namespace)
        problem, self._reading = "", True
        try:
            for words in (list(args), *self._reinterpretations(list(args))):
                try:
                    parsed, unknown = self.parse_known_intermixed_args(words)
                    if unknown:
                        self.error(self._unknown_argument_message(unknown))
                    return parsed, []
                except _ParseFailure as wrong:
                    problem = problem or str(wrong)
        finally:
            self._reading = False
        self.error(problem)

    def error(self, message: str) -> NoReturn:
        if self._reading:
            raise _ParseFailure(message)
        super().error(message)

    def _unknown_argument_message(self, words: list[str]) -> str:
        suggestion = (
            did_you_mean(words[0], self._option_string_actions) if words[0].startswith("-") else ""
        )
        return f"unrecognized arguments: {' '.join(words)}{suggestion and '.' + suggestion}"

    def short_usage(self) -> str:
        """All options are listed below it."""
        names = (
            self._get_formatter()._format_args(a, str(a.metavar or a.dest))
            for a in self._get_positional_actions()
        )
        return " ".join(["%(prog)s [options]", *names])

    def _reinterpretations(self, words: list[str]) -> Iterator[list[str]]:
        """The words with the last one that an option took as a name, for each such option, the last
        one first."""
        for index in reversed(range(len(words))):
            if words[index] == "--" or not self._is_open(words[index]):
                continue
            end = next(
                (i for i in range(index + 1, len(words)) if words[i].startswith("-")), len(words)
            )
            if end > index + 1:
                yield [words[end - 1], *words[: end - 1], *words[end:]]

    def _is_open(self, word: str) -> bool:
        """Is it an option, possibly shortened, that takes as many words as there are?"""
        options = [o for a in self._actions if a.nargs in OPEN for o in a.option_strings]
        return word in options or (
            word.startswith("--") and any(o.startswith(word) for o in options)
        )
