"""Outputs that contain accelerations or constraint forces, where the equations of motion would
divide by zero."""

from pathlib import Path

import numpy as np
import pytest

import bellcrank as bc

EXAMPLE = Path(__file__).parents[2] / "examples" / "planar_pendulum.py"
STARTS = {"level": (1.0, 0.0, 0.0), "hanging": (0.0, -1.0, 3.0), "aslant": (0.6, -0.8, 0.0)}


@pytest.mark.parametrize("backend", ["c", "python"])
@pytest.mark.parametrize("start", STARTS)
def test_tension_of_a_rod_from_any_start(start, backend):
    """T = m (v^2 / l - g y / l) of a pendulum, whichever of its two coordinates the equations take
    as dependent."""
    system = bc.System.read(EXAMPLE)
    system.add_outputs("reactions")
    system.add_output("ax", "dxdt(u(bob, 1))")
    x, y, v = STARTS[start]
    initial = {"q(bob, 1)": x, "q(bob, 2)": y, "u(bob, 1)": v}
    run = (
        system.equations().compile(backend=backend).simulate(t_end=1.0, step=0.01, initial=initial)
    )
    x, y = run["q(bob, 1)"], run["q(bob, 2)"]
    tension = run["u(bob, 1)"] ** 2 + run["u(bob, 2)"] ** 2 - 9.81 * y
    np.testing.assert_allclose(run["F1(rod)"], -tension * x, atol=1e-11)
    np.testing.assert_allclose(run["F2(rod)"], -tension * y, atol=1e-11)
    np.testing.assert_allclose(run["ax"], -tension * x, atol=1e-11)
    assert "F1(bob)" not in run  # what a joint leaves free it cannot carry
