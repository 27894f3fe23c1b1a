"""Events in runs side by side: those that stop and those that act, as `simulate` finds them."""

from functools import cache

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.numeric.methods import METHODS
from tests.models import example, needs_compiler, rarely

pytestmark = needs_compiler
FIGURES = ["final", "min", "max", "mean", "rms", "percentile(80)", "crossing(0.9)"]


@cache
def ball():
    """A ball that bounces, with an output, an input, and parameters that stand in events alone."""
    s = bc.System("ball", units="mks", axes="ISO 8855")
    body = s.add_body("ball", translate=3, mass="m")
    s.add_parameter("e", 0.8, units="1")
    s.add_parameter("ground", 0.5, units="L")
    s.add_gravity()
    s.add_variable("f", units="F")
    s.add_force("push", magnitude="f - c*v", direction=s.inertial[3], at=body.origin)
    s.add_output("u(ball)**2/2 + g*q(ball)", "energy")
    s.set_defaults(m=1, g=9.81, c=0.1)
    s.set_run(t_end=2, step=0.01, initial={"q(ball)": 1.5}, inputs={"f": 0})
    return s.equations().compile()


BOUNCE = bc.event("q(ball) - ground", -1, {"u(ball)": "-e*u(ball)"}, name="bounce")
LOSES = bc.event("energy < 9", action={"c": "2*c", "ground": "ground - 0.01"}, name="loses")
GUST = bc.event("t > 0.3517", action={"u(ball)": "u(ball)*(1 + smooth_step(t, 0, 1))"}, name="gust")


def compare(sim, many, options, runs, tolerance=1e-12):
    """Histories, figures and sentences against runs alone."""
    for i in runs:
        alone = sim.simulate(**options(i))
        assert many.ended[i] == alone.ended
        there = {t: row for row, t in enumerate(alone.time)}
        for name in many:
            size = max(np.abs(alone[name]).max(), 1e-6)
            expected = [alone[name][there[t]] if t in there else np.nan for t in many.time]
            np.testing.assert_allclose(many[name][i], expected, rtol=0, atol=tolerance * size, err_msg=f"{name} of {i}")
        for name, figures in many.reduced.items():
            size = max(np.abs(alone[name]).max(), 1e-6)
            for kind, of in (("final", lambda x: x[-1]), ("min", np.min), ("max", np.max), ("mean", np.mean)):
                assert figures[kind][i] == pytest.approx(of(alone[name]), abs=10 * tolerance * size), (name, kind)


@pytest.mark.parametrize("every", rarely([1, 4], [1]))
@pytest.mark.parametrize("method", rarely([*METHODS], [x for x in METHODS if x != "rk4"]))
def test_a_ball_that_bounces(method, every):
    """Actions set states, parameters that enter the equations and such that do not; an input jumps within a step."""
    sim, e = ball(), np.linspace(0.6, 0.9, 7)
    events = [BOUNCE, LOSES, GUST]
    shared = {"method": method, "inputs": {"f": bc.step(at=0.2031, height=2.0)}, "events": events}
    channels = ["q(ball)", "u(ball)", "energy", "f"]
    many = sim.simulate_many(
        parameters={"e": e}, initial={"u(ball)": np.linspace(-1, 1, 7)}, every=every, keep=channels,
        reduce={"q(ball)": FIGURES}, **shared,
    )  # fmt: skip
    assert (many.settings["backend"], many.notes) == ("lanes", [])

    def one(i):
        return {
            "parameters": {"e": e[i]}, "initial": {"u(ball)": np.linspace(-1, 1, 7)[i]}, "output_every": every, **shared
        }  # fmt: skip

    compare(sim, many, one, range(7))
    assert len({*many["q(ball)"][:, -1]}) == 7


