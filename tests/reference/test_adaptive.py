"""Adaptive methods, against published numbers and runs that are far finer."""

from functools import cache
from pathlib import Path
from runpy import run_path

import numpy as np
import pytest
from cases import compiled, loop_residuals

import bellcrank as bc
from bellcrank.core.numeric.collocation import STIFF
from bellcrank.core.numeric.embedded import EMBEDDED

MECHANISMS = run_path(str(Path(__file__).parents[2] / "benchmarks/mechanisms.py"))

# Andrews' squeezing mechanism at t = 0.03 s (Mazzia & Magherini 2008), itself off by 1e-9
BETA = 15.81077119629904
METHODS = ("tsit5", "dop853", *(pytest.param(m, marks=pytest.mark.campaign) for m in STIFF))


def states(sim, run):
    return np.array([run[x.name] for x in sim.interface.states])


@pytest.mark.parametrize(
    ("method", "rtol", "limit"),
    [
        ("tsit5", 1e-6, 1e-5),
        ("dop853", 1e-8, 5e-8),
        pytest.param("radau5", 1e-6, 5e-8, marks=pytest.mark.campaign),
        pytest.param("rodas5p", 1e-6, 5e-6, marks=pytest.mark.campaign),
    ],
)
def test_published_angle_of_andrews_squeezer(method, rtol, limit):
    run = compiled("andrews_squeezer").simulate(
        t_end=0.03, step=3e-4, method=method, rtol=rtol, atol=rtol / 100
    )
    assert abs(run["q(k1)"][-1] - BETA) < limit


def test_chaotic_pendulum_to_nine_digits():
    sim = compiled("double_pendulum")
    names = [x.name for x in sim.interface.coordinates]
    start = dict(zip(names, (2.5, 1.0), strict=True))
    options = {"initial": start, "t_end": 10.0, "step": 0.1, "output_every": 1}
    run = sim.simulate(method="dop853", rtol=1e-12, atol=1e-14, **options)
    finer = sim.simulate(method="tsit5", rtol=1e-13, atol=1e-15, **options)
    assert np.abs(states(sim, run) - states(sim, finer)).max() < 1e-9
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
    """A row within a step of radau5 lies on a polynomial of order 3, so that its error falls with
    the fourth power of the step; at the end of a step, as of the run, it is of order 5. Those of
    the others are as good as their ends."""
    sim = compiled("four_bar")
    options = {"t_end": 1.0, "step": 0.01, "output_every": 1}
    exact = states(sim, sim.simulate(method="dop853", rtol=1e-13, atol=1e-15, **options))
    size = np.abs(exact).max(axis=1, keepdims=True)
    found = []
    for rtol in 10.0 ** -np.arange(4, 11):
        run = sim.simulate(method=method, rtol=rtol, atol=rtol / 100, **options)
        assert loop_residuals(sim, run, states=6).max() < 1e-12
        off = np.abs(states(sim, run) - exact) / size
        assert off.max() < 10 * rtol
        found.append((run.settings["steps"], off.max(), off[:, -1].max()))
    steps, rows, ends = np.log(found[1:]).T
    orders = [-np.polyfit(steps, x, 1)[0] for x in (rows, ends)]
    assert orders[0] > {"tsit5": 4.8, "dop853": 8.0, "radau5": 3.8, "rodas5p": 4.8}[method]
    assert orders[1] > {"tsit5": 4.8, "dop853": 8.0, "radau5": 4.8, "rodas5p": 4.8}[method]


@pytest.mark.campaign
def test_controlled_arm_by_stiff_methods():
    sim = compiled("stanford_arm_controlled")
    exact = states(sim, sim.simulate(method="dop853", rtol=1e-12, atol=1e-13))
    size = np.abs(exact).max(axis=1, keepdims=True)
    run = sim.simulate(method="radau5", rtol=1e-6, atol=1e-8)
    assert (np.abs(states(sim, run) - exact) / size).max() < 2e-6
    assert run.settings["steps"] <= 150
    assert sim.simulate(method="rodas5p", rtol=1e-6, atol=1e-8).settings["steps"] <= 100
    auto = sim.simulate(method="auto", rtol=1e-6, atol=1e-8)
    assert auto.settings["went_over"] < 1.0 and auto.settings["steps"] < 150
    assert (np.abs(states(sim, auto) - exact) / size).max() < 1e-5


@cache
def mechanism(name):
    """One of the benchmark, compiled, and its states by a far finer run."""
    sim = MECHANISMS[name]().equations().compile()
    return sim, states(sim, sim.simulate(method="dop853", rtol=1e-12, atol=1e-14))


def error(sim, run, exact):
    """The largest of all states and rows, against the largest value of each state."""
    return (np.abs(states(sim, run) - exact) / np.abs(exact).max(axis=1, keepdims=True)).max()


@pytest.mark.campaign
def test_stiff_strut_swings_as_a_pendulum():
    """A mass on a spring of 1e8 N/m: a fast mode along the rod of a pendulum, which turns with
    it."""
    sim, exact = mechanism("strut")
    run = sim.simulate(method="radau5", rtol=1e-6, atol=1e-8)
    assert error(sim, run, exact) < 1e-4
    assert run.settings["steps"] <= 2500 and run.settings["newton_failures"] <= 1500
    auto = sim.simulate(method="auto", rtol=1e-6, atol=1e-8)
    assert error(sim, auto, exact) < 1e-4 and auto.settings["steps"] <= 2500
    assert auto.settings["fastest_mode"] == pytest.approx(
        1.9e5, rel=0.3
    )  # most of damping and half of stiffness lie in it


