"""Speeds that a drive does not keep: no metric belongs to a motion that was not driven."""

import re

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.vehicles.manoeuvres.compiled_car import compile_car

R = 100.0  # m


@pytest.fixture(scope="module")
def weak():
    """A car whose drive keeps 160 km/h straight ahead and 89 km/h on a circle of 100 m."""
    return bc.vehicles.Car.read("passenger").changed(drive={"torque": "300 N-m"})


def run(car, name, **settings):
    return bc.vehicles.manoeuvres.run(car, name, **settings)


@pytest.mark.parametrize("name", ["iso9816", "iso7975"])
def test_out_of_a_slower_circle(weak, name):
    """Metrics are those of the circle that is driven, and the result is not valid."""
    settings = {"decelerations": (2.0,)} if name == "iso7975" else {}
    kept, slower, slowest = (run(weak, name, ay=ay, **settings) for ay in (5.0, 7.0, 9.0))
    assert kept.passed and not kept.invalid and kept["ay_circle"] == pytest.approx(5.0, rel=0.002)
    assert slower.passed is None and "not valid" in str(slower) and "passed" not in str(slower)
    (reason,) = slower.invalid
    assert re.search(r"6\.17 m/s2 at 89\.\d+ km/h in place of 7 m/s2 at 95\.25 km/h", reason)
    assert slower.to_dict()["invalid"] == [reason] and slower.to_dict()["passed"] is None
    for metric in slower.metrics:
        assert slower[metric] == pytest.approx(slowest[metric], rel=0.01)
    v, yaw_rate = slower.run["ground_speed"], np.radians(slower.run["yaw_rate"])
    assert slower["speed"] == pytest.approx(3.6 * v[0], rel=1e-9)
    assert slower["ay_circle"] == pytest.approx(v[0] * yaw_rate[0], rel=1e-9)
    after = np.searchsorted(slower.run.time, 1.0)
    assert slower["deceleration"] == pytest.approx(v[0] - v[after], rel=1e-6)
    ratio = yaw_rate[after] / v[after] * v[0] / yaw_rate[0]
    assert slower["yaw_ratio"] == pytest.approx(ratio, rel=1e-6)


def test_speeds_that_are_not_kept(weak):
    """Straight ahead and in turns, whatever the manoeuvre; the error names what the drive keeps."""
    with pytest.raises(bc.RunError, match=r"straight ahead at 190 km/h: its drive keeps 160\.2"):
        run(weak, "braking", speed=190)
    with pytest.raises(bc.RunError, match=r"4 m/s2 at 140 km/h .*its drive keeps 139\.6 km/h"):
        run(weak, "iso7401-step", speed=140)


def test_limit_of_a_weak_drive(weak):
    """The limit of a speed counts turns at that speed alone."""
    limit = compile_car(weak).steady_turn_limit(80 / 3.6)
    assert limit.ay == pytest.approx(6.31, abs=0.1) and "in place of 80 km/h" in limit.failure
    circle = run(weak, "iso4138", speed=80)
    assert circle.passed is False and circle["ay_max"] > limit.ay


def test_set_ups_that_are_not_valid(weak):
    """They count as failed: effects do not mix them with others."""
    vary = {"aerodynamics.drag": [0.3, 0.4]}
    with pytest.raises(bc.ModelError, match="not valid: the steady circle before the pedal moves"):
        bc.vehicles.manoeuvres.experiment(weak, "iso9816", vary, cores=1, ay=7.0)
