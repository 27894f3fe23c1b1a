"""Rolling disc: the critical speed of upright rolling (Neimark & Fufaev (1972), ch. VI), and
conserved energy."""

import numpy as np
import pytest

from tests.late import Late
from tests.models import example

optimize = Late("scipy.optimize")


@pytest.fixture(scope="module")
def sim():
    return example("rolling_disc").compile(backend="python")


def stiffness(sim, speed, h=1e-3):
    """Square of the frequency of small nods about straight rolling, from fourth-order differences
    of our equations."""
    n = len(sim.interface.coordinates)
    states = [s.name for s in (*sim.interface.coordinates, *sim.interface.speeds)]
    x = np.zeros(len(states))
    x[states.index("u(yaw, 1)")] = speed

    def slope(i):
        def rates(step):
            y = x.copy()
            y[i] += step
            return np.concatenate(sim.derivatives(0.0, y[:n], y[n:]))

        return (8 * (rates(h) - rates(-h)) - (rates(2 * h) - rates(-2 * h))) / (12 * h)

    A = np.array([slope(i) for i in range(len(x))]).T
    squares = np.linalg.eigvals(A).real ** 2 - np.linalg.eigvals(A).imag ** 2
    return -squares[np.argmax(abs(squares))]


def test_critical_speed_of_a_uniform_disc(sim):
    critical = optimize.brentq(lambda v: stiffness(sim, v), 0.5, 2.0, xtol=1e-9)
    assert critical == pytest.approx(np.sqrt(9.80665 * 0.3 / 3), rel=1e-6)


def test_a_push_at_speed_only_makes_it_nod(sim):
    run = sim.simulate()
    assert abs(run["lean"]).max() < 0.04
    assert np.ptp(run["energy"]) < 1e-8 * run["energy"][0]


def test_initial_value_of_a_dependent_speed_is_honoured(sim):
    q, u = sim.assemble({"u(disc)": 5.0})
    qdot, _ = sim.derivatives(0.0, q, u)
    names = [c.name for c in sim.interface.coordinates]
    assert qdot[names.index("q(disc)")] == pytest.approx(5.0)
    with pytest.warns(UserWarning, match="contradicts"):
        sim.assemble({"u(disc)": 5.0, "u(yaw, 1)": 0.1})
