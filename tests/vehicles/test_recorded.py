"""Cars driven by logs, and values of cars found from them: synthetic logs of a known car, with
noise."""

import json

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.cli import main
from bellcrank.core.files.record import FileChannel
from bellcrank.vehicles.manoeuvres.log_replay import _current_key_value

pytestmark = pytest.mark.campaign
TRUE = {"k_bar_front": 15000.0}
NOISE = {"roll": 0.05, "ay": 0.1, "yaw_rate": 0.2}  # deg, m/s2, deg/s


@pytest.fixture(scope="module")
def car():
    return bc.vehicles.Car.read("passenger")


@pytest.fixture(scope="module")
def driven(car):
    return bc.vehicles.manoeuvres.run(car.with_parameters(TRUE), "iso7401-sine").run


def log_of(run, names, seed=None):
    rng = np.random.default_rng(seed)
    noise = {
        n: 0.0 if seed is None else rng.normal(0, NOISE.get(n, 0.0), len(run.time)) for n in names
    }
    return bc.Run._from_channels(
        "log",
        run.time,
        [FileChannel(n, run[n] + noise[n], run.units[n], n) for n in names],
        "finished",
    )


def test_the_same_car_does_the_same(car, driven):
    """Steering and speed of a run drive the same car through the same run."""
    log = log_of(driven, ["steering_wheel", "speed", "ay", "yaw_rate", "roll"])
    result = bc.vehicles.manoeuvres.run(car.with_parameters(TRUE), "recorded", log=log)
    for name in log:
        assert result.correlation[name].normalized < 1e-5 and result[f"{name}_r2"] > 0.99999
    whole = bc.vehicles.manoeuvres.run(
        car.with_parameters(TRUE), "recorded", log=driven
    )  # its input `drive` is zero
    assert whole.correlation["roll"].normalized < 1e-5 and "recorded speed" in whole.notes[-1]
    other = bc.vehicles.manoeuvres.run(car, "recorded", log=log)
    assert other.correlation["roll"].normalized > 0.01
    assert [c.fixed[0][0] for c in other.curves()] == ["measured"] * len(log.channels)


def test_a_log_that_begins_in_a_turn_and_pedals(car):
    """From the middle of a steady circle: the lead-in brings the car there. Brake and drive torques
    stop it alike."""
    model = (
        car.system(speed=20, driver=bc.vehicles.manoeuvres.Driver(circles=True))
        .equations()
        .compile()
    )
    run = model.simulate(
        8.0,
        step=0.001,
        output_every=10,
        inputs={"steer": bc.signals.ramp(0.5, 20, 2.0), "speed_set": 20.0},
    )
    late = run.time > 5
    made = [
        FileChannel(n, run[n][late], run.units[n], n)
        for n in ("steering_wheel", "speed", "ay", "yaw_rate")
    ]
    log = bc.Run._from_channels("turn", run.time[late] - run.time[late][0], made, "finished")
    found = bc.vehicles.manoeuvres.run(car, "recorded", log=log, settle=4)
    assert np.abs(run["ay"][-1]) > 1
    assert (
        found.correlation["ay"].peak < 0.03 * np.abs(run["ay"][-1])
        and found.correlation["yaw_rate"].peak < 0.5
    )
    t, slowing = np.arange(0, 3, 0.01), []
    for torque in (0.0, 800.0):
        steps = {"brake": np.where(t > 0.5, torque, 0.0), "drive": 0 * t}
        made = [
            *(FileChannel(n, x, "N m") for n, x in steps.items()),
            FileChannel("ax", 0 * t, "m/s2"),
        ]
        coasts = bc.vehicles.manoeuvres.run(
            car, "recorded", log=bc.Run._from_channels("pedals", t, made, "finished"), speed=72
        ).run
        after = (coasts.time > 1) & (coasts.time < 2.5)
        slowing.append(-np.polyfit(coasts.time[after], coasts["speed"][after], 1)[0])
    radius = np.mean([car.data.axle(a).tyre.forces(3000.0, 0.0, 0.0).Re for a in ("front", "rear")])
    braked = (
        800 / radius / car.stand.mass
    )  # next to drag and rolling resistance; wheels and motor have inertia too
    assert 0.9 * braked < slowing[1] - slowing[0] < braked


