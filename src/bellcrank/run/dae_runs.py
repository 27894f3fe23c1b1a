"""Runs by methods for differential-algebraic equations, and how well a run keeps its constraints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bellcrank.backend.c import CModel, DaeCRun, Input
from bellcrank.backend.python import PythonModel
from bellcrank.errors import ModelError
from bellcrank.numeric.course import At, Course
from bellcrank.numeric.methods import ADAPTIVE, HALF_EXPLICIT, one_of
from bellcrank.program.program import Program
from bellcrank.run.dae_methods import MINIMAL, Dae, DaeEvaluation, DaeRun, Redundant, within_dae_step
from bellcrank.run.events import Watch
from bellcrank.run.inputs import breaks_of
from bellcrank.run.prepare import Trip
from bellcrank.run.result import Residuals
from bellcrank.run.stepping import Evaluation, Rows, Stepper
from bellcrank.run.values import Plan

if TYPE_CHECKING:
    from bellcrank.api.equations import Equations


def check_dae(dae: Dae, plan: Plan, equations: Equations) -> None:
    """Tells what a method cannot do for a model."""
    program = equations.program
    if dae.staged:
        _check_minimal(equations)
    if dae.usual:
        return
    problems = []
    if program.loops is None:
        problems.append(
            f"dae={dae.method!r} is for position constraints and loops, and for constraints='multipliers'; this model keeps its constraints by itself"
        )
    if plan.method in ADAPTIVE:
        problems.append(f"dae={dae.method!r} needs a fixed step: method {one_of()}, not {plan.method}")
    if dae.method == "half-explicit" and plan.method not in HALF_EXPLICIT:
        problems.append(f"dae='half-explicit' is available for {', '.join(HALF_EXPLICIT)}, not for {plan.method}")
    if program.remembers:
        problems.append(f"dae={dae.method!r} cannot be used with external routines that remember")
    if problems:
        raise ModelError(problems, equations.name)


def _check_minimal(equations: Equations) -> None:
    loops = equations.program.loops
    if loops is None:
        raise ModelError(f"dae={MINIMAL!r}: this model has minimal coordinates as it is", equations.name)
    if loops.correction is None:
        why = "a constraint of positions binds coordinates that do not follow one speed each"
        raise ModelError(f"dae={MINIMAL!r} is not available: {why}", equations.name)


def redundant_of(model: Any, program: Program) -> Redundant:
    """The redundant equations of a model as functions."""
    loops = program.loops
    assert loops is not None
    sizes = len(program.coordinates), len(program.speeds), len(loops.g), len(loops.v)
    return Redundant(model.system, model.coordinate_rates, model.closure, *sizes, loops.paired, loops.scales)


def multipliers_at(redundant: Redundant, at: At, names: Sequence[str]) -> dict[str, float]:
    """lambda by row at a state: what the accelerations leave of M u' - f."""
    n = redundant.numbers(at)
    rest = n.M @ redundant.solve(n, n.f, n.gamma) - n.f
    found = np.linalg.lstsq(n.J.T, rest, rcond=1e-10)[0]
    return dict(zip(names, found.tolist(), strict=True))


def check_masses_alone(dae: Dae, redundant: Redundant, evaluation: Evaluation, y: np.ndarray, name: str) -> None:
    """Without multipliers, every speed needs an inertia of its own."""
    if dae.base != "free fall":
        return
    M = redundant.numbers(evaluation.at(0.0, y)).M
    if np.linalg.matrix_rank(M) < len(M):
        raise ModelError("base='free fall' needs a mass for every speed, but the mass matrix is singular", name)


def prepare_dae(
    plan: Plan,
    evaluation: Evaluation,
    dae: Dae,
    python: PythonModel,
    compiled: CModel | None,
    y: np.ndarray,
    watch: Watch,
) -> Trip:
    """A run by a method that has not begun, from the state y; `compiled`: the program with such runs in C."""
    e = evaluation
    redundant = redundant_of(python, python.program)
    check_masses_alone(dae, redundant, e, y, python.program.name)
    inside = DaeEvaluation(
        e.model, e.n_q, e.n_s, e.p, e.c, e.inputs, e.set_live, e.kept, None, dae, redundant, plan.step
    )  # fmt: skip
    every = 1 if watch.conditions else plan.every
    breaks = breaks_of(e.inputs, plan.t_end, plan.steps)
    course = Course(plan.method, plan.step, plan.steps, every, plan.t_end, breaks)
    run: Stepper
    if compiled is None:
        run = DaeRun(inside, course, y)
    else:
        run = DaeCRun(compiled, course, y, e.p, compiled.constants(e.p), e.inputs)
        run.use(dae.method, (dae.alpha, dae.beta, dae.gamma), dae.base == "free fall")

    def within(i: int, row: np.ndarray) -> Rows:
        return within_dae_step(inside, course, i, row)

    return Trip(run, plan.steps, plan.every, plan.step, within)


def residuals_of(
    model: CModel | PythonModel, rows: np.ndarray, p: Sequence[float], c: Sequence[float], inputs: Sequence[Input]
) -> Callable[[], Residuals] | None:
    """Residuals of the constraints in recorded rows, to be computed when they are asked for."""
    program = model.program
    loops = program.loops
    if loops is None:
        return None
    n_q, n_s, n_g, n_v = (
        len(program.coordinates),
        len(program.coordinates) + len(program.speeds),
        len(loops.g),
        len(loops.v),
    )
    first, width = n_g * (1 + n_q), len(program.inputs)

    def compute() -> Residuals:
        g, v = np.empty((len(rows), n_g)), np.empty((len(rows), n_v))
        for i, row in enumerate(rows):
            w = row[len(row) - width :].tolist()
            flat = model.closure(float(row[0]), row[1 : 1 + n_q].tolist(), row[1 + n_q : 1 + n_s].tolist(), p, c, w)
            g[i], v[i] = flat[:n_g], flat[first : first + n_v]
        return Residuals(rows[:, 0].copy(), g, v, loops.positions, loops.names)

    return compute
