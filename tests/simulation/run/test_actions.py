"""Events that act: impacts, latches, resets and chattering against closed forms, in every kind of
run."""

import math
from typing import Any

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.core.numeric.tuning import EVENTS
from tests.models import Sims, able, example

G = 9.81


def ball() -> bc.System:
    s = bc.System("ball", units="mks", axes="ISO 8855")
    s.add_body("ball", translate=3, mass="m")
    s.add_parameter("e", 0.8, units="1", label="restitution")
    s.add_parameter("ground", 0.5, units="L", label="height of the ground")
    s.add_gravity()
    s.set_defaults(m=1, g=G)
    s.set_run(t_end=3, step=0.01, initial={"q(ball)": 1.5})
    return s


def bounce(**options: Any) -> bc.event:
    return bc.event(
        "q(ball) - ground", direction=-1, action={"u(ball)": "-e*u(ball)"}, name="bounce", **options
    )


@pytest.fixture(scope="module")
def balls() -> dict[str, Any]:
    return Sims(ball().equations())


@pytest.mark.parametrize("backend", ["c", "wasm"])
@pytest.mark.parametrize("method", ["rk4", "rk2", "heun", "ab2", "tsit5", "RK45"])
def test_impact_times_follow_the_closed_formula(
    balls: dict[str, Any], backend: str, method: str
) -> None:
    run = balls[able(backend, method)].simulate(method=method, events=[bounce()])
    first = math.sqrt(2 / G)
    expected = [first * (1 + 2 * sum(0.8**k for k in range(1, n + 1))) for n in range(6)]
    assert [x.time for x in run.events] == pytest.approx(expected, abs=1e-10)
    speeds = [x.changes[0] for x in run.events]
    assert [(x.name, x.unit) for x in speeds] == [("u(ball)", "m/s")] * 6
    assert [x.before for x in speeds] == pytest.approx(
        [-G * first * 0.8**n for n in range(6)], rel=1e-9
    )
    assert [x.after for x in speeds] == pytest.approx([-0.8 * x.before for x in speeds], rel=1e-14)
    # two rows at each impact, before and after; all others where they are without it
    twice = run.time[1:][np.diff(run.time) == 0]
    assert twice == pytest.approx(expected, abs=1e-10) and len(run) == 301 + 12
    assert np.setdiff1d(run.time, twice) == pytest.approx(np.arange(301) / 100)
    assert run["q(ball)"].min() > 0.5 - 1e-12


def test_how_events_are_told(balls: dict[str, Any]) -> None:
    run = balls["wasm"].simulate(t_end=1, events=[bounce()])
    assert str(run.events[0]) == "bounce at t = 0.451524 s: u(ball) -4.42945 -> 3.54356 m/s"
    run = balls["wasm"].simulate(t_end=1, events={"low": "q(ball) < 1"})
    assert str(run.events[0]) == "low at t = 0.319275 s" and not run.events[0].changes


@pytest.mark.parametrize("method", ["rk4", "tsit5"])
@pytest.mark.parametrize("e", [0.0, 1e-3, 0.3])
def test_a_ball_that_comes_to_rest_is_told(balls: dict[str, Any], method: str, e: float) -> None:
    """Impacts without end within a finite time."""
    run = balls["c"].simulate(method=method, t_end=10, parameters={"e": e}, events=[bounce()])
    end = math.sqrt(2 / G) * (1 + e) / (1 - e)
    assert (
        run.ended.startswith(f"stopped at t = {end:.4f}")
        and "event 'bounce' fires repeatedly (chattering, again at once)" in run.ended
    )
    assert run.time[-1] == pytest.approx(end, abs=1e-6) and run["q(ball)"].min() > 0.5 - 1e-12


def bolt() -> bc.System:
    """A bolt that is pushed into its latch, where spring and damper bring it to rest."""
    s = bc.System("bolt", units="mks")
    b = s.add_body("bolt", translate=1, mass=1)
    s.add_parameter("held", 0, units="1", label="is it held?")
    s.add_force(
        "f",
        magnitude="where(held > 0, -k*(x - 0.5) - c*v, 3)",
        direction=s.inertial[1],
        at=b.origin,
    )
    s.set_defaults(k=1e4, c=150)
    s.set_run(t_end=1.5, step=0.002)
    return s


