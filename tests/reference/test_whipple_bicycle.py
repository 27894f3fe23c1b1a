"""The benchmark bicycle in motion; tests/analysis/test_bicycle.py has its published eigenvalues and
speeds."""

import numpy as np
from cases import compiled, loop_residuals


def test_a_push_dies_out_and_energy_stays():
    """Between both speeds; the front wheel stays on the road and neither wheel slips."""
    sim = compiled("whipple_bicycle")
    run = sim.simulate(t_end=10, step=0.005)
    assert run.ended == "finished"
    assert abs(run["lean"]).max() > 0.05
    assert abs(run["lean"][-1]) < 0.02 and abs(run["steer"][-1]) < 0.02
    assert np.ptp(run["energy"]) < 1e-8 * run["energy"][0]
    assert loop_residuals(sim, run).max() < 1e-12
