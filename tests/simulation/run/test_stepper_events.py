"""Events of a model in steppers: located within a step, they act once, as in a run; what happened
is saved with the rest."""

from typing import Any

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.simulation.run.status import RunStatus
from tests.models import needs_compiler
from tests.simulation.run.test_goes_on import driven, four_bar
from tests.simulation.run.test_model_events import ball
from tests.vehicles.test_rigid import RADIUS, disc

BACKENDS = ["wasm", pytest.param("c", marks=needs_compiler)]


def rows_of(run: bc.Run) -> np.ndarray:
    """Of a run the last row at each of its times."""
    last = np.append(np.diff(run.time) > 0, True)
    return np.column_stack([run.time, *(run[name] for name in run.channels if name != "z")])[last]


def row_of(st: Any, run: bc.Run) -> np.ndarray:
    values = dict(st.state) | dict(st.outputs)
    return np.array([st.t, *(values[name] for name in run.channels if name in values)])


def bouncing() -> bc.System:
    """A ball that is kicked at 0.5 s, which is one of the times of its steps, and bounces less from
    then on."""
    s = ball()
    s.add_input("z", units="L")
    s.add_event("kick", "t - 0.5", action={"u(ball)": "u(ball) + 1", "e": "0.9*e"}, direction=1)
    s.add_event("pressed", "z > 1", action={"m": "2*m"})
    s.add_event("far", "q(ball) > 3", stop=True)
    s.add_output("high", "q(ball) + z")
    s.set_run(t_end=2, step=0.01, initial={"q(ball)": 1}, inputs={"z": 0})
    return s


@pytest.fixture(scope="module", params=BACKENDS)
def bounces(request: Any) -> Any:
    return bouncing().equations().compile(backend=request.param)


@pytest.mark.parametrize("step", [1 / 64, 0.1])
def test_steps_have_the_rows_of_a_run(bounces: Any, step: float) -> None:
    """One by one and in blocks; 0.5 s is a time of steps, and the event there counts once."""
    run, (st, other) = (
        bounces.simulate(t_end=2, step=step),
        (bounces.stepper(step=step) for _ in range(2)),
    )
    between = {e.time for e in run.events if abs(e.time / step - round(e.time / step)) > 1e-9}
    rows = [row for row in rows_of(run) if row[0] not in between]
    for i, row in enumerate(rows):
        assert np.array_equal(row_of(st, run), row), i
        st.step()
    other.step(len(rows))
    assert np.array_equal(other.x, st.x) and other.events == st.events
    assert [e for e in st.events if e.time <= 2] == run.events
    assert [e.name for e in run.events].count("kick") == 1


def test_what_happened_is_saved(bounces: Any) -> None:
    """At every step, also where an event has just acted; in the same stepper and in another."""
    st, other = bounces.stepper(step=0.1), bounces.stepper(step=0.1)
    saved = []
    for _ in range(20):
        saved.append((st.save(), st.x, st.events))
        st.step()
    for one, x, events in reversed(saved):
        other.restore(one)
        assert np.array_equal(other.x, x) and other.events == events
        other.step()
    for one, *_ in saved[3:7]:
        other.restore(one)
        other.step(20 - round(other.t / 0.1))
        assert np.array_equal(other.x, st.x) and other.events == st.events
    st.reset()
    assert st.events == [] and np.array_equal(st.x, [1, 0])


def test_what_is_set_brings_events_about(bounces: Any) -> None:
    """When the next step begins, and once; parameters of events can be set, and stay as events set
    them."""
    st = bounces.stepper(step=0.01)
    st.step(5)
    st.set(z=2)
    st.set(z=1.5)
    assert not st.events and st.outputs["high"] == pytest.approx(st.state["q(ball)"] + 1.5)
    st.step(3)
    assert [(e.name, e.time) for e in st.events] == [("pressed", pytest.approx(0.05))]
    st.set(z=0)
    st.step()
    st.set_parameter(e=0.25)
    st.step(41)  # to 0.5 s
    bounce, kick = st.events[-2:]
    assert bounce.changes[0].after == pytest.approx(-0.25 * bounce.changes[0].before)
    assert [(c.name, c.before, c.after) for c in kick.changes][1] == (
        "e",
        0.25,
        pytest.approx(0.225),
    )
    assert st.save().parameters == {"e": pytest.approx(0.225), "m": 4.0}


