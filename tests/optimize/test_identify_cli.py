"""`bellcrank identify` finds what `bc.optimize.fit` finds, from files."""

import json
from pathlib import Path

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.cli import main
from bellcrank.vehicles.motorcycles.motorcycle import motorcycle_text

MODEL = str(Path(__file__).parents[2] / "examples" / "quarter_car.py")


def test_a_log_and_a_table(tmp_path, capsys):
    sim = bc.load(MODEL).equations().compile()
    t, rng = np.arange(0, 1.5, 0.01), np.random.default_rng(2)
    road = np.interp(t, np.linspace(0, 1.5, 16), rng.normal(0, 0.01, 16))
    true = sim.simulate(
        t[-1],
        step=0.001,
        output_every=10,
        inputs={"z_road": (t, road)},
        parameters={"k": 2.1e4, "c": 1400},
    )
    seen = -true["az"] / 9.80665 + rng.normal(0, 0.01, len(t))
    text = "\n".join(
        f"{a:.6f};{1000 * b:.6f};{c:.6f}" for a, b, c in zip(t, road, seen, strict=True)
    )
    (tmp_path / "log.csv").write_text(f"Time;Road;AccZ\n[s];[mm];[g]\n{text}\n")
    (tmp_path / "map.toml").write_text(
        '[channels]\nz_road = "Road"\naz = {column = "AccZ", scale = -1}\n'
    )
    words = [
        "identify",
        MODEL,
        "--log",
        str(tmp_path / "log.csv"),
        "--map",
        str(tmp_path / "map.toml"),
        "--fit",
        "k=5e3:5e4",
    ]
    assert (
        main(
            [*words, "--fit", "c", "--json", "--report", str(tmp_path / "fit.html"), "--overwrite"]
        )
        == 0
    )
    values = json.loads(capsys.readouterr().out)["values"]
    for name, true_value in (("k", 2.1e4), ("c", 1400)):
        assert (
            abs(values[name]["value"] - true_value)
            < 4 * values[name]["standard_error"]
            < 0.05 * true_value
        )
    assert "95 % interval" in (tmp_path / "fit.html").read_text(encoding="utf-8")
    assert main([*words, "--fit", "kk"]) == 1
    assert "'kk' is no parameter, state or sensor" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["k=1", "k=3:1", "=1:2"])
def test_wrong_bounds(text, capsys):
    with pytest.raises(SystemExit):
        main(["identify", MODEL, "--log", "log.csv", "--fit", text])
    assert "LOW" in capsys.readouterr().err


@pytest.mark.campaign
def test_a_motorcycle_file_is_a_model(tmp_path, capsys):
    """The steering damper from a log of roll and steering angle after a pulse of the steering
    torque."""
    file, log = tmp_path / "sport.toml", tmp_path / "log.csv"
    file.write_text(motorcycle_text("sport"))
    sim = bc.load(file).system(speed=20).equations().compile()
    t = np.arange(0, 1.0, 0.01)
    push = np.where((t > 0.1) & (t < 0.3), 10.0, 0.0)
    run = sim.simulate(
        t[-1],
        step=0.001,
        output_every=10,
        inputs={"steer_torque": (t, push)},
        parameters={"c_steer": 9},
    )
    rows = zip(t, push, run["roll"], run["steer"], strict=True)
    log.write_text(
        "t,steer_torque,roll,steer\n"
        + "\n".join(",".join(repr(float(x)) for x in row) for row in rows)
    )
    assert main(["identify", str(file), "--log", str(log), "--fit", "c_steer=1:20", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["values"]["c_steer"]["value"] == pytest.approx(
        9, rel=1e-3
    )
