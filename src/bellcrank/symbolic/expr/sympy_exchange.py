"""Exchange with SymPy, where it is installed: for a second opinion, or for what its algebra does
better.

In:  an expression of either side. Out: the same expression of the other side, symbols under their
names. Quantities are real: a symbol `x` is `sympy.Symbol("x", real=True)` over there. Walks are
loops: depth does not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from importlib import import_module
from typing import Any

from bellcrank.core.errors import ModelError
from bellcrank.symbolic.expr.construct import add, mul, power, sub
from bellcrank.symbolic.expr.function_table import COMPARISONS, FUNCTIONS, MathFunction
from bellcrank.symbolic.expr.functions import apply_builtin, compile_rule
from bellcrank.symbolic.expr.node import (
    MINUS_ONE,
    ONE,
    PI,
    ZERO,
    Expr,
    Func,
    NamedSubexpression,
    Number,
    Product,
    Rational,
    Sum,
    Symbol,
    to_rational,
)
from bellcrank.symbolic.expr.traversal import postorder

# SymPy's name of a function, Bellcrank's name of the same one
_OURS = {
    f.sympy or f.name: f.name for f in FUNCTIONS.values() if f.operator != "**" and f.sympy != ""
}


def to_sympy(expr: Expr) -> Any:
    """The SymPy expression with the same value; held results are written out."""
    sympy = _import_sympy()
    translated: dict[Expr, Any] = {}
    for node in postorder((expr,)):
        translated[node] = _sympy_node(node, translated, sympy)
    return translated[expr]


def _sympy_node(node: Expr, translated: Mapping[Expr, Any], sympy: Any) -> Any:
    def sympy_rational(value: Rational) -> Any:
        return sympy.Rational(value.numerator, value.denominator)

    if isinstance(node, Number):
        return sympy_rational(node.value)
    if isinstance(node, Symbol):
        return sympy.pi if node is PI else sympy.Symbol(node.name, real=True)
    if isinstance(node, Sum):
        return sympy.Add(*(sympy_rational(c) * translated[core] for core, c in node.terms))
    if isinstance(node, Product):
        return sympy.Mul(
            sympy_rational(node.coefficient),
            *(translated[b] ** sympy_rational(x) for b, x in node.factors),
        )
    if isinstance(node, NamedSubexpression):
        return translated[node.definition]
    assert isinstance(node, Func)
    args = [translated[a] for a in node.args]
    if node.function is not None:
        return sympy.Function(node.name)(*args)
    if node.name == "where":
        return sympy.Piecewise(
            (args[1], _sympy_condition(node.args[0], translated, sympy)), (args[2], True)
        )
    if node.name in COMPARISONS:
        return sympy.Piecewise((1, _sympy_condition(node, translated, sympy)), (0, True))
    if FUNCTIONS[node.name].sympy == "":
        return _expand_for_sympy(FUNCTIONS[node.name], args, sympy)
    return _sympy_function(node, sympy)(*args)


def _expand_for_sympy(math_function: MathFunction, args: list[Any], sympy: Any) -> Any:
    """A function that SymPy does not have, written with others."""
    names = [Symbol(n, "dummy") for n in math_function.argument_names]
    root = compile_rule(math_function.in_terms, math_function.argument_names)(*names)
    translated: dict[Expr, Any] = dict(zip(names, args, strict=True))
    for node in postorder((root,), known=frozenset(names)):
        translated[node] = _sympy_node(node, translated, sympy)
    return translated[root]


def _sympy_function(node: Func, sympy: Any) -> Any:
    """SymPy's function for one of ours; those of the C library stand apart there."""
    name = FUNCTIONS[node.name].sympy or node.name
    return getattr(sympy, name, None) or getattr(import_module("sympy.codegen.cfunctions"), name)


def _sympy_condition(node: Expr, translated: Mapping[Expr, Any], sympy: Any) -> Any:
    if isinstance(node, Func) and node.function is None and node.name in COMPARISONS:
        return _sympy_function(node, sympy)(*(translated[a] for a in node.args))
    return sympy.Ne(translated[node], 0)


