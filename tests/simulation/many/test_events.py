"""Events in vectorised runs: those that stop and those that act, as `simulate` finds them."""

import warnings
from functools import cache, partial

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.core.numeric.fixed_step_methods import METHODS
from tests.codegen.test_c_loops import coupled
from tests.models import example, needs_compiler, rarely

pytestmark = needs_compiler
FIGURES = [
    "final",
    "min",
    "max",
    "mean",
    "rms",
    "std",
    "peak",
    "travel",
    "airborne",
    "percentile(80)",
    "crossing(0.9)",
]


@cache
def ball():
    """A ball that bounces, with an output, an input, and parameters that stand in events alone."""
    s = bc.System("ball", units="mks", axes="ISO 8855")
    body = s.add_body("ball", translate=3, mass="m")
    s.add_parameter("e", 0.8, units="1")
    s.add_parameter("ground", 0.5, units="L")
    s.add_gravity()
    s.add_input("f", units="F")
    s.add_force("push", magnitude="f - c*v", direction=s.inertial[3], at=body.origin)
    s.add_output("energy", "u(ball)**2/2 + g*q(ball)")
    s.set_defaults(m=1, g=9.81, c=0.1)
    s.set_run(t_end=2, step=0.01, initial={"q(ball)": 1.5}, inputs={"f": 0})
    return s.equations().compile()


BOUNCE = bc.event("q(ball) - ground", direction=-1, action={"u(ball)": "-e*u(ball)"}, name="bounce")
LOSES = bc.event("energy < 9", action={"c": "2*c", "ground": "ground - 0.01"}, name="loses")
GUST = bc.event("t > 0.3517", action={"u(ball)": "u(ball)*(1 + smooth_step(t, 0, 1))"}, name="gust")

CLUTCH = [
    bc.event("u(engine) - u(wheel)", action={"locked": 1}, name="locks"),
    bc.event(
        "where(locked > 0, abs(hold) - cap, -1)",
        direction=1,
        action={"locked": 0, "side": "sign(hold)"},
        name="slips",
    ),
]


def compare(sim, many, options, runs, tolerance=1e-12):
    """Histories, figures and messages against runs alone."""
    for i in runs:
        alone = sim.simulate(**options(i))
        assert many.ended[i] == alone.ended
        there = [
            np.flatnonzero(alone.time == t)[-1:] for t in many.time
        ]  # of two rows at an event that after it
        for name in many:
            size = max(np.abs(alone[name]).max(), 1e-6)
            found, expected = (
                many[name][i],
                [alone[name][rows[0]] if len(rows) else np.nan for rows in there],
            )
            np.testing.assert_allclose(
                found, expected, rtol=0, atol=tolerance * size, err_msg=f"{name} of {i}"
            )
        for name, figures in many.metrics.items():
            size = max(np.abs(alone[name]).max(), 1e-6)
            t, x = alone.time, alone[name]
            mean, square = (np.trapezoid(y, t) / (t[-1] - t[0]) for y in (x, x * x))
            expected = {
                "final": x[-1],
                "min": x.min(),
                "max": x.max(),
                "mean": mean,
                "rms": np.sqrt(square),
            }
            expected |= {
                "peak": np.abs(x).max(),
                "travel": np.ptp(x),
                "std": np.sqrt(square - mean**2),
            }
            for kind, value in expected.items():
                assert figures[kind][i] == pytest.approx(value, abs=10 * tolerance * size), (
                    name,
                    kind,
                )


@pytest.mark.parametrize("every", rarely([1, 4], [1]))
@pytest.mark.parametrize("method", rarely([*METHODS], [x for x in METHODS if x != "rk4"]))
def test_a_ball_that_bounces(method, every):
    """Actions set states, parameters that enter the equations and such that do not; an input jumps
    within a step."""
    sim, e = ball(), np.linspace(0.6, 0.9, 7)
    events = [BOUNCE, LOSES, GUST]
    shared = {
        "method": method,
        "inputs": {"f": bc.signals.step(at=0.2031, height=2.0)},
        "events": events,
    }
    channels = ["q(ball)", "u(ball)", "energy", "f"]
    many = sim.simulate_many(
        parameters={"e": e},
        initial={"u(ball)": np.linspace(-1, 1, 7)},
        output_every=every,
        channels=channels,
        metrics={"q(ball)": FIGURES},
        **shared,
    )
    assert (many.settings["backend"], many.notes) == ("lanes", [])

    def one(i):
        return {
            "parameters": {"e": e[i]},
            "initial": {"u(ball)": np.linspace(-1, 1, 7)[i]},
            "output_every": every,
            **shared,
        }

    compare(sim, many, one, range(7))
    assert len({*many["q(ball)"][:, -1]}) == 7


