"""Thorough search: sums and products are written out, common parts taken out anew, and what costs no more is kept.

Simulated annealing on a network. Every move is local and is undone where it is not accepted, so that its time does not
depend on the size of the network. Values over a finite field find what is at hand already, whatever its form.
Kirkpatrick, Gelatt & Vecchi (1983), Science 220, 671-680.
"""

from __future__ import annotations

import heapq
import math
import random
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from bellcrank.expr import ONE, Expr, Product, div, postorder
from bellcrank.expr.node import PRIME, power_residue
from bellcrank.expr.walk import release
from bellcrank.program.extract import common_factors, factor_pairs
from bellcrank.program.network import Factors, Network, Term

Key = tuple[str, Factors, Factors, int] | tuple[str, int, int]  # "sum", rests of two terms, ratio; "product", factors
NOISE = 1.5  # operations by which a candidate may be preferred to another
MOST = 200  # terms of a sum that a new one is compared with
NEAR = 3  # variables that one move writes out, at most
WIDE = 40  # terms that writing one variable out may make, at most


@dataclass
class Plan:
    """How a sum is taken out: as `home`, or as a new variable with these terms; its places and constants there."""

    saved: int
    value: int = 0
    home: Term | None = None
    terms: list[Term] = field(default_factory=list)
    places: list[tuple[int, int, Term]] = field(default_factory=list)


