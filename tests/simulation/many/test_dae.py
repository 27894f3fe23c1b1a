"""Methods for constraints in many runs: each run is that of `simulate`."""

import numpy as np
import pytest

import bellcrank as bc
from tests.ways.capabilities import oscillator, pendulum

LENGTHS = [0.9, 1.0, 1.1]


@pytest.mark.campaign
@pytest.mark.parametrize("backend", ["c", "wasm"])
@pytest.mark.parametrize("dae", ["dlmm", bc.Dae("baumgarte", alpha=20, beta=20), "minimal"])
def test_runs_are_those_of_simulate(dae, backend):
    sim = pendulum().equations().compile(backend=backend)
    given = {"initial": {"q(bob, 1)": 0.4}, "guess": {"q(bob, 2)": -0.8}, "t_end": 0.5}
    many = sim.simulate_many(parameters={"l": np.array(LENGTHS)}, dae=dae, **given)
    assert many.settings["backend"] == "cores"
    assert backend == "wasm" or "keeps constraints run by run" in " ".join(many.notes)
    for i, length in enumerate(LENGTHS):
        run = sim.simulate(parameters={"l": length}, dae=dae, **given)
        for name in ("q(bob, 1)", "u(bob, 2)"):
            np.testing.assert_array_equal(many[name][i], run[name])
        np.testing.assert_array_equal(many.run(i)["q(bob, 1)"], run["q(bob, 1)"])


def test_a_method_that_the_model_cannot_take_is_an_error():
    with pytest.raises(bc.ModelError, match="keeps its constraints by itself"):
        oscillator().equations().compile(backend="python").simulate_many(3, dae="dlmm")