LATCH = bc.event("q(bolt) > 0.5", action={"held": 1}, name="latch")


@pytest.mark.parametrize("method", ["rk4", "tsit5", "dop853", "RK45"])
def test_a_latch_that_is_closed_already_does_not_chatter(method: str) -> None:
    """The bolt passes its rest ever less far, at last within rounding or the tolerance; that the
    latch closes again changes nothing, ends nothing, and is no event."""
    sim = bolt().equations().compile(backend=able("wasm", method))
    with pytest.warns(bc.ModelWarning, match="event 'latch' changes nothing at t = 0.6723"):
        run = sim.simulate(method=method, events=[LATCH])
    assert run.ended == "finished" and run["q(bolt)"][-1] == pytest.approx(0.5, abs=1e-9)
    assert run.events[0].time == pytest.approx(math.sqrt(1 / 3), abs=1e-12)
    assert [x.has_effect for x in run.events] == [True] and len(run) == 751 + 2


@pytest.mark.campaign
def test_many_actions_in_a_short_time_are_told(balls: dict[str, Any]) -> None:
    run = balls["c"].simulate(
        method="dop853", t_end=12, parameters={"e": 0.9, "ground": 0.0}, events=[bounce()]
    )
    within = run.events[-1].time - run.events[-1 - EVENTS.most].time
    assert (
        f"event 'bounce' fires repeatedly (chattering, {EVENTS.most} times within {within:.2g} s)"
        in run.ended
    )


def test_a_ball_can_be_brought_to_rest(balls: dict[str, Any]) -> None:
    """Gravity is switched off with the speed where an impact is slow: a latch of parameters."""
    rest = {"u(ball)": "where(u(ball) > -0.5, 0, -e*u(ball))", "g": "where(u(ball) > -0.5, 0, g)"}
    event = bc.event("q(ball) < ground", action=rest, name="bounce")
    run = balls["c"].simulate(t_end=6, events=[event])
    last = run.events[-1]
    assert run.ended == "finished" and [x.name for x in last.changes] == ["u(ball)", "g"]
    still = run.time > last.time
    assert run["u(ball)"][still] == pytest.approx(0) and run["q(ball)"][still] == pytest.approx(
        0.5, abs=1e-9
    )
    on = balls["c"].simulate(t_end=7, start=run)  # the parameter stays as the event set it
    assert on["q(ball)"][-1] == pytest.approx(0.5, abs=1e-9)


@pytest.fixture(scope="module")
def room() -> Any:
    s = bc.System("room", units="mks")
    s.add_body("door", translate=3, mass=1)
    s.add_state("temp", "(heater*p - k*(temp - outside))/c", units="1")
    s.set_defaults(heater=1, p=2, k=0.1, c=1, outside=0)
    s.set_run(t_end=60, step=0.1, initial={"temp": 15})
    return s.equations().compile(backend="wasm")


def test_a_thermostat(room: Any) -> None:
    """Two events that switch a parameter, directions by sign and by comparison; outputs every fifth
    step."""
    on, off = (
        bc.event("temp - 12", direction=-1, action={"heater": 1}, name="on"),
        bc.event("temp > 18", action={"heater": 0}, name="off"),
    )
    run = room.simulate(events=[on, off], output_every=5)
    times = [10 * math.log(5 / 2)]
    while times[-1] < 60:
        times += [times[-1] + 10 * math.log(18 / 12)]
        times += [times[-1] + 10 * math.log(8 / 2)]
    assert [x.time for x in run.events] == pytest.approx(
        times[: len(run.events)], abs=1e-7
    ) and len(run.events) == 6
    assert [x.name for x in run.events] == ["off", "on"] * 3
    assert len(run) == 121 + 12
    again = room.simulate(
        start=room.simulate(events=[on, off], t_end=30), events=[on, off], t_end=60
    )
    assert again["temp"][-1] == run["temp"][-1]