def test_a_run_that_meets_an_event_leaves_its_neighbours_alone():
    """The same bits in every lane, whatever the number of runs; those that stop, and those that have no event."""
    sim = ball()
    e, low = np.linspace(0.7, 0.9, 9), np.where(np.arange(9) % 3, 0.5, -20.0)
    events = [BOUNCE, bc.event("u(ball) > 3.3", stop=True, name="fast")]
    given = {"events": events, "every": 1}
    many = sim.simulate_many(parameters={"e": e, "ground": low}, reduce={"energy": FIGURES}, keep=["q(ball)"], **given)
    plain = sim.simulate_many(n=len(e), keep=["q(ball)"], every=1)
    assert (many["q(ball)"][::3] == plain["q(ball)"][::3]).all()  # they meet none
    assert {x.split(" at ")[0] for x in many.ended} == {"finished", "stopped by event 'fast'"}
    compare(sim, many, lambda i: {"parameters": {"e": e[i], "ground": low[i]}, "events": events}, range(9))
    for order in (np.arange(9)[::-1], np.array([4]), np.array([0, 0, 5, 5, 8]), np.array([7, 3])):
        again = sim.simulate_many(
            parameters={"e": e[order], "ground": low[order]}, reduce={"energy": FIGURES}, keep=["q(ball)"], **given
        )
        np.testing.assert_array_equal(again["q(ball)"], many["q(ball)"][order])
        for kind, values in again.reduced["energy"].items():
            np.testing.assert_array_equal(values, many.reduced["energy"][kind][order])


@pytest.mark.campaign
def test_what_needs_more_than_compiled_code_goes_alone():
    """Events that chatter, and such that set what cannot be, end with the sentence of `simulate`; others go on."""
    sim = ball()
    chatters = bc.event("q(ball) - ground", -1, {"u(ball)": "-e*u(ball)"}, name="bounce")
    e = np.array([0.2, 0.9, 0.5, 0.9, 0.2])
    shared = {"t_end": 3.0, "events": [chatters]}
    many = sim.simulate_many(parameters={"e": e}, keep=["q(ball)"], every=1, **shared)
    assert many.settings["backend"] == "lanes"
    assert "3 runs met events" in many.notes[0]
    assert "it chatters" in many.ended[0] and many.ended[1] == "finished"
    compare(sim, many, lambda i: {"parameters": {"e": e[i]}, "output_every": 1, **shared}, range(5))
    wrong = bc.event("q(ball) - 1.2", action={"c": "c*sqrt(e - 0.5)"}, name="wrong")
    many = sim.simulate_many(parameters={"e": e}, keep=["q(ball)"], every=1, events=[wrong])
    assert "not a finite number" in many.ended[0] and many.ended[1] == "finished"
    many = sim.simulate_many(parameters={"c": e}, keep=["q(ball)"], every=1, events=[bc.event("q(ball) - 1.2")])
    assert many.notes == [] and {*many.ended} == {"finished"}  # an event of which nothing comes


@pytest.mark.campaign
def test_a_clutch_that_locks_and_slips():
    """Conditions over outputs, choices and parameters that events set; inputs with kinks."""
    sim, drag = example("clutch").compile(), np.linspace(0.4, 0.6, 5)
    events = [
        bc.event("u(engine) - u(wheel)", action={"locked": 1}, name="locks"),
        bc.event("where(locked > 0, abs(hold) - cap, -1)", 1, {"locked": 0, "side": "sign(hold)"}, name="slips"),
    ]
    many = sim.simulate_many(parameters={"drag": drag}, every=10, events=events)
    assert (many.settings["backend"], many.notes) == ("lanes", [])
    compare(sim, many, lambda i: {"parameters": {"drag": drag[i]}, "output_every": 10, "events": events}, (0, 2, 4))


@pytest.mark.campaign
def test_events_stop_closed_loops():
    """Steps within are closed, too; an event that acts in a closed loop is not for lanes."""
    sim, c = example("slider_crank").compile(), np.linspace(1.0, 3.0, 5)
    events, shared = [bc.event("x - 0.45", 1, name="far")], {"t_end": 0.4, "stop": "far"}
    many = sim.simulate_many(parameters={"c": c}, events=events, keep=["x", "energy"], every=5, **shared)
    assert (many.settings["backend"], many.notes) == ("lanes", [])
    assert all("stopped by event 'far'" in x for x in many.ended)
    compare(sim, many, lambda i: {"parameters": {"c": c[i]}, "output_every": 5, "events": events, **shared}, (0, 4))
    acts = [bc.event("x - 0.45", action={"c": 2})]
    many = sim.simulate_many(parameters={"c": c[:2]}, events=acts, keep=["x"], t_end=0.05)
    assert many.settings["backend"] == "python" and "events act in them, and closed loops" in many.notes[0]


@cache
def latch():
    s = bc.System("latch", units="mks")
    b = s.add_body("b", translate=1, mass=1)
    s.add_parameter("held", 0, units="1")
    s.add_force("f", magnitude="where(held > 0, -k*(x - 0.5) - 150*v, 3)", direction=s.inertial[1], at=b.origin)
    s.set_defaults(k=1e4)
    s.set_run(t_end=0.8, step=0.002)
    return s.equations().compile()