def test_a_run_that_meets_an_event_leaves_its_neighbours_alone():
    """The same bits in every lane, whatever the number of runs; those that stop, and those that
    have no event."""
    sim = ball()
    e, low = np.linspace(0.7, 0.9, 9), np.where(np.arange(9) % 3, 0.5, -20.0)
    events = [BOUNCE, bc.event("u(ball) > 3.3", stop=True, name="fast")]
    given = {"events": events, "output_every": 1}
    many = sim.simulate_many(
        parameters={"e": e, "ground": low},
        metrics={"energy": FIGURES},
        channels=["q(ball)"],
        **given,
    )
    plain = sim.simulate_many(n=len(e), channels=["q(ball)"], output_every=1)
    assert (many["q(ball)"][::3] == plain["q(ball)"][::3]).all()  # they meet none
    assert {x.split(" at ")[0] for x in many.ended} == {"finished", "stopped by event 'fast'"}
    compare(
        sim,
        many,
        lambda i: {"parameters": {"e": e[i], "ground": low[i]}, "events": events},
        range(9),
    )
    for order in (np.arange(9)[::-1], np.array([4]), np.array([0, 0, 5, 5, 8]), np.array([7, 3])):
        again = sim.simulate_many(
            parameters={"e": e[order], "ground": low[order]},
            metrics={"energy": FIGURES},
            channels=["q(ball)"],
            **given,
        )
        np.testing.assert_array_equal(again["q(ball)"], many["q(ball)"][order])
        for kind, values in again.metrics["energy"].items():
            np.testing.assert_array_equal(values, many.metrics["energy"][kind][order])


@pytest.mark.campaign
def test_what_needs_more_than_compiled_code_goes_alone():
    """Events that chatter, and such that set what cannot be, end with the message of `simulate`;
    others continue."""
    sim = ball()
    chatters = bc.event(
        "q(ball) - ground", direction=-1, action={"u(ball)": "-e*u(ball)"}, name="bounce"
    )
    e = np.array([0.2, 0.9, 0.5, 0.9, 0.2])
    shared = {"t_end": 3.0, "events": [chatters]}
    many = sim.simulate_many(parameters={"e": e}, channels=["q(ball)"], output_every=1, **shared)
    assert many.settings["backend"] == "lanes"
    assert "3 runs met events" in many.notes[0]
    assert "chattering" in many.ended[0] and many.ended[1] == "finished"
    compare(sim, many, lambda i: {"parameters": {"e": e[i]}, "output_every": 1, **shared}, range(5))
    wrong = bc.event("q(ball) - 1.2", action={"c": "c*sqrt(e - 0.5)"}, name="wrong")
    many = sim.simulate_many(
        parameters={"e": e}, channels=["q(ball)"], output_every=1, events=[wrong]
    )
    assert "not a finite number" in many.ended[0] and many.ended[1] == "finished"
    many = sim.simulate_many(
        parameters={"c": e},
        channels=["q(ball)"],
        output_every=1,
        events=[bc.event("q(ball) - 1.2")],
    )
    assert many.notes == [] and {*many.ended} == {"finished"}  # an event of which nothing comes


@pytest.mark.campaign
def test_a_clutch_that_locks_and_slips():
    """Conditions over outputs, choices and parameters that events set; inputs with kinks."""
    sim, drag = example("clutch").compile(), np.linspace(0.4, 0.6, 5)
    many = sim.simulate_many(parameters={"drag": drag}, output_every=10, events=CLUTCH)
    assert (many.settings["backend"], many.notes) == ("lanes", [])
    compare(
        sim,
        many,
        lambda i: {"parameters": {"drag": drag[i]}, "output_every": 10, "events": CLUTCH},
        (0, 2, 4),
    )


