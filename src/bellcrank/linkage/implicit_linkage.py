"""A linkage as a function given by equations (`program.implicit_function`), and the same
function in Python."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bellcrank.linkage.link_motion import link_motion
from bellcrank.linkage.linkage import Linkage
from bellcrank.linkage.pose import mixed_term
from bellcrank.linkage.solution_plan import BodyFrames
from bellcrank.program.implicit_function import ImplicitFunction, PrescribedState
from bellcrank.symbolic.expr import Expr, Symbol, cos, expression, sin

Array = np.ndarray[Any, Any]

NODES = 129
EDGE = 0.004  # of the range, omitted at either end, where the derivatives grow without bound
SECOND_INPUT_STEP = 1e-3  # m or rad of the second input, over which a third derivative is found
MOST_KNOWN = 1024  # arguments whose values are kept
DIGITS = (15, 13, 10, 9, 7, 5)  # of a state and its derivatives that a start has use for


def solvable_travel(linkage: Linkage) -> tuple[float, float]:
    """The travel for which the exact joint is made: the reachable one without its very ends."""
    low, high = linkage.range()
    edge = EDGE * (high - low)
    return low + edge, high - edge


def value_count(linkage: Linkage, second: bool) -> int:
    """How many numbers the function has: the state, then y' and y'' of all unknowns."""
    return linkage.plan.size + linkage.plan.unknowns * (5 if second else 2)


def implicit_equations(linkage: Linkage, second: bool) -> ImplicitFunction:
    """The equations of a linkage; without `second` its second input rests at zero."""
    solver, plan = linkage.solver, linkage.plan
    n = 2 if second else 1
    inputs = [Symbol("z", "variable"), Symbol("r", "variable")][:n]
    values: list[Any] = [*inputs, *[0.0] * (len(plan.inputs) - n)]
    state = tuple(Symbol(f"s{i}", "variable") for i in range(plan.size))
    rows = solver.equation_rows(BodyFrames(plan, state))
    target = [expression(t) for t in solver.target_values(values, sin)]
    rates = tuple(
        tuple(Symbol(f"y{j}_{k}", "variable") for k in range(plan.unknowns)) for j in range(n)
    )
    directions = [*rates] if n == 1 else [*rates, tuple(a + b for a, b in zip(*rates, strict=True))]
    moving = solver.equation_rows(BodyFrames(plan, state, directions))
    bias = [[-expression(r.bias[j]) for r in moving] for j in range(len(directions))]
    for i in range(n):
        if i in solver.row_inputs and solver.is_roll_input(i):
            row = solver.input_row_index(i)
            bias[i][row] = bias[i][row] - sin(values[i])
            if n == 2:
                bias[2][row] = bias[2][row] - sin(values[i])
    if n == 2:
        bias[2] = [(c - a - b) / 2 for a, b, c in zip(*bias, strict=True)]
    low, high = solvable_travel(linkage)
    return ImplicitFunction(
        tuple(inputs),
        state,
        plan.unknowns,
        tuple(solver.free),
        tuple(expression(r.value) - t for r, t in zip(rows, target, strict=True)),
        tuple(tuple(expression(r.partials.get(k, 0)) for k in solver.free) for r in rows),
        tuple(_input_right_side(linkage, i, values, rows) for i in range(n)),
        rates,
        tuple(tuple(b) for b in bias),
        plan.state_updates,
        tuple(
            PrescribedState(i, k.unknown, k.place, k.sign, k.drawn)
            for i, k in solver.state_inputs
            if i < n
        ),
        low,
        high,
        _start_table(linkage, np.linspace(low, high, NODES), second),
    )


def _input_right_side(linkage: Linkage, i: int, values: list[Any], rows: Any) -> tuple[Expr, ...]:
    """Right side of J y' = ... for input i."""
    solver, k = linkage.solver, linkage.plan.inputs[i]
    if k is not None:
        return tuple(expression(-k.sign) * expression(r.partials.get(k.unknown, 0)) for r in rows)
    rhs = [expression(0)] * len(rows)
    rhs[solver.input_row_index(i)] = cos(values[i]) if solver.is_roll_input(i) else expression(1)
    return tuple(rhs)


