"""Steady motions: asked for by speed, output or formula, free inputs, every place that at= may
name, loci; what is rejected.

Most tests ride a motorcycle in the plane, whose steady motion can be written down by hand.
"""

import numpy as np
import pytest

import bellcrank as bc
from tests.analysis.bicycle import published
from tests.analysis.cars import ROLLING, hard_point_car
from tests.models import example, needs_compiler

DRAG, SPEED, RADIUS = 1.5, 12.0, 0.4
BIKE = {
    "rim": 5,
    "chassis": 60,
    "k": (1e5, 2e4),
    "c": (500, 900),
    "slip": bc.Slip(8e3, damping=0.0),
}


def motorcycle(speed=SPEED):
    """A motorcycle at a speed, its wheels rolling, standing on relaxed springs; the rear wheel is
    driven."""
    s = bc.vehicles.motorcycle(**BIKE, rolling_resistance=DRAG)
    spins = {f"u({side}.wheel)": speed / RADIUS for side in ("rear", "front")}
    s.add_output("speed", "dot(vel(frame.origin), [n1])", units="L/T")
    s.set_run(initial={"u(frame, 1)": speed, **spins}, inputs={"drive": 0.0, "brake": 0.0})
    return s


@pytest.fixture(scope="module")
def bike():
    return motorcycle().equations().compile()


def driving_moment(sim, found):
    """Rolling resistance c v of both wheels, pushed by the rear wheel: c (v_r + v_f) times its
    radius under load."""
    at = found.point
    out = sim.outputs(0.0, at.q, at.u, inputs={"drive": found["drive"]})
    radius = {side: RADIUS - out[f"{side}.tyre_depth"] for side in ("rear", "front")}
    roll = sum(DRAG * found[f"u({side}.wheel)"] * radius[side] for side in radius)
    return roll * radius["rear"]


@pytest.mark.parametrize(
    ("how", "v"), [("fixed", 40.0), ("fixed", -3.0), ("target", 5.0), ("start", 20.0)]
)
def test_a_speed_is_asked_for_in_every_way(bike, v, how):
    """The start has no load on its tyres, which have no slope there; wheel spins, slip and springs
    follow."""
    asked = {
        "fixed": {"fixed": {"u(frame, 1)": v}},
        "target": {"targets": {"speed": v}},
        "start": {
            "at": {"u(frame, 1)": v, "u(rear.wheel)": v / RADIUS, "u(front.wheel)": v / RADIUS}
        },
    }[how]
    found = bike.equilibrium(**asked)
    assert found.steady["q(frame, 1)"] == pytest.approx(v, rel=1e-3)
    assert found["drive"] == pytest.approx(driving_moment(bike, found), rel=1e-9)
    assert found["drive"] == pytest.approx(2 * DRAG * v * (RADIUS - 65 * 9.80665 / 1e5), rel=0.02)
    assert found["u(rear.wheel)"] / found["u(front.wheel)"] > 1  # the driven wheel slips
    q, u = found.point.q, found.point.u
    rates = np.concatenate(bike.derivatives(0.0, q, u, inputs={"drive": found["drive"]}))
    going = [bike.interface.find_or_none(n, ("coordinate",)).index for n in found.steady]
    assert np.abs(np.delete(rates, going)).max() < 1e-9


def test_free_and_auto_free_find_the_same(bike):
    alone = bike.equilibrium(fixed={"u(frame, 1)": 20.0})
    named = bike.equilibrium(fixed={"u(frame, 1)": 20.0}, free="drive")
    assert alone.values == pytest.approx(named.values, rel=1e-9, abs=1e-12)
    drag = bike.equilibrium(
        fixed={"u(frame, 1)": 20.0}, free="c_roll", inputs={"drive": named["drive"]}
    )
    assert drag["c_roll"] == pytest.approx(DRAG, rel=1e-9)


def test_a_speed_follows_where_it_is_free(bike):
    """Ten newton metres of drive: the speed that they hold."""
    found = bike.equilibrium(free="u(frame, 1)", inputs={"drive": 10.0})
    assert bike.equilibrium(fixed={"u(frame, 1)": found["u(frame, 1)"]})["drive"] == pytest.approx(
        10.0, rel=1e-8
    )


