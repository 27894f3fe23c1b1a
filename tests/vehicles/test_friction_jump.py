"""Braking over a jump of friction, against masses that slide."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.core.errors import ModelError, RunError
from bellcrank.simulation.run.result import Run
from bellcrank.vehicles.cars.design.car_data import GRAVITY
from bellcrank.vehicles.manoeuvres.friction_jump import _longest_lock_time
from bellcrank.vehicles.manoeuvres.road_tests import ONTO_HIGH, ONTO_LOW, RoadCourse

PEAK, SLIDES, HIGH, LOW = 0.95, 0.8, 0.9, 0.25
RADIUS = 0.3085  # m, rolling radius of this tyre under 3000 N
TYRE = {
    "size": None, "model": "fiala", "units": ["N", "N/rad", "m", "N/mm", "N-s/m"], "c_slip": 90e3, "c_alpha": 58e3,
    "umax": PEAK, "umin": SLIDES, "width": 0.205, "radius": 0.3135, "vertical_stiffness": 200, "vertical_damping": 400,
    "rolling_resistance": 0.0,
}  # fmt: skip


@pytest.fixture(scope="module")
def car():
    return bc.vehicles.Car.read("passenger").changed(
        front={"tyre": TYRE},
        rear={"tyre": TYRE},
        aerodynamics={"drag": 0.0},
        loads={"driver": None},
    )


def test_the_friction_of_the_course_jumps_on_both_sides():
    left, _ = RoadCourse(1.5, high=HIGH, low=LOW)()
    for side, grip in zip((HIGH, LOW), left.friction, strict=True):
        x, mu = zip(*grip, strict=True)
        assert mu == (1.0, side, LOW, HIGH, LOW) and x[3:] == (ONTO_HIGH, ONTO_LOW)


def test_the_longest_time_of_a_locked_wheel():
    t = np.arange(0, 2, 0.01)
    slip = np.where(
        ((t > 0.295) & (t < 0.595)) | ((t > 0.695) & (t < 0.795)) | (t > 1.5), -0.9, -0.1
    )
    run = Run("", t, {"k": slip, "ground_speed": 20 - 11 * t}, {}, {}, "")
    assert _longest_lock_time(run, "k", 0.0) == pytest.approx(0.30)
    assert _longest_lock_time(run, "k", 0.5) == pytest.approx(
        0.10
    )  # 0.51 to 0.59; afterwards slower than 15 km/h
    assert _longest_lock_time(run, "k", 1.0) == 0.0


@pytest.mark.campaign
def test_locked_wheels_decelerate_by_the_friction_of_the_road(car):
    """a = mu g on both roads; the axles pass one after another, by their distance over the
    speed."""
    result = bc.vehicles.manoeuvres.run(
        car, "mu-jump", high=HIGH, low=LOW, onto_high=60.0, onto_low=70.0
    )
    wheelbase = car.metrics["wheelbase"]
    for way, mu, other, speed in (
        ("onto_high", LOW, HIGH, 60 / 3.6),
        ("onto_low", HIGH, LOW, 70 / 3.6),
    ):
        before, after = GRAVITY * SLIDES * mu, GRAVITY * SLIDES * other
        assert result[f"{way}_before"] == pytest.approx(before, rel=0.02)
        assert result[f"{way}_after"] == pytest.approx(after, rel=0.02)
        assert result[f"{way}_passage"] == pytest.approx(wheelbase / speed, rel=0.1)
        left = (speed**2 - 1) / (2 * after)
        between = wheelbase * (1 - before / after) / 2  # half of the weight still on the other road
        assert result[f"{way}_distance"] == pytest.approx(left + between, rel=0.02)
        run = result.runs[way.replace("_", " ") + " friction"]
        first = np.interp(0, -(run["ground_speed"] - speed), run.time)
        contact = run["x"] + car.stand.contact[0, 0] - car.data.sprung.cg[0]
        assert np.interp(first, run.time, contact) == pytest.approx(
            ONTO_HIGH if other == HIGH else ONTO_LOW, abs=0.1
        )
    assert result["onto_high_rise"] == pytest.approx(result["onto_high_passage"], abs=0.1)
    assert not result.passed and result["onto_low_locked"] > 3
    assert "no anti-lock system" in result.notes


@pytest.mark.campaign
def test_an_anti_lock_system_uses_the_friction_of_both_roads(car):
    """Between the friction of sliding and the peak; no wheel locks, and the deceleration rises at
    once."""
    result = bc.vehicles.manoeuvres.run(
        car.changed(brakes={"abs": {}}), "mu-jump", high=HIGH, low=LOW
    )
    assert result.passed and result["onto_low_locked"] == 0
    for way, before, after in (("onto_high", LOW, HIGH), ("onto_low", HIGH, LOW)):
        for when, mu in (("before", before), ("after", after)):
            assert SLIDES * mu < result[f"{way}_{when}"] / GRAVITY < 1.01 * PEAK * mu


@pytest.mark.campaign
def test_brakes_below_the_friction_of_both_roads_do_not_notice_a_jump(car):
    result = bc.vehicles.manoeuvres.run(car, "mu-jump", deceleration=1.5)
    share, torque, mass, force = (
        car.data.sections.brakes.front_share,
        1.5 * car.stand.mass * RADIUS,
        car.stand.mass,
        0.0,
    )
    for i, load in enumerate(
        car.stand.load
    ):  # a wheel that is braked by T pushes with T over its loaded radius
        axle, part = (car.data.front, share / 2) if i < 2 else (car.data.rear, (1 - share) / 2)
        found = axle.tyre.forces(load, 0.0, 0.0)
        force += part * torque / float(found.Rl)
        mass += axle.record.wheel.spin_inertia / float(found.Re * found.Rl)
    a = force / mass
    assert result["onto_high_before"] == pytest.approx(a, rel=0.01)
    assert result["onto_low_after"] == pytest.approx(a, rel=0.01)
    assert np.isnan(result["onto_high_rise"]) and result.passed
    assert sum("does not change" in note for note in result.notes) == 2
    with pytest.raises(RunError, match=r"does not slow down from .* brake harder"):
        bc.vehicles.manoeuvres.run(car, "mu-jump", deceleration=0.05, lead=200.0)
    with pytest.raises(ModelError, match="high=-1"):
        bc.vehicles.manoeuvres.run(car, "mu-jump", high=-1)


@pytest.mark.campaign
@pytest.mark.parametrize("name", ["truck", "semi_trailer", "caravan"])
def test_all_axles_of_vehicles_meet_the_jump(name):
    """The last axle lies behind the first by the length between axles; wheels of trailers count."""
    vehicle = bc.vehicles.Car.read(name).changed(brakes={"abs": {}})
    caravan = name == "caravan"  # whose overrun brakes have no anti-lock system
    result = bc.vehicles.manoeuvres.run(
        vehicle, "mu-jump", **({"onto_low": 40.0} if caravan else {})
    )
    run = result.runs["onto high friction"]
    axle = vehicle.data.simple_axles[-1]
    behind = (
        run["x"]
        + vehicle.stand.contact_points[0, 0]
        - vehicle.data.sprung.cg[0]
        - run[f"{axle.full_name}_x"]
    )
    v = 50 / 3.6
    assert behind[0] / v < result["onto_high_passage"] < 1.5 * behind[0] / v
    assert result["onto_high_after"] > 2 * result["onto_high_before"]
    assert (result["onto_high_locked"] > 0.5) == caravan
    note = {
        "truck": "with its anti-lock system",
        "semi_trailer": "with the anti-lock system of the car, semi",
        "caravan": "with the anti-lock system of the car; none on caravan",
    }[name]
    assert note in result.notes
