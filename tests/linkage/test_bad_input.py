"""What cannot be used says what, where and what is allowed."""

import contextlib
import copy

import numpy as np
import pytest

from bellcrank.core.errors import ModelError
from bellcrank.linkage import Linkage, double_wishbone, five_link, macpherson, shipped
from bellcrank.linkage.measures import measure_wheel
from tests.linkage.machines import linkage
from tests.linkage.machines import sheet as data


def problems(call, *arguments, **given):
    with pytest.raises(ModelError) as caught:
        call(*arguments, **given)
    return str(caught.value)


def test_missing_and_misspelt_points_are_all_named():
    d = data("double_wishbone")
    d["points"]["lower_bal"] = d["points"].pop("lower_ball")
    del d["points"]["tie_carrier"]
    text = problems(double_wishbone, d)
    assert (
        "needs the hard point 'lower_ball', which is missing. Is it given as 'lower_bal'?" in text
    )
    assert "needs the hard point 'tie_carrier'" in text
    assert "the hard point 'lower_bal' is not one of double_wishbone's" in text


def test_units_axes_and_side_must_be_stated():
    points = data("five_link")["points"]
    points = {n: p for n, p in points.items() if not n.startswith("spring")}
    text = problems(five_link, points)
    assert (
        "units are not stated" in text
        and "axes is not stated" in text
        and "side is not stated" in text
    )
    assert five_link(points, units="mm", axes="ISO 8855", side="left").range()[0] == pytest.approx(
        -0.2139, abs=1e-4
    )
    assert "is not a length" in problems(
        five_link, points, units="kg", axes="ISO 8855", side="left"
    )
    assert "'north' is not known" in problems(
        five_link, points, units="mm", axes="north", side="left"
    )


def test_lengths_that_cannot_be_assembled_name_the_rods():
    d = data("five_link")
    d["lengths"] = {"rod_5": 900}
    text = problems(five_link, d)
    assert "cannot be assembled" in text and "rod 'rod_5' by 0." in text
    d["lengths"] = {"rod_5": 412}  # 0.8 mm longer than drawn: toe is adjusted
    assert np.abs(five_link(d).solve(0.0).rotation - np.eye(3)).max() > 1e-3
    d["lengths"] = {"rod_6": 400}
    assert "no rod is called 'rod_6'. Did you mean" in problems(five_link, d)


def chain(rods, wheel=(0, 768, 0)):
    d = data("five_link")
    points = {n: p for n, p in d["points"].items() if n[0] in "PX"} | {"wheel_centre": list(wheel)}
    return {
        "kind": "chain",
        "name": "rods",
        "units": "mm",
        "axes": "ISO 8855",
        "side": "left",
        "points": points,
        "bodies": ["carrier"],
        "attach": {n: "carrier" for n in points if n[0] in "Xw"},
        "rods": [{"name": f"rod_{i}_{j}", "between": [f"P{i}", f"X{j}"]} for i, j in rods],
    }


def test_over_and_under_constrained_linkages_say_their_degrees_of_freedom():
    straight = [(i, i) for i in range(1, 6)]
    text = problems(Linkage.read, chain(straight[:4]))
    assert (
        "under-constrained: 2 degrees of freedom (counted 2), 1 prescribed" in text
        and "'carrier'" in text
    )
    text = problems(Linkage.read, chain([*straight, (1, 2)]))
    assert "over-constrained: 0 degrees of freedom (counted 0)" in text and "rod 'rod_1_2'" in text


@pytest.mark.campaign
def test_a_repeated_rod_is_named_and_does_no_harm():
    d = chain([(i, i) for i in range(1, 6)])
    d["rods"].append({"name": "again", "between": ["P3", "X3"]})
    again = Linkage.read(d)
    assert again.mobility.redundant == ("rod 'again'",)
    assert (again.mobility.gruebler_count, again.mobility.degrees_of_freedom) == (0, 1)
    plain = linkage("five_link")
    assert np.abs(again.solve(0.1).position - plain.solve(0.1).position).max() < 1e-13


def test_a_freedom_that_does_not_move_the_carrier_as_asked():
    ball = {
        "kind": "chain", "name": "wheel on a hinge", "units": "m", "axes": "ISO 8855", "side": "left", "bodies": ["carrier"],
        "points": {"hub": [0, 0.5, 0], "wheel_centre": [0, 0.7, 0]}, "attach": {"wheel_centre": "carrier"},
        "joints": [{"name": "axle", "kind": "revolute", "between": ["base", "carrier"], "at": "hub", "axis": [0, 1, 0]}],
    }  # fmt: skip
    text = problems(Linkage.read, ball)
    assert (
        "one of them does not move the carrier as the input (travel) asks" in text
        and "'carrier'" in text
    )


