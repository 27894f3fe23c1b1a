"""Scalars of a hand-led derivation: constants, coordinates, speeds, and quantities with a name and
a definition.

A definition (an intermediate Z, a force law, a dependent speed) is a symbol that derivatives look
through and `resolve` writes out; a dependent speed thus yields nonholonomic partial velocities
(Kane & Levinson 1985, section 2.13).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from bellcrank.core.errors import ModelError
from bellcrank.kane.linear_form import linear_form
from bellcrank.kane.missing_quantities import MissingError, MissingQuantity
from bellcrank.symbolic.expr import (
    ONE,
    ZERO,
    Expr,
    NamedSubexpression,
    Number,
    Product,
    Sum,
    Symbol,
    add,
    derivative,
    mul,
    neg,
    rewrite_nodes,
)
from bellcrank.symbolic.expr.construct import split_coefficient
from bellcrank.symbolic.expr.node import PRIME
from bellcrank.symbolic.expr.traversal import free_symbols
from bellcrank.symbolic.vector.basis import Vector

TIME = Symbol("t", "time")


class DerivationScalars:
    """The symbols of one derivation, their rates and definitions."""

    def __init__(self) -> None:
        self.constants: list[Symbol] = []
        self.coordinates: list[Symbol] = []
        self.speeds: list[Symbol] = []  # independent and dependent
        self.auxiliary: list[Symbol] = []
        self.unknown: list[Symbol] = []  # forces that auxiliary speeds bring into evidence
        self.inputs: list[Symbol] = []
        self.rates: dict[Symbol, Expr] = {}
        self.definitions: dict[Symbol, Expr] = {}
        self.intermediate: list[Symbol] = []
        self.autoz = False
        self.open_rates = True  # q' may stand in formulas before it is given
        self.version = 0
        self._by_value: dict[int, Expr] = {}
        self._slopes: dict[Symbol, dict[Symbol, Expr]] = {}
        self._uses: dict[Symbol, list[Symbol]] = {}

    # ---- what there is

    @property
    def independent_speeds(self) -> list[Symbol]:
        """The speeds that are states."""
        return [u for u in self.speeds if u not in self.definitions]

    @property
    def speeds_with_equations(self) -> list[Symbol]:
        """The speeds that have an equation: independent and auxiliary ones."""
        return [*self.independent_speeds, *self.auxiliary]

    def acceleration(self, u: Symbol) -> Symbol:
        return Symbol(f"{u.name}'", "acceleration")

    def define(self, s: Symbol, value: Expr) -> None:
        """Gives a symbol its definition; what was known through it is forgotten."""
        self.definitions[s] = value
        self._slopes.clear()
        self._uses.clear()
        self.version += 1

    def rate_symbol(self, q: Symbol) -> Symbol:
        """q', as it stands in formulas until its kinematical equation is given."""
        return Symbol(f"{q.name}'", "rate")

    def set_rate(self, q: Symbol, rate: Expr) -> None:
        self.rates[q] = rate
        self.define(self.rate_symbol(q), rate)

    def forget_rates(self, coordinates: Iterable[Symbol]) -> None:
        for q in coordinates:
            del self.rates[q], self.definitions[self.rate_symbol(q)]
        self._slopes.clear()
        self._uses.clear()
        self.version += 1

    def definition_order(self, roots: Iterable[Expr]) -> list[Symbol]:
        """The defined symbols behind expressions, each after those it is made of."""
        ordered: dict[Symbol, None] = {}
        entered: set[Symbol] = set()
        stack = [(s, False) for r in roots for s in free_symbols(r) if s in self.definitions]
        while stack:
            s, is_finished = stack.pop()
            if is_finished:
                ordered[s] = None
            elif s not in entered:
                entered.add(s)
                stack.append((s, True))
                stack.extend((x, False) for x in self._direct_definitions(s))
        return list(ordered)

    def _direct_definitions(self, s: Symbol) -> list[Symbol]:
        if s not in self._uses:
            self._uses[s] = [x for x in free_symbols(self.definitions[s]) if x in self.definitions]
        return self._uses[s]

    # ---- calculus through definitions

    def partial(self, e: Expr, x: Symbol) -> Expr:
        """Partial derivative, definitions looked through."""
        return self._chain_rule(e, x, lambda s: ONE if s is x else ZERO)

    def rate(self, e: Expr) -> Expr:
        """Time derivative; coordinates by their kinematical equations, speeds by u'."""
        return self._chain_rule(e, TIME, self._rate_of)

    def _chain_rule(self, e: Expr, key: Symbol, basic: Callable[[Symbol], Expr]) -> Expr:
        memory = self._slopes.setdefault(key, {})

        def partial_of_symbol(s: Symbol) -> Expr:
            return memory[s] if s in memory else basic(s)

        for s in self.definition_order((e,)):
            if s not in memory:
                memory[s] = derivative(self.definitions[s], partial_of_symbol)
        return derivative(e, partial_of_symbol)

    def _rate_of(self, s: Symbol) -> Expr:
        if s is TIME:
            return ONE
        if s.constant or s in self.auxiliary:
            return ZERO
        if s in self.rates:
            return self.rates[s]
        if s.kind == "speed":
            return self.acceleration(s)
        if s.kind == "coordinate":
            if self.open_rates:
                return self.rate_symbol(s)
            raise MissingError([MissingQuantity("rate", s.name)])
        if s.kind == "rate":
            raise MissingError([MissingQuantity("rate", s.name.removesuffix("'"))])
        if s.kind == "acceleration":
            raise ModelError(
                f"the derivative of {s.name} is of third order and does not occur in "
                f"equations of motion"
            )
        if s.kind == "control":
            raise ModelError(f"{s.name} has no definition yet, so its time derivative is not known")
        raise ModelError(
            f"the time derivative of {s.name}, which is given at run time, is not known"
        )

    def depends_on_speeds(self, e: Expr) -> bool:
        """Does an expression depend on the speeds?"""
        return any(
            s.kind == "speed" and s not in self.definitions
            for s in (*free_symbols(e), *self._symbols_in_definitions(e))
        )

    def _symbols_in_definitions(self, e: Expr) -> list[Symbol]:
        return [x for s in self.definition_order((e,)) for x in free_symbols(self.definitions[s])]

    def require_linear(self, e: Expr, label: str) -> None:
        """Complains about a motion that is not linear in the speeds."""
        for u in self.speeds_with_equations:
            if self.depends_on_speeds(self.partial(e, u)):
                reason = f"its slope for {u} depends on them"
                raise ModelError(f"{label} = {e} is not linear in the generalized speeds: {reason}")

    # ---- expressions written out

    def resolve(self, roots: Iterable[Expr], settle: bool = True) -> list[Expr]:
        """Expressions over states and constants; definitions stay shared as held results. Auxiliary
        speeds are zero."""
        roots = list(roots)
        zero_symbols = (*self.auxiliary, *map(self.acceleration, self.auxiliary)) if settle else ()
        substitutions: dict[Expr, Expr] = dict.fromkeys(zero_symbols, ZERO)
        for s in self.definition_order(roots):
            value = rewrite_nodes((self.definitions[s],), substitutions.get)[0]
            substitutions[s] = (
                value
                if isinstance(value, Number | Symbol | NamedSubexpression)
                else NamedSubexpression(value)
            )
        return rewrite_nodes(roots, substitutions.get) if substitutions else roots

    def without_auxiliary_speeds(self, e: Expr) -> Expr:
        """An expression with auxiliary speeds at zero, once partial velocities have been taken."""
        zero: dict[Expr, Expr] = dict.fromkeys(self.auxiliary, ZERO)
        return rewrite_nodes((e,), zero.get)[0] if zero else e

    # ---- intermediate variables

    def name_intermediate_terms(self, e: Expr) -> Expr:
        """With AUTOZ on: coefficients of u' (or of u) and the rest become Z1, Z2, ...; else the
        expression as it is."""
        if not self.autoz:
            return e
        present = free_symbols(e)
        base = [s for s in present if s.kind == "acceleration" and s not in self.definitions]
        base = base or [s for s in present if s.kind == "speed" and s not in self.definitions]
        form = linear_form(e, base)
        if form is None:
            return self.intermediate_symbol(e)
        slopes, remainder = form
        return add(
            *(mul(self.intermediate_symbol(c), s) for s, c in slopes.items()),
            self.intermediate_symbol(remainder),
        )

    def intermediate_symbol(self, e: Expr) -> Expr:
        """The intermediate symbol for an expression, one for each value; atoms stay as they are."""
        c, core = split_coefficient(e)
        if not isinstance(core, Product | Sum):
            return e
        if e.fingerprint in self._by_value:
            return self._by_value[e.fingerprint]
        positive = e if c > 0 else neg(e)
        z = Symbol(f"Z{len(self.intermediate) + 1}", "defined")
        self.intermediate.append(z)
        self.definitions[z] = positive
        self._by_value[positive.fingerprint] = z
        self._by_value[-positive.fingerprint % PRIME] = neg(z)
        return z if c > 0 else neg(z)

    # ---- vectors

    def tidy_vector(self, v: Vector) -> Vector:
        return Vector.from_pairs((e, self.name_intermediate_terms(c)) for e, c in v.terms.items())

    def partial_vector(self, v: Vector, x: Symbol) -> Vector:
        return Vector.from_pairs((e, self.partial(c, x)) for e, c in v.terms.items())
