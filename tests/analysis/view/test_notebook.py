"""What notebooks show: every result as HTML that is well-formed, with hostile words made plain; and
a whole notebook."""

import importlib.util
import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import bellcrank as bc
from tests.linkage.machines import linkage
from tests.models import example

HOSTILE = '</script><img src=x onerror="alert(1)">&\'$x$'


class Seen(HTMLParser):
    """What a browser would make of it."""

    def __init__(self):
        super().__init__()
        self.tags, self.open, self.words, self.problems = [], [], "", []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag not in ("img", "br"):
            self.open.append(tag)
        self.problems += [
            (tag, k, v)
            for k, v in attrs
            if k.startswith("on") or (k == "src" and not v.startswith("data:image/png;base64,"))
        ]

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.problems.append((tag, self.getpos()))

    def handle_data(self, data):
        self.words += data


def seen(shown):
    found = Seen()
    found.feed(shown._repr_html_())
    assert not found.problems and not found.open and "script" not in found.tags
    return found


@pytest.fixture(scope="module")
def machine():
    s = bc.System(f"rod {HOSTILE}", units="mks")
    rod = s.add_body("rod", rotate=3, cm=(0, -1, 0), mass=2, inertia=(0.1, 0.1, 0.1), label=HOSTILE)
    s.add_moment(
        "drive", magnitude="m_d - k*q(rod) - c*u(rod)", direction=rod[3], on=rod, label=HOSTILE
    )
    s.add_input("m_d", units="F*L", label=HOSTILE)
    s.add_output("x", "sin(q(rod))", label=HOSTILE)
    s.set_defaults(k=3.0, c=0.5)
    s.set_run(t_end=1.0, step=0.05, initial={"q(rod)": 0.3}, inputs={"m_d": 0.0})
    return s


@pytest.mark.campaign
def test_models_and_results_show_themselves(machine):
    eom = machine.equations()
    sim = eom.compile(backend="python")
    for shown in (machine, sim.simulate(), sim.equilibrium()):
        found = seen(shown)
        assert found.tags.count("img") == 1 and "table" in found.tags and HOSTILE in found.words
    told = seen(eom)
    assert (
        told.tags.count("math") >= 3
        and HOSTILE in told.words
        and eom._repr_latex_().startswith("$$\n\\begin{aligned}")
    )
    linear = seen(sim.linearize(at="equilibrium"))
    assert linear.tags.count("table") == 4 and "participation" in linear.words


def test_a_broken_model_tells_why(machine):
    s = bc.System("rod", units="mks")
    s.add_body("a", parent="b")
    assert "does not exist" in seen(s).words


@pytest.mark.campaign
def test_further_results_show_themselves(machine):
    sim = machine.equations().compile(backend="python")
    varied = {
        "parameters": {"k": bc.random.uniform(2, 4)},
        "channels": ["x"],
        "metrics": {"x": ["max"]},
        "backend": "cores",
    }
    f = [0.1, 1.0]
    results = [
        sim.modes(),
        sim.simulate_many(n=3, **varied),
        sim.frequency_response("m_d", "x", f),
        sim.sensitivity("k"),
        sim.root_locus("c", [0.1, 0.2]),
        sim.power_spectrum("x", {"m_d": 1.0}, f),
        sim.equilibria("m_d", [0.0, 1.0]),
        sim.inverse([0.1], [0.0], [1.0]),
        sim.stability_chart(("c", [0.1, 0.2]), ("k", [1.0, 2.0])),
    ]
    modes, *drawn = results
    assert "table" in seen(modes).tags
    for shown in drawn:
        assert seen(shown).tags.count("img") == 1, shown


@pytest.mark.campaign
def test_tyres_and_linkages_show_themselves():
    tyre = bc.vehicles.tyres.Fiala(c_slip=80e3, c_alpha=60e3)
    assert seen(tyre).tags.count("img") == 1 and "Fiala" in seen(tyre).words
    assert {"img", "table"} <= {*seen(linkage("double_wishbone")).tags}


def test_a_linkage_is_drawn_within_what_it_reaches(monkeypatch):
    """And no further than 8 cm from the middle."""
    monkeypatch.setattr("bellcrank.linkage.linkage.measure_wheel", lambda shown, travel: travel)
    monkeypatch.setattr("bellcrank.linkage.linkage.draw_measures", lambda measured: measured[0])
    shown = linkage("double_wishbone")
    low, high = shown.range()
    assert shown._notebook_figure()[[0, -1]] == pytest.approx(
        (low + high) / 2 + np.array([-0.0784, 0.0784])
    )
    monkeypatch.setattr(type(shown), "range", lambda self: (-0.03, 0.01))
    assert shown._notebook_figure()[[0, -1]] == pytest.approx([-0.0296, 0.0096])


