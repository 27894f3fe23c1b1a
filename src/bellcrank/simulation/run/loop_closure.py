"""Closed loops of a simulation: their constraints as functions, and what keeps them closed in a
run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from bellcrank.core.errors import RunError, issue_warning
from bellcrank.core.numeric.direction_signs import DirectionSigns
from bellcrank.core.numeric.loop_constraints import (
    LoopConstraints,
    RegularCorrection,
    StartAssembler,
    fixed_pivot_ratio,
)
from bellcrank.core.numeric.loop_projector import LoopProjector, NearSingularError
from bellcrank.core.numeric.redundant_system import RedundantSystem
from bellcrank.core.numeric.run_spec import At, ProgramInput, Weights
from bellcrank.core.numeric.tuning import ASSEMBLY, BRIDGES, LOOPS
from bellcrank.mechanics.interface.interface import Interface
from bellcrank.simulation.backend.protocol import ProgramCalls
from bellcrank.simulation.run.argument_checks import symbol_values
from bellcrank.simulation.run.python_limits import not_in_python_message
from bellcrank.symbolic.expr import evaluate

if TYPE_CHECKING:
    from bellcrank.simulation.backend.c_assembly import Spare


def make_loop_constraints(
    model: ProgramCalls,
    p: Sequence[float],
    signals: Sequence[ProgramInput],
    compiled: ProgramCalls | None = None,
    constants: Sequence[float] | None = None,
    spare: list[Spare] | None = None,
) -> LoopConstraints | None:
    """Return the constraints of closed loops as a function of time and state; None without loops.

    `compiled`: the program that assembles initial states, if it can; `constants`: those of the
    program, if known;
    `spare`: jobs that it left for the next assembly.
    """
    program = model.program
    loops = program.loops
    if loops is None:
        return None

    cached_constants: list[list[float]] = []

    def c() -> list[float]:  # most starts do not ask for them
        if not cached_constants:
            cached_constants.append(model.constants(p))
        return cached_constants[0]

    def function(t: float, q: list[float], u: list[float]) -> list[float]:
        return model.values("closure", t, q, u, p, c(), [i.function(t) for i in signals])

    def sides(t: float, q: list[float], u: list[float]) -> list[float]:
        return model.values("sides", t, q, u, p, c(), [i.function(t) for i in signals])

    n_q, n_u = len(program.coordinates), len(program.speeds)
    direction_signs = DirectionSigns(sides, loops.sided) if loops.sides else None
    assembler = (
        None if compiled is None else compiled.new_assembler(p, constants or c(), signals, spare)
    )
    scales, acting = loops.scales, loops.jacobian_pattern
    return LoopConstraints(
        loops.names,
        loops.positions,
        n_q,
        n_u,
        function,
        scales,
        None,
        None,
        direction_signs,
        assembler,
        acting,
    )


class RunLoopProjection:
    """Loops of a run: `weights`, the metric in which they are closed; are they at every stage of a
    step (`closes_every_stage`)?

    The keeper of a run that Python drives is made when it is asked for: compiled ones keep loops
    closed by themselves.
    """

    def __init__(
        self, weights: Weights, staged: bool, make_projector: Callable[[], LoopProjector]
    ) -> None:
        self.weights, self.closes_every_stage, self._make = weights, staged, make_projector

    @cached_property
    def projector(self) -> LoopProjector:
        return self._make()

    def restarted_at(self, t: float, y: np.ndarray) -> RunLoopProjection:
        """The same for a run that begins at a state of this one."""
        projector = self.projector.restarted_at(t, y)
        return RunLoopProjection(self.weights, self.closes_every_stage, lambda: projector)


def rates_near_singular(model: ProgramCalls, program_arguments: At) -> list[float] | None:
    """Rates of all states without a choice of speeds, where that of the equations fails or nearly
    so; else None."""
    loops = model.program.loops
    if loops is None:
        return None
    n = loops.system_sizes(len(model.program.coordinates)).unpack(
        model.values("system", *program_arguments)
    )
    rates, ratio = n.rates(loops.scales)
    return rates.tolist() if min(ratio, fixed_pivot_ratio(n.J, loops.scales)) < LOOPS.near else None


def make_loop_projector(
    closure: LoopConstraints,
    model: ProgramCalls,
    y: np.ndarray,
    p: Sequence[float],
    signals: Sequence[ProgramInput],
    sampled_values: np.ndarray | None = None,
    staged: bool = False,
    t: float = 0.0,
    weights: Weights | None = None,
) -> LoopProjector:
    """Return the projector that keeps loops closed in a run from the state y at the time t.

    `sampled_values`: values of user functions, which follow the inputs; `staged`: close loops at
    every stage of a step; `weights`: the metric, if the run continues another one.
    """
    sampled_inputs = (
        np.zeros(len(model.program.inputs) - len(signals))
        if sampled_values is None
        else sampled_values
    )
    n_q = closure.n_q

    cached_constants: list[list[float]] = []

    def constants() -> list[float]:  # most starts do not ask for them
        if not cached_constants:
            cached_constants.append(model.constants(p))
        return cached_constants[0]

    def values(section: str, t: float, q: np.ndarray, u: np.ndarray) -> np.ndarray:
        return np.array(
            model.values(
                section,
                t,
                q.tolist(),
                u.tolist(),
                p,
                constants(),
                evaluate_inputs(t, signals, sampled_inputs),
            )
        )

    loops = model.program.loops
    assert loops is not None

    def system(t: float, y: np.ndarray) -> RedundantSystem:
        return loops.system_sizes(n_q).unpack(values("system", t, y[:n_q], y[n_q:]).tolist())

    def shift(t: float, y: np.ndarray, x: np.ndarray) -> np.ndarray:
        with_x, without = (
            values("coordinate_rates", t, y[:n_q], u) for u in (x, np.zeros(closure.n_u))
        )
        return np.asarray(with_x - without)

    correction = None
    if loops.correction is not None:
        loop_projection, scales = loops.correction, np.array(loops.correction.pivot_scales)
        by_q, by_u = (partial(values, name) for name in ("correct_q", "correct_u"))
        correction = RegularCorrection(
            list(loop_projection.q), list(loop_projection.u), by_q, by_u, scales
        )
    if weights is None:
        weights = projection_weights(
            closure, model, t, y, p, evaluate_inputs(t, signals, sampled_inputs)
        )
    return LoopProjector(
        replace(closure, weights=weights, correction=correction), system, shift, staged
    )


def project_onto_branch(
    closing: RunLoopProjection, compiled: StartAssembler | None, t: float, y: np.ndarray
) -> tuple[np.ndarray]:
    """The start of a run, brought onto a branch if it is in a singular configuration; by a compiled
    program, if there is one."""
    if compiled is not None:
        return (_require_start(compiled.project_onto_branch(t, y, closing.weights)),)
    try:
        closing.projector.start(t, y)
    except NearSingularError:
        raise RunError(
            not_in_python_message("a start in a singular configuration of closed loops")
        ) from None
    return (y,)


def initial_projection(
    compiled: StartAssembler, t: float, y: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Weights of coordinates and speeds, and the start, by a compiled program."""
    weights, start = compiled.weights_and_branch(t, y)
    return *weights, _require_start(start)


