"""Initial states: what is given is kept, what constraints determine is solved for, the rest is
zero."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import numpy as np

from bellcrank.core.errors import ModelError, did_you_mean, issue_warning, require_mapping
from bellcrank.core.name_lookup import normalized_name
from bellcrank.core.numeric.loop_constraints import AssemblyError, LoopConstraints
from bellcrank.core.numeric.multistart import assemble_multistart, search_ranges
from bellcrank.core.numeric.run_spec import ProgramInput
from bellcrank.core.numeric.tuning import ASSEMBLY
from bellcrank.core.units import ANGLE
from bellcrank.mechanics.interface.interface import Interface
from bellcrank.model.guess import StateGuess, with_guess
from bellcrank.model.mechanism import Mechanism
from bellcrank.program.program import SimulationProgram
from bellcrank.simulation.run.argument_checks import require_finite, state_lists, symbol_values
from bellcrank.simulation.run.gimbal import ELSEWHERE, gimbal_lock_messages, move_off_gimbal_lock
from bellcrank.simulation.run.initial_state_cache import float_bytes
from bellcrank.simulation.run.loaded import LoadedModel
from bellcrank.symbolic.expr import Expr, Symbol, evaluate

State = tuple[np.ndarray, np.ndarray]
Inputs = list[ProgramInput] | None
STATES = ("coordinate", "speed", "removed")
TWO_TURNS = 4 * math.pi
UNIT_SIZE = 1e-3  # of the square of Euler parameters: what rounding to four digits leaves


@np.errstate(over="ignore", invalid="ignore")  # values that are no finite numbers are found
def resolve_initial_state(
    loaded: LoadedModel,
    initial: Any,
    closure: LoopConstraints | None,
    p: list[float],
    signals: list[ProgramInput],
    t: float = 0.0,
) -> State:
    """The state a run starts from: values by name next to those of set_run, or a state (q, u) in
    equation units."""
    if isinstance(initial, tuple | list) and len(initial) == 2:
        q, u = (np.array(x) for x in state_lists(loaded.interface, *initial))
        for x, value in zip(loaded.interface.states, (*q, *u), strict=True):
            require_finite(value, f"initial: {x.name}")
        if closure is None:
            return _warn_undetermined_angles(loaded, (q, u))
        none_free = np.zeros(len(q), dtype=bool), np.zeros(len(u), dtype=bool)
        initial_values = _InitialValues(
            q, u, {x.key for x in loaded.interface.states}, *none_free, {}
        )
        return _warn_undetermined_angles(
            loaded, _close_loops(loaded, initial_values, q, u, closure, p, signals, t)[0]
        )
    if initial is not None and not isinstance(initial, Mapping):
        expected = "a dictionary {state: value}, or a state (q, u) as assemble() returns it"
        raise ModelError(f"initial={initial!r} must be {expected}", loaded.name)
    values = loaded.interface.initial_values(initial) if initial else None
    return assemble_state(loaded, values, closure, p, signals, t)


def large_angle_notes(interface: Interface, *sources: object) -> list[str]:
    """A note for every angle above two turns that is given as a bare number of rad: degrees may be
    meant. The last of the `sources` that gives a state counts."""
    given: dict[str, object] = {}
    for values in sources:
        names = values if isinstance(values, Mapping) else {}
        states = {name: interface.find_or_none(name, ("coordinate",)) for name in names}
        given |= {x.key: names[name] for name, x in states.items() if x is not None}
    notes = []
    for x in interface.of_kinds(("coordinate",)):
        value = given.get(x.key)
        if x.unit.dimension == ANGLE and x.unit.factor == 1.0 and _is_large_number(value):
            notes.append(
                f"the initial value of {x.name} is {value:g} rad, more than two turns; if degrees "
                f'are meant, write "{value:g} deg", else "{value:g} rad"'
            )
    return notes


def _is_large_number(value: object) -> bool:
    return isinstance(value, int | float) and TWO_TURNS < abs(value) < math.inf


def merge_initial_values(
    loaded: LoadedModel,
    initial: Mapping[Any, float | str] | None,
    guess: Mapping[Any, float | str] | None = None,
) -> Mapping[Any, float]:
    """Initial values and guesses: those of set_run unless others are given."""
    model_initial = loaded.interface.run.initial
    if initial is None:
        return loaded.interface.initial_values(with_guess(None, guess)) if guess else model_initial
    return cast(Mapping[Any, float], with_guess(require_mapping(initial, "initial"), guess))


def assemble_state(
    loaded: LoadedModel,
    initial: Mapping[Any, float | str] | None,
    closure: LoopConstraints | None = None,
    p: list[float] | None = None,
    signals: Inputs = None,
    t: float = 0.0,
) -> State:
    """A full state (q, u) in equation units on all constraints; initial values, parameters and
    inputs are the defaults unless given."""
    return assemble_with_free_mask(loaded, initial, closure, p, signals, t)[0]


def assemble_with_free_mask(
    loaded: LoadedModel,
    initial: Mapping[Any, float | str] | None,
    closure: LoopConstraints | None,
    p: list[float] | None,
    signals: Inputs,
    t: float = 0.0,
) -> tuple[State, np.ndarray]:
    """The same, and which states (q, u) the assembly was free to change."""
    initial_values = _read_initial_values(loaded, initial)
    q, u = _state_from_values(loaded, initial_values, p, signals, t)
    if closure is None:
        return _warn_undetermined_angles(loaded, (q, u)), np.concatenate(
            [initial_values.free_q, initial_values.free_u]
        )
    p = loaded.parameter_values() if p is None else p
    signals = loaded.inputs(None) if signals is None else signals
    state, free = _close_loops(loaded, initial_values, q, u, closure, p, signals, t)
    return _warn_undetermined_angles(loaded, state), free


def _warn_undetermined_angles(loaded: LoadedModel, state: State) -> State:
    """The state, with a warning where it is in gimbal lock, or Euler parameters do not determine an
    orientation."""
    mechanism = loaded.analysis.mechanism
    for message in gimbal_lock_messages(mechanism, state[0]):
        issue_warning(f"{message}: the rates of its angles are not determined there. {ELSEWHERE}")
    if norms := mechanism.normalization_constraints:
        values: dict[Expr, float] = dict(
            zip(mechanism.coordinates, state[0].tolist(), strict=False)
        )
        for text, norm in norms:
            if abs(square := float(evaluate((norm,), values)[0])) > UNIT_SIZE:
                problem = (
                    f"the initial values have size {(1 + square) ** 0.5:.6g} and define no "
                    f"orientation"
                )
                issue_warning(f"{text}: {problem}; give four whose squares add up to 1")
    return state


def _close_loops(
    loaded: LoadedModel,
    initial_values: _InitialValues,
    q: np.ndarray,
    u: np.ndarray,
    closure: LoopConstraints,
    p: list[float],
    signals: list[ProgramInput],
    t: float,
) -> tuple[State, np.ndarray]:
    """The state with its loops closed, and what was free to change; `initial_values` are kept if
    possible."""
    interface, free_q, free_u = loaded.interface, initial_values.free_q, initial_values.free_u
    mechanism = loaded.analysis.mechanism
    q = move_off_gimbal_lock(mechanism, q, free_q)
    numbers = [*p, *[i.function(t) for i in signals], t]
    if locked := gimbal_lock_messages(mechanism, q):
        raise ModelError(
            f"{locked[0]}, where loops cannot be assembled. {ELSEWHERE}",
            loaded.name,
        )
    failed = None
    for attempt in range(3):
        movable_q, movable_u = free_q, free_u  # what is given is kept
        if attempt == 1:  # if that cannot be, dependent coordinates are guesses only
            independent = {normalized_name(u) for u in loaded.analysis.independent_speeds}
            movable_q = free_q | np.array(
                ["u" + x.key[1:] not in independent for x in interface.coordinates]
            )
        elif attempt == 2:  # then everything may move
            movable_q, movable_u = np.ones_like(free_q), np.ones_like(free_u)
        try:
            assemble = partial(closure.assemble, t, q, u, movable_q, movable_u)
            state = loaded.initial_state_cache.get_arrays(
                "assembled", assemble, numbers, q, u, movable_q, movable_u
            )
        except AssemblyError as error:
            failed = failed or error
            alternative = (
                _assemble_from_other_starts(loaded, t, q, u, movable_q, movable_u, closure)
                if attempt != 1
                else None
            )
            if alternative is None:
                continue
            state = alternative
        if gimbal_lock_messages(mechanism, state[0]):
            state = (
                _assemble_from_other_starts(loaded, t, q, u, movable_q, movable_u, closure) or state
            )
        if attempt > 0:
            _warn_changed_values(
                interface, initial_values.keys, np.concatenate([q, u]), np.concatenate(state)
            )
        return state, np.concatenate([movable_q, movable_u])
    assert failed is not None
    raise ModelError(str(failed), loaded.name)


def _assemble_from_other_starts(
    loaded: LoadedModel,
    t: float,
    q: np.ndarray,
    u: np.ndarray,
    movable_q: np.ndarray,
    movable_u: np.ndarray,
    closure: LoopConstraints,
) -> State | None:
    """The assembly nearest to the guess, of those found from other starts of what is not given,
    that is in no gimbal lock; or None."""
    gap = float(np.abs(closure.evaluate(t, q, u)[0]).max(initial=0.0))
    ranges = search_ranges(np.array(slide_mask(loaded.analysis.mechanism, loaded.program)), gap)

    def assemble_from(start: np.ndarray) -> State:
        return closure.assemble(t, start, u, movable_q, movable_u, nudges=0)

    return assemble_multistart(
        assemble_from,
        q,
        movable_q,
        ranges,
        lambda q: gimbal_lock_messages(loaded.analysis.mechanism, q),
    )


def slide_mask(mechanism: Mechanism, program: SimulationProgram) -> list[bool]:
    """Which coordinates slide."""
    slides = {s for b in mechanism.bodies for s in b.joint.slide_coordinates}
    return [s in slides for s in program.coordinates]


def _warn_changed_values(
    interface: Interface, names: set[str], old_state: np.ndarray, new_state: np.ndarray
) -> None:
    """Reports which given initial values contradict the constraints, and what is used instead."""
    changed_values = [
        f"{x.name} {x.unit.from_equation_units(old):.6g} -> {x.unit.from_equation_units(new):.6g}"
        for x, old, new in zip(interface.states, old_state, new_state, strict=True)
        if x.key in names and abs(new - old) > ASSEMBLY.told
    ]
    if changed_values:
        issue_warning(
            f"the initial values contradict the constraints; changed: {', '.join(changed_values)}"
        )


@dataclass(frozen=True)
class _InitialValues:
    """Initial values as they were given: coordinates and speeds in equation units, else zero; keys
    of those given, which others are free, and what removed speeds should be."""

    q: np.ndarray
    u: np.ndarray
    keys: set[str]
    free_q: np.ndarray
    free_u: np.ndarray
    removed_speeds: dict[Symbol, float]


def _read_initial_values(
    loaded: LoadedModel, initial: Mapping[Any, float | str] | None
) -> _InitialValues:
    """Initial values, which are not to be changed: those of set_run unless given. The last ones are
    remembered."""
    if initial is None:
        return loaded.initial_state_cache.get_object(
            (), lambda: _parse_initial_values(loaded.interface, loaded.interface.run.initial)
        )
    values = [*initial.values()]
    try:
        is_cacheable = all(type(value) in (float, int, StateGuess) for value in values)
        guesses = tuple(isinstance(value, StateGuess) for value in values)
        key = (*initial, guesses, float_bytes(cast(list[float], values))) if is_cacheable else None
    except OverflowError:
        key = None

    def parse_values() -> _InitialValues:
        return _parse_initial_values(loaded.interface, initial)

    return (
        parse_values() if key is None else loaded.initial_state_cache.get_object(key, parse_values)
    )


def _parse_initial_values(
    interface: Interface, initial: Mapping[Any, float | str]
) -> _InitialValues:
    interface.values_by_key(initial, STATES, "initial")  # no state twice
    listed = interface.coordinates, interface.speeds
    q, u = (np.array([x.default or 0.0 for x in quantities]) for quantities in listed)
    removed_speeds: dict[Symbol, float] = {}
    fixed_by_key: dict[str, bool] = {}
    for key, value in initial.items():
        x = interface.find_or_none(key, STATES)
        value = interface.in_user_unit(value, x, "initial")
        kind = "guess" if isinstance(value, StateGuess) else "initial value"
        number = require_finite(value, f"{kind} of {key}")
        if x is None:
            state_names = [s.name for s in interface.states]
            reason = (
                f"no such coordinate or speed.{did_you_mean(str(key), state_names)} States: "
                f"{', '.join(state_names)}."
            )
            raise ModelError(f"{kind} for '{key}': {reason}", interface.model)
        equation_value = float(x.unit.to_equation_units(number))
        fixed_by_key[x.key] = not isinstance(value, StateGuess)
        if x.kind == "removed" and x.symbol is not None:
            if not fixed_by_key[x.key]:
                reason = "a constraint determines this speed from the others; omit it"
                raise ModelError(f"guess for '{key}': {reason}", interface.model)
            removed_speeds[x.symbol] = equation_value
        else:
            (q if x.kind == "coordinate" else u)[x.index] = equation_value
    names = {key for key, is_fixed in fixed_by_key.items() if is_fixed}
    free_q, free_u = (
        np.array([x.key not in names for x in quantities], dtype=bool) for quantities in listed
    )
    return _InitialValues(q, u, names, free_q, free_u, removed_speeds)


def state_from_mapping(
    loaded: LoadedModel,
    initial: Mapping[Any, float],
    p: list[float] | None = None,
    signals: Inputs = None,
    t: float = 0.0,
) -> State:
    """The values given, in equation units, else zero. Independent speeds follow removed ones that
    are given."""
    return _state_from_values(loaded, _read_initial_values(loaded, initial), p, signals, t)


def _state_from_values(
    loaded: LoadedModel,
    initial_values: _InitialValues,
    p: list[float] | None,
    signals: Inputs,
    t: float,
) -> State:
    q, u = initial_values.q.copy(), initial_values.u.copy()
    if initial_values.removed_speeds:
        p = loaded.parameter_values() if p is None else p
        signals = loaded.inputs(None) if signals is None else signals
        w = [i.function(t) for i in signals]
        u = _solve_independent_speeds(
            loaded, initial_values.removed_speeds, t, q, u, initial_values.free_u, p, w
        )
    return q, u


def _solve_independent_speeds(
    loaded: LoadedModel,
    targets: dict[Symbol, float],
    t: float,
    q: np.ndarray,
    u: np.ndarray,
    free: np.ndarray,
    p: list[float],
    w: list[float],
) -> np.ndarray:
    """Independent speeds, as far as they are free, for which removed speeds have the wanted
    values."""
    program = loaded.program
    values_by_symbol = symbol_values(program, t, q, u, p, w)
    relations = [loaded.analysis.kinematics.speed[s] for s in targets]

    def values(speeds: np.ndarray) -> np.ndarray:
        return np.array(
            evaluate(
                relations,
                values_by_symbol | dict(zip(program.speeds, speeds.tolist(), strict=True)),
            )
        )

    start = np.where(free, 0.0, u)
    base = values(start)
    partials = (
        np.array([values(start + row) - base for row in np.eye(len(u))[free]])
        .reshape(free.sum(), len(base))
        .T
    )
    residual = np.array(list(targets.values())) - base
    if not (np.isfinite(partials).all() and np.isfinite(residual).all()):
        largest = int(np.argmax(np.abs(u)))
        raise ModelError(
            f"initial value {program.speeds[largest].name} = {u[largest]:g} is too large: the "
            f"speeds that follow from it are not finite",
            loaded.name,
        )
    solved = start.copy()
    solved[free] = np.linalg.lstsq(partials, residual, rcond=1e-10)[0] if free.any() else 0.0
    for s, target, actual in zip(targets, targets.values(), values(solved), strict=True):
        if abs(actual - target) > 1e-9 * max(1.0, abs(target)):
            problem = f"the initial value of {s.name} contradicts the others through a constraint"
            issue_warning(f"{problem}; {actual:.6g} is used instead of {target:.6g}")
    return solved


def state_key(interface: Interface, key: object) -> str:
    """q(b, 2), Q(5) or a symbol, as the key of a state."""
    quantity = interface.find_or_none(key, STATES)
    return normalized_name(key) if quantity is None else quantity.key
