"""Several cars through several manoeuvres, and what a user may mistype."""

import sys

import numpy as np
import pytest

import bellcrank as bc
from bellcrank import cli
from bellcrank.cli.drive import cars_and_manoeuvres
from bellcrank.simulation.run.result import Run
from bellcrank.vehicles.cars.metrics.handling_metrics import Figures
from bellcrank.vehicles.manoeuvres import applicable_names
from bellcrank.vehicles.manoeuvres.car_comparison import cars_with_setups, label_cars, run_all
from bellcrank.vehicles.manoeuvres.manoeuvre_result import Curve, MetricCollector, Result


def driven(label, value):
    t = np.linspace(0.0, 1.0, 3000)
    run = Run(
        "car", t, {"ay": value * t}, {"ay": "m/s2"}, {"ay": "lateral acceleration"}, "finished"
    )
    line = Curve("frequency, Hz", "gain, 1", (("gain", t, t),))
    return Result("iso7401-step", label, {}, {"step": run}, Figures({}), more=(line,))


def test_rounding_is_not_magnified():
    """A channel that is nothing but rounding is drawn as none; small ones stay."""
    result = driven("first", 1e-14)
    assert np.abs(result.curves()[1].lines[0][2]).max() == 0
    assert np.abs(driven("first", 1e-6).curves()[1].lines[0][2]).max() == 1e-6
    found = MetricCollector()
    assert [found.add("a", x, "", "") for x in (3e-14, -2e-3)] == [0.0, -2e-3]
    assert np.isnan(found.add("b", np.nan, "", ""))


def test_setups_are_named_after_car_and_setup(tmp_path):
    (tmp_path / "soft.toml").write_text('name = "softer bar"\n[steering]\nassist = 2.0\n')
    (tmp_path / "stiff.toml").write_text("[steering]\nassist = 1.0\n")
    cars = label_cars(
        cars_with_setups(["hmmwv", "passenger"], [tmp_path / "soft.toml", tmp_path / "stiff.toml"])
    )
    names = [c.label for c in cars]
    assert names[1:3] == [f"{names[0]}, softer bar", f"{names[0]}, stiff"] and len(set(names)) == 6
    assert names[4] == f"{names[3]}, softer bar"


def test_cars_of_one_name_are_labelled_by_their_files(tmp_path):
    text = bc.vehicles.template("hmmwv")
    for name in ("a", "b"):
        (tmp_path / f"{name}.toml").write_text(text)
    labels = [c.label for c in label_cars([tmp_path / "a.toml", tmp_path / "b.toml"])]
    assert [x.rpartition(" ")[2] for x in labels] == ["(a)", "(b)"]


def test_cars_of_one_name_and_failures_of_one():
    cars = label_cars([bc.vehicles.Car.read("hmmwv")] * 2)  # the same file twice
    assert [c.label.partition(" (")[2] for c in cars] == ["1)", "2)"]

    def drive(car, name):
        raise bc.RunError(f"{name} cannot be")

    told = []
    assert len(list(run_all(cars, ["braking"], drive, lambda *what: told.append(what)))) == 2
    assert cars[1].failures == {"braking": "braking cannot be"}
    assert [share for share, _ in told] == [0.0, 0.5] and "braking" in told[0][1]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["passenger", "brakng"], "Did you mean 'braking'"),
        (["passenger", "braking", "kerbb"], "no manoeuvre is called 'kerbb'. Did you mean 'kerb'"),
        (
            ["sport", "braking"],
            "no file or car is called 'sport'. 'sport' is a motorcycle. There are b_double",
        ),
        (["passenger", "braking", "--set", "sped=3"], "Did you mean 'speed'"),
        (["passenger", "braking", "--speed", "-3"], "must be a positive number"),
        (
            ["passenger", "braking", "--speed", "80", "--set", "speed=60"],
            "the speed is given twice",
        ),
        (["passenger", "four-post", "--set", "from=30"], "from=30 to=25 Hz must begin below 5 Hz"),
        (["passenger", "all", "--set", "ay=3"], "settings differ"),
        (
            ["passenger", "braking", "kerb", "--set", "ay=3"],
            "--set is for one manoeuvre, not for 2",
        ),
        (["passenger", "hmmwv", "braking", "--plot", "a.png"], "one manoeuvre of one car"),
        (["nothing.toml", "braking"], "nothing.toml"),
        (["passenger", "braking", "--author", "me"], "are for a report: give --report"),
        (
            ["passenger", "braking", "--report", "a.html", "--targets", "missing.toml"],
            "missing.toml",
        ),
        (
            ["passenger", "braking", "--set", "method=ab3"],
            "method='ab3' is not known. Did you mean 'ab2'? Methods: rk2, ",
        ),
        (["passenger", "braking", "--set", "method=3"], "method=3 must be a word"),
        (
            ["passenger", "braking", "--method", "ab2", "--set", "method=rk4"],
            "the method is given twice",
        ),
    ],
)
def test_what_is_mistyped_is_told(words, said, capsys):
    assert cli.main(["drive", *words]) != 0
    assert said in capsys.readouterr().err


def test_a_method_that_is_not_known_is_told_before_anything_is_driven(capsys):
    with pytest.raises(SystemExit):
        cli.main(["drive", "passenger", "all", "--method", "ab3"])
    assert (
        "--method: method='ab3' is not known. Did you mean 'ab2'? Methods: rk2, "
        in capsys.readouterr().err
    )


def test_every_manoeuvre_is_driven_by_the_method_that_is_asked_for(monkeypatch):
    """As far as the car that it asks for."""
    asked = []

    def ready(data, driver=None, ground=None, method=None, gear=None):
        asked.append(method)
        raise bc.RunError("far enough")

    for name, module in list(sys.modules.items()):
        if name.startswith("bellcrank.vehicles.manoeuvres."):
            monkeypatch.setattr(module, "compile_car", ready, raising=False)
    car = bc.vehicles.Car.read("passenger")
    for settings in ({}, {"method": "AB2"}):
        for name in applicable_names():
            with pytest.raises(bc.RunError, match="far enough"):
                bc.vehicles.manoeuvres.run(car, name, **settings)
    assert asked == ["rk4"] * len(applicable_names()) + ["ab2"] * len(applicable_names())


def test_all_has_the_manoeuvres_of_trailers_for_vehicles_with_some():
    passenger, caravan = label_cars(["passenger", "caravan"])
    towed = {"iso9815", "off-tracking", "iso14791"}
    assert {*applicable_names([caravan])} - {*applicable_names([passenger])} == towed
    assert (
        applicable_names([passenger, caravan])
        == applicable_names()
        == applicable_names([passenger])
    )


@pytest.mark.parametrize(
    ("words", "cars", "names"),
    [
        (["passenger", "iso7975", "kerb"], ["passenger"], ["iso7975", "kerb"]),
        (["a.toml", "hmmwv", "kerb"], ["a.toml", "hmmwv"], ["kerb"]),
        (["kerb", "kerb"], ["kerb"], ["kerb"]),
        (["passenger", "kerb", "kerbs"], ["passenger"], ["kerb", "kerbs"]),
    ],
)
def test_several_cars_and_manoeuvres(words, cars, names):
    assert cars_and_manoeuvres(words) == (cars, names)