def test_other_mistakes():
    d = data("macpherson")
    assert "was given to double_wishbone()" in problems(double_wishbone, d)
    assert "'unit' is not a statement of a hard-point file. Did you mean 'units'?" in problems(
        macpherson, {**d, "unit": "mm"}
    )
    d["points"]["wheel_centre"] = [0, "wide", 300]
    d["points"]["strut_top"] = [0, 1]
    text = problems(macpherson, d)
    assert "'wide' is not a number" in text and "three coordinates are needed" in text
    assert "has no input 'rack'" in problems(linkage("five_link").solve, 0.1, rack=0.01)
    assert "it folds near travel 0 m, rack 0.20" in problems(
        linkage("double_wishbone").solve, 0.0, 0.3
    )
    assert "has no rack; its inputs are travel" in problems(
        measure_wheel, linkage("trailing_arm"), 0.0, 0.01
    )
    assert "not a finite number" in problems(linkage("five_link").solve, float("nan"))
    assert "no hard point of 'five_link' is called 'P6'" in problems(
        linkage("five_link").solve(0.0).point, "P6"
    )
    assert "no hard-point file 'five_lnk'" in problems(shipped, "five_lnk")
    assert "cannot read nowhere.toml" in problems(Linkage.read, "nowhere.toml")


def test_csv_holds_the_same_points(tmp_path):
    d = data("double_wishbone")
    lines = [
        "# kind: double_wishbone",
        "# units: mm",
        "# axes: ISO 8855",
        "# side: left",
        "name,x,y,z,body",
    ]
    lines += [f"{n},{p[0]},{p[1]},{p[2]},{d['attach'].get(n, '')}" for n, p in d["points"].items()]
    path = tmp_path / "wishbone.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    assert (
        np.abs(
            Linkage.read(path).solve(0.05).position
            - linkage("double_wishbone").solve(0.05).position
        ).max()
        < 1e-13
    )
    path.write_text("\n".join(lines[4:]), encoding="utf-8")
    assert "units are not stated" in problems(Linkage.read, path)
    path.write_text("point;x;y;z\n", encoding="utf-8")
    assert "the first line of points must be name,x,y,z" in problems(Linkage.read, path)


JUNK = (
    3,
    -1.0,
    "x",
    None,
    True,
    [],
    {},
    [1, 2],
    ["a", "b"],
    {"a": 1},
    float("nan"),
    [[1], [2], [3]],
    {"between": 3},
)


@pytest.mark.parametrize("name", ["five_link", "double_wishbone", "chain"])
def test_anything_in_place_of_a_statement_is_told(name):
    """Whatever stands for a statement of a file: it is read, or the error is for the engineer."""
    given = data("double_wishbone" if name == "double_wishbone" else "five_link")
    if name == "chain":
        joint = {
            "name": "j",
            "kind": "revolute",
            "between": ["base", "carrier"],
            "at": "P1",
            "axis": [0, 1, 0],
        }
        given |= {
            "kind": "chain",
            "bodies": ["carrier"],
            "joints": [joint],
            "rods": {"r": ["P2", "X2"]},
        }
    places = [(k,) for k in given] + [
        (k, x) for k in given if isinstance(given[k], dict) for x in given[k]
    ]
    for i, place in enumerate(places):
        for j in (i, i + 4, i + 9):
            changed = copy.deepcopy(given)
            inner = changed[place[0]] if len(place) == 2 else changed
            inner[place[-1]] = JUNK[j % len(JUNK)]
            with contextlib.suppress(ModelError):
                Linkage.read(changed)


def test_rods_of_a_chain_by_name():
    """A chain that lists the rods of the five-link is the five-link."""
    given = data("five_link")
    attach = {f"X{i}": "carrier" for i in range(1, 6)} | {"wheel_centre": "carrier"}
    points = {n: p for n, p in given["points"].items() if n in attach or n.startswith("P")}
    chain = {k: given[k] for k in ("units", "axes", "side")} | {
        "kind": "chain",
        "name": "five",
        "bodies": ["carrier"],
    }
    chain |= {
        "points": points,
        "attach": attach,
        "rods": {f"rod_{i}": [f"P{i}", f"X{i}"] for i in range(1, 6)},
    }
    assert Linkage.read(chain).range() == pytest.approx((-0.2139006, 0.2848253), abs=1e-7)
    with pytest.raises(
        ModelError, match="rods: 'a' must be a table with what it is between, given 3"
    ):
        Linkage.read(chain | {"rods": {"a": 3}})
