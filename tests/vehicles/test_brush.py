"""Brush tyre against its closed form, at a wheel that rolls, sticks and slides."""

import math

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.symbolic.expr import evaluate

MU, LOAD, C = 0.9, 4000.0, 80e3
FORCES = {0.02: 1374.8233225081, 0.05: 2702.7395855762, 0.1: 3539.0481160773}
"""N at slip angles in rad: the closed form, checked against integration over the patch to 1e-10."""
M, G, RIM, K = 300.0, 9.80665, 0.3, 2e5


def ratio(law, elastic, what="force_fraction"):
    s = bc.System("numbers")
    value = s.expr(getattr(law, what)("hold", "most"))
    return evaluate([value], {s.parameter("hold"): elastic, s.parameter("most"): MU * LOAD})[0]


@pytest.mark.parametrize("angle", FORCES)
def test_force_over_slip_is_the_published_one(angle):
    elastic = C * math.tan(angle)
    assert elastic * ratio(bc.vehicles.tyres.Brush(C), elastic) == pytest.approx(
        FORCES[angle], rel=1e-10
    )


@pytest.mark.campaign
def test_work_is_that_of_the_force_on_the_way_to_rest():
    law, most = bc.vehicles.tyres.Brush(C), MU * LOAD
    q = np.linspace(0, 5 * most, 401)[1:]
    force = q * [ratio(law, x) for x in q]
    done = (
        np.concatenate([[0], np.cumsum((force[1:] + force[:-1]) / 2 * np.diff(q))])
        + q[0] * force[0] / 2
    )
    assert q**2 * [ratio(law, x, "work") for x in q] == pytest.approx(done, abs=1e-5 * done[-1])


@pytest.fixture(scope="module")
def block():
    """A wheel that cannot turn, on a plane."""
    s = bc.System("locked wheel", axes="ISO 8855")
    body = s.add_point_mass("b", mass=M)
    s.add_gravity()
    law = bc.vehicles.tyres.Brush(30e3, 30e3, friction=0.8)
    s.add_contact(
        "t",
        at=body,
        radius=RIM,
        terrain=bc.vehicles.terrain.flat(),
        tyre=bc.Tyre(K, 3000, law),
        wheel=body,
    )
    s.set_run(t_end=1, step=0.001, initial={"q(b, 3)": RIM - M * G / K})
    s.add_outputs("energy")
    return s.equations().compile()


def test_locked_wheel_slides_with_the_friction_limit_and_swings_on_its_bristles(block):
    run = block.simulate(initial={"u(b, 1)": 6, "u(b, 2)": 8}, t_end=2)
    speed = np.hypot(run["u(b, 1)"], run["u(b, 2)"])
    assert (speed[400] - speed[900]) / 0.5 == pytest.approx(0.8 * G, rel=1e-3)
    assert np.hypot(run["t_fx"], run["t_fy"]).max() <= 0.8 * M * G * (1 + 1e-9)
    assert speed[1300:].max() < 1.5  # what the bristles give back
    energy = run["energy"] + run["t_stored"]
    assert np.diff(energy).max() < 1e-6 * energy[0]


def test_wrong_values_are_told():
    assert bc.vehicles.tyres.Brush(-1, friction=0).problems() == [
        "longitudinal=-1 must be positive",
        "friction=0 must be positive",
    ]
