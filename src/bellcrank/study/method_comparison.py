"""Methods that keep constraints, compared on one model: drift, accuracy, energy, cost, largest
stable step."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from bellcrank.analysis.view.comparison import draw_comparison
from bellcrank.api.equations import Equations
from bellcrank.api.simulation import Simulation
from bellcrank.api.system import System
from bellcrank.choices import Backend, DaeMethod, Method
from bellcrank.core.errors import ModelError, ModelWarning
from bellcrank.core.numeric.fixed_step_methods import METHODS, join_alternatives
from bellcrank.program.dae_count import step_count
from bellcrank.simulation.run.argument_checks import resolve_run_spec
from bellcrank.simulation.run.dae_methods import (
    KNOWN,
    MINIMAL,
    WITH_BASE,
    Dae,
    RedundantEquations,
    to_dae,
)
from bellcrank.simulation.run.point_evaluation import loop_constraints, program_arguments_at
from bellcrank.simulation.run.result import Run
from bellcrank.simulation.run.status import RunStatus

FINER = 8  # steps of the reference for one step of the runs
SAMPLES = 400  # of a run, at most, in which residuals are looked at
USUAL: DaeMethod = "projection"
# a run past these is not stable: of the span of coordinates, and of the largest speed of the
# reference
LIMIT_DRIFT, LIMIT_SPEED = 0.1, 3.0
FINE = 4  # bisections of the largest stable step


@dataclass(frozen=True)
class MethodResult:
    """What one method does in one model.

    `drift`: largest residual of positions until each horizon; `speed`: of speeds; both in the units
    of the rows.
    `error`, `energy`: largest difference of a coordinate and of the energy from the reference,
    equation units.
    `operations` and `microseconds` of a step; `limit`: the largest stable step, s, not above the
    largest one tried. None: not known.
    """

    name: str
    drift: tuple[float, ...]
    speed: float
    error: float
    energy: float | None
    operations: int
    microseconds: float
    limit: float | None
    ended: str
    time: np.ndarray = field(repr=False, compare=False)
    residual: np.ndarray = field(repr=False, compare=False)
    energy_error: np.ndarray | None = field(repr=False, compare=False)


@dataclass(frozen=True)
class Comparison:
    """Constraint methods compared on one model, as `bc.compare` returns them: `found["dlmm"]` is
    one of `rows`.

    Attributes
    ----------
    model : str
        Name of the model.
    step, t_end : float
        Step and end of the runs in s.
    method, backend : str
        Method of integration and backend.
    horizons : tuple of float
        Times in s until which the drift is measured.
    rows : tuple of Compared
        Drift, error, cost and largest stable step of each method.

    Examples
    --------
    >>> import bellcrank as bc
    >>> s = bc.System("pendulum")
    >>> ball = s.add_point_mass("ball", translate=("x", "z"), joint_at=(0, 0, -1), mass=2)
    >>> s.add_gravity((0, 0, -1))
    >>> s.add_loop_joint("rod", "distance", between=("o", ball.origin))
    >>> found = bc.compare(
    ...     s, t_end=0.1, step=0.01, methods=["projection", "baumgarte"], limits=False
    ... )
    >>> found["baumgarte"].name, found.as_dict()["step"]
    ('baumgarte', 0.01)
    """

    model: str
    step: float
    t_end: float
    method: str
    backend: str
    horizons: tuple[float, ...]
    rows: tuple[MethodResult, ...]

    def __getitem__(self, name: str) -> MethodResult:
        return {row.name: row for row in self.rows}[name]

    def as_dict(self) -> dict[str, Any]:
        """Collect all results, ready for JSON.

        Returns
        -------
        dict
            Settings, and the results of each method.
        """
        heads = ("model", "step", "t_end", "method", "backend")
        methods = [
            {f.name: _comparison_json_value(getattr(row, f.name)) for f in fields(row) if f.repr}
            for row in self.rows
        ]
        head = {name: getattr(self, name) for name in heads}
        return {**head, "horizons": list(self.horizons), "methods": methods}

    def plot(self, path: str | Path | None = None) -> Any:
        """Draw constraint violation and energy error over time.

        Parameters
        ----------
        path : str or Path, optional
            File of the picture. Default: none is written.

        Returns
        -------
        matplotlib.figure.Figure
            The figure.
        """
        lines = [(row.name, row.time, row.residual, row.energy_error) for row in self.rows]
        return draw_comparison(f"{self.model}, {self.method}, step {self.step:g} s", lines, path)


def _comparison_json_value(x: Any) -> Any:
    """A figure that JSON knows."""
    if isinstance(x, tuple):
        return [_comparison_json_value(y) for y in x]
    return None if isinstance(x, float) and not math.isfinite(x) else x


def compare(
    model: System | Equations,
    *,
    t_end: float | None = None,
    step: float | None = None,
    method: Method | None = None,
    methods: Sequence[DaeMethod | Dae] | None = None,
    horizons: Sequence[float] | None = None,
    free_fall: bool = False,
    limits: bool = True,
    backend: Backend = "auto",
    parameters: Mapping[str, float] | None = None,
    initial: Mapping[Any, float] | None = None,
    inputs: Mapping[str, Any] | None = None,
    progress: Callable[[float], None] | None = None,
) -> Comparison:
    """Compare methods that keep constraints, by runs of one model.

    The reference is the default method with an eighth of the step.

    Parameters
    ----------
    model : System or Equations
        A model with constraints.
    t_end, step, method, parameters, initial, inputs, progress : optional
        The run, as of `simulate`, with a fixed step.
    methods : sequence of str or Dae, optional
        Methods. Default: all.
    horizons : sequence of float, optional
        Times in s until which drift is reported. Default: t_end/100, t_end/10 and t_end.
    free_fall : bool, default False
        Add methods that correct accelerations without multipliers.
    limits : bool, default True
        Find the largest stable step of each method.
    backend : str, default "auto"
        As of `Equations.compile`.

    Returns
    -------
    Comparison
        A row for each method: `found.rows`, `found["projection"]`, `print(found)`, `found.plot()`.

    Raises
    ------
    ModelError
        If the model has no constraints.

    Examples
    --------
    >>> import bellcrank as bc
    >>> s = bc.System("pendulum")
    >>> ball = s.add_point_mass("ball", translate=("x", "z"), joint_at=(0, 0, -1), mass=2)
    >>> s.add_gravity((0, 0, -1))
    >>> s.add_loop_joint("rod", "distance", between=("o", ball.origin))
    >>> found = bc.compare(
    ...     s, t_end=0.1, step=0.01, methods=["projection", "baumgarte"], limits=False
    ... )
    >>> [row.name for row in found.rows]
    ['projection', 'baumgarte']
    """
    if not isinstance(model, System | Equations):
        raise ModelError(
            "methods are compared on a System or its equations; one led by hand keeps its "
            "constraints itself"
        )
    equations = model if isinstance(model, Equations) else _equations_with_energy(model)
    if equations.program.loops is None:
        raise ModelError(
            "there is nothing to compare: the model has no constraints", equations.name
        )
    spec = resolve_run_spec(equations.interface, t_end, step, method, 1)
    if spec.method not in METHODS:
        raise ModelError(
            f"methods are compared with a fixed step: {join_alternatives()}, not {spec.method}",
            equations.name,
        )
    drift_times = tuple(sorted(horizons or (spec.t_end / 100, spec.t_end / 10, spec.t_end)))
    if not all(0 < x <= spec.t_end * (1 + 1e-12) for x in drift_times):
        raise ModelError(
            f"horizons={list(drift_times)} must lie between 0 and t_end={spec.t_end:g} s",
            equations.name,
        )
    minimal = equations.program.loops.correction is not None
    dae_methods = [
        to_dae(m)
        for m in (
            _available_methods(spec.method, free_fall, minimal) if methods is None else methods
        )
    ]
    sim = equations.compile(backend=backend, speed="fast")  # what methods take is reported
    trial = _MethodTrials(
        sim,
        spec.t_end,
        spec.method,
        {"parameters": parameters, "initial": initial, "inputs": inputs},
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)  # of runs that break down
        trial.find_reference(spec.step)
        rows = []
        for i, dae in enumerate(dae_methods):
            rows.append(trial.evaluate_method(dae, spec.step, drift_times, limits))
            if progress is not None:
                progress((i + 1) / len(dae_methods))
    return Comparison(
        equations.name, spec.step, spec.t_end, spec.method, sim.backend, drift_times, tuple(rows)
    )


def _equations_with_energy(system: System) -> Equations:
    """The equations with multipliers; the energy is among the outputs, if no other output is called
    so."""
    d = system.description
    names = {str(o.name) for o in d.outputs}
    has_energy = "energy" in d.output_groups or not names.isdisjoint(
        ("energy", "kinetic", "potential")
    )
    if not has_energy:
        d.output_groups.append("energy")
    try:
        return system.equations(constraints="multipliers")
    finally:
        if not has_energy:
            d.output_groups.remove("energy")


def _available_methods(method: str, free_fall: bool, minimal: bool) -> list[Dae]:
    names = [
        m
        for m in KNOWN
        if (m != "half-explicit" or method != "euler") and (m != MINIMAL or minimal)
    ]
    listed = [Dae(USUAL), Dae(USUAL, metric="mass"), *(to_dae(m) for m in names if m != USUAL)]
    return [*listed, *(Dae(m, base="free fall") for m in WITH_BASE)] if free_fall else listed


def method_label(dae: Dae) -> str:
    """A method in words."""
    extra = [dae.base] if dae.base != "index-1" else ["masses"] if dae.metric == "mass" else []
    return ", ".join([dae.method, *extra])


class _MethodTrials:
    """Runs of one model, and the reference that they are compared with."""

    def __init__(
        self, sim: Simulation, t_end: float, method: str, settings: Mapping[str, Any]
    ) -> None:
        self.sim, self.t_end, self.method = sim, t_end, method
        self.settings = {k: v for k, v in settings.items() if v is not None}
        self.coordinates = [x.name for x in sim.interface.coordinates]
        self.speeds = [x.name for x in sim.interface.speeds]
        self.units = {x.name: x.unit for x in sim.interface.states}

    def simulate(self, step: float, every: int, dae: Dae) -> Run:
        settings = {"t_end": self.t_end, "method": self.method, **self.settings}
        return self.sim.simulate(step=step, output_every=every, dae=dae, **settings)

    def state_of_sample(self, run: Run, i: int) -> tuple[list[float], list[float]]:
        """Coordinates and speeds of a sample, in equation units."""
        values = {
            name: float(unit.to_equation_units(run[name][i])) for name, unit in self.units.items()
        }
        return [values[c] for c in self.coordinates], [values[c] for c in self.speeds]

    def find_reference(self, step: float) -> None:
        """The reference, recorded where runs with the step are."""
        self.every = max(1, math.ceil(self.t_end / step / SAMPLES))
        self.reference = self.simulate(step / FINER, FINER * self.every, Dae())
        if self.reference.status is not RunStatus.FINISHED:
            raise ModelError(f"the reference run {self.reference.ended}", self.sim.interface.model)
        q, u = (
            np.array([self.reference[c] for c in names])
            for names in (self.coordinates, self.speeds)
        )
        self.span = float(np.ptp(q, axis=1).max()) or 1.0
        self.fastest = float(np.abs(u).max()) or 1.0
        self.regular = self._has_regular_mass()

    def _has_regular_mass(self) -> bool:
        """Does every speed have an inertia, at the start?"""
        context, start = self.sim.loaded.new_context(), self.state_of_sample(self.reference, 0)
        program_arguments = program_arguments_at(
            context, 0.0, *start, self.settings.get("parameters"), self.settings.get("inputs")
        )
        M = RedundantEquations(context.python_calls).evaluate_system(program_arguments).M
        size = np.sqrt(np.diag(M))
        return bool(size.min() > 0 and np.linalg.eigvalsh(M / np.outer(size, size))[0] > 1e-9)

    def evaluate_method(
        self, dae: Dae, step: float, drift_times: Sequence[float], limits: bool
    ) -> MethodResult:
        run = self.simulate(step, self.every, dae)
        r = run.residuals
        position = r.position
        drift = tuple(
            float(position[r.time <= t * (1 + 1e-9)].max(initial=0.0)) for t in drift_times
        )
        n = min(len(run), len(self.reference))
        error = max(
            float(np.abs(run[c][:n] - self.reference[c][:n]).max(initial=0.0))
            for c in self.coordinates
        )
        energy = (
            np.abs(run["energy"][:n] - self.reference["energy"][:n])
            if "energy" in run.channels
            else None
        )
        steps = math.ceil(run.time[-1] / step - 1e-9) if len(run) else 0
        count = step_count(
            self.sim.loaded.program, dae.method, dae.usual, self.method, self.regular
        ).total
        return MethodResult(
            method_label(dae),
            drift,
            r.largest[1],
            error,
            None if energy is None else float(energy.max(initial=0.0)),
            count,
            self.step_cost(dae, step) if steps else math.nan,
            self.largest_stable_step(dae, step) if limits else None,
            run.ended,
            run.time,
            position,
            energy,
        )

    def step_cost(self, dae: Dae, step: float) -> float:
        """Microseconds of a step, the least of three runs; outputs are left aside."""
        steps = math.ceil(self.t_end / step - 1e-9)
        runs = [self.simulate(step, steps, dae) for _ in range(3)]
        return min(
            1e6 * r.settings["seconds"] / max(math.ceil(r.time[-1] / step - 1e-9), 1)
            for r in runs
            if len(r)
        )

    def is_stable(self, dae: Dae, step: float) -> bool:
        run = self.simulate(step, max(1, int(self.t_end / step / SAMPLES)), dae)
        if run.status is not RunStatus.FINISHED:
            return False
        if max(np.abs(run[c]).max() for c in self.speeds) > LIMIT_SPEED * self.fastest:
            return False
        return self._largest_drift(run) < LIMIT_DRIFT * self.span

    def _largest_drift(self, run: Run) -> float:
        """How far a run is from the constraints, at most: the smallest change of coordinates that
        closes them."""
        r = run.residuals
        if not r.g.size:
            return 0.0
        worst = int(r.position.argmax())
        q, u = map(np.array, self.state_of_sample(run, worst))
        p = self.sim.parameter_values(self.settings.get("parameters"))
        constraints = loop_constraints(
            self.sim.loaded, p, self.sim.loaded.inputs(self.settings.get("inputs"))
        )
        assert constraints is not None
        g, G, _, _ = constraints.evaluate(float(run.time[worst]), q, u)
        return float(np.abs(np.linalg.lstsq(G, g, rcond=1e-6)[0]).max())

    def largest_stable_step(self, dae: Dae, step: float) -> float | None:
        """The largest stable step by doubling and bisection; None if even small ones are not
        stable."""
        stable_step, unstable_step = step, step
        if self.is_stable(dae, step):
            while unstable_step == stable_step and stable_step < self.t_end / 10:
                unstable_step = min(2 * stable_step, self.t_end / 10)
                stable_step = unstable_step if self.is_stable(dae, unstable_step) else stable_step
            if unstable_step == stable_step:
                return stable_step
        else:
            for _ in range(6):
                stable_step = unstable_step / 2
                if self.is_stable(dae, stable_step):
                    break
                unstable_step = stable_step
            else:
                return None
        for _ in range(FINE):
            middle = math.sqrt(stable_step * unstable_step)
            stable_step, unstable_step = (
                (middle, unstable_step) if self.is_stable(dae, middle) else (stable_step, middle)
            )
        return stable_step