@pytest.mark.campaign
def test_events_stop_closed_loops():
    """Steps within are closed, too."""
    sim, c = example("slider_crank").compile(), np.linspace(1.0, 3.0, 5)
    events, shared = [bc.event("x - 0.45", direction=1, name="far")], {"t_end": 0.4, "stop": "far"}
    many = sim.simulate_many(
        parameters={"c": c}, events=events, channels=["x", "energy"], output_every=5, **shared
    )
    assert (many.settings["backend"], many.notes) == ("lanes", [])
    assert all("stopped by event 'far'" in x for x in many.ended)
    compare(
        sim,
        many,
        lambda i: {"parameters": {"c": c[i]}, "output_every": 5, "events": events, **shared},
        (0, 4),
    )


def in_lanes(
    sim,
    name,
    values,
    tolerance=1e-12,
    left=0,
    runs=None,
    output_every=1,
    precision="double",
    **shared,
):
    """Runs next to each other with a parameter that varies, against runs alone; so many are left to
    be done alone."""
    many = sim.simulate_many(
        parameters={name: values}, output_every=output_every, precision=precision, **shared
    )
    assert (many.settings["backend"], many.settings["precision"]) == ("lanes", precision)
    assert [int(x.split()[0]) for x in many.notes] == ([left] if left else [])

    def one(i):
        return {"parameters": {name: values[i]}, "output_every": output_every, **shared}

    compare(sim, many, one, range(len(values)) if runs is None else runs, tolerance)
    return many


SLOWS = bc.event(
    "x - 0.45", direction=1, action={"u(crank)": "0.9*u(crank)", "l": "1.001*l"}, name="slows"
)
BRAKES = bc.event("u(crank) < 18.5", action={"c": "1.3*c"}, name="brakes")
ALSO = bc.event("x < 0.41", action={"u(piston)": "0.9*u(piston)"}, name="also")
DAMPING = np.linspace(1.0, 3.0, 5)


def test_events_act_in_closed_loops():
    """What an event sets stays, and the rest follows: a speed and a length, and a parameter on
    which no loop depends."""
    sim = example("slider_crank").compile()
    events = [SLOWS, BRAKES, ALSO]
    many = in_lanes(sim, "c", DAMPING, output_every=6, t_end=0.42, events=events, runs=(0, 3))
    alone = sim.simulate(parameters={"c": DAMPING[3]}, t_end=0.42, events=events)
    assert {e.name for e in alone.events} == {"slows", "brakes", "also"}
    assert len({*many["x"][:, -1]}) == 5


@pytest.mark.campaign
@pytest.mark.parametrize("method", METHODS)
def test_every_method_with_events_that_act_in_closed_loops(method):
    in_lanes(
        example("slider_crank").compile(),
        "c",
        DAMPING,
        method=method,
        t_end=1.0,
        output_every=3,
        events=[SLOWS, BRAKES],
    )


@pytest.mark.campaign
@pytest.mark.parametrize(
    "given",
    [
        [
            ("t > 0.07", {"c": "2*c"}),
            ("t >= 0.1", {"u(crank)": "2*u(crank)"}),
        ],  # at rows, and between them
        [
            ("t > 0.1002", {"u(crank)": "2*u(crank)"}),
            ("t > 0.1002", {"u(crank)": "u(crank)/3"}),
        ],  # at one time
        [
            ("t > 0.1002", {"u(crank)": "2*u(crank)"}),
            ("t > 0.1007", {"l": "1.01*l"}),
        ],  # in one step
        [("t > 0.1002", {"u(crank)": 30}), ("u(crank) > 25", {"r": "0.9*r"})],  # one by the other
        [("x - 0.45", {"q(crank)": "q(crank) + 0.01"})],
        [("t > 0.3", {"q(piston)": "q(piston) - 0.005"})],
        [("x - 0.45", {"m_rod": "1.2*m_rod", "r": "0.99*r"})],
    ],
)
def test_what_events_do_to_a_slider_crank(given):
    """States that others depend on, and states that depend on others; lengths and masses; times
    that matter."""
    events = [
        bc.event(condition, action=action, name=f"e{i}")
        for i, (condition, action) in enumerate(given)
    ]
    sim = example("slider_crank").compile()
    in_lanes(sim, "c", DAMPING, t_end=0.5, events=events)
    alone = sim.simulate(t_end=0.5, events=events)
    assert {e.name for e in alone.events} == {e.name for e in events}


