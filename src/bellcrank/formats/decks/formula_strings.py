"""F-strings: formulas of a deck to formulas of Bellcrank (Sayers 1990, Table A.2.1).

In:  an `FormulaStringDatum` and the `DeckNames` so far. Out: the same formula as text, in lower
case, in which #symbol, func(name, ...), Q(i), U(i) and the points have become what Bellcrank calls
them. Names that do not exist, unknown functions and wrong numbers of arguments are errors at their
place in the deck.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from bellcrank.core.errors import ExpressionError, did_you_mean
from bellcrank.formats.decks.names import DeckNames
from bellcrank.formats.decks.reader import (
    FormulaStringDatum,
    NumberDatum,
    SymbolDatum,
    UnitVectorDatum,
)
from bellcrank.symbolic.expr.formula_parser import SyntaxNode, parse_formula, postorder_syntax
from bellcrank.symbolic.expr.function_table import CALLED

ARITY: Mapping[str, tuple[int, ...]] = {
    "angle": (2, 3), "cross": (2,), "dir": (1,), "dot": (2,), "dplane": (2,),
    "dxdt": (1,), "fm": (1,), "mag": (1,), "nominal": (1,), "partial": (2,), "pos": (1, 2),
    "q": (1,), "qp": (1,), "rot": (1,), "u": (1,), "up": (1,), "vel": (1, 2),
}  # fmt: skip
"""Vector functions of the F-strings; the scalar ones of Bellcrank's own formulas are understood as
well."""
RENAMED = {"dir": "direction", "mag": "magnitude", "dplane": "project"}
STATES = ("q", "u", "qp", "up")
HASH = re.compile(r"#\s*([a-z_]\w*)?", re.ASCII)
FUNC = re.compile(r"func\s*\(\s*([a-z_]\w*)\s*(?:,\s*|(?=\)))", re.ASCII)
SPACE = re.compile(r"\s+")

Edit = tuple[int, int, str]


def translate_formula(
    datum: FormulaStringDatum, names: DeckNames, dummies: tuple[str, ...] = ()
) -> str:
    """The formula of an F-string; `dummies` are names that have a meaning in it alone."""
    return _FormulaTranslator(datum, names, dummies).translate()


class _FormulaTranslator:
    def __init__(
        self, datum: FormulaStringDatum, names: DeckNames, dummies: tuple[str, ...]
    ) -> None:
        self.datum, self.names, self.dummies = datum, names, dummies
        self.text = datum.text.lower() if datum.text.lower().isascii() else datum.text
        self.edits: list[Edit] = []
        self.hashed: set[int] = set()  # places of names after '#'

    def error_at(self, position: int) -> Callable[[str], ExpressionError]:
        return lambda message: self.datum.source.error_at(self.datum.offset + position, message)

    def translate(self) -> str:
        for match in HASH.finditer(self.text):
            self._replace_hash(match)
        try:
            root = parse_formula(self.text.replace("#", " "))
        except ExpressionError as error:
            raise self.error_at(error.position)(error.message) from None
        skipped = self._non_scalar_names(root)
        for node in postorder_syntax(root):
            if id(node) in skipped:
                continue
            if node.op == "call":
                self._translate_call(node)
            elif node.op == "unit":
                self.names.known_body(node.args[0], self.error_at(node.position))
            elif (
                node.op == "name"
                and node.position not in self.hashed
                and node.args[0] not in self.dummies
            ):
                self._translate_scalar(node)
        return self._apply_edits()

    def _replace_hash(self, match: re.Match[str]) -> None:
        fail = self.error_at(match.start())
        name = match[1]
        if name is None:
            raise fail("after '#' comes the name of a Lisp symbol")
        text = self._lisp_value(name, fail)
        self.hashed.add(match.start(1))
        self.edits.append((match.start(), match.end(), text))

    def _lisp_value(self, name: str, fail: Callable[[str], ExpressionError]) -> str:
        """What a Lisp symbol stands for in a formula."""
        if name in self.names.defined:
            return self.names.defined[name]
        match self.names.values.get(name):
            case NumberDatum(value=value):
                return f"{value}" if value >= 0 else f"({value})"
            case UnitVectorDatum(body=body, axis=axis):
                return f"[{self.names.known_body(body, fail)}{axis}]"
            case SymbolDatum() as symbol:
                return self.names.scalar_name(
                    self.names.symbol_name(symbol, "symbol"), symbol, fail
                )
            case None:
                candidates = [*self.names.defined, *self.names.values]
                raise fail(
                    f"#{name}: nothing has been given to '{name}' with "
                    f"setf.{did_you_mean(name, candidates)}"
                )
        raise fail(f"#{name}: the value of '{name}' cannot stand in a formula")

    def _non_scalar_names(self, root: SyntaxNode) -> set[int]:
        """Names that are no scalars: points, bodies, forces and names of functions."""
        nodes = [n for n in postorder_syntax(root) if n.op == "call"]
        first = {"func": 1, "pos": 2, "vel": 2, "rot": 1, "fm": 1, **dict.fromkeys(STATES, 1)}
        return {id(a) for n in nodes for a in n.children[: first.get(n.args[0], 0)]}

    def _translate_scalar(self, node: SyntaxNode) -> None:
        name, fail = node.args[0], self.error_at(node.position)
        if "." in name:
            raise fail(f"'{name}': names in a deck have no dots")
        self._add_edit(node, self.names.scalar_name(name, self.datum, fail))

    # ---- calls

    def _translate_call(self, node: SyntaxNode) -> None:
        name, fail = node.args[0], self.error_at(node.position)
        if name == "func":
            self._translate_external(node, fail)
            return
        if name not in ARITY and name not in CALLED:
            candidates = [*ARITY, "func", *CALLED]
            hint = " An external function is written func(name, ...)."
            raise fail(f"unknown function '{name}'.{did_you_mean(name, candidates)}{hint}")
        if name in CALLED and not CALLED[name].accepts_count(len(node.children)):
            raise fail(CALLED[name].argument_count_message(len(node.children)))
        if name in ARITY and len(node.children) not in ARITY[name]:
            expected = " or ".join(map(str, ARITY[name]))
            raise fail(
                f"{name}() takes {expected} argument{'' if expected == '1' else 's'}, "
                f"{len(node.children)} given"
            )
        if name in STATES:
            self._translate_state(node, name, fail)
        elif name in ("pos", "vel"):
            for child in node.children:
                point = self.names.known_point(
                    self._require_name(child, "a point"), self.error_at(child.position)
                )
                self._add_edit(child, point)
        elif name == "rot":
            self.names.known_body(
                self._require_name(node.children[0], "a body"),
                self.error_at(node.children[0].position),
            )
        elif name == "fm":
            force = self._require_name(node.children[0], "a force or moment")
            if force not in self.names.forces:
                raise fail(
                    f"no force or moment has the name "
                    f"'{force}'.{did_you_mean(force, self.names.forces)}"
                )
        elif name in RENAMED:
            self.edits.append((node.position, node.position + len(name), RENAMED[name]))

    def _require_name(self, node: SyntaxNode, expected: str) -> str:
        if node.op != "name" or node.position in self.hashed:
            raise self.error_at(node.position)(f"{expected} is needed here, given by its name")
        return str(node.args[0])

    def _add_edit(self, node: SyntaxNode, text: str) -> None:
        if text != node.args[0]:
            self.edits.append((node.position, node.position + len(node.args[0]), text))

    def _translate_state(
        self, node: SyntaxNode, name: str, fail: Callable[[str], ExpressionError]
    ) -> None:
        match = re.compile(rf"{name}\s*\(\s*(\d{{1,9}})\s*\)", re.ASCII).match(
            self.text, node.position
        )
        if match is None:
            raise fail(f"{name}(i) takes a whole number, as in {name}(1)")
        self.edits.append((*match.span(), self.names.state_name(name, int(match[1]), fail)))

    def _translate_external(self, node: SyntaxNode, fail: Callable[[str], ExpressionError]) -> None:
        match = FUNC.match(self.text, node.position)
        if match is None:
            raise fail("func() starts with the name of a function, as in func(thrust, t)")
        name, count = match[1], len(node.children) - 1
        if count == 0:
            raise fail(f"func({name}) needs an argument")
        if name not in CALLED or not CALLED[name].accepts_count(count):
            earlier_count = self.names.functions.setdefault(name, count)
            if earlier_count != count:
                raise fail(f"func({name}, ...) has {count} arguments here, {earlier_count} before")
            if name in ARITY or name in CALLED:
                raise fail(
                    f"'{name}' has a meaning of its own and cannot be an external function; "
                    f"rename it"
                )
        self.edits.append((*match.span(), f"{name}("))

    def _apply_edits(self) -> str:
        text, copied_to = "", 0
        for start, end, new in sorted(self.edits):
            text += self.text[copied_to:start] + new
            copied_to = end
        return SPACE.sub(" ", text + self.text[copied_to:]).strip()