def test_values_before_events_of_events_and_stops(room: Any) -> None:
    """All formulas take the values before; an action may bring about other events at the same
    time."""
    swap = bc.event("temp > 16", action={"heater": "outside + 3", "outside": "heater"}, name="swap")
    told = bc.event("outside > 0.5", name="told")
    then = bc.event("heater - 2", direction=1, action={"p": "0"}, stop=True, name="then")
    run = room.simulate(events=[swap, told, then])
    assert [str(x).split(": ")[1:] for x in run.events] == [
        ["heater 1 -> 3, outside 0 -> 1"],
        [],
        ["p 2 -> 0"],
    ]
    assert len({x.time for x in run.events}) == 1
    assert run.ended == f"stopped by event 'then' at t = {run.events[0].time:.6g} s"
    reset = room.simulate(events=[bc.event("temp - 16", action={"temp": 14}, name="reset")])
    assert [x.time for x in reset.events][:2] == pytest.approx(
        [10 * math.log(5 / 4), 10 * math.log(5 / 4 * 6 / 4)]
    )
    with pytest.warns(bc.ModelWarning, match="event 't' is zero at t = 0 s, where the run begins"):
        first = room.simulate(
            events=[bc.event("t", action={"heater": 0}), bc.event("temp - 15", direction=-1)],
            t_end=5,
        )
    assert first.events == []  # zero at the start: they count from their first sign after


def test_what_changes_nothing_is_told(room: Any) -> None:
    with pytest.warns(bc.ModelWarning, match="event 'idle' changes nothing at t = 2.23144 s"):
        room.simulate(
            events=[bc.event("temp - 16", action={"heater": "heater"}, name="idle")], t_end=5
        )


def four_bar() -> bc.System:
    s = bc.System("four bars", units="mks")
    bar = {"rotate": 3, "mass": 1, "inertia": (0.1, 0.1, 0.1)}
    a = s.add_body("a", cm=(0.1, 0, 0), **bar)
    b = s.add_body("b", parent=a, joint_at=(0.2, 0, 0), cm=(0.3, 0, 0), **bar)
    c = s.add_body("c", joint_at=(0.5, 0, 0), cm=(0.2, 0, 0), **bar)
    s.add_body("d", parent=c, joint_at=(0.4, 0, 0), cm=(0.2, 0, 0), **bar)
    p, r = s.add_point("p", body=b, at=("l", 0, 0)), s.add_point("r", body=c, at=(0.4, 0, 0))
    s.add_loop_joint("loop", between=(p, r), directions=(s.inertial[1], s.inertial[2]))
    s.set_defaults(l=0.6)
    s.set_run(t_end=0.13, step=0.01, initial={"q(a)": 0.3, "u(a)": 5, "u(d)": 1})
    return s


def slider_crank() -> bc.System:
    """A piston that slows the crank as it passes 0.38 m outwards; `mode` is 2 until it comes
    back."""
    s = bc.System("slider crank", units="mks")
    crank = s.add_body("crank", rotate=3, mass=1, inertia=(0.01, 0.01, 0.01))
    rod = s.add_body(
        "rod",
        parent=crank,
        rotate=3,
        joint_at=(0.1, 0, 0),
        cm=(0.15, 0, 0),
        mass=0.5,
        inertia=(0.004, 0.004, 0.004),
    )
    piston = s.add_body("pis", translate=1, mass=0.4)
    s.add_loop_joint(
        "pin",
        "revolute",
        between=(s.add_point("p", body=rod, at=(0.3, 0, 0)), piston.origin),
        axis=rod[3],
    )
    s.add_parameter("mode", 1.0, units="1", label="mode")
    s.add_output("m", "mode", units="1")
    s.add_event(
        "out", "q(pis) - 0.38", direction=1, action={"u(crank)": "0.9*u(crank)", "mode": "2"}
    )
    s.add_event("back", "q(pis) - 0.38", direction=-1, action={"mode": "1"})
    s.set_run(
        t_end=1.5,
        step=0.001,
        initial={"q(crank)": 1, "u(crank)": -10},
        guess={"q(rod)": -1.2, "q(pis)": 0.3},
    )
    return s


@pytest.fixture(scope="module")
def sliding() -> Any:
    return slider_crank().equations().compile()


@pytest.mark.parametrize(
    "dae", ["dlmm", "post", "baumgarte", "stabilised", "half-explicit", "clmm"]
)
def test_drift_that_closing_removes_brings_no_event_about(sliding: Any, dae: str) -> None:
    """Closing loops after an action shifts the piston across the position of the event."""
    usual, run = sliding.simulate(method="dop853", rtol=1e-11), sliding.simulate(dae=dae)
    assert (
        [x.name for x in run.events]
        == [x.name for x in usual.events]
        == ["out", "back", "out", "back", "out"]
    )
    assert [x.time for x in run.events] == pytest.approx([x.time for x in usual.events], abs=1e-6)
    assert run["u(crank)"][-1] == pytest.approx(usual["u(crank)"][-1], rel=1e-5)


