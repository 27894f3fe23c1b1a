"""Methods that choose their steps, against published numbers and runs that are far finer."""

import numpy as np
import pytest
from cases import compiled, loop_residuals

BETA = 15.81077119629904  # Andrews' squeezing mechanism at t = 0.03 s (Mazzia & Magherini 2008), itself off by 1e-9
METHODS = ("tsit5", "dop853")


def states(sim, run):
    return np.array([run[x.name] for x in sim.interface.states])


@pytest.mark.parametrize(("method", "rtol", "limit"), [("tsit5", 1e-6, 1e-5), ("dop853", 1e-8, 5e-8)])
def test_published_angle_of_andrews_squeezer(method, rtol, limit):
    run = compiled("andrews_squeezer").simulate(t_end=0.03, step=3e-4, method=method, rtol=rtol, atol=rtol / 100)
    assert abs(run["q(k1)"][-1] - BETA) < limit
    assert run.settings["steps"] < 250


def test_chaotic_pendulum_to_nine_digits():
    sim = compiled("double_pendulum")
    names = [x.name for x in sim.interface.coordinates]
    start = dict(zip(names, (2.5, 1.0), strict=True))
    options = {"initial": start, "t_end": 10.0, "step": 0.1, "output_every": 1}
    run = sim.simulate(method="dop853", rtol=1e-12, atol=1e-14, **options)
    finer = sim.simulate(method="tsit5", rtol=1e-13, atol=1e-15, **options)
    assert np.abs(states(sim, run) - states(sim, finer)).max() < 2e-9
    assert run.settings["steps"] <= 700


@pytest.mark.parametrize("method", METHODS)
def test_rows_within_steps_are_as_good_as_their_ends(method):
    sim = compiled("double_pendulum")
    run, exact = (
        sim.simulate(t_end=3.0, step=0.002, output_every=1, method=m, rtol=rtol, atol=rtol / 100)
        for m, rtol in ((method, 1e-9), ("dop853", 1e-13))
    )
    assert np.abs(states(sim, run) - states(sim, exact)).max() < 2e-7
    assert run.settings["steps"] < len(run)


@pytest.mark.parametrize("method", METHODS)
def test_loops_are_closed_in_every_row_and_the_order_is_kept(method):
    sim = compiled("four_bar")
    exact = states(sim, sim.simulate(t_end=2.0, step=0.05, method="dop853", rtol=1e-13, atol=1e-14))
    size = np.abs(exact).max(axis=1, keepdims=True)
    found = []
    for rtol in (1e-5, 1e-7, 1e-9):
        run = sim.simulate(t_end=2.0, step=0.05, method=method, rtol=rtol, atol=rtol / 100)
        assert loop_residuals(sim, run, states=len(run)).max() < 1e-12
        found.append((run.settings["steps"], (np.abs(states(sim, run) - exact) / size).max()))
    (few, large), _, (many, small) = found
    assert np.log(large / small) / np.log(many / few) > {"tsit5": 4.8, "dop853": 7.5}[method]
