"""Runs by methods for differential-algebraic equations, and how well a run keeps its
constraints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from bellcrank.core.errors import ModelError
from bellcrank.core.name_lookup import make_names_unique
from bellcrank.core.numeric.fixed_step_methods import (
    ADAPTIVE,
    HALF_EXPLICIT,
    METHODS,
    ONE_STEP,
    OWN,
    join_alternatives,
)
from bellcrank.core.numeric.run_spec import At, Checkpoint, RunSpec
from bellcrank.program.program import SimulationProgram
from bellcrank.simulation.backend.c_runs import CRun
from bellcrank.simulation.backend.event_monitor import EventMonitor
from bellcrank.simulation.run.argument_checks import program_arguments_of_row
from bellcrank.simulation.run.dae_methods import MINIMAL, Dae, DaeRunEvaluation, RedundantEquations
from bellcrank.simulation.run.loaded import LoadedModel
from bellcrank.simulation.run.python_limits import not_in_python_message
from bellcrank.simulation.run.result import ConstraintResiduals
from bellcrank.simulation.run.stepping import RunEvaluation

# with dlmm, rates hold the residuals at the start of a step by its length: those of two steps take
# back what is left
_ALLOWED = {"half-explicit": HALF_EXPLICIT, "dlmm": ONE_STEP}


def fixed_step_methods(dae: Dae) -> Sequence[str]:
    """Methods with fixed steps by which a method that keeps constraints can run."""
    return _ALLOWED.get(dae.method, tuple(METHODS))


def check_dae(dae: Dae, spec: RunSpec, loaded: LoadedModel) -> None:
    """Reports what a method cannot do for a model, or plain Python at all."""
    program = loaded.program
    if loaded.model.name == "python" and spec.method in OWN:
        raise ModelError(not_in_python_message(f"method={spec.method!r}"), loaded.name)
    problems = dae_problems(dae, program)
    if problems and dae.usual:
        raise ModelError(problems, loaded.name)
    if dae.usual:
        return
    if loaded.model.name == "python" and program.loops is not None:
        raise ModelError(not_in_python_message(f"dae={dae.method!r}"), loaded.name)
    if spec.method in ADAPTIVE:
        problems.append(
            f"dae={dae.method!r} needs a fixed step: method {join_alternatives()}, not "
            f"{spec.method}"
        )
    elif spec.method not in (methods := fixed_step_methods(dae)):
        problems.append(
            f"dae={dae.method!r} is available for {', '.join(methods)}, not for {spec.method}"
        )
    if problems:
        raise ModelError(problems, loaded.name)


def dae_problems(dae: Dae, program: SimulationProgram) -> list[str]:
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
            f"dae={dae.method!r} is for position constraints and loops, and for "
            f"constraints='multipliers'; this model "
            "keeps its constraints by itself"
        )
    if program.stateful_routine_names and not dae.usual:
        problems.append(f"dae={dae.method!r} cannot be used with user functions that remember")
    return problems


def multipliers_at(
    redundant: RedundantEquations, program_arguments: At, names: Sequence[str]
) -> dict[str, float]:
    """lambda by row at a state: what the accelerations leave of M u' - f; rows of one name are
    numbered."""
    n = redundant.evaluate_system(program_arguments)
    residual = n.M @ n.rates(redundant.scales)[0][redundant.n_q :] - n.f
    multipliers = np.linalg.lstsq(n.J.T, residual, rcond=1e-10)[0]
    return dict(zip(make_names_unique(names), multipliers.tolist(), strict=True))


def make_dae_run(
    spec: RunSpec,
    e: RunEvaluation,
    y: np.ndarray,
    dae: Dae,
    saved: Checkpoint | None = None,
    monitor: EventMonitor | None = None,
) -> tuple[DaeRunEvaluation, CRun]:
    """A run by a method that has not begun, from the state y; `saved`: what it takes over from
    another.
    `monitor`: the event monitor of the kernel."""
    if dae.base == "free fall":
        M = (
            RedundantEquations(e.context.python_calls)
            .evaluate_system(e.program_arguments(spec.begin_time, y))
            .M
        )
        if np.linalg.matrix_rank(M) < len(M):
            reason = (
                "base='free fall' needs a mass for every speed, but the mass matrix is singular"
            )
            raise ModelError(reason, e.context.loaded.name)
    program_calls = e.context.dae_calls
    assert program_calls is not None
    run: CRun | None = program_calls.new_run(e.fill_spec(spec, y, dae=dae, events=monitor))
    assert run is not None
    if saved is not None:
        run.restore(saved)
    dae_evaluation = DaeRunEvaluation(e.context, e.p, e.c, e.inputs, e.sampled_values, dae=dae)
    return dae_evaluation, run


class RunSegment(NamedTuple):
    """Recorded rows with the parameters that held for them, and what follows from these."""

    rows: np.ndarray
    p: Sequence[float]
    c: Sequence[float]


def residual_function(
    loaded: LoadedModel, segments: Sequence[RunSegment]
) -> Callable[[], ConstraintResiduals] | None:
    """Residuals of the constraints in recorded rows, to be computed when they are asked for."""
    loops = loaded.program.loops
    if loops is None:
        return None
    n_g, n_v, first = len(loops.g), len(loops.v), len(loops.g) * (1 + loaded.n_q)

    def compute() -> ConstraintResiduals:
        model = loaded.model.new_calls()
        rows = [(row, x.p, x.c) for x in segments for row in x.rows]
        g, v = np.empty((len(rows), n_g)), np.empty((len(rows), n_v))
        for i, (row, p, c) in enumerate(rows):
            flat = model.values("closure", *program_arguments_of_row(loaded.program, row, p, c))
            g[i], v[i] = flat[:n_g], flat[first : first + n_v]
        return ConstraintResiduals(
            np.array([row[0] for row, _, _ in rows]), g, v, loops.positions, loops.names
        )

    return compute
