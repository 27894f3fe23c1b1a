"""What names mean: parameters, variables, coordinates and speeds, and the scalar part of the
language.

Names are case-sensitive, but for those of built-in functions; unknown scalars become parameters.
Small orders are given to symbols here, so that the same description can be frozen with and without
them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bellcrank.core.errors import ExpressionError, ModelError, did_you_mean
from bellcrank.core.units import unit_system
from bellcrank.model.formula import to_syntax
from bellcrank.model.owner import check_owner
from bellcrank.model.records import Description, UserFunction
from bellcrank.symbolic.expr import (
    PI,
    Expr,
    Func,
    Number,
    Symbol,
    add,
    apply_builtin,
    expression,
    free_symbols,
    postorder,
    rewrite_nodes,
)
from bellcrank.symbolic.expr.formula_parser import (
    STATE,
    SyntaxNode,
    evaluate_syntax,
    long_sums,
    syntax_to_text,
)
from bellcrank.symbolic.expr.function_table import CALLED, OPERATORS
from bellcrank.symbolic.expr.user_function_value import UserFunctionValue

MECHANICAL = {
    "dot": (2,), "cross": (2,), "angle": (2, 3), "direction": (1,), "dir": (1,),
    "magnitude": (1,), "mag": (1,), "norm": (1,), "project": (2,), "dplane": (2,),
    "pos": (1, 2), "vel": (1, 2), "rot": (1,), "dxdt": (1,), "partial": (2,), "nominal": (1,),
    "fm": (1,), "q": (1, 2), "u": (1, 2), "qp": (1, 2), "up": (1, 2),
}  # fmt: skip
RESERVED = {"t", "pi", "q", "u", "qp", "up", *MECHANICAL, *CALLED}
SHORT = {"fm", "mag", "dir", "norm"}  # functions whose names may be those of parameters too
NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", re.ASCII)
MAX_DEFINITION_DEPTH = 50  # definitions inside each other
TIME = Symbol("t", "time")


@dataclass(frozen=True)
class UnresolvedName:
    """A name whose space (scalar, body, point, force) is decided by where it is used."""

    text: str
    node: SyntaxNode


def is_reserved(name: str) -> bool:
    """Has a scalar of that name a meaning already? Capitals are free: only t is time, only pi the
    number; rod.q is a coordinate."""
    return name in RESERVED or STATE.fullmatch(name) is not None


def make_symbol(
    description: Description, orders: Mapping[str, int], name: str, kind: str
) -> Symbol:
    """The symbol of a name, with its small order and, if it is a parameter, its sign."""
    record = description.parameters.get(name) if kind == "parameter" else None
    return Symbol(name, kind, orders.get(name, 0), record is not None and record.positive)


def referenced_name(item: Any) -> Any:
    """The name that an object, a text or a part of a formula stands for; None if it has none."""
    return (
        item.text
        if isinstance(item, UnresolvedName)
        else item
        if isinstance(item, str)
        else getattr(item, "name", None)
    )


class FormulaScope:
    """Names of one frozen description."""

    def __init__(self, description: Description) -> None:
        self.description = description
        self.orders: dict[str, int] = {}
        self.coordinates: list[Symbol] = []
        self.speeds: list[Symbol] = []
        self.by_body: dict[str, tuple[list[Symbol], list[Symbol]]] = {}  # name of a body: q, u
        self.used: dict[str, None] = {}  # parameters met, in that order
        self.variables = {v.name for v in description.variables}
        self.states = {s.name for s in description.states}
        self.definitions = dict(description.definitions)
        self.functions = {e.name: e for e in description.externals}
        self.returned = {r: (e, i) for e in description.externals for i, r in enumerate(e.returns)}
        self.tables = dict(description.tables)
        # calls of user functions whose values are kept, with the symbols of these; None: they stay
        # calls
        self.kept: dict[tuple[UserFunction, tuple[Expr, ...]], tuple[Symbol, ...]] | None = None
        # user functions that give parameters, with their arguments, in the order in which they have
        # to be called
        self.entered: dict[UserFunction, tuple[Expr, ...]] = {}
        self._open: list[str] = []  # definitions being looked up, to find circles
        self.dummies: dict[str, Any] = {}  # meaning of x, x0, v inside a magnitude
        self.met_dummies: set[str] = set()  # those of them that the present magnitude holds
        self._inside = {
            name for f in description.forces for name in f.dummies
        }  # names that may be such
        self.clear_cache()

    def clear_cache(self) -> None:
        """Definitions are looked up anew: what their names stand for has changed."""
        self._values: dict[str, Any] = {}  # of definitions that are the same everywhere
        self._local: set[str] = (
            set()
        )  # definitions that hold names of magnitudes, themselves or by another one
        self._values_here: dict[str, Any] = {}  # of these, in the present magnitude
        self._values_with = self.dummies

    def is_cached(self, name: str, formula: Any) -> bool:
        """Is the value of this definition known, wherever it stands?"""
        return name in self._values and self.definitions[name] is formula

    # ---- symbols

    def symbol(self, name: str, kind: str) -> Symbol:
        return make_symbol(self.description, self.orders, name, kind)

    def parameter(self, name: str) -> Symbol:
        self.used[name] = None
        return self.symbol(name, "parameter")

    def with_scope_symbols(self, e: Expr) -> Expr:
        """An expression built in Python, with this scope's symbols and their small orders."""

        def renew_symbol(node: Expr) -> Expr | None:
            if isinstance(node, Func) and self.kept is not None:
                routine = getattr(node.function, "external", node.function)
                if isinstance(routine, UserFunction) and routine.is_sampled:
                    args = tuple(self.with_scope_symbols(a) for a in node.args)
                    return self.user_function_value(
                        routine, args, getattr(node.function, "index", None)
                    )
            if not isinstance(node, Symbol) or node is PI:
                return None
            if node.kind == "parameter":
                return self.parameter(node.name)
            return self.symbol(node.name, node.kind)

        return rewrite_nodes((e,), renew_symbol)[0]

    # ---- evaluation

    def to_scalar(self, value: Any) -> Expr:
        """The scalar expression that a number, expression, formula or text stands for."""
        node = to_syntax(value)
        return self.as_scalar(self.evaluate(node), node)

    def evaluate(self, node: SyntaxNode) -> Any:
        return evaluate_syntax(long_sums(node), self.evaluate_node)

    def as_scalar(self, value: Any, node: SyntaxNode) -> Expr:
        value = self.resolve_name(value)
        if isinstance(value, Expr):
            return value
        if callable(value) and not hasattr(value, "name"):
            raise ModelError(
                "a Python function is no formula: use a formula, bc.table() or add_external()"
            )
        raise _formula_error(node, f"a scalar is needed here, but this is {_kind_phrase(value)}")

    def to_scalars(self, node: SyntaxNode, arguments: list[Any]) -> tuple[Expr, ...]:
        return tuple(self.as_scalar(p, c) for p, c in zip(arguments, node.children, strict=True))

    def evaluate_node(self, node: SyntaxNode, operands: list[Any]) -> Any:
        """The value of one node of a formula."""
        match node.op:
            case "number":
                return expression(node.args[0])
            case "quantity":
                number, unit = node.args
                return expression(
                    unit_system(self.description.units).parse_unit(unit).to_equation_units(number)
                )
            case "name":
                return UnresolvedName(node.args[0], node)
            case "value":
                return (
                    self.with_scope_symbols(node.args[0])
                    if isinstance(node.args[0], Expr)
                    else node.args[0]
                )
            case "unit":
                return self.unit_vector(node)
            case "call":
                return self.call(node, operands)
            case "neg":
                return -self.resolve_name(operands[0])
            case "sum":
                return self.sum_terms(node, [self.resolve_name(p) for p in operands])
            case op if op in OPERATORS and op != "**":
                return apply_builtin(OPERATORS[op].name, *self.to_scalars(node, operands))
        a, b = (self.resolve_name(p) for p in operands)
        return self.arithmetic(node, a, b)

    def sum_terms(self, node: SyntaxNode, terms: list[Any]) -> Any:
        """The sum of many terms."""
        if all(isinstance(p, Expr) for p in terms):
            return add(*terms)
        plus = SyntaxNode("+", node.args[:2], node.position, node.source)
        while len(terms) > 1:  # by pairs: one by one would take the square of their number
            last = terms[-1:] if len(terms) % 2 else []
            terms = [
                self.arithmetic(plus, a, b) for a, b in zip(terms[::2], terms[1::2], strict=False)
            ] + last
        return terms[0]

    def resolve_name(self, value: Any) -> Any:
        return self.scalar_name(value) if isinstance(value, UnresolvedName) else value

    def arithmetic(self, node: SyntaxNode, a: Any, b: Any) -> Any:
        scalars = isinstance(a, Expr) and isinstance(b, Expr)
        try:
            match node.op:
                case "+" | "-" if type(a) is type(b) or scalars:
                    return a + b if node.op == "+" else a - b
                case "*" if isinstance(a, Expr):
                    return a * b if isinstance(b, Expr) else b * a
                case "*" if isinstance(b, Expr):
                    return a * b
                case "/" if isinstance(b, Expr):
                    return a / b
                case "**" if scalars:
                    return a**b
        except ExpressionError:
            raise
        except ModelError as error:
            raise _formula_error(node, str(error)) from None
        raise _formula_error(
            node, f"'{node.op}' does not go between {_kind_phrase(a)} and {_kind_phrase(b)}"
        )

    def scalar_name(self, name: UnresolvedName) -> Expr:
        key = name.text
        if key in self._inside:
            self._local.update(self._open)
        if key in self.dummies:
            self.met_dummies.add(key)
            meaning = self.dummies[key]
            return meaning() if callable(meaning) else meaning
        if key == "t":
            return TIME
        if key == "pi":
            return PI
        if key in self.definitions:
            return self._definition(key, name)
        if key in self.returned:
            external, index = self.returned[key]
            if external.sets_parameters:
                return self._parameter_from_function(external, index, name)
            if external.when == "echo":
                reason = "is known when the echo is written (when='echo'), not in formulas"
                raise _formula_error(name.node, f"'{name.text}' {reason}")
            args = tuple(self.to_scalar(a) for a in external.arguments)
            return self.user_function_value(external, args, index)
        if key in self.variables:
            return self.symbol(key, "variable")
        if key in self.states:
            return self.symbol(key, "coordinate")
        if is_reserved(key) and key not in SHORT:
            raise _formula_error(
                name.node, f"'{name.text}' is a reserved name and needs arguments in parentheses"
            )
        return self.parameter(key)

    def user_function_value(
        self, routine: UserFunction, args: tuple[Expr, ...], index: int | None = None
    ) -> Expr:
        """A value of a user function: a function of its arguments, or a symbol if it is kept."""
        if self.kept is None or not routine.is_sampled:
            return Func(
                routine.name, args, routine if index is None else UserFunctionValue(routine, index)
            )
        if (routine, args) not in self.kept:
            names = routine.returns or (
                f"{routine.name}_{sum(r is routine for r, _ in self.kept) + 1}",
            )
            self.kept[routine, args] = tuple(Symbol(n, "kept") for n in names)
        return self.kept[routine, args][index or 0]

    def _parameter_from_function(
        self, routine: UserFunction, index: int, name: UnresolvedName
    ) -> Expr:
        """A parameter that a user function gives."""
        if routine not in self.entered:
            key = f"{routine.name}()"
            if key in self._open:
                reason = f"is called with what it returns itself: '{name.text}'"
                raise _formula_error(name.node, f"external '{routine.name}' {reason}")
            self._open.append(key)
            try:
                args = tuple(self.to_scalar(a) for a in routine.arguments)
            finally:
                self._open.pop()
            moving = {
                s.name
                for a in args
                for s in free_symbols(a)
                if s.kind != "parameter" and s is not PI
            }
            callees = (n.function for n in postorder(args) if isinstance(n, Func))
            if moving or any(
                isinstance(callee, UserFunction | UserFunctionValue) for callee in callees
            ):
                dependence = ", ".join(sorted(moving)) or "the value of another routine"
                when = "is called when the parameters have been read (when='input')"
                restriction = f"its arguments may hold parameters only, not {dependence}"
                raise _formula_error(name.node, f"external '{routine.name}' {when}: {restriction}")
            self.entered[routine] = args
        return self.parameter(routine.returns[index])

    def _definition(self, key: str, name: UnresolvedName) -> Any:
        if key in self._open:
            cycle = " -> ".join([*self._open[self._open.index(key) :], key])
            raise _formula_error(
                name.node, f"the definition of '{name.text}' goes in a circle: {cycle}"
            )
        if len(self._open) >= MAX_DEFINITION_DEPTH:
            raise _formula_error(
                name.node, f"definitions refer to each other more than {MAX_DEFINITION_DEPTH} deep"
            )
        if key in self._values:
            return self._values[key]
        if self._values_with is not self.dummies:
            self._values_here, self._values_with = {}, self.dummies
        if key not in self._values_here:
            self._open.append(key)
            try:
                value = self.resolve_name(self.evaluate(to_syntax(self.definitions[key])))
            finally:
                self._open.pop()
            if key not in self._local:
                self._values[key] = value
                return value
            self._values_here[key] = value
        self._local.update(self._open)
        return self._values_here[key]

    def call(self, node: SyntaxNode, arguments: list[Any]) -> Any:
        name = node.args[0]
        if name in self.tables or (name in self.functions and not self.functions[name].returns):
            args = self.to_scalars(node, arguments)
            if name in self.tables:
                return self.tables[name](*args)
            external = self.functions[name]
            if len(args) != len(external.arguments):
                raise _formula_error(
                    node, f"{name}() takes {len(external.arguments)} arguments, {len(args)} given"
                )
            return self.user_function_value(external, args)
        key = name.lower()
        if key in MECHANICAL:
            _check_arity(node, MECHANICAL[key], arguments)
            return self.motion_function(key, node, arguments)
        if key in CALLED:
            if not CALLED[key].accepts_count(len(arguments)):
                raise _formula_error(node, CALLED[key].argument_count_message(len(arguments)))
            args = self.to_scalars(node, arguments)
            try:
                return apply_builtin(key, *args)
            except ModelError as error:
                raise _formula_error(node, str(error)) from None
        function_names = [
            *CALLED,
            *MECHANICAL,
            *(e.name for e in self.functions.values()),
            *self.tables,
        ]
        raise _formula_error(
            node, f"unknown function '{name}'.{did_you_mean(name, function_names)}"
        )

    # ---- mechanics: what a scalar scope knows of it

    def state_symbol(self, key: str, node: SyntaxNode, arguments: list[Any]) -> Symbol:
        """q(b), q(b, i), q(i) and likewise u."""
        first = arguments[0]
        if isinstance(first, Number):
            states, state_text = self.coordinates if key == "q" else self.speeds, f"{key}({first})"
        else:
            body = referenced_name(first) or str(first)
            check_owner(body, self.description, "body")
            if body not in self.by_body:
                raise _formula_error(
                    node, f"no body has the name '{body}'.{did_you_mean(body, self.by_body)}"
                )
            states = self.by_body[body][0 if key == "q" else 1]
            if len(arguments) == 1:
                if len(states) != 1:
                    raise _formula_error(
                        node, f"body '{body}' has {len(states)} of these: write {key}({body}, i)"
                    )
                return states[0]
            first, state_text = arguments[1], f"{key}({body}, {arguments[1]})"
        index = first.value if isinstance(first, Number) else None
        if not isinstance(index, int) or not 1 <= index <= len(states):
            raise _formula_error(
                node, f"{state_text} does not exist: the index goes from 1 to {len(states)}"
            )
        return states[index - 1]

    def motion_function(self, key: str, node: SyntaxNode, arguments: list[Any]) -> Any:
        if key in ("q", "u"):
            return self.state_symbol(key, node, arguments)
        raise _formula_error(node, f"{key}() has no meaning here: only constants are allowed")

    def unit_vector(self, node: SyntaxNode) -> Any:
        raise _formula_error(node, "a vector has no meaning here: only constants are allowed")


def _check_arity(node: SyntaxNode, argument_counts: tuple[int, ...], arguments: list[Any]) -> None:
    if len(arguments) not in argument_counts:
        expected = " or ".join(map(str, argument_counts))
        raise _formula_error(
            node,
            f"{node.args[0]}() takes {expected} argument{'s' if expected != '1' else ''}, "
            f"{len(arguments)} given",
        )


def _kind_phrase(value: Any) -> str:
    kind = type(value).__name__
    if kind in ("Vector", "UnitVector"):
        return "a vector"
    return "a scalar" if isinstance(value, Expr | UnresolvedName) else f"a {kind.lower()}"


def _formula_error(node: SyntaxNode | None, message: str) -> ModelError:
    if node is None:
        return ModelError(message)
    if node.source is not None:
        return node.error_at_node(message)
    return ModelError(f"{message} (in {syntax_to_text(node)})")
