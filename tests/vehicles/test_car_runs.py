"""Whole cars that drive: closed forms, linear and simulated responses, manoeuvres. Derived once for
all."""

import json
import math

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.vehicles.cars.control.driver import yaw_inertia
from bellcrank.vehicles.cars.design.car_data import CORNERS, GRAVITY
from bellcrank.vehicles.manoeuvres import lane_changes
from bellcrank.vehicles.manoeuvres.compiled_car import THROTTLE_CLOSED, compile_car
from bellcrank.vehicles.manoeuvres.sine_with_dwell import sine_with_dwell_signal
from bellcrank.vehicles.manoeuvres.steering_tests import frequency_response
from tests.browser import look_at, needs_chromium
from tests.vehicles import car_by_hand as hand

pytestmark = pytest.mark.campaign


@pytest.fixture(scope="module")
def car():
    return bc.vehicles.Car.read("passenger")


@pytest.fixture(scope="module")
def compiled(car):
    return compile_car(car)


@pytest.fixture(scope="module")
def level(car):
    """Its driver in the middle, as formulas by hand have it."""
    return hand.symmetric(car)


def loads(run, i=-1):
    return np.array([run[f"{c}.tyre_load"][i] for c in CORNERS])


def test_the_car_stands_where_it_was_found_to_stand(car, compiled):
    run = compiled.drive(2.0, compiled.settled(0.0), {}, THROTTLE_CLOSED)
    assert loads(run, 0) == pytest.approx(car.stand.load, rel=1e-9)
    assert loads(run) == pytest.approx(
        car.stand.load, rel=2e-3
    )  # without rolling the tyres give a little
    assert [run[f"{c}.travel"][-1] for c in CORNERS] == pytest.approx(car.stand.travel, abs=5e-4)
    assert abs(run["speed"][-1]) < 1e-3


def test_load_transfer_under_braking(level):
    """Loads of the axles next to statics by hand: inertia, wheels, rolling resistance, drag, lift,
    and the lean of the body on springs and tyres."""
    car, compiled, brake = level, compile_car(level), 1500.0
    run = compiled.simulate(
        2.5,
        compiled.straight_running_state(30.0),
        {"brake": bc.signals.sampled([0, 0.3, 100], [0, brake, brake])},
        THROTTLE_CLOSED,
    )
    before, after = np.array(car.stand.load), loads(run)
    a, air = -run["ax"][-1], 0.5 * 1.206 * 2.15 * run["speed"][-1] ** 2
    high = run["height"][-1]  # of the body, at which drag acts
    front, rear = hand.loads_of_braking(car, a, brake, 0.30 * air, high, (0.04 * air, 0.07 * air))
    assert a > 3
    assert after[:2].sum() - before[:2].sum() == pytest.approx(front - before[:2].sum(), rel=0.01)
    assert after[2:].sum() - before[2:].sum() == pytest.approx(rear - before[2:].sum(), rel=0.01)
    force = sum(run[f"{c}.tyre.fx"][-1] for c in CORNERS) - 0.30 * air
    assert -force == pytest.approx(car.stand.mass * a, rel=0.01)


def turned(compiled, v, angle, **parameters):
    """A steady turn, and its lateral acceleration."""
    steer = bc.signals.ramp(0.5, angle / 8, 8.5)
    run = compiled.drive(
        12.0, compiled.settled(v, **parameters), {"steer": steer, "speed_set": v}, parameters
    )
    ay = run["speed"][-1] * math.radians(run["yaw_rate"][-1])
    assert run["ay"][-1] == pytest.approx(ay, rel=0.01)
    return run, ay


def test_load_transfer_and_roll_in_a_turn(level):
    """Roll, travels and loads of both axles next to statics by hand, of stiff joints."""
    car, compiled = level, compile_car(level)
    gives = {p.name: 0.0 for p in compiled.sim.interface.parameters if "_by_" in p.name}
    assert len(gives) == 5
    run, ay = turned(compiled, 25.0, 4.0, c_side=0.0, c_yaw=0.0, **gives)
    by_hand, now = hand.steady_turn(car), loads(run)
    assert ay > 0.5
    assert math.radians(run["roll"][-1]) / ay == pytest.approx(by_hand.roll, rel=0.01)
    for axle, left, right, i in (("front", "fl", "fr", 0), ("rear", "rl", "rr", 2)):
        assert (now[i + 1] - now[i]) / 2 / ay == pytest.approx(by_hand.transfer[axle], rel=0.01)
        travel = (run[f"{right}.travel"][-1] - run[f"{left}.travel"][-1]) / 2
        assert travel / ay == pytest.approx(by_hand.travel[axle], rel=0.01)


