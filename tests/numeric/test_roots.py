"""Zeros between two arguments: found to rounding in few evaluations, whatever the shape of the function."""

import math

import numpy as np
import pytest

from bellcrank.numeric.roots import zero_between

FUNCTIONS = {
    "straight": lambda x, r: x - r,
    "steep": lambda x, r: math.expm1(40 * (x - r)),
    "flat": lambda x, r: (x - r) ** 3,
    "very flat": lambda x, r: (x - r) ** 9,
    "bent": lambda x, r: math.atan(1e6 * (x - r)),
    "a jump": lambda x, r: 1.0 if x >= r else -1.0,
    "a swing": lambda x, r: math.sin(3 * (x - r)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_zeros_to_rounding_in_few_evaluations(name):
    rng = np.random.default_rng(3)
    for _ in range(100):
        root = rng.uniform(-1, 1)
        a, b = root - rng.uniform(0.001, 1), root + rng.uniform(0.001, 1)
        calls = []

        def f(x, r=root, calls=calls):
            calls.append(x)
            return FUNCTIONS[name](x, r)

        ends = (a, b) if rng.random() < 0.5 else (b, a)
        found = zero_between(f, ends, tuple(FUNCTIONS[name](x, root) for x in ends), 1e-15)
        close = {"flat": 1e-9, "very flat": 1e-3}.get(name, 4e-15)
        assert abs(found - root) < close
        assert len(calls) < {"straight": 4, "a swing": 25}.get(name, 200) and min(calls) > a and max(calls) < b