def from_sympy(
    sym_expr: Any,
    kinds: Mapping[str, str | Symbol] | None = None,
    functions: Mapping[str, Any] | None = None,
) -> Expr:
    """The expression with the value of a SymPy expression.

    `kinds` gives the kind of a symbol by its name ("parameter" if not given), or the symbol itself.
    A function of time such as SymPy's dynamicsymbols make, q(t), becomes the symbol q if `kinds`
    has its name. `functions` gives the user function (table, user function) behind a function's
    name.
    """
    sympy = _import_sympy()
    reader = _SymPyReader(sympy, kinds or {}, functions or {})
    root = sympy.sympify(sym_expr)
    translated: dict[int, Expr] = {}
    live_objects: list[Any] = []  # an id is good as long as its object lives
    stack = [(root, False)]
    while stack:
        node, is_expanded = stack.pop()
        if id(node) in translated:
            continue
        arguments = reader.children(node)
        live_objects.append((node, arguments))
        if is_expanded or not arguments:
            translated[id(node)] = reader.read_node(node, [translated[id(p)] for p in arguments])
        else:
            stack.append((node, True))
            stack.extend((p, False) for p in reversed(arguments))
    return translated[id(root)]


class _SymPyReader:
    """Meaning of one SymPy node, given that of its parts."""

    def __init__(
        self, sympy: Any, kinds: Mapping[str, str | Symbol], functions: Mapping[str, Any]
    ) -> None:
        self.sympy, self.kinds, self.functions = sympy, kinds, functions
        self.table: dict[str, Callable[..., Expr]] = {
            "Add": add,
            "Mul": mul,
            "Pow": power,
            "Piecewise": _read_piecewise,
            "Equality": lambda a, b: mul(apply_builtin("le", a, b), apply_builtin("ge", a, b)),
            "Unequality": sub,
            "cot": lambda x: power(apply_builtin("tan", x), MINUS_ONE),
            "sec": lambda x: power(apply_builtin("cos", x), MINUS_ONE),
            "csc": lambda x: power(apply_builtin("sin", x), MINUS_ONE),
        }

    def children(self, node: Any) -> tuple[Any, ...]:
        if node.is_Atom or self._is_state(node):
            return ()
        if node.func.__name__ == "Piecewise":
            return tuple(x for pair in node.args for x in pair.args)
        return tuple(node.args)

    def _is_state(self, node: Any) -> bool:
        undefined = isinstance(node, self.sympy.core.function.AppliedUndef)
        return undefined and node.func.__name__ not in self.functions

    def read_node(self, node: Any, arguments: list[Expr]) -> Expr:
        if node.is_Atom or self._is_state(node):
            return self._read_atom(node)
        name = node.func.__name__
        if isinstance(node, self.sympy.core.function.AppliedUndef):
            return Func(name, tuple(arguments), self.functions[name])
        if name in self.table:
            return self.table[name](*arguments)
        if name in _OURS and (name != "log" or len(arguments) == 1):
            return apply_builtin(_OURS[name], *arguments)
        raise ModelError(f"{name}() of SymPy has no counterpart here, in {node}")

    def _read_atom(self, node: Any) -> Expr:
        if node.is_Rational:
            return Number(to_rational(Fraction(int(node.p), int(node.q))))
        if node.is_Float:
            return Number(to_rational(float(node)))
        if node is self.sympy.pi:
            return PI
        if node is self.sympy.E:
            return apply_builtin("exp", ONE)
        if node in (self.sympy.true, self.sympy.false):
            return ONE if node else ZERO
        if node.is_Symbol:
            return self._read_symbol(node.name, "parameter")
        if self._is_state(node):
            return self._read_symbol(node.func.__name__, None)
        raise ModelError(f"{node} of SymPy has no counterpart here")

    def _read_symbol(self, name: str, otherwise: str | None) -> Expr:
        kind = self.kinds.get(name, otherwise)
        if kind is None:
            raise ModelError(
                f"{name}() is an unknown function: give its symbol in `kinds` if it is a "
                f"function of time, "
                f"or what computes it in `functions`"
            )
        return kind if isinstance(kind, Symbol) else Symbol(name, kind)


def _read_piecewise(*arguments: Expr) -> Expr:
    """Pairs of value and condition, the last condition true."""
    *pairs, last, otherwise = arguments
    if otherwise is not ONE:
        raise ModelError(
            "a Piecewise of SymPy needs a last value that holds otherwise, (value, True)"
        )
    result = last
    for value, condition in zip(pairs[-2::-2], pairs[-1::-2], strict=True):
        if (
            value is ONE
            and result is ZERO
            and isinstance(condition, Func)
            and condition.name in COMPARISONS
        ):
            result = condition  # a comparison is a number, 1 or 0
        else:
            result = apply_builtin("where", condition, value, result)
    return result


def _import_sympy() -> Any:
    try:
        import sympy
    except ImportError:
        raise ModelError(
            "exchange with SymPy needs the package 'sympy': pip install sympy"
        ) from None
    return sympy
