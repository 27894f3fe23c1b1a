"""Methods that choose their steps, against published numbers and runs that are far finer."""

import numpy as np
import pytest
from cases import compiled, loop_residuals

import bellcrank as bc

BETA = 15.81077119629904  # Andrews' squeezing mechanism at t = 0.03 s (Mazzia & Magherini 2008), itself off by 1e-9
METHODS = ("tsit5", "dop853", pytest.param("radau5", marks=pytest.mark.campaign))


def states(sim, run):
    return np.array([run[x.name] for x in sim.interface.states])


@pytest.mark.parametrize(
    ("method", "rtol", "limit"),
    [("tsit5", 1e-6, 1e-5), ("dop853", 1e-8, 5e-8), pytest.param("radau5", 1e-6, 5e-8, marks=pytest.mark.campaign)],
)
def test_published_angle_of_andrews_squeezer(method, rtol, limit):
    run = compiled("andrews_squeezer").simulate(t_end=0.03, step=3e-4, method=method, rtol=rtol, atol=rtol / 100)
    assert abs(run["q(k1)"][-1] - BETA) < limit
    assert run.settings["steps"] < 500


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
    assert run.settings["steps"] < len(run)  # most rows lie within steps


@pytest.mark.parametrize("method", METHODS)
def test_loops_are_closed_in_every_row_and_the_order_is_kept(method):
    sim = compiled("four_bar")
    exact = states(sim, sim.simulate(t_end=2.0, step=0.05, method="dop853", rtol=1e-13, atol=1e-14))
    size = np.abs(exact).max(axis=1, keepdims=True)
    found = []
    for rtol in (1e-4, 1e-6, 1e-8):
        run = sim.simulate(t_end=2.0, step=0.05, method=method, rtol=rtol, atol=rtol / 100)
        assert loop_residuals(sim, run, states=6).max() < 1e-12
        error = np.abs(states(sim, run) - exact) / size
        assert error.max() < 10 * rtol
        found.append((run.settings["steps"], error[:, -1].max()))
    (few, large), _, (many, small) = found
    assert np.log(large / small) / np.log(many / few) > {"tsit5": 4.8, "dop853": 7.5, "radau5": 4.8}[method]


@pytest.mark.campaign
def test_controlled_arm_by_stiff_methods():
    sim = compiled("stanford_arm_controlled")
    exact = states(sim, sim.simulate(method="dop853", rtol=1e-12, atol=1e-13))
    size = np.abs(exact).max(axis=1, keepdims=True)
    run = sim.simulate(method="radau5", rtol=1e-6, atol=1e-8)
    assert (np.abs(states(sim, run) - exact) / size).max() < 2e-6
    assert run.settings["steps"] <= 150
    auto = sim.simulate(method="auto", rtol=1e-6, atol=1e-8)
    assert auto.settings["went_over"] < 1.0 and auto.settings["steps"] < 150
    assert (np.abs(states(sim, auto) - exact) / size).max() < 1e-5


def strut(c=1e3):
    """A mass on a spring of 1e8 N/m: a pendulum with a fast mode along its rod, which turns with it."""
    s = bc.System("strut pendulum", units="mks")
    b = s.add_body("b", translate=(1, 2), mass="m")
    s.add_point("o", at=(0, 0, 0))
    s.add_gravity(direction=-s.inertial[2])
    s.add_strut("s", magnitude="-k*(x - l0) - c*v", between=(b.cm, "o"))
    s.set_defaults(m=1, k=1e8, c=c, l0=1, g=9.81)
    s.set_run(t_end=5, step=0.05, initial={"q(b, 1)": 1.0, "q(b, 2)": 0.0})
    return s


@pytest.mark.campaign
def test_stiff_strut_swings_as_a_pendulum():
    sim = strut().equations().compile()
    run, finer = (sim.simulate(method="radau5", rtol=r, atol=r / 100) for r in (1e-6, 1e-9))
    exact = states(sim, finer)
    assert (np.abs(states(sim, run) - exact) / np.abs(exact).max(axis=1, keepdims=True)).max() < 1e-4
    assert run.settings["steps"] <= 2500 and run.settings["newton_failures"] <= 1500
    auto = sim.simulate(method="auto", rtol=1e-6, atol=1e-8)
    assert auto.settings["fastest_mode"] > 1e3 and auto.settings["steps"] < 3000


@pytest.mark.campaign
@pytest.mark.parametrize("rtol", [1e-5, 1e-6, 1e-7, 1e-8])
@pytest.mark.parametrize("method", ["tsit5", "dop853", "auto"])
def test_long_steps_pass_singular_positions(method, rtol):
    """Two windows of four bars in line: the reference takes steps of a thousandth."""
    sim = compiled("n_four_bar")
    options = {"t_end": 2.0, "output_every": 1}
    fine = sim.simulate(step=1e-3, method="rk4", **options)
    run = sim.simulate(step=0.1, method=method, rtol=rtol, atol=rtol / 100, **options)
    exact = states(sim, fine)[:, ::100]
    size = np.abs(exact).max(axis=1, keepdims=True) + 1e-3
    assert (np.abs(states(sim, run) - exact) / size).max() < 1e-5 + 100 * rtol
