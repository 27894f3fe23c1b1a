"""Power spectral densities of a model: by its linear model, and by simulation of the model as it
is."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from bellcrank.analysis.find_equilibrium import find_equilibrium
from bellcrank.analysis.linearize import linear_model
from bellcrank.analysis.operating_point import operating_point, position_keyword
from bellcrank.analysis.plant import CHANNELS, AnalysisModel
from bellcrank.analysis.random_inputs import as_density, line_density, random_signal
from bellcrank.analysis.response import Spectrum, check_frequencies
from bellcrank.core.errors import ModelError, RunError
from bellcrank.mechanics.interface.interface import Quantity
from bellcrank.simulation.run.point_evaluation import Parameters
from bellcrank.simulation.run.status import RunStatus
from bellcrank.symbolic.expr.table import table

DECAY_TIME_CONSTANTS = (
    12.0  # time constants of the slowest mode before the period that is evaluated
)
MAX_WAIT_PERIODS = 50  # periods to wait at most
SAMPLES_PER_PERIOD = 40  # per period of the highest frequency


def power_spectrum(
    plant: AnalysisModel,
    output: Any,
    spectra: Mapping[str, Any],
    f: Any,
    method: str,
    location: Any,
    parameters: Parameters,
    seed: int,
    periods: int,
) -> Spectrum:
    """Density of an output for independent random inputs with given densities."""
    frequencies = check_frequencies(f)
    plant.reject_sampled_values()
    inputs = {
        plant.find_quantity(k, ("input",), "input").name: as_density(v, str(k))
        for k, v in spectra.items()
    }
    if not inputs:
        raise ModelError("spectra: give the density of at least one input", plant.name)
    channel = plant.find_quantity(output, CHANNELS, "output")
    if method == "linear":
        model = linear_model(plant, location, list(inputs), [channel.name], parameters).essential()
        total = np.zeros(len(frequencies))
        for name, density in inputs.items():
            gain = np.abs(model.transfer(name, channel.name, 2j * np.pi * frequencies)) ** 2
            total += gain * density(frequencies)
        fields = frequencies, total, "linear model", model.notes, model.motion
        return Spectrum(plant.name, channel.name, channel.unit.text, *fields)
    if method != "simulation":
        raise ModelError(f"by={method!r} is not known; it is 'linear' or 'simulation'", plant.name)
    return _spectrum_by_simulation(
        plant, channel, inputs, frequencies, location, parameters, seed, periods
    )


def _spectrum_by_simulation(
    plant: AnalysisModel,
    channel: Quantity,
    inputs: Mapping[str, Any],
    frequencies: np.ndarray,
    location: Any,
    parameters: Parameters,
    seed: int,
    periods: int,
) -> Spectrum:
    """Periodic random inputs; one period, after what came before has died out; averaged over
    several runs."""
    if len(frequencies) < 2 or np.any(np.diff(frequencies) <= 0):
        raise ModelError("by simulation, f must be at least two increasing frequencies", plant.name)
    spacing = float(np.diff(frequencies).min())
    period = 1.0 / spacing
    first = max(1, math.ceil(frequencies[0] / spacing - 1e-9))
    index = np.arange(first, math.floor(frequencies[-1] / spacing + 1e-9) + 1)
    lines = index * spacing
    samples = 2 ** math.ceil(math.log2(SAMPLES_PER_PERIOD * frequencies[-1] * period))
    h = period / samples
    if position_keyword(location, plant.name) == "equilibrium":
        location = find_equilibrium(plant, parameters=parameters, inputs=dict.fromkeys(inputs, 0.0))
    if hasattr(location, "point"):
        parameters = None
    operating_state = operating_point(plant, location, parameters)
    if hasattr(location, "point"):
        parameters = plant.parameters_at(operating_state.point)
    constant_inputs = {
        k: v for k, v in plant.inputs_at(operating_state.point).items() if k not in inputs
    }
    initial = operating_state.point.q.tolist(), operating_state.point.u.tolist()
    settle = _settling_periods(
        plant, location, None if hasattr(location, "point") else parameters, period
    )
    rng = np.random.default_rng(seed)
    total = np.zeros(len(index))
    for _ in range(max(1, periods)):
        signals: dict[str, Any] = dict(constant_inputs)
        for name, density in inputs.items():
            wave = random_signal(density, lines, period, samples, rng)
            repeated = np.tile(wave, settle + 1)
            times = np.arange(len(repeated) + 1) * h
            signals[name] = table(
                times.tolist(), np.append(repeated, wave[0]).tolist(), 3, name=f"random {name}"
            )
        steps = {"t_end": (settle + 1) * period, "step": h, "method": "rk4", "output_every": 1}
        run = plant.simulate(**steps, initial=initial, inputs=signals, parameters=parameters)
        if run.status is not RunStatus.FINISHED:
            raise RunError(f"the run for the spectrum of '{channel.name}' ended early: {run.ended}")
        total += line_density(
            run[channel.name][settle * samples : (settle + 1) * samples], index, period
        )
    averaged = total / max(1, periods)
    motion = operating_state.motion or operating_state.words
    return Spectrum(
        plant.name, channel.name, channel.unit.text, lines, averaged, "simulation", motion=motion
    )


def _settling_periods(
    plant: AnalysisModel, start: Any, parameters: Parameters, period: float
) -> int:
    """Periods until the slowest mode has died out."""
    eigenvalues = linear_model(plant, start, (), (), parameters).essential().eigenvalues
    decays = -eigenvalues.real[
        np.abs(eigenvalues) > 1e-9 * (np.abs(eigenvalues).max(initial=0.0) or 1.0)
    ]
    slowest = float(decays.min(initial=np.inf))
    if slowest <= 0:
        return MAX_WAIT_PERIODS
    return max(1, min(MAX_WAIT_PERIODS, math.ceil(DECAY_TIME_CONSTANTS / slowest / period)))
