"""Expressions put into straight lines: what is shared is named once, before its use; constants are
kept apart."""

from __future__ import annotations

from collections import ChainMap, Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeGuard

from bellcrank.program.routine import CallableRoutine
from bellcrank.program.statements import AssignStatement, CallStatement, Statement
from bellcrank.symbolic.expr import (
    Expr,
    Func,
    NamedSubexpression,
    Number,
    Product,
    Sum,
    Symbol,
    add,
    mul,
    postorder,
    power,
)
from bellcrank.symbolic.expr.node import Rational, normalize_rational
from bellcrank.symbolic.expr.traversal import unwrap_named

ATOMS = (Symbol, Number)
MAX_NESTING_DEPTH = (
    60  # parts inside each other in one statement: languages limit how deep parentheses may go
)


class StatementScheduler:
    """Names what is shared and puts it in order."""

    def __init__(self, roots: Iterable[Expr]) -> None:
        self.constants: list[Statement] = []
        self.statements: list[Statement] = []
        self._constant: dict[Expr, Expr] = {}
        self._constant_by_value: dict[int, Expr] = {}
        self._new: dict[Expr, Expr] = {}
        self._uses: Counter[Expr] = Counter()
        self._depth: dict[Expr, int] = {}
        self._calls: dict[tuple[Any, ...], list[Symbol | None]] = {}
        self._z = 0
        self.routines: list[CallableRoutine] = []
        self.count_uses(roots)

    def sibling(self, roots: Iterable[Expr]) -> StatementScheduler:
        """A plan for another function over the same constants."""
        scheduler = StatementScheduler(roots)
        scheduler.constants, scheduler.routines = self.constants, self.routines
        scheduler._constant, scheduler._constant_by_value = self._constant, self._constant_by_value
        return scheduler

    def count_uses(self, roots: Iterable[Expr]) -> None:
        """How often each node is used below the roots and as one; held nodes stand for their
        definitions."""
        roots = list(roots)
        nodes = list(postorder(roots))
        self._uses.update(map(unwrap_named, roots))
        self._uses.update(
            p.definition if isinstance(p, NamedSubexpression) else p
            for node in nodes
            for p in node.parts
        )
        # a definition was counted once for the held node itself, which is not a use
        self._uses.subtract(
            node.definition for node in nodes if isinstance(node, NamedSubexpression)
        )

    # ---- constants

    def constant(self, e: Expr) -> Expr:
        """The stored value of a constant expression."""
        if isinstance(e, ATOMS):
            return e
        if e in self._constant:
            return self._constant[e]
        if e.fingerprint in self._constant_by_value:
            return self._constant_by_value[e.fingerprint]
        value = self._plain_constant(e)
        if isinstance(value, ATOMS):
            self._constant[e] = value
            return value
        return self._store_constant(e, value)

    def _plain_constant(self, root: Expr) -> Expr:
        """A constant expression over parameters and earlier constants."""
        constants = ChainMap({}, self._constant)
        for node in postorder((root,), known=self._constant):
            if isinstance(node, NamedSubexpression):
                inner = constants[node.definition]
                if (
                    not isinstance(inner, ATOMS)
                    and node is not root
                    and node.definition is not root
                ):
                    inner = self._store_constant(node, inner)
                constants[node] = inner
            else:
                if isinstance(node, Func) and node.function is not None:
                    self._register_routine(node)
                constants[node] = _rebuild_node(node, constants)
                if self._too_deep(node, constants[node]) and node is not root:
                    constants[node] = self._store_constant(node, constants[node])
        return constants[root]

    def _too_deep(self, node: Expr, value: Expr) -> bool:
        """Has a value so many parts inside each other that it needs a statement of its own?"""
        deep = (
            0
            if isinstance(value, ATOMS)
            else 1 + max((self._depth.get(p, 0) for p in node.parts), default=0)
        )
        self._depth[node] = deep = 0 if deep > MAX_NESTING_DEPTH else deep
        return not deep and not isinstance(value, ATOMS)

    def _store_constant(self, node: Expr, value: Expr) -> Expr:
        stored = self._constant_by_value.get(node.fingerprint)
        if stored is None:
            stored = Symbol(f"c{len(self.constants) + 1}", "stored")
            self.constants.append(AssignStatement(stored, value))
            self._constant_by_value[node.fingerprint] = stored
        self._constant[node] = stored
        return stored

    # ---- variables

    def lower(self, root: Expr) -> Expr:
        """root over symbols, with statements for everything shared appended."""
        if root.constant:
            return self.constant(root)
        for node in postorder((root,), known=self._new):
            if node.constant:
                continue
            if isinstance(node, NamedSubexpression):
                self._new[node] = self._new[node.definition]
                self._depth[node] = self._depth.get(node.definition, 0)
                continue
            self._new[node] = self._name_if_shared(node, self._lower_node(node))
        return self._new[root]

    def _name_if_shared(self, node: Expr, value: Expr) -> Expr:
        deep = self._too_deep(node, value)
        if isinstance(value, ATOMS) or (
            self._uses[node] < 2 and not _is_sin_or_cos(node) and not deep
        ):
            return value
        if (
            _is_signed_factor(value)
            and value.factors[0][1] == 1
            and isinstance(value.factors[0][0], ATOMS)
            and not deep
        ):
            return value  # a sign costs nothing
        self._depth[node] = 0
        symbol = self.new_symbol()
        self.statements.append(AssignStatement(symbol, value))
        return symbol

    def substitute(self, values: Mapping[Expr, Expr]) -> None:
        """From here on, symbols stand for others."""
        self._new.update(values)

    def new_symbol(self) -> Symbol:
        self._z += 1
        return Symbol(f"z{self._z}", "intermediate")

    def _lower_node(self, node: Expr) -> Expr:
        if isinstance(node, Symbol):
            return node
        if isinstance(node, Sum):
            return self._lower_sum(node)
        if isinstance(node, Product):
            return self._lower_product(1, node)
        assert isinstance(node, Func)
        args = tuple(self.constant(a) if a.constant else self._new[a] for a in node.args)
        if node.function is None:
            return Func(node.name, args)
        return self._lower_routine_call(node, args)

    def _register_routine(self, node: Func) -> Any:
        """The routine of a node, which the program has to know."""
        external = getattr(node.function, "external", node.function)
        if external not in self.routines:
            self.routines.append(external)
        return external

    def _lower_routine_call(self, node: Func, args: tuple[Expr, ...]) -> Expr:
        external = self._register_routine(node)
        if not getattr(external, "varies", False):
            return Func(node.name, args, node.function)
        key = (external, args)
        count_returned = max(len(external.returns), 1)
        index = getattr(node.function, "index", 0)
        if key not in self._calls:
            self._calls[key] = [None] * count_returned
            self.statements.append(CallStatement((), external, args))
            self._calls[key].append(Symbol(str(len(self.statements) - 1)))
        slots = self._calls[key]
        statement_index = int(slots[-1].name)  # type: ignore[union-attr]
        if slots[index] is None:
            slots[index] = self.new_symbol()
        self.statements[statement_index] = CallStatement(tuple(slots[:-1]), external, args)
        result = slots[index]
        assert result is not None
        return result

    def _lower_sum(self, node: Sum) -> Expr:
        terms: list[tuple[Expr, Rational]] = []
        constant_terms: list[Expr] = []
        for core, c in node.terms:
            if core.constant:
                constant_terms.append(mul(Number(c), core))
                continue
            if isinstance(core, Product) and self._uses[core] < 2:
                value = self._lower_product(c, core)
            else:
                value = self._new[core]
                if c != 1:
                    value = _scale_expression(c, value)
            terms.append((value, 1))
        if constant_terms:
            terms.append((self.constant(add(*constant_terms)), 1))
        return _plain_sum(terms)

    def _lower_product(self, coefficient: Rational, node: Product) -> Expr:
        """Factors with all constants gathered into one."""
        number: Rational = node.coefficient * coefficient
        constant_factors: list[Expr] = []
        factors: list[tuple[Expr, Rational]] = []
        for base, exponent in node.factors:
            if base.constant:
                constant_factors.append(power(base, Number(exponent)))
            else:
                value = self._new[base]
                if _is_signed_factor(value) and exponent in (1, -1):
                    number = number * value.coefficient
                    value, inner = value.factors[0]
                    exponent = exponent * inner
                factors.append((value, exponent))
        constant = mul(Number(number), *constant_factors)
        if isinstance(constant, Number):
            return _plain_product(constant.value, factors)
        sign: Rational = 1
        stored = self.constant(constant)
        if isinstance(stored, Product) and len(stored.factors) == 1:
            sign, stored = stored.coefficient, stored.factors[0][0]
        return _plain_product(sign, [(stored, 1), *factors])


