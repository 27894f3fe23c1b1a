"""The benchmark bicycle: eigenvalues of lean and steer from our nonlinear equations, and conserved quantities.

Meijaard, Papadopoulos, Ruina & Schwab (2007), Proc. R. Soc. A 463, 1955-1982, table 2.
"""

import numpy as np
import pytest
from cases import compiled, loop_residuals

from tests.late import Late

optimize = Late("scipy.optimize")

WEAVE, CAPSIZE = 4.29238253634111, 6.02426201538837  # m/s
STATES = ("q(lean)", "q(fork)", "u(lean)", "u(fork)")
RADIUS = 0.3  # of the rear wheel, m
PUBLISHED = {
    0.0: [-5.53094371765393, -3.13164324790656, 3.13164324790656, 5.53094371765393],
    4.0: [-12.15861426576447, -1.42944427361326, 0.41325331521125 - 3.07910818603206j, 0.41325331521125 + 3.07910818603206j],
    5.0: [-14.07838969279822, -0.77534188219585 - 4.46486771378823j, -0.77534188219585 + 4.46486771378823j, -0.32286642900409],
    10.0: [-24.62459635017404, -3.72016840437287 - 10.90681139476287j, -3.72016840437287 + 10.90681139476287j, 0.16105338653172],
}  # fmt: skip


@pytest.fixture(scope="module")
def sim():
    return compiled("whipple_bicycle", backend="python")


def eigenvalues(sim, speed, h=0.01):
    """Of lean and steer about upright straight rolling, by sixth-order differences along states on the constraints."""
    names = [x.name for x in (*sim.interface.coordinates, *sim.interface.speeds)]
    place = [names.index(s) for s in STATES]

    def rates(state, size):
        start = {**dict.fromkeys(STATES, 0.0), "u(rw)": -speed / RADIUS, state: size}
        return np.concatenate(sim.derivatives(0.0, *sim.complete(start)))[place]

    def slope(state):
        weights = {1: 45, 2: -9, 3: 1}
        return sum(w * (rates(state, i * h) - rates(state, -i * h)) for i, w in weights.items()) / (60 * h)

    return np.sort_complex(np.linalg.eigvals(np.array([slope(s) for s in STATES]).T))


@pytest.mark.parametrize("speed", PUBLISHED)
def test_published_eigenvalues(sim, speed):
    assert eigenvalues(sim, speed) == pytest.approx(np.sort_complex(PUBLISHED[speed]), abs=1e-7)


def test_weave_and_capsize_speeds(sim):
    def growth(speed):
        return eigenvalues(sim, speed).real.max()

    assert optimize.brentq(growth, 4, 5, xtol=1e-9) == pytest.approx(WEAVE, rel=1e-7)
    assert optimize.brentq(growth, 6, 7, xtol=1e-9) == pytest.approx(CAPSIZE, rel=1e-7)


def test_a_push_dies_out_and_energy_stays():
    """Between both speeds; the front wheel stays on the road and neither wheel slips."""
    sim = compiled("whipple_bicycle")
    run = sim.simulate(t_end=10, step=0.005)
    assert run.ended == "finished"
    assert abs(run["lean"]).max() > 0.05
    assert abs(run["lean"][-1]) < 0.02 and abs(run["steer"][-1]) < 0.02
    assert np.ptp(run["energy"]) < 1e-8 * run["energy"][0]
    assert loop_residuals(sim, run).max() < 1e-12
