"""The examples of the page about vehicles are run as they stand; its table is that of the example."""

import re
from pathlib import Path

from examples.partial_vehicles import table

PAGE = (Path(__file__).parents[2] / "docs" / "vehicles.md").read_text(encoding="utf-8")


def test_examples_of_the_page():
    names = {}
    for block in re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL):
        exec(compile(block, "vehicles.md", "exec"), names)
    assert names["run"].ended == "finished"


def test_table_of_the_page():
    """Every figure that the example prints stands on the page."""
    rows = {row[0].split()[0]: row[2] for row in table()}
    lines = {m[1]: m[0] for m in re.finditer(r"^\| (\d\w?) .*$", PAGE, re.MULTILINE)}
    for test in ("1a", "2", "3", "4", "5", "6", "7"):
        figures = re.findall(r"\d+\.\d+", rows[test])
        assert figures and all(f in lines[test] for f in figures), (rows[test], lines[test])
