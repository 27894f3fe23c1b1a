"""Set-ups solved from what is asked, and loads in the suspensions of a car."""

import math

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.vehicles.cars.statics.static_equilibrium import (
    pitched_road_axes,
    spin_axis,
    spring_and_stop_force,
)
from tests.models import rarely
from tests.vehicles import car_by_hand as hand


@pytest.fixture(scope="module")
def car():
    """Loads and rates of its left wheels are those of both."""
    return hand.symmetric(bc.vehicles.Car.read("passenger"))


def seen(car, axle, i):
    """Height (m), toe and camber (deg) at an axle of a car that stands."""
    s = car.stand
    axis = (
        pitched_road_axes(s.pitch)
        @ axle.pose(s.travel[i]).rotation
        @ spin_axis(axle.record.toe, axle.record.camber)
    )
    x = axle.linkage.points["wheel_centre"][0] + axle.record.at[0]
    angles = math.degrees(math.atan2(axis[0], axis[1])), math.degrees(-math.asin(axis[2]))
    return s.height - x * math.sin(s.pitch), *angles


@pytest.mark.campaign
def test_a_car_stands_as_it_was_asked_to(car):
    low = car.setup(
        height_front="-10 mm", height_rear="15 mm", toe_front="0.15 deg", camber_front="-1.2 deg"
    )
    assert seen(low, low.data.front, 0) == pytest.approx((-0.010, 0.15, -1.2), abs=1e-6)
    assert seen(low, low.data.rear, 2)[0] == pytest.approx(0.015, abs=1e-6)
    assert low.data.rear.record.toe == pytest.approx(car.data.rear.record.toe, abs=1e-4)
    assert sum(low.stand.load) == pytest.approx(sum(car.stand.load), abs=1e-3)


@pytest.mark.campaign
def test_a_truck_with_three_axles_stands_as_it_was_asked_to():
    """Its third axle keeps its part of the load of the rear axle, and all wheels carry the
    weight."""
    truck = bc.vehicles.Car.read("truck")
    low = truck.setup(
        height_front="-20 mm", height_rear="5 mm", toe_front="0.15 deg", camber_front="-0.5 deg"
    )
    assert seen(low, low.data.front, 0) == pytest.approx(
        (-0.020, 0.15, -0.5), abs=3e-3
    )  # deg; it rolls by 0.016 deg
    heights = [seen(low, axle, i)[0] for axle, i in ((low.data.front, 0), (low.data.rear, 2))]
    assert heights == pytest.approx([-0.020, 0.005], abs=1e-6)
    rear, other = sum(low.stand.wheel_load[2:]), sum(low.stand.added.load.values())
    assert other / rear == pytest.approx(low.data.added_axles[0].car_axle_keys.load_ratio, rel=1e-5)
    assert sum(low.stand.wheel_load) + other == pytest.approx(low.stand.mass * 9.80665, rel=1e-9)
    with pytest.raises(
        bc.ModelError, match=r"cross_weight cannot be asked of a car with more axles .*heights, toe"
    ):
        truck.setup(cross_weight=0.51)


@pytest.mark.campaign
def test_a_tractor_is_set_up_with_its_trailer():
    """Its springs are set for the level trailer; that pitches a little where the tractor is set
    lower."""
    low = bc.vehicles.Car.read("semi_trailer").setup(height_front="-10 mm", height_rear="-30 mm")
    heights = [seen(low, axle, i)[0] for axle, i in ((low.data.front, 0), (low.data.rear, 2))]
    assert heights == pytest.approx([-0.010, -0.030], abs=5e-4)


@pytest.mark.campaign
def test_the_seats_of_springs_shift_load_between_the_diagonals(car):
    crossed = car.setup(load_fl="4100 N")
    stand = crossed.stand
    assert stand.load[0] == pytest.approx(4100, abs=1e-3)
    assert stand.roll == pytest.approx(0, abs=1e-9) and stand.height == pytest.approx(
        car.stand.height, abs=1e-6
    )
    assert crossed.data.front.record.spring.perch > 0 > crossed.data.rear.record.spring.perch


@pytest.mark.campaign
@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (
            {"load_fl": "4000 N", "load_fr": "5000 N"},
            r"load_fr = 5000 N cannot be reached together with load_fl",
        ),
        ({"cross_weight": 0.97}, "setup cannot be reached"),
        (
            {"height_front": "-400 mm"},
            r"setup cannot be reached: .* height_front = -0.4 m; the front suspension goes from",
        ),
        ({"camber_front": "-40 deg"}, r"setup.camber_front = -40 deg cannot be reached"),
        ({"toe": "1 deg"}, r"Did you mean 'toe_rear'|Keys: .*toe_front"),
        ({"toe_front": 1}, "its unit is not stated"),
    ],
)
@pytest.mark.filterwarnings("ignore:linkage .* is close to the end of its range")
def test_a_set_up_that_cannot_be_is_told(car, asked, told):
    with pytest.raises(bc.ModelError, match=told):
        car.setup(**asked)


def test_loads_at_rest_are_those_of_springs_that_hold_the_car(car):
    found = car.loads("front", {"rest": {"bump": 1.0}})
    assert found.cases[0].travel == pytest.approx(car.stand.travel[0], abs=1e-9)
    axle = car.data.front
    a, b = (axle.pose(found.cases[0].travel).point(p).position for p in axle.spring)
    length = float(np.linalg.norm(a - b))
    law = spring_and_stop_force(axle, car.stand.free_length["front"], length, length)
    assert found["rest"]["spring"].magnitude == pytest.approx(law, rel=1e-8)
    with pytest.raises(bc.ModelError, match=r"load case 'rack': the suspension has no rack"):
        car.loads("rear", {"rack": {"fz": "3 kN", "rack": "10 mm"}})
    with pytest.raises(
        bc.ModelError, match=r"load case 'drop': .*springs and stops do not hold the wheel"
    ):
        car.loads("front", {"drop": {"fz": "400 kN"}})