@pytest.fixture(scope="module")
def smooth():
    """A car without kinks: Fiala tyres, and dampers with one slope. (TMeasy has another cornering
    stiffness where the slip angle is small compared with the slip along.) Without rolling
    resistance, which follows the loads: the inner wheels roll more easily, and turn the car out of
    a bend."""
    straight = {
        "damper": {"table": None, "coefficient": "19015.5692 N-s/m"},
        "tyre": {"rolling_resistance": 0},
    }
    return bc.vehicles.Car.read("hmmwv").changed(
        front=straight, rear={"tyre": {"rolling_resistance": 0}}
    )


def test_understeer_gradient_of_the_tyres(smooth):
    """On springs so stiff that only tyres give way, in a vacuum: against drag the front wheels
    drive, which turns the car in (2 % of the gradient at 25 m/s). The steering angle is that of the
    wheels."""
    run, ay = turned(compile_car(smooth), 25.0, 1.0, **stiffened())
    steered = (run["fr.toe"][-1] - run["fl.toe"][-1]) / 2
    turning = run["steer_angle"][-1] - run["understeer"][-1]
    assert (steered - turning) / ay * GRAVITY == pytest.approx(
        smooth.metrics["understeer_tyres"], rel=0.01
    )
    base, K = (
        smooth.metrics["wheelbase"],
        math.radians(smooth.metrics["understeer_tyres"]) / GRAVITY,
    )
    v_ch = math.sqrt(base / K)
    gain = run["yaw_rate"][-1] / steered
    assert gain == pytest.approx(25 / (base * (1 + (25 / v_ch) ** 2)), rel=0.005)
    assert 25 / math.sqrt(25 / (gain * base) - 1) == pytest.approx(v_ch, rel=0.01)
    assert steered == pytest.approx(run["steer_angle"][-1], rel=0.01)


def stiffened():
    """Parameters of springs and steering thirty times as stiff, in a vacuum, so that tyres alone
    give way."""
    stiff = {"k_steer": 300.0 * 40, "t_steer": 5e-4, "c_drag": 0.0, "c_side": 0.0, "c_yaw": 0.0}
    return stiff | {"k_front": 30 * 167062.0, "k_rear": 30 * 369149.0}


def test_yaw_frequency_and_damping(smooth):
    """Of the exact linear model next to a single track whose tyres have their trails and relaxation
    lengths."""
    v, stiff, compiled, f = 20.0, stiffened(), compile_car(smooth), smooth.metrics
    tyres = [
        smooth.data.axle(a).tyre.forces(smooth.stand.load[i], 0.0, 0.0)
        for a, i in (("front", 0), ("rear", 2))
    ]
    (C1, t1, s1), (C2, t2, s2) = (
        (2 * abs(float(x.Kya)), float(x.trail), float(x.sigma_y)) for x in tyres
    )
    m, b, Iz = f["mass"], f["wheelbase"] * f["front_share"], yaw_inertia(smooth.data, smooth.stand)
    a = f["wheelbase"] - b
    single = [  # of side speed, yaw rate and the slip angles by which forces act
        [0, -v, -C1 / m, -C2 / m],
        [0, 0, -(a - t1) * C1 / Iz, (b + t2) * C2 / Iz],
        [1 / s1, a / s1, -v / s1, 0],
        [1 / s2, -b / s2, 0, -v / s2],
    ]
    by_hand = max(np.linalg.eigvals(single), key=lambda x: (round(x.real, 6), x.imag))
    how = {"k_speed": 0.0, "i_speed": 0.0, "hands": 0.0, **stiff}  # a driver who does nothing
    linear = compiled.sim.linearize(at=compiled.straight_running_state(v, **stiff), parameters=how)
    rates = np.linalg.eigvals(linear.in_equation_units().A)
    found = rates[np.argmin(np.abs(rates - by_hand))]
    assert abs(found) == pytest.approx(abs(by_hand), rel=0.01)  # 5.83 rad/s
    assert -found.real / abs(found) == pytest.approx(-by_hand.real / abs(by_hand), rel=0.01)  # 0.87
    lag_free = (
        C1 * C2 * (a - t1 + b + t2) ** 2 / (m * Iz * v**2) + ((b + t2) * C2 - (a - t1) * C1) / Iz
    )
    assert math.sqrt(lag_free) == pytest.approx(
        abs(found), rel=0.15
    )  # the usual formula, without relaxation


