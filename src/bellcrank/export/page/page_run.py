"""A run of the model while its page is made: what plots show, how far the view goes, and with which
values it runs.

In:  a derivation and the method and step of the page. Out: `PageRun`. It depends on the model
alone, not on how fast a computer is; without a compiler or wasmtime it is taken in Python, as far
as a few steps go.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from bellcrank.core.errors import BellcrankError
from bellcrank.core.units import ANGLE
from bellcrank.export.page.slider_ranges import SliderRange
from bellcrank.export.standalone.setup import ProgramSetup
from bellcrank.mechanics.derive.derived import DerivedModel
from bellcrank.mechanics.interface.interface import Quantity
from bellcrank.simulation.backend.compiler import find_compiler
from bellcrank.simulation.backend.wasm import wasm_obstacle
from bellcrank.simulation.run.checkpoint import initial_conditions
from bellcrank.simulation.run.event_specs import make_event_specs
from bellcrank.simulation.run.loaded import LoadedModel, load_model
from bellcrank.simulation.run.result import Run
from bellcrank.simulation.run.session import RunSession
from bellcrank.simulation.run.simulate import simulate
from bellcrank.simulation.run.status import OF_CODE, RunStatus
from bellcrank.simulation.run.tolerances import resolve_tolerances
from bellcrank.symbolic.expr import free_symbols

MOST = 100_000  # steps
WORK = 3e7  # steps of a run with another value, times the bytes of a program
FEWEST, IN_PYTHON = 200, 200  # steps
ROWS = 600  # that are looked at
EVENLY = 5  # poses over the run
FOLLOWED = 6  # coordinates whose extremes are in the view
TURNED = (
    0.6  # rad that a body may start from its usual angle when loops are closed with another value
)
HALVINGS = 8  # of the distance from a value to an end of its slider


@dataclass(frozen=True)
class PageRun:
    """A model with the method and step of its page; `run` as it comes, None if it cannot run."""

    loaded: LoadedModel
    setup: ProgramSetup
    steps: int  # of runs with other values
    most: int  # of the whole run
    run: Run | None

    def sampled_coordinates(self) -> list[list[float]]:
        """Coordinates in equation units, at a few times and where the first of them are extreme, in
        order of time."""
        if self.run is None or not len(self.run):
            return []
        names = [x.name for x in self.loaded.interface.coordinates]
        values = np.array(
            [self.run[n] * x.unit.factor for n, x in zip(names, self.loaded.interface.coordinates)]
        )
        values = values[:, np.isfinite(values).all(axis=0)]
        if not values.size:
            return []
        leading = values[:FOLLOWED]
        even = np.linspace(0, values.shape[1] - 1, EVENLY).round().astype(int)
        rows = sorted(
            {*even.tolist(), *leading.argmin(axis=1).tolist(), *leading.argmax(axis=1).tolist()}
        )
        return values[:, rows].T.tolist()

    def runs_with(self, x: Quantity, value: float, steps: int) -> bool:
        """Does it run so many steps with another value of a parameter?"""
        if x.positive and not value > 0:
            return False
        loaded, s = self.loaded, self.setup
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                initial = initial_conditions(loaded, None, None, None, {x.name: value}, None)
                spec = initial.make_spec(loaded, steps * s.step, s.step, s.method, steps)
                events = make_event_specs(loaded.interface, None, (), initial.parameters)
                tolerances = resolve_tolerances(
                    loaded.interface, spec.method, None, None, initial.tolerances
                )
                session = RunSession(loaded, initial, spec, events, initial.dae, tolerances)
                rows = session.run_to_end(None)
            except BellcrankError:
                return False
        is_complete = (
            session.event_log.stop_event is not None
            or OF_CODE[session.run.status] is RunStatus.FINISHED
        )
        if not len(rows):  # interrupted before the first step
            return False
        return (
            is_complete and bool(np.isfinite(rows).all()) and not self._is_other_assembly(rows[0])
        )

    def _is_other_assembly(self, row: np.ndarray) -> bool:
        """Are loops closed in another configuration? A page, which follows a slider, does not find
        it."""
        if self.loaded.program.loops is None or self.run is None:
            return False
        angles = [x for x in self.loaded.interface.coordinates if x.unit.dimension == ANGLE]
        angle_changes = [abs(row[x.column] - self.run[x.name][0] * x.unit.factor) for x in angles]
        return max(angle_changes, default=0.0) > TURNED

    def feasible_range(self, x: Quantity, limits: SliderRange) -> SliderRange:
        """Ends of a slider between which the model runs."""
        if self.run is None or x.kind != "parameter" or x.default is None:
            return limits
        loops = self.loaded.program.loops is not None
        value, steps = float(x.default), self.most if loops else self.steps
        for _ in range(HALVINGS):
            tried_values = [
                {end, beyond} if loops else {end}
                for end, beyond in zip(limits.limits, limits.widened_limits, strict=True)
            ]
            failing = [
                value not in each and not all(self.runs_with(x, v, steps) for v in each)
                for each in tried_values
            ]
            if not any(failing):
                break
            limits, steps = (
                limits.narrowed(value, *failing),
                self.most,
            )  # near its limits a model is looked at for longer
        return limits


def make_page_run(derived: DerivedModel, setup: ProgramSetup, size: int) -> PageRun:
    """The trial of a model whose program has so many bytes."""
    quick = not wasm_obstacle() or find_compiler() is not None
    backend = "wasm" if not wasm_obstacle() else "auto" if quick else "python"
    loaded = load_model(derived.analysis, setup.interface, derived.program, backend, {}, "quick")
    total = max(1, round(setup.t_end / setup.step))
    step_limit = min(total, MOST if quick else IN_PYTHON)
    steps = min(step_limit, max(FEWEST, int(WORK / max(size, 1))))
    return PageRun(
        loaded, setup, steps, min(step_limit, 20 * steps), _short_run(loaded, setup, step_limit)
    )


def _short_run(loaded: LoadedModel, setup: ProgramSetup, steps: int) -> Run | None:
    """So many steps; None if it cannot begin."""
    every = max(1, steps // ROWS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return simulate(loaded, steps * setup.step, setup.step, setup.method, every)
        except BellcrankError:
            return None


def products_of_inertia(derived: DerivedModel) -> set[str]:
    """Parameters that stand in products of inertia alone."""
    mixed: set[str] = set()
    plain: set[str] = set()
    for body in derived.analysis.mechanism.bodies:
        for i in range(3):
            for j in range(3):
                (plain if i == j else mixed).update(
                    s.name for s in free_symbols(body.inertia[i][j])
                )
    return mixed - plain
