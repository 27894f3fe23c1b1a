"""Analyses repeated over values of a parameter, input, state or output, or of an argument that a
model is made with.

Every value has its own steady motion, each search starting from the one before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bellcrank.analysis.continuation import follow
from bellcrank.analysis.equilibrium import Equilibrium, NoEquilibrium
from bellcrank.analysis.find_equilibrium import find_equilibrium
from bellcrank.analysis.initial_guess import initial_guess
from bellcrank.analysis.linear_model import LinearModel
from bellcrank.analysis.linearize import linear_model, operating_point
from bellcrank.analysis.modes import match_eigenvalues
from bellcrank.analysis.operating_point import position_keyword
from bellcrank.analysis.plant import PARAMETERS, SETTABLE, STATES, AnalysisModel
from bellcrank.analysis.root_locus import Equilibria, RootLocus, StabilityChart
from bellcrank.analysis.stability import with_stability
from bellcrank.analysis.targets import is_formula
from bellcrank.core.errors import ModelError, RunError, did_you_mean
from bellcrank.core.numeric.real_numbers import to_float_array
from bellcrank.mechanics.interface.interface import Quantity
from bellcrank.simulation.run.point_evaluation import Inputs, Parameters

Axis = tuple[Any, Iterable[float]]  # a quantity and its values
Build = Callable[..., Any] | None  # what makes a model with some arguments


@dataclass(frozen=True)
class SweepVariable:
    """What is varied: a quantity that is set, an output or formula that is aimed at, or an argument
    of the model."""

    name: str
    unit: str = ""
    quantity: Quantity | None = None
    aimed: bool = False


def sweep_variable(plant: AnalysisModel, target: Any, build: Build) -> SweepVariable:
    """What a name means: a state, input, parameter or output of the model; else an argument, where
    one is built."""
    settable = plant.interface.find_or_none(target, SETTABLE)
    if settable is not None:
        quantity = plant.find_quantity(target, SETTABLE, "over")
        return SweepVariable(quantity.name, quantity.unit.text, quantity)
    output = plant.interface.find_or_none(target, ("output",))
    if build is not None and isinstance(target, str) and output is None:
        return SweepVariable(target)
    if output is not None or is_formula(target):
        name, unit = (str(target), "") if output is None else (output.name, output.unit.text)
        return SweepVariable(name, unit, None, True)
    plant.find_quantity(target, (*SETTABLE, "output"), "over")
    raise AssertionError("not reached")


@dataclass
class LinearModelSweep:
    """One linear model after the other. `before`: the steady motion from which the next search
    starts."""

    plant: AnalysisModel
    at: Any
    parameters: Parameters
    inputs: Inputs
    options: Mapping[str, Any]
    build: Build
    before: Equilibrium | None = None

    def linear_model_at(self, assignments: Sequence[tuple[SweepVariable, float]]) -> LinearModel:
        """The linear model with some quantities set (user units)."""
        plant = self.plant
        arguments = {o.name: v for o, v in assignments if o.quantity is None and not o.aimed}
        if arguments:
            plant, self.before = self._rebuild_model(arguments), None
        location = self.at(*(v for _, v in assignments)) if callable(self.at) else self.at
        if isinstance(location, Equilibrium):
            return linear_model(plant, location, wrt=(), outputs=())
        if position_keyword(location, plant.name) == "equilibrium":
            self.before = self._equilibrium_at(plant, assignments)
            return linear_model(plant, self.before, wrt=(), outputs=())
        return self._linear_model_at_start(plant, location, assignments)

    def _rebuild_model(self, arguments: Mapping[str, float]) -> AnalysisModel:
        """The model made with other arguments."""
        assert self.build is not None
        try:
            plant: AnalysisModel = (
                self.build(**arguments)
                .equations()
                .compile(backend=self.plant.loaded.model.name)
                .plant
            )
        except (ModelError, TypeError) as error:
            names = ", ".join(f"'{n}'" for n in arguments)
            reason = "no state, input, parameter or output, and the model cannot be made with it"
            raise ModelError(f"over {names}: {reason} ({error})", self.plant.name) from None
        return plant

    def _parameters_and_inputs(
        self, assignments: Sequence[tuple[SweepVariable, float]]
    ) -> tuple[dict[str, float | str], dict[str, Any]]:
        """Parameters and inputs."""
        quantities = [(o.quantity, v) for o, v in assignments if o.quantity is not None]
        parameters = {
            **(self.parameters or {}),
            **{q.name: v for q, v in quantities if q.kind in PARAMETERS},
        }
        return parameters, {
            **(self.inputs or {}),
            **{q.name: v for q, v in quantities if q.kind == "input"},
        }

    def _equilibrium_at(
        self, plant: AnalysisModel, assignments: Sequence[tuple[SweepVariable, float]]
    ) -> Equilibrium:
        parameters, driven = self._parameters_and_inputs(assignments)
        fixed = {
            o.quantity.name: v
            for o, v in assignments
            if o.quantity is not None and o.quantity.kind in STATES
        }
        aims = {
            **(self.options.get("targets") or {}),
            **{o.name: v for o, v in assignments if o.aimed},
        }
        all_fixed = {**fixed_values(self.options.get("fixed")), **fixed}
        search_options: dict[str, Any] = {
            "free": self.options.get("free"),
            "fixed": all_fixed,
            "targets": aims,
        }
        if self.before is not None:
            try:
                return find_equilibrium(
                    plant, **search_options, at=self.before, parameters=parameters, inputs=driven
                )
            except RunError:
                pass  # too far from the one before: from the start of the run
        return operating_point(plant, **search_options, parameters=parameters, inputs=driven)

    def _linear_model_at_start(
        self,
        plant: AnalysisModel,
        location: Any,
        assignments: Sequence[tuple[SweepVariable, float]],
    ) -> LinearModel:
        """At the start of the run or another place, with what was chosen put in and speeds in
        proportion."""
        parameters, driven = self._parameters_and_inputs(assignments)
        aimed = [o.name for o, _ in assignments if o.aimed]
        if aimed:
            reason = "an output has its value in a steady motion"
            raise ModelError(
                f"over '{aimed[0]}': {reason}; leave at= or give at='equilibrium'", plant.name
            )
        states = {
            o.quantity: v
            for o, v in assignments
            if o.quantity is not None and o.quantity.kind in STATES
        }
        if not states:
            return linear_model(
                plant, location, wrt=(), outputs=(), parameters=parameters, inputs=driven
            )
        point = initial_guess(plant, location, states, (), parameters, driven).point
        model = linear_model(
            plant, (point.q, point.u), wrt=(), outputs=(), parameters=parameters, inputs=driven
        )
        origin = (
            "start of the run" if location is None or isinstance(location, str) else "place given"
        )
        return replace(
            model,
            motion=model.motion.replace("state given", f"{origin}, its speeds in proportion", 1),
        )


def check_search_options(options: Mapping[str, Any], *extra: str) -> Mapping[str, Any]:
    """Options of a search, whose names are known."""
    option_names = ("free", "fixed", "targets", *extra)
    for name in options:
        if name not in option_names:
            raise ModelError(
                f"option '{name}' is not known.{did_you_mean(name, option_names)} Options: "
                f"{', '.join(option_names)}"
            )
    return options


def fixed_values(fixed: Any) -> dict[Any, float | None]:
    """What is fixed, by name, with or without values."""
    if fixed is None:
        return {}
    return (
        dict(fixed)
        if isinstance(fixed, Mapping)
        else dict.fromkeys([fixed] if isinstance(fixed, str) else fixed)
    )


def _finite_values(raw_values: Iterable[float], label: str) -> np.ndarray:
    values = to_float_array(list(raw_values))
    if values is None or values.ndim != 1 or not values.size or not np.all(np.isfinite(values)):
        raise ModelError(f"the values of {label} must be finite numbers, at least one")
    return values


def root_locus(
    plant: AnalysisModel,
    over: Any,
    values: Iterable[float],
    at: Any,
    parameters: Parameters,
    inputs: Inputs,
    options: Mapping[str, Any],
    build: Build = None,
) -> RootLocus:
    """Eigenvalues over values; coordinates that nothing depends on are omitted."""
    plant.reject_sampled_values()
    varied = sweep_variable(plant, over, build)
    numbers = _finite_values(values, varied.name)
    sweep = LinearModelSweep(plant, at, parameters, inputs, check_search_options(options), build)
    rows: list[np.ndarray] = []
    motions: list[str] = []
    notes: dict[str, None] = {}
    for v in numbers:
        model = sweep.linear_model_at([(varied, float(v))]).essential()
        notes.update(dict.fromkeys(model.notes))
        motions.append(model.motion)
        eigenvalues = model.eigenvalues
        rows.append(
            match_eigenvalues(rows[-1], eigenvalues)
            if rows and len(rows[-1]) == len(eigenvalues)
            else eigenvalues
        )
    table = np.full((len(rows), max(map(len, rows))), np.nan + 0j)
    for i, r in enumerate(rows):
        table[i, : len(r)] = r
    return RootLocus(
        plant.name, varied.name, varied.unit, numbers, table, tuple(notes), tuple(motions)
    )


def stability_chart(
    plant: AnalysisModel,
    first: Axis,
    second: Axis,
    at: Any,
    parameters: Parameters,
    inputs: Inputs,
    options: Mapping[str, Any],
    build: Build = None,
) -> StabilityChart:
    """Largest real part of all eigenvalues over two quantities; those of neutral motions (zero) are
    not counted."""
    plant.reject_sampled_values()
    variables = [sweep_variable(plant, name, build) for name, _ in (first, second)]
    grid = [_finite_values(v, o.name) for (_, v), o in zip((first, second), variables, strict=True)]
    growth = np.full((len(grid[0]), len(grid[1])), np.nan)
    motions: list[str] = []
    for i, a in enumerate(grid[0]):
        sweep = LinearModelSweep(
            plant, at, parameters, inputs, check_search_options(options), build
        )
        for j, b in enumerate(grid[1]):
            try:
                model = sweep.linear_model_at(
                    list(zip(variables, (float(a), float(b)), strict=True))
                )
            except (NoEquilibrium, RunError):
                motions.append("")
                continue
            motions.append(model.motion)
            eigenvalues = model.essential().eigenvalues
            nonzero = eigenvalues[
                np.abs(eigenvalues) > 1e-7 * (np.abs(eigenvalues).max(initial=0.0) or 1.0)
            ]
            growth[i, j] = nonzero.real.max(initial=-np.inf) if nonzero.size else 0.0
    names, units = (variables[0].name, variables[1].name), (variables[0].unit, variables[1].unit)
    return StabilityChart(plant.name, names, units, (grid[0], grid[1]), growth, tuple(motions))


def equilibrium_branch(
    plant: AnalysisModel,
    over: Any,
    values: Iterable[float],
    parameters: Any,
    inputs: Any,
    options: Mapping[str, Any],
) -> Equilibria:
    """Equilibria over values, each followed from the one before, with folds; outputs are channels
    too."""
    plant.reject_sampled_values()
    varied = sweep_variable(plant, over, None)
    numbers = _finite_values(values, varied.name)
    start = check_search_options(options, "at").get("at")
    fixed = fixed_values(options.get("fixed"))

    def search_equilibrium(value: float, guess: Any, method: str = "") -> Equilibrium:
        aims = {**(options.get("targets") or {}), **({varied.name: value} if varied.aimed else {})}
        fixed_values = fixed if varied.aimed else {**fixed, varied.name: value}
        return find_equilibrium(
            plant, options.get("free"), fixed_values, aims, guess, parameters, inputs, method=method
        )

    branch, folds = follow(numbers.tolist(), search_equilibrium, start)
    solutions = [None if x is None else with_stability(plant, x) for x in branch]
    rows = [{} if x is None else x.values | x.outputs for x in solutions]
    units = {n: unit for x in solutions if x is not None for n, unit in x.units.items()}
    names = [n for n in dict.fromkeys(n for row in rows for n in row) if n != varied.name]
    arrays = {n: np.array([row.get(n, np.nan) for row in rows]) for n in names}
    motions = tuple("" if x is None else x.motion for x in solutions)
    stability = tuple("none" if x is None else x.stability for x in solutions)
    return Equilibria(
        plant.name, varied.name, varied.unit, numbers, arrays, units, motions, stability, folds
    )
