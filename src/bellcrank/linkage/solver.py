"""The exact solution of a chain, for many poses at once: Newton's method, then two linear solutions
for derivatives.

The Jacobian is the full analytic one; rotations are changed by small rotations in base axes and
kept as Euler parameters of unit size, so that it is exact at every iterate. First derivatives T =
-J_D^-1 J_I, second ones J_D^-1 gamma for unit rates.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bellcrank.linkage.solution_plan import BodyFrames, SolutionPlan, StateInput, input_equation
from bellcrank.linkage.vector_jets import ScalarJet

Array = np.ndarray[Any, Any]

UPDATE = 1e-13  # largest last change of an unknown, m or rad
CLOSED = 1e-10  # largest residual of rows that were omitted as redundant
ITERATIONS = 25


@dataclass
class LinkageSolution:
    """States of n poses: `state` (size, n), `converged` (n,), `det` sign of the Jacobian's
    determinant."""

    state: Array
    converged: Array
    det: Array
    residual: Array


@dataclass
class PathPoint:
    """One pose on the way through the travel: residuals, their slopes by all unknowns, the travel
    and its slopes."""

    g: Array
    J: Array
    travel: float
    slope: Array


class LinkageSolver:
    """Newton's method on the closing rows `independent_rows` (an independent set) and the rows of
    inputs."""

    def __init__(
        self, plan: SolutionPlan, kept: Sequence[int] | None = None, number: type = float
    ) -> None:
        self.plan, self.number = (
            plan,
            number,
        )  # complex: derivatives by drawn places, as imaginary parts
        self.independent_rows = list(range(len(plan.names))) if kept is None else list(kept)
        self.free = plan.free_unknowns
        self.state_inputs = [(i, k) for i, k in enumerate(plan.inputs) if k is not None]
        self.row_inputs = [i for i, k in enumerate(plan.inputs) if k is None]

    # ---- rows

    def closure_rows(self, frames: BodyFrames) -> list[ScalarJet]:
        return [row for rows in self.plan.closure_equations for row in rows(frames)]

    def equation_rows(self, frames: BodyFrames) -> list[ScalarJet]:
        closing = self.closure_rows(frames)
        inputs = self.plan.chain.inputs
        return [
            *(closing[i] for i in self.independent_rows),
            *(input_equation(frames, inputs[i]) for i in self.row_inputs),
        ]

    def target_values(
        self, values: Sequence[Any], sine: Callable[[Any], Any] = np.sin
    ) -> list[Any]:
        """The values that the rows must have."""
        return [0] * len(self.independent_rows) + [
            sine(values[i]) if self.is_roll_input(i) else values[i] for i in self.row_inputs
        ]

    def is_roll_input(self, i: int) -> bool:
        """Is an input an angle, whose row is its sine?"""
        return self.plan.chain.inputs[i].kind == "roll"

    def input_row_index(self, i: int) -> int:
        """The place of an input's row in the system."""
        return len(self.independent_rows) + self.row_inputs.index(i)

    # ---- Newton

    def set_state_inputs(self, state: Array, values: Sequence[Array]) -> None:
        for i, k in self.state_inputs:
            state[k.place] = k.drawn + k.sign * values[i]

    def solve(self, start: Array, values: Sequence[Array]) -> LinkageSolution:
        """Newton from `start` (size, n) to the input values (n,) each."""
        state = np.array(start)
        n = state.shape[1]
        self.set_state_inputs(state, values)
        target = self.target_values(values)
        with np.errstate(all="ignore"):
            J, last = np.zeros((n, 0, 0)), np.full(n, np.inf)
            for _ in range(ITERATIONS):
                state, J, last = self.newton_step(state, target)
                if not (last > UPDATE).any() or not np.isfinite(last).any():
                    break
            row_values = stack_values(
                [r.value for r in self.closure_rows(BodyFrames(self.plan, state))], n
            )
            residual = np.abs(row_values).max(axis=1, initial=0.0)
            # near a fold the last change is round-off over the distance to it: the residual decides
            converged = np.isfinite(last) & (last < 1e-7) & (residual < CLOSED)
            det = np.sign(np.linalg.det(J)) if J.size else np.ones(n)
        return LinkageSolution(state, converged, det, residual)

    def newton_step(self, state: Array, target: Sequence[Any]) -> tuple[Array, Array, Array]:
        """One step of Newton's method: the new state, the Jacobian, the largest change of an
        unknown by pose."""
        n = state.shape[1]
        rows = self.equation_rows(BodyFrames(self.plan, state))
        J = jacobian_of_rows(rows, self.free, n, self.number)
        g = stack_values([r.value - t for r, t in zip(rows, target, strict=True)], n, self.number)
        correction = -solve_per_pose(J, g[:, :, None])[:, :, 0]
        last = np.abs(correction).max(axis=1, initial=0.0)
        full = np.zeros((self.plan.unknowns, n), self.number)
        full[self.free] = np.where(np.isfinite(last), correction.T, 0.0)
        return self.update_state(state, full), J, last

    def update_state(self, state: Array, increments: Array) -> Array:
        """A state changed by small amounts of the unknowns (unknowns, n)."""
        new = np.array(state)
        for u in self.plan.state_updates:
            k, s = u.unknown, u.place
            if u.kind == "add":
                new[s] += increments[k]
            else:
                new[s : s + 4] = rotate_euler_parameters(new[s : s + 4], increments[k : k + 3])
        return new

    # ---- derivatives

    def derivative_directions(self) -> list[tuple[float, ...]]:
        """Motions whose second derivatives give all of them: each input alone, then both
        together."""
        return [(1.0,)] if len(self.plan.inputs) == 1 else [(1.0, 0.0), (0.0, 1.0), (1.0, 1.0)]

    def first_derivatives(self, state: Array, values: Sequence[Array]) -> tuple[Array, Array]:
        """dy/dinput (inputs, unknowns, n) of all unknowns, and J_D (n, m, m)."""
        n = state.shape[1]
        rows = self.equation_rows(BodyFrames(self.plan, state))
        J = jacobian_of_rows(rows, self.free, n, self.number)
        T = np.zeros((len(self.plan.inputs), self.plan.unknowns, n), self.number)
        for i, k in enumerate(self.plan.inputs):
            rhs = np.zeros((n, len(rows)), self.number)
            if k is None:
                rhs[:, self.input_row_index(i)] = (
                    np.cos(values[i]) if self.is_roll_input(i) else 1.0
                )
            else:
                rhs = -k.sign * jacobian_of_rows(rows, [k.unknown], n, self.number)[:, :, 0]
                T[i, k.unknown] = k.sign
            T[i, self.free] = solve_per_pose(J, rhs[:, :, None])[:, :, 0].T
        return T, J

    def second_derivatives(
        self, state: Array, values: Sequence[Array], T: Array, J: Array
    ) -> tuple[Array, BodyFrames]:
        """d2y (directions, unknowns, n) along `derivative_directions`, with the frames that hold
        rates and biases along them."""
        n, directions = state.shape[1], self.derivative_directions()
        rates = [sum(c * T[i] for i, c in enumerate(d)) for d in directions]
        frames = BodyFrames(self.plan, state, rates)
        rows = self.equation_rows(frames)
        D2 = np.zeros((len(directions), self.plan.unknowns, n), self.number)
        for j, d in enumerate(directions):
            rhs = -stack_values([r.bias[j] for r in rows], n, self.number)
            for i in filter(self.is_roll_input, self.row_inputs):
                rhs[:, self.input_row_index(i)] += -np.sin(values[i]) * d[i] ** 2
            D2[j, self.free] = solve_per_pose(J, rhs[:, :, None])[:, :, 0].T
        return D2, frames

    # ---- the path of the first input, as a curve

    def path_point(self, state: Array, fixed: Mapping[int, float]) -> PathPoint:
        """Rows, slopes and inputs of one pose (size,) by all unknowns, the inputs `fixed` at values
        as further rows."""
        frames = BodyFrames(
            self.plan, [float(x) for x in state]
        )  # plain numbers are quicker than arrays of one
        closing = self.closure_rows(frames)
        rows = [closing[i] for i in self.independent_rows]
        g, J = (
            stack_values([r.value for r in rows], 1)[0],
            jacobian_of_rows(rows, range(self.plan.unknowns), 1)[0],
        )
        for i, value in fixed.items():
            J = np.vstack([J, self.input_partials(frames, i)])
            g = np.append(g, self._input_value(frames, state[:, None], i) - value)
        travel = float(self._input_value(frames, state[:, None], 0)[0])
        return PathPoint(g, J, travel, self.input_partials(frames, 0))

    def input_partials(self, frames: BodyFrames, i: int) -> Array:
        """Row of slopes of an input by all unknowns, at one pose."""
        k = self.plan.inputs[i]
        if isinstance(k, StateInput):
            row = np.zeros(self.plan.unknowns)
            row[k.unknown] = k.sign
            return row
        return jacobian_of_rows(
            [input_equation(frames, self.plan.chain.inputs[i])], range(self.plan.unknowns), 1
        )[0, 0]

    def _input_value(self, frames: BodyFrames, state: Array, i: int) -> Array:
        """An input's value at given states whose frames are known."""
        k = self.plan.inputs[i]
        if isinstance(k, StateInput):
            return (state[k.place] - k.drawn) * k.sign
        value = input_equation(frames, self.plan.chain.inputs[i]).value
        value = np.broadcast_to(np.asarray(value, float), state.shape[1:])
        return np.arcsin(value) if self.is_roll_input(i) else value


