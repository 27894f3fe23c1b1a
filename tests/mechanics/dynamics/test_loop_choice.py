"""Rows of loops that count: the first ones that do not follow from those before them."""

import numpy as np
import pytest

from bellcrank.core.numeric.ranks import rank_of
from bellcrank.mechanics.derive.loop_choice import _independent_rows


def one_by_one(J, rank):
    kept = []
    for i in range(len(J[0])):
        if len(kept) < rank and max(rank_of(x[[*kept, i]]) for x in J) > len(kept):
            kept.append(i)
    return kept


@pytest.mark.parametrize("redundant", [0, 1, 4])
@pytest.mark.parametrize("seed", range(5))
def test_independent_rows_are_those_found_one_by_one(seed, redundant):
    random = np.random.default_rng(seed)
    places = sorted(random.choice(np.arange(1, 14), redundant, replace=False))
    J = []
    for _ in range(3):
        x = np.where(random.uniform(size=(14, 20)) < 0.4, random.uniform(-1, 1, (14, 20)), 0.0)
        x[range(14), range(14)] = 3.0
        for i in places:
            x[i] = random.uniform(-1, 1, i) @ x[:i]
        J.append(x)
    rank = max(map(rank_of, J))
    assert rank == 14 - redundant
    assert (
        _independent_rows(J, rank)
        == one_by_one(J, rank)
        == [i for i in range(14) if i not in places]
    )


def test_a_row_counts_if_it_is_independent_in_one_position():
    folded, open_ = (
        np.array([[1.0, 2.0, 0.0], [2.0, 4.0, 0.0]]),
        np.array([[1.0, 2.0, 0.0], [2.0, 4.0, 1.0]]),
    )
    assert _independent_rows([folded, folded], 1) == [0]
    assert _independent_rows([folded, open_], 2) == [0, 1]