def test_an_event_stops_a_stepper(bounces: Any) -> None:
    sim = bounces
    run = sim.simulate(step=0.1, initial={"u(ball)": 9})
    st = sim.stepper(step=0.1, initial={"u(ball)": 9})
    assert st.status is RunStatus.RUNNING
    st.step(30)
    assert st.status is run.status is RunStatus.STOPPED_BY_EVENT and st.problem == run.message
    assert (st.t, st.state["q(ball)"]) == (run.time[-1], run["q(ball)"][-1])
    with pytest.raises(bc.RunError, match=r"stopped by event 'far' at t = 0.2"):
        st.step()
    other = sim.stepper(step=0.1)
    other.restore(st.save())
    assert other.problem == st.problem and other.t == st.t
    other.reset()
    assert other.status is RunStatus.RUNNING and other.t == 0


def test_actions_that_fail() -> None:
    s = ball()
    s.add_event("broken", "t - 0.2", action={"u(ball)": "u(ball)*q(ball)/(q(ball) - q(ball))"})
    st = s.equations().compile(backend="wasm").stepper(step=0.03)
    with pytest.raises(
        bc.RunError, match=r"stopped at t = 0.2 s, as an event acts: .* not a finite number"
    ):
        st.step(10)
    assert st.status is RunStatus.ACTION_FAILED
    with pytest.raises(bc.RunError, match="there is nothing to save"):
        st.save()


@pytest.mark.campaign
@pytest.mark.parametrize("model", [driven, four_bar])
@pytest.mark.parametrize("backend", BACKENDS)
def test_routines_that_remember_and_closed_loops(backend: str, model: Any) -> None:
    s = model()
    speed = next(x.name for x in s.equations().interface.speeds)
    s.add_event("hit", "t - 0.123", action={speed: f"{speed} + 0.1"})
    s.add_event("tick", "t - 0.2", action={speed: f"{speed} - 0.1"})
    sim = s.equations().compile(backend=backend)
    run, st = sim.simulate(t_end=0.3, step=0.02, output_every=1), sim.stepper(step=0.02)
    rows = [row for row in rows_of(run) if row[0] != 0.123]
    n = 1 + len(sim.interface.states)
    for i, row in enumerate(rows):
        assert np.array_equal(row_of(st, run)[:n], row[:n]), i
        if i == 11:
            st.restore(st.save())
        st.step()
    assert st.events == run.events and len(run.events) == 2


@pytest.mark.campaign
@pytest.mark.parametrize("backend", [pytest.param("c", marks=needs_compiler), "wasm"])
def test_rigid_wheels(backend: str) -> None:
    s = disc(bc.vehicles.terrain.flat(), (0.7, 1.0))
    s.add_event("tossed", "t - 0.25", action={"u(d, 2)": 0.5})
    sim = s.equations().compile(backend=backend)
    given = {"step": 0.01, "initial": {"q(d, 2)": RADIUS + 0.01, "u(d, 1)": 1.0}}
    run, st = sim.simulate(t_end=0.4, output_every=1, **given), sim.stepper(**given)
    st.step(20)
    saved = st.save()
    for _ in range(2):
        st.step(20)
        assert np.array_equal(st.x, [run[x.name][-1] for x in sim.interface.states])
        assert st.events == run.events
        st.restore(saved)


def test_environments_end_where_an_event_stops_them(bounces: Any) -> None:
    """One alone, and one of several."""
    pytest.importorskip("gymnasium", reason="the extra gym is not installed")
    sim, given = bounces, {"t_end": 2.0, "initial": {"u(ball)": 9}}
    env, envs = (
        bc.gym.make(sim, {"z": (0, 1)}, observations=["q(ball)"], action_every=7, n=n, **given)
        for n in (None, 2)
    )
    env.reset(seed=1)
    envs.reset(seed=1)
    for over in (False, False, False, True):
        seen, _, done, _, info = env.step(np.array([0.5]))
        all_seen, _, all_done, _, all_info = envs.step(np.array([[0.5], [0.5]]))
        assert done == over and (all_done == over).all() and (all_seen == seen).all()
    assert info["problem"] == all_info["problem"][1] == "stopped by event 'far' at t = 0.258678 s"
