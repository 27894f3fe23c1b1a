"""What has to be known of a long sum to add one more term without a look at each of its own.

An index notes what the terms of a sum are like. One that notes more does no harm: a term that might
meet another is then looked at with all of them, as others are. So sums that grow from one another
share their index.
"""

from __future__ import annotations

from collections.abc import Iterable

from bellcrank.symbolic.expr.node import Expr, Func, Rational, Sum

Factors = tuple[tuple[Expr, Rational], ...]
OTHER = {"sin": "cos", "cos": "sin"}


class SumIndex:
    """Of all terms: `powers` of functions among their factors, second ones and above; `numbers`
    with the count of factors; and the same as `wanted` by terms with a squared sine or cosine, to
    join with."""

    __slots__ = ("numbers", "powers", "wanted")

    def __init__(self) -> None:
        self.powers: set[tuple[str, tuple[Expr, ...]]] = set()
        self.numbers: set[tuple[int, int, int]] = set()
        self.wanted: set[tuple[int, int, int]] = set()

    def try_add_term(self, core: Expr, c: Rational, factors: Factors) -> bool:
        """Notes a term that surely joins with none that is noted; false, if that is not sure."""
        above, below, count = c.numerator, c.denominator, len(factors)
        powers = [(b, x) for b, x in factors if b.__class__ is Func and x >= 2]
        counterpart = (-above, below, count - 1)
        squared = any(x == 2 and b.name in OTHER for b, x in powers)
        if core.order or core.__class__ is Sum or (above, below, count) in self.wanted:
            return False
        if any((OTHER.get(b.name, ""), b.args) in self.powers for b, _ in powers):
            return False
        if squared and (counterpart in self.numbers or not _is_plain(factors)):
            return False
        self.powers.update((b.name, b.args) for b, _ in powers)
        self.numbers.add((above, below, count))
        if squared:
            self.wanted.add(counterpart)
        return True


def build_sum_index(terms: Iterable[tuple[Expr, Rational, Factors]]) -> SumIndex | None:
    """The index of a sum; None if its terms are not in order, or some might join."""
    index, last = SumIndex(), None
    for core, c, factors in terms:
        if (last is not None and not last < core.sort) or not index.try_add_term(core, c, factors):
            return None
        last = core.sort
    return index


def _is_plain(factors: Factors) -> bool:
    """No sum, and no sine and cosine of one angle, among the factors of a term?"""
    angles = [b.args for b, _ in factors if b.__class__ is Func and b.name in OTHER]
    return len({*angles}) == len(angles) and not any(b.__class__ is Sum for b, _ in factors)
