"""Single wrong changes of a source file, as slips of a hand: a sign, an index, a factor, two terms
swapped, one off.

In: the text of a file. Out: every `Change` that could be made in it. Python is changed by its
syntax tree, so that only code is touched; C and Fortran by words between blanks, outside of
comments and strings.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType


@dataclass(frozen=True)
class Change:
    """One slip: `file` from `start` to `end` (characters) holds `new` in place of `old`."""

    file: str  # relative to the root
    start: int
    end: int
    old: str
    new: str
    kind: str
    place: str  # the function around it, or the file
    line: int
    inside: bool = False  # of a function: the change is run with it alone

    def applied(self, text: str) -> str:
        assert text[self.start : self.end] == self.old
        return text[: self.start] + self.new + text[self.end :]

    def __str__(self) -> str:
        return (
            f"{self.file}:{self.line} {self.place}: {self.kind}, {_short(self.old)} -> "
            f"{_short(self.new)}"
        )


def _short(text: str) -> str:
    one = " ".join(text.split())
    return f"`{one if len(one) < 60 else one[:28] + ' … ' + one[-28:]}`"


OPERATORS = {ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "/"), ast.Div: ("/", "*")}
COMMUTE = {
    "plus",
    "add",
    "times",
    "multiply",
    "mul",
    "dot",
    "zip",
    "minimum",
    "maximum",
    "hypot",
    "union",
    "same",
}
PLAIN = {
    "isinstance",
    "issubclass",
    "getattr",
    "hasattr",
    "min",
    "max",
    "replace",
}  # a swap there is no slip
EVEN = {
    "abs",
    "fabs",
    "norm",
    "cos",
    "isfinite",
    "isnan",
}  # functions whose argument may have either sign
SAID = {"warn", "lru_cache", "default_rng"}  # what is said to a person, sizes of caches, seeds
DRAWN = {
    "fontsize",
    "labelsize",
    "linewidth",
    "alpha",
    "dpi",
}  # sizes of letters and lines in pictures


class _Reader(ast.NodeVisitor):
    def __init__(self, file: str, text: str) -> None:
        self.file, self.text = file, text
        self.found: list[Change] = []
        self.scope: list[str] = []
        self.functions = 0  # how many of the scopes are functions
        self.even: set[ast.expr] = set()  # expressions whose sign has no effect
        lines = text.split("\n")
        self.starts = [0]
        for line in lines:
            self.starts.append(self.starts[-1] + len(line) + 1)
        self.lines = lines

    def at(self, line: int, column: int) -> int:
        """The character of a place that the syntax tree counts in bytes."""
        return self.starts[line - 1] + len(self.lines[line - 1].encode()[:column].decode())

    def span(self, node: ast.expr) -> tuple[int, int]:
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self.at(node.lineno, node.col_offset), self.at(node.end_lineno, node.end_col_offset)

    def note(self, start: int, end: int, new: str, kind: str) -> None:
        old = self.text[start:end]
        line = self.text.count("\n", 0, start) + 1
        if old != new:
            place = ".".join(self.scope) or "module"
            self.found.append(
                Change(self.file, start, end, old, new, kind, place, line, self.functions > 0)
            )

    def between(self, left: ast.expr, right: ast.expr, old: str, new: str, kind: str) -> None:
        """An operator that stands between two operands."""
        start, end = self.span(left)[1], self.span(right)[0]
        gap = re.search(rf"(?<![\w*/<>=!]){re.escape(old)}(?![\w*/<>=])", self.text[start:end])
        if gap:
            self.note(start + gap.start(), start + gap.end(), new, kind)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.scope.append(node.name)
        self.functions += 1
        for part in (*node.decorator_list, *node.args.defaults, *node.args.kw_defaults, *node.body):
            if part is not None:
                self.visit(part)
        self.functions -= 1
        self.scope.pop()

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.scope.append(node.name)
        for part in node.body:
            self.visit(part)
        self.scope.pop()

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_If(self, node: ast.If) -> None:
        if not (isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"):
            self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> None:
        """Messages of errors are left alone."""

    def visit_Assert(self, node: ast.Assert) -> None:
        """What only types need is left alone."""

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Their places are not reported before Python 3.12."""

    def visit_BinOp(self, node: ast.BinOp) -> None:
        pair = OPERATORS.get(type(node.op))
        texts = any(
            isinstance(x, ast.JoinedStr | ast.List | ast.Tuple) or _is_text(x)
            for x in (node.left, node.right)
        )
        if pair and not texts:
            self.between(node.left, node.right, *pair, "sign" if pair[0] in "+-" else "factor")
            if pair[0] == "/" or (pair[0] == "-" and node not in self.even):
                (a, b), (c, d) = self.span(node.left), self.span(node.right)
                self.note(a, d, f"({self.text[c:d]}){self.text[b:c]}({self.text[a:b]})", "swapped")
        if (
            isinstance(node.op, ast.Pow)
            and isinstance(node.right, ast.Constant)
            and node.right.value in (2, 4)
        ):
            self.even.add(node.left)
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        start = self.span(node)[0]
        inner = self.span(node.operand)[0]
        if isinstance(node.op, ast.USub) and node not in self.even:
            self.note(start, inner, "", "sign")
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        called = (
            node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        )
        if called in SAID:
            return
        if called in EVEN:
            self.even.update(node.args[:1])
        if len(node.args) == 2 and not any(isinstance(a, ast.Starred) for a in node.args):
            (a, b), (c, d) = self.span(node.args[0]), self.span(node.args[1])
            one, two = self.text[a:b], self.text[c:d]
            if called.strip("_").rstrip("3") not in COMMUTE | PLAIN and not any(
                _is_text(x) for x in node.args
            ):
                self.note(a, d, two + self.text[b:c] + one, "swapped")
        self.generic_visit(node)

    def visit_keyword(self, node: ast.keyword) -> None:
        if node.arg not in DRAWN:
            self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        start, end = self.span(node)
        if (
            type(node.value) is int and node.value < 10
        ):  # greater ones are limits of patience, not indices
            self.note(start, end, str(node.value + 1), "one off")
        elif (
            type(node.value) is float and node.value and "e-" not in self.text[start:end]
        ):  # tolerances are no factors
            self.note(start, end, f"({self.text[start:end]}*2)", "factor")


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def _of_python(file: str, text: str) -> list[Change]:
    reader = _Reader(file, text)
    reader.visit(ast.parse(text))
    return reader.found


