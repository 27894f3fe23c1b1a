"""Unit vectors: objects of their frames, shared where two frames have an axis in common."""

import numpy as np
import pytest

from bellcrank.core.errors import InternalError
from bellcrank.symbolic.expr import ONE, ZERO, Symbol, cos, sin
from bellcrank.symbolic.vector.basis import IDENTITY, Frame, axis_rotation, cross, dot
from tests.symbolic.vector.trees import absolute, number, random_tree

q, r = Symbol("q", "coordinate"), Symbol("r", "coordinate")
n = Frame("n")
b = Frame("b", n, axis_rotation(2, q))
c = Frame("c", b, axis_rotation(2, r))


def test_axis_of_rotation_is_shared():
    assert b.axes[2] is n.axes[2]
    assert c.axes[2] is n.axes[2]
    assert b.axes[0] is not n.axes[0]
    assert str(c.axes[2]) == "[n3]"


def test_frame_that_does_not_turn_shares_all_axes():
    assert Frame("d", b, IDENTITY).axes == b.axes


def test_exchanged_axes_are_shared():
    exchanged = Frame("e", n, ((ZERO, ZERO, ONE), (ONE, ZERO, ZERO), (ZERO, ONE, ZERO)))
    assert exchanged.axes == (n.axes[1], n.axes[2], n.axes[0])


def test_opposite_axis_is_its_own():
    turned = Frame("t", n, ((ONE, ZERO, ZERO), (ZERO, -ONE, ZERO), (ZERO, ZERO, -ONE)))
    assert turned.axes[0] is n.axes[0]
    assert turned.axes[1] is not n.axes[1]
    assert dot(turned.axes[1], n.axes[1]) is -ONE


def test_columns_are_the_axes_of_the_child():
    assert dot(n.axes[0], b.axes[0]) is cos(q)
    assert dot(n.axes[1], b.axes[0]) is sin(q)
    assert dot(n.axes[0], b.axes[1]) is -sin(q)


def test_inside_a_frame_products_are_zero_or_one():
    for i in range(3):
        for j in range(3):
            assert dot(b.axes[i], b.axes[j]) is (ONE if i == j else ZERO)
    assert str(cross(b.axes[0], b.axes[1])) == "[n3]"
    assert str(cross(b.axes[1], b.axes[0])) == "-[n3]"
    assert not cross(b.axes[1], b.axes[1])


def test_shared_axis_needs_no_transformation():
    assert cross(n.axes[2], c.axes[0]).terms == {c.axes[1]: ONE}
    assert cross(c.axes[0], n.axes[2]).terms == {c.axes[1]: -ONE}
    assert dot(n.axes[2], c.axes[0]) is ZERO


@pytest.mark.parametrize("seed", range(8))
def test_dot_products_are_entries_of_the_rotation(seed):
    frames, values = random_tree(seed)
    for f in frames:
        for g in frames:
            R_fg = absolute(f, values).T @ absolute(g, values)
            found = [[number(dot(e, h), values) for h in g.axes] for e in f.axes]
            np.testing.assert_allclose(found, R_fg, atol=1e-13)


def test_dot_product_is_remembered_both_ways():
    frames, _ = random_tree(3)
    for f in frames:
        for g in frames:
            for e in f.axes:
                for h in g.axes:
                    assert dot(e, h) is dot(h, e)


@pytest.mark.campaign
def test_long_chain_meets_no_recursion_limit():
    frame = root = Frame("n")
    values = {}
    for i in range(1100):
        angle = Symbol(f"q{i}", "coordinate")
        values[angle] = 0.001 * i
        frame = Frame(f"b{i}", frame, axis_rotation(2 * (i % 2), angle))
    R = np.array([[number(dot(e, f), values) for f in frame.axes] for e in root.axes])
    np.testing.assert_allclose(R @ R.T, np.eye(3), atol=1e-10)


def test_frames_of_two_trees_have_no_product():
    with pytest.raises(InternalError, match="not connected"):
        dot(Frame("n").axes[0], Frame("m").axes[0])
