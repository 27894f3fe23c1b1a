"""Scripts on the command line: answers, figures, files, and ends without tracebacks."""

import json
from pathlib import Path

import pytest

from bellcrank.cli import main

DECKS = Path(__file__).parents[2] / "examples" / "decks"
SCRIPT, VALUES = str(DECKS / "double_pendulum.al"), str(DECKS / "slinger_undamped.in")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_run_answers_every_line_and_writes_the_files(folder, capsys):
    assert (
        main(
            [
                "run",
                SCRIPT,
                "--input",
                VALUES,
                "--t-end",
                "1",
                "--print",
                "0.1",
                "--message",
                "free swing",
            ]
        )
        == 0
    )
    out = capsys.readouterr().out
    assert "-> (8) DIRCOS(N,A,COS(PHI1)" in out
    assert "TB. Did you mean 'TAB'?" in out
    names = {p.name for p in folder.iterdir()}
    assert names == {"SLINGER.FOR", "SLINGER.OU1", "SLINGER.CO1", "SLINGER.NRG", "SLINGER.H"}
    text = (folder / "SLINGER.OU1").read_text()
    assert "*** free swing" in text
    assert " 1.00000E-01 -2.61460E-01 -1.89390E-03  7.72252E-01  7.85460E-01" in text


def test_json_and_folder(folder, capsys):
    arguments = [
        "run",
        SCRIPT,
        "--input",
        VALUES,
        "--t-end",
        "0.2",
        "--print",
        "0.1",
        "--json",
        "--out",
        "results",
    ]
    assert main([*arguments, "--method", "rk4", "--step", "0.001"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert figures["ended"] == "finished"
    assert figures["final"]["U1"]["value"] == pytest.approx(-0.504946, rel=2e-6)
    assert sorted(p.name for p in (folder / "results").iterdir())[0] == "SLINGER.CO1"


def test_count_write_and_check_take_scripts(folder, capsys):
    assert main(["count", SCRIPT, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["operations"]["total"] > 0
    assert main(["write", SCRIPT, "--out", "source"]) == 0
    assert (folder / "source" / "model.c").exists()
    assert main(["check", SCRIPT, "--states", "2"]) == 0
    assert "Kane's equations hold" in capsys.readouterr().out
    assert [p.name for p in folder.iterdir()] == ["source"]  # nothing that CODE names


@pytest.mark.parametrize(
    ("script", "values", "words"),
    [
        ("DOF(1)\nFRAMES(A\n", "", "bad.al, line 2: FRAMES(A"),
        ("DOF(1)\n", "", "ends without KANE"),
        ("\x00\x01", "", "unexpected character"),
        ("DOF(1)\nCODE(../X)\n", "", "bad.al, line 2"),
        (None, "1,1,0,0,9.81\n2,4\n0,2.6\n", "ends before IA(3)"),
        (None, "1,1,0,0,x\n", "line 1: 'x' is not a number"),
        (None, "1,1,0,,9.81\n", "a value is missing"),
        (None, "1,1,0,0,nan\n", "not a finite number"),
    ],
)
def test_faulty_files_are_told_and_nothing_is_written(folder, capsys, script, values, words):
    path = Path("bad.al")
    path.write_text(Path(SCRIPT).read_text() if script is None else script)
    Path("bad.in").write_text(values)
    assert main(["run", str(path), "--input", "bad.in", "--t-end", "1", "--print", "0.1"]) == 1
    assert words in capsys.readouterr().err
    assert {p.name for p in folder.iterdir()} == {"bad.al", "bad.in"}


def test_a_script_from_the_days_of_dos(folder, capsys):
    """Code page 437 in comments, carriage returns, Ctrl-Z at the end."""
    text = (
        Path(SCRIPT)
        .read_text()
        .replace("! DOUBLE PENDULUM", "! De slinger beweegt naar het één zijde")
    )
    Path("dos.al").write_bytes(text.replace("\n", "\r\n").encode("cp437") + b"\x1a")
    Path("dos.in").write_bytes(Path(VALUES).read_bytes().replace(b"\n", b"\r\n") + b"\x1a")
    assert (
        main(["run", "dos.al", "--input", "dos.in", "--t-end", "0.1", "--print", "0.1", "--json"])
        == 0
    )
    assert json.loads(capsys.readouterr().out)["final"]["PHI1"]["value"] == pytest.approx(
        0.772252, rel=2e-6
    )


def test_a_run_without_values_says_what_they_are(capsys):
    assert main(["run", SCRIPT, "--t-end", "1"]) == 1
    assert "LA, LB, WDA, WDAB, G; MASSA, MASSB" in capsys.readouterr().err
    assert main(["run", "no.al"]) == 1
    assert main(["run", SCRIPT, "--input", "no.in"]) == 1
    assert main(["run", SCRIPT, "--input", VALUES, "--print", "-1"]) == 1
    assert main(["run", SCRIPT, "--input", VALUES, "--output-every", "3"]) == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([SCRIPT, "--input", VALUES, "--dae", "dlmm"], "--dae: not for AUTOLEV scripts"),
        (
            [SCRIPT, "--input", VALUES, "--echo", "x", "--pars", "y"],
            "--pars and --echo: not for AUTOLEV scripts",
        ),
        ([SCRIPT, "--plot", "x.png"], "--plot: a run needs --input"),
        ([SCRIPT, "--set", "G=3", "--step", "0.1"], "--step and --set: a run needs --input"),
        ([str(DECKS.parent / "cart.py"), "--print", "0.1"], "--print: for AUTOLEV scripts alone"),
    ],
)
def test_options_that_mean_nothing_are_told(folder, capsys, arguments, words):
    assert main(["run", *arguments]) == 1
    assert words in capsys.readouterr().err
    assert not list(folder.iterdir())


def test_a_model_file_may_return_a_derivation(capsys):
    path = str(DECKS.parent / "kane_rolling_disc.py")
    assert main(["run", path, "--t-end", "0.5"]) == 0
    assert "fn, from an auxiliary speed" in capsys.readouterr().out
