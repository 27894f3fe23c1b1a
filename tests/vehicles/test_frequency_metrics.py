"""Bandwidths and peaks of frequency responses do not depend on the grid of frequencies."""

import math

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.vehicles.manoeuvres.compiled_car import compile_car
from bellcrank.vehicles.manoeuvres.linear_handling import LinearCar
from bellcrank.vehicles.manoeuvres.manoeuvre_result import MetricCollector
from bellcrank.vehicles.manoeuvres.steering_tests import RESPONSES, add_frequency_metrics

UNITS = dict.fromkeys(RESPONSES, "deg")


def of_oscillator(f, natural, damping):
    """Metrics of a second-order response, in closed form where the first frequency is near 0."""
    s = 1j * f / natural
    metrics = MetricCollector()
    response = 1 / (s**2 + 2 * damping * s + 1)
    add_frequency_metrics(metrics, f, dict.fromkeys(RESPONSES, response), UNITS)
    return metrics


@pytest.mark.parametrize("spacing", [0.02, 0.067, 0.09])
def test_oscillator(spacing):
    natural, damping = 1.234, 0.4
    metrics = of_oscillator(np.arange(0.001, 4.0, spacing), natural, damping)
    d = 1 - 2 * damping**2
    assert metrics["ay_bandwidth"].value == pytest.approx(
        natural * math.sqrt(d + math.sqrt(d**2 + 1)), rel=2e-3
    )
    assert metrics["ay_peak_at"].value == pytest.approx(natural * math.sqrt(d), rel=5e-3)
    assert metrics["ay_peak"].value == pytest.approx(
        1 / (2 * damping * math.sqrt(1 - damping**2)), rel=2e-3
    )


def test_no_bandwidth_within_the_range():
    assert math.isnan(of_oscillator(np.arange(0.01, 1.0, 0.05), 3.0, 0.4)["ay_bandwidth"].value)


def test_pulse_has_the_bandwidth_of_the_linear_car():
    """Whatever its width."""
    car = bc.vehicles.Car.read("passenger")
    f = np.linspace(0.2, 3.0, 281)
    linear = MetricCollector()
    responses = LinearCar(compile_car(car)).responses(80 / 3.6, tuple(RESPONSES), f)
    add_frequency_metrics(linear, f, responses, UNITS)
    for width in (0.2, 0.4):
        pulse = bc.vehicles.manoeuvres.run(car, "iso7401-pulse", ay=0.2, width=width)
        for name in RESPONSES:
            for metric, apart in ((f"{name}_bandwidth", 0.015), (f"{name}_peak_at", 0.03)):
                if math.isfinite(linear[metric].value):
                    assert pulse[metric] == pytest.approx(linear[metric].value, rel=apart), metric
