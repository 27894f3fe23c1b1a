"""Thorough search: sums and products are written out, common parts taken out anew, and what costs
no more is kept.

Simulated annealing on a network. Every move is local and is undone where it is not accepted, so
that its time does not depend on the size of the network. Values over a finite field find what is at
hand already, whatever its form; a sum that was at hand before gets the same number again, so that
what is known about its terms holds again. Kirkpatrick, Gelatt & Vecchi (1983), Science 220,
671-680.
"""

from __future__ import annotations

import heapq
import math
import random
from collections.abc import Iterable
from dataclasses import dataclass, field

from bellcrank.program.common_subexpressions import (
    common_term_factors,
    disjoint_places,
    factor_pairs,
)
from bellcrank.program.network import Factors, SumOfProductsNetwork, Term
from bellcrank.symbolic.expr import ONE, Expr, Product, div, postorder
from bellcrank.symbolic.expr.node import PRIME, power_residue
from bellcrank.symbolic.expr.traversal import inline_named

PRIORITY_NOISE = 3.0  # operations by which a candidate may be preferred to another
ADDITION_WEIGHT = 0.2  # operations that an addition counts more than a product on the way
MAX_CACHED_TERMS = 50000  # terms of which is known what they have in common with others
MAX_COMPARED_TERMS = 200  # terms of a sum that a new one is compared with
NEAR, WIDER = (
    3,
    0.3,
)  # variables that one move writes out, at most; how often it writes out more than one
MAX_INLINED_TERMS = 40  # terms that writing one variable out may make, at most


class SumCandidate:
    """Two terms without their common factors and constants, as m1 + r m2, wherever they stand in a
    sum."""

    __slots__ = ("m1", "m2", "places", "value")

    def __init__(self, m1: Factors, m2: Factors, value: int) -> None:
        self.m1, self.m2, self.value = m1, m2, value
        self.places: dict[tuple[int, int], Factors] = {}  # numbers of two terms: common factors

    def disjoint(self) -> list[tuple[int, int]]:
        """The places that can be taken out together, in order."""
        if len(self.places) == 1:
            return list(self.places)
        return disjoint_places(self.places)


class ProductCandidate:
    """Two factors, wherever both stand in a product."""

    __slots__ = ("a", "b", "terms", "value")

    def __init__(self, a: int, b: int, value: int) -> None:
        self.a, self.b, self.value = a, b, value
        self.terms: dict[int, int] = {}  # how often they fit into each term


Candidate = SumCandidate | ProductCandidate


class TermShape:
    """A term wherever it stands: its factors without the constant, that constant (0: one), its
    pairs of factors, and what is known of it and others as two terms of one sum: kernel, common
    factors, is the other one first?"""

    __slots__ = ("compared", "cost", "factors", "moving", "pairs", "scale", "sign")

    def __init__(
        self,
        sign: int,
        factors: Factors,
        moving: Factors,
        scale: int,
        pairs: list[tuple[ProductCandidate, int]],
    ) -> None:
        self.sign, self.factors, self.moving, self.scale, self.pairs = (
            sign,
            factors,
            moving,
            scale,
            pairs,
        )
        self.cost = max(len(factors), 1)
        self.compared: dict[TermShape, tuple[SumCandidate, Factors, bool]] = {}


@dataclass(slots=True)
class ExtractionPlan:
    """How a sum is taken out: as `home`, or as a new variable with these terms; its places and
    constants there."""

    saved: int
    value: int = 0
    home: Term | None = None
    terms: list[Term] = field(default_factory=list)
    places: list[tuple[int, int, Term]] = field(default_factory=list)