def test_values_within_their_intervals_from_noisy_logs(car, driven):
    """Anti-roll bar and roll offset of the sensor, for several seeds."""
    for seed in range(3):
        log = log_of(driven, ["steering_wheel", "speed", "roll", "ay"], seed)
        log.channels["roll"] = log["roll"] + 0.3
        fit = bc.vehicles.manoeuvres.identify(
            car, log, {"k_bar_front": (5000, 60000), "roll.offset": None}
        )
        for true, (low, high) in zip((15000.0, 0.3), fit.intervals(0.999).values(), strict=True):
            assert low < true < high
        assert fit.noise["roll"] == pytest.approx(NOISE["roll"], rel=0.1)
        assert fit.standard_errors["k_bar_front"] < 1500


def test_a_key_of_the_car_file_and_the_command_line(car, tmp_path, capsys):
    soft = bc.vehicles.manoeuvres.run(
        car.changed(front={"spring": {"stiffness": "45 N/mm"}}), "iso7401-sine"
    ).run
    log = log_of(soft, ["steering_wheel", "speed", "roll"], 4)
    log.save(tmp_path / "log.csv")
    fit = bc.vehicles.manoeuvres.identify(
        car, tmp_path / "log.csv", {"front.spring.stiffness": ("30 N/mm", "70 N/mm")}
    )
    low, high = fit.intervals(0.999)["front.spring.stiffness"]
    assert low < 45 < high and fit.units["front.spring.stiffness"] == "N/mm"
    words = [
        "identify",
        "passenger",
        "--log",
        str(tmp_path / "log.csv"),
        "--fit",
        "front.spring.stiffness=30:70 N/mm",
        "--json",
    ]
    assert main([*words, "--iterations", "8"]) == 0
    found = json.loads(capsys.readouterr().out)["values"]["front.spring.stiffness"]
    assert found["value"] == pytest.approx(fit["front.spring.stiffness"], rel=1e-3)
    page = tmp_path / "page.html"
    assert (
        main(
            [
                "drive",
                "passenger",
                "recorded",
                "--log",
                str(tmp_path / "log.csv"),
                "--report",
                str(page),
            ]
        )
        == 0
    )
    assert "RMS error" in capsys.readouterr().out and "measured" in page.read_text(encoding="utf-8")


def test_a_search_begins_with_the_value_of_the_file(car):
    """Units are those of the section, of one above it, or behind the value."""
    assert _current_key_value(car, "front.spring.stiffness", "N/m") == pytest.approx(42e3)
    assert _current_key_value(car, "front.anti_roll_bar.stiffness", "N-m/deg") == pytest.approx(650)
    assert _current_key_value(car, "front.toe", "rad") == pytest.approx(car.data.front.record.toe)
    soft = car.changed(front={"spring": {"stiffness": "30 kN/m"}})
    assert _current_key_value(soft, "front.spring.stiffness", "N/mm") == pytest.approx(30)
    assert _current_key_value(car, "front.spring.stiffness", "kg") is None
    assert _current_key_value(car, "brakes.front_share", "") == car.data.sections.brakes.front_share


def test_what_cannot_be_done_is_reported(car, driven):
    log = log_of(driven, ["steering_wheel", "roll"])
    with pytest.raises(bc.ModelError, match="needs the setting log"):
        bc.vehicles.manoeuvres.run(car, "recorded")
    with pytest.raises(bc.ModelError, match="has no channel 'speed'"):
        bc.vehicles.manoeuvres.run(car, "recorded", log=log)
    with pytest.raises(bc.ModelError, match="no channel that drives a car"):
        bc.vehicles.manoeuvres.run(car, "recorded", log=log_of(driven, ["roll"]))
    with pytest.raises(bc.ModelError, match="'k_bar' is no key of the car file"):
        bc.vehicles.manoeuvres.identify(car, log, ["k_bar"], speed=80)
    with pytest.raises(bc.ModelError, match="change more than parameters"):
        bc.vehicles.manoeuvres.identify(car, log, {"body.mass": ("1200 kg", "1500 kg")}, speed=80)
