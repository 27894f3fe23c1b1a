"""The cart of Sayers (1990), section 9.2: eight rolling constraints, two redundant, two degrees of
freedom left."""

import numpy as np
import pytest
from cases import assert_close

from tests.models import example, system

CHECK = {  # independent evaluation of Kane's equations at one state
    "q": [1.0, 2.0, 0.3, 0.25, 0.1, 0.2, 0.3, 0.4],
    "u": [2.0, 0.3],
    "qp": [1.9106729782512122, 0.5910404133226784, 0.66, 3.984153789844936, 22.524158290028677, -0.6966106591960044, 11.65, 8.35],
    "up": [1.745822448492184, 2.608045122103033],
    "M": [[38.29607931, -94.29341493], [-94.29341493, 1391.7604963]],
}  # fmt: skip
MIDPOINT_3_S = [
    14.4605,
    -0.0670218,
    -0.0212611,
    -1.44118e-05,
    71.6805,
    73.0369,
    72.2716,
    72.378,
    9.66035,
    -4.20596e-05,
]


@pytest.fixture(scope="module")
def cart():
    return example("cart")


@pytest.mark.parametrize("solve", ["auto", "implicit"])
def test_check_state(solve):
    qdot, udot = (
        system("cart")
        .equations(solve=solve)
        .compile(backend="python")
        .derivatives(0.0, CHECK["q"], CHECK["u"])
    )
    assert_close(qdot, CHECK["qp"], 1e-10)
    assert_close(udot, CHECK["up"], 1e-10)


def test_speeds_are_removed_in_the_published_order(cart):
    assert [c.speed.name for c in cart.constraints] == [
        "u(rrw)",
        "u(lrw)",
        "u(rfw)",
        "u(lfw)",
        "u(b, 3)",
        "u(f)",
    ]
    assert [u.name for u in cart.speeds] == ["u(b, 1)", "u(b, 2)"]
    assert len(cart.notes) == 2 and all("ignored" in n for n in cart.notes)


def test_history_of_the_midpoint_rule(cart):
    run = cart.compile(backend="python").simulate(t_end=3.0, step=0.02, method="rk2")
    got = [run[str(s)][-1] for s in (*cart.coordinates, *cart.speeds)]
    np.testing.assert_allclose(got, MIDPOINT_3_S, rtol=1e-5)


def test_operation_count(cart):
    """Published: 48 / 94 and 4 calls."""
    c = cart.operation_count()["classic"]
    assert (c["add"], c["muldiv"], c["calls"]) == (42, 67, 4)