def test_chirp_and_linear_model(smooth):
    """Frequency response of a run next to that of the exact linear model."""
    compiled = compile_car(smooth)
    result = bc.vehicles.manoeuvres.run(smooth, "iso7401-frequency", ay=0.3)
    f, found = frequency_response(result.run, ("yaw_rate", "ay", "roll"), 0.2, 4.0)
    some = slice(None, None, 12)
    linear = compiled.sim.linearize(
        at=compiled.straight_running_state(80 / 3.6),
        parameters={"k_speed": 0.0},
        wrt=["steer"],
        outputs=["yaw_rate", "ay", "roll"],
    )
    for name in ("yaw_rate", "ay", "roll"):
        exact = linear.frequency_response("steer", name, f[some]).values
        assert np.abs(found[name][some] - exact).max() < 0.02 * np.abs(exact).max()


def test_manoeuvres_give_figures(car, tmp_path):
    stop = bc.vehicles.manoeuvres.run(car, "braking")
    assert stop.passed and 7 < stop["mfdd"] < 11 and stop["slip_min"] > -0.5
    assert stop["mfdd"] == pytest.approx((100 / 3.6) ** 2 / 2 / stop["distance"], rel=0.1)
    start = bc.vehicles.manoeuvres.run(car, "acceleration")
    assert start.passed and 6 < start["time"] < 12
    turn = bc.vehicles.manoeuvres.run(car, "iso4138")
    assert 0 < turn["understeer_2"] < turn["understeer_4"] and 6 < turn["ay_max"] < 10
    step = bc.vehicles.manoeuvres.run(car, "iso7401-step")
    assert step["ay_steady"] == pytest.approx(
        4.0, rel=0.03
    )  # the throttle is held: the car slows down a little
    assert step["yaw_rate_response"] < step["ay_response"] < step["roll_response"]
    steady = bc.vehicles.manoeuvres.run(car, "iso4138", speed=80)
    assert step["angle"] == pytest.approx(
        steady["wheel_4"], rel=0.03
    )  # the step settles on the circle
    written = step.save(tmp_path)
    assert [p.name for p in written] == ["iso7401-step.json", "iso7401-step_step.csv"]
    step.plot(tmp_path / "step.png")
    with pytest.raises(bc.ModelError, match="Did you mean 'speed'"):
        bc.vehicles.manoeuvres.run(car, "braking", sped=3)
    with pytest.raises(bc.ModelError, match="no manoeuvre is called 'iso3888'"):
        bc.vehicles.manoeuvres.run(car, "iso3888")


def test_methods_of_the_steady_circle_agree(car, compiled):
    """Constant speed, radius and steering-wheel angle: one understeer gradient where speeds are the
    same, 80 km/h at 2 m/s2; also by differences of steady turns."""
    v = 80 / 3.6
    found = {
        "speed": bc.vehicles.manoeuvres.run(car, "iso4138", speed=80, at=(2.0,)),
        "radius": bc.vehicles.manoeuvres.run(car, "iso4138-radius", radius=v**2 / 2, at=(2.0,)),
        "wheel": bc.vehicles.manoeuvres.run(car, "iso4138-wheel", radius=160.0, at=(2.0,)),
    }
    values = [result["understeer_2"] for result in found.values()]
    f = car.metrics
    slope = (compiled.angle(v, 2.3) - compiled.angle(v, 1.7)) / 0.6 / f["steering_ratio"]
    values.append((slope - math.degrees(f["wheelbase"] / v**2)) * GRAVITY)
    assert max(values) / min(values) < 1.02
    assert np.ptp(found["wheel"].run["steering_wheel"]) < 1e-9
    ahead = found["radius"].run["ax"]
    assert (
        np.abs(ahead[found["radius"].run.time < 60]).max() < 0.35
    )  # nearly steady: dV/dt is 0.2 m/s2


def test_limits_of_the_steady_circle(car, compiled):
    """One largest lateral acceleration: by the slow ramps of both forms, at any rate, and by
    continuation of steady turns; a run that ends before the limit reports it."""
    steady = compiled.limit(100 / 3.6)
    values = [
        steady.ay,
        bc.vehicles.manoeuvres.run(car, "iso4138")["ay_max"],
        bc.vehicles.manoeuvres.run(car, "iso4138", growth=0.4)["ay_max"],
        bc.vehicles.manoeuvres.run(car, "iso4138-radius")["ay_max"],
        bc.vehicles.manoeuvres.run(car, "iso4138-radius", acceleration=0.4)["ay_max"],
        bc.vehicles.manoeuvres.run(car, "iso4138-wheel")["ay_max"],
        bc.vehicles.manoeuvres.run(car, "iso4138-wheel", acceleration=0.4)["ay_max"],
    ]
    assert max(values) / min(values) < 1.02 and steady.ended == ""
    short = bc.vehicles.manoeuvres.run(car, "iso4138-wheel", to=20.0)
    (said,) = (note for note in short.notes if note.startswith("the limit was not reached"))
    top = int(np.argmax(short.run["ay_path"]))
    largest = compiled.limit(
        float(short.run["speed"][top])
    ).ay  # of the speed that the run had there, no other
    assert said.endswith(f"; steady turns at that speed have {largest:.3g} m/s2 at most")


