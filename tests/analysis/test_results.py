"""Results as tables, files, pictures and objects of other packages; the documentation and the
command line."""

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.cli.main import main
from tests.models import example, needs_compiler

ROOT = Path(__file__).parents[2]
QUARTER = str(ROOT / "examples" / "quarter_car.py")
PNG = b"\x89PNG"


@pytest.fixture(scope="module")
def car():
    return example("quarter_car").compile(backend="python")


def rows(path):
    with open(path, newline="", encoding="utf-8") as stream:
        return list(csv.reader(stream))


def test_control_gets_the_same_model(car):
    control = pytest.importorskip("control")
    model = car.linearize(at="equilibrium")
    system = model.to_control()
    assert list(system.state_labels) == model.state_names and list(system.input_labels) == [
        "z_road"
    ]
    w = 2 * np.pi * np.array([0.7, 3.0, 11.0])
    expected = control.frequency_response(system, w).frdata[0, 0]
    assert car.frequency_response("z_road", "az", w / (2 * np.pi)).values == pytest.approx(
        expected, rel=1e-9
    )


def test_without_control_the_package_is_named(car, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "control", None)
    with pytest.raises(bc.RunError, match="needs the package control: pip install"):
        car.linearize(at="equilibrium").to_control()


def test_units_of_entries():
    car = example("passenger_car").compile(backend="python")
    model = car.linearize(at=car.equilibrium(), wrt="steer", outputs=["r", "Ay"])
    assert (
        model.unit("A", model.state_names.index("u(nrb, 2)"), model.state_names.index("u(nrb, 3)"))
        == "in/s/s/(deg/s)"
    )
    assert model.unit("D", 1, 0) == "g's/deg"
    plain = model.in_equation_units()
    i, j = model.state_names.index("u(nrb, 2)"), model.state_names.index("u(nrb, 3)")
    assert plain.A[i, j] == pytest.approx(model.A[i, j] * 180 / np.pi)


def test_a_mode_is_printed_in_one_line():
    """Its eigenvalue, frequency, damping and main states, however many states there are."""
    model = example("passenger_car").compile(backend="python")
    for mode in model.modes():
        line = repr(mode)
        assert line.startswith("Mode(") and mode.participation_text() in line and len(line) < 200
        assert (f"{mode.natural_frequency:.6g} Hz" in line) == mode.is_oscillatory


@pytest.mark.campaign
def test_every_result_is_saved_and_drawn(car, tmp_path):
    rest = car.equilibrium()
    model = car.linearize(at=rest)
    results = {
        "equilibrium": rest,
        "modes": model.modes,
        "response": car.frequency_response("z_road", "az", [1.0, 2.0, 4.0]),
        "spectrum": car.power_spectrum("az", {"z_road": 1e-6}, [1.0, 2.0, 4.0]),
        "locus": car.root_locus("c", [500.0, 1000.0]),
        "chart": car.stability_chart(("c", [-100.0, 1000.0]), ("k", [10000.0, 16800.0])),
        "equilibria": car.equilibria("z_road", [0.0, 0.1]),
        "inverse": car.inverse(
            np.zeros((3, 2)), np.zeros((3, 2)), np.zeros((3, 2)), [0.0, 0.1, 0.2]
        ),
        "sensitivity": car.sensitivity("k", "az", t_end=0.6, step=0.01),
    }
    for name, result in results.items():
        assert len(str(result).splitlines()) >= 1
        table = rows(result.save(tmp_path / f"{name}.csv"))
        assert len(table) >= 2 and len({len(r) for r in table}) == 1
        if name != "spectrum":
            assert len(result.rows()) == len(table) - 1 and list(result.columns) == table[0]
        if name not in ("inverse", "chart"):  # drawn elsewhere, or like another
            picture = tmp_path / f"{name}.png"
            result.plot(path=picture)
            assert picture.read_bytes()[:4] == PNG
    assert results["chart"].plot() is not None and results["inverse"].plot() is not None
    assert results["chart"].stable.tolist() == [[False, False], [True, True]]
    assert results["equilibria"]["q(wheel)"][1] - results["equilibria"]["q(wheel)"][
        0
    ] == pytest.approx(0.1)
    table = rows(model.save(tmp_path / "linear.csv"))
    entry = next(r for r in table if r[:3] == ["A", "u(body)'", "q(body)"])
    assert float(entry[3]) == model.A[3, 1] and entry[4] == "m/s/s/m"


