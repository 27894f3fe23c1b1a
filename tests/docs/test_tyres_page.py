"""The examples of the page about tyres are run as they stand."""

import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "tyres.md").read_text(encoding="utf-8")


@pytest.mark.campaign
def test_examples_of_the_page(monkeypatch):
    monkeypatch.chdir(Path(__file__).parents[2])
    names = {}
    for block in re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL):
        exec(compile(block, "tyres.md", "exec"), names)
    assert names["f"].Fy[0] > 0 > names["f"].Fy[-1]
