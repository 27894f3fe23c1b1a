"""Equilibria and steady motions of a model: what is asked for, where the search starts, and the words around it.

The nearest equilibrium is the one in whose region of convergence (Newton's method) the start lies. If it lies in none,
it is the one to which damped motion from rest at the start leads; else a search with bounded steps is made.

A steady motion has constant speeds and user-defined states; coordinates on which nothing depends continue. A model that
starts moving has a steady motion at that speed: the speed that carries the motion is held, and an input is set free
where it takes one to keep it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from bellcrank.analysis.aims import Aim, aims_of
from bellcrank.analysis.begin import aimed, begin_at, feeds
from bellcrank.analysis.cyclic import ignorable, onward, together
from bellcrank.analysis.damped import DampedMotion
from bellcrank.analysis.equilibrium import Equilibrium, NoEquilibrium, neutral_names
from bellcrank.analysis.evaluate import evaluator
from bellcrank.analysis.jacobian_runner import Find, Remembered, groups_for
from bellcrank.analysis.plant import PARAMETERS, SETTABLE, STATES, Plant
from bellcrank.analysis.point import Point
from bellcrank.analysis.problem import Problem
from bellcrank.analysis.solve import STEPS, Root
from bellcrank.analysis.spin import despun
from bellcrank.analysis.steady import carrier, going, in_proportion, left_behind, motion_words, rates_at, value_words
from bellcrank.analysis.where import place_at
from bellcrank.errors import ModelError, RunError
from bellcrank.interface.interface import Quantity
from bellcrank.run.evaluate import Inputs, Parameters
from bellcrank.run.status import RunStatus
from bellcrank.run.stepping import NO_VALUE
from bellcrank.run.values import finite
from bellcrank.units import ANGLE

Values = Mapping[Any, float | str] | None
FEW = 40  # steps of a search that is not the only one
SETTLING = (0.3, 2.0)  # s of a run before a search is tried from its end
COMPARABLE = 0.5  # effect of an input against that of the strongest: of such inputs the first one declared is set free
IDLE = 1e-9  # change of an input that was set free, below which it was not needed
SLOWLY = (1e-4, 1e-3, 1e-2, 0.1, 0.3)  # fractions of a speed on the way to it from rest


@dataclass(frozen=True)
class Asked:
    """What is asked for: where the search starts, what is held, free, aimed at. Values in equation units.

    `carried`: the speed of the start that is held because nothing else says how fast; `given`: inputs whose values
    the caller has chosen; `moving`: is it a motion that is asked for?
    """

    plant: Plant
    start: Point
    cyclic: set[str]
    along: np.ndarray
    onward: set[str]
    held: dict[Quantity, float]
    free: tuple[Quantity, ...]
    aims: tuple[Aim, ...]
    carried: Quantity | None
    given: frozenset[Quantity]
    moving: bool

    @property
    def candidates(self) -> list[Quantity]:
        """Inputs that may be set free to hold a speed or reach an aim of a motion."""
        if not self.moving:
            return []
        fixed = {*self.held, *self.free}
        return [q for q in self.plant.interface.inputs if not q.rate and q not in fixed]

    @property
    def at_rest(self) -> bool:
        """Is it the state of rest that is asked for, with all coordinates to be found?"""
        return not self.moving and not self.free and not self.aims and not any(q.kind in STATES for q in self.held)

    @property
    def short(self) -> int:
        """Demands of a motion besides what is free for them: speeds that are held, and aims."""
        speeds = [q for q, v in self.held.items() if q.kind == "speed" and v]
        return len(speeds) + len(self.aims) + (self.carried is not None) - len(self.free) if self.moving else 0

    @cached_property
    def find(self) -> Find:
        """Values and derivatives by all states, inputs, and what is free besides."""
        interface = self.plant.interface
        columns = [*interface.states, *self.candidates, *self.free]
        symbols = [q.symbol for q in dict.fromkeys(columns) if q.symbol is not None]
        groups = groups_for(q for a in self.aims for q in a.channels)
        return Remembered(despun(evaluator(self.plant, groups, symbols), self.plant, self.start))

    def problem(self, freed: tuple[Quantity, ...] = (), start: Point | None = None) -> Problem:
        plant, listed = self.plant, self.plant.interface.states
        extra = [q for q in self.free if q.kind not in STATES]
        aimed = {q for a in self.aims for q in a.channels}
        unknowns = [
            s
            for s in listed
            if s not in self.held and s != self.carried and (s.name not in self.cyclic or s in self.free or s in aimed)
        ]
        wanted = _at_rest(plant, self.cyclic, self.along)
        return Problem(plant, self.find, start or self.start, (*unknowns, *extra, *freed), wanted, self.aims)


def _at_rest(plant: Plant, cyclic: set[str], along: np.ndarray) -> np.ndarray:
    """Combinations of rates that are zero in a steady motion: all but those of what continues, alone or together."""
    states = plant.interface.states
    kept = np.array([s.name not in cyclic for s in states])
    every = np.eye(len(states))[kept]
    if not len(along):
        return every
    support = np.flatnonzero(along.any(axis=0))
    _, _, right = np.linalg.svd(along[:, support])
    across = np.zeros((len(support) - len(along), len(states)))
    across[:, support] = right[len(along) :]
    return np.vstack([every[~every[:, support].any(axis=1)], across])


def find_equilibrium(
    plant: Plant,
    free: Any = None,
    fixed: Any = None,
    targets: Values = None,
    at: Any = None,
    parameters: Parameters = None,
    inputs: Inputs = None,
    t: float = 0.0,
    by: str = "",
) -> Equilibrium:
    """Solves for the state (and what is free) at which nothing accelerates. `at`: where the search starts.

    `by`: the only way of searching that is tried: "newton", "damped motion"; all if it is not given.
    """
    asked = _asked(plant, free, fixed, targets, at, parameters, inputs, t)
    best: tuple[Problem, Root] | None = None
    for problem, root, freed in _searches(asked, by):
        if root.found:
            return _result(asked, problem, _within_a_turn(problem, root), freed)
        if best is None or np.linalg.norm(root.residuals) < np.linalg.norm(best[1].residuals):
            best = problem, root
    if best is None:
        raise NoEquilibrium(f"the model '{plant.name}' has no equilibrium that could be found by {by}", {}, ())
    raise _none(asked, *best)


Search = tuple[Problem, Root, tuple[Quantity, ...]]


def _searches(asked: Asked, by: str) -> Iterator[Search]:
    """Searches one after the other, each tried if those before found nothing."""
    first = asked.problem()
    near = first.nearest() if by != "damped motion" and asked.short <= 0 else None
    if near is not None:
        yield first, near, ()
    if by != "newton" and asked.at_rest:
        yield from _damped(asked)
    if by == "newton" and asked.short > 0:
        freed = _set_free(asked, first)
        problem = asked.problem(freed)
        near = problem.nearest()
        if near is not None:
            yield problem, near, freed
    if by:
        return
    freed = _set_free(asked, first)
    if freed:
        problem = asked.problem(freed)
        yield problem, problem.solve(FEW), freed
    yield first, first.solve(FEW if asked.short > 0 else STEPS), ()
    for start in _other_starts(asked):
        freed = _set_free(asked, asked.problem(start=start))
        problem = asked.problem(freed, start)
        yield problem, problem.solve(FEW), freed


def _damped(asked: Asked) -> Iterator[Search]:
    """The equilibrium to which damped motion from rest leads, if it leads to one."""
    found: list[tuple[Problem, Root]] = []

    def ends(at: Point) -> bool:
        problem = asked.problem(start=at)
        root = problem.nearest()
        found.extend([] if root is None else [(problem, root)])
        return root is not None

    if DampedMotion(asked.plant, asked.find, asked.start, asked.cyclic).path(ends):
        yield *found[-1], ()


def _within_a_turn(problem: Problem, root: Root) -> Root:
    """The same root with angles within a turn of the start, where whole turns change nothing."""
    angles = np.array([q.kind == "coordinate" and q.unit.dimension == ANGLE for q in problem.unknowns], dtype=bool)
    turns = np.where(angles, np.trunc((root.x - problem.x) / (2 * math.pi)), 0.0)
    for i in np.flatnonzero(turns):
        x = root.x.copy()
        x[i] -= 2 * math.pi * turns[i]
        there = replace(problem, start=problem.at(x)).nearest()
        if there is not None and np.abs(there.x - x).max() < 1e-6:
            root = there
    return root


def _set_free(asked: Asked, problem: Problem) -> tuple[Quantity, ...]:
    """The inputs to set free, so many as are missing: those that act most, of comparable ones the first declared. So
    a car is driven by its `drive`, not by the torque of one wheel.

    None if the caller has given one of the same kind that acts too: a brake is not balanced behind his back.
    """
    if asked.short <= 0 or not asked.candidates:
        return ()
    found = problem.acting(problem.x, asked.candidates)
    strong = {q for q, effect in found if effect >= COMPARABLE * found[0][1]}
    acting = [q for q in asked.candidates if q in strong] + [q for q, _ in found if q not in strong]
    offered = [q for q in acting if q not in asked.given]
    if any(q in asked.given and q.unit.dimension == offered[0].unit.dimension for q in acting if offered):
        return ()
    return tuple(offered[: asked.short])


def _other_starts(asked: Asked) -> Iterator[Point]:
    """Where else a search may start: after a while of running, and faster and faster from rest."""
    for seconds in SETTLING:
        settled = _settled(asked, seconds)
        if settled is not None:
            yield settled
    speeds = [(q, v) for q, v in asked.held.items() if q.kind == "speed" and v and asked.start.of(q) == v]
    if len(speeds) != 1:
        return
    speed, value = speeds[0]
    point = in_proportion(asked.plant, asked.start, 0.0)
    before = 0.0
    for share in (*SLOWLY, 1.0):
        ratio = share / before if before else 1.0
        point = in_proportion(asked.plant, point, ratio).moved({speed: share * value})
        if share == 1.0:
            yield point
            return
        problem = asked.problem(_set_free(asked, asked.problem(start=point)), point)
        root = problem.solve(FEW)
        if not root.found:
            return
        point, before = problem.at(root.x), share


def _settled(asked: Asked, seconds: float) -> Point | None:
    """The state after a run from the start with constant inputs, speeds brought back to those asked for."""
    plant, start = asked.plant, asked.start
    state = start.q.tolist(), start.u.tolist()
    values = {"parameters": plant.parameters_at(start), "inputs": plant.inputs_at(start)}
    try:
        run = plant.simulate(t_end=seconds, initial=state, **values)
        if run.status is not RunStatus.FINISHED:
            return None
        found = place_at(plant, run).point
    except (RunError, ModelError):
        return None
    stay = [q for q in plant.interface.coordinates if q.name in asked.cyclic]
    stay += [q for q in (*asked.held, asked.carried) if q is not None and q.kind in STATES]
    gone = np.linalg.pinv(asked.along) @ (asked.along @ (found.q - start.q)) if len(asked.along) else 0.0
    point = replace(start, q=found.q - gone, u=found.u)
    speed = asked.carried or next((q for q in asked.held if q.kind == "speed"), None)
    if not asked.moving:
        point = in_proportion(plant, point, 0.0)
    elif speed is not None and point.of(speed) and start.of(speed):
        point = in_proportion(plant, point, start.of(speed) / point.of(speed))
    return point.moved({q: start.of(q) for q in stay})


def _asked(plant: Plant, free: Any, fixed: Any, targets: Any, at: Any, parameters: Any, inputs: Any, t: float) -> Asked:
    plant.refuse_kept()
    if isinstance(fixed, Mapping):
        held = {plant.find(k, SETTABLE, "fixed"): v for k, v in fixed.items()}
    else:
        held = dict.fromkeys(plant.find_all(fixed, SETTABLE, "fixed"))
    wanted_free = plant.find_all(free, SETTABLE, "free")
    aims = aims_of(plant, targets)
    both = [q.name for q in wanted_free if q in held]
    if both:
        raise ModelError(f"{', '.join(both)} cannot be both free and fixed", plant.name)
    numbers = {q: finite(v, f"the value of {q.name}") for q, v in held.items() if v is not None}
    own = {**(parameters or {}), **{q.name: v for q, v in numbers.items() if q.kind in PARAMETERS}}
    driven = {**(inputs or {}), **{q.name: v for q, v in numbers.items() if q.kind == "input" and not q.rate}}
    states = {q: v for q, v in numbers.items() if q.kind in STATES}
    begin = begin_at(plant, at, states, aims, own, driven, t)
    there = begin.there
    cyclic, along, goes = ignorable(plant, there), together(plant, there), onward(plant, there)
    speed = carrier(plant, there, goes)
    fed = [q for q in held if q.kind == "speed" and feeds(plant, there, goes, q)]
    told = begin.ratio is not None or bool(fed)
    carried = None if speed is None or told or speed in wanted_free else speed
    chosen = frozenset(plant.find(k, ("input",), "input") for k in driven)
    start = begin.point.moved({q: v * q.unit.factor for q, v in numbers.items() if q.kind == "input"})
    values = {q: start.of(q) for q in held}
    moving = speed is not None or begin.ratio is not None or any(values[q] for q in fed)
    return Asked(plant, start, cyclic, along, goes, values, tuple(wanted_free), tuple(aims), carried, chosen, moving)


def _result(asked: Asked, problem: Problem, root: Root, freed: tuple[Quantity, ...]) -> Equilibrium:
    plant, at = problem.plant, problem.at(root.x)
    idle = [q for q in freed if abs(at.of(q) - asked.start.of(q)) <= IDLE * max(1.0, abs(at.of(q)))]
    at, freed = at.moved({q: asked.start.of(q) for q in idle}), tuple(q for q in freed if q not in idle)
    states = plant.interface.states
    shown = [*states, *(q for q in problem.unknowns if q.kind not in STATES and q not in idle)]
    values = {q.name: float(q.unit.from_equation(at.of(q))) for q in shown}
    steady = {q.name: float(q.unit.from_equation(rate)) for q, rate in going(plant, at, asked.onward)}
    loose = _neutral(asked, problem, root, freed)
    units, labels = {q.name: q.unit.text for q in shown}, {q.name: q.own_label for q in shown}
    unknowns = tuple(q.name for q in problem.unknowns if q not in idle)
    residual = float(np.abs(root.residuals).max(initial=0.0))
    told = [q for q in (*asked.held, *asked.free, *freed) if q.kind != "coordinate"]
    motion = motion_words(plant, at, asked.onward, told, [a.words() for a in asked.aims])
    if not steady:
        motion += left_behind(plant, asked.start, asked.onward)
    found_in = unknowns, residual, tuple(loose), steady, tuple(q.name for q in states)
    coordinates = [q for q in problem.unknowns if q.kind == "coordinate"]
    moved = {q.name: float(q.unit.from_equation(at.of(q) - asked.start.of(q))) for q in coordinates}
    outputs = _outputs(plant, at)
    units |= {q.name: q.unit.text for q in plant.interface.outputs if q.name not in units}
    return Equilibrium(plant.name, values, units, labels, *found_in, motion, at, root.steps, outputs, moved)


def _outputs(plant: Plant, at: Point) -> dict[str, float]:
    """Output channels at a point, in user units; not a number where they have no value."""
    loaded, p = plant.loaded, list(at.p)
    try:
        values = loaded.model.calls().outputs(at.t, at.q.tolist(), at.u.tolist(), p, loaded.constants(p), list(at.w))
    except NO_VALUE:
        values = [np.nan] * len(plant.interface.outputs)
    return {x.name: float(x.unit.from_equation(v)) for x, v in zip(plant.interface.outputs, values, strict=True)}


def _neutral(asked: Asked, problem: Problem, root: Root, freed: tuple[Quantity, ...]) -> list[str]:
    """Names of what nothing determines; the speed of the start is such where every speed would do."""
    names = [q.name for q in problem.unknowns]
    if asked.carried is not None and not freed and not asked.free:
        by = [*problem.unknowns, asked.carried]
        _, J = problem.derivatives_at(root.x, by)
        root = replace(root, x=np.append(root.x, problem.start.of(asked.carried)), derivatives=J)
        names.append(asked.carried.name)
    loose = neutral_names(root.null_space, names)
    going_on = [s.name for s in asked.plant.interface.states if s.name in asked.cyclic and s.name not in names]
    return list(dict.fromkeys([*loose, *going_on]))


def _none(asked: Asked, problem: Problem, root: Root) -> NoEquilibrium:
    """What is left, and which variables diverge."""
    rows = problem.equations
    left = {n: float(r) for n, r in zip(rows, root.residuals, strict=True)}
    worst = sorted(left, key=lambda n: -abs(left[n]))[:4]
    largest = abs(left[worst[0]]) if worst else 0.0
    told = [f"{n} = {left[n]:.4g}" for n in worst if abs(left[n]) > 1e-3 * largest]
    scale = np.maximum(np.abs(root.x - root.moved), 1.0)
    far = [q.name for q, m, s in zip(problem.unknowns, root.moved, scale, strict=True) if m > 1e3 * s]
    speeds = {f"{s.name}'": s.name for s in problem.plant.interface.states}
    loose = [speeds[n] for n in worst if n in speeds and abs(left[n]) > 1e-3 * largest]
    runaway = list(dict.fromkeys([*far, *loose]))
    counts = f"{len(rows)} equations, {len(problem.unknowns)} unknowns"
    more = len(rows) > len(problem.unknowns) and not far
    held = [q for q in (*asked.held, *([asked.carried] if asked.carried else ())) if q.kind == "speed"]
    speed_words = ", ".join(value_words(q, problem.start.of(q)) for q in held)
    motion = f"steady motion at {speed_words}" if held else "equilibrium"
    parts = [
        f"the model '{problem.plant.name}' has no {motion} that could be found"
        + (f" ({counts}: name more in free=, or fewer in fixed=)" if more else ""),
        _reached(problem, root),
        _advice(asked) if held else "",
        left_behind(problem.plant, asked.start, asked.onward).strip(" ()") if held else "",
        f"nearest point, in equation units: {', '.join(told)}",
        f"diverging variables: {', '.join(runaway)}" if runaway else "",
    ]
    return NoEquilibrium("; ".join(p for p in parts if p), left, runaway)


def _reached(problem: Problem, root: Root) -> str:
    """How far targets were reached."""
    at = problem.at(root.x)
    found = [(a, aimed(problem.plant, at, a)) for a in problem.aims]
    return ", ".join(f"{a.name} reached {v:.4g} instead of {a.value:.4g} {a.unit}".rstrip() for a, v in found)


def _advice(asked: Asked) -> str:
    """Why a motion at a speed is not steady, and what could be set free."""
    start = asked.problem()
    acting = [q.name for q, _ in start.acting(start.x, asked.candidates)]
    speed = asked.carried or next(q for q in asked.held if q.kind == "speed")
    after, words = _settled(asked, SETTLING[0]), []
    if after is not None:
        rate = float(speed.unit.from_equation(rates_at(asked.plant, after)[speed.column - 1]))
        words.append(f"a run from there has {speed.name}' = {rate:.4g} {speed.unit.text}/s after {SETTLING[0]:g} s")
    if acting:
        words.append(f"inputs that act on it, to be set free: {', '.join(acting)}")
    return "; ".join(words)
