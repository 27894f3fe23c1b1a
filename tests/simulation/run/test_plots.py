"""Plots of saved runs: pictures, cross plots, overlaid runs, and a page that answers the mouse."""

import json
import re

import numpy as np
import pytest

import bellcrank as bc
from bellcrank import cli
from tests.browser import look_at, needs_chromium


def plot(*words):
    return cli.main(["plot", *map(str, words)])


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Two runs: a sine and a cosine in m, a force, with a gap."""
    folder = tmp_path_factory.mktemp("runs")
    t = np.linspace(0, 1, 101)
    for name, size in (("one", 1.0), ("two", 2.0)):
        force = size * 100 * t
        force[50] = np.nan
        channels = {"x": size * np.sin(6 * t), "y(b, 1)": size * np.cos(6 * t), "f": force}
        units = {"x": "m", "y(b, 1)": "m", "f": "N"}
        labels = {"x": "way <1>", "y(b, 1)": "height", "f": "force"}
        bc.Run("two waves", t, channels, units, labels, "finished").save(folder / f"{name}.erd")
    return folder


@pytest.mark.parametrize(
    ("ending", "begins"), [(".png", b"\x89PNG"), (".svg", b"<?xml"), (".html", b"<!DOCTYPE html>")]
)
def test_kinds_of_plots(saved, tmp_path, capsys, ending, begins):
    path = tmp_path / "new" / f"a{ending}"
    assert plot(saved / "one.erd", "x", "Y(b,1)", "f", "--out", path, "--title", "some waves") == 0
    assert path.read_bytes().startswith(begins)
    assert capsys.readouterr().out == f"wrote {path}\n"


def test_runs_are_overlaid_and_crossed(saved, tmp_path):
    path = tmp_path / "a.html"
    assert (
        plot(saved / "one.erd", saved / "two.erd", "y(b, 1)", "--against", "x", "--out", path) == 0
    )
    text = path.read_text(encoding="utf-8")
    data = json.loads(re.search(r'id="data">(.*?)</script>', text, re.S)[1])
    assert data["cross"] and data["xlabel"] == "way <1> (m)"
    (panel,) = data["panels"]
    assert [line["name"] for line in panel["lines"]] == ["y(b, 1), one", "y(b, 1), two"]
    x, y = (np.array(panel["lines"][1][k]) for k in "xy")
    assert np.allclose(x**2 + y**2, 4, rtol=1e-6)
    assert "http" not in text.replace("http://www.w3.org", "")


def test_default_channels_and_list(saved, capsys, tmp_path):
    assert plot(saved / "one.erd", "--list") == 0
    assert capsys.readouterr().out.splitlines()[1].split() == ["y(b,", "1)", "m", "height"]
    assert plot(saved / "one.erd") == 0
    assert (saved / "one.png").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("x.txt", "y"), "no file is named: 'x.txt' does not end in"),
        (("none.erd", "x"), "cannot read none.erd"),
        (("ONE", "z"), "no channel 'z' in two waves"),
        (("ONE", "x", "--out", "a.bmp"), "known file extensions are .png"),
        (("ONE", "x", "--against", "w"), "no channel 'w'"),
    ],
)
def test_what_cannot_be_drawn(saved, capsys, words, message):
    assert plot(*(saved / "one.erd" if w == "ONE" else w for w in words)) == 1
    assert message in capsys.readouterr().err


@pytest.mark.campaign
@needs_chromium
def test_page_in_a_browser(saved, tmp_path):
    """Lines are drawn; dragging zooms, a double click goes back, a click on a name hides its
    line."""
    path = tmp_path / "a.html"
    assert plot(saved / "one.erd", "x", "y(b, 1)", "f", "--out", path) == 0
    script = """
    const lines = () => [...document.querySelectorAll("path.line")].map(p => p.getAttribute("d"));
    const svg = document.querySelector("svg"), box = svg.getBoundingClientRect();
    const mouse = (type, share) => svg.dispatchEvent(new MouseEvent(type, {bubbles: true, clientX: box.left + share*box.width, clientY: box.top + 50}));
    const first = lines();
    mouse("mousemove", .5);
    const read = [...svg.querySelectorAll("text")].pop().textContent;
    mouse("mousedown", .3); mouse("mousemove", .6); mouse("mouseup", .6);
    const zoomed = lines();
    mouse("dblclick", .5);
    const back = lines();
    document.querySelector(".legend span").click();
    found = {first, zoomed: zoomed[0] !== first[0], back: back[0] === first[0], hidden: lines().length, read,
             heights: [...document.querySelectorAll("svg")].map(s => s.getBoundingClientRect().height)}"""
    found, messages = look_at(path, script, tmp_path)
    assert messages == []
    assert len(found["first"]) == 3 and all(len(d) > 300 for d in found["first"])
    assert found["first"][2].count("M") == 2  # the gap
    assert found["zoomed"] and found["back"] and found["hidden"] == 2
    assert re.search(r"x .*y\(b, 1\) ", found["read"])
    assert all(h > 100 for h in found["heights"])


def test_six_curves_at_most_are_drawn_unasked_and_time_has_no_margin():
    t = np.linspace(0.0, 2.0, 5)
    names = ["q(a)", "u(a)", *(f"part.x{i}" for i in range(4)), *(f"y{i}" for i in range(7))]
    values = {name: 1e6 + t for name in names}
    run = bc.Run("many", t, values, dict.fromkeys(names, "m"), {n: n for n in names}, "finished")
    (axis,) = run.plot().axes
    assert [line.get_label() for line in axis.lines] == [f"y{i}" for i in range(6)]
    assert axis.get_xlim() == (0.0, 2.0)
    assert not axis.yaxis.get_major_formatter().get_useOffset()
    (axis,) = run.plot(others=[run], names=["a", "b"]).axes
    assert len(axis.lines) == 6


def test_legends_have_labels_and_units_their_signs():
    t = np.linspace(0, 1, 3)
    labels = {"f": "force of the front axle", "r": "force of the rear axle", "a": "acceleration"}
    run = bc.Run(
        "car",
        t,
        {"f": t, "r": 2 * t, "a": t},
        {"f": "N-m", "r": "N-m", "a": "m/s2"},
        labels,
        "finished",
    )
    both, alone = run.plot("f", "r", "a").axes
    assert [x.get_text() for x in both.get_legend().get_texts()] == [
        "force of the front axle",
        "force of the rear axle",
    ]
    assert both.get_ylabel() == "N·m" and alone.get_ylabel() == "acceleration\n(m/s²)"