class InlineConstantScheduler(StatementScheduler):
    """Puts what is constant among the other statements: the constants of a program stay as they
    are."""

    def _store_constant(self, node: Expr, value: Expr) -> Expr:
        self._constant[node] = symbol = self._constant_by_value[node.fingerprint] = (
            self.new_symbol()
        )
        self.statements.append(AssignStatement(symbol, value))
        return symbol


def _is_signed_factor(value: Expr) -> TypeGuard[Product]:
    """Is it one factor, with a sign or without?"""
    return isinstance(value, Product) and len(value.factors) == 1 and abs(value.coefficient) == 1


def _is_sin_or_cos(node: Expr) -> bool:
    return isinstance(node, Func) and node.function is None and node.name in ("sin", "cos")


def _scale_expression(c: Rational, value: Expr) -> Expr:
    if isinstance(value, Product):
        return _plain_product(c * value.coefficient, list(value.factors))
    return _plain_product(c, [(value, 1)])


def _plain_product(coefficient: Rational, factors: Sequence[tuple[Expr, Rational]]) -> Expr:
    """A product as it stands: no flattening, no collection."""
    coefficient = normalize_rational(coefficient)
    if coefficient == 1 and len(factors) == 1 and factors[0][1] == 1:
        return factors[0][0]
    if not factors:
        return Number(coefficient)
    return Product(coefficient, tuple(factors))


def _plain_sum(terms: Sequence[tuple[Expr, Rational]]) -> Expr:
    return terms[0][0] if len(terms) == 1 else Sum(tuple(terms))


def _rebuild_node(node: Expr, rebuilt: Mapping[Expr, Expr]) -> Expr:
    if isinstance(node, Sum):
        return _plain_sum(
            [
                (_scale_expression(c, rebuilt[core]) if c != 1 else rebuilt[core], 1)
                for core, c in node.terms
            ]
        )
    if isinstance(node, Product):
        return _plain_product(node.coefficient, [(rebuilt[b], x) for b, x in node.factors])
    if isinstance(node, Func):
        return Func(node.name, tuple(rebuilt[a] for a in node.args), node.function)
    return node
