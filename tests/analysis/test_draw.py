"""Pictures of analyses: what is drawn where, from plain arrays."""

import numpy as np
import pytest

from bellcrank.analysis.plots import (
    draw_chart,
    draw_locus,
    draw_modes,
    draw_panels,
    draw_response,
    draw_spectra,
    draw_values,
)


def points(line):
    return [*zip(line.get_xdata(), line.get_ydata(), strict=True)]


def ticks(labels):
    return [t.get_text() for t in labels]


def test_modes():
    """Pairs once with both points; frequencies of what swings, rates of what does not, and the
    fractions of states next to."""
    shares = np.array([[0.9, 0.1, 0.0], [0.2, 0.3, 0.5]])
    figure = draw_modes("car", ["a", "b", "c"], [-1 + 4 * np.pi * 1j, complex(-2.5)], shares)
    plane, beside, bar = figure.axes
    pair, single, zero = plane.lines
    assert points(pair) == [(-1, 4 * np.pi), (-1, -4 * np.pi)] and points(single) == [(-2.5, 0)]
    assert [*zero.get_xdata()] == [0, 0]
    assert [(t.get_text(), t.xy) for t in plane.texts] == [("1", (-1, 4 * np.pi)), ("2", (-2.5, 0))]
    assert (plane.get_xlabel(), plane.get_ylabel()) == ("real part (1/s)", "imaginary part (rad/s)")
    assert beside.images[0].get_array().tolist() == shares.T.tolist()
    assert beside.images[0].get_clim() == (0, 1)
    assert ticks(beside.get_yticklabels()) == ["a", "b", "c"] and [*beside.get_yticks()] == [
        0,
        1,
        2,
    ]
    assert ticks(beside.get_xticklabels()) == [
        f"1\n{abs(-1 + 4j * np.pi) / (2 * np.pi):.3g} Hz",
        "2\n-2.5/s",
    ]
    assert figure.get_suptitle() == "car: modes" and bar is not plane
    assert not draw_modes("car", ["a"], [], np.zeros((0, 1))).axes[1].images


def test_response():
    f, magnitude, phase = np.array([0.5, 1, 2]), np.array([3.0, 5, 2]), np.array([0.0, -90, -180])
    for shift, scale in ((0.0, "log"), (-0.5, "linear")):
        top, bottom = draw_response("car", ("z per r", "m/m"), f + shift, magnitude, phase).axes
        assert points(top.lines[0]) == [*zip(f + shift, magnitude, strict=True)]
        assert points(bottom.lines[0]) == [*zip(f + shift, phase, strict=True)]
        assert (top.get_xscale(), top.get_yscale(), bottom.get_xscale()) == (scale, scale, scale)
        assert bottom.get_yscale() == "linear"
        assert (top.get_ylabel(), bottom.get_ylabel()) == ("z per r\n(m/m)", "phase (deg)")


def test_spectra():
    """What a logarithm has no place for is omitted."""
    f = np.array([0.0, 1, 2, 3])
    (axis,) = draw_spectra("car", "m/s2", [("a", f, np.array([1.0, 2, 0, 4])), ("b", f, f)]).axes
    assert [points(x) for x in axis.lines] == [[(1, 2), (3, 4)], [(1, 1), (2, 2), (3, 3)]]
    assert axis.get_ylabel() == "(m/s2)$^2$/Hz" and ticks(axis.get_legend().get_texts()) == [
        "a",
        "b",
    ]


def test_locus():
    values = np.array([1.0, 2.0])
    branches = np.array([[-1 + 2j, -1 - 2j, -3 + 0j], [0.5 + 4j, 0.5 - 4j, -5 + 0j]])
    plane, side, _ = draw_locus("bicycle", "v (m/s)", values, branches).axes
    assert plane.collections[0].get_offsets().tolist() == [
        [x.real, x.imag] for x in branches.ravel()
    ]
    assert plane.collections[0].get_array().tolist() == [1, 1, 1, 2, 2, 2]
    real = [x for x in side.lines if x.get_color() == "tab:blue" and len(x.get_xdata())]
    swings = [x for x in side.lines if x.get_color() == "tab:orange" and len(x.get_xdata())]
    assert [points(x) for x in real] == [
        [(1, -1), (2, 0.5)],
        [(1, -1), (2, 0.5)],
        [(1, -3), (2, -5)],
    ]
    assert [points(x) for x in swings] == [[(1, 2), (2, 4)], [(1, 2), (2, 4)], [(1, 0), (2, 0)]]
    assert ticks(side.get_legend().get_texts()) == ["real part (1/s)", "imaginary part (rad/s)"]


def test_chart():
    """Colours are even about zero; the limit is drawn where there is one."""
    x, y, growth = (
        np.array([1.0, 2, 3]),
        np.array([10.0, 20]),
        np.array([[-1.0, -2], [0.5, -1], [1.5, np.nan]]),
    )
    for shift, limits in ((0.0, 1), (5.0, 0)):
        axis = draw_chart("car", ["k (N/m)", "c (kg/s)"], (x, y), growth + shift).axes[0]
        mesh, *lines = axis.collections
        assert mesh.get_array().filled(np.nan) == pytest.approx((growth + shift).T, nan_ok=True)
        assert mesh.get_clim() == pytest.approx((-2 - 4.5 * (shift > 0), 2 + 4.5 * (shift > 0)))
        assert len(lines) == limits
        assert (axis.get_xlabel(), axis.get_ylabel()) == ("k (N/m)", "c (kg/s)")


def test_panels_and_bars():
    x = np.array([0.0, 1.0])
    panels = [
        ("a (m)", {"q": np.array([1.0, 2]), "r": np.array([3.0, 4])}),
        ("b (N)", {"f": np.array([5.0, 6])}),
    ]
    first, second = draw_panels("T", "t (s)", x, panels, legend="lines").axes
    assert [points(line) for line in first.lines] == [[(0, 1), (1, 2)], [(0, 3), (1, 4)]]
    assert [points(line) for line in second.lines] == [[(0, 5), (1, 6)]]
    assert (first.get_ylabel(), second.get_ylabel(), second.get_xlabel()) == (
        "a (m)",
        "b (N)",
        "t (s)",
    )
    assert ticks(first.get_legend().get_texts()) == ["q", "r"] and second.get_legend() is None
    figure = draw_values(
        "car", [("q", 0.25, "m"), ("f", -7.123456, "N"), ("r", 1e-14, "m"), ("z", 0.0, "rad")]
    )
    bars = [
        [(b.get_width(), b.get_y() + b.get_height() / 2) for b in axis.patches]
        for axis in figure.axes
    ]
    assert bars == [
        [(0.25, pytest.approx(0)), (0, pytest.approx(1))],
        [(-7.123456, pytest.approx(0))],
        [(0, pytest.approx(0))],
    ]
    assert [ticks(a.texts) for a in figure.axes] == [["0.25", "0"], ["-7.123"], ["0"]]
    assert [ticks(a.get_yticklabels()) for a in figure.axes] == [["q", "r"], ["f"], ["z"]]
    assert [a.get_xlabel() for a in figure.axes] == ["m", "N", "rad"] and figure.axes[
        2
    ].get_xlim() == (-1, 1)
    assert all(a.yaxis_inverted() for a in figure.axes)
