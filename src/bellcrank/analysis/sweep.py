"""Analyses repeated over values of a parameter, input, state or output, or of an argument that a model is made with.

Every value has its own steady motion, each search starting from the one before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bellcrank.analysis.aims import is_formula
from bellcrank.analysis.begin import begin_at
from bellcrank.analysis.equilibrium import Equilibrium, NoEquilibrium
from bellcrank.analysis.find_equilibrium import find_equilibrium
from bellcrank.analysis.follow import follow
from bellcrank.analysis.linear import LinearModel
from bellcrank.analysis.linearise import linear_model, operating_point
from bellcrank.analysis.locus import Equilibria, RootLocus, StabilityChart
from bellcrank.analysis.modes import matched
from bellcrank.analysis.plant import PARAMETERS, SETTABLE, STATES, Plant
from bellcrank.analysis.stability import assessed
from bellcrank.analysis.where import word_of
from bellcrank.errors import ModelError, RunError, did_you_mean
from bellcrank.interface.interface import Quantity
from bellcrank.numeric.real import reals
from bellcrank.run.evaluate import Inputs, Parameters

Axis = tuple[Any, Iterable[float]]  # a quantity and its values
Build = Callable[..., Any] | None  # what makes a model with some arguments


@dataclass(frozen=True)
class Over:
    """What is varied: a quantity that is set, an output or formula that is aimed at, or an argument of the model."""

    name: str
    unit: str = ""
    quantity: Quantity | None = None
    aimed: bool = False


def over_of(plant: Plant, target: Any, build: Build) -> Over:
    """What a name means: a state, input, parameter or output of the model; else an argument, where one is built."""
    settable = plant.interface.get(target, SETTABLE)
    if settable is not None:
        quantity = plant.find(target, SETTABLE, "over")
        return Over(quantity.name, quantity.unit.text, quantity)
    output = plant.interface.get(target, ("output",))
    if build is not None and isinstance(target, str) and output is None:
        return Over(target)
    if output is not None or is_formula(target):
        name, unit = (str(target), "") if output is None else (output.name, output.unit.text)
        return Over(name, unit, None, True)
    plant.find(target, (*SETTABLE, "output"), "over")
    raise AssertionError("not reached")


@dataclass
class Sweep:
    """One linear model after the other. `before`: the steady motion from which the next search starts."""

    plant: Plant
    at: Any
    parameters: Parameters
    inputs: Inputs
    options: Mapping[str, Any]
    build: Build
    before: Equilibrium | None = None

    def model(self, assignments: Sequence[tuple[Over, float]]) -> LinearModel:
        """The linear model with some quantities set (user units)."""
        plant = self.plant
        arguments = {o.name: v for o, v in assignments if o.quantity is None and not o.aimed}
        if arguments:
            plant, self.before = self._built(arguments), None
        location = self.at(*(v for _, v in assignments)) if callable(self.at) else self.at
        if isinstance(location, Equilibrium):
            return linear_model(plant, location, wrt=(), outputs=())
        if word_of(location, plant.name) == "equilibrium":
            self.before = self._steady(plant, assignments)
            return linear_model(plant, self.before, wrt=(), outputs=())
        return self._started(plant, location, assignments)

    def _built(self, arguments: Mapping[str, float]) -> Plant:
        """The model made with other arguments."""
        assert self.build is not None
        try:
            plant: Plant = self.build(**arguments).equations().compile(backend=self.plant.loaded.model.name).plant
        except (ModelError, TypeError) as error:
            names = ", ".join(f"'{n}'" for n in arguments)
            reason = "no state, input, parameter or output, and the model cannot be made with it"
            raise ModelError(f"over {names}: {reason} ({error})", self.plant.name) from None
        return plant

    def _values(self, assignments: Sequence[tuple[Over, float]]) -> tuple[dict[str, float | str], dict[str, Any]]:
        """Parameters and inputs."""
        quantities = [(o.quantity, v) for o, v in assignments if o.quantity is not None]
        parameters = {**(self.parameters or {}), **{q.name: v for q, v in quantities if q.kind in PARAMETERS}}
        return parameters, {**(self.inputs or {}), **{q.name: v for q, v in quantities if q.kind == "input"}}

    def _steady(self, plant: Plant, assignments: Sequence[tuple[Over, float]]) -> Equilibrium:
        parameters, driven = self._values(assignments)
        fixed = {o.quantity.name: v for o, v in assignments if o.quantity is not None and o.quantity.kind in STATES}
        aims = {**(self.options.get("targets") or {}), **{o.name: v for o, v in assignments if o.aimed}}
        all_fixed = {**held_of(self.options.get("fixed")), **fixed}
        search_options: dict[str, Any] = {"free": self.options.get("free"), "fixed": all_fixed, "targets": aims}
        if self.before is not None:
            try:
                return find_equilibrium(plant, **search_options, at=self.before, parameters=parameters, inputs=driven)
            except RunError:
                pass  # too far from the one before: from the start of the run
        return operating_point(plant, **search_options, parameters=parameters, inputs=driven)

    def _started(self, plant: Plant, location: Any, assignments: Sequence[tuple[Over, float]]) -> LinearModel:
        """At the start of the run or another place, with what was chosen put in and speeds in proportion."""
        parameters, driven = self._values(assignments)
        aimed = [o.name for o, _ in assignments if o.aimed]
        if aimed:
            reason = "an output has its value in a steady motion"
            raise ModelError(f"over '{aimed[0]}': {reason}; leave at= or give at='equilibrium'", plant.name)
        states = {o.quantity: v for o, v in assignments if o.quantity is not None and o.quantity.kind in STATES}
        if not states:
            return linear_model(plant, location, wrt=(), outputs=(), parameters=parameters, inputs=driven)
        point = begin_at(plant, location, states, (), parameters, driven).point
        model = linear_model(plant, (point.q, point.u), wrt=(), outputs=(), parameters=parameters, inputs=driven)
        origin = "start of the run" if location is None or isinstance(location, str) else "place given"
        return replace(model, motion=model.motion.replace("state given", f"{origin}, its speeds in proportion", 1))


def checked(options: Mapping[str, Any], *extra: str) -> Mapping[str, Any]:
    """Options of a search, whose names are known."""
    option_names = ("free", "fixed", "targets", *extra)
    for name in options:
        if name not in option_names:
            raise ModelError(
                f"option '{name}' is not known.{did_you_mean(name, option_names)} Options: {', '.join(option_names)}"
            )
    return options


def held_of(fixed: Any) -> dict[Any, float | None]:
    """What is fixed, by name, with or without values."""
    if fixed is None:
        return {}
    return dict(fixed) if isinstance(fixed, Mapping) else dict.fromkeys([fixed] if isinstance(fixed, str) else fixed)


def _numbers(raw_values: Iterable[float], label: str) -> np.ndarray:
    values = reals(list(raw_values))
    if values is None or values.ndim != 1 or not values.size or not np.all(np.isfinite(values)):
        raise ModelError(f"the values of {label} must be finite numbers, at least one")
    return values


def root_locus(
    plant: Plant,
    over: Any,
    values: Iterable[float],
    at: Any,
    parameters: Parameters,
    inputs: Inputs,
    options: Mapping[str, Any],
    build: Build = None,
) -> RootLocus:
    """Eigenvalues over values; coordinates that nothing depends on are omitted."""
    plant.refuse_kept()
    varied = over_of(plant, over, build)
    numbers = _numbers(values, varied.name)
    sweep = Sweep(plant, at, parameters, inputs, checked(options), build)
    rows: list[np.ndarray] = []
    motions: list[str] = []
    notes: dict[str, None] = {}
    for v in numbers:
        model = sweep.model([(varied, float(v))]).essential()
        notes.update(dict.fromkeys(model.notes))
        motions.append(model.motion)
        eigenvalues = model.eigenvalues
        rows.append(matched(rows[-1], eigenvalues) if rows and len(rows[-1]) == len(eigenvalues) else eigenvalues)
    table = np.full((len(rows), max(map(len, rows))), np.nan + 0j)
    for i, r in enumerate(rows):
        table[i, : len(r)] = r
    return RootLocus(plant.name, varied.name, varied.unit, numbers, table, tuple(notes), tuple(motions))


def stability_chart(
    plant: Plant,
    first: Axis,
    second: Axis,
    at: Any,
    parameters: Parameters,
    inputs: Inputs,
    options: Mapping[str, Any],
    build: Build = None,
) -> StabilityChart:
    """Largest real part of all eigenvalues over two quantities; those of neutral motions (zero) are not counted."""
    plant.refuse_kept()
    variables = [over_of(plant, name, build) for name, _ in (first, second)]
    grid = [_numbers(v, o.name) for (_, v), o in zip((first, second), variables, strict=True)]
    growth = np.full((len(grid[0]), len(grid[1])), np.nan)
    motions: list[str] = []
    for i, a in enumerate(grid[0]):
        sweep = Sweep(plant, at, parameters, inputs, checked(options), build)
        for j, b in enumerate(grid[1]):
            try:
                model = sweep.model(list(zip(variables, (float(a), float(b)), strict=True)))
            except (NoEquilibrium, RunError):
                motions.append("")
                continue
            motions.append(model.motion)
            eigenvalues = model.essential().eigenvalues
            nonzero = eigenvalues[np.abs(eigenvalues) > 1e-7 * (np.abs(eigenvalues).max(initial=0.0) or 1.0)]
            growth[i, j] = nonzero.real.max(initial=-np.inf) if nonzero.size else 0.0
    names, units = (variables[0].name, variables[1].name), (variables[0].unit, variables[1].unit)
    return StabilityChart(plant.name, names, units, (grid[0], grid[1]), growth, tuple(motions))


def equilibria(
    plant: Plant, over: Any, values: Iterable[float], parameters: Any, inputs: Any, options: Mapping[str, Any]
) -> Equilibria:
    """Equilibria over values, each followed from the one before, with folds; outputs are channels too."""
    plant.refuse_kept()
    varied = over_of(plant, over, None)
    numbers = _numbers(values, varied.name)
    start = checked(options, "at").get("at")
    fixed = held_of(options.get("fixed"))

    def search(value: float, guess: Any, method: str = "") -> Equilibrium:
        aims = {**(options.get("targets") or {}), **({varied.name: value} if varied.aimed else {})}
        fixed_values = fixed if varied.aimed else {**fixed, varied.name: value}
        return find_equilibrium(
            plant, options.get("free"), fixed_values, aims, guess, parameters, inputs, method=method
        )

    branch, folds = follow(numbers.tolist(), search, start)
    solutions = [None if x is None else assessed(plant, x) for x in branch]
    rows = [{} if x is None else x.values | x.outputs for x in solutions]
    units = {n: unit for x in solutions if x is not None for n, unit in x.units.items()}
    names = [n for n in dict.fromkeys(n for row in rows for n in row) if n != varied.name]
    arrays = {n: np.array([row.get(n, np.nan) for row in rows]) for n in names}
    motions = tuple("" if x is None else x.motion for x in solutions)
    stability = tuple("none" if x is None else x.stability for x in solutions)
    return Equilibria(plant.name, varied.name, varied.unit, numbers, arrays, units, motions, stability, folds)
