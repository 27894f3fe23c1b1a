"""Thorough search: sums and products are written out, common parts taken out anew, and what costs no more is kept.

Simulated annealing on a network. Every move is local and is undone where it is not accepted, so that its time does not
depend on the size of the network. Values over a finite field find what is at hand already, whatever its form; a sum
that was at hand before gets the same number again, so that what is known about its terms holds again.
Kirkpatrick, Gelatt & Vecchi (1983), Science 220, 671-680.
"""

from __future__ import annotations

import heapq
import math
import random
from collections.abc import Iterable
from dataclasses import dataclass, field

from bellcrank.expr import ONE, Expr, Product, div, postorder
from bellcrank.expr.node import PRIME, power_residue
from bellcrank.expr.walk import release
from bellcrank.program.extract import common_factors, disjoint, factor_pairs
from bellcrank.program.network import Factors, Network, Term

NOISE = 3.0  # operations by which a candidate may be preferred to another
TIE = 0.2  # operations that an addition counts more than a product on the way
KEPT = 50000  # terms of which is known what they have in common with others
MOST = 200  # terms of a sum that a new one is compared with
NEAR, WIDER = 3, 0.3  # variables that one move writes out, at most; how often it writes out more than one
WIDE = 40  # terms that writing one variable out may make, at most


class Kernel:
    """Two terms without their common factors and constants, as m1 + r m2, wherever they stand in a sum."""

    __slots__ = ("m1", "m2", "places", "value")

    def __init__(self, m1: Factors, m2: Factors, value: int) -> None:
        self.m1, self.m2, self.value = m1, m2, value
        self.places: dict[tuple[int, int], Factors] = {}  # numbers of two terms: common factors

    def disjoint(self) -> list[tuple[int, int]]:
        """The places that can be taken out together, in order."""
        if len(self.places) == 1:
            return list(self.places)
        return disjoint(self.places)


class Pair:
    """Two factors, wherever both stand in a product."""

    __slots__ = ("a", "b", "terms", "value")

    def __init__(self, a: int, b: int, value: int) -> None:
        self.a, self.b, self.value = a, b, value
        self.terms: dict[int, int] = {}  # how often they fit into each term


Candidate = Kernel | Pair


class Shape:
    """A term wherever it stands: its factors without the constant, that constant (0: one), its pairs of factors, and
    what is known of it and others as two terms of one sum: kernel, common factors, is the other one first?"""

    __slots__ = ("compared", "cost", "factors", "moving", "pairs", "scale", "sign")

    def __init__(self, sign: int, factors: Factors, moving: Factors, scale: int, pairs: list[tuple[Pair, int]]) -> None:
        self.sign, self.factors, self.moving, self.scale, self.pairs = sign, factors, moving, scale, pairs
        self.cost = max(len(factors), 1)
        self.compared: dict[Shape, tuple[Kernel, Factors, bool]] = {}


