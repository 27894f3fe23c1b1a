"""Functions given by equations: numbers of a state that satisfy closing rows for given inputs, with their first and second derivatives.

Data only; `emit` prints a Newton iteration from it, started on a grid, and two linear solutions with the last factorisation.
"""

from __future__ import annotations

from dataclasses import dataclass

from bellcrank.expr import Expr, Symbol

Grid = tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Update:
    """How unknowns change numbers of the state: `add` one, or `turn` three unknowns of four Euler parameters."""

    kind: str
    unknown: int
    place: int


@dataclass(frozen=True)
class Prescribed:
    """A number of the state that is an input: state = drawn + sign * input."""

    given: int
    unknown: int
    place: int
    sign: float
    drawn: float


@dataclass(frozen=True)
class Implicit:
    """Rows over `state` and `inputs`. `slopes`: by the `free` unknowns; `by_input`: right sides of J y' = ...; `bias`: right sides of
    J y'' = ... for each pair of inputs (11, or 11, 22, 12), over `state`, `inputs` and `rates`.

    Values in order: the state, y' of all unknowns for each input, y'' of all unknowns for each pair. `start` are states, their slopes by
    the first input, and by the second, at uniform nodes of the first input from `low` to `high`.
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
    updates: tuple[Update, ...]
    prescribed: tuple[Prescribed, ...]
    low: float
    high: float
    start: Grid
    start_slope: Grid
    start_second: Grid = ()

    @property
    def pairs(self) -> int:
        return 1 if len(self.inputs) == 1 else 3

    @property
    def values(self) -> int:
        """How many numbers it returns."""
        return len(self.state) + self.unknowns * (len(self.inputs) + self.pairs)
