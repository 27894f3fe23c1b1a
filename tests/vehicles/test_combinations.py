"""Vehicles of three units: statics, off-tracking and rearward amplification against laws by hand;
which unit tows which."""

import numpy as np
import pytest
from scipy.signal import lsim

import bellcrank as bc
from bellcrank.core.errors import ModelError
from bellcrank.vehicles.cars.design.car_data import GRAVITY
from bellcrank.vehicles.manoeuvres.channel_metrics import channel_deviation
from bellcrank.vehicles.manoeuvres.compiled_car import compile_car
from bellcrank.vehicles.manoeuvres.linear_handling import LinearCar
from tests.vehicles import trailer_by_hand as hand

SHIPPED = ("truck_trailer", "b_double")
TOTAL = {"truck_trailer": 40e3, "b_double": 62.5e3}  # kg that are allowed


@pytest.fixture(scope="module", params=SHIPPED)
def name(request):
    return request.param


@pytest.fixture(scope="module")
def car(name):
    return bc.vehicles.Car.read(name)


def test_loads_are_those_of_weights_and_moments(car, name):
    """Loads of all axles and hitches, to 0.5 %; the small load of a drawbar to 0.5 % of the weight
    of its dolly."""
    at, metrics, expected = car.stand, car.metrics, hand.level_loads(car)
    loads = {t.name: sum(t.load.values()) for t in at.trailers}
    assert sum(at.wheel_load[:2]) == pytest.approx(expected["front"], rel=5e-3)
    assert sum(at.wheel_load[2:]) + metrics["load_second"] == pytest.approx(
        expected["rear"], rel=5e-3
    )
    for trailer in at.trailers:
        assert loads[trailer.name] == pytest.approx(expected[trailer.name], rel=5e-3)
        own = 5e-3 * trailer.mass * GRAVITY if trailer.name == "dolly" else 0.0
        assert trailer.hitch_load == pytest.approx(
            expected[f"hitch_{trailer.name}"], rel=5e-3, abs=own
        )
    total = sum(at.wheel_load) + metrics["load_second"] + sum(loads.values())
    assert total == pytest.approx(at.total_mass * GRAVITY, rel=1e-9) and at.total_mass < TOTAL[name]
    assert [s for s in car.check() if "not measured" not in s] == []


def test_which_unit_tows_is_stated():
    """The unit before it unless stated; a car may tow two trailers, which then load its hitches
    like one each."""
    hitch = {"at": ["-3.6 m", "0 m", "0.43 m"]}
    plain = bc.vehicles.Car.read("passenger")
    both = plain.changed(
        trailers={
            "a": {"shipped": "caravan", "hitch": hitch},
            "b": {"shipped": "caravan", "hitch": hitch, "towed_by": "car"},
        }
    )
    assert [t.towed_by for t in both.data.trailers] == ["chassis", "chassis"]
    one, two = both.stand.trailers
    assert one.hitch_load == pytest.approx(two.hitch_load, rel=1e-9)
    assert sum(both.stand.wheel_load) == pytest.approx(
        both.stand.mass * GRAVITY + 2 * one.hitch_load, rel=1e-9
    )
    double = bc.vehicles.Car.read("b_double")
    assert [t.towed_by for t in double.data.trailers] == ["chassis", "lead"]
    chain = double.changed(trailers={"rear_semi": {"towed_by": None}})
    assert chain.stand.wheel_load == pytest.approx(double.stand.wheel_load, rel=1e-12)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            {"towed_by": "leed"},
            "towed_by = 'leed' must be a unit before it in the file: car, lead. Did you "
            "mean 'lead'",
        ),
        ({"towed_by": "rear_semi"}, "must be a unit before it"),
        ({"towed_by": 3}, "must be text"),
        ({"hitch": {"levelled": True}}, "lead tows the trailer"),
    ],
)
def test_what_is_wrong_with_the_towing_unit(change, words):
    with pytest.raises(ModelError, match=words):
        bc.vehicles.Car.read("b_double").changed(trailers={"rear_semi": change})


@pytest.mark.campaign
def test_off_tracking_is_that_of_a_chain_of_tractrices(car):
    """Each unit goes round at right angles at one point; groups of axles slip, and load the hitch
    before them."""
    result = bc.vehicles.manoeuvres.run(car, "off-tracking", radius=25.0, speed=2.0)
    axles = ["rear", *(axle.index for axle in car.data.simple_axles)]
    radii = {axle: result[f"radius_{axle}"] for axle in axles}
    expected = hand.circling(car, radii)
    assert {axle: radii[axle] for axle in expected} == pytest.approx(expected, abs=0.01)
    assert result["off_tracking"] == pytest.approx(
        result["radius_front"] - expected[axles[-1]], abs=0.01
    )


