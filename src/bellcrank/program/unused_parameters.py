"""Parameters that stand in the equations but do not act: cancelled somewhere on the way, found by
value, and removed.

With J11 = (-I11 + I22 + I33)/2 and J22 = (I11 - I22 + I33)/2, results that hold only J11 + J22
depend on I33 alone. The gradient of a random combination of all results, taken by one backward
sweep over the prime field of the fingerprints, is zero for exactly the parameters without
influence.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bellcrank.core.errors import ModelError
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
    postorder,
    rewrite_nodes,
)
from bellcrank.symbolic.expr.node import (
    PRIME,
    field_cos_sin,
    field_digest,
    field_residue,
    power_residue,
)
from bellcrank.symbolic.expr.traversal import find_symbols


def drop_idle_parameters(roots: Sequence[Expr]) -> list[Expr]:
    """The same results without parameters that have no influence on them."""
    idle = idle_parameters(roots)
    if not idle:
        return list(roots)
    for value in (ZERO, ONE):
        replaced: dict[Expr, Expr] = dict.fromkeys(idle, value)
        try:
            return rewrite_nodes(roots, replaced.get)
        except ModelError:  # division by the parameter: any other value will do
            continue
    return list(roots)


def idle_parameters(roots: Sequence[Expr]) -> list[Symbol]:
    """Parameters below the roots that none of them depends on."""
    slope = _random_gradient(roots)
    idle = [
        n
        for n in slope
        if isinstance(n, Symbol) and n.kind == "parameter" and slope[n] % PRIME == 0
    ]
    return sorted(idle, key=lambda s: s.sort)


def parameters_of(roots: Iterable[Expr]) -> set[Symbol]:
    """Parameters below the roots, whether they act or not."""
    return {s for s in find_symbols(roots) if s.kind == "parameter"}


def acting_symbols(roots: Sequence[Expr]) -> set[Symbol]:
    """Symbols that at least one of the roots depends on."""
    return {
        n for n, slope in _random_gradient(roots).items() if isinstance(n, Symbol) and slope % PRIME
    }


def _random_gradient(roots: Sequence[Expr]) -> dict[Expr, int]:
    """The gradient of a random combination of the roots by every node, over the prime field."""
    order = list(postorder(roots))
    slope: dict[Expr, int] = dict.fromkeys(order, 0)
    for i, r in enumerate(roots):
        if not isinstance(r, Number):  # most entries of a large matrix are zeros
            slope[r] += field_digest("weight of result", i)
    for node in reversed(order):
        if slope[node] % PRIME:
            _propagate_adjoint(node, slope[node] % PRIME, slope)
    return slope


def _propagate_adjoint(node: Expr, s: int, slope: dict[Expr, int]) -> None:
    """Adds a node's share to the slopes of its parts."""
    if isinstance(node, Sum):
        for core, c in node.terms:
            slope[core] += s * field_residue(c)
    elif isinstance(node, NamedSubexpression):
        slope[node.definition] += s
    elif isinstance(node, Product):
        powers = [
            b.fingerprint if x == 1 else power_residue(b.fingerprint, x) for b, x in node.factors
        ]
        suffix_products = [1]  # products of the powers behind each factor
        for value in reversed(powers[1:]):
            suffix_products.append(suffix_products[-1] * value % PRIME)
        prefix_product = s * field_residue(node.coefficient) % PRIME
        for i, (base, exponent) in enumerate(node.factors):
            partial = prefix_product * suffix_products[-1 - i] % PRIME
            prefix_product = prefix_product * powers[i] % PRIME
            if exponent != 1 and base.fingerprint == 0:
                partial = 0  # a square of what is always zero does not act
            elif exponent != 1:
                partial = (
                    partial
                    * field_residue(exponent)
                    * powers[i]
                    % PRIME
                    * pow(base.fingerprint, -1, PRIME)
                    % PRIME
                )
            slope[base] += partial
    elif isinstance(node, Func):
        for i, a in enumerate(node.args):
            slope[a] += s * _field_partial(node, i) % PRIME


def _field_partial(node: Func, i: int) -> int:
    cosine, sine = (
        field_cos_sin(node.args[0].fingerprint) if node.name in ("sin", "cos") else (0, 0)
    )
    match node.name:
        case "sin":
            return cosine
        case "cos":
            return -sine
    return field_digest("partial", node.name, i, *(a.fingerprint for a in node.args))
