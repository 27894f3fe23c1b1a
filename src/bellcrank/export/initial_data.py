"""What a model begins with when others run it, and what keeps it from being handed to them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bellcrank.core.errors import ModelError
from bellcrank.export.model_setup import load_in_python
from bellcrank.export.standalone.setup import ProgramSetup
from bellcrank.export.standalone.templates import require_language
from bellcrank.mechanics.derive.derived import DerivedModel
from bellcrank.mechanics.interface.interface import Interface, Quantity
from bellcrank.program.jacobian_structure import reachable_states
from bellcrank.program.program import SimulationProgram
from bellcrank.simulation.run.initial_assembly import assemble_state
from bellcrank.simulation.run.loop_closure import inertia_weights
from bellcrank.simulation.run.point_evaluation import loop_constraints
from bellcrank.simulation.run.signal_inputs import to_program_input, to_signal
from bellcrank.symbolic.expr import Symbol


def require_complete(derived: DerivedModel, product: str) -> None:
    """Is there anything that `product` is written cannot hold? It is said."""
    require_language(derived.program, "C", "c")
    missing = [x.name for x in derived.interface.parameters if x.default is None]
    if missing:
        listed = ", ".join(missing)
        raise ModelError(
            f"{product} starts with values of all parameters: give {listed} in set_defaults()",
            derived.name,
        )


def start_state(derived: DerivedModel, setup: ProgramSetup) -> list[float]:
    """The state from which a model starts, in equation units; of closed loops one that closes
    them."""
    if derived.program.loops is None:
        return [(x.value or 0.0) * x.factor for x in setup.states]
    loaded, run = load_in_python(derived), derived.interface.run
    signals = loaded.inputs({x.name: 0.0 for x in setup.signals if x.signal is None})
    p = loaded.parameter_values()
    q, u = assemble_state(loaded, run.initial, loop_constraints(loaded, p, signals), p, signals)
    return [float(x) for x in (*q, *u)]


def projection_metric(
    derived: DerivedModel, states: Sequence[float], inputs: Sequence[float]
) -> tuple[Sequence[float], Sequence[float]]:
    """Roots of inverse inertias of coordinates and speeds at a start: the metric in which loops are
    kept closed."""
    if derived.program.loops is None:
        return (), ()
    loaded = load_in_python(derived)
    w = [*inputs, *[0.0] * (len(derived.program.inputs) - len(inputs))]
    weights = inertia_weights(
        loaded.python_model.new_calls(), np.array(states), loaded.parameter_values(), w
    )
    root_q, root_u = (np.sqrt(x).tolist() for x in weights)
    return root_q, root_u


def fixed_parameters(program: SimulationProgram) -> set[Symbol]:
    """Parameters that cannot change during a run: those by which loops are closed, and of which
    others follow."""
    given_parameters, constants = program.given_parameters, program.constants.statements
    fixed: set[Symbol] = set()
    for section in (program.closure, program.entry):
        for row in reachable_states(
            (*constants, *section.statements), section.results, given_parameters
        ):
            fixed.update(given_parameters[j] for j in row)
    return fixed


def input_at_start(interface: Interface, x: Quantity) -> float:
    """An input, or its rate, at t = 0 in runs of the model; zero where it has no value there."""
    signals = interface.inputs_by_key()
    if x.base_input not in signals:
        return 0.0
    try:
        return float(
            to_program_input(
                to_signal(signals[x.base_input], x.name), x.name, x.unit.factor, x.rate
            ).function(0.0)
        )
    except ModelError:  # a rate of what is not smooth
        return 0.0
