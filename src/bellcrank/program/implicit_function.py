"""Functions given by equations: a state that satisfies closing rows for given inputs, with two
derivatives.

Data only; `emit` prints a Newton iteration from it, started on a grid, and two linear solutions
with the last factorisation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from bellcrank.program.operation_count import OperationCount, count_operations
from bellcrank.symbolic.expr import Expr, Symbol

Grid = tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class StateUpdate:
    """How unknowns change numbers of the state: `add` one, or `turn` three unknowns of four Euler
    parameters."""

    kind: str
    unknown: int
    place: int


@dataclass(frozen=True)
class PrescribedState:
    """A number of the state that is an input: state = drawn + sign * input."""

    given: int
    unknown: int
    place: int
    sign: float
    drawn: float


@dataclass(frozen=True)
class ImplicitFunction:
    """Rows over `state` and `inputs`. `slopes`: by the `free` unknowns; `by_input`: right sides of
    J y' = ...;
    `bias`: right sides of J y'' = ... for each pair of inputs (11, or 11, 22, 12), over `state`,
    `inputs` and
    `rates`.

    Values in order: the state, y' of all unknowns for each input, y'' of all unknowns for each
    pair. `start` has a row for each of uniform nodes of the first input from `low` to `high`: the
    state, its first and second derivative by the first input, and its first three by the second.
    """

    inputs: tuple[Symbol, ...]
    state: tuple[Symbol, ...]
    unknowns: int
    free: tuple[int, ...]
    residual: tuple[Expr, ...]
    slopes: tuple[tuple[Expr, ...], ...]
    by_input: tuple[tuple[Expr, ...], ...]
    rates: tuple[tuple[Symbol, ...], ...]
    bias: tuple[tuple[Expr, ...], ...]
    updates: tuple[StateUpdate, ...]
    prescribed: tuple[PrescribedState, ...]
    low: float
    high: float
    start: Grid

    @property
    def input_pair_count(self) -> int:
        return 1 if len(self.inputs) == 1 else 3

    @property
    def value_count(self) -> int:
        """How many numbers it returns."""
        return len(self.state) + self.unknowns * (len(self.inputs) + self.input_pair_count)


def newton_operations(f: ImplicitFunction) -> OperationCount:
    """One Newton iteration with its factorisation, and the two linear solutions after it; not the
    starting values."""
    n, sides = len(f.residual), 1 + len(f.inputs) + f.input_pair_count
    rows = count_operations([*f.residual, *(x for row in f.slopes for x in row)])
    linear_terms = count_operations([x for group in (*f.by_input, *f.bias) for x in group])
    factor = sum(k + k * k for k in range(n))
    solve = sides * n * n
    products = factor + solve
    linear = OperationCount(
        add=sum(k * k for k in range(n)) + sides * n * (n - 1),
        multiply=products,
        divide=n,
        muldiv_classic=products + n,
    )
    rotation_count = sum(u.kind == "turn" for u in f.updates)
    update_count = OperationCount(
        rotation_count * 17 + len(f.updates) - rotation_count,
        rotation_count * 30,
        rotation_count,
        rotation_count * 4,
        rotation_count * 33,
        rotation_count * 2,
    )
    return rows + linear_terms + linear + update_count


class ImplicitFormulas:
    """A function given by equations, which are found when a program uses them."""

    def __init__(self, builder: Callable[[], ImplicitFunction]) -> None:
        self._make = builder

    @cached_property
    def function(self) -> ImplicitFunction:
        return self._make()

    def operations(self, value_indices: Sequence[int]) -> OperationCount:
        return newton_operations(self.function)