@pytest.mark.campaign
@pytest.mark.parametrize(
    ("name", "varied", "condition", "actions"),
    [
        (
            "four_bar",
            "k",
            "q(a) + 0.03",
            [{"u(a)": "0.7*u(a)"}, {"l2": "1.01*l2"}, {"u(c)": "0.8*u(c)"}],
        ),
        (
            "sarrus_linkage",
            "k",
            "height + 0.65",
            [{"u(a1)": "0.7*u(a1)"}, {"u(top)": "-0.7*u(top)"}, {"m": "1.1*m"}],
        ),
    ],
)
def test_events_that_act_in_other_loops(name, varied, condition, actions):
    """Redundant rows, directions that must point as drawn."""
    sim = example(name).compile()
    values = np.linspace(0.97, 1.05, 5) * sim.interface.find_or_none(varied, ("parameter",)).default
    for action in actions:
        in_lanes(
            sim,
            varied,
            values,
            output_every=5,
            events=[bc.event(condition, action=action)],
            runs=(0, 4),
        )


@pytest.mark.campaign
@pytest.mark.parametrize("at", [0.3, 0.3013])
def test_events_at_jumps_of_inputs_that_drive_a_loop(at):
    """A load jumps, and an input that stands in the constraints has a kink, where an event acts,
    just before and after, and in the same step."""
    machine = coupled()
    machine.add_input("push", units="F*L")
    machine.add_moment("turn", magnitude="push", direction=machine.inertial[3], on="a")
    sim, weights = machine.equations().compile(), np.linspace(9.0, 10.0, 5)
    inputs = {
        "drive": bc.signals.ramp(start=at, slope=2.0),
        "push": bc.signals.step(at=at, height=20.0),
    }
    for when in (at, at - 1e-4, at + 1e-4, 0.3008):
        events = [
            bc.event(f"t >= {when}", action={"u(a)": "0.5*u(a)"}),
            bc.event("u(wheel) > 0.1", action={"g": "0.9*g"}),
        ]
        in_lanes(sim, "g", weights, t_end=0.6, output_every=4, events=events, inputs=inputs)
        assert {e.name for e in sim.simulate(t_end=0.6, events=events, inputs=inputs).events} == {
            x.name for x in events
        }


RANDOM = {  # conditions, and actions with shares by which states and parameters change
    "slider_crank": (
        "c",
        ["x - 0.45", "x - 0.42", "u(crank) - 19", "t - {t}", "sin(40*t)", "u(piston)"],
        [
            {"u(crank)": "{a}*u(crank)"},
            {"l": "{b}*l"},
            {"r": "{b}*r", "c": "{a}*c"},
            {"u(piston)": "{a}*u(piston)"},
            {"q(crank)": "q(crank) + 0.01"},
            {"m_piston": "{a}*m_piston"},
        ],
    ),
    "sarrus_linkage": (
        "k",
        ["height + 0.65", "u(a1)", "t - {t}"],
        [{"u(a1)": "{a}*u(a1)"}, {"m": "{a}*m"}, {"u(top)": "{a}*u(top)"}, {"k": "{a}*k"}],
    ),
}


@pytest.mark.campaign
@pytest.mark.parametrize("name", RANDOM)
def test_random_events_in_closed_loops(name):
    """Several at once that act or stop, with random steps and methods; nearly all runs stay next to
    each other."""
    sim, (varied, conditions, actions), rng = (
        example(name).compile(),
        RANDOM[name],
        np.random.default_rng(3),
    )
    values, left = (
        np.linspace(0.97, 1.05, 3) * sim.interface.find_or_none(varied, ("parameter",)).default,
        0,
    )
    for _ in range(8):
        events = []
        for i in range(rng.integers(1, 4)):
            found = {
                "a": rng.uniform(0.8, 1.15),
                "b": rng.uniform(0.99, 1.01),
                "t": rng.uniform(0, 0.6),
            }
            of = {k: f"{v:.{rng.integers(1, 5)}f}" for k, v in found.items() if k != "b"} | {
                "b": f"{found['b']:.4f}"
            }
            action = (
                {k: v.format(**of) for k, v in rng.choice(actions).items()}
                if rng.random() < 0.85
                else None
            )
            condition = str(rng.choice(conditions)).format(**of)
            events.append(
                bc.event(
                    condition,
                    direction=int(rng.integers(-1, 2)),
                    action=action,
                    stop=action is None,
                    name=f"e{i}",
                )
            )
        step, method, every = (
            float(rng.choice([1e-3, 2e-3])),
            str(rng.choice([*METHODS])),
            int(rng.integers(1, 6)),
        )
        shared = {"t_end": 0.6, "step": step, "method": method, "events": events}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", bc.ModelWarning)  # of actions that change nothing
            many = sim.simulate_many(parameters={varied: values}, output_every=every, **shared)
            one = partial(dict, output_every=every, **shared)
            compare(sim, many, lambda i, one=one: one(parameters={varied: values[i]}), range(3))
        assert many.settings["backend"] == "lanes"
        left += int(many.notes[0].split()[0]) if many.notes else 0
    assert left <= 3


