"""Pictures of commands do not obey what lies in the working folder."""

from pathlib import Path

import pytest

from bellcrank.cli.main import main
from bellcrank.core.files import figure_files
from bellcrank.core.files.picture_style import ignore_style_of_folder

matplotlib = pytest.importorskip("matplotlib")
EXAMPLE = str(Path(__file__).parents[3] / "examples" / "quarter_car.py")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working folder whose style asks for TeX, as if matplotlib was loaded there."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "matplotlibrc").write_text("text.usetex: True\nlines.linewidth: 9\n")
    monkeypatch.delenv("MATPLOTLIBRC", raising=False)
    monkeypatch.setenv("MPLCONFIGDIR", str(tmp_path / "config"))
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    with matplotlib.rc_context():
        matplotlib.rcParams.update({"text.usetex": True, "lines.linewidth": 9})
        yield tmp_path


def test_commands_do_not_obey_the_style_of_the_folder(folder):
    """It started `latex`, and ended in a traceback where there is none."""
    assert main(["run", EXAMPLE, "--backend", "python", "--t-end", "0.1", "--plot", "p.png"]) == 0
    assert (folder / "p.png").stat().st_size > 1000
    assert matplotlib.rcParams["lines.linewidth"] == 1.5


def test_commands_obey_the_style_of_the_user(folder, monkeypatch):
    own = folder / "own"
    own.write_text("lines.linewidth: 3\n")
    monkeypatch.setenv("MATPLOTLIBRC", str(own))
    with ignore_style_of_folder():
        figure_files.new_figure(1, 1)
    assert matplotlib.rcParams["lines.linewidth"] == 3
    assert not matplotlib.rcParams["text.usetex"]


def test_programs_of_users_keep_their_style(folder):
    figure_files.new_figure(1, 1)
    assert matplotlib.rcParams["lines.linewidth"] == 9
