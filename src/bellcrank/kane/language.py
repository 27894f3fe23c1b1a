"""Formulas as text: scalars and vectors of a derivation, parsed and never executed.

`u1*cos(phi1) + la`, `la*u1*A2`, `dot(WAN, N3)`. A name is a scalar, a unit vector (frame and 1, 2, 3) or the caller's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from bellcrank.errors import ModelError, did_you_mean
from bellcrank.expr import PI, Expr, Number, add, div, function, mul, neg, power, sub
from bellcrank.expr.function_table import FUNCTIONS
from bellcrank.expr.text import TOKEN, Syntax, parse
from bellcrank.kane.motion import require_connected
from bellcrank.vector.basis import Vector, cross, dot, magnitude

PRIMED = re.compile(TOKEN.pattern.replace(r"(?P<name>[A-Za-z_]\w*", r"(?P<name>[A-Za-z_]\w*'?"), re.ASCII)
Value = Expr | Vector
Lookup = Callable[[str], Value | None]
Call = Callable[[str, list[Syntax]], Value | None]
VECTOR_FUNCTIONS: dict[str, tuple[int | None, Callable[..., Value]]] = {  # number of arguments, what it does
    "dot": (2, dot), "cross": (2, cross), "mag": (1, magnitude), "magnitude": (1, magnitude),
    "add": (None, lambda *vectors: sum(vectors, Vector({}))),
}  # fmt: skip


class Language:
    """Meaning of formulas. `lookup` gives the value of a name, `call` that of a form such as IA(3) or DERIV(V,T,N)."""

    def __init__(self, lookup: Lookup, known_names: Callable[[], Iterable[str]], call: Call | None = None) -> None:
        self.lookup, self.known, self.call = lookup, known_names, call

    def value(self, text: str) -> Value:
        return self.of(parse(text, PRIMED))

    def scalar(self, text: str) -> Expr:
        value = self.value(text)
        if isinstance(value, Vector):
            raise ModelError(f"'{text.strip()}' is a vector; a scalar is needed here")
        return value

    def vector(self, text: str) -> Vector:
        value = self.value(text)
        if isinstance(value, Vector):
            return value
        if isinstance(value, Number) and value.value == 0:
            return Vector({})
        raise ModelError(f"'{text.strip()}' is a scalar; a vector is needed here (unit vectors are written A1, A2, A3)")

    def of(self, root: Syntax) -> Value:
        """The value of a syntax tree; forms with arguments of their own kind are left to `call`."""
        values: dict[int, Value] = {}
        stack = [(root, False)]
        while stack:  # a loop, as formulas may be deep
            node, has_children = stack.pop()
            if has_children:
                values[id(node)] = self._meaning(node, [values[id(c)] for c in node.children])
                continue
            value = self.call(str(node.args[0]), list(node.children)) if node.op == "call" and self.call else None
            if value is not None:
                values[id(node)] = value
                continue
            stack.append((node, True))
            stack.extend((c, False) for c in reversed(node.children))
        return values[id(root)]

    def _meaning(self, node: Syntax, operands: list[Any]) -> Value:
        match node.op:
            case "number":
                return Number(node.args[0])
            case "name":
                return self._named(node, str(node.args[0]))
            case "unit":
                return self._named(node, f"{node.args[0]}{node.args[1]}")
            case "neg":
                return -operands[0] if isinstance(operands[0], Vector) else neg(operands[0])
            case "call":
                return self._function(node, operands)
        return self._operation(node, *operands)

    def _named(self, node: Syntax, name: str) -> Value:
        if name.lower() == "pi":
            return PI
        value = self.lookup(name)
        if value is None:
            raise node.fail(f"'{name}' is not known.{did_you_mean(name, self.known())}")
        return value

    def _operation(self, node: Syntax, a: Value, b: Value) -> Value:
        va, vb = isinstance(a, Vector), isinstance(b, Vector)
        if node.op in "+-":
            if va != vb:
                zero = b if va else a
                if isinstance(zero, Number) and zero.value == 0:
                    b, a = (Vector({}), a) if va else (b, Vector({}))
                else:
                    raise node.fail("a vector and a scalar cannot be added")
            if isinstance(a, Vector) and isinstance(b, Vector):
                return a + b if node.op == "+" else a - b
            return add(a, b) if node.op == "+" else sub(a, b)  # type: ignore[arg-type]
        if va and vb:
            raise node.fail("two vectors are multiplied with dot(a, b) or cross(a, b)")
        if node.op == "*":
            if isinstance(a, Vector):
                return a * b
            return b * a if isinstance(b, Vector) else mul(a, b)
        if vb:
            raise node.fail("a vector cannot stand below a fraction bar or in a power")
        if node.op == "/":
            return a / b if isinstance(a, Vector) else div(a, b)  # type: ignore[arg-type]
        if node.op == "**" and not va:
            return power(a, b)  # type: ignore[arg-type]
        raise node.fail(f"'{node.op}' has no meaning here")

    def _function(self, node: Syntax, arguments: list[Value]) -> Value:
        name = str(node.args[0]).lower()
        if name in VECTOR_FUNCTIONS:
            return self._vector_function(node, name, arguments)
        if name in FUNCTIONS:
            if any(isinstance(p, Vector) for p in arguments):
                raise node.fail(f"{name}() is a function of scalars")
            if not FUNCTIONS[name].takes(len(arguments)):
                raise node.fail(FUNCTIONS[name].wrong_count(len(arguments)))
            return function(name, *arguments)  # type: ignore[arg-type]
        known_names = [*FUNCTIONS, "dot", "cross", "add", "mag", *self.known()]
        raise node.fail(f"'{node.args[0]}' is not a known function.{did_you_mean(str(node.args[0]), known_names)}")

    def _vector_function(self, node: Syntax, name: str, arguments: list[Value]) -> Value:
        vectors = [p for p in arguments if isinstance(p, Vector)]
        count, compute = VECTOR_FUNCTIONS[name]
        if len(vectors) != len(arguments) or not arguments or (count is not None and len(arguments) != count):
            raise node.fail(f"{name}() takes {count or 'one or more'} vector{'s' if count != 1 else ''}")
        if count is not None:
            require_connected(*vectors)
        return compute(*vectors)
