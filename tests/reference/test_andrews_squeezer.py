"""Andrews' squeezing mechanism at t = 0.03 s against the reference of the test set for initial
value problem solvers.

Mazzia & Magherini (2008), problem `andrews`: PSIDE with tolerances of 1e-14. beta, theta, gamma,
phi, delta, Omega, epsilon; rates; second rates.
"""

import numpy as np
import pytest
from cases import assert_close, compiled

ORDER = ("k1", "k2", "k3", "k4", "k5", "k6", "k7")
ANGLES = [
    0.1581077119629904e2, -0.1575637105984298e2, 0.4082224013073101e-1, -0.5347301163226948, 0.5244099658805304,
    0.5347301163226948, 0.1048080741042263e1,
]  # fmt: skip
RATES = [
    0.1139920302151208e4, -0.1424379294994111e4, 0.1103291221937134e2, 0.1929337464421385e2, 0.5735699284790808,
    -0.1929337464421385e2, 0.3231791658026955,
]  # fmt: skip
ACCELERATIONS = [
    -0.2463176316945196e5, 0.5185037701610329e5, 0.3241025686413781e6, 0.5667493645176213e6, 0.1674362929479361e5,
    -0.5667493645176222e6, 0.9826520791458422e4,
]  # fmt: skip
START = [
    14222.4439199541138705911625887,
    -10666.8329399655854029433719415,
]  # second rates of beta and theta at t = 0


@pytest.fixture(scope="module")
def sim():
    return compiled("andrews_squeezer")


def last(run, letter):
    return np.array([run[f"{letter}({name})"][-1] for name in ORDER])


def accelerations(sim, q, u):
    """In the order of the reference; the states of the program follow the tree."""
    names = [x.name for x in sim.interface.speeds]
    return sim.derivatives(0.0, q, u)[1][[names.index(f"u({k})") for k in ORDER]]


def state(sim):
    """The published state at the end, in the order of the program."""
    names = [x.name[2:-1] for x in sim.interface.coordinates]
    return [np.array([listed[ORDER.index(k)] for k in names]) for listed in (ANGLES, RATES)]


def test_accelerations_at_the_start(sim):
    assert_close(accelerations(sim, *sim.assemble()), [*START, 0, 0, 0, 0, 0], 1e-12)


def test_published_state_gives_the_published_accelerations(sim):
    found = accelerations(sim, *state(sim))
    assert_close(found, ACCELERATIONS, 1e-6)


@pytest.mark.parametrize(
    ("settings", "limit"),
    [
        ({"method": "dop853", "rtol": 1e-11, "atol": 1e-11}, 1e-8),
        ({"step": 2.5e-6}, 1e-6),
        ({"step": 2e-5}, 1e-6),
    ],
    ids=["adaptive", "small steps", "steps of the example"],
)
def test_solution_at_the_end(sim, settings, limit):
    run = sim.simulate(output_every=1000, **settings)
    assert run.ended == "finished"
    assert_close(last(run, "q"), ANGLES, limit)
    assert_close(last(run, "u"), RATES, limit)
