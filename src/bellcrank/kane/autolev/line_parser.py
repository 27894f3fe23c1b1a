"""Lines of the 1992 AUTOLEV dialect: comment, command with arguments, or assignment. Nothing is
executed."""

from __future__ import annotations

import re
from dataclasses import dataclass

from bellcrank.core.errors import ExpressionError

LONGEST_LINE = 10_000
HEAD = re.compile(r"\s*([A-Za-z_]\w*)\s*", re.ASCII)


@dataclass(frozen=True)
class AutolevLine:
    """One entry. `kind`: nothing, command, assign. A command has `name` and `args` (None: no
    parentheses); an assignment has `name` (with a prime for a derivative), `args` of a form such as
    FORCE(N/A), and `right`."""

    kind: str
    text: str
    name: str = ""
    args: tuple[str, ...] | None = None
    right: str = ""


def read_line(text: str) -> AutolevLine:
    """The meaning of a line, by its form alone."""
    if len(text) > LONGEST_LINE:
        raise ExpressionError(
            f"the line has more than {LONGEST_LINE} characters", text=text, position=LONGEST_LINE
        )
    body = text.partition("!")[0].rstrip()
    if not body.strip():
        return AutolevLine("nothing", text)
    for position, char in enumerate(body):
        if not (char.isascii() and char.isprintable()) and char != "\t":
            raise ExpressionError(f"unexpected character {char!r}", text=text, position=position)
    head = HEAD.match(body)
    if head is None:
        start = len(body) - len(body.lstrip())
        raise ExpressionError("a line begins with a command or a name", text=text, position=start)
    name, position = head[1].upper(), head.end()
    if name in ("HELP", "LIST") and position < len(body) and body[position] not in "(=":
        return AutolevLine("command", text, name, tuple(body[position:].split()))
    primed = body[position : position + 1] == "'"
    if primed:
        position = _skip_blanks(body, position + 1)
    args: tuple[str, ...] | None = None
    if body[position : position + 1] == "(":
        args, position = _split_arguments(body, position)
    remainder = body[position:]
    if not remainder:
        if primed:
            raise ExpressionError(
                "after a derivative '=' and its value are needed", text=text, position=len(body)
            )
        return AutolevLine("command", text, name, args)
    if remainder[0] != "=":
        raise ExpressionError(
            "'=' , '(' or the end of the line is expected here", text=text, position=position
        )
    right_side = remainder[1:].strip()
    if not right_side:
        raise ExpressionError("nothing stands on the right of '='", text=text, position=len(body))
    return AutolevLine("assign", text, name + ("'" if primed else ""), args, right_side)


def _skip_blanks(body: str, position: int) -> int:
    while position < len(body) and body[position].isspace():
        position += 1
    return position


def _split_arguments(body: str, start: int) -> tuple[tuple[str, ...], int]:
    """The arguments between parentheses, commas inside inner parentheses left alone, and what comes
    after."""
    depth, argument_start = 0, start + 1
    arguments: list[str] = []
    for position in range(start, len(body)):
        char = body[position]
        if char == "(":
            depth += 1
        elif char == ")":
            depth -= 1
        if (char == "," and depth == 1) or depth == 0:
            argument = body[argument_start:position].strip()
            if not argument and not (depth == 0 and not arguments):
                raise ExpressionError("an argument is missing", text=body, position=position)
            if argument:
                arguments.append(argument)
            argument_start = position + 1
        if depth == 0:
            return tuple(arguments), _skip_blanks(body, position + 1)
    raise ExpressionError("'(' is never closed", text=body, position=start)
