"""Runs by methods for differential-algebraic equations, and how well a run keeps its constraints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from bellcrank.backend.start import Carried, Start
from bellcrank.errors import ModelError
from bellcrank.names import numbered
from bellcrank.numeric.course import At
from bellcrank.numeric.events import Watch
from bellcrank.numeric.methods import ADAPTIVE, HALF_EXPLICIT, METHODS, ONE_STEP, one_of
from bellcrank.run.dae_methods import MINIMAL, Dae, DaeEvaluation, DaeRun, Redundant
from bellcrank.run.loaded import Loaded
from bellcrank.run.prepare import Prepared
from bellcrank.run.result import Residuals
from bellcrank.run.stepping import Evaluation
from bellcrank.run.values import Plan, at_row

# with dlmm, rates hold the residuals at the start of a step by its length: those of two steps take back what is left
_ALLOWED = {"half-explicit": HALF_EXPLICIT, "dlmm": ONE_STEP}


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
    elif plan.method not in (allowed := _ALLOWED.get(dae.method, METHODS)):
        problems.append(f"dae={dae.method!r} is available for {', '.join(allowed)}, not for {plan.method}")
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


def multipliers_at(redundant: Redundant, at: At, names: Sequence[str]) -> dict[str, float]:
    """lambda by row at a state: what the accelerations leave of M u' - f; rows of one name are numbered."""
    n = redundant.numbers(at)
    rest = n.M @ redundant.solve(n, n.f, n.gamma) - n.f
    found = np.linalg.lstsq(n.J.T, rest, rcond=1e-10)[0]
    return dict(zip(numbered(names), found.tolist(), strict=True))


def dae_evaluation(plan: Plan, e: Evaluation, dae: Dae) -> DaeEvaluation:
    """The equations that a method integrates."""
    redundant = Redundant(e.context.python)
    return DaeEvaluation(e.context, e.p, e.c, e.inputs, e.kept, None, dae, redundant, plan.step)


def prepare_dae(
    plan: Plan, e: DaeEvaluation, y: np.ndarray, watch: Watch, carried: Carried | None = None, watching: Any = None
) -> Prepared:
    """A run by a method that has not begun, from the state y; `carried`: what it takes over from another.
    `watching`: its events, if the kernel looks for them."""
    if e.dae.base == "free fall" and np.linalg.matrix_rank(M := e.redundant.numbers(e.at(plan.begins, y)).M) < len(M):
        why = "base='free fall' needs a mass for every speed, but the mass matrix is singular"
        raise ModelError(why, e.context.loaded.name)
    python = DaeRun(e, plan.course(e.inputs, bool(watch.conditions) and watching is None), y)
    start = Start(python.course, y, e.p, e.c, e.inputs, dae=e.dae, events=watching)
    run = python if e.context.dae is None else e.context.dae.start(start)
    if carried is not None:
        run.take(carried)
    within = python.within if watching is None else None
    return Prepared(run, plan.steps, plan.every, plan.step, plan.begins, carried is None, within)


class Piece(NamedTuple):
    """Recorded rows with the parameters that held for them, and what follows from these."""

    rows: np.ndarray
    p: Sequence[float]
    c: Sequence[float]


def residuals_of(loaded: Loaded, pieces: Sequence[Piece]) -> Callable[[], Residuals] | None:
    """Residuals of the constraints in recorded rows, to be computed when they are asked for."""
    loops = loaded.program.loops
    if loops is None:
        return None
    n_g, n_v, first = len(loops.g), len(loops.v), len(loops.g) * (1 + loaded.n_q)

    def compute() -> Residuals:
        model = loaded.model.calls()
        rows = [(row, x.p, x.c) for x in pieces for row in x.rows]
        g, v = np.empty((len(rows), n_g)), np.empty((len(rows), n_v))
        for i, (row, p, c) in enumerate(rows):
            flat = model.values("closure", *at_row(loaded.program, row, p, c))
            g[i], v[i] = flat[:n_g], flat[first : first + n_v]
        return Residuals(np.array([row[0] for row, _, _ in rows]), g, v, loops.positions, loops.names)

    return compute
