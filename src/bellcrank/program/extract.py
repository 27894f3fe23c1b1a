"""Greedy extraction: common factors, common sums and common products, taken out where they save most.

Candidates compete in one queue: (i) two terms of a sum after removing what they have in common, counted over all sums
(a b + a c -> a (b + c), shared sub-sums, x - y against y - x); (ii) pairs of factors, counted over all products.
"""

from __future__ import annotations

import heapq
import random
from collections import Counter

from bellcrank.program.network import Factors, Network

Kernel = tuple[str, Factors, Factors, int]  # "sum", rest of first, rest of second, relative sign
Pair = tuple[str, int, int]
Key = Kernel | Pair
LONG, NEAR = 200, 20  # in a sum of more terms, one is compared with that many of those it shares a factor with; in a
# product of more factors, one is paired with that many of the next


class Extractor:
    """Rewrites a network in place."""

    def __init__(self, net: Network, noise: random.Random | None = None) -> None:
        self.net = net
        self.noise = noise
        self.terms: dict[int, tuple[int, int, Factors]] = {}  # term number: sum, sign, factors
        self.members: dict[int, list[int]] = {}  # sum: term numbers
        self.kernels: dict[Key, dict[tuple[int, int], Factors]] = {}  # key: {(t1, t2): common factors}
        self.of_term: dict[int, dict[Key, None]] = {}  # in order, so that the result does not depend on hashes
        self.long = {v for v, terms in net.sums.items() if len(terms) > LONG}
        self.holding: dict[tuple[int, int], list[int]] = {}  # sum and factor: terms with it, also some that are gone
        self.pairs: dict[Key, dict[int, int]] = {}  # (f1, f2): {term: how often}
        self.queue: list[tuple[float, int, Key]] = []
        self.serial = 0
        self.touched: dict[Key, None] = {}
        for v in list(net.sums):
            self.members[v] = []
            for sign, factors in net.sums[v]:
                self._insert(v, sign, factors)
        self._requeue()

    # ---- bookkeeping

    def _insert(self, v: int, sign: int, factors: Factors) -> int:
        self.serial += 1
        t = self.serial
        self.terms[t] = (v, sign, factors)
        self.of_term[t] = {}
        for other in self._partners(v, factors):
            self._note_kernel(other, t)
        self.members[v].append(t)
        if v in self.long:
            for f in dict.fromkeys(factors):
                self.holding.setdefault((v, f), []).append(t)
        for a, b, times in _factor_pairs(factors):
            key: Key = ("product", a, b)
            self.pairs.setdefault(key, {})[t] = times
            self.of_term[t][key] = None
            self.touched[key] = None
        return t

    def _partners(self, v: int, factors: Factors) -> list[int]:
        """The terms of a sum that a new one is compared with."""
        if v not in self.long:
            return self.members[v]
        near = (t for f in factors for t in self.holding.get((v, f), ())[-NEAR:] if t in self.terms)
        return sorted(set(near))[-NEAR:]

    def _note_kernel(self, t1: int, t2: int) -> None:
        _, s1, f1 = self.terms[t1]
        _, s2, f2 = self.terms[t2]
        common, m1, m2 = _common(f1, f2)
        if m2 < m1:
            m1, m2, t1, t2 = m2, m1, t2, t1
        key: Key = ("sum", m1, m2, s1 * s2)
        self.kernels.setdefault(key, {})[(t1, t2)] = common
        self.of_term[t1][key] = None
        self.of_term[t2][key] = None
        self.touched[key] = None

    def _remove(self, t: int) -> None:
        v, _, _ = self.terms.pop(t)
        self.members[v].remove(t)
        for key in self.of_term.pop(t):
            if key[0] == "product":
                self.pairs.get(key, {}).pop(t, None)
            else:
                places = self.kernels.get(key)
                if places:
                    for place in [p for p in places if t in p]:
                        del places[place]
            self.touched[key] = None

    # ---- gains

    def _disjoint(self, key: Key) -> list[tuple[int, int]]:
        used: set[int] = set()
        chosen = []
        for place in self.kernels.get(key, {}):
            if place[0] not in used and place[1] not in used:
                used.update(place)
                chosen.append(place)
        return chosen

    def gain(self, key: Key) -> int:
        """Operations saved by taking this candidate out."""
        if key[0] == "product":
            return sum(self.pairs.get(key, {}).values()) - 1
        all_places = self.kernels.get(key)
        if not all_places:
            return 0
        if len(all_places) == 1:
            ((_, common),) = all_places.items()
            if not common:
                return 0
        _, m1, m2, _ = key  # type: ignore[misc]
        saved = -1 - max(len(m1) - 1, 0) - max(len(m2) - 1, 0)
        for t1, t2 in self._disjoint(key):
            common = all_places[t1, t2]
            before = max(len(common) + len(m1) - 1, 0) + max(len(common) + len(m2) - 1, 0) + 1
            saved += before - len(common)
        return saved

    def _requeue(self) -> None:
        for key in self.touched:
            g = self.gain(key)
            if g > 0:
                rank = g + (self.noise.random() * 1.5 if self.noise else 0.0)
                heapq.heappush(self.queue, (-rank, len(self.queue), key))
        self.touched = {}

    # ---- rewriting

    def run(self) -> None:
        order = 0
        while self.queue:
            rank, _, key = heapq.heappop(self.queue)
            g = self.gain(key)
            if g <= 0:
                continue
            if g + (1.5 if self.noise else 0.0) < -rank - 1e-9:
                order -= 1
                heapq.heappush(self.queue, (-float(g), order, key))
                continue
            if key[0] == "product":
                self._take_product(key)
            else:
                self._take_sum(key)
            self._requeue()
        self.net.sums = {v: [self.terms[t][1:] for t in listed] for v, listed in self.members.items()}

    def _take_product(self, key: Key) -> None:
        _, a, b = key  # type: ignore[misc]
        where = list(self.pairs[key].items())
        new = self.net.new()
        self.members[new] = []
        self._insert(new, 1, (a, b) if a <= b else (b, a))
        for t, times in where:
            v, sign, factors = self.terms[t]
            rest = list(factors)
            for _ in range(times):
                rest.remove(a)
                rest.remove(b)
            self._remove(t)
            self._insert(v, sign, tuple(sorted([*rest, *([new] * times)])))

    def _take_sum(self, key: Key) -> None:
        _, m1, m2, relative = key  # type: ignore[misc]
        places = [(t1, t2, self.kernels[key][t1, t2]) for t1, t2 in self._disjoint(key)]
        new = self.net.new()
        self.members[new] = []
        self._insert(new, 1, m1)
        self._insert(new, relative, m2)
        for t1, t2, common in places:
            v, sign, _ = self.terms[t1]
            self._remove(t1)
            self._remove(t2)
            self._insert(v, sign, tuple(sorted((*common, new))))