@pytest.mark.parametrize("backend", ["c", "wasm"])
def test_loops_are_closed_after_a_jump(backend: str) -> None:
    """Dependent states follow, independent ones stay; what cannot be is reported."""
    sim = four_bar().equations().compile(backend=backend)
    for action in ({"u(a)": "-0.5*u(a)"}, {"u(b)": "1"}, {"q(a)": "q(a) + 0.1"}, {"l": 0.61}):
        run = sim.simulate(events=[bc.event("t - 0.1113", action=action)])
        assert run.ended == "finished" and max(run.residuals.largest) < 1e-12
        changed = [x.name for x in run.events[0].changes]
        assert changed[0] == next(iter(action)) and "u(d)" not in changed and len(changed) >= 3
    for action in ({"u(a)": 0, "u(c)": 3}, {"l": 5}):
        run = sim.simulate(events=[bc.event("t - 0.1113", action=action, name="hit")])
        assert run.ended.startswith("stopped at t = 0.1113 s, as an event acts: event 'hit' sets")
        assert "against the constraints" in run.ended


@pytest.mark.parametrize(
    "action, told",
    [
        ({"u(bal)": 1}, "the model has no such state or parameter. Did you mean 'u.ball.'"),
        (
            {"u(ball)": "u(bal)"},
            r"no channel or parameter is called 'u\(bal\)'\. Did you mean 'u\(ball\)'",
        ),
        ({"u(ball)": "q(ball)"}, "q.ball. is in m, but what it sets in m/s"),
        ({"u(ball)": "sqrt(g*q(ball)) + g"}, "sqrt.* is in m/s, but g in m/s2"),
        ({"u(ball)": "sin(q(ball))"}, "q.ball. is in m, but what sin takes in rad"),
        ({"e": "e > 1"}, "'e > 1' is a comparison, not a value"),
        ({"e": 1, "E": 2}, "it is set twice"),
        ({"az": 1}, "it is one of the outputs; states and parameters can be set"),
    ],
)
def test_actions_that_cannot_be(action: dict, told: str) -> None:
    s = ball()
    s.add_output("az", "dot(dxdt(vel(ball.cm)), [n3])")
    with pytest.raises(bc.ModelError, match=told):
        s.equations().compile(backend="wasm").simulate(events=[bc.event("q(ball)", action=action)])


def test_events_that_cannot_be(balls: dict[str, Any]) -> None:
    for given, told in (
        ({"direction": 2}, "direction=2 must be -1, 0 or 1"),
        ({"action": 3}, "must be a dictionary"),
        ({"action": {"e": "__import__('os')"}}, "unexpected character"),
    ):
        with pytest.raises(bc.ModelError, match=told):
            bc.event("q(ball)", **given)
    for given, told in (
        ({"events": [bounce(), bounce()]}, "two have the name 'bounce'"),
        ({"events": ["q(ball)"]}, "or a list of bc.event"),
        ({"events": "q(ball)"}, "must be a dictionary"),
        ({"events": [bounce()], "stop": "bonce"}, "Did you mean 'bounce'"),
    ):
        with pytest.raises(bc.ModelError, match=told):
            balls["wasm"].simulate(**given)


def test_an_expression_that_is_zero_at_the_start_is_told_if_it_never_changes_its_sign(
    balls: dict[str, Any],
) -> None:
    from_ground = {"initial": {"q(ball)": 0.5}, "t_end": 0.4}
    with pytest.warns(
        bc.ModelWarning,
        match="event 'bounce' is zero at t = 0 s, where the run begins, and never changes sign",
    ):
        run = balls["c"].simulate(events=[bounce()], **from_ground)
    assert not run.events and run["q(ball)"][-1] < 0
    thrown = {
        "initial": {"q(ball)": 0.5, "u(ball)": 1.0},
        "t_end": 0.3,
    }  # it leaves to the other side
    assert len(balls["c"].simulate(events=[bounce()], **thrown).events) == 1
    assert not balls["c"].simulate(events=[bounce()], **(thrown | {"t_end": 0.1})).events


