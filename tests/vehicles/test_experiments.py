"""Design of experiments: set-ups by parameters against cars of their own; effects of polynomials
that are known."""

import json

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.cli.main import main
from bellcrank.core.errors import ModelError
from bellcrank.vehicles.manoeuvres.design_of_experiments import Experiment, Factor, setup_matrix

VARY = {
    "front.spring.stiffness": "40:60:2 N/mm",
    "front.anti_roll_bar.stiffness": "300:600:2 N-m/deg",
}


def known_surface(setups, factors):
    """An experiment whose metric is a polynomial."""
    a, b = setups.T
    y = 3 + 2 * a - 0.5 * b + 0.25 * a * b + 0.1 * b**2
    return Experiment(
        "car", "test", factors, setups, {"y": y, "flat": 0 * y}, {"y": "m", "flat": "-"}, {}
    )


def test_effects_and_response_surface_of_a_polynomial():
    factors = (Factor("p.a", (0.0, 1.0, 2.0)), Factor("p.b", (-3.0, 1.0, 5.0)))
    found = known_surface(setup_matrix(factors, None, 0), factors)
    assert found.setups.shape == (9, 2)
    surface = found.surface("y")
    assert surface.r2 == pytest.approx(1.0, abs=1e-12)
    a, b = 1.3, 4.2
    assert surface({"p.a": a, "p.b": b}) == pytest.approx(
        3 + 2 * a - 0.5 * b + 0.25 * a * b + 0.1 * b**2, rel=1e-12
    )
    effects = found.effects("y")
    assert effects["p.a"] == pytest.approx(2 * (2 + 0.25), rel=1e-12)  # the mean of b is 1
    assert found.varying == ["y"]
    assert (np.diff(found["y"][found.order("y")]) >= 0).all()


def test_two_levels_determine_effects_but_no_curvature():
    factors = (Factor("p.a", (0.0, 2.0)), Factor("p.b", (-3.0, 5.0)))
    found = known_surface(setup_matrix(factors, None, 0), factors)
    assert len(found.surface("y").terms) == 3
    with pytest.raises(ModelError, match="missing"):
        found.surface("y")({"p.a": 1.0})


def test_latin_hypercube_fills_every_slice():
    factors = (Factor("p.a", (0.0, 1.0)), Factor("p.b", (10.0, 30.0)))
    x = setup_matrix(factors, 25, 3)
    for column, low, high in zip(x.T, (0, 10), (1, 30), strict=True):
        assert sorted((25 * (column - low) / (high - low)).astype(int)) == list(range(25))
    assert (x == setup_matrix(factors, 25, 3)).all()


@pytest.mark.parametrize(
    ("given", "values", "unit"),
    [
        ("25:45:5", (25, 30, 35, 40, 45), ""),
        ("25:45:3 N/mm", (25, 35, 45), "N/mm"),
        ("1, 2, 4 kN/m", (1, 2, 4), "kN/m"),
        ("1,2", (1, 2), ""),
        ([3, 5], (3, 5), ""),
    ],
)
def test_values_of_a_factor(given, values, unit):
    found = Factor.read("front.spring.stiffness", given)
    assert found.values == values and found.unit == unit
    stated = found.as_car_sections(found.low)["front"]["spring"]["stiffness"]
    assert stated == (f"{float(values[0])!r} {unit}" if unit else values[0])


@pytest.mark.parametrize("given", ["a:b:3", "1:2:3:4", "5", "1:1:2", "1:2:1", [2.0]])
def test_wrong_values_are_reported(given):
    with pytest.raises(ModelError, match=r"vary front.spring.stiffness"):
        Factor.read("front.spring.stiffness", given)


@pytest.mark.campaign
def test_set_ups_by_parameters_are_cars_of_their_own():
    car = bc.vehicles.Car.read("passenger")
    found = bc.vehicles.manoeuvres.experiment(car, "iso3888-1", VARY, cores=1)
    assert found.shared and not found.failures
    own = car.changed(
        front={"spring": {"stiffness": "60 N/mm"}, "anti_roll_bar": {"stiffness": "300 N-m/deg"}}
    )
    result = bc.vehicles.manoeuvres.run(own, "iso3888-1")
    (row,) = np.flatnonzero((found.setups == [60, 300]).all(axis=1))
    for name in ("roll_max", "ay_max", "steering_wheel_max", "clearance"):
        assert found[name][row] == pytest.approx(result[name], rel=1e-4, abs=2e-5)
    effects = found.effects("roll_max")
    assert all(x < 0 for x in effects.values())  # stiffer springs and bars: less roll


