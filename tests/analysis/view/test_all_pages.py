"""The pages of all examples and cars in Chromium: labels, sliders driven to both ends, plots and
view at any speed."""

import json
import re
from collections import Counter

import pytest

import bellcrank as bc
from bellcrank.core.files.template import template_text
from bellcrank.scene.recorded import PAGES
from tests.analysis.view.test_page import ALL, export_and_open, opened
from tests.browser import needs_chromium
from tests.models import SOURCES, example

CARS = (
    "b_double",
    "caravan",
    "electric",
    "formula_student",
    "hmmwv",
    "passenger",
    "semi_trailer",
    "truck",
    "truck_trailer",
    "van",
)
PHRASES = re.compile(
    r"(coefficient|term|argument) (in|to) |\bin dir \d|relative to .* about axis|center of "
    r"mass|\bpp\b"
)
SECONDS = {
    "suspension_car": 0.3,
    **dict.fromkeys(CARS, 0.3),
}  # of runs at the ends of sliders, where steps are long
SIZES = dict.fromkeys(CARS, 300_000)

# The sliders with which a run is not finite, at either end.
DRIVEN = """(() => { const F = bellcrank.facts, bad = [];
  for (const [kind, listed] of [["parameters", F.parameters], ["inputs", F.signals]])
    for (const q of listed) for (const v of q.range) {
      let why = "";
      try {
        const rows = bellcrank.run(SECONDS, F.step, 50, {[kind]: {[q.name]: v}});
        for (const name in rows) if (!rows[name].every(Number.isFinite)) why = `${name} is not finite`;
      } catch (error) { why = error.message; }
      if (why) bad.push(`${q.name} = ${v}: ${why}`);
    }
  return bad; })()"""
SHOWN = "[[...document.querySelectorAll('.plot')].map(x => x.ariaLabel), bellcrank.fit]"


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    from tests.chromium import Chromium

    with Chromium(tmp_path_factory.mktemp("profile")) as found:
        yield found


def page_of(name, path):
    eom = (
        bc.vehicles.Car.read(name).system(speed=20.0).equations() if name in CARS else example(name)
    )
    return eom.export("page", path)


@needs_chromium
@pytest.mark.campaign
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [*ALL, *CARS])
def test_page(name, browser, tmp_path):
    """No label is a generated phrase or there twice, every slider leaves a finite run at both ends,
    nothing complains, and a slow computer shows the same plots from the same point."""
    path = tmp_path / "page.html"
    page = page_of(name, path)
    opened(browser, path)
    assert len(page.text.encode()) <= SIZES.get(name, 200_000)
    browser.value("bellcrank.pause(true)")
    facts = browser.value("bellcrank.facts")
    for kinds in (("parameters", "signals"), ("channels",)):
        labels = [x.get("label", x["name"]) for kind in kinds for x in facts[kind]]
        assert not [x for x in labels if PHRASES.search(x)]
        assert max(Counter(labels).values(), default=1) == 1, Counter(labels).most_common(3)
    seconds = min(SECONDS.get(name, 5.0), facts["t_end"])
    assert browser.value(DRIVEN.replace("SECONDS", repr(seconds))) == []
    first = browser.value(SHOWN)
    browser.slow(6)
    try:
        browser.open("about:blank")
        opened(browser, path)
        assert browser.value(SHOWN) == first
        assert len(first[0]) >= 1 and (not facts.get("scene") or len(first[1]) > 6)
    finally:
        browser.slow(1)
    assert not browser.complaints


def test_all_cars_are_looked_at():
    assert tuple(sorted(bc.vehicles.car_names())) == CARS and len(ALL) + 2 == len(
        [t for t in SOURCES.values() if "def model(" in t]
    )


@needs_chromium
@pytest.mark.campaign
def test_what_people_do_with_a_page(browser, tmp_path):
    """A value in the address, the address of a changed value, a value that breaks the run by name,
    a baseline, data, and a promise that the page is ready."""
    export_and_open(browser, tmp_path, example("double_pendulum"), "#la=1.25&t=0.5")
    assert browser.value("bellcrank.ready.then(x => x === bellcrank)")
    assert browser.value("bellcrank.t") == pytest.approx(0.5)
    sim = example("double_pendulum").compile(backend="python")
    run = sim.simulate(t_end=0.5, parameters={"la": 1.25}, output_every=1)
    assert browser.value("bellcrank.values()['q(a)']") == pytest.approx(run["q(a)"][-1], rel=1e-9)
    browser.value("bellcrank.set('massb', 5)")
    browser.until("location.hash === '#la=1.25&massb=5'")
    assert browser.value(
        "[...document.querySelectorAll('.value.changed input[type=number]')].map(x => x.title)"
    ) == [
        "la",
        "massb",
    ]
    saved = tmp_path / "run.csv"
    saved.write_text(browser.value("bellcrank.csv()"), encoding="utf-8")
    again = bc.Run.read(saved)
    row = int(abs(run.time - again.time[-1]).argmin())
    assert (
        again["q(a)"][-1] == pytest.approx(run["q(a)"][row], rel=1e-9)
        and again.units["pe"] == "N·m"
    )
    assert again.labels["pe"] == "potential energy"
    browser.value(
        "(document.getElementById('keep').click(), document.getElementById('again').click())"
    )
    browser.value("(bellcrank.set('wda', -1e9), bellcrank.pause(false))")
    browser.until("bellcrank.problem.startsWith('wda = -1e+9')")
    assert not browser.complaints


