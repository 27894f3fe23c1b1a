"""Inputs that jump or have kinks, ends between steps, events: methods keep their order. Judged by
closed forms."""

import math

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.simulation.run.point_evaluation import loop_constraints
from tests.late import Late
from tests.models import Sims, able, pendulum
from tests.models import system as machine

linalg = Late("scipy.linalg")

BACKENDS = ["auto", "wasm"]
J, K, C = 2.1, 3.0, 0.5
A = np.array([[0.0, 1.0], [-K / J, -C / J]])


def drive(s):
    s.add_input("w", units="F*L")


def system():
    return pendulum("-k*q(rod) - c*u(rod) + w", drive, k=K, c=C)


@pytest.fixture(scope="module")
def sims():
    return Sims(system().equations())


@pytest.fixture(scope="module", params=BACKENDS)
def sim(request, sims):
    return sims[request.param]


def response(t, pieces):
    """q and u of J q'' + C q' + K q = w from q = 0.3 rad, where w = a + b (t - t0) on each piece
    (t0, a, b); exact."""
    y = np.array([0.3, 0.0, 0.0, 0.0])  # q, u, w, w'
    whole = np.zeros((4, 4))
    whole[:2, :2], whole[1, 2], whole[2, 3] = A, 1 / J, 1.0
    for (t0, a, b), following in zip(pieces, [*(p[0] for p in pieces[1:]), math.inf], strict=True):
        y[2:] = a, b
        y = linalg.expm(whole * (min(t, following) - t0)) @ y
        if t <= following:
            break
    return y[:2]


def error(run, pieces):
    expected = response(run.time[-1], pieces)
    got = (
        np.radians([run["q(rod)"][-1], run["u(rod)"][-1]]) if run.units["q(rod)"] == "deg" else None
    )
    return np.abs(
        (got if got is not None else [run["q(rod)"][-1], run["u(rod)"][-1]]) - expected
    ).max()


STEP_AT, RAMP = 0.3337, (0.2191, 0.5713)
SIGNALS = {
    "step between steps": (bc.signals.step(at=STEP_AT, height=2.0), [(0, 0, 0), (STEP_AT, 2.0, 0)]),
    "step at a step": (bc.signals.step(at=0.5, height=2.0), [(0, 0, 0), (0.5, 2.0, 0)]),
    "ramp": (
        bc.signals.ramp(RAMP[0], 3.0, RAMP[1]),
        [(0, 0, 0), (RAMP[0], 0, 3.0), (RAMP[1], 3.0 * (RAMP[1] - RAMP[0]), 0)],
    ),
    "samples": (
        ([0.0, 0.4321, 2.0], [0.0, 1.0, 0.5]),
        [(0, 0, 1 / 0.4321), (0.4321, 1.0, -0.5 / (2.0 - 0.4321))],
    ),
}


@pytest.mark.parametrize("name", SIGNALS)
@pytest.mark.parametrize(("method", "order"), [("rk2", 2), ("rk4", 4)])
def test_methods_keep_their_order_across_jumps_and_kinks(sim, method, order, name):
    signal, pieces = SIGNALS[name]
    coarse, fine = (
        error(sim.simulate(t_end=1.0, step=h, method=method, inputs={"w": signal}), pieces)
        for h in (0.05, 0.0125)
    )
    assert coarse / fine > 0.8 * 4**order
    assert fine < {2: 1e-4, 4: 1e-9}[order]


@pytest.mark.parametrize("method", ["RK45", "DOP853", "tsit5", "dop853", "Radau", "LSODA", "BDF"])
def test_adaptive_methods_stop_at_jumps(sim, sims, method):
    signal, pieces = SIGNALS["step between steps"]
    run = sims[able(sim.backend, method)].simulate(
        t_end=1.0, step=0.25, method=method, rtol=1e-9, atol=1e-11, inputs={"w": signal}
    )
    assert error(run, pieces) < 1e-6
    assert run["w"].tolist() == [0.0, 0.0, 2.0, 2.0, 2.0]


def test_output_times_stay_where_they_are(sim):
    run = sim.simulate(t_end=1.0, step=0.1, inputs={"w": bc.signals.step(at=STEP_AT)})
    np.testing.assert_array_equal(run.time, np.append(np.arange(10) * 0.1, 1.0))