def test_short_turns_and_the_weave(car):
    """A pulse has the gains of the chirp, in small motions: at 1 m/s2 tyres and dampers are not
    linear, and a pulse excites 1.4 Hz less. The weave reaches the lateral acceleration that was
    asked for."""
    chirp, pulse = (
        bc.vehicles.manoeuvres.run(car, f"iso7401-{kind}", ay=0.4)
        for kind in ("frequency", "pulse")
    )
    both = [frequency_response(r.run, ("yaw_rate", "ay"), 0.3, 1.5) for r in (chirp, pulse)]
    for name in ("yaw_rate", "ay"):
        gains = [np.interp([0.5, 1.0, 1.4], f, np.abs(H[name])) for f, H in both]
        assert gains[1] == pytest.approx(gains[0], rel=0.05)
    sine = bc.vehicles.manoeuvres.run(car, "iso7401-sine")
    assert 0 < sine["yaw_rate_lag_1"] < sine["ay_lag_1"] < sine["roll_lag_1"] < 0.4
    assert sine["yaw_rate_peaks"] == pytest.approx(1.0, abs=0.1)
    swing = bc.vehicles.manoeuvres.run(car, "iso13674-1")
    assert swing["ay_max"] == pytest.approx(2.0, rel=0.05)  # so slow that it is nearly steady
    assert swing["yaw_gain"] == pytest.approx(chirp["yaw_rate_gain"], rel=0.15)
    assert 0 < swing["dead_band"] < 0.4 * swing["angle"]


def test_out_of_a_turn(car):
    """Harder braking turns the car in more, without a spin; a foot off the throttle only a
    little."""
    brakes, lifts = (
        bc.vehicles.manoeuvres.run(car, "iso7975", decelerations=(2.0, 3.0, 4.0)),
        bc.vehicles.manoeuvres.run(car, "iso9816"),
    )
    assert brakes.passed
    assert brakes.run["speed"][0] ** 2 / 100 == pytest.approx(5.0, rel=0.01)
    assert np.radians(brakes.run["yaw_rate"][0]) * 100 == pytest.approx(
        brakes.run["speed"][0], rel=0.02
    )
    assert 1 < lifts["yaw_ratio"] < brakes["yaw_ratio_2"] < brakes["yaw_ratio_3"]
    assert (
        lifts["yaw_ratio"] < 1.15 and brakes["yaw_ratio_2"] < 1.3 and brakes["side_slip_4"] < 1.5
    )  # a road car
    assert lifts["deceleration"] < brakes["deceleration_2"] < brakes["deceleration_3"]
    with pytest.raises(bc.RunError, match="does not go round a circle of 20 m radius"):
        bc.vehicles.manoeuvres.run(car, "iso9816", radius=20.0, ay=15.0)


def test_to_the_limit(car):
    """Series end whole, with stiff joints into spins; without stability control the law's criteria
    are not met."""
    stiff = car.changed(front={"compliance": None}, rear={"compliance": None})
    dwell = bc.vehicles.manoeuvres.run(stiff, "sine-with-dwell")
    assert dwell["runs"] > 20 and dwell["lateral_displacement"] > 1.83 and not dwell.passed
    assert dwell["unstable_from"] > 3 * dwell["angle"] and dwell["side_slip_max"] > 90
    assert all(np.isfinite(run[name]).all() for run in dwell.runs.values() for name in run)
    hook = bc.vehicles.manoeuvres.run(car, "fishhook", speeds=(56.0, 80.0))
    assert hook.passed and hook["inner_load_min"] > 0


