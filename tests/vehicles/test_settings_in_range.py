"""Settings of manoeuvres that cannot be driven as they say are errors with what is allowed."""

import re

import pytest

import bellcrank as bc


@pytest.mark.parametrize(
    ("name", "settings", "allowed"),
    [
        ("iso7401-step", {"rise": 4.0}, r"rise is at most 2\.4 s, or plateau is at least 5\.5 s"),
        ("iso7401-step", {"plateau": 0.4}, r"plateau is at least 0\.688 s"),
        ("iso7401-pulse", {"width": 0.01}, r"must lie between 0\.05 s.* and 8 s"),
        ("iso7401-pulse", {"width": 9.0}, r"must lie between 0\.05 s.* and 8 s"),
        ("iso7401-pulse", {"from": 3.0}, r"from=3 Hz must be below to=3 Hz|width=0\.4"),
        ("iso7401-frequency", {"from": 5.0}, "from=5 Hz must be below to=4 Hz"),
        ("iso4138", {"speed": 20}, r"At least 4\d km/h; iso4138-radius"),
    ],
)
def test_what_is_allowed(name, settings, allowed):
    with pytest.raises(bc.ModelError, match=f"{name}: .*(?:{allowed})"):
        bc.vehicles.manoeuvres.run("passenger", name, **settings)


def test_steering_lock_is_named():
    with pytest.raises(bc.RunError, match="the steering linkage has its lock there") as error:
        bc.vehicles.manoeuvres.run("passenger", "iso7401-step", angle=900)
    (angle,) = re.findall(r"steering wheel is at ([\d.]+) deg", str(error.value))
    assert 400 < float(angle) < 900


def test_overshoot_about_the_plateau():
    """The car slows down while the throttle is held: steady values depend on their second."""
    car = bc.vehicles.Car.read("passenger")
    late = bc.vehicles.manoeuvres.run(car, "iso7401-step")
    early = bc.vehicles.manoeuvres.run(car, "iso7401-step", plateau=1.0)
    run = late.run
    second = (run.time > 1.5) & (run.time < 2.5)
    assert early["ay_steady"] == pytest.approx(run["ay"][second].mean() - run["ay"][0], rel=1e-3)
    assert late.run.time[-1] == pytest.approx(5.0) and early.run.time[-1] == pytest.approx(2.5)
    assert early["ay_overshoot"] < late["ay_overshoot"]
