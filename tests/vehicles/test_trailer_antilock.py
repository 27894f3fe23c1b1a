"""ABS of trailers: its law integrated by hand, friction of tyres that slip and slide, and how
wheels are grouped."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.core.errors import ModelError

PEAK, SLIDES, LOW = 0.95, 0.8, 0.3
TYRE = {
    "size": None, "model": "fiala", "units": ["N", "N/rad", "m", "N/mm", "N-s/m"], "c_slip": 90e3, "c_alpha": 58e3,
    "umax": PEAK, "umin": SLIDES, "width": 0.205, "radius": 0.3135, "vertical_stiffness": 200, "vertical_damping": 400,
    "rolling_resistance": 0.0,
}  # fmt: skip
TARGET, GAIN, RATE, LAG, HARD, SLOW = 0.12, 8.0, 30.0, 0.1, 1.2, 1.5
PEDAL = 5000.0  # N m, below the largest torque of the car
WHEELS = ("caravan.axle_l", "caravan.axle_r")
JUMP = 15.0  # m


@pytest.fixture(scope="module")
def car():
    """Strong brakes, the same tyres on all wheels."""
    plain = bc.vehicles.Car.read("caravan").changed(
        front={"tyre": TYRE}, rear={"tyre": TYRE}, brakes={"abs": {}}
    )
    axle = {"tyre": {**TYRE, "units": TYRE["units"]}}
    return plain.changed(
        trailers={
            "caravan": {
                "axles": {"axle": axle},
                "brakes": {"gain": HARD, "abs": {}},
                "drag_area": 0,
            }
        }
    )


@pytest.fixture(scope="module")
def sim(car):
    """On a road that becomes slippery on both sides."""
    road = bc.vehicles.terrain.flat().with_friction([(0.0, 1.0), (JUMP, LOW)])
    return car.system(speed=25.0, terrain=road).equations().compile()


def stopped(sim, **parameters):
    inputs = {"brake": bc.signals.step(0.2, PEDAL)}
    return sim.simulate(
        t_end=30.0,
        output_every=1,
        step=0.001,
        inputs=inputs,
        parameters=parameters,
        events={"slow": "ground_speed < 1"},
        stop="slow",
        method="rk4",
    )


def test_which_vehicles_have_it_and_what_is_wrong():
    """Heavy trailers have ABS, as UN R13 requires; the caravan has none."""
    for name, has in (
        ("caravan", []),
        ("semi_trailer", ["abs_semi"]),
        ("truck_trailer", ["abs_dolly", "abs_trailer"]),
        ("b_double", ["abs_lead", "abs_rear_semi"]),
    ):
        assert [n for n in bc.vehicles.Car.read(name).controllers if n.startswith("abs_")] == has
    semi = bc.vehicles.Car.read("semi_trailer")
    off = semi.changed(trailers={"semi": {"brakes": {"abs": {"on": False}}}})
    assert off.controllers == semi.switched(abs_semi=False).controllers == {"abs_semi": False}
    assert semi.changed(trailers={"semi": {"brakes": {"abs": None}}}).controllers == {}
    for change, words in (
        ({"select_low": "rear"}, "'none', 'axle', 'side'"),
        ({"slip": 1.5}, "slip"),
        ({"slow": 2}, "unit is not stated"),
        ({"slipp": 0.1}, "Did you mean 'slip'"),
    ):
        with pytest.raises(ModelError, match=words):
            semi.changed(trailers={"semi": {"brakes": {"abs": change}}})
    with pytest.raises(ModelError, match="Did you mean 'abs_semi'"):
        semi.switched(abs_smi=False)


@pytest.mark.campaign
def test_wheels_of_a_trailer_keep_their_slip_where_the_road_becomes_slippery(sim):
    """With ABS the tyres give more than they do sliding and at most their peak; without it they
    slide: the friction of sliding, and a longer way to standstill. Only the switch of the trailer
    differs."""
    on, off = stopped(sim), stopped(sim, abs_caravan_on=0.0)
    used = {}
    for name, run in (("on", on), ("off", off)):
        late = (run["caravan.axle_x"] > JUMP + 10) & (run["ground_speed"] > 5)
        force, load = (
            sum(run[f"{w}.{what}"] for w in WHEELS)[late] for what in ("tyre.fx", "tyre_load")
        )
        used[name] = float(-force.sum() / load.sum() / LOW)
        slips = np.min([run[f"{w}.tyre.kappa"][run["ground_speed"] > 5] for w in WHEELS])
        assert slips > -0.4 if name == "on" else slips < -0.99
        assert (
            min(
                run[f"{c}.tyre.kappa"][run["ground_speed"] > 5].min()
                for c in ("fl", "fr", "rl", "rr")
            )
            > -0.5
        )
    assert used["off"] == pytest.approx(SLIDES, rel=0.01)
    assert SLIDES * 1.05 < used["on"] < PEAK
    after = [run["x"][-1] - JUMP for run in (on, off)]
    assert after[0] < after[1] - 1


@pytest.mark.campaign
def test_the_law_of_a_trailers_anti_lock_system_and_its_torques(sim, car):
    """The fraction by the slip of the run, integrated by hand; the torque of the brake is this
    fraction of the torque that the lagging brakes ask for."""
    run = stopped(sim)
    t, wheel = run.time, WHEELS[0]
    tyre, load = car.data.trailers[0].axles[0].tyre, run[f"{wheel}.tyre_load"]
    radius = np.interp(
        load,
        loads := np.linspace(100.0, 12e3, 60),
        [float(tyre.forces(x, 0.0, 0.0).Re) for x in loads],
    )
    slip, h = (
        1 - run[f"u({wheel}.wheel)"] * radius / np.maximum(run["caravan.speed"], SLOW),
        t[1] - t[0],
    )
    less = np.zeros(len(t))
    for i in range(1, len(t)):
        rate = RATE * (slip[i - 1] + slip[i] - 2 * TARGET) / 2
        less[i] = min(1.0, max(0.0, less[i - 1] + h * rate))
    expected = np.clip(1 - less + GAIN * (TARGET - slip), 0, 1)
    fast = run["ground_speed"] > 2.2 * SLOW  # where ABS works fully
    assert run[f"{wheel}.abs"][fast].min() < 0.6
    assert run[f"{wheel}.abs"][fast] == pytest.approx(expected[fast], abs=0.05)
    asked = np.where(t < 0.2, 0.0, HARD * PEDAL * (1 - np.exp(-(t - 0.2) / LAG)))
    late = fast & (t > 1.0)
    assert run[f"{wheel}.held"][late] == pytest.approx(
        (run[f"{wheel}.abs"] * asked / 2)[late], rel=5e-3
    )


@pytest.mark.campaign
@pytest.mark.parametrize("low", ["axle", "side"])
def test_groups_of_wheels_get_the_smallest_fraction(car, low):
    """On split friction both wheels of an axle brake as the slippery side allows; of a side, all
    wheels of that side do as one of them does, and the sides differ."""
    axle = car.given["trailers"]["caravan"]["axles"]["axle"]
    axles = {
        "axle": None,
        "one": {**axle, "at": [-3.85, 1.0, -0.16]},
        "two": {**axle, "at": [-4.75, 1.0, -0.16]},
    }
    tandem = car.changed(
        trailers={"caravan": {"axles": axles, "brakes": {"abs": {"select_low": low}}}}
    )
    road = bc.vehicles.terrain.flat().with_friction(left=1.0, right=LOW)
    run = (
        tandem.system(speed=25.0, terrain=road)
        .equations()
        .compile()
        .simulate(t_end=1.2, inputs={"brake": bc.signals.step(0.2, PEDAL)})
    )
    p = {w: run[f"caravan.{w}.abs"] for w in ("one_l", "one_r", "two_l", "two_r")}
    pairs, others = (
        [("one_l", "one_r"), ("two_l", "two_r")],
        [("one_l", "two_l"), ("one_r", "two_r")],
    )
    for a, b in pairs if low == "axle" else others:
        assert (p[a] == p[b]).all() and run[f"caravan.{a}.held"][-20:].mean() > 50
    late = run.time > 0.6
    slip = {w: -run[f"caravan.{w}.tyre.kappa"][late].mean() for w in p}
    force = {w: -run[f"caravan.{w}.tyre.fx"][late].mean() for w in p}
    assert max(slip["one_r"], slip["two_r"]) == pytest.approx(TARGET, abs=0.04)
    for left, right in pairs:
        if low == "axle":
            assert slip[left] < 0.05 and force[left] == pytest.approx(force[right], rel=0.1)
        else:
            assert force[left] > 2 * force[right]
