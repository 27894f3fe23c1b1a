"""Grids and samples."""

import numpy as np
import pytest

from bellcrank.simulation.many.sample_plans import HOW, SamplePlan, draw_samples
from bellcrank.study.study_parts import StudyPart

OF = {
    "a": ("uniform", (2.0, 6.0)),
    "b": ("log-uniform", (0.01, 100.0)),
    "c": ("normal", (5.0, 2.0)),
    "d": ("integers", (1, 4)),
}


def column(samples, name):
    return np.array([row[name] for row in draw_samples(samples)])


@pytest.mark.parametrize("how", HOW)
def test_samples_follow_their_distributions(how):
    samples = SamplePlan(2000, 7, how, OF)
    a, b, c, d = (column(samples, n) for n in "abcd")
    assert ((a >= 2) & (a <= 6)).all()
    assert a.mean() == pytest.approx(4, abs=0.15)
    assert ((b >= 0.01) & (b <= 100)).all()
    assert np.log10(b).mean() == pytest.approx(0, abs=0.15)
    assert (c.mean(), c.std()) == (pytest.approx(5, abs=0.2), pytest.approx(2, abs=0.15))
    assert np.bincount(d)[1:] == pytest.approx([500] * 4, abs=60)
    assert all(isinstance(row["d"], int) for row in draw_samples(samples))


def test_a_latin_hypercube_has_one_sample_in_every_stratum():
    """McKay, Beckman & Conover (1979): n samples, one in each of n equal strata of every
    variable."""
    a = column(SamplePlan(50, 3, "latin-hypercube", OF), "a")
    assert sorted(np.floor((a - 2) / 4 * 50).astype(int)) == list(range(50))


def test_the_seed_decides():
    first, same, other = (
        draw_samples(SamplePlan(5, seed, "latin-hypercube", OF)) for seed in (1, 1, 2)
    )
    assert first == same
    assert first != other


def test_every_combination():
    part = StudyPart("", {"x": [1, 2], "y": ["p", "q"]}, SamplePlan(3, 0, "random", {"a": OF["a"]}))
    runs = part.run_values()
    assert len(runs) == 12
    assert {(r["x"], r["y"]) for r in runs} == {(1, "p"), (1, "q"), (2, "p"), (2, "q")}
    assert part.varied_names == ("x", "y", "a")