class Search:
    """A network with nothing left to take out, changed move by move."""

    def __init__(self, net: Network, noise: random.Random) -> None:
        self.uses: dict[int, dict[int, None]] = {}  # variable: terms with it
        self.alike: dict[tuple[int, Factors], int] = {}  # sum and variable part: its term
        self.fixed = {*net.results, *(a for atom in net.atoms.values() for a in atom.args)}
        self.scale: dict[int, int] = {}  # term: its constant, 0 for one
        self.moving: dict[int, Factors] = {}  # term: its other factors
        self.value = {0: 1, **_values(net)}
        self.inverse: dict[int, int] = {}
        self.ratios: dict[tuple[int, int], Term | None] = {}
        self.divisors = _denominators(*(net.atoms[c].value or ONE for c in net.constant))
        self.by_value: dict[int, int] = {}
        for v, value in self.value.items():
            if v in net.atoms:
                self.by_value.setdefault(value, v)
        net.sums = {v: terms for v, terms in net.sums.items() if v in self.value}
        self.cost = 0
        self.journal: list[tuple[bool, int, int, int, Factors]] = []  # put or removed: term, sum, sign, factors
        self.loose: dict[int, None] = {}  # sums that may have become unused, or a mere name
        self.net, self.noise = net, noise
        self.serial = self.pushed = 0
        self.terms: dict[int, tuple[int, int, Factors]] = {}  # term number: sum, sign, factors
        self.members: dict[int, dict[int, None]] = {}  # sum: its terms
        self.kernels: dict[Key, dict[tuple[int, int], Factors]] = {}  # two terms: {their numbers: common factors}
        self.pairs: dict[Key, dict[int, int]] = {}  # two factors: {term: how often}
        self.of_term: dict[int, dict[Key, None]] = {}  # in order, so that the result does not depend on hashes
        self.queue: list[tuple[float, int, Key]] = []
        self.touched: dict[Key, None] = {}
        for v, terms in net.sums.items():
            for sign, factors in terms:
                self._insert(v, sign, factors)
        self._exhaust()

    # ---- bookkeeping

    def _insert(self, v: int, sign: int, factors: Factors) -> None:
        """Adds a term to a sum: to the one with an equal variable part, if there is one."""
        net, moving = self.net, self._moving(factors)
        known = self.alike.get((v, moving))
        if known is not None:
            k = net.constant_of(self.terms[known][1:]) + net.constant_of((sign, factors))
            self._remove(known)
            if k.fingerprint == 0:
                return
            sign, still = net.constant_factor(k)
            self._evaluate(still)
            factors = tuple(sorted(moving + still))
        self.serial += 1
        self._put(self.serial, v, sign, factors)

    def _put(self, t: int, v: int, sign: int, factors: Factors) -> None:
        self.journal.append((True, t, v, sign, factors))
        if not self.members.setdefault(v, {}):
            self.cost -= 1
            self.by_value.setdefault(self.value[v], v)
        self.cost += max(len(factors), 1)
        self.moving[t] = self._moving(factors)
        self.scale[t] = next((f for f in factors if f in self.net.constant), 0)
        self.alike[v, self.moving[t]] = t
        for f in factors:
            self.uses.setdefault(f, {})[t] = None
        self.terms[t] = (v, sign, factors)
        self.of_term[t] = {}
        for other in list(self.members[v])[-MOST:]:
            self._note_kernel(other, t)
        self.members[v][t] = None
        for a, b, times in factor_pairs(factors):
            key: Key = ("product", a, b)
            self.pairs.setdefault(key, {})[t] = times
            self.of_term[t][key] = self.touched[key] = None
        self.loose[v] = None

    def _remove(self, t: int) -> None:
        v, sign, factors = self.terms[t]
        self.journal.append((False, t, v, sign, factors))
        self.cost -= max(len(factors), 1)
        del self.alike[v, self.moving[t]]
        for f in factors:
            self.uses[f].pop(t, None)
            self.loose[f] = None
        del self.terms[t], self.members[v][t], self.moving[t], self.scale[t]
        for key in self.of_term.pop(t):
            held: dict[Any, Any] = self.pairs if key[0] == "product" else self.kernels
            places = held.get(key, {})
            for place in [t] if key[0] == "product" else [p for p in places if t in p]:
                del places[place]
            if not places:
                held.pop(key, None)
            self.touched[key] = None
        self.loose[v] = None
        if not self.members[v]:
            self.cost += 1
            del self.members[v]
            if self.by_value.get(self.value[v]) == v:
                del self.by_value[self.value[v]]

    def _moving(self, factors: Factors) -> Factors:
        return tuple([f for f in factors if f not in self.net.constant])

    def _evaluate(self, constants: Iterable[int]) -> None:
        for c in constants:
            if c not in self.value:
                self.value[c] = self.net.atoms[c].value.fingerprint  # type: ignore[union-attr]
                self.by_value.setdefault(self.value[c], c)

    def _times(self, a: Term, b: Term) -> Term:
        sign, factors = self.net.times(a, b)
        self._evaluate(f for f in factors if f in self.net.constant)
        return sign, factors

    # ---- candidates, by value

    def _note_kernel(self, t1: int, t2: int) -> None:
        """Two terms as a common part times k1 (m1 + r m2): r by value, so that multiples are one candidate."""
        common, m1, m2 = common_factors(self.moving[t1], self.moving[t2])
        if m2 < m1:
            m1, m2, t1, t2 = m2, m1, t2, t1
        r = self.terms[t1][1] * self.terms[t2][1] * self._quotient(self.scale[t2], self.scale[t1]) % PRIME
        key: Key = ("sum", m1, m2, r)
        self.kernels.setdefault(key, {})[(t1, t2)] = common
        self.of_term[t1][key] = self.of_term[t2][key] = self.touched[key] = None

    def _quotient(self, a: int, b: int) -> int:
        if b not in self.inverse:
            self.inverse[b] = pow(self.value[b], -1, PRIME)
        return self.value[a] * self.inverse[b] % PRIME

    def _ratio(self, a: int, b: int) -> Term | None:
        """A constant over another (0: one), None if that could divide by zero."""
        if b == 0:
            return 1, ((a,) if a else ())
        if (a, b) not in self.ratios:
            known = self._known(self._quotient(a, b))
            if known is None or not self.net.constant.issuperset(known[1]):
                known = None
                top, bottom = (release(self.net.atoms[x].value or ONE) if x else ONE for x in (a, b))
                if _denominators(quotient := div(top, bottom)) <= self.divisors:
                    known = self.net.constant_factor(quotient)
                    self._evaluate(known[1])
            self.ratios[a, b] = known
        return self.ratios[a, b]

    def _value(self, factors: Factors) -> int:
        result = 1
        for f in factors:
            result = result * self.value[f] % PRIME
        return result

    def _known(self, value: int) -> Term | None:
        """What is at hand with that value."""
        if value in (1, PRIME - 1):
            return (1 if value == 1 else -1), ()
        for sign in (1, -1):
            v = self.by_value.get(sign * value % PRIME)
            if v is not None:
                return sign, (v,)
        return None

    def gain(self, key: Key) -> int:
        """Operations saved by taking a candidate out."""
        if key[0] == "product":
            where = self.pairs.get(key)
            if not where:
                return 0
            known = self._known(self._value(key[1:]))  # type: ignore[arg-type]
            if known is None:
                return sum(where.values()) - 1
            short = not known[1]  # nothing takes the place of what is taken out
            return sum(n * (1 + short) for t, n in where.items() if short or self.terms[t][0] != known[1][0])
        return self._plan(key).saved if key in self.kernels else 0

    def _plan(self, key: Key) -> Plan:
        """The cheapest multiple of a sum to take out."""
        _, m1, m2, r = key  # type: ignore[misc]
        places, best = self.kernels[key], Plan(0)
        plain = (self._value(m1) + r * self._value(m2)) % PRIME
        listed = self._disjoint(key)
        alone = len(places) == 1 and not places[listed[0]]
        for scale in dict.fromkeys((0, *(self.scale[t1] for t1, _ in listed))):
            value = plain * self.value[scale] % PRIME
            home = self._known(value)
            new = home is None and value != 0
            if new and alone:
                continue
            plan = Plan(0, value, home)
            if new:
                t1, t2 = next((p for p in listed if self.scale[p[0]] == scale), listed[0])
                second = self._ratio(self.scale[t2], 0 if self.scale[t1] == scale else self.scale[t1])
                if second is None:
                    continue
                sign = self.terms[t1][1] * self.terms[t2][1] * second[0]
                plan.terms = [(1, _with(m1, (scale,) if scale else ())), (sign, _with(m2, second[1]))]
                plan.saved = 1 - sum(max(len(factors), 1) for _, factors in plan.terms)
            own = home[1][0] if home and home[1] else 0
            for t1, t2 in listed:
                ratio = self._ratio(self.scale[t1], scale)
                if ratio is None or (own and self.terms[t1][0] == own):
                    continue
                after = max(len(places[t1, t2]) + len(ratio[1]) + (new or own > 0), 1) if value else 0
                plan.saved += max(len(self.terms[t1][2]), 1) + max(len(self.terms[t2][2]), 1) - after
                plan.places.append((t1, t2, ratio))
            if plan.saved > best.saved:
                best = plan
        return best

    def _home(self, value: int, terms: list[Term], known: Term | None) -> tuple[Term | None, set[int]]:
        """A value as a term, None for zero, and the variables that this term is computed from: what is at hand, else
        a new variable."""
        below: set[int] = set()
        if known is None and value:
            v = self.net.new()
            self.value[v] = value
            for sign, factors in terms:
                self._insert(v, sign, factors)
            known = 1, (v,)
        elif known:
            stack = list(known[1])
            while stack:
                v = stack.pop()
                if v not in below:
                    below.add(v)
                    stack += self._parts(v)
        return known, below

    def _take_product(self, key: Key) -> None:
        _, a, b = key  # type: ignore[misc]
        where = list(self.pairs[key].items())
        value = self._value((a, b))
        home, below = self._home(value, [(1, (a, b))], self._known(value))
        assert home
        for t, times in where:
            if t not in self.terms or self.terms[t][0] in below:
                continue
            v, sign, factors = self.terms[t]
            rest = list(factors)
            for _ in range(times):
                rest.remove(a)
                rest.remove(b)
            self._remove(t)
            term: Term = sign, tuple(rest)
            for _ in range(times):
                term = self._times(term, home)
            self._insert(v, *term)

    def _take_sum(self, key: Key) -> None:
        plan = self._plan(key)
        home, below = self._home(plan.value, plan.terms, plan.home)
        common = dict(self.kernels[key])
        for t1, t2, ratio in plan.places:
            if t1 not in self.terms or t2 not in self.terms or self.terms[t1][0] in below:
                continue
            v, sign, _ = self.terms[t1]
            self._remove(t1)
            self._remove(t2)
            if home:
                self._insert(v, *self._times(self._times((sign, common[t1, t2]), ratio), home))

    def _parts(self, v: int) -> list[int]:
        if v in self.net.atoms:
            return list(self.net.atoms[v].args)
        return [f for t in self.members.get(v, ()) for f in self.terms[t][2]]

    def _disjoint(self, key: Key) -> list[tuple[int, int]]:
        used: set[int] = set()
        chosen = []
        for place in self.kernels[key]:
            if used.isdisjoint(place):
                used.update(place)
                chosen.append(place)
        return chosen

    def _requeue(self) -> None:
        self._tidy()
        for key in self.touched:
            g = self.gain(key)
            if g > 0:
                self.pushed += 1
                heapq.heappush(self.queue, (-g - NOISE * self.noise.random(), self.pushed, key))
        self.touched = {}

    def _exhaust(self) -> None:
        """Takes candidates out until none saves anything."""
        self._requeue()
        while self.queue:
            rank, _, key = heapq.heappop(self.queue)
            g = self.gain(key)
            if g <= 0:
                continue
            if g + NOISE < -rank:
                self.pushed += 1
                heapq.heappush(self.queue, (-g, self.pushed, key))
                continue
            if key[0] == "product":
                self._take_product(key)
            else:
                self._take_sum(key)
            self._requeue()

    def _tidy(self) -> None:
        """Removes unused sums, and names of what has one."""
        while self.loose:
            v, _ = self.loose.popitem()
            if v in self.members and v not in self.fixed:
                listed = self.members[v]
                if not self.uses.get(v) or (len(listed) == 1 and len(self.terms[next(iter(listed))][2]) < 2):
                    self.write_out(v)

    # ---- moves

    def write_out(self, v: int) -> None:
        """Puts the terms of a variable where it is used."""
        definition = [self.terms[t][1:] for t in self.members[v]]
        for t in list(self.uses.get(v, ())):
            above, sign, factors = self.terms[t]
            rest = tuple(f for f in factors if f != v)
            written = [(sign, rest)]
            for _ in range(len(factors) - len(rest)):
                written = [self._times(x, d) for x in written for d in definition]
            self._remove(t)
            for term in written:
                self._insert(above, *term)
        if v not in self.fixed:
            for t in list(self.members[v]):
                self._remove(t)

    def move(self, chance: random.Random) -> None:
        """Writes out a few variables near each other, and takes out what saves then."""
        self.journal = []
        v = chance.choice(list(self.members))
        for _ in range(chance.randint(1, NEAR)):
            near = [*(self.terms[t][0] for t in self.uses.get(v, ())), *self._parts(v)]
            if v in self.members and len(self.members[v]) * len(self.uses.get(v, ())) <= WIDE:
                self.write_out(v)
            near = [x for x in near if x in self.members]
            if not near:
                break
            v = chance.choice(near)
        self._exhaust()

    def undo(self) -> None:
        """The network before the last move."""
        for put, t, v, sign, factors in reversed(self.journal[:]):
            if put:
                self._remove(t)
            else:
                self._put(t, v, sign, factors)
        self.loose, self.touched = {}, {}

    def network(self) -> Network:
        """A copy of what is reached."""
        self.net.sums = {v: [self.terms[t][1:] for t in listed] for v, listed in self.members.items()}
        return self.net.copy()


