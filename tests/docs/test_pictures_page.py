"""The examples of docs/pictures.md, run as they stand."""

import re
from pathlib import Path

import pytest

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
