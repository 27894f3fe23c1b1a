"""The Sarrus linkage moves as one equation for one angle says: platform on a straight line,
redundant rows ignored."""

import numpy as np
import pytest
from cases import compiled

from tests.late import Late
from tests.models import example

integrate = Late("scipy.integrate")

L, M_PLATE, M_PLATFORM, K, FREE = 0.5, 0.4, 2.0, 200.0, 0.5  # of the example
G = 9.80665


def acceleration(angle, rate):
    """Lagrange's equation: plates at the angle and its opposite, platform at 2 l cos(angle) below
    the base."""
    s, c = np.sin(angle), np.cos(angle)
    upper, lower = M_PLATE * L**2 / 3, M_PLATE * L**2 * ((c**2 + 9 * s**2) / 4 + 1 / 12)
    mass = 2 * upper + 2 * lower + M_PLATFORM * (2 * L * s) ** 2
    slope = (8 * M_PLATE * L**2 + 8 * M_PLATFORM * L**2) * s * c  # of the mass
    load = G * L * s * (4 * M_PLATE + 2 * M_PLATFORM) - 2 * L * s * K * (
        2 * L * c - FREE
    )  # slope of the potential
    return -(0.5 * slope * rate**2 + load) / mass


@pytest.fixture(scope="module")
def run():
    return compiled("sarrus_linkage").simulate(output_every=1)


def test_motion_of_one_angle(run):
    found = integrate.solve_ivp(
        lambda t, y: [y[1], acceleration(*y)],
        (0, 2),
        [np.pi / 3, 0.0],
        t_eval=run.time,
        method="DOP853",
        rtol=1e-12,
        atol=1e-12,
    )
    assert np.ptp(found.y[0]) > 0.3
    assert abs(run["q(a1)"] - found.y[0]).max() < 1e-8
    assert abs(run["height"] + 2 * L * np.cos(found.y[0])).max() < 1e-8


def test_platform_goes_straight_up_and_down(run):
    turn = run["q(a1)"] + run["q(a2)"] + run["q(top)"]
    assert abs(turn).max() < 1e-12
    assert abs(run["q(a1)"] + run["q(b1)"]).max() < 1e-12


def test_redundant_condition_is_noted():
    eom = example("sarrus_linkage")
    assert len(eom.independent_speeds) == 1
    assert len([n for n in eom.notes if "last hinge" in n]) == 1
