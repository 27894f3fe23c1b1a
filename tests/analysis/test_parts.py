"""Small parts of analyses by closed forms: derivatives of routines, densities, how long to wait,
aims that are speeds."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from bellcrank.analysis import initial_guess, spectra
from bellcrank.analysis.external_derivatives import central_function_difference
from bellcrank.analysis.random_inputs import line_density


def test_derivatives_of_routines():
    """By each argument, near zero and far from it; of several results."""
    for x, y in ((0.3, -0.7), (2000.0, 0.5)):
        assert central_function_difference(lambda x, y: x * x * y**3, 0)(x, y) == pytest.approx(
            2 * x * y**3, rel=1e-8
        )
        assert central_function_difference(lambda x, y: x * x * y**3, 1)(x, y) == pytest.approx(
            3 * x * x * y**2, rel=1e-8
        )
    assert central_function_difference(lambda x, y: (math.sin(x), x * y), 0)(
        0.3, 5.0
    ) == pytest.approx((math.cos(0.3), 5), rel=1e-9)


def test_density_of_a_sum_of_waves():
    """a^2/2 at each line, spread over the distance between lines, 1/T."""
    T, n = 4.0, 64
    t = np.arange(n) * T / n
    x = 3 * np.sin(2 * np.pi * 2 * t / T) + 0.5 * np.cos(2 * np.pi * 5 * t / T + 0.4) + 7
    assert line_density(x, np.array([1, 2, 5]), T) == pytest.approx(
        [0, 4.5 * T, 0.125 * T], abs=1e-12
    )


@pytest.mark.parametrize(
    ("eigenvalues", "periods"),
    [
        ([-2.0, -0.5 + 3j], 8),
        ([-100.0], 1),
        ([-1e-3 + 1j], 50),
        ([0.1, -2.0], 50),
        ([-0.5, 1e-12], 8),
        ([], 1),
    ],
)
def test_waiting_for_the_slowest_mode(monkeypatch, eigenvalues, periods):
    """Twelve time constants, in periods of 3 s; what stands still is omitted, what grows never dies
    out."""
    model = SimpleNamespace(
        essential=lambda: SimpleNamespace(eigenvalues=np.array(eigenvalues, dtype=complex))
    )
    monkeypatch.setattr(spectra, "linear_model", lambda *_: model)
    assert spectra._settling_periods(None, None, None, 3.0) == periods


@pytest.mark.parametrize(
    ("value", "is_speed"),
    [
        (lambda u: 3.6 * u, True),
        (lambda u: 3.6 * u + 1, False),
        (lambda u: u * u, False),
        (lambda u: 0.0, False),
    ],
)
def test_an_aim_that_grows_with_a_speed(monkeypatch, value, is_speed):
    at = SimpleNamespace(value_of=lambda speed: 0.0, with_values=lambda given: given["u"])
    monkeypatch.setattr(initial_guess, "target_value", lambda plant, at, aim: value(at))
    assert initial_guess._is_speed(None, at, None, "u") is is_speed
