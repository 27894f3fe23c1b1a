"""The order of steps: along the critical path, or depth first where there are many."""

from __future__ import annotations

import heapq

from bellcrank.emit.cost import ADD, DIVIDE, FUNCTION, MULTIPLY
from bellcrank.emit.steps import Alike, Angles, Step, step_expressions, step_targets, symbols_in
from bellcrank.expr import Expr, Func, Product, Sum, postorder
from bellcrank.program.statements import Call, Reduce, Solve

SLOTS = 2  # operations that start per cycle
LARGEST_LISTED = 1500  # operations; beyond, registers run out in critical-path order and depth first is better


def ordered(steps: list[Step], results: tuple[Expr, ...], early: int) -> list[Step]:
    """The steps in a good order; the first `early` ones stay where they are."""
    graph = Graph(steps, results)
    short = sum(graph.size) <= LARGEST_LISTED
    return [steps[i] for i in (graph.critical_path(early) if short else graph.depth_first(early))]


class Graph:
    """Which step needs which."""

    def __init__(self, steps: list[Step], results: tuple[Expr, ...]) -> None:
        place = {t: i for i, s in enumerate(steps) for t in step_targets(s)}
        self.needs: list[list[int]] = []
        self.users: list[list[int]] = [[] for _ in steps]
        self.span: list[int] = []  # cycles
        self.size: list[int] = []  # operations
        call = -1
        for i, s in enumerate(steps):
            expressions = step_expressions(s)
            needs = dict.fromkeys(place[x] for x in symbols_in(expressions) if x in place)
            if isinstance(s, Call):  # external routines keep their order
                if call >= 0:
                    needs[call] = None
                call = i
            self.needs.append(list(needs))
            for n in needs:
                self.users[n].append(i)
            spans = [_span(e) for e in expressions]
            slow = FUNCTION if isinstance(s, Angles | Alike | Call) else 0
            own = 20 * len(s.right) if isinstance(s, Solve | Reduce) else slow
            self.span.append(max((x for x, _ in spans), default=0) + own)
            self.size.append(sum(n for _, n in spans) + own // 2)
        self.wanted = [place[x] for e in results for x in symbols_in((e,)) if x in place]
        self._results = [(_span(e)[0], [place[x] for x in symbols_in((e,)) if x in place]) for e in results]

    def critical_path(self, early: int) -> list[int]:
        """List scheduling: among the steps whose operands are there, the one with the longest way to go comes first."""
        height = [0] * len(self.span)
        for span, used in self._results:
            for i in used:
                height[i] = max(height[i], span)
        for i in reversed(range(len(height))):
            for n in self.needs[i]:
                height[n] = max(height[n], height[i] + self.span[i])
        order = list(range(early))
        left = [sum(n >= early for n in needs) for needs in self.needs]
        finish = [0] * len(left)
        # time, step: operands there from that time on
        start = [(0, i) for i in range(early, len(left)) if left[i] == 0]
        heapq.heapify(start)
        ready: list[tuple[int, int]] = []
        clock = 0.0
        while start or ready:
            while start and (start[0][0] <= clock or not ready):
                time, i = heapq.heappop(start)
                clock = max(clock, time)
                heapq.heappush(ready, (-height[i], i))
            _, i = heapq.heappop(ready)
            order.append(i)
            finish[i] = int(clock) + self.span[i]
            clock += max(self.size[i], 1) / SLOTS
            for user in self.users[i]:
                if user >= early:
                    left[user] -= 1
                    if left[user] == 0:
                        heapq.heappush(start, (max(finish[n] for n in self.needs[user]), user))
        return order

    def depth_first(self, early: int) -> list[int]:
        """What a result needs directly before it."""
        order = list(range(early))
        seen = [i < early for i in range(len(self.span))]
        for root in [*self.wanted, *range(len(self.span))]:
            if seen[root]:
                continue
            seen[root] = True
            stack = [(root, iter(self.needs[root]))]
            while stack:
                i, needs = stack[-1]
                for n in needs:
                    if not seen[n]:
                        seen[n] = True
                        stack.append((n, iter(self.needs[n])))
                        break
                else:
                    stack.pop()
                    order.append(i)
        return order


def _span(root: Expr) -> tuple[int, int]:
    """Cycles from the last operand to the value, and operations."""
    depth: dict[Expr, int] = {}
    size = 0
    for node in postorder((root,)):
        parts = max((depth[p] for p in node.parts), default=0)
        own, count = _own(node)
        depth[node] = parts + own
        size += count
    return depth[root], size


def _own(node: Expr) -> tuple[int, int]:
    if isinstance(node, Sum):
        return ADD, len(node.terms) - 1
    if isinstance(node, Product):
        size = sum(abs(x) if isinstance(x, int) else 1 for _, x in node.factors) - 1 + (abs(node.coefficient) != 1)
        below = any(x < 0 for _, x in node.factors)
        return (DIVIDE if below else MULTIPLY if size else 0), int(max(size, below))
    return (FUNCTION, 5) if isinstance(node, Func) else (0, 0)