@pytest.mark.campaign
def test_loads_of_a_model_of_the_car_at_rest(car):
    """The compiled car starts where its springs push as statics says."""
    run = car.system(speed=0.0).equations().compile().simulate(t_end=0.001)
    for axle, corner in (("front", "fl"), ("rear", "rl")):
        found = car.loads(axle, {"rest": {"bump": 1.0}})["rest"]["spring"].size
        assert run[f"{corner}.spring_force"][0] == pytest.approx(found, rel=1e-8)


@pytest.mark.parametrize("axle", ["front", "rear"])
def test_wheel_loads_of_kinematics_are_those_at_the_ground(car, axle):
    """On a rig at the travels of the car at rest: the loads of statics, unsprung weight
    included."""
    i = 0 if axle == "front" else 2
    m = car.kinematics(axle, [car.stand.travel[i]])
    assert m["wheel_load"][0] == pytest.approx(
        car.stand.wheel_load[i], rel=2e-3
    )  # there the body is pitched
    assert m["wheel_load"][0] > m["suspension_load"][0] + 300


@pytest.mark.parametrize("axle", rarely(["front", "rear"], ["rear"]))
def test_rates_of_an_axle(car, axle):
    h = 1e-4
    both, apart = (
        car.kinematics(axle, [-h, 0.0, h], mode=mode) for mode in ("parallel", "opposite")
    )
    assert both["vertical_wheel_rate"][1] == pytest.approx(
        1000 * car.metrics[f"wheel_rate_{axle}"], rel=1e-6
    )
    for m in (both, apart):
        slope = (m["suspension_load"][2] - m["suspension_load"][0]) / (2 * h)
        assert m["vertical_wheel_rate"][1] == pytest.approx(slope, rel=1e-6)
    # springs: the figure has the track on the ground, the measure that of the wheel centres; the
    # bar is given
    fitted = getattr(car.data, axle)
    centres = 2 * (fitted.linkage.points["wheel_centre"][1] + fitted.record.at[1])
    bar = np.radians(fitted.record.anti_roll_bar.stiffness)
    springs = (car.metrics[f"roll_stiffness_{axle}"] - bar) * (
        centres / car.metrics[f"track_{axle}"]
    ) ** 2
    assert apart["roll_stiffness"][1] == pytest.approx(springs + bar, rel=1e-6)


@pytest.mark.campaign
def test_a_held_steering_wheel_gives_by_its_column(car):
    """Aligning moments on both wheels move the rack on the springs of column and assistance;
    compliance adds to it."""
    gives, car = car, car.changed(front={"compliance": None})
    more = (
        gives.kinematics("front", 0.0)["aligning_steer"]
        - car.kinematics("front", 0.0)["aligning_steer"]
    )
    assert more == pytest.approx(1.0, rel=1e-9)  # deg per 100 N m, by the file
    given = car.data.sections.steering
    m = car.kinematics("front", 0.0)
    moment, rack = 50.0, 1e-4
    turn = np.radians(m["aligning_steer"][0]) * moment / 100
    toe = [car.kinematics("front", 0.0, rack=r)["steer"][0] for r in (-rack, rack)]
    per_rack = np.radians(toe[1] - toe[0]) / (2 * rack)
    stiff = (1 + given.assist) * given.stiffness * (2 * np.pi / given.rack_per_turn) ** 2
    # of a wheel with camber, toe differs a little from its turn about the vertical
    assert turn == pytest.approx(2 * moment * per_rack**2 / stiff, rel=5e-3)


def test_load_cases_by_command(capsys, tmp_path):
    from bellcrank.cli.main import main

    cases = tmp_path / "cases.toml"
    cases.write_text('units = ["N"]\n[kerb]\nfx = -3000\nfz = 9000\n')
    csv = tmp_path / "loads.csv"
    assert main(["kinematics", "double_wishbone", "--loads", str(cases), "--csv", str(csv)]) == 0
    assert "tie_rod" in capsys.readouterr().out
    assert csv.read_text().splitlines()[0].startswith("case,travel (m),rack (m),part,kind,size (N)")
    assert main(["kinematics", "double_wishbone", "--loads"]) == 1
    assert "double_wishbone is none: name a file of cases" in capsys.readouterr().err


@pytest.mark.campaign
def test_a_bar_by_its_rate_at_the_drop_links_is_the_bar_by_its_roll_stiffness(car):
    """The rate of one bar, given to another car, makes the same car; it acts at the hard point
    `at`."""
    for at in ("wheel_centre", "lower_ball"):
        first = car.changed(front={"anti_roll_bar": {"stiffness": "400 N-m/deg", "at": at}})
        rate = first.stand.bar["front"]
        bar = {"stiffness": None, "rate": f"{rate / 1000!r} N/mm", "at": at}
        other = car.changed(front={"anti_roll_bar": bar})
        assert other.stand.bar["front"] == pytest.approx(rate, rel=1e-12)
        same = other.data.front.record.anti_roll_bar.stiffness
        assert math.radians(same) == pytest.approx(400.0, rel=1e-9)  # N m/deg
    with pytest.raises(bc.ModelError, match=r"either stiffness .* both are given"):
        car.changed(front={"anti_roll_bar": {"rate": "20 N/mm"}})
    with pytest.raises(bc.ModelError, match=r"either stiffness .* none is given"):
        car.changed(front={"anti_roll_bar": {"stiffness": None}})
