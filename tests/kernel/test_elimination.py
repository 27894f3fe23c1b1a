"""Rows of closed loops eliminated by blocks of any structure, against the whole system solved at
once by NumPy."""

import ctypes
import subprocess

import numpy as np
import pytest

from bellcrank.kernel.text import Kernel
from bellcrank.simulation.backend.compiler import find_compiler
from tests.models import needs_compiler

pytestmark = needs_compiler
HEAD = """
#include <math.h>
#include <string.h>
#define real double
static int N_U, N_V, N_RV, N_ORDER;
static const real *ROW_SCALE, *COLUMN_SCALE;
static const int *ROW_AT, *ROW_COLUMN, *MASS_AT, *MASS_COLUMN, (*ORDER)[2];
static real USUAL_RATIO = 1.0, USUAL_ORDER = 1.0;
"""
TAIL = """
double solve(int n_u, int n_v, int rank, const double *scales, const int *row_at, const int *row_column,
    const int *mass_at, const int *mass_column, const double *mass, const double *force, const double *rows,
    const double *right, double *x, double *ratios)
{
    N_U = n_u, N_V = n_v, N_RV = rank, ROW_SCALE = scales, COLUMN_SCALE = scales + n_v;
    ROW_AT = row_at, ROW_COLUMN = row_column, MASS_AT = mass_at, MASS_COLUMN = mass_column;
    N_ORDER = 0;
    look_at_pivots(rows, &ratios[0], &ratios[1]);
    return reduced(mass, force, rows, right, 0, x);
}
"""


@pytest.fixture(scope="module")
def solve(tmp_path_factory):
    folder = tmp_path_factory.mktemp("elimination")
    text = Kernel({}).take("tables/elimination.h", "solve.c", "elimination.c", "reduced.c")
    (folder / "solve.c").write_text(HEAD + text + TAIL)
    checks = ["-Wall", "-Wextra", "-Werror", "-Wno-vla"]
    command = [
        *find_compiler().command,
        "-std=c99",
        "-O1",
        "-fPIC",
        "-shared",
        *checks,
        "solve.c",
        "-o",
        "solve.so",
        "-lm",
    ]
    subprocess.run(command, cwd=folder, check=True)
    library = ctypes.CDLL(str(folder / "solve.so"))
    library.solve.restype = ctypes.c_double
    return library.solve


def blocks(rng, singular):
    """J of loops that share a speed with the loop before each, M of neighbours, rank; rows may
    repeat others. With
    `singular`, one block is so near to a singular configuration."""
    count, rows, ends, column = int(rng.integers(1, 13)), [], [0], 0
    for b in range(count):
        own = int(rng.integers(1, 4))
        width = own + 1 + int(b == 0)
        first = column - int(b > 0)
        block = rng.normal(size=(own, column + width))
        block[:, :first] = 0.0
        block[rng.random(block.shape) < 0.2] = 0.0
        block[:, first : first + 1] += 0.3
        block[np.arange(own), column + width - 1 - np.arange(own)] += 2.0
        rows += list(block)
        ends.append(len(rows))
        column += width
    J = np.array([np.pad(row, (0, column - len(row))) for row in rows])
    rank = len(J)
    if singular is not None:
        b = int(rng.integers(count))
        if ends[b + 1] - ends[b] > 1:
            J[ends[b]] = J[ends[b] + 1] + singular * J[ends[b]]
    if rng.random() < 0.3:
        J = np.vstack([J, rng.normal() * J[0] + rng.normal() * J[-1]])
    L = np.tril(rng.normal(size=(column, column))) * (
        np.abs(np.subtract.outer(range(column), range(column))) < 3
    )
    return J, L @ L.T + np.eye(column), rank


def places(A, lower=False):
    found = [np.flatnonzero(row[: i + 1] if lower else row) for i, row in enumerate(A)]
    at = np.cumsum([0, *map(len, found)])
    return np.array(at, np.int32), np.array([*np.concatenate(found), 0], np.int32)


def against_numpy(solve, seed, singular):
    rng = np.random.default_rng(seed)
    J, M, rank = blocks(rng, singular)
    m, n = J.shape
    u = rng.normal(size=n)
    force, right = rng.normal(size=n), J @ u
    scales = 1 / np.concatenate([np.abs(J).max(axis=1), np.ones(n)])
    lower = M[np.tril_indices(n)]
    x, ratios = np.empty(n), np.empty(2)
    arrays = [
        scales,
        *places(J),
        *places(M, lower=True),
        lower,
        force,
        np.ascontiguousarray(J),
        right,
        x,
        ratios,
    ]
    ratio = solve(n, m, rank, *(a.ctypes.data_as(ctypes.c_void_p) for a in arrays))
    assert ratio == ratios[0]
    K = np.block([[M, J.T], [J, np.zeros((m, m))]])
    wanted = np.linalg.lstsq(K, np.concatenate([force, right]), rcond=1e-13)[0][:n]
    return x, wanted, J @ x - right, ratio


@pytest.mark.parametrize("seed", range(60))
def test_accelerations_of_many_blocks(solve, seed):
    x, wanted, residual, ratio = against_numpy(solve, seed, None)
    assert ratio > 1e-4
    assert np.abs(x - wanted).max() < 1e-10 * max(1.0, np.abs(wanted).max())
    assert np.abs(residual).max() < 1e-12 * max(1.0, np.abs(wanted).max())


@pytest.mark.parametrize("seed", range(30))
def test_one_block_near_a_singular_configuration(solve, seed):
    """The others are regular, and none of them loses digits by it."""
    x, wanted, residual, _ = against_numpy(solve, 1000 + seed, 1e-2)
    assert np.abs(x - wanted).max() < 1e-9 * max(1.0, np.abs(wanted).max())
    assert np.abs(residual).max() < 1e-12 * max(1.0, np.abs(wanted).max())


@pytest.mark.campaign
def test_accelerations_of_five_hundred_draws(solve):
    for seed in range(2000, 2500):
        x, wanted, residual, _ = against_numpy(solve, seed, None if seed % 2 else 1e-2)
        assert np.abs(x - wanted).max() < 1e-9 * max(1.0, np.abs(wanted).max()), seed
        assert np.abs(residual).max() < 1e-12 * max(1.0, np.abs(wanted).max()), seed
