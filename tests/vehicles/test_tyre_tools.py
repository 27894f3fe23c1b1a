"""Around a tyre: the command, fits to data, other sizes."""

import json

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.cli import main
from bellcrank.vehicles.tyres import tyre_curves
from tests.vehicles.tyre_tables import BOOK


@pytest.fixture(scope="module")
def measured():
    """Forces of the book's tyre with noise, and what was added."""
    rng = np.random.default_rng(7)
    n = 600
    at = dict(
        Fz=rng.uniform(1500, 7000, n),
        kappa=np.zeros(n),
        alpha=rng.uniform(-0.25, 0.25, n),
        gamma=rng.uniform(-0.08, 0.08, n),
    )
    forces = bc.vehicles.tyres.MagicFormula.read(BOOK).forces(**at)
    return {**at, "Fy": forces.Fy + rng.normal(0, 20, n), "Mz": forces.Mz + rng.normal(0, 1, n)}


@pytest.mark.campaign
def test_a_fit_finds_the_coefficients_again(measured, tmp_path):
    book = bc.vehicles.tyres.MagicFormula.read(BOOK)
    names = ["PDY1", "PDY2", "PKY1", "PKY2", "PEY1", "QDZ1"]
    wrong = book.scaled(PDY1=0.7, PDY2=0.0, PKY1=-10, PKY2=2.2, PEY1=-0.2, QDZ1=0.06)
    found = bc.vehicles.tyres.fit(measured, start=wrong, coefficients=names)
    true = np.array([book[n] for n in names])
    assert np.all(np.abs(found.values - true) < 5 * found.errors) and np.all(
        found.errors < 0.05 * np.abs(true) + 1e-3
    )
    assert found.rms["Fy"] == pytest.approx(20, rel=0.1) and found.rms["Mz"] == pytest.approx(
        1, rel=0.1
    )
    assert (
        found.covariance.shape == (6, 6)
        and found.tyre["PDX1"] == book["PDX1"]
        and "PDY1 = " in str(found)
    )
    found.draw(tmp_path / "fit.png")
    assert (tmp_path / "fit.png").stat().st_size > 10_000


def test_data_of_a_fit_may_be_a_file(measured, tmp_path):
    path = tmp_path / "data.csv"
    rows = np.stack([np.arange(600.0), *measured.values()], axis=1)
    np.savetxt(path, rows, delimiter=",", header=",".join(["t", *measured]), comments="")
    found = bc.vehicles.tyres.fit(
        path, start=bc.vehicles.tyres.MagicFormula.read(BOOK), coefficients=["PKY1"]
    )
    assert found.values[0] == pytest.approx(-15.324, rel=0.02)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (dict(coefficients=[]), "must be a list of names"),
        (dict(coefficients=["PKY99"]), "is no coefficient"),
        (dict(coefficients=["PKY1", "pky1"]), "twice"),
        (dict(start=3), "must be a Magic Formula tyre"),
        (dict(data={"Fz": [1], "kappa": [0]}), "must have the columns"),
        (dict(data={"Fz": [1], "kappa": [0], "alpha": [0], "Fy": ["x"]}), "columns of numbers"),
        (dict(data={"Fz": [1.0], "kappa": [0.0], "alpha": [0.1], "Fy": [3.0]}), "do not determine"),
        (
            dict(data={"Fz": [1.0, 2], "kappa": [0.0], "alpha": [0.1, np.nan], "Fy": [3.0, 4]}),
            "alpha must have 2 finite",
        ),
    ],
)
def test_what_is_wrong_with_a_fit_is_told(measured, change, words):
    given = {
        "data": measured,
        "start": bc.vehicles.tyres.MagicFormula.read(BOOK),
        "coefficients": ["PKY1"],
        **change,
    }
    with pytest.raises(bc.ModelError, match=words):
        bc.vehicles.tyres.fit(**given)


def test_a_tyre_in_another_size():
    book = bc.vehicles.tyres.MagicFormula.read(BOOK)
    small = book.sized(load=400, radius=0.15)
    at = dict(kappa=0.03, alpha=0.05, gamma=0.02)
    one, other = book.forces(4000, **at), small.forces(400, **at, V=16.7)
    for name, factor in {
        "Fx": 0.1,
        "Fy": 0.1,
        "mux": 1,
        "Mz": 0.1 * 0.15 / 0.3135,
        "sigma_y": 0.15 / 0.3135,
    }.items():
        assert other[name] == pytest.approx(factor * one[name], rel=1e-6)
    assert "not measured" in small.notes[-1]
    with pytest.raises(bc.ModelError, match="must be positive"):
        book.sized(load=-1)


@pytest.mark.campaign
def test_the_command_draws(tmp_path, capsys):
    plot = tmp_path / "new" / "curves.png"
    assert main(["tyre", str(BOOK), "--plot", str(plot)]) == 0
    assert "wrote" in capsys.readouterr().out and plot.stat().st_size > 50_000


def test_the_command_tells_and_writes(tmp_path, capsys):
    table = tmp_path / "points.csv"
    assert main(["tyre", str(BOOK), "--table", str(table)]) == 0
    said = capsys.readouterr().out
    assert "Magic Formula 6.1" in said and "sigma_y" in said
    lines = table.read_text("utf-8").splitlines()
    names, first = lines[0].split(","), [float(x) for x in lines[2].split(",")]
    at = dict(zip(names, first, strict=True))
    forces = bc.vehicles.tyres.MagicFormula.read(BOOK).forces(
        at["Fz"], at["kappa"], at["alpha"], at["gamma"]
    )
    assert at["Mz"] == forces.Mz and len(lines) > 300
    assert main(["tyre", str(BOOK), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["at"]["Kya"][1] == pytest.approx(-53353.1, rel=1e-5)
    (tmp_path / "x.tir").write_text("[MODEL]\nFITTYP = 51\n")
    assert main(["tyre", str(tmp_path / "x.tir")]) == 1
    assert "motorcycle" in capsys.readouterr().err


def test_curves_are_named():
    """By the name of the tyre; every family of curves has its loads or slip angles in a legend."""
    figure = tyre_curves.draw_tyre_curves(bc.load("tyres/book_205_60R15.tir"))
    assert figure.get_suptitle() == "book_205_60R15: Magic Formula 6.1"
    legends = [[t.get_text() for t in axis.get_legend().get_texts()] for axis in figure.axes]
    assert legends[0] == legends[1] == legends[2] == legends[4] == ["2 kN", "4 kN", "6 kN", "8 kN"]
    assert legends[3] == ["1.5 deg", "3.75 deg", "7.5 deg", "11.2 deg", "15 deg"]
    assert figure.axes[1].get_ylabel() == "Mz (N·m)" and figure.axes[5].get_ylabel() == "radius (m)"
    assert (
        tyre_curves.draw_tyre_curves(
            bc.vehicles.tyres.TMeasy.of_size("205/60R15 91V")
        ).get_suptitle()
        == "TMeasy"
    )