def _common(a: Factors, b: Factors) -> tuple[Factors, Factors, Factors]:
    """What two sorted tuples have in common, and the rest of each."""
    if set(a).isdisjoint(b):
        return (), a, b
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


def _factor_pairs(factors: Factors) -> list[tuple[int, int, int]]:
    """Pairs of factors of a product with how often each fits in."""
    if len(factors) < 2:
        return []
    if len(set(factors)) == len(factors):
        reach = NEAR if len(factors) > LONG else len(factors)
        return [(a, b, 1) for i, a in enumerate(factors) for b in factors[i + 1 : i + 1 + reach]]
    counted = Counter(factors)
    listed = sorted(counted)
    result = []
    for i, a in enumerate(listed):
        if counted[a] > 1:
            result.append((a, a, counted[a] // 2))
        for b in listed[i + 1 :]:
            result.append((a, b, min(counted[a], counted[b])))
    return result


def extract(net: Network, seed: int | None = None) -> Network:
    """A network with common parts taken out; a seed adds noise to the order in which that is done."""
    work = net.copy()
    Extractor(work, None if seed is None else random.Random(seed)).run()
    return work


def network_cost(net: Network) -> int:
    """Additions and products of a network."""
    return sum(len(terms) - 1 + sum(net.cost(t) for t in terms) for terms in net.sums.values())
