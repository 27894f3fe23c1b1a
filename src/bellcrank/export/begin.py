"""What a model begins with when others run it, and what keeps it from being handed to them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bellcrank.derive.derived import Derived
from bellcrank.errors import ModelError
from bellcrank.export.model_setup import in_python
from bellcrank.export.standalone.setup import Setup
from bellcrank.export.standalone.text import require_language
from bellcrank.expr import Symbol
from bellcrank.interface.interface import Interface, Quantity
from bellcrank.program.program import Program
from bellcrank.program.structure import reach
from bellcrank.run.assembly import complete_state
from bellcrank.run.closure import inertia_weights
from bellcrank.run.evaluate import closure
from bellcrank.run.inputs import as_input, as_signal


def require_whole(derived: Derived, product: str) -> None:
    """Is there anything that `product` is written cannot hold? It is said."""
    require_language(derived.program, "C", "c")
    missing = [x.name for x in derived.interface.parameters if x.default is None]
    if missing:
        listed = ", ".join(missing)
        raise ModelError(
            f"{product} starts with values of all parameters: give {listed} in set_defaults()", derived.name
        )


def start_state(derived: Derived, setup: Setup) -> list[float]:
    """The state from which a model starts, in equation units; of closed loops one that closes them."""
    if derived.program.loops is None:
        return [(x.value or 0.0) * x.factor for x in setup.states]
    loaded, run = in_python(derived), derived.interface.run
    signals = loaded.inputs({x.name: 0.0 for x in setup.signals if x.signal is None})
    p = loaded.parameter_values()
    q, u = complete_state(loaded, run.initial, closure(loaded, p, signals), p, signals)
    return [float(x) for x in (*q, *u)]


def metric_of_loops(
    derived: Derived, states: Sequence[float], inputs: Sequence[float]
) -> tuple[Sequence[float], Sequence[float]]:
    """Roots of inverse inertias of coordinates and speeds at a start: the metric in which loops are kept closed."""
    if derived.program.loops is None:
        return (), ()
    loaded = in_python(derived)
    w = [*inputs, *[0.0] * (len(derived.program.inputs) - len(inputs))]
    weights = inertia_weights(loaded.python.calls(), np.array(states), loaded.parameter_values(), w)
    root_q, root_u = (np.sqrt(x).tolist() for x in weights)
    return root_q, root_u


def fixed_parameters(program: Program) -> set[Symbol]:
    """Parameters that cannot change during a run: those by which loops are closed, and of which others follow."""
    given_parameters, constants = program.given_parameters, program.constants.statements
    fixed: set[Symbol] = set()
    for section in (program.closure, program.entry):
        for row in reach((*constants, *section.statements), section.results, given_parameters):
            fixed.update(given_parameters[j] for j in row)
    return fixed


def start_of(interface: Interface, x: Quantity) -> float:
    """An input, or its rate, at t = 0 in runs of the model; zero where it has no value there."""
    signals = interface.given_inputs()
    if x.base not in signals:
        return 0.0
    try:
        return float(as_input(as_signal(signals[x.base], x.name), x.name, x.unit.factor, x.rate).function(0.0))
    except ModelError:  # a rate of what is not smooth
        return 0.0
