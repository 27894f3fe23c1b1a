"""The examples of pages of the documentation run as they are printed, and give what the pages
say."""

import doctest
import math
import re
import shlex
import shutil
import tomllib
from pathlib import Path

import numpy as np
import pytest

import bellcrank as bc
from bellcrank import cli
from bellcrank.export.fmu import binaries
from bellcrank.vehicles.cars.keys.key_tables import keys_as_markdown
from tests.fmus import fmpy
from tests.models import needs_compiler, rarely
from tests.node import unpacked
from website import command_line

ROOT = Path(__file__).parents[2]
SESSIONS = {
    "constraints": 30,
    "dae_methods": 15,
    "files": 2,
    "linkages": 25,
    "messages": 40,
    "metrics": 8,
}  # least numbers of examples


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder to work in that has the examples."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def text_of(page):
    return (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")


def blocks(page, language="python"):
    return re.findall(rf"^```{language}\n(.*?)^```", text_of(page), re.MULTILINE | re.DOTALL)


def executed(page, *given):
    """The names that the Python of a page has defined in the end."""
    names = {"__name__": "page"}
    for block in given or blocks(page):
        exec(compile(block, f"{page}.md", "exec"), names)
    return names


@pytest.mark.filterwarnings("ignore::bellcrank.ModelWarning")  # pages show warnings
@pytest.mark.parametrize("page", rarely(SESSIONS, ["linkages"]))
def test_sessions(page, folder):
    example = doctest.DocTestParser().get_doctest(
        "\n\n".join(blocks(page, "pycon")), {}, page, page, 0
    )
    assert len(example.examples) > SESSIONS[page]
    report: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE).run(
        example, out=report.append
    )
    assert not report, "".join(report)


@pytest.mark.campaign
def test_commands_of_dae_methods(folder, capsys):
    shutil.copy(ROOT / "examples" / "planar_pendulum.py", "pendulum.py")
    lines = blocks("dae_methods", "sh")[0].splitlines()
    assert len(lines) == 4
    for line in lines:
        program, *arguments = shlex.split(line)
        assert program == "bellcrank"
        assert cli.main(arguments) == 0, line
        assert "dlmm" in capsys.readouterr().out or "run" in arguments
    assert Path("pendulum.png").stat().st_size > 10_000


@needs_compiler
@pytest.mark.campaign
def test_fmus(folder, monkeypatch, capsys):
    monkeypatch.setattr(
        binaries, "FLAGS", tuple("-O0" if f == "-O2" else f for f in binaries.FLAGS)
    )
    names = executed("fmu")
    run = (
        names["eom"]
        .compile(backend="python")
        .simulate(t_end=0.7, inputs={"z_road": bc.signals.step(0.5, 0.05)})
    )
    assert names["result"]["travel"].min() == pytest.approx(run["travel"].min(), rel=1e-9)
    commands = re.findall(r"^    bellcrank (fmu .*?)(?:  +#.*)?$", text_of("fmu"), re.MULTILINE)
    assert len(commands) == 3
    assert cli.main([*commands[1].split(), "--platform", "sources"]) == 0
    assert fmpy.read_model_description("car.fmu").fmiVersion == "3.0"
    assert "wrote car.fmu" in capsys.readouterr().out


@pytest.mark.campaign
def test_pictures(folder):
    names = executed("pictures")
    assert len(blocks("pictures")) == 6
    assert names["motion"].poses.shape == (201, 1, 12) and names["R"].shape == (3, 3)
    written = {p.name for p in folder.iterdir()}
    assert {
        "four_bar.png",
        "other.png",
        "clock.png",
        "strip.png",
        "clock.gif",
        "clock.html",
    } <= written


@pytest.mark.campaign
def test_live_pages(folder):
    for line in "".join(blocks("page", "bash")).splitlines():
        assert cli.main(shlex.split(line)[1:]) == 0, line
    names = executed("page")
    for page in (names["page"].text, (folder / "pendulum.html").read_text(encoding="utf-8")):
        assert "mode 2" in str(unpacked(page)[0])


@pytest.mark.campaign
def test_cars(folder, capsys):
    names = executed("car", blocks("car")[0])
    assert "understeer gradient of the tyres" in capsys.readouterr().out
    assert (
        names["softer"].metrics["roll_gradient_springs"]
        > names["car"].metrics["roll_gradient_springs"]
    )
    names = executed("car")
    assert names["run"]["ay"][-1] > 2 and names["result"]["ay_steady"] > 3.9
    assert (folder / "step.png").stat().st_size > 5000


@needs_compiler
@pytest.mark.campaign
def test_controllers(folder):
    names = executed("controllers")
    assert names["plain"].controllers["esc"] is False
    assert names["run"]["damper.fr.brake_torque"].max() > 300
    for text in blocks("controllers", "toml"):
        assert bc.vehicles.Car.read("passenger").changed(**tomllib.loads(text)).controllers


@pytest.mark.campaign
def test_drivelines():
    names = executed("driveline")
    speed, stall = names["speed"] * math.pi / 30, names["stall"]
    ratio, pump = stall["speed_ratio"][-1], stall["pump_torque"][-1]
    assert 0 <= ratio < 0.01 and abs(stall["speed"][-1]) < 0.1
    assert pump == pytest.approx(np.interp(ratio, [0, 0.6], [0.0032, 0.0031]) * speed**2, rel=1e-6)
    assert stall["motor_torque"][-1] == pytest.approx(pump, rel=1e-3)
    assert stall["turbine_torque"][-1] == pytest.approx(
        np.interp(ratio, [0, 0.85], [2, 1]) * pump, rel=1e-6
    )
    assert 4 < names["result"]["time"] < 8
    for text in blocks("driveline", "toml"):
        given = tomllib.loads(text)
        given["drive"] = {
            "torque": None,
            "power": None,
            **given.get("drive", {}),
        }  # of the file that is changed
        assert bc.vehicles.Car.read("passenger").changed(**given).data


@pytest.mark.campaign
def test_trailers():
    names = executed("trailers")
    assert names["heavy"].metrics["mass_caravan"] == pytest.approx(
        names["car"].metrics["mass_caravan"] + 150
    )
    assert names["result"]["amplification_caravan"] > 1


@pytest.mark.campaign
def test_motorcycles(folder, capsys):
    for line in "".join(blocks("motorcycles", "sh")).splitlines():
        assert cli.main(shlex.split(line)[1:]) == 0, line
    names = executed("motorcycles")
    rows = {row[0]: row[1:] for row in names["modes"].rows()}
    table = re.findall(
        r"^\| (\d+) \| (.*) \|$", text_of("motorcycles").split("## Modes")[1], re.MULTILINE
    )
    assert len(table) == 5
    for speed, cells in table:
        for shown, value in zip(cells.split(" | "), rows[float(speed)], strict=True):
            assert shown == "-" or float(shown) == pytest.approx(value, abs=0.006)
    assert not names["ride"].fell and (folder / "lane_change.png").stat().st_size > 5000


def test_keys_of_cars():
    assert text_of("car_keys") == keys_as_markdown(), (
        "write it: bellcrank car keys --markdown > docs/car_keys.md"
    )


def test_command_line():
    assert text_of("command_line") == command_line.page(), (
        "write it: python -m website.command_line"
    )


@pytest.mark.campaign
def test_vehicles():
    assert executed("vehicles")["run"].ended == "finished"


@pytest.mark.campaign
def test_tyres(monkeypatch):
    monkeypatch.chdir(ROOT)
    names = executed("tyres")
    assert names["f"].Fy[0] > 0 > names["f"].Fy[-1]
