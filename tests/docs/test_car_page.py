"""The examples of the page about cars are run as they stand; those that derive a car among the campaigns."""

import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "car.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.campaign
def test_figures_of_the_page(capsys):
    names = {}
    exec(compile(BLOCKS[0], "car.md", "exec"), names)
    assert "understeer gradient of the tyres" in capsys.readouterr().out
    assert names["softer"].figures["roll_gradient_springs"] > names["car"].figures["roll_gradient_springs"]


@pytest.mark.campaign
def test_runs_of_the_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in BLOCKS:
        exec(compile(block, "car.md", "exec"), names)
    assert names["run"]["ay"][-1] > 2 and names["result"]["ay_steady"] > 3.9
    assert (tmp_path / "step.png").stat().st_size > 5000