def test_two_inputs_that_jump_together_or_almost(sim):
    """0.1 + 0.2 is not 0.3."""
    both = sim.simulate(t_end=1.0, step=0.1, inputs={"w": lambda t: 2.0 * (t >= 0.3)})
    assert both["w"][3] == 2.0
    for at in (0.3, 0.1 + 0.2, math.nextafter(0.3, 0)):
        run = sim.simulate(
            t_end=1.0, step=0.1, method="rk4", inputs={"w": bc.signals.step(at=at, height=2.0)}
        )
        assert error(run, [(0, 0, 0), (0.3, 2.0, 0)]) < 1e-5
        assert run["w"].tolist() == [0.0] * 3 + [2.0] * 8


def test_sampled_input_with_more_kinks_than_steps_is_taken_as_smooth(sim):
    t = np.linspace(0, 1, 1001)
    run = sim.simulate(t_end=1.0, step=0.1, inputs={"w": (t, np.sin(7 * t))})
    smooth = sim.simulate(t_end=1.0, step=0.1, inputs={"w": lambda t: math.sin(7 * t)})
    assert run["q(rod)"][-1] == pytest.approx(smooth["q(rod)"][-1], rel=1e-5)


# ---- the end of a run


@pytest.mark.parametrize("method", ["rk2", "rk4", "euler", "RK45", "tsit5"])
@pytest.mark.parametrize("t_end", [1.0, 0.3, 0.777, 0.05001])
def test_run_ends_at_t_end(sim, sims, method, t_end):
    run = sims[able(sim.backend, method)].simulate(
        t_end=t_end, step=0.05, method=method, inputs={"w": 0}
    )
    assert run.time[-1] == t_end and run.ended == "finished"
    np.testing.assert_allclose(run.time[:-1], 0.05 * np.arange(len(run) - 1), atol=1e-15)
    assert 0 < run.time[-1] - run.time[-2] < 0.05 * (1 + 1e-9)


def test_short_last_step_has_the_order_of_the_others(sim):
    errors = [
        error(sim.simulate(t_end=0.9991, step=h, inputs={"w": 0}), [(0, 0, 0)]) for h in (0.1, 0.05)
    ]
    assert errors[0] / errors[1] > 13 and errors[1] < 1e-6


# ---- events


def crossing():
    """The first time at which q falls through zero, without an input."""
    w = math.sqrt(K / J - (C / (2 * J)) ** 2)
    return (math.pi / 2 + math.atan(C / (2 * J) / w)) / w


@pytest.mark.parametrize(
    ("method", "tolerance"),
    [("rk2", 1e-3), ("rk4", 1e-6), ("DOP853", 1e-7), ("Radau", 1e-5), ("LSODA", 1e-6)],
)
def test_event_is_found_and_stops_the_run_there(sim, method, tolerance):
    run = sim.simulate(
        t_end=5,
        step=0.05,
        method=method,
        output_every=4,
        inputs={"w": 0},
        events={"down": "-q(rod)"},
        stop="down",
    )
    (event,) = run.events
    assert event.name == "down" and event.time == pytest.approx(crossing(), abs=tolerance)
    assert run.time[-1] == event.time and run["q(rod)"][-1] == pytest.approx(0, abs=1e-9)
    assert run.ended == f"stopped by event 'down' at t = {event.time:.6g} s"
    np.testing.assert_allclose(run.time[:-1], 0.2 * np.arange(len(run) - 1), atol=1e-12)


def test_event_time_has_the_order_of_the_method(sim):
    found = [
        sim.simulate(t_end=3, step=h, method="rk4", inputs={"w": 0}, events={"x": "q(rod) < 0"})
        .events[0]
        .time
        for h in (0.2, 0.1)
    ]
    assert abs(found[0] - crossing()) / abs(found[1] - crossing()) > 13


def test_event_within_a_long_step_of_an_adaptive_method(sim):
    """Up and down again between two outputs."""
    run = sim.simulate(
        t_end=10,
        step=10,
        method="DOP853",
        inputs={"w": 0},
        events={"low": "q(rod) < 0", "up": bc.event("q(rod)", direction=1)},
    )
    assert [e.name for e in run.events] == ["low", "up", "low", "up"]
    w = math.sqrt(K / J - (C / (2 * J)) ** 2)
    np.testing.assert_allclose(
        [e.time for e in run.events], crossing() + np.arange(4) * math.pi / w, rtol=1e-7
    )
    assert run.ended == "finished" and len(run) == 2


