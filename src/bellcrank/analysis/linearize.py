"""Linear models of a model: exact derivatives at a point, constraints removed, names and units put
on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bellcrank.analysis.cyclic_coordinates import continuing_coordinates
from bellcrank.analysis.derivative_evaluator import make_evaluator
from bellcrank.analysis.equilibrium import Equilibrium, NoEquilibrium
from bellcrank.analysis.find_equilibrium import find_equilibrium
from bellcrank.analysis.jacobian_runner import Groups, channel_value_and_gradient, required_groups
from bellcrank.analysis.linear_model import LinearModel, LinearModelVariable
from bellcrank.analysis.nonsmooth import may_have_kinks, mean_one_sided_derivatives
from bellcrank.analysis.operating_point import OperatingState, merge_guesses, position_keyword
from bellcrank.analysis.operating_point import operating_point as place_at
from bellcrank.analysis.plant import CHANNELS, PARAMETERS, STATES, AnalysisModel
from bellcrank.analysis.point import EvaluationPoint
from bellcrank.analysis.rotating_frame import to_rotating_frame
from bellcrank.analysis.state_reduction import (
    ConstraintJacobians,
    SingularConstraints,
    StateReduction,
    reduce_states,
)
from bellcrank.analysis.steady_motion import driving_speed, motion_words, value_words
from bellcrank.core.errors import RunError
from bellcrank.mechanics.interface.interface import Interface, Quantity
from bellcrank.simulation.run.point_evaluation import Inputs, Parameters
from bellcrank.symbolic.expr import free_symbols

CLOSURE_TOLERANCE = 1e-8  # residual of constraints at a point given by its states
DRIVING = ("input", *PARAMETERS)
REST_TOLERANCE = 1e-7  # rates below this fraction of their derivatives are rest


def linear_model(
    plant: AnalysisModel,
    at: Any = "equilibrium",
    wrt: Any = None,
    outputs: Any = None,
    parameters: Parameters = None,
    inputs: Inputs = None,
    t: float = 0.0,
    states: Any = None,
    guess: Mapping[Any, float | str] | None = None,
) -> LinearModel:
    """A, B, C, D about a point (None: the equilibrium).

    `wrt` may name parameters, `outputs` states.
    """
    plant.reject_sampled_values()
    interface = plant.interface
    driven = interface.inputs if wrt is None else plant.find_quantities(wrt, DRIVING, "input")
    input_quantities = _with_input_derivatives(driven, interface)
    default_outputs = interface.outputs or interface.states
    output_quantities = (
        default_outputs if outputs is None else plant.find_quantities(outputs, CHANNELS, "output")
    )
    equilibrium = at is None or position_keyword(at, plant.name) == "equilibrium"
    at = merge_guesses(plant, at, guess)
    if equilibrium:
        start = {"at": at} if guess else {}
        at = operating_point(plant, parameters=parameters, inputs=inputs, t=t, **start)
        parameters = inputs = None
    operating_state = place_at(plant, at, parameters, inputs, t)
    point = operating_state.point
    columns = [q.symbol for q in (*interface.states, *input_quantities) if q.symbol is not None]
    evaluation = to_rotating_frame(
        make_evaluator(plant, required_groups(output_quantities), columns), plant, point
    )
    values, derivatives = evaluation(point)
    derivatives, kinks = (
        mean_one_sided_derivatives(evaluation, point, derivatives)
        if may_have_kinks(plant)
        else (derivatives, [])
    )
    state_names = (
        None if states is None else {x.name for x in plant.find_quantities(states, STATES, "state")}
    )
    reduction = _state_reduction(plant, values, derivatives, state_names)
    return _assemble_linear_model(
        plant,
        operating_state,
        input_quantities,
        output_quantities,
        [*evaluation.notes, *_kink_note(kinks)],
        values,
        derivatives,
        reduction,
    )


def operating_point(plant: AnalysisModel, **options: Any) -> Equilibrium:
    """The equilibrium that analyses are made at unless at= says otherwise; if there is none, what
    to do instead."""
    try:
        return find_equilibrium(plant, **options)
    except NoEquilibrium as error:
        hint = "to analyse the model at its initial state instead, give at='start'"
        raise NoEquilibrium(f"{error}; {hint}", error.residuals, error.runaway) from None


def _kink_note(names: Sequence[str]) -> list[str]:
    """The note on derivatives that jump."""
    suffix = f" and {len(names) - 4} more" if len(names) > 4 else ""
    kink_names, statement = (
        f"{', '.join(names[:4])}{suffix}",
        "the model has a kink here: derivatives with respect to",
    )
    return [f"{statement} {kink_names} are the means of both sides"] if names else []


def _with_input_derivatives(inputs: Sequence[Quantity], interface: Interface) -> list[Quantity]:
    """Inputs together with their own rates, where the model uses these."""
    extended = list(inputs)
    for q in inputs:
        name = f"dxdt({q.name})"
        while rate_input := interface.find_or_none(name, ("input",)):
            if rate_input not in extended:
                extended.append(rate_input)
            name = f"dxdt({name})"
    return extended


def _state_reduction(
    plant: AnalysisModel, values: Groups, derivatives: Groups, state_names: set[str] | None
) -> StateReduction:
    """Independent states and how the others follow."""
    states = plant.interface.states
    n_q, n = plant.loaded.n_q, len(states)
    g, v = derivatives["positions"], derivatives["speeds"]
    results, loops = plant.derived.results, plant.loaded.program.loops
    rows = [name for name, _ in results.positions], [name for name, _ in results.speeds]
    ranks = (
        (loops.scales.rank_g, loops.scales.rank_v) if loops else (len(rows[0]), len(rows[1]))
    )  # where regular
    residual = max(
        (float(np.abs(values[k]).max(initial=0.0)) for k in ("positions", "speeds")), default=0.0
    )
    if residual > CLOSURE_TOLERANCE:
        raise RunError(
            f"the state given does not satisfy the constraints of '{plant.name}': a "
            f"residual of {residual:.2g} is "
            "left. Give it by names (at={...}), so that it is completed, or take it from "
            "sim.assemble()."
        )
    if state_names is None:
        analysis = plant.derived.analysis
        free = {u.name for u in analysis.independent_speeds}
        bound = {
            s.name
            for _, norm in analysis.mechanism.normalization_constraints
            for s in free_symbols(norm)
        }
        prefer = [
            s.name not in bound and ("u" + s.name[1:] if s.kind == "coordinate" else s.name) in free
            for s in states
        ]
    else:
        prefer = [s.name in state_names for s in states]
    c = ConstraintJacobians(g[:, :n_q], g[:, n:], v[:, :n_q], v[:, n_q:n], v[:, n:], *rows)
    try:
        return reduce_states(c, prefer, ranks)
    except SingularConstraints as error:
        raise RunError(
            f"'{plant.name}' is in a singular configuration: the constraint "
            f"'{error.rows[0]}' does not restrict any "
            f"movement here that others do not restrict already (pivot {error.pivot:.1e}), "
            f"so the independent states "
            "are not determined"
        ) from None


def _assemble_linear_model(
    plant: AnalysisModel,
    operating_state: OperatingState,
    inputs: Sequence[Quantity],
    outputs: Sequence[Quantity],
    notes: list[str],
    values: Groups,
    derivatives: Groups,
    r: StateReduction,
) -> LinearModel:
    all_states, point = plant.interface.states, operating_state.point
    n = len(all_states)
    x_rates, w_rates = derivatives["rates"][:, :n], derivatives["rates"][:, n:]
    A = (x_rates @ r.N)[r.independent]
    B = (x_rates @ r.N_w + w_rates)[r.independent]
    channels = [channel_value_and_gradient(q, point.x, values, derivatives) for q in outputs]
    C = np.array([row[:n] @ r.N for _, row in channels]).reshape(len(channels), r.N.shape[1])
    D = np.array([row[:n] @ r.N_w + row[n:] for _, row in channels]).reshape(
        len(channels), r.N_w.shape[1]
    )
    states = [all_states[i] for i in r.independent]
    f_x, f_w, f_y = (np.array([q.unit.factor for q in g]) for g in (states, inputs, outputs))
    undefined = [
        q.name
        for q, row in zip(outputs, np.hstack([C, D]), strict=True)
        if not np.all(np.isfinite(row))
    ]
    if undefined:
        notes.append(f"derivatives of the outputs {', '.join(undefined)} do not exist here")
    cyclic = continuing_coordinates(plant, point)
    moving = _motion_note(all_states, values["rates"], x_rates, point, cyclic)
    notes += [moving] if moving else []
    dependent = {}
    for i in sorted({*range(n)} - {*r.independent.tolist()}):
        partials = zip(states, r.N[i] * f_x / all_states[i].unit.factor, strict=True)
        dependent[all_states[i].name] = {s.name: float(x) for s, x in partials if x}
    if dependent:
        notes.append(f"dependent states follow from the others: {', '.join(dependent)}")
    return LinearModel(
        plant.name,
        A * f_x[None, :] / f_x[:, None],
        B * f_w[None, :] / f_x[:, None],
        C * f_x[None, :] / f_y[:, None],
        D * f_w[None, :] / f_y[:, None],
        tuple(
            _linear_model_variable(q, point.x[i])
            for q, i in zip(states, r.independent, strict=True)
        ),
        tuple(_linear_model_variable(q, point.value_of(q)) for q in inputs),
        tuple(_linear_model_variable(q, v) for q, (v, _) in zip(outputs, channels, strict=True)),
        values["rates"][r.independent] / f_x,
        not moving,
        tuple(notes),
        dependent,
        operating_state.motion or _motion_label(plant, operating_state, cyclic, not moving),
        point,
    )


def _motion_label(
    plant: AnalysisModel, operating_state: OperatingState, cyclic: set[str], steady: bool
) -> str:
    """Where the model was linearised, in words."""
    if steady:
        return f"{operating_state.words}: {motion_words(plant, operating_state.point, cyclic)}"
    speed = driving_speed(plant, operating_state.point, cyclic)
    speed_text = f" at {value_words(speed, operating_state.point.value_of(speed))}" if speed else ""
    return f"{operating_state.words}{speed_text}, which is not steady"


def _linear_model_variable(q: Quantity, value: float) -> LinearModelVariable:
    user = float(q.unit.from_equation_units(value))
    return LinearModelVariable(
        q.name, q.unit.text, q.label, user, q.unit.factor, q.kind == "coordinate"
    )


def _motion_note(
    states: Sequence[Quantity],
    rates: np.ndarray,
    derivatives: np.ndarray,
    point: EvaluationPoint,
    cyclic: set[str],
) -> str:
    """Why the point is no equilibrium or steady motion: the fastest rates in words; "" if it is
    one."""
    size = np.abs(derivatives * np.maximum(np.abs(point.x), 1.0)).max(axis=1, initial=0.0)
    fast = np.abs(rates) > REST_TOLERANCE * (size + 1e-3)
    moving = [
        (q, rate)
        for q, rate, f in zip(states, rates, fast, strict=True)
        if f and q.name not in cyclic
    ]
    if not moving:
        return ""
    text = ", ".join(
        f"{q.name}' = {q.unit.from_equation_units(rate):.4g} {q.unit.text}/s"
        for q, rate in moving[:4]
    )
    suffix = f" and {len(moving) - 4} more" if len(moving) > 4 else ""
    return (
        f"the point is no equilibrium ({text}{suffix}): the model holds for a short time about "
        f"the motion through it"
    )
