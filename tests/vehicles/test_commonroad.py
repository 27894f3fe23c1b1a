"""Step steer and slow ramp next to commonroad-vehicle-models: what agrees, and what its
simplifications change."""

import numpy as np
import pytest

from tests.vehicles import commonroad as peer

pytestmark = pytest.mark.campaign


def off(mine, theirs, name):
    return np.abs(np.array(mine[name]) / theirs[name] - 1)


def test_where_both_cars_are_alike(tmp_path):
    """Parameters matched. The step is compared with the peer whose tyres slip with their axles,
    too: only then do yaw and roll agree from the beginning."""
    p, known = peer.known()
    car = peer.make_car(peer.matched(p), tmp_path)
    sim, every = peer.compiled(car), 0.00025  # s, for wheels with little inertia
    ramp, turn = peer.slow_ramp(car, sim, every), peer.step(car, sim, every)
    for which in ("matched", "repaired"):
        assert off(ramp, known[which]["slow_ramp"], "angle")[:4].max() < 0.01  # to 4 m/s2
        assert off(ramp, known[which]["slow_ramp"], "roll")[:4].max() < 0.03
        assert off(turn, known[which]["step"], "yaw_rate")[-3:].max() < 0.01  # settled
        assert off(turn, known[which]["step"], "roll")[-3:].max() < 0.02
    assert off(turn, known["repaired"]["step"], "yaw_rate").max() < 0.015
    assert off(turn, known["repaired"]["step"], "roll").max() < 0.04
    assert off(turn, known["repaired"]["step"], "speed").max() < 1e-3
    assert (
        off(turn, known["matched"]["step"], "roll").max() > 0.2
    )  # by the slip of the body's mass centre


def test_with_the_parameters_as_they_are(tmp_path):
    """Wheels that lean with travel move across with their masses here, and keep their spin."""
    p, known = peer.known()
    car = peer.make_car(p, tmp_path)
    sim, known = peer.compiled(car), known["as_it_is"]
    ramp, turn = peer.slow_ramp(car, sim), peer.step(car, sim)
    assert off(ramp, known["slow_ramp"], "angle")[:6].max() < 0.035  # to 6 m/s2
    assert off(turn, known["step"], "yaw_rate").max() < 0.03
    assert off(turn, known["step"], "speed").max() < 2e-3
    assert 0.1 < off(ramp, known["slow_ramp"], "roll")[:4].max() < 0.15
