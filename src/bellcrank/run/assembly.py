"""Initial states: what is given is kept, what constraints determine is solved for, the rest is zero."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import numpy as np

from bellcrank.errors import ModelError, did_you_mean, mapping, warn
from bellcrank.expr import Expr, Symbol, evaluate
from bellcrank.interface.interface import Interface
from bellcrank.model.guess import Guess, with_guess
from bellcrank.model.mechanism import Mechanism
from bellcrank.names import key_of
from bellcrank.numeric.multistart import from_elsewhere, reaches
from bellcrank.numeric.projection import CannotClose, Closure
from bellcrank.numeric.run_spec import Input
from bellcrank.numeric.tuning import ASSEMBLY
from bellcrank.program.program import Program
from bellcrank.run.gimbal import ELSEWHERE, beside_locks, gimbal_lock
from bellcrank.run.loaded import Loaded
from bellcrank.run.start_cache import bytes_of
from bellcrank.run.values import finite, known_symbols, state_lists

State = tuple[np.ndarray, np.ndarray]
Inputs = list[Input] | None
STATES = ("coordinate", "speed", "removed")
UNIT_SIZE = 1e-3  # of the square of Euler parameters: what rounding to four digits leaves


def start_state(
    loaded: Loaded, initial: Any, closure: Closure | None, p: list[float], signals: list[Input], t: float = 0.0
) -> State:
    """The state a run starts from: values by name next to those of set_run, or a state (q, u) in equation units."""
    if isinstance(initial, tuple | list) and len(initial) == 2:
        q, u = (np.array(x) for x in state_lists(loaded.interface, *initial))
        for x, value in zip(loaded.interface.states, (*q, *u), strict=True):
            finite(value, f"initial: {x.name}")
        if closure is None:
            return _warned(loaded, (q, u))
        none_free = np.zeros(len(q), dtype=bool), np.zeros(len(u), dtype=bool)
        initial_values = _Given(q, u, {x.key for x in loaded.interface.states}, *none_free, {})
        return _warned(loaded, _closed(loaded, initial_values, q, u, closure, p, signals, t)[0])
    if initial is not None and not isinstance(initial, Mapping):
        expected = "a dictionary {state: value}, or a state (q, u) as assemble() returns it"
        raise ModelError(f"initial={initial!r} must be {expected}", loaded.name)
    values = loaded.interface.start_values(initial) if initial else None
    return complete_state(loaded, values, closure, p, signals, t)


def given_start(
    loaded: Loaded, initial: Mapping[Any, float | str] | None, guess: Mapping[Any, float | str] | None = None
) -> Mapping[Any, float]:
    """Initial values and guesses: those of set_run unless others are given."""
    model_initial = loaded.interface.run.initial
    if initial is None:
        return loaded.interface.start_values(with_guess(None, guess)) if guess else model_initial
    return cast(Mapping[Any, float], with_guess(mapping(initial, "initial"), guess))


def complete_state(
    loaded: Loaded,
    initial: Mapping[Any, float | str] | None,
    closure: Closure | None = None,
    p: list[float] | None = None,
    signals: Inputs = None,
    t: float = 0.0,
) -> State:
    """A full state (q, u) in equation units on all constraints; initial values, parameters and inputs are the defaults
    unless given."""
    return assembled(loaded, initial, closure, p, signals, t)[0]


def assembled(
    loaded: Loaded,
    initial: Mapping[Any, float | str] | None,
    closure: Closure | None,
    p: list[float] | None,
    signals: Inputs,
    t: float = 0.0,
) -> tuple[State, np.ndarray]:
    """The same, and which states (q, u) the assembly was free to change."""
    initial_values = _read(loaded, initial)
    q, u = _state_of(loaded, initial_values, p, signals, t)
    if closure is None:
        return _warned(loaded, (q, u)), np.concatenate([initial_values.free_q, initial_values.free_u])
    p = loaded.parameter_values() if p is None else p
    signals = loaded.inputs(None) if signals is None else signals
    state, free = _closed(loaded, initial_values, q, u, closure, p, signals, t)
    return _warned(loaded, state), free


def _warned(loaded: Loaded, state: State) -> State:
    """The state, with a warning where it is in gimbal lock, or Euler parameters do not determine an orientation."""
    mechanism = loaded.analysis.mechanism
    for message in gimbal_lock(mechanism, state[0]):
        warn(f"{message}: the rates of its angles are not determined there. {ELSEWHERE}")
    if norms := mechanism.norms:
        values: dict[Expr, float] = dict(zip(mechanism.coordinates, state[0].tolist(), strict=False))
        for text, norm in norms:
            if abs(square := float(evaluate((norm,), values)[0])) > UNIT_SIZE:
                problem = f"the initial values have size {(1 + square) ** 0.5:.6g} and define no orientation"
                warn(f"{text}: {problem}; give four whose squares add up to 1")
    return state


def _closed(
    loaded: Loaded,
    initial_values: _Given,
    q: np.ndarray,
    u: np.ndarray,
    closure: Closure,
    p: list[float],
    signals: list[Input],
    t: float,
) -> tuple[State, np.ndarray]:
    """The state with its loops closed, and what was free to change; `initial_values` are kept if possible."""
    interface, free_q, free_u = loaded.interface, initial_values.free_q, initial_values.free_u
    mechanism = loaded.analysis.mechanism
    q = beside_locks(mechanism, q, free_q)
    numbers = [*p, *[i.function(t) for i in signals], t]
    if locked := gimbal_lock(mechanism, q):
        raise ModelError(
            f"{locked[0]}, where loops cannot be assembled. {ELSEWHERE}",
            loaded.name,
        )
    failed = None
    for attempt in range(3):
        movable_q, movable_u = free_q, free_u  # what is given is kept
        if attempt == 1:  # if that cannot be, dependent coordinates are guesses only
            independent = {key_of(u) for u in loaded.analysis.independent_speeds}
            movable_q = free_q | np.array(["u" + x.key[1:] not in independent for x in interface.coordinates])
        elif attempt == 2:  # then everything may move
            movable_q, movable_u = np.ones_like(free_q), np.ones_like(free_u)
        try:
            assemble = partial(closure.assemble, t, q, u, movable_q, movable_u)
            state = loaded.starts.found("assembled", assemble, numbers, q, u, movable_q, movable_u)
        except CannotClose as error:
            failed = failed or error
            alternative = _from_elsewhere(loaded, t, q, u, movable_q, movable_u, closure) if attempt != 1 else None
            if alternative is None:
                continue
            state = alternative
        if gimbal_lock(mechanism, state[0]):
            state = _from_elsewhere(loaded, t, q, u, movable_q, movable_u, closure) or state
        if attempt > 0:
            _warn_of_moved(interface, initial_values.names, np.concatenate([q, u]), np.concatenate(state))
        return state, np.concatenate([movable_q, movable_u])
    assert failed is not None
    raise ModelError(str(failed), loaded.name)


def _from_elsewhere(
    loaded: Loaded,
    t: float,
    q: np.ndarray,
    u: np.ndarray,
    movable_q: np.ndarray,
    movable_u: np.ndarray,
    closure: Closure,
) -> State | None:
    """The assembly nearest to the guess, of those found from other starts of what is not given, that is in no gimbal
    lock; or None."""
    gap = float(np.abs(closure.evaluate(t, q, u)[0]).max(initial=0.0))
    ranges = reaches(np.array(slides_of(loaded.analysis.mechanism, loaded.program)), gap)

    def assembled(start: np.ndarray) -> State:
        return closure.assemble(t, start, u, movable_q, movable_u, nudges=0)

    return from_elsewhere(assembled, q, movable_q, ranges, lambda q: gimbal_lock(loaded.analysis.mechanism, q))


def slides_of(mechanism: Mechanism, program: Program) -> list[bool]:
    """Which coordinates slide."""
    slides = {s for b in mechanism.bodies for s in b.joint.slide_coordinates}
    return [s in slides for s in program.coordinates]


def _warn_of_moved(interface: Interface, names: set[str], old_state: np.ndarray, new_state: np.ndarray) -> None:
    """Reports which given initial values contradict the constraints, and what is used instead."""
    changed_values = [
        f"{x.name} {x.unit.from_equation(old):.6g} -> {x.unit.from_equation(new):.6g}"
        for x, old, new in zip(interface.states, old_state, new_state, strict=True)
        if x.key in names and abs(new - old) > ASSEMBLY.told
    ]
    if changed_values:
        warn(f"the initial values contradict the constraints; changed: {', '.join(changed_values)}")


@dataclass(frozen=True)
class _Given:
    """Initial values as they were given: coordinates and speeds in equation units, else zero; keys of those given,
    which others are free, and what removed speeds should be."""

    q: np.ndarray
    u: np.ndarray
    names: set[str]
    free_q: np.ndarray
    free_u: np.ndarray
    wanted: dict[Symbol, float]


def _read(loaded: Loaded, initial: Mapping[Any, float | str] | None) -> _Given:
    """Initial values, which are not to be changed: those of set_run unless given. The last ones are remembered."""
    if initial is None:
        return loaded.starts.read((), lambda: _read_afresh(loaded.interface, loaded.interface.run.initial))
    values: list[Any] = [*initial.values()]
    try:
        is_cacheable = all(type(value) in (float, int, Guess) for value in values)
        guesses = tuple(isinstance(value, Guess) for value in values)
        key = (*initial, guesses, bytes_of(values)) if is_cacheable else None
    except OverflowError:
        key = None

    def make() -> _Given:
        return _read_afresh(loaded.interface, initial)

    return make() if key is None else loaded.starts.read(key, make)


def _read_afresh(interface: Interface, initial: Mapping[Any, float | str]) -> _Given:
    interface.keyed(initial, STATES, "initial")  # no state twice
    listed = interface.coordinates, interface.speeds
    q, u = (np.array([x.default or 0.0 for x in quantities]) for quantities in listed)
    removed_speeds: dict[Symbol, float] = {}
    fixed_by_key: dict[str, bool] = {}
    for key, value in initial.items():
        x = interface.get(key, STATES)
        value = interface.in_user_unit(value, x, "initial")
        kind = "guess" if isinstance(value, Guess) else "initial value"
        number = finite(value, f"{kind} of {key}")
        if x is None:
            state_names = [s.name for s in interface.states]
            reason = (
                f"no such coordinate or speed.{did_you_mean(str(key), state_names)} States: {', '.join(state_names)}."
            )
            raise ModelError(f"{kind} for '{key}': {reason}", interface.model)
        equation_value = float(x.unit.to_equation(number))
        fixed_by_key[x.key] = not isinstance(value, Guess)
        if x.kind == "removed" and x.symbol is not None:
            if not fixed_by_key[x.key]:
                reason = "a constraint determines this speed from the others; omit it"
                raise ModelError(f"guess for '{key}': {reason}", interface.model)
            removed_speeds[x.symbol] = equation_value
        else:
            (q if x.kind == "coordinate" else u)[x.place] = equation_value
    names = {key for key, is_fixed in fixed_by_key.items() if is_fixed}
    free_q, free_u = (np.array([x.key not in names for x in quantities], dtype=bool) for quantities in listed)
    return _Given(q, u, names, free_q, free_u, removed_speeds)


def initial_state(
    loaded: Loaded, initial: Mapping[Any, float], p: list[float] | None = None, signals: Inputs = None, t: float = 0.0
) -> State:
    """The values given, in equation units, else zero. Independent speeds follow removed ones that are given."""
    return _state_of(loaded, _read(loaded, initial), p, signals, t)


def _state_of(loaded: Loaded, initial_values: _Given, p: list[float] | None, signals: Inputs, t: float) -> State:
    q, u = initial_values.q.copy(), initial_values.u.copy()
    if initial_values.wanted:
        p = loaded.parameter_values() if p is None else p
        signals = loaded.inputs(None) if signals is None else signals
        w = [i.function(t) for i in signals]
        u = _speeds_for(loaded, initial_values.wanted, t, q, u, initial_values.free_u, p, w)
    return q, u


def _speeds_for(
    loaded: Loaded,
    targets: dict[Symbol, float],
    t: float,
    q: np.ndarray,
    u: np.ndarray,
    free: np.ndarray,
    p: list[float],
    w: list[float],
) -> np.ndarray:
    """Independent speeds, as far as they are free, for which removed speeds have the wanted values."""
    program = loaded.program
    values_by_symbol = known_symbols(program, t, q, u, p, w)
    relations = [loaded.analysis.kinematics.speed[s] for s in targets]

    def values(speeds: np.ndarray) -> np.ndarray:
        return np.array(evaluate(relations, values_by_symbol | dict(zip(program.speeds, speeds.tolist(), strict=True))))

    start = np.where(free, 0.0, u)
    base = values(start)
    partials = np.array([values(start + row) - base for row in np.eye(len(u))[free]]).reshape(free.sum(), len(base)).T
    residual = np.array(list(targets.values())) - base
    solved = start.copy()
    solved[free] = np.linalg.lstsq(partials, residual, rcond=1e-10)[0] if free.any() else 0.0
    for s, target, actual in zip(targets, targets.values(), values(solved), strict=True):
        if abs(actual - target) > 1e-9 * max(1.0, abs(target)):
            problem = f"the initial value of {s.name} contradicts the others through a constraint"
            warn(f"{problem}; {actual:.6g} is used instead of {target:.6g}")
    return solved


def state_key(interface: Interface, key: Any) -> str:
    """q(b, 2), Q(5) or a symbol, as the key of a state."""
    quantity = interface.get(key, STATES)
    return key_of(key) if quantity is None else quantity.key
