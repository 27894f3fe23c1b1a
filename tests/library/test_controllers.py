"""Controllers of cars: keys and switches; what they do in manoeuvres, by legal criteria, closed forms and balances."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.errors import ModelError


@pytest.fixture(scope="module")
def plain():
    return bc.vehicles.Car.read("passenger")


@pytest.fixture(scope="module")
def stable(plain):
    return plain.changed(controllers={"esc": {}})


def test_controllers_are_switched_by_name(plain, stable):
    assert plain.controllers == {} and stable.controllers == {"esc": True}
    assert stable.switched(esc=False).controllers == {"esc": False}
    assert stable.switched(esc=False).switched(esc=True).controllers == {"esc": True}
    assert stable.changed(controllers={"esc": {"on": False}}).controllers == {"esc": False}
    assert plain.changed(brakes={"abs": {}}).controllers == {"abs": True}
    with pytest.raises(ModelError, match=r"no controller is called 'ecs'. Did you mean 'esc'"):
        stable.switched(ecs=False)
    with pytest.raises(ModelError, match=r"It has none \(section \[controllers\]"):
        bc.manoeuvres.run(plain, "braking", without="esc")


def test_wrong_keys_of_controllers_are_named(plain):
    with pytest.raises(ModelError, match=r"controllers: 'ecs' is not known. Did you mean 'esc'"):
        plain.changed(controllers={"ecs": {}})
    with pytest.raises(ModelError, match=r"controllers.esc.torque = '5 m' must be in a unit such as N-m"):
        plain.changed(controllers={"esc": {"torque": "5 m"}})


@pytest.mark.campaign
def test_esc_turns_a_failed_sine_with_dwell_into_a_passed_one(stable):
    """49 CFR 571.126: the shipped car fails without ESC and passes with it; ESC acts where the car spins, and in no
    run of small amplitude."""
    off = bc.manoeuvres.run(stable, "sine-with-dwell", without="esc")
    on = bc.manoeuvres.run(stable, "sine-with-dwell")
    assert not off.passed and on.passed
    assert off["yaw_late"] > 80 and on["yaw_late"] < 5 and on["lateral_displacement"] > 1.83
    assert on["side_slip_max"] < 10 < off["side_slip_max"]
    assert any("no stability control" in note for note in off.notes)
    assert not any("no stability control" in note for note in on.notes)
    runs = list(on.runs.values())
    assert runs[0]["esc.active"].max() == 0 and runs[-1]["esc.active"].max() == 1
    last = runs[-1]
    for corner in ("fl", "fr", "rl", "rr"):
        assert last[f"esc.{corner}"].max() < 2000.01 and last[f"esc.{corner}"].min() > -1e-9
        assert last[f"{corner}.tyre.kappa"].min() > -0.3
    # against the rotation, ESC brakes the outer front wheel: the right one in a turn to the left
    front = last["esc.fr"] - last["esc.fl"]
    strong = np.abs(front) > 300
    assert strong.any() and np.mean(np.sign(front[strong]) == np.sign(last["yaw_rate"][strong])) > 0.8
