"""One understeer gradient and one largest lateral acceleration of a car, however they are found."""

import math

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.vehicles.cars.design.car_data import GRAVITY
from bellcrank.vehicles.manoeuvres.car_report.handling_charts import steady_curves
from bellcrank.vehicles.manoeuvres.compiled_car import compile_car
from bellcrank.vehicles.manoeuvres.linear_handling import linear_handling_metrics
from bellcrank.vehicles.manoeuvres.steady_motion import SteadyMotionSolver
from tests.vehicles.test_gearbox import DRIVE

pytestmark = pytest.mark.campaign
V, NEAR = 80 / 3.6, 0.05  # m/s; of it, to either side
AY = 0.02  # m/s2: tyres are linear as long as side slip stays below their longitudinal slip


def per_speed_squared(value):
    """d(value)/d(V^2) at V, of a length (m), as deg/g."""
    low, high = V * (1 - NEAR), V * (1 + NEAR)
    return math.degrees((value(high) - value(low)) / (high**2 - low**2)) * GRAVITY


def by_circles(compiled):
    """Steady turns of one radius to the left and to the right: angle of the front wheels over the
    speed."""
    bend, ratio = AY / V**2, compiled.metrics["steering_ratio"]

    def angle(v):
        left, right = (
            compiled.steady_turn_state(v, sign * bend)["driver.turn"] for sign in (1, -1)
        )
        return (left - right) / 2 / ratio / bend

    return per_speed_squared(angle)


def by_a_fixed_wheel(compiled):
    """Steady turns with one steering-wheel angle: the radius over the speed."""
    motion, ratio = (
        SteadyMotionSolver(compiled.sim, held=("driver.turn",)),
        compiled.metrics["steering_ratio"],
    )
    straight = compiled.straight_running_state(V)["driver.turn"]
    angle = compiled.steady_turn_state(V, AY / V**2)["driver.turn"] - straight

    def radius(v):
        bends, inputs = [], {"speed_set": v}
        zero = compiled.straight_running_state(v)["driver.turn"]
        for sign in (1, -1):
            start = compiled.steady_turn_state(v, sign * AY / V**2) | {
                "driver.turn": zero + sign * angle
            }
            bends.append(
                sign * motion.motion(motion.solve(start, inputs, {}), inputs, {}).yaw_rate / v
            )
        return angle / ratio / np.mean(bends)

    return per_speed_squared(radius)


def by_hand(compiled):
    """The single-track formula, wheelbase + V^2 (m1/C1 - m2/C2), with the cornering stiffnesses
    that are listed."""
    f = compiled.metrics

    def angle(v):
        listed, mass = linear_handling_metrics(compiled, v), f["mass"]
        parts = {"front": f["front_share"], "rear": 1 - f["front_share"]}
        slip = {
            a: math.radians(share * mass / 1000 / listed[f"cornering_{a}"])
            for a, share in parts.items()
        }
        return f["wheelbase"] + v**2 * (slip["front"] - slip["rear"])

    return per_speed_squared(angle)


@pytest.mark.parametrize("name", ["passenger", "electric"])
def test_one_understeer_gradient(name, capsys):
    """At 80 km/h, as the lateral acceleration approaches zero."""
    compiled = compile_car(bc.vehicles.Car.read(name))
    found = {
        "circle": by_circles(compiled),
        "fixed wheel": by_a_fixed_wheel(compiled),
        "linear model": linear_handling_metrics(compiled)["understeer"],
        "hand formula": by_hand(compiled),
    }
    with capsys.disabled():
        print(
            f"\n{name}: understeer gradient at 80 km/h, "
            + ", ".join(f"{k} {x:.4f}" for k, x in found.items())
        )
    assert np.ptp(list(found.values())) < 0.02 * min(map(abs, found.values()))


def test_one_understeer_gradient_of_three_axles():
    """From the equivalent wheelbase, which Winkler's formula has too: l + (1 + C_r/C_f) T/l with
    the distance l of the front axle from the middle of the rear ones and their mean squared
    distance T from there."""
    car = bc.vehicles.Car.read("truck")
    compiled, f, added = compile_car(car), car.metrics, car.data.added_axles
    x = np.array([car.stand.contact_points[2][0], *(axle.record.at[0] for axle in added)])
    C = np.array(
        [f["cornering_tyres_rear"], *(f[f"cornering_tyres_{axle.name}"] for axle in added)]
    )
    middle = C @ x / C.sum()
    l, T = car.stand.contact_points[0][0] - middle, C @ (x - middle) ** 2 / C.sum()
    expected = l + (1 + C.sum() / f["cornering_tyres_front"]) * T / l
    listed = linear_handling_metrics(compiled)
    assert (
        listed["wheelbase_equivalent"] == pytest.approx(expected, rel=0.03)
        and expected > 1.2 * f["wheelbase"]
    )
    results = [
        bc.vehicles.manoeuvres.run(car, form)
        for form in ("iso4138", "iso4138-radius", "iso4138-wheel")
    ]
    for result in (
        results
    ):  # as the lateral acceleration approaches zero, the steer angle approaches the neutral line
        assert result["wheelbase_equivalent"] == listed["wheelbase_equivalent"]
        curve, *_ = steady_curves(result, f, car.data.axle_wheels)
        (_, ay, steer), (_, _, neutral) = curve.lines[0], curve.fixed[0]
        near = (ay > 0.7) & (ay < 1.5)
        (gradient, apart) = np.polyfit(ay[near], (steer - neutral)[near], 1)
        assert (
            gradient * GRAVITY == pytest.approx(result["understeer_1"], rel=0.05)
            and abs(apart) < 0.1 * gradient
        )
    found = [result["understeer_1"] for result in results]
    assert np.ptp([*found, listed["understeer"]]) < 0.03 * listed["understeer"]


@pytest.mark.parametrize("name", ["passenger", "electric"])
def test_one_largest_lateral_acceleration(name, capsys):
    """Of shipped cars, their driver on the left seat: slow ramps of all forms and continuation of
    steady turns."""
    car = bc.vehicles.Car.read(name)
    found = {"continuation": compile_car(car).steady_turn_limit(100 / 3.6).ay}
    for manoeuvre in ("iso4138", "iso4138-radius", "iso4138-wheel"):
        found[manoeuvre] = bc.vehicles.manoeuvres.run(car, manoeuvre)["ay_max"]
    with capsys.disabled():
        print(
            f"\n{name}: largest lateral acceleration, m/s2, "
            + ", ".join(f"{k} {x:.3f}" for k, x in found.items())
        )
    assert max(found.values()) < 1.02 * min(found.values())


def test_gears_do_not_limit_a_circle():
    """Five gears: the one that is held has power for the limit, and all gradients are found; a run
    that ends before says why gradients are missing."""
    car = bc.vehicles.Car.read("passenger").changed(drive=DRIVE)
    found = [bc.vehicles.manoeuvres.run(car, form) for form in ("iso4138-radius", "iso4138-wheel")]
    assert all(r["understeer_2"] > 0 and r["understeer_4"] > 0 for r in found)
    assert all(np.ptp(r.run["gear"]) < 1e-6 for r in found)
    assert found[0]["ay_max"] == pytest.approx(found[1]["ay_max"], rel=0.02)
    slow = bc.vehicles.manoeuvres.run(car, "iso4138-wheel", radius=100.0, to=20.0)
    assert {c.x for c in slow.curves()} == {"lateral acceleration across the path, m/s2", "time, s"}
    assert any(note.startswith("no gradients at 2, 4 m/s2: ") for note in slow.notes), slow.notes
