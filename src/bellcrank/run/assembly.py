"""Initial states: what is given is kept, what constraints determine is solved for, the rest is zero."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bellcrank.backend.c import Input
from bellcrank.errors import ModelError, ModelWarning, did_you_mean
from bellcrank.expr import Expr, Symbol, evaluate
from bellcrank.numeric.projection import CannotClose, Closure
from bellcrank.run.values import finite, input_signals, parameter_values, state_lists

if TYPE_CHECKING:
    from bellcrank.api.equations import Equations

STARTS = 24  # from which a loop is tried to be closed, if the guess fails


def start_state(
    equations: Equations,
    given: Any,
    closure: Closure | None,
    p: list[float],
    signals: list[Input],
) -> tuple[np.ndarray, np.ndarray]:
    """The state a run starts from: values by name beside those of set_run, or a whole state (q, u) in equation units."""
    if isinstance(given, tuple | list) and len(given) == 2:
        q, u = (np.array(x) for x in state_lists(equations, *given))
        return (q, u) if closure is None else _closed(equations, None, q, u, closure)
    default = equations.analysis.mechanism.description.run.initial
    if given is not None and not isinstance(given, Mapping):
        what = "a dictionary {state: value}, or a state (q, u) as complete() returns it"
        raise ModelError(f"initial={given!r} must be {what}", equations.name)
    return complete_state(equations, {**default, **(given or {})}, closure, p, signals)


def complete_state(
    equations: Equations,
    given: Mapping[Any, float],
    closure: Closure | None = None,
    p: list[float] | None = None,
    signals: list[Input] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """A full state (q, u) in equation units on all constraints; parameters and inputs are the defaults unless given."""
    q, u = initial_state(equations, given, p, signals)
    if closure is None:
        return q, u
    return _closed(equations, {state_key(equations, key) for key in given}, q, u, closure)


def _closed(
    equations: Equations, given: set[str] | None, q: np.ndarray, u: np.ndarray, closure: Closure
) -> tuple[np.ndarray, np.ndarray]:
    """The state with its loops closed; `given` names the values that are kept if that can be (None: all)."""
    program = equations.program
    names = {_plain(s.name) for s in (*program.coordinates, *program.speeds)} if given is None else given
    free_q, free_u = (
        np.array([_plain(s.name) not in names for s in listed]) for listed in (program.coordinates, program.speeds)
    )
    # what is given is kept; if that cannot be, dependent coordinates are guesses only; then everything may move
    independent = {_plain(u.name) for u in equations.independent_speeds}
    guessed = np.array(["u" + _plain(s.name)[1:] not in independent for s in program.coordinates])
    everything = np.ones_like(free_q), np.ones_like(free_u)
    failed = None
    for attempt, (may_q, may_u) in enumerate(((free_q, free_u), (free_q | guessed, free_u), everything)):
        try:
            found = closure.assemble(0.0, q, u, may_q, may_u)
        except CannotClose as error:
            failed = failed or error
            other = _from_elsewhere(equations, q, u, may_q, may_u, closure) if attempt == 0 else None
            if other is None:
                continue
            found = other
        if attempt > 0:
            _warn_of_moved(equations, names, np.concatenate([q, u]), np.concatenate(found))
        return found
    assert failed is not None
    raise ModelError(
        f"the loop {failed.row} cannot be closed: a residual of {failed.residual:.3g} remains. "
        "Check lengths, or give initial values nearer to an assembly.",
        equations.name,
    )


def _from_elsewhere(
    equations: Equations, q: np.ndarray, u: np.ndarray, may_q: np.ndarray, may_u: np.ndarray, closure: Closure
) -> tuple[np.ndarray, np.ndarray] | None:
    """The assembly nearest to the guess among those found from other starts of what is not given; None if there is none."""
    if not may_q.any():
        return None
    slides = {s for b in equations.analysis.mechanism.bodies for s in b.joint.slide_coordinates}
    gap = float(np.abs(closure.evaluate(0.0, q, u)[0]).max(initial=0.0))
    reach = np.array([gap if s in slides else np.pi for s in equations.program.coordinates])
    rng = np.random.default_rng(0)
    found: list[tuple[float, tuple[np.ndarray, np.ndarray]]] = []
    for i in range(STARTS):
        start = q + np.where(may_q, (i + 1) / STARTS * reach * rng.uniform(-1, 1, len(q)), 0.0)
        try:
            state = closure.assemble(0.0, start, u, may_q, may_u)
        except CannotClose:
            continue
        distance = float(np.linalg.norm((state[0] - q) / np.where(reach > 0, reach, 1.0)))
        found.append((distance, state))
    return min(found, key=lambda pair: pair[0])[1] if found else None


def _plain(name: str) -> str:
    return name.lower().replace(" ", "")


def _warn_of_moved(equations: Equations, names: set[str], before: np.ndarray, after: np.ndarray) -> None:
    """Tells which given initial values contradict the constraints, and what is used instead."""
    program, units = equations.program, equations.quantities.states
    moved = []
    for s, old, new in zip((*program.coordinates, *program.speeds), before, after, strict=True):
        if _plain(s.name) in names and abs(new - old) > 1e-9:
            unit = units[s.name]
            moved.append(f"{s.name} {unit.from_equation(old):.6g} -> {unit.from_equation(new):.6g}")
    if moved:
        warnings.warn(
            f"the initial values contradict the constraints; changed: {', '.join(moved)}",
            ModelWarning,
            stacklevel=5,
        )


def initial_state(
    equations: Equations,
    given: Mapping[Any, float],
    p: list[float] | None = None,
    signals: list[Input] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """The values given, in equation units; zero where none is. Independent speeds follow removed ones that are given."""
    program, units = equations.program, equations.quantities.states
    q = {_plain(s.name): i for i, s in enumerate(program.coordinates)}
    u = {_plain(s.name): i for i, s in enumerate(program.speeds)}
    values_q, values_u = np.zeros(len(q)), np.zeros(len(u))
    for s, x in equations.analysis.mechanism.start.items():
        values_q[q[_plain(s.name)]] = x
    removed = {_plain(r.speed.name): r.speed for r in equations.analysis.removed}
    wanted: dict[Symbol, float] = {}
    for key, value in given.items():
        name = state_key(equations, key)
        number = finite(value, f"initial value of {key}")
        if name in q:
            values_q[q[name]] = units[program.coordinates[q[name]].name].to_equation(number)
        elif name in u:
            values_u[u[name]] = units[program.speeds[u[name]].name].to_equation(number)
        elif name in removed:
            unit = units[removed[name].name]
            wanted[removed[name]] = float(unit.to_equation(number))
        else:
            known = [s.name for s in (*program.coordinates, *program.speeds)]
            raise ModelError(
                f"initial value for '{key}': no such coordinate or speed.{did_you_mean(str(key), known)} States: {', '.join(known)}.",
                equations.name,
            )
    if wanted:
        names = {state_key(equations, key) for key in given}
        free = np.array([_plain(s.name) not in names for s in program.speeds])
        p = parameter_values(equations) if p is None else p
        signals = input_signals(equations, None) if signals is None else signals
        values_u = _speeds_for(equations, wanted, values_q, values_u, free, p, [i.function(0.0) for i in signals])
    return values_q, values_u


def _speeds_for(
    equations: Equations,
    wanted: dict[Symbol, float],
    q: np.ndarray,
    u: np.ndarray,
    free: np.ndarray,
    p: list[float],
    w: list[float],
) -> np.ndarray:
    """Independent speeds, as far as they are free, for which removed speeds have the wanted values."""
    program = equations.program
    known: dict[Expr, float] = {Symbol("t", "time"): 0.0}
    for listed, numbers in (
        (program.coordinates, q.tolist()),
        (program.parameters, p),
        (program.given_inputs, w),
    ):
        known.update(zip(listed, numbers, strict=True))
    relations = [equations.analysis.kinematics.speed[s] for s in wanted]

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
            warnings.warn(
                f"the initial value of {s.name} contradicts the others through a constraint; {got:.6g} is used instead of {want:.6g}",
                ModelWarning,
                stacklevel=5,
            )
    return solved


def state_key(equations: Equations, key: Any) -> str:
    """q(b, 2), Q(5) or a symbol, as the name of a state without spaces."""
    name = key.name if isinstance(key, Symbol) else str(key)
    name = name.lower().replace(" ", "")
    if name[:2] in ("q(", "u(") and name[2:-1].isdigit():
        listed = equations.program.coordinates if name[0] == "q" else equations.program.speeds
        index = int(name[2:-1])
        if 1 <= index <= len(listed):
            return _plain(listed[index - 1].name)
    return name