def test_lane_change(car):
    slow = bc.vehicles.manoeuvres.run(car, "iso3888-1", speed=60)
    assert slow.passed and slow["clearance"] > 0.1 and slow["path_error"] < 0.2
    early = slow.run["y"][
        slow.run["x"] < 20
    ]  # straight before the first cone; a car with its driver on the left
    assert (
        np.ptp(early) < 1e-6 and np.abs(early).max() < 0.01
    )  # runs askew, 0.02 deg, and so next to its line
    usual = bc.vehicles.manoeuvres.run(car, "iso3888-1")
    assert (
        usual.passed and slow["clearance"] > usual["clearance"] > 0.05 and 5 < usual["ay_max"] < 8
    )
    fast = bc.vehicles.manoeuvres.run(car, "iso3888-1", speed=130)
    assert not fast.passed and fast["ay_max"] > usual["ay_max"]
    assert (
        np.isfinite(fast["clearance"]) and fast["side_slip_max"] > 10
    )  # it slides, and its numbers hold
    between = bc.vehicles.manoeuvres.run(
        car, "iso3888-2"
    )  # the throttle released behind the first cone
    speed = between.run["speed"] * 3.6
    assert between.passed and speed[0] == pytest.approx(60, rel=0.01) and between["exit_speed"] < 50
    assert speed[between.run["x"] < 35] == pytest.approx(60, rel=0.01)
    stops = bc.vehicles.manoeuvres.run(car, "iso3888-2", speed=15, preview=None)  # coasts to rest
    assert not stops.passed and stops["side_slip_max"] == 0.0  # at walking pace it says nothing
    assert stops["exit_speed"] == pytest.approx(
        3.6, rel=1e-3
    )  # it ends there, and does not roll backwards


@pytest.mark.campaign
def test_the_sway_of_a_truck_does_not_make_its_driver_weave():
    truck = bc.vehicles.Car.read("truck")
    for name in ("iso3888-1", "iso3888-2"):
        found = bc.vehicles.manoeuvres.run(truck, name)
        wheel, late = found.run["steering_wheel"], found.run.time > found.run.time[-1] - 2
        assert np.ptp(wheel[late]) < 0.5 * found["steering_wheel_max"] and found["exit_speed"] > 3.5
    near = bc.vehicles.manoeuvres.run(truck, "iso3888-1", preview=0.5)
    late = near.run.time > near.run.time[-1] - 2
    assert np.ptp(near.run["steering_wheel"][late]) > near["steering_wheel_max"]


@pytest.mark.parametrize(
    "who",
    [
        {"driver": "pursuit"},
        {"driver": "stanley"},
        {"driver": "macadam", "preview": 1.0, "delay": 0.15},
    ],
)
def test_other_drivers_change_lanes(car, who):
    """All inside the compiled program: clean between the cones of ISO 3888-1 at 50 km/h, near the
    line."""
    found = bc.vehicles.manoeuvres.run(car, "iso3888-1", speed=50, **who)
    assert found.passed and found["path_error"] < 0.3 and 2 < found["ay_max"] < 3


def test_highest_clean_speed(compiled, car):
    """The search ends next to a speed that is clean on its line; the usual line is not better."""
    body = car.data.sections.body
    cones = lane_changes.iso3888_2(body.width, 1.0)
    usual = lane_changes.default_line_offsets(lane_changes.LINES["iso3888-2"], cones, body.width)
    engine = 0.5  # m/s2, the throttle released
    speed, moved, run = lane_changes._find_clean_speed(compiled, cones, usual, engine)
    assert 55 < speed < 75 and "event 'end'" in run.ended and np.abs(run["ay"]).max() > 7
    assert (
        lane_changes._run_through_cones(
            compiled, cones, lane_changes.lane_change_path(cones, moved), speed, engine
        ).clearance_score
        > 0
    )
    assert (
        lane_changes._run_through_cones(
            compiled, cones, lane_changes.lane_change_path(cones, usual), speed + 3, engine
        ).clearance_score
        < 0
    )


def test_an_anti_roll_bar_at_the_wheel_and_two_way_dampers():
    """MacPherson struts: a step of the steering wheel leans the car outwards and turns it to the
    left."""
    sim = bc.vehicles.Car.read("electric").system(speed=25).equations().compile()
    run = sim.simulate(t_end=4, inputs={"steer": bc.signals.step(0.5, 30.0)})
    assert run.ended == "finished" and 3 < run["ay"][-1] < 6
    assert run["roll"][-1] > 1 and run["fr.tyre_load"][-1] > 1.2 * run["fl.tyre_load"][-1]
    assert run["front.bar_force"][-1] * (run["fl.travel"][-1] - run["fr.travel"][-1]) > 0


def test_a_spinning_car_ends_at_rest(compiled):
    """From 140 km/h round and round, then the brakes: no number fails, and it stands still."""
    wheel, _ = sine_with_dwell_signal(300.0, 0.7, 0.5)
    brake = bc.signals.sampled([0, 4, 4.3, 100], [0, 0, 2500.0, 2500.0])
    run = compiled.drive(
        40.0, compiled.settled(140 / 3.6), {"steer": wheel, "brake": brake}, THROTTLE_CLOSED
    )
    assert run.ended == "finished" and all(np.isfinite(run[name]).all() for name in run)
    assert np.abs(run["side_slip"]).max() > 90
    late = run.time > 35
    assert np.abs(run["speed"][late]).max() < 1e-3 and np.abs(run["yaw_rate"][late]).max() < 1e-2
    assert loads(run).sum() == pytest.approx(compiled.at_rest.mass * GRAVITY, rel=1e-3)


