"""Reader: the text of a deck to data, each piece with its place. Nothing is executed.

In:  the text of a file. Out: its top-level forms as `List`s of symbols, keywords, numbers, strings, F-strings, unit
vectors, lists and arrays (Sayers 1990, Appendix A.1 and A.2). What the forms mean is left to `interpret`. Work is
bounded: long decks, deep nesting and long numbers are errors, and the reader never calls itself.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from bellcrank.errors import ExpressionError, ModelError

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


class Source:
    """The text of a deck, which knows line and column of every character."""

    def __init__(self, text: str, name: str = "deck") -> None:
        self.text, self.name = text, name
        self._starts = [0, *(m.end() for m in re.finditer("\n", text))]

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column of a character, both from 1."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def fail(self, offset: int, message: str) -> ExpressionError:
        """The error for something wrong at this place."""
        line, column = self.place(offset)
        return ExpressionError(f"{self.name}, line {line}, column {column}: {message}", self.text, offset)


@dataclass(frozen=True, slots=True)
class Datum:
    """A piece of a deck; `offset` is that of its first character."""

    source: Source = field(repr=False, compare=False)
    offset: int = field(compare=False)

    @property
    def line(self) -> int:
        return self.source.place(self.offset)[0]

    @property
    def shown(self) -> str:
        """The piece in messages."""
        return SHOWN[type(self)].format(self)

    def fail(self, message: str) -> ExpressionError:
        return self.source.fail(self.offset, message)


@dataclass(frozen=True, slots=True)
class Word(Datum):
    name: str


class Symbol(Word):
    """A name; `name` is in lower case, since capitals do not matter."""


class Keyword(Word):
    """:name, given with its colon in lower case."""


@dataclass(frozen=True, slots=True)
class Number(Datum):
    value: int | float


@dataclass(frozen=True, slots=True)
class Text(Datum):
    text: str


class String(Text):
    """Words in double quotes."""


class FString(Text):
    """!"formula"; `offset` is that of the first character of the formula."""


@dataclass(frozen=True, slots=True)
class UnitVector(Datum):
    """[b1]"""

    body: str
    axis: int


@dataclass(frozen=True, slots=True)
class Several(Datum):
    items: tuple[Datum, ...]


class List(Several):
    """(...)"""


class Array(Several):
    """#(...)"""


class Matrix(Several):
    """#2a((...) (...))"""


OPENED = {"(": List, "#(": Array, "#2a(": Matrix}
SHOWN = {
    Symbol: "{0.name}", Keyword: "{0.name}", Number: "{0.value:g}", String: '"{0.text}"', FString: '!"{0.text}"',
    UnitVector: "[{0.body}{0.axis}]", Array: "an array #(...)", Matrix: "a matrix #2a(...)", List: "a list (...)",
}  # fmt: skip


def everything(forms: Iterable[Datum]) -> Iterator[Datum]:
    """All pieces of forms."""
    stack = list(forms)
    while stack:
        datum = stack.pop()
        yield datum
        stack.extend(datum.items if isinstance(datum, Several) else ())


def read_deck(text: str, name: str = "deck") -> list[List]:
    """The top-level forms of a deck."""
    if len(text) > LONGEST_DECK:
        raise ModelError(f"{name}: a deck may have {LONGEST_DECK} characters, this one has {len(text)}")
    return _Reader(Source(text, name)).run()


@dataclass
class _Open:
    """A parenthesis that waits to be closed: `kind` is what came before it."""

    kind: str
    offset: int
    items: list[Datum]
    inside: int | None = None  # where a form seems to start anew, at the beginning of a line


