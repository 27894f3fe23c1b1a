"""Sensitivities of a run of a model."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bellcrank.analysis.evaluate import Evaluator
from bellcrank.analysis.plant import CHANNELS, PARAMETERS, Plant
from bellcrank.analysis.point import Point
from bellcrank.analysis.sensitivity import Sensitivity, integrate
from bellcrank.errors import ModelError, RunError
from bellcrank.expr import Expr, Symbol, evaluate, partial
from bellcrank.interface.interface import Interface, Quantity
from bellcrank.numeric.course import Course
from bellcrank.numeric.methods import DEFAULT, METHODS
from bellcrank.run.assembly import complete_state, state_key
from bellcrank.run.closure import keeper_of
from bellcrank.run.evaluate import closure
from bellcrank.run.inputs import breaks_of
from bellcrank.run.loaded import Loaded

OFTEN = 4000  # evaluations above which compiling the slopes pays
GROUPS = ("rates", "outputs", "positions", "speeds")


class _Sensitive:
    """A run with derivatives in the making."""

    def __init__(
        self,
        plant: Plant,
        parameters: list[Quantity],
        outputs: Sequence[Quantity],
        p: list[float],
        signals: Any,
        often: bool,
    ) -> None:
        self.loaded, self.outputs, self.p, self.signals = plant.loaded, outputs, tuple(p), signals
        columns = [q.symbol for q in (*plant.interface.states, *parameters) if q.symbol is not None]
        # the run takes its rates from the printed equations, so do their derivatives
        self.find: Evaluator = plant.once(
            ("printed", tuple(columns), often), lambda: Evaluator(plant, GROUPS, columns, often)
        )
        self.n_q, self.n = self.loaded.n_q, self.loaded.n_states
        self.closure = closure(self.loaded, p, signals)
        self.root = np.ones(self.n)  # roots of the weights that corrections of a run have
        self.rows: list[tuple[float, np.ndarray, np.ndarray]] = []

    def start(self, x: np.ndarray) -> None:
        """Takes note of the start: corrections of a run move what is light there."""
        if self.closure is not None:
            self.closure = keeper_of(self.closure, self.loaded.python.calls(), x, list(self.p), self.signals).closure
            assert self.closure.weights is not None
            self.root = np.sqrt(np.concatenate(self.closure.weights))

    def at(self, t: float, x: np.ndarray) -> Point:
        w = tuple(float(i.function(t)) for i in self.signals)
        return Point(t, x[: self.n_q], x[self.n_q :], self.p, w)

    def rates(self, t: float, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        values, slopes = self.find(self.at(t, x))
        return values["rates"], slopes["rates"][:, : self.n], slopes["rates"][:, self.n :]

    def admit(self, t: float, x: np.ndarray, S: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """State and derivatives brought onto the constraints, both by the least movement."""
        if self.closure is None:
            return x, S
        found = self.closure.admit(t, x[: self.n_q], x[self.n_q :])
        x = np.concatenate([found.q, found.u])
        return x, self.tangent(t, x, S)

    def tangent(self, t: float, x: np.ndarray, S: np.ndarray, fixed: np.ndarray | None = None) -> np.ndarray:
        """Derivatives corrected so that the constraints hold for changed parameters too; `fixed` states do not move."""
        _, slopes = self.find(self.at(t, x))
        S = S.copy()
        free = np.ones(self.n, dtype=bool) if fixed is None else ~fixed
        for group, part in (("positions", slice(0, self.n_q)), ("speeds", slice(self.n_q, self.n))):
            K, K_p = slopes[group][:, : self.n], slopes[group][:, self.n :]
            if not len(K):
                continue
            columns = np.arange(self.n)[part][free[part]]
            left = K @ S + K_p
            root = self.root[columns, None]
            S[columns] -= root * np.linalg.lstsq(K[:, columns] * root.T, left, rcond=1e-12)[0]
        return S

    def record(self, t: float, x: np.ndarray, S: np.ndarray) -> None:
        values, slopes = self.find(self.at(t, x))
        y, dy = [], []
        for q in self.outputs:
            if q.kind == "output":
                row = slopes["outputs"][q.place]
                y.append(values["outputs"][q.place])
                dy.append(row[: self.n] @ S + row[self.n :])
            else:
                y.append(x[q.column - 1])
                dy.append(S[q.column - 1])
        self.rows.append((t, np.array(y), np.array(dy)))


def sensitivity(
    plant: Plant,
    parameters: Iterable[Any] | str,
    outputs: Iterable[Any] | str | None,
    t_end: float | None,
    step: float | None,
    method: str | None,
    values: Mapping[str, float] | None,
    initial: Mapping[Any, float] | None,
    inputs: Mapping[str, Any] | None,
    check: bool,
) -> Sensitivity:
    """Derivatives of channels of a run by parameters, forward."""
    plant.refuse_kept()
    loaded, interface = plant.loaded, plant.interface
    chosen = [plant.find(x, PARAMETERS, "parameter") for x in _listed(parameters)]
    if not chosen:
        raise ModelError("sensitivity: name at least one parameter", plant.name)
    channels: Sequence[Quantity] = interface.outputs or interface.states
    if outputs is not None:
        channels = [plant.find(x, CHANNELS, "output") for x in _listed(outputs)]
    t_end, h, how, steps = _times(interface, t_end, step, method)
    if loaded.remembers:
        raise ModelError("sensitivities of a run with external routines that remember are not defined", plant.name)
    p = loaded.parameter_values(values)
    signals = loaded.inputs(inputs, t_end)
    given = {**interface.run.initial, **(initial or {})}
    x = np.concatenate(complete_state(loaded, given, closure(loaded, p, signals), p, signals))
    run = _Sensitive(plant, chosen, channels, p, signals, steps * METHODS[how].evaluations > OFTEN)
    S = np.zeros((run.n, len(chosen)))
    told = {state_key(interface, k) for k in given}
    if interface.removed:
        S = _removed_speeds(loaded, chosen, told, run.at(0.0, x), S)
    if run.closure is not None:
        held = np.array([s.key in told for s in interface.states])
        S = run.tangent(0.0, x, S, held)
        run.start(x)
    try:
        course = Course(how, h, steps, 1, t_end, breaks_of(signals, t_end, steps))
        integrate(run.rates, x, S, course, run.n_q, run.admit, run.record)
    except FloatingPointError as error:
        raise RunError(f"sensitivity of '{plant.name}': {error}; try a smaller step") from None
    result = _result(plant.name, run, chosen, channels)
    if not check:
        return result
    settings = {"t_end": t_end, "step": h, "method": how, "initial": initial, "inputs": inputs}
    return replace(result, checked=_checked(plant, result, chosen, values, settings))


def _removed_speeds(loaded: Loaded, chosen: list[Quantity], told: set[str], at: Point, S: np.ndarray) -> np.ndarray:
    """Derivatives at the start where removed speeds are given: independent ones follow as parameters change."""
    speed, program = loaded.analysis.kinematics.speed, loaded.program
    wanted = [x.symbol for x in loaded.interface.removed if x.key in told and x.symbol is not None]
    free = [i for i, x in enumerate(loaded.interface.speeds) if x.key not in told]
    if not wanted or not free:
        return S
    known: dict[Expr, float] = {Symbol("t", "time"): at.t}
    for symbols, numbers in (
        (program.coordinates, at.q),
        (program.speeds, at.u),
        (program.parameters, at.p),
        (program.inputs, at.w),
    ):
        known.update(zip(symbols, map(float, numbers), strict=True))
    relations = [speed[s] for s in wanted]
    by_speed = [evaluate([partial(e, program.speeds[i]) for i in free], known) for e in relations]
    by_parameter = [evaluate([partial(e, q.symbol) for q in chosen if q.symbol is not None], known) for e in relations]
    S = S.copy()
    rows = len(program.coordinates) + np.array(free)
    S[rows] = -np.linalg.lstsq(np.array(by_speed), np.array(by_parameter), rcond=1e-10)[0]
    return S


def _listed(given: Iterable[Any] | str) -> list[Any]:
    return [given] if isinstance(given, str) or hasattr(given, "kind") else list(given)


def _times(
    interface: Interface, t_end: float | None, step: float | None, method: str | None
) -> tuple[float, float, str, int]:
    r = interface.run
    end = float(t_end if t_end is not None else r.t_end if r.t_end is not None else 1.0)
    h = float(step if step is not None else r.step if r.step is not None else end / 1000)
    how = str(method or r.method or DEFAULT).lower()
    if how not in METHODS:
        how = DEFAULT if method is None else how
    if how not in METHODS:
        raise ModelError(f"method={method!r}: sensitivities are integrated with {', '.join(METHODS)}", interface.model)
    if not (math.isfinite(end) and math.isfinite(h) and 0 < h <= end * (1 + 1e-12)):
        raise ModelError(
            f"t_end={end:g} s and step={h:g} s: both must be positive, the step not the larger one", interface.model
        )
    return end, h, how, math.ceil(end / h - 1e-9)


def _result(name: str, run: _Sensitive, chosen: list[Quantity], channels: Sequence[Quantity]) -> Sensitivity:
    f_y = np.array([q.unit.factor for q in channels])
    f_p = np.array([q.unit.factor for q in chosen])
    y = np.array([row[1] for row in run.rows]) / f_y
    slopes = np.array([row[2] for row in run.rows]) / f_y[:, None] * f_p[None, :]
    values = [float(q.unit.from_equation(run.p[q.place])) for q in chosen]
    return Sensitivity(
        name,
        np.array([row[0] for row in run.rows]),
        tuple(q.name for q in chosen),
        tuple(q.unit.text for q in chosen),
        tuple(values),
        tuple(q.name for q in channels),
        tuple(q.unit.text for q in channels),
        slopes,
        {q.name: y[:, i] for i, q in enumerate(channels)},
        notes=run.find.notes,
    )


def _checked(
    plant: Plant,
    result: Sensitivity,
    chosen: list[Quantity],
    values: Mapping[str, float] | None,
    settings: Mapping[str, Any],
) -> dict[tuple[str, str], float]:
    """Largest deviation from differences of fourth order of runs, against the largest derivative of the channel."""
    found = {}
    for q, value in zip(chosen, result.parameter_values, strict=True):
        d = 1e-3 * (abs(value) or 1.0)
        runs = {
            k: plant.simulate(parameters={**(values or {}), q.name: value + k * d}, output_every=1, **settings)
            for k in (-2, -1, 1, 2)
        }
        for o in result.outputs:
            slope = (8 * (runs[1][o] - runs[-1][o]) - (runs[2][o] - runs[-2][o])) / (12 * d)
            exact = result[o, q.name]
            size = float(np.abs(exact).max()) or 1.0
            found[o, q.name] = float(np.abs(slope[: len(exact)] - exact).max()) / size
    return found