def test_other_ground(car):
    """Rough road, kerb, hole and a road that is slippery on one side: one program."""
    rough = bc.vehicles.manoeuvres.run(car, "ride")
    assert (
        0.2 < rough["az_weighted"] < rough["az_rms"] < 1.0 and 3 < rough["crest"] < 6
    )  # nearly Gaussian
    assert 8 < rough["load_front"] < 20 and rough["lifted"] == 0
    on = (rough.run["x"] > 45) & (rough.run["x"] < 515)
    t, az = rough.run.time[on], rough.run["az"][on]
    assert rough["az_rms"] == pytest.approx(bc.metrics.rms("az").value(t, [az]), rel=1e-12)
    left, right = (rough.run[f"{c}.travel"] for c in ("fl", "fr"))
    assert 0.1 < np.corrcoef(left[500:], right[500:])[0, 1] < 0.95  # two tracks, akin
    up = bc.vehicles.manoeuvres.run(car, "kerb")
    assert up["az_max"] > 2 and up.run["height"][-1] - up.run["height"][0] == pytest.approx(
        0.06, abs=0.01
    )
    hole = bc.vehicles.manoeuvres.run(car, "pothole")
    assert hole["travel_front_down"] < -10
    split = bc.vehicles.manoeuvres.run(car, "split-mu")
    assert split["yaw_1"] > 0  # to the side that holds
    assert split["slip_low"] < -0.1


def test_a_tall_car_overturns(compiled):
    """With its mass centre half a metre higher two wheels lift, then it lies on its side: no number
    fails."""
    high = {"cg_z": float(compiled.data.sprung.cg[2]) + 0.5}
    wheel = bc.signals.sampled([0, 0.5, 0.7, 100], [0, 0, 150.0, 150.0])
    run = compiled.drive(
        8.0,
        compiled.settled(25.0, **high),
        {"steer": wheel},
        THROTTLE_CLOSED | high,
        until="abs(roll) > 60",
    )
    assert all(np.isfinite(run[name]).all() for name in run)
    inner = run["fl.tyre_load"] + run["rl.tyre_load"]
    assert inner.min() == 0 and run["roll"][-1] > 59
    assert run["fl.travel"][inner == 0].min() > -0.3  # wheels hang in their stops


def test_a_tall_car_in_a_fishhook(car):
    """The series finds the speed at which two wheels lift, and continues past it."""
    tall = car.changed(body={"cg": ["-1.2 m", "0 m", "1.0 m"]})
    hook = bc.vehicles.manoeuvres.run(tall, "fishhook", speeds=(30.0, 60.0, 80.0))
    assert (
        not hook.passed
        and 30 < hook["lift_speed"] <= 80
        and hook["inner_load_min"] == 0
        and hook["roll_max"] > 10
    )
    assert all(np.isfinite(run[name]).all() for run in hook.runs.values() for name in run)


@pytest.mark.campaign
def test_posts_below_all_axles_of_a_truck():
    """They lie on a plane in heave and pitch; the body rises at the frequency of all its springs
    together."""
    car = bc.vehicles.Car.read("truck")
    rig = bc.vehicles.manoeuvres.run(car, "four-post")
    (second,) = car.data.added_axles
    x, y, _ = second.record.at
    points = np.array([[1.0, *at[:2]] for at in (*car.stand.contact_points, (x, y), (x, -y))])
    for mode in ("heave", "pitch"):
        heights = np.array([rig.runs[mode][f"{wheel}.post"] for wheel in car.data.wheels])
        plane, *_ = np.linalg.lstsq(points, heights, rcond=None)
        assert np.abs(points @ plane - heights).max() < 2e-3 * np.abs(heights).max()
    share = car.metrics["front_share"]
    f = np.hypot(
        np.sqrt(share) * car.metrics["ride_front"], np.sqrt(1 - share) * car.metrics["ride_rear"]
    )
    assert rig["heave_frequency"] == pytest.approx(f, rel=0.08)
    assert rig["hop_second"] == pytest.approx(car.metrics["hop_rear"], rel=0.2)
    small = bc.vehicles.manoeuvres.run(
        car, "four-post", speed=0.02
    )  # its roll is hardly damped: with more, wheels lift off
    slowly = bc.vehicles.manoeuvres.run(car, "four-post", speed=0.02, duration=40.0, to=12.0)
    for name in ("roll_frequency", "roll_gain", "heave_frequency", "heave_gain"):
        assert small[name] == pytest.approx(slowly[name], rel=0.02)
    assert small["roll_gain"] > 12 and small["lifted"] == 0 < rig["lifted"]


