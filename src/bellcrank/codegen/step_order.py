"""The order of steps: along the critical path, or depth first where there are many."""

from __future__ import annotations

import heapq
from itertools import accumulate, chain

from bellcrank.codegen.cost import ADD, DIVIDE, FUNCTION, MULTIPLY
from bellcrank.codegen.schedule_steps import (
    SinCosGroup,
    Step,
    VectorizedCall,
    step_expressions,
    step_targets,
    symbols_in_order,
)
from bellcrank.program.statements import CallStatement, NullSpaceSolve, SolveStatement
from bellcrank.symbolic.expr import Expr, Func, Product, Sum, postorder

ISSUE_WIDTH = 2  # operations that start per cycle
LARGEST_LISTED = (
    1500  # operations; past, registers run out in critical-path order and depth first is better
)


def order_steps(steps: list[Step], results: tuple[Expr, ...], early: int) -> list[Step]:
    """The steps in a good order; the first `early` ones stay where they are."""
    graph = DependencyGraph(steps, results)
    return [
        steps[i]
        for i in (graph.depth_first(early) if graph.is_long else graph.critical_path(early))
    ]


class DependencyGraph:
    """Which step needs which."""

    def __init__(self, steps: list[Step], results: tuple[Expr, ...]) -> None:
        self._steps, self._ends = steps, results
        self._place = step_of_symbol = {t: i for i, s in enumerate(steps) for t in step_targets(s)}
        self.needs: list[list[int]] = []
        self.users: list[list[int]] = [[] for _ in steps]
        call = -1
        for i, s in enumerate(steps):
            predecessors = dict.fromkeys(
                step_of_symbol[x]
                for x in symbols_in_order(step_expressions(s))
                if x in step_of_symbol
            )
            if isinstance(s, CallStatement):  # user functions keep their order
                if call >= 0:
                    predecessors[call] = None
                call = i
            self.needs.append(list(predecessors))
            for n in predecessors:
                self.users[n].append(i)

    @property
    def is_long(self) -> bool:
        """Has it too many operations for an order along the critical path?"""
        sizes = accumulate(_step_cost(s)[1] for s in self._steps)
        return any(size > LARGEST_LISTED for size in sizes)

    def _operand_steps(self, e: Expr) -> list[int]:
        return [self._place[x] for x in symbols_in_order((e,)) if x in self._place]

    def critical_path(self, early: int) -> list[int]:
        """List scheduling: among the steps whose operands are there, the one with the longest way
        to go comes first."""
        costs = [_step_cost(s) for s in self._steps]
        height = [0] * len(costs)
        for e in self._ends:
            for i in self._operand_steps(e):
                height[i] = max(height[i], _critical_path(e)[0])
        for i in reversed(range(len(height))):
            for n in self.needs[i]:
                height[n] = max(height[n], height[i] + costs[i][0])
        order = list(range(early))
        pending_counts = [sum(n >= early for n in predecessors) for predecessors in self.needs]
        finish = [0] * len(pending_counts)
        # time, step: operands there from that time on
        start = [(0, i) for i in range(early, len(pending_counts)) if pending_counts[i] == 0]
        heapq.heapify(start)
        ready_queue: list[tuple[int, int]] = []
        clock = 0.0
        while start or ready_queue:
            while start and (start[0][0] <= clock or not ready_queue):
                time, i = heapq.heappop(start)
                clock = max(clock, time)
                heapq.heappush(ready_queue, (-height[i], i))
            _, i = heapq.heappop(ready_queue)
            order.append(i)
            finish[i] = int(clock) + costs[i][0]
            clock += max(costs[i][1], 1) / ISSUE_WIDTH
            for user in self.users[i]:
                if user >= early:
                    pending_counts[user] -= 1
                    if pending_counts[user] == 0:
                        heapq.heappush(start, (max(finish[n] for n in self.needs[user]), user))
        return order

    def depth_first(self, early: int) -> list[int]:
        """What a result needs directly before it."""
        order = list(range(early))
        visited = [i < early for i in range(len(self._steps))]
        result_steps = (i for e in self._ends for i in self._operand_steps(e))
        for root in chain(result_steps, range(len(visited))):
            if visited[root]:
                continue
            visited[root] = True
            stack = [(root, iter(self.needs[root]))]
            while stack:
                i, predecessors = stack[-1]
                for n in predecessors:
                    if not visited[n]:
                        visited[n] = True
                        stack.append((n, iter(self.needs[n])))
                        break
                else:
                    stack.pop()
                    order.append(i)
        return order


def _step_cost(s: Step) -> tuple[int, int]:
    """Cycles from the last operand of a step to its value, and operations."""
    spans = [_critical_path(e) for e in step_expressions(s)]
    slow = FUNCTION if isinstance(s, SinCosGroup | VectorizedCall | CallStatement) else 0
    latency = 20 * len(s.right) if isinstance(s, SolveStatement | NullSpaceSolve) else slow
    return max((x for x, _ in spans), default=0) + latency, sum(n for _, n in spans) + latency // 2


def _critical_path(root: Expr) -> tuple[int, int]:
    """Cycles from the last operand to the value, and operations."""
    depth: dict[Expr, int] = {}
    size = 0
    for node in postorder((root,)):
        operand_depth = max((depth[p] for p in node.parts), default=0)
        latency, count = _node_cost(node)
        depth[node] = operand_depth + latency
        size += count
    return depth[root], size


def _node_cost(node: Expr) -> tuple[int, int]:
    if isinstance(node, Sum):
        return ADD, len(node.terms) - 1
    if isinstance(node, Product):
        size = (
            sum(abs(x) if isinstance(x, int) else 1 for _, x in node.factors)
            - 1
            + (abs(node.coefficient) != 1)
        )
        below = any(x < 0 for _, x in node.factors)
        return (DIVIDE if below else MULTIPLY if size else 0), int(max(size, below))
    return (FUNCTION, 5) if isinstance(node, Func) else (0, 0)
