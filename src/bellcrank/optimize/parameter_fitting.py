"""Parameters, initial values and sensors of a model from recordings of its channels: `Simulation`
-> `Fit`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bellcrank.api.simulation import Simulation
from bellcrank.choices import ManyBackend, Method
from bellcrank.core.errors import (
    BellcrankError,
    ModelError,
    did_you_mean,
    require_callback,
    require_mapping,
)
from bellcrank.core.numeric.fixed_step_methods import ADAPTIVE
from bellcrank.core.numeric.real_numbers import display_text, to_float
from bellcrank.measured.log import convert_unit
from bellcrank.mechanics.interface.interface import PARAMETERS, STATES, Quantity
from bellcrank.optimize.fit_result import Fit
from bellcrank.optimize.least_squares import FitUnknown
from bellcrank.optimize.recordings import (
    Histories,
    Recording,
    Values,
    bounds_by_name,
    make_fit_setup,
    make_unknown,
    parse_sensor_name,
    run_fit,
    sensor_unknowns,
    to_recordings,
)
from bellcrank.simulation.run.argument_checks import canonical_method
from bellcrank.simulation.run.result import Run

EVEN = 1e-6  # relative, by which steps between samples may differ
MOST = 50  # iterations
STEPS = 1000  # of a run, where neither the model nor the caller gives a step


def fit(
    sim: Simulation,
    data: Run | str | Path | Recording | Sequence[Any],
    parameters: Mapping[str, Any] | Iterable[str],
    *,
    channels: Iterable[str] | str | None = None,
    start: Mapping[str, float] | None = None,
    fixed: Mapping[str, float | str] | None = None,
    initial: Mapping[Any, float | str] | None = None,
    inputs: Mapping[str, Any] | None = None,
    weights: Mapping[str, float] | None = None,
    step: float | None = None,
    method: Method | None = None,
    backend: ManyBackend = "cores",
    max_iterations: int = MOST,
    progress: Callable[[float], None] | None = None,
) -> Fit:
    """Find parameters from measurements by least squares.

    Each recording is simulated from t = 0 to its end. A column of a recording with the name of an
    input drives this input; columns with names of outputs or states are compared with the run.
    Units are converted.

    Parameters
    ----------
    sim : Simulation
        The model.
    data : Run, path, Recording, or a list of these
        What was measured, as of `bc.measured.read`; `bc.optimize.Recording` adds initial values and
        inputs to a run.
    parameters : list of str, or mapping
        What to find, with bounds (low, high) in user units or None: names of parameters, of states
        (initial values, the same in all recordings) and of sensors ("ay.offset", "ay.scale",
        "ay.delay").
    channels : str or iterable of str, optional
        Channels to compare. Default: all outputs and states that the recordings have.
    start : mapping, optional
        Values to begin with, by name. Default: those of the model.
    fixed : mapping, optional
        Values of other parameters, as of `simulate(parameters=)`.
    initial, inputs : mapping, optional
        As of `simulate`, for all recordings.
    weights : mapping, optional
        One over the standard deviation of the noise, by channel. Default: estimated from the errors
        of each channel.
    step : float, optional
        Step of the runs in s. Default: that of the model, or a thousandth of the run; shortened to
        fit the samples.
    method : str, optional
        Method of integration. Default: that of the model.
    backend : {"cores", "auto", "lanes", "cuda"}, default "cores"
        As of `simulate_many`, which computes the runs of each derivative together.
    max_iterations : int, default 50
        Iterations of the search, for each estimate of the noise.
    progress : callable, optional
        Called with a fraction that grows from 0 to 1.

    Returns
    -------
    Fit
        Values, covariance, confidence intervals, correlation, and comparisons before and after.

    Raises
    ------
    ModelError
        If a name is unknown, if bounds are wrong, or if the run with the start values fails.

    Warns
    -----
    ModelWarning
        If the data do not determine a value, or if the search does not converge.

    Examples
    --------
    A decaying oscillation, measured with noise.

    >>> import numpy as np
    >>> import bellcrank as bc
    >>> s = bc.System("oscillator")
    >>> mass = s.add_body("mass", translate="x", mass=2, inertia=0)
    >>> spring = s.add_force(
    ...     "spring", magnitude="-k*x - c*v", direction=s.inertial.x, at=mass.origin
    ... )
    >>> s.set_defaults(k=40, c=1)
    >>> sim = s.equations().compile(backend="python")
    >>> log = sim.simulate(2.0, step=0.02, initial={"q(mass)": 1}, parameters={"k": 50, "c": 2})
    >>> log.channels["q(mass)"] = log["q(mass)"] + np.random.default_rng(1).normal(0, 0.01, 101)
    >>> fit = bc.optimize.fit(
    ...     sim, log, {"k": (10, 100), "c": (0, 10)}, channels="q(mass)", initial={"q(mass)": 1}
    ... )
    >>> [low < true < high for true, (low, high) in zip((50, 2), fit.intervals().values())]
    [True, True]
    """
    _check_arguments(sim, max_iterations, progress)
    recordings = to_recordings(data)
    logs = [r.log() for r in recordings]
    outputs = (*sim.interface.outputs, *sim.interface.states)
    setting = make_fit_setup(
        sim.interface.model, {q.name: (str(q.unit), q.label) for q in outputs}, logs, channels
    )
    start_values = require_mapping(start, "start")
    model, sensed = _split_unknowns(sim, parameters, start_values)
    runs = _FitRuns(
        sim,
        recordings,
        logs,
        setting.channels,
        require_mapping(fixed, "fixed"),
        require_mapping(initial, "initial"),
        require_mapping(inputs, "inputs"),
        step,
        method,
        backend,
    )
    unknowns = [runs.make_unknown(n, b, start_values) for n, b in model.items()] + sensor_unknowns(
        setting, sensed, start_values
    )
    states = tuple(u.name for u in unknowns if u.name in runs.states)
    return run_fit(
        setting, unknowns, runs, weights, max_iterations, progress, states, tuple(sensed)
    )


def _check_arguments(sim: Any, max_iterations: Any, progress: Any) -> None:
    if not isinstance(sim, Simulation):
        raise ModelError(
            f"fit: sim={display_text(sim)} must be a compiled model, as of "
            f"System.equations().compile()"
        )
    require_callback(progress, "progress", "the fraction done")
    if (
        isinstance(max_iterations, bool)
        or not isinstance(max_iterations, int)
        or max_iterations < 1
    ):
        raise ModelError(
            f"fit: max_iterations={display_text(max_iterations)} must be a whole number of "
            f"at least 1"
        )


def _split_unknowns(
    sim: Simulation, parameters: Any, start_values: Mapping[str, float]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Bounds of what is fitted by name: of parameters and states, and of sensors."""
    bounds = bounds_by_name(parameters, "parameters")
    model = {n: b for n, b in bounds.items() if _find_quantity(sim, n) is not None}
    sensed = {
        n: b for n, b in bounds.items() if n not in model and parse_sensor_name(n) is not None
    }
    if unknown := [n for n in bounds if n not in model and n not in sensed]:
        valid_names = [q.name for q in sim.interface.of_kinds((*PARAMETERS, *STATES))]
        raise ModelError(
            [
                f"fit: '{n}' is no parameter, state or "
                f"sensor.{did_you_mean(n, valid_names)} Parameters: "
                f"{', '.join(q.name for q in sim.interface.parameters)}."
                for n in unknown
            ],
            sim.interface.model,
        )
    if not bounds:
        raise ModelError("fit: name at least one parameter")
    if strange := [n for n in start_values if n not in bounds]:
        raise ModelError(
            f"fit: start names '{strange[0]}', which is not fitted; fixed values are given "
            f"by fixed="
        )
    return model, sensed


