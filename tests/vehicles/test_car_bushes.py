"""Cars on bushes: what their wheels give in tables and models, next to the linkage on the same
bushes; wrong values."""

import math

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.cli.main import main
from bellcrank.vehicles.cars.car import template
from bellcrank.vehicles.cars.statics.bush_compliance import axle_compliance
from tests.vehicles import car_by_hand as hand

ARM = {"units": ["N/mm", "N-m/deg"], "stiffness": [1000, 8000, 8000], "rotation": [1.5, 20, 20]}
ROD = {
    "units": ["N/mm", "N-m/deg"],
    "stiffness": [9000, 9000, 1500],
    "rotation": [20, 20, 1],
    "up": [1, 0, 0],
}
FRONT = {p: ARM for p in ("lower_front", "lower_rear", "upper_front", "upper_rear")}
REAR = {f"P{i}": ROD for i in range(1, 6)}


def stiffer(bushes, factor):
    return {
        p: {**b, "stiffness": [factor * k for k in b["stiffness"]], "rotation": [0, 0, 0]}
        for p, b in bushes.items()
    }


@pytest.fixture(scope="module")
def passenger():
    return bc.vehicles.Car.read("passenger").changed(
        front={"compliance": None}, rear={"compliance": None}
    )


@pytest.fixture(scope="module")
def soft(passenger):
    return passenger.changed(front={"bushes": FRONT}, rear={"bushes": REAR})


@pytest.mark.campaign
def test_table_and_model_have_the_same_coefficients(soft):
    soft = hand.symmetric(
        soft
    )  # both wheels stand as drawn, where the table and the model take their coefficients
    for axle in ("front", "rear"):
        found = axle_compliance(soft.data, soft.stand, soft.data.axle(axle))
        m = soft.kinematics(axle, [0.0])
        assert m["bush_rate"][0] == pytest.approx(found.rate, rel=1e-6)
        assert math.radians(m["driving_toe"][0]) / 1000 == pytest.approx(
            found.compliance.toe_by_longitudinal_force, rel=1e-6
        )
        assert 1e3 * soft.metrics[f"wheel_rate_{axle}"] == pytest.approx(
            m["vertical_wheel_rate"][0], rel=1e-5
        )
    side = (
        math.radians(m["lateral_force_steer"][0]) / 1000
    )  # the table has its contact on a road along the body
    assert side == pytest.approx(found.compliance.steer_by_lateral_force, rel=5e-3)
    assert m["longitudinal_compliance"][0] > 0.05 and m["lateral_compliance"][0] > 0.05  # mm/kN


@pytest.mark.campaign
def test_what_bushes_give_is_small_where_they_are_stiff(passenger, soft):
    names = (
        "lateral_force_steer",
        "aligning_steer",
        "driving_toe",
        "braking_toe",
        "camber_compliance",
        "vertical_wheel_rate",
    )
    stiff = passenger.changed(
        front={"bushes": stiffer(FRONT, 1e5)}, rear={"bushes": stiffer(REAR, 1e5)}
    )
    for axle in ("front", "rear"):
        ideal, found, gave = (
            car.kinematics(axle, [-0.03, 0.03]) for car in (passenger, stiff, soft)
        )
        for name in names:
            assert np.abs(gave[name] - ideal[name]).max() > 1e-3
            assert found[name] == pytest.approx(ideal[name], rel=1e-6, abs=1e-5)


@pytest.mark.campaign
def test_bushes_of_an_arm_share_what_acts_along_its_axis(passenger):
    """One three times as stiff along as the other takes three quarters; one next to an ideal end
    nothing."""
    axis = np.subtract(
        *(passenger.data.front.linkage.points[p] for p in ("lower_front", "lower_rear"))
    )
    along = axis / np.linalg.norm(axis)

    def shares(bushes):
        cases = {"braking": {"braking": 0.8}}
        parts = (
            passenger.changed(front={"bushes": bushes}).loads("front", cases).cases[0].held.parts
        )
        return np.array([parts[p].force @ along for p in ("lower_front", "lower_rear")])

    assert (
        passenger.changed(front={"bushes": FRONT}).metrics["understeer_compliance"] != 0
    )  # drivers know of it
    found = shares({"lower_front": {**ARM, "stiffness": [3000, 8000, 8000]}, "lower_rear": ARM})
    assert abs(found.sum()) > 500
    assert found / found.sum() == pytest.approx([0.75, 0.25], rel=1e-9)
    assert shares({"lower_rear": ARM})[1] == pytest.approx(0, abs=1e-9 * abs(found.sum()))


def test_wrong_bushes_of_cars_are_told(passenger):
    wrong = {"lower_fron": ARM, "lower_rear": {**ARM, "stiffness": [1, 2]}}
    with pytest.raises(bc.ModelError) as told:
        passenger.changed(
            front={"bushes": wrong, "compliance": {"steer_by_lateral_force": "0.1 deg/kN"}}
        )
    text = str(told.value)
    assert len(told.value.problems) == 3
    assert "front: give bushes or compliance, not both" in text
    assert "front.bushes: no bush can stand at 'lower_fron'. Did you mean 'lower_front'?" in text
    assert "stiffness of the bush 'lower_rear' must be three numbers, or nine, given 2" in text


