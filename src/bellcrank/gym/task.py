"""What a controller is asked to do: actions, observations, rewards and ends, read from what a user
gives.

In:  the interface of a model. Out: `ControlTask`, over rows of results (time, states, outputs,
inputs), one row for each run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import le
from typing import Any

import numpy as np

from bellcrank.core.errors import ModelError, RunError, require_mapping
from bellcrank.core.name_lookup import find_name, normalized_name, one_each
from bellcrank.core.numeric.real_numbers import display_text
from bellcrank.mechanics.interface.formula_units import FormulaUnits, formula_units
from bellcrank.mechanics.interface.interface import Interface
from bellcrank.model.guess import with_guess
from bellcrank.simulation.many.random import Spread
from bellcrank.simulation.many.sample_plans import quantiles
from bellcrank.simulation.run.event_conditions import (
    Numbers,
    comparison_operator,
    compile_condition,
    formula_function,
    scalar_formula_function,
)
from bellcrank.simulation.run.event_specs import columns_by_name
from bellcrank.simulation.run.named_values import ChannelLayout, NamedValues
from bellcrank.symbolic.expr.formula_steps import FormulaStep

Actions = Mapping[str, Sequence[float]] | Sequence[Mapping[str, float]]
Observations = Sequence[str] | Mapping[str, Sequence[float]] | None
Reward = str | float | Callable[[NamedValues], Any]
Done = str | Sequence[str] | Callable[[NamedValues], Any]
Rows = Callable[[np.ndarray], np.ndarray]
Look = tuple[list[float], float, bool]  # observations, reward, is it over?
LATE = 1e-9  # steps that end so near to the end of an episode, against it, end it


@dataclass(frozen=True, eq=False)
class ScalarTask:
    """What a task says of one run, from its row as a list: a function of the observations, the
    reward and what ends an episode, None where formulas have no such form; how many are observed;
    whether equal values do not end it."""

    function: Numbers | None
    count: int
    strict: tuple[bool, ...]

    def evaluate_row(self, row: list[float]) -> Look | None:
        """Observations, reward and end; None where arrays must be asked."""
        if self.function is None:
            return None
        try:
            values = self.function(row)
        except ArithmeticError:  # arrays have values where numbers fail
            return None
        n, is_over = self.count, False
        for value, strict in zip(values[n + 1 :], self.strict, strict=True):
            is_over = is_over or (value > 0 if strict else value >= 0)
        return values[:n], values[n], is_over


@dataclass(frozen=True, eq=False)
class ControlTask:
    """Actions are inputs with bounds, or `choices`, rows of their values to choose from;
    observations, `reward` and
    `is_over` functions of rows, `single` the same of one row. `values` of parameters that formulas
    name, an array where they differ."""

    inputs: tuple[str, ...]
    bounds: tuple[np.ndarray, np.ndarray]
    choices: np.ndarray | None
    observation_names: tuple[str, ...]
    observation_bounds: tuple[np.ndarray, np.ndarray]
    observe: Rows
    reward: Rows
    is_over: Rows
    single: ScalarTask
    values: dict[str, Any]
    default_parameters: Mapping[str, float]
    t_end: float
    every: int
    begin: Mapping[str, Any]
    distributions: Mapping[tuple[str, Any], Spread]

    @classmethod
    def from_options(cls, interface: Interface, **options: Any) -> ControlTask:
        """What a user gives, checked."""
        inputs, bounds, choices = _read_actions(interface, options["actions"])
        columns, units = columns_by_name(interface), formula_units(interface)
        quantities = (
            *interface.parameters,
            *interface.function_parameters,
            *interface.unused_parameters,
            *interface.unreferenced_parameters,
        )
        values: dict[str, Any] = {
            x.name: float(x.default) for x in quantities if x.default is not None
        }
        t_end = interface.run.t_end if options["t_end"] is None else options["t_end"]
        every = options["action_every"]
        if not isinstance(every, int | np.integer) or isinstance(every, bool) or every < 1:
            raise ModelError(
                f"action_every={every!r} must be a whole number of at least 1", interface.model
            )
        if t_end is not None and not (isinstance(t_end, int | float) and t_end > 0):
            raise ModelError(f"t_end={t_end!r} s must be a positive number", interface.model)
        groups = {k: require_mapping(options[k], k) for k in ("parameters", "initial")}
        drawn = {
            (k, name): x
            for k, group in groups.items()
            for name, x in group.items()
            if isinstance(x, Spread)
        }
        plain = {
            k: {name: x for name, x in v.items() if not isinstance(x, Spread)}
            for k, v in groups.items()
        }
        with_guess(groups["initial"], options["guess"])  # none of what is drawn either
        plain["initial"] = with_guess(plain["initial"], options["guess"])
        values |= {_spelled_as_known(values, name): x for name, x in plain["parameters"].items()}
        low, high = bounds
        first_action = np.clip(0.0, low, high) if choices is None else choices[0]
        start_options = {
            "inputs": {
                **dict(zip(inputs, first_action.tolist(), strict=True)),
                **require_mapping(options["inputs"], "inputs"),
            },
            "step": options["step"],
            "method": options["method"],
            **plain,
        }
        observed = _read_observations(interface, options["observations"])
        read = [
            compile_condition(text, columns, values, f"observation '{text}'", units)
            for text in observed
        ]
        functions = [formula_function(steps, columns, values) for steps in read]
        reward, done_conditions = options["reward"], options["done"]
        end_conditions = (
            []
            if callable(done_conditions)
            else _read_done_formulas(done_conditions, interface, columns, values, units)
        )
        paid = (
            None
            if callable(reward)
            else compile_condition(str(reward), columns, values, "reward", units)
        )
        plain_forms = paid is not None and not callable(done_conditions)
        formulas = [
            *read,
            *([paid] if paid is not None else []),
            *(steps for steps, _ in end_conditions),
        ]
        single = ScalarTask(
            scalar_formula_function(formulas, values) if plain_forms else None,
            len(read),
            tuple(strict for _, strict in end_conditions),
        )

        def observe(rows: np.ndarray) -> np.ndarray:
            observations = np.empty((len(rows), len(functions)), dtype=np.float32)
            for k, f in enumerate(functions):
                observations[:, k] = f(rows)
            return observations

        return cls(
            inputs,
            bounds,
            choices,
            tuple(observed),
            _read_bounds(list(observed.items())),
            observe,
            _user_function(reward, interface, "reward")
            if paid is None
            else formula_function(paid, columns, values),
            _done_function(done_conditions, end_conditions, interface, columns, values),
            single,
            values,
            dict(values),
            math.inf if t_end is None else float(t_end),
            int(every),
            start_options,
            drawn,
        )

    @property
    def median_values(self) -> dict[str, Any]:
        """What runs begin with before the first episode: the medians of what is drawn."""
        start_options = {k: dict(v) if isinstance(v, dict) else v for k, v in self.begin.items()}
        for (group, name), spread in self.distributions.items():
            start_options[group][name] = _quantile(spread, 0.5)
        return start_options

    def use_parameters(self, parameters: Mapping[str, Any]) -> None:
        """Takes the parameters of an episode, for formulas; of several, arrays."""
        self.values.update(self.default_parameters)
        self.values.update({_spelled_as_known(self.values, k): v for k, v in parameters.items()})

    def default_parameter(self, name: str) -> float:
        """Of a parameter, where no episode has another."""
        return self.default_parameters.get(
            _spelled_as_known(self.default_parameters, name), math.nan
        )

    def draw_episode(
        self, rng: np.random.Generator, options: Mapping[str, Any]
    ) -> dict[str, dict[Any, Any]]:
        """Initial values and parameters of an episode: those given, else drawn ones."""
        unknown = [k for k in options if k not in ("initial", "parameters")]
        if unknown:
            raise ModelError(
                f"options={{'{unknown[0]}': ...}}: they may hold 'initial' and 'parameters'"
            )
        drawn_values: dict[str, dict[Any, Any]] = {"initial": {}, "parameters": {}}
        for (group, name), spread in self.distributions.items():
            drawn_values[group][name] = _quantile(spread, rng.random())
        for group, group_values in drawn_values.items():
            group_values.update(
                {
                    _spelled_as_known(group_values, k): v
                    for k, v in require_mapping(options.get(group), group).items()
                }
            )
        return drawn_values

    @cached_property
    def truncation_time(self) -> float:
        """The time from which on an episode is at its end."""
        return self.t_end - LATE * max(1.0, self.t_end) if self.t_end < math.inf else math.inf

    def input_values(self, action: Any) -> list[float]:
        """Values of the inputs for one action, as `input_value_rows` has them."""
        if type(action) is np.ndarray:
            shape, low, high = self.action_limits
            if action.shape == shape and action.dtype.kind == "f":
                values: list[float] = action.tolist()
                if all(map(le, low, values)) and all(map(le, values, high)):
                    return values
        setting: list[float] = self.input_value_rows(action)[0].tolist()
        return setting

    @cached_property
    def action_limits(self) -> tuple[tuple[int, ...], list[float], list[float]]:
        """The shape of actions that are numbers, and their bounds as lists."""
        low, high = self.bounds
        return (-1,) if self.choices is not None else low.shape, low.tolist(), high.tolist()

    def input_value_rows(self, actions: Any) -> np.ndarray:
        """Values of the inputs, a row for each action; outside its bounds an input stays at
        them."""
        if self.choices is not None:
            indices = np.asarray(actions)
            if (
                indices.dtype.kind not in "iu"
                or indices.min(initial=0) < 0
                or indices.max(initial=0) >= len(self.choices)
            ):
                raise RunError(f"action {actions!r} is none of 0 to {len(self.choices) - 1}")
            return self.choices[np.atleast_1d(indices)]
        values = np.atleast_2d(np.asarray(actions, dtype=float))
        if values.shape[-1] != len(self.inputs) or not np.isfinite(values).all():
            raise RunError(
                f"action {actions!r} must be {len(self.inputs)} finite numbers: "
                f"{', '.join(self.inputs)}"
            )
        return np.clip(values, *self.bounds)


def _quantile(spread: Spread, share: float) -> float:
    """The value of a distribution below which a fraction of all lies."""
    return float(quantiles(spread.kind, spread.numbers, np.asarray(share)))


def _spelled_as_known(names: Mapping[str, Any], name: Any) -> Any:
    """A name as it stands in a dictionary, however it is spelled."""
    return find_name(name, names) or name


def _read_actions(
    interface: Interface, actions: Any
) -> tuple[tuple[str, ...], tuple[np.ndarray, np.ndarray], Any]:
    """Inputs, their bounds, and rows of values to choose from, if there are such."""
    choices = None if isinstance(actions, Mapping) else actions
    if choices is not None:
        is_valid = (
            isinstance(choices, list | tuple)
            and len(choices) > 1
            and all(isinstance(x, Mapping) for x in choices)
        )
        names = list(choices[0]) if is_valid else []
        if (
            not is_valid
            or not names
            or any(
                {normalized_name(k) for k in x} != {normalized_name(k) for k in names}
                for x in choices
            )
        ):
            expected = (
                'inputs with bounds, {"force": (-1, 1)}, or a list of at least two settings of '
                "the same inputs"
            )
            raise ModelError(f"actions={actions!r} must be {expected}", interface.model)
    else:
        names = list(actions)
    if not names:
        raise ModelError("actions={}: at least one input must be acted on", interface.model)
    input_names = [x.name for x in interface.signals]
    matches = {name: find_name(name, input_names, "input") for name in names}
    for name in (name for name, x in matches.items() if x is None):
        input_list = ", ".join(input_names) or "none"
        raise ModelError(
            f"actions: the model has no input '{name}'. Inputs: {input_list}.", interface.model
        )
    inputs = tuple(one_each(matches, {name: str(x) for name, x in matches.items()}, "actions"))
    if choices is None:
        low, high = _read_bounds([(k, actions[k]) for k in names])
        if not (np.isfinite(low).all() and np.isfinite(high).all()):
            raise ModelError("actions: bounds must be finite", interface.model)
        return inputs, (low, high), None
    try:
        rows = np.array(
            [
                [
                    float({normalized_name(k): v for k, v in x.items()}[normalized_name(name)])
                    for name in names
                ]
                for x in choices
            ]
        )
    except (TypeError, ValueError):
        rows = np.array([[math.nan]])
    if not np.isfinite(rows).all():
        raise ModelError(f"actions={actions!r}: all values must be finite numbers", interface.model)
    return inputs, (rows.min(axis=0), rows.max(axis=0)), rows


def _read_observations(interface: Interface, observations: Any) -> dict[str, Any]:
    """What is observed, with bounds."""
    free = (-math.inf, math.inf)
    if observations is None:
        return {x.name: free for x in interface.states}
    if isinstance(observations, Mapping):
        return {str(k): v for k, v in observations.items()}
    if isinstance(observations, str) or not isinstance(observations, Sequence) or not observations:
        raise ModelError(
            f"observations={observations!r} must be a list of channels or formulas", interface.model
        )
    return {str(name): free for name in observations}


def _read_bounds(ranges: Sequence[tuple[str, Any]]) -> tuple[np.ndarray, np.ndarray]:
    pairs = []
    for name, pair in ranges:
        try:
            low, high = (float(x) for x in pair)
        except (TypeError, ValueError):
            low = high = math.nan
        if not low < high:
            raise ModelError(f"'{name}': {pair!r} must be two numbers (least, greatest)")
        pairs.append((low, high))
    return np.array([a for a, _ in pairs]), np.array([b for _, b in pairs])


def _read_done_formulas(
    comparisons: Any, interface: Interface, columns: Any, values: Any, units: FormulaUnits
) -> list[tuple[tuple[FormulaStep, ...], bool]]:
    """Comparisons that end an episode: the formula that becomes positive, and whether zero does not
    count."""
    end_conditions = []
    for text in [comparisons] if isinstance(comparisons, str) else comparisons:
        sign = comparison_operator(text)
        if not sign:
            raise ModelError(
                f"done={text!r} must be a comparison, such as 'abs(q(pole)) > 0.2'", interface.model
            )
        end_conditions.append(
            (compile_condition(text, columns, values, "done", units), sign in ("<", ">"))
        )
    return end_conditions


def _done_function(
    condition: Any,
    end_conditions: Sequence[tuple[Any, bool]],
    interface: Interface,
    columns: Any,
    values: Any,
) -> Rows:
    if callable(condition):
        function = _user_function(condition, interface, "done")
        return lambda rows: function(rows) != 0
    tests = [(formula_function(steps, columns, values), strict) for steps, strict in end_conditions]

    def is_over(rows: np.ndarray) -> np.ndarray:
        is_done = np.zeros(len(rows), dtype=bool)
        for value, strict in tests:
            values = value(rows)
            is_done |= values > 0 if strict else values >= 0
        return is_done

    return is_over


def _user_function(
    function: Callable[[NamedValues], Any], interface: Interface, label: str
) -> Rows:
    """A user's function of the channels by name, each an array over the runs."""
    layout = ChannelLayout(interface, interface.channels)

    def value(rows: np.ndarray) -> np.ndarray:
        returned = np.asarray(function(layout.values(rows)))
        if returned.dtype.kind not in "biuf" or (
            np.isnan(returned).any() and np.isfinite(rows).all()
        ):
            raise RunError(
                f"{label}() returned {display_text(returned.tolist())}, not a number for "
                f"each of {len(rows)} runs"
            )
        values = returned.astype(float)
        if values.shape not in ((), (len(rows),)):
            raise RunError(
                f"{label}() must return a number for each of {len(rows)} runs, not shape "
                f"{values.shape}"
            )
        return np.broadcast_to(values, (len(rows),))

    return value
