"""The simulation program as data: sections of straight-line statements, ready to be printed in any language.

In:  named results as expressions over held intermediate results. Out: `Program`. Constants are computed once from the
parameters, everything used twice is named once, nothing unused is there. The interpreter runs a program as it stands and is
what all printers are compared against.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bellcrank.expr import Expr, Symbol
from bellcrank.numeric.projection import Scales
from bellcrank.program.count import Count
from bellcrank.program.statements import NOTHING, Assign, Call, Section, count_section, dense_solve_count


@dataclass(frozen=True)
class Program:
    """A complete model in straight-line form.

    Leaves of all expressions: `parameters`, `constants` (results of the constants section, c1, c2, ...), `coordinates`,
    `speeds`, `inputs` (given at run time; rates of inputs have names like dxdt(z)), time `t`, `pi`, and intermediates
    z1, z2, .... Inputs of kind "kept" are values of external routines: results of `start`, called once before a run, then
    those of `update`, called after it and at the end of each step. The last of `parameters` are results of `entry`, called when
    the others are known; it uses nothing but parameters. `derivatives` yields the rates of all coordinates, then of all (independent) speeds. `outputs` may use
    every intermediate of `derivatives`; its results are the extra channels in order.
    """

    name: str
    parameters: tuple[Symbol, ...]
    coordinates: tuple[Symbol, ...]
    speeds: tuple[Symbol, ...]
    inputs: tuple[Symbol, ...]
    routines: tuple[Any, ...]  # externals and tables, in order of first use
    constants: Section
    derivatives: Section
    outputs: Section
    output_names: tuple[str, ...]
    count: Count
    stages: tuple[tuple[str, int], ...] = ()  # operations after each pass, for the report
    loops: Loops | None = None
    # of closed loops; each section stands for itself
    closure: Section = NOTHING  # g, G, v, J
    correct_q: Section = NOTHING  # the correction of regular positions, called once per step: dq ...
    correct_u: Section = NOTHING  # ... then, where q has been corrected, du, and the pivots that were divided by
    singular_rates: Section = NOTHING  # rates near singular positions, and the ratio of pivots

    system: Section = NOTHING  # of methods for differential-algebraic equations: q', M, f, J, gamma, g, v
    coordinate_rates: Section = NOTHING  # q' alone

    start: Section = NOTHING  # values of external routines that hold over a run; stands for itself
    update: Section = NOTHING  # values of external routines that hold over a step; stands for itself
    entry: Section = NOTHING  # parameters that external routines give
    echo: Section = NOTHING  # values that external routines give to the echo of a run; stands for itself
    echo_names: tuple[str, ...] = ()

    @property
    def given_parameters(self) -> tuple[Symbol, ...]:
        """The parameters that are given from outside; those of external routines follow them in `parameters`."""
        return self.parameters[: len(self.parameters) - len(self.entry.results)]

    @property
    def sections(self) -> tuple[Section, ...]:
        """What a program for runs consists of; redundant systems for methods with multipliers are apart."""
        every = (
            self.constants,
            self.derivatives,
            self.outputs,
            self.closure,
            self.correct_q,
            self.correct_u,
            self.singular_rates,
        )
        return (*every, self.start, self.update, self.entry, self.echo)

    @property
    def given_inputs(self) -> tuple[Symbol, ...]:
        """The inputs that are given from outside; those kept from external routines follow them in `inputs`."""
        return tuple(s for s in self.inputs if s.kind != "kept")

    def in_rates(self, routine: Any) -> bool:
        """Is an external routine called for the rates of the states?"""
        sections = (self.derivatives, self.closure, self.singular_rates)
        return any(isinstance(s, Call) and s.routine is routine for x in sections for s in x.statements)

    @property
    def per_step(self) -> Count:
        """Operations done once per step in regular positions: external routines, one correction of q, and one of u."""
        total = count_section(self.update.statements, self.update.results)
        if self.loops is None:
            return total
        if self.loops.correction is not None:
            return total + _correction_count(self.correct_q, self.correct_u, len(self.loops.correction.pivots))
        total = total + count_section(self.closure.statements, self.closure.results)
        for rows, columns in ((len(self.loops.g), len(self.coordinates)), (len(self.loops.v), len(self.speeds))):
            products = rows * (rows + 1) // 2 * columns + rows * columns
            total = total + Count(products, products, 0, 0, products, 0) + dense_solve_count(rows)
        return total

    @property
    def constant_symbols(self) -> tuple[Symbol, ...]:
        return tuple(s.target for s in self.constants.statements if isinstance(s, Assign))


@dataclass(frozen=True)
class Correction:
    """The correction of regular positions: only what depends on the rest is moved, by pivots in fixed order.

    `q` and `u` are the places of the coordinates and speeds that are moved; `dq` and `du` what is taken from them; a pivot times its
    scale is usually 1.
    """

    q: tuple[int, ...]
    u: tuple[int, ...]
    dq: tuple[Expr, ...]
    du: tuple[Expr, ...]
    pivots: tuple[Expr, ...]
    pivot_scales: tuple[float, ...]


@dataclass(frozen=True)
class Loops:
    """Constraints by name: positions g with their slopes G = dg/dq, speeds v (all rows) with J = dv/du."""

    names: tuple[str, ...]  # of the rows of v
    positions: tuple[str, ...]  # of the rows of g: loops, and the unit size of Euler parameters
    g: tuple[Expr, ...]
    G: tuple[tuple[Expr, ...], ...]
    v: tuple[Expr, ...]
    J: tuple[tuple[Expr, ...], ...]
    scales: Scales
    M: tuple[tuple[Expr, ...], ...]  # mass matrix of the tree, rows of its lower triangle
    f: tuple[Expr, ...]
    gamma: tuple[Expr, ...]  # J u' = gamma
    correction: Correction | None = None

    def flat(self) -> list[Expr]:
        """g, G, v, J in one list, rows after each other."""
        return [*self.g, *(x for row in self.G for x in row), *self.v, *self.flat_rows()]

    @property
    def paired(self) -> int:
        """How many rows of g, from the first on, have their rates in the same rows of v; Euler parameters' have none."""
        return sum(a == b for a, b in zip(self.names, self.positions, strict=False))

    def flat_system(self) -> list[Expr]:
        """M, f, J, gamma in one list."""
        return [*(x for row in self.M for x in row), *self.f, *self.flat_rows(), *self.gamma]

    def flat_rows(self) -> list[Expr]:
        """J in one list."""
        return [x for row in self.J for x in row]


def _correction_count(correct_q: Section, correct_u: Section, pivots: int) -> Count:
    """Operations of a correction: the sections, a subtraction for each value, and a look at each pivot."""
    moved = len(correct_q.results) + len(correct_u.results) - pivots
    total = Count(add=moved, multiply=pivots, muldiv_classic=pivots, function=2 * pivots)
    for section in (correct_q, correct_u):
        total = total + count_section(section.statements, section.results)
    return total