def _start_table(linkage: Linkage, z: Array, second: bool) -> tuple[tuple[float, ...], ...]:
    """States at nodes of travel with two derivatives by it, and three by the second input, as exact
    as they serve."""
    solver, plan = linkage.solver, linkage.plan

    def solve_at(state: Array, r: float) -> tuple[Array, Array, Array]:
        values = [z] + [np.full_like(z, r)] * (len(linkage.inputs) - 1)
        state = solver.solve(state, values).state
        T, J = solver.first_derivatives(state, values)
        return state, T, solver.second_derivatives(state, values, T, J)[0]

    state, T, D2 = solve_at(linkage.way().start(z), 0.0)
    blocks = [state, plan.state_rate(state, T[0]), plan.state_second_derivative(state, T[0], D2[0])]
    if second:
        blocks += [plan.state_rate(state, T[1]), plan.state_second_derivative(state, T[1], D2[1])]
        offset_solutions = [
            solve_at(solver.update_state(state, r * T[1]), r)
            for r in (-SECOND_INPUT_STEP, SECOND_INPUT_STEP)
        ]
        bends = [plan.state_second_derivative(x, t[1], d[1]) for x, t, d in offset_solutions]
        blocks.append(
            np.nan_to_num((bends[1] - bends[0]) / (2 * SECOND_INPUT_STEP), posinf=0.0, neginf=0.0)
        )
    rows = np.vstack(blocks).T
    digits = [n for n, _ in zip(DIGITS, blocks) for _ in range(plan.size)]
    return tuple(
        tuple(float(f"{x:.{n}g}") for x, n in zip(row, digits, strict=True)) for row in rows
    )


@dataclass(eq=False)
class LinkageFunction:
    """The same function for scalars: state, y', y'' in one tuple; outside of the reach
    not-a-number."""

    linkage: Linkage
    second: bool

    def __post_init__(self) -> None:
        self._known: dict[
            tuple[float, ...], tuple[float, ...]
        ] = {}  # rates, outputs and all parts ask for the same

    def __getstate__(self) -> tuple[Linkage, bool]:
        return self.linkage, self.second

    def __setstate__(self, state: tuple[Linkage, bool]) -> None:
        self.__init__(*state)  # type: ignore[misc]

    def __call__(self, *arguments: float) -> tuple[float, ...]:
        if arguments not in self._known:
            self.solve_ahead([arguments])
        return self._known[arguments]

    def solve_ahead(self, several: Sequence[tuple[float, ...]]) -> None:
        """Solves for several arguments at once, which may be asked for one by one afterwards."""
        new = [x for x in dict.fromkeys(several) if x not in self._known]
        if len(self._known) > MOST_KNOWN:
            self._known.clear()
            new = list(dict.fromkeys(several))
        if new:
            self._known.update(
                zip(new, _solve_values(self.linkage, self.second, np.array(new).T), strict=True)
            )


def _solve_values(linkage: Linkage, second: bool, arguments: Array) -> list[tuple[float, ...]]:
    """State, y', y'' for columns of arguments, one tuple each; not-a-number where there is no
    solution."""
    solver, (low, high) = linkage.solver, solvable_travel(linkage)
    result = [(math.nan,) * value_count(linkage, second)] * arguments.shape[1]
    inside = np.flatnonzero((low <= arguments[0]) & (arguments[0] <= high))
    if not len(inside):
        return result
    zero_inputs = [np.zeros(len(inside))] * (len(linkage.inputs) - len(arguments))
    z = [*arguments[:, inside], *zero_inputs]
    start = linkage.way().start(z[0])
    if second:
        inputs_at_zero = [z[0], np.zeros(len(inside))]
        start = solver.solve(start, inputs_at_zero).state
        start = solver.update_state(
            start, solver.first_derivatives(start, inputs_at_zero)[0][1] * z[1]
        )
    solution = solver.solve(start, z)
    T, J = solver.first_derivatives(solution.state, z)
    D2, _ = solver.second_derivatives(solution.state, z, T, J)
    pairs = [D2[0]] if not second else [D2[0], D2[1], 0.5 * (D2[2] - D2[0] - D2[1])]
    columns = np.concatenate([solution.state, *T[: len(arguments)], *pairs])
    for i, index in enumerate(inside):
        if solution.converged[i] and solution.det[i] == linkage.branch:
            result[index] = tuple(columns[:, i].tolist())
    return result


def pose_formulas(linkage: Linkage, part: str, second: bool) -> tuple[list[Symbol], list[Expr]]:
    """Symbols of the values of `implicit_equations`, and p, R, d, delta, dd, ddelta of a part over
    them (24 numbers; with a second input 42: d and delta for both, dd and ddelta for 11, 22 and
    12)."""
    plan = linkage.plan
    n = 2 if second else 1
    v = [Symbol(f"v{i}", "variable") for i in range(value_count(linkage, second))]
    groups = [v[i : i + plan.unknowns] for i in range(plan.size, len(v), plan.unknowns)]
    rates: list[Any] = list(groups[:n])
    seconds: list[Any] = list(groups[n : 2 * n])
    if second:
        rates.append([a + b for a, b in zip(*groups[:2], strict=True)])
        seconds.append([a + b + 2 * c for a, b, c in zip(*groups[2:], strict=True)])
    frames = BodyFrames(plan, v[: plan.size], rates)
    m = link_motion(frames, part, linkage.origins[part], seconds)
    vectors: list[Any] = [m.position, *m.R, *m.d[:n], *m.delta[:n]]
    for quadratic in (m.dd, m.ddelta):
        vectors += [*quadratic[:n], *([mixed_term(*quadratic)] if second else [])]
    return v, [expression(x) for vector in vectors for x in vector]
