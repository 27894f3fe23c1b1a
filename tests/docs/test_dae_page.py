"""The examples of docs/dae_methods.md give what the page says, and its commands run."""

import doctest
import re
import shlex
import shutil
from pathlib import Path

import pytest

from bellcrank import cli

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "dae_methods.md"


def test_examples_of_the_page():
    text = PAGE.read_text(encoding="utf-8").replace("```pycon", "").replace("```", "")
    example = doctest.DocTestParser().get_doctest(text, {}, PAGE.name, str(PAGE), 0)
    assert len(example.examples) > 15
    report: list[str] = []
    doctest.DocTestRunner().run(example, out=report.append)
    assert not report, "".join(report)


@pytest.mark.campaign
def test_commands_of_the_page(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROOT / "examples" / "planar_pendulum.py", "pendulum.py")
    lines = re.findall(r"^```sh\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)[0].splitlines()
    assert len(lines) == 4
    for line in lines:
        program, *arguments = shlex.split(line)
        assert program == "bellcrank"
        assert cli.main(arguments) == 0, line
        assert "dlmm" in capsys.readouterr().out or "run" in arguments
    assert Path("pendulum.png").stat().st_size > 10_000
