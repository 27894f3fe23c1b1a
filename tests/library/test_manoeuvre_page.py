"""The page of cars: complete, alone, labels made plain, cars side by side; and what a user may mistype."""

import re
import sys
from html import escape
from types import SimpleNamespace

import numpy as np
import pytest

import bellcrank as bc
from bellcrank import cli
from bellcrank.cli.drive import cars_and_manoeuvres
from bellcrank.files.html import Raw
from bellcrank.library.manoeuvres import every
from bellcrank.library.manoeuvres.page import car_page
from bellcrank.library.manoeuvres.result import Criterion, Curve, Metrics, Result
from bellcrank.library.manoeuvres.side_by_side import Driven, drive_all, labelled
from bellcrank.library.vehicles.figures import Figure, Figures
from bellcrank.linkage import load, shipped
from bellcrank.run.result import Run
from tests.view.test_report import well_formed

EVIL = '<script>alert(1)</script> & "more"'


def stub(name, mass):
    """What a page asks of a car, without one."""
    found = {"mass": Figure(mass, "kg", "mass"), "front_share": Figure(0.5, "", "share in front", (0.6, 0.7)),
             "wheelbase": Figure(2.7, "m", "wheelbase"), "cg_height": Figure(0.5, "m", "height")}  # fmt: skip
    linkage = load(shipped("double_wishbone"))
    return Driven(name, SimpleNamespace(figures=Figures(found), check=lambda: [], linkage=lambda _: linkage))


def driven(label, value):
    t = np.linspace(0.0, 1.0, 3000)
    run = Run("car", t, {"ay": value * t}, {"ay": "m/s2"}, {"ay": "lateral acceleration"}, "finished")
    line = Curve("frequency, Hz", "gain, 1", (("gain", t, t),), (("cones", t, 0 * t),))
    return Result("iso7401-step", label, {"speed": 80.0, "ay": 4.0, "rise": 0.15, "angle": None, "method": "rk4"},
                  {"step": run},
                  Figures({"ay_response": Figure(value, "s", "time to 90 %"), "gone": Figure(np.nan, "s", "x")}),
                  [Criterion(f"less than {EVIL}", value < 2)], ["a note"], more=(line,))  # fmt: skip


def test_the_page_of_two_cars():
    cars = [stub("first", 1000.0), stub(EVIL, 1100.0)]
    cars[0].results["iso7401-step"], cars[1].results["iso7401-step"] = driven("first", 1.0), driven(EVIL, 3.0)
    cars[1].results["iso7401-step"].notes.append("its own")
    cars[1].failures["braking"] = f"it does not stop {EVIL}"
    text = car_page(cars, bc.manoeuvres.known(), [Raw("<p>picture</p>")] * 2)
    assert well_formed(text) and "<script" not in text
    assert re.findall(r'<section id="([^"]+)">', text) == ["overview", "car", "kinematics", "iso7401-step", "braking"]
    assert not re.search(r"(src|href)=[\"'](?!#|data:image/png;)|url\(|@import|https?://(?!www\.w3\.org)", text)
    assert '1100 <span class="note change">+10.0 %</span>' in text and "+200.0 %" in text and "unusual" in text
    assert text.count('<span class="failed">failed</span>') == 2 and "not driven" in text
    assert "it does not stop" in text and ">none<" in text
    assert re.findall(r"Note([^:]*): (a note|its own)\.", text) == [("", "a note"), (f" of {escape(EVIL)}", "its own")]
    (gain,) = re.findall(r"<figcaption>gain, 1</figcaption>.*?</figure>", text, re.S)
    assert gain.count('class="line"') == 3 and gain.count("cones") == 1  # two cars and what is fixed
    assert max(len(d) for d in re.findall(r' d="([^"]*)"', gain)) < 8000  # no more points than are seen


