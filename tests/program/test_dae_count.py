"""Operations of a step with constraints, against loops that go through them one by one."""

from collections import Counter
from itertools import product
from types import SimpleNamespace

import pytest

from bellcrank.program.dae_count import (
    _constrained_solve_count,
    _multiplier_method_counts,
    _null_space_count,
    step_count,
)
from bellcrank.program.operation_count import OperationCount
from bellcrank.program.statements import count_section
from bellcrank.symbolic.expr import ONE, ZERO
from tests.models import example


class Tally(Counter):
    """Operations by name; `products` are added up."""

    def products(self, loop):
        n = sum(1 for _ in loop)
        self.update(add=n, multiply=n)

    def count(self):
        # classic: divisions count as multiplications, comparisons and absolute values not at all
        return OperationCount(
            self["add"], self["multiply"], self["divide"], self["function"], self.muldiv, 0
        )

    @property
    def muldiv(self):
        return self["multiply"] + self["divide"]


def basis(n, m, rank):
    """Gauss and Jordan with full pivoting of m rows with a right side."""
    t = Tally()
    t["multiply"] += m * (2 * n + 1)  # scales of rows and columns
    for k in range(rank):
        for _ in product(range(k, m), range(k, n)):
            t["function"] += 2  # the largest absolute value
        t["divide"] += 1
        t["multiply"] += len(range(k, n + 1))
        t.products(product([i for i in range(m) if i != k], range(k, n + 1)))
    t["multiply"] += rank * (n - rank + 1)  # columns scaled back
    return t


@pytest.mark.parametrize(("n", "m", "rank"), [(2, 1, 1), (5, 3, 2), (7, 4, 4), (3, 3, 3)])
def test_dense_systems(n, m, rank):
    """x = T a + c with (T' M T) a = T' (f - M c), and a symmetric system of the size of a."""
    t = basis(n, m, rank)
    assert _null_space_count(n, m, rank) == t.count()
    p = n - rank
    t.products(product(range(n), range(n), range(p + 1)))  # M (T, c)
    t.products(product(range(p), range(n), range(p + 1)))  # T' (M T, rest)
    t.products(product(range(n), range(p)))  # T a
    for k in range(p):
        t.products(product(range(k), range(k)))
        t.products(range(k))  # to and fro
        t.products(range(k))
        t["divide"] += k + 1
    t["function"] += p * p
    assert _constrained_solve_count(n, m, rank) == t.count()


def test_systems_by_multipliers():
    """M = L D L' with a zero below its diagonal; three rows, two of them independent, one of them
    short, one empty."""
    x, n, m, rank = ONE, 4, 3, 2
    first = [0, 0, 0, 1]
    M = [[x], [x, x], [x, x, x], [ZERO, x, x, x]]
    J = [[x, x, x, x], [ZERO, x, x, ZERO], [ZERO] * n]
    spans = [4, 2, 0]
    loops = SimpleNamespace(v=[0] * m, scales=SimpleNamespace(rank_v=rank), M=M, J=J)
    factor, solve, correct = _multiplier_method_counts(loops, n)

    below = [(i, j) for i in range(n) for j in range(first[i], i)]
    t = Tally()
    t.products((i, j, k) for i, j in below for k in range(max(first[i], first[j]), j))
    t.products(below)
    t["multiply"] += len(below)  # each times its pivot
    t["divide"] += n
    t["function"] += n
    for _ in range(m):  # M^-1 J'
        by_mass(t, below, n)
    for r, span in enumerate(spans):  # the lower half of J M^-1 J'
        t.products(product(range(r + 1), range(span)))
    t["multiply"] += 2 * m * m  # scaled by rows and by columns
    t["divide"] += m
    t["function"] += 2 * m  # absolute values and square roots
    for k in range(rank):
        rest = range(k + 1, m)
        t.products(product(rest, rest))
        t["divide"] += len(rest)
        t["function"] += len(rest) + 1
    assert (factor.add, factor.multiply, factor.divide, factor.function) == tuple(
        t[x] for x in ("add", "multiply", "divide", "function")
    )
    assert factor.muldiv_classic == t.muldiv + m  # classic: a square root is a multiplication

    t = Tally()
    t.products(product(range(rank), range(n)))
    for k in range(rank):
        t.products(range(k))
        t.products(range(k))
        t["divide"] += k + 1
    t["multiply"] += m + rank
    assert correct == t.count()
    by_mass(t, below, n)
    t.products(j for span in spans for j in range(span))
    assert solve == t.count()


def by_mass(t, below, n):
    t.products(below)
    t.products(below)
    t["multiply"] += n


@pytest.mark.parametrize("model", ["planar_pendulum", "four_bar"])
@pytest.mark.parametrize("regular", [False, True])
def test_a_step_is_made_of_its_parts(model, regular):
    """rk4 takes four rates, euler two. A shift of the coordinates takes their rates twice."""
    program = example(model).program
    system, rates, closure = (
        count_section(s.statements, s.results).total
        for s in (program.system, program.coordinate_rates, program.closure)
    )
    n, m, rank = len(program.speeds), len(program.loops.v), program.loops.scales.rank_v
    q = len(program.coordinates)
    dense = _constrained_solve_count(n, m, rank).total
    factor, solve, correct = 0, dense, dense
    if regular and model == "planar_pendulum":  # of a four-bar the null space is smaller
        factor, solve, correct = (c.total for c in _multiplier_method_counts(program.loops, n))
    once = system + factor + solve
    shift = 2 * rates + 2 * (2 * q)
    project = 2 * (system + factor + correct) + shift + 2 * n
    expected = {
        "clmm": 4 * once,
        "baumgarte": 4 * (once + 2 * 2 * m),
        "dlmm": 4 * (once + correct + shift + 2 * 4 * m),
        "stabilised": 4 * (once + 2 * correct + shift + 2 * n),
        "post": 4 * once + project,
        "projection": 4 * once + project,
        "half-explicit": 4
        * (system + closure + dense + _null_space_count(n, m, rank).total + 2 * 2 * (n + m))
        + once,
    }
    assert {
        dae: step_count(program, dae, False, "rk4", regular).total for dae in expected
    } == expected
    assert step_count(program, "projection", True, "rk4", regular) == _sum(
        4, program.count, 1, program.per_step
    )
    # corrected before the step and at each rate
    assert step_count(program, "minimal", True, "euler", regular) == _sum(
        2, program.count, 3, program.per_step
    )


def _sum(a, x, b, y):
    return OperationCount(
        *(a * i + b * j for i, j in zip(vars(x).values(), vars(y).values(), strict=True))
    )
