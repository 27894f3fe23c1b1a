"""Double pendulum of Sweegers & Nederkoorn (1992), WFW 92-086: closed form and the published table
D.1."""

import numpy as np
import pytest
from cases import assert_close, sample

from tests.models import example

PUBLISHED = [  # t, phi1, phi2, u1, u2, potential energy; damping zero
    (0.0, 0.785400, 0.785400, 0.0, 0.0, 67.9731),
    (0.1, 0.772252, 0.785460, -0.261460, -0.00189390, 66.5536),
    (0.2, 0.733707, 0.783802, -0.504946, -0.0402686, 62.3914),
    (9.9, -0.800972, -0.667137, -0.575472, 0.749501, 65.0391),
    (10.0, -0.845089, -0.593321, -0.303698, 0.717326, 67.0548),
]
DAMPED = [  # t, phi1, phi2, u1, u2; converged solution of the closed form
    (0.5, 0.536532, 0.689256, -0.845275, -0.504424),
    (1.0, 0.0585478, 0.319797, -0.987560, -0.810881),
    (10.0, -0.0471743, -0.0237614, 0.0627301, 0.0176262),
]


def closed_form(phi, u, wda, wdab):
    """Accelerations from the equations written out by hand (g = 9.81, la = lb = 1, masses 2 and
    4)."""
    a, b, d = 2.66667 + 2 + 16, 5.33333 + 4, 8.0
    c2, s2 = np.cos(phi[1]), np.sin(phi[1])
    lower = 4 * 9.81 * np.sin(phi[0] + phi[1])
    M = [[a + b + 2 * d * c2, b + d * c2], [b + d * c2, b]]
    f = [
        -wda * u[0] + d * s2 * (2 * u[0] * u[1] + u[1] ** 2) - 10 * 9.81 * np.sin(phi[0]) - lower,
        -wdab * u[1] - d * s2 * u[0] ** 2 - lower,
    ]
    return np.linalg.solve(M, f)


@pytest.mark.parametrize("damping", [0.0, 28.64789])
def test_closed_form(damping):
    sim = example("double_pendulum").compile(backend="python")
    rng = np.random.default_rng(1)
    for _ in range(5):
        phi, u = rng.uniform(-3, 3, 2), rng.uniform(-3, 3, 2)
        qdot, udot = sim.derivatives(0.0, phi, u, parameters={"wda": damping, "wdab": damping})
        assert_close(qdot, u, 1e-14)
        assert_close(udot, closed_form(phi, u, damping, damping), 1e-12)


@pytest.mark.parametrize(
    ("damping", "ia3", "ib3", "table", "extra"),
    [(0.0, 2.66667, 5.33333, PUBLISHED, ["pe"]), (28.64789, 2.66666667, 5.33333333, DAMPED, [])],
)
def test_published_history(damping, ia3, ib3, table, extra):
    eom = example("double_pendulum")
    run = eom.compile(backend="python").simulate(
        t_end=10.0,
        step=0.005,
        method="rk4",
        output_every=20,
        initial={"q(a)": 0.7854, "q(b)": 0.7854},
        parameters={"wda": damping, "wdab": damping, "ia3": ia3, "ib3": ib3},
    )
    for t, *values in table:
        got = sample(run, (*eom.coordinates, *eom.speeds, *extra), t)
        np.testing.assert_allclose(got, values, rtol=5e-6, atol=1e-9)
