"""Handling figures are those of the linear model: exact derivatives of the whole car, with the
driver in the middle and on the left."""

import math
import re

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.cli.main import main
from bellcrank.vehicles.cars.design.car_data import GRAVITY
from bellcrank.vehicles.manoeuvres.compiled_car import compile_car
from bellcrank.vehicles.manoeuvres.linear_handling import LinearCar, linear_handling_metrics
from tests.vehicles.car_by_hand import symmetric

V = 80 / 3.6
LEFT = {"loads": {"driver": {"mass": "90 kg", "at": ["-1.35 m", "0.37 m", "0.60 m"]}}}
DIGRESSIVE = {
    "table": [
        ["-1 m/s", "-1900 N"],
        ["-0.05 m/s", "-250 N"],
        ["0 m/s", "0 N"],
        ["0.05 m/s", "150 N"],
        ["1 m/s", "900 N"],
    ],
    "coefficient": None,
    "compression": None,
    "rebound": None,
}


def steady_gains(sim, speed):
    """By exact derivatives, straight ahead: the forward speed is held by the driving torque."""
    at = sim.equilibrium(free=["drive", "steer"], targets={"yaw_rate": 0, "speed": speed})
    names = ["ay", "yaw_rate", "roll", "side_slip", "u(chassis, 1)"]
    m = sim.linearize(at=at, wrt=["steer", "drive"], outputs=names).essential()
    A, B = (
        np.block([[m.A, m.B[:, 1:]], [m.C[4:], m.D[4:, 1:]]]),
        np.concatenate([m.B[:, 0], m.D[4:, 0]]),
    )
    x = np.linalg.solve(A, -B)
    y = m.C @ x[:-1] + m.D[:, 0] + m.D[:, 1] * x[-1]
    return dict(zip(names, y, strict=True))


@pytest.mark.campaign
@pytest.mark.parametrize(
    "shape", [symmetric, lambda car: car.changed(**LEFT)], ids=["symmetric", "driver on the left"]
)
def test_figures_are_those_of_the_exact_linear_model(shape):
    car = shape(bc.vehicles.Car.read("passenger"))
    sim = car.system(speed=V).equations().compile()
    found = linear_handling_metrics(compile_car(car))
    exact = steady_gains(sim, V)
    assert found["roll_gradient"] == pytest.approx(exact["roll"] / exact["ay"] * GRAVITY, rel=5e-3)
    ratio = car.metrics["steering_ratio"]

    def steer(v):
        return v**2 * math.radians(1) / ratio / steady_gains(sim, v)["ay"]

    low, high = 0.95 * V, 1.05 * V
    K = math.degrees((steer(high) - steer(low)) / (high**2 - low**2)) * GRAVITY
    assert found["understeer"] == pytest.approx(K, rel=5e-3)
    peak = found["characteristic_speed"] / 3.6
    around = [steady_gains(sim, v)["yaw_rate"] for v in (0.97 * peak, peak, 1.03 * peak)]
    assert around[1] > max(around[0], around[2])
    assert around[0] == pytest.approx(around[2], rel=5e-4)  # the middle of the peak
    for name, value in exact.items():
        if name != "u(chassis, 1)":
            assert LinearCar(compile_car(car)).gains(V)[name] == pytest.approx(value, rel=1e-4), (
                name
            )


@pytest.mark.campaign
@pytest.mark.parametrize("name", ["passenger", "electric"])
def test_the_command_shows_the_figures_of_the_linear_model(name, capsys):
    """As printed, with their digits; understeer and roll gradient also by exact derivatives of the
    model itself."""
    assert main(["car", "check", name]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    shown = {
        words[0]: float(words[1])
        for words in lines
        if len(words) > 2 and re.fullmatch(r"-?\d[\d.e+-]*", words[1])
    }
    car = bc.vehicles.Car.read(name)
    linear = bc.vehicles.manoeuvres.handling(car)
    assert {
        "understeer",
        "roll_gradient",
        "characteristic_speed",
        "cornering_front",
        "cornering_rear",
    } <= {*linear}
    for figure in linear:
        assert shown[figure] == pytest.approx(linear[figure], rel=5e-3), figure
    sim = car.system(speed=V).equations().compile()
    low, high = (steady_gains(sim, f * V) for f in (0.95, 1.05))
    steer = [
        (f * V) ** 2 * math.radians(1) / shown["steering_ratio"] / at["ay"]
        for f, at in ((0.95, low), (1.05, high))
    ]
    K = math.degrees((steer[1] - steer[0]) / (1.05**2 - 0.95**2) / V**2) * GRAVITY
    assert shown["understeer"] == pytest.approx(K, rel=5e-3)
    exact = steady_gains(sim, V)
    assert shown["roll_gradient"] == pytest.approx(exact["roll"] / exact["ay"] * GRAVITY, rel=5e-3)


@pytest.mark.campaign
def test_tyres_of_both_sides_count():
    """With a driver on the left the left tyres carry more; those of the right count as much."""
    left = bc.vehicles.Car.read("passenger").changed(**LEFT)
    right = bc.vehicles.Car.read("passenger").changed(
        loads={"driver": {"mass": "90 kg", "at": ["-1.35 m", "-0.37 m", "0.60 m"]}}
    )
    assert left.stand.wheel_load[0] > 1.02 * left.stand.wheel_load[1]
    for name in (
        "cornering_tyres_front",
        "cornering_tyres_rear",
        "wheel_rate_front",
        "wheel_rate_rear",
    ):
        assert left.metrics[name] == pytest.approx(right.metrics[name], rel=1e-9)
        tyre, i = left.data.front.tyre, 0 if name.endswith("front") else 2
        if name.startswith("cornering"):
            tyre = left.data.axle(name.rsplit("_", 1)[1]).tyre
            both = sum(abs(tyre.forces(x, 0.0, 0.0).Kya) for x in left.stand.wheel_load[i : i + 2])
            assert left.metrics[name] == pytest.approx(math.radians(both) / 1000, rel=1e-9)


@pytest.mark.campaign
def test_damping_is_taken_where_the_body_moves():
    """Digressive dampers: at 0.1 m/s of the wheel, not at the first point of the table."""
    car = symmetric(bc.vehicles.Car.read("passenger"))
    table = car.changed(front={"damper": DIGRESSIVE})
    v = 0.1 * _ratio(car)
    secant = (np.interp(v, [0.05, 1], [150, 900]) - np.interp(-v, [-1, -0.05], [-1900, -250])) / (
        2 * v
    )
    plain = car.changed(
        front={
            "damper": {
                "table": None,
                "compression": None,
                "rebound": None,
                "coefficient": f"{secant} N-s/m",
            }
        }
    )
    assert table.metrics["damping_front"] == pytest.approx(plain.metrics["damping_front"], rel=1e-9)


def _ratio(car):
    axle = car.data.front
    pose = axle.pose(car.stand.travel[0])
    a, b = (pose.point(p) for p in axle.damper)
    line = a.position - b.position
    return abs(float(line @ (a.d - b.d) / np.linalg.norm(line)))
