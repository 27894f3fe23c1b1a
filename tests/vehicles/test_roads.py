"""Roads along a line: read with their line, and driven along by a car whose wheels stand on
them."""

import json
import math

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.cli.main import main
from bellcrank.vehicles.cars.design.car_data import CORNERS, GRAVITY
from tests.vehicles.test_surface import BANK, WAVE, R, by_formula, ring, written


def s_bend(path, start=0.0):
    """A bend to the left and one to the right, both banked, that climbs."""
    s = 0.5 * np.arange(401)
    bend = np.interp(s, [0, 30, 50, 90, 110, 150, 170, 200], [0, 0, 1, 1, -1, -1, 0, 0]) / 60.0
    headings = 0.3 + np.concatenate([[0.0], np.cumsum(bend[:-1]) * 0.5])
    heights = (2.0 + 0.01 * s)[:, None] + np.zeros(3)
    text = written(path, headings, 0.5, (-4.0, 0.0, 4.0), heights, -3 * bend).read_text()
    path.write_text(text.replace("$ROAD_CRG", f"$ROAD_CRG\nREFERENCE_LINE_START_U = {start!r}", 1))
    return path


def test_a_road_and_its_line(tmp_path):
    """It begins at the origin along x at height 0, wherever its file does; heights belong to the
    line."""
    road = bc.vehicles.terrain.Road.read(s_bend(tmp_path / "s.crg", 250.0), spacing=0.5)
    assert (road.x[0], road.y[0], road.right, road.left) == (0.0, 0.0, -4.0, 4.0)
    assert np.hypot(np.diff(road.x), np.diff(road.y)) == pytest.approx(0.5)
    assert road.y[1] == 0.0 and road.y[-1] > 20
    some = slice(4, -4, 7)
    assert road.ground.height(road.x[some], road.y[some]) == pytest.approx(
        0.005 * np.arange(401)[some], abs=2e-3
    )
    path = bc.vehicles.manoeuvres.Path.through(road.x[::2], road.y[::2])
    assert path.length == pytest.approx(200.0, rel=1e-3) and path.tightest()[0] == pytest.approx(
        60.0, rel=0.02
    )
    v, h = (-2.0, 2.0), np.full((21, 2), 0.7)
    straight = bc.vehicles.terrain.Road.read(
        written(tmp_path / "straight.crg", np.zeros(21), 0.5, v, h)
    )
    assert (
        np.abs(straight.y).max() == 0
        and straight.x[-1] == pytest.approx(10.0)
        and straight.ground.height(5.0) == 0
    )
    with pytest.raises(
        bc.ModelError, match=r"a road along a line is read from OpenCRG text \(.crg\), not '.csv'"
    ):
        bc.vehicles.terrain.Road.read("heights.csv")
    with pytest.raises(
        bc.ModelError, match=r"one\.crg: at least two records are needed; there is 1"
    ):
        bc.vehicles.terrain.Road.read(written(tmp_path / "one.crg", np.zeros(1), 0.5, v, h[:1]))


def test_a_road_is_asked_for(capsys):
    assert main(["drive", "passenger", "road"]) != 0
    assert (
        "manoeuvre road needs the setting file: the road, OpenCRG text (.crg)"
        in capsys.readouterr().err
    )
    assert main(["drive", "passenger", "road", "--set", "file=none.crg"]) != 0
    assert "none.crg" in capsys.readouterr().err


@pytest.mark.campaign
def test_a_car_follows_a_road_of_a_file(tmp_path, capsys):
    """By command: to the end of the road near its line; where it is too fast, it is reported that
    it leaves the road."""
    road, out = s_bend(tmp_path / "s.crg"), tmp_path / "out"
    words = ["drive", "passenger", "road", "--set", f"file={road}", "--speed"]
    assert main([*words, "45", "--out", str(out), "--plot", str(tmp_path / "s.png")]) == 0
    assert "passed: the car comes to the end of the road" in capsys.readouterr().out
    found = {
        k: m["value"] for k, m in json.loads((out / "road.json").read_text())["metrics"].items()
    }
    assert found["path_error"] < 0.3 and found["edge"] > 2.5 and found["load_min"] > 500
    assert found["ay_max"] == pytest.approx((45 / 3.6) ** 2 / 60, rel=0.15)
    assert found["climb"] == pytest.approx(0.01 * (found["way"] - 2 * 45 / 3.6), abs=0.05)
    assert main([*words, "130", "--json"]) != 0
    fast = json.loads(capsys.readouterr().out)
    assert [c["passed"] for c in fast["criteria"]] == [False, False] and fast["metrics"]["edge"][
        "value"
    ] < 0


@pytest.mark.campaign
def test_wheels_stand_on_a_ring_road(tmp_path):
    """Banked, with waves: body and loads are those of the surface by its formula, at the speed it
    is banked for."""
    v = math.sqrt(-GRAVITY * R * BANK)
    car = bc.vehicles.Car.read("passenger")
    found = bc.vehicles.manoeuvres.run(
        car, "road", file=str(ring(tmp_path / "ring.crg")), speed=3.6 * v, spacing=0.25
    )
    run, later = found.run, found.run.time > 4
    assert found.passed and found["path_error"] < 0.3
    assert found["way"] == pytest.approx(2 * math.pi * R, abs=3.0)
    over = run["height"] - by_formula(run["x"], run["y"])
    assert np.ptp(over[later]) < 0.25 * WAVE
    assert np.degrees(-math.atan(BANK)) == pytest.approx(-run["roll"][later].mean(), rel=0.05)
    side = sum(run[f"{c}.tyre.fy"][later] for c in CORNERS).mean()
    assert abs(side) < 0.05 * car.stand.mass * v**2 / R  # nothing for the tyres to hold
    load = sum(run[f"{c}.tyre_load"][later] for c in CORNERS).mean()
    assert load == pytest.approx(car.stand.mass * math.hypot(GRAVITY, v**2 / R), rel=0.02)