@pytest.mark.campaign
def test_events_that_loops_cannot_follow_go_alone():
    """Against the constraints, out of reach, and into a singular configuration: as `simulate` does
    it, to the bit."""
    sim = example("slider_crank").compile()
    for action, said in (
        ({"u(piston)": "0.8*u(piston)", "u(crank)": "0.9*u(crank)"}, "against the constraints"),
        ({"l": "0.1*l", "q(crank)": 1.5}, "against the constraints"),
        ({"r": "where(c > 2.5, l, 0.99*r)"}, "finished"),
    ):
        left = 5 if said != "finished" else 1
        events = [
            bc.event("x - 0.45", direction=1, action=action, name="e"),
            bc.event("t > 0.5", action={"m_rod": "1.1*m_rod"}),
        ]
        many = in_lanes(sim, "c", DAMPING, left=left, t_end=0.6, output_every=7, events=events)
        assert said in many.ended[4]
    equal = example("slider_crank", equal_arms=True).compile()
    speed = np.array([0.5, 8.0, 0.6])
    given = {
        "t_end": 0.5,
        "events": [bc.event("t > 0.2001", action={"u(crank)": "1.1*u(crank)"})],
        "channels": ["x"],
    }
    many = equal.simulate_many(initial={"u(crank)": speed}, **given)
    assert many.settings["backend"] == "lanes" and many.notes[0].startswith("1 run ")
    alone = equal.simulate_many(initial={"u(crank)": speed}, backend="cores", **given)
    assert alone.settings["backend"] == "python" and (alone["x"][1] == many["x"][1]).all()
    np.testing.assert_allclose(many["x"], alone["x"], rtol=0, atol=1e-12)


@pytest.mark.campaign
@pytest.mark.parametrize(
    ("name", "varied", "events", "precision"),
    [
        (
            "slider_crank",
            "c",
            [SLOWS, BRAKES, bc.event("c*t > 1", stop=True, name="late")],
            "double",
        ),
        ("ball", "e", [BOUNCE, LOSES, bc.event("u(ball) > 3.3", stop=True, name="fast")], "single"),
    ],
)
def test_the_same_bits_in_every_lane_and_thread(name, varied, events, precision, monkeypatch):
    """Whatever the neighbours, the number of runs and of threads; also after runs that were
    interrupted."""
    sim = ball() if name == "ball" else example(name).compile()
    values = np.linspace(0.7, 0.9, 23) if name == "ball" else np.linspace(0.2, 2.0, 23)
    given = {"events": events, "output_every": 5, "precision": precision, "t_end": 0.7}
    many = sim.simulate_many(parameters={varied: values}, **given)
    assert many.settings["precision"] == precision
    assert {x.split(" at ")[0] for x in many.ended} == {
        "finished",
        f"stopped by event '{events[-1].name}'",
    }

    def enough(share):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sim.simulate_many(
            2000,
            parameters={varied: values[0]},
            **{**given, "step": 1e-6},
            channels=[],
            progress=enough,
        )
    rng = np.random.default_rng(0)
    for threads, order in (
        (1, rng.permutation(23)),
        (5, rng.permutation(23)),
        (2, np.array([7, 7, 3])),
        (1, [11]),
    ):
        monkeypatch.setattr(
            "bellcrank.simulation.many.worker_threads.core_count", lambda threads=threads: threads
        )
        again = sim.simulate_many(parameters={varied: values[order]}, **given)
        assert again.ended == [many.ended[i] for i in order]
        for channel in many:
            np.testing.assert_array_equal(again[channel], many[channel][order])


@pytest.mark.parametrize("method", rarely([*METHODS], [x for x in METHODS if x != "rk4"]))
def test_events_in_single_precision(method):
    """Found and done in double precision, from steps in a shorter one."""
    events = [BOUNCE, LOSES, GUST, bc.event("t > 0.41", action={"c": "1.1*c"}, name="at a row")]
    shared = {
        "method": method,
        "inputs": {"f": bc.signals.step(at=0.2031, height=2.0)},
        "t_end": 1.6,
        "events": events,
    }
    many = in_lanes(
        ball(),
        "e",
        np.linspace(0.7, 0.9, 5),
        1e-6,
        precision="single",
        output_every=4,
        runs=(0, 4),
        **shared,
    )
    assert len({*many["q(ball)"][:, -1]}) == 5


