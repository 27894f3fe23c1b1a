"""What a controller is asked to do: actions, observations, rewards and ends, read from what a user gives.

In:  the interface of a model. Out: `Task`, over rows of results (time, states, outputs, inputs), one row for each run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import le
from typing import Any

import numpy as np

from bellcrank.errors import ModelError, RunError, mapping
from bellcrank.expr.formula_steps import FormulaStep
from bellcrank.interface.interface import Interface
from bellcrank.many.random import Spread
from bellcrank.many.sampling import values_at
from bellcrank.model.guess import with_guess
from bellcrank.names import find_name, key_of, one_each
from bellcrank.numeric.real import displayed
from bellcrank.run.actions import columns_of
from bellcrank.run.events import Numbers, as_function, as_number_function, comparison_of, condition_steps
from bellcrank.run.named import Layout, Values

Actions = Mapping[str, Sequence[float]] | Sequence[Mapping[str, float]]
Observations = Sequence[str] | Mapping[str, Sequence[float]] | None
Reward = str | float | Callable[[Values], Any]
Done = str | Sequence[str] | Callable[[Values], Any]
Rows = Callable[[np.ndarray], np.ndarray]
Look = tuple[list[float], float, bool]  # observations, reward, is it over?
LATE = 1e-9  # steps that end so near to the end of an episode, against it, end it


@dataclass(frozen=True, eq=False)
class Single:
    """What a task says of one run, from its row as a list: a function of the observations, the reward and what ends an
    episode, None where formulas have no such form; how many are observed; whether equal values do not end it."""

    function: Numbers | None
    count: int
    strict: tuple[bool, ...]

    def look(self, row: list[float]) -> Look | None:
        """Observations, reward and end; None where arrays must be asked."""
        if self.function is None:
            return None
        try:
            found = self.function(row)
        except ArithmeticError:  # arrays have values where numbers fail
            return None
        n, over = self.count, False
        for value, strict in zip(found[n + 1 :], self.strict, strict=True):
            over = over or (value > 0 if strict else value >= 0)
        return found[:n], found[n], over


@dataclass(frozen=True, eq=False)
class Task:
    """Actions are inputs with bounds, or `choices`, rows of their values to choose from; observations, `reward` and
    `is_over` functions of rows, `single` the same of one row. `values` of parameters that formulas name, an array where
    they differ."""

    inputs: tuple[str, ...]
    bounds: tuple[np.ndarray, np.ndarray]
    choices: np.ndarray | None
    observed: tuple[str, ...]
    observed_bounds: tuple[np.ndarray, np.ndarray]
    observe: Rows
    reward: Rows
    is_over: Rows
    single: Single
    values: dict[str, Any]
    usual_values: Mapping[str, float]
    t_end: float
    every: int
    begin: Mapping[str, Any]
    drawn: Mapping[tuple[str, Any], Spread]

    @classmethod
    def of(cls, interface: Interface, **given: Any) -> Task:
        """What a user gives, checked."""
        inputs, bounds, choices = _actions(interface, given["actions"])
        columns = columns_of(interface)
        known = (*interface.parameters, *interface.entered, *interface.idle, *interface.unused)
        values: dict[str, Any] = {x.name: float(x.default) for x in known if x.default is not None}
        t_end = interface.run.t_end if given["t_end"] is None else given["t_end"]
        every = given["action_every"]
        if not isinstance(every, int | np.integer) or isinstance(every, bool) or every < 1:
            raise ModelError(f"action_every={every!r} must be a whole number of at least 1", interface.model)
        if t_end is not None and not (isinstance(t_end, int | float) and t_end > 0):
            raise ModelError(f"t_end={t_end!r} s must be a positive number", interface.model)
        groups = {k: mapping(given[k], k) for k in ("parameters", "initial")}
        drawn = {(k, name): x for k, group in groups.items() for name, x in group.items() if isinstance(x, Spread)}
        plain = {k: {name: x for name, x in v.items() if not isinstance(x, Spread)} for k, v in groups.items()}
        with_guess(groups["initial"], given["guess"])  # none of what is drawn either
        plain["initial"] = with_guess(plain["initial"], given["guess"])
        values |= {_spelled(values, name): x for name, x in plain["parameters"].items()}
        low, high = bounds
        rest = np.clip(0.0, low, high) if choices is None else choices[0]
        begin = {
            "inputs": {**dict(zip(inputs, rest.tolist(), strict=True)), **mapping(given["inputs"], "inputs")},
            "step": given["step"], "method": given["method"], **plain,
        }  # fmt: skip
        observed = _observed(interface, given["observations"])
        read = [condition_steps(text, columns, values, f"observation '{text}'") for text in observed]
        functions = [as_function(steps, columns, values) for steps in read]
        reward, done = given["reward"], given["done"]
        ends = [] if callable(done) else _ends(done, interface, columns, values)
        paid = None if callable(reward) else condition_steps(str(reward), columns, values, "reward")
        plain_forms = paid is not None and not callable(done)
        formulas = [*read, *([paid] if paid is not None else []), *(steps for steps, _ in ends)]
        single = Single(
            as_number_function(formulas, values) if plain_forms else None,
            len(read),
            tuple(strict for _, strict in ends),
        )

        def observe(rows: np.ndarray) -> np.ndarray:
            found = np.empty((len(rows), len(functions)), dtype=np.float32)
            for k, f in enumerate(functions):
                found[:, k] = f(rows)
            return found

        return cls(
            inputs, bounds, choices, tuple(observed), _bounds(list(observed.items())), observe,
            _called(reward, interface, "reward") if paid is None else as_function(paid, columns, values),
            _done(done, ends, interface, columns, values), single, values, dict(values),
            math.inf if t_end is None else float(t_end), int(every), begin, drawn,
        )  # fmt: skip

    @property
    def usual(self) -> dict[str, Any]:
        """What runs begin with before the first episode: the medians of what is drawn."""
        found = {k: dict(v) if isinstance(v, dict) else v for k, v in self.begin.items()}
        for (group, name), spread in self.drawn.items():
            found[group][name] = _at(spread, 0.5)
        return found

    def take(self, parameters: Mapping[str, Any]) -> None:
        """Takes the parameters of an episode, for formulas; of several, arrays."""
        self.values.update(self.usual_values)
        self.values.update({_spelled(self.values, k): v for k, v in parameters.items()})

    def usual_value(self, name: str) -> float:
        """Of a parameter, where no episode has another."""
        return self.usual_values.get(_spelled(self.usual_values, name), math.nan)

    def draw(self, rng: np.random.Generator, given: Mapping[str, Any]) -> dict[str, dict[Any, Any]]:
        """Initial values and parameters of an episode: those given, else drawn ones."""
        unknown = [k for k in given if k not in ("initial", "parameters")]
        if unknown:
            raise ModelError(f"options={{'{unknown[0]}': ...}}: they may hold 'initial' and 'parameters'")
        found: dict[str, dict[Any, Any]] = {"initial": {}, "parameters": {}}
        for (group, name), spread in self.drawn.items():
            found[group][name] = _at(spread, rng.random())
        for group, own in found.items():
            own.update({_spelled(own, k): v for k, v in mapping(given.get(group), group).items()})
        return found

    @cached_property
    def late_from(self) -> float:
        """The time from which on an episode is at its end."""
        return self.t_end - LATE * max(1.0, self.t_end) if self.t_end < math.inf else math.inf

    def setting(self, action: Any) -> list[float]:
        """Values of the inputs for one action, as `settings` has them."""
        if type(action) is np.ndarray:
            shape, low, high = self.limits
            if action.shape == shape and action.dtype.kind == "f":
                found: list[float] = action.tolist()
                if all(map(le, low, found)) and all(map(le, found, high)):
                    return found
        chosen: list[float] = self.settings(action)[0].tolist()
        return chosen

    @cached_property
    def limits(self) -> tuple[tuple[int, ...], list[float], list[float]]:
        """The shape of actions that are numbers, and their bounds as lists."""
        low, high = self.bounds
        return (-1,) if self.choices is not None else low.shape, low.tolist(), high.tolist()

    def settings(self, actions: Any) -> np.ndarray:
        """Values of the inputs, a row for each action; outside its bounds an input stays at them."""
        if self.choices is not None:
            chosen = np.asarray(actions)
            if chosen.dtype.kind not in "iu" or chosen.min(initial=0) < 0 or chosen.max(initial=0) >= len(self.choices):
                raise RunError(f"action {actions!r} is none of 0 to {len(self.choices) - 1}")
            return self.choices[np.atleast_1d(chosen)]
        found = np.atleast_2d(np.asarray(actions, dtype=float))
        if found.shape[-1] != len(self.inputs) or not np.isfinite(found).all():
            raise RunError(f"action {actions!r} must be {len(self.inputs)} finite numbers: {', '.join(self.inputs)}")
        return np.clip(found, *self.bounds)


def _at(spread: Spread, share: float) -> float:
    """The value of a distribution below which a fraction of all lies."""
    return float(values_at(spread.kind, spread.numbers, np.asarray(share)))


def _spelled(known: Mapping[str, Any], name: Any) -> Any:
    """A name as it stands in a dictionary, however it is spelled."""
    return find_name(name, known) or name


def _actions(interface: Interface, given: Any) -> tuple[tuple[str, ...], tuple[np.ndarray, np.ndarray], Any]:
    """Inputs, their bounds, and rows of values to choose from, if there are such."""
    choices = None if isinstance(given, Mapping) else given
    if choices is not None:
        good = isinstance(choices, list | tuple) and len(choices) > 1 and all(isinstance(x, Mapping) for x in choices)
        names = list(choices[0]) if good else []
        if not good or not names or any({key_of(k) for k in x} != {key_of(k) for k in names} for x in choices):
            what = 'inputs with bounds, {"force": (-1, 1)}, or a list of at least two settings of the same inputs'
            raise ModelError(f"actions={given!r} must be {what}", interface.model)
    else:
        names = list(given)
    if not names:
        raise ModelError("actions={}: at least one input must be acted on", interface.model)
    known = [x.name for x in interface.signals]
    found = {name: find_name(name, known, "input") for name in names}
    for name in (name for name, x in found.items() if x is None):
        there = ", ".join(known) or "none"
        raise ModelError(f"actions: the model has no input '{name}'. Inputs: {there}.", interface.model)
    chosen = tuple(one_each(found, {name: str(x) for name, x in found.items()}, "actions"))
    if choices is None:
        low, high = _bounds([(k, given[k]) for k in names])
        if not (np.isfinite(low).all() and np.isfinite(high).all()):
            raise ModelError("actions: bounds must be finite", interface.model)
        return chosen, (low, high), None
    try:
        rows = np.array(
            [[float({key_of(k): v for k, v in x.items()}[key_of(name)]) for name in names] for x in choices]
        )
    except (TypeError, ValueError):
        rows = np.array([[math.nan]])
    if not np.isfinite(rows).all():
        raise ModelError(f"actions={given!r}: all values must be finite numbers", interface.model)
    return chosen, (rows.min(axis=0), rows.max(axis=0)), rows


def _observed(interface: Interface, given: Any) -> dict[str, Any]:
    """What is observed, with bounds."""
    free = (-math.inf, math.inf)
    if given is None:
        return {x.name: free for x in interface.states}
    if isinstance(given, Mapping):
        return {str(k): v for k, v in given.items()}
    if isinstance(given, str) or not isinstance(given, Sequence) or not given:
        raise ModelError(f"observations={given!r} must be a list of channels or formulas", interface.model)
    return {str(name): free for name in given}


def _bounds(given: Sequence[tuple[str, Any]]) -> tuple[np.ndarray, np.ndarray]:
    pairs = []
    for name, pair in given:
        try:
            low, high = (float(x) for x in pair)
        except (TypeError, ValueError):
            low = high = math.nan
        if not low < high:
            raise ModelError(f"'{name}': {pair!r} must be two numbers (least, greatest)")
        pairs.append((low, high))
    return np.array([a for a, _ in pairs]), np.array([b for _, b in pairs])


def _ends(given: Any, interface: Interface, columns: Any, values: Any) -> list[tuple[tuple[FormulaStep, ...], bool]]:
    """Comparisons that end an episode: the formula that becomes positive, and whether zero does not count."""
    found = []
    for text in [given] if isinstance(given, str) else given:
        sign = comparison_of(text)
        if not sign:
            raise ModelError(f"done={text!r} must be a comparison, such as 'abs(q(pole)) > 0.2'", interface.model)
        found.append((condition_steps(text, columns, values, "done"), sign in ("<", ">")))
    return found


def _done(given: Any, ends: Sequence[tuple[Any, bool]], interface: Interface, columns: Any, values: Any) -> Rows:
    if callable(given):
        called = _called(given, interface, "done")
        return lambda rows: called(rows) != 0
    tests = [(as_function(steps, columns, values), strict) for steps, strict in ends]

    def is_over(rows: np.ndarray) -> np.ndarray:
        over = np.zeros(len(rows), dtype=bool)
        for value, strict in tests:
            found = value(rows)
            over |= found > 0 if strict else found >= 0
        return over

    return is_over


def _called(function: Callable[[Values], Any], interface: Interface, what: str) -> Rows:
    """A user's function of the channels by name, each an array over the runs."""
    layout = Layout(interface, interface.channels)

    def value(rows: np.ndarray) -> np.ndarray:
        given = np.asarray(function(layout.values(rows)))
        if given.dtype.kind not in "biuf" or (np.isnan(given).any() and np.isfinite(rows).all()):
            raise RunError(f"{what}() returned {displayed(given.tolist())}, not a number for each of {len(rows)} runs")
        found = given.astype(float)
        if found.shape not in ((), (len(rows),)):
            raise RunError(f"{what}() must return a number for each of {len(rows)} runs, not shape {found.shape}")
        return np.broadcast_to(found, (len(rows),))

    return value