class OperationSearch:
    """A network with nothing left to take out, changed move by move."""

    def __init__(self, net: SumOfProductsNetwork, noise: random.Random) -> None:
        self.net, self.noise = net, noise
        self.uses: dict[int, dict[int, None]] = {}  # variable: terms with it
        self.alike: dict[tuple[int, Factors], int] = {}  # sum and variable part: its term
        self.fixed = {*net.results, *(a for atom in net.atoms.values() for a in atom.args)}
        self.value = {0: 1, **_variable_values(net)}
        self.ratios: dict[tuple[int, int], Term | None] = {}
        self.divisors = _denominator_values(*(net.atoms[c].value or ONE for c in net.constant))
        self.by_value: dict[int, int] = {}
        self.named: dict[int, int] = {}  # value: the sum that had it, now or before
        for v, value in self.value.items():
            if v in net.atoms:
                self.by_value.setdefault(value, v)
        self.cost = self.serial = self.pushed = 0
        self.journal: list[
            tuple[bool, int, int, TermShape]
        ] = []  # put or removed: term, sum, shape
        self.loose: dict[int, None] = {}  # sums that may have become unused, or a mere name
        self.terms: dict[int, tuple[int, TermShape]] = {}  # term number: sum, shape
        self.members: dict[int, dict[int, TermShape]] = {}  # sum: its terms
        self.shapes: dict[Term, TermShape] = {}
        self.kernels: dict[tuple[Factors, Factors, int], SumCandidate] = {}
        self.pairs: dict[tuple[int, int], ProductCandidate] = {}
        self.queue: list[tuple[float, int, Candidate]] = []
        self.touched: dict[Candidate, None] = {}
        for v, terms in net.sums.items():
            if v in self.value:
                for term in terms:
                    self._insert_term(v, term)
        self._extract_until_no_gain()

    @property
    def operations(self) -> tuple[int, int]:
        """Operations, and additions among them."""
        return self.cost, len(self.terms) - len(self.members)

    @property
    def energy(self) -> float:
        """Operations, an addition a little dearer than a product: of two networks about as short,
        it prefers one."""
        cost, additions = self.operations
        return cost + ADDITION_WEIGHT * additions

    # ---- bookkeeping

    def _insert_term(self, v: int, term: Term) -> None:
        """Adds a term to a sum: to the one with an equal variable part, if there is one."""
        shape = self._shape(term)
        existing = self.alike.get((v, shape.moving))
        if existing is not None:
            old_shape = self.terms[existing][1]
            k = self.net.constant_of((old_shape.sign, old_shape.factors)) + self.net.constant_of(
                term
            )
            self._remove_term(existing)
            if k.fingerprint == 0:
                return
            sign, constant_part = self.net.constant_factor(k)
            self._register_constant_values(constant_part)
            shape = self._shape((sign, tuple(sorted(shape.moving + constant_part))))
        self.serial += 1
        self._put_term(self.serial, v, shape)

    def _shape(self, term: Term) -> TermShape:
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
                    pair = self.pairs[a, b] = ProductCandidate(a, b, self._product_value((a, b)))
                pairs.append((pair, times))
            shape = self.shapes[term] = TermShape(sign, factors, moving, scale, pairs)
        return shape

    def _put_term(self, t: int, v: int, shape: TermShape) -> None:
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
        for partner, member in (
            members.items()
            if len(members) <= MAX_COMPARED_TERMS
            else list(members.items())[-MAX_COMPARED_TERMS:]
        ):
            kernel, common, is_swapped = compared.get(member) or self._find_common_sum(
                shape, member
            )
            kernel.places[(partner, t) if is_swapped else (t, partner)] = common
            touched[kernel] = None
        members[t] = shape
        for pair, times in shape.pairs:
            pair.terms[t] = times
            touched[pair] = None
        self.loose[v] = None

    def _remove_term(self, t: int) -> None:
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

    def _find_common_sum(self, a: TermShape, b: TermShape) -> tuple[SumCandidate, Factors, bool]:
        """Two terms as a common part times k1 (m1 + r m2): r by value, so that multiples are one
        candidate."""
        common, m1, m2 = common_term_factors(a.moving, b.moving)
        is_swapped = m2 < m1
        first, second = (b, a) if is_swapped else (a, b)
        if is_swapped:
            m1, m2 = m2, m1
        r = first.sign * second.sign * self._quotient(second.scale, first.scale) % PRIME
        kernel = self.kernels.get((m1, m2, r))
        if kernel is None:
            value = (self._product_value(m1) + r * self._product_value(m2)) % PRIME
            kernel = self.kernels[m1, m2, r] = SumCandidate(m1, m2, value)
        a.compared[b] = comparison = kernel, common, is_swapped
        b.compared[a] = kernel, common, not is_swapped
        return comparison

    def _register_constant_values(self, constants: Iterable[int]) -> None:
        for c in constants:
            if c not in self.value:
                self.value[c] = self.net.atoms[c].value.fingerprint  # type: ignore[union-attr]
                self.by_value.setdefault(self.value[c], c)

    def _times(self, a: Term, b: Term) -> Term:
        sign, factors = self.net.times(a, b)
        self._register_constant_values(f for f in factors if f in self.net.constant)
        return sign, factors

    # ---- candidates, by value

    def _quotient(self, a: int, b: int) -> int:
        return self.value[a] * pow(self.value[b], -1, PRIME) if b else self.value[a]

    def _constant_ratio(self, a: int, b: int) -> Term | None:
        """A constant over another (0: one), None if that could divide by zero."""
        if b == 0:
            return 1, ((a,) if a else ())
        if (a, b) not in self.ratios:
            ratio = self._find_value(self._quotient(a, b) % PRIME)
            if ratio is None or not self.net.constant.issuperset(ratio[1]):
                ratio = None
                top, bottom = (
                    inline_named(self.net.atoms[x].value or ONE) if x else ONE for x in (a, b)
                )
                if _denominator_values(quotient := div(top, bottom)) <= self.divisors:
                    ratio = self.net.constant_factor(quotient)
                    self._register_constant_values(ratio[1])
            self.ratios[a, b] = ratio
        return self.ratios[a, b]

    def _product_value(self, factors: Factors) -> int:
        result = 1
        for f in factors:
            result = result * self.value[f] % PRIME
        return result

    def _find_value(self, value: int) -> Term | None:
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

    def saved_operations(self, candidate: Candidate) -> int:
        """Operations saved by taking a candidate out."""
        if isinstance(candidate, ProductCandidate):
            occurrences = candidate.terms
            if not occurrences:
                return 0
            existing = self._find_value(candidate.value)
            if existing is None:
                return sum(occurrences.values()) - 1
            short = not existing[1]  # nothing takes the place of what is taken out
            return sum(
                n * (1 + short)
                for t, n in occurrences.items()
                if short or self.terms[t][0] != existing[1][0]
            )
        return self._best_extraction(candidate).saved if candidate.places else 0

    def _best_extraction(self, kernel: SumCandidate) -> ExtractionPlan:
        """The cheapest multiple of a sum to take out."""
        common_factors_of, best, terms = kernel.places, ExtractionPlan(0), self.terms
        pairs = kernel.disjoint()
        is_single = len(common_factors_of) == 1 and not common_factors_of[pairs[0]]
        for scale in dict.fromkeys((0, *[terms[t1][1].scale for t1, _ in pairs])):
            value = kernel.value * self.value[scale] % PRIME if scale else kernel.value
            home = self._find_value(value)
            new = home is None and value != 0
            if new and is_single:
                continue
            plan = ExtractionPlan(0, value, home)
            if new:
                t1, t2 = next((p for p in pairs if terms[p[0]][1].scale == scale), pairs[0])
                first, second = terms[t1][1], terms[t2][1]
                ratio = self._constant_ratio(
                    second.scale, 0 if first.scale == scale else first.scale
                )
                if ratio is None:
                    continue
                sign = first.sign * second.sign * ratio[0]
                plan.terms = [
                    (1, _add_constant_factor(kernel.m1, (scale,) if scale else ())),
                    (sign, _add_constant_factor(kernel.m2, ratio[1])),
                ]
                plan.saved = 1 - sum(max(len(factors), 1) for _, factors in plan.terms)
            home_variable = home[1][0] if home and home[1] else 0
            for pair in pairs:
                t1, t2 = pair
                v, first = terms[t1]
                ratio = self._constant_ratio(first.scale, scale)
                if ratio is None or (home_variable and v == home_variable):
                    continue
                new_cost = (
                    max(
                        len(common_factors_of[pair]) + len(ratio[1]) + (new or home_variable > 0), 1
                    )
                    if value
                    else 0
                )
                plan.saved += first.cost + terms[t2][1].cost - new_cost
                plan.places.append((t1, t2, ratio))
            if plan.saved > best.saved:
                best = plan
        return best

    def _term_for_value(
        self, value: int, terms: list[Term], existing: Term | None
    ) -> tuple[Term | None, set[int]]:
        """A value as a term, None for zero, and the variables that this term is computed from: what
        is at hand, else a new variable."""
        below: set[int] = set()
        if existing is None and value:
            v = self.named.get(value)
            if v is None:
                v = self.named[value] = self.net.new_variable()
                self.value[v] = value
            existing = 1, (v,)
            if v not in self.members:
                for term in terms:
                    self._insert_term(v, term)
                return existing, below
        if existing:
            stack = list(existing[1])
            while stack:
                v = stack.pop()
                if v not in below:
                    below.add(v)
                    stack += self._operands(v)
        return existing, below

    def _extract_product(self, pair: ProductCandidate) -> None:
        a, b, occurrences = pair.a, pair.b, list(pair.terms.items())
        home, below = self._term_for_value(pair.value, [(1, (a, b))], self._find_value(pair.value))
        assert home
        for t, times in occurrences:
            if t not in self.terms or self.terms[t][0] in below:
                continue
            v, shape = self.terms[t]
            remaining_factors = list(shape.factors)
            for _ in range(times):
                remaining_factors.remove(a)
                remaining_factors.remove(b)
            self._remove_term(t)
            term: Term = shape.sign, tuple(remaining_factors)
            for _ in range(times):
                term = self._times(term, home)
            self._insert_term(v, term)

    def _extract_sum(self, kernel: SumCandidate) -> None:
        plan = self._best_extraction(kernel)
        common = dict(kernel.places)
        home, below = self._term_for_value(plan.value, plan.terms, plan.home)
        for t1, t2, ratio in plan.places:
            if t1 not in self.terms or t2 not in self.terms or self.terms[t1][0] in below:
                continue
            v, shape = self.terms[t1]
            self._remove_term(t1)
            self._remove_term(t2)
            if home:
                self._insert_term(
                    v, self._times(self._times((shape.sign, common[t1, t2]), ratio), home)
                )

    def _operands(self, v: int) -> list[int]:
        if v in self.net.atoms:
            return list(self.net.atoms[v].args)
        return [f for shape in self.members.get(v, {}).values() for f in shape.factors]

    def _requeue_touched(self) -> None:
        self._remove_unused_sums()
        for candidate in self.touched:
            g = self.saved_operations(candidate)
            if g > 0:
                self.pushed += 1
                heapq.heappush(
                    self.queue, (-g - PRIORITY_NOISE * self.noise.random(), self.pushed, candidate)
                )
        self.touched = {}

    def _extract_until_no_gain(self) -> None:
        """Takes candidates out until none saves anything."""
        self._requeue_touched()
        while self.queue:
            rank, _, candidate = heapq.heappop(self.queue)
            g = self.saved_operations(candidate)
            if g <= 0:
                continue
            if g + PRIORITY_NOISE < -rank:
                self.pushed += 1
                heapq.heappush(self.queue, (-g, self.pushed, candidate))
                continue
            if isinstance(candidate, ProductCandidate):
                self._extract_product(candidate)
            else:
                self._extract_sum(candidate)
            self._requeue_touched()

    def _remove_unused_sums(self) -> None:
        """Removes unused sums, and names of what has one."""
        while self.loose:
            v, _ = self.loose.popitem()
            if v in self.members and v not in self.fixed:
                members = self.members[v]
                if not self.uses.get(v) or (
                    len(members) == 1 and len(next(iter(members.values())).factors) < 2
                ):
                    self.inline_variable(v)

    # ---- moves

    def inline_variable(self, v: int) -> None:
        """Puts the terms of a variable where it is used."""
        definition = [(shape.sign, shape.factors) for shape in self.members[v].values()]
        for t in list(self.uses.get(v, ())):
            above, shape = self.terms[t]
            other_factors = tuple([f for f in shape.factors if f != v])
            expanded = [(shape.sign, other_factors)]
            for _ in range(len(shape.factors) - len(other_factors)):
                expanded = [self._times(x, d) for x in expanded for d in definition]
            self._remove_term(t)
            for term in expanded:
                self._insert_term(above, term)
        if v not in self.fixed:
            for t in list(self.members[v]):
                self._remove_term(t)

    def random_move(self, chance: random.Random) -> None:
        """Writes out a few variables near each other, and takes out what saves then."""
        self.journal = []
        v = chance.choice(list(self.members))
        for _ in range(chance.randint(2, NEAR) if chance.random() < WIDER else 1):
            neighbours = [*(self.terms[t][0] for t in self.uses.get(v, ())), *self._operands(v)]
            if (
                v in self.members
                and len(self.members[v]) * len(self.uses.get(v, ())) <= MAX_INLINED_TERMS
            ):
                self.inline_variable(v)
            neighbours = [x for x in neighbours if x in self.members]
            if not neighbours:
                break
            v = chance.choice(neighbours)
        self._extract_until_no_gain()

    def undo_move(self) -> None:
        """The network before the last move."""
        for was_added, t, v, shape in reversed(self.journal[:]):
            if was_added:
                self._remove_term(t)
            else:
                self._put_term(t, v, shape)
        self.loose, self.touched = {}, {}

    def prune_caches(self) -> None:
        """Drops what is known about terms that are gone."""
        live = {shape: None for _, shape in self.terms.values()}
        self.shapes = {(shape.sign, shape.factors): shape for shape in live}
        for shape in live:
            shape.compared = {
                x: comparison
                for x, comparison in shape.compared.items()
                if x in live and comparison[0].places
            }
        self.kernels = {key: kernel for key, kernel in self.kernels.items() if kernel.places}
        self.pairs = {key: pair for key, pair in self.pairs.items() if pair.terms}

    def best_network(self) -> SumOfProductsNetwork:
        """A copy of what is reached."""
        self.net.sums = {
            v: [(s.sign, s.factors) for s in members.values()]
            for v, members in self.members.items()
        }
        return self.net.copy()


