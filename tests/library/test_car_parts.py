"""Parts of cars beside values by hand: motor and gears, differentials, compliance, side wind, ABS. Two derivations."""

import math

import pytest

import bellcrank as bc

pytestmark = pytest.mark.campaign

MAP = ((0.0, 240.0), (4000.0, 240.0), (12000.0, 80.0))  # rpm, N m
GEARS, FINAL, EFFICIENCY, J = (3.2, 1.6), 4.0, 0.95, 0.05
SIDE, YAW = 2.3, 0.5


@pytest.fixture(scope="module")
def car():
    """The passenger car with every part there is."""
    drive = {
        "map": [[f"{n} rpm", f"{T} N-m"] for n, T in MAP], "gears": GEARS, "final": FINAL, "efficiency": EFFICIENCY,
        "inertia": f"{J} kg-m2", "torque": None, "power": None,
    }  # fmt: skip
    compliance = {"steer_by_side_force": "-0.1 deg/kN", "lean_by_side_force": "0.3 deg/kN"}
    more = {"steer_by_aligning_moment": "0.2 deg/kN/m", "toe_by_force_along": "0.2 deg/kN"}
    return bc.vehicles.Car.read("passenger").changed(
        drive=drive, front={"compliance": more}, brakes={"abs": {}}, aerodynamics={"side": SIDE, "yaw": YAW},
        rear={"differential": {"kind": "limited-slip", "preload": "20 N-m", "lock": 0.02}, "compliance": compliance},
    )  # fmt: skip


@pytest.fixture(scope="module")
def sim(car):
    return car.system(speed=15).equations().compile()


@pytest.fixture(scope="module")
def turn(sim):
    return sim.simulate(t_end=5, inputs={"steer": bc.step(0.5, 30.0), "drive": 300.0})


def test_a_limited_slip_differential_moves_what_it_is_told(turn):
    assert turn["yaw_rate"][-1] > 5
    faster = turn["u(rr.wheel)"][-1] - turn["u(rl.wheel)"][-1]
    assert faster > 0.05
    assert turn["rear.locking"][-1] == pytest.approx(-(20 + 0.02 * 300), rel=1e-3)  # to the inner wheel
    assert turn["rear.locking"][10] == pytest.approx(0, abs=1e-6)  # straight ahead nothing slides


def test_compliance_is_that_of_the_rig(turn):
    deg = math.degrees
    for c in ("rl", "rr"):
        Fy = turn[f"{c}.tyre.fy"][-1] / 1000
        assert abs(Fy) > 0.5
        assert deg(turn[f"q({c}.steer)"][-1]) == pytest.approx(-0.1 * Fy, rel=1e-3)
        assert deg(turn[f"q({c}.lean)"][-1]) == pytest.approx(0.3 * Fy, rel=1e-3)
    for c, sign in (("fl", -1), ("fr", 1)):
        by = 0.2 * turn[f"{c}.tyre.mz"][-1] / 1000 + sign * 0.2 * turn[f"{c}.tyre.fx"][-1] / 1000
        assert deg(turn[f"q({c}.steer)"][-1]) == pytest.approx(by, rel=1e-3)


def test_a_locked_axle_turns_as_one(car):
    locked = bc.vehicles.Car.read("passenger").changed(rear={"differential": {"kind": "locked"}})
    run = locked.system(speed=10).equations().compile().simulate(t_end=4, inputs={"steer": bc.step(0.5, 60.0)})
    assert run["yaw_rate"][-1] > 8
    assert run["u(rr.wheel)"][-1] == pytest.approx(run["u(rl.wheel)"][-1], rel=1e-4)
    moment = -(run["rl.tyre.fx"][-1] - run["rr.tyre.fx"][-1])
    assert moment < -100 and run["rear.locking"][-1] < 0  # the inner wheel drives, the outer one brakes
