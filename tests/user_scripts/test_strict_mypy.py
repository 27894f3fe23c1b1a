"""Scripts of users under `mypy --strict`, with the package as a wheel installs it."""

import re
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

from tests.user_scripts.correct import main

FOLDER = Path(__file__).parent
ROOT = FOLDER.parent.parent


@pytest.mark.campaign
def test_the_correct_script_runs(capsys):
    assert main().keys() >= {"q(rod)", "height", "spring"}
    assert "finished True python" in capsys.readouterr().out


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """What mypy says of the scripts, by a clean environment with the wheel, to which NumPy and its
    like are lent."""
    folder = tmp_path_factory.mktemp("user")
    wheel = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--wheel-dir",
        str(folder),
        str(ROOT),
    ]
    built = subprocess.run(wheel, capture_output=True, text=True)
    if built.returncode and "setuptools" in built.stderr:
        pytest.skip("setuptools cannot be had to build the wheel")
    assert built.returncode == 0, built.stderr
    venv.create(folder / "environment", with_pip=False)
    python = next((folder / "environment").glob("[bS]*/python*"))
    ask = "import sysconfig; print(sysconfig.get_path('purelib'))"
    site = Path(
        subprocess.run(
            [python, "-c", ask], capture_output=True, text=True, check=True
        ).stdout.strip()
    )
    with zipfile.ZipFile(*folder.glob("*.whl")) as archive:
        archive.extractall(site)
    lent = {str(Path(p).resolve()) for p in sys.path if p.endswith("site-packages")}
    (site / "lent.pth").write_text("\n".join(lent), encoding="utf-8")
    found = {}
    for script in ("correct.py", "mistakes.py"):
        (folder / script).write_text(
            (FOLDER / script).read_text(encoding="utf-8"), encoding="utf-8"
        )
        options = [
            "--strict",
            "--python-executable",
            str(python),
            "--cache-dir",
            str(folder / "cache"),
        ]
        checked = subprocess.run(
            [sys.executable, "-m", "mypy", *options, script],
            cwd=folder,
            capture_output=True,
            text=True,
        )
        found[script] = checked.stdout + checked.stderr
    return found


@pytest.mark.campaign
def test_a_correct_script_has_no_error(report):
    assert report["correct.py"].startswith("Success"), report["correct.py"]


@pytest.mark.campaign
def test_thirteen_typical_mistakes_are_reported(report):
    lines = (FOLDER / "mistakes.py").read_text(encoding="utf-8").splitlines()
    marked = {i for i, line in enumerate(lines, 1) if "  # a" in line}
    reported = {int(i) for i in re.findall(r"mistakes\.py:(\d+): error", report["mistakes.py"])}
    assert len(marked) == 13 and reported == marked, report["mistakes.py"]