def _find_quantity(sim: Simulation, name: str) -> Quantity | None:
    return sim.interface.find_or_none(name, (*PARAMETERS, *STATES))


class _FitRuns:
    """Runs of a model for each recording, at many points at once."""

    def __init__(
        self,
        sim: Simulation,
        recordings: Sequence[Recording],
        logs: Sequence[Run],
        channels: Sequence[str],
        fixed: dict[str, Any],
        initial: dict[Any, Any],
        inputs: dict[str, Any],
        step: float | None,
        method: str | None,
        backend: ManyBackend,
    ) -> None:
        self.sim, self.recordings, self.fixed, self.initial, self.backend = (
            sim,
            recordings,
            fixed,
            initial,
            backend,
        )
        self.states: set[str] = set()
        self.begun = False
        run_settings = sim.interface.run
        self.method = canonical_method(method or run_settings.method or "rk4", sim.interface.model)
        self.settings: list[dict[str, Any]] = []
        for recording, log in zip(recordings, logs, strict=True):
            driven = {
                q.name: (
                    log.time,
                    convert_unit(
                        log[q.name], log.units.get(q.name, ""), str(q.unit), f"input '{q.name}'"
                    ),
                )
                for q in sim.interface.signals
                if q.name in log.channels
            }
            times = _run_times(
                log, step if step is not None else run_settings.step, self.method in ADAPTIVE
            )
            channel_names = [c for c in channels if c in log.channels]
            input_values = {**driven, **inputs, **require_mapping(recording.inputs, "inputs")}
            self.settings.append(
                {**times, "inputs": input_values or None, "channels": channel_names}
            )

    def make_unknown(self, name: str, bounds: Any, start_values: Mapping[str, float]) -> FitUnknown:
        """A parameter or an initial value."""
        q = _find_quantity(self.sim, name)
        assert q is not None
        if q.kind in STATES:
            self.states.add(q.name)
            first = self.recordings[0]
            initial_guess: Any = start_values.get(
                name, {**self.initial, **(first.initial or {})}.get(q.name)
            )
            if initial_guess is None:
                initial_guess = q.unit.from_equation_units(self.sim.assemble(self.initial)[q.name])
        else:
            initial_guess = start_values.get(name, self.fixed.pop(q.name, q.default))
        number = to_float(self.sim.interface.in_user_unit(initial_guess, q, "start"))
        if number is None or not math.isfinite(number):
            raise ModelError(
                f"fit: '{name}' has no value to begin with; give one by start=",
                self.sim.interface.model,
            )
        return make_unknown(
            q.name, number, bounds, str(q.unit), q.label, user_start=name in start_values
        )

    def __call__(self, i: int, points: Sequence[Values]) -> list[Histories | None]:
        recording, settings = self.recordings[i], self.settings[i]
        parameters: dict[str, Any] = {
            **self.fixed,
            **require_mapping(recording.parameters, "parameters"),
        }
        initial: dict[Any, Any] = {**self.initial, **require_mapping(recording.initial, "initial")}
        for name in points[0]:
            values = np.array([p[name] for p in points])
            if name in self.states:
                initial[name] = values
            elif _find_quantity(self.sim, name) is not None:
                parameters[name] = values
        try:
            run: Any = self.sim.simulate_many
            options = {
                "parameters": parameters,
                "initial": initial or None,
                "method": self.method,
                **settings,
            }
            batch = run(len(points), backend=self.backend, **options)
        except BellcrankError:
            if not self.begun:
                raise
            if (
                len(points) > 1
            ):  # a search may try values that a model does not allow, such as a negative mass
                return [x for p in points for x in self(i, [p])]
            return [None]
        self.begun = True
        results: list[Histories | None] = []
        for k, outcome in enumerate(batch.ended):
            histories = {c: batch[c][k] for c in settings["channels"]}
            is_complete = outcome == "finished" and all(
                np.isfinite(x).all() for x in histories.values()
            )
            results.append((batch.time, histories) if is_complete else None)
        return results


def _run_times(log: Run, step: float | None, adaptive: bool) -> dict[str, Any]:
    """End, step and samples of a run: at the times of the log where these are even, else at every
    step."""
    end, count = float(log.time[-1]), len(log.time) - 1
    interval = end / count
    even = np.abs(np.diff(log.time) - interval).max() <= EVEN * interval
    longest = end / STEPS if step is None else to_float(step)
    if longest is None or not longest > 0:
        raise ModelError(f"fit: step={display_text(step)} s must be positive")
    if adaptive:
        return {"t_end": end, "step": interval if even else longest}
    every = max(1, math.ceil(interval / longest - 1e-9)) if even else 1
    return {
        "t_end": end,
        "step": interval / every if even else min(longest, end),
        "output_every": every,
    }