@pytest.mark.campaign
def test_wheel_hop_without_a_peak_is_none():
    """Springs and dampers of the van's rear axle leave no peak of wheel loads; ripples of the
    spectrum are none."""
    rig = bc.vehicles.manoeuvres.run(bc.vehicles.Car.read("van"), "four-post")
    assert np.isnan(rig["hop_rear"]) and rig["hop_front"] == pytest.approx(11.4, rel=0.03)
    _, f, gain = next(c for c in rig.curves() if "load of rl over" in c.y).lines[
        0
    ]  # rear wheel loads in heave
    assert np.abs(np.diff(gain[f > 5], 2)).max() < 0.01 * gain[f > 5].mean()
    below = bc.vehicles.manoeuvres.run(
        bc.vehicles.Car.read("passenger"), "four-post", **{"from": 1.0, "to": 6.0}
    )
    assert np.isnan(below["hop_front"])  # the signal ends below it


def test_four_posts(level):
    """Frequencies of the data are found again on the rig."""
    car = level  # posts that rise together do not roll it
    rig = bc.vehicles.manoeuvres.run(car, "four-post")
    assert rig["hop_front"] == pytest.approx(car.metrics["hop_front"], rel=0.15)
    assert rig["hop_rear"] == pytest.approx(car.metrics["hop_rear"], rel=0.15)
    assert (
        car.metrics["ride_front"] * 0.85 < rig["heave_frequency"] < car.metrics["ride_rear"] * 1.05
    )
    heave = rig.runs["heave"]
    assert np.abs(heave["fl.post"]).max() == pytest.approx(0.1 / (2 * np.pi * 0.7), rel=0.3)
    assert np.abs(heave["roll"]).max() < 1e-3 and np.abs(rig.runs["roll"]["roll"]).max() > 1
    assert loads(heave) == pytest.approx(car.stand.load, rel=0.01)


def test_a_banked_curve(level):
    """At the speed for which it is banked tyres have nothing to hold: g R tan = v^2."""
    car = level
    radius, bank = 60.0, 0.15
    path, v = bc.vehicles.manoeuvres.circle(radius), math.sqrt(GRAVITY * radius * bank)
    rises = -bank * np.clip((np.array(path.s) - 5) / 25, 0, 1)
    road = bc.vehicles.terrain.banked(path.x, path.y, rises, width=14)
    driver = bc.vehicles.manoeuvres.Driver(path, preview=0.7)
    sim = car.system(speed=v, terrain=road, driver=driver).equations().compile()
    run = sim.simulate(t_end=20, step=0.001, output_every=10, inputs={"speed_set": v})
    assert (
        run["ay"][-1] == pytest.approx(v**2 / radius, rel=0.01) and abs(run["path_error"][-1]) < 0.1
    )
    assert run["roll"][-1] == pytest.approx(-math.degrees(math.atan(bank)), rel=0.01)
    held = sum(run[f"{c}.tyre.fy"][-1] for c in CORNERS)
    assert abs(held) < 0.02 * car.stand.mass * v**2 / radius
    pressed = car.stand.mass * math.hypot(GRAVITY, v**2 / radius)
    assert loads(run).sum() == pytest.approx(pressed, rel=0.01)


@pytest.mark.parametrize("method", ["ab2", "heun"])
def test_manoeuvres_by_other_methods(car, method):
    """Near those of rk4, and not the same."""
    usual, other = (
        bc.vehicles.manoeuvres.run(car, "iso7401-step", method=m) for m in ("rk4", method)
    )
    assert (other.settings["method"], other.run.settings["method"]) == (method, method)
    assert other["angle"] == usual["angle"]  # steady motions need no integration
    assert other["yaw_rate_response"] != usual["yaw_rate_response"]
    assert other["yaw_rate_response"] == pytest.approx(usual["yaw_rate_response"], rel=1e-4)


