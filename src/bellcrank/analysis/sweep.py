"""Analyses repeated over values of a parameter, input or state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from bellcrank.analysis.equilibrium import Equilibrium, NoEquilibrium
from bellcrank.analysis.find_equilibrium import find_equilibrium
from bellcrank.analysis.linear import LinearModel
from bellcrank.analysis.linearise import linear_model
from bellcrank.analysis.locus import Equilibria, RootLocus, StabilityChart
from bellcrank.analysis.modes import matched
from bellcrank.analysis.plant import PARAMETERS, SETTABLE, Plant
from bellcrank.errors import ModelError, RunError
from bellcrank.interface.interface import Quantity
from bellcrank.run.evaluate import Inputs, Parameters

Axis = tuple[Any, Iterable[float]]  # a quantity and its values


def _values(given: Iterable[float], what: str) -> np.ndarray:
    values = np.asarray(list(given), dtype=float)
    if values.ndim != 1 or not values.size or not np.all(np.isfinite(values)):
        raise ModelError(f"the values of {what} must be finite numbers, at least one")
    return values


def _model(
    plant: Plant, at: Any, chosen: Sequence[tuple[Quantity, float]], parameters: Any, inputs: Any
) -> LinearModel:
    """The linear model with some quantities set (user units)."""
    own = {**(parameters or {}), **{q.name: v for q, v in chosen if q.kind in PARAMETERS}}
    driven = {**(inputs or {}), **{q.name: v for q, v in chosen if q.kind == "input"}}
    states = {q.name: v for q, v in chosen if q.kind in ("coordinate", "speed")}
    if callable(at):
        at = at(*(v for _, v in chosen))
    if isinstance(at, str) and at.lower() == "equilibrium":
        found = find_equilibrium(plant, fixed=states, parameters=own, inputs=driven)
        return linear_model(plant, found, inputs=(), outputs=())
    if isinstance(at, Equilibrium):
        return linear_model(plant, at, inputs=(), outputs=())
    if at is not None and not isinstance(at, Mapping):
        raise ModelError(
            f"at={at!r} is not known here; give 'equilibrium', values of states, a function of the value, or nothing"
        )
    initial = {**(plant.interface.run.initial if at is None else at), **states}
    return linear_model(plant, initial, inputs=(), outputs=(), parameters=own, signals=driven)


def root_locus(
    plant: Plant, over: Any, values: Iterable[float], at: Any, parameters: Parameters, inputs: Inputs
) -> RootLocus:
    """Eigenvalues over a parameter, input or state; coordinates that nothing depends on are left out."""
    plant.refuse_kept()
    quantity = plant.find(over, SETTABLE, "over")
    numbers = _values(values, quantity.name)
    rows: list[np.ndarray] = []
    notes: dict[str, None] = {}
    for v in numbers:
        model = _model(plant, at, [(quantity, float(v))], parameters, inputs).essential()
        notes.update(dict.fromkeys(model.notes))
        now = model.eigenvalues
        rows.append(matched(rows[-1], now) if rows and len(rows[-1]) == len(now) else now)
    table = np.full((len(rows), max(map(len, rows))), np.nan + 0j)
    for i, r in enumerate(rows):
        table[i, : len(r)] = r
    return RootLocus(plant.name, quantity.name, quantity.unit.text, numbers, table, tuple(notes))


def stability_chart(
    plant: Plant, first: Axis, second: Axis, at: Any, parameters: Parameters, inputs: Inputs
) -> StabilityChart:
    """Largest real part of all eigenvalues over two quantities; those of indifferent motions (zero) are not counted."""
    plant.refuse_kept()
    chosen = [plant.find(name, SETTABLE, "over") for name, _ in (first, second)]
    grid = [_values(v, q.name) for (_, v), q in zip((first, second), chosen, strict=True)]
    growth = np.full((len(grid[0]), len(grid[1])), np.nan)
    for i, a in enumerate(grid[0]):
        for j, b in enumerate(grid[1]):
            try:
                model = _model(plant, at, list(zip(chosen, (float(a), float(b)), strict=True)), parameters, inputs)
            except (NoEquilibrium, RunError):
                continue
            found = model.essential().eigenvalues
            alive = found[np.abs(found) > 1e-7 * (np.abs(found).max(initial=0.0) or 1.0)]
            growth[i, j] = alive.real.max(initial=-np.inf) if alive.size else 0.0
    return StabilityChart(
        plant.name, (chosen[0].name, chosen[1].name), (chosen[0].unit.text, chosen[1].unit.text),
        (grid[0], grid[1]), growth,
    )  # fmt: skip


def equilibria(
    plant: Plant, over: Any, values: Iterable[float], parameters: Any, inputs: Any, **options: Any
) -> Equilibria:
    """Equilibria over values, each starting from the one before; outputs are channels too."""
    plant.refuse_kept()
    quantity = plant.find(over, SETTABLE, "over")
    numbers, loaded, outputs = _values(values, quantity.name), plant.loaded, plant.interface.outputs
    start = options.pop("start", None)
    fixed = options.pop("fixed", None) or {}
    fixed = dict(fixed) if isinstance(fixed, Mapping) else dict.fromkeys([fixed] if isinstance(fixed, str) else fixed)
    columns: dict[str, list[float]] = {}
    units: dict[str, str] = {}
    for v in numbers:
        held = {**fixed, quantity.name: float(v)}
        found = find_equilibrium(plant, options.get("free"), held, options.get("targets"), start, parameters, inputs)
        start = found.initial
        at = found.point
        p = list(at.p)
        out = loaded.model.calls().outputs(at.t, at.q.tolist(), at.u.tolist(), p, loaded.constants(p), list(at.w))
        row = found.values | {x.name: float(x.unit.from_equation(v)) for x, v in zip(outputs, out, strict=True)}
        units = found.units | {x.name: x.unit.text for x in outputs}
        for name, x in row.items():
            columns.setdefault(name, []).append(x)
    columns.pop(quantity.name, None)
    arrays = {n: np.array(c) for n, c in columns.items()}
    return Equilibria(plant.name, quantity.name, quantity.unit.text, numbers, arrays, units)
