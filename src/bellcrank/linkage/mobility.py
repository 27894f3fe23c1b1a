"""Mobility of a chain (degrees of freedom, redundant constraints), and whether it can be
assembled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bellcrank.core.errors import ModelError
from bellcrank.linkage.chain import JOINT_DOF
from bellcrank.linkage.solution_plan import BodyFrames, SolutionPlan
from bellcrank.linkage.solver import LinkageSolver, jacobian_of_rows, stack_values

Array = np.ndarray[Any, Any]

SMALL = 1e-8  # singular value that counts as zero, of the largest


@dataclass(frozen=True)
class Mobility:
    """Degrees of freedom of a chain. `gruebler_count` is 6 per body less the constraints (Grübler);
    `degrees_of_freedom` what their rank leaves; `redundant` names constraints that repeat others;
    `independent_rows` are the rows of an independent set."""

    gruebler_count: int
    degrees_of_freedom: int
    inputs: int
    redundant: tuple[str, ...]
    independent_rows: tuple[int, ...]

    def __str__(self) -> str:
        degrees = "degree" if self.degrees_of_freedom == 1 else "degrees"
        text = (
            f"{self.degrees_of_freedom} {degrees} of freedom (counted {self.gruebler_count}), "
            f"{self.inputs} prescribed"
        )
        return text + (f"; redundant: {', '.join(self.redundant)}" if self.redundant else "")


def count_degrees_of_freedom(plan: SolutionPlan) -> Mobility:
    """Counts the degrees of freedom of a chain near its drawn position; raises a ModelError when
    they do not suit its inputs."""
    chain = plan.chain
    formal_dof = (
        6 * len(chain.bodies) - sum(6 - JOINT_DOF[j.kind] for j in chain.joints) - len(chain.rods)
    )
    solver, frames = LinkageSolver(plan), BodyFrames(plan, np.array(plan.drawn)[:, None])
    J = jacobian_of_rows(solver.closure_rows(frames), range(plan.unknowns), 1)[0]
    input_jacobian = np.array([solver.input_partials(frames, i) for i in range(len(plan.inputs))])
    independent_rows = _independent_linkage_rows(J)
    real = plan.unknowns - len(independent_rows)
    redundant = tuple(
        dict.fromkeys(name for i, name in enumerate(plan.names) if i not in independent_rows)
    )
    mobility = Mobility(formal_dof, real, len(chain.inputs), redundant, tuple(independent_rows))
    if real == 0 or real < mobility.inputs:
        constraint_names = ", ".join(dict.fromkeys(plan.names))
        excess = "There are more inputs than degrees of freedom."
        raise ModelError(
            f"over-constrained: {mobility}. "
            f"{'Nothing can move.' if real == 0 else excess} "
            f"Constraints: {constraint_names}.",
            chain.name,
        )
    free = _null_space(J)
    input_motion = input_jacobian @ free
    sizes = np.linalg.svd(input_motion, compute_uv=False)
    driven = int((sizes > SMALL * max(1.0, sizes[0])).sum())
    if driven < mobility.inputs:
        kinds = " and ".join(i.kind for i in chain.inputs)
        raise ModelError(
            f"{mobility}, but one of them does not move the carrier as the input ({kinds}) "
            f"asks: it moves only "
            f"{_moving_bodies(frames, free)}. The wheel centre may be a point about which "
            f"the carrier turns.",
            chain.name,
        )
    if real > mobility.inputs:
        idle = free @ np.linalg.svd(input_motion)[2][driven:].T
        raise ModelError(
            f"under-constrained: {mobility}. With the inputs held, these can still move: "
            f"{_moving_bodies(frames, idle)}.",
            chain.name,
        )
    return mobility


def _independent_linkage_rows(J: Array) -> list[int]:
    """Rows of an independent set: each row is kept if it adds to those before it."""
    indices: list[int] = []
    basis = np.zeros((0, J.shape[1]))
    for i, row in enumerate(J):
        remainder = row - basis.T @ (basis @ row)
        remainder = remainder - basis.T @ (basis @ remainder)
        size = np.linalg.norm(remainder)
        if size > SMALL * max(1e-3, float(np.linalg.norm(row))):
            indices.append(i)
            basis = np.vstack([basis, remainder / size])
    return indices


def _null_space(J: Array) -> Array:
    if not len(J):
        return np.eye(J.shape[1])
    _, sizes, V = np.linalg.svd(J)
    return V[int((sizes > SMALL * sizes[0]).sum()) :].T


def _moving_bodies(frames: BodyFrames, motions: Array) -> str:
    """Names of the bodies that move in the given motions of the unknowns."""
    moving = []
    for body in frames.plan.chain.bodies:
        frame = frames.frames[body]
        columns = np.zeros((6, frames.plan.unknowns))
        for slopes, row in ((frame.turn, 0), (frame.origin.partials, 3)):
            for k, v in slopes.items():
                columns[row : row + 3, k] = [float(np.ravel(x)[0]) for x in v]
        if np.abs(columns @ motions).max(initial=0.0) > 1e-9:
            moving.append(f"'{body}'")
    return ", ".join(moving) or "nothing"


def assemble_chain(solver: LinkageSolver) -> Array:
    """The state at which all inputs are zero; raises a ModelError with the nearest residual when
    there is none.

    With rods of their drawn lengths this is the drawn state; other lengths (a shimmed tie rod) move
    it.
    """
    plan = solver.plan
    start = np.array(plan.drawn)[:, None]
    zero = [np.zeros(1)] * len(plan.inputs)
    solution = solver.solve(start, zero)
    if solution.converged[0] and np.abs(solution.state - start).max() < 0.5:
        return solution.state[:, 0]
    state, residuals = _closest_state(solver, start, zero)
    if np.abs(residuals).max() < 1e-12:
        return state
    inputs = plan.chain.inputs
    names = [
        *(plan.names[i] for i in solver.independent_rows),
        *(f"input '{inputs[i].kind}'" for i in solver.row_inputs),
    ]
    size = np.abs(residuals)
    worst = [i for i in np.argsort(size)[::-1] if size[i] > 0.05 * size.max()][:6]
    row_text = ", ".join(f"{names[i]} by {size[i]:.4g} m" for i in worst)
    raise ModelError(
        f"the hard points and lengths cannot be assembled; at the nearest position these "
        f"stay open: {row_text}. "
        "Check the lengths given and the hard points they belong to.",
        plan.chain.name,
    )


def _closest_state(
    solver: LinkageSolver, start: Array, zero: Sequence[Array]
) -> tuple[Array, Array]:
    """Least squares of the rows by damped Gauss-Newton steps (Levenberg-Marquardt)."""
    state, damping = np.array(start), 1e-3
    solver.set_state_inputs(state, zero)

    def rows(x: Array) -> tuple[Array, Array]:
        equations = solver.equation_rows(BodyFrames(solver.plan, x))
        return stack_values([r.value for r in equations], 1)[0], jacobian_of_rows(
            equations, solver.free, 1
        )[0]

    g, J = rows(state)
    for _ in range(300):
        H = J.T @ J
        step = np.zeros(solver.plan.unknowns)
        step[solver.free] = -np.linalg.solve(H + damping * np.eye(len(H)), J.T @ g)
        new = solver.update_state(state, step[:, None])
        g_new, J_new = rows(new)
        if g_new @ g_new < g @ g:
            state, g, J, damping = new, g_new, J_new, max(damping / 5, 1e-15)
            if np.abs(step).max() < 1e-14:
                break
        elif (damping := 4 * damping) > 1e8:
            break
    return state[:, 0], g
