"""The smallest change that satisfies some rows: the same numbers through Python and C."""

import ctypes

import numpy as np
import pytest

from bellcrank.core.numeric.least_norm import least_norm
from bellcrank.core.numeric.tuning import LOOPS
from bellcrank.kernel.text import Kernel
from bellcrank.simulation.backend.compiler import compile_source, find_compiler
from tests.models import relative

MOST = 9


def in_python(folder):
    return lambda A, r, root, rank: least_norm(A, r, np.square(root), rank)


def in_c(folder):
    text = (
        f"#include <math.h>\nenum {{ N_G = {MOST}, N_V = {MOST}, N_Q = {MOST}, N_U = {MOST} }};\n"
    )
    text += (
        f"typedef double real;\n#define SHORT {LOOPS.short!r}\n#define REPEATED "
        f"{LOOPS.repeated!r}\n"
    )
    text += Kernel({}).take("length.c", "least_norm.c")
    text += (
        "void solve(int m, int n, int rank, const double *root, const double *rows, const "
        "double *r, double *x)\n"
    )
    text += "{ least_norm(m, n, rank, root, rows, r, x); }\n"
    return called(
        compile_source(text, folder, find_compiler(), ["-Wall", "-Wextra", "-Werror", "-O2"])
    )


def called(path):
    library = ctypes.CDLL(str(path))

    def solve(A, r, root, rank):
        A, r, root = (np.ascontiguousarray(x, dtype=float) for x in (A, r, root))
        x = np.empty(A.shape[1])
        library.solve(
            *A.shape, rank, *(ctypes.c_void_p(array.ctypes.data) for array in (root, A, r, x))
        )
        return x

    return solve


@pytest.fixture(scope="module", params=[in_python, in_c])
def solve(request, tmp_path_factory):
    return request.param(tmp_path_factory.mktemp("least_norm"))


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (1, 5), (3, 3), (4, 7), (2, 9)])
def test_smallest_in_its_metric(solve, rows, columns):
    rng = np.random.default_rng(rows)
    A, r, root = (
        rng.uniform(-1, 1, (rows, columns)),
        rng.uniform(-1, 1, rows),
        rng.uniform(0.5, 2, columns),
    )
    assert relative(solve(A, r, root, rows), root * np.linalg.lstsq(A * root, r)[0]) < 1e-12


@pytest.mark.parametrize("sine", [1e-3, 1e-6, 1e-8, 1e-10])
def test_rows_that_are_nearly_parallel_are_kept(solve, sine):
    """Rows (1, 0, 0) and (cos, sin, 0): x = (a, (b - a cos)/sin, 0). A square of the matrix would
    lose a sine below 1e-6."""
    A = np.array([[1.0, 0.0, 0.0], [np.sqrt(1 - sine**2), sine, 0.0]])
    r = A @ [0.3, 0.7, 0.0]
    x = solve(A, r, np.ones(3), 2)
    assert np.abs(A @ x - r).max() < 1e-15
    assert relative(x, [0.3, 0.7, 0.0]) < 1e-15 / sine


def test_rows_that_repeat_others_do_no_harm(solve):
    rng = np.random.default_rng(5)
    A, mix = rng.uniform(-1, 1, (4, 6)), rng.uniform(-1, 1, (5, 4))
    r = A @ rng.uniform(-1, 1, 6)
    expected = np.linalg.lstsq(A, r)[0]
    for rank in (4, 9):  # known, or to be found
        found = solve(np.vstack([mix @ A, A]), np.concatenate([mix @ r, r]), np.ones(6), rank)
        assert relative(found, expected) < 1e-12
    assert (solve(np.zeros((2, 3)), np.zeros(2), np.ones(3), 2) == 0.0).all()


def test_rows_of_very_different_size(solve):
    """A small row counts as much as a large one; one that is no more than rounding does not
    count."""
    rng = np.random.default_rng(6)
    A, r, size = rng.uniform(-1, 1, (3, 5)), rng.uniform(-1, 1, 3), np.array([1e5, 1.0, 1e-4])
    expected = np.linalg.lstsq(A, r)[0]
    assert relative(solve(size[:, None] * A, size * r, np.ones(5), 3), expected) < 1e-12
    noise = 1e-16 * rng.uniform(-1, 1, (1, 5))
    assert (
        relative(solve(np.vstack([A, noise]), np.append(r, 1e-15), np.ones(5), 4), expected) < 1e-12
    )


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_not_finite_is_not_hidden(solve, value):
    assert np.isnan(solve(np.array([[1.0, 2.0], [0.0, value]]), np.ones(2), np.ones(2), 2)).all()
    assert np.isnan(
        solve(np.array([[1.0, 2.0], [0.0, 0.0]]), np.array([1.0, value]), np.ones(2), 2)
    ).all()
