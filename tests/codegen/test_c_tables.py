"""Tables in C against the tables of the algebra: inside, at the points, and outside."""

import numpy as np
import pytest
from scipy.interpolate import RectBivariateSpline

import bellcrank as bc
from bellcrank.codegen.c.source import c_source
from bellcrank.codegen.python.runtime.surface import Surface
from bellcrank.simulation.backend.c import CModel
from tests.models import STRICT, needs_compiler, pendulum

X = (-2.0, -0.5, 0.0, 1.0, 3.0, 3.5)
Y = (1.0, -1.0, 0.5, 2.0, 2.0, -3.0)
Z = np.random.default_rng(5).uniform(-1, 1, (6, 5)).tolist()
V = (-1.0, 0.0, 0.25, 2.0, 4.0)


def model_of(formula, *tables):
    """The pendulum with tables f, g of the inputs a and b."""

    def prepare(s):
        s.add_input("a", units="1")
        s.add_input("b", units="1")
        for name, table in zip("fg", tables, strict=False):
            s.define(name, table)

    eom = pendulum(f"m0*({formula})", prepare, m0=2.1).equations()
    sim = eom.compile(backend="python")
    return CModel(eom.program, sim.loaded.functions, flags=STRICT).new_calls(), sim


def value(model, sim, a, b):
    p = sim.parameter_values()
    given = {"a": a, "b": b}
    w = [given[s.name] for s in sim.loaded.program.inputs]
    return model.derivatives(0.0, [0.0], [0.0], p, model.constants(p), w)[1][0]


@needs_compiler
@pytest.mark.parametrize("order", [1, 3])
def test_table_of_one_argument(order):
    table = bc.table(X, Y, order)
    model, sim = model_of("f(a)", table)
    for a in (*X, -7.0, -1.2, 0.3, 2.9, 3.4999, 40.0):
        assert value(model, sim, a, 0.0) == pytest.approx(table.value(a), rel=1e-13, abs=1e-13)


@needs_compiler
@pytest.mark.parametrize("order", [1, 3])
def test_table_of_two_arguments(order):
    table = bc.table(X, V, Z, order)
    model, sim = model_of("f(a, b)", table)
    rng = np.random.default_rng(2)
    for a, b in (*rng.uniform(-3, 5, (40, 2)), *((x, v) for x in X for v in V)):
        assert value(model, sim, a, b) == pytest.approx(table.value(a, b), rel=1e-11, abs=1e-11)


@needs_compiler
def test_derivatives_of_a_cubic_table_share_its_points():
    table = bc.table(X, Y, 3)
    model, sim = model_of("f(a) + partial(f(a), a) + g(b)", table, bc.table(X, Y, 1))
    assert (
        c_source(model.program).count("static const real points_") == 2
    )  # f with its derivative, g
    slope = table.partial(0, ()).function
    for a in (-7.0, -2.0, 0.3, 3.5, 9.0):
        assert value(model, sim, a, 1.0) == pytest.approx(
            table.value(a) + slope.value(a) + 2.0, rel=1e-12
        )


@needs_compiler
def test_argument_that_is_not_a_number_gives_none():
    model, sim = model_of("f(a) + g(a, b)", bc.table(X, Y, 3), bc.table(X, V, Z, 1))
    assert np.isnan(value(model, sim, float("nan"), 0.0))


def test_surfaces_of_programs_in_python_know_every_cell():
    """Straight between points of no order, also in the last cells; held outside the edges."""
    x, y, z = (
        np.array([0.0, 1.0, 3.0, 4.0]),
        np.array([-1.0, 0.0, 2.0]),
        np.random.default_rng(3).normal(size=(4, 3)),
    )
    pieces = []
    for i in range(3):
        for j in range(2):
            (a, b), (c, d) = z[i : i + 2, j : j + 2]
            pieces += [a, b - a, 0, 0, c - a, a - b - c + d, *[0] * 10]
    surface, exact = Surface(x, y, pieces, 0, 0), RectBivariateSpline(x, y, z, kx=1, ky=1)
    for a in (-1.0, 0.5, 2.0, 3.9, 4.0, 7.0):
        for b in (-2.0, -0.5, 1.9, 2.0, 3.0):
            assert surface(a, b) == pytest.approx(
                float(exact(np.clip(a, 0, 4), np.clip(b, -1, 2))[0, 0])
            )
