"""Sensitivities of a run of a model."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bellcrank.analysis.derivative_evaluator import DerivativeEvaluator
from bellcrank.analysis.jacobian_runner import MemoizedEvaluation, channel_value_and_gradient
from bellcrank.analysis.plant import CHANNELS, PARAMETERS, AnalysisModel
from bellcrank.analysis.point import EvaluationPoint
from bellcrank.analysis.run_differences import difference_sensitivity
from bellcrank.analysis.sensitivity import Sensitivity, integrate_sensitivity
from bellcrank.core.errors import ModelError, RunError, require_mapping
from bellcrank.core.numeric.fixed_step_methods import DEFAULT, METHODS
from bellcrank.mechanics.derive.results import GROUPS
from bellcrank.mechanics.interface.interface import Interface, Quantity
from bellcrank.model.guess import StateGuess
from bellcrank.simulation.run.argument_checks import resolve_run_spec, symbol_values
from bellcrank.simulation.run.initial_assembly import (
    assemble_state,
    assemble_with_free_mask,
    state_key,
)
from bellcrank.simulation.run.loaded import LoadedModel
from bellcrank.simulation.run.loop_closure import make_loop_projector
from bellcrank.simulation.run.point_evaluation import Inputs, Parameters, loop_constraints
from bellcrank.simulation.run.status import RunStatus
from bellcrank.symbolic.expr import evaluate, partial

DIFFERENCE = 1e-3  # of a parameter, where an assembly is differentiated by differences
MIN_CALLS_TO_COMPILE = 4000  # evaluations above which compiling the derivatives pays


class _SensitivityRun:
    """A run with derivatives in the making."""

    def __init__(
        self,
        plant: AnalysisModel,
        parameters: list[Quantity],
        outputs: Sequence[Quantity],
        p: list[float],
        signals: Any,
        often: bool,
    ) -> None:
        self.loaded, self.outputs, self.p, self.signals = plant.loaded, outputs, tuple(p), signals
        columns = [q.symbol for q in (*plant.interface.states, *parameters) if q.symbol is not None]
        # the run takes its rates from the printed equations, so do their derivatives
        evaluator = plant.cached(
            ("printed", tuple(columns), often),
            lambda: DerivativeEvaluator(plant, GROUPS, columns, often),
        )
        self.find = MemoizedEvaluation(evaluator)
        self.n_q, self.n = self.loaded.n_q, self.loaded.n_states
        self.closure = loop_constraints(self.loaded, p, signals)
        self.root = np.ones(self.n)  # roots of the weights that corrections of a run have
        self.rows: list[tuple[float, np.ndarray, np.ndarray]] = []

    def set_initial_state(self, x: np.ndarray) -> None:
        """Takes note of the start: corrections of a run move what is light there."""
        if self.closure is not None:
            self.closure = make_loop_projector(
                self.closure, self.loaded.python_model.new_calls(), x, list(self.p), self.signals
            ).loop_constraints
            assert self.closure.weights is not None
            self.root = np.sqrt(np.concatenate(self.closure.weights))

    def point_at(self, t: float, x: np.ndarray) -> EvaluationPoint:
        w = tuple(float(i.function(t)) for i in self.signals)
        return EvaluationPoint(t, x[: self.n_q], x[self.n_q :], self.p, w)

    def rates(self, t: float, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        values, derivatives = self.find(self.point_at(t, x))
        return values["rates"], derivatives["rates"][:, : self.n], derivatives["rates"][:, self.n :]

    def project_state(
        self, t: float, x: np.ndarray, S: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """State and derivatives brought onto the constraints, both by the least movement."""
        if self.closure is None:
            return x, S
        projected = self.closure.project(t, x[: self.n_q], x[self.n_q :])
        x = np.concatenate([projected.q, projected.u])
        return x, self.project_derivatives(t, x, S)

    def project_derivatives(
        self, t: float, x: np.ndarray, S: np.ndarray, free: np.ndarray | None = None
    ) -> np.ndarray:
        """Derivatives corrected so that the constraints hold for changed parameters too; what is
        not `free` is kept."""
        _, derivatives = self.find(self.point_at(t, x))
        S = S.copy()
        free = np.ones(self.n, dtype=bool) if free is None else free
        for group, part in (("positions", slice(0, self.n_q)), ("speeds", slice(self.n_q, self.n))):
            K, K_p = derivatives[group][:, : self.n], derivatives[group][:, self.n :]
            if not len(K):
                continue
            columns = np.arange(self.n)[part][free[part]]
            residual = K @ S + K_p
            root = self.root[columns, None]
            S[columns] -= root * np.linalg.lstsq(K[:, columns] * root.T, residual, rcond=1e-12)[0]
        return S

    def is_determined(self, t: float, x: np.ndarray, free: np.ndarray) -> bool:
        """Do the constraints determine all states that are `free`?"""
        _, derivatives = self.find(self.point_at(t, x))
        group_slices = ("positions", slice(0, self.n_q)), ("speeds", slice(self.n_q, self.n))
        blocks = [
            derivatives[group][:, np.arange(self.n)[part][free[part]]]
            for group, part in group_slices
        ]
        return all(np.linalg.matrix_rank(K, rtol=1e-10) == K.shape[1] for K in blocks)

    def record_sample(self, t: float, x: np.ndarray, S: np.ndarray) -> None:
        values, derivatives = self.find(self.point_at(t, x))
        channels = [channel_value_and_gradient(q, x, values, derivatives) for q in self.outputs]
        y, dy = (
            [value for value, _ in channels],
            [row[: self.n] @ S + row[self.n :] for _, row in channels],
        )
        self.rows.append((t, np.array(y), np.array(dy)))


def sensitivity(
    plant: AnalysisModel,
    wrt: Any,
    outputs: Any,
    t_end: float | None,
    step: float | None,
    method: str | None,
    parameters: Parameters,
    initial: Mapping[Any, float | str] | None,
    inputs: Inputs,
    check: bool,
    output_every: int | None = None,
) -> Sensitivity:
    """Derivatives of channels of a run by parameters: forward, in closed loops by differences of
    runs if they agree."""
    plant.reject_sampled_values()
    loaded, interface = plant.loaded, plant.interface
    values = require_mapping(parameters, "parameters")
    wrt_parameters = plant.find_quantities(wrt, PARAMETERS, "parameter")
    if not wrt_parameters:
        raise ModelError("sensitivity: name at least one parameter", plant.name)
    channels: Sequence[Quantity] = interface.outputs or interface.states
    if outputs is not None:
        channels = plant.find_quantities(outputs, CHANNELS, "output")
    spec = resolve_run_spec(
        interface, t_end, step, _fixed_step_method(interface, method), output_every
    )
    if loaded.stateful_routine_names:
        raise ModelError(
            "sensitivities of a run with user functions that remember are not defined", plant.name
        )
    settings = {
        "t_end": spec.t_end,
        "step": spec.step,
        "method": spec.method,
        "initial": initial,
        "inputs": inputs,
        "output_every": spec.output_every,
    }
    _refuse_actions(plant, values, settings)
    if (
        loaded.program.loops is not None and not check
    ):  # a step forward costs as much as hundreds in a compiled run
        by_runs = difference_sensitivity(plant, wrt_parameters, channels, values, settings)
        if by_runs is not None:
            return by_runs
    p = loaded.parameter_values(values)
    signals = loaded.inputs(inputs, (0.0, spec.t_end))
    initial_values = interface.initial_values(initial or {})
    state, free = assemble_with_free_mask(
        loaded, initial_values, loop_constraints(loaded, p, signals), p, signals
    )
    x = np.concatenate(state)
    run = _SensitivityRun(
        plant,
        wrt_parameters,
        channels,
        p,
        signals,
        spec.n_steps * METHODS[spec.method].n_rhs_per_step > MIN_CALLS_TO_COMPILE,
    )
    S = np.zeros((run.n, len(wrt_parameters)))
    specified = {
        state_key(interface, k)
        for k, value in initial_values.items()
        if not isinstance(value, StateGuess)
    }
    if interface.dependent_speeds:
        S = _removed_speeds(loaded, wrt_parameters, specified, run.point_at(0.0, x), S)
    if run.closure is not None:
        if not run.is_determined(
            0.0, x, free
        ):  # the assembly chooses among many, and another with other parameters
            S = _assembly_derivatives(loaded, initial_values, wrt_parameters, p, signals)
        S = run.project_derivatives(0.0, x, S, free)
        run.set_initial_state(x)
    try:
        integrate_sensitivity(
            run.rates,
            x,
            S,
            replace(spec, breaks=spec.step_breaks(signals)),
            run.n_q,
            run.project_state,
            run.record_sample,
        )
    except FloatingPointError as error:
        raise RunError(f"sensitivity of '{plant.name}': {error}; try a smaller step") from None
    result = _make_sensitivity(plant.name, run, wrt_parameters, channels)
    if not check:
        return result
    return replace(
        result, checked=_check_by_differences(plant, result, wrt_parameters, values, settings)
    )


def _refuse_actions(plant: AnalysisModel, values: Parameters, settings: Mapping[str, Any]) -> None:
    """An error if an event changes or stops the run: its time depends on parameters, so derivatives
    jump there."""
    if not plant.interface.run.events:
        return
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # the runs that an analysis needs for itself warn of nothing
        run = plant.simulate(parameters=values, **settings)
    acted = [event for event in run.events if event.changes]
    if acted or run.status is RunStatus.STOPPED_BY_EVENT:
        reason = f"event '{acted[0].name}' acts at t = {acted[0].time:g} s" if acted else run.ended
        raise ModelError(
            f"sensitivities through events are not available ({reason}): derivatives jump "
            f"there. Use a shorter t_end,"
            " or differences of runs",
            plant.name,
        )


def _removed_speeds(
    loaded: LoadedModel,
    parameters: list[Quantity],
    specified: set[str],
    point: EvaluationPoint,
    S: np.ndarray,
) -> np.ndarray:
    """Derivatives at the start where removed speeds are given: independent ones follow as
    parameters change."""
    speed, program = loaded.analysis.kinematics.speed, loaded.program
    removed_symbols = [
        x.symbol
        for x in loaded.interface.dependent_speeds
        if x.key in specified and x.symbol is not None
    ]
    free = [i for i, x in enumerate(loaded.interface.speeds) if x.key not in specified]
    if not removed_symbols or not free:
        return S
    values = symbol_values(program, point.t, point.q, point.u, point.p, point.w)
    relations = [speed[s] for s in removed_symbols]
    by_speed = [evaluate([partial(e, program.speeds[i]) for i in free], values) for e in relations]
    by_parameter = [
        evaluate([partial(e, q.symbol) for q in parameters if q.symbol is not None], values)
        for e in relations
    ]
    S = S.copy()
    rows = len(program.coordinates) + np.array(free)
    S[rows] = -np.linalg.lstsq(np.array(by_speed), np.array(by_parameter), rcond=1e-10)[0]
    return S


def _assembly_derivatives(
    loaded: LoadedModel,
    initial_values: Mapping[Any, float | str],
    parameters: list[Quantity],
    p: list[float],
    signals: Any,
) -> np.ndarray:
    """Derivatives of an assembled state by parameters, by differences of fourth order."""

    def perturbed_initial_state(index: int, delta: float) -> np.ndarray:
        shifted = [x + delta if i == index else x for i, x in enumerate(p)]
        return np.concatenate(
            assemble_state(
                loaded, initial_values, loop_constraints(loaded, shifted, signals), shifted, signals
            )
        )

    columns = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the assembly of the run itself has warned
        for q in parameters:
            d = DIFFERENCE * (abs(p[q.index]) or 1.0)
            inner_difference, outer_difference = (
                perturbed_initial_state(q.index, k * d) - perturbed_initial_state(q.index, -k * d)
                for k in (1, 2)
            )
            columns.append((8 * inner_difference - outer_difference) / (12 * d))
    return np.array(columns).T


def _fixed_step_method(interface: Interface, method: str | None) -> str:
    """The method of a fixed step that is given, or that of the model if it has one."""
    name = str(method or interface.run.method or DEFAULT).lower()
    if method is not None and name not in METHODS:
        raise ModelError(
            f"method={method!r}: sensitivities are integrated with {', '.join(METHODS)}",
            interface.model,
        )
    return name if name in METHODS else DEFAULT


def _make_sensitivity(
    name: str, run: _SensitivityRun, parameters: list[Quantity], channels: Sequence[Quantity]
) -> Sensitivity:
    f_y = np.array([q.unit.factor for q in channels])
    f_p = np.array([q.unit.factor for q in parameters])
    y = np.array([row[1] for row in run.rows]) / f_y
    derivatives = np.array([row[2] for row in run.rows]) / f_y[:, None] * f_p[None, :]
    values = [float(q.unit.from_equation_units(run.p[q.index])) for q in parameters]
    times, histories = (
        np.array([row[0] for row in run.rows]),
        {q.name: y[:, i] for i, q in enumerate(channels)},
    )
    (names, units), (outputs, output_units) = (
        (tuple(q.name for q in group), tuple(q.unit.text for q in group))
        for group in (parameters, channels)
    )
    fields = names, units, tuple(values), outputs, output_units
    return Sensitivity(name, times, *fields, derivatives, histories, notes=run.find.notes)


def _check_by_differences(
    plant: AnalysisModel,
    result: Sensitivity,
    parameters: list[Quantity],
    values: Parameters,
    settings: Mapping[str, Any],
) -> dict[tuple[str, str], float]:
    """Largest deviation from differences of fourth order of runs, against the largest derivative of
    the channel."""
    deviations = {}
    for q, value in zip(parameters, result.parameter_values, strict=True):
        d = 1e-3 * (abs(value) or 1.0)
        runs = {
            k: plant.simulate(parameters={**(values or {}), q.name: value + k * d}, **settings)
            for k in (-2, -1, 1, 2)
        }
        for o in result.outputs:
            derivative = (8 * (runs[1][o] - runs[-1][o]) - (runs[2][o] - runs[-2][o])) / (12 * d)
            exact = result[o, q.name]
            size = float(np.abs(exact).max()) or 1.0
            deviations[o, q.name] = float(np.abs(derivative[: len(exact)] - exact).max()) / size
    return deviations
