"""Passenger car: eigenvalues and steady gains over speed against a linear calculation by hand.

Unknowns: lateral speed v of the rear axle point, yaw rate r, roll angle phi about the inclined axis
e1 = (cos t, 0, sin t). Small motions: the mass centre of the rolling body is d = ce cos t + h sin t
ahead of the rear axle and moves sideways by h phi; its angular velocity on its own axes is (phi' +
r sin t, 0, r cos t). One equation per unknown by virtual power.
"""

from math import cos, sin

import numpy as np
import pytest

from tests.models import example, relative

SPEEDS = [300.0, 600.0, 968.0, 1400.0]  # in/s


@pytest.fixture(scope="module")
def car():
    return example("passenger_car").compile(backend="python")


def by_hand(car, speed):
    """A and B (steer at the road) in the states v, r, phi, phi'; equation units."""
    p = dict(
        zip(
            [x.name for x in car.interface.parameters],
            car.parameter_values({"speed": speed}),
            strict=True,
        )
    )
    t, h, V, m1, m2 = p["thetar"], p["h"], p["speed"], p["nrbm"], p["rbm"]
    d = p["ce"] * cos(t) + h * sin(t)
    E = np.eye(4)
    # rows: side force, yaw moment about the rear axle point, roll moment, phi' = phi'
    turn = np.array([sin(t), cos(t)])  # yaw rate on axes 1 and 3 of the rolling body
    I = np.array([[p["ixx"], p["ixz"]], [p["ixz"], p["izzr"]]])
    E = np.zeros((4, 4))
    E[0] = [m1 + m2, m2 * d, 0, m2 * h]
    E[1] = [m2 * d, p["nrbi33"] + m2 * d * d + turn @ I @ turn, 0, m2 * d * h + turn @ I[:, 0]]
    E[2] = [m2 * h, m2 * h * d + I[0] @ turn, 0, m2 * h * h + p["ixx"]]
    E[3] = [0, 0, 1, 0]
    front = np.array([1 / V, p["l"] / V, 0, 0])  # slip angles without steer
    rear = np.array([1 / V, 0, -p["krs2"], 0])
    side = p["ca1"] * front + np.array([0, 0, p["cg1"] * p["ccoef1"], 0])
    F = np.zeros((4, 4))
    F[0] = side + p["ca2"] * rear - np.array([0, (m1 + m2) * V, 0, 0])
    F[1] = p["l"] * side + p["cam1"] * front + p["cam2"] * rear - np.array([0, m2 * d * V, 0, 0])
    F[2] = [0, -m2 * h * V, m2 * p["g"] * h * cos(t) - p["kroll"], -p["croll"] * cos(t)]
    F[3] = [0, 0, 0, 1]
    steer = np.array([-p["ca1"], -p["l"] * p["ca1"] - p["cam1"], 0, 0])
    return np.linalg.solve(E, F), np.linalg.solve(E, steer)


def straight(car, speed):
    at = car.equilibrium(parameters={"speed": speed, "steer": 0.0})
    return car.linearize(at=at, wrt=["steer"], outputs=["r", "Ay"])


@pytest.mark.parametrize("speed", SPEEDS)
def test_eigenvalues_over_speed(car, speed):
    A, _ = by_hand(car, speed)
    model = straight(car, speed).essential()
    assert model.state_names == ["q(rb)", "u(nrb, 2)", "u(nrb, 3)", "u(rb)"]
    assert model.eigenvalues == pytest.approx(np.sort_complex(np.linalg.eigvals(A)), rel=1e-9)


@pytest.mark.parametrize("speed", SPEEDS)
def test_steady_yaw_rate_gain(car, speed):
    A, B = by_hand(car, speed)
    gain = -np.linalg.solve(A, B)[1]  # rad/s per rad is deg/s per deg
    assert straight(car, speed).steady_gain("steer", "r") == pytest.approx(gain, rel=1e-9)


def test_matrices(car):
    A, B = by_hand(car, 968.0)
    model = straight(car, 968.0).essential().in_equation_units()
    order = [model.state_names.index(n) for n in ("u(nrb, 2)", "u(nrb, 3)", "q(rb)", "u(rb)")]
    assert relative(model.A[np.ix_(order, order)], A) < 1e-9
    assert relative(model.B[order, 0], B) < 1e-9


def test_steady_turn_is_where_a_long_run_ends(car):
    """The non-linear steady turn with one degree of steer, against the end of a simulated step
    steer."""
    found = car.equilibrium()
    run = car.simulate(t_end=30.0, step=0.01, method="rk4", output_every=100)
    for name in ("q(rb)", "u(nrb, 2)", "u(nrb, 3)"):
        assert found[name] == pytest.approx(run[name][-1], rel=1e-8)
    assert set(found.neutral) == {"q(nrb, 1)", "q(nrb, 2)", "q(nrb, 3)"}
    assert found.steady["q(nrb, 3)"] == pytest.approx(found["u(nrb, 3)"])


def test_root_locus_and_chart_over_speed(car):
    locus = car.root_locus("speed", SPEEDS, parameters={"steer": 0.0})
    for speed, row in zip(SPEEDS, locus.eigenvalues, strict=True):
        assert np.sort_complex(row) == pytest.approx(
            np.sort_complex(np.linalg.eigvals(by_hand(car, speed)[0])), rel=1e-8
        )
    # a loose rear axle makes the car unstable above some speed
    chart = car.stability_chart(
        ("speed", [300.0, 968.0]), ("ca2", [-428.0, -150.0]), parameters={"steer": 0.0}
    )
    assert chart.stable.tolist() == [[True, True], [True, False]]


def test_equilibria_over_steer(car):
    found = car.equilibria("steer", [0.0, 0.5, 1.0])
    assert found["r"][0] == pytest.approx(0.0, abs=1e-9)
    assert found["r"][2] == pytest.approx(car.equilibrium()["u(nrb, 3)"], rel=1e-9)
    assert 0 < found["Ay"][1] < found["Ay"][2]
