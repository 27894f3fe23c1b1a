"""Files of manoeuvres: names that every file system allows, and nothing computed is lost when one
cannot be written."""

import json

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.cli import drive
from bellcrank.cli.main import main
from bellcrank.core.files.file_names import file_names
from bellcrank.scene.camera import fit_camera
from bellcrank.vehicles.manoeuvres.manoeuvre_result import Curve, MetricCollector, Result
from bellcrank.vehicles.manoeuvres.track import CONES

RUNS = ("2 m/s2", "left\\right", "a:b*c?", "..", "2 M/S2", "con/" + 300 * "x", "")


@pytest.fixture(scope="module")
def run():
    s = bc.System("point")
    s.add_body("p", translate=1, mass=1.0)
    return s.equations().compile(backend="python").simulate(t_end=0.01, step=0.005)


@pytest.fixture
def result(run):
    found = MetricCollector()
    found.add("ay_max", 8.0, "m/s2", "largest lateral acceleration")
    return Result("iso7975", "a car", {}, dict.fromkeys(RUNS, run), found.as_metrics())


def test_every_name_of_a_run_becomes_a_file(result, tmp_path):
    written = result.save(tmp_path / "new" / "folder")
    assert len({str(path).lower() for path in written}) == len(RUNS) + 1
    assert sorted(p.name for p in (tmp_path / "new" / "folder").iterdir()) == sorted(
        p.name for p in written
    )
    assert (tmp_path / "new" / "folder" / "iso7975_2_m_s2.csv").exists()


def test_names_stay_where_they_are_allowed():
    assert file_names(["iso3888-1_run.csv", "a b.csv", "A_B.csv"]) == [
        "iso3888-1_run.csv",
        "a_b.csv",
        "A_B_2.csv",
    ]


def test_one_file_that_cannot_be_written_leaves_the_others(result, tmp_path):
    (tmp_path / "iso7975_2_m_s2.csv").mkdir()
    with pytest.raises(bc.RunError, match=r"iso7975_2_m_s2\.csv"):
        result.save(tmp_path)
    assert json.loads((tmp_path / "iso7975.json").read_text())["manoeuvre"] == "iso7975"
    assert sum(p.is_file() for p in tmp_path.iterdir()) == len(RUNS)


def test_a_manoeuvre_is_animated_with_cones_lanes_and_path(tmp_path, monkeypatch, capsys):
    """In the scene they stand where the lane has its edges; the command writes the file."""
    s = bc.System("sledge")
    b = s.add_body("b", translate=(1, 2), mass=1.0)
    s.add_shape(body=b, kind="wheel", size=(0.3, 0.2), at=(0, 0, 0.3), axis=2)
    for i, name in enumerate(("x", "y"), 1):
        s.add_output(name, f"q(b, {i})", units="L")
    run = (
        s.equations()
        .compile(backend="python")
        .simulate(t_end=1, step=0.1, initial={"u(b, 1)": 20.0})
    )
    lane = np.array([2.0, 14.0, np.nan]), np.array([1.5, 1.5, np.nan])
    curve = Curve("x, m", "y, m", (), ((CONES, *lane),))
    result = Result(
        "iso3888-2",
        "sledge",
        {},
        {"lane_change": run},
        MetricCollector().as_metrics(),
        more=(curve,),
    )
    drawn = []
    monkeypatch.setattr(
        "bellcrank.scene.animate.animate_scene",
        lambda scene, poses, time, path, fps, speed, title, progress: (
            drawn.append((scene, title)) or path
        ),
    )
    monkeypatch.setattr(drive, "run", lambda car, name, **settings: result)
    assert main(["drive", "passenger", "iso3888-2", "--animate", str(tmp_path / "lane.gif")]) == 0
    assert "lane.gif" in capsys.readouterr().out
    scene, title = drawn[0]
    at = {
        label: [scene.marks[i.marks[0]].position for i in scene.items if i.label == label]
        for label in ("cone", "path")
    }
    assert (
        at["cone"] == [(x, 1.5, 0.0) for x in (2.0, 5.0, 8.0, 11.0, 14.0)]
        and title == "sledge: iso3888-2"
    )
    edge = next(i for i in scene.items if i.label == "edge of a lane")
    assert edge.size[0] == pytest.approx(12) and scene.marks[edge.marks[0]].position[:2] == (
        8.0,
        1.5,
    )
    path = next(i for i in scene.items if i.label == "path")
    assert [scene.marks[k].position[:2] for k in (path.marks[0], path.marks[-1])] == [
        (0, 0),
        pytest.approx((20, 0)),
    ]
    camera = fit_camera(scene, run.motion.poses)
    assert camera.centres[-1][0] - camera.centres[0][0] == pytest.approx(
        20
    )  # the wheel is followed, not the cones
    page = result.animate(tmp_path / "lane.html").read_text()
    assert "sledge: iso3888-2" in page and len(run.motion.scene.items) < len(scene.items)
    assert main(["drive", "passenger", "iso3888-2", "kerb", "--animate", "a.gif"]) != 0
    assert "--animate draws one manoeuvre of one car" in capsys.readouterr().err


def test_the_command_drives_and_reports_all_before_it_fails(result, tmp_path, monkeypatch, capsys):
    pages = []
    monkeypatch.setattr(drive, "run", lambda car, name, **settings: result)
    monkeypatch.setattr(
        drive, "write_report_page", lambda path, cars, *_: pages.append([*cars[0].results])
    )
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


def test_panels_over_time_share_their_axis():
    """It is named once, below the last; what is seen from above has one scale, and its cones a
    name."""
    t = np.linspace(0, 1, 5)
    run = bc.Run(
        "car",
        t,
        {"ay": t, "yaw_rate": -t},
        {"ay": "m/s2", "yaw_rate": "deg/s"},
        {"ay": "lateral acceleration, across the path of the car", "yaw_rate": "yaw rate"},
        "finished",
    )
    above = Curve("x, m", "y of the mass centre, m", (("car", t, t),), ((CONES, t, t + 1),))
    result = Result(
        "lane",
        "car",
        {},
        {"run": run},
        MetricCollector().as_metrics(),
        plotted=("ay", "yaw_rate"),
        more=(above,),
    )
    first, second, third = result._figure().axes
    assert [a.get_xlabel() for a in (first, second, third)] == ["x (m)", "", "time (s)"]
    assert third.get_shared_x_axes().joined(second, third) and not third.get_shared_x_axes().joined(
        first, third
    )
    assert second.get_ylabel() == "lateral acceleration,\nacross the path of the\ncar (m/s²)"
    assert first.get_aspect() == 1.0 and second.get_aspect() == "auto"
    assert [x.get_text() for x in first.get_legend().get_texts()] == [
        "car",
        CONES,
    ] and second.get_legend() is None
