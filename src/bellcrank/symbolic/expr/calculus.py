"""Derivatives, expansion, nominal values (Sayers 1990, section 5.3).

All walks are loops; a derivative is built once per shared node.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from bellcrank.core.errors import ModelError
from bellcrank.symbolic.expr.construct import (
    Terms,
    add,
    apply_pythagoras,
    leading_terms,
    mul,
    power,
    small_threshold,
    split_coefficient,
    term_factors,
)
from bellcrank.symbolic.expr.function_table import FUNCTIONS
from bellcrank.symbolic.expr.functions import apply_builtin, compile_rule
from bellcrank.symbolic.expr.node import (
    ONE,
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
from bellcrank.symbolic.expr.traversal import free_symbols, postorder, substitute

STATE_KINDS = frozenset({"coordinate", "speed"})


def derivative(root: Expr, of_symbol: Callable[[Symbol], Expr]) -> Expr:
    """The derivative of root, given that of each symbol."""
    derivatives: dict[Expr, Expr] = {}
    for node in postorder((root,)):
        if isinstance(node, Symbol):
            derivatives[node] = of_symbol(node)
        elif isinstance(node, Sum):
            derivatives[node] = add(*(mul(Number(c), derivatives[core]) for core, c in node.terms))
        elif isinstance(node, Product):
            derivatives[node] = _product_rule(node, derivatives)
        elif isinstance(node, Func):
            derivatives[node] = _chain_rule(node, derivatives)
        elif isinstance(node, NamedSubexpression):
            derivatives[node] = derivatives[node.definition]
        else:
            derivatives[node] = ZERO
    return derivatives[root]


def _product_rule(node: Product, derivatives: Mapping[Expr, Expr]) -> Expr:
    terms = []
    for base, exponent in node.factors:
        rate = derivatives[base]
        if rate is not ZERO:
            other_factors = [power(b, Number(x)) for b, x in node.factors if b is not base]
            lowered = power(base, Number(exponent - 1))
            terms.append(mul(Number(node.coefficient * exponent), lowered, rate, *other_factors))
    return add(*terms) if terms else ZERO


def _chain_rule(node: Func, derivatives: Mapping[Expr, Expr]) -> Expr:
    rates = [derivatives[a] for a in node.args]
    if all(r is ZERO for r in rates):
        return ZERO
    if node.function is not None:
        partials = [node.function.partial(i, node.args) for i in range(len(node.args))]
    elif (
        builtin := FUNCTIONS.get(node.name)
    ) and builtin.chooses:  # the other argument's rate need not even exist
        return apply_builtin(
            "where", compile_rule(builtin.chooses, builtin.argument_names)(*node.args), *rates[-2:]
        )
    else:
        partials = builtin_partials(node)
    return add(*(mul(p, r) for p, r in zip(partials, rates, strict=True) if r is not ZERO))


def builtin_partials(node: Func) -> list[Expr]:
    """Partial derivatives of a built-in function with respect to its arguments."""
    builtin = FUNCTIONS.get(node.name)
    if builtin is None:
        raise ModelError(f"the derivative of {node.name}() is not known")
    return [
        compile_rule(slope, ("f", *builtin.argument_names))(node, *node.args)
        for slope in builtin.slopes
    ]


def partial(root: Expr, x: Expr) -> Expr:
    """Partial derivative with respect to a symbol."""
    if not isinstance(x, Symbol):
        raise ModelError(f"a partial derivative is taken with respect to a symbol, not {x}")
    return derivative(root, lambda s: ONE if s is x else ZERO)


def gradient(root: Expr, variables: Iterable[Symbol]) -> list[Expr]:
    """Partial derivatives with respect to symbols; those that do not occur are not differentiated
    by."""
    present = {s for s in postorder((root,)) if s.__class__ is Symbol}
    return [partial(root, x) if x in present else ZERO for x in variables]


def nominal(root: Expr) -> Expr:
    """root with all coordinates and speeds at zero."""
    states: dict[Expr, Expr] = {s: ZERO for s in free_symbols(root) if s.kind in STATE_KINDS}
    with small_threshold(10**9):
        return substitute(root, states) if states else root


def constant_part(e: Expr) -> Expr:
    """e if constant, the constant terms of a sum, else zero."""
    if e.constant:
        return e
    if isinstance(e, Sum):
        return add(*(mul(Number(c), core) for core, c in e.terms if core.constant))
    if isinstance(e, Product) and len(e.factors) == 1 and e.factors[0][1] == 1:
        return mul(Number(e.coefficient), constant_part(e.factors[0][0]))
    return ZERO


def expand(root: Expr) -> Expr:
    """root as a plain sum of products: products and whole powers of sums multiplied out, also
    inside functions.

    Common factors and the sign stay with the terms, unlike in what the creators build. Held results
    are written out.
    """
    return _unfactored_sum(_expand_terms(root))


def _expand_terms(root: Expr) -> Terms:
    expanded: dict[Expr, Terms] = {}
    for node in postorder((root,)):
        if isinstance(node, Sum):
            expanded[node] = _collect_terms(
                (core, c * k) for term, c in node.terms for core, k in expanded[term].items()
            )
        elif isinstance(node, Product):
            expanded[node] = _expand_product(node, expanded)
        elif isinstance(node, NamedSubexpression):
            expanded[node] = expanded[node.definition]
        elif isinstance(node, Func):
            expanded[node] = _expanded_function(
                node, [_unfactored_sum(expanded[a]) for a in node.args]
            )
        else:
            expanded[node] = _collect_terms((split_coefficient(node)[::-1],))
    return expanded[root]


def _expand_product(node: Product, expanded: Mapping[Expr, Terms]) -> Terms:
    result: Terms = {ONE: node.coefficient}
    for base, exponent in node.factors:
        terms = expanded[base]
        if isinstance(exponent, int) and exponent > 0 and len(terms) > 1:
            for _ in range(exponent):
                result = _multiply_terms(result, terms)
        else:
            c, core = split_coefficient(power(_unfactored_sum(terms), Number(exponent)))
            result = _multiply_terms(result, {core: c})
    return result


def _multiply_terms(a: Terms, b: Terms) -> Terms:
    products: list[tuple[Expr, Rational]] = []
    for x, c in a.items():
        for y, k in b.items():
            n, core = split_coefficient(mul(x, y))
            if any(
                base.__class__ is Sum and _is_positive_integer(p) for base, p in term_factors(core)
            ):
                products.extend(
                    (z, n * m * c * k) for z, m in _expand_terms(core).items()
                )  # two roots made a sum
            else:
                products.append((core, n * c * k))
    return _collect_terms(products)


def _is_positive_integer(exponent: Rational) -> bool:
    return exponent.__class__ is int and exponent > 0


def _expanded_function(node: Func, args: list[Expr]) -> Terms:
    if all(new is old for new, old in zip(args, node.args, strict=True)):
        return {node: 1}
    if node.function is not None:
        return {Func(node.name, tuple(args), node.function): 1}
    c, core = split_coefficient(apply_builtin(node.name, *args))
    return {core: c} if isinstance(core, Func) else _expand_terms(mul(Number(c), core))


def _collect_terms(pairs: Iterable[tuple[Expr, Rational]]) -> Terms:
    """Terms collected and simplified like those of any sum, but not factored."""
    merged: Terms = {}
    for core, c in pairs:
        merged[core] = merged.get(core, 0) + c
    terms = leading_terms({core: to_rational(c) for core, c in merged.items() if c != 0})
    apply_pythagoras(terms)
    return terms


def _unfactored_sum(terms: Terms) -> Expr:
    """The sum of terms, without pulling out common factors."""
    items = sorted(terms.items(), key=lambda item: item[0].sort)
    if len(items) > 1:
        return Sum(tuple(items))
    return mul(Number(items[0][1]), items[0][0]) if items else ZERO
