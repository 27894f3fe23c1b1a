"""Means over time have one definition, whichever part of Bellcrank computes them."""

import numpy as np
import pytest

from bellcrank.library.manoeuvres import rides, roads
from bellcrank.many import averages, figures
from bellcrank.many.figures import Figure
from bellcrank.study import measures

# a channel far from zero mean, sampled unevenly: three quarters of the samples lie in the first tenth of the time
T = np.concatenate([np.linspace(0, 1, 75, endpoint=False), np.linspace(1, 10, 25)])
X = np.where(T < 1, 5.0, 1.0 + 0.1 * T)


def test_steps_count_by_their_length():
    mean = np.trapezoid(X, T) / 10
    assert averages.mean(T, X) == pytest.approx(mean, rel=1e-14) and abs(mean - X.mean()) > 1
    assert averages.rms(T, X) == pytest.approx(np.sqrt(np.trapezoid(X**2, T) / 10), rel=1e-14)
    assert averages.std(T, X) == pytest.approx(np.sqrt(averages.rms(T, X) ** 2 - mean**2), rel=1e-12)


@pytest.mark.parametrize("kind", ["mean", "rms", "wk", "wd"])
def test_studies_and_many_runs_agree(kind):
    of_study = measures.Measure(kind, kind, ("x",)).value(T, [X])
    assert Figure(None, kind, 0.0, kind).found(T, X) == pytest.approx(of_study, rel=1e-14)


def test_one_sample_is_its_own_mean():
    one = np.array([2.0])
    assert averages.mean(one, -3 * one) == -6 and averages.rms(one, -3 * one) == 6


def test_there_is_no_other_definition():
    assert measures.rms is figures.rms is rides.rms is roads.rms is averages.rms
