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
    loaded: Loaded, given: Any, closure: Closure | None, p: list[float], signals: list[Input], t: float = 0.0
) -> State:
    """The state a run starts from: values by name next to those of set_run, or a state (q, u) in equation units."""
    if isinstance(given, tuple | list) and len(given) == 2:
        q, u = (np.array(x) for x in state_lists(loaded.interface, *given))
        for x, value in zip(loaded.interface.states, (*q, *u), strict=True):
            finite(value, f"initial: {x.name}")
        if closure is None:
            return _warned(loaded, (q, u))
        held = np.zeros(len(q), dtype=bool), np.zeros(len(u), dtype=bool)
        all_given = _Given(q, u, {x.key for x in loaded.interface.states}, *held, {})
        return _warned(loaded, _closed(loaded, all_given, q, u, closure, p, signals, t)[0])
    if given is not None and not isinstance(given, Mapping):
        what = "a dictionary {state: value}, or a state (q, u) as assemble() returns it"
        raise ModelError(f"initial={given!r} must be {what}", loaded.name)
    values = loaded.interface.start_values(given) if given else None
    return complete_state(loaded, values, closure, p, signals, t)


def given_start(
    loaded: Loaded, initial: Mapping[Any, float | str] | None, guess: Mapping[Any, float | str] | None = None
) -> Mapping[Any, float]:
    """Initial values and guesses: those of set_run unless others are given."""
    own = loaded.interface.run.initial
    if initial is None:
        return loaded.interface.start_values(with_guess(None, guess)) if guess else own
    return cast(Mapping[Any, float], with_guess(mapping(initial, "initial"), guess))


def complete_state(
    loaded: Loaded,
    given: Mapping[Any, float | str] | None,
    closure: Closure | None = None,
    p: list[float] | None = None,
    signals: Inputs = None,
    t: float = 0.0,
) -> State:
    """A full state (q, u) in equation units on all constraints; initial values, parameters and inputs are the defaults
    unless given."""
    return assembled(loaded, given, closure, p, signals, t)[0]


def assembled(
    loaded: Loaded,
    given: Mapping[Any, float | str] | None,
    closure: Closure | None,
    p: list[float] | None,
    signals: Inputs,
    t: float = 0.0,
) -> tuple[State, np.ndarray]:
    """The same, and which states (q, u) the assembly was free to change."""
    read = _read(loaded, given)
    q, u = _state_of(loaded, read, p, signals, t)
    if closure is None:
        return _warned(loaded, (q, u)), np.concatenate([read.free_q, read.free_u])
    p = loaded.parameter_values() if p is None else p
    signals = loaded.inputs(None) if signals is None else signals
    state, free = _closed(loaded, read, q, u, closure, p, signals, t)
    return _warned(loaded, state), free


def _warned(loaded: Loaded, state: State) -> State:
    """The state, with a warning where it is in gimbal lock, or Euler parameters do not determine an orientation."""
    mechanism = loaded.analysis.mechanism
    for told in gimbal_lock(mechanism, state[0]):
        warn(f"{told}: the rates of its angles are not determined there. {ELSEWHERE}")
    if norms := mechanism.norms:
        values: dict[Expr, float] = dict(zip(mechanism.coordinates, state[0].tolist(), strict=False))
        for text, norm in norms:
            if abs(square := float(evaluate((norm,), values)[0])) > UNIT_SIZE:
                what = f"the initial values have size {(1 + square) ** 0.5:.6g} and define no orientation"
                warn(f"{text}: {what}; give four whose squares add up to 1")
    return state


def _closed(
    loaded: Loaded,
    given: _Given,
    q: np.ndarray,
    u: np.ndarray,
    closure: Closure,
    p: list[float],
    signals: list[Input],
    t: float,
) -> tuple[State, np.ndarray]:
    """The state with its loops closed, and what was free to change: what is `given` is kept if that can be."""
    interface, free_q, free_u = loaded.interface, given.free_q, given.free_u
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
        may_q, may_u = free_q, free_u  # what is given is kept
        if attempt == 1:  # if that cannot be, dependent coordinates are guesses only
            independent = {key_of(u) for u in loaded.analysis.independent_speeds}
            may_q = free_q | np.array(["u" + x.key[1:] not in independent for x in interface.coordinates])
        elif attempt == 2:  # then everything may move
            may_q, may_u = np.ones_like(free_q), np.ones_like(free_u)
        try:
            assemble = partial(closure.assemble, t, q, u, may_q, may_u)
            found = loaded.starts.found("assembled", assemble, numbers, q, u, may_q, may_u)
        except CannotClose as error:
            failed = failed or error
            other = _from_elsewhere(loaded, t, q, u, may_q, may_u, closure) if attempt != 1 else None
            if other is None:
                continue
            found = other
        if gimbal_lock(mechanism, found[0]):
            found = _from_elsewhere(loaded, t, q, u, may_q, may_u, closure) or found
        if attempt > 0:
            _warn_of_moved(interface, given.names, np.concatenate([q, u]), np.concatenate(found))
        return found, np.concatenate([may_q, may_u])
    assert failed is not None
    raise ModelError(str(failed), loaded.name)


def _from_elsewhere(
    loaded: Loaded, t: float, q: np.ndarray, u: np.ndarray, may_q: np.ndarray, may_u: np.ndarray, closure: Closure
) -> State | None:
    """The assembly nearest to the guess, of those found from other starts of what is not given, that is in no gimbal
    lock; or None."""
    gap = float(np.abs(closure.evaluate(t, q, u)[0]).max(initial=0.0))
    reach = reaches(np.array(slides_of(loaded.analysis.mechanism, loaded.program)), gap)

    def assembled(start: np.ndarray) -> State:
        return closure.assemble(t, start, u, may_q, may_u, nudges=0)

    return from_elsewhere(assembled, q, may_q, reach, lambda q: gimbal_lock(loaded.analysis.mechanism, q))


