"""Text to syntax: a safe parser for formulas, with errors that mark the place.

`a*(x - x0)**2`, `dot(vel(front), [nrb1])`, `rear.chassis.cm`, `where(x > 0, x, 0)`. Nothing is
executed: the result is a tree of `SyntaxNode`, whose meaning is given by `evaluate_syntax` and a
table of names. The parser is a shunting yard, so nesting is limited by memory only.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeVar

from bellcrank.core.errors import ExpressionError, ModelError

TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eEdD][+-]?\d+)?)"
    r"|(?P<name>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)"
    r"|(?P<unit>\[\s*[A-Za-z_][\w.]*?\s*(?:[123]|\.[xyz])\s*\])"
    r"|(?P<op>\*\*|\^|<=|>=|[-+*/(),<>]))",
    re.ASCII,
)
STATE = re.compile(r"(?P<body>.+)\.(?P<letter>[qu])", re.ASCII)  # rod.q, as in Python
INDEX = re.compile(r"\s*\[\s*(?P<number>\d+)\s*\]", re.ASCII)
SPACE = re.compile(r"^\s*", re.ASCII)
CALL = re.compile(r"\s*\(", re.ASCII)
BINDING = {"<": 1, "<=": 1, ">": 1, ">=": 1, "+": 2, "-": 2, "*": 3, "/": 3, "neg": 4, "**": 5}
RIGHT = {"**", "neg"}
LEAVES = {"number", "name", "unit", "quantity", "value"}
AXES = {"x": 1, "y": 2, "z": 3}
LONGEST_NUMBER = 1000  # characters
LONG_SUM = 100  # terms
T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class SyntaxNode:
    """One node of a formula: an operator, a call, a name, a number, a unit vector, a number with
    its unit, or a value put in by Python."""

    op: str
    args: tuple[Any, ...]
    position: int = field(default=0, metadata={"content": False})  # for messages, as is the source
    source: str | None = field(default=None, metadata={"content": False})

    def error_at_node(self, message: str) -> ModelError:
        """The error for something wrong at this place."""
        if self.source is None:  # built with Python operators: there is no place to show
            return ModelError(message)
        return ExpressionError(message, text=self.source, position=self.position)

    @property
    def children(self) -> tuple[SyntaxNode, ...]:
        return syntax_children(self)


def axis_number(a: Any) -> int | None:
    """1, 2 or 3 of a coordinate axis, given so or as "x", "y", "z"; None for anything else."""
    if isinstance(a, str):
        return AXES.get(a.strip())
    return a if isinstance(a, int) and not isinstance(a, bool) and a in (1, 2, 3) else None


def syntax_children(node: SyntaxNode) -> tuple[SyntaxNode, ...]:
    """The nodes that a node is made of."""
    if node.op in LEAVES:
        return ()
    return (
        node.args
        if node.op in BINDING
        else tuple([a for a in node.args if isinstance(a, SyntaxNode)])
    )


def parse_formula(source: str, tokens: re.Pattern[str] = TOKEN) -> SyntaxNode:
    """The syntax tree of a formula. A dialect may bring its own pattern of tokens, with the same
    groups."""
    return _ShuntingYardParser(source, tokens).parse()


class _ShuntingYardParser:
    """A shunting yard: finished operands in `output`, waiting operators and parentheses in `stack`.

    A stack entry is (operator, position, length of the output when a parenthesis was opened); the
    parenthesis of a call is "call NAME".
    """

    def __init__(self, source: str, tokens: re.Pattern[str]) -> None:
        self.source, self.tokens = source, tokens
        self.output: list[SyntaxNode] = []
        self.stack: list[tuple[str, int, int]] = []
        self.operand_next = True

    def parse(self) -> SyntaxNode:
        position = 0
        while (match := self.tokens.match(self.source, position)) is not None:
            kind = match.lastgroup or ""
            token, token_start = match[kind], match.start(kind)
            position = match.end()
            if kind == "op":
                {
                    "(": self.open_parenthesis,
                    ")": self.close_parenthesis,
                    ",": self.end_argument,
                }.get(token, self.push_operator)(token, token_start)
            elif kind == "name" and (call := CALL.match(self.source, position)):
                self.expect_operand(token, token_start)
                self.stack.append((f"call {token}", token_start, len(self.output)))
                position = call.end()
            elif (
                kind == "name"
                and self.tokens is TOKEN
                and (state := STATE.fullmatch(token)) is not None
            ):
                index = INDEX.match(self.source, position)
                self.push_state(state, token_start, index)
                position = position if index is None else index.end()
            else:
                self.push_operand(kind, token, token_start)
        if unparsed := SPACE.sub("", self.source[position:], 1):
            raise self.error_at(
                f"unexpected character {unparsed[0]!r}", len(self.source) - len(unparsed)
            )
        return self.finish()

    def error_at(self, message: str, position: int) -> ExpressionError:
        return ExpressionError(message, text=self.source, position=position)

    def expect_operand(self, token: str, position: int) -> None:
        if not self.operand_next:
            raise self.error_at(f"an operator is missing before {token!r}", position)

    def push_operand(self, kind: str, token: str, position: int) -> None:
        self.expect_operand(token, position)
        args: tuple[Any, ...] = (token,)
        if kind == "number":
            args = (_parse_number(token, self.source, position),)
        elif kind == "unit":
            inner = token[1:-1].strip()
            body, axis = inner[:-1].strip(), inner[-1]
            args = (body.removesuffix("."), AXES[axis]) if axis in AXES else (body, int(axis))
        self.output.append(SyntaxNode(kind, args, position, self.source))
        self.operand_next = False

    def push_state(self, state: re.Match[str], position: int, index: re.Match[str] | None) -> None:
        """Takes rod.q or rod.q[2], which mean q(rod) and q(rod, 2)."""
        self.expect_operand(state[0], position)
        arguments = [SyntaxNode("name", (state["body"],), position, self.source)]
        if index is not None:
            number = _parse_number(index["number"], self.source, index.start("number"))
            arguments.append(SyntaxNode("number", (number,), index.start("number"), self.source))
        self.output.append(SyntaxNode("call", (state["letter"], *arguments), position, self.source))
        self.operand_next = False

    def push_operator(self, token: str, position: int) -> None:
        op = "**" if token == "^" else token
        if self.operand_next:
            if op == "-":
                self.stack.append(("neg", position, 0))
            elif op != "+":
                raise self.error_at(f"something is missing before {token!r}", position)
            return
        while self.stack and self.stack[-1][0] in BINDING and _binds_tighter(self.stack[-1][0], op):
            self.apply_top_operator()
        self.stack.append((op, position, 0))
        self.operand_next = True

    def open_parenthesis(self, token: str, position: int) -> None:
        self.expect_operand(token, position)
        self.stack.append(("(", position, len(self.output)))

    def close_parenthesis(self, token: str, position: int) -> None:
        empty_call = (
            self.stack
            and self.stack[-1][0].startswith("call ")
            and self.stack[-1][2] == len(self.output)
        )
        if self.operand_next and not empty_call:
            raise self.error_at("something is missing before ')'", position)
        self.reduce_to_parenthesis()
        if not self.stack:
            raise self.error_at("')' without '('", position)
        op, open_position, base = self.stack.pop()
        if op != "(":
            args = tuple(self.output[base:])
            del self.output[base:]
            self.output.append(SyntaxNode("call", (op[5:], *args), open_position, self.source))
        self.operand_next = False

    def end_argument(self, token: str, position: int) -> None:
        if self.operand_next:
            raise self.error_at("something is missing before ','", position)
        self.reduce_to_parenthesis()
        if not self.stack or self.stack[-1][0] == "(":
            raise self.error_at("',' outside the arguments of a function", position)
        self.operand_next = True

    def reduce_to_parenthesis(self) -> None:
        while self.stack and self.stack[-1][0] in BINDING:
            self.apply_top_operator()

    def apply_top_operator(self) -> None:
        op, position, _ = self.stack.pop()
        count = 1 if op == "neg" else 2
        args = tuple(self.output[-count:])
        del self.output[-count:]
        self.output.append(SyntaxNode(op, args, position, self.source))

    def finish(self) -> SyntaxNode:
        if self.operand_next:
            message = (
                "the formula ends too early" if self.source.strip() else "the formula is empty"
            )
            raise self.error_at(message, len(self.source.rstrip()))
        while self.stack:
            op, position, _ = self.stack[-1]
            if op not in BINDING:
                raise self.error_at("'(' is never closed", self.source.index("(", position))
            self.apply_top_operator()
        return self.output[0]


def _parse_number(token: str, source: str, position: int) -> Fraction:
    """The exact value of a number; what a computer number cannot hold is not written out digit by
    digit."""
    literal = token.lower().replace("d", "e")
    value = float(literal)
    if (
        math.isinf(value)
        or len(token) > LONGEST_NUMBER
        or (value == 0 and re.search("[1-9]", literal.split("e")[0]))
    ):
        raise ExpressionError(
            "this number is too long, too large or too small", text=source, position=position
        )
    return Fraction(literal) if value else Fraction(0)


def _binds_tighter(top: str, new: str) -> bool:
    return BINDING[top] > BINDING[new] or (BINDING[top] == BINDING[new] and new not in RIGHT)


def postorder_nodes(roots: Iterable[T], children: Callable[[T], Collection[T]]) -> list[T]:
    """All nodes below the roots once, parts before wholes, in their order."""
    order: list[T] = []
    visited: set[T] = set()
    for root in roots:
        stack = [] if root in visited else [(root, iter(children(root)))]
        visited.add(root)
        while stack:
            node, child_iterator = stack[-1]
            for child in child_iterator:
                if child not in visited:
                    visited.add(child)
                    below = children(child)
                    if below:
                        stack.append((child, iter(below)))
                        break
                    order.append(child)  # most nodes are leaves: they do not wait on the stack
            else:
                stack.pop()
                order.append(node)
    return order


def long_sums(root: SyntaxNode) -> SyntaxNode:
    """The same formula with every very long a + b - c + ... as one `sum`, whose terms may be `neg`:
    adding them one by one would take the square of their number."""
    nodes = postorder_syntax(root)
    if sum(map(_is_sum, nodes)) < LONG_SUM:
        return root
    continued = _continued_sums(nodes)
    rebuilt: dict[SyntaxNode, SyntaxNode] = {}  # all but the continued sums
    chains: dict[SyntaxNode, _Chain] = {}  # of the continued sums
    for node in nodes:
        if not _is_sum(node):
            args = tuple(rebuilt[a] if isinstance(a, SyntaxNode) else a for a in node.args)
            rebuilt[node] = SyntaxNode(node.op, args, node.position, node.source)
            continue
        left, right = node.children
        chain = chains.pop(left) if left in continued else _Chain(rebuilt[left], [])
        chain.added.append((node, rebuilt[right]))
        if node in continued:
            chains[node] = chain
        else:
            rebuilt[node] = _sum_of(chain)
    return rebuilt[root]


@dataclass(frozen=True)
class _Chain:
    """a + b - c + ...: the first term, then each operator with the term that it adds."""

    first: SyntaxNode
    added: list[tuple[SyntaxNode, SyntaxNode]]


def _is_sum(node: SyntaxNode) -> bool:
    return node.op in ("+", "-")


def _continued_sums(nodes: Iterable[SyntaxNode]) -> set[SyntaxNode]:
    """The sums that are the beginning of one longer sum, and nothing else."""
    use_counts: dict[SyntaxNode, int] = {}
    first_parts: set[SyntaxNode] = set()
    for node in nodes:
        for child in syntax_children(node):
            use_counts[child] = use_counts.get(child, 0) + 1
        if _is_sum(node) and _is_sum(node.children[0]):
            first_parts.add(node.children[0])
    return {node for node in first_parts if use_counts[node] == 1}


def _sum_of(chain: _Chain) -> SyntaxNode:
    """A chain as one `sum`, or where its terms are few as it was."""
    if len(chain.added) + 1 < LONG_SUM:
        total = chain.first
        for operator, term in chain.added:
            total = SyntaxNode(operator.op, (total, term), operator.position, operator.source)
        return total
    terms = [
        SyntaxNode("neg", (term,), operator.position, operator.source)
        if operator.op == "-"
        else term
        for operator, term in chain.added
    ]
    last = chain.added[-1][0]
    return SyntaxNode("sum", (chain.first, *terms), last.position, last.source)


def postorder_syntax(root: SyntaxNode) -> list[SyntaxNode]:
    """All nodes, parts before wholes, each once."""
    return postorder_nodes((root,), syntax_children)


def evaluate_syntax(root: SyntaxNode, meaning: Callable[[SyntaxNode, list[Any]], Any]) -> Any:
    """The value of a formula, given the meaning of one node with the values of its children."""
    values: dict[SyntaxNode, Any] = {}
    for node in postorder_syntax(root):
        values[node] = meaning(node, [values[c] for c in syntax_children(node)])
    return values[root]


def syntax_to_text(root: SyntaxNode) -> str:
    """A formula as text."""
    texts: dict[int, str] = {}
    for node in postorder_syntax(root):
        operands = [texts[id(c)] for c in node.children]
        match node.op:
            case "number":
                value: Fraction = node.args[0]
                text = str(value.numerator) if value.denominator == 1 else repr(float(value))
            case "name":
                text = node.args[0]
            case "unit":
                text = f"[{node.args[0]}{node.args[1]}]"
            case "quantity":
                text = f"{node.args[0]:g} {node.args[1]}"
            case "value":
                text = getattr(node.args[0], "name", None) or str(node.args[0])
            case "call":
                text = f"{node.args[0]}({', '.join(operands)})"
            case "neg":
                text = f"-({operands[0]})"
            case op:
                text = f"({operands[0]} {op} {operands[1]})"
        texts[id(node)] = text
    result = texts[id(root)]
    return result[1:-1] if root.op in "+-*/**" and result.startswith("(") else result
