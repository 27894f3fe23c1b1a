"""Reader: the text of a deck to data, each piece with its place. Nothing is executed.

In:  the text of a file. Out: its top-level forms as `ListDatum`s of symbols, keywords, numbers,
strings, F-strings, unit vectors, lists and arrays (Sayers 1990, Appendix A.1 and A.2). What the
forms mean is left to `interpret`. Work is bounded: long decks, deep nesting and long numbers are
errors, and the reader never calls itself.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from bellcrank.core.errors import ExpressionError, ModelError

LONGEST_DECK = 1_000_000  # characters
DEEPEST = 50  # parentheses inside each other
LONGEST_WORD = 200  # characters of a symbol or number
LONGEST_FORMULA = 20_000  # characters of an F-string

INTEGER = re.compile(r"[+-]?\d+\.?", re.ASCII)
FLOAT = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[esfdl][+-]?\d+)?", re.ASCII | re.IGNORECASE)
RATIO = re.compile(r"([+-]?\d+)/(\d+)", re.ASCII)
UNIT_VECTOR = re.compile(r"\[\s*([a-z_][\w.]*?)\s*([123])\s*\]", re.ASCII | re.IGNORECASE)
WORD_END = re.compile(r"""[\s()"';,`]""")
STRING, FORMULA = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL), re.compile(r'"([^"]*)"')
BLOCK = re.compile(r"#\||\|#")


class DeckSource:
    """The text of a deck, which knows line and column of every character."""

    def __init__(self, text: str, name: str = "deck") -> None:
        self.text, self.name = text, name
        self._starts = [0, *(m.end() for m in re.finditer("\n", text))]

    def line_and_column(self, offset: int) -> tuple[int, int]:
        """Line and column of a character, both from 1."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def error_at(self, offset: int, message: str) -> ExpressionError:
        """The error for something wrong at this place."""
        line, column = self.line_and_column(offset)
        return ExpressionError(
            f"{self.name}, line {line}, column {column}: {message}", self.text, offset
        )


@dataclass(frozen=True, slots=True)
class Datum:
    """A piece of a deck; `offset` is that of its first character."""

    source: DeckSource = field(repr=False, compare=False)
    offset: int = field(compare=False)

    @property
    def line(self) -> int:
        return self.source.line_and_column(self.offset)[0]

    @property
    def message_text(self) -> str:
        """The piece in messages."""
        return SHOWN[type(self)].format(self)

    def error(self, message: str) -> ExpressionError:
        return self.source.error_at(self.offset, message)


@dataclass(frozen=True, slots=True)
class WordDatum(Datum):
    name: str


class SymbolDatum(WordDatum):
    """A name; `name` is in lower case, since capitals do not matter."""


class KeywordDatum(WordDatum):
    """:name, given with its colon in lower case."""


@dataclass(frozen=True, slots=True)
class NumberDatum(Datum):
    value: int | float


@dataclass(frozen=True, slots=True)
class TextDatum(Datum):
    text: str


class StringDatum(TextDatum):
    """Words in double quotes."""


class FormulaStringDatum(TextDatum):
    """!"formula"; `offset` is that of the first character of the formula."""


@dataclass(frozen=True, slots=True)
class UnitVectorDatum(Datum):
    """[b1]"""

    body: str
    axis: int


@dataclass(frozen=True, slots=True)
class CompoundDatum(Datum):
    items: tuple[Datum, ...]


class ListDatum(CompoundDatum):
    """(...)"""


class ArrayDatum(CompoundDatum):
    """#(...)"""


class MatrixDatum(CompoundDatum):
    """#2a((...) (...))"""


OPENED = {"(": ListDatum, "#(": ArrayDatum, "#2a(": MatrixDatum}
SHOWN = {
    SymbolDatum: "{0.name}",
    KeywordDatum: "{0.name}",
    NumberDatum: "{0.value:g}",
    StringDatum: '"{0.text}"',
    FormulaStringDatum: '!"{0.text}"',
    UnitVectorDatum: "[{0.body}{0.axis}]",
    ArrayDatum: "an array #(...)",
    MatrixDatum: "a matrix #2a(...)",
    ListDatum: "a list (...)",
}


def walk_data(forms: Iterable[Datum]) -> Iterator[Datum]:
    """All pieces of forms."""
    stack = list(forms)
    while stack:
        datum = stack.pop()
        yield datum
        stack.extend(datum.items if isinstance(datum, CompoundDatum) else ())


def read_deck(text: str, name: str = "deck") -> list[ListDatum]:
    """The top-level forms of a deck."""
    if len(text) > LONGEST_DECK:
        raise ModelError(
            f"{name}: a deck may have {LONGEST_DECK} characters, this one has {len(text)}"
        )
    return _DeckReader(DeckSource(text, name)).read()


@dataclass
class _OpenParenthesis:
    """A parenthesis that waits to be closed: `kind` is what came before it."""

    kind: str
    offset: int
    items: list[Datum]
    inside: int | None = None  # where a form seems to start anew, at the beginning of a line


