"""The examples of docs/pictures.md and docs/page.md, run as they stand."""

import re
import shlex
from pathlib import Path

import pytest

from bellcrank import cli
from tests.node import unpacked

ROOT = Path(__file__).parents[2]


@pytest.mark.campaign
def test_examples_of_the_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    text = (ROOT / "docs" / "pictures.md").read_text(encoding="utf-8")
    found = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    names = {}
    for block in found:
        exec(compile(block, "pictures.md", "exec"), names)
    assert len(found) == 5 and names["motion"].poses.shape == (201, 1, 12) and names["R"].shape == (3, 3)
    written = {p.name for p in tmp_path.iterdir()}
    assert {"four_bar.png", "other.png", "clock.png", "strip.png", "clock.gif", "clock.html"} <= written


@pytest.mark.campaign
def test_examples_of_the_page_about_live_pages(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    text = (ROOT / "docs" / "page.md").read_text(encoding="utf-8")
    names = {}
    for language, block in re.findall(r"^```(python|bash)\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        if language == "python":
            exec(compile(block, "page.md", "exec"), names)
        for line in block.splitlines() if language == "bash" else ():
            assert cli.main(shlex.split(line)[1:]) == 0, line
    for page in (names["page"].text, (tmp_path / "pendulum.html").read_text(encoding="utf-8")):
        assert "mode 2" in str(unpacked(page)[0])