@pytest.mark.campaign
def test_from_rest(bike):
    """A search from rest: locked wheels at 15 m/s slide, so it goes there from small speeds."""
    there = bike.equilibrium(at={}, fixed={"u(frame, 1)": 15.0})
    assert there.values == pytest.approx(
        bike.equilibrium(fixed={"u(frame, 1)": 15.0}).values, rel=1e-8, abs=1e-11
    )
    rest = bike.equilibrium(at={})
    assert (
        rest.motion == "at rest"
        and rest["u(frame, 1)"] == pytest.approx(0, abs=1e-12)
        and not rest.steady
    )


def test_formulas_are_aimed_at(bike):
    """The driven wheel 2 % faster than the other: a formula over states; a quotient may be infinite
    at the start."""
    ratio = "u(rear.wheel)/u(front.wheel)"
    found = bike.equilibrium(
        fixed={"u(frame, 1)": 12.0}, targets={ratio: 1.02}, free=["drive", "c_roll"]
    )
    assert found["u(rear.wheel)"] / found["u(front.wheel)"] == pytest.approx(1.02, rel=1e-10)
    assert f"{ratio} = 1.02" in found.motion


def test_every_place_of_at_gives_its_own_model(bike):
    steady = bike.equilibrium()
    at_start = bike.linearize("start", wrt=(), outputs=())
    assert np.array_equal(bike.linearize(at="start", wrt=(), outputs=()).A, at_start.A)
    assert "start of the run at u(frame, 1) = 12 m/s, which is not steady" in at_start.motion
    assert np.array_equal(
        bike.linearize(at=(steady.point.q, steady.point.u), inputs={"drive": steady["drive"]}).A,
        bike.linearize(at=steady).A,
    )
    run = bike.simulate(t_end=0.2, step=0.001)
    by_run, by_time = (bike.linearize(at=x, wrt=(), outputs=()) for x in ((run, 0.2), 0.2))
    assert pytest.approx(by_time.A, rel=1e-12) == by_run.A
    assert by_time.motion.startswith("t = 0.2 s of the run at u(frame, 1) = 11.9")
    assert by_run.states[0].value == run[by_run.states[0].name][-1]
    assert np.array_equal(bike.linearize(at=run, wrt=(), outputs=()).A, by_run.A)
    for found in (
        bike.modes(at=steady),
        bike.modes(),
        bike.linearize(at="Equilibrium").essential().modes,
    ):
        assert found.motion == steady.motion
    f = [0.5, 2.0]
    response = bike.frequency_response("rear.load", "pitch", f, at=steady)
    assert response.values == pytest.approx(
        bike.frequency_response("rear.load", "pitch", f).values, rel=1e-9
    )
    driven = bike.frequency_response("rear.load", "pitch", f, at="start", inputs={"drive": 5.0})
    assert "not steady" in driven.motion and driven.values != pytest.approx(
        response.values, rel=1e-6
    )


@pytest.mark.parametrize(
    ("at", "message"),
    [
        ("strat", "Did you mean 'start'"),
        (-1.0, "must be positive"),
        (object(), "is not known. It is 'start'"),
        (("run", 1), "is not known"),
    ],
)
def test_other_places_are_refused(bike, at, message):
    with pytest.raises(bc.ModelError, match=message):
        bike.linearize(at=at)
    with pytest.raises(bc.ModelError, match=message):
        bike.equilibrium(at=at)


