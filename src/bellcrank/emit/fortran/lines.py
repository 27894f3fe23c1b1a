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
_WITHIN = re.compile(r"(?<![\"'&])(?=[^\"'&\x80-\xbf])")  # not between the bytes of a letter, nor at doubled quotes


def wrapped(statement: str, width: int = WIDTH) -> list[str]:
    """A statement on as many lines as it needs: broken between terms, else between words, else within a string."""
    text = statement.encode().decode("latin-1")
    masked = _STRING.sub(lambda m: f'"{_INSIDE * (len(m[0]) - 2)}"', text)
    indent, lines = " " * (len(text) - len(text.lstrip()) + 4), []
    while len(text) > width:
        place, mark = _place(text, masked, width, len(indent)), ""
        if place == 0:
            break
        if masked[place - 1 : place + 1] == 2 * _INSIDE:
            mark = "&"
        lines.append(f"{text[:place]}&" if mark else f"{text[:place].rstrip()} &")
        rest, masked = text[place:], masked[place:]
        if not mark:
            rest, masked = rest.lstrip(), masked.lstrip()
        text, masked = f"{indent}{mark}{rest}", f"{indent}{mark}{masked}"
    return [line.encode("latin-1").decode() for line in [*lines, text]]


def _place(text: str, masked: str, width: int, indent: int) -> int:
    """Where a line ends that is too long; 0 if it cannot be broken."""
    for pattern in (_BREAK, _ANYWHERE):
        # what stands right after the width is seen too: ** is not broken in two
        places = (m.end() for m in pattern.finditer(masked, max(width // 4, indent + 1), width + 2))
        place = max((p for p in places if p <= width), default=0)
        if place and masked[place:].strip() not in ("", "&"):
            return place
    inside = (m.start() for m in _WITHIN.finditer(text, indent + 2, width))
    return max((p for p in inside if masked[p - 1 : p + 1] == 2 * _INSIDE), default=0)


def fitted(source: str) -> str:
    """A source without lines that are longer than the standard allows."""
    lines = source.splitlines()
    return "".join(f"{x}\n" for line in lines for x in (_fitted(line) if len(line.encode()) > LIMIT else [line]))


def _fitted(line: str) -> list[str]:
    masked = _STRING.sub(lambda m: _INSIDE * len(m[0]), line)
    code, note = line, ""
    if "!" in masked:
        place = masked.index("!")
        code, note = line[:place].rstrip(), line[place + 1 :].strip()
    lead = line[: len(line) - len(line.lstrip())]
    # a letter may have three bytes
    width = WIDTH if note.isascii() else WIDTH // 3
    notes = [f"{lead}! {part}" for part in textwrap.wrap(note, width - len(lead))]
    return [*notes, *(wrapped(code) if code else [])]


def fortran_string(text: str) -> str:
    """A text as a string of Fortran, on one line."""
    return '"' + " ".join(text.split()).replace('"', '""') + '"'