@pytest.fixture(scope="module")
def spring() -> Any:
    s = bc.System("spring", units="mks")
    b = s.add_body("b", translate=1, mass=1)
    s.add_parameter("n", 0, units="1", label="a count")
    s.add_force("f", magnitude="-k*x", direction=s.inertial[1], at=b.origin)
    s.set_defaults(k=100)
    s.set_run(t_end=1, step=0.01, initial={"q(b)": 1})
    return Sims(s.equations())


@pytest.mark.parametrize("method", ["rk4", "tsit5", "dop853", "radau5"])
def test_a_motion_that_goes_on_through_its_event_counts_once(spring: Any, method: str) -> None:
    """A spring is stiffer below zero: half a period of it, pi/20 s, then one of the other, twice as
    long."""
    below = bc.event("q(b)", direction=-1, action={"k": 400, "n": "n + 1"}, name="below")
    above = bc.event("q(b)", direction=1, action={"k": 100, "n": "n + 1"}, name="above")
    run = spring[able("wasm", method)].simulate(method=method, t_end=1.5, events=[below, above])
    expected = [math.pi / 20 * x for x in (1, 2, 4, 5, 7, 8)]
    assert [x.time for x in run.events] == pytest.approx(expected, abs=2e-4)
    assert run.events[-1].changes[-1].after == 6


@pytest.mark.parametrize("method", ["rk4", "euler", "tsit5", "dop853"])
def test_what_is_told_where_another_event_acts_counts_once(spring: Any, method: str) -> None:
    """The run continues from the time of the action, where the other conditions may be on either
    side of zero."""
    acts = bc.event("q(b) - 0.2", action={"n": "n + 1"}, name="acts")
    told = [
        bc.event("q(b) - 0.2", name="either"),
        bc.event("q(b) < 0.2", name="under"),
        bc.event("q(b) > 0.2", name="over"),
    ]
    run = spring[able("wasm", method)].simulate(method=method, t_end=2, events=[acts, *told])
    under, over = ["either", "under", "acts"], ["either", "over", "acts"]
    assert [e.name for e in run.events] == (under + over) * 3


@pytest.mark.parametrize("method", ["rk4", "tsit5"])
@pytest.mark.parametrize("jump", [1e-4, 1e-6, 1e-8, 1e-12])
def test_a_condition_that_jumps_across_zero_counts_once(
    spring: Any, method: str, jump: float
) -> None:
    """By however little: the run continues from the side that it jumps to."""
    jumps = bc.event(
        f"q(b) - 0.2 + where(q(b) > 0.2, {jump}, -{jump})", action={"n": "n + 1"}, name="jumps"
    )
    assert (
        len(spring[able("wasm", method)].simulate(method=method, t_end=2, events=[jumps]).events)
        == 6
    )


@pytest.mark.parametrize("step", [0.005, 0.0052, 0.0047])
def test_a_crank_that_turns_back_counts_once(step: float) -> None:
    """Shorter steps of a closed loop are corrected more or less often, so that its motion within a
    step jumps a little."""
    sim, back = (
        example("four_bar").compile(backend="c"),
        bc.event("u(a) < 0", action={"d": "1.2*d"}, name="back"),
    )
    for method in ("ab2", "rk2", "heun"):
        run = sim.simulate(method=method, step=step, events=[back])
        assert [x.time for x in run.events] == pytest.approx(
            [0.119, 0.348, 0.577, 0.808], abs=0.02
        ), method


@pytest.mark.parametrize("e", [0.9, 0.8, 0.5, 0.3])
def test_a_ball_never_falls_through_the_ground(balls: dict[str, Any], e: float) -> None:
    """Steps of semi-implicit Euler end a short hop where the ball has no speed but for rounding, up
    or down."""
    falls = {"method": "euler", "t_end": 9, "initial": {"q(ball)": 1.0}, "events": [bounce()]}
    for step in (0.01, 0.013, 0.03, 0.05):
        run = balls["c"].simulate(step=step, parameters={"e": e, "ground": 0.0}, **falls)
        assert (
            "event 'bounce' fires repeatedly (chattering, again at once)" in run.ended
            and run["q(ball)"].min() > -1e-12
        )


