"""Text to syntax: a safe parser for formulas, with errors that mark the place.

`a*(x - x0)**2`, `dot(vel(front), [nrb1])`, `rear.chassis.cm`, `where(x > 0, x, 0)`. Nothing is executed: the result is
a tree of `Syntax`, whose meaning is given by `evaluate_syntax` and a table of names. The parser is a shunting yard,
so nesting is limited by memory only.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from bellcrank.errors import ExpressionError, ModelError

TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eEdD][+-]?\d+)?)"
    r"|(?P<name>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)"
    r"|(?P<unit>\[\s*[A-Za-z_][\w.]*?\s*[123]\s*\])"
    r"|(?P<op>\*\*|\^|<=|>=|[-+*/(),<>]))",
    re.ASCII,
)
SPACE = re.compile(r"\s*", re.ASCII)
CALL = re.compile(r"\s*\(", re.ASCII)
BINDING = {"<": 1, "<=": 1, ">": 1, ">=": 1, "+": 2, "-": 2, "*": 3, "/": 3, "neg": 4, "**": 5}
RIGHT = {"**", "neg"}
LONGEST_NUMBER = 1000  # characters


@dataclass(frozen=True, slots=True, eq=False)
class Syntax:
    """One node of a formula: an operator, a call, a name, a number, a unit vector, or a value put in by Python."""

    op: str
    args: tuple[Any, ...]
    position: int = 0
    source: str | None = None

    def fail(self, message: str) -> ModelError:
        """The error for something wrong at this place."""
        if self.source is None:  # built with Python operators: there is no place to show
            return ModelError(message)
        return ExpressionError(message, text=self.source, position=self.position)

    @property
    def children(self) -> tuple[Syntax, ...]:
        return tuple(a for a in self.args if isinstance(a, Syntax))


def parse(source: str) -> Syntax:
    """The syntax tree of a formula."""
    output: list[Syntax] = []
    stack: list[tuple[str, int, int]] = []  # operator, position, number of arguments seen (for calls)
    operand_next = True
    position = 0

    def fail(message: str, at: int) -> ExpressionError:
        return ExpressionError(message, text=source, position=at)

    def reduce() -> None:
        op, at, _ = stack.pop()
        count = 1 if op == "neg" else 2
        args = tuple(output[-count:])
        del output[-count:]
        output.append(Syntax(op, args, at, source))

    while True:
        match = TOKEN.match(source, position)
        if match is None:
            at = _skip_space(source, position)
            if at < len(source):
                raise fail(f"unexpected character {source[at]!r}", at)
            break
        kind = match.lastgroup or ""
        token = match[kind]
        at = match.start(kind)
        position = match.end()
        if kind in ("number", "name", "unit"):
            if not operand_next:
                raise fail(f"an operator is missing before {token!r}", at)
            if kind == "number":
                output.append(Syntax("number", (_number(token, source, at),), at, source))
            elif kind == "unit":
                inner = token[1:-1].strip()
                output.append(Syntax("unit", (inner[:-1].strip(), int(inner[-1])), at, source))
            elif CALL.match(source, position):
                stack.append((f"call {token}", at, 0))
                continue
            else:
                output.append(Syntax("name", (token,), at, source))
            operand_next = False
        elif token == "(":
            if not operand_next:
                raise fail("an operator is missing before '('", at)
            if stack and stack[-1][0].startswith("call ") and stack[-1][2] == 0 and _just_opened(stack, at, source):
                op, where, _ = stack.pop()
                stack.append((op, where, 1))
                stack.append(("(call", at, len(output)))
            else:
                stack.append(("(", at, len(output)))
        elif token == ")":
            empty_call = operand_next and stack and stack[-1][0] == "(call" and stack[-1][2] == len(output)
            if operand_next and not empty_call:
                raise fail("something is missing before ')'", at)
            while stack and stack[-1][0] not in ("(", "(call"):
                reduce()
            if not stack:
                raise fail("')' without '('", at)
            op, _, base = stack.pop()
            if op == "(call":
                name, where, _ = stack.pop()
                args = tuple(output[base:])
                del output[base:]
                output.append(Syntax("call", (name[5:], *args), where, source))
            operand_next = False
        elif token == ",":
            if operand_next:
                raise fail("something is missing before ','", at)
            while stack and stack[-1][0] not in ("(", "(call"):
                reduce()
            if not stack or stack[-1][0] != "(call":
                raise fail("',' outside the arguments of a function", at)
            operand_next = True
        else:
            op = "**" if token == "^" else token
            if operand_next:
                if op == "-":
                    stack.append(("neg", at, 0))
                elif op != "+":
                    raise fail(f"something is missing before {token!r}", at)
                continue
            while stack and stack[-1][0] in BINDING and _binds(stack[-1][0], op):
                reduce()
            stack.append((op, at, 0))
            operand_next = True
    if operand_next:
        raise fail("the formula is empty" if not source.strip() else "the formula ends too early", len(source.rstrip()))
    while stack:
        if stack[-1][0] in ("(", "(call"):
            raise fail("'(' is never closed", stack[-1][1])
        reduce()
    return output[0]


def _skip_space(source: str, position: int) -> int:
    found = SPACE.match(source, position)
    return found.end() if found else position


def _number(token: str, source: str, at: int) -> Fraction:
    """The exact value of a number; what a computer number cannot hold is not written out digit by digit."""
    written = token.lower().replace("d", "e")
    value = float(written)
    if math.isinf(value) or len(token) > LONGEST_NUMBER or (value == 0 and re.search("[1-9]", written.split("e")[0])):
        raise ExpressionError("this number is too long, too large or too small", text=source, position=at)
    return Fraction(written) if value else Fraction(0)


def _just_opened(stack: list[tuple[str, int, int]], at: int, source: str) -> bool:
    name, where, _ = stack[-1]
    return source[where + len(name) - 5 : at].strip() == ""


def _binds(top: str, new: str) -> bool:
    return BINDING[top] > BINDING[new] or (BINDING[top] == BINDING[new] and new not in RIGHT)


def postorder_syntax(root: Syntax) -> list[Syntax]:
    """All nodes, parts before wholes, each once."""
    order: list[Syntax] = []
    seen = {id(root)}
    stack = [(root, iter(root.children))]
    while stack:
        node, children = stack[-1]
        for child in children:
            if id(child) not in seen:
                seen.add(id(child))
                stack.append((child, iter(child.children)))
                break
        else:
            stack.pop()
            order.append(node)
    return order


def evaluate_syntax(root: Syntax, meaning: Callable[[Syntax, list[Any]], Any]) -> Any:
    """The value of a formula, given the meaning of one node with the values of its children."""
    done: dict[int, Any] = {}
    for node in postorder_syntax(root):
        done[id(node)] = meaning(node, [done[id(c)] for c in node.children])
    return done[id(root)]
