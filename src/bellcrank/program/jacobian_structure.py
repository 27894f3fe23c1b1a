"""Which states the rates depend on, and the states that linear systems of stiff methods are freed
of first.

In:  a `SimulationProgram`. Out: numbers of states. In s x - slopes x = r the coordinates, q' = N(q)
u, and states of one's own have to do with few others each: eliminated first they leave a full
system of as many unknowns as there are speeds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bellcrank.program.program import SimulationProgram
from bellcrank.program.statements import (
    AssignStatement,
    Statement,
    count_section,
    statement_expressions,
    statement_targets,
)
from bellcrank.symbolic.expr import Expr, Symbol, free_symbols


def rhs_dependencies(program: SimulationProgram) -> list[set[int]]:
    """For every rate the states that it may depend on."""
    section = program.derivatives
    return reachable_states(
        section.statements, section.results, (*program.coordinates, *program.speeds)
    )


def reachable_states(
    statements: Iterable[Statement], results: Sequence[Expr], sources: Sequence[Symbol]
) -> list[set[int]]:
    """For every result those of `sources`, by their places, that it may depend on."""
    masks = {s: 1 << j for j, s in enumerate(sources)}

    def dependency_mask(expressions: Sequence[Expr]) -> int:
        mask = 0
        for symbol in free_symbols(*expressions):
            mask |= masks.get(symbol, 0)
        return mask

    for s in statements:
        mask = dependency_mask(
            (s.value,) if isinstance(s, AssignStatement) else statement_expressions(s)
        )
        masks.update(dict.fromkeys(statement_targets(s), mask))
    return [
        {j for j in range(len(sources)) if row >> j & 1}
        for row in (dependency_mask((e,)) for e in results)
    ]


# an evaluation of rates by a method, in additions: what a division, a function, a call and a state
# in it cost, roughly
DIVISION, FUNCTION, CALL, STATE = 4, 10, 20, 8


@dataclass(frozen=True)
class EliminationOrder:
    """An order of all states. The first are eliminated one by one, each pivot being that of its own
    rate: `down` are the places in the order that have to do with it below it, `across` those next
    to it. The rest is one full block."""

    order: tuple[int, ...]
    down: tuple[tuple[int, ...], ...]
    across: tuple[tuple[int, ...], ...]


def elimination_order(rows: Sequence[set[int]], n_q: int) -> EliminationOrder:
    """The order of elimination of the first n_q states, the least work first, and what it fills."""
    row_sets = [set(row) for row in rows]
    columns = [{i for i, row in enumerate(rows) if j in row} for j in range(len(rows))]
    pending = set(range(n_q))
    steps: list[tuple[int, set[int], set[int]]] = []
    while pending:
        k = min(pending, key=lambda k: (len(row_sets[k] - {k}) * len(columns[k] - {k}), k))
        pending.remove(k)
        columns_right, rows_below = row_sets[k] - {k}, columns[k] - {k}
        steps.append((k, rows_below, columns_right))
        for i in rows_below:
            row_sets[i] |= columns_right
            row_sets[i].discard(k)
        for j in columns_right:
            columns[j] |= rows_below
            columns[j].discard(k)
    order = (*(k for k, _, _ in steps), *range(n_q, len(rows)))
    position_of_state = {state: position for position, state in enumerate(order)}

    def positions_in_order(states: set[int]) -> tuple[int, ...]:
        return tuple(sorted(position_of_state[x] for x in states))

    return EliminationOrder(
        order,
        tuple(positions_in_order(d) for _, d, _ in steps),
        tuple(positions_in_order(a) for _, _, a in steps),
    )


@dataclass(frozen=True)
class StiffMethodCosts:
    """What stiff methods do besides evaluating rates, in evaluations: slopes once, one real and one
    complex system factored, and both solved."""

    slopes: float
    factor: float
    solve: float


def stiff_method_costs(program: SimulationProgram) -> StiffMethodCosts:
    """Operations against those of an evaluation; a complex product and sum are four of real
    numbers."""
    n_q, n_u = len(program.coordinates), len(program.speeds)
    e = elimination_order(rhs_dependencies(program), n_q)
    pairs = list(zip(e.down, e.across, strict=True))
    factor = sum(len(d) * (1 + len(a)) for d, a in pairs) + n_u**3 / 3
    solve = sum(len(d) + len(a) for d, a in pairs) + n_u**2
    n, slopes = program.count, count_section(program.slopes.statements, program.slopes.results)
    rate_cost = (
        n.add
        + n.multiply
        + DIVISION * n.divide
        + FUNCTION * n.function
        + CALL
        + STATE * (n_q + n_u)
    )
    return StiffMethodCosts(
        *(round(x / rate_cost, 3) for x in (slopes.total, 10 * factor, 10 * solve))
    )
