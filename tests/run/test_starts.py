"""Starts of runs with closed loops are found once for the same numbers, and again for all others."""

import numpy as np
import pytest

from bellcrank.run.starts import MOST, Starts
from tests.run.test_goes_on import four_bar


def test_is_found_once_for_the_same_numbers_and_is_the_askers_own() -> None:
    starts, asked = Starts(external=False), []

    def at(what: str, *numbers: float) -> tuple[np.ndarray]:
        def find() -> tuple[np.ndarray]:
            asked.append((what, numbers))
            return (np.array(numbers),)

        return starts.found(what, find, numbers, 0.0)

    at("q", 1.0, 2.0)[0][:] = 7.0  # who has it may change it
    assert at("q", 1.0, 2.0)[0].tolist() == [1.0, 2.0] and len(asked) == 1
    at("u", 1.0, 2.0), at("q", 1.0, np.nextafter(2.0, 3.0)), at("q", 1.0)
    assert len(asked) == 4
    for i in range(MOST):
        at("many", float(i))
    at("q", 1.0, 2.0)
    assert len(asked) == 4 + MOST + 1  # the oldest are forgotten


def test_routines_are_asked_again() -> None:
    starts, asked = Starts(external=True), []
    for _ in range(2):
        starts.found("q", lambda: (np.array([asked.append(1)]),), 1.0)
    assert len(asked) == 2


def test_a_start_follows_what_is_given() -> None:
    sim = four_bar().equations().compile(backend="python")
    first, u = sim.complete({"q(a)": 0.3})
    first[:], u[:] = 0.0, 0.0
    for angle in (0.3, 0.4, 0.3):
        run = sim.simulate(0.002, 0.001, initial={"q(a)": angle})
        assert run["q(a)"][0] == pytest.approx(angle, abs=1e-14)
        assert np.abs(run.residuals.g).max() < 1e-12
        again = sim.complete({"q(a)": angle})
        assert run["q(b)"][0] == pytest.approx(again[0][1], abs=1e-13)