@pytest.mark.campaign
def test_all_cores_give_the_same_and_the_command_prints_it(tmp_path, capsys):
    vary = [word for key, values in VARY.items() for word in ("--vary", f"{key}={values}")]
    page, one = tmp_path / "page.html", ["drive", "passenger", "iso3888-1", *vary]
    assert (
        main(
            [
                *one,
                "--cores",
                "2",
                "--out",
                str(tmp_path),
                "--report",
                str(page),
                "--sort",
                "roll_max",
            ]
        )
        == 0
    )
    out = capsys.readouterr().out
    assert "4 set-ups by one model" in out and "sorted by roll_max" in out
    assert (
        page.read_text().count("<tr>") > 4
        and len((tmp_path / "iso3888-1_set-ups.csv").read_text().splitlines()) == 6
    )
    assert main([*one, "--cores", "2", "--sort", "rol_max"]) == 1
    shown = capsys.readouterr()
    assert (
        "4 set-ups by one model" in shown.out
        and "no metric 'rol_max'. Did you mean 'roll_max'?" in shown.err
    )
    assert main([*one, "--cores", "1", "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    rows = np.loadtxt(tmp_path / "iso3888-1_set-ups.csv", delimiter=",", skiprows=2)
    names = (tmp_path / "iso3888-1_set-ups.csv").read_text().splitlines()[0].split(",")
    np.testing.assert_allclose(
        rows[:, names.index("roll_max")], figures["metrics"]["roll_max"], rtol=1e-12
    )


@pytest.mark.campaign
def test_masses_need_cars_of_their_own():
    car = bc.vehicles.Car.read("passenger")
    found = bc.vehicles.manoeuvres.experiment(
        car, "iso3888-1", {"body.mass": "1200:1300:2 kg"}, cores=1
    )
    assert not found.shared
    result = bc.vehicles.manoeuvres.run(car.changed(body={"mass": "1300 kg"}), "iso3888-1")
    assert found["roll_max"][1] == pytest.approx(result["roll_max"], rel=1e-12)


@pytest.mark.campaign
@pytest.mark.filterwarnings("ignore")  # of Dask about ports
def test_a_dask_cluster_gives_the_same(capsys):
    distributed = pytest.importorskip("distributed")
    vary = {"front.spring.stiffness": "45:60:2 N/mm"}
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None
    ) as cluster:
        words = [
            "drive",
            "passenger",
            "iso7401-step",
            "--vary",
            "front.spring.stiffness=45:60:2 N/mm",
            "--json",
        ]
        assert main([*words, "--cluster", cluster.scheduler_address]) == 0
        there = json.loads(capsys.readouterr().out)
    here = bc.vehicles.manoeuvres.experiment("passenger", "iso7401-step", vary, cores=1)
    np.testing.assert_array_equal(there["metrics"]["yaw_rate_response"], here["yaw_rate_response"])
    with pytest.raises(bc.ModelError, match="executor: an extended car"):
        car = bc.vehicles.Car.read("passenger").extended(lambda system, car: None)
        bc.vehicles.manoeuvres.experiment(car, "iso7401-step", vary, executor=object())


@pytest.mark.campaign
def test_the_command_reports_a_cluster_that_does_not_answer(capsys):
    assert (
        main(
            [
                "drive",
                "passenger",
                "kerb",
                "--vary",
                "front.toe=0:1:2 deg",
                "--cluster",
                "tcp://127.0.0.1:1",
            ]
        )
        != 0
    )
    assert "no Dask scheduler answers" in capsys.readouterr().err


def test_the_command_reports_what_it_cannot_do(capsys):
    with pytest.raises(SystemExit):
        main(["drive", "passenger", "iso3888-1", "--vary", "stiffness=1:2"])
    assert "KEY=LOW:HIGH:N" in capsys.readouterr().err
    assert main(["drive", "passenger", "iso3888-1", "kerb", "--vary", "front.toe=0:1:2 deg"]) != 0
    assert "one car and one manoeuvre" in capsys.readouterr().err