def _require_start(start: np.ndarray | None) -> np.ndarray:
    if start is None:
        advice = "give a speed to choose among its directions, or another start (initial=, guess=)"
        raise RunError(f"the start is singular and at rest: {advice}")
    return start


def projection_weights(
    closure: LoopConstraints,
    model: ProgramCalls,
    t: float,
    y: np.ndarray,
    p: Sequence[float],
    w: Sequence[float],
) -> Weights:
    """Inverse inertias at a state, by the compiled program where it closes loops."""
    return (
        inertia_weights(model, y, p, w, t)
        if closure.compiled is None
        else closure.compiled.weights(t, y)
    )


def evaluate_inputs(
    t: float, signals: Sequence[ProgramInput], sampled_inputs: np.ndarray
) -> list[float]:
    """All inputs of a program at a time, with the values of user functions that hold."""
    return [*(i.function(t) for i in signals), *sampled_inputs.tolist()]


def report_branch(y: np.ndarray, start: np.ndarray, interface: Interface) -> None:
    """Reports what is assumed where a start was brought onto a branch."""
    if start.tobytes() == y.tobytes():
        return
    changed_indices = np.flatnonzero(np.abs(start - y) > BRIDGES.off_branch).tolist()
    if changed_indices:
        states = [*interface.coordinates, *interface.speeds]
        changed_states = [(states[i], y[i], start[i]) for i in changed_indices]
        values = (
            f"{s.name} = {s.unit.from_equation_units(new):.6g} instead of "
            f"{s.unit.from_equation_units(old):.6g}"
            for s, old, new in changed_states
        )
        issue_warning(
            "the start is singular, and its speeds lie off its branches; those of the "
            "nearest one are used: " + ", ".join(values)
        )


def inertia_weights(
    model: ProgramCalls, y: np.ndarray, p: Sequence[float], w: Sequence[float], t: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Inverse inertias of coordinates and speeds at a state: corrections move what is light."""
    program = model.program
    assert program.loops is not None
    n_q = len(program.coordinates)
    values_by_symbol = symbol_values(program, t, y[:n_q], y[n_q:], p, w)
    inertia = np.array(evaluate([row[-1] for row in program.loops.M], values_by_symbol))
    largest = float(inertia.max(initial=0.0)) or 1.0
    w_u = 1.0 / np.maximum(inertia, ASSEMBLY.light * largest)
    c = model.constants(p)

    def coordinate_rates(u: np.ndarray) -> np.ndarray:
        return np.array(model.values("coordinate_rates", t, y[:n_q].tolist(), u.tolist(), p, c, w))

    rates_at_rest = coordinate_rates(np.zeros(len(w_u)))
    S = np.array([coordinate_rates(unit) - rates_at_rest for unit in np.eye(len(w_u))]).T
    w_q = np.square(S) @ w_u
    return np.where(w_q > 0, w_q, float(w_u.min())), w_u
