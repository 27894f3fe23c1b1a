"""A model evaluated at one time and state: rates, outputs, echo, multipliers, states that satisfy
constraints.

Each evaluation has a context of its own: what user functions remember and keep is that of a run
which starts there.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bellcrank.core.errors import RunError
from bellcrank.core.numeric.loop_constraints import LoopConstraints
from bellcrank.core.numeric.run_spec import At, ProgramInput
from bellcrank.simulation.run.argument_checks import Numbers, require_number, state_array
from bellcrank.simulation.run.dae_methods import RedundantEquations
from bellcrank.simulation.run.dae_runs import multipliers_at
from bellcrank.simulation.run.failure_diagnosis import (
    FailurePoint,
    nonfinite_term,
    zero_length_strut,
)
from bellcrank.simulation.run.initial_assembly import assemble_state, merge_initial_values
from bellcrank.simulation.run.loaded import EvaluationContext, LoadedModel
from bellcrank.simulation.run.loop_closure import make_loop_constraints
from bellcrank.simulation.run.rhs import make_rhs
from bellcrank.simulation.run.stepping import RunEvaluation

Parameters = Mapping[str, float | str] | None
Inputs = Mapping[str, Any] | None
Point = tuple[float, Numbers, Numbers, Parameters, Inputs]  # t, q, u, parameters, inputs


def program_arguments_at(
    context: EvaluationContext,
    t: float,
    q: Numbers,
    u: Numbers,
    parameters: Parameters,
    inputs: Inputs,
) -> At:
    """A state (equation units) with all that programs are called with."""
    loaded = context.loaded
    p = loaded.parameter_values(parameters)
    c, signals = loaded.constants(p), loaded.inputs(inputs)
    evaluation = RunEvaluation(
        context, p, c, signals, np.zeros(len(loaded.interface.sampled_inputs))
    )
    y = state_array(loaded.interface, q, u)
    t = require_number(t, "t")
    evaluation.update_sampled_values(t, y, first=True, live=0)
    return evaluation.program_arguments(t, y)


def state_derivatives(
    loaded: LoadedModel, t: float, q: Numbers, u: Numbers, parameters: Parameters, inputs: Inputs
) -> tuple[np.ndarray, np.ndarray]:
    """q' and u'; in a singular configuration of closed loops, constraints that vanish there are
    omitted. A state without finite rates is an error that names what has no value."""
    bound = loaded.bound_rhs(parameters, inputs)
    x = state_array(loaded.interface, q, u)
    f = make_rhs(loaded, parameters, inputs) if bound is None else bound.rates
    xdot, n_q = f(require_number(t, "t"), x), loaded.n_q
    if not (
        math.isfinite(sum(xdot.tolist())) or np.isfinite(xdot).all()
    ):  # the first is quick, but may overflow
        context = loaded.new_context()
        arguments, names = (
            program_arguments_at(context, t, q, u, parameters, inputs),
            (s.name for s in loaded.program.parameters),
        )
        point = FailurePoint(
            loaded.program,
            *arguments[:3],
            dict(zip(names, arguments[3], strict=True)),
            arguments[5],
            context.functions_by_name,
        )
        reason = zero_length_strut(point, loaded.analysis) or nonfinite_term(
            point, loaded.analysis.loads
        )
        raise RunError(
            f"'{loaded.name}' has no finite time derivatives at this "
            f"state{f': {reason}' if reason else ''}"
        )
    return xdot[:n_q], xdot[n_q:]


def outputs(loaded: LoadedModel, *point: *Point) -> dict[str, float]:
    """Output channels in user units."""
    context = loaded.new_context()
    values = context.model.outputs(*program_arguments_at(context, *point))
    return {
        x.name: float(x.unit.from_equation_units(v))
        for x, v in zip(loaded.interface.outputs, values, strict=True)
    }


def echo(loaded: LoadedModel, *point: *Point) -> dict[str, float]:
    """What user functions give to the echo of a run that starts there, in equation units."""
    context = loaded.new_context()
    values = context.model.values("echo", *program_arguments_at(context, *point))
    return dict(zip(loaded.program.echo_names, values, strict=True))


def multipliers(loaded: LoadedModel, *point: *Point) -> dict[str, float]:
    """lambda of M u' = f + J' lambda by constraint row, in equation units; with redundant rows the
    smallest."""
    loops = loaded.program.loops
    if loops is None:
        return {}
    context = loaded.new_context()
    return multipliers_at(
        RedundantEquations(context.python_calls), program_arguments_at(context, *point), loops.names
    )


def loop_constraints(
    loaded: LoadedModel, p: Sequence[float], signals: Sequence[ProgramInput]
) -> LoopConstraints | None:
    """The constraints of closed loops as a function of time and state; None without loops."""
    return (
        None
        if loaded.program.loops is None
        else make_loop_constraints(
            loaded.python_model.new_calls(), p, signals, loaded.model.new_calls()
        )
    )


def assemble(
    loaded: LoadedModel,
    initial: Mapping[Any, float | str] | None = None,
    guess: Mapping[Any, float | str] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """The full state in equation units from the values given (user units), what constraints
    determine solved for."""
    start_values = merge_initial_values(loaded, initial, guess)
    if loaded.program.loops is None:
        p = loaded.parameter_values() if loaded.interface.function_parameters else None
        return assemble_state(loaded, start_values, p=p)
    p, signals = loaded.parameter_values(), loaded.inputs(None)
    return assemble_state(loaded, start_values, loop_constraints(loaded, p, signals), p, signals)