def test_rounding_is_not_magnified():
    """A channel that is nothing but rounding is drawn as none; small ones stay."""
    result = driven("first", 1e-14)
    assert np.abs(result.curves()[1].lines[0][2]).max() == 0
    assert np.abs(driven("first", 1e-6).curves()[1].lines[0][2]).max() == 1e-6
    found = Metrics()
    assert [found.add("a", x, "", "") for x in (3e-14, -2e-3)] == [0.0, -2e-3]
    assert np.isnan(found.add("b", np.nan, "", ""))


def test_cars_of_one_name_and_failures_of_one():
    cars = labelled([bc.vehicles.Car.read("hmmwv")] * 2)
    assert [c.label.partition(" (")[2] for c in cars] == ["1)", "2)"]

    def drive(car, name):
        raise bc.RunError(f"{name} cannot be")

    told = []
    assert len(list(drive_all(cars, ["braking"], drive, lambda *what: told.append(what)))) == 2
    assert cars[1].failures == {"braking": "braking cannot be"}
    assert [share for share, _ in told] == [0.0, 0.5] and "braking" in told[0][1]


@pytest.mark.parametrize(("words", "said"), [
    (["passenger", "brakng"], "Did you mean 'braking'"),
    (["passenger", "braking", "--set", "sped=3"], "Did you mean 'speed'"),
    (["passenger", "braking", "--speed", "-3"], "must be a positive number"),
    (["passenger", "braking", "--speed", "80", "--set", "speed=60"], "the speed is given twice"),
    (["passenger", "four-post", "--set", "from=30"], "from=30 to=25 Hz must begin below 5 Hz"),
    (["passenger", "all", "--set", "ay=3"], "settings differ"),
    (["passenger", "braking", "kerb", "--set", "ay=3"], "--set is for one manoeuvre, not for 2"),
    (["passenger", "hmmwv", "braking", "--plot", "a.png"], "one manoeuvre of one car"),
    (["nothing.toml", "braking"], "nothing.toml"),
    (["passenger", "braking", "--set", "method=ab3"], "method='ab3' is not known. Did you mean 'ab2'? Methods: rk2, "),
    (["passenger", "braking", "--set", "method=3"], "method=3 must be a word"),
    (["passenger", "braking", "--method", "ab2", "--set", "method=rk4"], "the method is given twice"),
])  # fmt: skip
def test_what_is_mistyped_is_told(words, said, capsys):
    assert cli.main(["drive", *words]) != 0
    assert said in capsys.readouterr().err


def test_a_method_that_is_not_known_is_told_before_anything_is_driven(capsys):
    with pytest.raises(SystemExit):
        cli.main(["drive", "passenger", "all", "--method", "ab3"])
    assert "--method: method='ab3' is not known. Did you mean 'ab2'? Methods: rk2, " in capsys.readouterr().err


def test_every_manoeuvre_is_driven_by_the_method_that_is_asked_for(monkeypatch):
    """As far as the car that it asks for."""
    asked = []

    def ready(data, driver=None, ground=None, method=None):
        asked.append(method)
        raise bc.RunError("far enough")

    for name, module in list(sys.modules.items()):
        if name.startswith("bellcrank.library.manoeuvres."):
            monkeypatch.setattr(module, "ready", ready, raising=False)
    car = bc.vehicles.Car.read("passenger")
    for settings in ({}, {"method": "AB2"}):
        for name in every():
            with pytest.raises(bc.RunError, match="far enough"):
                bc.manoeuvres.run(car, name, **settings)
    assert asked == ["rk4"] * len(every()) + ["ab2"] * len(every())


@pytest.mark.parametrize(("words", "cars", "names"), [
    (["passenger", "iso7975", "kerb"], ["passenger"], ["iso7975", "kerb"]),
    (["a.toml", "hmmwv", "kerb"], ["a.toml", "hmmwv"], ["kerb"]),
    (["kerb", "kerb"], ["kerb"], ["kerb"]),
    (["passenger", "kerb", "kerbs"], ["passenger"], ["kerb", "kerbs"]),
])  # fmt: skip
def test_several_cars_and_manoeuvres(words, cars, names):
    assert cars_and_manoeuvres(words) == (cars, names)