def test_event_of_an_input_that_jumps(sim):
    for method in ("rk4", "RK45"):
        run = sim.simulate(
            step=0.1,
            method=method,
            inputs={"w": bc.signals.step(at=STEP_AT)},
            events={"on": "w > 0.5"},
        )
        assert [e.time for e in run.events] == pytest.approx([STEP_AT], abs=1e-12)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("given", ["python", "c"])
def test_events_look_back_at_what_externals_remembered(backend, given):
    """A counter that grows by one in each step acts as a force: within a step the count of its
    beginning holds."""
    if given == "c" and backend == "wasm":
        pytest.skip("Python has no C")
    code = {
        "python": lambda t, memory: memory.__setitem__(0, memory[0] + 1) or memory[0],
        "c": "double tick(double t, double "
        "*memory)\n{\n    (void)t;\n    return memory[0] += 1;\n}",
    }
    s = pendulum(
        "f0*tick(t)",
        lambda s: s.add_external("tick", arguments=("t",), memory=1, **{given: code[given]}),
        f0=J,
    )
    s.add_output("count", "tick(t)")
    s.set_run(initial={"q(rod)": 0.0})
    sim = s.equations().compile(backend=backend)
    plain = sim.simulate(t_end=1, step=0.1, method="euler")
    run = sim.simulate(
        t_end=1, step=0.1, method="euler", events={"far": "q(rod) > 1.5"}, stop="far"
    )
    n = len(run) - 1
    assert run["q(rod)"][:-1].tolist() == plain["q(rod)"][:n].tolist()
    assert plain["q(rod)"][n - 1] < 1.5 < plain["q(rod)"][n]
    # in the step the speed grows by the count at its beginning
    h = run.time[-1] - run.time[-2]
    rise = run["u(rod)"][-1] - run["u(rod)"][-2]
    whole = plain["u(rod)"][n] - plain["u(rod)"][n - 1]
    assert rise / h == pytest.approx(whole / 0.1, rel=1e-9)


@pytest.mark.parametrize("method", ["rk4", "RK45", "tsit5"])
def test_comparison_from_equal_values(sim, sims, method):
    """w > 0 becomes true where w leaves zero; w >= 0 is true all the time, and w itself does not
    come from below."""
    run = sims[able(sim.backend, method)].simulate(
        step=0.1,
        method=method,
        inputs={"w": bc.signals.step(at=STEP_AT)},
        events={"on": "w > 0", "never": "w >= 0", "no": "w"},
    )
    assert [(e.name, e.time) for e in run.events] == [("on", pytest.approx(STEP_AT, abs=1e-12))]


# ---- closed loops


@pytest.fixture(scope="module")
def cranks():
    """A slider-crank with a torque on the crank, compiled and in Python."""
    s = machine("slider_crank")
    s.add_input("kick", units="F*L")
    s.add_moment("kick", magnitude="kick", direction="[crank3]", on="crank")
    s.add_outputs("residuals")
    eom = s.equations()
    return [eom.compile(backend=b) for b in BACKENDS]


@pytest.mark.campaign
def test_loops_keep_their_order_across_a_jump_and_stay_closed(cranks):
    inputs = {"kick": bc.signals.step(at=STEP_AT, height=0.05)}
    ends = []
    for sim in cranks:
        runs = [sim.simulate(t_end=1.0, step=h, inputs=inputs) for h in (0.01, 0.005, 0.00125)]
        errors = [abs(r["u(crank)"][-1] - runs[-1]["u(crank)"][-1]) for r in runs[:2]]
        assert errors[0] / errors[1] > 12
        ends.append(runs[0]["u(crank)"][-1])
    assert ends[0] == pytest.approx(ends[1], rel=1e-9)


def test_event_in_a_loop_lies_on_the_constraints(cranks):
    times = []
    for sim in cranks:
        run = sim.simulate(
            t_end=1.0, step=0.005, inputs={"kick": 0}, events={"half": "x < 0.4"}, stop="half"
        )
        assert run["x"][-1] == pytest.approx(0.4, abs=1e-12) and run.ended.startswith(
            "stopped by event 'half'"
        )
        loops = loop_constraints(sim.loaded, sim.parameter_values(), sim.loaded.inputs({"kick": 0}))
        q, u = (
            np.array([run[s.name][-1] for s in group])
            for group in (sim.interface.coordinates, sim.interface.speeds)
        )
        g, _, v, _ = loops.evaluate(run.time[-1], q, u)
        assert np.abs(g).max() < 1e-12 and np.abs(v).max() < 1e-10
        times.append(run.time[-1])
    assert times[0] == pytest.approx(times[1], rel=1e-10)
