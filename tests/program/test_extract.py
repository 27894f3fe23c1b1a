"""Common parts taken out of random networks: gains that are added up on the way are those counted
from scratch."""

import random
from itertools import combinations

import pytest

from bellcrank.program.common_subexpressions import (
    CommonPartExtractor,
    CommonProduct,
    CommonSum,
    common_term_factors,
    factor_pairs,
)
from bellcrank.program.network import SumOfProductsNetwork


def network(seed, sums=6, terms=9, symbols=7):
    """Sums of products of few factors, so that terms and factors meet often."""
    draw, net = random.Random(seed), SumOfProductsNetwork()
    factors = [net.new_variable() for _ in range(symbols)]
    for _ in range(sums):
        drawn = {
            tuple(sorted(draw.choices(factors, k=draw.randint(1, 4)))): draw.choice((1, -1))
            for _ in range(terms)
        }
        net.sums[net.new_variable()] = [(sign, term) for term, sign in drawn.items()]
    x, y = factors[:2]
    net.sums[net.new_variable()] = [
        (1, (x, x)),
        (1, (x, y)),
        (1, (y, y)),
    ]  # x*y is a place with either of the others
    net.results = list(net.sums)
    return net, factors


def counted(kernel):
    """Operations that a kernel saves, as defined: those of its places before, less those after,
    less its own."""

    def products(*factors):
        return max(sum(map(len, factors)) - 1, 0)

    _, m1, m2, _ = kernel.key
    used, saved = set(), -1 - products(m1) - products(m2)
    for place, common in kernel.places.items():
        if used.isdisjoint(place):
            used.update(place)
            saved += products(common, m1) + products(common, m2) + 1 - len(common)
    return saved if kernel.places else 0


def places(extractor):
    """Kernels and pairs of all terms, by key: places of kernels with their common factors; terms of
    pairs."""
    terms, kernels, pairs = extractor.terms, {}, {}
    for listed in extractor.members.values():
        for t1, t2 in combinations(sorted(listed), 2):
            common, m1, m2 = common_term_factors(terms[t1][2], terms[t2][2])
            if m2 < m1:
                m1, m2, place = m2, m1, (t2, t1)
            else:
                place = t1, t2
            kernels.setdefault(("sum", m1, m2, terms[t1][1] * terms[t2][1]), {})[place] = common
    for t, (_, _, factors, _) in terms.items():
        for a, b, times in factor_pairs(factors):
            pairs.setdefault(("product", a, b), {})[t] = times
    return kernels, pairs


class Checked(CommonPartExtractor):
    """Compares all candidates and their gains with their definitions after each change."""

    def _requeue_touched(self):
        kernels, pairs = places(self)
        assert kernels.keys() <= self.kernels.keys()
        assert pairs.keys() <= self.pairs.keys()
        for key, kernel in self.kernels.items():
            if isinstance(kernel, CommonSum):
                assert kernel.places == kernels.get(key, {})
                assert kernel.saved_operations() == counted(kernel)
            else:  # one place, which may be gone
                assert kernels.get(key) in ({kernel[:2]: ()}, None)
        for key, pair in self.pairs.items():
            if isinstance(pair, CommonProduct):
                assert pair.terms == pairs.get(key, {})
                assert pair.saved_operations() == sum(pair.terms.values()) - 1
            else:
                assert pairs.get(key) in ({pair[0]: 1}, None)
        super()._requeue_touched()


def value(net, v, known):
    if v not in known:
        known[v] = sum(
            sign * product(value(net, f, known) for f in factors) for sign, factors in net.sums[v]
        )
    return known[v]


def product(values):
    result = 1
    for x in values:
        result *= x
    return result


@pytest.mark.parametrize("seed", range(8))
def test_gains_are_those_of_their_definition_and_values_stay(seed):
    net, factors = network(seed)
    before = net.copy()
    found = Checked(net)
    assert any(
        isinstance(c, CommonSum) and c.doubled for own in found.of_term.values() for c in own
    )
    found.run()
    known = {f: 3 + 2 * i for i, f in enumerate(factors)}
    assert len(net.sums) > len(before.sums)
    for v in before.results:
        assert value(net, v, dict(known)) == value(before, v, dict(known))
