"""Files of manoeuvres: names that every file system allows, and nothing computed is lost when one cannot be written."""

import json

import pytest

import bellcrank as bc
from bellcrank.cli import drive
from bellcrank.cli.main import main
from bellcrank.files.names import file_names
from bellcrank.library.manoeuvres.result import Metrics, Result

RUNS = ("2 m/s2", "left\\right", "a:b*c?", "..", "2 M/S2", "con/" + 300 * "x", "")


@pytest.fixture(scope="module")
def run():
    s = bc.System("point")
    s.add_body("p", translate=1, mass=1.0)
    return s.equations().compile(backend="python").simulate(t_end=0.01, step=0.005)


@pytest.fixture
def result(run):
    found = Metrics()
    found.add("ay_max", 8.0, "m/s2", "largest lateral acceleration")
    return Result("iso7975", "a car", {}, dict.fromkeys(RUNS, run), found.done())


def test_every_name_of_a_run_becomes_a_file(result, tmp_path):
    written = result.save(tmp_path / "new" / "folder")
    assert len({str(path).lower() for path in written}) == len(RUNS) + 1
    assert sorted(p.name for p in (tmp_path / "new" / "folder").iterdir()) == sorted(p.name for p in written)
    assert (tmp_path / "new" / "folder" / "iso7975_2_m_s2.csv").exists()


def test_names_stay_where_they_are_allowed():
    assert file_names(["iso3888-1_run.csv", "a b.csv", "A_B.csv"]) == ["iso3888-1_run.csv", "a_b.csv", "A_B_2.csv"]


def test_one_file_that_cannot_be_written_leaves_the_others(result, tmp_path):
    (tmp_path / "iso7975_2_m_s2.csv").mkdir()
    with pytest.raises(bc.RunError, match=r"iso7975_2_m_s2\.csv"):
        result.save(tmp_path)
    assert json.loads((tmp_path / "iso7975.json").read_text())["manoeuvre"] == "iso7975"
    assert sum(p.is_file() for p in tmp_path.iterdir()) == len(RUNS)


def test_the_command_drives_and_reports_all_before_it_fails(result, tmp_path, monkeypatch, capsys):
    pages = []
    monkeypatch.setattr(drive, "run", lambda car, name, **settings: result)
    monkeypatch.setattr(drive, "write_page", lambda path, cars, *_: pages.append([*cars[0].results]))
    (tmp_path / "iso7975.json").mkdir()
    words = [
        "drive",
        "passenger",
        "iso7975",
        "iso9816",
        "--out",
        str(tmp_path),
        "--report",
        str(tmp_path / "page.html"),
    ]
    assert main(words) != 0
    told = capsys.readouterr()
    assert pages == [["iso7975", "iso9816"]]
    assert told.out.count("largest lateral acceleration") == 2
    assert "iso7975.json" in told.err
