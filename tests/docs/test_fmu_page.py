"""The examples of docs/fmu.md run."""

import re
from pathlib import Path

import pytest

import bellcrank as bc
from bellcrank import cli
from bellcrank.export.fmu import binaries
from tests.fmus import fmpy
from tests.models import needs_compiler

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "fmu.md").read_text(encoding="utf-8")


@needs_compiler
def test_examples_of_the_page(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(binaries, "FLAGS", tuple("-O0" if f == "-O2" else f for f in binaries.FLAGS))
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    names = {"__name__": "page"}
    for block in re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL):
        exec(compile(block, "fmu.md", "exec"), names)
    run = names["eom"].compile(backend="python").simulate(t_end=0.7, inputs={"z_road": bc.step(0.5, 0.05)})
    assert names["result"]["travel"].min() == pytest.approx(run["travel"].min(), rel=1e-9)
    commands = re.findall(r"^    bellcrank (fmu .*?)(?:  +#.*)?$", PAGE, re.MULTILINE)
    assert len(commands) == 3
    assert cli.main([*commands[1].split(), "--platform", "sources"]) == 0
    assert fmpy.read_model_description("car.fmu").fmiVersion == "3.0"
    assert "wrote car.fmu" in capsys.readouterr().out
