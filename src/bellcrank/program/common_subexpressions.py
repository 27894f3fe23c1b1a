"""Greedy extraction: common factors, common sums and common products, taken out where they save
most.

Candidates compete in one queue: (i) two terms of a sum after removing what they have in common,
counted over all sums (a b + a c -> a (b + c), shared sub-sums, x - y against y - x); (ii) pairs of
factors, counted over all products.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable
from typing import Any

from bellcrank.program.network import Factors, SumOfProductsNetwork

Place = tuple[int, int]  # numbers of two terms
LONG, NEAR = (
    60,
    20,
)  # in a sum of more terms, one is compared with that many of those it shares a factor with; in a
# product of more factors, one is paired with that many of the next


def disjoint_places(pairs: Iterable[Place]) -> list[Place]:
    """Those that have no number in common with one chosen before, in order."""
    used_terms: set[int] = set()
    selected = []
    for pair in pairs:
        if pair[0] not in used_terms and pair[1] not in used_terms:
            used_terms.update(pair)
            selected.append(pair)
    return selected


class CommonSum:
    """Two terms without what they have in common, wherever they stand in a sum.

    What it saves is added up as places come and go: a row of equal mechanisms has a kernel in as
    many places.
    """

    __slots__ = ("common", "doubled", "key", "places", "sharing")

    def __init__(self, key: tuple[str, Factors, Factors, int]) -> None:
        self.key = key  # "sum", rest of first, rest of second, relative sign
        self.places: dict[Place, Factors] = {}  # common factors
        self.sharing = self.common = 0  # places with common factors, and how many these are in all
        self.doubled = 0  # terms that stand in more than one place

    def disjoint_places(self) -> list[Place]:
        """The places that can be taken out together, in order."""
        if not self.doubled:
            return list(self.places)
        return disjoint_places(self.places)

    def saved_operations(self) -> int:
        """Operations saved by taking it out."""
        number, sharing, common = len(self.places), self.sharing, self.common
        if number < 2 and not sharing:
            return 0
        if self.doubled:
            sizes = [len(self.places[pair]) for pair in self.disjoint_places()]
            number, sharing, common = len(sizes), len(sizes) - sizes.count(0), sum(sizes)
        _, m1, m2, _ = self.key
        operations = (
            1 + max(len(m1) - 1, 0) + max(len(m2) - 1, 0)
        )  # operations of the two rests and their sum
        return common + sharing * (len(m1) + len(m2) - 1) + (number - sharing - 1) * operations


class CommonProduct:
    """Two factors, wherever both stand in a product."""

    __slots__ = ("key", "terms", "total")

    def __init__(self, key: tuple[str, int, int]) -> None:
        self.key = key  # "product", first, second
        self.terms: dict[int, int] = {}  # how often they fit into each term
        self.total = 0

    def saved_operations(self) -> int:
        """Operations saved by taking it out."""
        return self.total - 1


Candidate = CommonSum | CommonProduct
Alone = tuple[int, int, int]  # a place, or a term twice, and when it was noted
Stamp = tuple[int, int]  # when a candidate was touched, and its order among those of one removal


class CommonPartExtractor:
    """Rewrites a network in place.

    Nine in ten kernels and pairs have one place and save nothing: of these the place alone is kept.
    One that is met again becomes a candidate, at the place in every order that it would have had
    from the beginning.
    """

    def __init__(self, net: SumOfProductsNetwork) -> None:
        self.net = net
        self.terms: dict[
            int, tuple[int, int, Factors, frozenset[int]]
        ] = {}  # number: sum, sign, factors
        self.members: dict[int, dict[int, None]] = {}  # sum: term numbers
        self.kernels: dict[tuple[Any, ...], CommonSum | Alone] = {}  # by key
        self.pairs: dict[tuple[Any, ...], CommonProduct | Alone] = {}
        # where a term stands in candidates: since when, and its places there. In order, so that the
        # result does not depend on hashes, but for the terms that are `mixed`
        self.of_term: dict[int, dict[Candidate, tuple[Any, ...]]] = {}
        self.mixed: set[int] = set()
        self.long = {v for v, terms in net.sums.items() if len(terms) > LONG}
        self.holding: dict[
            tuple[int, int], list[int]
        ] = {}  # sum and factor: terms with it, also some that are gone
        self.queue: list[tuple[int, int, tuple[Any, ...]]] = []
        self.serial = self.clock = 0
        # since the last queueing: when that was, what was touched and whether in order, and the
        # terms removed
        self.since, self.touched, self.in_order = 0, dict[Candidate, Stamp](), True
        self.removed: dict[int, int] = {}
        for v in list(net.sums):
            self.members[v] = {}
            for sign, factors in net.sums[v]:
                self._insert_term(v, sign, factors)
        self._requeue_touched()

    # ---- bookkeeping

    def _insert_term(self, v: int, sign: int, factors: Factors) -> int:
        self.serial += 1
        t = self.serial
        self.terms[t] = (v, sign, factors, frozenset(factors))
        self.of_term[t] = term_candidates = {}
        self._note_kernels(t, self._comparable_terms(v, factors))
        self.members[v][t] = None
        if v in self.long:
            for f in dict.fromkeys(factors):
                self.holding.setdefault((v, f), []).append(t)
        pairs, touched, clock = self.pairs, self.touched, self.clock
        for a, b, times in factor_pairs(factors):
            key = ("product", a, b)
            clock += 1
            pair = pairs.get(key)
            if pair is None and times == 1:
                pairs[key] = t, t, clock
                continue
            if pair.__class__ is not CommonProduct:
                single_use: Alone | None = pair  # type: ignore[assignment]
                pair = pairs[key] = CommonProduct(key)
                if single_use and self._link_place(pair, single_use, ()):
                    pair.terms[single_use[0]] = pair.total = 1
            pair.terms[t] = times
            pair.total += times
            term_candidates[pair] = (clock,)
            if pair not in touched:
                touched[pair] = clock, 0
        self.clock = clock
        return t

    def _comparable_terms(self, v: int, factors: Factors) -> Iterable[int]:
        """The terms of a sum that a new one is compared with."""
        if v not in self.long:
            return self.members[v]
        recent = (
            t for f in factors for t in self.holding.get((v, f), ())[-NEAR:] if t in self.terms
        )
        return sorted(set(recent))[-NEAR:]

    def _note_kernels(self, t: int, partners: Iterable[int]) -> None:
        """Compares a new term with others of its sum."""
        terms, of_term, kernels, touched = self.terms, self.of_term, self.kernels, self.touched
        _, sign, factors, present = terms[t]
        new_candidates, clock = of_term[t], self.clock
        for partner in partners:
            _, sign_of_other, m1, _ = terms[partner]
            m2, pair = factors, (partner, t)
            common: Factors = ()
            if not present.isdisjoint(m1):
                common, m1, m2 = common_term_factors(m1, m2)
            if m2 < m1:
                m1, m2, pair = m2, m1, (t, partner)
            key = ("sum", m1, m2, sign * sign_of_other)
            clock += 1
            kernel = kernels.get(key)
            if kernel is None and not common:
                kernels[key] = *pair, clock
                continue
            if kernel.__class__ is not CommonSum:
                single_use: Alone | None = kernel  # type: ignore[assignment]
                kernel = kernels[key] = CommonSum(key)
                if single_use and self._link_place(kernel, single_use, (single_use[:2],)):
                    kernel.places[single_use[:2]] = ()
            kernel.places[pair] = common
            if common:
                kernel.sharing += 1
                kernel.common += len(common)
            for term_candidates in (new_candidates, of_term[partner]):
                if occurrences := term_candidates.get(kernel):
                    kernel.doubled += len(occurrences) == 2
                    term_candidates[kernel] = (*occurrences, pair)
                else:
                    term_candidates[kernel] = clock, pair
            if kernel not in touched:
                touched[kernel] = clock, 0
        self.clock = clock

    def _link_place(
        self, candidate: Candidate, single_use: Alone, pairs: tuple[Place, ...]
    ) -> bool:
        """Notes in the terms of a place that it is one of a candidate; false, if one of them is no
        more."""
        t1, t2, stamp = single_use
        removed_terms = [(self.removed.get(t, 0), stamp) for t in (t1, t2) if t not in self.terms]
        for t in dict.fromkeys((t1, t2)):
            if t in self.terms:
                self.of_term[t][candidate] = (stamp, *(() if removed_terms else pairs))
                self.mixed.add(t)
        earlier = [x for x in ((stamp, 0), *removed_terms) if x[0] > self.since]
        if earlier:
            self.touched[candidate], self.in_order = min(earlier), False
        return not removed_terms

    def _remove_term(self, t: int) -> None:
        v = self.terms.pop(t)[0]
        del self.members[v][t]
        self.clock = self.removed[t] = clock = self.clock + 1
        touched = self.touched
        items: Iterable[tuple[Candidate, tuple[Any, ...]]] = self.of_term.pop(t).items()
        if t in self.mixed:
            items = sorted(items, key=lambda item: item[1][0])
        for candidate, (stamp, *pairs) in items:
            if candidate.__class__ is CommonProduct:
                candidate.total -= candidate.terms.pop(t)
            else:
                assert isinstance(candidate, CommonSum)
                candidate.doubled -= len(pairs) > 1
                for pair in pairs:
                    if common := candidate.places.pop(pair):
                        candidate.sharing -= 1
                        candidate.common -= len(common)
                    partner_candidates = self.of_term[pair[0] if pair[1] == t else pair[1]]
                    pairs_left = partner_candidates[candidate] = tuple(
                        p for p in partner_candidates[candidate] if p is not pair
                    )
                    candidate.doubled -= len(pairs_left) == 2
            if candidate not in touched:
                touched[candidate] = clock, stamp

    def _requeue_touched(self) -> None:
        touched: Iterable[Candidate] = self.touched
        if not self.in_order:
            touched = sorted(touched, key=self.touched.__getitem__)
        for candidate in touched:
            g = candidate.saved_operations()
            if g > 0:
                heapq.heappush(self.queue, (-g, len(self.queue), candidate.key))
        self.since, self.touched, self.in_order, self.removed = self.clock, {}, True, {}

    # ---- rewriting

    def run(self) -> None:
        order = 0
        while self.queue:
            rank, _, key = heapq.heappop(self.queue)
            candidate: Any = self.pairs[key] if key[0] == "product" else self.kernels[key]
            g = candidate.saved_operations()
            if g <= 0:
                continue
            if g < -rank:
                order -= 1
                heapq.heappush(self.queue, (-g, order, key))
                continue
            if isinstance(candidate, CommonProduct):
                self._extract_product(candidate)
            else:
                self._extract_sum(candidate)
            self._requeue_touched()
        self.net.sums = {
            v: [self.terms[t][1:3] for t in candidates] for v, candidates in self.members.items()
        }

    def _extract_product(self, pair: CommonProduct) -> None:
        _, a, b = pair.key
        occurrences = list(pair.terms.items())
        new = self.net.new_variable()
        self.members[new] = {}
        self._insert_term(new, 1, (a, b) if a <= b else (b, a))
        for t, times in occurrences:
            v, sign, factors, _ = self.terms[t]
            remaining_factors = list(factors)
            for _ in range(times):
                remaining_factors.remove(a)
                remaining_factors.remove(b)
            self._remove_term(t)
            self._insert_term(v, sign, tuple(sorted([*remaining_factors, *([new] * times)])))

    def _extract_sum(self, kernel: CommonSum) -> None:
        _, m1, m2, relative = kernel.key
        occurrences = [(t1, t2, kernel.places[t1, t2]) for t1, t2 in kernel.disjoint_places()]
        new = self.net.new_variable()
        self.members[new] = {}
        self._insert_term(new, 1, m1)
        self._insert_term(new, relative, m2)
        for t1, t2, common in occurrences:
            v, sign = self.terms[t1][:2]
            self._remove_term(t1)
            self._remove_term(t2)
            self._insert_term(v, sign, tuple(sorted((*common, new))))


def common_term_factors(a: Factors, b: Factors) -> tuple[Factors, Factors, Factors]:
    """What two sorted tuples have in common, and the rest of each."""
    common: list[int] = []
    rest_a: list[int] = []
    rest_b: list[int] = []
    i = j = 0
    while i < len(a) and j < len(b):
        x, y = a[i], b[j]
        if x == y:
            common.append(x)
            i += 1
            j += 1
        elif x < y:
            rest_a.append(x)
            i += 1
        else:
            rest_b.append(y)
            j += 1
    return tuple(common), (*rest_a, *a[i:]), (*rest_b, *b[j:])


def factor_pairs(factors: Factors) -> list[tuple[int, int, int]]:
    """Pairs of factors of a product with how often each fits in."""
    if len(factors) < 2:
        return []
    if len(set(factors)) == len(factors):
        window = NEAR if len(factors) > LONG else len(factors)
        return [(a, b, 1) for i, a in enumerate(factors) for b in factors[i + 1 : i + 1 + window]]
    multiplicity = Counter(factors)
    distinct = sorted(multiplicity)
    result = []
    for i, a in enumerate(distinct):
        if multiplicity[a] > 1:
            result.append((a, a, multiplicity[a] // 2))
        for b in distinct[i + 1 :]:
            result.append((a, b, min(multiplicity[a], multiplicity[b])))
    return result


def extract_common_parts(net: SumOfProductsNetwork) -> SumOfProductsNetwork:
    """A network with common parts taken out."""
    work = net.copy()
    CommonPartExtractor(work).run()
    return work


def network_cost(net: SumOfProductsNetwork) -> int:
    """Additions and products of a network."""
    return sum(len(terms) - 1 + sum(net.cost(t) for t in terms) for terms in net.sums.values())
