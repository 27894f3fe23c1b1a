"""Runs by methods for differential-algebraic equations, and how well a run keeps its constraints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from bellcrank.errors import ModelError
from bellcrank.names import numbered
from bellcrank.numeric.methods import ADAPTIVE, HALF_EXPLICIT, METHODS, ONE_STEP, OWN, one_of
from bellcrank.numeric.run_spec import At, Checkpoint, RunSpec
from bellcrank.program.program import Program
from bellcrank.run.dae_methods import MINIMAL, Dae, DaeEvaluation, Redundant
from bellcrank.run.loaded import Loaded
from bellcrank.run.plain import not_in_python
from bellcrank.run.result import Residuals
from bellcrank.run.stepping import Evaluation
from bellcrank.run.values import at_row

# with dlmm, rates hold the residuals at the start of a step by its length: those of two steps take back what is left
_ALLOWED = {"half-explicit": HALF_EXPLICIT, "dlmm": ONE_STEP}


def methods_for(dae: Dae) -> Sequence[str]:
    """Methods with fixed steps by which a method that keeps constraints can run."""
    return _ALLOWED.get(dae.method, tuple(METHODS))


def check_dae(dae: Dae, spec: RunSpec, loaded: Loaded) -> None:
    """Reports what a method cannot do for a model, or plain Python at all."""
    program = loaded.program
    if loaded.model.name == "python" and spec.method in OWN:
        raise ModelError(not_in_python(f"method={spec.method!r}"), loaded.name)
    problems = dae_problems(dae, program)
    if problems and dae.usual:
        raise ModelError(problems, loaded.name)
    if dae.usual:
        return
    if loaded.model.name == "python" and program.loops is not None:
        raise ModelError(not_in_python(f"dae={dae.method!r}"), loaded.name)
    if spec.method in ADAPTIVE:
        problems.append(f"dae={dae.method!r} needs a fixed step: method {one_of()}, not {spec.method}")
    elif spec.method not in (methods := methods_for(dae)):
        problems.append(f"dae={dae.method!r} is available for {', '.join(methods)}, not for {spec.method}")
    if problems:
        raise ModelError(problems, loaded.name)


def dae_problems(dae: Dae, program: Program) -> list[str]:
    """Why a model cannot run by a method."""
    loops = program.loops
    if dae.staged and loops is None:
        return [f"dae={MINIMAL!r}: this model has minimal coordinates as it is"]
    if dae.staged and loops is not None and loops.correction is None:
        reason = "a constraint of positions binds coordinates that do not follow one speed each"
        return [f"dae={MINIMAL!r} is not available: {reason}"]
    problems = []
    if loops is None and not dae.usual:
        problems.append(
            f"dae={dae.method!r} is for position constraints and loops, and for constraints='multipliers'; this model "
            "keeps its constraints by itself"
        )
    if program.remembers and not dae.usual:
        problems.append(f"dae={dae.method!r} cannot be used with user functions that remember")
    return problems


def multipliers_at(redundant: Redundant, program_arguments: At, names: Sequence[str]) -> dict[str, float]:
    """lambda by row at a state: what the accelerations leave of M u' - f; rows of one name are numbered."""
    n = redundant.numbers(program_arguments)
    residual = n.M @ n.rates(redundant.scales)[0][redundant.n_q :] - n.f
    multipliers = np.linalg.lstsq(n.J.T, residual, rcond=1e-10)[0]
    return dict(zip(numbered(names), multipliers.tolist(), strict=True))


def dae_run(
    spec: RunSpec, e: Evaluation, y: np.ndarray, dae: Dae, saved: Checkpoint | None = None, monitor: Any = None
) -> tuple[DaeEvaluation, Any]:
    """A run by a method that has not begun, from the state y; `saved`: what it takes over from another.
    `monitor`: the event monitor of the kernel."""
    if dae.base == "free fall":
        M = Redundant(e.context.python).numbers(e.at(spec.begins, y)).M
        if np.linalg.matrix_rank(M) < len(M):
            reason = "base='free fall' needs a mass for every speed, but the mass matrix is singular"
            raise ModelError(reason, e.context.loaded.name)
    model: Any = e.context.dae
    run = model.start(e.spec(spec, y, dae=dae, events=monitor))
    if saved is not None:
        run.restore(saved)
    dae_evaluation = DaeEvaluation(e.context, e.p, e.c, e.inputs, e.kept, dae=dae)
    return dae_evaluation, run


class Piece(NamedTuple):
    """Recorded rows with the parameters that held for them, and what follows from these."""

    rows: np.ndarray
    p: Sequence[float]
    c: Sequence[float]


def residuals_of(loaded: Loaded, segments: Sequence[Piece]) -> Callable[[], Residuals] | None:
    """Residuals of the constraints in recorded rows, to be computed when they are asked for."""
    loops = loaded.program.loops
    if loops is None:
        return None
    n_g, n_v, first = len(loops.g), len(loops.v), len(loops.g) * (1 + loaded.n_q)

    def compute() -> Residuals:
        model = loaded.model.calls()
        rows = [(row, x.p, x.c) for x in segments for row in x.rows]
        g, v = np.empty((len(rows), n_g)), np.empty((len(rows), n_v))
        for i, (row, p, c) in enumerate(rows):
            flat = model.values("closure", *at_row(loaded.program, row, p, c))
            g[i], v[i] = flat[:n_g], flat[first : first + n_v]
        return Residuals(np.array([row[0] for row, _, _ in rows]), g, v, loops.positions, loops.names)

    return compute