@pytest.mark.parametrize("method", ["tsit5", "radau5"])
def test_an_event_just_before_the_end_leaves_a_run_that_ends_there(
    spring: Any, method: str
) -> None:
    """What is left is shorter than a step may be otherwise."""
    for early in (5e-16, 9e-16, 1.3e-15, 2.2e-15):
        run = spring[able("wasm", method)].simulate(
            method=method, events=[bc.event(f"t - {1 - early!r}", action={"k": 200}, name="late")]
        )
        assert (run.ended, len(run.events)) == ("finished", 1) and run.time[-1] == pytest.approx(
            1, abs=1e-14
        )


@pytest.mark.parametrize("condition", ["t >= 0", "t >= -1", "q(ball) < 30", "q(ball) + 100"])
def test_a_condition_that_is_true_all_the_time_is_told(
    balls: dict[str, Any], condition: str
) -> None:
    falls = {"initial": {"q(ball)": 5.0}, "t_end": 0.1}
    with pytest.warns(
        bc.ModelWarning,
        match="event 'late' is true at t = 0 s, where the run begins, and all the time",
    ):
        run = balls["wasm"].simulate(
            events=[bc.event(condition, direction=1, stop=True, name="late")], **falls
        )
    assert run.ended == "finished"
    seen = [
        bc.event(condition, name="late"),
        bc.event(f"-({condition.split('<')[0].split('>')[0]}) - 100", direction=1, stop=True),
    ]
    assert balls["wasm"].simulate(events=seen, **falls).ended == "finished"  # nothing to report


def test_what_never_counted_is_judged_by_the_parameters_of_its_time(balls: dict[str, Any]) -> None:
    """An action sets the level of another condition, which is true before as after it: at the start
    the new level would make it false, and a third one zero."""
    falls = {"initial": {"q(ball)": 1.5}, "parameters": {"ground": 10.0}, "t_end": 0.3}
    level = bc.event("t > 0.2", action={"ground": 1.5}, name="level")
    with pytest.warns(bc.ModelWarning) as told:
        below = bc.event("q(ball) < ground - 0.1", stop=True, name="below")
        away = bc.event("ground - q(ball)", direction=1, stop=True, name="away")
        run = balls["wasm"].simulate(events=[level, below, away], **falls)
    assert run.ended == "finished" and [e.name for e in run.events] == ["level"]
    assert [
        f"event '{x}' is true at t = 0 s, where the run begins, and all the time"
        in " ".join(str(w.message) for w in told)
        for x in ("below", "away")
    ] == [True, True]
    assert not any("is zero" in str(x.message) for x in told)


def test_a_clutch_locks_and_slips() -> None:
    """Moments of the laws, equal speeds while it is locked, and times at which its moment reaches
    what it holds."""
    clutch = bc.System.read("examples/clutch.py")
    sim = clutch.equations().compile(backend="wasm")
    locks = bc.event("u(engine) - u(wheel)", action={"locked": 1}, name="locks")
    slips = bc.event(
        "where(locked > 0, abs(hold) - cap, -1)",
        direction=1,
        action={"locked": 0, "side": "sign(hold)"},
        name="slips",
    )
    run = sim.simulate(events=[locks, slips])
    assert [x.name for x in run.events] == ["locks", "slips", "locks"]
    first, second, third = (x.time for x in run.events)
    apart, held = np.abs(run["u(engine)"] - run["u(wheel)"]), run["moment"] == run["hold"]
    locked = (run.time > first) & (run.time < second) | (run.time > third)
    assert apart[locked].max() < 1e-9 and np.all(held[locked])
    slipping = (run.time > second) & (run.time < third)
    assert (
        run["moment"][slipping] == pytest.approx(run["cap"][slipping])
        and apart[slipping].max() > 20
    )
    at = np.flatnonzero(run.time == second)
    assert run["hold"][at] == pytest.approx(run["cap"][at], rel=1e-12) and len(at) == 2


