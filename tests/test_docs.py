"""The examples of documentation pages are run as they stand."""

import re
import shlex
from pathlib import Path

import pytest

from bellcrank import cli

DOCS = Path(__file__).parents[1] / "docs"
BLOCK = re.compile(r"^```(python|sh)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(page):
    return BLOCK.findall((DOCS / page).read_text(encoding="utf-8"))


@pytest.mark.parametrize(("page", "model"), [("running.md", "quarter.py")])
def test_examples_of_a_page(page, model, tmp_path, monkeypatch, capsys):
    """Python in one go; commands in between. The first block is the model file."""
    monkeypatch.chdir(tmp_path)
    found = blocks(page)
    assert len(found) > 5
    Path(model).write_text(found[0][1], encoding="utf-8")
    names = {"__name__": "page"}
    for language, text in found:
        if language == "python":
            exec(compile(text, page, "exec"), names)
            continue
        for line in text.splitlines():
            program, *arguments = shlex.split(line)
            assert program == "bellcrank"
            expected = 4 if "--stop" in arguments else 0
            assert cli.main(arguments) == expected, line
    assert Path("quarter.csv").stat().st_size > 1000