WORDS = [  # what to look for in C and Fortran, what to write, and what kind of slip that is
    (r" \+ ", " - ", "sign"),
    (r" - ", " + ", "sign"),
    (r" \+= ", " -= ", "sign"),
    (r" -= ", " += ", "sign"),
    (r"(?<=[\w)\]])\*(?=[\w(])", "/", "factor"),
    (r"(?<=[\w)\]])/(?=[\w(])", "*", "factor"),
    (r"(?<=\[)0(?=\])", "1", "one off"),
    (r"(?<=\[)1(?=\])", "0", "one off"),
    (r"(?<=\[)i(?=\])", "i + 1", "one off"),
    (r"(?<== )0(?=; )", "1", "one off"),
]


def _of_words(file: str, text: str) -> Iterator[Change]:
    hidden = r"/\*.*?\*/|//[^\n]*|^\s*#[^\n]*|\"[^\"\n]*\""
    if file.endswith(".f90"):
        hidden = r"![^\n]*|\"[^\"\n]*\"|'[^'\n]*'"
    blank = re.sub(hidden, lambda m: re.sub(r"\S", " ", m.group()), text, flags=re.S | re.M)
    blank = re.sub(
        r"  +", lambda m: "\t" * len(m.group()), blank
    )  # so that blanks of comments are not operators'
    for pattern, new, kind in WORDS:
        for m in re.finditer(pattern, blank):
            old = text[m.start() : m.end()]
            yield Change(
                file,
                m.start(),
                m.end(),
                old,
                new,
                kind,
                Path(file).name,
                text.count("\n", 0, m.start()) + 1,
            )


def same(change: Change, text: str) -> bool:
    """Does Python translate a file to the same code with the change as without, or not at all?"""
    if not change.file.endswith(".py"):
        return False
    try:
        return _code(text) == _code(change.applied(text))
    except SyntaxError:  # one of two operands that were swapped stands in brackets
        return True


def _code(text: str | CodeType) -> tuple[object, ...]:
    """Instructions, constants and names: all of a code but its positions in the text."""
    code = compile(text, "", "exec", optimize=2) if isinstance(text, str) else text
    constants = [
        _code(x) if isinstance(x, CodeType) else (type(x), repr(x)) for x in code.co_consts
    ]
    return code.co_code, constants, code.co_names, code.co_varnames


def changes(root: Path, file: str) -> list[Change]:
    """All that can be changed in a file."""
    text = (root / file).read_text(encoding="utf-8")
    return _of_python(file, text) if file.endswith(".py") else list(_of_words(file, text))