def _with(factors: Factors, constant: Factors) -> Factors:
    return tuple(sorted(factors + constant)) if constant else factors


def _denominators(*constants: Expr) -> set[int]:
    """Values of what the given constants divide by."""
    products = (n for n in postorder([release(c) for c in constants]) if isinstance(n, Product))
    return {base.fingerprint for n in products for base, exponent in n.factors if exponent < 0}


def _values(net: Network) -> dict[int, int]:
    """Values of all variables over the field of fingerprints."""
    value: dict[int, int] = {}
    for v in net.order():
        atom = net.atoms.get(v)
        if atom is None:
            total = 0
            for sign, factors in net.sums[v]:
                for f in factors:
                    sign = sign * value[f] % PRIME
                total += sign
            value[v] = total % PRIME
        elif atom.kind == "power":
            value[v] = power_residue(value[atom.args[0]], atom.exponent)
        else:
            assert atom.value is not None
            value[v] = atom.value.fingerprint
    return value


def anneal(net: Network, moves: int, heat: float, seed: int = 0) -> Network:
    """The cheapest network met in so many moves; `heat`: operations more that are accepted with probability 1/e at
    first, less and less towards the end."""
    chance = random.Random(seed)
    search = Search(net.copy(), chance)
    best, least = search.network(), search.cost
    now = least
    for i in range(moves):
        search.move(chance)
        more = search.cost - now
        if more > 0 and chance.random() >= math.exp(-more / (heat * (1 - i / moves) + 1e-9)):
            search.undo()
            continue
        now = search.cost
        if now < least:
            best, least = search.network(), now
    return best
