"""The benchmark bicycle: published eigenvalues from the linear model of a description with a
closure and rolling wheels."""

import numpy as np
import pytest

from tests.analysis.bicycle import TABLE_2, canonical_A, canonical_matrices, published
from tests.late import Late
from tests.models import example

optimize = Late("scipy.optimize")


@pytest.fixture(scope="module")
def bicycle():
    return example("whipple_bicycle").compile(backend="python")


def linear(bicycle, v):
    names = ["q(lean)", "q(fork)", "u(lean)", "u(fork)"]
    return bicycle.linearize(at={"u(rw)": -v / 0.3}, outputs=names, states=names).essential()


def moving(model):
    """Eigenvalues without the one of the forward speed, which is neutral."""
    found = model.eigenvalues
    return np.sort_complex(np.delete(found, np.argmin(np.abs(found))))


def test_formulas_give_the_published_matrices():
    M, C1, K0, K2 = canonical_matrices()
    assert (
        pytest.approx(
            np.array([[80.81722, 2.31941332208709], [2.31941332208709, 0.29784188199686]]),
            rel=1e-13,
        )
        == M
    )
    assert (
        pytest.approx(
            np.array([[0, 33.86641391492494], [-0.85035641456978, 1.68540397397560]]), rel=1e-13
        )
        == C1
    )
    assert (
        pytest.approx(
            np.array([[-80.95, -2.59951685249872], [-2.59951685249872, -0.80329488458618]]),
            rel=1e-13,
        )
        == K0
    )
    assert pytest.approx(np.array([[0, 76.59734589573222], [0, 2.65431523794604]]), rel=1e-13) == K2


@pytest.mark.parametrize("v", TABLE_2)
def test_published_eigenvalues(bicycle, v):
    model = linear(bicycle, v)
    assert model.equilibrium  # steady straight running
    assert moving(model) == pytest.approx(published(v), rel=1e-9)


def test_matrix_is_that_of_the_canonical_equations(bicycle):
    model = linear(bicycle, 4.6)
    assert model.state_names[:2] == ["q(lean)", "q(fork)"]
    order = [model.state_names.index(n) for n in ("q(lean)", "q(fork)", "u(lean)", "u(fork)")]
    assert model.A[np.ix_(order, order)] == pytest.approx(canonical_A(4.6), rel=1e-9, abs=1e-12)


def test_weave_and_capsize_speeds(bicycle):
    def weave(v):
        return max(x.real for x in moving(linear(bicycle, v)) if x.imag > 0)

    def capsize(v):
        return max(x.real for x in moving(linear(bicycle, v)) if x.imag == 0)

    assert optimize.brentq(weave, 4.2, 4.4, xtol=1e-12) == pytest.approx(4.292382536, abs=6e-10)
    assert optimize.brentq(capsize, 5.9, 6.1, xtol=1e-12) == pytest.approx(6.024262015, abs=6e-10)


def test_root_locus_over_the_speed(bicycle):
    locus = bicycle.root_locus("u(rw)", [-v / 0.3 for v in (4, 5, 7)], at=lambda u: {})
    assert [bool(np.any(row.real > 1e-9)) for row in locus.eigenvalues] == [True, False, True]
