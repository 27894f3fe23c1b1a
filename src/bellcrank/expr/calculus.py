"""Derivatives, linear solution, expansion, nominal values (Sayers 1990, section 5.3).

All walks are loops; a derivative is built once per shared node.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import product as cartesian

from bellcrank.errors import ModelError
from bellcrank.expr.construct import ONE, ZERO, add, div, function, mul, neg, power, small_threshold, sub
from bellcrank.expr.node import MINUS_ONE, TWO, Expr, Func, Held, Number, Product, Sum, Symbol
from bellcrank.expr.walk import postorder, substitute, symbols, transform

STATE_KINDS = frozenset({"coordinate", "speed"})


def derivative(root: Expr, of_symbol: Callable[[Symbol], Expr]) -> Expr:
    """The derivative of root, given that of each symbol."""
    done: dict[Expr, Expr] = {}
    for node in postorder((root,)):
        if isinstance(node, Symbol):
            done[node] = of_symbol(node)
        elif isinstance(node, Sum):
            done[node] = add(*(mul(Number(c), done[core]) for core, c in node.terms))
        elif isinstance(node, Product):
            done[node] = _product_rule(node, done)
        elif isinstance(node, Func):
            done[node] = _chain_rule(node, done)
        elif isinstance(node, Held):
            done[node] = done[node.definition]
        else:
            done[node] = ZERO
    return done[root]


def _product_rule(node: Product, done: Mapping[Expr, Expr]) -> Expr:
    terms = []
    for base, exponent in node.factors:
        rate = done[base]
        if rate is not ZERO:
            rest = [power(b, Number(x)) for b, x in node.factors if b is not base]
            lowered = power(base, Number(exponent - 1))
            terms.append(mul(Number(node.coefficient * exponent), lowered, rate, *rest))
    return add(*terms) if terms else ZERO


def _chain_rule(node: Func, done: Mapping[Expr, Expr]) -> Expr:
    rates = [done[a] for a in node.args]
    if all(r is ZERO for r in rates):
        return ZERO
    if node.function is not None:
        partials = [node.function.partial(i, node.args) for i in range(len(node.args))]
    else:
        partials = builtin_partials(node)
    return add(*(mul(p, r) for p, r in zip(partials, rates, strict=True) if r is not ZERO))


def builtin_partials(node: Func) -> list[Expr]:
    """Partial derivatives of a built-in function with respect to its arguments."""
    x = node.args[0]
    one_over_root = lambda s: power(s, Number(-_HALF))  # noqa: E731
    match node.name:
        case "sin":
            return [function("cos", x)]
        case "cos":
            return [neg(function("sin", x))]
        case "tan":
            return [add(ONE, power(node, TWO))]
        case "asin":
            return [one_over_root(sub(ONE, power(x, TWO)))]
        case "acos":
            return [neg(one_over_root(sub(ONE, power(x, TWO))))]
        case "atan":
            return [div(ONE, add(ONE, power(x, TWO)))]
        case "exp":
            return [node]
        case "log":
            return [power(x, MINUS_ONE)]
        case "abs":
            return [function("sign", x)]
        case "sign" | "lt" | "le" | "gt" | "ge":
            return [ZERO] * len(node.args)
        case "atan2":
            y, x = node.args
            d = add(power(x, TWO), power(y, TWO))
            return [div(x, d), neg(div(y, d))]
        case "pow":
            b, n = node.args
            return [mul(n, power(b, sub(n, ONE))), mul(node, function("log", b))]
        case "min":
            a, b = node.args
            return [function("where", function("le", a, b), ONE, ZERO), function("where", function("le", a, b), ZERO, ONE)]
        case "max":
            a, b = node.args
            return [function("where", function("ge", a, b), ONE, ZERO), function("where", function("ge", a, b), ZERO, ONE)]
        case "where":
            c = node.args[0]
            return [ZERO, function("where", c, ONE, ZERO), function("where", c, ZERO, ONE)]
    raise ModelError(f"the derivative of {node.name}() is not known")


_HALF = Fraction(1, 2)


def partial(root: Expr, x: Expr) -> Expr:
    """Partial derivative with respect to a symbol."""
    if not isinstance(x, Symbol):
        raise ModelError(f"a partial derivative is taken with respect to a symbol, not {x}")
    return derivative(root, lambda s: ONE if s is x else ZERO)


def nominal(root: Expr) -> Expr:
    """root with all coordinates and speeds at zero."""
    states: dict[Expr, Expr] = {s: ZERO for s in symbols(root) if s.kind in STATE_KINDS}
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


def solve_for(x: Expr, left: Expr, right: Expr = ZERO, iterate: bool = False) -> Expr:
    """x from left = right: exact where that is linear in x; with `iterate`, else the Newton update x - F/(dF/dx)."""
    residual = sub(left, right)
    slope = partial(residual, x)
    if slope is ZERO or slope.fingerprint == 0:
        raise ModelError(f"cannot solve for {x}: it does not occur in {left} = {right}")
    curvature = partial(slope, x)
    if curvature is ZERO or curvature.fingerprint == 0:
        return neg(div(substitute(residual, {x: ZERO}), substitute(slope, {x: ZERO})))
    if iterate:
        return sub(x, div(residual, slope))
    raise ModelError(f"cannot solve for {x} exactly: {left} = {right} is not linear in it")


def expand(root: Expr) -> Expr:
    """root with products of sums and whole powers of sums multiplied out."""

    def multiply_out(node: Expr) -> Expr | None:
        if not isinstance(node, Product):
            return None
        choices: list[list[Expr]] = [[Number(node.coefficient)]]
        for base, exponent in node.factors:
            if isinstance(base, Sum) and isinstance(exponent, int) and exponent > 0:
                terms = [mul(Number(c), core) for core, c in base.terms]
                choices.extend([terms] * exponent)
            else:
                choices.append([power(base, Number(exponent))])
        if all(len(c) == 1 for c in choices):
            return None
        return Held(_plain_sum([mul(*pick) for pick in cartesian(*choices)]))

    current = root
    while True:
        # A held node keeps the creators from factoring the expanded product again on the way up.
        (new,) = transform((current,), multiply_out)
        if new is current:
            return current
        new = _open_held(new)
        if new is current:
            return current
        current = new


def _plain_sum(terms: list[Expr]) -> Expr:
    """A sum without pulling out common factors."""
    from bellcrank.expr.construct import split

    merged: dict[Expr, object] = {}
    for term in terms:
        c, core = split(term)
        merged[core] = merged.get(core, 0) + c  # type: ignore[operator]
    items = sorted(((core, c) for core, c in merged.items() if c != 0), key=lambda item: item[0].sort)
    if not items:
        return ZERO
    if len(items) == 1:
        return mul(Number(items[0][1]), items[0][0])  # type: ignore[arg-type]
    return Sum(tuple(items))  # type: ignore[arg-type]


def _open_held(root: Expr) -> Expr:
    done: dict[Expr, Expr] = {}
    for node in postorder((root,)):
        if isinstance(node, Held):
            done[node] = done[node.definition]
        elif isinstance(node, Sum):
            terms: list[Expr] = []
            for core, c in node.terms:
                inner = done[core]
                if isinstance(inner, Sum):
                    terms.extend(mul(Number(c * k), t) for t, k in inner.terms)
                else:
                    terms.append(mul(Number(c), inner))
            done[node] = _plain_sum(terms)
        elif isinstance(node, Product):
            done[node] = mul(Number(node.coefficient), *(power(done[b], Number(x)) for b, x in node.factors))
        else:
            done[node] = node
    return done[root]
