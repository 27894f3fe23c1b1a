"""Examples that come with Bellcrank: found by name from anywhere, listed, copied; their titles in
the gallery."""

import ast
import json
import re
from pathlib import Path

import pytest

import bellcrank as bc
from bellcrank import examples
from bellcrank.cli import main
from bellcrank.core.files.shipped_files import resolve_example, resolve_model_path, vehicle_files
from website.gallery import example_files, title_of

ROOT = Path(__file__).parents[1]


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", ["four_bar", "four_bar.py", "examples/four_bar.py"])
def test_models_are_found_by_name(elsewhere, name):
    assert bc.load(name).name == bc.System.read(name).name == "four-bar linkage"


@pytest.mark.parametrize(
    ("name", "title"), [("bicycle", "benchmark bicycle"), ("bicycle.toml", "benchmark bicycle")]
)
def test_vehicles_are_models_too(elsewhere, name, title):
    assert bc.System.read(name).name == title


def test_every_name_of_a_vehicle_is_that_vehicle(elsewhere):
    """No example has the name of a vehicle, so that commands take the name of each."""
    assert not {Path(name).stem for name in vehicle_files()} & set(examples.names())
    for name, path in vehicle_files().items():
        assert resolve_model_path(name) == resolve_model_path(f"{name}.toml") == path
    assert bc.System.read("formula_student_corner").name == "Formula Student corner"
    with pytest.raises(bc.ModelError, match=r"no file semi_trailr\. Did you mean 'semi_trailer'"):
        bc.System.read("semi_trailr")


def test_a_file_of_ones_own_comes_first(elsewhere):
    Path("four_bar.py").write_text(
        "import bellcrank as bc\ndef model():\n    return bc.System('mine')\n"
    )
    assert bc.load("four_bar.py").name == "mine" and resolve_example("four_bar.py") == Path(
        "four_bar.py"
    )


def test_other_files_are_found_too(elsewhere):
    tyre = "tyres/book_205_60R15.tir"
    assert (
        bc.load(tyre).name
        == bc.vehicles.tyres.MagicFormula.read(f"examples/{tyre}").name
        == "book_205_60R15"
    )
    assert bc.load("suspension").name == "front strut"
    assert bc.load("examples/decks/cart.lsp").name
    assert resolve_example("../examples/four_bar.py") == Path(
        "../examples/four_bar.py"
    )  # nothing outside the folder


def test_names_that_mean_nothing_are_reported(elsewhere):
    with pytest.raises(
        bc.ModelError, match=r"no example is called 'four_baar'\. Did you mean 'four_bar'"
    ):
        bc.examples.path("four_baar")
    with pytest.raises(bc.ModelError, match="Did you mean 'four_bar'"):
        bc.load("four_baar")
    with pytest.raises(bc.ModelError, match=r"no file nothing\.py"):
        bc.System.read("nothing.py")


def test_command(elsewhere, capsys):
    assert main(["examples", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert [*listed] == bc.examples.names() and listed["four_bar"].startswith(
        "Four-bar linkage with a spring"
    )
    assert main(["examples", "four_bar", "tyres/handling.py", "--out", "mine"]) == 0
    assert sorted(p.name for p in Path("mine").rglob("*.py")) == ["four_bar.py", "handling.py"]
    capsys.readouterr()
    assert main(["examples", "four_bar", "--out", "mine"]) == 1
    assert "exists already" in capsys.readouterr().err
    assert main(["describe", "quarter_car"]) == 0
    assert "z_road" in capsys.readouterr().out


def test_titles_of_the_gallery_are_short_plain_and_different():
    titles = [
        title_of(ast.get_docstring(ast.parse(p.read_text(encoding="utf-8"))))
        for p in example_files()
    ]
    assert len(titles) > 30 and len(set(titles)) == len(titles)
    assert [t for t in titles if len(t) > 50 or "`" in t or not t[0].isupper()] == []


def test_the_four_bar_returns_as_its_text_says():
    words = ast.get_docstring(ast.parse(bc.examples.path("four_bar").read_text(encoding="utf-8")))
    hertz, damping = map(
        float, re.search(r"with ([\d.]+) Hz and a damping ratio\s+of ([\d.]+)", words).groups()
    )
    sim = bc.load("four_bar").equations().compile(backend="python")
    assert "`pull`" in words and "pull" in [x.name for x in sim.interface.outputs]
    (mode,) = sim.modes()
    assert mode.frequency == pytest.approx(hertz, abs=0.05) and mode.damping == pytest.approx(
        damping, abs=0.005
    )
