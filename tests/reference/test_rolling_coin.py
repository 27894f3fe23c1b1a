"""The coin on an incline describes a cycloid across the slope (Neimark & Fufaev (1972), ch. II;
closed form of a uniform disc)."""

import numpy as np
import pytest
from cases import compiled


@pytest.mark.parametrize("slope", [5.0, 20.0])
def test_centre_describes_a_cycloid(slope):
    """Speed along the heading: v' = (2/3) g sin(slope) cos(spin t)."""
    run = compiled("rolling_coin", slope=slope).simulate()
    t, spin, pull = run.time, 4.0, 9.80665 * np.sin(np.radians(slope))
    assert run["x"] == pytest.approx(pull / (3 * spin**2) * np.sin(spin * t) ** 2, abs=1e-10)
    assert run["y"] == pytest.approx(
        pull / (3 * spin) * (t - np.sin(2 * spin * t) / (2 * spin)), abs=1e-10
    )


def test_coin_does_not_go_downhill():
    run = compiled("rolling_coin").simulate(t_end=20)
    assert run["x"].max() < 0.08
    assert run["y"][-1] > 5
