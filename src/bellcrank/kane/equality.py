"""Are two expressions equal? By fingerprint, and where different angles hide an identity, by
value."""

from __future__ import annotations

import numpy as np

from bellcrank.symbolic.expr import Expr, add, evaluate, neg
from bellcrank.symbolic.expr.traversal import free_symbols


def are_equal(a: Expr, b: Expr) -> bool:
    """Are two expressions equal as functions? By fingerprint, else by value at random points."""
    if a.fingerprint == b.fingerprint:
        return True
    listed = free_symbols(add(a, neg(b)))
    rng = np.random.default_rng(7)
    for _ in range(3):
        point: dict[Expr, float] = dict(
            zip(listed, rng.uniform(0.3, 1.7, len(listed)).tolist(), strict=True)
        )
        x, y = evaluate((a, b), point)
        if np.isfinite(x - y) and abs(x - y) > 1e-9 * max(abs(x), abs(y), 1e-3):
            return False
    return True
