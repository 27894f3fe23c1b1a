"""Stretches of methods that choose their steps, taken to their end."""

import numpy as np

from bellcrank.numeric.adapt import Count


def taken_by(kind, method, rates, y, end, rtol, most=20000):
    """The stretch, what it counted, and values within its steps with their times."""
    count = Count(most)

    def counted(t, y):
        count.rates += 1
        return np.asarray(rates(t, y), dtype=float)

    s = kind(method, counted, 0.0, np.array(y, dtype=float), end, rtol, rtol / 100, count)
    inner = []
    while s.status == "running":
        before = s.t
        if s.step():
            break
        within = s.dense_output()
        inner += [(t, within(t)) for t in np.linspace(before, s.t, 4)]
    return s, count, inner