@pytest.mark.campaign
def test_random_bounces() -> None:
    """C and Python agree in events and rows; runs in pieces are the whole to the bit; times have
    the method's order."""
    s = bc.System("two balls", units="mks", axes="ISO 8855")
    for name in "ab":
        body = s.add_body(name, translate=3, mass="m")
        air = "-cd*v*sqrt(v**2 + 0.01) + push"
        s.add_force(f"air_{name}", magnitude=air, direction=s.inertial[3], at=body.origin)
    s.add_input("push", units="F")
    s.add_parameter("e", 0.7, units="1")
    s.add_gravity()
    s.set_defaults(m=1, g=G, cd=0.3)
    events = [
        bc.event("q(a)", direction=-1, action={"u(a)": "-e*u(a)"}, name="a"),
        bc.event("q(b) < 0", action={"u(b)": "-e*u(b)"}, name="b"),
    ]
    equations = s.equations()
    c, python = (equations.compile(backend=backend) for backend in ("c", "wasm"))
    alike = {
        "t_end": 1.2,
        "initial": {"q(a)": 1, "q(b)": 1},
        "inputs": {"push": bc.signals.step(0.6, 2.0)},
        "events": events,
    }
    exact = [
        x.time
        for x in c.simulate(method="dop853", step=0.01, rtol=1e-12, atol=1e-14, **alike).events
    ]
    for method, order in (("rk4", 4), ("rk2", 2), ("heun", 2), ("ab2", 2), ("euler", 1)):
        coarse, fine = (
            np.abs(
                np.subtract(
                    [x.time for x in c.simulate(method=method, step=h, **alike).events], exact
                )
            ).max()
            for h in (0.02, 0.005)
        )
        assert math.log(coarse / fine, 4) == pytest.approx(order, abs=0.4)
    rng = np.random.default_rng(2)
    for _ in range(25):
        begin, h, every = (
            float(rng.choice([0, -3, 7.3])),
            float(rng.choice([0.01, 0.013, 0.03])),
            int(rng.integers(1, 5)),
        )
        method = str(rng.choice(["rk4", "tsit5", "ab2"]))
        push = bc.signals.step(
            begin + float(rng.choice([0.3, 0.31, 0.5])), float(rng.uniform(-2, 2))
        )
        given = {
            "step": h,
            "method": method,
            "output_every": every,
            "events": events,
            "inputs": {"push": push},
        }
        given |= {
            "t_start": begin,
            "initial": dict(zip(("q(a)", "q(b)"), rng.uniform(0.2, 1, 2), strict=True)),
        }
        end = begin + float(rng.uniform(0.5, 1.2))
        run, other = (sim.simulate(t_end=end, **given) for sim in (c, python))
        assert [x.name for x in run.events] == [x.name for x in other.events] and len(run) == len(
            other
        )
        assert [x.time for x in run.events] == pytest.approx(
            [x.time for x in other.events], abs=1e-8
        )
        assert min(run["q(a)"].min(), run["q(b)"].min()) > -1e-9 and np.all(np.diff(run.time) >= 0)
        first = c.simulate(t_end=begin + round(0.4 / h) * h, **given)
        rest = c.simulate(start=first, t_end=end, events=events)
        assert len(first.events) + len(rest.events) == len(run.events)
        assert rest["q(a)"][-1] == pytest.approx(
            run["q(a)"][-1], abs=1e-6 if method == "tsit5" else 0
        )


def careful(x):
    if x > 40:
        raise ValueError("too far")
    return x**3


def runaway(force: str) -> bc.System:
    """x'' = x^3: past every bound within a moment."""
    s = bc.System("runaway", units="mks")
    b = s.add_body("b", translate=1, mass=1)
    s.add_external("careful", arguments=("x",), python=careful)
    s.add_force("push", magnitude=f"k*{force}", direction=s.inertial[1], at=b.cm)
    s.set_defaults(k=1)
    s.set_run(t_end=3, step=0.02, initial={"q(b)": 1, "u(b)": 0.5})
    return s


@pytest.mark.parametrize(
    "force", ["x**3", "careful(x)"]
)  # that overflows, or is rejected, soon after the event
@pytest.mark.parametrize("backend", ["c", "wasm"])
@pytest.mark.parametrize("method", ["rk4", "ab2"])
def test_what_breaks_down_beyond_an_event_does_not_count(backend, method, force):
    sim = runaway(force).equations().compile(backend=backend)
    back = bc.event("q(b) > 12", action={"q(b)": "1", "u(b)": "0.5"}, name="back")
    run = sim.simulate(events=[back], method=method)
    assert run.ended == "finished" and [e.name for e in run.events] == ["back", "back"]
    first = 1.38832973  # s, the integral of 1/sqrt((x^4 - 1)/2 + 1/4) from 1 to 12
    assert [e.time for e in run.events] == pytest.approx(
        [first, 2 * first], rel=1e-5 if method == "rk4" else 1e-2
    )
    run = sim.simulate(events=[bc.event("q(b) > 12", name="far", stop=True)], method=method)
    assert run.ended.startswith("stopped by event 'far'") and run["q(b)"][-1] == pytest.approx(
        12, rel=1e-12
    )