def in_the_plane(car):
    """Parameters that leave the car as formulas in the plane have it, without compliance, air and
    roll: all mass centres lie on the ground; and z of those of the sprung masses."""
    values, front, rear = {}, car.data.front.record, car.data.rear.record
    for p in compile_car(car).sim.interface.parameters:
        if p.name.startswith(("toe_", "camber_", "c_lift", "c_drag", "drag_")):
            values[p.name] = 0.0
        elif p.name.startswith(("k_bar_", "k_roll_")):
            values[p.name] = 1e9
    masses = 2 * (front.carrier.mass + front.wheel.mass), rear.carrier.mass + 2 * rear.wheel.mass
    high = sum(m * z for m, z in zip(masses, (0.5, 0.515))) + sum(
        a.mass * a.record.at[2] for a in car.data.added
    )
    heights = {"car": -high / car.data.sprung.mass}
    for trailer, stands in zip(car.data.trailers, car.stand.trailers):
        high = sum(a.mass * (stands.hitch_height + a.record.at[2]) for a in trailer.axles)
        heights[trailer.name] = -stands.hitch_height - high / trailer.sprung.mass
    values |= {"cg_z" if unit == "car" else f"cg_z_{unit}": z for unit, z in heights.items()}
    return values | {"k_steer": 1e7}, heights


@pytest.mark.campaign
def test_rearward_amplification_of_all_units(car):
    """Lateral acceleration of each trailer over that of the car, of the linear model at 80 km/h."""
    values, heights = in_the_plane(car)
    model = LinearCar(compile_car(car.with_parameters(values)))
    f, v = np.array([0.1, 0.2, 0.4, 0.7]), 80 / 3.6
    expected = hand.by_hand(model, car, v, heights)
    trailers = [t.name for t in car.data.trailers]
    found = model.responses(v, ("ay", *(f"{t}.ay" for t in trailers)), f)
    for i, trailer in enumerate(trailers, 1):
        ratio = np.abs(found[f"{trailer}.ay"] / found["ay"])
        assert ratio == pytest.approx([expected.amplification(v, x, i) for x in f], rel=0.01)
        assert ratio[:3] == pytest.approx(
            [expected.amplification(v, x, i) for x in f[:3]], rel=2e-3
        )


def lateral_accelerations(linear, speed, time, steer):
    """Of the sprung mass centres of all units, by the equations by hand and the angle of the front
    wheels (rad)."""
    A, B = linear.matrices(speed)
    n, every = len(linear.units), np.eye(len(A))
    _, _, x = lsim((A, B[:, None], every, np.zeros((len(A), 1))), steer, time)
    rates = (x @ A.T + np.outer(steer, B))[:, [0, *range(n + 1, 2 * n + 1)]]
    return [rates @ linear.by(k, unit.seen) for k, unit in enumerate(linear.units)]


@pytest.mark.campaign
def test_a_lane_change_amplifies_as_the_equations_by_hand(car):
    """One period of a sine has another amplification than a steady one: the beginning of the sine
    is a transient of all units. Lateral accelerations over time, and their peaks, for the angle
    that the front wheels had."""
    values, heights = in_the_plane(car)
    soft = {
        name: min(value, 1e8) for name, value in values.items() if name != "k_steer"
    }  # not too stiff for steps
    plane = car.with_parameters(soft)
    v, trailers = 80 / 3.6, [t.name for t in car.data.trailers]
    expected = hand.by_hand(LinearCar(compile_car(plane)), car, v, heights)
    result = bc.vehicles.manoeuvres.run(plane, "iso14791", ay=0.05)  # tyres are linear to 0.5 %
    run = result.run
    wheels = np.radians(run["fr.toe"] - run["fl.toe"]) / 2  # toe-in is positive
    by_hand = lateral_accelerations(expected, v, run.time, wheels - wheels[0])
    for name, found in zip(("ay", *(f"{t}.ay" for t in trailers)), by_hand, strict=True):
        assert channel_deviation(run, name) == pytest.approx(
            found, abs=0.02 * np.abs(found).max()
        ), name
    peaks = [np.abs(y).max() for y in by_hand]
    for trailer, peak in zip(trailers, peaks[1:], strict=True):
        assert result[f"amplification_{trailer}"] == pytest.approx(peak / peaks[0], rel=0.01)
    last = result[f"amplification_{trailers[-1]}"]
    assert abs(last / result[f"linear_{trailers[-1]}"] - 1) > 0.05  # no steady sine


@pytest.mark.campaign
def test_notes_on_the_amplification(car):
    result = bc.vehicles.manoeuvres.run(car, "iso14791", ay=0.5)
    last = car.data.trailers[-1].name
    assert result[f"linear_{last}"] > 1
    assert result[f"linear_max_{last}"] >= result[f"linear_{last}"]
    dips = [
        note
        for note in result.notes
        if note.startswith("linear_max_dolly is where the car itself hardly moves")
    ]
    assert len(dips) == (car.name == "truck with full trailer")


@pytest.mark.campaign
def test_the_heaviest_combination_is_driven():
    """56 t with 330 kW: it takes two minutes to 100 km/h, where its power does not suffice for
    turns of 2 m/s2."""
    double = bc.vehicles.Car.read("b_double")
    faster = bc.vehicles.manoeuvres.run(double, "acceleration")
    assert faster.passed and 90 < faster["time"] < 150
    assert faster["time"] > 0.5 * double.stand.total_mass * (100 / 3.6) ** 2 / 330e3
    weave = bc.vehicles.manoeuvres.run(double, "iso13674-1")
    assert weave.settings["speed"] == 80 and weave["ay_max"] > 1.5