def slides_of(mechanism: Mechanism, program: Program) -> list[bool]:
    """Which coordinates slide."""
    slides = {s for b in mechanism.bodies for s in b.joint.slide_coordinates}
    return [s in slides for s in program.coordinates]


def _warn_of_moved(interface: Interface, names: set[str], before: np.ndarray, after: np.ndarray) -> None:
    """Reports which given initial values contradict the constraints, and what is used instead."""
    moved = [
        f"{x.name} {x.unit.from_equation(old):.6g} -> {x.unit.from_equation(new):.6g}"
        for x, old, new in zip(interface.states, before, after, strict=True)
        if x.key in names and abs(new - old) > ASSEMBLY.told
    ]
    if moved:
        warn(f"the initial values contradict the constraints; changed: {', '.join(moved)}")


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


def _read(loaded: Loaded, given: Mapping[Any, float | str] | None) -> _Given:
    """Initial values, which are not to be changed: those of set_run unless given. The last ones are remembered."""
    if given is None:
        return loaded.starts.read((), lambda: _read_afresh(loaded.interface, loaded.interface.run.initial))
    values: list[Any] = [*given.values()]
    try:
        usual = all(type(value) in (float, int, Guess) for value in values)
        guesses = tuple(isinstance(value, Guess) for value in values)
        key = (*given, guesses, bytes_of(values)) if usual else None
    except OverflowError:
        key = None

    def make() -> _Given:
        return _read_afresh(loaded.interface, given)

    return make() if key is None else loaded.starts.read(key, make)


def _read_afresh(interface: Interface, given: Mapping[Any, float | str]) -> _Given:
    interface.keyed(given, STATES, "initial")  # no state twice
    listed = interface.coordinates, interface.speeds
    q, u = (np.array([x.default or 0.0 for x in some]) for some in listed)
    wanted: dict[Symbol, float] = {}
    kept: dict[str, bool] = {}
    for key, value in given.items():
        x = interface.get(key, STATES)
        value = interface.in_user_unit(value, x, "initial")
        what = "guess" if isinstance(value, Guess) else "initial value"
        number = finite(value, f"{what} of {key}")
        if x is None:
            known = [s.name for s in interface.states]
            why = f"no such coordinate or speed.{did_you_mean(str(key), known)} States: {', '.join(known)}."
            raise ModelError(f"{what} for '{key}': {why}", interface.model)
        inside = float(x.unit.to_equation(number))
        kept[x.key] = not isinstance(value, Guess)
        if x.kind == "removed" and x.symbol is not None:
            if not kept[x.key]:
                why = "a constraint determines this speed from the others; omit it"
                raise ModelError(f"guess for '{key}': {why}", interface.model)
            wanted[x.symbol] = inside
        else:
            (q if x.kind == "coordinate" else u)[x.place] = inside
    names = {key for key, is_kept in kept.items() if is_kept}
    free_q, free_u = (np.array([x.key not in names for x in some], dtype=bool) for some in listed)
    return _Given(q, u, names, free_q, free_u, wanted)


def initial_state(
    loaded: Loaded, given: Mapping[Any, float], p: list[float] | None = None, signals: Inputs = None, t: float = 0.0
) -> State:
    """The values given, in equation units, else zero. Independent speeds follow removed ones that are given."""
    return _state_of(loaded, _read(loaded, given), p, signals, t)


def _state_of(loaded: Loaded, found: _Given, p: list[float] | None, signals: Inputs, t: float) -> State:
    q, u = found.q.copy(), found.u.copy()
    if found.wanted:
        p = loaded.parameter_values() if p is None else p
        signals = loaded.inputs(None) if signals is None else signals
        w = [i.function(t) for i in signals]
        u = _speeds_for(loaded, found.wanted, t, q, u, found.free_u, p, w)
    return q, u


def _speeds_for(
    loaded: Loaded,
    wanted: dict[Symbol, float],
    t: float,
    q: np.ndarray,
    u: np.ndarray,
    free: np.ndarray,
    p: list[float],
    w: list[float],
) -> np.ndarray:
    """Independent speeds, as far as they are free, for which removed speeds have the wanted values."""
    program = loaded.program
    known = known_symbols(program, t, q, u, p, w)
    relations = [loaded.analysis.kinematics.speed[s] for s in wanted]

    def values(speeds: np.ndarray) -> np.ndarray:
        return np.array(evaluate(relations, known | dict(zip(program.speeds, speeds.tolist(), strict=True))))

    start = np.where(free, 0.0, u)
    base = values(start)
    slopes = np.array([values(start + row) - base for row in np.eye(len(u))[free]]).reshape(free.sum(), len(base)).T
    missing = np.array(list(wanted.values())) - base
    solved = start.copy()
    solved[free] = np.linalg.lstsq(slopes, missing, rcond=1e-10)[0] if free.any() else 0.0
    for s, want, got in zip(wanted, wanted.values(), values(solved), strict=True):
        if abs(got - want) > 1e-9 * max(1.0, abs(want)):
            told = f"the initial value of {s.name} contradicts the others through a constraint"
            warn(f"{told}; {got:.6g} is used instead of {want:.6g}")
    return solved


def state_key(interface: Interface, key: Any) -> str:
    """q(b, 2), Q(5) or a symbol, as the key of a state."""
    found = interface.get(key, STATES)
    return key_of(key) if found is None else found.key