class _Reader:
    def __init__(self, source: Source) -> None:
        self.source, self.text = source, source.text
        self.stack: list[_Open] = []
        self.forms: list[List] = []

    def run(self) -> list[List]:
        for kind, offset in self._tokens():
            if kind == ")":
                self._close(offset)
            else:
                self._open(kind, offset)
        if self.stack:
            first = self.stack[0]
            hint = "; the form at line {} starts inside it"
            remark = "" if first.inside is None else hint.format(self.source.place(first.inside)[0])
            raise self.source.fail(first.offset, f"'(' is never closed{remark}")
        return self.forms

    def _open(self, kind: str, offset: int) -> None:
        if len(self.stack) >= DEEPEST:
            raise self.source.fail(offset, f"parentheses may be {DEEPEST} deep")
        if self.stack and self.stack[0].inside is None and self.source.place(offset)[1] == 1:
            self.stack[0].inside = offset
        self.stack.append(_Open(kind, offset, []))

    def _close(self, offset: int) -> None:
        if not self.stack:
            raise self.source.fail(offset, "')' without '('")
        top = self.stack.pop()
        self._add(OPENED[top.kind](self.source, top.offset, tuple(top.items)))

    def _add(self, datum: Datum) -> None:
        if self.stack:
            self.stack[-1].items.append(datum)
        elif isinstance(datum, List):
            self.forms.append(datum)
        else:
            raise datum.fail(f"{datum.shown} stands outside of all forms; a form is a list such as (reset)")

    def _tokens(self) -> Iterator[tuple[str, int]]:
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
                position = self._string(position)
            elif c == "#":
                opened = next((w for w in OPENED if text[position : position + len(w)].lower() == w), None)
                if opened is None:
                    raise self.source.fail(position, "after '#' comes ( or 2a(; nothing else is read")
                yield opened, position
                position += len(opened)
            elif c == "[":
                position = self._unit_vector(position)
            elif c in ",`":
                raise self.source.fail(position, f"{c!r} has no meaning in a deck: nothing is evaluated")
            else:
                position = self._word(position)

    def _block_comment(self, position: int) -> int:
        start, depth = position, 0
        while True:
            match = BLOCK.search(self.text, position)
            if match is None:
                raise self.source.fail(start, "the comment '#|' is never closed by '|#'")
            depth += 1 if match[0] == "#|" else -1
            position = match.end()
            if depth == 0:
                return position

    def _string(self, position: int) -> int:
        formula = self.text[position] == "!"
        start = position + formula
        if formula and not self.text.startswith('"', start):
            raise self.source.fail(position, "after '!' comes a formula in double quotes")
        match = (FORMULA if formula else STRING).match(self.text, start)
        if match is None:
            raise self.source.fail(start, "the string is never closed")
        inside = match[1]
        if len(inside) > LONGEST_FORMULA:
            raise self.source.fail(start, f"a string may have {LONGEST_FORMULA} characters, this one has {len(inside)}")
        if formula:
            self._add(FString(self.source, start + 1, inside))
        else:
            self._add(String(self.source, start, re.sub(r"\\(.)", r"\1", inside, flags=re.DOTALL)))
        return match.end()

    def _unit_vector(self, position: int) -> int:
        match = UNIT_VECTOR.match(self.text, position)
        if match is None:
            raise self.source.fail(position, "a unit vector is written [b1]: a body and an axis 1, 2 or 3")
        self._add(UnitVector(self.source, position, match[1].lower(), int(match[2])))
        return match.end()

    def _word(self, position: int) -> int:
        match = WORD_END.search(self.text, position)
        end = match.start() if match else len(self.text)
        word = self.text[position:end]
        bad_index = next((i for i, c in enumerate(word) if not "!" <= c <= "~"), None)
        if bad_index is not None:
            raise self.source.fail(position + bad_index, f"unexpected character {word[bad_index]!r}")
        if len(word) > LONGEST_WORD:
            raise self.source.fail(position, f"a word may have {LONGEST_WORD} characters, this one has {len(word)}")
        if word.startswith(":"):
            self._add(Keyword(self.source, position, word.lower()))
        else:
            value = self._number(word, position)
            self._add(
                Symbol(self.source, position, word.lower()) if value is None else Number(self.source, position, value)
            )
        return end

    def _number(self, word: str, position: int) -> int | float | None:
        if INTEGER.fullmatch(word):
            value: int | float = int(word.rstrip("."))
        elif FLOAT.fullmatch(word):
            value = float(re.sub("[sfdl]", "e", word.lower()))
        elif ratio := RATIO.fullmatch(word):
            if int(ratio[2]) == 0:
                raise self.source.fail(position, f"{word}: the denominator is zero")
            value = int(ratio[1]) / int(ratio[2]) if abs(int(ratio[1])) < 10**300 else math.inf
        else:
            return None
        if abs(value) > 1e300:
            raise self.source.fail(position, f"{word} is too large")
        return value