def rotate_euler_parameters(e: Array, rotation: Array) -> Array:
    """Euler parameters (4, n) after a rotation by the vector `rotation` (3, n) in base axes."""
    half_angle = 0.5 * np.sqrt((rotation * rotation).sum(axis=0))
    with np.errstate(invalid="ignore", divide="ignore"):
        s = np.where(
            half_angle < 1e-6,
            0.5 - half_angle**2 / 12,
            0.5 * np.sin(half_angle) / np.where(half_angle == 0, 1, half_angle),
        )
    c, v = np.cos(half_angle), s * rotation
    new = np.array(
        [
            c * e[0] - v[0] * e[1] - v[1] * e[2] - v[2] * e[3],
            c * e[1] + v[0] * e[0] + v[1] * e[3] - v[2] * e[2],
            c * e[2] + v[1] * e[0] + v[2] * e[1] - v[0] * e[3],
            c * e[3] + v[2] * e[0] + v[0] * e[2] - v[1] * e[1],
        ]
    )
    return new / np.sqrt((new * new).sum(axis=0))


def jacobian_of_rows(
    rows: Sequence[ScalarJet], unknowns: Sequence[int], n: int, number: type = float
) -> Array:
    """Slopes of rows: (n, rows, unknowns)."""
    J: Array = np.zeros((n, len(rows), len(unknowns)), number)
    for i, row in enumerate(rows):
        for c, k in enumerate(unknowns):
            J[:, i, c] = row.partials.get(k, 0.0)
    return J


def stack_values(values: Sequence[Any], n: int, number: type = float) -> Array:
    """Values (n, rows)."""
    g: Array = np.zeros((n, len(values)), number)
    for i, v in enumerate(values):
        g[:, i] = v
    return g


def solve_per_pose(J: Array, rhs: Array) -> Array:
    """J^-1 right for every pose; not-a-number where J is singular."""
    try:
        return np.linalg.solve(J, rhs)
    except np.linalg.LinAlgError:
        result = np.full(rhs.shape, np.nan)
        for i in range(len(J)):
            try:
                result[i] = np.linalg.solve(J[i], rhs[i])
            except np.linalg.LinAlgError:
                continue
        return result
