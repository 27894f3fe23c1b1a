"""A model evaluated at one time and state: rates, outputs, echo, multipliers, states that satisfy constraints.

Each evaluation has a context of its own: what user functions remember and keep is that of a run which starts there.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bellcrank.errors import RunError
from bellcrank.numeric.projection import Closure
from bellcrank.numeric.run_spec import At, Input
from bellcrank.run.assembly import complete_state, given_start
from bellcrank.run.closure import closure_of
from bellcrank.run.dae_methods import Redundant
from bellcrank.run.dae_runs import multipliers_at
from bellcrank.run.diagnose import Moment, broken_term, without_length
from bellcrank.run.loaded import Context, Loaded
from bellcrank.run.rhs import rhs_of
from bellcrank.run.stepping import Evaluation
from bellcrank.run.values import Numbers, number, state_array

Parameters = Mapping[str, float | str] | None
Inputs = Mapping[str, Any] | None


def state_at(context: Context, t: float, q: Numbers, u: Numbers, parameters: Parameters, inputs: Inputs) -> At:
    """A state (equation units) with all that programs are called with."""
    loaded = context.loaded
    p = loaded.parameter_values(parameters)
    c, signals = loaded.constants(p), loaded.inputs(inputs)
    evaluation = Evaluation(context, p, c, signals, np.zeros(len(loaded.interface.kept)))
    y = state_array(loaded.interface, q, u)
    t = number(t, "t")
    evaluation.hold(t, y, first=True, live=0)
    return evaluation.at(t, y)


def rates(
    loaded: Loaded, t: float, q: Numbers, u: Numbers, parameters: Parameters, inputs: Inputs
) -> tuple[np.ndarray, np.ndarray]:
    """q' and u'; in a singular configuration of closed loops, constraints that vanish there are omitted. A state
    without finite rates is an error that names what has no value."""
    bound = loaded.bound(parameters, inputs)
    x = state_array(loaded.interface, q, u)
    f = rhs_of(loaded, parameters, inputs) if bound is None else bound.rates
    xdot, n_q = f(number(t, "t"), x), loaded.n_q
    if not (math.isfinite(sum(xdot.tolist())) or np.isfinite(xdot).all()):  # the first is quick, but may overflow
        context = loaded.context()
        arguments, names = state_at(context, t, q, u, parameters, inputs), (s.name for s in loaded.program.parameters)
        point = Moment(
            loaded.program,
            *arguments[:3],
            dict(zip(names, arguments[3], strict=True)),
            arguments[5],
            context.named_functions,
        )
        reason = without_length(point, loaded.analysis) or broken_term(point, loaded.analysis.loads)
        raise RunError(f"'{loaded.name}' has no finite time derivatives at this state{f': {reason}' if reason else ''}")
    return xdot[:n_q], xdot[n_q:]


def outputs(loaded: Loaded, *point: Any) -> dict[str, float]:
    """Output channels in user units."""
    context = loaded.context()
    values = context.model.outputs(*state_at(context, *point))
    return {x.name: float(x.unit.from_equation(v)) for x, v in zip(loaded.interface.outputs, values, strict=True)}


def echo(loaded: Loaded, *point: Any) -> dict[str, float]:
    """What user functions give to the echo of a run that starts there, in equation units."""
    context = loaded.context()
    values = context.model.values("echo", *state_at(context, *point))
    return dict(zip(loaded.program.echo_names, values, strict=True))


def multipliers(loaded: Loaded, *point: Any) -> dict[str, float]:
    """lambda of M u' = f + J' lambda by constraint row, in equation units; with redundant rows the smallest."""
    loops = loaded.program.loops
    if loops is None:
        return {}
    context = loaded.context()
    return multipliers_at(Redundant(context.python), state_at(context, *point), loops.names)


def closure(loaded: Loaded, p: Sequence[float], signals: Sequence[Input]) -> Closure | None:
    """The constraints of closed loops as a function of time and state; None without loops."""
    return None if loaded.program.loops is None else closure_of(loaded.python.calls(), p, signals, loaded.model.calls())


def assemble(
    loaded: Loaded, initial: Mapping[Any, float | str] | None = None, guess: Mapping[Any, float | str] | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The full state in equation units from the values given (user units), what constraints determine solved for."""
    start_values = given_start(loaded, initial, guess)
    if loaded.program.loops is None:
        p = loaded.parameter_values() if loaded.interface.entered else None
        return complete_state(loaded, start_values, p=p)
    p, signals = loaded.parameter_values(), loaded.inputs(None)
    return complete_state(loaded, start_values, closure(loaded, p, signals), p, signals)
