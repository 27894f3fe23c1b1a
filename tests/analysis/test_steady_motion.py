"""Analyses of a car that drives: equilibria, frequency responses, modes and root loci at the speed
of the run."""

import numpy as np
import pytest

import bellcrank as bc

G = 9.80665
SLIP = (bc.Slip(60e3, 45e3), bc.Slip(60e3, 55e3))
CAR = {"slip": SLIP, "brakes": (0.65, 0.35), "rolling_resistance": 2}
MASS, WHEELBASE, FRONT, REAR, RIM, TYRE, RADIUS = 1200 + 4 * 40, 2.6, 1.2, 1.4, 40, 200e3, 0.3


@pytest.fixture(scope="module")
def car():
    return bc.vehicles.car(**CAR, speed=22.2).equations().compile()


def loaded_radius(front=True):
    """Of a wheel at rest: static loads by moments about the other axle."""
    own = 1200 * (REAR if front else FRONT) / WHEELBASE / 2 + RIM
    return RADIUS - own * G / TYRE


def yaw_gain(v):
    """The linear single-track model, rims included: v/(l + K v^2)."""
    forward = (FRONT - REAR) * 2 * RIM / MASS  # mass centre before that of the chassis
    a, b = FRONT - forward, REAR + forward
    gradient = MASS / WHEELBASE * (b / 90e3 - a / 110e3)
    return v / (WHEELBASE + gradient * v**2)


@pytest.mark.campaign
def test_a_car_that_drives_goes_on_driving(car):
    """Speed of the start, drive moment of the front wheels by hand: it balances the rolling
    resistance of all four."""
    found = car.equilibrium()
    assert found["u(chassis, 1)"] == pytest.approx(22.2, rel=1e-4)
    assert found["drive"] == pytest.approx(4 * 2 * 22.2 * loaded_radius(), rel=1e-3)
    assert found.steady["q(chassis, 1)"] == pytest.approx(22.2, rel=1e-4)
    assert (
        found.motion.startswith("steady motion at u(chassis, 1) = 22.1993 m/s")
        and "drive = 50.1" in found.motion
    )
    assert f"motion: {found.motion}" in str(found)
    held = car.equilibrium(fixed={"u(chassis, 1)": 10}, free="drive")
    assert held["drive"] == pytest.approx(4 * 2 * 10 * loaded_radius(), rel=1e-3)
    assert held["u(w2l.wheel)"] == pytest.approx(10 / loaded_radius(False), rel=1e-3)


@pytest.mark.campaign
def test_a_bend_by_its_steer(car):
    """A steer that is given does not forbid the drive that the bend takes, wherever the search
    starts."""
    bend = car.equilibrium(inputs={"steer": 0.5})
    assert np.degrees(bend.steady["q(chassis, 4)"]) == pytest.approx(0.5 * yaw_gain(22.2), rel=0.01)
    again = car.equilibrium(at=bend, inputs={"steer": 0.5})
    assert (
        again.values == pytest.approx(bend.values, rel=1e-9, abs=1e-9)
        and again["drive"] > car.equilibrium()["drive"]
    )


@pytest.mark.campaign
def test_analyses_are_those_of_the_car_that_drives(car):
    """The yaw gain was 0.00054."""
    f = np.geomspace(0.01, 10, 5)
    response = car.frequency_response("steer", "yaw_rate", f)
    assert response.magnitude[0] == pytest.approx(yaw_gain(22.2), rel=5e-3)
    linear = car.linearize(at="equilibrium", wrt=["steer"], outputs=["yaw_rate"])
    assert linear.steady_gain("steer", "yaw_rate") == pytest.approx(yaw_gain(22.2), rel=5e-3)
    for said in (response, linear, linear.modes, linear.essential()):
        assert said.motion.startswith("steady motion at u(chassis, 1) = 22.1993 m/s")
        assert said.motion in str(said)
    assert response.magnitude == pytest.approx(
        np.abs(linear.transfer("steer", "yaw_rate", 2j * np.pi * f)), rel=1e-9
    )


def test_a_locus_over_the_speed_lets_the_wheels_roll(car):
    """At 10 m/s there was an eigenvalue of +0.229 1/s: the wheels had the spins of 20 m/s."""
    locus = car.root_locus("u(chassis, 1)", [10.0, 30.0], at="start")
    slow = bc.vehicles.car(
        **CAR, speed=10
    ).description.run.initial  # a car that was built for 10 m/s
    alone = car.linearize(at=slow, wrt=(), outputs=()).essential().eigenvalues
    assert (
        locus.growth[0] == pytest.approx(alone.real.max(), rel=1e-3)
        and -0.007 < locus.growth[0] < -0.005
    )
    assert np.sort_complex(locus.eigenvalues[0]) == pytest.approx(alone, rel=1e-4)
    assert "speeds in proportion at u(chassis, 1) = 10 m/s, which is not steady" in locus.motion
    steady = car.root_locus("u(chassis, 1)", [10.0, 30.0])
    assert steady.growth == pytest.approx(locus.growth, rel=1e-3)
    assert [m.split(",")[1][:8] for m in steady.motions] == [" 1) = 10", " 1) = 30"]