def test_a_time_outside_the_run_is_refused(bike):
    run = bike.simulate(t_end=0.01, step=0.001)
    with pytest.raises(bc.ModelError, match=r"goes from 0 to 0.01 s"):
        bike.linearize(at=(run, 3.0))
    with pytest.raises(bc.ModelError, match="the run lacks the states"):
        example("quarter_car").compile(backend="python").linearize(at=(run, 0.0))


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (
            {"fixed": {"u(frme, 1)": 10}},
            r"fixed 'u\(frme, 1\)' is not known. Did you mean 'u\(frame, 1\)'",
        ),
        ({"free": "drve"}, "free 'drve' is not known. Did you mean 'drive'"),
        ({"targets": {"sped": 10}}, "target 'sped' is not known. Did you mean 'speed'"),
        ({"targets": {"sped/speed": 10}}, "'sped' is not known. Did you mean 'speed'"),
        ({"targets": {"speed": float("nan")}}, "not a finite number"),
        ({"targets": "speed"}, "must be a dictionary"),
        ({"free": "drive", "fixed": {"drive": 1}}, "cannot be both free and fixed"),
    ],
)
def test_what_is_mistyped_is_named(bike, asked, message):
    with pytest.raises(bc.ModelError, match=message):
        bike.equilibrium(**asked)


def test_braking_is_no_steady_motion(bike):
    """A brake that the caller sets is not balanced behind his back by the drive."""
    with pytest.raises(
        bc.NoEquilibrium, match=r"no steady motion at u\(frame, 1\) = 12 m/s"
    ) as error:
        bike.equilibrium(inputs={"brake": 60.0})
    assert "a run from there has u(frame, 1)' = -" in str(error.value) and "drive" in str(
        error.value
    )
    assert bike.equilibrium(inputs={"brake": 60.0}, free="drive")["drive"] > 60.0


@pytest.mark.campaign
def test_a_target_out_of_reach_tells_what_was_reached(bike):
    """Drive at a held speed does not pitch a motorcycle by 30 degrees."""
    with pytest.raises(bc.NoEquilibrium, match=r"pitch reached .* instead of 30 deg") as error:
        bike.equilibrium(fixed={"u(frame, 1)": 12.0}, targets={"pitch": 30.0}, free=["drive"])
    assert error.value.residuals


def test_loci_over_speed_output_and_parameter_agree(bike):
    speeds = [8.0, 16.0]
    by_state = bike.root_locus("u(frame, 1)", speeds)
    by_output = bike.root_locus("speed", speeds)
    for row, wanted in zip(by_output.eigenvalues, by_state.eigenvalues, strict=True):
        assert np.sort_complex(row) == pytest.approx(np.sort_complex(wanted), rel=1e-4)
    assert by_state.motions[1].startswith("steady motion at u(frame, 1) = 16 m/s, drive = ")
    by_parameter = bike.root_locus("c_roll", [DRAG, 2 * DRAG])
    here = bike.linearize(at="equilibrium", wrt=(), outputs=()).essential().eigenvalues
    assert np.sort_complex(by_parameter.eigenvalues[0]) == pytest.approx(here, rel=1e-7)
    assert "u(frame, 1) = 12 m/s, drive" in by_parameter.motions[1]
    with pytest.raises(bc.ModelError, match=r"over 'sped' is not known. Did you mean 'speed'"):
        bike.root_locus("sped", speeds)
    with pytest.raises(bc.ModelError, match=r"takes|unexpected"):
        bike.root_locus("sped", speeds, model=lambda v: motorcycle(v))
    with pytest.raises(bc.ModelError, match=r"option 'fre' is not known. Did you mean 'free'"):
        bike.root_locus("speed", speeds, fre="drive")


@pytest.mark.campaign
def test_a_locus_over_an_argument_makes_the_model_anew(bike):
    by_argument = bike.root_locus("v", [8.0, 16.0], model=lambda v: motorcycle(v))
    by_state = bike.root_locus("u(frame, 1)", [8.0, 16.0])
    for row, wanted in zip(by_argument.eigenvalues, by_state.eigenvalues, strict=True):
        assert np.sort_complex(row) == pytest.approx(np.sort_complex(wanted), rel=1e-4)
    assert by_argument.over == "v" and by_argument.motions[1].startswith(
        "steady motion at u(frame, 1) = 16 m/s"
    )


def test_a_chart_has_a_steady_motion_at_every_point(bike):
    chart = bike.stability_chart(("speed", [8.0, 16.0]), ("c_strut", [900.0, 450.0]))
    found = bike.equilibrium(targets={"speed": 16.0}, parameters={"c_strut": 450.0})
    one = bike.linearize(at=found, wrt=(), outputs=()).essential()
    assert chart.growth[1, 1] == pytest.approx(one.eigenvalues.real.max(), rel=1e-6)
    assert chart.motion.startswith("steady motion at speed = 8 m/s") and chart.motion in str(chart)
    assert len(chart.motions) == 4


