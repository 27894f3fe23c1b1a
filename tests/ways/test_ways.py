"""Every capability in every way to run: it works with the same states, or a message says why not, as the table does."""

from pathlib import Path

import pytest

from tests.ways.capabilities import CAPABILITIES
from tests.ways.table import holds, table, tried
from tests.ways.ways import WAYS

PAGE = Path(__file__).parents[2] / "docs" / "ways_to_run.md"


def test_the_table_of_the_documentation():
    assert table() in PAGE.read_text(encoding="utf-8")


@pytest.mark.campaign
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)
@pytest.mark.parametrize("capability", CAPABILITIES, ids=lambda capability: capability.name)
def test_a_cell_of_the_table(capability, way, tmp_path):
    if missing := way.missing():
        pytest.skip(missing)
    message = tried(capability, way, tmp_path)
    assert holds(capability, way, message), message or "works"