@needs_chromium
@pytest.mark.campaign
def test_what_people_mistype(browser, tmp_path):
    """Of an address: reported, and the rest is used; in the field of a number: the value before is
    there again."""
    wrong = "#la=abc&nobody=1&massb=-2e&%=3&wda=1e999&massa=3&t=later&lb=1.5&<b>x</b>=1"
    export_and_open(browser, tmp_path, example("double_pendulum"), wrong)
    assert browser.value("document.getElementById('refused').textContent") == (
        "Not used: la=abc, nobody=1, massb=-2e, %=3, wda=1e999, t=later, <b>x</b>=1"
    )
    assert browser.value("document.getElementById('refused').children.length") == 0
    settings = browser.value("bellcrank.settings()")
    assert [settings[k] for k in ("la", "massb", "wda", "massa", "lb")] == [1, 4, 0, 3, 1.5]
    typed = """(x => { const f = document.querySelector('input[type=number][title=massa]'); f.focus(); f.value = x;
      f.dispatchEvent(new Event('change')); return [f.value, bellcrank.settings().massa]; })"""
    assert browser.value(f"{typed}('')") == ["3", 3] == browser.value(f"{typed}('1e999')")
    assert browser.value(f"{typed}('2.25')") == ["2.25", 2.25]
    assert not browser.complaints


@needs_chromium
@pytest.mark.campaign
def test_a_run_begins_again_at_its_end(browser, tmp_path):
    export_and_open(browser, tmp_path, example("four_bar"))
    browser.until("bellcrank.t > 0.5")
    browser.until("bellcrank.t < 0.4")
    browser.value("(document.getElementById('repeat').checked = false)")
    browser.until("bellcrank.t > 1.2")


@needs_chromium
@pytest.mark.campaign
def test_view_and_controls_stay_in_sight_on_a_phone(browser, tmp_path):
    """The picture stays at the top while sliders are scrolled; they come before plots; nothing is
    wider than the page."""
    browser.resize(390)
    try:
        export_and_open(browser, tmp_path, example("driven_car"))
        order = (
            "['stage', 'values', 'curves'].map(x => "
            "document.getElementById(x).getBoundingClientRect().top)"
        )
        tops = browser.value(order)
        assert tops == sorted(tops) and tops[1] < 700
        browser.value(
            "(document.querySelectorAll('details').forEach(x => { x.open = true; }), "
            "scrollTo(0, 600))"
        )
        browser.until("Math.abs(document.getElementById('stage').getBoundingClientRect().top) < 2")
        assert browser.value("document.documentElement.scrollWidth") <= 390
    finally:
        browser.resize(1100)


NOTEBOOK = """<!DOCTYPE html><meta charset="utf-8"><div id="here"></div><script>SCRIPT
const held = {title: "t", page: PAGE, height: 600, values: {la: 1.25}}, heard = [];
const model = {get: k => held[k], set: (k, v) => { held[k] = v; }, on: (_, f) => heard.push(f), off() {}, saved: 0,
  save_changes() { model.saved++; heard.forEach(f => f()); }};
made.render({model, el: document.getElementById("here")});</script>"""


@needs_chromium
@pytest.mark.campaign
def test_a_page_in_a_notebook_and_python_follow_each_other(browser, tmp_path):
    """In a frame that can reach nothing around it: values given before it is there, and later
    ones."""
    page = example("double_pendulum").export("page")
    script = template_text(PAGES, "widget.js").replace("export default", "window.made =")
    inside = json.dumps(page.text).replace("</", "<\\/")
    text = NOTEBOOK.replace("SCRIPT", script.replace("</", "<\\/")).replace("PAGE", inside)
    (tmp_path / "notebook.html").write_text(text, encoding="utf-8")
    browser.open((tmp_path / "notebook.html").as_uri())
    browser.until("model.saved > 0")
    assert browser.value("held.values") == {**page.values, "la": 1.25}
    browser.value("(held.values = {...held.values, massb: 7, nobody: 1}, heard.forEach(f => f()))")
    browser.until("held.values.massb === 7 && !('nobody' in held.values)")
    assert not browser.complaints


@needs_chromium
@pytest.mark.campaign
def test_a_baseline_is_a_ghost_in_the_picture(browser, tmp_path):
    """Grey where nothing was drawn before, until it is dropped."""
    export_and_open(browser, tmp_path, example("double_pendulum"))
    browser.until("bellcrank.t > 0.6")
    browser.value(
        "(bellcrank.pause(true), document.getElementById('keep').click(), bellcrank.set('la', 1.6))"
    )
    browser.value("(bellcrank.restart(), bellcrank.pause(false))")
    browser.until("bellcrank.t > 0.3")
    browser.value("bellcrank.pause(true)")
    grey = """(() => { const c = document.createElement('canvas'), v = document.getElementById('view');
      [c.width, c.height] = [v.width, v.height]; const g = c.getContext('2d'); g.drawImage(v, 0, 0);
      const d = g.getImageData(0, 0, c.width, c.height).data; let n = 0;
      for (let i = 0; i < d.length; i += 4) n += d[i] > 150 && d[i] < 235 && Math.abs(d[i] - d[i + 2]) < 12;
      return n; })()"""
    browser.until(f"{grey} > 300")
    browser.value("document.getElementById('keep').click()")
    browser.until(f"{grey} < 300")
