"""Parameter files as settings of a run within the package, and the echo of a run."""

import warnings

import numpy as np
import pytest

import bellcrank as bc
from bellcrank import cli
from tests.models import FOLDER, example, relative

CAR = str(FOLDER / "quarter_car.py")


def settings(tmp_path, text, name="quarter_car"):
    (tmp_path / "a.par").write_text(text, encoding="utf-8")
    return bc.settings_of(example(name), tmp_path / "a.par")


def test_settings_of_a_file(tmp_path):
    found = settings(
        tmp_path,
        "PARSFILE\nK 17000 N/m\nu(wheel) 0.1\nq(2) 0.2\nstopt 2\nstep 1e-3\niprint "
        "5\nmethod rk2\nz_road ramp 0 1 2\n",
    )
    assert found["parameters"] == {"k": 17000}
    assert found["initial"] == {"u(wheel)": 0.1, "q(body)": 0.2}
    assert (found["t_end"], found["step"], found["output_every"], found["method"]) == (
        2,
        1e-3,
        5,
        "rk2",
    )
    assert found["inputs"]["z_road"](1.5) == 1.5


def test_default_file_of_a_program_gives_the_default_run(tmp_path):
    eom = example("quarter_car")
    eom.export("python", tmp_path)
    sim = eom.compile(backend="python")
    run = sim.simulate(**bc.settings_of(eom, tmp_path / "quarter_car.par"))
    assert all(np.array_equal(run[n], other) for n, other in sim.simulate().channels.items())


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("kk 3", "line 2: no keyword is called 'kk'. Did you mean 'k'"),
        ("k x", "k needs a number, found 'x'"),
        ("step 0", "step needs a positive"),
        ("iprint 1.5", "whole number"),
        ("z_road", "z_road needs a number or one of"),
        ("z_road sine 1", "sine needs 4 numbers"),
        ("z_road file none.txt", "cannot read"),
        ("z_road chirp 1 1 2 0 0", "duration"),
        ("z_road file words.txt", "line 1: expected a time"),
        ("z_road file point.txt", "at least two points"),
    ],
)
def test_bad_lines_are_told(tmp_path, line, message):
    (tmp_path / "words.txt").write_text("hello\n", encoding="utf-8")
    (tmp_path / "point.txt").write_text("0 1\n", encoding="utf-8")
    with pytest.raises(bc.RunError, match=message):
        settings(tmp_path, f"PARSFILE\n{line}\n")


def test_dependent_speeds_cannot_be_given(tmp_path):
    with pytest.raises(bc.RunError, match="follows from a constraint"):
        settings(tmp_path, "PARSFILE\nu(lfw) 1\n", "cart")


def test_command_line_reads_and_echoes(tmp_path, capsys):
    (tmp_path / "road.txt").write_text("0 0\n1 0.02\n4 0\n", encoding="utf-8")
    (tmp_path / "in.par").write_text(
        "PARSFILE\nk 17000\nstopt 0.5\nz_road file road.txt\n", encoding="utf-8"
    )
    arguments = ["run", CAR, "--backend", "python", "--set", "c=900"]
    assert (
        cli.main(
            [
                *arguments,
                "--pars",
                str(tmp_path / "in.par"),
                "--echo",
                str(tmp_path / "e.echo"),
                "--out",
                str(tmp_path / "a.erd"),
            ]
        )
        == 0
    )
    assert (
        cli.main(
            [
                "run",
                CAR,
                "--backend",
                "python",
                "--pars",
                str(tmp_path / "e.echo"),
                "--out",
                str(tmp_path / "b.erd"),
            ]
        )
        == 0
    )
    first, second = bc.Run.read(tmp_path / "a.erd"), bc.Run.read(tmp_path / "b.erd")
    assert all(relative(second[n], first[n]) < 1e-12 for n in first)
    reference = (
        example("quarter_car")
        .compile(backend="python")
        .simulate(
            t_end=0.5,
            parameters={"k": 17000, "c": 900},
            inputs={"z_road": ([0, 1, 4], [0, 0.02, 0])},
        )
    )
    assert relative(first["az"], reference["az"]) < 1e-12
    assert (
        cli.main(
            [
                "run",
                CAR,
                "--backend",
                "python",
                "--t-end",
                "0.1",
                "--out",
                str(tmp_path / "c.erd"),
                "--classic",
            ]
        )
        == 0
    )
    assert (tmp_path / "c.erd.BIN").exists()
    (tmp_path / "in.par").write_text("PARSFILE\nnothing 1\n", encoding="utf-8")
    assert cli.main([*arguments, "--pars", str(tmp_path / "in.par")]) == 1
    assert "line 2: no keyword is called 'nothing'" in capsys.readouterr().err


@pytest.mark.campaign
def test_mutated_parameter_files_end_in_a_result_or_a_clear_error(tmp_path):
    """3,000 seeded mutations: characters exchanged, lines cut, doubled and mixed."""
    eom = example("quarter_car")
    eom.export("python", tmp_path)
    text = (tmp_path / "quarter_car.par").read_text(encoding="utf-8")
    rng = np.random.default_rng(1990)
    letters = list("kqu()0123456789.eEdD+-* \t\n\x00\u00fc\"'%PARSFILE")
    path, told, fine = tmp_path / "m.par", 0, 0
    for _ in range(3000):
        chars = list(text)
        for _ in range(rng.integers(1, 12)):
            place = int(rng.integers(len(chars)))
            match rng.integers(4):
                case 0:
                    chars[place] = letters[rng.integers(len(letters))]
                case 1:
                    del chars[place : place + int(rng.integers(1, 40))]
                case 2:
                    chars[place:place] = chars[place : place + int(rng.integers(1, 80))]
                case _:
                    chars[place:place] = letters[rng.integers(len(letters))]
            chars = chars or ["x"]
        path.write_text("".join(chars), encoding="utf-8")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                bc.settings_of(eom, path)
            fine += 1
        except bc.BellcrankError as error:
            assert str(error)
            told += 1
    assert fine > 100 and told > 1000