def test_a_folder_that_cannot_be_written_is_named(car, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(bc.RunError, match="cannot write"):
        car.equilibrium().save(blocked / "x.csv")
    with pytest.raises(bc.RunError, match="cannot write"):
        car.equilibrium().plot(blocked / "x.png")


@needs_compiler
def test_printed_derivatives_agree_in_c_and_python(tmp_path):
    """The Jacobian of the arm as C source and as Python source, and by the interpreter of
    programs."""
    from bellcrank.program import interpreter
    from bellcrank.simulation.backend.c import CModel
    from bellcrank.simulation.backend.python_model import PythonModel
    from tests.models import random_state

    eom = example("double_pendulum")
    derivatives = eom.jacobian(
        of=["rates", "outputs"], wrt=[*eom.coordinates, *eom.speeds, "la", "massb"]
    )
    sim = eom.compile(backend="python")
    known = dict(zip(eom.program.parameters, sim.parameter_values(), strict=True))
    p = [known[s] for s in derivatives.program.parameters]
    q, u = random_state(eom, 9)
    found = []
    for made in (CModel(derivatives.program, []), PythonModel(derivatives.program, [])):
        model = made.new_calls()
        found.append(model.outputs(0.0, q.tolist(), u.tolist(), p, model.constants(p), []))
    _, values = interpreter.evaluate_derivatives(
        derivatives.program, interpreter.evaluate_constants(derivatives.program, p), 0.0, q, u
    )
    expected = interpreter.evaluate_outputs(derivatives.program, values)
    assert found[0] == pytest.approx(expected, rel=1e-12, abs=1e-14)
    assert found[1] == pytest.approx(expected, rel=1e-12, abs=1e-14)
    text = derivatives.export("c", tmp_path).read_text(encoding="utf-8")
    assert "d u(a)' / d q(b)" in text
    assert "def outputs" in derivatives.export("python", tmp_path).read_text(encoding="utf-8")


@pytest.mark.campaign
def test_the_page_of_the_documentation_runs(monkeypatch, tmp_path):
    text = (ROOT / "docs" / "analysis.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, flags=re.S)
    assert len(blocks) >= 8
    code = (
        "\n".join(blocks)
        .replace('"examples/', f'"{ROOT.as_posix()}/examples/')
        .replace('"build/', f'"{tmp_path.as_posix()}/')
    )
    names: dict = {}
    exec(compile(code, "docs/analysis.md", "exec"), names)
    assert names["preload"]["f0"] == pytest.approx(290 * 9.80665)
    assert names["simulated"].rms == pytest.approx(names["linear_psd"].rms, rel=0.01)
    assert max(names["s"].checked.values()) < 1e-6


# ---- command line


def test_analyse_writes_tables_and_pictures(tmp_path, capsys):
    code = main(
        ["analyse", QUARTER, "--backend", "python", "--equilibrium", "--response", "z_road", "az"]
        + ["--frequencies", "0.5:10:5", "--out", str(tmp_path / "results")]
    )
    out = capsys.readouterr().out
    assert code == 0 and "residual" in out and "az per z_road" in out
    made = sorted(p.name for p in (tmp_path / "results").iterdir())
    assert made == [
        "equilibrium.csv",
        "equilibrium.png",
        "response_of_az_to_z_road.csv",
        "response_of_az_to_z_road.png",
    ]


def test_analyse_prints_every_kind_of_result(capsys):
    code = main(
        [
            "analyse",
            QUARTER,
            "--backend",
            "python",
            "--modes",
            "--locus",
            "c=500:1500:3",
            "--at",
            "start",
        ]
        + ["--sensitivity", "k", "--outputs", "az", "--t-end", "0.6", "--step", "0.01", "--check"]
    )
    out = capsys.readouterr().out
    assert code == 0 and "no equilibrium" in out  # the start is off by a newton
    for words in ("participation", "sensitivity", "against differences", "eigenvalues over c"):
        assert words in out


def test_analyse_as_json(capsys):
    assert (
        main(
            [
                "analyse",
                QUARTER,
                "--backend",
                "python",
                "--free",
                "f0",
                "--target",
                "travel=0.02",
                "--modes",
                "--equilibrium",
                "--json",
            ]
        )
        == 0
    )
    found = json.loads(capsys.readouterr().out)
    assert found["equilibrium"]["values"]["f0"] == pytest.approx(290 * 9.80665 + 16800 * 0.02)
    assert found["modes"][0]["damping"] == pytest.approx(0.2, abs=0.01)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--response", "z_raod", "az"], "Did you mean 'z_road'"),
        (["--response", "z_road", "aaa"], "output 'aaa' is not known"),
        (["--sensitivity", "kk"], "parameter 'kk' is not known"),
        (["--fixed", "q(x)=1", "--equilibrium"], "fixed 'q(x)' is not known"),
        (["--target", "travel=0.1", "--equilibrium"], "no equilibrium"),
    ],
)
def test_analyse_says_what_is_wrong(arguments, words, capsys):
    assert main(["analyse", QUARTER, "--backend", "python", *arguments]) == 1
    assert words in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [["--locus", "speed"], ["--frequencies", "5:1:3"], ["--locus", "c=1:2"], ["--at", "moon"]],
)
def test_analyse_refuses_wrong_usage(arguments, capsys):
    with pytest.raises(SystemExit) as error:
        main(["analyse", QUARTER, *arguments])
    assert error.value.code == 2
