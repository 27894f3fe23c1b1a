"""The tutorials and the first page: their code runs as it stands, and what comes out is what they say."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LONG = ("a_study", "a_tyre", "closed_loop", "first_car", "first_mechanism")
NAMES = sorted(p.stem for p in (ROOT / "docs" / "tutorials").glob("*.md"))


def closed_loop(n):
    assert max(n["run"].residuals.largest) < 1e-12
    assert abs(n["run"]["x"] - n["exact"]).max() < 1e-12
    assert n["longer"]["x"][0] > n["run"]["x"][0]


def first_mechanism(n):
    assert n["report"].passed and len(n["modes"]) == 2
    assert abs(n["calm"]["q(load)"][-200:]).max() < 0.2 * abs(n["run"]["q(load)"][-200:]).max()


def first_car(n):
    assert n["stiff"].figures["roll_gradient_springs"] < n["car"].figures["roll_gradient_springs"]
    assert n["run"]["ay"][-1] > 2 and abs(n["run"]["roll"][-1]) > 1


def kane_by_hand(n):
    """The mass centre of both stays where it was: no force along the way."""
    run = n["run"]
    assert run["x"].max() == pytest.approx(2 * 0.47943 / 3, rel=1e-3)  # twice mP l sin(0.5)/(mC + mP)


def a_study(n):
    assert len(n["result"]["comfort"]) == 12 and n["best"].values == {"k": 10000, "zeta": 0.15}


def a_tyre(n):
    assert n["f"].Fy[0] > 0 > n["f"].Fy[-1] and n["run"]["tyre.kappa"].min() < -0.05


SHOWN = {f.__name__: f for f in (closed_loop, first_mechanism, first_car, kane_by_hand, a_study, a_tyre)}


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.campaign) if n in LONG else n for n in NAMES])
def test_code_of_tutorials(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    text = (ROOT / "docs" / "tutorials" / f"{name}.md").read_text(encoding="utf-8")
    names = {}
    for block in re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        exec(compile(block, f"{name}.md", "exec"), names)
    SHOWN[name](names)


def test_code_of_the_first_page():
    text = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    names = {}
    exec(compile(block.replace("compile()", "compile(backend='python')"), "index.md", "exec"), names)
    assert abs(names["run"]["q(rod)"]).max() == pytest.approx(1.0, abs=1e-3)
