"""Lines of Fortran: long statements are continued, strings and comments as well.

The standard allows 132 columns; compilers count bytes.
"""

from __future__ import annotations

import re
import textwrap

WIDTH = 116  # of lines that are continued
LIMIT = 132  # columns of the standard
_INSIDE = "\0"  # in place of what strings hold
_STRING = re.compile(r""""(?:[^"]|"")*"|'(?:[^']|'')*'""")
_BREAK = re.compile(r", | (?=[-+] )|(?<=[\w)])(?<!\*)\*(?!\*)|(?<=[\w)])/(?![=/])")
_ANYWHERE = re.compile(r"[ (,]|//")
_WITHIN = re.compile(
    r"(?<![\"'&])(?=[^\"'&\x80-\xbf])"
)  # not between the bytes of a letter, nor at doubled quotes


def wrap_statement(statement: str, width: int = WIDTH) -> list[str]:
    """A statement on as many lines as it needs: broken between terms, else between words, else
    within a string."""
    text = statement.encode().decode("latin-1")
    masked = _STRING.sub(lambda m: f'"{_INSIDE * (len(m[0]) - 2)}"', text)
    indent, lines = " " * (len(text) - len(text.lstrip()) + 4), []
    while len(text) > width:
        break_column, mark = _break_position(text, masked, width, len(indent)), ""
        if break_column == 0:
            break
        if masked[break_column - 1 : break_column + 1] == 2 * _INSIDE:
            mark = "&"
        lines.append(f"{text[:break_column]}&" if mark else f"{text[:break_column].rstrip()} &")
        remainder, masked = text[break_column:], masked[break_column:]
        if not mark:
            remainder, masked = remainder.lstrip(), masked.lstrip()
        text, masked = f"{indent}{mark}{remainder}", f"{indent}{mark}{masked}"
    return [line.encode("latin-1").decode() for line in [*lines, text]]


def _break_position(text: str, masked: str, width: int, indent: int) -> int:
    """Where a line ends that is too long; 0 if it cannot be broken."""
    for pattern in (_BREAK, _ANYWHERE):
        # what stands right after the width is seen too: ** is not broken in two
        break_columns = (
            m.end() for m in pattern.finditer(masked, max(width // 4, indent + 1), width + 2)
        )
        break_column = max((p for p in break_columns if p <= width), default=0)
        if break_column and masked[break_column:].strip() not in ("", "&"):
            return break_column
    string_columns = (m.start() for m in _WITHIN.finditer(text, indent + 2, width))
    return max((p for p in string_columns if masked[p - 1 : p + 1] == 2 * _INSIDE), default=0)


def fit_source(source: str) -> str:
    """A source without lines that are longer than the standard allows."""
    lines = source.splitlines()
    return "".join(
        f"{x}\n"
        for line in lines
        for x in (_fit_line(line) if len(line.encode()) > LIMIT else [line])
    )


def _fit_line(line: str) -> list[str]:
    masked = _STRING.sub(lambda m: _INSIDE * len(m[0]), line)
    code, note = line, ""
    if "!" in masked:
        comment_column = masked.index("!")
        code, note = line[:comment_column].rstrip(), line[comment_column + 1 :].strip()
    lead = line[: len(line) - len(line.lstrip())]
    # a letter may have three bytes
    width = WIDTH if note.isascii() else WIDTH // 3
    notes = [f"{lead}! {part}" for part in textwrap.wrap(note, width - len(lead))]
    return [*notes, *(wrap_statement(code) if code else [])]


def fortran_string(text: str) -> str:
    """A text as a string of Fortran, on one line."""
    return '"' + " ".join(text.split()).replace('"', '""') + '"'
