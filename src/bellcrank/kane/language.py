"""Formulas as text: scalars and vectors of a derivation, parsed and never executed.

`u1*cos(phi1) + la`, `la*u1*A2`, `dot(WAN, N3)`. A name is a scalar, a unit vector (frame and 1, 2,
3) or the caller's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from bellcrank.core.errors import ModelError, did_you_mean
from bellcrank.kane.motion import require_connected
from bellcrank.symbolic.expr import PI, Expr, Number, add, apply_builtin, div, mul, neg, power, sub
from bellcrank.symbolic.expr.formula_parser import TOKEN, SyntaxNode, parse_formula
from bellcrank.symbolic.expr.function_table import FUNCTIONS
from bellcrank.symbolic.vector.basis import Vector, cross, dot, magnitude

PRIMED = re.compile(
    TOKEN.pattern.replace(r"(?P<name>[A-Za-z_]\w*", r"(?P<name>[A-Za-z_]\w*'?"), re.ASCII
)
Value = Expr | Vector
Lookup = Callable[[str], Value | None]
Call = Callable[[str, list[SyntaxNode]], Value | None]
VECTOR_FUNCTIONS: dict[
    str, tuple[int | None, Callable[..., Value]]
] = {  # number of arguments, what it does
    "dot": (2, dot),
    "cross": (2, cross),
    "mag": (1, magnitude),
    "magnitude": (1, magnitude),
    "add": (None, lambda *vectors: sum(vectors, Vector({}))),
}


class KaneLanguage:
    """Meaning of formulas. `lookup` gives the value of a name, `call` that of a form such as IA(3)
    or DERIV(V,T,N)."""

    def __init__(
        self, lookup: Lookup, known_names: Callable[[], Iterable[str]], call: Call | None = None
    ) -> None:
        self.lookup, self.known, self.call = lookup, known_names, call

    def evaluate_text(self, text: str) -> Value:
        return self.evaluate_syntax_tree(parse_formula(text, PRIMED))

    def scalar(self, text: str) -> Expr:
        value = self.evaluate_text(text)
        if isinstance(value, Vector):
            raise ModelError(f"'{text.strip()}' is a vector; a scalar is needed here")
        return value

    def vector(self, text: str) -> Vector:
        value = self.evaluate_text(text)
        if isinstance(value, Vector):
            return value
        if isinstance(value, Number) and value.value == 0:
            return Vector({})
        raise ModelError(
            f"'{text.strip()}' is a scalar; a vector is needed here (unit vectors are "
            f"written A1, A2, A3)"
        )

    def evaluate_syntax_tree(self, root: SyntaxNode) -> Value:
        """The value of a syntax tree; forms with arguments of their own kind are left to `call`."""
        values: dict[int, Value] = {}
        stack = [(root, False)]
        while stack:  # a loop, as formulas may be deep
            node, has_children = stack.pop()
            if has_children:
                values[id(node)] = self._evaluate_node(node, [values[id(c)] for c in node.children])
                continue
            value = (
                self.call(str(node.args[0]), list(node.children))
                if node.op == "call" and self.call
                else None
            )
            if value is not None:
                values[id(node)] = value
                continue
            stack.append((node, True))
            stack.extend((c, False) for c in reversed(node.children))
        return values[id(root)]

    def _evaluate_node(self, node: SyntaxNode, operands: list[Any]) -> Value:
        match node.op:
            case "number":
                return Number(node.args[0])
            case "name":
                return self._value_of_name(node, str(node.args[0]))
            case "unit":
                return self._value_of_name(node, f"{node.args[0]}{node.args[1]}")
            case "neg":
                return -operands[0] if isinstance(operands[0], Vector) else neg(operands[0])
            case "call":
                return self._apply_function(node, operands)
        return self._apply_operator(node, *operands)

    def _value_of_name(self, node: SyntaxNode, name: str) -> Value:
        if name.lower() == "pi":
            return PI
        value = self.lookup(name)
        if value is None:
            raise node.error_at_node(f"'{name}' is not known.{did_you_mean(name, self.known())}")
        return value

    def _apply_operator(self, node: SyntaxNode, a: Value, b: Value) -> Value:
        va, vb = isinstance(a, Vector), isinstance(b, Vector)
        if node.op in "+-":
            if va != vb:
                zero = b if va else a
                if isinstance(zero, Number) and zero.value == 0:
                    b, a = (Vector({}), a) if va else (b, Vector({}))
                else:
                    raise node.error_at_node("a vector and a scalar cannot be added")
            if isinstance(a, Vector) and isinstance(b, Vector):
                return a + b if node.op == "+" else a - b
            return add(a, b) if node.op == "+" else sub(a, b)  # type: ignore[arg-type]
        if va and vb:
            raise node.error_at_node("two vectors are multiplied with dot(a, b) or cross(a, b)")
        if node.op == "*":
            if isinstance(a, Vector):
                return a * b
            return b * a if isinstance(b, Vector) else mul(a, b)
        if vb:
            raise node.error_at_node("a vector cannot stand below a fraction bar or in a power")
        if node.op == "/":
            return a / b if isinstance(a, Vector) else div(a, b)  # type: ignore[arg-type]
        if node.op == "**" and not va:
            return power(a, b)  # type: ignore[arg-type]
        raise node.error_at_node(f"'{node.op}' has no meaning here")

    def _apply_function(self, node: SyntaxNode, arguments: list[Value]) -> Value:
        name = str(node.args[0]).lower()
        if name in VECTOR_FUNCTIONS:
            return self._vector_function(node, name, arguments)
        if name in FUNCTIONS:
            if any(isinstance(p, Vector) for p in arguments):
                raise node.error_at_node(f"{name}() is a function of scalars")
            if not FUNCTIONS[name].accepts_count(len(arguments)):
                raise node.error_at_node(FUNCTIONS[name].argument_count_message(len(arguments)))
            return apply_builtin(name, *arguments)  # type: ignore[arg-type]
        known_names = [*FUNCTIONS, "dot", "cross", "add", "mag", *self.known()]
        raise node.error_at_node(
            f"'{node.args[0]}' is not a known "
            f"function.{did_you_mean(str(node.args[0]), known_names)}"
        )

    def _vector_function(self, node: SyntaxNode, name: str, arguments: list[Value]) -> Value:
        vectors = [p for p in arguments if isinstance(p, Vector)]
        count, compute = VECTOR_FUNCTIONS[name]
        if (
            len(vectors) != len(arguments)
            or not arguments
            or (count is not None and len(arguments) != count)
        ):
            raise node.error_at_node(
                f"{name}() takes {count or 'one or more'} vector{'s' if count != 1 else ''}"
            )
        if count is not None:
            require_connected(*vectors)
        return compute(*vectors)
