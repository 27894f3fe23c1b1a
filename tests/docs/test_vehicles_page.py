"""The examples of the page about vehicles are run as they stand."""

import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "vehicles.md").read_text(encoding="utf-8")


@pytest.mark.campaign
def test_examples_of_the_page():
    names = {}
    for block in re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL):
        exec(compile(block, "vehicles.md", "exec"), names)
    assert names["run"].ended == "finished"
