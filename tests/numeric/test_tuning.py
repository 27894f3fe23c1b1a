"""The table of tuning constants: values of double precision as they stand, others by their rounding."""

import pytest

from bellcrank.numeric import null_space
from bellcrank.numeric.tuning import BRIDGES, ELIMINATION, LOOPS, MULTIPLIERS, RIGID_WHEELS, STEPS, constants


def test_every_line_says_what_it_is():
    for group in (ELIMINATION, LOOPS, BRIDGES, MULTIPLIERS, RIGID_WHEELS, STEPS):
        lines = constants(group)
        assert lines and all(c.note and c.at(1.0) == c.value == getattr(group, c.name) for c in lines)


def test_thresholds_of_rounding_grow_with_it():
    single = 2.0**29
    found = {c.name: c.at(single) for c in constants(LOOPS)}
    assert found["closed"] == pytest.approx(LOOPS.closed * single) and found["near"] == LOOPS.near
    assert found["tight"] < found["closed"] < found["settled"] < found["watched"]


def test_generated_python_has_the_same_thresholds():
    """The functions of null_space.py stand in generated text as they are, with their numbers."""
    assert ELIMINATION.singular == null_space.SINGULAR