def test_equilibria_over_a_speed(bike):
    curve = bike.equilibria("speed", [6.0, 12.0, 24.0])
    assert curve["drive"] == pytest.approx(curve["drive"][0] * np.array([1, 2, 4]), rel=5e-3)
    assert curve.motions[2].startswith("steady motion at speed = 24 m/s")


@pytest.mark.campaign
@needs_compiler
def test_both_backends_find_the_same(bike):
    other = motorcycle().equations().compile(backend="python")
    assert other.equilibrium().values == pytest.approx(
        bike.equilibrium().values, rel=1e-9, abs=1e-12
    )


def test_values_of_inputs_and_parameters_can_be_given(bike):
    given = bike.linearize("start", wrt=["drive", "rear.load"], inputs={"drive": 30.0})
    assert given.input_names == ["drive", "rear.load"] and given.inputs[0].value == 30.0
    quarter, span = (
        example("quarter_car").compile(backend="python"),
        {"outputs": ["az"], "t_end": 0.05, "step": 0.001},
    )
    found = quarter.sensitivity(["k"], parameters={"k": 20000.0}, **span)
    assert found.parameter_values == (20000.0,)
    assert np.array_equal(
        quarter.sensitivity(wrt="k", parameters={"k": 20000.0}, **span)["az", "k"], found["az", "k"]
    )
    with pytest.raises(bc.ModelError, match="must be a dictionary"):
        quarter.sensitivity(["k"], parameters=["k"], **span)


@pytest.mark.campaign
def test_parameters_without_a_default_are_given_to_analyses():
    s = bc.System("oscillator")
    mass = s.add_body("mass", translate="x", mass=2, inertia=0)
    s.add_force("spring", magnitude="push - k*x", direction=s.inertial.x, at=mass.origin)
    sim = s.equations().compile(backend="python")
    given = {"push": 10, "k": 50}
    assert sim.equilibrium(parameters=given)["q(mass)"] == pytest.approx(0.2, abs=1e-12)
    np.testing.assert_allclose(sim.linearize(parameters=given).A, [[0, 1], [-25, 0]])
    assert sim.equilibria("push", [5, 10], parameters={"k": 50})["q(mass)"] == pytest.approx(
        [0.1, 0.2], abs=1e-12
    )
    with pytest.raises(bc.ModelError, match="no value is given for 1 parameter: 'k'"):
        sim.equilibrium(parameters={"push": 10})


def test_the_bicycle_along_its_speed():
    """Published eigenvalues from a locus over the forward speed, as a state and as an output."""
    sim = example("whipple_bicycle").compile(backend="python")
    for over in ("u(yaw, 1)", "speed"):
        locus = sim.root_locus(over, [3.0, 5.0, 8.0])
        for v, row in zip((3, 5, 8), locus.eigenvalues, strict=True):
            lively = np.delete(row, np.argmin(np.abs(row)))
            assert np.sort_complex(lively) == pytest.approx(published(v), rel=1e-8)
        assert (
            locus.motions[0].startswith("steady motion at")
            and "u(yaw, 1) = 3 m/s" in locus.motions[0]
        )


def test_what_cannot_go_on_is_at_rest_and_says_so():
    """A coin that turns, its speeds along axes of the road, has no constant speeds."""
    found = example("rolling_coin").compile(backend="python").equilibrium()
    assert "at rest (the start moves, q(stand, 3)' = 4 rad/s" in found.motion


def test_a_standing_model_is_as_before():
    """No input of a standing model is set free: a road that moves upward is not found for a wheel
    that shall."""
    sim = example("quarter_car").compile(backend="python")
    rest = sim.equilibrium()
    assert rest.motion == "at rest" and not rest.steady and "z_road" not in rest.values
    with pytest.raises(bc.NoEquilibrium, match=r"no steady motion at u\(wheel\) = 1 m/s"):
        sim.equilibrium(fixed={"u(wheel)": 1.0})


