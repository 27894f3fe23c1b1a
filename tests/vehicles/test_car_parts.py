"""Parts of cars next to values by hand: motor and gears, differentials, compliance, side wind, ABS.
Two derivations."""

import math

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.vehicles.cars.building.car_model import rolling_initial_state
from bellcrank.vehicles.cars.design.car_data import CORNERS
from bellcrank.vehicles.tyres.steady_tyre import ARRAYS
from tests.vehicles import car_by_hand as hand

pytestmark = pytest.mark.campaign

MAP = ((0.0, 240.0), (4000.0, 240.0), (12000.0, 80.0))  # rpm, N m
GEARS, FINAL, EFFICIENCY, J = (3.2, 1.6), 4.0, 0.95, 0.05
SIDE, YAW = 2.3, 0.5


def stiff():
    """The passenger car without what its joints give, its driver in the middle: formulas by hand
    have equal sides."""
    stiff = bc.vehicles.Car.read("passenger").changed(
        front={"compliance": None}, rear={"compliance": None}
    )
    return hand.symmetric(stiff)


@pytest.fixture(scope="module")
def car():
    """The passenger car with every part there is."""
    drive = {
        "map": [[f"{n} rpm", f"{T} N-m"] for n, T in MAP],
        "gears": GEARS,
        "final": FINAL,
        "efficiency": EFFICIENCY,
        "inertia": f"{J} kg-m2",
        "torque": None,
        "power": None,
    }
    compliance = {"steer_by_lateral_force": "-0.1 deg/kN", "camber_by_lateral_force": "0.3 deg/kN"}
    more = {"steer_by_aligning_moment": "0.2 deg/kN/m", "toe_by_longitudinal_force": "0.2 deg/kN"}
    return stiff().changed(
        drive=drive,
        front={"compliance": more},
        brakes={"abs": {}, "front_share": 0.68},
        aerodynamics={"side": SIDE, "yaw": YAW},
        rear={
            "differential": {"kind": "limited-slip", "preload": "20 N-m", "lock": 0.02},
            "compliance": compliance,
        },
    )


@pytest.fixture(scope="module")
def sim(car):
    return car.system(speed=15).equations().compile()


@pytest.fixture(scope="module")
def turn(sim):
    return sim.simulate(t_end=5, inputs={"steer": bc.signals.step(0.5, 30.0), "drive": 300.0})


def test_the_moment_of_the_motor_is_that_of_its_map_and_drives_all_that_turns(car, sim):
    run = sim.simulate(t_end=7, inputs={"drive": 1e5})
    now = int(np.searchsorted(run.time, 0.8))
    assert run["gear_ratio"][0] == pytest.approx(
        GEARS[1] * FINAL
    )  # without load, then all is asked for
    assert run["gear_ratio"][now] == pytest.approx(GEARS[0] * FINAL, rel=1e-3)
    assert run["gear_ratio"][-1] == pytest.approx(GEARS[1] * FINAL, rel=1e-6)
    n, T = (np.array(column) for column in zip(*MAP))
    inside = run["motor_speed"] < n[-1]
    assert inside.sum() > 0.9 * len(inside)
    assert run["motor_torque"][inside] == pytest.approx(
        np.interp(run["motor_speed"], n, T)[inside], rel=1e-9
    )
    changes = np.flatnonzero(np.diff(run["gear_ratio"]) < -1e-3)[0]
    assert run["motor_speed"][changes] == pytest.approx(
        n[-1], rel=0.01
    )  # shifts where the map ends
    # the driven axle by itself, in the first gear: moment of the motor, less what it takes to turn
    # all faster
    ratio, rear = run["gear_ratio"][now], car.data.rear
    taken = (2 * 0.95 + J * ratio**2) * np.gradient(run["u(rl.wheel)"], run.time)[now]
    found = 0.0
    for c in ("rl", "rr"):
        lever = (
            float(rear.tyre.free_radius(ARRAYS, 0.0))
            - run[f"{c}.tyre.fz"][now] / rear.tyre.vertical_stiffness
        )
        found += run[f"{c}.tyre.fx"][now] * lever - run[f"{c}.tyre.my"][now]
    assert taken > 0.05 * found
    assert found == pytest.approx(run["motor_torque"][now] * ratio * EFFICIENCY - taken, rel=5e-3)