@pytest.mark.campaign
def test_examples_with_events_in_single_precision():
    """Conditions over outputs, choices, parameters that events set; events that stop, at times of
    double precision."""
    sim = example("clutch").compile()
    in_lanes(
        sim,
        "drag",
        np.linspace(0.4, 0.6, 5),
        1e-5,
        precision="single",
        output_every=10,
        events=CLUTCH,
    )
    sim, k = example("quarter_car").compile(), np.linspace(1e4, 2e4, 6)
    shared = {
        "t_end": 0.4,
        "step": 0.002,
        "inputs": {"z_road": bc.signals.step(at=0.0131, height=0.05)},
    }
    stop = bc.event("q(body) - 0.002", direction=1, action={"u(body)": "-0.8*u(body)"}, name="stop")
    in_lanes(sim, "k", k, 1e-5, precision="single", events=[stop], **shared)
    late = bc.event("t > 0.2123456789", stop=True, name="late")
    many = in_lanes(sim, "k", k, 1e-5, precision="single", events=[stop, late], **shared)
    assert {*many.ended} == {"stopped by event 'late' at t = 0.212346 s"}


@pytest.mark.campaign
def test_many_events_in_single_precision_lose_nothing():
    """What is rounded away in steps is carried on over events, too: one in nearly every second of
    4000 steps."""
    given = {
        "events": [bc.event("sin(2900*t)", direction=1, action={"c": "0.25 - c"})],
        "t_end": 4.0,
        "step": 0.001,
        "output_every": 100,
    }
    start = {"q(ball)": 1.0, "u(ball)": 20.0}
    short, exact = (
        ball().simulate_many(2, initial=start, precision=x, **given) for x in ("single", "double")
    )
    assert (short.settings["precision"], short.notes) == ("single", [])
    assert np.abs(short["energy"] - exact["energy"]).max() < 5e-7 * np.abs(exact["energy"]).max()


def test_closed_loops_in_single_precision_go_side_by_side_in_double():
    sim, given = (
        example("slider_crank").compile(),
        {"t_end": 0.42, "events": [SLOWS, BRAKES, ALSO], "channels": "x"},
    )
    many, exact = (
        sim.simulate_many(3, parameters={"c": 2.0}, precision=x, **given)
        for x in ("single", "double")
    )
    assert many.notes == [
        "the runs were computed in double precision: loops are kept closed in double precision"
    ]
    assert (many.settings["backend"], many.settings["precision"]) == ("lanes", "double")
    np.testing.assert_array_equal(many["x"], exact["x"])


@cache
def latch():
    s = bc.System("latch", units="mks")
    b = s.add_body("b", translate=1, mass=1)
    s.add_parameter("held", 0, units="1")
    s.add_force(
        "f",
        magnitude="where(held > 0, -k*(x - 0.5) - 150*v, 3)",
        direction=s.inertial[1],
        at=b.origin,
    )
    s.set_defaults(k=1e4)
    s.set_run(t_end=0.8, step=0.002)
    return s.equations().compile()


@pytest.mark.campaign
@pytest.mark.parametrize("names", [["closes"], ["also", "closes"], ["closes", "also"]])
def test_what_changes_nothing_is_no_event(names):
    """A latch that closes once, though what it holds passes it again and again: rows that count are
    those of one event, alone as next to each other, and what it does next to the action of
    another."""
    sim, k = latch(), np.array([8e3, 1e4, 2e4])
    known = {
        "closes": bc.event("q(b) > 0.5", action={"held": 1}, name="closes"),
        "also": bc.event(
            "q(b) - 0.5", direction=1, action={"k": "where(held > 0, k, 2*k)"}, name="also"
        ),
    }
    events = [known[x] for x in names]
    with pytest.warns(bc.ModelWarning, match="changes nothing"):
        many = sim.simulate_many(
            parameters={"k": k},
            output_every=1,
            channels=["q(b)"],
            metrics={"q(b)": FIGURES},
            events=events,
        )
        compare(sim, many, lambda i: {"parameters": {"k": k[i]}, "events": events}, range(3))
        alone = sim.simulate(parameters={"k": k[0]}, events=events)
    assert many.settings["backend"] == "lanes" and not many.notes
    acted = (
        names if names[0] == "also" else ["closes"]
    )  # once it is closed, the other one has nothing to do
    assert [e.name for e in alone.events] == acted and len(alone) == 401 + 2


