"""One rule, several languages: what C, Fortran and Python must each have, they have alike."""

import numpy as np
import pytest

import bellcrank as bc
from tests.models import derived
from tests.programs import COMPILED_MAINLY_C, build


@pytest.mark.campaign
@pytest.mark.parametrize("language", COMPILED_MAINLY_C)
def test_loops_are_assembled_from_rough_guesses_alike(tmp_path, language):
    """Once by least squares in Python, by rows one after the other elsewhere. One row of five repeats others in every assembly,
    but not in the guesses, from which dependent angles move, or all of them."""
    system, eom = derived("sarrus_linkage")
    program, sim = build(eom, language, tmp_path / "program"), eom.compile(backend="python")
    start = dict(system.description.run.initial)
    rng = np.random.default_rng(3)
    for i in range(4):
        guess = {name: value + float(rng.uniform(-0.3, 0.3)) for name, value in start.items()}
        run = program.run(tmp_path / str(i), "stopt 0.002", *(f"{k} {v!r}" for k, v in guess.items()))
        with pytest.warns(bc.ModelWarning, match="contradict the constraints"):
            expected = sim.simulate(t_end=0.002, initial=guess)
        for name in guess:
            assert run[name][0] == pytest.approx(expected[name][0], abs=1e-12), name