@dataclass(slots=True)
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
        self.net, self.noise = net, noise
        self.uses: dict[int, dict[int, None]] = {}  # variable: terms with it
        self.alike: dict[tuple[int, Factors], int] = {}  # sum and variable part: its term
        self.fixed = {*net.results, *(a for atom in net.atoms.values() for a in atom.args)}
        self.value = {0: 1, **_values(net)}
        self.ratios: dict[tuple[int, int], Term | None] = {}
        self.divisors = _denominators(*(net.atoms[c].value or ONE for c in net.constant))
        self.by_value: dict[int, int] = {}
        self.named: dict[int, int] = {}  # value: the sum that had it, now or before
        for v, value in self.value.items():
            if v in net.atoms:
                self.by_value.setdefault(value, v)
        self.cost = self.serial = self.pushed = 0
        self.journal: list[tuple[bool, int, int, Shape]] = []  # put or removed: term, sum, shape
        self.loose: dict[int, None] = {}  # sums that may have become unused, or a mere name
        self.terms: dict[int, tuple[int, Shape]] = {}  # term number: sum, shape
        self.members: dict[int, dict[int, Shape]] = {}  # sum: its terms
        self.shapes: dict[Term, Shape] = {}
        self.kernels: dict[tuple[Factors, Factors, int], Kernel] = {}
        self.pairs: dict[tuple[int, int], Pair] = {}
        self.queue: list[tuple[float, int, Candidate]] = []
        self.touched: dict[Candidate, None] = {}
        for v, terms in net.sums.items():
            if v in self.value:
                for term in terms:
                    self._insert(v, term)
        self._exhaust()

    @property
    def operations(self) -> tuple[int, int]:
        """Operations, and additions among them."""
        return self.cost, len(self.terms) - len(self.members)

    @property
    def energy(self) -> float:
        """Operations, an addition a little dearer than a product: of two networks about as short, it prefers one."""
        cost, additions = self.operations
        return cost + TIE * additions

    # ---- bookkeeping

    def _insert(self, v: int, term: Term) -> None:
        """Adds a term to a sum: to the one with an equal variable part, if there is one."""
        shape = self._shape(term)
        existing = self.alike.get((v, shape.moving))
        if existing is not None:
            old_shape = self.terms[existing][1]
            k = self.net.constant_of((old_shape.sign, old_shape.factors)) + self.net.constant_of(term)
            self._remove(existing)
            if k.fingerprint == 0:
                return
            sign, constant_part = self.net.constant_factor(k)
            self._evaluate(constant_part)
            shape = self._shape((sign, tuple(sorted(shape.moving + constant_part))))
        self.serial += 1
        self._put(self.serial, v, shape)

    def _shape(self, term: Term) -> Shape:
        shape = self.shapes.get(term)
        if shape is None:
            sign, factors = term
            constant = self.net.constant
            moving = tuple([f for f in factors if f not in constant])
            scale = next((f for f in factors if f in constant), 0)
            pairs = []
            for a, b, times in factor_pairs(factors):
                pair = self.pairs.get((a, b))
                if pair is None:
                    pair = self.pairs[a, b] = Pair(a, b, self._value((a, b)))
                pairs.append((pair, times))
            shape = self.shapes[term] = Shape(sign, factors, moving, scale, pairs)
        return shape

    def _put(self, t: int, v: int, shape: Shape) -> None:
        self.journal.append((True, t, v, shape))
        touched, term_uses = self.touched, self.uses
        members = self.members.get(v)
        if not members:
            members = self.members[v] = {}
            self.cost -= 1
            self.by_value.setdefault(self.value[v], v)
        self.cost += shape.cost
        self.alike[v, shape.moving] = t
        for f in shape.factors:
            if f in term_uses:
                term_uses[f][t] = None
            else:
                term_uses[f] = {t: None}
        self.terms[t] = v, shape
        compared = shape.compared
        for partner, member in members.items() if len(members) <= MOST else list(members.items())[-MOST:]:
            kernel, common, is_swapped = compared.get(member) or self._compare(shape, member)
            kernel.places[(partner, t) if is_swapped else (t, partner)] = common
            touched[kernel] = None
        members[t] = shape
        for pair, times in shape.pairs:
            pair.terms[t] = times
            touched[pair] = None
        self.loose[v] = None

    def _remove(self, t: int) -> None:
        v, shape = self.terms.pop(t)
        self.journal.append((False, t, v, shape))
        touched, loose, members = self.touched, self.loose, self.members[v]
        self.cost -= shape.cost
        del self.alike[v, shape.moving], members[t]
        for f in shape.factors:
            self.uses[f].pop(t, None)
            loose[f] = None
        compared = shape.compared
        for partner, member in members.items():
            comparison = compared.get(member)
            if comparison is not None:
                kernel, _, is_swapped = comparison
                kernel.places.pop((partner, t) if is_swapped else (t, partner), None)
                touched[kernel] = None
        for pair, _ in shape.pairs:
            del pair.terms[t]
            touched[pair] = None
        loose[v] = None
        if not members:
            self.cost += 1
            del self.members[v]
            if self.by_value.get(self.value[v]) == v:
                del self.by_value[self.value[v]]

    def _compare(self, a: Shape, b: Shape) -> tuple[Kernel, Factors, bool]:
        """Two terms as a common part times k1 (m1 + r m2): r by value, so that multiples are one candidate."""
        common, m1, m2 = common_factors(a.moving, b.moving)
        is_swapped = m2 < m1
        first, second = (b, a) if is_swapped else (a, b)
        if is_swapped:
            m1, m2 = m2, m1
        r = first.sign * second.sign * self._quotient(second.scale, first.scale) % PRIME
        kernel = self.kernels.get((m1, m2, r))
        if kernel is None:
            value = (self._value(m1) + r * self._value(m2)) % PRIME
            kernel = self.kernels[m1, m2, r] = Kernel(m1, m2, value)
        a.compared[b] = comparison = kernel, common, is_swapped
        b.compared[a] = kernel, common, not is_swapped
        return comparison

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

    def _quotient(self, a: int, b: int) -> int:
        return self.value[a] * pow(self.value[b], -1, PRIME) if b else self.value[a]

    def _ratio(self, a: int, b: int) -> Term | None:
        """A constant over another (0: one), None if that could divide by zero."""
        if b == 0:
            return 1, ((a,) if a else ())
        if (a, b) not in self.ratios:
            ratio = self._known(self._quotient(a, b) % PRIME)
            if ratio is None or not self.net.constant.issuperset(ratio[1]):
                ratio = None
                top, bottom = (release(self.net.atoms[x].value or ONE) if x else ONE for x in (a, b))
                if _denominators(quotient := div(top, bottom)) <= self.divisors:
                    ratio = self.net.constant_factor(quotient)
                    self._evaluate(ratio[1])
            self.ratios[a, b] = ratio
        return self.ratios[a, b]

    def _value(self, factors: Factors) -> int:
        result = 1
        for f in factors:
            result = result * self.value[f] % PRIME
        return result

    def _known(self, value: int) -> Term | None:
        """What is at hand with that value."""
        v = self.by_value.get(value)
        if v is not None:
            return 1, (v,)
        v = self.by_value.get(PRIME - value)
        if v is not None:
            return -1, (v,)
        if value in (1, PRIME - 1):
            return (1 if value == 1 else -1), ()
        return None

    def gain(self, candidate: Candidate) -> int:
        """Operations saved by taking a candidate out."""
        if isinstance(candidate, Pair):
            occurrences = candidate.terms
            if not occurrences:
                return 0
            existing = self._known(candidate.value)
            if existing is None:
                return sum(occurrences.values()) - 1
            short = not existing[1]  # nothing takes the place of what is taken out
            return sum(n * (1 + short) for t, n in occurrences.items() if short or self.terms[t][0] != existing[1][0])
        return self._plan(candidate).saved if candidate.places else 0

    def _plan(self, kernel: Kernel) -> Plan:
        """The cheapest multiple of a sum to take out."""
        common_factors_of, best, terms = kernel.places, Plan(0), self.terms
        pairs = kernel.disjoint()
        is_single = len(common_factors_of) == 1 and not common_factors_of[pairs[0]]
        for scale in dict.fromkeys((0, *[terms[t1][1].scale for t1, _ in pairs])):
            value = kernel.value * self.value[scale] % PRIME if scale else kernel.value
            home = self._known(value)
            new = home is None and value != 0
            if new and is_single:
                continue
            plan = Plan(0, value, home)
            if new:
                t1, t2 = next((p for p in pairs if terms[p[0]][1].scale == scale), pairs[0])
                first, second = terms[t1][1], terms[t2][1]
                ratio = self._ratio(second.scale, 0 if first.scale == scale else first.scale)
                if ratio is None:
                    continue
                sign = first.sign * second.sign * ratio[0]
                plan.terms = [(1, _with(kernel.m1, (scale,) if scale else ())), (sign, _with(kernel.m2, ratio[1]))]
                plan.saved = 1 - sum(max(len(factors), 1) for _, factors in plan.terms)
            home_variable = home[1][0] if home and home[1] else 0
            for pair in pairs:
                t1, t2 = pair
                v, first = terms[t1]
                ratio = self._ratio(first.scale, scale)
                if ratio is None or (home_variable and v == home_variable):
                    continue
                new_cost = (
                    max(len(common_factors_of[pair]) + len(ratio[1]) + (new or home_variable > 0), 1) if value else 0
                )
                plan.saved += first.cost + terms[t2][1].cost - new_cost
                plan.places.append((t1, t2, ratio))
            if plan.saved > best.saved:
                best = plan
        return best

    def _home(self, value: int, terms: list[Term], existing: Term | None) -> tuple[Term | None, set[int]]:
        """A value as a term, None for zero, and the variables that this term is computed from: what is at hand, else
        a new variable."""
        below: set[int] = set()
        if existing is None and value:
            v = self.named.get(value)
            if v is None:
                v = self.named[value] = self.net.new()
                self.value[v] = value
            existing = 1, (v,)
            if v not in self.members:
                for term in terms:
                    self._insert(v, term)
                return existing, below
        if existing:
            stack = list(existing[1])
            while stack:
                v = stack.pop()
                if v not in below:
                    below.add(v)
                    stack += self._parts(v)
        return existing, below

    def _take_product(self, pair: Pair) -> None:
        a, b, occurrences = pair.a, pair.b, list(pair.terms.items())
        home, below = self._home(pair.value, [(1, (a, b))], self._known(pair.value))
        assert home
        for t, times in occurrences:
            if t not in self.terms or self.terms[t][0] in below:
                continue
            v, shape = self.terms[t]
            remaining_factors = list(shape.factors)
            for _ in range(times):
                remaining_factors.remove(a)
                remaining_factors.remove(b)
            self._remove(t)
            term: Term = shape.sign, tuple(remaining_factors)
            for _ in range(times):
                term = self._times(term, home)
            self._insert(v, term)

    def _take_sum(self, kernel: Kernel) -> None:
        plan = self._plan(kernel)
        common = dict(kernel.places)
        home, below = self._home(plan.value, plan.terms, plan.home)
        for t1, t2, ratio in plan.places:
            if t1 not in self.terms or t2 not in self.terms or self.terms[t1][0] in below:
                continue
            v, shape = self.terms[t1]
            self._remove(t1)
            self._remove(t2)
            if home:
                self._insert(v, self._times(self._times((shape.sign, common[t1, t2]), ratio), home))

    def _parts(self, v: int) -> list[int]:
        if v in self.net.atoms:
            return list(self.net.atoms[v].args)
        return [f for shape in self.members.get(v, {}).values() for f in shape.factors]

    def _requeue(self) -> None:
        self._tidy()
        for candidate in self.touched:
            g = self.gain(candidate)
            if g > 0:
                self.pushed += 1
                heapq.heappush(self.queue, (-g - NOISE * self.noise.random(), self.pushed, candidate))
        self.touched = {}

    def _exhaust(self) -> None:
        """Takes candidates out until none saves anything."""
        self._requeue()
        while self.queue:
            rank, _, candidate = heapq.heappop(self.queue)
            g = self.gain(candidate)
            if g <= 0:
                continue
            if g + NOISE < -rank:
                self.pushed += 1
                heapq.heappush(self.queue, (-g, self.pushed, candidate))
                continue
            if isinstance(candidate, Pair):
                self._take_product(candidate)
            else:
                self._take_sum(candidate)
            self._requeue()

    def _tidy(self) -> None:
        """Removes unused sums, and names of what has one."""
        while self.loose:
            v, _ = self.loose.popitem()
            if v in self.members and v not in self.fixed:
                members = self.members[v]
                if not self.uses.get(v) or (len(members) == 1 and len(next(iter(members.values())).factors) < 2):
                    self.write_out(v)

    # ---- moves

    def write_out(self, v: int) -> None:
        """Puts the terms of a variable where it is used."""
        definition = [(shape.sign, shape.factors) for shape in self.members[v].values()]
        for t in list(self.uses.get(v, ())):
            above, shape = self.terms[t]
            other_factors = tuple([f for f in shape.factors if f != v])
            expanded = [(shape.sign, other_factors)]
            for _ in range(len(shape.factors) - len(other_factors)):
                expanded = [self._times(x, d) for x in expanded for d in definition]
            self._remove(t)
            for term in expanded:
                self._insert(above, term)
        if v not in self.fixed:
            for t in list(self.members[v]):
                self._remove(t)

    def move(self, chance: random.Random) -> None:
        """Writes out a few variables near each other, and takes out what saves then."""
        self.journal = []
        v = chance.choice(list(self.members))
        for _ in range(chance.randint(2, NEAR) if chance.random() < WIDER else 1):
            neighbours = [*(self.terms[t][0] for t in self.uses.get(v, ())), *self._parts(v)]
            if v in self.members and len(self.members[v]) * len(self.uses.get(v, ())) <= WIDE:
                self.write_out(v)
            neighbours = [x for x in neighbours if x in self.members]
            if not neighbours:
                break
            v = chance.choice(neighbours)
        self._exhaust()

    def undo(self) -> None:
        """The network before the last move."""
        for was_added, t, v, shape in reversed(self.journal[:]):
            if was_added:
                self._remove(t)
            else:
                self._put(t, v, shape)
        self.loose, self.touched = {}, {}

    def forget(self) -> None:
        """Drops what is known about terms that are gone."""
        live = {shape: None for _, shape in self.terms.values()}
        self.shapes = {(shape.sign, shape.factors): shape for shape in live}
        for shape in live:
            shape.compared = {
                x: comparison for x, comparison in shape.compared.items() if x in live and comparison[0].places
            }
        self.kernels = {key: kernel for key, kernel in self.kernels.items() if kernel.places}
        self.pairs = {key: pair for key, pair in self.pairs.items() if pair.terms}

    def network(self) -> Network:
        """A copy of what is reached."""
        self.net.sums = {v: [(s.sign, s.factors) for s in members.values()] for v, members in self.members.items()}
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


def anneal(net: Network, move_count: int, heat: float, seed: int = 0) -> Network:
    """The cheapest network met in so many moves; `heat`: operations more that are accepted with probability 1/e at
    first, less and less towards the end."""
    chance = random.Random(seed)
    search = Search(net.copy(), chance)
    best, lowest_cost, energy = search.network(), search.operations, search.energy
    for i in range(move_count):
        search.move(chance)
        increase = search.energy - energy
        if increase > 0 and chance.random() >= math.exp(-increase / (heat * (1 - i / move_count) + 1e-9)):
            search.undo()
            continue
        energy = search.energy
        if search.operations < lowest_cost:
            best, lowest_cost = search.network(), search.operations
        if len(search.shapes) > KEPT:
            search.forget()
    return best