@pytest.mark.campaign
def test_a_car_on_bushes_gives_what_its_table_says(soft):
    """Steer, toe and lean of every wheel in a turn under brakes, and where it stands; ends of a
    short run."""
    sim = soft.system(speed=15).equations().compile()
    # statics holds the rack; on its column it moves by 1e-6 m under the unequal loads of a driver
    # on the left
    rest = sim.equilibrium(fixed={"u(chassis, 1)": 0.0}, parameters={"k_steer": 1e7})
    assert [rest[f"q({c})"] for c in ("fl", "fr", "rl", "rr")] == pytest.approx(
        soft.stand.travel, abs=1e-8
    )
    run = sim.simulate(
        t_end=2.5,
        inputs={"steer": bc.signals.step(0.2, 25.0), "brake": bc.signals.step(0.2, 800.0)},
    )
    assert run["speed"][-1] > 5
    for corner, axle, side in (
        ("fl", "front", 1),
        ("fr", "front", -1),
        ("rl", "rear", 1),
        ("rr", "rear", -1),
    ):
        gave = axle_compliance(soft.data, soft.stand, soft.data.axle(axle)).compliance
        fx, fy, mz, held = (
            run[f"{corner}.{x}"][-1] for x in ("tyre.fx", "tyre.fy", "tyre.mz", "held")
        )
        assert abs(fx) > 100 and abs(fy) > 100 and held > 50
        toe = gave.toe_by_longitudinal_force * fx + gave.toe_by_brake_torque * held
        steer = gave.steer_by_lateral_force * fy + gave.steer_by_aligning_moment * mz - side * toe
        assert run[f"q({corner}.steer)"][-1] == pytest.approx(steer, rel=0.01, abs=1e-6)
        assert run[f"q({corner}.tilt)"][-1] == pytest.approx(
            gave.camber_by_lateral_force * fy, rel=0.01, abs=1e-6
        )


PROGRESSIVE = {
    "units": ["mm", "N", "N/mm", "N-m/deg"],
    "stiffness": [200, 8000, 300],
    "rotation": [1.5, 20, 20],
    "first": [[0, 0], [0.5, 200], [1, 2000], [2, 20000]],
    "third": [[-1, -900], [0.3, 270], [1, 5000]],
}


@pytest.mark.campaign
def test_compliance_over_loads_is_progressive(passenger):
    """Small loads have the coefficients of kinematics; a stop makes larger ones less than
    proportional."""
    car = passenger.changed(front={"bushes": {p: PROGRESSIVE for p in FRONT}})
    m, found = car.kinematics("front", 0.0), car.compliance("front", load=[1e-3, 1.0, 4.0, 8.0])
    assert found["traction_in_phase_toe"][0] == pytest.approx(m["driving_toe"][0], rel=1e-9)
    displaced = np.abs(found["traction_in_phase_longitudinal"])
    assert (np.diff(displaced) < 0).all() and displaced[-1] < 0.8 * displaced[0]
    assert list(found["load"]) == [1e-3, 1.0, 4.0, 8.0]
    small = car.compliance("front", [0.0])
    assert small["lateral_opposed_steer"][0] == pytest.approx(
        found["lateral_opposed_steer"][0], rel=1e-9
    )


@pytest.mark.campaign
def test_a_model_on_curved_bushes_balances_them(passenger):
    """Steer and camber of every wheel, and deflections, in a turn under brakes, by the balance of
    forces of the table; the model with the slopes at zero differs."""
    rod = {
        **ROD,
        "units": ["mm", "N", "N/mm", "N-m/deg"],
        "stiffness": [0, 9000, 1500],
        "first": [[-0.2, -1900], [0, 0], [0.01, 30], [0.2, 4000]],
    }
    car = passenger.changed(
        front={"bushes": {p: PROGRESSIVE for p in FRONT}}, rear={"bushes": {**REAR, "P1": rod}}
    )
    sim = car.system(speed=25).equations().compile()
    run = sim.simulate(
        t_end=2.5,
        inputs={"steer": bc.signals.step(0.2, 45.0), "brake": bc.signals.step(0.2, 1500.0)},
    )
    assert run["speed"][-1] > 5
    for corner, axle, side in (
        ("fl", "front", 1),
        ("fr", "front", -1),
        ("rl", "rear", 1),
        ("rr", "rear", -1),
    ):
        found = axle_compliance(car.data, car.stand, car.data.axle(axle))
        fx, fy, mz, held = (
            run[f"{corner}.{x}"][-1] for x in ("tyre.fx", "tyre.fy", "tyre.mz", "held")
        )
        load = np.array([side * fy, side * mz, fx, held]) @ found.loads
        moved = found.curved.displacement(load)
        assert run[f"q({corner}.steer)"][-1] == pytest.approx(side * moved[5], rel=0.02, abs=2e-6)
        slopes = found.curved.compliance @ load
        if axle == "front":
            assert abs(moved[5] - slopes[5]) > 0.1 * abs(slopes[5])
            assert run[f"q({corner}.tilt)"][-1] == pytest.approx(
                side * moved[3], rel=0.02, abs=2e-6
            )


@pytest.mark.campaign
def test_the_command_names_what_gives(tmp_path, capsys):
    """Bushes of the front axle, coefficients of the rear one, a linkage alone."""
    text = template("passenger")
    start, end = (text.index(section) for section in ("[front.compliance]", "[front.tyre]"))
    rubber = "".join(
        f'[front.bushes.{p}]\nunits = ["N/mm", "N-m/deg"]\nstiffness = [1000, 8000, '
        f"8000]\nrotation = [1.5, 20, 20]\n\n"
        for p in FRONT
    )
    car = tmp_path / "car.toml"
    car.write_text(text[:start] + rubber + text[end:], encoding="utf-8")
    for words, told in (
        ([str(car)], "compliance by its bushes"),
        ([str(car), "--axle", "rear"], "compliance by its coefficients"),
        (["double_wishbone"], "no compliance"),
    ):
        assert main(["kinematics", *words, "--travel=-20:20:3"]) == 0
        assert f"rigid links, {told}\n" in capsys.readouterr().out
