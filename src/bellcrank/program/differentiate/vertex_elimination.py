"""Accumulation of derivatives over a graph of operations by elimination of its vertices.

Every operation is a vertex, every partial derivative an edge. Eliminating a vertex joins the edges
into it with those out of it (chain rule); when only sources and results are left, the edges are the
derivatives. From the sources on this is the forward mode, from the results the reverse mode; the
least work first is usually cheaper than both. Griewank & Walther, Evaluating Derivatives (2008),
ch. 9 and 10.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence

from bellcrank.choices import JacobianMode, choice_values
from bellcrank.program.differentiate.intermediates import Intermediates
from bellcrank.program.differentiate.partials import ExternalPartial, node_partials, routine_partial
from bellcrank.symbolic.expr import ONE, ZERO, Expr, Func, Number, postorder

MODES = choice_values(JacobianMode)
FREE, STILL, MOVING = range(3)  # edges: +-1, a constant, a variable
Combination = Mapping[
    Expr, Expr
]  # a result as sum of weight * node, the weights not differentiated


class DerivativeGraph:
    """Vertices by number: sources first, then operations in order, then results."""

    def __init__(
        self,
        results: Sequence[Combination],
        sources: Sequence[Expr] | Mapping[Expr, Expr],
        shared: Intermediates,
        external: ExternalPartial = routine_partial,
    ) -> None:
        number: dict[Expr, int]
        self.into: list[dict[int, Expr]]
        if isinstance(sources, Mapping):  # one direction: all sources hang on a single one
            number = {s: i for i, s in enumerate(sources, 1)}
            self.into = [{}, *({0: rate} for rate in sources.values())]
            self.sources = 1
        else:
            number = {s: i for i, s in enumerate(sources)}
            self.into = [{} for _ in sources]
            self.sources = len(sources)
        for node in postorder([n for r in results for n in r], known=number):
            edges = self._edges(node, number, shared, external)
            if edges:
                number[node] = len(self.into)
                self.into.append(edges)
        self.first_result = len(self.into)
        for r in results:
            edges = {}
            for node, weight in r.items():
                if node in number and weight is not ZERO:
                    shared.accumulate(edges, number[node], weight)
            self.into.append(edges)
        self.out: list[set[int]] = [set() for _ in self.into]
        for v, edges in enumerate(self.into):
            for u in edges:
                self.out[u].add(v)
        self.shared = shared

    def _edges(
        self,
        node: Expr,
        number: Mapping[Expr, int],
        shared: Intermediates,
        external: ExternalPartial,
    ) -> dict[int, Expr]:
        if not any(p in number for p in node.parts):
            return {}
        edges: dict[int, Expr] = {}
        # partials are formed only where they are needed: those of a user function may not be known
        if isinstance(node, Func) and node.function is not None:
            part_slopes = [(a, external(node, i)) for i, a in enumerate(node.args) if a in number]
        else:
            part_slopes = node_partials(node, shared)
        for part, slope in part_slopes:
            if part in number and slope is not ZERO and slope.fingerprint != 0:
                shared.accumulate(edges, number[part], slope)
        return {i: s for i, s in edges.items() if s is not ZERO}

    def operations(self) -> range:
        return range(self.sources, self.first_result)

    def eliminate_vertices(self, order: Iterable[int]) -> list[dict[int, Expr]]:
        """Derivatives of every result by source number."""
        shared = self.shared
        for k in order:
            into = self.into[k]
            for v in sorted(self.out[k]):
                through = self.into[v].pop(k)
                for u, slope in into.items():
                    term = shared.product(through, slope)
                    if u in self.into[v]:
                        term = shared.sum((self.into[v][u], term))
                        if term is ZERO:
                            del self.into[v][u]
                            self.out[u].discard(v)
                            continue
                    if term is not ZERO:
                        self.into[v][u] = term
                        self.out[u].add(v)
            for u in into:
                self.out[u].discard(k)
            self.into[k] = {}
            self.out[k] = set()
        return self.into[self.first_result :]


def _edge_kind(e: Expr) -> int:
    if isinstance(e, Number):
        return FREE if abs(e.value) == 1 else STILL
    return STILL if e.constant else MOVING


class _EliminationRehearsal:
    """Elimination rehearsed with kinds of edges only: what an order costs, and the greedy order
    itself."""

    def __init__(self, graph: DerivativeGraph) -> None:
        self.into = [{u: _edge_kind(e) for u, e in edges.items()} for edges in graph.into]
        self.out = [set(s) for s in graph.out]
        self.cost = 0

    def vertex_cost(self, k: int) -> int:
        """Operations of eliminating a vertex."""
        total = 0
        into = self.into[k]
        for v in self.out[k]:
            edges = self.into[v]
            through = edges[k]
            for u, slope in into.items():
                total += (through != FREE and slope != FREE and through + slope > 2) + (u in edges)
        return total

    def eliminate_vertex(self, k: int) -> set[int]:
        """Eliminates a vertex; the vertices whose work may have changed."""
        self.cost += self.vertex_cost(k)
        into = self.into[k]
        neighbours = set(into) | self.out[k]
        for v in self.out[k]:
            edges = self.into[v]
            through = edges.pop(k)
            for u, slope in into.items():
                edges[u] = max(through, slope, STILL) if u in edges else max(through, slope)
                self.out[u].add(v)
        for u in into:
            self.out[u].discard(k)
        self.into[k], self.out[k] = {}, set()
        return neighbours


def _greedy_order(graph: DerivativeGraph, plan: _EliminationRehearsal, late: bool) -> list[int]:
    """Least work first; among equals the vertex nearest to the results (late) or to the sources."""
    vertices_left = set(graph.operations())
    sign = -1 if late else 1
    heap = [(plan.vertex_cost(k), sign * k, k) for k in vertices_left]
    heapq.heapify(heap)
    order: list[int] = []
    while heap:
        work, _, k = heapq.heappop(heap)
        if k not in vertices_left:
            continue
        current_work = plan.vertex_cost(k)
        if current_work > work:
            heapq.heappush(heap, (current_work, sign * k, k))
            continue
        vertices_left.discard(k)
        order.append(k)
        for n in plan.eliminate_vertex(k):
            if n in vertices_left:
                heapq.heappush(heap, (plan.vertex_cost(n), sign * n, n))
    return order


def elimination_order(graph: DerivativeGraph, mode: str = "cheapest") -> list[int]:
    """The order in which the vertices of a graph are eliminated."""
    forward = list(graph.operations())
    if mode == "forward":
        return forward
    if mode == "reverse":
        return forward[::-1]
    best: list[int] = []
    lowest_cost = -1
    for candidate in (forward, forward[::-1], True, False):
        plan = _EliminationRehearsal(graph)
        if isinstance(candidate, bool):
            candidate = _greedy_order(graph, plan, candidate)
        else:
            for k in candidate:
                plan.eliminate_vertex(k)
        if lowest_cost < 0 or plan.cost < lowest_cost:
            best, lowest_cost = candidate, plan.cost
    return best


def accumulate_derivatives(
    results: Sequence[Combination],
    sources: Sequence[Expr] | Mapping[Expr, Expr],
    shared: Intermediates,
    mode: str = "cheapest",
    external: ExternalPartial = routine_partial,
) -> list[dict[int, Expr]]:
    """Derivatives of every result, by number of source; those that are zero are omitted.

    Sources with rates (a mapping) give derivatives along that one direction, under number 0.
    """
    graph = DerivativeGraph(results, sources, shared, external)
    return graph.eliminate_vertices(elimination_order(graph, mode))


def unit_combination(node: Expr) -> Combination:
    """A node as a result."""
    return {node: ONE}