def _add_constant_factor(factors: Factors, constant: Factors) -> Factors:
    return tuple(sorted(factors + constant)) if constant else factors


def _denominator_values(*constants: Expr) -> set[int]:
    """Values of what the given constants divide by."""
    products = (
        n for n in postorder([inline_named(c) for c in constants]) if isinstance(n, Product)
    )
    return {base.fingerprint for n in products for base, exponent in n.factors if exponent < 0}


def _variable_values(net: SumOfProductsNetwork) -> dict[int, int]:
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


def anneal_network(
    net: SumOfProductsNetwork, move_count: int, heat: float, seed: int = 0
) -> SumOfProductsNetwork:
    """The cheapest network met in so many moves; `heat`: operations more that are accepted with
    probability 1/e at first, less and less towards the end."""
    chance = random.Random(seed)
    search = OperationSearch(net.copy(), chance)
    best, lowest_cost, energy = search.best_network(), search.operations, search.energy
    for i in range(move_count):
        search.random_move(chance)
        increase = search.energy - energy
        if increase > 0 and chance.random() >= math.exp(
            -increase / (heat * (1 - i / move_count) + 1e-9)
        ):
            search.undo_move()
            continue
        energy = search.energy
        if search.operations < lowest_cost:
            best, lowest_cost = search.best_network(), search.operations
        if len(search.shapes) > MAX_CACHED_TERMS:
            search.prune_caches()
    return best