def row_of_balls(n: int = 3) -> bc.System:
    """Equal elastic balls on a line, 0.1 m wide; the outer ones hit the others at one time."""
    s = bc.System("balls")
    for i in range(n):
        s.add_body(f"b{i}", translate=1, mass=1)
    start = {f"q(b{i})": (i - (n - 1) / 2) * 0.1 for i in range(n)}
    start |= {
        "q(b0)": start["q(b0)"] - 1,
        f"q(b{n - 1})": start[f"q(b{n - 1})"] + 1,
        "u(b0)": 1,
        f"u(b{n - 1})": -1,
    }
    s.set_run(t_end=2, step=0.01, initial=start)
    return s


def hits(n: int = 3) -> list[Any]:
    def swapped(i: int) -> dict[str, str]:
        return {f"u(b{i})": f"u(b{i + 1})", f"u(b{i + 1})": f"u(b{i})"}

    return [
        bc.event(f"q(b{i}) - q(b{i + 1}) + 0.1", action=swapped(i), name=f"hit{i}")
        for i in range(n - 1)
    ]


@pytest.mark.parametrize("backend", ["c", "wasm"])
@pytest.mark.parametrize("method", ["rk4", "tsit5"])
@pytest.mark.parametrize("n", [3, 5])
def test_balls_that_are_hit_from_both_sides_at_one_time(backend: str, method: str, n: int) -> None:
    """Those that touch pass on what they get, until every pair parts: none goes through another."""
    run = (
        row_of_balls(n)
        .equations()
        .compile(backend=able(backend, method))
        .simulate(method=method, events=hits(n))
    )
    assert run.ok and all(e.time == pytest.approx(1.0, abs=1e-9) for e in run.events)
    assert [run[f"u(b{i})"][-1] for i in range(n)] == pytest.approx([-1, *[0] * (n - 2), 1])
    places = np.array([run[f"q(b{i})"] for i in range(n)])
    assert np.diff(places, axis=0).min() >= 0.1 - 1e-9


def test_balls_that_are_hit_at_one_time_side_by_side() -> None:
    sim = row_of_balls().equations().compile()
    many = sim.simulate_many(
        n=5, channels=["u(b0)", "u(b1)", "u(b2)"], events=hits(), backend="lanes"
    )
    for i, speed in enumerate((-1.0, 0.0, 1.0)):
        assert many[f"u(b{i})"][:, -1] == pytest.approx(np.full(5, speed))


@pytest.mark.parametrize("backend", ["c", "wasm"])
@pytest.mark.parametrize("method", ["rk4", "dop853"])
def test_balls_that_fall_one_upon_the_other(backend: str, method: str) -> None:
    """The distance is zero from the start; the floor pushes the lower, heavy one into the other,
    which leaves with three times the speed."""
    s = bc.System("stack", axes="ISO 8855")
    s.add_body("a", translate=3, mass="m_a", inertia=0)
    s.add_body("b", translate=3, mass="m_b", inertia=0)
    s.add_gravity()
    s.set_defaults(m_a=1e9, m_b=1, g=G)
    floor = bc.event("q(a)", direction=-1, action={"u(a)": "-u(a)"}, name="floor")
    passed_on = {
        "u(a)": "((m_a - m_b)*u(a) + 2*m_b*u(b))/(m_a + m_b)",
        "u(b)": "((m_b - m_a)*u(b) + 2*m_a*u(a))/(m_a + m_b)",
    }
    hit = bc.event("q(b) - q(a)", direction=-1, action=passed_on, name="hit")
    sim = s.equations().compile(backend=able(backend, method))
    run = sim.simulate(
        t_end=0.6, step=0.01, method=method, initial={"q(a)": 1, "q(b)": 1}, events=[floor, hit]
    )
    assert [e.name for e in run.events] == ["floor", "hit"]
    fall = math.sqrt(2 / G)
    assert run["u(b)"][-1] == pytest.approx(3 * G * fall - G * (0.6 - fall), abs=1e-6)
