"""The same suspension in other axes, with units at its coordinates, and under the names of other
programs."""

from dataclasses import replace

import numpy as np
import pytest

from bellcrank.core.errors import ModelError
from bellcrank.linkage import Linkage
from bellcrank.linkage.chain import AXES
from bellcrank.linkage.hard_point_files import read_hard_points
from bellcrank.linkage.hard_points import ALIASES, MEANINGS, canonical_name
from bellcrank.linkage.measures import measure_wheel
from bellcrank.linkage.suspensions import KINDS, build_chain
from tests.linkage.machines import linkage, sheet


def in_axes(d, axes):
    """Statements in other axes, the rack with the same positive direction."""
    signs = AXES[axes]
    turned = {
        **d,
        "axes": axes,
        "points": {n: [s * x for s, x in zip(signs, p)] for n, p in d["points"].items()},
    }
    if "rack" in d:
        turned["rack"] = {**d["rack"], "axis": [0, signs[1], 0]}
    return turned


@pytest.mark.parametrize(
    "kind", ["double_wishbone", "macpherson", "five_link", "solid_axle", "formula_student"]
)
def test_adams_axes_describe_the_same_suspension(kind):
    d = sheet(kind)
    a, b = build_chain(read_hard_points(d)), build_chain(read_hard_points(in_axes(d, "ADAMS")))
    assert (b.axes, b.drawn) == ("ISO 8855", "ADAMS")
    assert replace(b, drawn=a.drawn, joints=()) == replace(a, joints=())
    for i, j in zip(a.joints, b.joints, strict=True):
        assert replace(i, axis=None) == replace(j, axis=None)
        if i.axis is not None:
            assert np.allclose(np.cross(i.axis, j.axis), 0, atol=1e-15), (
                i.name
            )  # the sense of a hinge is free


@pytest.mark.campaign
@pytest.mark.parametrize("kind", ["double_wishbone", "solid_axle"])
def test_measures_in_adams_axes(kind):
    a, b = linkage(kind), Linkage.read(in_axes(sheet(kind), "ADAMS"))
    first, second = (measure_wheel(x, [-0.03, 0.02], mode="opposite") for x in (a, b))
    for name in first:
        assert second[name] == pytest.approx(first[name], abs=1e-9), name


def test_left_points_of_adams_have_negative_y():
    d = sheet("double_wishbone")
    given = in_axes(d, "ADAMS")
    assert given["points"]["lower_ball"] == [-8, -720, 170]
    assert np.allclose(
        build_chain(read_hard_points(given)).points["lower_ball"].at,
        [0.008, 0.720, 0.170],
        atol=1e-15,
    )


def test_coordinates_with_their_own_units():
    d = sheet("double_wishbone")
    x, y, z = d["points"]["tie_base"]
    d["points"]["tie_base"] = [f"{x} mm", y, f"{z / 1000} m"]
    assert build_chain(read_hard_points(d)).points == linkage("double_wishbone").chain.points
    d["points"] = {n: [f"{c} mm" for c in p] for n, p in sheet("double_wishbone")["points"].items()}
    d["vehicle"] = {}
    del d["units"]
    assert build_chain(read_hard_points(d)).points == linkage("double_wishbone").chain.points
    d["units"] = ["mm", "N/mm"]
    assert build_chain(read_hard_points(d)).points == linkage("double_wishbone").chain.points


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (
            "-122 kg",
            "hard point 'tie_base': '-122 kg' is not a length; write for instance '-122 mm'",
        ),
        ("-122 mn", "'-122 mn' is not a length"),
        ("12O", "'12 O' is not a length"),
        ("", "'' is not a number"),
    ],
)
def test_coordinates_that_are_no_lengths(value, words):
    d = sheet("double_wishbone")
    d["points"]["tie_base"] = [value, 345, 236]
    with pytest.raises(ModelError) as caught:
        Linkage.read(d)
    assert words in str(caught.value) and len(caught.value.problems) == 1


def test_names_of_other_programs_are_translated():
    assert (
        canonical_name("hpl_tierod_inner") == "tie_base"
        and canonical_name("LCA_outer_left") == "lower_ball"
    )
    d = sheet("macpherson")
    names = {
        "tie_base": "tierod_inner",
        "tie_carrier": "hpl_tierod_outer",
        "strut_top": "hpl_top_mount",
    }
    d["points"] = {names.get(n, n): p for n, p in d["points"].items()}
    del d["struts"], d["rack"]
    with pytest.raises(ModelError) as caught:
        Linkage.read(d)
    text = str(caught.value)
    for own, given in names.items():
        assert f"needs the hard point '{own}', which is missing. Is it given as '{given}'?" in text
        assert (
            f"the hard point '{given}' is not one of macpherson's" in text
            and f"Did you mean '{own}'?" in text
        )


def test_every_hard_point_has_a_meaning():
    points = {p for kind in KINDS.values() for p in kind.points}
    assert points == set(MEANINGS) and set(ALIASES.values()) <= points