@pytest.mark.campaign
def test_flyball_governor():
    """Problem A05 of the IFToMM library of benchmarks: explicit methods take 14,000 steps at any
    tolerance."""
    sim, exact = mechanism("governor")
    run = sim.simulate(method="radau5", rtol=1e-8, atol=1e-10)
    off = np.abs(states(sim, run) - exact)
    assert off[:4].max() < 2e-9 and off[4:].max() < 1e-8
    assert run.settings["steps"] <= 2500 and run.settings["rates"] <= 20000
    np.testing.assert_allclose(
        run["q(left)"], -run["q(right)"], atol=1e-12
    )  # its two sides are one another's image
    auto = sim.simulate(method="auto", rtol=1e-6, atol=1e-8)
    assert auto.settings["steps"] <= 800 and auto.settings["went_over"] < 0.1
    assert np.abs(states(sim, auto) - exact).max() < 1e-6


@pytest.mark.campaign
def test_wheel_that_leaves_the_road():
    """A road that jumps at 0.5 s ends a segment; where the wheel lifts is left to the choice of
    steps."""
    sim, exact = mechanism("hopping_quarter_car")
    run = sim.simulate(method="tsit5", rtol=1e-6, atol=1e-8)
    assert error(sim, run, exact) < 3e-5 and run.settings["rejected"] <= 40
    still = {"edge": bc.signals.pulse(start=1.7, width=1e-3, height=0.02), "waves": 0.0}
    hit, fine = (
        sim.simulate(method=m, rtol=r, inputs=still)
        for m, r in (("tsit5", 1e-6), ("dop853", 1e-12))
    )
    before = hit.time < 1.7
    kick = np.ptp(fine["u(wheel)"][~before])
    assert kick > 0.03 and np.abs(hit["u(wheel)"] - fine["u(wheel)"]).max() < 1e-4 * kick


@pytest.mark.campaign
def test_auto_finds_nothing_stiff_where_nothing_is():
    smooth = {"andrews_squeezer": 0.03, "four_bar": 1.0, "double_pendulum": 10.0}
    sims = [(compiled(name), t_end) for name, t_end in smooth.items()]
    for sim, t_end in (*sims, (mechanism("hopping_quarter_car")[0], 3.0)):
        for rtol in (1e-4, 1e-6, 1e-8):
            run = sim.simulate(
                method="auto",
                t_end=t_end,
                step=t_end / 100,
                rtol=rtol,
                atol=rtol / 100,
                output_every=1,
            )
            assert "jacobians" not in run.settings and "went_over" not in run.settings


@pytest.mark.campaign
def test_auto_finds_nothing_stiff_in_a_car_on_a_rough_road():
    """Bends of the road hold the steps, not a fast mode; compliance would be one."""
    road = bc.vehicles.terrain.iso8608("C", seed=1, length=100.0)
    car = bc.vehicles.Car.read("passenger").changed(
        front={"compliance": None}, rear={"compliance": None}
    )
    sim = car.system(exact=False, terrain=road).equations().compile()
    for rtol in (1e-4, 1e-6):
        run = sim.simulate(
            t_end=4.0,
            step=0.01,
            method="auto",
            rtol=rtol,
            inputs={"steer": bc.signals.step(at=1, height=5)},
        )
        assert (
            run.ended == "finished"
            and "jacobians" not in run.settings
            and run.settings["steps"] > 300
        )


def differences(f, t, y, n_q):
    """Derivatives of state derivatives by differences of fourth order; an angle counts as 1 rad,
    however far it has turned."""
    sizes = np.where(np.arange(len(y)) < n_q, 0.5, np.maximum(np.abs(y), 0.1))
    columns = []
    for push in np.diag(1e-3 * sizes):
        near, far = (np.array(f(t, y + k * push)) - np.array(f(t, y - k * push)) for k in (1, 2))
        columns.append((8 * near - far) / (12 * push.sum()))
    return np.array(columns).T


@pytest.mark.campaign
@pytest.mark.parametrize(
    ("name", "t_end"),
    [
        ("double_pendulum", 10.0),
        ("andrews_squeezer", 0.03),
        ("four_bar", 1.0),
        ("stanford_arm_controlled", 10.0),
        ("hopping_quarter_car", 3.0),
        ("governor", 10.0),
        ("strut", 5.0),
    ],
)
def test_slopes_along_every_motion(name, t_end):
    sim = mechanism(name)[0] if name in MECHANISMS else compiled(name)
    run = sim.simulate(t_end=t_end, step=t_end / 10, output_every=1, method="auto", rtol=1e-6)
    f = sim.rhs()
    for t, y in zip(run.time, states(sim, run).T, strict=True):
        found = np.array(f.jacobian(t, y))
        assert (
            np.abs(found - differences(f, t, y, sim.loaded.n_q)).max() < 1e-8 * np.abs(found).max()
        )


@pytest.mark.campaign
@pytest.mark.parametrize("method", [*EMBEDDED, *STIFF])
def test_events_of_a_chaotic_motion_to_the_tolerance(method):
    sim = compiled("double_pendulum")
    options = {"t_end": 5.0, "step": 0.1, "output_every": 1, "initial": {"q(a)": 2.5, "q(b)": 1.0}}
    options["events"] = {"over": "q(a)", "fast": "u(b) > 2", "back": "u(a) < 0"}
    run, exact = (
        sim.simulate(method=m, rtol=rtol, atol=rtol / 100, **options)
        for m, rtol in ((method, 1e-9), ("dop853", 1e-13))
    )
    assert [e.name for e in run.events] == [e.name for e in exact.events] and len(exact.events) >= 5
    np.testing.assert_allclose(
        [e.time for e in run.events], [e.time for e in exact.events], atol=5e-8
    )


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
