"""Means over time have one definition, whichever part of Bellcrank computes them."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.codegen.c.batch_driver import FIGURES
from bellcrank.core.metrics import metric_values
from bellcrank.vehicles.manoeuvres import road_following, road_tests

# a channel far from zero mean, sampled unevenly: three quarters of the samples lie in the first
# tenth of the time
T = np.concatenate([np.linspace(0, 1, 75, endpoint=False), np.linspace(1, 10, 25)])
X = np.where(T < 1, 5.0, 1.0 + 0.1 * T)


def test_steps_count_by_their_length():
    mean = np.trapezoid(X, T) / 10
    assert metric_values.mean(T, X) == pytest.approx(mean, rel=1e-14) and abs(mean - X.mean()) > 1
    assert metric_values.rms(T, X) == pytest.approx(np.sqrt(np.trapezoid(X**2, T) / 10), rel=1e-14)
    assert metric_values.std(T, X) == pytest.approx(
        np.sqrt(metric_values.rms(T, X) ** 2 - mean**2), rel=1e-12
    )


def test_one_sample_is_its_own_mean():
    one = np.array([2.0])
    assert metric_values.mean(one, -3 * one) == -6 and metric_values.rms(one, -3 * one) == 6


def test_there_is_no_other_definition():
    assert (
        road_tests.rms is road_following.rms is metric_values.rms
        and bc.metrics.rms.of_one is metric_values.rms
    )
    assert tuple(bc.metrics.KINDS) == FIGURES  # what the kernel finds while runs continue