def test_a_limited_slip_differential_moves_what_it_is_told(turn):
    assert turn["yaw_rate"][-1] > 5
    faster = turn["u(rr.wheel)"][-1] - turn["u(rl.wheel)"][-1]
    assert faster > 0.05
    assert turn["rear.locking"][-1] == pytest.approx(
        -(20 + 0.02 * 300), rel=1e-3
    )  # to the inner wheel
    assert turn["rear.locking"][10] == pytest.approx(0, abs=1e-6)  # straight ahead nothing slides


def test_compliance_is_that_of_the_rig(turn):
    deg = math.degrees
    for c in ("rl", "rr"):
        Fy = turn[f"{c}.tyre.fy"][-1] / 1000
        assert abs(Fy) > 0.5
        assert deg(turn[f"q({c}.steer)"][-1]) == pytest.approx(-0.1 * Fy, rel=1e-3)
        assert deg(turn[f"q({c}.tilt)"][-1]) == pytest.approx(0.3 * Fy, rel=1e-3)
    for c, sign in (("fl", -1), ("fr", 1)):
        by = 0.2 * turn[f"{c}.tyre.mz"][-1] / 1000 + sign * 0.2 * turn[f"{c}.tyre.fx"][-1] / 1000
        assert deg(turn[f"q({c}.steer)"][-1]) == pytest.approx(by, rel=1e-3)


def test_side_wind(car, sim):
    """From the left: forces of the tyres carry what the air pushes, and turn against its yaw
    moment."""
    run = sim.simulate(t_end=6, inputs={"wind": bc.signals.step(0.5, -10.0), "drive": 230.0})
    v, heading = run["speed"][-1], math.radians(run["yaw"][-1] + run["side_slip"][-1])
    ahead, aside = v * math.cos(heading), v * math.sin(heading)
    yaw = math.radians(run["yaw"][-1])
    seen = np.array([[math.cos(yaw), math.sin(yaw)], [-math.sin(yaw), math.cos(yaw)]]) @ (
        ahead,
        aside + 10.0,
    )
    push = -1.206 / 2 * 2.15 * math.hypot(*seen) * seen[1]
    assert push < -200 and run["ay"][-1] < 0
    fy = [run[f"{c}.tyre.fy"][-1] for c in CORNERS]
    assert sum(fy) + SIDE * push == pytest.approx(
        car.stand.mass * run["ay"][-1], abs=0.01 * abs(SIDE * push)
    )
    f, at = car.metrics, car.stand
    middle = (at.contact[0, 0] + at.contact[2, 0]) / 2
    turns = 0.0
    for i, c in enumerate(CORNERS):
        x, y = at.contact[i, 0] - at.centre[0], at.contact[i, 1]
        turns += x * fy[i] - y * run[f"{c}.tyre.fx"][-1] + run[f"{c}.tyre.mz"][-1]
    air = SIDE * push * (middle - at.centre[0]) + YAW * f["wheelbase"] * push
    assert turns + air == pytest.approx(0, abs=0.02 * abs(air))


def test_abs_holds_the_slip(car, sim):
    fast = rolling_initial_state(car.data, car.stand, 25.0)
    run = sim.simulate(t_end=1.2, inputs={"brake": 5200.0}, initial=fast)
    assert run["rl.tyre.kappa"][-1] == pytest.approx(-0.12, rel=0.02)
    assert (
        0.5 < run["rl.abs"][-1] < 0.95 and run["fl.abs"][-1] == 1
    )  # this car brakes its rear wheels more
    off = sim.simulate(t_end=1.2, inputs={"brake": 5200.0}, parameters={"abs_on": 0})
    assert off["rl.tyre.kappa"][-1] < -0.9 and off["rl.abs"][-1] == 1
    stops = sim.simulate(t_end=4, inputs={"brake": 5200.0})
    assert abs(stops["speed"][-1]) < 0.01 and stops["rl.abs_less"][-1] < 1e-6


def test_a_locked_axle_turns_as_one(car):
    locked = stiff().changed(rear={"differential": {"kind": "locked"}})
    run = (
        locked.system(speed=10)
        .equations()
        .compile()
        .simulate(t_end=4, inputs={"steer": bc.signals.step(0.5, 60.0)})
    )
    assert run["yaw_rate"][-1] > 8
    assert run["u(rr.wheel)"][-1] == pytest.approx(run["u(rl.wheel)"][-1], rel=1e-4)
    moment = -(run["rl.tyre.fx"][-1] - run["rr.tyre.fx"][-1])
    assert (
        moment < -100 and run["rear.locking"][-1] < 0
    )  # the inner wheel drives, the outer one brakes
