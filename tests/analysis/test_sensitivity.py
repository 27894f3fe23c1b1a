"""Sensitivities of runs against differences of runs and against closed forms."""

import warnings

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.analysis import run_differences, run_sensitivity
from bellcrank.core.numeric.fixed_step_methods import METHODS
from tests.models import example, pendulum


def test_step_steer_and_cornering_stiffness():
    sim = example("passenger_car").compile()
    found = sim.sensitivity(["ca1", "ca2"], ["Ay", "r", "q(rb)"], check=True)
    assert max(found.checked.values()) < 1e-6
    assert found["Ay", "ca1"][0] != 0.0  # the force is there at once
    assert found.unit("Ay", "ca1") == "g's/(lb/deg)"


@pytest.mark.parametrize("method", ["rk2", "rk4", "euler", "ab2"])
def test_every_method_gives_the_derivative_of_its_own_result(method):
    sim = example("quarter_car").compile()
    found = sim.sensitivity(
        ["k", "m_w"], ["az", "travel"], t_end=1.0, step=0.005, method=method, check=True
    )
    assert max(found.checked.values()) < 1e-8


def test_closed_form_of_an_oscillator():
    """I x'' + c x' + k x = 0 without damping: x = x0 cos(w t), dx/dk = -x0 t sin(w t) / (2 w I), I
    = 0.1 + 2 (1)^2."""
    sim = pendulum().equations().compile(backend="python")
    found = sim.sensitivity("k", ["q(rod)"], t_end=2.0, step=0.002, parameters={"c": 0.0, "k": 5.0})
    inertia, k, t = 0.1 + 2.0, 5.0, found.time
    w = np.sqrt(k / inertia)
    assert found["q(rod)", "k"] == pytest.approx(
        -0.3 * t * np.sin(w * t) / (2 * w * inertia), abs=1e-9
    )


@pytest.mark.campaign
def test_loops_move_with_their_lengths():
    """A longer crank: the start is assembled with it, and the constraints hold all along."""
    sim = example("slider_crank").compile()
    found = sim.sensitivity(["r", "c"], ["x"], t_end=0.5, check=True)
    assert max(found.checked.values()) < 1e-7
    r, l, a = 0.1, 0.4, 0.5
    root = np.sqrt(l * l - (r * np.sin(a)) ** 2)
    assert found["x", "r"][0] == pytest.approx(np.cos(a) - r * np.sin(a) ** 2 / root, rel=1e-10)


def test_given_speeds_that_constraints_remove():
    """The spin of the disc is given; the speed of its contact, which is the state, grows with the
    radius."""
    sim = example("rolling_disc").compile()
    found = sim.sensitivity("r", ["speed", "lean"], t_end=1.0, check=True)
    assert found["speed", "r"][0] == pytest.approx(2 / 0.3, rel=1e-10)
    assert max(found.checked.values()) < 1e-7


@pytest.mark.campaign
def test_compiled_and_interpreted_derivatives_agree(monkeypatch):
    sim = example("passenger_car").compile()
    plain = sim.sensitivity("ca1", "Ay")
    monkeypatch.setattr("bellcrank.analysis.run_sensitivity.MIN_CALLS_TO_COMPILE", 0)
    compiled = example("passenger_car").compile().sensitivity("ca1", "Ay")
    assert compiled.derivatives == pytest.approx(plain.derivatives, rel=1e-9, abs=1e-15)


def test_what_cannot_be_is_said():
    sim = example("passenger_car").compile(backend="python")
    with pytest.raises(
        bc.ModelError, match=r"parameter 'ca3' is not known. Did you mean 'ca1'|'ca2'"
    ):
        sim.sensitivity("ca3", "Ay")
    with pytest.raises(bc.ModelError, match="output 'Axx' is not known"):
        sim.sensitivity("ca1", "Axx")
    with pytest.raises(bc.ModelError, match=f"integrated with {', '.join(METHODS)}"):
        sim.sensitivity("ca1", "Ay", method="BDF")
    with pytest.raises(bc.ModelError, match="step=-1 s must be positive"):
        sim.sensitivity("ca1", "Ay", step=-1)


