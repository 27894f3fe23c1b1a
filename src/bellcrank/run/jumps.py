"""What an event does: states and parameters set at once, and a state on the constraints again.

What an action sets is kept; coordinates and speeds that depend on others by closed loops follow. If these cannot follow
alone, all others may; if that cannot be either, the run ends with a sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from bellcrank.errors import RunError
from bellcrank.interface.interface import Interface
from bellcrank.names import key_of
from bellcrank.numeric.events import Change, Watched
from bellcrank.numeric.integrate import Rates
from bellcrank.numeric.projection import CannotClose, Closure
from bellcrank.numeric.tuning import EVENTS
from bellcrank.run.actions import Action
from bellcrank.run.loaded import Loaded


def set_by(action: Action, row: np.ndarray, values: dict[str, float], y: np.ndarray, name: str) -> np.ndarray:
    """Sets parameters in `values`, in user units; the new state, in equation units."""
    found = action.values(row)
    y = y.copy()
    for s, value in zip(action.settings, found, strict=True):
        if not np.isfinite(value):
            raise RunError(f"the action of event '{name}' sets {s.quantity.name} to {value}, not a finite number")
        if s.quantity.column >= 0:
            y[s.quantity.column - 1] = s.quantity.unit.to_equation(value)
        else:
            values[s.quantity.name] = value
    return y


def following(interface: Interface, independent: Iterable[Any]) -> tuple[bool, ...]:
    """Of every state: is it one that closed loops move first where an event has set others? Not those of speeds that
    are `independent`."""
    speeds = {key_of(u) for u in independent}
    return tuple(f"u{x.key[1:]}" not in speeds for x in interface.states)


def mended(loaded: Loaded, action: Action, closure: Closure | None, t: float, y: np.ndarray, name: str) -> np.ndarray:
    """The state on the constraints, with what an action sets as it is."""
    if closure is None:
        return y
    interface, n_q = loaded.interface, loaded.n_q
    kept = {s.quantity.key for s in action.settings}
    may = np.array([x.key not in kept for x in interface.states])
    follow = may & np.array(following(interface, loaded.analysis.independent_speeds))
    failed: CannotClose | None = None
    for free in (follow, may):
        try:
            return np.concatenate(closure.assemble(t, y[:n_q], y[n_q:], free[:n_q], free[n_q:], nudges=0))
        except CannotClose as error:
            failed = failed or error
    listed = ", ".join(s.quantity.name for s in action.settings)
    assert failed is not None
    left = f"a residual of {failed.residual:.3g} remains in {failed.row}"
    raise RunError(f"event '{name}' sets {listed} against the constraints: {left}")


def changes(
    loaded: Loaded,
    action: Action,
    before: tuple[np.ndarray, dict[str, float]],
    after: tuple[np.ndarray, dict[str, float]],
) -> tuple[Change, ...]:
    """What is different: what was set, whether or not it changed, and the states that followed."""
    found = {}
    for s in action.settings:
        x = s.quantity
        if x.column < 0:
            unit = "" if x.unit.text == "?" else x.unit.text
            found[x.key] = Change(x.name, before[1].get(x.name, np.nan), after[1][x.name], unit)
    size = np.maximum(np.abs(before[0]), np.abs(after[0]))
    moved = np.abs(after[0] - before[0]) > EVENTS.followed * size
    named = {s.quantity.key for s in action.settings}
    for x in loaded.interface.states:
        i = x.column - 1
        if moved[i] or x.key in named:
            old, new = (float(x.unit.from_equation(y[i])) for y in (before[0], after[0]))
            found[x.key] = Change(x.name, old, new, x.unit.text)
    order = [s.quantity.key for s in action.settings]
    return tuple(found[k] for k in sorted(found, key=lambda k: order.index(k) if k in order else len(order)))


def rate_of(
    w: Watched, rates: Rates, row: Callable[[float, np.ndarray], np.ndarray], at: tuple[float, np.ndarray], h: float
) -> float:
    """How fast a condition changes at a time and state: the difference of rows a little way along its rates."""
    t, y = at
    moved = h * rates(t, y)
    after, before = w.at(np.array([row(t + h, y + moved), row(t - h, y - moved)])).tolist()
    return float(after - before) / (2 * h)
