"""Results as a network of sums of products: the form in which common parts can be found and taken
out.

A variable is an atom (symbol, function value, reciprocal) or a sum of terms; a term is a sign and a
sorted tuple of factors (variables, with at most one constant among them). Shared products are
written out, shared sums stay variables.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from bellcrank.symbolic.expr import (
    ONE,
    ZERO,
    Expr,
    Func,
    NamedSubexpression,
    Number,
    Product,
    Sum,
    Symbol,
    as_atom,
    mul,
    postorder,
    power,
)
from bellcrank.symbolic.expr.construct import split_coefficient
from bellcrank.symbolic.expr.formula_parser import postorder_nodes
from bellcrank.symbolic.expr.node import Rational, normalize_rational
from bellcrank.symbolic.expr.traversal import STILL, unwrap_named

Factors = tuple[int, ...]
Term = tuple[int, Factors]  # sign, factors

HIGHEST_SPLIT = 16  # x**16 is taken apart to share x*x and the like; higher powers stay whole


@dataclass
class NetworkAtom:
    """Something that is not taken apart: a symbol, a constant, a function of variables, a power of
    a variable."""

    kind: str  # symbol, constant, function, power
    value: Expr | None = None
    args: tuple[int, ...] = ()
    exponent: Rational = 1


class SumOfProductsNetwork:
    """Sums by variable number; atoms by variable number; results as variable numbers."""

    def __init__(self) -> None:
        self.sums: dict[int, list[Term]] = {}
        self.atoms: dict[int, NetworkAtom] = {}
        self.results: list[int] = []
        self._next = 0
        self._by_expr: dict[Expr, int] = {}
        self._constants: dict[int, int] = {}  # fingerprint to variable
        self._powers: dict[tuple[int, Rational], int] = {}
        self.constant: set[int] = set()
        self.written_out = False  # were shared linear sums written out?

    def new_variable(self) -> int:
        self._next += 1
        return self._next

    def copy(self) -> SumOfProductsNetwork:
        duplicate = SumOfProductsNetwork()
        duplicate.sums = {k: list(v) for k, v in self.sums.items()}
        duplicate.atoms, duplicate.results, duplicate._next = (
            dict(self.atoms),
            list(self.results),
            self._next,
        )
        duplicate._by_expr, duplicate._constants = dict(self._by_expr), dict(self._constants)
        duplicate._powers, duplicate.constant = dict(self._powers), set(self.constant)
        return duplicate

    # ---- atoms

    def symbol(self, e: Expr) -> int:
        if e not in self._by_expr:
            v = self._by_expr[e] = self.new_variable()
            self.atoms[v] = NetworkAtom("symbol", e)
        return self._by_expr[e]

    def number_factor(self, c: Rational) -> Term:
        """A number as sign and factors."""
        if c == 1 or c == -1:
            return int(c), ()
        return self.constant_factor(Number(c))

    def constant_factor(self, e: Expr) -> Term:
        """A constant as sign and factors: () for 1."""
        if isinstance(e, Number) and abs(e.value) == 1:
            return (1 if e.value > 0 else -1), ()
        c, _ = split_coefficient(e)
        sign = -1 if c < 0 else 1
        e = e if sign > 0 else -e
        constant = self._constants.get(e.fingerprint)
        if constant is None:
            opposite = self._constants.get((-e).fingerprint)
            if opposite is not None:
                return -sign, (opposite,)
            constant = self._constants[e.fingerprint] = self.new_variable()
            self.atoms[constant] = NetworkAtom("constant", e)
            self.constant.add(constant)
        return sign, (constant,)

    def power(self, base: int, exponent: Rational) -> int:
        key = (base, exponent)
        if key not in self._powers:
            v = self._powers[key] = self.new_variable()
            self.atoms[v] = NetworkAtom("power", args=(base,), exponent=exponent)
        return self._powers[key]

    def constant_of(self, term: Term) -> Expr:
        """The constant among the factors of a term, with its sign."""
        sign, factors = term
        k = next((self.atoms[f].value for f in factors if f in self.constant), ONE)
        assert k is not None
        return k if sign > 0 else -k

    def order(self) -> list[int]:
        """Variables below the results, parts first."""

        def parts(v: int) -> list[int]:
            if v in self.atoms:
                return list(self.atoms[v].args)
            return [f for _, factors in self.sums[v] for f in factors]

        return postorder_nodes(self.results, parts)

    # ---- terms

    def times(self, a: Term, b: Term) -> Term:
        """Product of two terms; constants merge."""
        if not a[1]:
            return a[0] * b[0], b[1]
        factors = a[1] + b[1]
        sign = a[0] * b[0]
        constants = [f for f in factors if f in self.constant]
        if len(constants) > 1:
            merged = mul(*(self.atoms[f].value for f in constants))  # type: ignore[arg-type]
            s, k = self.constant_factor(merged)
            sign *= s
            factors = tuple(f for f in factors if f not in self.constant) + k
        return sign, tuple(sorted(factors))

    def cost(self, term: Term) -> int:
        return max(len(term[1]) - 1, 0)


def build_network(
    roots: Sequence[Expr], inline_linear: bool = False, spread: int = 1
) -> SumOfProductsNetwork:
    """The network of the given results.

    `inline_linear`: shared sums that are linear in symbols are written out too. `spread`: a sum
    used once is multiplied out with its constant factor (1) or with any factor (2).
    """
    net = SumOfProductsNetwork()
    order = list(postorder(roots, known=STILL))
    occurrences = _reference_counts(order, roots)
    terms = _TermTable(net)
    for node in order:
        if isinstance(node, NamedSubexpression):
            terms[node] = terms[node.definition]
        elif isinstance(node, Symbol):
            terms[node] = [(1, (net.symbol(node),))]
        elif isinstance(node, Func):
            args = tuple(_variable_for(net, a, terms[a]) for a in node.args)
            v = net.new_variable()
            net.atoms[v] = NetworkAtom("function", node, args)
            terms[node] = [(1, (v,))]
        elif isinstance(node, Product):
            if any(not terms[b] for b, _ in node.factors):
                terms[node] = []  # a factor that cancelled
            else:
                terms[node] = _distribute_product(
                    net, node, terms, occurrences, spread, inline_linear
                ) or [_product_term(net, node, terms)]
        else:
            assert isinstance(node, Sum)
            gathered = _sum_terms(net, node, terms)
            shared = occurrences.get(node, 0) > 1
            if shared and inline_linear and _is_linear(net, gathered):
                shared, net.written_out = False, True
            terms[node] = (
                [(1, (_sum_variable(net, gathered),))] if shared and len(gathered) > 1 else gathered
            )
    for r in roots:
        net.results.append(_variable_for(net, r, terms[r]))
    return net


def _distribute_product(
    net: SumOfProductsNetwork,
    node: Product,
    terms: dict[Expr, list[Term]],
    occurrences: dict[Expr, int],
    spread: int,
    inline_linear: bool,
) -> list[Term] | None:
    """A product with one sum that is used here only, multiplied out."""
    inner_sums = [b for b, x in node.factors if x == 1 and not b.constant and len(terms[b]) > 1]
    other_factors = [b for b, _ in node.factors if b not in inner_sums]
    if len(inner_sums) != 1:
        return None
    linear = (
        inline_linear
        and all(b.constant for b in other_factors)
        and _is_linear(net, terms[inner_sums[0]])
    )
    if not linear:
        if occurrences.get(unwrap_named(inner_sums[0]), 0) > 1 or occurrences.get(node, 0) > 1:
            return None
        if spread < 2 and not all(b.constant for b in other_factors):
            return None
    outer_product = (
        Product(node.coefficient, tuple((b, x) for b, x in node.factors if b is not inner_sums[0]))
        if other_factors
        else None
    )
    scale = (
        _product_term(net, outer_product, terms)
        if outer_product is not None
        else net.number_factor(node.coefficient)
    )
    return [net.times(scale, t) for t in terms[inner_sums[0]]]


def _is_linear(net: SumOfProductsNetwork, terms: list[Term]) -> bool:
    """Are all terms constants times one symbol?"""
    for _, factors in terms:
        moving = [f for f in factors if f not in net.constant]
        if len(moving) > 1 or any(
            f not in net.atoms or net.atoms[f].kind != "symbol" for f in moving
        ):
            return False
    return True


class _TermTable(dict[Expr, list[Term]]):
    """Terms of every node met; those of constants are made on the way."""

    def __init__(self, net: SumOfProductsNetwork) -> None:
        super().__init__()
        self.net = net

    def __missing__(self, e: Expr) -> list[Term]:
        result = self[e] = [self.net.constant_factor(e)]
        return result


def _reference_counts(order: Sequence[Expr], roots: Sequence[Expr]) -> dict[Expr, int]:
    """Uses of every node, products and held nodes looked through."""
    direct = Counter(
        unwrap_named(part)
        for node in order
        if not isinstance(node, NamedSubexpression)
        for part in node.parts
    )
    direct.update(map(unwrap_named, roots))
    # a sum inside a product that is itself written out several times is used that often
    for node in reversed(order):
        if isinstance(node, Product) and direct[node] > 1:
            for base, _ in node.factors:
                direct[unwrap_named(base)] += direct[node] - 1
    return direct


def _sum_variable(net: SumOfProductsNetwork, terms: list[Term]) -> int:
    v = net.new_variable()
    net.sums[v] = terms
    return v


def _variable_for(net: SumOfProductsNetwork, node: Expr, terms: list[Term]) -> int:
    """A variable for a value: the factor itself where the value is one, else a sum."""
    if not terms:
        return net.constant_factor(ZERO)[1][0]
    if len(terms) == 1 and terms[0][0] == 1 and len(terms[0][1]) == 1:
        return terms[0][1][0]
    key = unwrap_named(node)
    if key not in net._by_expr:
        net._by_expr[key] = _sum_variable(net, terms)
    return net._by_expr[key]


def _as_single_term(net: SumOfProductsNetwork, node: Expr, terms: list[Term]) -> Term:
    """A value as one term: products as they are, sums as a variable."""
    if len(terms) == 1:
        return terms[0]
    return 1, (_variable_for(net, node, terms),)


def _product_term(net: SumOfProductsNetwork, node: Product, terms: dict[Expr, list[Term]]) -> Term:
    result = net.number_factor(node.coefficient)
    constant_factors: list[Expr] = []
    for base, exponent in node.factors:
        if base.constant:
            constant_factors.append(power(base, Number(exponent)))
            continue
        factor = _as_single_term(net, base, terms[base])
        if isinstance(exponent, int) and 0 < exponent <= HIGHEST_SPLIT:
            for _ in range(exponent):
                result = net.times(result, factor)
        else:
            if len(factor[1]) == 1 and factor[0] == 1:
                v = factor[1][0]
            else:
                v = _variable_for(net, base, terms[base])
            result = net.times(result, (1, (net.power(v, exponent),)))
    if constant_factors:
        result = net.times(result, net.constant_factor(mul(*constant_factors)))
    return result


def _sum_terms(net: SumOfProductsNetwork, node: Sum, terms: dict[Expr, list[Term]]) -> list[Term]:
    """All terms, sums used once taken in; terms with equal variable parts merged."""
    first: dict[Factors, Term] = {}
    merged: dict[Factors, Expr] = {}  # constants of parts that were met again
    for core, c in node.terms:
        scale = net.number_factor(c)
        for term in terms[core]:
            scaled_term = net.times(scale, term)
            moving = tuple([f for f in scaled_term[1] if f not in net.constant])
            if moving not in first:
                first[moving] = scaled_term
            else:
                previous = merged[moving] if moving in merged else net.constant_of(first[moving])
                merged[moving] = previous + net.constant_of(scaled_term)
    result: list[Term] = []
    for moving, scaled_term in first.items():
        if moving in merged:
            k = merged[moving]
            if k.fingerprint == 0:
                continue
            sign, constant_part = net.constant_factor(k)
            scaled_term = sign, tuple(sorted(moving + constant_part))
        elif len(moving) < len(scaled_term[1]) and net.constant_of(scaled_term).fingerprint == 0:
            continue
        result.append(scaled_term)
    return result


def rebuild_expressions(net: SumOfProductsNetwork) -> list[Expr]:
    """Expressions of the results, sums held."""
    expressions: dict[int, Expr] = {}
    for v in net.order():
        if v in net.atoms:
            expressions[v] = _atom_expression(net.atoms[v], expressions)
        else:
            expressions[v] = as_atom(_sum_expression(net, net.sums[v], expressions))
    return [expressions[r] for r in net.results]


def _atom_expression(atom: NetworkAtom, expressions: dict[int, Expr]) -> Expr:
    if atom.kind == "power":
        return Product(1, ((expressions[atom.args[0]], atom.exponent),))
    if atom.kind == "function":
        assert isinstance(atom.value, Func)
        return Func(atom.value.name, tuple(expressions[a] for a in atom.args), atom.value.function)
    assert atom.value is not None
    return atom.value


def _combined_powers(
    net: SumOfProductsNetwork, factors: Factors, expressions: dict[int, Expr]
) -> dict[Expr, Rational]:
    """The factors of a term by base. Roots that meet stay roots, unless what is under them is never
    negative."""
    powers: dict[Expr, Rational] = {}
    roots: dict[Expr, list[int]] = {}
    exponent: Rational
    for f in factors:
        base, exponent = expressions[f], 1
        if f in net.atoms and net.atoms[f].kind == "power":
            base, exponent = expressions[net.atoms[f].args[0]], net.atoms[f].exponent
            if exponent.__class__ is Fraction and not base.sign:
                roots.setdefault(base, []).append(f)
        powers[base] = normalize_rational(powers.get(base, 0) + exponent)
    for base, root_atoms in roots.items():
        if powers[base].__class__ is int and powers[base]:
            powers[base] -= sum(net.atoms[f].exponent for f in root_atoms)
            for f in root_atoms:
                root = as_atom(expressions[f])
                powers[root] = powers.get(root, 0) + 1
    return powers


def _sum_expression(
    net: SumOfProductsNetwork, terms: list[Term], expressions: dict[int, Expr]
) -> Expr:
    terms_built: list[tuple[Expr, Rational]] = []
    for sign, factors in terms:
        if len(factors) == 1 and (expression := expressions[factors[0]]).__class__ is not Number:
            terms_built.append((expression, sign))
            continue
        pairs = [(b, x) for b, x in _combined_powers(net, factors, expressions).items() if x != 0]
        numbers = [b for b, x in pairs if isinstance(b, Number) and x == 1]
        coefficient: Rational = numbers[0].value if numbers else 1
        pairs = sorted(
            ((b, x) for b, x in pairs if not (numbers and b is numbers[0])),
            key=lambda item: item[0].sort,
        )
        if not pairs:
            terms_built.append((ONE, sign * coefficient))
        elif len(pairs) == 1 and pairs[0][1] == 1:
            terms_built.append((pairs[0][0], sign * coefficient))
        else:
            terms_built.append((Product(1, tuple(pairs)), sign * coefficient))
    if len(terms_built) == 1:
        core, c = terms_built[0]
        if c == 1:
            return core
        if core is ONE:
            return Number(c)
        if isinstance(core, Product):  # a constant may bring a number of its own
            return Product(normalize_rational(c * core.coefficient), core.factors)
        return Product(c, ((core, 1),))
    return Sum(tuple(sorted(terms_built, key=lambda item: item[0].sort)))