CELLS = [
    "import bellcrank as bc\nfrom examples.four_bar import model\ns = model()\ns",
    "eom = s.equations()\neom",
    "run = eom.compile(backend='python').simulate(t_end=0.1)\nrun",
    "run.picture(at=(0, 0.05, 0.1))",
    'eom.export("page")',
]


@pytest.mark.campaign
def test_a_notebook_shows_picture_equations_plot_and_live_page(tmp_path):
    pytest.importorskip("nbconvert", reason="nbconvert is not installed")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed")
    cells = [
        {
            "cell_type": "code",
            "execution_count": None,
            "id": f"c{i}",
            "metadata": {},
            "outputs": [],
            "source": x,
        }
        for i, x in enumerate(CELLS)
    ]
    about = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    (tmp_path / "a.ipynb").write_text(
        json.dumps({"cells": cells, "metadata": about, "nbformat": 4, "nbformat_minor": 5})
    )
    paths = [str(Path(bc.__file__).parents[1]), str(Path(__file__).parents[3])]
    ways = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "JUPYTER_PLATFORM_DIRS": "1"}
    command = [sys.executable, "-m", "nbconvert", "--to", "html", "--execute", "a.ipynb"]
    done = subprocess.run(
        command, cwd=tmp_path, env=ways, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert text.count('class="bellcrank"') == 3 and text.count('src="data:image/png;base64,') == 3
    assert len(re.findall(r'<iframe[^>]*sandbox="allow-scripts"', text)) == 1
    assert text.count("<math") > 20 and "four-bar linkage" in text


def test_checks_cars_and_metrics_are_tables(machine):
    """Of a few words in a terminal, and of rows with units in a notebook."""
    found = bc.check(machine, states=3)
    assert repr(found).startswith("Report(") and "rod" in repr(found) and "\n" not in repr(found)
    assert seen(found).tags.count("tr") == 1 + len(found.lines)
    car = bc.vehicles.Car.read("passenger")
    shown = seen(car)
    assert (
        "img" in shown.tags
        and "wheelbase" in shown.words
        and shown.tags.count("tr") == 1 + len(car.metrics)
    )
    assert seen(car.metrics).tags.count("tr") == 1 + len(car.metrics)


@pytest.mark.campaign
def test_kinematics_are_a_table_and_a_plot():
    m = bc.vehicles.Car.read("passenger").kinematics("front", [-0.05, 0.0, 0.05])
    assert "\n" not in repr(m) and "3 positions" in repr(m)
    shown = seen(m)
    assert (
        "img" in shown.tags
        and shown.tags.count("tr") == 1 + len(m.columns)
        and "track change" in shown.words
    )
    alone = seen(bc.vehicles.Car.read("passenger").kinematics("front", 0.0))
    assert "img" not in alone.tags


def test_modes_are_a_table_and_equations_are_folded(machine):
    modes = machine.equations().compile(backend="python").modes()
    shown = seen(modes)
    assert (
        shown.tags.count("tr") == 2 and "img" not in shown.tags and "pre" not in shown.tags
    )  # one mode is a line
    assert "details" in seen(machine.equations()).tags


def test_manoeuvres_are_tables():
    from bellcrank.vehicles.manoeuvres.manoeuvre_result import Criterion, MetricCollector, Result

    t = np.linspace(0, 1, 5)
    run = bc.Run("car", t, {"ay": t}, {"ay": "m/s2"}, {"ay": HOSTILE}, "finished")
    found = MetricCollector()
    found.add("ay_max", 8.0, "m/s2", HOSTILE)
    result = Result(
        "iso7975",
        HOSTILE,
        {},
        {"run": run},
        found.as_metrics(),
        [Criterion(HOSTILE, False)],
        plotted=("ay",),
    )
    assert "FAILED" in repr(result) and "\n" not in repr(result)
    shown = seen(result)
    assert "img" in shown.tags and "m/s²" in shown.words and "FAILED" in shown.words


def test_the_widget_of_a_page_starts_with_its_values():
    """Values by name, which can be set; without anywidget a message says how to get it."""
    page = example("double_pendulum").export("page")
    assert page.values["la"] == 1.0 and len(page.values) > 5
    if importlib.util.find_spec("anywidget") is None:
        with pytest.raises(bc.RunError, match=r"anywidget: pip install bellcrank\[widget\]"):
            page.widget()
        return
    widget = page.widget()
    widget.values = {**widget.values, "la": 1.3}
    assert widget.page == page.text and widget.values["la"] == 1.3 and page.values["la"] == 1.0
