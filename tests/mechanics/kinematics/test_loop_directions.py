"""Directions that the rows of loop joints are written along."""

import pytest

from bellcrank.mechanics.kinematics.loop_joints import _normal_directions, _without_rounding
from bellcrank.symbolic.expr import Number, Symbol
from bellcrank.symbolic.vector.basis import Frame


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_rounding_is_seen_beside_the_largest_component(scale):
    frame = Frame("n")
    found = _without_rounding(frame.vector(Number(scale * x) for x in (1.0, 1e-16, 1e-12)))
    assert set(found.terms) == {frame.axes[0], frame.axes[2]}


@pytest.mark.parametrize(("share", "taken"), [(0.6, True), (0.4, False)])
def test_a_share_that_depends_on_parameters_counts_half(share, taken):
    """Where the first normal is taken by a parameter's axis, another is kept ready, by a choice."""
    frame = Frame("n")
    axis = frame.vector((Number(share), Symbol("p", "parameter"), Number(0.9)))
    first, second = _normal_directions(axis, frame)
    assert any("where" in str(c) for c in first.terms.values()) == taken
    assert taken or frame.axes[0] not in first.terms
    assert second.terms