class _DeckReader:
    def __init__(self, source: DeckSource) -> None:
        self.source, self.text = source, source.text
        self.stack: list[_OpenParenthesis] = []
        self.forms: list[ListDatum] = []

    def read(self) -> list[ListDatum]:
        for kind, offset in self._read_tokens():
            if kind == ")":
                self._pop_parenthesis(offset)
            else:
                self._push_parenthesis(kind, offset)
        if self.stack:
            first = self.stack[0]
            hint = "; the form at line {} starts inside it"
            remark = (
                ""
                if first.inside is None
                else hint.format(self.source.line_and_column(first.inside)[0])
            )
            raise self.source.error_at(first.offset, f"'(' is never closed{remark}")
        return self.forms

    def _push_parenthesis(self, kind: str, offset: int) -> None:
        if len(self.stack) >= DEEPEST:
            raise self.source.error_at(offset, f"parentheses may be {DEEPEST} deep")
        if (
            self.stack
            and self.stack[0].inside is None
            and self.source.line_and_column(offset)[1] == 1
        ):
            self.stack[0].inside = offset
        self.stack.append(_OpenParenthesis(kind, offset, []))

    def _pop_parenthesis(self, offset: int) -> None:
        if not self.stack:
            raise self.source.error_at(offset, "')' without '('")
        top = self.stack.pop()
        self._append_datum(OPENED[top.kind](self.source, top.offset, tuple(top.items)))

    def _append_datum(self, datum: Datum) -> None:
        if self.stack:
            self.stack[-1].items.append(datum)
        elif isinstance(datum, ListDatum):
            self.forms.append(datum)
        else:
            raise datum.error(
                f"{datum.message_text} stands outside of all forms; a form is a list such "
                f"as (reset)"
            )

    def _read_tokens(self) -> Iterator[tuple[str, int]]:
        """Parentheses with what opens them; everything else is read on the way."""
        text, position, end = self.text, 0, len(self.text)
        while position < end:
            c = text[position]
            if c.isspace() or c == "'":  # a quote: nothing is evaluated here anyway
                position += 1
            elif c == ";":
                line_end = text.find("\n", position)
                position = end if line_end < 0 else line_end
            elif text.startswith("#|", position):
                position = self._block_comment(position)
            elif c in "()":
                yield c, position
                position += 1
            elif c in '"!':
                position = self._read_string(position)
            elif c == "#":
                opened = next(
                    (w for w in OPENED if text[position : position + len(w)].lower() == w), None
                )
                if opened is None:
                    raise self.source.error_at(
                        position, "after '#' comes ( or 2a(; nothing else is read"
                    )
                yield opened, position
                position += len(opened)
            elif c == "[":
                position = self._unit_vector(position)
            elif c in ",`":
                raise self.source.error_at(
                    position, f"{c!r} has no meaning in a deck: nothing is evaluated"
                )
            else:
                position = self._read_word(position)

    def _block_comment(self, position: int) -> int:
        start, depth = position, 0
        while True:
            match = BLOCK.search(self.text, position)
            if match is None:
                raise self.source.error_at(start, "the comment '#|' is never closed by '|#'")
            depth += 1 if match[0] == "#|" else -1
            position = match.end()
            if depth == 0:
                return position

    def _read_string(self, position: int) -> int:
        formula = self.text[position] == "!"
        start = position + formula
        if formula and not self.text.startswith('"', start):
            raise self.source.error_at(position, "after '!' comes a formula in double quotes")
        match = (FORMULA if formula else STRING).match(self.text, start)
        if match is None:
            raise self.source.error_at(start, "the string is never closed")
        inside = match[1]
        if len(inside) > LONGEST_FORMULA:
            raise self.source.error_at(
                start, f"a string may have {LONGEST_FORMULA} characters, this one has {len(inside)}"
            )
        if formula:
            self._append_datum(FormulaStringDatum(self.source, start + 1, inside))
        else:
            self._append_datum(
                StringDatum(self.source, start, re.sub(r"\\(.)", r"\1", inside, flags=re.DOTALL))
            )
        return match.end()

    def _unit_vector(self, position: int) -> int:
        match = UNIT_VECTOR.match(self.text, position)
        if match is None:
            raise self.source.error_at(
                position, "a unit vector is written [b1]: a body and an axis 1, 2 or 3"
            )
        self._append_datum(UnitVectorDatum(self.source, position, match[1].lower(), int(match[2])))
        return match.end()

    def _read_word(self, position: int) -> int:
        match = WORD_END.search(self.text, position)
        end = match.start() if match else len(self.text)
        word = self.text[position:end]
        bad_index = next((i for i, c in enumerate(word) if not "!" <= c <= "~"), None)
        if bad_index is not None:
            raise self.source.error_at(
                position + bad_index, f"unexpected character {word[bad_index]!r}"
            )
        if len(word) > LONGEST_WORD:
            raise self.source.error_at(
                position, f"a word may have {LONGEST_WORD} characters, this one has {len(word)}"
            )
        if word.startswith(":"):
            self._append_datum(KeywordDatum(self.source, position, word.lower()))
        else:
            value = self._parse_number(word, position)
            self._append_datum(
                SymbolDatum(self.source, position, word.lower())
                if value is None
                else NumberDatum(self.source, position, value)
            )
        return end

    def _parse_number(self, word: str, position: int) -> int | float | None:
        if INTEGER.fullmatch(word):
            value: int | float = int(word.rstrip("."))
        elif FLOAT.fullmatch(word):
            value = float(re.sub("[sfdl]", "e", word.lower()))
        elif ratio := RATIO.fullmatch(word):
            if int(ratio[2]) == 0:
                raise self.source.error_at(position, f"{word}: the denominator is zero")
            value = int(ratio[1]) / int(ratio[2]) if abs(int(ratio[1])) < 10**300 else math.inf
        else:
            return None
        if abs(value) > 1e300:
            raise self.source.error_at(position, f"{word} is too large")
        return value