@pytest.mark.campaign
@needs_compiler
@pytest.mark.parametrize("which", ["driven", "hard points"])
def test_gains_of_cars_are_those_of_long_runs(which):
    """From 5 to 40 m/s: drive by hand, yaw gain and understeer gradient of the linear model against
    steady states of runs."""
    if which == "driven":
        slip = tuple(bc.Slip(60e3, c, relaxation=(0.15, 0.4)) for c in (45e3, 55e3))
        s = bc.vehicles.car(slip=slip, brakes=(0.65, 0.35), speed=20, rolling_resistance=2)
        resistance, driven, small, wheelbase = 2.0, "w1l", 0.1, 2.6
    else:
        s, resistance, driven, small, wheelbase = hard_point_car(20.0), ROLLING, "rl", 0.5, 2.7
    sim = s.equations().compile(backend="c")
    speeds = np.array([5.0, 10.0, 20.0, 30.0, 40.0])
    linear, simulated = [], []
    for v in speeds:
        found = sim.equilibrium(targets={"speed": float(v)})
        radius = v / found[f"u({driven}.wheel)"]  # under load, but for the slip of some 1e-4
        assert found["drive"] == pytest.approx(4 * resistance * v * radius, rel=2e-3)
        model = sim.linearize(at=found, wrt=["steer"], outputs=["yaw_rate"])
        linear.append(model.steady_gain("steer", "yaw_rate"))
        state = found.point.q.tolist(), found.point.u.tolist()
        ends = [
            sim.simulate(
                t_end=12,
                initial=state,
                inputs={"steer": k * small, "drive": found["drive"]},
                output_every=100,
            )
            for k in (-1, 1)
        ]
        simulated.append((ends[1]["yaw_rate"][-1] - ends[0]["yaw_rate"][-1]) / (2 * small))
    assert linear == pytest.approx(simulated, rel=2e-3)
    gradients = []
    for gains in (np.array(linear), np.array(simulated)):
        ratio = (
            wheelbase * gains[0] / speeds[0]
        )  # steer at the wheels per steer given, at small speeds
        derivatives = np.polyfit(speeds**2, speeds / gains, 1)  # v/gain = (l + K v^2)/ratio
        gradients.append(derivatives[0] * ratio)
    assert gradients[0] == pytest.approx(gradients[1], rel=5e-3)


@pytest.mark.campaign
@needs_compiler
@pytest.mark.parametrize("which", ["driven", "hard points"])
def test_eigenvalues_are_continuous_along_the_speed(which):
    """Half the step, not much more than half the largest jump: a root of a branching point at
    worst."""
    slip = tuple(bc.Slip(60e3, c, relaxation=(0.15, 0.4)) for c in (45e3, 55e3))
    s = (
        hard_point_car()
        if which != "driven"
        else bc.vehicles.car(slip=slip, speed=20, rolling_resistance=2)
    )
    sim = s.equations().compile(backend="c")
    jumps = []
    for count in (8, 15, 29):
        table = sim.root_locus("speed", np.linspace(5, 40, count)).eigenvalues
        assert not np.any(np.isnan(table))
        jumps.append(np.abs(np.diff(table, axis=0)).max())
    assert jumps[1] < 0.85 * jumps[0] and jumps[2] < 0.85 * jumps[1]


@pytest.mark.campaign
def test_up_a_slope():
    """Place and height continue together up a ramp of 10 %; by hand: weight along it times the
    radius under load."""
    s = bc.vehicles.car(slip=bc.Slip(60e3, 45e3), speed=15, terrain=bc.vehicles.terrain.ramp(0.1))
    sim = s.equations().compile()
    climb = sim.equilibrium()
    assert climb.steady["q(chassis, 3)"] / climb.steady["q(chassis, 1)"] == pytest.approx(
        0.1, rel=1e-6
    )
    radius = 15 / climb["u(w1l.wheel)"]
    assert climb["drive"] == pytest.approx(
        1360 * 9.80665 * np.sin(np.arctan(0.1)) * radius, rel=0.02
    )
    assert sim.linearize(at=climb, wrt=(), outputs=()).equilibrium