@needs_chromium
def test_the_report_in_a_browser(car, tmp_path):
    """Nothing is missing, too wide or complained of."""
    path, names = tmp_path / "car.html", ["iso7401-step", "iso3888-1", "side-wind"]
    told = []
    results = bc.vehicles.manoeuvres.report(
        path, car, manoeuvres=names, progress=lambda share, what: told.append(what)
    )
    assert list(results) == [car.name] and list(results[car.name]) == names and len(told) == 3
    assert 0.1 < results[car.name]["side-wind"]["lateral_displacement_2"] < 4  # with the wind
    script = """
    const box = e => e.getBoundingClientRect();
    found = {
        sections: [...document.querySelectorAll("section")].map(s => [s.id, box(s).height]),
        lines: NAMES.flatMap(id => [...document.getElementById(id).querySelectorAll("svg.chart path.line")]).map(p => p.getTotalLength()),
        links: document.querySelectorAll("#car svg.chart path.line").length,
        pictures: [...document.querySelectorAll("img")].map(i => i.naturalWidth),
        wide: document.documentElement.scrollWidth, window: window.innerWidth,
    }"""
    found, messages = look_at(path, script.replace("NAMES", json.dumps(names)), tmp_path)
    assert messages == []
    assert [name for name, _ in found["sections"]] == [
        "overview",
        "car",
        "kinematics",
        "handling",
        *names,
    ]
    assert all(height > 40 for _, height in found["sections"])
    assert len(found["lines"]) > 15 and min(found["lines"]) > 100 and found["links"] > 10
    assert (
        len(found["pictures"]) == 1 and found["pictures"][0] > 300
    )  # of the car; all else is drawn in lines
    assert found["wide"] <= found["window"]


def test_a_road_that_is_given_from_outside(level):
    """Height and friction below each wheel as inputs: a step lifts the car by its height, friction
    limits braking, and the car turns to the side that grips."""
    sim = level.system(speed=20.0, exact=False, road_inputs=True).equations().compile()
    free = level.system(speed=20.0, exact=False).equations().compile()
    same = (sim.simulate(t_end=0.5), free.simulate(t_end=0.5))
    assert np.abs(same[0]["height"] - same[1]["height"]).max() < 1e-12
    up = sim.simulate(
        t_end=3,
        inputs={
            f"{c}.road": bc.signals.sampled([0, 0.5, 0.6, 9], [0, 0, 0.05, 0.05]) for c in CORNERS
        },
    )
    assert up["height"][-1] - up["height"][0] == pytest.approx(0.05, abs=1e-3)
    assert loads(up) == pytest.approx(level.stand.load, rel=0.02)

    def braked(left, right):
        grip = {f"{c}.friction": left if c.endswith("l") else right for c in CORNERS}
        return sim.simulate(
            t_end=1.0,
            inputs={"brake": bc.signals.sampled([0, 0.1, 0.3, 9], [0, 0, 6000, 6000]), **grip},
        )

    dry, wet, split = braked(1.0, 1.0), braked(0.4, 0.4), braked(0.4, 1.0)
    assert wet["ax"][-1] / dry["ax"][-1] == pytest.approx(0.4, rel=0.15) and dry["ax"][-1] < -6
    assert abs(wet["yaw_rate"][-1]) < 0.1 and split["yaw_rate"][-1] < -3  # to the right
    with pytest.raises(bc.ModelError, match="moved by one of them"):
        level.system(posts=True, road_inputs=True)


def test_a_car_as_a_block_between_powertrain_and_terrain(level, tmp_path):
    """The FMU has torques, height and friction of every wheel as inputs, one terminal per wheel,
    and drives with them as the car does."""
    fmus = pytest.importorskip("tests.fmus")
    eom = level.system(speed=10.0, exact=False, road_inputs=True).equations()
    path = eom.export("fmu", tmp_path / "car.fmu", fmi=3)
    assert fmus.validate_fmu(str(path)) == []
    x = fmus.Opened(path, "CoSimulation")
    own = {
        f"{c}.{k}" for c in CORNERS for k in ("drive_torque", "brake_torque", "road", "friction")
    }
    assert own <= {*x.inputs}
    given = {
        "rl.drive_torque": 150.0,
        "rr.drive_torque": 250.0,
        "fl.friction": 0.8,
        "fr.road": 0.01,
    }
    run = eom.compile().simulate(t_end=0.3, step=0.001, inputs=given, output_every=10)
    x.start(given)
    rows = []
    for t in run.time:
        rows.append([x.display(n, v) for n, v in zip(x.outputs, x.get(*x.outputs), strict=True)])
        x.step(t, 0.01)
    x.close()
    for i, name in enumerate(x.outputs):
        ours = run[name.removeprefix("outputs.").replace("'", "")]
        assert np.abs(np.array(rows)[:, i] - ours).max() <= 1e-9 * max(1.0, np.abs(ours).max()), (
            name
        )
    assert run["speed"][-1] > 10.05