@pytest.mark.campaign
@pytest.mark.parametrize("names", [["closes"], ["also", "closes"], ["closes", "also"]])
def test_what_changes_nothing_is_no_event(names):
    """A latch that closes once, though what it holds passes it again and again: rows that count are those of one event,
    alone as side by side, and what it does beside the action of another."""
    sim, k = latch(), np.array([8e3, 1e4, 2e4])
    known = {
        "closes": bc.event("q(b) > 0.5", action={"held": 1}, name="closes"),
        "also": bc.event("q(b) - 0.5", 1, action={"k": "where(held > 0, k, 2*k)"}, name="also"),
    }
    events = [known[x] for x in names]
    with pytest.warns(bc.ModelWarning, match="changes nothing"):
        many = sim.simulate_many(
            parameters={"k": k}, every=1, keep=["q(b)"], reduce={"q(b)": FIGURES}, events=events
        )  # fmt: skip
        compare(sim, many, lambda i: {"parameters": {"k": k[i]}, "events": events}, range(3))
        alone = sim.simulate(parameters={"k": k[0]}, events=events)
    assert many.settings["backend"] == "lanes" and not many.notes
    acted = names if names[0] == "also" else ["closes"]  # once it is closed, the other one has nothing to do
    assert [e.name for e in alone.events] == acted and len(alone) == 401 + 2


def test_a_condition_that_had_no_value_does_not_come_to_be_true():
    """An action gives it one on the side that is watched: that is no crossing, alone as side by side."""
    has = bc.event("sqrt(e) > 30*t", stop=True, name="has")
    events = [bc.event("t > 0.0151", action={"e": "0.9"}, name="set"), has]
    sim, given = ball(), {"t_end": 0.05, "events": events}
    alone = sim.simulate(parameters={"e": -1.0}, **given)
    many = sim.simulate_many(2, parameters={"e": [-1.0, 0.1]}, backend="lanes", **given)
    assert [e.name for e in alone.events] == ["set"]
    assert many.settings["backend"] == "lanes"
    assert (alone.ended, many.ended[0]) == ("finished", "finished") and "by event 'has'" in many.ended[1]


@pytest.mark.parametrize("backend", ["auto", "cores"])
def test_events_from_which_nothing_comes_leave_no_trace(backend):
    """Neither in the way runs are done, nor, as parameters that stand in them alone, in a warning."""
    sim, given = ball(), {"keep": "q(ball)", "backend": backend, "t_end": 0.2}
    for method, way in (("rk4", "lanes" if backend == "auto" else "cores"), ("tsit5", "cores")):
        plain = sim.simulate_many(n=3, method=method, **given)
        many = sim.simulate_many(parameters={"ground": [1.4, 1.41, 1.42]}, method=method,
                                 events={"low": "q(ball) < ground"}, **given)  # fmt: skip
        assert (many.settings["backend"], many.notes) == (way, [])
        np.testing.assert_array_equal(many["q(ball)"], plain["q(ball)"])


@pytest.mark.parametrize("backend", rarely(["cores", "lanes"], ["lanes"]))
def test_an_event_just_before_a_row_leaves_no_gap_in_a_history(backend):
    """A billionth of a step before a row, none is left to it: the row at the event takes its place."""
    for at, early in ((0.2, 3e-15), (0.2, 9e-12), (0.4, 3e-15), (0.4, 1e-12)):
        event = bc.event(f"t - {at - early!r}", action={"u(ball)": 1})
        options = {"t_end": 0.4, "step": 0.01, "events": [event], "keep": ["u(ball)"]}
        speed = ball().simulate_many(parameters={"m": [1.0, 2.0]}, backend=backend, **options)["u(ball)"]
        assert np.isfinite(speed).all() and speed[:, round(at / 0.01)] == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("backend", ["lanes", "cores"])
def test_parameters_that_nothing_uses_are_told_once(backend, recwarn):
    ball().simulate_many(parameters={"e": [0.7, 0.8, 0.9]}, keep="q(ball)", backend=backend, t_end=0.2)
    assert [(str(w.message), w.filename == __file__) for w in recwarn] == [
        ("parameters={'e': ...}: the model does not use this parameter", True)
    ]
