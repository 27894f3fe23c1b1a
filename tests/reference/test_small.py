"""One description of the passenger car, derived with and without small variables (Sayers 1990,
section 9.1)."""

from itertools import pairwise

import numpy as np
import pytest
from cases import assert_close

import bellcrank as bc
from bellcrank.symbolic.expr import evaluate, free_symbols
from tests.models import example, system

SMALL = ("q(rb)", "u(rb)", "u(nrb, 2)", "u(nrb, 3)")


def accelerations(eom, scale):
    """At a state, and a steer angle, scaled down together."""
    sim = eom.compile(backend="python")
    q, u = [0.0, 0.0, 0.7, 0.1 * scale], [50.0 * scale, 0.2 * scale, 0.3 * scale]
    return sim.derivatives(0.0, q, u, parameters={"steer": 2.0 * scale, "ixz": 300.0})[1]


def test_difference_shrinks_with_square_of_amplitude():
    s = system("passenger_car")
    full = s.equations()
    s.small(*SMALL)
    small = s.equations()
    scales = 0.5 ** np.arange(6)
    errors = [np.abs(accelerations(full, e) - accelerations(small, e)).max() for e in scales]
    assert errors[0] > 1e-3  # the truncation is visible at all
    for larger, smaller in pairwise(errors):
        assert smaller <= larger / 3.9


def test_keyword_and_declaration_mean_the_same():
    s = system("passenger_car")
    s.small(*SMALL)
    by_keyword = example("passenger_car_small")
    assert_close(accelerations(s.equations(), 1.0), accelerations(by_keyword, 1.0), 1e-14)


@pytest.mark.campaign
def test_small_spacecraft_approaches_the_full_one():
    """Bus and boom small, clock and camera not; commands and thrusters held."""
    external = {"cmd": lambda t: (0.7, 0.8), "thrust": lambda t, axis, err, memory: 0.0}
    full, small = (
        example(name).compile(backend="python", external=external)
        for name in ("spacecraft_1", "spacecraft_1_small")
    )

    def difference(scale):
        q, u = np.full(10, 0.05 * scale), np.full(10, 0.04 * scale)
        q[6:8], u[6:8] = (0.7, 0.8), (0.4, 0.3)
        return np.abs(full.derivatives(0.0, q, u)[1] - small.derivatives(0.0, q, u)[1]).max()

    errors = [difference(e) for e in 0.5 ** np.arange(5)]
    for larger, smaller in pairwise(errors):
        assert smaller <= larger / 3.5


def two_small_links(threshold=None):
    s = bc.System("two links")
    if threshold is not None:
        s.small_threshold = threshold
    small = {} if threshold is None else {"small_angles": True}
    bar = {"rotate": 2, "cm": (0, 0, "L/2"), "mass": "m", "inertia": 0, **small}
    a = s.add_body("a", **bar)
    s.add_body("b", parent=a, joint_at=(0, 0, "L"), **bar)
    s.add_gravity()
    s.set_defaults(L=1, m=1, g=9.81)
    return s.equations()


@pytest.mark.parametrize("threshold", [2, 4, 6])
def test_matrices_keep_the_orders_of_the_program(threshold):
    """u' of mass_matrix and forces is as close to the exact one as that of the program."""
    exact, equations = two_small_links(), two_small_links(threshold)
    sims = [x.compile(backend="python") for x in (exact, equations)]
    q, u = np.array([0.3, 0.2]), np.array([0.2, 0.1])
    expected, shortened = (np.array(sim.derivatives(0.0, q, u)[1]) for sim in sims)
    values = {x: v for x, v in zip((*equations.coordinates, *equations.speeds), (*q, *u))}
    constants = {"L": 1.0, "m": 1.0, "g": 9.81}
    expressions = [*equations.forces, *(x for row in equations.mass_matrix for x in row)]
    for expression in expressions:
        values |= {x: constants[x.name] for x in free_symbols(expression) if x.name in constants}
    M = [evaluate(row, values) for row in equations.mass_matrix]
    found = np.linalg.solve(M, evaluate(equations.forces, values))
    allowed = 3 * np.abs(shortened - expected).max() + 1e-12
    assert np.abs(found - expected).max() < allowed
