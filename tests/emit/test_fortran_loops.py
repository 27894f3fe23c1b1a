"""Closed loops in Fortran: accelerations on the null space of their rows, and how good its pivots are, as by NumPy."""

import ctypes
import subprocess

import numpy as np
import pytest

from bellcrank.emit.fortran.loops import scales
from bellcrank.emit.fortran.runtime_files import real, runtime
from bellcrank.numeric.null_space import constrained_rates
from bellcrank.numeric.projection import Scales, steadiness
from bellcrank.numeric.tuning import ELIMINATION
from tests.programs import GFORTRAN

MODULE = """
module under_test
  implicit none
  integer, parameter :: dp = kind(1.0d0), n_u = 5, n_v = 3, rank_v = 3
{scales}
contains
{routines}
  subroutine solve(mass, force, rows, right, rates, steady) bind(c)
    real(dp), intent(inout) :: mass(n_u, n_u)
    real(dp), intent(in) :: force(n_u), rows(n_v, n_u), right(n_v)
    real(dp), intent(out) :: rates(n_u + 1), steady
    call constrained_rates(mass, force, rows, right, rates)
    steady = steady_ratio(rows)
  end subroutine solve
end module under_test
"""


@pytest.mark.skipif(GFORTRAN is None, reason="gfortran is not installed")
def test_accelerations_on_the_null_space_as_by_numpy(tmp_path):
    """With scales of rows and columns far from one, as slides beside rotations have them."""
    rng = np.random.default_rng(4)
    rows, columns = rng.uniform(0.1, 10, 3), rng.uniform(0.1, 10, 5)
    k = Scales(3, 3, tuple(rows.tolist()), tuple(columns.tolist()), 0.3, ((1, 4), (0, 2), (2, 0)), 0.2)
    routines = runtime("solve.f90", DEPENDENT=real(ELIMINATION.dependent))
    routines += runtime("null_space.f90", VANISHING=real(ELIMINATION.vanishing))
    (tmp_path / "loops.f90").write_text(MODULE.format(scales="\n".join(scales(k)), routines=routines), encoding="utf-8")
    command = [GFORTRAN, "-O0", "-shared", "-fPIC", "-o", "loops.so", "loops.f90"]
    subprocess.run(command, cwd=tmp_path, check=True)
    library = ctypes.CDLL(str(tmp_path / "loops.so"))
    half, force, J, right = (rng.normal(size=n) for n in ((5, 5), 5, (3, 5), 3))
    J /= np.outer(rows, columns)
    M = half @ half.T
    given = [np.asfortranarray(x) for x in (np.tril(M), force, J, right, np.zeros(6), np.zeros(1))]
    library.solve(*(x.ctypes.data_as(ctypes.c_void_p) for x in given))
    lower = [row[: i + 1] for i, row in enumerate(M.tolist())]
    np.testing.assert_allclose(given[4], constrained_rates(lower, force, J, right, 3, rows, columns, 0.3), rtol=1e-9)
    assert given[5][0] == pytest.approx(steadiness(J, k), rel=1e-12)