@pytest.mark.parametrize(
    "given", [{}, {"guess": {"q(c)": 1.4}}, {"guess": {"q(c)": 1.4, "q(b)": -0.27}}, {"q(c)": 1.4}]
)
def test_sensitivities_of_a_loop_do_not_depend_on_guesses(given):
    """At the start the loop itself determines them: G dq/dp = -dg/dp for the states that are not
    given."""
    s = bc.System("four-bar", units="mks")
    bodies = {"mass": 1, "inertia": (0.01, 0.01, 0.01), "rotate": 3}
    a = s.add_body("a", cm=(0.1, 0, 0), **bodies)
    b = s.add_body("b", parent=a, joint_at=(0.2, 0, 0), cm=("lb/2", 0, 0), **bodies)
    c = s.add_body("c", joint_at=(0.5, 0, 0), cm=(0.2, 0, 0), **bodies)
    p, q = s.add_point("p", body=b, at=("lb", 0, 0)), s.add_point("q", body=c, at=(0.4, 0, 0))
    s.add_loop_joint("loop", "revolute", between=(p, q), axis=b[3])
    s.add_gravity(direction="-[n2]")
    s.set_defaults(lb=0.5)
    sim = s.equations().compile(backend="python")
    initial, guess = (
        {"q(a)": 0.8, "u(a)": 3.0, **{k: v for k, v in given.items() if k != "guess"}},
        given.get("guess"),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore" if "q(c)" in initial else "error")
        found = sim.sensitivity(
            "lb",
            ["q(a)", "q(b)", "q(c)"],
            t_end=0.02,
            step=0.002,
            initial=initial,
            guess=guess,
            check=True,
        )
        assert max(found.checked.values()) < 1e-6
        q = sim.assemble(initial, guess=guess)[0]
        rare = sim.sensitivity(
            "lb", "q(b)", t_end=0.02, step=0.002, initial=initial, guess=guess, output_every=4
        )
    beta, gamma = q[0] + q[1], q[2]
    G = np.array(
        [[-0.5 * np.sin(beta), 0.4 * np.sin(gamma)], [0.5 * np.cos(beta), -0.4 * np.cos(gamma)]]
    )
    expected = np.linalg.solve(G, -np.array([np.cos(beta), np.sin(beta)]))
    assert [found[n, "lb"][0] for n in ("q(a)", "q(b)", "q(c)")] == pytest.approx(
        [0, *expected], abs=1e-9
    )
    assert rare.time == pytest.approx([0, 0.008, 0.016, 0.02])
    assert rare["q(b)", "lb"] == pytest.approx(
        found["q(b)", "lb"][[0, 4, 8, 10]], rel=1e-7
    )  # by differences of runs


@pytest.mark.campaign
def test_loops_cost_a_handful_of_runs(monkeypatch):
    """Six runs for each parameter, and the run itself."""
    sim = example("slider_crank").compile()
    forward = sim.sensitivity(["r", "c"], ["x"], t_end=0.5, check=True)
    monkeypatch.setattr(run_sensitivity, "integrate_sensitivity", None)  # no longer needed
    runs = []
    monkeypatch.setattr(run_differences, "_require_finished", lambda run: runs.append(run) or run)
    found = sim.sensitivity(["r", "c"], ["x"], t_end=0.5)
    assert len(runs) == 13 and found.time == pytest.approx(forward.time)
    assert found.derivatives == pytest.approx(
        forward.derivatives, rel=1e-6, abs=1e-8 * np.abs(forward.derivatives).max()
    )
    assert found.channels["x"] == pytest.approx(forward.channels["x"], rel=1e-9)


def test_sensitivities_where_an_assembly_is_one_of_many():
    """A point on two slides held at a distance: the start is the nearest point of a circle of
    radius r to the guess."""
    s = bc.System("ring", units="mks")
    s.add_body("x", translate=(1, 2), mass=1, inertia=0)
    s.add_constraint("q(x, 1)**2 + q(x, 2)**2 - r**2")
    s.set_defaults(r=1.0)
    sim = s.equations().compile(backend="python")
    found = sim.sensitivity(
        "r", None, t_end=0.01, step=0.001, guess={"q(x, 1)": 3, "q(x, 2)": 4}, check=True
    )
    assert max(found.checked.values()) < 1e-6
    start = [found[n, "r"][0] for n in ("q(x, 1)", "q(x, 2)")]
    assert start == pytest.approx([0.6, 0.8], rel=1e-7)


def test_events_that_act_are_refused():
    """A ball that bounces: d q/d g is -t^2/2 before the impact only."""
    s = bc.System("ball", units="mks", axes="ISO 8855")
    s.add_body("ball", translate=3, mass=1)
    s.add_gravity()
    s.set_defaults(g=9.81)
    s.add_event("bounce", "q(ball)", action={"u(ball)": "-0.8*u(ball)"}, direction=-1)
    s.set_run(t_end=2, step=0.01, initial={"q(ball)": 1})
    sim = s.equations().compile()
    assert sim.sensitivity("g", t_end=0.4)["q(ball)", "g"][-1] == pytest.approx(-0.08)
    with pytest.raises(bc.ModelError, match=r"event 'bounce' acts at t = 0.4515"):
        sim.sensitivity("g")


def test_events_that_stop_are_refused():
    s = bc.System("ball", units="mks", axes="ISO 8855")
    s.add_body("ball", translate=3, mass=1)
    s.add_gravity()
    s.set_defaults(g=9.81)
    s.add_event("down", "q(ball)", stop=True)
    s.set_run(t_end=2, step=0.01, initial={"q(ball)": 1})
    with pytest.raises(bc.ModelError, match="stopped by event 'down'"):
        s.equations().compile().sensitivity("g")