@pytest.mark.campaign
@pytest.mark.filterwarnings("ignore:event 'has' is not a number")
def test_a_condition_that_had_no_value_does_not_come_to_be_true():
    """An action gives it one on the side that is watched: that is no crossing, alone as next to
    each other."""
    has = bc.event("sqrt(e) > 30*t", stop=True, name="has")
    events = [bc.event("t > 0.0151", action={"e": "0.9"}, name="set"), has]
    sim, given = ball(), {"t_end": 0.05, "events": events}
    alone = sim.simulate(parameters={"e": -1.0}, **given)
    many = sim.simulate_many(2, parameters={"e": [-1.0, 0.1]}, backend="lanes", **given)
    assert [e.name for e in alone.events] == ["set"]
    assert many.settings["backend"] == "lanes"
    assert (alone.ended, many.ended[0]) == (
        "finished",
        "finished",
    ) and "by event 'has'" in many.ended[1]


@pytest.mark.parametrize("backend", ["auto", "cores"])
def test_events_from_which_nothing_comes_leave_no_trace(backend):
    """Neither in the way runs are done, nor, as parameters that stand in them alone, in a
    warning."""
    sim, given = ball(), {"channels": "q(ball)", "backend": backend, "t_end": 0.2}
    for method, way in (("rk4", "lanes" if backend == "auto" else "cores"), ("tsit5", "cores")):
        plain = sim.simulate_many(n=3, method=method, **given)
        many = sim.simulate_many(
            parameters={"ground": [1.4, 1.41, 1.42]},
            method=method,
            events={"low": "q(ball) < ground"},
            **given,
        )
        assert (many.settings["backend"], many.notes) == (way, [])
        np.testing.assert_array_equal(many["q(ball)"], plain["q(ball)"])


@pytest.mark.parametrize("backend", rarely(["cores", "lanes"], ["lanes"]))
def test_an_event_just_before_a_row_leaves_no_gap_in_a_history(backend):
    """A billionth of a step before a row, none is left to it: the row at the event takes its
    place."""
    for at, early in ((0.2, 3e-15), (0.2, 9e-12), (0.4, 3e-15), (0.4, 1e-12)):
        event = bc.event(f"t - {at - early!r}", action={"u(ball)": 1})
        options = {"t_end": 0.4, "step": 0.01, "events": [event], "channels": ["u(ball)"]}
        speed = ball().simulate_many(parameters={"m": [1.0, 2.0]}, backend=backend, **options)[
            "u(ball)"
        ]
        assert np.isfinite(speed).all() and speed[:, round(at / 0.01)] == pytest.approx(
            1.0, abs=1e-9
        )


@pytest.mark.parametrize("backend", ["lanes", "cores"])
def test_parameters_that_nothing_uses_are_told_once(backend, recwarn):
    ball().simulate_many(
        parameters={"e": [0.7, 0.8, 0.9]}, channels="q(ball)", backend=backend, t_end=0.2
    )
    assert [(str(w.message), w.filename == __file__) for w in recwarn] == [
        ("parameters={'e': ...}: the model does not use this parameter", True)
    ]


@pytest.mark.parametrize("first", [True, False])
def test_a_stop_at_the_last_sample_leaves_the_sample_before_and_after_its_action(first):
    """The event that stops may be the first or the second of the list; the run would end at that
    time anyway."""
    sim, e = ball(), np.linspace(0.6, 0.9, 4)
    stop = bc.event("t - 0.5", direction=1, action={"u(ball)": "7"}, stop=True, name="stop")
    events = [stop, BOUNCE] if first else [BOUNCE, stop]
    given = {"events": events, "t_end": 0.5}
    many = sim.simulate_many(
        parameters={"e": e}, channels=["q(ball)", "u(ball)"], output_every=1, **given
    )
    assert many.settings["backend"] == "lanes"
    for i, value in enumerate(e):
        alone = sim.simulate(parameters={"e": value}, **given)
        assert many.ended[i] == alone.ended
        assert many["u(ball)"][i, -1] == alone["u(ball)"][-1] == 7.0
