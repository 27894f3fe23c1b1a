"""Equilibria and steady motions of a model: what is asked for, where the search starts, and the
words around it.

The nearest equilibrium is the one in whose region of convergence (Newton's method) the start lies.
If it lies in none, it is the one to which damped motion from rest at the start leads; else a search
with bounded steps is made.

A steady motion has constant speeds and user-defined states; coordinates on which nothing depends
continue. A model that starts moving has a steady motion at that speed: the speed that carries the
motion is held, and an input is set free where it takes one to keep it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from bellcrank.analysis.cyclic_coordinates import (
    continuing_coordinates,
    cyclic_directions,
    ignorable_coordinates,
)
from bellcrank.analysis.damped import DampedMotion
from bellcrank.analysis.derivative_evaluator import make_evaluator
from bellcrank.analysis.equilibrium import Equilibrium, NoEquilibrium, neutral_names
from bellcrank.analysis.initial_guess import drives_cyclic_coordinate, initial_guess, target_value
from bellcrank.analysis.jacobian_runner import (
    JacobianEvaluation,
    MemoizedEvaluation,
    required_groups,
)
from bellcrank.analysis.operating_point import operating_point
from bellcrank.analysis.plant import PARAMETERS, SETTABLE, STATES, AnalysisModel
from bellcrank.analysis.point import EvaluationPoint
from bellcrank.analysis.problem import EquilibriumProblem
from bellcrank.analysis.root_finding import MAX_STEPS, RootResult
from bellcrank.analysis.rotating_frame import to_rotating_frame
from bellcrank.analysis.steady_motion import (
    continuing_rates,
    driving_speed,
    motion_words,
    scale_speeds,
    state_derivatives_at,
    unsteady_part_message,
    value_words,
)
from bellcrank.analysis.targets import SearchTarget, read_targets
from bellcrank.core.errors import ModelError, RunError
from bellcrank.core.units import ANGLE
from bellcrank.mechanics.interface.interface import Quantity
from bellcrank.simulation.run.argument_checks import require_finite
from bellcrank.simulation.run.point_evaluation import Inputs, Parameters
from bellcrank.simulation.run.status import RunStatus
from bellcrank.simulation.run.stepping import NO_VALUE

Values = Mapping[Any, float | str] | None
MAX_TRIAL_STEPS = 40  # steps of a search that is not the only one
SETTLING_TIMES = (0.3, 2.0)  # s of a run before a search is tried from its end
# effect of an input against that of the strongest: of such inputs the first one declared is set
# free
COMPARABLE = 0.5
UNUSED_INPUT_TOLERANCE = 1e-9  # change of an input that was set free, below which it was not needed
SPEED_FRACTIONS = (1e-4, 1e-3, 1e-2, 0.1, 0.3)  # fractions of a speed on the way to it from rest


@dataclass(frozen=True)
class EquilibriumRequest:
    """What is asked for: where the search starts, what is held, free, aimed at. Values in equation
    units.

    `carried`: the speed of the start that is held because nothing else says how fast; `given`:
    inputs whose values the caller has chosen; `moving`: is it a motion that is asked for?
    """

    plant: AnalysisModel
    start: EvaluationPoint
    cyclic: set[str]
    along: np.ndarray
    onward: set[str]
    held: dict[Quantity, float]
    free: tuple[Quantity, ...]
    aims: tuple[SearchTarget, ...]
    carried: Quantity | None
    given: frozenset[Quantity]
    moving: bool

    @property
    def candidate_inputs(self) -> list[Quantity]:
        """Inputs that may be set free to hold a speed or reach an aim of a motion."""
        if not self.moving:
            return []
        fixed = {*self.held, *self.free}
        return [q for q in self.plant.interface.inputs if not q.rate and q not in fixed]

    @property
    def at_rest(self) -> bool:
        """Is it the state of rest that is asked for, with all coordinates to be found?"""
        return (
            not self.moving
            and not self.free
            and not self.aims
            and not any(q.kind in STATES for q in self.held)
        )

    @property
    def missing_unknowns(self) -> int:
        """Demands of a motion besides what is free for them: speeds that are held, and aims."""
        speeds = [q for q, v in self.held.items() if q.kind == "speed" and v]
        return (
            len(speeds) + len(self.aims) + (self.carried is not None) - len(self.free)
            if self.moving
            else 0
        )

    @cached_property
    def make_evaluation(self) -> JacobianEvaluation:
        """Values and derivatives by all states, inputs, and what is free besides."""
        interface = self.plant.interface
        columns = [*interface.states, *self.candidate_inputs, *self.free]
        symbols = [q.symbol for q in dict.fromkeys(columns) if q.symbol is not None]
        groups = required_groups(q for a in self.aims for q in a.channels)
        return MemoizedEvaluation(
            to_rotating_frame(make_evaluator(self.plant, groups, symbols), self.plant, self.start)
        )

    def make_problem(
        self, freed: tuple[Quantity, ...] = (), start: EvaluationPoint | None = None
    ) -> EquilibriumProblem:
        plant, states = self.plant, self.plant.interface.states
        extra = [q for q in self.free if q.kind not in STATES]
        aimed = {q for a in self.aims for q in a.channels}
        unknowns = [
            s
            for s in states
            if s not in self.held
            and s != self.carried
            and (s.name not in self.cyclic or s in self.free or s in aimed)
        ]
        combinations = _rate_combinations(plant, self.cyclic, self.along)
        return EquilibriumProblem(
            plant,
            self.make_evaluation,
            start or self.start,
            (*unknowns, *extra, *freed),
            combinations,
            self.aims,
        )


def _rate_combinations(plant: AnalysisModel, cyclic: set[str], along: np.ndarray) -> np.ndarray:
    """Combinations of rates that are zero in a steady motion: all but those of what continues,
    alone or together."""
    states = plant.interface.states
    noncyclic = np.array([s.name not in cyclic for s in states])
    every = np.eye(len(states))[noncyclic]
    if not len(along):
        return every
    support = np.flatnonzero(along.any(axis=0))
    _, _, Vt = np.linalg.svd(along[:, support])
    across = np.zeros((len(support) - len(along), len(states)))
    across[:, support] = Vt[len(along) :]
    return np.vstack([every[~every[:, support].any(axis=1)], across])


def find_equilibrium(
    plant: AnalysisModel,
    free: Any = None,
    fixed: Any = None,
    targets: Values = None,
    at: Any = None,
    parameters: Parameters = None,
    inputs: Inputs = None,
    t: float = 0.0,
    method: str = "",
) -> Equilibrium:
    """Solves for the state (and what is free) at which nothing accelerates. `at`: where the search
    starts.

    `method`: the only way of searching that is tried: "newton", "damped motion"; all if it is not
    given.
    """
    request = _read_request(plant, free, fixed, targets, at, parameters, inputs, t)
    best: tuple[EquilibriumProblem, RootResult] | None = None
    for problem, root, freed in _search_sequence(request, method):
        if root.converged:
            return _make_equilibrium(request, problem, _reduce_full_rotations(problem, root), freed)
        if best is None or np.linalg.norm(root.residuals) < np.linalg.norm(best[1].residuals):
            best = problem, root
    if best is None:
        raise NoEquilibrium(
            f"the model '{plant.name}' has no equilibrium that could be found by {method}", {}, ()
        )
    raise _no_equilibrium_error(request, *best)


Search = tuple[EquilibriumProblem, RootResult, tuple[Quantity, ...]]


def _search_sequence(request: EquilibriumRequest, method: str) -> Iterator[Search]:
    """Searches one after the other, each tried if those before found nothing."""
    first = request.make_problem()
    root = (
        first.solve_by_newton()
        if method != "damped motion" and request.missing_unknowns <= 0
        else None
    )
    if root is not None:
        yield first, root, ()
    if method != "newton" and request.at_rest:
        yield from _damped_motion_search(request)
    if method == "newton" and request.missing_unknowns > 0:
        freed = _set_free(request, first)
        problem = request.make_problem(freed)
        root = problem.solve_by_newton()
        if root is not None:
            yield problem, root, freed
    if method:
        return
    freed = _set_free(request, first)
    if freed:
        problem = request.make_problem(freed)
        yield problem, problem.solve(MAX_TRIAL_STEPS), freed
    yield first, first.solve(MAX_TRIAL_STEPS if request.missing_unknowns > 0 else MAX_STEPS), ()
    for start in _alternative_starts(request):
        freed = _set_free(request, request.make_problem(start=start))
        problem = request.make_problem(freed, start)
        yield problem, problem.solve(MAX_TRIAL_STEPS), freed


def _damped_motion_search(request: EquilibriumRequest) -> Iterator[Search]:
    """The equilibrium to which damped motion from rest leads, if it leads to one."""
    solutions: list[tuple[EquilibriumProblem, RootResult]] = []

    def is_near_equilibrium(point: EvaluationPoint) -> bool:
        problem = request.make_problem(start=point)
        root = problem.solve_by_newton()
        solutions.extend([] if root is None else [(problem, root)])
        return root is not None

    if DampedMotion(
        request.plant, request.make_evaluation, request.start, request.cyclic
    ).follow_to_equilibrium(is_near_equilibrium):
        yield *solutions[-1], ()


def _reduce_full_rotations(problem: EquilibriumProblem, root: RootResult) -> RootResult:
    """The same root with angles within a turn of the start, where whole turns change nothing."""
    angles = np.array(
        [q.kind == "coordinate" and q.unit.dimension == ANGLE for q in problem.unknowns], dtype=bool
    )
    rotations = np.where(angles, np.trunc((root.x - problem.x) / (2 * math.pi)), 0.0)
    for i in np.flatnonzero(rotations):
        x = root.x.copy()
        x[i] -= 2 * math.pi * rotations[i]
        reduced = replace(problem, start=problem.point_at(x)).solve_by_newton()
        if reduced is not None and np.abs(reduced.x - x).max() < 1e-6:
            root = reduced
    return root


def _set_free(request: EquilibriumRequest, problem: EquilibriumProblem) -> tuple[Quantity, ...]:
    """The inputs to set free, so many as are missing: those that act most, of comparable ones the
    first declared. So a car is driven by its `drive`, not by the torque of one wheel.

    None if the caller has given one of the same kind that acts too: a brake is not balanced behind
    his back.
    """
    if request.missing_unknowns <= 0 or not request.candidate_inputs:
        return ()
    effects = problem.effective_candidates(problem.x, request.candidate_inputs)
    dominant = {q for q, effect in effects if effect >= COMPARABLE * effects[0][1]}
    acting = [q for q in request.candidate_inputs if q in dominant] + [
        q for q, _ in effects if q not in dominant
    ]
    available = [q for q in acting if q not in request.given]
    if any(
        q in request.given and q.unit.dimension == available[0].unit.dimension
        for q in acting
        if available
    ):
        return ()
    return tuple(available[: request.missing_unknowns])


def _alternative_starts(request: EquilibriumRequest) -> Iterator[EvaluationPoint]:
    """Where else a search may start: after a while of running, and faster and faster from rest."""
    for seconds in SETTLING_TIMES:
        settled = _state_after_run(request, seconds)
        if settled is not None:
            yield settled
    speeds = [
        (q, v)
        for q, v in request.held.items()
        if q.kind == "speed" and v and request.start.value_of(q) == v
    ]
    if len(speeds) != 1:
        return
    speed, value = speeds[0]
    point = scale_speeds(request.plant, request.start, 0.0)
    last_fraction = 0.0
    for fraction in (*SPEED_FRACTIONS, 1.0):
        ratio = fraction / last_fraction if last_fraction else 1.0
        point = scale_speeds(request.plant, point, ratio).with_values({speed: fraction * value})
        if fraction == 1.0:
            yield point
            return
        problem = request.make_problem(_set_free(request, request.make_problem(start=point)), point)
        root = problem.solve(MAX_TRIAL_STEPS)
        if not root.converged:
            return
        point, last_fraction = problem.point_at(root.x), fraction


def _state_after_run(request: EquilibriumRequest, seconds: float) -> EvaluationPoint | None:
    """The state after a run from the start with constant inputs, speeds brought back to those asked
    for."""
    plant, start = request.plant, request.start
    state = start.q.tolist(), start.u.tolist()
    values = {"parameters": plant.parameters_at(start), "inputs": plant.inputs_at(start)}
    try:
        run = plant.simulate(t_end=seconds, initial=state, **values)
        if run.status is not RunStatus.FINISHED:
            return None
        end_point = operating_point(plant, run).point
    except (RunError, ModelError):
        return None
    unchanged = [q for q in plant.interface.coordinates if q.name in request.cyclic]
    unchanged += [q for q in (*request.held, request.carried) if q is not None and q.kind in STATES]
    drift = (
        np.linalg.pinv(request.along) @ (request.along @ (end_point.q - start.q))
        if len(request.along)
        else 0.0
    )
    point = replace(start, q=end_point.q - drift, u=end_point.u)
    speed = request.carried or next((q for q in request.held if q.kind == "speed"), None)
    if not request.moving:
        point = scale_speeds(plant, point, 0.0)
    elif speed is not None and point.value_of(speed) and start.value_of(speed):
        point = scale_speeds(plant, point, start.value_of(speed) / point.value_of(speed))
    return point.with_values({q: start.value_of(q) for q in unchanged})


def _read_request(
    plant: AnalysisModel,
    free: Any,
    fixed: Any,
    targets: Any,
    location: Any,
    parameters: Any,
    inputs: Any,
    t: float,
) -> EquilibriumRequest:
    plant.reject_sampled_values()
    if isinstance(fixed, Mapping):
        fixed_values = {plant.find_quantity(k, SETTABLE, "fixed"): v for k, v in fixed.items()}
    else:
        fixed_values = dict.fromkeys(plant.find_quantities(fixed, SETTABLE, "fixed"))
    free_quantities = plant.find_quantities(free, SETTABLE, "free")
    aims = read_targets(plant, targets)
    conflicts = [q.name for q in free_quantities if q in fixed_values]
    if conflicts:
        raise ModelError(f"{', '.join(conflicts)} cannot be both free and fixed", plant.name)
    numbers = {
        q: require_finite(v, f"the value of {q.name}")
        for q, v in fixed_values.items()
        if v is not None
    }
    parameter_values = {
        **(parameters or {}),
        **{q.name: v for q, v in numbers.items() if q.kind in PARAMETERS},
    }
    driven = {
        **(inputs or {}),
        **{q.name: v for q, v in numbers.items() if q.kind == "input" and not q.rate},
    }
    states = {q: v for q, v in numbers.items() if q.kind in STATES}
    guess = initial_guess(plant, location, states, aims, parameter_values, driven, t)
    base_point = guess.there
    cyclic, along, continuing = (
        ignorable_coordinates(plant, base_point),
        cyclic_directions(plant, base_point),
        continuing_coordinates(plant, base_point),
    )
    speed = driving_speed(plant, base_point, continuing)
    driving_speeds = [
        q
        for q in fixed_values
        if q.kind == "speed" and drives_cyclic_coordinate(plant, base_point, continuing, q)
    ]
    has_speed = guess.ratio is not None or bool(driving_speeds)
    carried_speed = None if speed is None or has_speed or speed in free_quantities else speed
    chosen_inputs = frozenset(plant.find_quantity(k, ("input",), "input") for k in driven)
    start = guess.point.with_values(
        {q: v * q.unit.factor for q, v in numbers.items() if q.kind == "input"}
    )
    values = {q: start.value_of(q) for q in fixed_values}
    moving = speed is not None or guess.ratio is not None or any(values[q] for q in driving_speeds)
    return EquilibriumRequest(
        plant,
        start,
        cyclic,
        along,
        continuing,
        values,
        tuple(free_quantities),
        tuple(aims),
        carried_speed,
        chosen_inputs,
        moving,
    )


def _make_equilibrium(
    request: EquilibriumRequest,
    problem: EquilibriumProblem,
    root: RootResult,
    freed: tuple[Quantity, ...],
) -> Equilibrium:
    plant, point = problem.plant, problem.point_at(root.x)
    unneeded = [
        q
        for q in freed
        if abs(point.value_of(q) - request.start.value_of(q))
        <= UNUSED_INPUT_TOLERANCE * max(1.0, abs(point.value_of(q)))
    ]
    point, freed = (
        point.with_values({q: request.start.value_of(q) for q in unneeded}),
        tuple(q for q in freed if q not in unneeded),
    )
    states = plant.interface.states
    quantities = [
        *states,
        *(q for q in problem.unknowns if q.kind not in STATES and q not in unneeded),
    ]
    values = {q.name: float(q.unit.from_equation_units(point.value_of(q))) for q in quantities}
    steady = {
        q.name: float(q.unit.from_equation_units(rate))
        for q, rate in continuing_rates(plant, point, request.onward)
    }
    undetermined = _undetermined_variables(request, problem, root, freed)
    units, labels = (
        {q.name: q.unit.text for q in quantities},
        {q.name: q.distinct_label for q in quantities},
    )
    unknowns = tuple(q.name for q in problem.unknowns if q not in unneeded)
    residual = float(np.abs(root.residuals).max(initial=0.0))
    reported = [q for q in (*request.held, *request.free, *freed) if q.kind != "coordinate"]
    motion = motion_words(plant, point, request.onward, reported, [a.label() for a in request.aims])
    if not steady:
        motion += unsteady_part_message(plant, request.start, request.onward)
    solution_fields = unknowns, residual, tuple(undetermined), steady, tuple(q.name for q in states)
    coordinates = [q for q in problem.unknowns if q.kind == "coordinate"]
    displacements = {
        q.name: float(q.unit.from_equation_units(point.value_of(q) - request.start.value_of(q)))
        for q in coordinates
    }
    outputs = _output_values(plant, point)
    units |= {q.name: q.unit.text for q in plant.interface.outputs if q.name not in units}
    return Equilibrium(
        plant.name,
        values,
        units,
        labels,
        *solution_fields,
        motion,
        point,
        root.steps,
        outputs,
        displacements,
    )


def _output_values(plant: AnalysisModel, point: EvaluationPoint) -> dict[str, float]:
    """Output channels at a point, in user units; not a number where they have no value."""
    loaded, p = plant.loaded, list(point.p)
    try:
        values = loaded.model.new_calls().outputs(
            point.t, point.q.tolist(), point.u.tolist(), p, loaded.constants(p), list(point.w)
        )
    except NO_VALUE:
        values = [np.nan] * len(plant.interface.outputs)
    return {
        x.name: float(x.unit.from_equation_units(v))
        for x, v in zip(plant.interface.outputs, values, strict=True)
    }


def _undetermined_variables(
    request: EquilibriumRequest,
    problem: EquilibriumProblem,
    root: RootResult,
    freed: tuple[Quantity, ...],
) -> list[str]:
    """Names of what nothing determines; the speed of the start is such where every speed would
    do."""
    names = [q.name for q in problem.unknowns]
    if request.carried is not None and not freed and not request.free:
        columns = [*problem.unknowns, request.carried]
        _, J = problem.residuals_and_jacobian(root.x, columns)
        root = replace(
            root, x=np.append(root.x, problem.start.value_of(request.carried)), derivatives=J
        )
        names.append(request.carried.name)
    undetermined = neutral_names(root.null_space, names)
    continuing = [
        s.name
        for s in request.plant.interface.states
        if s.name in request.cyclic and s.name not in names
    ]
    return list(dict.fromkeys([*undetermined, *continuing]))


def _no_equilibrium_error(
    request: EquilibriumRequest, problem: EquilibriumProblem, root: RootResult
) -> NoEquilibrium:
    """What is left, and which variables diverge."""
    rows = problem.equation_names
    residuals = {n: float(r) for n, r in zip(rows, root.residuals, strict=True)}
    worst = sorted(residuals, key=lambda n: -abs(residuals[n]))[:4]
    largest = abs(residuals[worst[0]]) if worst else 0.0
    residual_texts = [
        f"{n} = {residuals[n]:.4g}" for n in worst if abs(residuals[n]) > 1e-3 * largest
    ]
    scale = np.maximum(np.abs(root.x - root.moved), 1.0)
    diverged = [
        q.name for q, m, s in zip(problem.unknowns, root.moved, scale, strict=True) if m > 1e3 * s
    ]
    speeds = {f"{s.name}'": s.name for s in problem.plant.interface.states}
    unsettled = [speeds[n] for n in worst if n in speeds and abs(residuals[n]) > 1e-3 * largest]
    runaway = list(dict.fromkeys([*diverged, *unsettled]))
    size_text = f"{len(rows)} equations, {len(problem.unknowns)} unknowns"
    is_overdetermined = len(rows) > len(problem.unknowns) and not diverged
    fixed_speeds = [
        q
        for q in (*request.held, *([request.carried] if request.carried else ()))
        if q.kind == "speed"
    ]
    speed_words = ", ".join(value_words(q, problem.start.value_of(q)) for q in fixed_speeds)
    motion = f"steady motion at {speed_words}" if fixed_speeds else "equilibrium"
    messages = [
        f"the model '{problem.plant.name}' has no {motion} that could be found"
        + (f" ({size_text}: name more in free=, or fewer in fixed=)" if is_overdetermined else ""),
        _target_summary(problem, root),
        _motion_advice(request) if fixed_speeds else "",
        unsteady_part_message(problem.plant, request.start, request.onward).strip(" ()")
        if fixed_speeds
        else "",
        f"nearest point, in equation units: {', '.join(residual_texts)}",
        f"diverging variables: {', '.join(runaway)}" if runaway else "",
    ]
    return NoEquilibrium("; ".join(p for p in messages if p), residuals, runaway)


def _target_summary(problem: EquilibriumProblem, root: RootResult) -> str:
    """How far targets were reached."""
    point = problem.point_at(root.x)
    target_values = [(a, target_value(problem.plant, point, a)) for a in problem.aims]
    return ", ".join(
        f"{a.name} reached {v:.4g} instead of {a.value:.4g} {a.unit}".rstrip()
        for a, v in target_values
    )


def _motion_advice(request: EquilibriumRequest) -> str:
    """Why a motion at a speed is not steady, and what could be set free."""
    start = request.make_problem()
    acting = [q.name for q, _ in start.effective_candidates(start.x, request.candidate_inputs)]
    speed = request.carried or next(q for q in request.held if q.kind == "speed")
    end_point, clauses = _state_after_run(request, SETTLING_TIMES[0]), []
    if end_point is not None:
        rate = float(
            speed.unit.from_equation_units(
                state_derivatives_at(request.plant, end_point)[speed.column - 1]
            )
        )
        clauses.append(
            f"a run from there has {speed.name}' = {rate:.4g} {speed.unit.text}/s after "
            f"{SETTLING_TIMES[0]:g} s"
        )
    if acting:
        clauses.append(f"inputs that act on it, to be set free: {', '.join(acting)}")
    return "; ".join(clauses)
