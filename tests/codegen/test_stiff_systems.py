"""Linear systems of stiff methods: an order of elimination that fills only what it reports, and its
C against NumPy."""

import ctypes

import numpy as np
import pytest

from bellcrank.codegen.c.c_data import c_data_definitions
from bellcrank.codegen.kernel_data import order_data
from bellcrank.kernel.text import Kernel
from bellcrank.program.jacobian_structure import (
    elimination_order,
    rhs_dependencies,
    stiff_method_costs,
)
from bellcrank.simulation.backend.compiler import compile_source, find_compiler
from tests.models import example, needs_compiler

HEAD = """
#include <math.h>
#include <string.h>
#include <stdint.h>
#define real double
enum {{ FINISHED, N_S = {n} }};
typedef struct Job {{ void *work; }} Job;
typedef struct Work {{ double first, last; }} Work;
"""
SOLVE = """
int solve(int usual, const double *slopes, double s, double t, double *one, double *re, double *im)
{
    static Stiff f;
    f.usual = usual;
    for (int i = 0; i < N_S; i++)
        for (int j = 0; j < N_S; j++)
            f.slopes[i*N_S + j] = slopes[STATE_ORDER[i]*N_S + STATE_ORDER[j]];
    if (factor_real(&f, s) || factor_pair(&f, s, t))
        return -1;
    solve_real(&f, one);
    solve_pair(&f, re, im);
    return f.one_first;
}
"""


def matrices(rng, n):
    """Slopes of a random structure, coordinates and user-defined states first, and the states that
    each rate depends on."""
    n_q = int(rng.integers(1, n))
    rows = [{i} | {int(j) for j in rng.choice(n, min(n, 3), replace=False)} for i in range(n_q)]
    rows += [set(range(n)) for _ in range(n - n_q)]
    slopes = np.array([[rng.normal() if j in row else 0.0 for j in range(n)] for row in rows])
    return n_q, rows, slopes


@pytest.mark.parametrize("seed", range(4))
def test_elimination_fills_no_more_than_it_tells(seed):
    n_q, rows, slopes = matrices(np.random.default_rng(seed), 12)
    e = elimination_order(rows, n_q)
    assert sorted(e.order) == list(range(12)) and set(e.order[:n_q]) == set(range(n_q))
    A = (20 * np.eye(12) - slopes)[np.ix_(e.order, e.order)]
    for k, (down, across) in enumerate(zip(e.down, e.across, strict=True)):
        assert set(np.flatnonzero(A[k + 1 :, k]) + k + 1) <= set(down)
        assert set(np.flatnonzero(A[k, k + 1 :]) + k + 1) <= set(across)
        A[k + 1 :] -= np.outer(A[k + 1 :, k] / A[k, k], A[k])


def test_coordinates_leave_a_system_of_the_speeds():
    program = example("stanford_arm").program
    rows = rhs_dependencies(program)
    e = elimination_order(rows, 6)
    assert rows[0] == {6} and e.across == tuple((6 + i,) for i in e.order[:6])


def solved_in_c(n, folder):
    """Random slopes of n states, the order of their elimination, and solutions of systems of them
    in C."""
    n_q, rows, slopes = matrices(np.random.default_rng(5), n)
    e = elimination_order(rows, n_q)
    text = (
        HEAD.format(n=n)
        + c_data_definitions(order_data(e))
        + Kernel({}).take("stiff_systems.c")
        + SOLVE
    )
    library = ctypes.CDLL(str(compile_source(text, folder, find_compiler(), ("-O1",))))

    def solve(usual, slopes, s, one, pair):
        found = [np.ascontiguousarray(x) for x in (slopes, one, pair.real, pair.imag)]
        pointers = [x.ctypes.data_as(ctypes.c_void_p) for x in found]
        numbers = [ctypes.c_double(s), ctypes.c_double(0.7 * s)]
        return (
            library.solve(usual, pointers[0], *numbers, *pointers[1:]),
            found[1],
            found[2] + 1j * found[3],
        )

    return slopes, e, solve


@pytest.fixture(scope="module")
def solved(tmp_path_factory):
    return solved_in_c(9, tmp_path_factory.mktemp("c"))


@needs_compiler
def test_systems_in_c_are_solved_as_by_numpy(solved):
    """With own pivots, and by full elimination where one of them is too small."""
    slopes, e, solve = solved
    rng = np.random.default_rng(6)
    first = set()
    for s in (*rng.uniform(0.1, 30, 8), slopes[e.order[0], e.order[0]] * 1.01):
        b, re, im = rng.normal(size=(3, 9))
        done, one, pair = solve(1, slopes, s, b.copy(), re + 1j * im)
        first.add(done)
        whole = s * (1 + 0.7j) * np.eye(9) - slopes
        np.testing.assert_allclose(
            one, np.linalg.solve(s * np.eye(9) - slopes, b), rtol=1e-9, atol=1e-12
        )
        np.testing.assert_allclose(
            pair, np.linalg.solve(whole, re + 1j * im), rtol=1e-9, atol=1e-12
        )
    assert first == {0, len(e.down)}


@needs_compiler
@pytest.mark.campaign
@pytest.mark.parametrize("n", [3, 6, 12, 30])
def test_systems_of_any_size_are_solved_by_blocks_as_whole(n, tmp_path):
    """Shifts past all modes, so that rounding is all that differs: by own pivots, and by full
    elimination."""
    slopes, e, solve = solved_in_c(n, tmp_path)
    rng = np.random.default_rng(n)
    shift = 3 * np.linalg.norm(slopes, 2)
    for usual in (1, 0):
        b, re, im = rng.normal(size=(3, n))
        done, one, pair = solve(usual, slopes, shift, b.copy(), re + 1j * im)
        assert done == (len(e.down) if usual else 0)
        whole = np.linalg.solve(shift * np.eye(n) - slopes, b)
        both = np.linalg.solve(shift * (1 + 0.7j) * np.eye(n) - slopes, re + 1j * im)
        assert np.abs(one - whole).max() < 1e-12 * np.abs(whole).max()
        assert np.abs(pair - both).max() < 1e-12 * np.abs(both).max()


@needs_compiler
def test_pivots_are_chosen_by_real_and_imaginary_part(solved):
    """Under a pivot that is imaginary stand real numbers that are almost zero."""
    slopes, e, solve = solved
    right = np.random.default_rng(7).normal(size=9) * (1 + 0.3j)
    column, s = slopes.copy(), 2.0
    column[:, e.order[0]] = 1e-14
    column[e.order[0], e.order[0]] = s
    done, _, pair = solve(0, column, s, right.real.copy(), right)
    assert done == 0
    np.testing.assert_allclose(
        pair, np.linalg.solve(s * (1 + 0.7j) * np.eye(9) - column, right), rtol=1e-9
    )


def test_costs_of_two_slides_by_hand():
    """Each position stands in two rows of rates and has one speed in its own: two rows of two
    numbers to change."""
    found = stiff_method_costs(example("quarter_car").program)
    factor, solve = 2 * 2 * (1 + 1) + 2**3 / 3, 2 * (2 + 1) + 2**2
    assert found.factor / found.solve == pytest.approx(factor / solve, rel=2e-3)
