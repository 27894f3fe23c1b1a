"""What an event does: states and parameters set at once, and a state on the constraints again.

What an action sets is kept; coordinates and speeds that depend on others by closed loops follow. If
these cannot follow alone, all others may; if that cannot be either, the run ends with a message.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from bellcrank.core.errors import RunError
from bellcrank.core.name_lookup import normalized_name
from bellcrank.core.numeric.event_log import EventChange
from bellcrank.core.numeric.loop_constraints import AssemblyError, LoopConstraints
from bellcrank.core.numeric.tuning import EVENTS
from bellcrank.mechanics.interface.interface import Interface
from bellcrank.simulation.run.event_specs import EventFormula
from bellcrank.simulation.run.loaded import LoadedModel
from bellcrank.symbolic.expr import Symbol


def moves_first_mask(interface: Interface, independent: Iterable[Symbol]) -> tuple[bool, ...]:
    """Of every state: is it one that closed loops move first where an event has set others? Not
    those of speeds that are `independent`."""
    speeds = {normalized_name(u) for u in independent}
    return tuple(f"u{x.key[1:]}" not in speeds for x in interface.states)


def project_after_event(
    loaded: LoadedModel,
    event: EventFormula | None,
    closure: LoopConstraints | None,
    t: float,
    y: np.ndarray,
) -> np.ndarray:
    """The state on the constraints, with what the action of an event sets as it is; of no event,
    before events act."""
    if closure is None:
        return y
    interface, n_q = loaded.interface, loaded.n_q
    set_keys = {x.key for x, _ in event.settings} if event else set()
    movable = np.array([x.key not in set_keys for x in interface.states])
    dependent = movable & np.array(moves_first_mask(interface, loaded.analysis.independent_speeds))
    failed: AssemblyError | None = None
    for free in (dependent, movable):
        try:
            return np.concatenate(
                closure.assemble(t, y[:n_q], y[n_q:], free[:n_q], free[n_q:], nudges=0)
            )
        except AssemblyError as error:
            failed = failed or error
    if event is None:
        return y
    listed = ", ".join(x.name for x, _ in event.settings)
    assert failed is not None
    detail = f"a residual of {failed.residual:.3g} remains in '{failed.row}'"
    raise RunError(f"event '{event.name}' sets {listed} against the constraints: {detail}")


def event_changes(
    loaded: LoadedModel,
    event: EventFormula,
    state_before: tuple[np.ndarray, dict[str, float]],
    state_after: tuple[np.ndarray, dict[str, float]],
) -> tuple[EventChange, ...]:
    """What is different: what was set, whether or not it changed, and the states that followed."""
    by_key = {}
    for x, _ in event.settings:
        if x.column < 0:
            unit = "" if x.unit.text == "?" else x.unit.text
            by_key[x.key] = EventChange(
                x.name, state_before[1].get(x.name, np.nan), state_after[1][x.name], unit
            )
    size = np.maximum(np.abs(state_before[0]), np.abs(state_after[0]))
    is_different = np.abs(state_after[0] - state_before[0]) > EVENTS.followed * size
    set_keys = {x.key for x, _ in event.settings}
    for x in loaded.interface.states:
        i = x.column - 1
        if is_different[i] or x.key in set_keys:
            old, new = (
                float(x.unit.from_equation_units(y[i])) for y in (state_before[0], state_after[0])
            )
            by_key[x.key] = EventChange(x.name, old, new, x.unit.text)
    order = [x.key for x, _ in event.settings]
    return tuple(
        by_key[k]
        for k in sorted(by_key, key=lambda k: order.index(k) if k in order else len(order))
    )
