"""Runs by methods for differential-algebraic equations, and how well a run keeps its constraints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from bellcrank.backend.model import Calls
from bellcrank.backend.start import Start
from bellcrank.errors import ModelError
from bellcrank.numeric.course import At
from bellcrank.numeric.methods import ADAPTIVE, HALF_EXPLICIT, one_of
from bellcrank.run.dae_methods import MINIMAL, Dae, DaeEvaluation, DaeRun, Redundant
from bellcrank.run.events import Watch
from bellcrank.run.loaded import Loaded
from bellcrank.run.prepared import Prepared
from bellcrank.run.result import Residuals
from bellcrank.run.stepping import Evaluation
from bellcrank.run.values import Plan


def check_dae(dae: Dae, plan: Plan, loaded: Loaded) -> None:
    """Tells what a method cannot do for a model."""
    program = loaded.program
    if dae.staged:
        _check_minimal(loaded)
    if dae.usual:
        return
    problems = []
    if program.loops is None:
        problems.append(
            f"dae={dae.method!r} is for position constraints and loops, and for constraints='multipliers'; this model "
            "keeps its constraints by itself"
        )
    if plan.method in ADAPTIVE:
        problems.append(f"dae={dae.method!r} needs a fixed step: method {one_of()}, not {plan.method}")
    if dae.method == "half-explicit" and plan.method not in HALF_EXPLICIT:
        problems.append(f"dae='half-explicit' is available for {', '.join(HALF_EXPLICIT)}, not for {plan.method}")
    if loaded.remembers:
        problems.append(f"dae={dae.method!r} cannot be used with external routines that remember")
    if problems:
        raise ModelError(problems, loaded.name)


def _check_minimal(loaded: Loaded) -> None:
    loops = loaded.program.loops
    if loops is None:
        raise ModelError(f"dae={MINIMAL!r}: this model has minimal coordinates as it is", loaded.name)
    if loops.correction is None:
        why = "a constraint of positions binds coordinates that do not follow one speed each"
        raise ModelError(f"dae={MINIMAL!r} is not available: {why}", loaded.name)


def redundant_of(model: Calls) -> Redundant:
    """The redundant equations of a model as functions; `model` is the one in Python."""
    program, loops = model.program, model.program.loops
    assert loops is not None
    system, turning, closure = (partial(model.values, name) for name in ("system", "coordinate_rates", "closure"))
    sizes = len(program.coordinates), len(program.speeds), len(loops.g), len(loops.v)
    return Redundant(system, turning, closure, *sizes, loops.paired, loops.scales)


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


def prepare_dae(plan: Plan, e: Evaluation, dae: Dae, y: np.ndarray, watch: Watch) -> Prepared:
    """A run by a method that has not begun, from the state y."""
    redundant = redundant_of(e.context.python)
    check_masses_alone(dae, redundant, e, y, e.context.loaded.name)
    inside = DaeEvaluation(e.context, e.p, e.c, e.inputs, e.kept, None, dae, redundant, plan.step)
    python = DaeRun(inside, plan.course(e.inputs, bool(watch.conditions)), y)
    start = Start(python.course, y, e.p, e.c, e.inputs, dae=dae)
    run = python if e.context.dae is None else e.context.dae.start(start)
    return Prepared(run, plan.steps, plan.every, plan.step, python.within)


def residuals_of(
    loaded: Loaded, rows: np.ndarray, p: Sequence[float], c: Sequence[float]
) -> Callable[[], Residuals] | None:
    """Residuals of the constraints in recorded rows, to be computed when they are asked for."""
    loops = loaded.program.loops
    if loops is None:
        return None
    n_q, n_s, n_g, n_v = loaded.n_q, loaded.n_states, len(loops.g), len(loops.v)
    first, width = n_g * (1 + n_q), len(loaded.program.inputs)

    def compute() -> Residuals:
        model = loaded.model.calls()
        g, v = np.empty((len(rows), n_g)), np.empty((len(rows), n_v))
        for i, row in enumerate(rows):
            w = row[len(row) - width :].tolist()
            at = float(row[0]), row[1 : 1 + n_q].tolist(), row[1 + n_q : 1 + n_s].tolist(), p, c, w
            flat = model.values("closure", *at)
            g[i], v[i] = flat[:n_g], flat[first : first + n_v]
        return Residuals(rows[:, 0].copy(), g, v, loops.positions, loops.names)

    return compute
